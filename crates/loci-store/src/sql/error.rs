//! What did the database say?

/// A statement that failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// SQLite said so.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL said so.
    #[error("{}", message(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// The session did not answer in time, or no session was to be had.
    #[error("{0}")]
    Lost(String),
    /// One row was asked for, and there is none.
    #[error("there is no such row")]
    NoRow,
    /// A value that we never wrote: the row is not as we left it.
    #[error("{0}")]
    Unreadable(Box<dyn std::error::Error + Send + Sync>),
}

/// The result of a statement.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    /// A value that cannot be read.
    pub(crate) fn unreadable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Error::Unreadable(error.into())
    }

    /// Whether a key was there already.
    pub(crate) fn is_taken(&self) -> bool {
        match self {
            Error::Sqlite(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation),
            Error::Postgres(error) => error.code() == Some(&tokio_postgres::error::SqlState::UNIQUE_VIOLATION),
            _ => false,
        }
    }
}

/// What PostgreSQL said, with its own words and code where there are any.
fn message(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(said) => format!("{} ({})", said.message(), said.code().code()),
        None => {
            let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
            format!("{error}{}", cause.unwrap_or_default())
        }
    }
}
