//! The error type of the engine.

use loci_types::{ErrorKind, Problem};

/// A failure of the engine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A word that does not fit.
    #[error(transparent)]
    Word(#[from] loci_types::Error),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] loci_store::Error),
    /// The model failed.
    #[error(transparent)]
    Model(#[from] loci_models::Error),
}

impl Error {
    /// What sort of failure this is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Word(error) => error.kind(),
            Error::Store(error) => error.kind(),
            Error::Model(error) => error.kind(),
        }
    }

    /// The form in which the failure leaves Loci.
    pub fn problem(&self, operation: &str) -> Problem {
        match self {
            Error::Word(error) => error.problem(operation),
            Error::Store(error) => error.problem(operation),
            Error::Model(error) => {
                let mut problem = Problem::new(error.kind(), error.to_string(), operation);
                problem.hint = Some(error.hint().to_owned());
                let part = match error {
                    loci_models::Error::Rerank { .. } => "reranker",
                    loci_models::Error::Chat { .. } => "language model",
                    _ => "embedding model",
                };
                problem.details.insert("part".to_owned(), part.into());
                problem
            }
        }
    }
}

/// The result of something the engine did.
pub type Result<T, E = Error> = std::result::Result<T, E>;
