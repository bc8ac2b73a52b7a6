//! What does a credential allow?
//!
//! A [`Grant`] belongs to one tenant. Without bounds it reaches the whole tenant; as soon as it
//! names anything, it reaches what it names and nothing else. It is asked by the engine's policy
//! and only ever narrows.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::memory::words;
use crate::{Error, Identifier, Tenant, slug};

words!(
    /// What a caller may do, from least to most.
    Role, "role", {
        /// Looks, and changes nothing.
        Reader = "reader",
        /// Remembers, changes and forgets as well.
        Writer = "writer",
        /// Looks after the tenant: maintenance, jobs, agents, keys.
        Admin = "admin",
    }
);

/// Stands for any value of an identifier.
pub const ANY: &str = "*";

/// The identifiers that a credential may name. All empty: any of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Bounds {
    /// Agents, by slug; `*` is any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub agents: BTreeSet<String>,
    /// Users; `*` is any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub users: BTreeSet<String>,
    /// Sessions. They lie within their user, so none named means any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub sessions: BTreeSet<String>,
    /// Projects; `*` is any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub projects: BTreeSet<String>,
    /// Teams; `*` is any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub teams: BTreeSet<String>,
    /// Organisations; `*` is any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub orgs: BTreeSet<String>,
    /// Companies; `*` is any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub companies: BTreeSet<String>,
    /// Pools, by slug; `*` is any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub pools: BTreeSet<String>,
}

impl Bounds {
    /// The values of one identifier.
    pub fn of(&self, which: Identifier) -> &BTreeSet<String> {
        match which {
            Identifier::Agent => &self.agents,
            Identifier::User => &self.users,
            Identifier::Session => &self.sessions,
            Identifier::Project => &self.projects,
            Identifier::Team => &self.teams,
            Identifier::Org => &self.orgs,
            Identifier::Company => &self.companies,
            Identifier::Pool => &self.pools,
        }
    }

    /// Whether nothing is named, so that anything may be.
    pub fn is_open(&self) -> bool {
        Identifier::ALL.iter().all(|which| self.of(*which).is_empty())
    }

    /// Whether this value may be named.
    pub fn admits(&self, which: Identifier, value: &str) -> bool {
        let named = self.of(which);
        let within = which == Identifier::Session && named.is_empty();
        self.is_open() || within || named.contains(ANY) || named.contains(value)
    }

    /// The only value that may be named, if there is exactly one.
    pub fn single(&self, which: Identifier) -> Option<&str> {
        let named = self.of(which);
        named.first().filter(|value| named.len() == 1 && *value != ANY).map(String::as_str)
    }
}

/// What a credential allows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Grant {
    /// The tenant it belongs to.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub tenant: Tenant,
    /// What it may do.
    pub role: Role,
    /// What it may name.
    #[serde(default, skip_serializing_if = "Bounds::is_open")]
    pub bounds: Bounds,
    /// The categories it may see; none: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub categories: Option<BTreeSet<String>>,
}

impl Grant {
    /// Everything in a tenant, for who looks after it.
    pub fn whole(tenant: Tenant) -> Self {
        Self { tenant, role: Role::Admin, bounds: Bounds::default(), categories: None }
    }

    /// Refuses bounds that no identifier could meet, and an admin who would not see what they look after.
    pub fn validate(&self) -> Result<(), Error> {
        for which in Identifier::ALL {
            for value in self.bounds.of(which) {
                match which {
                    _ if value == ANY => {}
                    Identifier::Agent | Identifier::Pool => slug(which.field(), value)?,
                    _ => crate::scope::identifier(which.field(), value)?,
                }
            }
        }
        if self.role == Role::Admin && (!self.bounds.is_open() || self.categories.is_some()) {
            return Err(Error::invalid("role", "an admin looks after the whole tenant and cannot be bounded")
                .hint("use the role writer, or leave users, agents, projects and categories out"));
        }
        Ok(())
    }
}

/// A credential that Loci made itself. The secret is not in it: only its hash is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Its public part, by which it is found.
    pub id: String,
    /// What it is for, in the words of who made it.
    pub name: String,
    /// The hash of the secret.
    pub hash: [u8; 32],
    /// What it allows.
    pub grant: Grant,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it stops to count.
    pub expires_at: Option<Timestamp>,
    /// From when on it is refused.
    pub revoked_at: Option<Timestamp>,
}

impl Key {
    /// Whether it counts at this instant.
    pub fn holds(&self, now: Timestamp) -> bool {
        self.expires_at.is_none_or(|at| now < at) && self.revoked_at.is_none_or(|at| now < at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bounds(users: &[&str], projects: &[&str]) -> Bounds {
        let set = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
        Bounds { users: set(users), projects: set(projects), ..Bounds::default() }
    }

    #[test]
    fn bounds_admit_what_they_name_and_nothing_else() {
        let check = |bounds: &Bounds, which, value: &str, expect: bool| {
            assert_eq!(bounds.admits(which, value), expect, "{bounds:?} {which:?} {value}");
        };
        let open = Bounds::default();
        check(&open, Identifier::User, "ann", true);
        check(&open, Identifier::Company, "any", true);
        let ann = bounds(&["ann"], &[]);
        check(&ann, Identifier::User, "ann", true);
        check(&ann, Identifier::User, "bob", false);
        check(&ann, Identifier::User, "*", false);
        check(&ann, Identifier::Project, "p", false);
        check(&ann, Identifier::Agent, "a", false);
        check(&ann, Identifier::Session, "s", true);
        let any = bounds(&["*"], &["p", "q"]);
        check(&any, Identifier::User, "bob", true);
        check(&any, Identifier::Project, "q", true);
        check(&any, Identifier::Project, "r", false);
        assert_eq!((ann.single(Identifier::User), any.single(Identifier::User)), (Some("ann"), None));
        assert_eq!(any.single(Identifier::Project), None);
    }

    #[test]
    fn grants_are_read_back_and_slips_are_refused() {
        let read = |text: &str| serde_json::from_str::<Grant>(text);
        let grant =
            read(r#"{"tenant":"acme","role":"writer","bounds":{"users":["ann"]},"categories":["tasks"]}"#).unwrap();
        assert!(grant.bounds.admits(Identifier::User, "ann"));
        assert_eq!(serde_json::from_str::<Grant>(&serde_json::to_string(&grant).unwrap()).unwrap(), grant);
        for wrong in [
            r#"{"tenant":"acme","role":"king"}"#,
            r#"{"tenant":"../acme","role":"reader"}"#,
            r#"{"tenant":"acme","role":"reader","users":["ann"]}"#,
            r#"{"tenant":"acme","role":"reader","bounds":{"user":["ann"]}}"#,
            r#"{"role":"reader"}"#,
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_admin_has_no_bounds() {
        let mut grant = Grant::whole(Tenant::default());
        assert!(grant.validate().is_ok());
        grant.bounds = bounds(&["ann"], &[]);
        assert_eq!(grant.validate().unwrap_err().field(), Some("role"));
        grant.role = Role::Writer;
        assert!(grant.validate().is_ok());
        grant.bounds = bounds(&["a\u{0}"], &[]);
        assert_eq!(grant.validate().unwrap_err().field(), Some("userId"));
    }
}
