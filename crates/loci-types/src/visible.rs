//! What may this caller see?
//!
//! A [`Visible`] is made by the engine's policy from a credential and identifiers, and by nothing
//! else; every read of a store demands one. It only ever narrows.

use std::collections::BTreeSet;

use crate::{Memory, Scope, Space, Tenant};

/// The memories that a caller may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visible {
    tenant: Tenant,
    reach: Reach,
    categories: Option<BTreeSet<String>>,
    viewer: Option<String>,
}

/// How far a caller sees within the tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// These scopes and no others.
    Scopes(Vec<Scope>),
    /// Everything in the tenant: the person who runs it, and the work of the night.
    Whole,
}

impl Visible {
    /// Makes what is visible. Only the engine's policy may call this; a lint says so.
    ///
    /// `categories` limits what is seen to those categories (none: all of them); `viewer` is who
    /// asks, for entries that only their writer may see.
    pub fn grant(tenant: Tenant, reach: Reach, categories: Option<BTreeSet<String>>, viewer: Option<String>) -> Self {
        Self { tenant, reach, categories, viewer }
    }

    /// The tenant.
    pub fn tenant(&self) -> &Tenant {
        &self.tenant
    }

    /// How far it reaches.
    pub fn reach(&self) -> &Reach {
        &self.reach
    }

    /// The categories that are seen; none: all.
    pub fn categories(&self) -> Option<&BTreeSet<String>> {
        self.categories.as_ref()
    }

    /// Who asks.
    pub fn viewer(&self) -> Option<&str> {
        self.viewer.as_deref()
    }

    /// The spaces to look into; none: every space of the tenant.
    pub fn spaces(&self) -> Option<BTreeSet<Space>> {
        match &self.reach {
            Reach::Scopes(scopes) => Some(scopes.iter().map(Scope::space).collect()),
            Reach::Whole => None,
        }
    }

    /// The scopes to look into within one space; none: all of them.
    pub fn scopes_in(&self, space: &Space) -> Option<Vec<&Scope>> {
        match &self.reach {
            Reach::Scopes(scopes) => Some(scopes.iter().filter(|scope| scope.space() == *space).collect()),
            Reach::Whole => None,
        }
    }

    /// Whether this memory may be seen. Stores answer the same question in their own language;
    /// this is the law they are tested against.
    pub fn admits(&self, memory: &Memory) -> bool {
        let in_reach = match &self.reach {
            Reach::Whole => true,
            Reach::Scopes(scopes) => memory.scope().is_ok_and(|scope| scopes.contains(&scope)),
        };
        let in_category = match &self.categories {
            None => true,
            Some(allowed) => memory.category.as_ref().is_some_and(|category| allowed.contains(category)),
        };
        in_reach && in_category && self.may_read(memory)
    }

    fn may_read(&self, memory: &Memory) -> bool {
        if !memory.access_policy.writer_only() || self.reach == Reach::Whole {
            return true;
        }
        let writer = memory.actor_id.as_deref().or(memory.identifiers.user_id.as_deref());
        writer.is_some() && writer == self.viewer.as_deref()
    }
}
