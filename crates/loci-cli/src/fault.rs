//! Failures as the command reports them.
//!
//! Every failure becomes a [`Problem`] and an exit code from the error table. A failure without a kind of its own ends with
//! 1; wrong usage of the command ends with 2 before anything runs.

use std::fmt;

use loci_types::{ErrorKind, Problem};

/// The line of an input that a failure is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line(pub(crate) u64);

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}", self.0)
    }
}

impl std::error::Error for Line {}

/// A failure that the API has already described.
#[derive(Debug)]
pub(crate) struct Reported {
    pub(crate) problem: Problem,
    pub(crate) exit: u8,
}

impl Reported {
    /// Whether what the call names does not exist within its scope.
    pub(crate) fn is_not_found(&self) -> bool {
        self.exit == ErrorKind::NotFound.row().exit
    }
}

impl fmt::Display for Reported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problem.message)
    }
}

impl std::error::Error for Reported {}

/// What to print, and the code to end with.
pub(crate) fn read(error: &anyhow::Error, operation: &str) -> (Problem, u8) {
    let mut messages = Vec::new();
    for cause in error.chain() {
        if let Some((mut problem, exit)) = known(cause, operation) {
            // What was wrapped around a known failure says where it happened.
            messages.push(problem.message);
            problem.message = messages.join(": ");
            if let Some(Line(number)) = error.downcast_ref::<Line>() {
                problem.details.insert("line".into(), (*number).into());
            }
            return (problem, exit);
        }
        messages.push(cause.to_string());
    }
    let mut problem = Problem::new(ErrorKind::Internal, messages.join(": "), operation);
    problem.code = "FAILED".to_owned();
    (problem, 1)
}

fn known(cause: &(dyn std::error::Error + 'static), operation: &str) -> Option<(Problem, u8)> {
    let of_kind = |kind: ErrorKind, problem: Problem| Some((problem, kind.row().exit));
    if let Some(error) = cause.downcast_ref::<Reported>() {
        // The API names its own operation; people know the command.
        return Some((Problem { operation: operation.to_owned(), ..error.problem.clone() }, error.exit));
    }
    if let Some(error) = cause.downcast_ref::<loci_types::Error>() {
        return of_kind(error.kind(), error.problem(operation));
    }
    if let Some(error) = cause.downcast_ref::<loci_engine::Error>() {
        return of_kind(error.kind(), error.problem(operation));
    }
    if let Some(error) = cause.downcast_ref::<loci_store::Error>() {
        return of_kind(error.kind(), error.problem(operation));
    }
    if let Some(error) = cause.downcast_ref::<loci_server::Error>() {
        return of_kind(error.kind(), error.problem(operation));
    }
    if let Some(error) = cause.downcast_ref::<loci_models::Error>() {
        let mut problem = Problem::new(error.kind(), error.to_string(), operation);
        let part = if matches!(error, loci_models::Error::Rerank { .. }) { "rerank" } else { "embeddings" };
        problem.details.insert("field".into(), part.into());
        problem.hint = Some(error.hint().to_owned());
        return of_kind(error.kind(), problem);
    }
    None
}

#[cfg(test)]
mod tests {
    use anyhow::Context;

    use super::*;

    #[test]
    fn a_failure_keeps_its_kind_under_what_is_wrapped_around_it() {
        let failed: Result<(), _> = Err(loci_types::Error::invalid("content", "content is empty").hint("say it"));
        let error = failed.context(Line(3)).unwrap_err();
        let (problem, exit) = read(&error, "remember");
        assert_eq!((problem.code.as_str(), exit), ("INVALID_INPUT", 20));
        assert_eq!(problem.message, "line 3: content is empty");
        assert_eq!(problem.details["field"], "content");
        assert_eq!(problem.details["line"], 3);
        assert_eq!(problem.hint.as_deref(), Some("say it"));
    }

    #[test]
    fn what_has_no_kind_ends_with_one() {
        let (problem, exit) = read(&anyhow::anyhow!("odd").context("while looking"), "recall");
        assert_eq!((problem.message.as_str(), exit), ("while looking: odd", 1));
    }
}
