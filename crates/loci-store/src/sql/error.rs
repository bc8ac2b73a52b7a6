//! The errors of SQL statements, common to both drivers.

/// The error of a statement.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SqlError {
    /// An error of SQLite.
    #[error(transparent)]
    Sqlite(#[from] rusqlite::Error),
    /// An error of PostgreSQL or of the connection to it.
    #[error("{}", message(.0))]
    Postgres(#[from] tokio_postgres::Error),
    /// The server did not answer in time, or the pool gave no connection.
    #[error("{0}")]
    Lost(String),
    /// The query returned no row although one was required.
    #[error("the row does not exist")]
    NoRow,
    /// A value that Loci never writes, so the row is damaged.
    #[error("{0}")]
    Unreadable(Box<dyn std::error::Error + Send + Sync>),
}

/// The result of a statement.
pub(crate) type SqlResult<T, E = SqlError> = std::result::Result<T, E>;

impl SqlError {
    /// A value that cannot be read.
    pub(crate) fn unreadable(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        SqlError::Unreadable(error.into())
    }

    /// Whether a key exists already.
    pub(crate) fn is_taken(&self) -> bool {
        match self {
            SqlError::Sqlite(error) => error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation),
            SqlError::Postgres(error) => error.code() == Some(&tokio_postgres::error::SqlState::UNIQUE_VIOLATION),
            _ => false,
        }
    }
}

/// The message of the server with its error code, or the cause of a driver error.
fn message(error: &tokio_postgres::Error) -> String {
    match error.as_db_error() {
        Some(error) => format!("{} ({})", error.message(), error.code().code()),
        None => {
            let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
            format!("{error}{}", cause.unwrap_or_default())
        }
    }
}
