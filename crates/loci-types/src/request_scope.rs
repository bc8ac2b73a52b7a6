//! The scope that a request names: identifiers, or explicitly everyone.
//!
//! A request that names nothing is refused by the engine's policy. So an absent identifier can never mean everyone's
//! data: that has to be said.

use crate::Identifiers;

/// What a request says about its scope, before the policy has looked at it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct RequestScope {
    /// The identifiers that it names.
    pub identifiers: Identifiers,
    /// Whether it asks for everyone's data. Only an admin may.
    pub everyone: bool,
}

impl RequestScope {
    /// The scope of a request about everyone's data.
    pub fn everyone() -> Self {
        Self { everyone: true, ..Self::default() }
    }

    /// Returns true if it names nothing at all.
    pub fn is_empty(&self) -> bool {
        !self.everyone && self.identifiers.is_empty()
    }
}

impl From<Identifiers> for RequestScope {
    fn from(identifiers: Identifiers) -> Self {
        Self { identifiers, everyone: false }
    }
}
