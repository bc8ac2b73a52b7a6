//! How does Loci embed with someone else's machine?
//!
//! [`Remote`] speaks the OpenAI-compatible `/embeddings` call, which hosted services and local
//! servers alike understand. What comes back is checked before it is believed: as many vectors as
//! texts, all of the one length that was fixed when the connection was made.
//!
//! [`RemoteReranker`] asks such a machine for a second opinion, by the same kind of call, and
//! [`RemoteChat`] lets one read and write.

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

/// What must be known to reach an embedding service.
#[derive(Debug, Clone)]
pub struct RemoteConfig {
    /// The address below which `/embeddings` lies, such as `https://host/v1`.
    pub base_url: String,
    /// The model's name at the service.
    pub model: String,
    /// The length of the vectors to ask for, from models that can make shorter ones. Without it
    /// the model's own length is learned by a first call.
    pub dimensions: Option<usize>,
    /// The key, sent as a bearer token.
    pub api_key: Option<Secret>,
    /// How many texts go into one call.
    pub batch_size: usize,
    /// How long one call may take.
    pub timeout: Duration,
    /// How often and how patiently a call is repeated.
    pub retries: Retries,
    /// Tokens beyond this many are not seen by the model.
    pub max_tokens: usize,
}

impl RemoteConfig {
    /// The usual settings for `model` at `base_url`.
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

/// An embedder behind an OpenAI-compatible address.
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
    /// Prepares the service. Calls it once if the length of its vectors is not given.
    pub async fn connect(config: RemoteConfig) -> Result<Self, Error> {
        let wrong = |field, problem: &str| Err(Error::Setting { field, problem: problem.to_owned() });
        if config.model.trim().is_empty() {
            return wrong("model", "the name of the model is empty");
        }
        if config.batch_size == 0 {
            return wrong("batch_size", "at least one text must go into a call");
        }
        if config.dimensions == Some(0) {
            return wrong("dimensions", "a vector has at least one dimension");
        }
        // The same model cut to another length makes vectors of another kind, so the length that
        // was asked for is part of the name.
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

    /// One call: as many vectors as texts, in their order.
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
