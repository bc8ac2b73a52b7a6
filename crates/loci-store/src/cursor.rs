//! Page cursors of listings.
//!
//! A cursor is opaque to callers. It names the last memory of the page before, so that pages neither repeat nor skip
//! a memory when others write in between.

use std::fmt;
use std::str::FromStr;

use data_encoding::BASE64URL_NOPAD;
use loci_types::{Error, MemoryId};

/// A position in a listing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor(MemoryId);

const FORMAT: u8 = 1;

impl Cursor {
    /// The position right after this memory.
    pub fn after(id: MemoryId) -> Self {
        Self(id)
    }

    /// The last memory of the page before.
    pub fn last(&self) -> MemoryId {
        self.0
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut bytes = vec![FORMAT];
        bytes.extend_from_slice(self.0.as_bytes());
        f.write_str(&BASE64URL_NOPAD.encode(&bytes))
    }
}

impl FromStr for Cursor {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let invalid = || {
            Error::invalid("cursor", format!("`{text}` is not a cursor"))
                .hint("use the nextCursor of the page before, or leave it out to start again")
        };
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).map_err(|_| invalid())?;
        match bytes.split_first() {
            Some((&FORMAT, id)) => uuid::Uuid::from_slice(id).map(|id| Self(MemoryId(id))).map_err(|_| invalid()),
            _ => Err(invalid()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back_and_a_wrong_one_says_so() {
        let cursor = Cursor::after(MemoryId(uuid::Uuid::from_u128(7)));
        assert_eq!(cursor.to_string().parse::<Cursor>().unwrap(), cursor);
        for bad in ["", "x", "AAAA", "!!!", &cursor.to_string()[1..]] {
            assert_eq!(bad.parse::<Cursor>().unwrap_err().field(), Some("cursor"), "{bad}");
        }
    }
}
