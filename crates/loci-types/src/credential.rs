//! Credentials: tenant, role, bounds and categories of a caller.
//!
//! A [`Grant`] belongs to one tenant. Without bounds it reaches the whole tenant; with any bound it reaches only the
//! identifiers that it names. The engine's policy evaluates it, and a grant can only narrow what is visible.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

use crate::memory::words;
use crate::{Error, Identifier, Tenant, normalise, slug};

words!(
    /// The role of a caller, from least to most rights.
    Role, "role", {
        /// Reads, and changes nothing.
        Reader = "reader",
        /// Reads and writes memories.
        Writer = "writer",
        /// Reads, writes and administers the tenant: maintenance, jobs, agents, keys.
        Admin = "admin",
    }
);

/// What a credential may do besides what its role allows. Admins have all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Removes memories for good instead of deleting them softly.
    #[serde(alias = "hardDelete")]
    HardDelete,
    /// Erases everything of the users that the credential is bound to.
    Erase,
    /// Accepts and rejects proposals that wait for the consent of a user.
    Consent,
}

impl Right {
    /// All rights.
    pub const ALL: [Right; 3] = [Right::HardDelete, Right::Erase, Right::Consent];

    /// Returns the name, as it is stored and printed.
    pub fn name(self) -> &'static str {
        match self {
            Right::HardDelete => "hard_delete",
            Right::Erase => "erase",
            Right::Consent => "consent",
        }
    }
}

impl fmt::Display for Right {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Right {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let word = if text == "hardDelete" { "hard_delete" } else { text };
        Self::ALL.into_iter().find(|right| right.name() == word).ok_or_else(|| {
            Error::invalid("rights", format!("unknown right `{text}`"))
                .hint(format!("use one of {}", Self::ALL.map(Right::name).join(", ")))
        })
    }
}

/// The wildcard that matches any value of an identifier.
pub const ANY: &str = "*";

/// The identifiers that a caller may use. If all sets are empty, any identifier is allowed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Bounds {
    /// Allowed agents, by slug. `*` allows any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", deserialize_with = "normalised")]
    pub agents: BTreeSet<String>,
    /// Allowed users. `*` allows any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", deserialize_with = "normalised")]
    pub users: BTreeSet<String>,
    /// Allowed sessions. An empty set allows any, because a session belongs to a user.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", deserialize_with = "normalised")]
    pub sessions: BTreeSet<String>,
    /// Allowed projects. `*` allows any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", deserialize_with = "normalised")]
    pub projects: BTreeSet<String>,
    /// Allowed teams. `*` allows any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", deserialize_with = "normalised")]
    pub teams: BTreeSet<String>,
    /// Allowed organizations. `*` allows any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", deserialize_with = "normalised")]
    pub orgs: BTreeSet<String>,
    /// Allowed companies. `*` allows any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", deserialize_with = "normalised")]
    pub companies: BTreeSet<String>,
    /// Allowed pools, by slug. `*` allows any.
    #[serde(skip_serializing_if = "BTreeSet::is_empty", deserialize_with = "normalised")]
    pub pools: BTreeSet<String>,
}

/// Reads names in the one spelling in which requests name them too.
fn normalised<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<String>, D::Error> {
    let names = BTreeSet::<String>::deserialize(deserializer)?;
    Ok(names.into_iter().map(|name| normalise(&name).into_owned()).collect())
}

impl Bounds {
    /// Returns the allowed values of one identifier.
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

    /// Returns true if all sets are empty, so that any identifier is allowed.
    pub fn is_open(&self) -> bool {
        Identifier::ALL.iter().all(|which| self.of(*which).is_empty())
    }

    /// Returns true if a caller may use this value of an identifier.
    pub fn admits(&self, which: Identifier, value: &str) -> bool {
        let allowed = self.of(which);
        let any_session = which == Identifier::Session && allowed.is_empty();
        self.is_open() || any_session || allowed.contains(ANY) || allowed.contains(value)
    }

    /// Returns the allowed value of an identifier if there is exactly one and it is not the wildcard.
    pub fn single(&self, which: Identifier) -> Option<&str> {
        let allowed = self.of(which);
        allowed.first().filter(|value| allowed.len() == 1 && *value != ANY).map(String::as_str)
    }
}

/// The rights of a credential.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Grant {
    /// The tenant that the credential belongs to.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub tenant: Tenant,
    /// The role of the caller.
    pub role: Role,
    /// The identifiers that the caller may use.
    #[serde(default, skip_serializing_if = "Bounds::is_open")]
    pub bounds: Bounds,
    /// The categories that the caller may see. Absent: all categories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub categories: Option<BTreeSet<String>>,
    /// What the caller may do besides what the role allows. An admin has all rights without naming them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    #[cfg_attr(feature = "schema", schema(required = false))]
    pub rights: BTreeSet<Right>,
}

impl Grant {
    /// Returns the grant of an admin, which reaches everything in the tenant.
    pub fn whole(tenant: Tenant) -> Self {
        Self { tenant, role: Role::Admin, bounds: Bounds::default(), categories: None, rights: BTreeSet::new() }
    }

    /// Returns the rights that it gives: those of the set, or all to an admin.
    pub fn effective_rights(&self) -> BTreeSet<Right> {
        match self.role {
            Role::Admin => Right::ALL.into(),
            Role::Reader | Role::Writer => self.rights.clone(),
        }
    }

    /// Refuses bounds that no valid identifier can match, an admin with bounds or categories, and rights that could never
    /// be used.
    pub fn validate(&self) -> Result<(), Error> {
        for which in Identifier::ALL {
            for value in self.bounds.of(which) {
                match which {
                    _ if value == ANY => {}
                    Identifier::Agent | Identifier::Pool => slug(which.field(), value)?,
                    _ => crate::name::identifier(which.field(), value)?,
                }
            }
        }
        if self.role == Role::Admin && (!self.bounds.is_open() || self.categories.is_some()) {
            return Err(Error::invalid("role", "the role admin cannot have bounds or categories")
                .hint("use the role writer, or leave users, agents, projects and categories out"));
        }
        if self.role == Role::Reader && !self.rights.is_empty() {
            return Err(Error::invalid("rights", "the role reader changes nothing, so it cannot have rights")
                .hint("use the role writer, or leave rights out"));
        }
        if self.rights.contains(&Right::Erase) && self.bounds.users.is_empty() {
            return Err(Error::invalid("rights", "the right erase is for the users that the credential is bound to")
                .hint("name the users in the bounds, or use the role admin"));
        }
        Ok(())
    }
}

/// An API key that Loci issued. It holds the hash of the secret, never the secret itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// The public part, by which the key is looked up.
    pub id: String,
    /// The name that its creator gave it.
    pub name: String,
    /// The hash of the secret.
    pub hash: [u8; 32],
    /// The rights of the key.
    pub grant: Grant,
    /// When it was created.
    pub created_at: Timestamp,
    /// When it expires. `None` means never.
    pub expires_at: Option<Timestamp>,
    /// When its revocation takes effect. This may be in the future while a rotated key is still accepted.
    pub revoked_at: Option<Timestamp>,
}

impl Key {
    /// Returns true if the key is neither expired nor revoked at this instant.
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

    // Coverage: SPEC-4.2.
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

    /// doors H6, H9: rights are off unless they are named, and all on for admins.
    #[test]
    fn rights_are_named_or_an_admins() {
        let check = |role: Role, rights: &[Right], users: &[&str], refused: bool| {
            let rights: BTreeSet<Right> = rights.iter().copied().collect();
            let grant = Grant { role, rights, bounds: bounds(users, &[]), ..Grant::whole(Tenant::default()) };
            assert_eq!(
                grant.validate().err().and_then(|error| error.field()),
                refused.then_some("rights"),
                "{grant:?}"
            );
            assert_eq!(serde_json::from_str::<Grant>(&serde_json::to_string(&grant).unwrap()).unwrap(), grant);
            grant.effective_rights().len()
        };
        assert_eq!(check(Role::Admin, &[], &[], false), 3);
        assert_eq!(check(Role::Writer, &[], &["ann"], false), 0);
        assert_eq!(check(Role::Writer, &[Right::Consent, Right::HardDelete], &[], false), 2);
        assert_eq!(check(Role::Writer, &[Right::Erase], &["ann"], false), 1);
        check(Role::Writer, &[Right::Erase], &[], true);
        check(Role::Reader, &[Right::Consent], &["ann"], true);
        for right in Right::ALL {
            assert_eq!(right.name().parse::<Right>().unwrap(), right);
            assert_eq!(serde_json::to_value(right).unwrap(), right.name());
        }
        assert_eq!("hardDelete".parse::<Right>().unwrap(), Right::HardDelete);
        assert_eq!("everything".parse::<Right>().unwrap_err().field(), Some("rights"));
    }
}
