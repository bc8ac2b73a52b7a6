//! Errors of models and model services.
//!
//! Every error has an [`ErrorKind`] and a hint that says what to do. No error contains an API key, and no error of a
//! reranker or a language model contains a text.

use std::path::PathBuf;
use std::time::Duration;

use loci_types::ErrorKind;

/// A failure of a model or a model service.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// None of the searched folders contains a model.
    #[error("no embedding model was found in {}", list(looked))]
    ModelMissing {
        /// The searched folders, in order.
        looked: Vec<PathBuf>,
    },
    /// A file of the model folder is invalid.
    #[error("{}: {field}: {problem}", path.display())]
    ModelInvalid {
        /// The file.
        path: PathBuf,
        /// The field, tensor or part of the file.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The vectors of a model do not have the expected number of dimensions.
    #[error("the model `{model}` makes vectors of {found} dimensions, but {expected} are expected")]
    WrongDimensions {
        /// The model.
        model: String,
        /// The expected number of dimensions.
        expected: usize,
        /// The actual number of dimensions.
        found: usize,
    },
    /// A file does not have the expected hash.
    #[error("{}: the sha256 is {found}, but should be {expected}", path.display())]
    HashMismatch {
        /// The file.
        path: PathBuf,
        /// The expected hash.
        expected: String,
        /// The hash of the file.
        found: String,
    },
    /// A file of the model cannot be read or written.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        problem: String,
    },
    /// The model failed on an input that it should accept.
    #[error("the local model failed: {problem}")]
    Inference {
        /// The error of the runtime.
        problem: String,
    },
    /// A setting of a model service is invalid.
    #[error("{field}: {problem}")]
    Setting {
        /// The setting.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The service answered with an error status.
    #[error("{service} answered {status}: {message}")]
    Http {
        /// The address of the service, without credentials.
        service: String,
        /// The HTTP status.
        status: u16,
        /// The beginning of its error message.
        message: String,
    },
    /// The service limits the rate of requests.
    #[error("{service} limits the rate of requests{}", wait(*retry_after))]
    RateLimited {
        /// The address of the service, without credentials.
        service: String,
        /// The time to wait before a retry, if the service gives one.
        retry_after: Option<Duration>,
    },
    /// The service did not answer in time.
    #[error("{service} did not answer within {after:?}")]
    Timeout {
        /// The address of the service, without credentials.
        service: String,
        /// The timeout.
        after: Duration,
    },
    /// The service cannot be reached.
    #[error("{service} cannot be reached: {problem}")]
    Unreachable {
        /// The address of the service, without credentials.
        service: String,
        /// The network error.
        problem: String,
    },
    /// The service failed before and is not called until it may be back.
    #[error("{service} is not available: it {problem}")]
    Away {
        /// The address of the service, without credentials.
        service: String,
        /// The failure.
        problem: String,
    },
    /// The service answered with success, but the answer is invalid.
    #[error("{service} sent an invalid answer: {problem}")]
    BadResponse {
        /// The address of the service, without credentials.
        service: String,
        /// What is wrong with the answer.
        problem: String,
    },
    /// The service does not support a field of the request, or not with this value.
    #[error("{service} answered {status}: it does not support `{field}`")]
    Unsupported {
        /// The address of the service, without credentials.
        service: String,
        /// The HTTP status.
        status: u16,
        /// The field.
        field: &'static str,
    },
    /// The answer of the language model does not match the schema, even after one repair.
    #[error("the answer of `{model}` does not match the schema: {problem}")]
    BadAnswer {
        /// The model.
        model: String,
        /// The place in the answer and what is expected there. It never quotes the answer.
        problem: String,
    },
    /// The answer of the language model reached the token limit.
    #[error("the answer of `{model}` was cut off after {max_tokens} tokens")]
    CutShort {
        /// The model.
        model: String,
        /// Maximum number of tokens of the answer.
        max_tokens: u32,
    },
    /// The language model, or a content filter, declined to answer.
    #[error("`{model}` declined to answer")]
    Declined {
        /// The model.
        model: String,
    },
    /// A call to the language model failed.
    #[error("the language model: {cause}")]
    Chat {
        /// The error.
        cause: Box<Error>,
        /// Number of tokens that were used before the failure.
        spent: u64,
    },
    /// A call to the reranker failed. Recall continues without it.
    #[error("the reranker: {cause}")]
    Rerank {
        /// The error.
        cause: Box<Error>,
    },
}

impl Error {
    /// Returns the kind of the failure.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::ModelMissing { .. }
            | Self::ModelInvalid { .. }
            | Self::WrongDimensions { .. }
            | Self::HashMismatch { .. }
            | Self::Setting { .. }
            | Self::Http { status: 401 | 403 | 404, .. } => ErrorKind::Configuration,
            Self::File { .. } => ErrorKind::Storage,
            Self::RateLimited { .. } => ErrorKind::RateLimited,
            Self::BadAnswer { .. } | Self::CutShort { .. } | Self::Declined { .. } => ErrorKind::Provider,
            Self::Inference { .. }
            | Self::Http { .. }
            | Self::Timeout { .. }
            | Self::Unreachable { .. }
            | Self::Away { .. }
            | Self::Unsupported { .. }
            | Self::BadResponse { .. } => ErrorKind::EmbeddingFailed,
            Self::Rerank { cause } | Self::Chat { cause, .. } => match cause.kind() {
                ErrorKind::EmbeddingFailed => ErrorKind::Provider,
                kind => kind,
            },
        }
    }

    /// Returns what the operator can do.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::ModelMissing { .. } => {
                "run `loci model fetch` (or `make model`) to fetch the weights, or set LOCI_MODEL_DIR to a folder \
                 that has them"
            }
            Self::ModelInvalid { .. } => {
                "run `loci model fetch` (or `make model`) to fetch the model again, or set LOCI_MODEL_DIR to a \
                 folder whose files belong to the same model"
            }
            Self::WrongDimensions { .. } => {
                "vectors of different models are never mixed: configure the earlier model, or re-embed with the \
                 new one"
            }
            Self::HashMismatch { .. } => {
                "remove the file and run `loci model fetch` (or `make model`) to fetch it again"
            }
            Self::File { .. } => "check that the folder exists, is readable and has free space",
            Self::Inference { .. } => "run `loci store doctor` to check the model's files",
            Self::Setting { .. } => "correct the setting and run `loci config check`",
            Self::Http { status: 401 | 403, .. } => "check the API key of the embedding service",
            Self::Http { status: 404, .. } => "check the base URL and the model name of the embedding service",
            Self::Http { status: 400..=499, .. } => "check the model name, its dimensions and the length of the texts",
            Self::RateLimited { .. } => "wait and try again, or reduce the batch size",
            Self::Http { .. } | Self::Timeout { .. } | Self::Unreachable { .. } | Self::Away { .. } => {
                "try again; if it persists, check the base URL and the service itself"
            }
            Self::BadResponse { .. } => "check that the base URL is that of an OpenAI-compatible API",
            Self::Unsupported { .. } => "choose a model that supports this field",
            Self::BadAnswer { .. } => {
                "the job is retried later; if it persists, choose a model that supports JSON schemas"
            }
            Self::CutShort { .. } => "choose a model that writes less before it answers, such as one without reasoning",
            Self::Declined { .. } => "check the input text; another model may answer",
            Self::Rerank { cause } => cause.hint_for_reranker(),
            Self::Chat { cause, .. } => cause.hint_for_chat(),
        }
    }

    /// Returns the hint for an error of a language model.
    fn hint_for_chat(&self) -> &'static str {
        match self {
            Self::Http { status: 401 | 403, .. } => "check the API key of the language model",
            Self::Http { status: 404, .. } => "check the base URL and the model name of the language model",
            Self::Http { status: 400..=499, .. } => "check the model name and the size of its context window",
            Self::RateLimited { .. } => "wait and try again, or reduce the tokens per day",
            Self::Timeout { .. } => "try again; if it persists, raise llm.timeout_seconds or choose a faster model",
            Self::BadResponse { .. } => "check that the base URL is that of an API with a `/chat/completions` call",
            other => other.hint(),
        }
    }

    /// Returns the number of tokens that a language model used before it failed.
    pub fn spent(&self) -> u64 {
        match self {
            Self::Chat { spent, .. } => *spent,
            _ => 0,
        }
    }

    /// Returns the hint for an error of a reranker.
    fn hint_for_reranker(&self) -> &'static str {
        match self {
            Self::Http { status: 401 | 403, .. } => "check the API key of the reranker",
            Self::Http { status: 404, .. } => "check the base URL and the model name of the reranker",
            Self::Http { status: 400..=499, .. } => {
                "name the model if the service has Cohere's API, and leave it out if it is \
                 text-embeddings-inference; if that is right, reduce the batch size"
            }
            Self::Timeout { .. } => {
                "recall continues without it; if it persists, raise its deadline or choose a smaller model"
            }
            Self::BadResponse { .. } => "check that the base URL is that of a service with a `/rerank` call",
            other => other.hint(),
        }
    }

    /// Returns true if a retry of the same request may succeed.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::RateLimited { .. } | Self::Timeout { .. } | Self::Http { status: 500..=599, .. })
    }

    /// Returns true if the failure is one of the service and not of this request alone.
    pub(crate) fn is_outage(&self) -> bool {
        match self {
            Self::Http { status, .. } => !matches!(status, 400 | 413 | 422),
            Self::RateLimited { .. } | Self::Timeout { .. } | Self::Unreachable { .. } | Self::BadResponse { .. } => {
                true
            }
            _ => false,
        }
    }

    /// Returns what is wrong with the service, without its address: it completes a sentence that begins with "it".
    pub(crate) fn problem(&self) -> String {
        match self {
            Self::Http { status, message, .. } => format!("answered {status}: {message}"),
            Self::RateLimited { .. } => "limits the rate of requests".to_owned(),
            Self::Timeout { after, .. } => format!("did not answer within {after:?}"),
            Self::Unreachable { problem, .. } => format!("cannot be reached: {problem}"),
            Self::BadResponse { problem, .. } => format!("sent an invalid answer: {problem}"),
            other => other.to_string(),
        }
    }

    /// Wraps an error of a reranker.
    pub(crate) fn of_reranker(cause: Self) -> Self {
        Self::Rerank { cause: Box::new(cause) }
    }

    /// Wraps an error of a language model, with the number of tokens used before it.
    pub(crate) fn of_chat(cause: Self, spent: u64) -> Self {
        Self::Chat { cause: Box::new(cause), spent }
    }

    /// Makes the error for an invalid file.
    pub(crate) fn invalid(path: impl Into<PathBuf>, field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::ModelInvalid { path: path.into(), field: field.into(), problem: problem.into() }
    }

    /// Makes the error for a file that cannot be read or written.
    pub(crate) fn file(path: impl Into<PathBuf>, problem: impl std::fmt::Display) -> Self {
        Self::File { path: path.into(), problem: problem.to_string() }
    }
}

fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    if shown.is_empty() { "any folder".to_owned() } else { shown.join(", ") }
}

fn wait(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |after| format!(" and asks for a wait of {} s", after.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn http(status: u16) -> Error {
        Error::Http { service: "http://h".into(), status, message: "m".into() }
    }

    #[test]
    fn only_what_may_pass_is_transient() {
        let limited = Error::RateLimited { service: "h".into(), retry_after: None };
        let timeout = Error::Timeout { service: "h".into(), after: Duration::from_secs(1) };
        for (error, kind, transient) in [
            (http(500), ErrorKind::EmbeddingFailed, true),
            (http(503), ErrorKind::EmbeddingFailed, true),
            (http(400), ErrorKind::EmbeddingFailed, false),
            (http(401), ErrorKind::Configuration, false),
            (http(404), ErrorKind::Configuration, false),
            (limited, ErrorKind::RateLimited, true),
            (timeout, ErrorKind::EmbeddingFailed, true),
            (Error::ModelMissing { looked: vec![] }, ErrorKind::Configuration, false),
        ] {
            assert_eq!((error.kind(), error.is_transient()), (kind, transient), "{error}");
        }
    }

    #[test]
    fn a_reranker_fails_as_a_reranker() {
        let timeout = Error::Timeout { service: "h".into(), after: Duration::from_secs(1) };
        let limited = Error::RateLimited { service: "h".into(), retry_after: None };
        for (cause, kind, hint) in [
            (http(500), ErrorKind::Provider, "try again"),
            (http(422), ErrorKind::Provider, "name the model"),
            (http(401), ErrorKind::Configuration, "API key of the reranker"),
            (http(404), ErrorKind::Configuration, "model name of the reranker"),
            (timeout, ErrorKind::Provider, "deadline"),
            (limited, ErrorKind::RateLimited, "wait"),
        ] {
            let error = Error::of_reranker(cause);
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.hint().contains(hint), "{error}: {}", error.hint());
        }
    }

    #[test]
    fn a_language_model_fails_as_a_language_model() {
        let model = || "m".to_owned();
        let timeout = Error::Timeout { service: "h".into(), after: Duration::from_secs(1) };
        let limited = Error::RateLimited { service: "h".into(), retry_after: None };
        let unsupported = Error::Unsupported { service: "h".into(), status: 400, field: "temperature" };
        for (cause, kind, hint) in [
            (http(500), ErrorKind::Provider, "try again"),
            (http(400), ErrorKind::Provider, "context window"),
            (http(401), ErrorKind::Configuration, "API key of the language model"),
            (http(404), ErrorKind::Configuration, "model name of the language model"),
            (timeout, ErrorKind::Provider, "timeout"),
            (limited, ErrorKind::RateLimited, "tokens per day"),
            (unsupported, ErrorKind::Provider, "this field"),
            (Error::BadAnswer { model: model(), problem: "p".into() }, ErrorKind::Provider, "JSON"),
            (Error::CutShort { model: model(), max_tokens: 9 }, ErrorKind::Provider, "writes less"),
            (Error::Declined { model: model() }, ErrorKind::Provider, "another model"),
        ] {
            let error = Error::of_chat(cause, 7);
            assert_eq!((error.kind(), error.spent()), (kind, 7), "{error}");
            assert!(error.hint().contains(hint), "{error}: {}", error.hint());
        }
        assert_eq!(http(500).spent(), 0);
    }

    #[test]
    fn a_missing_model_says_where_it_looked_and_what_to_do() {
        let error = Error::ModelMissing { looked: vec!["a".into(), "b".into()] };
        assert_eq!(error.to_string(), "no embedding model was found in a, b");
        assert!(error.hint().contains("make model") && error.hint().contains("LOCI_MODEL_DIR"));
    }
}
