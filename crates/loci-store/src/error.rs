//! The errors of the store: their kinds, their hints, and the mapping from driver errors.

use std::path::{Path, PathBuf};

use loci_types::{ErrorKind, MemoryId, Problem};

use crate::sql;

/// A failure of the store.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An invalid value.
    #[error(transparent)]
    Word(#[from] loci_types::Error),
    /// The memory does not exist or is not visible to the caller.
    #[error("no memory {0} is visible here")]
    NotFound(MemoryId),
    /// Another writer has changed the memory since the caller read it.
    #[error("memory {id} has version {found}, not {expected}")]
    Conflict {
        /// The memory.
        id: MemoryId,
        /// The version that the caller expects.
        expected: u64,
        /// The version in the store.
        found: u64,
    },
    /// A memory with this id exists already.
    #[error("memory {0} already exists")]
    Taken(MemoryId),
    /// Another writer has done the same work first.
    #[error("{0}")]
    Overtaken(String),
    /// The change does not fit the memory's state.
    #[error("{0}")]
    Refused(String),
    /// The data folder cannot be used.
    #[error("the data folder {path} cannot be used: {problem}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
    /// The file was written by a newer version of Loci.
    #[error("{path} was written by a newer version of Loci (format {found}; this version supports up to {known})")]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format that this version supports.
        known: i64,
    },
    /// The file is damaged.
    #[error("{path} is damaged: {problem}")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage.
        problem: String,
    },
    /// The disk is full.
    #[error("the disk is full: {path} could not be written; nothing of this change was stored")]
    DiskFull {
        /// The file.
        path: PathBuf,
    },
    /// The file cannot be written.
    #[error("{path} cannot be written: {problem}")]
    ReadOnly {
        /// The file.
        path: PathBuf,
        /// The reason.
        problem: String,
    },
    /// Another process holds the lock of the file, the queue is full, or no file descriptor is free. Retryable.
    #[error("{path} is busy")]
    Busy {
        /// The file.
        path: PathBuf,
    },
    /// Any other error of the database.
    #[error("{path}: {problem}")]
    Database {
        /// The file, or the name of the server.
        path: PathBuf,
        /// The message of the database.
        problem: String,
    },
    /// A server or another part that is needed does not answer. Retryable.
    #[error("{part} does not answer: {problem}")]
    Unavailable {
        /// The part: `postgres`, `qdrant`, `pgvector`, `local` or `threads`.
        part: String,
        /// The reason.
        problem: String,
    },
    /// An index outside answers, but refuses a call: a collection belongs to someone else, or a limit is exceeded.
    #[error("{part} cannot be used: {problem}")]
    IndexRefused {
        /// The index: `qdrant`.
        part: String,
        /// The reason.
        problem: String,
    },
    /// An index outside answers, but a collection of this store is gone. It is created again and filled from the ledger.
    #[error("{part} has lost collection `{collection}`; it is being filled again")]
    IndexLost {
        /// The index: `qdrant`.
        part: String,
        /// The name of the collection.
        collection: String,
    },
    /// The target of a migration holds rows that do not come from its source.
    #[error("the target has different data in {place}: {table} {key} {problem}")]
    Occupied {
        /// The tenant and the space.
        place: String,
        /// The table.
        table: String,
        /// The key of the row.
        key: String,
        /// The difference.
        problem: String,
    },
    /// A copy differs from its source.
    #[error("the copy differs from its source in {place}: {table} {key} {problem}")]
    Unlike {
        /// The tenant and the space.
        place: String,
        /// The table.
        table: String,
        /// The key of the first row that differs.
        key: String,
        /// The difference.
        problem: String,
    },
    /// A panic inside the store, which was caught.
    #[error("internal error while {0}; nothing of this change was stored")]
    Defect(&'static str),
    /// The store was closed while the change was queued.
    #[error("the store is closed")]
    Closed,
}

/// The hint for an index that will catch up by itself.
const INDEXED_LATER: &str =
    "writes are stored and indexed later; `loci store vectors status` shows how far it is behind";

impl Error {
    /// The kind of the error, from which status and exit codes follow.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Word(error) => error.kind(),
            Error::NotFound(_) => ErrorKind::NotFound,
            Error::Conflict { .. } => ErrorKind::VersionConflict,
            Error::Taken(_) | Error::Overtaken(_) | Error::Occupied { .. } => ErrorKind::Conflict,
            Error::Refused(_) => ErrorKind::InvalidInput,
            Error::Folder { .. } | Error::DiskFull { .. } | Error::ReadOnly { .. } => ErrorKind::Storage,
            Error::Newer { .. } | Error::Damaged { .. } | Error::Unlike { .. } => ErrorKind::Corrupt,
            Error::Busy { .. }
            | Error::Database { .. }
            | Error::Unavailable { .. }
            | Error::IndexRefused { .. }
            | Error::IndexLost { .. }
            | Error::Closed => ErrorKind::Provider,
            Error::Defect(_) => ErrorKind::Internal,
        }
    }

    /// Whether an index outside cannot be used now, so that other searches have to do. The store itself works.
    pub fn is_of_index(&self) -> bool {
        match self {
            Error::IndexRefused { .. } | Error::IndexLost { .. } => true,
            Error::Unavailable { part, .. } => ["qdrant", "pgvector", "local"].contains(&part.as_str()),
            _ => false,
        }
    }

    /// What the user can do about the error.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Word(error) => error.advice().map(str::to_owned),
            Error::NotFound(_) => Some("`loci list` shows what is visible with these identifiers".into()),
            Error::Conflict { id, .. } => Some(format!("read it again with `loci get {id}` and repeat the change")),
            Error::Folder { .. } | Error::ReadOnly { .. } => {
                Some("choose another folder with --data, or make this one writable".into())
            }
            Error::Newer { .. } => Some("use the newer version of Loci that wrote it".into()),
            Error::Damaged { .. } => Some(
                "run `loci store doctor` to see what is affected; `loci store doctor --repair` repairs words and links, damaged \
                     pages need a backup"
                    .into(),
            ),
            Error::Occupied { .. } => {
                Some("copy into an empty folder or schema; to resume an interrupted copy, use the same source".into())
            }
            Error::Unlike { .. } => Some(
                "if the source or the target was written to since the copy began, stop the writers and copy into an \
                     empty target"
                    .into(),
            ),
            Error::DiskFull { .. } => Some("free some space and repeat the change".into()),
            Error::Busy { .. } => Some("it is locked, or too many requests are queued; try again shortly".into()),
            Error::IndexLost { .. } => Some(INDEXED_LATER.into()),
            Error::Unavailable { part, .. } if part == "qdrant" || part == "pgvector" => Some(INDEXED_LATER.into()),
            Error::IndexRefused { .. } => Some(
                "memories are found by words until this is resolved; `loci store vectors status` shows the collections".into(),
            ),
            Error::Unavailable { .. } => Some("try again shortly; /readyz shows which part is down".into()),
            _ => None,
        }
    }

    /// The error as it is returned to clients.
    pub fn problem(&self, operation: &str) -> Problem {
        if let Error::Word(error) = self {
            return error.problem(operation);
        }
        let mut problem = Problem::new(self.kind(), self.to_string(), operation);
        problem.hint = self.hint();
        match self {
            Error::NotFound(id) | Error::Taken(id) => {
                problem.details.insert("field".into(), "id".into());
                problem.details.insert("id".into(), id.to_string().into());
            }
            Error::Conflict { expected, found, .. } => {
                problem.details.insert("field".into(), "version".into());
                problem.details.insert("expected".into(), (*expected).into());
                problem.details.insert("found".into(), (*found).into());
            }
            Error::Unavailable { part, .. } | Error::IndexRefused { part, .. } => {
                problem.details.insert("part".into(), part.clone().into());
            }
            Error::Folder { path, .. }
            | Error::Newer { path, .. }
            | Error::Damaged { path, .. }
            | Error::DiskFull { path }
            | Error::ReadOnly { path, .. }
            | Error::Busy { path }
            | Error::Database { path, .. } => {
                problem.details.insert("file".into(), path.display().to_string().into());
            }
            Error::Occupied { place, table, key, .. } | Error::Unlike { place, table, key, .. } => {
                problem.details.insert("place".into(), place.clone().into());
                problem.details.insert("table".into(), table.clone().into());
                problem.details.insert("key".into(), key.clone().into());
            }
            _ => {}
        }
        problem
    }

    /// Converts an error of either database.
    pub(crate) fn sql(path: &Path, error: sql::SqlError) -> Self {
        match error {
            sql::SqlError::Sqlite(error) => Self::sqlite(path, error),
            sql::SqlError::Postgres(error) => crate::postgres::driver_error(path, error),
            sql::SqlError::Lost(problem) => Error::Unavailable { part: "postgres".to_owned(), problem },
            sql::SqlError::Unreadable(problem) => {
                Error::Damaged { path: path.to_owned(), problem: problem.to_string() }
            }
            sql::SqlError::NoRow => Error::Database { path: path.to_owned(), problem: error.to_string() },
        }
    }

    /// Converts an error of the file system.
    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            _ if means_no_descriptors(error) => Error::Busy { path },
            std::io::ErrorKind::StorageFull => Error::DiskFull { path },
            _ => Error::Folder { path, problem: error.to_string() },
        }
    }

    /// Converts an error of SQLite.
    pub(crate) fn sqlite(path: &Path, error: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let path = path.to_owned();
        let problem = error.to_string();
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Error::DiskFull { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => Error::Damaged { path, problem },
            // The space was dropped while it was used. Retryable: the next attempt finds none, or a new one.
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::SystemIoFailure) if !exists(&path) => {
                Error::Busy { path }
            }
            // Retryable: a descriptor becomes free when another file is closed.
            Some(ErrorCode::CannotOpen) if is_out_of_descriptors(&path) => Error::Busy { path },
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => {
                Error::ReadOnly { path, problem }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Error::Busy { path },
            // Loci never writes such a value, so the row is damaged.
            None if unreadable(&error) => Error::Damaged { path, problem },
            _ => Error::Database { path, problem },
        }
    }
}

/// Whether there is a file, or whether that cannot be known.
fn exists(path: &Path) -> bool {
    path.try_exists().unwrap_or(true)
}

/// Whether this process or the system has no file descriptor left. SQLite does not report why it cannot open a file.
fn is_out_of_descriptors(path: &Path) -> bool {
    std::fs::File::open(path).is_err_and(|error| means_no_descriptors(&error))
}

fn means_no_descriptors(error: &std::io::Error) -> bool {
    /// `ENFILE` and `EMFILE` on Unix, `ERROR_TOO_MANY_OPEN_FILES` on Windows.
    const NUMBERS: &[i32] = if cfg!(windows) { &[4] } else { &[23, 24] };
    error.raw_os_error().is_some_and(|number| NUMBERS.contains(&number))
}

fn unreadable(error: &rusqlite::Error) -> bool {
    use rusqlite::Error::{FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error};
    matches!(error, FromSqlConversionFailure(..) | IntegralValueOutOfRange(..) | InvalidColumnType(..) | Utf8Error(..))
}

/// The result of a store operation.
pub type Result<T, E = Error> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_process_without_descriptors_is_busy_and_not_out_of_disk() {
        for number in [23, 24] {
            let error = Error::io(Path::new("here"), &std::io::Error::from_raw_os_error(number));
            assert!(matches!(error, Error::Busy { .. }), "{error:?}");
            assert!(error.problem("test").retryable);
        }
        let full = Error::io(Path::new("here"), &std::io::Error::from_raw_os_error(28));
        assert!(matches!(full, Error::DiskFull { .. }));
    }
}
