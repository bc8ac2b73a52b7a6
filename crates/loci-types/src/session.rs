//! Sessions: conversations, and the turn up to which each has been learned from.
//!
//! A session begins with its first turn. It ends when a caller ends it, when its thread continues under another session
//! name, or when maintenance finds it idle. `consolidated_through` marks the last turn that was learned from. Later
//! turns are learned from separately, and no turn is learned from twice.

use jiff::Timestamp;
use serde::Serialize;

use crate::{MemoryId, Scope};

/// A conversation of one scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The scope that it belongs to.
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub scope: Scope,
    /// The id: the session id of its turns, or their thread id if they have no session id.
    pub session_id: String,
    /// The thread that it belongs to.
    pub thread_id: String,
    /// When the first turn arrived.
    pub created_at: Timestamp,
    /// When the latest turn arrived.
    pub updated_at: Timestamp,
    /// When it ended. Null: it is open.
    #[cfg_attr(feature = "schema", schema(required))]
    pub ended_at: Option<Timestamp>,
    /// When it was last learned from.
    #[cfg_attr(feature = "schema", schema(required))]
    pub consolidated_at: Option<Timestamp>,
    /// The last turn that was learned from.
    #[cfg_attr(feature = "schema", schema(required))]
    pub consolidated_through: Option<MemoryId>,
    /// Whether it has turns that were not learned from.
    pub pending: bool,
}

/// Serialises a scope in its printed form.
fn as_text<S: serde::Serializer>(scope: &Scope, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(scope)
}

/// Selects sessions. All given conditions must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// The session id.
    pub session_id: Option<String>,
    /// Whether the session must, or must not, have ended.
    pub ended: Option<bool>,
    /// Selects only sessions with turns that were not learned from.
    pub pending: bool,
    /// Selects only sessions whose latest turn arrived before this time.
    pub quiet_since: Option<Timestamp>,
}
