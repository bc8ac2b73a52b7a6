//! Local embedding models, which run in this process on the CPU.
//!
//! [`Local`] loads a model from a folder: a BERT sentence model such as all-MiniLM-L6-v2, a static model2vec table, or
//! the multilingual Universal Sentence Encoder. The files in the folder determine which.
//!
//! Inference never runs on the async threads. The texts are divided into packs of bounded size, so memory does not grow
//! with the number of texts; the results are in the order of the texts.

mod bert;
mod dense;
pub mod find;
mod folder;
mod hub;
mod kernels;
mod lazy;
mod npz;
mod sentencepiece;
mod static_model;
mod tensors;
mod text_encoder;
mod use_multilingual;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use rayon::prelude::*;

use crate::embedder::{Detail, Embedder, Embedding, Model, SIMILARITY_THRESHOLD};
use crate::error::Error;

use bert::Bert;
pub use dense::Precision;
use folder::{Architecture, Folder};
pub use folder::{MINILM, USE_MULTILINGUAL};
use sentencepiece::SentencePiece;
use static_model::StaticModel;
use text_encoder::{Encoded, TextEncoder};
use use_multilingual::UseMultilingual;

pub use find::{ModelLocations, Weights, find, look, look_multilingual, verify, verify_multilingual};
pub use hub::{Hub, Progress};
pub use lazy::Lazy;

/// Maximum number of tokens of a pack. One core processes a pack, and its buffers fit into the cache of the core: the
/// widest intermediate value has 6 kB per token.
const PACK_TOKENS: usize = 256;

/// An embedder that runs in this process.
#[derive(Debug, Clone)]
pub struct Local {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    model: Model,
    network: Network,
}

/// A tokenizer with the network that computes vectors from its tokens.
#[derive(Debug)]
enum Network {
    Bert(TextEncoder, Bert),
    StaticModel(TextEncoder, StaticModel),
    UseMultilingual(SentencePiece, Box<UseMultilingual>),
}

impl Local {
    /// Loads the model in `folder`. Blocks the calling thread while it reads the disk.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        Self::load_with(folder, Precision::default())
    }

    /// Loads the model with the given precision, which a static table ignores.
    pub fn load_with(folder: &Path, precision: Precision) -> Result<Self, Error> {
        let folder = Folder::open(folder)?;
        let (name, network) = rayon::join(|| folder.model_name(), || Network::load(&folder, precision));
        let network = network?;
        let (dimensions, similarity_threshold) = (network.dimensions(), network.similarity_threshold());
        let model = Model { name, dimensions, similarity_threshold, max_tokens: folder.max_tokens() };
        tracing::debug!(model = model.name, dimensions, "local model loaded");
        Ok(Self { inner: Arc::new(Inner { model, network }) })
    }

    /// Returns the token ids of a text with the special tokens of the model, cut at its limit.
    pub fn token_ids(&self, text: &str) -> Result<Vec<u32>, Error> {
        match &self.inner.network {
            Network::Bert(words, _) | Network::StaticModel(words, _) => {
                let written = words.write(&[text.to_owned()], Detail::Sentence)?;
                Ok(written.into_iter().flat_map(|written| written.ids).collect())
            }
            Network::UseMultilingual(pieces, _) => Ok(pieces.write(text).ids),
        }
    }

    /// Embeds with all cores and blocks the calling thread.
    pub fn embed_blocking(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        self.inner.embed(texts, detail)
    }
}

impl Network {
    fn load(folder: &Folder, precision: Precision) -> Result<Self, Error> {
        match &folder.sort {
            Architecture::Bert(config) => {
                let (words, bert) = rayon::join(|| TextEncoder::load(folder), || Bert::load(folder, config, precision));
                let (words, bert) = (words?, bert?);
                words.fits(folder, config.vocab_size)?;
                Ok(Self::Bert(words, bert))
            }
            Architecture::StaticModel { hidden_dim } => {
                let (words, table) =
                    rayon::join(|| TextEncoder::load(folder), || StaticModel::load(folder, *hidden_dim));
                let (words, table) = (words?, table?);
                words.fits(folder, table.vocabulary())?;
                Ok(Self::StaticModel(words, table))
            }
            Architecture::UseMultilingual => {
                let (path, file, most) = (&folder.tokenizer_path, &folder.tokenizer, folder.max_tokens());
                let (pieces, network) = rayon::join(
                    || SentencePiece::load(path, file, use_multilingual::PIECES, most),
                    || UseMultilingual::load(folder, precision),
                );
                Ok(Self::UseMultilingual(pieces?, Box::new(network?)))
            }
        }
    }

    fn dimensions(&self) -> usize {
        match self {
            Self::Bert(_, bert) => bert.size,
            Self::StaticModel(_, table) => table.dimensions,
            Self::UseMultilingual(..) => use_multilingual::DIMENSIONS,
        }
    }

    fn similarity_threshold(&self) -> f32 {
        match self {
            Self::Bert(..) | Self::StaticModel(..) => SIMILARITY_THRESHOLD,
            Self::UseMultilingual(..) => use_multilingual::SIMILARITY_THRESHOLD,
        }
    }
}

impl Inner {
    fn embed(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        match &self.network {
            Network::StaticModel(words, table) => {
                Ok(words.write(texts, detail)?.iter().map(|text| table.embed(text, detail)).collect())
            }
            Network::Bert(words, bert) => in_packs(&words.write(texts, detail)?, |pack| bert.embed(pack, detail)),
            Network::UseMultilingual(pieces, network) => {
                let written: Vec<_> = texts.par_iter().map(|text| pieces.write(text)).collect();
                in_packs(&written, |pack| network.embed(pack))
            }
        }
    }
}

/// Embeds all packs in parallel.
fn in_packs(
    texts: &[Encoded],
    embed: impl Fn(&[Encoded]) -> Result<Vec<Embedding>, Error> + Send + Sync,
) -> Result<Vec<Embedding>, Error> {
    let packs: Vec<_> = packs(texts).collect();
    let embeddings: Vec<_> = packs.into_par_iter().map(embed).collect::<Result<_, _>>()?;
    Ok(embeddings.into_iter().flatten().collect())
}

/// Divides the texts into packs of at most [`PACK_TOKENS`] tokens. A longer text is a pack of its own.
fn packs(mut texts: &[Encoded]) -> impl Iterator<Item = &[Encoded]> {
    std::iter::from_fn(move || {
        let mut tokens = 0;
        let fitting = texts.iter().take_while(|text| {
            tokens += text.ids.len();
            tokens <= PACK_TOKENS
        });
        let count = fitting.count().max(1).min(texts.len());
        let (pack, rest) = texts.split_at(count);
        texts = rest;
        (!pack.is_empty()).then_some(pack)
    })
}

#[async_trait]
impl Embedder for Local {
    fn model(&self) -> &Model {
        &self.inner.model
    }

    async fn embed(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        let (inner, texts) = (Arc::clone(&self.inner), texts.to_vec());
        tokio::task::spawn_blocking(move || inner.embed(&texts, detail))
            .await
            .unwrap_or_else(|error| Err(Error::Inference { problem: error.to_string() }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_keep_the_order_and_the_bound() {
        for lengths in [vec![], vec![3], vec![600, 600, 10], vec![2000, 1], vec![5; 1000]] {
            let texts: Vec<_> = lengths.iter().map(|&n| Encoded { ids: vec![0; n], ..Encoded::default() }).collect();
            let packs: Vec<Vec<usize>> =
                packs(&texts).map(|pack| pack.iter().map(|text| text.ids.len()).collect()).collect();
            assert_eq!(packs.concat(), lengths);
            for pack in packs {
                assert!(pack.len() == 1 || pack.iter().sum::<usize>() <= PACK_TOKENS, "{pack:?}");
            }
        }
    }
}
