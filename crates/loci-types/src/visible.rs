//! Visibility: the memories that a caller may see.
//!
//! Only the engine's policy makes a [`Visible`], from a credential and identifiers, and every read of a store requires
//! one. No code may widen it.

use std::collections::BTreeSet;

use crate::{Memory, Scope, Space, Tenant};

/// The memories that a caller may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visible {
    tenant: Tenant,
    reach: Reach,
    categories: Option<BTreeSet<String>>,
    viewer: Option<String>,
    sessions: Option<BTreeSet<String>>,
}

/// The scopes that a caller may see within the tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// Only these scopes.
    Scopes(Vec<Scope>),
    /// Every scope of the tenant, for an operator who names no identifiers, and for maintenance.
    Whole,
}

impl Visible {
    /// Makes a `Visible`. Only the engine's policy may call this; any other call is a lint error.
    ///
    /// `categories` limits the memories to those categories; `None` allows all. `viewer` is the id of the caller, who
    /// also sees the private memories that they wrote.
    pub fn grant(tenant: Tenant, reach: Reach, categories: Option<BTreeSet<String>>, viewer: Option<String>) -> Self {
        Self { tenant, reach, categories, viewer, sessions: None }
    }

    /// Narrows it to memories that belong to one of these sessions or to none. An empty set changes nothing.
    pub fn in_sessions(self, sessions: BTreeSet<String>) -> Self {
        if sessions.is_empty() {
            return self;
        }
        let sessions = match &self.sessions {
            Some(own) => own.intersection(&sessions).cloned().collect(),
            None => sessions,
        };
        Self { sessions: Some(sessions), ..self }
    }

    /// Returns the tenant.
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// Returns the visible scopes.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// Returns the visible categories. `None` means all.
    pub fn categories(&self) -> Option<&BTreeSet<String>> {
        self.categories.as_ref()
    }

    /// Returns the sessions whose memories are visible. `None` means all. A memory of no session is visible either way.
    pub fn sessions(&self) -> Option<&BTreeSet<String>> {
        self.sessions.as_ref()
    }

    /// Returns true if only some memories of the visible scopes are visible, by their category or their session.
    pub fn is_partial(&self) -> bool {
        self.categories.is_some() || self.sessions.is_some()
    }

    /// Returns the id of the caller, if it is known.
    pub fn viewer(&self) -> Option<&str> {
        self.viewer.as_deref()
    }

    /// Returns the spaces to read. `None` means every space of the tenant.
    pub fn spaces(&self) -> Option<BTreeSet<Space>> {
        match &self.reach {
            Reach::Scopes(scopes) => Some(scopes.iter().map(Scope::space).collect()),
            Reach::Whole => None,
        }
    }

    /// Returns the scopes to read within one space. `None` means all of them.
    pub fn scopes_in(&self, space: &Space) -> Option<Vec<&Scope>> {
        match &self.reach {
            Reach::Scopes(scopes) => Some(scopes.iter().filter(|scope| scope.space() == *space).collect()),
            Reach::Whole => None,
        }
    }

    /// Returns true if the memory is visible. Stores evaluate the same conditions in SQL; the contract tests compare
    /// their results with this function.
    pub fn admits(&self, memory: &Memory) -> bool {
        let in_reach = match &self.reach {
            Reach::Whole => true,
            Reach::Scopes(scopes) => memory.scope().is_ok_and(|scope| scopes.contains(&scope)),
        };
        let in_category = match &self.categories {
            None => true,
            Some(allowed) => memory.category.as_ref().is_some_and(|category| allowed.contains(category)),
        };
        in_reach && in_category && self.in_session(memory) && self.may_read(memory)
    }

    /// A turn without a session is of the session that its thread names.
    fn in_session(&self, memory: &Memory) -> bool {
        let session = memory.identifiers.session_id.as_ref().or(memory.thread_id.as_ref());
        match (&self.sessions, session) {
            (Some(allowed), Some(session)) => allowed.contains(session),
            _ => true,
        }
    }

    fn may_read(&self, memory: &Memory) -> bool {
        if !memory.access_policy.writer_only() || self.reach == Reach::Whole {
            return true;
        }
        let writer = memory.actor_id.as_deref().or(memory.identifiers.user_id.as_deref());
        writer.is_some() && writer == self.viewer.as_deref()
    }
}
