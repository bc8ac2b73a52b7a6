//! Ids of memories, links, entities and facts.
//!
//! Memory ids are UUIDv7, which sort by time of creation. This module only parses and prints ids; the engine makes
//! them, because nothing here reads a clock.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Error, ErrorKind};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $what:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl $name {
            /// Returns the sixteen bytes in big-endian order, in which UUIDv7 ids sort by time.
            pub fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.0.fmt(f)
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                Uuid::try_parse(text.trim()).map(Self).map_err(|_| {
                    Error::new(ErrorKind::InvalidInput, format!("`{text}` is not a valid {} id", $what))
                        .at("id")
                        .hint("ids look like 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50; `loci list` shows them")
                })
            }
        }
    };
}

id!(
    /// The id of a memory.
    MemoryId,
    "memory"
);
id!(
    /// The id of a link between two memories.
    EdgeId,
    "edge"
);
id!(
    /// The id of an entity.
    EntityId,
    "entity"
);
id!(
    /// The id of a fact.
    FactId,
    "fact"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_reads_back_and_a_wrong_one_says_so() {
        let id: MemoryId = "0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50".parse().unwrap();
        assert_eq!(id.to_string().parse::<MemoryId>().unwrap(), id);
        let error = "nope".parse::<MemoryId>().unwrap_err();
        assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidInput, Some("id")));
    }
}
