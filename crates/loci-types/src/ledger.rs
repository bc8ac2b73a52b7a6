//! What has been done?
//!
//! The ledger is the append-only log of changes of a space, numbered without gaps seen by readers.
//! History, the delta header, the event stream and the catch-up of indexes are views of it.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::memory::words;
use crate::{Error, MemoryId};

words!(
    /// What a ledger entry tells.
    Event, "event", {
        /// A memory was added.
        Add = "add",
        /// Its values changed.
        Update = "update",
        /// It was soft-deleted.
        Delete = "delete",
        /// It took up others.
        Merge = "merge",
        /// It was linked.
        Link = "link",
        /// A link was taken away.
        Unlink = "unlink",
        /// Time took its toll: faded, archived, expired, purged.
        Ttl = "ttl",
        /// It came back.
        Restore = "restore",
        /// It was replaced by a newer one.
        Supersede = "supersede",
        /// Who may see it changed.
        AccessPolicy = "access_policy",
        /// A consent was asked or decided.
        Consent = "consent",
        /// It was erased without a trace.
        Erase = "erase",
        /// Its vector was made.
        Embed = "embed",
        /// An entity was named or mentioned.
        Entity = "entity",
        /// A triple was stated or taken back.
        Fact = "fact",
        /// A session was learned from.
        Learn = "learn",
    }
);

/// One line of the ledger.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct LedgerEntry {
    /// The space it belongs to.
    pub space: String,
    /// Its number within the space.
    pub sequence: i64,
    /// When.
    pub at: Timestamp,
    /// What, in capitals as history shows it.
    pub event: String,
    /// About which memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_id: Option<MemoryId>,
    /// The version after it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// What was there before, as far as it is needed to undo.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Value>,
    /// What is there now, or what it points to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<Value>,
    /// Who.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Which part of Loci.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Why.
    pub reason: String,
    /// In which conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// On whose request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}
