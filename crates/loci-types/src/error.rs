//! Errors: their kinds, and the form in which they leave Loci.
//!
//! Every failure has an [`ErrorKind`]. [`TABLE`] is the only place that assigns a code, an HTTP status, an exit code
//! and retry advice to each kind; HTTP, MCP and the command line all read it. The first ten codes are those of the
//! memory provider specification, which its clients know; the others are additions of Loci.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The kind of a failure, as callers distinguish them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The layer does not exist.
    InvalidLayer,
    /// The layer needs an identifier that was not given.
    MissingIdentifier,
    /// The memory does not exist, or the caller may not see it.
    NotFound,
    /// The content is longer than the configured limit.
    ContentTooLong,
    /// The query is longer than the configured limit.
    QueryTooLong,
    /// The embedding model failed.
    EmbeddingFailed,
    /// The store, or another service behind Loci, failed.
    Provider,
    /// Too many requests.
    RateLimited,
    /// The caller has not shown who they are.
    Unauthenticated,
    /// The caller may not do this.
    Unauthorized,
    /// The configuration is wrong.
    Configuration,
    /// A field of the request is malformed or out of range.
    InvalidInput,
    /// The memory has changed since the caller read it.
    VersionConflict,
    /// The state of something does not allow this now: it exists already, is in use, or has changed meanwhile.
    Conflict,
    /// There is no such path.
    RouteNotFound,
    /// The path has no such method.
    MethodNotAllowed,
    /// The stored data cannot be read: damaged, or written by a newer version.
    Corrupt,
    /// The disk is full or the data folder cannot be written.
    Storage,
    /// A defect in Loci itself.
    Internal,
}

/// One row of the error table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ErrorRow {
    /// The kind of the failure.
    pub kind: ErrorKind,
    /// The public code, in capitals.
    pub code: &'static str,
    /// The HTTP status.
    pub status: u16,
    /// The exit code of the command line.
    pub exit: u8,
    /// Whether the same call may succeed if it is retried.
    pub retryable: bool,
}

const fn row(kind: ErrorKind, code: &'static str, status: u16, exit: u8, retryable: bool) -> ErrorRow {
    ErrorRow { kind, code, status, exit, retryable }
}

/// The error table: kind, code, HTTP status, exit code, retryable.
///
/// Exit codes 1 and 2 are not used here: 1 is the shell's general failure, 2 is wrong usage of the command.
pub const TABLE: &[ErrorRow] = &[
    row(ErrorKind::InvalidLayer, "INVALID_LAYER", 400, 10, false),
    row(ErrorKind::MissingIdentifier, "MISSING_IDENTIFIER", 400, 11, false),
    row(ErrorKind::NotFound, "MEMORY_NOT_FOUND", 404, 12, false),
    row(ErrorKind::ContentTooLong, "CONTENT_TOO_LONG", 413, 13, false),
    row(ErrorKind::QueryTooLong, "QUERY_TOO_LONG", 413, 14, false),
    row(ErrorKind::EmbeddingFailed, "EMBEDDING_FAILED", 502, 15, true),
    row(ErrorKind::Provider, "PROVIDER_ERROR", 503, 16, true),
    row(ErrorKind::RateLimited, "RATE_LIMITED", 429, 17, true),
    row(ErrorKind::Unauthorized, "UNAUTHORIZED", 403, 18, false),
    row(ErrorKind::Configuration, "CONFIGURATION_ERROR", 500, 19, false),
    row(ErrorKind::InvalidInput, "INVALID_INPUT", 400, 20, false),
    row(ErrorKind::VersionConflict, "VERSION_CONFLICT", 409, 21, false),
    row(ErrorKind::Corrupt, "STORE_CORRUPT", 500, 22, false),
    row(ErrorKind::Storage, "STORAGE_UNAVAILABLE", 507, 23, false),
    row(ErrorKind::Conflict, "CONFLICT", 409, 24, false),
    row(ErrorKind::Unauthenticated, "UNAUTHENTICATED", 401, 25, false),
    row(ErrorKind::RouteNotFound, "ROUTE_NOT_FOUND", 404, 26, false),
    row(ErrorKind::MethodNotAllowed, "METHOD_NOT_ALLOWED", 405, 27, false),
    row(ErrorKind::Internal, "INTERNAL_ERROR", 500, 70, false),
];

impl ErrorKind {
    /// Returns the row of this kind in [`TABLE`].
    pub fn row(self) -> &'static ErrorRow {
        // A test checks that every kind has a row; the last row, Internal, is the fallback.
        TABLE.iter().find(|row| row.kind == self).unwrap_or(&TABLE[TABLE.len() - 1])
    }

    /// Returns the public code.
    pub fn code(self) -> &'static str {
        self.row().code
    }

    /// Returns true if the same call may succeed when it is retried.
    pub fn retryable(self) -> bool {
        self.row().retryable
    }
}

/// A value that is refused, with its kind, a message, the field and a hint.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct Error {
    kind: ErrorKind,
    message: String,
    field: Option<&'static str>,
    hint: Option<String>,
}

impl Error {
    /// Makes an error of `kind` with a message for people.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), field: None, hint: None }
    }

    /// Makes the error for a field that is malformed or out of range.
    pub fn invalid(field: &'static str, message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, message).at(field)
    }

    /// Makes the error for a field that contains a NUL character, which not every database can store.
    pub fn nul(field: &'static str) -> Self {
        Self::invalid(field, format!("{field} contains a NUL character"))
    }

    /// Names the field that is wrong.
    #[must_use]
    pub fn at(mut self, field: &'static str) -> Self {
        self.field = Some(field);
        self
    }

    /// Adds a hint: what the caller can do.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the kind of the failure.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Returns the field that is wrong, if there is one.
    pub fn field(&self) -> Option<&'static str> {
        self.field
    }

    /// Returns the hint, if there is one.
    pub fn advice(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Returns the form in which HTTP, MCP and the command line report the failure.
    pub fn problem(&self, operation: &str) -> Problem {
        let mut problem = Problem::new(self.kind, &self.message, operation);
        if let Some(field) = self.field {
            problem.details.insert("field".into(), field.into());
        }
        problem.hint.clone_from(&self.hint);
        problem
    }
}

/// A failure as callers see it, the same over HTTP, MCP and the command line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// The public code.
    pub code: String,
    /// A message for people.
    pub message: String,
    /// The operation that failed.
    pub operation: String,
    /// Details by name, such as the field, the limit or the file.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub details: BTreeMap<String, serde_json::Value>,
    /// Whether the same call may succeed if it is retried.
    pub retryable: bool,
    /// What the caller can do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Problem {
    /// Makes a problem of `kind`, with code and retry advice from [`TABLE`].
    pub fn new(kind: ErrorKind, message: impl Into<String>, operation: &str) -> Self {
        let row = kind.row();
        Self {
            code: row.code.to_owned(),
            message: message.into(),
            operation: operation.to_owned(),
            details: BTreeMap::new(),
            retryable: row.retryable,
            hint: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_kind_has_one_line_with_its_own_code_and_exit() {
        let kinds: HashSet<_> = TABLE.iter().map(|row| row.kind).collect();
        let codes: HashSet<_> = TABLE.iter().map(|row| row.code).collect();
        let exits: HashSet<_> = TABLE.iter().map(|row| row.exit).collect();
        assert_eq!((kinds.len(), codes.len(), exits.len()), (19, 19, 19));
        assert_eq!(TABLE.len(), 19);
        for row in TABLE {
            assert_eq!(row.kind.row(), row);
            assert!(row.exit > 2 && (400..600).contains(&row.status), "{row:?}");
        }
    }

    #[test]
    fn the_public_codes_keep_their_retry_advice() {
        let retryable: Vec<_> = TABLE.iter().filter(|row| row.retryable).map(|row| row.code).collect();
        assert_eq!(retryable, ["EMBEDDING_FAILED", "PROVIDER_ERROR", "RATE_LIMITED"]);
    }

    #[test]
    fn a_problem_names_the_field_and_the_way_out() {
        let problem =
            Error::invalid("importance", "importance is 3, but must be in 0..=1").hint("use 0.7").problem("remember");
        let json = serde_json::to_value(problem).unwrap();
        assert_eq!(json["code"], "INVALID_INPUT");
        assert_eq!(json["details"]["field"], "importance");
        assert_eq!(json["hint"], "use 0.7");
        assert_eq!(json["retryable"], false);
    }
}
