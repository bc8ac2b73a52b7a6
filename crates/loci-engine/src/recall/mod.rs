//! What matters now?
//!
//! Visible → lanes → fuse → score → one of each → the best. Every hit can say which lanes found
//! it, at which rank, and what each term of its score was. What recall returned is counted behind.

use std::collections::{BTreeMap, HashMap};

mod clue;
mod evidence;
pub(crate) mod late;
mod pool;
mod question;
mod reading;
mod shelf;
mod words;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use loci_models::Embedding;
use loci_store::Hit;
use loci_types::{Action, Class, Error, ErrorKind, Filter, Layer, Memory, MemoryId, Visible};
use serde::{Deserialize, Serialize};

pub use self::clue::Clue;
use self::clue::{Clues, Voices};
use self::pool::Member;
use self::question::Question;
pub(crate) use self::shelf::Shelf;
use crate::policy::{self, Caller};
use crate::score::{self, Terms};
use crate::{Engine, Result};

/// So many turns before and after a candidate are read with it.
const REACH: usize = 3;

/// A cosine at which two texts are clearly about the same.
const CLEAR: f64 = 0.45;

/// A question to the memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RecallRequest {
    /// The question.
    pub query: String,
    /// In these layers; none: in all that the identifiers open.
    pub layers: Option<Vec<Layer>>,
    /// So many hits; none: the configured number.
    pub limit: Option<usize>,
    /// Cosine below which the vector lane does not count; none: as configured.
    pub threshold: Option<f64>,
    /// Only those that match; none: what holds now.
    pub filter: Option<Filter>,
    /// As if it were then.
    pub at: Option<Timestamp>,
}

/// What recall found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Recall {
    /// The hits, best first.
    pub hits: Vec<RecallHit>,
    /// Lanes that could not be asked.
    pub degraded: Vec<String>,
}

/// One memory that recall found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecallHit {
    /// The memory.
    pub memory: Memory,
    /// Its score.
    pub score: f64,
    /// Why it is here.
    pub explain: Explanation,
}

/// Why a memory was found and ranked as it was:
/// `score = (wₛ·relevance + wᵣ·recency + wᵤ·utility) · boost + layer`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// The lanes that found it.
    pub lanes: Vec<LaneRank>,
    /// Its cosine to the question, `max(0, cosine)`; none without vectors.
    pub similarity: Option<f64>,
    /// What speaks for it, and how loudly: only what is not silent.
    #[serde(default)]
    pub clues: Vec<ClueWeight>,
    /// The weighted sum of the clues.
    pub evidence: f64,
    /// The evidence as a share of the best, in 0..1.
    pub relevance: f64,
    /// How recent it is.
    pub recency: f64,
    /// How useful it has been.
    pub utility: f64,
    /// The boost of its kind.
    pub boost: f64,
    /// What its layer adds.
    pub layer: f64,
    /// Memories that say the same and gave way to this one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stands_for: Vec<MemoryId>,
}

/// One clue and its weight.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ClueWeight {
    /// Which.
    pub clue: Clue,
    /// What was observed.
    pub value: f64,
    /// How loudly it speaks.
    pub weight: f64,
}

/// A memory's place in one lane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LaneRank {
    /// The lane.
    pub lane: String,
    /// The place, from 1.
    pub rank: usize,
    /// The score on the lane's own scale.
    pub score: f64,
}

/// What the lanes and the pool say of one candidate.
struct Candidate {
    id: MemoryId,
    lanes: Vec<LaneRank>,
    similarity: Option<f64>,
    clues: Clues,
    evidence: f64,
    terms: Terms,
    score: f64,
}

/// How far apart the candidates of a question stand, and how clear the best is.
#[derive(Clone, Copy)]
struct Scale {
    least: f64,
    best: f64,
    clarity: f64,
}

impl Scale {
    fn relevance(&self, evidence: f64) -> f64 {
        relevance(evidence, self.least, self.best, self.clarity)
    }
}

/// Where the evidence lies between the least and the best of the pool, as far as the best is clear.
pub(crate) fn relevance(evidence: f64, least: f64, best: f64, clarity: f64) -> f64 {
    if best > least { clarity * ((evidence - least) / (best - least)) } else { clarity }
}

impl Engine {
    /// Finds what matters to a question.
    pub async fn recall(&self, caller: &Caller, request: RecallRequest) -> Result<Recall> {
        let visible = policy::visible(caller, request.layers.as_deref())?;
        let (filter, limit, now) = self.read_request(&request)?;
        let retrieval = &self.config.retrieval;
        let wanted = (limit * retrieval.overfetch).max(retrieval.candidates);

        let mut question = Question::new(&self.analyser, &request.query, &now.to_zoned(TimeZone::UTC));
        let terms: Vec<String> = question.terms.iter().map(|term| term.text.clone()).collect();
        let (lexical, vector, frequencies) = futures::join!(
            self.store.lexical(&visible, &request.query, &filter, wanted),
            self.vector_lane(&visible, &request, &filter, wanted, retrieval.vector_floor),
            self.store.frequencies(&visible, &terms),
        );
        let (lexical, vector) = (lexical?, vector?);
        let degraded = if vector.is_none() { vec!["vector".to_owned()] } else { Vec::new() };
        let (embedding, nearest) = vector.unzip();
        if let (Some(embedding), Some(model)) = (embedding, self.model()) {
            question.see(&self.analyser, &model.name, embedding);
        }
        question.weigh(&frequencies?);

        let lanes = [("lexical", lexical), ("vector", nearest.unwrap_or_default())];
        let voices = self.voices(question.vector.is_some());
        let mut candidates = self.weigh(&visible, &filter, question, &lanes, &voices, now).await?;
        candidates.truncate(limit * 2 + 10);
        let mut hits = self.fetch_hits(&visible, candidates, &voices).await?;
        self.one_of_each(&visible, &mut hits).await?;
        hits.retain(|hit| hit.score >= retrieval.score_threshold);
        hits.truncate(limit);
        self.count_access(caller, &hits).await;
        Ok(Recall { hits, degraded })
    }

    /// Reads the candidates of all lanes with what is around them, and orders them by their score.
    async fn weigh(
        &self,
        visible: &Visible,
        filter: &Filter,
        mut question: Question,
        lanes: &[(&str, Vec<Hit>)],
        voices: &Voices,
        now: Timestamp,
    ) -> Result<Vec<Candidate>> {
        let mut ranks: HashMap<MemoryId, Vec<LaneRank>> = HashMap::new();
        for (lane, hits) in lanes {
            for (place, hit) in hits.iter().enumerate() {
                let rank = LaneRank { lane: (*lane).to_owned(), rank: place + 1, score: hit.score };
                ranks.entry(hit.id).or_default().push(rank);
            }
        }
        let ids: Vec<MemoryId> = ranks.keys().copied().collect();
        let strips = self.store.around(visible, filter, &ids, REACH).await?;
        let pool = self.read_pool(visible, &strips).await?;
        question.know_speakers(&self.analyser, &pool.names());
        let clues = evidence::gather(&question, &self.analyser, &pool);
        let sums: Vec<f64> = clues.iter().map(|clues| voices.sum(clues)).collect();
        let scale = scale(&sums, &clues, lanes);
        let mut candidates: Vec<Candidate> = pool
            .members
            .iter()
            .zip(clues)
            .zip(sums)
            .map(|((member, clues), evidence)| {
                let reading = &member.reading;
                let lanes = ranks.remove(&reading.id).unwrap_or_default();
                let terms = self.terms(member, evidence, &scale, now);
                Candidate {
                    id: reading.id,
                    similarity: lanes.iter().find(|lane| lane.lane == "vector").map(|lane| lane.score),
                    lanes,
                    clues,
                    evidence,
                    score: terms.score(&self.config.retrieval.weights),
                    terms,
                }
            })
            .collect();
        candidates.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.id.cmp(&b.id)));
        Ok(candidates)
    }

    fn voices(&self, with_model: bool) -> Voices {
        let retrieval = &self.config.retrieval;
        Voices::new(with_model, if with_model { &retrieval.clues } else { &retrieval.clues_of_words })
    }

    fn terms(&self, member: &Member, evidence: f64, scale: &Scale, now: Timestamp) -> Terms {
        let (retrieval, reading) = (&self.config.retrieval, &member.reading);
        let kind = self.kinds.spec(&reading.kind);
        Terms {
            relevance: scale.relevance(evidence),
            recency: score::recency(reading.created_at, kind, now),
            utility: score::utility(reading.importance, member.access_count),
            boost: kind.boost,
            layer: score::layer_bonus(reading.layer, retrieval.layer_bonus),
        }
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
        if let Some(threshold) = request.threshold {
            loci_types::unit("threshold", threshold)?;
        }
        let retrieval = &self.config.retrieval;
        let limit = request.limit.unwrap_or(retrieval.limit);
        if limit == 0 || limit > retrieval.max_limit {
            return Err(Error::invalid(
                "limit",
                format!("limit is {limit}, but must lie between 1 and {}", retrieval.max_limit),
            )
            .into());
        }
        let now = request.at.unwrap_or_else(|| self.now());
        let filter = request.filter.clone().unwrap_or_else(|| Filter::at(now));
        filter.validate()?;
        Ok((filter, limit, now))
    }

    /// What the model sees in the question, and the nearest memories above the caller's threshold,
    /// the configured one or `floor`; none when no model can be asked.
    pub(crate) async fn vector_lane(
        &self,
        visible: &Visible,
        request: &RecallRequest,
        filter: &Filter,
        wanted: usize,
        floor: f64,
    ) -> Result<Option<(Embedding, Vec<Hit>)>> {
        let Some((vector, embedding)) = self.embed_question(&request.query).await else { return Ok(None) };
        let mut hits = self.store.nearest(visible, &vector, filter, wanted).await?;
        let threshold = request.threshold.or(self.config.retrieval.threshold).unwrap_or(floor);
        hits.retain(|hit| hit.score >= threshold);
        Ok(Some((embedding, hits)))
    }

    async fn fetch_hits(
        &self,
        visible: &Visible,
        candidates: Vec<Candidate>,
        voices: &Voices,
    ) -> Result<Vec<RecallHit>> {
        let ids: Vec<MemoryId> = candidates.iter().map(|candidate| candidate.id).collect();
        let memories = self.store.fetch(visible, &ids).await?;
        let mut found: HashMap<MemoryId, Memory> = memories.into_iter().map(|memory| (memory.id, memory)).collect();
        let hit = |candidate: Candidate| {
            let memory = found.remove(&candidate.id)?;
            Some(RecallHit { score: candidate.score, explain: explain(candidate, voices), memory })
        };
        Ok(candidates.into_iter().filter_map(hit).collect())
    }

    /// Leaves one of those that say the same in several layers: the most specific. Within a layer
    /// all stay, and so do texts whose numbers differ: alike is not the same. Episodes stay too: two
    /// alike are two events.
    pub(crate) async fn one_of_each(
        &self,
        visible: &Visible,
        hits: &mut Vec<RecallHit>,
    ) -> Result<()> {
        let Some(model) = self.model() else { return Ok(()) };
        let lasting: Vec<MemoryId> = hits
            .iter()
            .filter(|hit| self.kinds.spec(&hit.memory.kind).class != Class::Episodic)
            .map(|hit| hit.memory.id)
            .collect();
        if lasting.len() < 2 {
            return Ok(());
        }
        let vectors: HashMap<MemoryId, Vec<f32>> =
            self.store.vectors(visible, &model.name, &lasting).await?.into_iter().map(|(id, vector)| (id, vector.values)).collect();
        let same = self.config.retrieval.duplicate_similarity;
        let mut kept: Vec<RecallHit> = Vec::with_capacity(hits.len());
        for mut hit in hits.drain(..) {
            let twin = vectors.get(&hit.memory.id).and_then(|vector| {
                kept.iter_mut().find(|other| {
                    other.memory.layer != hit.memory.layer
                        && numbers(&other.memory.content) == numbers(&hit.memory.content)
                        && vectors.get(&other.memory.id).is_some_and(|other| f64::from(dot(vector, other)) >= same)
                })
            });
            match twin {
                None => kept.push(hit),
                Some(twin) => {
                    if hit.memory.layer.precedence() < twin.memory.layer.precedence() {
                        // The specific one takes the better place of the general one.
                        std::mem::swap(twin, &mut hit);
                        let given_way = std::mem::take(&mut hit.explain.stands_for);
                        twin.explain.stands_for.extend(given_way);
                    }
                    twin.explain.stands_for.push(hit.memory.id);
                }
            }
        }
        kept.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.memory.id.cmp(&b.memory.id)));
        *hits = kept;
        Ok(())
    }

    async fn count_access(&self, caller: &Caller, hits: &[RecallHit]) {
        let mut by_space: BTreeMap<_, Vec<MemoryId>> = BTreeMap::new();
        for hit in hits {
            if let Ok(scope) = hit.memory.scope() {
                by_space.entry(scope.space()).or_default().push(hit.memory.id);
            }
        }
        for (space, ids) in by_space {
            let change = self.change(caller, "context", "recalled", Action::Touch { ids });
            self.touch_behind(caller.tenant.clone(), space, change).await;
        }
    }
}

fn explain(candidate: Candidate, voices: &Voices) -> Explanation {
    let terms = &candidate.terms;
    let clues = Clue::ALL.iter().filter(|clue| candidate.clues.get(**clue) != 0.0);
    Explanation {
        lanes: candidate.lanes,
        similarity: candidate.similarity,
        clues: clues
            .map(|clue| ClueWeight { clue: *clue, value: candidate.clues.get(*clue), weight: voices.get(*clue) })
            .collect(),
        evidence: candidate.evidence,
        relevance: terms.relevance,
        recency: terms.recency,
        utility: terms.utility,
        boost: terms.boost,
        layer: terms.layer,
        stands_for: Vec::new(),
    }
}

/// How far apart the candidates stand. The best is clear when it holds the question's words or is
/// plainly alike; else all of them may be beside the point.
fn scale(sums: &[f64], clues: &[Clues], lanes: &[(&str, Vec<Hit>)]) -> Scale {
    let fold = |start: f64, choose: fn(f64, f64) -> f64| sums.iter().copied().fold(start, choose);
    let covered = clues.iter().map(|clues| clues.get(Clue::Coverage)).fold(0.0, f64::max);
    let nearest = lanes.iter().filter(|(lane, _)| *lane == "vector").flat_map(|(_, hits)| hits.first());
    let alike = nearest.map(|hit| hit.score / CLEAR).fold(0.0, f64::max);
    Scale {
        least: fold(f64::INFINITY, f64::min),
        best: fold(f64::NEG_INFINITY, f64::max),
        clarity: covered.max(alike).min(1.0),
    }
}

/// The numbers in a text, in order.
fn numbers(text: &str) -> Vec<&str> {
    text.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()).collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
