//! How a caller names a memory: by its id, or by enough digits of it.
//!
//! The short id of a memory is its last block (the twelve hexadecimal digits after the last dash) read as a fraction
//! between 0 and 1, of which the first nine decimals are written. Decimal digits are chosen because tokenisers of
//! language models read them in groups of three: every short id costs three tokens, where eight hexadecimal digits
//! cost up to eight. Any number of decimals from six names a memory, the more the more precisely: packed text, whose
//! answer lists the whole ids of what it cites, writes six of them for two tokens.

use std::fmt;
use std::str::FromStr;

use serde::de::{Error as _, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use uuid::Uuid;

use crate::{Error, ErrorKind, MemoryId};

/// Number of decimal digits of a short id.
const SHORT_DIGITS: usize = 9;
/// Number of decimal digits of a citation.
const CITED_DIGITS: usize = 6;
/// Fewest digits by which a memory can be named.
const LEAST_DIGITS: usize = 6;
/// Most decimals of a fraction of 2^48 that still narrow it down.
const MOST_DECIMALS: usize = 14;
/// Hexadecimal digits of the last block.
const LAST_BLOCK_DIGITS: usize = 12;
/// Fewest digits of a beginning of the whole id: time, version, and six digits of the random part.
const LEAST_OF_WHOLE: usize = 12 + 1 + LEAST_DIGITS;
/// Bits of the last block.
const LAST_BLOCK_BITS: u32 = 48;

impl MemoryId {
    /// Returns the short id: nine decimal digits that name the memory within a scope. Among 10,000 memories one in
    /// 100,000 short ids is shared with another memory.
    pub fn short(&self) -> String {
        self.decimals(SHORT_DIGITS)
    }

    /// Returns the first six digits of the short id, for citations in text that comes with a list of whole ids. Among
    /// 10,000 memories one in 100 is shared with another memory.
    pub fn citation(&self) -> String {
        self.decimals(CITED_DIGITS)
    }

    fn decimals(&self, digits: usize) -> String {
        let fraction = (last_block(self.0) * 10_u128.pow(digits as u32)) >> LAST_BLOCK_BITS;
        format!("{fraction:0digits$}")
    }
}

fn last_block(id: Uuid) -> u128 {
    id.as_u128() & ((1 << LAST_BLOCK_BITS) - 1)
}

/// The id of a memory, or a short form of it: its short id of nine decimal digits, the first 6 to 12 hexadecimal
/// digits of its last block, or the first 19 or more of the whole id. Dashes are ignored. A short form is looked up
/// among the memories that the caller may see, and must name one of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(
    feature = "schema",
    schema(min_length = 6, max_length = 45, examples("0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50"))
)]
#[serde(transparent)]
pub struct MemoryRef(String);

/// A range of ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdRange {
    /// The ids from the first to the last.
    Whole(MemoryId, MemoryId),
    /// The ids whose last block, six bytes in big-endian order, is between these two, both included.
    LastBlock([u8; 6], [u8; 6]),
}

impl IdRange {
    /// Returns true if the id is in the range.
    pub fn contains(&self, id: MemoryId) -> bool {
        match self {
            IdRange::Whole(first, last) => (*first..=*last).contains(&id),
            IdRange::LastBlock(first, last) => (&first[..]..=&last[..]).contains(&&id.as_bytes()[10..]),
        }
    }

    fn last_block(first: u128, last: u128) -> Self {
        let bytes = |value: u128| {
            let [.., a, b, c, d, e, f] = value.to_be_bytes();
            [a, b, c, d, e, f]
        };
        IdRange::LastBlock(bytes(first), bytes(last))
    }
}

impl MemoryRef {
    /// Returns the text that the caller gave.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the id if it was given in full.
    pub fn whole(&self) -> Option<MemoryId> {
        Uuid::try_parse(&self.0).ok().map(MemoryId)
    }

    /// Returns the ranges of ids that these digits may mean. Decimal digits may be decimals or hexadecimal digits.
    pub fn ranges(&self) -> Vec<IdRange> {
        let digits = digits(&self.0);
        let mut ranges = Vec::new();
        if let Ok(value) = u128::from_str_radix(&digits, 16) {
            if digits.len() <= LAST_BLOCK_DIGITS {
                let shift = 4 * (LAST_BLOCK_DIGITS - digits.len());
                ranges.push(IdRange::last_block(value << shift, ((value + 1) << shift) - 1));
            } else if digits.len() >= LEAST_OF_WHOLE {
                let shift = 4 * (32 - digits.len());
                let last = (value << shift) | ((1 << shift) - 1);
                ranges.push(IdRange::Whole(id(value << shift), id(last)));
            }
        }
        if digits.len() <= MOST_DECIMALS
            && let Ok(value) = digits.parse::<u128>()
        {
            let scale = 10_u128.pow(digits.len() as u32);
            let first = |value: u128| (value << LAST_BLOCK_BITS).div_ceil(scale);
            ranges.push(IdRange::last_block(first(value), first(value + 1) - 1));
        }
        ranges
    }
}

fn id(value: u128) -> MemoryId {
    MemoryId(Uuid::from_u128(value))
}

fn digits(text: &str) -> String {
    text.chars().filter(|character| *character != '-').collect()
}

impl From<MemoryId> for MemoryRef {
    fn from(id: MemoryId) -> Self {
        Self(id.to_string())
    }
}

impl fmt::Display for MemoryRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for MemoryRef {
    type Err = Error;

    fn from_str(given: &str) -> Result<Self, Error> {
        let text = given.trim().to_ascii_lowercase();
        if Uuid::try_parse(&text).is_ok() {
            return Ok(Self(text));
        }
        let digits = digits(&text);
        let hexadecimal = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let decimal = digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.len() <= MOST_DECIMALS;
        let length = (LEAST_DIGITS..=LAST_BLOCK_DIGITS).contains(&digits.len())
            || (LEAST_OF_WHOLE..32).contains(&digits.len())
            || (decimal && digits.len() >= LEAST_DIGITS);
        if hexadecimal && length {
            return Ok(Self(text));
        }
        let shown: String = given.chars().take(64).collect();
        Err(Error::new(ErrorKind::InvalidInput, format!("`{shown}` is not a valid memory id")).at("id").hint(
            "give the whole id, such as 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50, its short id, or at least 6 digits after \
             its last dash; `loci list` shows short ids",
        ))
    }
}

impl<'de> Deserialize<'de> for MemoryRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Digits;
        impl Visitor<'_> for Digits {
            type Value = MemoryRef;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the id of a memory")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<MemoryRef, E> {
                text.parse().map_err(E::custom)
            }

            // A short id consists of digits alone, so a model may send it as a number, without leading zeros.
            fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<MemoryRef, E> {
                format!("{number:0width$}", width = SHORT_DIGITS).parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_any(Digits).map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50";

    fn finds(given: &str, id: &str) -> bool {
        let id: MemoryId = id.parse().unwrap();
        given.parse::<MemoryRef>().unwrap().ranges().iter().any(|range| range.contains(id))
    }

    #[test]
    fn a_short_id_and_every_prefix_name_their_memory() {
        let id: MemoryId = ID.parse().unwrap();
        // 0x6b1d2c3e4f50 / 2^48
        assert_eq!((id.short(), id.citation()), ("418413891".to_owned(), "418413".to_owned()));
        for given in [
            "418413",
            "418413891",
            "41841389199",
            "6b1d2c",
            "6B1D2C3E",
            "6b1d-2c3e",
            "6b1d2c3e4f50",
            &ID[..25],
            &ID[..35],
        ] {
            assert!(finds(given, ID), "{given}");
        }
        for given in ["418412", "418413892", "6b1d2d", "6b1d2c3e4f51", "0192f1c2-7d3a-7cc1-9f5e-7"] {
            assert!(!finds(given, ID), "{given}");
        }
    }

    #[test]
    fn short_ids_meet_their_own_range_at_every_edge() {
        for value in [0_u128, 1, 281_474, 281_475, 0x7fff_ffff_ffff, 0xffff_ffff_ffff] {
            let id = id(0x0192_f1c2_7d3a_7cc1_9f5e << 48 | value);
            assert_eq!(id.short().len(), SHORT_DIGITS);
            assert!(finds(&id.short(), &id.to_string()), "{id}");
        }
    }

    #[test]
    fn what_names_nothing_is_refused() {
        for given in ["", "abc", "12345", "nope-nope", "6b1d2c3e4f501", "0192f1c2-7d3a-7cc1", "6b1d2c3g"] {
            let error = given.parse::<MemoryRef>().unwrap_err();
            assert_eq!((error.kind(), error.field()), (ErrorKind::InvalidInput, Some("id")), "{given}");
        }
        assert_eq!(ID.parse::<MemoryRef>().unwrap().whole(), Some(ID.parse().unwrap()));
        assert_eq!("418413893".parse::<MemoryRef>().unwrap().whole(), None);
    }

    #[test]
    fn a_number_is_read_with_its_leading_zeros() {
        assert_eq!(serde_json::from_str::<MemoryRef>("18413893").unwrap().as_str(), "018413893");
        assert_eq!(serde_json::from_str::<MemoryRef>("\"018413893\"").unwrap().as_str(), "018413893");
        assert!(serde_json::from_str::<MemoryRef>("-1").is_err());
    }
}
