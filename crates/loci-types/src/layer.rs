//! Layers: for whom a memory holds, from one agent to a whole company.
//!
//! The layer determines which identifiers a scope requires. The order of [`Layer::ALL`] is the order of precedence:
//! the first is the most specific and overrides the others.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{Error, ErrorKind, Identifier};

/// The layer of a memory, from the most specific to the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Layer {
    /// One agent and one user.
    Agent,
    /// One user, with any agent.
    User,
    /// One conversation of one user.
    Session,
    /// One project or repository.
    Project,
    /// One team.
    Team,
    /// One organization.
    Org,
    /// The whole company.
    Company,
    /// A pool that several agents share.
    Pool,
}

impl Layer {
    /// All layers, most specific first.
    pub const ALL: [Layer; 8] = [
        Layer::Agent,
        Layer::User,
        Layer::Session,
        Layer::Project,
        Layer::Team,
        Layer::Org,
        Layer::Company,
        Layer::Pool,
    ];

    /// Returns the identifiers that a scope of this layer requires and consists of.
    pub fn required(self) -> &'static [Identifier] {
        match self {
            Layer::Agent => &[Identifier::Agent, Identifier::User],
            Layer::User => &[Identifier::User],
            Layer::Session => &[Identifier::User, Identifier::Session],
            Layer::Project => &[Identifier::Project],
            Layer::Team => &[Identifier::Team],
            Layer::Org => &[Identifier::Org],
            Layer::Company => &[Identifier::Company],
            Layer::Pool => &[Identifier::Pool],
        }
    }

    /// Returns the precedence, 1 for the most specific layer. A smaller number overrides a larger one.
    pub fn precedence(self) -> u8 {
        self as u8 + 1
    }

    /// Returns the name, as it is stored, parsed and printed.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Agent => "agent",
            Layer::User => "user",
            Layer::Session => "session",
            Layer::Project => "project",
            Layer::Team => "team",
            Layer::Org => "org",
            Layer::Company => "company",
            Layer::Pool => "pool",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Layer {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Layer::ALL.into_iter().find(|layer| layer.name() == text).ok_or_else(|| {
            let names: Vec<_> = Layer::ALL.iter().map(|layer| layer.name()).collect();
            Error::new(ErrorKind::InvalidLayer, format!("unknown layer `{text}`"))
                .at("layer")
                .hint(format!("use one of {}", names.join(", ")))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn precedence_follows_the_order_of_specificity() {
        let order: Vec<_> = Layer::ALL.iter().map(|layer| layer.precedence()).collect();
        assert_eq!(order, [1, 2, 3, 4, 5, 6, 7, 8]);
    }

    #[test]
    fn names_read_back() {
        for layer in Layer::ALL {
            assert_eq!(layer.name().parse::<Layer>().unwrap(), layer);
        }
        assert_eq!("galaxy".parse::<Layer>().unwrap_err().kind(), ErrorKind::InvalidLayer);
    }
}
