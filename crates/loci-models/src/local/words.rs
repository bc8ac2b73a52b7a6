//! How does a text become numbers?
//!
//! The folder's own `tokenizer.json`, without its padding and truncation: Loci packs texts without
//! padding, and cuts long ones into pieces of the model's length.

use std::fmt;

use tokenizers::Tokenizer;

use super::folder::{Folder, Sort};
use crate::embedder::Detail;
use crate::error::Error;

/// The tokenizer of a model.
pub(super) struct Words {
    tokenizer: Tokenizer,
    /// Whether the model puts its markers around a text.
    markers: bool,
    /// The piece for the unknown, which a static model has no vector for.
    dropped: Option<u32>,
    /// Tokens that the model reads at once, its markers among them.
    most: usize,
}

/// A text as the model reads it.
#[derive(Debug, Clone, Default)]
pub(super) struct Written {
    pub(super) ids: Vec<u32>,
    /// The ids as words, where they are asked for.
    pub(super) pieces: Vec<String>,
    /// Which of the ids are the model's own markers and not the text's tokens.
    pub(super) markers: Vec<bool>,
    /// The pieces of a long text that follow, where tokens are asked for.
    pub(super) rest: Vec<Written>,
}

/// So many pieces of the model's length are read of one text; what comes after is left to words.
const MOST_PIECES: usize = 4;

impl Words {
    /// The tokenizer of `folder`.
    pub(super) fn load(folder: &Folder) -> Result<Self, Error> {
        let path = folder.path.join("tokenizer.json");
        let invalid = |error: tokenizers::Error| Error::invalid(&path, "tokenizer", error.to_string());
        let mut tokenizer = Tokenizer::from_bytes(&folder.tokenizer).map_err(invalid)?;
        tokenizer.with_padding(None).with_truncation(None).map_err(invalid)?;
        let markers = matches!(folder.sort, Sort::Bert(_));
        let dropped = if markers { None } else { unknown(&folder.tokenizer, &tokenizer) };
        Ok(Self { tokenizer, markers, dropped, most: folder.max_tokens() })
    }

    /// Refuses a vocabulary with more pieces than the model has rows for them.
    pub(super) fn fits(&self, folder: &Folder, rows: usize) -> Result<(), Error> {
        let last = self.tokenizer.get_vocab(true).into_values().max().unwrap_or(0) as usize;
        if last < rows {
            return Ok(());
        }
        let problem = format!("the tokenizer counts up to {last}, but the model knows {rows} pieces");
        Err(Error::invalid(folder.path.join("tokenizer.json"), "vocab", problem))
    }

    /// Each text as ids, in order.
    pub(super) fn write(&self, texts: &[String], detail: Detail) -> Result<Vec<Written>, Error> {
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let encodings = self
            .tokenizer
            .encode_batch_fast(texts, self.markers)
            .map_err(|error| Error::Inference { problem: error.to_string() })?;
        Ok(encodings.iter().map(|encoding| self.keep(encoding, detail)).collect())
    }

    /// A text cut into pieces of the model's length, each between the model's markers. The first is
    /// what the model would read of it; the others hang behind it where tokens are asked for.
    fn keep(&self, encoding: &tokenizers::Encoding, detail: Detail) -> Written {
        let ids = encoding.get_ids();
        let marked = |at: usize| encoding.get_special_tokens_mask()[at] == 1;
        let before = (0..ids.len()).take_while(|at| marked(*at)).count();
        let after = (before..ids.len()).rev().take_while(|at| marked(*at)).count();
        let own: Vec<u32> =
            ids[before..ids.len() - after].iter().copied().filter(|id| Some(*id) != self.dropped).collect();
        let room = self.most.saturating_sub(before + after).max(1);
        let piece = |own: &[u32]| {
            let all = ids[..before].iter().chain(own).chain(&ids[ids.len() - after..]);
            let mut written = Written { ids: all.copied().collect(), ..Written::default() };
            let last = before + own.len();
            written.markers = (0..written.ids.len()).map(|at| at < before || at >= last).collect();
            if detail == Detail::Tokens {
                let word = |id: &u32| self.tokenizer.id_to_token(*id).unwrap_or_default();
                written.pieces = written.ids.iter().map(word).collect();
            }
            written
        };
        let mut first = piece(&own[..own.len().min(room)]);
        if detail == Detail::Tokens && self.markers {
            first.rest = own.chunks(room).skip(1).take(MOST_PIECES - 1).map(piece).collect();
        }
        first
    }
}

/// The id of the tokenizer's word for the unknown, if it has one.
fn unknown(file: &[u8], tokenizer: &Tokenizer) -> Option<u32> {
    let file: serde_json::Value = serde_json::from_slice(file).ok()?;
    tokenizer.token_to_id(file["model"]["unk_token"].as_str()?)
}

impl fmt::Debug for Words {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Words").field("pieces", &self.tokenizer.get_vocab_size(true)).finish_non_exhaustive()
    }
}
