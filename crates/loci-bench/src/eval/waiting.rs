//! Measures recall of answers that have no vector yet.
//!
//! Embedding follows a write, so what was just said waits for its vector while everything older has one. Here that is brought
//! about on purpose: some texts are refused, as a model does that is out of reach.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use loci_models::{Detail, Embedder, Embedding, Error, Model};

/// An embedder that refuses some texts.
pub(super) struct RefusingEmbedder {
    embedder: Arc<dyn Embedder>,
    texts: HashSet<String>,
}

impl RefusingEmbedder {
    /// The embedder itself if nothing waits.
    pub(super) fn beside(embedder: Arc<dyn Embedder>, texts: Option<Vec<String>>) -> Arc<dyn Embedder> {
        match texts {
            Some(texts) => Arc::new(Self { embedder, texts: texts.into_iter().collect() }),
            None => embedder,
        }
    }
}

#[async_trait]
impl Embedder for RefusingEmbedder {
    fn model(&self) -> &Model {
        self.embedder.model()
    }

    async fn embed(&self, texts: &[String], detail: Detail) -> Result<Vec<Embedding>, Error> {
        if texts.iter().any(|text| self.texts.contains(text)) {
            return Err(Error::Inference { problem: "this text is to wait for its vector".to_owned() });
        }
        self.embedder.embed(texts, detail).await
    }
}
