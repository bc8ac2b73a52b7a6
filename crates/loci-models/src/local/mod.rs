//! How does Loci embed without anyone's help?
//!
//! [`Local`] runs a model from a folder on this machine's processor: a BERT sentence model such as
//! all-MiniLM-L6-v2, or a static model2vec table. The folder's `config.json` decides which.
//!
//! Inference is heavy, so it never runs on the async threads. Work is cut into packs of bounded
//! size, so that memory stays bounded however many texts come at once; results come back in the
//! order of the texts.

mod bert;
mod dense;
pub mod find;
mod folder;
mod hub;
mod kernels;
mod table;
mod tensors;
mod words;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use rayon::prelude::*;

use crate::embedder::{Detail, Embedder, Embedding, Model, SIMILARITY_THRESHOLD};
use crate::error::Error;

use bert::Bert;
pub use dense::Precision;
pub use folder::MINILM;
use folder::{Folder, Sort};
use table::Table;
use words::{Words, Written};

pub use find::{Places, Weights, find, look, verify};
pub use hub::{Hub, Progress};

/// The most tokens that go through the model at once. Cores take whole packs, and what a pack needs on its way stays
/// near its core: the widest intermediate value is 6 kB per token.
const PACK_TOKENS: usize = 256;

/// An embedder that runs in this process.
#[derive(Debug, Clone)]
pub struct Local {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    model: Model,
    words: Words,
    network: Network,
}

#[derive(Debug)]
enum Network {
    Bert(Bert),
    Table(Table),
}

impl Local {
    /// Loads the model in `folder`. Reads the disk; call it where blocking is welcome.
    pub fn load(folder: &Path) -> Result<Self, Error> {
        Self::load_with(folder, Precision::default())
    }

    /// The same, with the given precision; a static table has only one.
    pub fn load_with(folder: &Path, precision: Precision) -> Result<Self, Error> {
        let folder = Folder::open(folder)?;
        let ((words, name), network) =
            rayon::join(|| (Words::load(&folder), folder.model_name()), || load_network(&folder, precision));
        let (words, (network, dimensions, vocabulary)) = (words?, network?);
        words.fits(&folder, vocabulary)?;
        let model =
            Model { name, dimensions, similarity_threshold: SIMILARITY_THRESHOLD, max_tokens: folder.max_tokens() };
        tracing::debug!(model = model.name, dimensions, "local model loaded");
        Ok(Self { inner: Arc::new(Inner { model, words, network }) })
    }

    /// Embeds on the calling thread and the processor's other cores.
    pub fn embed_blocking(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        self.inner.embed(texts, detail)
    }
}

/// The network, the length of its vectors and how many pieces it knows.
fn load_network(folder: &Folder, precision: Precision) -> Result<(Network, usize, usize), Error> {
    match &folder.sort {
        Sort::Bert(config) => {
            let bert = Bert::load(folder, config, precision)?;
            Ok((Network::Bert(bert), config.hidden_size, config.vocab_size))
        }
        Sort::Table { hidden_dim } => {
            let table = Table::load(folder, *hidden_dim)?;
            let (dimensions, vocabulary) = (table.dimensions, table.vocabulary());
            Ok((Network::Table(table), dimensions, vocabulary))
        }
    }
}

impl Inner {
    fn embed(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        let written = self.words.write(texts, detail)?;
        match &self.network {
            Network::Table(table) => Ok(written.iter().map(|text| table.embed(text, detail)).collect()),
            Network::Bert(bert) => {
                let packs: Vec<_> = packs(&written).collect();
                let embeddings: Vec<_> =
                    packs.into_par_iter().map(|pack| bert.embed(pack, detail)).collect::<Result<_, _>>()?;
                Ok(embeddings.into_iter().flatten().collect())
            }
        }
    }
}

/// Cuts the texts into runs of at most [`PACK_TOKENS`] tokens, or of one text if that is longer.
fn packs(mut texts: &[Written]) -> impl Iterator<Item = &[Written]> {
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
            let texts: Vec<_> = lengths.iter().map(|&n| Written { ids: vec![0; n], ..Written::default() }).collect();
            let packs: Vec<Vec<usize>> =
                packs(&texts).map(|pack| pack.iter().map(|text| text.ids.len()).collect()).collect();
            assert_eq!(packs.concat(), lengths);
            for pack in packs {
                assert!(pack.len() == 1 || pack.iter().sum::<usize>() <= PACK_TOKENS, "{pack:?}");
            }
        }
    }
}
