//! The multilingual model, loaded on first use.
//!
//! It is needed only for texts that the main model cannot read. Until then it takes neither time nor memory; its name
//! and dimensions are known without loading it.

use std::path::PathBuf;

use async_trait::async_trait;
use tokio::sync::OnceCell;

use super::folder::USE_MULTILINGUAL;
use super::{Local, Precision};
use crate::embedder::{Detail, Embedder, Embedding, Model, SIMILARITY_THRESHOLD};
use crate::error::Error;

/// The dimensions of its vectors.
const DIMENSIONS: usize = 512;
/// Maximum number of tokens that it reads.
const MAX_TOKENS: usize = 512;

/// The multilingual model of a folder, loaded by the first call.
#[derive(Debug)]
pub struct Lazy {
    folder: PathBuf,
    precision: Precision,
    model: Model,
    loaded: OnceCell<Local>,
}

impl Lazy {
    /// Makes the embedder for the multilingual model in `folder`, without reading it.
    pub fn multilingual(folder: PathBuf, precision: Precision) -> Self {
        let model = Model {
            name: USE_MULTILINGUAL.to_owned(),
            dimensions: DIMENSIONS,
            similarity_threshold: SIMILARITY_THRESHOLD,
            max_tokens: MAX_TOKENS,
        };
        Self { folder, precision, model, loaded: OnceCell::new() }
    }

    async fn load(&self) -> Result<&Local, Error> {
        let load = async || {
            let (folder, precision) = (self.folder.clone(), self.precision);
            let loaded = tokio::task::spawn_blocking(move || Local::load_with(&folder, precision)).await;
            let local = loaded.unwrap_or_else(|error| Err(Error::Inference { problem: error.to_string() }))?;
            if local.model().name == self.model.name {
                return Ok(local);
            }
            let problem = "the files are not those of the multilingual model; run `loci model fetch` to fetch them";
            Err(Error::invalid(&self.folder, "weights.npz", problem))
        };
        self.loaded.get_or_try_init(load).await
    }
}

#[async_trait]
impl Embedder for Lazy {
    fn model(&self) -> &Model {
        &self.model
    }

    async fn embed(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        if texts.is_empty() {
            return Ok(Vec::new());
        }
        self.load().await?.embed(texts, detail).await
    }
}
