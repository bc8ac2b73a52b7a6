//! A reranker over HTTP.
//!
//! [`RemoteReranker`] makes the `/rerank` call in one of two common forms. One deadline covers connecting, all batches
//! and reading the answers. Calls are not retried, because recall prefers its present order to a late answer, and are not
//! made while the service is known to be away.

use std::time::{Duration, Instant};

use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value;

use super::call::{Retries, Service, never_empty};
use super::scores;
use crate::error::Error;
use crate::rerank::Reranker;
use crate::secret::Secret;

/// The settings of a reranking service.
#[derive(Debug, Clone)]
pub struct RerankConfig {
    /// The base URL, to which `/rerank` is appended, such as `http://host:8080` or `https://host/v1`.
    pub base_url: String,
    /// The name of the model at the service, which also selects the form of the call. With a name it is Cohere's API,
    /// which Jina, vLLM, llama.cpp, `LiteLLM` and Infinity support too. Without a name it is the API of Hugging Face's
    /// text-embeddings-inference, which serves a single model.
    pub model: Option<String>,
    /// The key, sent as a bearer token.
    pub api_key: Option<Secret>,
    /// The certificate authorities that are trusted, as PEM. Default: those of the system.
    pub authorities: Option<Vec<u8>>,
    /// Maximum time of one [`Reranker::rerank`], with all its batches. Default: 300 ms.
    pub deadline: Duration,
    /// Maximum number of texts in one call; further texts are sent in further calls, one after the other. Default: 32
    /// without a model and 100 with one, which are the defaults of the servers.
    pub batch_size: Option<usize>,
    /// Whether the service sends raw logits. If false, logits are recognised only if one score of a question is outside
    /// of 0..=1. Default: false.
    pub logits: bool,
}

impl RerankConfig {
    /// Returns the default settings for text-embeddings-inference at `base_url`.
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: None,
            api_key: None,
            authorities: None,
            deadline: Duration::from_millis(300),
            batch_size: None,
            logits: false,
        }
    }
}

/// A reranker that is called over HTTP.
#[derive(Debug)]
pub struct RemoteReranker {
    service: Service,
    name: String,
    model: Option<String>,
    deadline: Duration,
    batch_size: usize,
    logits: bool,
}

/// The body of a call: `Named` for Cohere's API, `Nameless` for text-embeddings-inference.
#[derive(Serialize)]
#[serde(untagged)]
enum RerankBody<'a> {
    Named { model: &'a str, query: &'a str, documents: &'a [&'a str], top_n: usize },
    Nameless { query: &'a str, texts: &'a [&'a str], truncate: bool },
}

impl RemoteReranker {
    /// Checks the settings, without a call.
    pub fn new(config: RerankConfig) -> Result<Self, Error> {
        Self::prepare(config).map_err(Error::of_reranker)
    }

    fn prepare(config: RerankConfig) -> Result<Self, Error> {
        let wrong = |field, problem: &str| Err(Error::Setting { field, problem: problem.to_owned() });
        let RerankConfig { base_url, model, api_key, authorities, deadline, batch_size, logits } = config;
        if model.as_ref().is_some_and(|model| model.trim().is_empty()) {
            return wrong("model", "the name of the model is empty; leave it out if the service has only one model");
        }
        let batch_size = batch_size.unwrap_or(if model.is_some() { 100 } else { 32 });
        if batch_size == 0 {
            return wrong("batch_size", "the batch size must be at least 1");
        }
        if deadline.is_zero() {
            return wrong("deadline", "the deadline must be longer than 0");
        }
        let once = Retries { attempts: 1, ..Retries::default() };
        let service = Service::new(&base_url, "rerank", api_key, authorities.as_deref(), deadline, once)?.discreet();
        let texts = ["probe"];
        let service = service.with_probe(&match &model {
            Some(model) => RerankBody::Named { model, query: "probe", documents: &texts, top_n: 1 },
            None => RerankBody::Nameless { query: "probe", texts: &texts, truncate: true },
        });
        let name = model.clone().unwrap_or_else(|| service.shown().to_owned());
        Ok(Self { service, name, model, deadline, batch_size, logits })
    }

    /// Names the whole deadline in the error of a call that had what was left of it.
    fn over(&self, error: Error) -> Error {
        match error {
            Error::Timeout { service, .. } => Error::Timeout { service, after: self.deadline },
            other => other,
        }
    }

    /// Returns one score per text, in their order and on the scale of the service.
    async fn scores(&self, query: &str, texts: &[String]) -> Result<Vec<f64>, Error> {
        let query = never_empty(query);
        let begun = Instant::now();
        let mut all = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.batch_size) {
            let batch: Vec<&str> = batch.iter().map(|text| never_empty(text)).collect();
            let question = match &self.model {
                Some(model) => RerankBody::Named { model, query, documents: &batch, top_n: batch.len() },
                None => RerankBody::Nameless { query, texts: &batch, truncate: true },
            };
            let answer: Value = {
                // One deadline covers all batches.
                let left = self.deadline.saturating_sub(begun.elapsed());
                self.service.post_soon(&question, left).await.map_err(|error| self.over(error))?
            };
            all.extend(scores::read(&answer, batch.len()).map_err(|problem| self.service.nonsense(problem))?);
        }
        Ok(all)
    }
}

#[async_trait]
impl Reranker for RemoteReranker {
    fn name(&self) -> &str {
        &self.name
    }

    async fn rerank(&self, query: &str, texts: &[String]) -> Result<Vec<f64>, Error> {
        // All batches are converted together, because the logits of a single batch may all look like probabilities.
        let scores = self.scores(query, texts).await.map_err(Error::of_reranker)?;
        Ok(scores::relevances(scores, self.logits))
    }
}
