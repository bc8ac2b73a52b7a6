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
    /// No route has this path.
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
    /// What the code means, in one sentence.
    pub meaning: &'static str,
}

const fn row(
    kind: ErrorKind,
    code: &'static str,
    status: u16,
    exit: u8,
    retryable: bool,
    meaning: &'static str,
) -> ErrorRow {
    ErrorRow { kind, code, status, exit, retryable, meaning }
}

/// The error table: kind, code, HTTP status, exit code, retryable.
///
/// Exit codes 1 and 2 are not used here: 1 is the shell's general failure, 2 is wrong usage of the command.
pub const TABLE: &[ErrorRow] = &[
    row(ErrorKind::InvalidLayer, "INVALID_LAYER", 400, 10, false, "The layer does not exist."),
    row(
        ErrorKind::MissingIdentifier,
        "MISSING_IDENTIFIER",
        400,
        11,
        false,
        "The layer needs an identifier that was not given.",
    ),
    row(
        ErrorKind::NotFound,
        "MEMORY_NOT_FOUND",
        404,
        12,
        false,
        "The memory does not exist, or the caller may not see it.",
    ),
    row(
        ErrorKind::ContentTooLong,
        "CONTENT_TOO_LONG",
        413,
        13,
        false,
        "The content is longer than the configured limit.",
    ),
    row(ErrorKind::QueryTooLong, "QUERY_TOO_LONG", 413, 14, false, "The query is longer than the configured limit."),
    row(ErrorKind::EmbeddingFailed, "EMBEDDING_FAILED", 502, 15, true, "The embedding model failed."),
    row(ErrorKind::Provider, "PROVIDER_ERROR", 503, 16, true, "The store, or another service behind Loci, failed."),
    row(ErrorKind::RateLimited, "RATE_LIMITED", 429, 17, true, "Too many requests with this credential."),
    row(ErrorKind::Unauthorized, "UNAUTHORIZED", 403, 18, false, "The credential does not allow this."),
    row(ErrorKind::Configuration, "CONFIGURATION_ERROR", 500, 19, false, "The configuration is invalid."),
    row(
        ErrorKind::InvalidInput,
        "INVALID_INPUT",
        400,
        20,
        false,
        "A field of the request is malformed or out of range.",
    ),
    row(
        ErrorKind::VersionConflict,
        "VERSION_CONFLICT",
        409,
        21,
        false,
        "The memory has changed since the caller read it.",
    ),
    row(
        ErrorKind::Corrupt,
        "STORE_CORRUPT",
        500,
        22,
        false,
        "The stored data cannot be read: it is damaged, or was written by a newer version.",
    ),
    row(
        ErrorKind::Storage,
        "STORAGE_UNAVAILABLE",
        507,
        23,
        false,
        "The disk is full, or the data folder cannot be written.",
    ),
    row(
        ErrorKind::Conflict,
        "CONFLICT",
        409,
        24,
        false,
        "It exists already, is in use, or has changed since it was read.",
    ),
    row(ErrorKind::Unauthenticated, "UNAUTHENTICATED", 401, 25, false, "The credential is missing or invalid."),
    row(ErrorKind::RouteNotFound, "ROUTE_NOT_FOUND", 404, 26, false, "The server has no such path."),
    row(ErrorKind::MethodNotAllowed, "METHOD_NOT_ALLOWED", 405, 27, false, "The path does not support this method."),
    row(ErrorKind::Internal, "INTERNAL_ERROR", 500, 70, false, "A defect in Loci."),
];

/// The code of things other than memories that do not exist: sessions, facts, pools, keys, entries of the ledger. Its kind is
/// [`ErrorKind::NotFound`].
pub const NOT_FOUND: ErrorRow = row(
    ErrorKind::NotFound,
    "NOT_FOUND",
    404,
    12,
    false,
    "Something other than a memory does not exist, or the caller may not see it.",
);

/// Exit codes of the command line that are not those of [`TABLE`]: the exit code, its code in messages if it has one, and its
/// meaning.
pub const OTHER_EXITS: &[(u8, &str, &str)] = &[
    (0, "", "Success."),
    (1, "FAILED", "A failure without a specific code; the message says what failed."),
    (2, "", "Wrong usage of the command."),
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
        Self { kind, message: abbreviate(message.into()), field: None, hint: None }
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
        self.hint = Some(abbreviate(hint.into()));
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
            message: abbreviate(message.into()),
            operation: operation.to_owned(),
            details: BTreeMap::new(),
            retryable: row.retryable,
            hint: None,
        }
    }
}

/// Maximum number of characters of one quotation in a message.
const MAX_QUOTED: usize = 100;
/// Maximum number of characters of a whole message.
const MAX_MESSAGE: usize = 2_000;

/// Shortens what a message repeats of its input: every text between backticks or double quotes, and every word without
/// spaces. Messages are otherwise kept, unless they are very long.
pub fn abbreviate(message: String) -> String {
    if message.len() <= MAX_QUOTED {
        return message;
    }
    let mut short = String::with_capacity(message.len().min(4 * MAX_MESSAGE));
    let mut rest = message.as_str();
    while let Some(start) = rest.find(['`', '"']) {
        let (before, quoted) = rest.split_at(start);
        push_words(&mut short, before);
        let (quote, inside) = quoted.split_at(1);
        let Some((inside, after)) = inside.split_once(quote) else {
            short.push_str(quote);
            rest = inside;
            continue;
        };
        short.push_str(quote);
        push_start(&mut short, inside, MAX_QUOTED);
        short.push_str(quote);
        rest = after;
    }
    push_words(&mut short, rest);
    let mut whole = String::with_capacity(short.len().min(4 * MAX_MESSAGE));
    push_start(&mut whole, &short, MAX_MESSAGE);
    whole
}

/// Appends a text, with every word shortened.
fn push_words(to: &mut String, text: &str) {
    for word in text.split_inclusive(char::is_whitespace) {
        push_start(to, word, 2 * MAX_QUOTED);
    }
}

/// Appends a text up to a number of characters, and says so if there are more.
fn push_start(to: &mut String, text: &str, most: usize) {
    match text.char_indices().nth(most) {
        Some((end, _)) => {
            to.push_str(&text[..end]);
            to.push('…');
        }
        None => to.push_str(text),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    // Coverage: S2.11.
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

    // Coverage: S2.11.
    #[test]
    fn the_public_codes_keep_their_retry_advice() {
        let retryable: Vec<_> = TABLE.iter().filter(|row| row.retryable).map(|row| row.code).collect();
        assert_eq!(retryable, ["EMBEDDING_FAILED", "PROVIDER_ERROR", "RATE_LIMITED"]);
    }

    /// attack B16: an error repeats at most about a hundred characters of its input.
    #[test]
    fn what_a_message_quotes_is_short() {
        let long = "x".repeat(1 << 20);
        for (message, most) in [
            (format!("unknown layer `{long}`: expected one of agent, user"), 150),
            (format!("unknown field \"{long}\", expected `content`"), 150),
            (format!("{long} is not a user"), 250),
            (format!("`{}` is not a kind", "a b ".repeat(1 << 18)), 150),
            ("a ` ".repeat(1 << 18), 2_100),
        ] {
            let error = Error::invalid("layer", message.clone()).hint(message);
            assert!(error.to_string().chars().count() <= most, "{}", error.to_string().len());
            let problem = error.problem("x");
            assert!(problem.message.contains('…') && problem.hint.unwrap().chars().count() <= most);
        }
        let usual = format!("unknown layer `{}`: expected one of {}", "x".repeat(100), "agent, ".repeat(50));
        assert_eq!(abbreviate(usual.clone()), usual);
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
