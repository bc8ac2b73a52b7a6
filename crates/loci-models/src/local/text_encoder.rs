//! How does a text become numbers?
//!
//! The folder's own `tokenizer.json`, with its padding and truncation replaced: Loci packs texts
//! without padding, and cuts at the model's limit rather than at the limit of the file. Nothing here
//! depends on how the pieces are found: WordPiece with `##` and unigram with `▁` both work.

use std::fmt;

use tokenizers::{Tokenizer, TruncationParams};

use super::folder::{Architecture, Folder};
use crate::embedder::Detail;
use crate::error::Error;

/// The tokenizer of a model.
pub(super) struct TextEncoder {
    tokenizer: Tokenizer,
    /// Whether the model puts its markers around a text.
    markers: bool,
    /// The piece for the unknown, which a static model has no vector for.
    dropped: Option<u32>,
}

/// A text as the model reads it.
#[derive(Debug, Clone, Default)]
pub(super) struct Encoded {
    pub(super) ids: Vec<u32>,
    /// The ids as words, where they are asked for.
    pub(super) pieces: Vec<String>,
    /// Which of the ids are the model's own markers and not the text's tokens.
    pub(super) markers: Vec<bool>,
}

impl TextEncoder {
    /// The tokenizer of `folder`.
    pub(super) fn load(folder: &Folder) -> Result<Self, Error> {
        let invalid = |error: tokenizers::Error| Error::invalid(&folder.tokenizer_path, "tokenizer", error.to_string());
        let mut tokenizer = Tokenizer::from_bytes(&folder.tokenizer).map_err(invalid)?;
        let truncation = TruncationParams { max_length: folder.max_tokens(), ..TruncationParams::default() };
        tokenizer.with_padding(None).with_truncation(Some(truncation)).map_err(invalid)?;
        let markers = matches!(folder.sort, Architecture::Bert(_));
        let dropped = if markers { None } else { unknown(&folder.tokenizer, &tokenizer) };
        Ok(Self { tokenizer, markers, dropped })
    }

    /// Refuses a vocabulary with more pieces than the model has rows for them.
    pub(super) fn fits(&self, folder: &Folder, rows: usize) -> Result<(), Error> {
        let last = self.tokenizer.get_vocab(true).into_values().max().unwrap_or(0) as usize;
        if last < rows {
            return Ok(());
        }
        let problem = format!("the tokenizer counts up to {last}, but the model knows {rows} pieces");
        Err(Error::invalid(&folder.tokenizer_path, "vocab", problem))
    }

    /// Each text as ids, in order.
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

/// The id of the tokenizer's word for the unknown, if it has one.
fn unknown(file: &[u8], tokenizer: &Tokenizer) -> Option<u32> {
    let file: serde_json::Value = serde_json::from_slice(file).ok()?;
    let model = &file["model"];
    // Unigram models name it by its number, the others by its text.
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
