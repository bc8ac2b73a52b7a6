//! Recall: finds the memories that matter for a query and ranks them.
//!
//! Visible → plan → lanes → candidates around their hits → clues → score → duplicates removed → the best. No lane
//! filters another: every candidate is ranked by everything that is known of it. Every hit explains its rank. Access
//! counts are written in the background.

pub(crate) mod access_counts;
mod answerability;
mod candidates;
mod clue;
mod duplicates;
mod evidence;
mod explain;
mod feature_cache;
mod features;
pub(crate) mod find;
mod fusion;
mod graph_lane;
pub(crate) mod highlight;
mod lanes;
pub(crate) mod late_interaction;
mod letters;
mod newest;
mod parts;
pub mod plan;
mod question;
mod rank;
mod readable;
mod related;
mod rerank;
pub mod score;
pub(crate) mod search;
mod small_int_map;
mod when;
mod words;

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use loci_types::{Action, Bookkeeping, Error, ErrorKind, Filter, Layer, Memory, MemoryId};
use serde::{Deserialize, Serialize};
use tracing::Instrument;

pub use self::clue::Clue;
pub(crate) use self::duplicates::alike;
pub use self::explain::{ClueWeight, Explanation, LaneRank, RelatedMemory};
pub(crate) use self::feature_cache::FeatureCache;
pub(crate) use self::graph_lane::named_in;
pub use self::lanes::Strategy;
pub(crate) use self::lanes::VectorLane;
pub(crate) use self::parts::{NotePart, pack_parts, parts_of, unpack_parts};
pub(crate) use self::readable::{in_known_script, readable};
use crate::access::policy::{self, Caller};
use crate::access::settings;
use crate::recall::plan::Plan;
use crate::recall::rank::RankRequest;
use crate::write::contradict::NewerStatement;
use crate::{Engine, Result};

/// Minimum relevance, as a share of the best, at which a hit counts as used.
const MIN_USED_RELEVANCE: f64 = 0.5;
/// Maximum number of memories that all pages of a question return together.
const MAX_RETURNED: usize = 1_000;

/// A recall request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallRequest {
    /// The query.
    pub query: String,
    /// The layers. Default: all that the identifiers allow.
    pub layers: Option<Vec<Layer>>,
    /// Maximum number of results. Default: as configured.
    pub limit: Option<usize>,
    /// Cosine below which the vector lane does not count. Default: as configured.
    pub threshold: Option<f64>,
    /// The filter. Default: valid memories.
    pub filter: Option<Filter>,
    /// The time that counts as now. Memories that were added later are not found. Default: the time of the call.
    pub at: Option<Timestamp>,
    /// Score below which a hit is left out. Default: as configured.
    pub score_threshold: Option<f64>,
    /// The lanes that are searched, and what the order depends on. Default: as configured.
    pub strategy: Option<Strategy>,
    /// Whether the results are not counted as accesses.
    pub uncounted: bool,
    /// The thread that receives the results; what it only repeats is not learned from it again.
    pub for_thread: Option<String>,
    /// The memories that earlier pages of the query returned. They are ranked like the others, so that what they
    /// override stays out and the scores are those of the whole list, but they are not returned or counted again.
    pub returned: Vec<MemoryId>,
}

/// The result of a recall.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recall {
    /// The results, best first.
    pub hits: Vec<RecallHit>,
    /// Parts of the search that failed.
    pub degraded: Vec<String>,
    /// The intent of the query: `why`, `when`, `who`, `what` or `general`.
    pub intent: String,
    /// Whether the results answer the query.
    pub answered: Answered,
    /// The probability that the first results answer the query, 0 to 1.
    pub confidence: f64,
    /// Whether there are further results beyond the limit.
    #[serde(default)]
    pub more: bool,
}

/// Whether the results answer a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum Answered {
    /// Most likely they do.
    Yes,
    /// They are about the query, and may not answer it.
    Unsure,
    /// No memory is about the query.
    No,
}

/// One result of a recall.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RecallHit {
    /// The memory.
    pub memory: Memory,
    /// Its score.
    pub score: f64,
    /// The later statement that may contradict it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub newer: Option<NewerStatement>,
    /// Why it was returned, and why at this rank.
    pub explain: Explanation,
}

impl RecallHit {
    /// The rendered memory, with the later statement that may contradict it.
    pub fn text(&self) -> String {
        crate::prompt::render::shown(&self.memory, self.newer.as_ref())
    }

    /// The result on one line, after its category or kind, with a mark of its source where that needs one: `[tasks] Ship by
    /// September`.
    pub fn bullet(&self) -> String {
        let label = crate::prompt::pack::line::neutral(
            self.memory.category.as_deref().unwrap_or_else(|| self.memory.kind.name()),
        );
        let origin = crate::prompt::pack::origin::origin(&self.memory, None);
        let said = crate::prompt::pack::line::neutral(&crate::prompt::pack::line::fold(&self.text()));
        format!("[{label}] {}", crate::prompt::pack::origin::marked(origin.as_deref(), said))
    }
}

impl Engine {
    /// Finds what matters to a question. It waits for files on the thread that polls it, which a runtime of several threads
    /// makes up for; within a `LocalSet` on such a runtime tokio does not allow that, and it must not be called there.
    pub async fn recall(&self, caller: &Caller, request: RecallRequest) -> Result<Recall> {
        loci_store::with_inline_reads(self.recall_inline(caller, request)).await
    }

    async fn recall_inline(&self, caller: &Caller, mut request: RecallRequest) -> Result<Recall> {
        crate::access::bounds::some_layers(request.layers.as_deref())?;
        let settings = self.settings_of(caller).await?;
        let membership = self.membership(caller).await?;
        let visible = policy::visible_in(caller, &membership, request.layers.as_deref(), settings.categories)?;
        request.limit = request.limit.or(settings.limit);
        request.threshold = request.threshold.or(settings.threshold);
        request.score_threshold = request.score_threshold.or(settings.score_threshold);
        let strategy = *request.strategy.get_or_insert(self.config.retrieval.strategy);
        let weights = settings.weights.unwrap_or(self.config.retrieval.weights);
        let (filter, limit, now) = self.read_request(&request)?;
        settings::within(visible.categories(), &filter.categories)?;
        let mut plan = Plan::of(&request.query, &now.to_zoned(self.time_zone.clone()));
        // "The latest on the flat" is about the flat; only a question about nothing else is about the newest.
        let vague = self.analyser.distinct_query_terms(&request.query).len() <= 1;
        plan.asks.newest &= vague;
        plan.asks.important &= vague;
        let returned: HashSet<MemoryId> = request.returned.iter().copied().collect();
        let depth = limit + returned.len();
        let stage = tracing::debug_span!(target: "loci::stage", "candidates", strategy = strategy.name());
        let found = self.ask_lanes(&visible, &filter, &request, &mut plan, depth).instrument(stage).await?;
        let (intent, mut degraded) = (plan.intent.name().to_owned(), found.degraded());
        let all = request.threshold == Some(0.0);
        let stage = tracing::debug_span!(target: "loci::stage", "rank", candidates = found.count());
        let wanted = RankRequest { visible: &visible, filter: &filter, weights: &weights, limit: depth, all, now };
        let ranking = self.rank(wanted, plan, found).instrument(stage).await?;
        let (mut hits, answered, confidence) = (ranking.hits, ranking.answered, ranking.confidence);
        if ranking.degraded {
            degraded.push("rerank".to_owned());
        }
        // Without an answer nothing is returned, unless the caller asked for all candidates.
        if answered == Answered::No && !all {
            hits.clear();
        }
        let least = request.score_threshold.unwrap_or(self.config.retrieval.score_threshold);
        hits.retain(|hit| hit.score >= least && !returned.contains(&hit.memory.id));
        let more = hits.len() > limit && depth < MAX_RETURNED;
        hits.truncate(limit);
        self.attach_related(&visible, ranking.edges, &mut hits).await?;
        self.attach_newer(&visible, &mut hits).await?;
        if !request.uncounted {
            self.record_returned(caller, request.for_thread.as_deref(), &hits).await;
            if strategy == Strategy::Hybrid && answered == Answered::Yes {
                self.count_used(caller, &hits).await;
            }
        }
        Ok(Recall { hits, degraded, intent, answered, confidence, more })
    }

    /// Checks a question and fills in what it leaves open.
    pub(crate) fn read_request(&self, request: &RecallRequest) -> Result<(Filter, usize, Timestamp)> {
        let (length, most) = (request.query.chars().count(), self.config.limits.query_characters);
        if length > most {
            return Err(Error::new(
                ErrorKind::QueryTooLong,
                format!("query has {length} characters, more than {most}"),
            )
            .at("query")
            .hint("ask a shorter question")
            .into());
        }
        if request.query.trim().is_empty() {
            return Err(Error::invalid("query", "query is empty").hint("ask something; `loci list` shows all").into());
        }
        for (field, threshold) in [("threshold", request.threshold), ("scoreThreshold", request.score_threshold)] {
            if let Some(threshold) = threshold {
                loci_types::unit(field, threshold)?;
            }
        }
        let retrieval = &self.config.retrieval;
        let limit = request.limit.unwrap_or(retrieval.limit);
        if limit == 0 || limit > retrieval.max_limit {
            return Err(Error::invalid(
                "limit",
                format!("limit is {limit}, but must be between 1 and {}", retrieval.max_limit),
            )
            .into());
        }
        if request.returned.len() >= MAX_RETURNED {
            let message = format!("the pages of a question return {MAX_RETURNED} memories at most");
            return Err(Error::invalid("cursor", message).hint("ask a narrower question, or give a filter").into());
        }
        let now = request.at.unwrap_or_else(|| self.now());
        let mut filter = request.filter.clone().unwrap_or_else(|| Filter::at(now));
        // A memory that was added after the time that counts as now does not exist yet.
        if now < self.now() {
            filter.created.until = Some(filter.created.until.map_or(now, |until| until.min(now)));
        }
        filter.validate()?;
        Ok((filter, limit, now))
    }

    /// Records what was returned to a thread, so that it is not learned again from its repetition.
    pub(crate) async fn record_returned(&self, caller: &Caller, thread: Option<&str>, hits: &[RecallHit]) {
        let Some(thread) = thread else { return };
        let returned = hits.iter().map(|hit| hit.memory.id).collect();
        if let Err(error) = self.note_returned(caller, thread, returned).await {
            tracing::warn!(%error, "what was returned to the thread was not recorded");
        }
    }

    /// Counts those hits as used that most likely answer the question, in the background. Neighbours of an answer
    /// would otherwise gain utility without being used.
    pub async fn count_used(&self, caller: &Caller, hits: &[RecallHit]) {
        let mut by_space: BTreeMap<_, Vec<MemoryId>> = BTreeMap::new();
        for hit in hits.iter().filter(|hit| hit.explain.terms.relevance >= MIN_USED_RELEVANCE * hit.explain.confidence)
        {
            if let Ok(scope) = hit.memory.scope() {
                by_space.entry(scope.space()).or_default().push(hit.memory.id);
            }
        }
        for (space, ids) in by_space {
            let change = self.change(caller, "context", "recalled", Action::Bookkeeping(Bookkeeping::Touch { ids }));
            self.record_access_in_background(caller.tenant.clone(), space, change).await;
        }
    }
}
