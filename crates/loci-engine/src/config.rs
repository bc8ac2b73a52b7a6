//! What can be set?
//!
//! Every value has a default that works; a wrong one is refused with its name before anything
//! runs.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use loci_types::{Error, ErrorKind, KindSpec, Kinds};
use serde::{Deserialize, Serialize};

use crate::recall::Clue;

/// The rules of memory that a configuration may change.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// How large things may be.
    pub limits: Limits,
    /// How recall ranks.
    pub retrieval: Retrieval,
    /// How memories age and go.
    pub lifecycle: Lifecycle,
    /// Kinds beside the built-in ones.
    pub kinds: Vec<KindSpec>,
}

/// How large things may be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Characters of a memory.
    pub content_characters: usize,
    /// Characters of a question.
    pub query_characters: usize,
    /// Tags of a memory.
    pub tags: usize,
    /// Bytes of a memory's metadata, as JSON.
    pub metadata_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { content_characters: 8_192, query_characters: 8_192, tags: 64, metadata_bytes: 65_536 }
    }
}

/// How recall ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retrieval {
    /// Hits when the caller gives no number.
    pub limit: usize,
    /// Hits at most.
    pub max_limit: usize,
    /// Candidates per lane for each hit wanted.
    pub overfetch: usize,
    /// Candidates per lane at least, so that short answers are ranked as well as long ones.
    pub candidates: usize,
    /// Cosine below which the vector lane does not count; none: `vector_floor` in recall, where other
    /// evidence decides too, and the model's own threshold in search.
    pub threshold: Option<f64>,
    /// Cosine below which recall does not even look.
    pub vector_floor: f64,
    /// Relevance below which recall's hybrid strategy returns nothing.
    pub relevance_floor: f64,
    /// Score below which recall returns nothing.
    pub score_threshold: f64,
    /// The weights of the score.
    pub weights: Weights,
    /// What the strongest relation of a memory adds to its score.
    pub relation_weight: f64,
    /// The time zone in which "yesterday" is meant, by its IANA name; empty: the machine's where one is
    /// known, else UTC.
    pub time_zone: String,
    /// Weights of clues that are not the usual ones.
    pub clues: BTreeMap<Clue, f64>,
    /// The same for where no token states can be compared, but words and perhaps sentence vectors.
    pub clues_without_tokens: BTreeMap<Clue, f64>,
    /// Whether the states of content tokens are kept and compared.
    pub late_interaction: bool,
    /// Bytes of readings kept in memory, so that a memory is not taken apart for every question.
    pub reading_bytes: u64,
    /// What the most specific layer adds to a score.
    pub layer_bonus: f64,
    /// Cosine at which two memories are the same; the more specific one is kept.
    pub duplicate_similarity: f64,
}

impl Default for Retrieval {
    fn default() -> Self {
        Self {
            limit: 10,
            max_limit: 100,
            overfetch: 3,
            candidates: 100,
            threshold: None,
            vector_floor: 0.15,
            relevance_floor: 0.2,
            score_threshold: 0.3,
            weights: Weights::default(),
            relation_weight: 0.05,
            time_zone: String::new(),
            clues: BTreeMap::new(),
            clues_without_tokens: BTreeMap::new(),
            late_interaction: true,
            reading_bytes: 256 << 20,
            layer_bonus: 0.05,
            duplicate_similarity: 0.95,
        }
    }
}

impl Retrieval {
    /// The time zone that is set.
    pub(crate) fn time_zone(&self) -> Result<TimeZone, Error> {
        if self.time_zone.is_empty() {
            return Ok(TimeZone::UTC);
        }
        TimeZone::get(&self.time_zone).map_err(|_| {
            wrong("retrieval.time_zone", format!("`{}` is not a known time zone", self.time_zone))
                .hint("use a name such as Europe/Berlin or UTC")
        })
    }
}

/// The weights of the score; they sum to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Of relevance.
    pub similarity: f64,
    /// Of recency.
    pub recency: f64,
    /// Of utility.
    pub utility: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self { similarity: 0.5, recency: 0.3, utility: 0.2 }
    }
}

impl Weights {
    /// Refuses weights that do not sum to 1.
    pub fn validate(&self) -> Result<(), Error> {
        let all = [self.similarity, self.recency, self.utility];
        let sum: f64 = all.iter().sum();
        if all.iter().all(|weight| (0.0..=1.0).contains(weight)) && (sum - 1.0).abs() < 1e-6 {
            return Ok(());
        }
        Err(wrong("retrieval.weights", format!("the weights {all:?} must each lie in 0..1 and sum to 1, not {sum}")))
    }
}

/// How memories age and go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lifecycle {
    /// Days between a soft delete and the end.
    pub purge_days: u32,
    /// How fast the confidence of a new memory fades.
    pub decay_rate: f64,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Self { purge_days: 30, decay_rate: 0.1 }
    }
}

impl Config {
    /// Refuses what cannot work, by its name.
    pub fn validate(&self) -> Result<(), Error> {
        let bounded = [
            ("retrieval.max_limit", self.retrieval.max_limit, 1_000),
            ("retrieval.overfetch", self.retrieval.overfetch, 100),
            ("retrieval.candidates", self.retrieval.candidates, 10_000),
        ];
        for (field, value, most) in bounded {
            if value > most {
                return Err(wrong(field, format!("{field} is {value}, but must be at most {most}")));
            }
        }
        let positive = [
            ("limits.content_characters", self.limits.content_characters),
            ("limits.query_characters", self.limits.query_characters),
            ("retrieval.limit", self.retrieval.limit),
            ("retrieval.max_limit", self.retrieval.max_limit),
            ("retrieval.overfetch", self.retrieval.overfetch),
            ("retrieval.candidates", self.retrieval.candidates),
        ];
        for (field, value) in positive {
            if value == 0 {
                return Err(wrong(field, format!("{field} is 0, but must be at least 1")));
            }
        }
        if self.retrieval.limit > self.retrieval.max_limit {
            return Err(wrong("retrieval.limit", "retrieval.limit is above retrieval.max_limit".into()));
        }
        let shares = [
            ("retrieval.threshold", self.retrieval.threshold.unwrap_or(0.0), 0.0, 1.0),
            ("retrieval.vector_floor", self.retrieval.vector_floor, 0.0, 1.0),
            ("retrieval.relevance_floor", self.retrieval.relevance_floor, 0.0, 1.0),
            ("retrieval.score_threshold", self.retrieval.score_threshold, 0.0, 1.0),
            ("retrieval.duplicate_similarity", self.retrieval.duplicate_similarity, 0.0, 1.0),
            ("retrieval.relation_weight", self.retrieval.relation_weight, 0.0, 1.0),
            ("retrieval.layer_bonus", self.retrieval.layer_bonus, 0.0, 1.0),
            ("lifecycle.decay_rate", self.lifecycle.decay_rate, 0.0, 10.0),
        ];
        for (field, value, from, until) in shares {
            if !(from..=until).contains(&value) {
                return Err(wrong(field, format!("{field} is {value}, but must lie between {from} and {until}")));
            }
        }
        for (clue, weight) in self.retrieval.clues.iter().chain(&self.retrieval.clues_without_tokens) {
            if !(-100.0..=100.0).contains(weight) {
                let message = format!("retrieval.clues.{clue} is {weight}, but must lie between -100 and 100");
                return Err(wrong("retrieval.clues", message));
            }
        }
        self.retrieval.time_zone()?;
        self.retrieval.weights.validate()?;
        Kinds::with(self.kinds.clone()).map(drop)
    }
}

fn wrong(field: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Configuration, message).at(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_valid_and_wrong_values_are_named() {
        assert_eq!(Config::default().validate(), Ok(()));
        let check = |field: &str, change: fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            assert_eq!(config.validate().unwrap_err().field(), Some(field));
        };
        check("retrieval.limit", |config| config.retrieval.limit = 0);
        check("retrieval.limit", |config| config.retrieval.limit = 101);
        check("retrieval.weights", |config| config.retrieval.weights.recency = 0.5);
        check("retrieval.weights", |config| config.retrieval.weights.recency = f64::NAN);
        check("retrieval.threshold", |config| config.retrieval.threshold = Some(1.5));
        check("lifecycle.decay_rate", |config| config.lifecycle.decay_rate = f64::NAN);
    }
}
