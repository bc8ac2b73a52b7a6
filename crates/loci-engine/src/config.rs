//! The configuration of the engine.
//!
//! Every setting has a working default. An invalid value is refused with the name of its field before the engine
//! starts.

use std::collections::BTreeMap;

use jiff::tz::TimeZone;
use loci_types::{Error, ErrorKind, KindSpec, Kinds, Layer};
use serde::{Deserialize, Serialize};

use crate::access::categories::Categories;
use crate::access::redact::Redaction;
use crate::learn::llm::LearningLimits;
use crate::lifecycle::summarize::SummaryStrategy;
use crate::recall::{Clue, Strategy};

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
    /// When what is new meets what is known.
    pub bands: Bands,
    /// Where the nightly work compares what is stored.
    pub consolidation: Consolidation,
    /// How much may be learned.
    pub learning: LearningLimits,
    /// What needs consent before it is known.
    pub consent: Consent,
    /// What becomes of a session that is over.
    pub sessions: Sessions,
    /// When long conversations are made shorter.
    #[serde(alias = "summarisation")]
    pub summarization: Summarization,
    /// How much an agent has before it.
    pub working: Working,
    /// When what may wait is written.
    pub batch: Batching,
    /// What is masked or refused before it is kept.
    pub redaction: Redaction,
    /// Which categories there are, how they come into a context, and who may see them.
    pub categories: Categories,
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
    /// Bytes of a checkpoint, and of each thing written beside it.
    pub checkpoint_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            content_characters: 8_192,
            query_characters: 8_192,
            tags: 64,
            metadata_bytes: 65_536,
            checkpoint_bytes: 16 << 20,
        }
    }
}

/// How recall ranks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Retrieval {
    /// Which searches are combined, and what decides the order, when the caller does not say: `hybrid`, `semantic`,
    /// `lexical`, `recency` or `importance`.
    pub strategy: Strategy,
    /// Hits when the caller gives no number.
    pub limit: usize,
    /// Hits at most.
    pub max_limit: usize,
    /// Candidates per lane for each hit wanted.
    pub overfetch: usize,
    /// Candidates per lane at least, so that short answers are ranked as well as long ones.
    pub candidates: usize,
    /// Cosine below which the vector lane does not count. Default: `vector_floor` in recall, where other evidence
    /// decides too, and the model's own threshold in search.
    pub threshold: Option<f64>,
    /// Score below which a hit is left out. The score is that of the weights, 0 to 1. Default: 0, all hits.
    pub score_threshold: f64,
    /// Cosine below which recall does not even look.
    pub vector_floor: f64,
    /// The weights of the score.
    pub weights: Weights,
    /// What the strongest relation of a memory adds to its score.
    pub relation_weight: f64,
    /// The time zone of relative times such as "yesterday", by its IANA name. Default (empty): that of the machine if
    /// it is known, otherwise UTC.
    pub time_zone: String,
    /// Weights of clues that are not the usual ones.
    pub clues: BTreeMap<Clue, f64>,
    /// Whether the states of content tokens are kept and compared.
    pub late_interaction: bool,
    /// Maximum size of the cache of memory features, in bytes. Earlier name: `reading_bytes`.
    #[serde(alias = "reading_bytes")]
    pub feature_cache_bytes: u64,
    /// The bonus of the most specific layer.
    pub layer_bonus: f64,
    /// Cosine at which two memories are the same; the more specific one is kept.
    pub duplicate_similarity: f64,
    /// The constant of reciprocal rank fusion (strategy `rrf`): the higher, the less the first ranks count.
    pub rrf_k: f64,
    /// Weight of the lexical lane in reciprocal rank fusion.
    pub rrf_weight_fts: f64,
    /// Weight of the vector lane in reciprocal rank fusion.
    pub rrf_weight_vector: f64,
    /// Weight of the graph lane in reciprocal rank fusion.
    pub rrf_weight_graph: f64,
    /// Tokens of an answer of `query`. Default: 1,000 for simple questions and 3,000 for complex ones.
    pub context_token_budget: Option<usize>,
    /// Cosine to an example sentence below which a question does not have the intent of that sentence.
    pub intent_similarity_threshold: f64,
}

impl Default for Retrieval {
    fn default() -> Self {
        Self {
            strategy: Strategy::default(),
            limit: 10,
            max_limit: 100,
            overfetch: 3,
            candidates: 100,
            threshold: None,
            score_threshold: 0.0,
            vector_floor: 0.15,
            weights: Weights::default(),
            relation_weight: 0.05,
            time_zone: String::new(),
            clues: BTreeMap::new(),
            late_interaction: true,
            feature_cache_bytes: 256 << 20,
            layer_bonus: 0.05,
            duplicate_similarity: 0.95,
            rrf_k: 60.0,
            rrf_weight_fts: 1.0,
            rrf_weight_vector: 1.0,
            rrf_weight_graph: 1.0,
            context_token_budget: None,
            intent_similarity_threshold: 0.45,
        }
    }
}

impl Retrieval {
    /// Refuses weights of which none counts.
    fn fusion(&self) -> Result<(), Error> {
        if self.rrf_weight_fts + self.rrf_weight_vector + self.rrf_weight_graph > 0.0 {
            return Ok(());
        }
        let message = "rrf_weight_fts, rrf_weight_vector and rrf_weight_graph are all 0, but one must be above 0";
        Err(wrong("retrieval.rrf_weight_fts", message.to_owned()))
    }

    /// The time zone that is set.
    pub fn time_zone(&self) -> Result<TimeZone, Error> {
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
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Of relevance.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub similarity: f64,
    /// Of recency.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
    pub recency: f64,
    /// Of utility.
    #[cfg_attr(feature = "schema", schema(minimum = 0, maximum = 1))]
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
        Err(wrong(
            "retrieval.weights",
            format!("the weights {all:?} must each be between 0 and 1 and sum to 1, not {sum}"),
        ))
    }
}

/// How memories age and go.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Lifecycle {
    /// Days between a soft delete and the end.
    pub purge_days: u32,
    /// The decay rate of the confidence of new memories. Default: by kind, so that confidence decays together with
    /// recency.
    pub decay_rate: Option<f64>,
    /// Confidence below which a memory is decayed: ranked down and offered for confirmation.
    pub decayed_below: f64,
    /// Confidence below which it is soft-deleted.
    pub prune_below: f64,
    /// Recency below which it is soft-deleted, if it was not used lately.
    pub recency_floor: f64,
    /// Days without use after which what matters little is soft-deleted.
    pub ttl_days: u32,
    /// What matters little: an importance below this.
    pub ttl_importance: f64,
    /// Days for which a memory is kept that is neither used, pinned nor confirmed, whatever its kind and importance; then it
    /// is soft-deleted. Default: no limit, so that kind, importance and use decide.
    pub retention_days: Option<u32>,
    /// Share of relevance lost in a day; 0: none.
    pub relevance_rate: f64,
    /// Relevance below which a memory is archived.
    pub archive_below: f64,
    /// Layers without decay of relevance.
    pub exempt_layers: Vec<Layer>,
    /// Number of memories of a user, for each agent, above which the weakest are archived. Default: no limit.
    pub max_memories_per_user: Option<usize>,
    /// A chain with more versions loses those in the middle.
    pub collapse_above: usize,
    /// A chain with more versions is distilled into its last one at once.
    pub distil_above: usize,
    /// Whether maintenance compacts the store.
    pub compaction_enabled: bool,
    /// When maintenance runs while serving: minute, hour, day of month, month, day of week; empty: never.
    pub schedule: String,
}

impl Default for Lifecycle {
    fn default() -> Self {
        Self {
            purge_days: 30,
            decay_rate: None,
            decayed_below: 0.3,
            prune_below: 0.05,
            recency_floor: 0.01,
            ttl_days: 60,
            ttl_importance: 0.5,
            retention_days: None,
            relevance_rate: 0.0,
            archive_below: 0.1,
            exempt_layers: Vec::new(),
            max_memories_per_user: None,
            collapse_above: 5,
            distil_above: 20,
            compaction_enabled: true,
            schedule: "0 3 * * *".to_owned(),
        }
    }
}

/// When what is new meets what is known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Bands {
    /// Whether a new memory is compared with what is known at all.
    pub reconcile: bool,
    /// Cosine at which two memories count as the same, unless their texts differ in substance.
    pub merge: f64,
    /// Cosine at which two memories are compared when one is written.
    pub check: f64,
    /// Cosine at which maintenance compares two memories.
    pub later: f64,
    /// Cosine at which two memories are linked as related.
    pub link: f64,
    /// Maximum number of links of a new memory.
    pub links: usize,
    /// Days for which a compared pair is not compared again.
    pub fingerprint_days: u32,
}

impl Default for Bands {
    fn default() -> Self {
        Self { reconcile: true, merge: 0.85, check: 0.60, later: 0.30, link: 0.60, links: 3, fingerprint_days: 14 }
    }
}

/// Where the nightly work compares stored memories, to merge and to link them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Consolidation {
    /// Number of memories of a scope above which they are compared. Default: 0, so that every scope is.
    pub max_memories_before_trigger: usize,
    /// The layers that are compared. Default: all.
    pub target_layers: Vec<Layer>,
}

/// Which statements need consent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Consent {
    /// Whether consent is required at all.
    pub enabled: bool,
    /// Fields that are proposed and wait for a decision.
    pub sensitive: Vec<String>,
    /// Fields that hold once they were observed often enough.
    pub benign: Vec<String>,
    /// Number of observations after which a benign field holds.
    pub signals: u32,
    /// Days after which a proposal expires.
    pub days: u32,
}

impl Default for Consent {
    fn default() -> Self {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            enabled: true,
            sensitive: words(&["name", "pronouns", "city", "language"]),
            benign: words(&["tone"]),
            signals: 2,
            days: 7,
        }
    }
}

/// What becomes of a session that is over.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sessions {
    /// Minutes without a turn after which a session is over.
    pub idle_minutes: u32,
    /// Whether what belongs to the session alone goes with it.
    pub auto_delete: bool,
    /// Days for which it is kept after the end.
    pub retention_days: u32,
    /// Whether what matters is kept for the user.
    pub promote_important: bool,
    /// What matters: at least this importance.
    pub promotion_threshold: f64,
}

impl Default for Sessions {
    fn default() -> Self {
        Self {
            idle_minutes: 30,
            auto_delete: true,
            retention_days: 7,
            promote_important: true,
            promotion_threshold: 0.7,
        }
    }
}

/// When long conversations are made shorter.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Summarization {
    /// Whether the nightly work does it.
    pub enabled: bool,
    /// Tokens of a session above which it is summarized.
    pub threshold_tokens: usize,
    /// Tokens of a summary.
    pub target_tokens: usize,
    /// How.
    pub strategy: SummaryStrategy,
}

impl Default for Summarization {
    fn default() -> Self {
        Self { enabled: true, threshold_tokens: 50_000, target_tokens: 2_000, strategy: SummaryStrategy::default() }
    }
}

/// How much an agent has before it. What goes beyond is kept as turns of its conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Working {
    /// Working memories at once; the one not used for longest goes first.
    pub agents: usize,
    /// Bytes of all of them, near enough.
    pub bytes: usize,
    /// Minutes without use after which one goes.
    pub idle_minutes: u32,
    /// Tokens of messages above which they go.
    pub flush_tokens: u64,
}

impl Default for Working {
    fn default() -> Self {
        Self { agents: 1_000, bytes: 500_000_000, idle_minutes: 30, flush_tokens: 32_000 }
    }
}

/// When batched writes are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Batching {
    /// Number of queued writes at which they are written.
    pub size: usize,
    /// Milliseconds after the first queued write at which they are written.
    pub milliseconds: u64,
    /// Maximum number of queued writes. Further writes wait.
    pub waiting: usize,
}

impl Default for Batching {
    fn default() -> Self {
        Self { size: 100, milliseconds: 1_000, waiting: 1_000 }
    }
}

impl Config {
    /// Refuses what cannot work, by its name.
    pub fn validate(&self) -> Result<(), Error> {
        let bounded = [
            ("retrieval.max_limit", self.retrieval.max_limit, 1_000),
            ("retrieval.overfetch", self.retrieval.overfetch, 100),
            ("retrieval.candidates", self.retrieval.candidates, 10_000),
            ("retrieval.context_token_budget", self.retrieval.context_token_budget.unwrap_or(0), 1_000_000),
            ("batch.size", self.batch.size, 10_000),
            ("batch.milliseconds", usize::try_from(self.batch.milliseconds).unwrap_or(usize::MAX), 60_000),
            ("batch.waiting", self.batch.waiting, 1_000_000),
        ];
        for (field, value, most) in bounded {
            if value > most {
                return Err(wrong(field, format!("{field} is {value}, but must be at most {most}")));
            }
        }
        let positive = [
            ("limits.content_characters", self.limits.content_characters),
            ("limits.query_characters", self.limits.query_characters),
            ("limits.checkpoint_bytes", self.limits.checkpoint_bytes),
            ("retrieval.limit", self.retrieval.limit),
            ("retrieval.max_limit", self.retrieval.max_limit),
            ("retrieval.overfetch", self.retrieval.overfetch),
            ("retrieval.candidates", self.retrieval.candidates),
            ("lifecycle.collapse_above", self.lifecycle.collapse_above),
            ("lifecycle.max_memories_per_user", self.lifecycle.max_memories_per_user.unwrap_or(1)),
            ("lifecycle.retention_days", self.lifecycle.retention_days.unwrap_or(1) as usize),
            ("consent.signals", self.consent.signals as usize),
            ("summarization.target_tokens", self.summarization.target_tokens),
            ("working.agents", self.working.agents),
            ("working.bytes", self.working.bytes),
            ("working.idle_minutes", self.working.idle_minutes as usize),
            ("sessions.idle_minutes", self.sessions.idle_minutes as usize),
            ("working.flush_tokens", usize::try_from(self.working.flush_tokens).unwrap_or(usize::MAX)),
            ("batch.size", self.batch.size),
            ("batch.milliseconds", usize::try_from(self.batch.milliseconds).unwrap_or(usize::MAX)),
            ("batch.waiting", self.batch.waiting),
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
            ("retrieval.score_threshold", self.retrieval.score_threshold, 0.0, 1.0),
            ("retrieval.vector_floor", self.retrieval.vector_floor, 0.0, 1.0),
            ("retrieval.duplicate_similarity", self.retrieval.duplicate_similarity, 0.0, 1.0),
            ("retrieval.relation_weight", self.retrieval.relation_weight, 0.0, 1.0),
            ("retrieval.layer_bonus", self.retrieval.layer_bonus, 0.0, 1.0),
            ("retrieval.rrf_k", self.retrieval.rrf_k, 0.0, 10_000.0),
            ("retrieval.rrf_weight_fts", self.retrieval.rrf_weight_fts, 0.0, 100.0),
            ("retrieval.rrf_weight_vector", self.retrieval.rrf_weight_vector, 0.0, 100.0),
            ("retrieval.rrf_weight_graph", self.retrieval.rrf_weight_graph, 0.0, 100.0),
            ("retrieval.intent_similarity_threshold", self.retrieval.intent_similarity_threshold, 0.0, 1.0),
            ("lifecycle.decay_rate", self.lifecycle.decay_rate.unwrap_or(0.0), 0.0, 10.0),
            ("lifecycle.decayed_below", self.lifecycle.decayed_below, 0.0, 1.0),
            ("lifecycle.prune_below", self.lifecycle.prune_below, 0.0, 1.0),
            ("lifecycle.recency_floor", self.lifecycle.recency_floor, 0.0, 1.0),
            ("lifecycle.ttl_importance", self.lifecycle.ttl_importance, 0.0, 1.0),
            ("lifecycle.relevance_rate", self.lifecycle.relevance_rate, 0.0, 1.0),
            ("lifecycle.archive_below", self.lifecycle.archive_below, 0.0, 1.0),
            ("bands.later", self.bands.later, 0.0, 1.0),
            ("bands.check", self.bands.check, self.bands.later.clamp(0.0, 1.0), 1.0),
            ("bands.merge", self.bands.merge, self.bands.check.clamp(0.0, 1.0), 1.0),
            ("bands.link", self.bands.link, 0.0, 1.0),
            ("sessions.promotion_threshold", self.sessions.promotion_threshold, 0.0, 1.0),
        ];
        for (field, value, from, until) in shares {
            if !(from..=until).contains(&value) {
                return Err(wrong(field, format!("{field} is {value}, but must be between {from} and {until}")));
            }
        }
        for (clue, weight) in &self.retrieval.clues {
            if !(-100.0..=100.0).contains(weight) {
                let message = format!("retrieval.clues.{clue} is {weight}, but must be between -100 and 100");
                return Err(wrong("retrieval.clues", message));
            }
        }
        self.learning.validate()?;
        self.redaction.validate()?;
        self.categories.validate()?;
        self.retrieval.time_zone()?;
        self.retrieval.fusion()?;
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

    // Coverage: S0-4.2.
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
        check("retrieval.rrf_k", |config| config.retrieval.rrf_k = f64::NAN);
        check("retrieval.rrf_weight_fts", |config| {
            let retrieval = &mut config.retrieval;
            (retrieval.rrf_weight_fts, retrieval.rrf_weight_vector, retrieval.rrf_weight_graph) = (0.0, 0.0, 0.0);
        });
        check("retrieval.intent_similarity_threshold", |config| config.retrieval.intent_similarity_threshold = 1.5);
        check("retrieval.threshold", |config| config.retrieval.threshold = Some(1.5));
        check("retrieval.score_threshold", |config| config.retrieval.score_threshold = 1.01);
        check("lifecycle.retention_days", |config| config.lifecycle.retention_days = Some(0));
        check("lifecycle.decay_rate", |config| config.lifecycle.decay_rate = Some(f64::NAN));
        check("bands.merge", |config| config.bands.merge = 0.5);
        check("working.agents", |config| config.working.agents = 0);
        check("batch.milliseconds", |config| config.batch.milliseconds = 3_600_000);
        check("consent.signals", |config| config.consent.signals = 0);
    }
}
