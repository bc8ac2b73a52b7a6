//! Summarizes many texts, with four strategies.
//!
//! The caller passes a [`Writer`], which is usually a language model; without one every strategy selects sentences
//! instead. **Invariant:** a summary never has more tokens than allowed, whatever the writer returns.

pub mod extractive;
mod likeness;
mod substance;

use std::fmt;
use std::str::FromStr;

use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

pub use self::extractive::extractive;
use crate::Result;
use crate::prompt::pack::shorten::shorten;
use crate::prompt::pack::tokens::count_tokens;

/// How texts become a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum SummaryStrategy {
    /// All at once, in one call.
    Simple,
    /// In chunks, then the summaries in chunks, until few words are left.
    #[default]
    Hierarchical,
    /// The sentences that say most; nothing is written.
    Extractive,
    /// In chunks side by side, then all summaries in one call.
    #[serde(alias = "map-reduce")]
    MapReduce,
}

impl SummaryStrategy {
    /// All of them.
    pub const ALL: &'static [SummaryStrategy] = &[
        SummaryStrategy::Simple,
        SummaryStrategy::Hierarchical,
        SummaryStrategy::Extractive,
        SummaryStrategy::MapReduce,
    ];

    /// Its name in settings and answers.
    pub fn name(self) -> &'static str {
        match self {
            SummaryStrategy::Simple => "simple",
            SummaryStrategy::Hierarchical => "hierarchical",
            SummaryStrategy::Extractive => "extractive",
            SummaryStrategy::MapReduce => "map_reduce",
        }
    }
}

impl fmt::Display for SummaryStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SummaryStrategy {
    type Err = loci_types::Error;

    fn from_str(text: &str) -> Result<Self, loci_types::Error> {
        let name = text.replace('-', "_");
        Self::ALL.iter().copied().find(|strategy| strategy.name() == name).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|strategy| strategy.name()).collect();
            loci_types::Error::invalid("strategy", format!("`{text}` is not a known summary strategy"))
                .hint(format!("use one of {}", names.join(", ")))
        })
    }
}

/// Someone who can write a summary.
#[async_trait]
pub trait Writer: Send + Sync {
    /// What the texts say together, in about `max_tokens` tokens at most.
    ///
    /// The caller cuts what is too long, and chooses sentences where nothing comes; a failure fails the whole summary.
    async fn write(&self, texts: &[String], max_tokens: usize) -> Result<String>;
}

/// What texts say in few words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// The summary.
    pub text: String,
    /// How it was made.
    pub strategy: SummaryStrategy,
    /// Whether any of it was written by a model.
    pub used_llm: bool,
    /// How many tokens the texts have.
    pub tokens_before: usize,
    /// How many the summary has.
    pub tokens_after: usize,
    /// How many fewer that are.
    pub tokens_saved: usize,
}

/// Number of texts that are summarized together.
const TEXTS_PER_CHUNK: usize = 10;
/// Number of chunks that are summarized concurrently.
const CONCURRENT_CHUNKS: usize = 4;
/// A chunk has room for this many tokens, or for all it has: less would say nothing of ten texts.
const MIN_CHUNK_TOKENS: usize = 64;

/// What `texts` say, in at most `target_tokens` tokens. `vectors` are those of the texts, in their order.
pub async fn summarize(
    texts: &[String],
    vectors: Option<&[Vec<f32>]>,
    strategy: SummaryStrategy,
    target_tokens: usize,
    writer: Option<&dyn Writer>,
) -> Result<Summary> {
    let tokens_before = size(texts);
    let vectors = vectors.filter(|vectors| vectors.len() == texts.len());
    let piece = if texts.iter().all(|text| text.trim().is_empty()) || target_tokens == 0 {
        Piece::default()
    } else {
        match strategy {
            SummaryStrategy::Simple => write(texts, vectors, target_tokens, writer).await?,
            // Sentences are best chosen among all of them, not chunk by chunk.
            _ if writer.is_none() => write(texts, vectors, target_tokens, None).await?,
            SummaryStrategy::Extractive => write(texts, vectors, target_tokens, None).await?,
            SummaryStrategy::Hierarchical => hierarchical(texts, vectors, target_tokens, writer).await?,
            SummaryStrategy::MapReduce => map_reduce(texts, vectors, target_tokens, writer).await?,
        }
    };
    let tokens_after = count_tokens(&piece.text);
    Ok(Summary {
        used_llm: piece.written,
        text: piece.text,
        strategy,
        tokens_before,
        tokens_after,
        tokens_saved: tokens_before.saturating_sub(tokens_after),
    })
}

/// A part of a summary, or the whole.
#[derive(Default)]
struct Piece {
    text: String,
    /// A model wrote it, or something that it was made from.
    written: bool,
}

/// Each level has a tenth of the texts of the one before, so there is an end to it, and the last call is cut to
/// the target whatever comes back.
async fn hierarchical(
    texts: &[String],
    vectors: Option<&[Vec<f32>]>,
    target: usize,
    writer: Option<&dyn Writer>,
) -> Result<Piece> {
    if texts.len() <= TEXTS_PER_CHUNK {
        return write(texts, vectors, target, writer).await;
    }
    let (mut level, mut written) = chunks(texts, vectors, target, writer).await?;
    loop {
        let text = level.join("\n");
        if count_tokens(&text) <= target {
            return Ok(Piece { text, written });
        }
        if level.len() <= TEXTS_PER_CHUNK {
            let piece = write(&level, None, target, writer).await?;
            return Ok(Piece { written: written || piece.written, ..piece });
        }
        let (next, by_model) = chunks(&level, None, target, writer).await?;
        (level, written) = (next, written || by_model);
    }
}

async fn map_reduce(
    texts: &[String],
    vectors: Option<&[Vec<f32>]>,
    target: usize,
    writer: Option<&dyn Writer>,
) -> Result<Piece> {
    if texts.len() <= TEXTS_PER_CHUNK {
        return write(texts, vectors, target, writer).await;
    }
    // The chunks may say twice what is wanted, so that there is something to choose from.
    let (level, written) = chunks(texts, vectors, target.saturating_mul(2), writer).await?;
    let piece = write(&level, None, target, writer).await?;
    Ok(Piece { written: written || piece.written, ..piece })
}

/// A summary of every chunk that says something, in order, and whether a model wrote any of them.
///
/// Each chunk has its part of `target`, by its size.
async fn chunks(
    texts: &[String],
    vectors: Option<&[Vec<f32>]>,
    target: usize,
    writer: Option<&dyn Writer>,
) -> Result<(Vec<String>, bool)> {
    let all = size(texts).max(1);
    // A line break stands between two chunks.
    let room = target.saturating_sub(texts.len().div_ceil(TEXTS_PER_CHUNK));
    let work = texts.chunks(TEXTS_PER_CHUNK).enumerate().map(|(number, chunk)| {
        let (start, own) = (number * TEXTS_PER_CHUNK, size(chunk));
        let vectors = vectors.map(|vectors| &vectors[start..start + chunk.len()]);
        let part = (room as f64 * own as f64 / all as f64) as usize;
        write(chunk, vectors, part.max(MIN_CHUNK_TOKENS.min(own)), writer)
    });
    let work: Vec<_> = work.collect();
    let pieces: Vec<Piece> = stream::iter(work).buffered(CONCURRENT_CHUNKS).try_collect().await?;
    let written = pieces.iter().any(|piece| piece.written);
    Ok((pieces.into_iter().map(|piece| piece.text).filter(|text| !text.is_empty()).collect(), written))
}

/// One summary: written by the language model if there is one and it succeeds, otherwise made of chosen sentences.
async fn write(
    texts: &[String],
    vectors: Option<&[Vec<f32>]>,
    most: usize,
    writer: Option<&dyn Writer>,
) -> Result<Piece> {
    if let Some(writer) = writer {
        let text = within(writer.write(texts, most).await?.trim(), most);
        if !text.is_empty() {
            return Ok(Piece { text, written: true });
        }
    }
    let text = extractive(texts, vectors, most);
    // Where no whole sentence fits, the beginning of one is better than nothing.
    let text = if text.is_empty() { shorten(&texts.join("\n"), most).unwrap_or_default() } else { text };
    Ok(Piece { text, written: false })
}

/// The text, or a summary of it with at most this number of tokens.
fn within(text: &str, most: usize) -> String {
    if count_tokens(text) <= most { text.to_owned() } else { shorten(text, most).unwrap_or_default() }
}

fn size(texts: &[String]) -> usize {
    texts.iter().map(|text| count_tokens(text)).sum()
}

#[cfg(test)]
mod tests;
