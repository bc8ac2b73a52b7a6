//! Kinds of memories.
//!
//! A kind has a name, a class and a half-life. Twelve are built in and a configuration may add more, so a kind is a
//! name that is looked up in a [`Kinds`] table and never a closed enumeration.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind};

/// The class of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// Events and turns of conversations.
    Episodic,
    /// Statements about the world.
    Semantic,
    /// Instructions: how something is done.
    Procedural,
    /// Preferences, judgements and insights.
    Opinion,
}

/// The name of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(transparent)]
pub struct Kind(String);

impl Kind {
    /// A turn of a conversation, or an event.
    pub const EPISODIC: &'static str = "episodic";
    /// A stable statement.
    pub const FACT: &'static str = "fact";
    /// How something is done.
    pub const PROCEDURAL: &'static str = "procedural";
    /// Another name for `procedural`.
    const SKILL: &'static str = "skill";

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Makes a kind from a stored name without a check, because the name was checked when it was written.
    pub fn stored(name: impl Into<String>) -> Self {
        Self(name.into())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The definition of a kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct KindSpec {
    /// The name.
    pub name: String,
    /// The class.
    pub class: Class,
    /// Half-life of recency in days, above 0.
    pub half_life_days: f64,
    /// Factor in ranking, above 0. Default: 1, no effect.
    #[serde(default = "one")]
    pub boost: f64,
    /// Whether it appears in context when its category is not requested. Default: true.
    #[serde(default = "yes")]
    pub in_context: bool,
}

fn one() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

/// The table of kinds: the built-in ones and those that a configuration adds.
#[derive(Debug, Clone, PartialEq)]
pub struct Kinds(Vec<KindSpec>);

impl Default for Kinds {
    fn default() -> Self {
        let spec = |name: &str, class, half_life_days, boost, in_context| KindSpec {
            name: name.to_owned(),
            class,
            half_life_days,
            boost,
            in_context,
        };
        Self(vec![
            spec("fact", Class::Semantic, 365.0, 1.0, true),
            spec("preference", Class::Opinion, 180.0, 1.0, true),
            spec("person", Class::Semantic, 365.0, 1.0, true),
            spec("project", Class::Semantic, 90.0, 1.0, true),
            spec("task", Class::Semantic, 30.0, 1.0, true),
            spec("episodic", Class::Episodic, 14.0, 1.0, true),
            spec("decision", Class::Semantic, 180.0, 1.0, true),
            spec("correction", Class::Semantic, 365.0, 1.1, true),
            spec("procedural", Class::Procedural, 365.0, 1.0, false),
            spec("opinion", Class::Opinion, 180.0, 1.0, true),
            spec("insight", Class::Opinion, 90.0, 0.8, true),
            spec("document", Class::Semantic, 365.0, 1.0, true),
        ])
    }
}

impl Kinds {
    /// Returns the built-in kinds and the `added` ones. An added kind overrides a built-in one of the same name.
    pub fn with(added: Vec<KindSpec>) -> Result<Self, Error> {
        let mut kinds = Self::default();
        for spec in added {
            crate::slug("kinds.name", &spec.name)?;
            if !(spec.half_life_days.is_finite() && spec.half_life_days > 0.0) {
                return Err(Error::new(
                    ErrorKind::Configuration,
                    format!("kind `{}` has half-life {}, but it must be above 0", spec.name, spec.half_life_days),
                )
                .at("kinds.half_life_days"));
            }
            if !(spec.boost.is_finite() && spec.boost > 0.0) {
                return Err(Error::new(
                    ErrorKind::Configuration,
                    format!("kind `{}` has boost {}, but it must be above 0", spec.name, spec.boost),
                )
                .at("kinds.boost"));
            }
            match kinds.0.iter_mut().find(|known| known.name == spec.name) {
                Some(known) => *known = spec,
                None => kinds.0.push(spec),
            }
        }
        Ok(kinds)
    }

    /// Returns all kinds, the built-in ones first.
    pub fn all(&self) -> &[KindSpec] {
        &self.0
    }

    /// Returns the name that a kind is stored under: `procedural` for its other name `skill`, unless a configuration
    /// adds a kind `skill`. Other names are returned as they are.
    pub fn stored_name<'a>(&self, name: &'a str) -> &'a str {
        let added = || self.0.iter().any(|spec| spec.name == name);
        if name == Kind::SKILL && !added() { Kind::PROCEDURAL } else { name }
    }

    /// Returns the kind with this name, or an error that lists all names.
    pub fn parse(&self, name: &str) -> Result<Kind, Error> {
        let name = self.stored_name(name);
        if self.0.iter().any(|spec| spec.name == name) {
            return Ok(Kind(name.to_owned()));
        }
        let names: Vec<_> = self.0.iter().map(|spec| spec.name.as_str()).collect();
        Err(Error::invalid("kind", format!("unknown kind `{name}`"))
            .hint(format!("use one of {}, or add it under [[kinds]] in loci.toml", names.join(", "))))
    }

    /// Iterates over all kinds, the built-in ones first.
    pub fn iter(&self) -> impl Iterator<Item = &KindSpec> {
        self.0.iter()
    }

    /// Returns the definition of a kind. A kind that is not configured any more is treated as `fact`.
    pub fn spec(&self, kind: &Kind) -> &KindSpec {
        self.0.iter().find(|spec| spec.name == kind.0).unwrap_or(&self.0[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Coverage: S0-2.1.
    #[test]
    fn the_built_in_half_lives() {
        let kinds = Kinds::default();
        let days = |name: &str| kinds.spec(&kinds.parse(name).unwrap()).half_life_days;
        for (name, expect) in [
            ("fact", 365.0),
            ("preference", 180.0),
            ("person", 365.0),
            ("project", 90.0),
            ("task", 30.0),
            ("episodic", 14.0),
            ("decision", 180.0),
            ("correction", 365.0),
            ("procedural", 365.0),
            ("opinion", 180.0),
            ("insight", 90.0),
            ("document", 365.0),
        ] {
            assert_eq!(days(name), expect, "{name}");
        }
    }

    // Coverage: S0-2.1.
    #[test]
    fn a_configuration_adds_and_replaces_kinds() {
        let spec = |name: &str, half_life_days| KindSpec {
            name: name.into(),
            class: Class::Semantic,
            half_life_days,
            boost: 1.0,
            in_context: true,
        };
        let kinds = Kinds::with(vec![spec("recipe", 700.0), spec("task", 7.0)]).unwrap();
        assert_eq!(kinds.spec(&kinds.parse("recipe").unwrap()).half_life_days, 700.0);
        assert_eq!(kinds.spec(&kinds.parse("task").unwrap()).half_life_days, 7.0);
        assert!(Kinds::with(vec![spec("broken", 0.0)]).is_err());
        assert_eq!(kinds.parse("skill").unwrap().name(), "procedural");
        assert_eq!(Kinds::with(vec![spec("skill", 30.0)]).unwrap().parse("skill").unwrap().name(), "skill");
        assert!(kinds.parse("emotional").unwrap_err().advice().unwrap().contains("recipe"));
    }
}
