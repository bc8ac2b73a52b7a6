//! The memory record: a text with its kind, scope, times, scores and state.
//!
//! Scores are in `0..=1`. Times are instants. The scope consists of the layer and the identifiers that it requires.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Error, Identifiers, Kind, Layer, MemoryId, Scope, State};

/// One memory with all its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Memory {
    /// The id, a UUIDv7: ids sort by time of creation.
    pub id: MemoryId,
    /// The version, used as an optimistic lock. It grows by one with every change.
    pub version: u64,
    /// The layer of its scope.
    pub layer: Layer,
    /// The identifiers of its scope and of its origin.
    pub identifiers: Identifiers,
    /// The conversation that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The agent run that wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The person or agent that said or wrote it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor_id: Option<String>,
    /// The role of the speaker: `user`, `assistant`, `tool` or `system`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,

    /// The kind.
    pub kind: Kind,
    /// A label from the categories configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// The text.
    pub content: String,
    /// The hash of the normalised text.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub content_hash: ContentHash,
    /// The number of tokens of the text.
    pub tokens: u32,
    /// Labels that the caller chooses.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub tags: Vec<String>,
    /// Further fields, by name.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub metadata: Map<String, Value>,
    /// How it was acquired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<Source>,
    /// The knowledge item that it mirrors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knowledge_pointer: Option<KnowledgePointer>,
    /// Which callers within the scope may see it.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schema(required))]
    pub access_policy: AccessPolicy,

    /// Importance, 0 to 1.
    pub importance: f64,
    /// Confidence that it is true, 0 to 1.
    pub confidence: f64,
    /// Rate at which confidence decays with time since the last access. 0: no decay.
    pub decay_rate: f64,
    /// A pinned memory is exempt from ageing, expiry clean-up and automatic replacement.
    pub pinned: bool,
    /// The number of times that recall returned it.
    pub access_count: u64,
    /// When recall last returned it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_accessed_at: Option<Timestamp>,
    /// Relevance, 0 to 1, which decays daily if the configuration sets a rate.
    pub relevance: f64,

    /// When the event happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_time: Option<Timestamp>,
    /// When it was said or written, if that is known and differs from `createdAt`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub said_at: Option<Timestamp>,
    /// When it was created, here or in the system that it was imported from.
    pub created_at: Timestamp,
    /// When it was imported into this store. Ageing starts from this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported_at: Option<Timestamp>,
    /// When it last changed in the store.
    pub updated_at: Timestamp,
    /// Start of validity: since when the statement is true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_from: Option<Timestamp>,
    /// End of validity. Absent: the statement is still true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// When it expires. Recall does not return expired memories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    /// When a soft-deleted memory is removed for good, or a proposal lapses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purge_at: Option<Timestamp>,

    /// The older memory that this one supersedes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes_id: Option<MemoryId>,
    /// The newer memory that superseded this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by_id: Option<MemoryId>,
    /// The state in its life cycle.
    pub state: State,
}

impl Memory {
    /// Returns when it was said: `said_at`, or else `created_at`.
    pub fn when_said(&self) -> Timestamp {
        self.said_at.unwrap_or(self.created_at)
    }

    /// Returns since when it holds: `valid_from`, or else the earlier of `event_time` and the time when it was said. A
    /// statement about a future event holds from the time of the statement.
    pub fn holds_since(&self) -> Timestamp {
        let said = self.when_said();
        self.valid_from.unwrap_or_else(|| self.event_time.map_or(said, |event| event.min(said)))
    }

    /// Returns the scope that it belongs to.
    pub fn scope(&self) -> Result<Scope, Error> {
        Scope::new(self.layer, &self.identifiers)
    }
}

macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $field:literal, { $($(#[$vdoc:meta])* $variant:ident = $word:literal $(| $earlier:literal)*),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$vdoc])* $(#[serde(alias = $earlier)])* $variant),+ }

        impl $name {
            /// All values, in the order of declaration.
            pub const ALL: &'static [$name] = &[$($name::$variant),+];

            /// Returns the name, as it is stored and printed.
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
                $($(if text == $earlier { return Ok($name::$variant); })*)+
                Self::ALL.iter().copied().find(|word| word.name() == text).ok_or_else(|| {
                    let names: Vec<_> = Self::ALL.iter().map(|word| word.name()).collect();
                    Error::invalid($field, format!("unknown {} `{text}`", $field))
                        .hint(format!("use one of {}", names.join(", ")))
                })
            }
        }
    };
}
pub(crate) use words;

words!(
    /// Which callers within the scope of a memory may see it.
    AccessPolicy, "accessPolicy", {
        /// Only its writer.
        Private = "private",
        /// Only its writer. There are no rules yet that name other readers.
        Restricted = "restricted",
        /// Everyone in the scope.
        Shared = "shared",
        /// Everyone in the scope, as with `shared`. Marks a memory that may be promoted to the organization.
        Organization = "organization",
        /// Everyone in the scope, as with `shared`. Marks a memory that may be published.
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
    /// Returns true if only the writer may see a memory with this policy.
    pub fn writer_only(self) -> bool {
        matches!(self, AccessPolicy::Private | AccessPolicy::Restricted)
    }
}

/// How a memory was acquired.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Source {
    /// The type: `conversation, tool_result, reflection, distillation, knowledge_sync, manual, import, …`
    #[serde(rename = "type")]
    pub kind: String,
    /// The role of the person or program that it came from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// A reference to the origin, such as a message id or a tool call id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

/// The knowledge item that a memory mirrors.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KnowledgePointer {
    /// The type of the item: `adr`, `policy`, `pattern` or `spec`.
    pub source_type: String,
    /// The id of the item.
    pub source_id: String,
    /// The hash of the item when it was last read.
    pub content_hash: String,
    /// When the item was last read.
    pub synced_at: Timestamp,
}

/// The hash of a normalised text: 32 bytes, printed as 64 hexadecimal digits.
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
    /// The components, normalised to unit length.
    pub values: Vec<f32>,
    /// The states of the content tokens of the text, packed by the engine. They are read only for candidates.
    pub token_states: Option<Vec<u8>>,
}

/// Returns the confidence of a memory after an access, when recall has returned it `access_count` times.
///
/// The increase is `0.05 · ln(1 + access_count / 20)`, and the result is at most 1. Every store writes this value when
/// it counts an access.
pub fn reinforced(confidence: f64, access_count: u64) -> f64 {
    (confidence + 0.05 * (1.0 + access_count as f64 / 20.0).ln()).clamp(0.0, 1.0)
}

/// Converts an importance on the public scale of 1 to 5 to the stored scale of 0 to 1.
pub fn from_step(field: &'static str, step: f64) -> Result<f64, Error> {
    if (1.0..=5.0).contains(&step) {
        return Ok((step - 1.0) / 4.0);
    }
    Err(Error::invalid(field, format!("{field} is {step}, but must be between 1 and 5")))
}

/// Converts a stored importance of 0 to 1 to the public scale of 1 to 5, not rounded.
pub fn to_step(importance: f64) -> f64 {
    1.0 + 4.0 * importance.clamp(0.0, 1.0)
}

/// Returns true if any string or field name in a JSON value contains a NUL character.
pub fn contains_nul(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains('\0'),
        Value::Array(values) => values.iter().any(contains_nul),
        Value::Object(fields) => fields.iter().any(|(name, value)| name.contains('\0') || contains_nul(value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Checks that a score is a number in `0..=1`.
pub fn unit(field: &'static str, value: f64) -> Result<f64, Error> {
    if value.is_nan() {
        return Err(Error::invalid(field, format!("{field} is not a number")).hint("give a number from 0 to 1"));
    }
    if !(0.0..=1.0).contains(&value) {
        return Err(Error::invalid(field, format!("{field} is {value}, but must be between 0 and 1")));
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

    // Coverage: S1.21.
    #[test]
    fn use_raises_the_score_of_a_memory() {
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
