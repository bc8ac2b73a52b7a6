//! Model services over HTTP.
//!
//! [`Remote`] embeds with the OpenAI-compatible `/embeddings` call of a hosted service or a local server. Every answer
//! is checked: it must have one vector per text, and all vectors must have the dimensions that were fixed by
//! [`Remote::connect`].
//!
//! [`RemoteReranker`] calls a reranking service, and [`RemoteChat`] a language model.

mod answer;
mod call;
mod chat;
mod reply;
mod rerank;
mod scores;
mod shape;

use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;

use crate::embedder::{Detail, Embedder, Embedding, Model, SIMILARITY_THRESHOLD, normalise};
use crate::error::Error;
use crate::secret::Secret;

use answer::Answer;
use call::{Service, never_empty};

pub use call::Retries;
pub use chat::{ChatConfig, RemoteChat};
pub use rerank::{RemoteReranker, RerankConfig};

/// The settings of an embedding service.
#[derive(Debug, Clone)]
pub struct RemoteConfig {
    /// The base URL, to which `/embeddings` is appended, such as `https://host/v1`.
    pub base_url: String,
    /// The name of the model at the service.
    pub model: String,
    /// The number of dimensions to request, for models that support shorter vectors. Without it, a first call finds
    /// out the dimensions of the model.
    pub dimensions: Option<usize>,
    /// The key, sent as a bearer token.
    pub api_key: Option<Secret>,
    /// Maximum number of texts in one call. Default: 100.
    pub batch_size: usize,
    /// Timeout of one call. Default: 30 s.
    pub timeout: Duration,
    /// How calls are retried.
    pub retries: Retries,
    /// Maximum number of tokens of a text that the model reads. Default: 8191.
    pub max_tokens: usize,
}

impl RemoteConfig {
    /// Returns the default settings for `model` at `base_url`.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: model.into(),
            dimensions: None,
            api_key: None,
            batch_size: 100,
            timeout: Duration::from_secs(30),
            retries: Retries::default(),
            max_tokens: 8191,
        }
    }
}

/// An embedder that calls an OpenAI-compatible service.
#[derive(Debug)]
pub struct Remote {
    service: Service,
    model: Model,
    name: String,
    dimensions: Option<usize>,
    batch_size: usize,
}

#[derive(Serialize)]
struct Question<'a> {
    model: &'a str,
    input: &'a [&'a str],
    #[serde(skip_serializing_if = "Option::is_none")]
    dimensions: Option<usize>,
}

impl Remote {
    /// Checks the settings. Calls the service once if the number of dimensions is not given.
    pub async fn connect(config: RemoteConfig) -> Result<Self, Error> {
        let wrong = |field, problem: &str| Err(Error::Setting { field, problem: problem.to_owned() });
        if config.model.trim().is_empty() {
            return wrong("model", "the name of the model is empty");
        }
        if config.batch_size == 0 {
            return wrong("batch_size", "the batch size must be at least 1");
        }
        if config.dimensions == Some(0) {
            return wrong("dimensions", "the number of dimensions must be at least 1");
        }
        // Vectors of the same model with another number of dimensions are not comparable, so a requested number is
        // part of the name.
        let name = match config.dimensions {
            Some(dimensions) => format!("{}@{dimensions}", config.model),
            None => config.model.clone(),
        };
        let model = Model {
            name,
            dimensions: config.dimensions.unwrap_or(0),
            similarity_threshold: SIMILARITY_THRESHOLD,
            max_tokens: config.max_tokens,
        };
        let service = Service::new(&config.base_url, "embeddings", config.api_key, config.timeout, config.retries)?;
        let mut remote =
            Self { service, model, name: config.model, dimensions: config.dimensions, batch_size: config.batch_size };
        if remote.dimensions.is_none() {
            let probe = remote.ask(&["probe"]).await?;
            remote.model.dimensions = probe.first().map_or(0, Vec::len);
        }
        Ok(remote)
    }

    /// Makes one call and returns one vector per text, in their order.
    async fn ask(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, Error> {
        let question = Question { model: &self.name, input: texts, dimensions: self.dimensions };
        let answer: Answer = self.service.post(&question).await?;
        answer.vectors(texts.len()).map_err(|problem| self.service.nonsense(problem))
    }
}

#[async_trait]
impl Embedder for Remote {
    fn model(&self) -> &Model {
        &self.model
    }

    async fn embed(&self, texts: &[String], _detail: Detail) -> Result<Vec<Embedding>, Error> {
        let mut embeddings = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.batch_size) {
            let batch: Vec<&str> = batch.iter().map(|text| never_empty(text)).collect();
            for mut vector in self.ask(&batch).await? {
                if vector.len() != self.model.dimensions {
                    let (expected, found) = (self.model.dimensions, vector.len());
                    return Err(Error::WrongDimensions { model: self.model.name.clone(), expected, found });
                }
                normalise(&mut vector);
                embeddings.push(Embedding { vector, tokens: Vec::new() });
            }
        }
        Ok(embeddings)
    }
}
