//! A second-level cache of embeddings that several processes share.
//!
//! It stands behind [`Cached`](crate::Cached). The shared cache may be slow, unavailable or damaged: a read waits no
//! longer than 300 ms, and an entry is used only if it is complete and has the dimensions of the model. Otherwise the
//! text is embedded as if there were no shared cache.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::timeout;

use crate::embedder::{Detail, Embedding, Model, Token};

/// Maximum time that a read or a write of the shared cache may take.
const DEADLINE: Duration = Duration::from_millis(300);

/// Maximum size of an entry in bytes. Larger embeddings, those of long texts with all token states, are cheaper to
/// compute again than to transfer.
const LARGEST: usize = 64 << 10;

/// The version of the encoding, which is the first byte of every entry.
const FORM: u8 = 1;

/// A key-value store that several processes share.
#[async_trait]
pub trait SharedCache: Send + Sync {
    /// Returns the value of each key, in the order of the keys, or `None` if the cache is not available.
    async fn get(&self, keys: &[String]) -> Option<Vec<Option<Vec<u8>>>>;

    /// Stores the entries if the cache is available. Errors are ignored.
    async fn put(&self, entries: Vec<(String, Vec<u8>)>);
}

/// A shared cache as [`Cached`](crate::Cached) uses it.
pub(crate) struct Shared(pub(crate) Arc<dyn SharedCache>);

impl fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Shared")
    }
}

impl Shared {
    /// Returns the cached embedding of each text, or `None` if the cache is not available in time.
    pub(crate) async fn get(&self, model: &Model, texts: &[String], detail: Detail) -> Option<Vec<Option<Embedding>>> {
        let keys: Vec<String> = texts.iter().map(|text| key(model, text, detail)).collect();
        let found = timeout(DEADLINE, self.0.get(&keys)).await.ok().flatten()?;
        let read = |bytes: Option<Vec<u8>>| bytes.and_then(|bytes| decode(&bytes, model));
        (found.len() == texts.len()).then(|| found.into_iter().map(read).collect())
    }

    /// Stores embeddings that were computed here.
    pub(crate) async fn put<'a>(
        &self,
        model: &Model,
        embedded: impl Iterator<Item = (&'a String, &'a Embedding)>,
        detail: Detail,
    ) {
        let entries: Vec<(String, Vec<u8>)> = embedded
            .map(|(text, embedding)| (key(model, text, detail), encode(embedding)))
            .filter(|(_, bytes)| bytes.len() <= LARGEST)
            .collect();
        if !entries.is_empty() {
            // A timeout is ignored: another process then computes the embedding again.
            let _ = timeout(DEADLINE, self.0.put(entries)).await;
        }
    }
}

fn key(model: &Model, text: &str, detail: Detail) -> String {
    let detail = match detail {
        Detail::Sentence => "sentence",
        Detail::Tokens => "tokens",
    };
    format!("{}:{detail}:{}", model.name, blake3::hash(text.as_bytes()).to_hex())
}

fn encode(embedding: &Embedding) -> Vec<u8> {
    let mut bytes = vec![FORM];
    let count = |bytes: &mut Vec<u8>, count: usize| bytes.extend((count as u32).to_le_bytes());
    let numbers = |bytes: &mut Vec<u8>, numbers: &[f32]| {
        count(bytes, numbers.len());
        bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    };
    numbers(&mut bytes, &embedding.vector);
    count(&mut bytes, embedding.tokens.len());
    for token in &embedding.tokens {
        bytes.extend(token.id.to_le_bytes());
        count(&mut bytes, token.piece.len());
        bytes.extend(token.piece.as_bytes());
        numbers(&mut bytes, &token.state);
    }
    bytes
}

fn decode(bytes: &[u8], model: &Model) -> Option<Embedding> {
    let mut rest = bytes;
    (take(&mut rest, 1)? == [FORM]).then_some(())?;
    let vector = numbers(&mut rest)?;
    let mut tokens = Vec::new();
    for _ in 0..number(&mut rest)? {
        let id = number(&mut rest)?;
        let length = number(&mut rest)? as usize;
        let piece = String::from_utf8(take(&mut rest, length)?.to_vec()).ok()?;
        tokens.push(Token { id, piece, state: numbers(&mut rest)? });
    }
    (rest.is_empty() && vector.len() == model.dimensions).then_some(Embedding { vector, tokens })
}

fn take<'a>(rest: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    take(rest, 4)?.try_into().ok().map(u32::from_le_bytes)
}

fn numbers(rest: &mut &[u8]) -> Option<Vec<f32>> {
    let count = number(rest)? as usize;
    let bytes = take(rest, count.checked_mul(4)?)?;
    let (numbers, _) = bytes.as_chunks::<4>();
    let numbers: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    numbers.iter().all(|number| number.is_finite()).then_some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(dimensions: usize) -> Model {
        Model { name: "m".into(), dimensions, similarity_threshold: 0.3, max_tokens: 9 }
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let token = Token { id: 7, piece: "##я".into(), state: vec![0.5, -0.5] };
        let whole = Embedding { vector: vec![1.0, 0.0, -0.25], tokens: vec![token.clone(), token] };
        let bytes = encode(&whole);
        assert_eq!(decode(&bytes, &model(3)), Some(whole.clone()));
        let plain = Embedding { tokens: vec![], ..whole };
        assert_eq!(decode(&encode(&plain), &model(3)), Some(plain));
        assert_eq!(decode(&bytes, &model(4)), None, "another dimension");
        for end in 0..bytes.len() {
            assert_eq!(decode(&bytes[..end], &model(3)), None, "cut at {end}");
        }
        for (place, byte) in [(0, 2), (1, 255), (4, 255), (8, 0x7f)] {
            let mut damaged = bytes.clone();
            damaged[place] = byte;
            if place == 8 {
                damaged[7] = 0x80;
            }
            assert_eq!(decode(&damaged, &model(3)), None, "damaged at {place}");
        }
        let longer = [&bytes[..], &[0]].concat();
        assert_eq!(decode(&longer, &model(3)), None);
    }
}
