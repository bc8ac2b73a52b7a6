//! What is a memory?
//!
//! One record: a piece of text with its kind, scope, times, scores and links. Scores lie in
//! `0..=1`; times are instants; the scope is the layer with the identifiers it requires.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Error, Identifiers, Kind, Layer, MemoryId, Scope, State};

/// One memory, whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// Its id, in the order of creation.
    pub id: MemoryId,
    /// Grows by one with every change; the optimistic lock.
    pub version: u64,
    /// How widely it holds.
    pub layer: Layer,
    /// Whose it is, and where it came from.
    pub identifiers: Identifiers,
    /// The conversation it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The run of an agent that made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// Who said or wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<String>,
    /// In which role they did: `user`, `assistant`, `tool`, `system`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,

    /// What sort of memory it is.
    pub kind: Kind,
    /// A label from the categories configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The text.
    pub content: String,
    /// The hash of the normalised text.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub content_hash: ContentHash,
    /// How many tokens the text has.
    pub tokens: u32,
    /// Free labels.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Anything else, by name.
    #[serde(default)]
    pub metadata: Map<String, Value>,
    /// How it was acquired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The knowledge item it mirrors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knowledge_pointer: Option<KnowledgePointer>,
    /// Who, within the scope, may see it.
    #[serde(default)]
    pub access_policy: AccessPolicy,

    /// How much it matters.
    pub importance: f64,
    /// How sure we are of it.
    pub confidence: f64,
    /// How fast confidence fades; 0 never.
    pub decay_rate: f64,
    /// Kept whatever happens.
    pub pinned: bool,
    /// How often recall returned it.
    pub access_count: u64,
    /// When recall last returned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_accessed_at: Option<Timestamp>,
    /// Relevance under the layer's optional daily decay.
    pub relevance: f64,

    /// When it happened in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_time: Option<Timestamp>,
    /// When it was said or written, where that is known and not when it came into the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_at: Option<Timestamp>,
    /// When it was made, here or in the system it was imported from.
    pub created_at: Timestamp,
    /// When it came into this store, if it was imported. It fades from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_at: Option<Timestamp>,
    /// When it last changed in the store.
    pub updated_at: Timestamp,
    /// Since when it holds in the world.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// Until when it held; none: it holds now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// When it stops to be of use, whatever its scores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When a soft-deleted memory is removed for good, or a proposal lapses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge_at: Option<Timestamp>,

    /// The older memory that this one replaces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes_id: Option<MemoryId>,
    /// The newer memory that replaced this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by_id: Option<MemoryId>,
    /// Where it stands in its life.
    pub state: State,
}

impl Memory {
    /// When it was said: `saidAt`, or else when it came into the store.
    pub fn when_said(&self) -> Timestamp {
        self.said_at.unwrap_or(self.created_at)
    }

    /// Since when it holds: `validFrom`, or else when it happened if that was before it was said, or else since it was
    /// said. What lies ahead is known from the day it is said.
    pub fn holds_since(&self) -> Timestamp {
        let said = self.when_said();
        self.valid_from.unwrap_or_else(|| self.event_time.map_or(said, |event| event.min(said)))
    }

    /// The scope it belongs to.
    pub fn scope(&self) -> Result<Scope, Error> {
        Scope::new(self.layer, &self.identifiers)
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $field:literal, { $($(#[$vdoc:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $variant),+ }

        impl $name {
            /// All of them.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// The word, as it is stored and printed.
            pub fn name(self) -> &'static str {
                match self { $($name::$variant => $word),+ }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }

        impl FromStr for $name {
            type Err = Error;

            fn from_str(text: &str) -> Result<Self, Error> {
                Self::ALL.iter().copied().find(|word| word.name() == text).ok_or_else(|| {
                    let names: Vec<_> = Self::ALL.iter().map(|word| word.name()).collect();
                    Error::invalid($field, format!("`{text}` is not a known {}", $field))
                        .hint(format!("use one of {}", names.join(", ")))
                })
            }
        }
    };
}
pub(crate) use words;

words!(
    /// Who, within the scope of a memory, may see it.
    AccessPolicy, "accessPolicy", {
        /// Only the one who wrote it.
        Private = "private",
        /// Only the one who wrote it, until rules name others.
        Restricted = "restricted",
        /// Everyone in the scope.
        Shared = "shared",
        /// Everyone in the scope; may be promoted to the organisation.
        Organization = "organization",
        /// Everyone in the scope; may be published.
        Public = "public",
    }
);

#[expect(clippy::derivable_impls, reason = "the words come from a macro, which cannot mark one of them")]
impl Default for AccessPolicy {
    fn default() -> Self {
        AccessPolicy::Shared
    }
}

impl AccessPolicy {
    /// Whether only the writer may see such a memory.
    pub fn writer_only(self) -> bool {
        matches!(self, AccessPolicy::Private | AccessPolicy::Restricted)
    }
}

/// How a memory was acquired.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Source {
    /// `conversation, tool_result, reflection, distillation, knowledge_sync, manual, import, …`
    #[serde(rename = "type")]
    pub kind: String,
    /// The role of who gave it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// A message id, tool call id or the like.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// The knowledge item that a memory mirrors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KnowledgePointer {
    /// `adr, policy, pattern, spec`
    pub source_type: String,
    /// The item's id.
    pub source_id: String,
    /// The item's hash when it was last read.
    pub content_hash: String,
    /// When it was last read.
    pub synced_at: Timestamp,
}

/// The hash of a normalised text: thirty-two bytes, printed in hexadecimal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(pub [u8; 32]);

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for ContentHash {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || Error::invalid("contentHash", format!("`{text}` is not 64 hexadecimal digits"));
        if text.len() != 64 || !text.is_ascii() {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| wrong())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for ContentHash {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The vector of a text, with the name of the model that made it.
#[derive(Debug, Clone, PartialEq)]
pub struct Vector {
    /// The model's name. Vectors of different models are never compared.
    pub model: String,
    /// Unit length.
    pub values: Vec<f32>,
    /// The states of the text's content tokens, packed by the engine; read only for candidates.
    pub token_states: Option<Vec<u8>>,
}

/// How sure we are of a memory once recall has returned it so often.
///
/// Every use speaks for it a little, the more the oftener it was of use. Stores write what this
/// returns when a memory is touched.
pub fn reinforced(confidence: f64, access_count: u64) -> f64 {
    (confidence + 0.05 * (1.0 + access_count as f64 / 20.0).ln()).clamp(0.0, 1.0)
}

/// Importance on the surface that counts it in five steps, as the record holds it.
pub fn from_step(field: &'static str, step: f64) -> Result<f64, Error> {
    if (1.0..=5.0).contains(&step) {
        return Ok((step - 1.0) / 4.0);
    }
    Err(Error::invalid(field, format!("{field} is {step}, but must lie between 1 and 5")))
}

/// The step from 1 to 5 that an importance is, not rounded.
pub fn to_step(importance: f64) -> f64 {
    1.0 + 4.0 * importance.clamp(0.0, 1.0)
}

/// Whether a text or a name anywhere in a value contains the NUL character.
pub fn contains_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(contains_nul),
        Value::Object(fields) => fields.iter().any(|(name, value)| name.contains('\0') || contains_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Checks that a score lies in `0..=1` and is a number.
pub fn unit(field: &'static str, value: f64) -> Result<f64, Error> {
    if value.is_nan() {
        return Err(Error::invalid(field, format!("{field} is not a number")).hint("give a number from 0 to 1"));
    }
    if !(0.0..=1.0).contains(&value) {
        return Err(Error::invalid(field, format!("{field} is {value}, but must lie between 0 and 1")));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_numbers_between_0_and_1() {
        for good in [0.0, 0.5, 1.0] {
            assert_eq!(unit("importance", good).unwrap(), good);
        }
        for bad in [-0.1, 1.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(unit("importance", bad).unwrap_err().field(), Some("importance"), "{bad}");
        }
    }

    #[test]
    fn use_speaks_for_a_memory() {
        for (confidence, count, expect) in [(0.5, 0, 0.5), (0.5, 1, 0.502), (0.5, 20, 0.535), (0.99, 400, 1.0)] {
            assert!((reinforced(confidence, count) - expect).abs() < 5e-4, "{confidence} {count}");
        }
    }

    #[test]
    fn five_steps_of_importance() {
        for (step, importance) in [(1.0, 0.0), (2.0, 0.25), (3.5, 0.625), (5.0, 1.0)] {
            assert_eq!((from_step("i", step).unwrap(), to_step(importance)), (importance, step));
        }
        for bad in [0.9, 5.1, f64::NAN] {
            assert_eq!(from_step("i", bad).unwrap_err().field(), Some("i"), "{bad}");
        }
    }

    #[test]
    fn words_are_printed_as_they_are_serialised() {
        for state in State::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.name());
        }
        for policy in AccessPolicy::ALL {
            assert_eq!(serde_json::to_value(policy).unwrap(), policy.name());
        }
    }

    #[test]
    fn a_hash_reads_back() {
        let hash = ContentHash([0xa7; 32]);
        assert_eq!(hash.to_string().parse::<ContentHash>().unwrap(), hash);
        assert!("xyz".parse::<ContentHash>().is_err());
        assert!("é".repeat(32).parse::<ContentHash>().is_err());
    }
}
