//! The ledger: the append-only log of the changes of a space.
//!
//! Sequence numbers grow in the order of the commits, and no entry appears below a number that a reader has already
//! seen; after a restore the numbers may jump. History, the delta header, the event stream and the catch-up of indexes
//! are views of the ledger.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::memory::words;
use crate::{Error, MemoryId};

words!(
    /// The event that a ledger entry records.
    Event, "event", {
        /// A memory was added.
        Add = "add",
        /// Fields of the memory changed.
        Update = "update",
        /// The memory was soft-deleted.
        Delete = "delete",
        /// Other memories were merged into the memory.
        Merge = "merge",
        /// A link was added or updated.
        Link = "link",
        /// A link was removed.
        Unlink = "unlink",
        /// Maintenance changed it because of its age: aged, archived, expired or purged.
        Ttl = "ttl",
        /// A soft delete, an archiving, a merge or a supersession was undone.
        Restore = "restore",
        /// The memory was superseded by a newer one.
        Supersede = "supersede",
        /// The access policy changed.
        AccessPolicy = "access_policy",
        /// A proposal was accepted or rejected.
        Consent = "consent",
        /// The memory was erased; only the hash of its text remains.
        Erase = "erase",
        /// A vector was set, or the vectors of a model were removed.
        Embed = "embed",
        /// An entity was named, mentioned, united or divided.
        Entity = "entity",
        /// A fact was stated or retracted.
        Fact = "fact",
        /// A session was learned from.
        Learn = "learn",
    }
);

/// One entry of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct LedgerEntry {
    /// The space that the entry belongs to.
    pub space: String,
    /// The sequence number within the space.
    pub sequence: i64,
    /// When the change was made. Earlier versions wrote it as `at`.
    #[serde(rename = "createdAt", alias = "at")]
    pub at: Timestamp,
    /// The event, in capitals, for example `ADD`.
    pub event: String,
    /// The memory that changed, if the entry is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_id: Option<MemoryId>,
    /// The version of the memory after the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The previous values, as far as undo needs them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// The new values, or references to what was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// The actor that made the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The part of Loci that made the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// The reason for the change.
    pub reason: String,
    /// The conversation in which it was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The id of the request that caused it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}
