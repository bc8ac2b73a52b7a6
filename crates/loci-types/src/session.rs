//! When does a conversation begin and end, and what of it has been learned?
//!
//! A session is known from its first turn on. It ends when it is told to, or when its thread goes
//! on under another name. `consolidated_through` is how far it was learned from: turns that come
//! later are learned by themselves, and no turn is learned twice.

use jiff::Timestamp;
use serde::Serialize;

use crate::{MemoryId, Scope};

/// A conversation of one scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Whose it is.
    #[serde(serialize_with = "told")]
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub scope: Scope,
    /// Its name: the session's id, or the thread's where the turns had none.
    pub name: String,
    /// The thread it belongs to.
    pub thread_id: String,
    /// When its first turn came.
    pub started_at: Timestamp,
    /// When its latest turn came.
    pub last_at: Timestamp,
    /// When it ended; none: it goes on.
    pub ended_at: Option<Timestamp>,
    /// When it was last learned from.
    pub consolidated_at: Option<Timestamp>,
    /// The last turn that was learned from.
    pub consolidated_through: Option<MemoryId>,
    /// Whether turns have come since, or none was learned from yet.
    pub pending: bool,
}

/// A scope as people read it.
fn told<S: serde::Serializer>(scope: &Scope, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(scope)
}

/// Which sessions are meant.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SessionFilter {
    /// With this name.
    pub name: Option<String>,
    /// Only those that have ended, or only those that have not.
    pub ended: Option<bool>,
    /// Only those with turns that were not learned from.
    pub pending: bool,
    /// Only those whose last turn came before.
    pub quiet_since: Option<Timestamp>,
}
