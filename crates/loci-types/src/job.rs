//! What is to be done later?
//!
//! A job is a durable unit of slow work. It is enqueued in the transaction of the change that
//! needs it, claimed under a lease, and either finished or failed with a delay.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Error;
use crate::memory::words;

words!(
    /// What sort of work it is.
    JobKind, "job", {
        /// Make a vector.
        Embed = "embed",
        /// Find related memories.
        Link = "link",
        /// Learn from a closed session.
        Consolidate = "consolidate",
        /// Describe an entity.
        Enrich = "enrich",
        /// Find causes.
        Causal = "causal",
        /// Find what lies behind.
        Insight = "insight",
        /// Make a text shorter.
        Summarise = "summarise",
        /// Collapse a long chain.
        Distil = "distil",
        /// Remove for good.
        Purge = "purge",
    }
);

/// Work to be enqueued.
#[derive(Debug, Clone, PartialEq)]
pub struct JobSpec {
    /// What sort.
    pub kind: JobKind,
    /// What it needs to know.
    pub payload: Value,
    /// While a job with this key waits or runs, a second one is not enqueued.
    pub unique: Option<String>,
    /// Not before.
    pub run_after: Timestamp,
}

/// A job as those who look after the store see it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct JobRecord {
    /// Its number within the space.
    pub id: i64,
    /// The space it belongs to.
    pub space: String,
    /// What sort.
    pub kind: JobKind,
    /// What it needs to know.
    pub payload: Value,
    /// `waiting`, `running` or `dead`.
    pub state: String,
    /// How often it was tried.
    pub attempts: u32,
    /// Not before.
    pub run_after: Timestamp,
    /// What went wrong last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// When it was asked for.
    pub created_at: Timestamp,
}

/// A job in the hands of a worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Its number within the space.
    pub id: i64,
    /// The space it belongs to.
    pub space: String,
    /// What sort.
    pub kind: JobKind,
    /// What it needs to know.
    pub payload: Value,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// Until when it is ours.
    pub lease_until: Timestamp,
}
