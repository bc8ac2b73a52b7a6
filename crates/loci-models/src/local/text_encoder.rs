//! Tokenisation with the `tokenizer.json` of a model folder.
//!
//! Padding and truncation of the file are replaced: Loci packs texts without padding, and cuts at the limit of the
//! model instead of that of the file. Any tokenizer model works, for example WordPiece with `##` and unigram with `▁`.

use std::fmt;

use tokenizers::{Tokenizer, TruncationParams};

use super::folder::{Architecture, Folder};
use crate::embedder::Detail;
use crate::error::Error;

/// The tokenizer of a model.
pub(super) struct TextEncoder {
    tokenizer: Tokenizer,
    /// Whether special tokens are added around a text.
    markers: bool,
    /// The id of the unknown token, which is dropped because a static model has no vector for it.
    dropped: Option<u32>,
}

/// A tokenised text.
#[derive(Debug, Clone, Default)]
pub(super) struct Encoded {
    pub(super) ids: Vec<u32>,
    /// The tokens as text, if requested.
    pub(super) pieces: Vec<String>,
    /// For each id, whether it is a special token of the model.
    pub(super) markers: Vec<bool>,
}

impl TextEncoder {
    /// Loads the tokenizer of `folder`.
    pub(super) fn load(folder: &Folder) -> Result<Self, Error> {
        let invalid = |error: tokenizers::Error| Error::invalid(&folder.tokenizer_path, "tokenizer", error.to_string());
        let mut tokenizer = Tokenizer::from_bytes(&folder.tokenizer).map_err(invalid)?;
        let truncation = TruncationParams { max_length: folder.max_tokens(), ..TruncationParams::default() };
        tokenizer.with_padding(None).with_truncation(Some(truncation)).map_err(invalid)?;
        let markers = matches!(folder.sort, Architecture::Bert(_));
        let dropped = if markers { None } else { unknown(&folder.tokenizer, &tokenizer) };
        Ok(Self { tokenizer, markers, dropped })
    }

    /// Returns an error if the vocabulary has an id for which the model has no row.
    pub(super) fn fits(&self, folder: &Folder, rows: usize) -> Result<(), Error> {
        let last = self.tokenizer.get_vocab(true).into_values().max().unwrap_or(0) as usize;
        if last < rows {
            return Ok(());
        }
        let problem = format!("the tokenizer has ids up to {last}, but the model has {rows} pieces");
        Err(Error::invalid(&folder.tokenizer_path, "vocab", problem))
    }

    /// Tokenises each text, in order.
    pub(super) fn write(&self, texts: &[String], detail: Detail) -> Result<Vec<Encoded>, Error> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let encodings = self
            .tokenizer
            .encode_batch_fast(texts, self.markers)
            .map_err(|error| Error::Inference { problem: error.to_string() })?;
        Ok(encodings.into_iter().map(|encoding| self.keep(&encoding, detail)).collect())
    }

    fn keep(&self, encoding: &tokenizers::Encoding, detail: Detail) -> Encoded {
        let mut written = Encoded::default();
        for (&id, &marker) in encoding.get_ids().iter().zip(encoding.get_special_tokens_mask()) {
            if Some(id) != self.dropped {
                written.ids.push(id);
                written.markers.push(marker == 1);
                if detail == Detail::Tokens {
                    written.pieces.push(self.tokenizer.id_to_token(id).unwrap_or_default());
                }
            }
        }
        written
    }
}

/// Returns the id of the unknown token, if the tokenizer has one.
fn unknown(file: &[u8], tokenizer: &Tokenizer) -> Option<u32> {
    let file: serde_json::Value = serde_json::from_slice(file).ok()?;
    let model = &file["model"];
    // Unigram models give its id, the others its text.
    match model["unk_token"].as_str() {
        Some(text) => tokenizer.token_to_id(text),
        None => model["unk_id"].as_u64().and_then(|id| u32::try_from(id).ok()),
    }
}

impl fmt::Debug for TextEncoder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("TextEncoder")
            .field("pieces", &self.tokenizer.get_vocab_size(true))
            .finish_non_exhaustive()
    }
}
