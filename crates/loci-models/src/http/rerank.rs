//! How does Loci let someone else's machine judge its answers?
//!
//! [`RemoteReranker`] speaks the `/rerank` call in the two dialects that servers understand, within
//! a deadline that covers all of it: connecting, every batch and reading what comes back. Nothing
//! is tried again, because whoever waits for an answer would rather have the order there is.

use std::time::Duration;

use async_trait::async_trait;
use serde::Serialize;
use serde_json::Value;

use super::call::{Retries, Service, never_empty};
use super::scores;
use crate::error::Error;
use crate::rerank::Reranker;
use crate::secret::Secret;

/// What must be known to reach a reranking service.
#[derive(Debug, Clone)]
pub struct RerankConfig {
    /// The address below which `/rerank` lies, such as `http://host:8080` or `https://host/v1`.
    pub base_url: String,
    /// The model's name at the service, and with it the dialect. With a name the call is the one of
    /// Cohere, which Jina, vLLM, llama.cpp, `LiteLLM` and Infinity speak too; without one it is that
    /// of Hugging Face's text-embeddings-inference, which serves a single model and asks for none.
    pub model: Option<String>,
    /// The key, sent as a bearer token.
    pub api_key: Option<Secret>,
    /// How long the whole of [`Reranker::rerank`] may take.
    pub deadline: Duration,
    /// How many texts go into one call; more are sent in several, one after the other. Without it
    /// as many as the dialect's servers take by default: 32 without a model, 100 with one.
    pub batch_size: Option<usize>,
    /// The service is known to send raw logits. Without this they are recognised only where one of
    /// a question's scores lies outside 0..=1.
    pub logits: bool,
}

impl RerankConfig {
    /// The usual settings for the one model of a text-embeddings-inference at `base_url`.
    pub fn new(base_url: impl Into<String>) -> Self {
        Self {
            base_url: base_url.into(),
            model: None,
            api_key: None,
            deadline: Duration::from_millis(300),
            batch_size: None,
            logits: false,
        }
    }
}

/// A reranker behind an address.
#[derive(Debug)]
pub struct RemoteReranker {
    service: Service,
    name: String,
    model: Option<String>,
    deadline: Duration,
    batch_size: usize,
    logits: bool,
}

/// One call, in either dialect.
#[derive(Serialize)]
#[serde(untagged)]
enum Question<'a> {
    Named { model: &'a str, query: &'a str, documents: &'a [&'a str], top_n: usize },
    Nameless { query: &'a str, texts: &'a [&'a str], truncate: bool },
}

impl RemoteReranker {
    /// Prepares the service, without calling it.
    pub fn new(config: RerankConfig) -> Result<Self, Error> {
        Self::prepare(config).map_err(Error::of_reranker)
    }

    fn prepare(config: RerankConfig) -> Result<Self, Error> {
        let wrong = |field, problem: &str| Err(Error::Setting { field, problem: problem.to_owned() });
        let RerankConfig { base_url, model, api_key, deadline, batch_size, logits } = config;
        if model.as_ref().is_some_and(|model| model.trim().is_empty()) {
            return wrong("model", "the name of the model is empty; leave it out where the service has only one");
        }
        let batch_size = batch_size.unwrap_or(if model.is_some() { 100 } else { 32 });
        if batch_size == 0 {
            return wrong("batch_size", "at least one text must go into a call");
        }
        if deadline.is_zero() {
            return wrong("deadline", "no service can answer in no time");
        }
        let once = Retries { attempts: 1, ..Retries::default() };
        let service = Service::new(&base_url, "rerank", api_key, deadline, once)?.discreet();
        let name = model.clone().unwrap_or_else(|| service.shown().to_owned());
        Ok(Self { service, name, model, deadline, batch_size, logits })
    }

    /// As many scores as texts, in their order and as the service means them.
    async fn scores(&self, query: &str, texts: &[String]) -> Result<Vec<f64>, Error> {
        let query = never_empty(query);
        let mut all = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.batch_size) {
            let batch: Vec<&str> = batch.iter().map(|text| never_empty(text)).collect();
            let question = match &self.model {
                Some(model) => Question::Named { model, query, documents: &batch, top_n: batch.len() },
                None => Question::Nameless { query, texts: &batch, truncate: true },
            };
            let answer: Value = self.service.post(&question).await?;
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
        // Batches are judged together: the logits of one may all look like probabilities.
        match tokio::time::timeout(self.deadline, self.scores(query, texts)).await {
            Ok(Ok(scores)) => Ok(scores::relevances(scores, self.logits)),
            Ok(Err(error)) => Err(Error::of_reranker(error)),
            Err(_) => Err(Error::of_reranker(self.service.late())),
        }
    }
}
