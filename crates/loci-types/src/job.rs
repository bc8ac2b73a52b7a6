//! Jobs: durable units of slow work.
//!
//! A job is enqueued in the transaction of the change that needs it. A worker claims it under a lease, and then either
//! finishes it or returns it to the queue with a delay. A job that fails too often is dead until it is retried by hand.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Error;
use crate::memory::words;

words!(
    /// The kind of work.
    JobKind, "job", {
        /// Computes the vector of a memory.
        Embed = "embed",
        /// Does nothing: links are made when a memory is learned.
        Link = "link",
        /// Learns from a closed session.
        Consolidate = "consolidate",
        /// Does nothing: maintenance has a step for entity profiles.
        Enrich = "enrich",
        /// Finds causal links in a session.
        Causal = "causal",
        /// Finds insights in a session.
        Insight = "insight",
        /// Summarizes a session.
        Summarize = "summarize" | "summarise",
        /// Collapses a long chain.
        Distil = "distil",
        /// Does nothing: maintenance has a step for purging.
        Purge = "purge",
    }
);

/// A job to be enqueued.
#[derive(Debug, Clone, PartialEq)]
pub struct JobSpec {
    /// The kind of work.
    pub kind: JobKind,
    /// The parameters.
    pub payload: Value,
    /// Uniqueness key. While a job with this key waits or runs, a second one is not enqueued.
    pub unique: Option<String>,
    /// The job does not run before this time.
    pub run_after: Timestamp,
}

/// A job as an admin sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct JobRecord {
    /// The number of the job within its space.
    pub id: i64,
    /// The space that the job belongs to.
    pub space: String,
    /// The kind of work.
    pub kind: JobKind,
    /// The parameters.
    pub payload: Value,
    /// `waiting`, `running` or `dead`.
    pub state: String,
    /// The number of attempts so far.
    pub attempts: u32,
    /// The job does not run before this time.
    pub run_after: Timestamp,
    /// The error of the last failed attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// When it was enqueued.
    pub created_at: Timestamp,
}

/// A job that a worker has claimed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// The number of the job within its space.
    pub id: i64,
    /// The space that the job belongs to.
    pub space: String,
    /// The kind of work.
    pub kind: JobKind,
    /// The parameters.
    pub payload: Value,
    /// The number of this attempt, from 1.
    pub attempt: u32,
    /// When the lease ends and another worker may claim the job.
    pub lease_until: Timestamp,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_of_earlier_versions_are_read_by_their_spelling_then() {
        for text in ["summarize", "summarise"] {
            assert_eq!(text.parse::<JobKind>().unwrap(), JobKind::Summarize);
            assert_eq!(serde_json::from_value::<JobKind>(text.into()).unwrap(), JobKind::Summarize);
        }
        assert_eq!(JobKind::Summarize.name(), "summarize");
        assert_eq!(serde_json::to_value(JobKind::Summarize).unwrap(), "summarize");
    }
}
