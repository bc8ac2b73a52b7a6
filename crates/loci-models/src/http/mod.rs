//! Model services over HTTP.
//!
//! [`Remote`] embeds with the OpenAI-compatible `/embeddings` call of a hosted service or a local server, or with the
//! `/embed` call of Cohere. Every answer
//! is checked: it must have one vector per text, and all vectors must have the same dimensions: those of the settings, or
//! else those of the first answer. So a service may be away when Loci starts.
//!
//! [`RemoteReranker`] calls a reranking service, and [`RemoteChat`] a language model.

mod answer;
mod call;
mod chat;
mod client;
mod reply;
mod rerank;
mod scores;
mod shape;

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use loci_types::ErrorKind;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::embedder::{Detail, Embedder, Embedding, Model, SIMILARITY_THRESHOLD, normalise};
use crate::error::Error;
use crate::secret::Secret;

use answer::{Answer, CohereAnswer};
use call::{Service, never_empty};

pub use call::Retries;
pub use chat::{ChatConfig, RemoteChat};
pub use client::{cause_of, client_builder};
pub use rerank::{RemoteReranker, RerankConfig};

/// The form of the calls of an embedding service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum EmbeddingsApi {
    /// `/embeddings`, as OpenAI has it.
    #[default]
    OpenAi,
    /// `/embed`, as Cohere has it in version 2. Questions and texts are embedded differently.
    Cohere,
}

impl EmbeddingsApi {
    /// Maximum number of texts that the service takes in one call.
    fn max_batch(self) -> usize {
        match self {
            Self::OpenAi => usize::MAX,
            Self::Cohere => 96,
        }
    }

    fn path(self) -> &'static str {
        match self {
            Self::OpenAi => "embeddings",
            Self::Cohere => "embed",
        }
    }
}

/// The settings of an embedding service.
#[derive(Debug, Clone)]
pub struct RemoteConfig {
    /// The form of the calls. Default: that of OpenAI.
    pub api: EmbeddingsApi,
    /// The base URL, to which `/embeddings` or `/embed` is appended, such as `https://host/v1`.
    pub base_url: String,
    /// The name of the model at the service.
    pub model: String,
    /// The number of dimensions to request, for models that support shorter vectors. Without it, the first answer gives
    /// the dimensions of the model.
    pub dimensions: Option<usize>,
    /// The key, sent as a bearer token.
    pub api_key: Option<Secret>,
    /// The certificate authorities that are trusted, as PEM. Default: those of the system.
    pub authorities: Option<Vec<u8>>,
    /// Maximum number of texts in one call. Default: 100; Cohere takes at most 96.
    pub batch_size: usize,
    /// Timeout of one call of background work. Default: 30 s.
    pub timeout: Duration,
    /// Deadline of a call that a request waits for; each further text adds 50 ms. Default: 1 s.
    pub deadline: Duration,
    /// How calls are retried.
    pub retries: Retries,
    /// Maximum number of tokens of a text that the model reads. Default: 8191.
    pub max_tokens: usize,
}

impl RemoteConfig {
    /// Returns the default settings for `model` at `base_url`.
    pub fn new(base_url: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            api: EmbeddingsApi::default(),
            base_url: base_url.into(),
            model: model.into(),
            dimensions: None,
            api_key: None,
            authorities: None,
            batch_size: 100,
            timeout: Duration::from_secs(30),
            deadline: Duration::from_secs(1),
            retries: Retries::default(),
            max_tokens: 8191,
        }
    }
}

/// An embedder that calls a service.
#[derive(Debug)]
pub struct Remote {
    api: EmbeddingsApi,
    service: Service,
    /// The model as the settings describe it; its dimensions are 0 if they do not say.
    model: Model,
    /// The model with the dimensions of the first answer.
    answered: OnceLock<Model>,
    name: String,
    dimensions: Option<usize>,
    batch_size: usize,
    deadline: Duration,
    /// Whether the service was called before.
    was_called: AtomicBool,
}

/// The time that each further text adds to the deadline of a call.
const TIME_PER_TEXT: Duration = Duration::from_millis(50);

/// The body of a call.
#[derive(Serialize)]
#[serde(untagged)]
enum EmbeddingsBody<'a> {
    OpenAi {
        model: &'a str,
        input: &'a [&'a str],
        #[serde(skip_serializing_if = "Option::is_none")]
        dimensions: Option<usize>,
    },
    Cohere {
        model: &'a str,
        texts: &'a [&'a str],
        input_type: &'static str,
        embedding_types: [&'static str; 1],
        #[serde(skip_serializing_if = "Option::is_none")]
        output_dimension: Option<usize>,
        /// A text that is too long is cut at its end instead of being refused.
        truncate: &'static str,
    },
}

impl<'a> EmbeddingsBody<'a> {
    fn new(
        api: EmbeddingsApi,
        model: &'a str,
        texts: &'a [&'a str],
        dimensions: Option<usize>,
        purpose: Purpose,
    ) -> Self {
        match api {
            EmbeddingsApi::OpenAi => Self::OpenAi { model, input: texts, dimensions },
            EmbeddingsApi::Cohere => Self::Cohere {
                model,
                texts,
                input_type: match purpose {
                    Purpose::Text => "search_document",
                    Purpose::Question => "search_query",
                },
                embedding_types: ["float"],
                output_dimension: dimensions,
                truncate: "END",
            },
        }
    }
}

/// What a vector is for.
#[derive(Debug, Clone, Copy)]
enum Purpose {
    Text,
    Question,
}

impl Remote {
    /// Checks the settings. Calls the service once if the number of dimensions is not given; a service that is away is not an
    /// error, but one that refuses the call, for example the key, is.
    pub async fn connect(config: RemoteConfig) -> Result<Self, Error> {
        let wrong = |field, problem: &str| Err(Error::Setting { field, problem: problem.to_owned() });
        if config.model.trim().is_empty() {
            return wrong("model", "the name of the model is empty");
        }
        if config.batch_size == 0 {
            return wrong("batch_size", "the batch size must be at least 1");
        }
        if config.deadline.is_zero() {
            return wrong("deadline", "the deadline must be longer than 0");
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
        let authorities = config.authorities.as_deref();
        let service = Service::new(
            &config.base_url,
            config.api.path(),
            config.api_key,
            authorities,
            config.timeout,
            config.retries,
        )?;
        let probe = EmbeddingsBody::new(config.api, &config.model, &["probe"], config.dimensions, Purpose::Text);
        let service = service.with_probe(&probe);
        let remote = Self {
            api: config.api,
            service,
            model,
            answered: OnceLock::new(),
            name: config.model,
            dimensions: config.dimensions,
            batch_size: config.batch_size.min(config.api.max_batch()),
            deadline: config.deadline,
            was_called: AtomicBool::new(false),
        };
        if remote.dimensions.is_none()
            && let Err(error) = remote.embed_soon(&["probe".to_owned()], Detail::Sentence).await
            && !(error.is_outage() && error.kind() != ErrorKind::Configuration)
        {
            return Err(error);
        }
        Ok(remote)
    }

    /// Makes one call and returns one vector per text, in their order.
    async fn ask(&self, texts: &[&str], purpose: Purpose, deadline: Option<Duration>) -> Result<Vec<Vec<f32>>, Error> {
        self.was_called.store(true, Ordering::Relaxed);
        let body = EmbeddingsBody::new(self.api, &self.name, texts, self.dimensions, purpose);
        let vectors = match self.api {
            EmbeddingsApi::OpenAi => self.post::<Answer>(&body, deadline).await?.vectors(texts.len()),
            EmbeddingsApi::Cohere => self.post::<CohereAnswer>(&body, deadline).await?.vectors(texts.len()),
        };
        vectors.map_err(|problem| self.service.nonsense(problem))
    }

    async fn post<A: DeserializeOwned>(
        &self,
        body: &EmbeddingsBody<'_>,
        deadline: Option<Duration>,
    ) -> Result<A, Error> {
        match deadline {
            Some(deadline) => self.service.post_soon(body, deadline).await,
            None => self.service.post(body).await,
        }
    }

    /// The dimensions that every vector must have. Those of the first vector, if the settings do not say.
    fn expect_dimensions(&self, found: usize) -> Result<(), Error> {
        let known = match self.model.dimensions {
            0 => self.answered.get_or_init(|| Model { dimensions: found, ..self.model.clone() }),
            _ => &self.model,
        };
        match known.dimensions {
            expected if expected == found => Ok(()),
            expected => Err(Error::WrongDimensions { model: known.name.clone(), expected, found }),
        }
    }

    /// Embeds the texts in batches. With a deadline, the calls are hurried.
    async fn embed_batches(&self, texts: &[String], purpose: Purpose, hurried: bool) -> Result<Vec<Embedding>, Error> {
        let mut embeddings = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.batch_size) {
            let deadline = hurried.then(|| self.deadline + TIME_PER_TEXT * (batch.len() as u32).saturating_sub(1));
            let batch: Vec<&str> = batch.iter().map(|text| never_empty(text)).collect();
            for mut vector in self.ask(&batch, purpose, deadline).await? {
                self.expect_dimensions(vector.len())?;
                normalise(&mut vector);
                embeddings.push(Embedding { vector, tokens: Vec::new() });
            }
        }
        Ok(embeddings)
    }
}

#[async_trait]
impl Embedder for Remote {
    fn model(&self) -> &Model {
        self.answered.get().unwrap_or(&self.model)
    }

    async fn embed(&self, texts: &[String], _detail: Detail) -> Result<Vec<Embedding>, Error> {
        self.embed_batches(texts, Purpose::Text, false).await
    }

    async fn embed_soon(&self, texts: &[String], _detail: Detail) -> Result<Vec<Embedding>, Error> {
        self.embed_batches(texts, Purpose::Text, true).await
    }

    async fn embed_questions(&self, texts: &[String], _detail: Detail) -> Result<Vec<Embedding>, Error> {
        self.embed_batches(texts, Purpose::Question, true).await
    }

    fn distinguishes_questions(&self) -> bool {
        self.api == EmbeddingsApi::Cohere
    }

    async fn health(&self) -> Result<(), Error> {
        if !self.was_called.load(Ordering::Relaxed) {
            return self.embed_soon(&["probe".to_owned()], Detail::Sentence).await.map(drop);
        }
        self.service.enter(self.deadline).map(drop)
    }
}
