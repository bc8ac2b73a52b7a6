//! What can go wrong with a model, and what helps?
//!
//! Every case knows its [`ErrorKind`] and a hint in the words of the person who can act on it.
//! No case ever carries an API key, and none of a reranker's or a language model's carries a text.

use std::path::PathBuf;
use std::time::Duration;

use loci_types::ErrorKind;

/// A failure of a model or of the way to it.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There are no weights in any of the places that were looked at.
    #[error("no embedding model was found in {}", list(looked))]
    ModelMissing {
        /// The folders, in the order in which they were looked at.
        looked: Vec<PathBuf>,
    },
    /// A file of the model folder says something that cannot be used.
    #[error("{}: {field}: {problem}", path.display())]
    ModelInvalid {
        /// The file.
        path: PathBuf,
        /// The field, tensor or part of the file.
        field: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A model makes vectors of another length than is needed.
    #[error("the model `{model}` makes vectors of {found} dimensions, but {expected} are expected")]
    WrongDimensions {
        /// The model.
        model: String,
        /// The length that is needed.
        expected: usize,
        /// The length that came.
        found: usize,
    },
    /// A file is not the one that was promised.
    #[error("{}: the sha256 is {found}, but should be {expected}", path.display())]
    HashMismatch {
        /// The file.
        path: PathBuf,
        /// The promised hash.
        expected: String,
        /// The hash of what is there.
        found: String,
    },
    /// A model's file cannot be read or written.
    #[error("{}: {problem}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system said.
        problem: String,
    },
    /// The model itself failed on an input that it should have accepted.
    #[error("the local model failed: {problem}")]
    Inference {
        /// What the tensor runtime said.
        problem: String,
    },
    /// The configuration of a model service cannot be used.
    #[error("{field}: {problem}")]
    Setting {
        /// The setting.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The service answered, but not with success.
    #[error("{service} answered {status}: {message}")]
    Http {
        /// The service's address, without credentials.
        service: String,
        /// The HTTP status.
        status: u16,
        /// The beginning of what it said.
        message: String,
    },
    /// The service wants fewer requests.
    #[error("{service} asks for fewer requests{}", wait(*retry_after))]
    RateLimited {
        /// The service's address, without credentials.
        service: String,
        /// How long it asks to wait, if it says.
        retry_after: Option<Duration>,
    },
    /// The service did not answer in time.
    #[error("{service} did not answer within {after:?}")]
    Timeout {
        /// The service's address, without credentials.
        service: String,
        /// The time it was given.
        after: Duration,
    },
    /// The service cannot be reached at all.
    #[error("{service} cannot be reached: {problem}")]
    Unreachable {
        /// The service's address, without credentials.
        service: String,
        /// What the network said.
        problem: String,
    },
    /// The service answered with success and nonsense.
    #[error("{service} sent an answer that cannot be used: {problem}")]
    BadResponse {
        /// The service's address, without credentials.
        service: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The service does not know a field of the question, or not with this value.
    #[error("{service} answered {status}: it does not take `{field}`")]
    Unsupported {
        /// The service's address, without credentials.
        service: String,
        /// The HTTP status.
        status: u16,
        /// The field.
        field: &'static str,
    },
    /// The language model's answer has not the shape asked for, even after it was told so.
    #[error("`{model}` did not answer in the shape asked for: {problem}")]
    BadAnswer {
        /// The model.
        model: String,
        /// What is wrong with the answer, by place and never by its words.
        problem: String,
    },
    /// The language model wrote until it was stopped.
    #[error("the answer of `{model}` was cut off after {max_tokens} tokens")]
    CutShort {
        /// The model.
        model: String,
        /// The most it was allowed to write.
        max_tokens: u32,
    },
    /// The language model, or a filter before it, would not answer.
    #[error("`{model}` declined to answer")]
    Declined {
        /// The model.
        model: String,
    },
    /// The language model failed, which costs what it would have learned and nothing else.
    #[error("the language model: {cause}")]
    Chat {
        /// What happened to it.
        cause: Box<Error>,
        /// Tokens that were read and written all the same.
        spent: u64,
    },
    /// The reranker failed, which costs its opinion and nothing else.
    #[error("the reranker: {cause}")]
    Rerank {
        /// What happened to it.
        cause: Box<Error>,
    },
}

impl Error {
    /// What sort of failure this is.
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
            | Self::Unsupported { .. }
            | Self::BadResponse { .. } => ErrorKind::EmbeddingFailed,
            Self::Rerank { cause } | Self::Chat { cause, .. } => match cause.kind() {
                ErrorKind::EmbeddingFailed => ErrorKind::Provider,
                kind => kind,
            },
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::ModelMissing { .. } => {
                "run `loci model fetch` (or `make model`) to fetch the weights, or set LOCI_MODEL_DIR to a folder \
                 that has them"
            }
            Self::ModelInvalid { .. } => {
                "run `loci model fetch` (or `make model`) to fetch a sound copy, or point LOCI_MODEL_DIR at a \
                 folder whose files belong to the same model"
            }
            Self::WrongDimensions { .. } => {
                "vectors of different models are never mixed: go back to the earlier model, or re-embed under the \
                 new one"
            }
            Self::HashMismatch { .. } => {
                "remove the file and run `loci model fetch` (or `make model`) to fetch it again"
            }
            Self::File { .. } => "check that the folder exists, is readable and has room",
            Self::Inference { .. } => "run `loci doctor` to check the model's files",
            Self::Setting { .. } => "correct the setting and run `loci config check`",
            Self::Http { status: 401 | 403, .. } => "check the API key of the embedding service",
            Self::Http { status: 404, .. } => "check the base URL and the model name of the embedding service",
            Self::Http { status: 400..=499, .. } => "check the model name, its dimensions and the length of the texts",
            Self::RateLimited { .. } => "wait and try again, or lower the batch size",
            Self::Http { .. } | Self::Timeout { .. } | Self::Unreachable { .. } => {
                "try again; if it persists, check the base URL and the service itself"
            }
            Self::BadResponse { .. } => "check that the base URL is that of an OpenAI-compatible API",
            Self::Unsupported { .. } => "choose a model that takes this field",
            Self::BadAnswer { .. } => {
                "what was asked for waits and is asked again; if it persists, choose a model that can write JSON"
            }
            Self::CutShort { .. } => "choose a model that writes less before it answers, such as one without reasoning",
            Self::Declined { .. } => "look at what was to be read; another model may answer",
            Self::Rerank { cause } => cause.hint_for_reranker(),
            Self::Chat { cause, .. } => cause.hint_for_chat(),
        }
    }

    /// What to do about it where a language model met it.
    fn hint_for_chat(&self) -> &'static str {
        match self {
            Self::Http { status: 401 | 403, .. } => "check the API key of the language model",
            Self::Http { status: 404, .. } => "check the base URL and the model name of the language model",
            Self::Http { status: 400..=499, .. } => "check the model name and how much text it can read at once",
            Self::RateLimited { .. } => "wait and try again, or lower the tokens per day",
            Self::Timeout { .. } => "try again; if it persists, raise llm.timeout_seconds or choose a quicker model",
            Self::BadResponse { .. } => "check that the base URL is that of an API with a `/chat/completions` call",
            other => other.hint(),
        }
    }

    /// Tokens that a language model read and wrote before it failed.
    pub fn spent(&self) -> u64 {
        match self {
            Self::Chat { spent, .. } => *spent,
            _ => 0,
        }
    }

    /// What to do about it where a reranker met it.
    fn hint_for_reranker(&self) -> &'static str {
        match self {
            Self::Http { status: 401 | 403, .. } => "check the API key of the reranker",
            Self::Http { status: 404, .. } => "check the base URL and the model name of the reranker",
            Self::Http { status: 400..=499, .. } => {
                "name the model where the service speaks Cohere's dialect, and leave it out where it is \
                 text-embeddings-inference; if that is right, lower the batch size"
            }
            Self::Timeout { .. } => {
                "recall goes on without it; if it persists, raise its deadline or choose a smaller model"
            }
            Self::BadResponse { .. } => "check that the base URL is that of a service with a `/rerank` call",
            other => other.hint(),
        }
    }

    /// Whether the very same request may soon succeed.
    pub(crate) fn is_transient(&self) -> bool {
        matches!(self, Self::RateLimited { .. } | Self::Timeout { .. } | Self::Http { status: 500..=599, .. })
    }

    /// What happened to a reranker.
    pub(crate) fn of_reranker(cause: Self) -> Self {
        Self::Rerank { cause: Box::new(cause) }
    }

    /// What happened to a language model, and what it had cost by then.
    pub(crate) fn of_chat(cause: Self, spent: u64) -> Self {
        Self::Chat { cause: Box::new(cause), spent }
    }

    /// A file that cannot be used as it is.
    pub(crate) fn invalid(path: impl Into<PathBuf>, field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::ModelInvalid { path: path.into(), field: field.into(), problem: problem.into() }
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(path: impl Into<PathBuf>, problem: impl std::fmt::Display) -> Self {
        Self::File { path: path.into(), problem: problem.to_string() }
    }
}

fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    if shown.is_empty() { "any place".to_owned() } else { shown.join(", ") }
}

fn wait(retry_after: Option<Duration>) -> String {
    retry_after.map_or_else(String::new, |after| format!(" and a wait of {} s", after.as_secs()))
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
            (http(400), ErrorKind::Provider, "at once"),
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
