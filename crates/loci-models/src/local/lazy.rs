//! What of a model that may never be needed?
//!
//! The model for other languages is asked only where there are texts in other languages. Until then it takes neither time nor
//! memory; its name is known without reading it.

use std::path::PathBuf;

use async_trait::async_trait;
use tokio::sync::OnceCell;

use super::folder::USE_MULTILINGUAL;
use super::{Local, Precision};
use crate::embedder::{Detail, Embedder, Embedding, Model, SIMILARITY_THRESHOLD};
use crate::error::Error;

/// The length of its vectors, and how many tokens it reads.
const DIMENSIONS: usize = 512;
const MAX_TOKENS: usize = 512;

/// The multilingual model of a folder, read when it is first asked.
#[derive(Debug)]
pub struct Lazy {
    folder: PathBuf,
    precision: Precision,
    model: Model,
    loaded: OnceCell<Local>,
}

impl Lazy {
    /// The multilingual model in `folder`.
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
            let problem = "these are not the files of the multilingual model; `loci model fetch` fetches them";
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
