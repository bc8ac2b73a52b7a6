//! Scopes, spaces and tenants.
//!
//! A [`Scope`] is a layer with exactly the identifiers that the layer requires; every memory has one. Other identifiers
//! of a memory only record its origin and never widen the scope. A [`Space`] is the physical container of scopes: one
//! per agent, one per pool, a fixed number for users ([`Shard`]), and one for the layers that many users share.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::name::{identifier, normalise, slug};
use crate::{Error, ErrorKind, Layer, fnv1a};

/// One of the identifiers that distinguish scopes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Identifier {
    /// `agentId`
    Agent,
    /// `userId`
    User,
    /// `sessionId`
    Session,
    /// `projectId`
    Project,
    /// `teamId`
    Team,
    /// `orgId`
    Org,
    /// `companyId`
    Company,
    /// `poolId`
    Pool,
}

impl Identifier {
    /// All of them, in the order of the record.
    pub const ALL: [Identifier; 8] = [
        Identifier::Agent,
        Identifier::User,
        Identifier::Session,
        Identifier::Project,
        Identifier::Team,
        Identifier::Org,
        Identifier::Company,
        Identifier::Pool,
    ];

    /// The field's name in the record.
    pub fn field(self) -> &'static str {
        match self {
            Identifier::Agent => "agentId",
            Identifier::User => "userId",
            Identifier::Session => "sessionId",
            Identifier::Project => "projectId",
            Identifier::Team => "teamId",
            Identifier::Org => "orgId",
            Identifier::Company => "companyId",
            Identifier::Pool => "poolId",
        }
    }

    /// The short name of the field, as in the command-line option.
    pub fn short(self) -> &'static str {
        self.field().trim_end_matches("Id")
    }
}

/// The identifiers that a caller gave, or that a record carries.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Identifiers {
    /// The agent, by its URL-safe slug.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_id: Option<String>,
    /// The session, a conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The project or repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project_id: Option<String>,
    /// The team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub team_id: Option<String>,
    /// The organization.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub org_id: Option<String>,
    /// The company.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub company_id: Option<String>,
    /// The pool, by its URL-safe slug.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool_id: Option<String>,
}

impl Identifiers {
    /// The value of one identifier.
    pub fn get(&self, which: Identifier) -> Option<&str> {
        match which {
            Identifier::Agent => self.agent_id.as_deref(),
            Identifier::User => self.user_id.as_deref(),
            Identifier::Session => self.session_id.as_deref(),
            Identifier::Project => self.project_id.as_deref(),
            Identifier::Team => self.team_id.as_deref(),
            Identifier::Org => self.org_id.as_deref(),
            Identifier::Company => self.company_id.as_deref(),
            Identifier::Pool => self.pool_id.as_deref(),
        }
    }

    /// Sets one identifier.
    pub fn set(&mut self, which: Identifier, value: Option<String>) {
        let slot = match which {
            Identifier::Agent => &mut self.agent_id,
            Identifier::User => &mut self.user_id,
            Identifier::Session => &mut self.session_id,
            Identifier::Project => &mut self.project_id,
            Identifier::Team => &mut self.team_id,
            Identifier::Org => &mut self.org_id,
            Identifier::Company => &mut self.company_id,
            Identifier::Pool => &mut self.pool_id,
        };
        *slot = value;
    }

    /// The same with every name in the one spelling in which names are stored and compared.
    pub fn normalised(mut self) -> Self {
        for which in Identifier::ALL {
            if let Some(Cow::Owned(value)) = self.get(which).map(normalise) {
                self.set(which, Some(value));
            }
        }
        self
    }

    /// Whether none is given.
    pub fn is_empty(&self) -> bool {
        Identifier::ALL.iter().all(|which| self.get(*which).is_none())
    }

    /// Refuses identifiers that are empty, too long or contain control characters, and slugs that are unsafe as a path.
    pub fn validate(&self) -> Result<(), Error> {
        for which in Identifier::ALL {
            let Some(value) = self.get(which) else { continue };
            match which {
                Identifier::Agent | Identifier::Pool => slug(which.field(), value)?,
                _ => identifier(which.field(), value)?,
            }
        }
        Ok(())
    }

    /// The layers whose required identifiers are all given, most specific first.
    pub fn layers(&self) -> Vec<Layer> {
        let given = |layer: &Layer| layer.required().iter().all(|which| self.get(*which).is_some());
        Layer::ALL.into_iter().filter(given).collect()
    }
}

/// A layer with exactly the identifiers that it requires.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    layer: Layer,
    values: Vec<String>,
}

impl Scope {
    /// The scope in `layer` with these identifiers. Fails with the name of the first one that is missing.
    pub fn new(layer: Layer, identifiers: &Identifiers) -> Result<Self, Error> {
        identifiers.validate()?;
        let mut values = Vec::with_capacity(2);
        for which in layer.required() {
            match identifiers.get(*which) {
                Some(value) => values.push(value.to_owned()),
                None => {
                    return Err(Error::new(
                        ErrorKind::MissingIdentifier,
                        format!("layer `{layer}` needs {}, which was not given", which.field()),
                    )
                    .at(which.field())
                    .hint(format!("give {} (--{} NAME)", which.field(), which.short())));
                }
            }
        }
        Ok(Self { layer, values })
    }

    /// The layer.
    pub fn layer(&self) -> Layer {
        self.layer
    }

    /// The identifiers of the scope.
    pub fn identifiers(&self) -> Identifiers {
        let mut identifiers = Identifiers::default();
        for (which, value) in self.layer.required().iter().zip(&self.values) {
            identifiers.set(*which, Some(value.clone()));
        }
        identifiers
    }

    /// The scope as one string. Unit separators cannot occur in identifiers, so two scopes never have the same key.
    pub fn key(&self) -> String {
        let mut key = self.layer.name().to_owned();
        for value in &self.values {
            key.push('\u{1f}');
            key.push_str(value);
        }
        key
    }

    /// Parses the key of a scope.
    pub fn from_key(key: &str) -> Result<Self, Error> {
        let mut parts = key.split('\u{1f}');
        let layer: Layer = parts.next().unwrap_or_default().parse()?;
        let values: Vec<String> = parts.map(str::to_owned).collect();
        if values.len() != layer.required().len() {
            return Err(Error::invalid("scope", format!("`{key}` is not a scope key")));
        }
        Ok(Self { layer, values })
    }

    /// The space that contains this scope.
    pub fn space(&self) -> Space {
        match self.layer {
            Layer::Agent => Space::Agent(self.values[0].clone()),
            Layer::Pool => Space::Pool(self.values[0].clone()),
            Layer::User | Layer::Session => Space::Users(Shard::of(&self.values[0])),
            Layer::Project | Layer::Team | Layer::Org | Layer::Company => Space::Shared,
        }
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.layer, self.values.join(" / "))
    }
}

/// The physical container of scopes. Dropping one removes everything in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Space {
    /// The space of one agent.
    Agent(String),
    /// The layers of a tenant that many users share: project, team, organization and company.
    Shared,
    /// The user and session layers of those users whose ids fall into this shard.
    Users(Shard),
    /// The space of one pool.
    Pool(String),
}

/// One of the parts into which the users of a tenant are divided, so that they do not share one writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shard(u8);

impl Shard {
    /// Number of shards of a tenant. It is part of the storage format and never changes.
    pub const COUNT: u8 = 64;

    /// The shard of a user: 64-bit FNV-1a of the id, its halves combined by XOR, modulo [`Shard::COUNT`]. Part of the
    /// storage format; never changes.
    pub fn of(user: &str) -> Self {
        let hash = fnv1a(user.as_bytes());
        Self(((hash ^ (hash >> 32)) % u64::from(Self::COUNT)) as u8)
    }

    /// All shards.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..Self::COUNT).map(Self)
    }

    /// Its number, from 0 to one below [`Shard::COUNT`].
    pub fn number(self) -> u8 {
        self.0
    }

    /// Parses two lower-case hexadecimal digits.
    fn from_hex(digits: &str) -> Option<Self> {
        let number = u8::from_str_radix(digits, 16).ok().filter(|number| *number < Self::COUNT)?;
        (format!("{number:02x}") == digits).then_some(Self(number))
    }
}

impl Space {
    /// The name of the space, from which those of its folder and of its external collection derive.
    pub fn name(&self) -> String {
        match self {
            Space::Agent(slug) => format!("agent_memory_{slug}"),
            Space::Shared => "shared".to_owned(),
            Space::Users(shard) => format!("users_{:02x}", shard.0),
            Space::Pool(slug) => format!("pool_{slug}"),
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

impl FromStr for Space {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        if let Some(agent) = name.strip_prefix("agent_memory_") {
            slug("space", agent)?;
            Ok(Space::Agent(agent.to_owned()))
        } else if let Some(pool) = name.strip_prefix("pool_") {
            slug("space", pool)?;
            Ok(Space::Pool(pool.to_owned()))
        } else if name == "shared" {
            Ok(Space::Shared)
        } else if let Some(shard) = name.strip_prefix("users_").and_then(Shard::from_hex) {
            Ok(Space::Users(shard))
        } else {
            Err(Error::invalid("space", format!("`{name}` is not the name of a space")))
        }
    }
}

/// The outermost boundary: spaces of different tenants share nothing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(try_from = "String", into = "String")]
pub struct Tenant(String);

impl Tenant {
    /// A tenant by its slug.
    pub fn new(name: &str) -> Result<Self, Error> {
        slug("tenant", name)?;
        Ok(Self(name.to_owned()))
    }

    /// The slug.
    pub fn name(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for Tenant {
    type Error = Error;

    fn try_from(name: String) -> Result<Self, Error> {
        Self::new(&name)
    }
}

impl From<Tenant> for String {
    fn from(tenant: Tenant) -> Self {
        tenant.0
    }
}

impl Default for Tenant {
    fn default() -> Self {
        Self("default".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identifiers(given: &[(Identifier, &str)]) -> Identifiers {
        let mut identifiers = Identifiers::default();
        for (which, value) in given {
            identifiers.set(*which, Some((*value).to_owned()));
        }
        identifiers
    }

    // Coverage: S2.1.
    #[test]
    fn the_matrix_of_required_identifiers() {
        use Identifier::*;
        let check = |layer: Layer, given: &[(Identifier, &str)], missing: Option<&str>| {
            let outcome = Scope::new(layer, &identifiers(given));
            match (outcome, missing) {
                (Ok(_), None) => {}
                (Err(error), Some(field)) => {
                    assert_eq!(error.kind(), ErrorKind::MissingIdentifier);
                    assert_eq!(error.field(), Some(field), "{layer} {given:?}");
                }
                (outcome, missing) => panic!("{layer} {given:?}: {outcome:?}, expected {missing:?}"),
            }
        };
        check(Layer::Agent, &[(Agent, "a"), (User, "u")], None);
        check(Layer::Agent, &[(User, "u")], Some("agentId"));
        check(Layer::Agent, &[(Agent, "a")], Some("userId"));
        check(Layer::User, &[(User, "u")], None);
        check(Layer::User, &[], Some("userId"));
        check(Layer::Session, &[(User, "u"), (Session, "s")], None);
        check(Layer::Session, &[(Session, "s")], Some("userId"));
        check(Layer::Session, &[(User, "u")], Some("sessionId"));
        check(Layer::Project, &[(User, "u")], Some("projectId"));
        check(Layer::Team, &[(Project, "p")], Some("teamId"));
        check(Layer::Org, &[(Team, "t")], Some("orgId"));
        check(Layer::Company, &[(Org, "o")], Some("companyId"));
        check(Layer::Pool, &[(Agent, "a")], Some("poolId"));
    }

    // Coverage: S2.1.
    #[test]
    fn accessible_layers_follow_from_what_is_given() {
        use Identifier::*;
        assert_eq!(identifiers(&[(User, "u"), (Agent, "a")]).layers(), [Layer::Agent, Layer::User]);
        assert_eq!(identifiers(&[(Session, "s")]).layers(), []);
        assert_eq!(identifiers(&[(Company, "c"), (Project, "p")]).layers(), [Layer::Project, Layer::Company]);
    }

    #[test]
    fn keys_read_back_and_spaces_have_their_names() {
        use Identifier::*;
        let given = identifiers(&[(Agent, "devops-agent"), (User, "u/1"), (Pool, "p")]);
        for (layer, space) in
            [(Layer::Agent, "agent_memory_devops-agent"), (Layer::User, "users_0d"), (Layer::Pool, "pool_p")]
        {
            let scope = Scope::new(layer, &given).unwrap();
            assert_eq!(Scope::from_key(&scope.key()).unwrap(), scope);
            assert_eq!(scope.space().name(), space);
            assert_eq!(space.parse::<Space>().unwrap(), scope.space());
        }
    }

    #[test]
    fn what_belongs_to_a_user_lies_in_the_shard_of_the_user() {
        use Identifier::*;
        let mut given = identifiers(&[(Agent, "a"), (Session, "s"), (Project, "p"), (Team, "t"), (Org, "o")]);
        given.set(Company, Some("c".to_owned()));
        for user in ["ann", "ben"] {
            given.set(User, Some(user.to_owned()));
            let space = |layer: Layer| Scope::new(layer, &given).unwrap().space();
            for layer in [Layer::User, Layer::Session] {
                assert_eq!(space(layer), Space::Users(Shard::of(user)));
            }
            for layer in [Layer::Project, Layer::Team, Layer::Org, Layer::Company] {
                assert_eq!(space(layer), Space::Shared);
            }
            assert_eq!(space(Layer::Agent), Space::Agent("a".to_owned()));
        }
    }

    // Coverage: SPEC.1.
    /// Stored data depends on these values. They were computed by another program.
    #[test]
    fn the_shard_of_a_user_never_changes() {
        for (user, name) in [
            ("a", "users_00"),
            ("ann", "users_21"),
            ("ben", "users_33"),
            ("anna", "users_38"),
            ("u/1", "users_0d"),
            ("Zoë / 7", "users_2d"),
            ("ana@example.org", "users_08"),
            ("00000000-0000-0000-0000-000000000001", "users_1c"),
            ("хххххххх", "users_30"),
        ] {
            assert_eq!(Space::Users(Shard::of(user)).name(), name, "{user}");
        }
        assert_eq!(Shard::COUNT, 64);
    }

    #[test]
    fn names_of_shards_read_back_and_no_others_do() {
        let names: Vec<String> = Shard::all().map(|shard| Space::Users(shard).name()).collect();
        assert_eq!((names[0].as_str(), names[63].as_str()), ("users_00", "users_3f"));
        for (number, name) in (0..).zip(&names) {
            assert_eq!(name.parse::<Space>().unwrap(), Space::Users(Shard(number)));
        }
        for bad in
            ["users", "users_", "users_0", "users_40", "users_ff", "users_3F", "users_+1", "users_000", "users_0x"]
        {
            assert!(bad.parse::<Space>().is_err(), "{bad}");
        }
    }

    #[test]
    fn users_are_spread_evenly() {
        let names: [fn(u32) -> String; 3] =
            [|n| n.to_string(), |n| format!("user-{n}"), |n| format!("u{n:08}@example.org")];
        for name in names {
            let mut users = [0; Shard::COUNT as usize];
            (0..64_000).for_each(|n| users[usize::from(Shard::of(&name(n)).number())] += 1);
            assert!(users.iter().all(|count| (900..1_100).contains(count)), "{users:?}");
        }
    }

    #[test]
    fn names_that_could_leave_their_folder_are_refused() {
        for bad in ["", "..", "../x", "a/b", "a b", ".hidden", "a\u{0}b", "ünï", &"x".repeat(97)] {
            let error = identifiers(&[(Identifier::Agent, bad)]).validate().unwrap_err();
            assert_eq!(error.field(), Some("agentId"), "{bad:?}");
        }
        assert!(identifiers(&[(Identifier::User, "Zoë / 7")]).validate().is_ok());
        assert!(identifiers(&[(Identifier::User, "a\u{1f}b")]).validate().is_err());
    }

    /// attack B15: a user of the name `*` was the wildcard of the credential that named it.
    #[test]
    fn the_wildcard_is_no_name() {
        for which in Identifier::ALL {
            let error = identifiers(&[(which, "*")]).validate().unwrap_err();
            assert_eq!(error.field(), Some(which.field()));
        }
        assert!(identifiers(&[(Identifier::User, "**")]).validate().is_ok());
    }

    #[test]
    fn two_spellings_of_a_name_are_one() {
        let composed = identifiers(&[(Identifier::User, "Zo\u{eb}")]);
        let decomposed = identifiers(&[(Identifier::User, "Zoe\u{308}")]);
        assert_ne!(composed, decomposed);
        assert_eq!(decomposed.normalised(), composed);
        assert_eq!(composed.clone().normalised(), composed);
    }
}
