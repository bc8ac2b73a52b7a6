//! Errors of starting and running the server.

use loci_types::{ErrorKind, Problem};

/// A failure of the server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The address to listen on is malformed or cannot be resolved.
    #[error("invalid address to listen on `{listen}`: {problem}")]
    Address {
        /// What was given.
        listen: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The address can be reached from other machines, but no credential is configured.
    #[error("`{listen}` can be reached from other machines, but no API key exists and no tokens are configured")]
    Open {
        /// What was given.
        listen: String,
    },
    /// The address cannot be bound.
    #[error("cannot listen on {listen}: {problem}")]
    Taken {
        /// What was given.
        listen: String,
        /// What the operating system said.
        problem: String,
    },
    /// The maintenance schedule is malformed.
    #[error("invalid schedule `{schedule}`: {problem}")]
    Schedule {
        /// What was given.
        schedule: String,
        /// What is wrong with it.
        problem: String,
    },
    /// An option is invalid.
    #[error(transparent)]
    Options(#[from] loci_types::Error),
    /// Serving failed.
    #[error("the server stopped: {0}")]
    Stopped(std::io::Error),
}

impl Error {
    /// The kind of the error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Address { .. } | Error::Open { .. } | Error::Taken { .. } | Error::Schedule { .. } => {
                ErrorKind::Configuration
            }
            Error::Options(error) => error.kind(),
            Error::Stopped(_) => ErrorKind::Provider,
        }
    }

    /// The error as a [`Problem`], with a hint.
    pub fn problem(&self, operation: &str) -> Problem {
        if let Error::Options(error) = self {
            return error.problem(operation);
        }
        let mut problem = Problem::new(self.kind(), self.to_string(), operation);
        let hint = match self {
            Error::Address { .. } => "write it as 127.0.0.1:7077",
            Error::Open { .. } => {
                "make a key with `loci key create --name NAME --role admin`, set [auth.jwt], or listen on 127.0.0.1:7077"
            }
            Error::Taken { .. } => {
                "choose another port with --listen 127.0.0.1:PORT, or stop the process that uses this one"
            }
            Error::Schedule { .. } => {
                problem.details.insert("field".into(), "lifecycle.schedule".into());
                problem.hint = Some("write minute, hour, day, month and weekday, such as `0 3 * * *`".to_owned());
                return problem;
            }
            Error::Options(_) | Error::Stopped(_) => return problem,
        };
        problem.details.insert("field".into(), "listen".into());
        problem.hint = Some(hint.to_owned());
        problem
    }
}
