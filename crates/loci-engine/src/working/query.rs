//! Searches working memory.
//!
//! Entries with a vector are compared by it: their 8-bit codes are contiguous and are scanned, which takes
//! microseconds for a thousand entries. Entries without one are matched by words. Embedding the query is not
//! included.

use std::sync::Arc;

use loci_store::vectors::Query;
use serde::Serialize;

use super::memory::{BufferState, ToolResult, WorkingMessage};
use crate::access::bounds;
use crate::access::policy::{self, Caller};
use crate::{Engine, Result};

/// Number of results if the caller does not say how many.
const DEFAULT_RESULTS: usize = 10;
/// Maximum number of results in one answer: a page, and one more that shows that another page follows.
const MAX_RESULTS: usize = 1_001;

/// A query of working memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct WorkingQuery {
    /// The query.
    pub query: String,
    /// Its vector. Default: computed by the model.
    pub embedding: Option<Vec<f32>>,
    /// Number of results to skip from the start of the list.
    pub offset: usize,
    /// Maximum number of results. Default: 10, at most 1,001.
    pub limit: Option<usize>,
}

/// How an entry was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum FoundBy {
    /// By the cosine of two vectors.
    Similarity,
    /// By the share of the query's words in it.
    Words,
}

/// An entry that matches the query.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorkingHit {
    /// The message, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<WorkingMessage>))]
    pub message: Option<Arc<WorkingMessage>>,
    /// The tool result, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schema(value_type = Option<ToolResult>))]
    pub tool_result: Option<Arc<ToolResult>>,
    /// The similarity: a cosine, or a share of words.
    pub score: f64,
    /// How it was found.
    pub found_by: FoundBy,
}

impl Engine {
    /// The entries of working memory that match a query, best first.
    pub async fn query_working(&self, caller: &Caller, asked: WorkingQuery) -> Result<Vec<WorkingHit>> {
        let place = policy::working_key(caller)?;
        let limit = asked.limit.unwrap_or(DEFAULT_RESULTS);
        bounds::between("limit", limit, 1, MAX_RESULTS)?;
        let end = asked.offset.saturating_add(limit);
        bounds::short("query", Some(&asked.query), self.config.limits.query_characters)?;
        let vector = match self.vector_of(&asked.query, asked.embedding, false).await? {
            Some(given) => Some(given),
            None => self.question(&asked.query).await,
        };
        if self.working.mirror.is_none() && self.working.find(&place).is_none() {
            return Ok(Vec::new());
        }
        let slot = self.slot(&place, caller).await;
        let mut hits = match &vector {
            Some(vector) => nearest(&slot.state(), vector, end),
            None => Vec::new(),
        };
        let terms = self.analyser.distinct_query_terms(&asked.query);
        if !terms.is_empty() {
            let memory = slot.state().memory.clone();
            let compared = vector.is_some();
            for message in memory.messages.iter().filter(|one| !compared || one.embedding.is_none()) {
                let score = self.share(&terms, &message.content);
                hits.extend(by_words(score, Some(message), None));
            }
            for result in memory.tool_results.values().filter(|one| !compared || one.embedding.is_none()) {
                hits.extend(by_words(self.share(&terms, &result.text()), None, Some(result)));
            }
            // What came later comes first among equals.
            hits.reverse();
            hits.sort_by(|one, other| other.score.total_cmp(&one.score));
        }
        Ok(hits.into_iter().skip(asked.offset).take(limit).collect())
    }

    /// The vector of the query, if there is a model and the query is not empty.
    pub(super) async fn question(&self, text: &str) -> Option<Arc<[f32]>> {
        if text.trim().is_empty() {
            return None;
        }
        self.embed_question(text).await.map(|(vector, _)| vector.values.into())
    }

    /// The share of the terms that a text contains.
    pub(super) fn share(&self, terms: &[String], text: &str) -> f64 {
        let own = self.analyser.terms(text);
        let found = terms.iter().filter(|term| own.contains(term)).count();
        found as f64 / terms.len().max(1) as f64
    }
}

fn by_words(score: f64, message: Option<&Arc<WorkingMessage>>, result: Option<&Arc<ToolResult>>) -> Option<WorkingHit> {
    let (message, tool_result) = (message.cloned(), result.cloned());
    (score > 0.0).then_some(WorkingHit { message, tool_result, score, found_by: FoundBy::Words })
}

/// The entries with the nearest vectors.
fn nearest(state: &BufferState, vector: &[f32], limit: usize) -> Vec<WorkingHit> {
    let Some(vectors) = &state.vectors else { return Vec::new() };
    let found = vectors.nearest(&Query::new(vector), limit, &|_| true);
    let hit = |candidate: loci_store::vectors::Candidate| {
        let messages = &state.memory.messages;
        let place = messages.binary_search_by_key(&candidate.key, |message| message.number).ok();
        let message = place.map(|place| messages[place].clone());
        let mut results = state.memory.tool_results.values();
        let tool_result = match message {
            Some(_) => None,
            None => Some(results.find(|result| result.number == candidate.key)?.clone()),
        };
        let score = f64::from(candidate.similarity);
        Some(WorkingHit { message, tool_result, score, found_by: FoundBy::Similarity })
    };
    found.into_iter().filter_map(hit).collect()
}
