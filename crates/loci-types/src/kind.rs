//! What sort of memory is it?
//!
//! A kind is a word with a class and a half-life. Twelve are built in; a configuration may add
//! more, so a kind is a name looked up in a [`Kinds`] table and never a closed enumeration.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind};

/// The family that a kind belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// What happened.
    Episodic,
    /// What is so.
    Semantic,
    /// How something is done.
    Procedural,
    /// What someone thinks of it.
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

    /// The name.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// A kind read back from where it was stored: it was checked when it was written.
    pub fn stored(name: impl Into<String>) -> Self {
        Self(name.into())
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What Loci knows of a kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct KindSpec {
    /// The name.
    pub name: String,
    /// The family.
    pub class: Class,
    /// Days until its recency is one half.
    pub half_life_days: f64,
    /// What its rank is multiplied by; 1 leaves it alone.
    #[serde(default = "one")]
    pub boost: f64,
    /// Whether it belongs in context that nobody asked for by category.
    #[serde(default = "yes")]
    pub in_context: bool,
}

fn one() -> f64 {
    1.0
}

fn yes() -> bool {
    true
}

/// The kinds that exist: the built-in ones and those a configuration adds.
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
    /// The built-in kinds with `added` ones; an added one may replace a built-in one.
    pub fn with(added: Vec<KindSpec>) -> Result<Self, Error> {
        let mut kinds = Self::default();
        for spec in added {
            crate::scope::slug("kinds.name", &spec.name)?;
            if !(spec.half_life_days.is_finite() && spec.half_life_days > 0.0) {
                return Err(Error::new(
                    ErrorKind::Configuration,
                    format!("kind `{}` has half-life {}, which is not above 0", spec.name, spec.half_life_days),
                )
                .at("kinds.half_life_days"));
            }
            if !(spec.boost.is_finite() && spec.boost > 0.0) {
                return Err(Error::new(
                    ErrorKind::Configuration,
                    format!("kind `{}` has boost {}, which is not above 0", spec.name, spec.boost),
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

    /// All of them.
    pub fn all(&self) -> &[KindSpec] {
        &self.0
    }

    /// The kind of this name.
    pub fn parse(&self, name: &str) -> Result<Kind, Error> {
        if self.0.iter().any(|spec| spec.name == name) {
            return Ok(Kind(name.to_owned()));
        }
        let names: Vec<_> = self.0.iter().map(|spec| spec.name.as_str()).collect();
        Err(Error::invalid("kind", format!("`{name}` is not a kind"))
            .hint(format!("use one of {}, or add it under [[kinds]] in loci.toml", names.join(", "))))
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &KindSpec> {
        self.0.iter()
    }

    /// What is known of a kind. One that the configuration no longer has counts as a fact.
    pub fn spec(&self, kind: &Kind) -> &KindSpec {
        self.0.iter().find(|spec| spec.name == kind.0).unwrap_or(&self.0[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert!(kinds.parse("emotional").unwrap_err().advice().unwrap().contains("recipe"));
    }
}
