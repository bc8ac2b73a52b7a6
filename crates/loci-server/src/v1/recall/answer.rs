//! The answer to a question.

use std::collections::BTreeSet;

use loci_engine::pack::PackedText;
use loci_engine::pack::context::{Budgets, Context, ContextTokens, Message};
use loci_engine::{Answered, ContextResponse, Explanation, NewerStatement, QueryResponse, Recall, RecallHit};
use loci_types::{Memory, MemoryId};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::cursor::Cursor;

/// What recall found.
///
/// The command line prints the same object, so that callers meet the same names everywhere.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RecallAnswer {
    /// The memories that were found, the best first.
    data: Vec<RecallResult>,
    /// The cursor of the next page; null on the last page, and with `pack` or `window`.
    #[schema(required)]
    next_cursor: Option<String>,
    /// Whether what is known answers the question. If `no`, there are no results, unless `threshold` is 0.
    answered: Answered,
    /// How likely the first results answer the question, 0 to 1.
    confidence: f64,
    /// What the question asks for: `why`, `when`, `who`, `what` or `general`.
    intent: String,
    /// Parts that could not be used: `vector`, `rerank`.
    degraded: Vec<String>,
    /// The text within the budget, if `pack` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pack: Option<RecallPack>,
    /// The filled window, if `window` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<RecallWindow>,
}

/// A memory that was found.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecallResult {
    /// The memory.
    memory: RecalledMemory,
    /// The score by which the results are ordered.
    score: f64,
    /// What was said later and may contradict the memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    newer: Option<NewerStatement>,
    /// How the score is made up, if `explain` was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    explain: Option<Explanation>,
}

/// The memories as one text.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecallPack {
    /// The text, ready for a prompt.
    text: String,
    /// Number of tokens of the text.
    tokens: usize,
    /// Maximum number of tokens that it could have.
    budget_tokens: usize,
    /// The memories in the text.
    cited: Vec<MemoryId>,
    /// The memories that did not fit, the best first.
    left_out: Vec<MemoryId>,
    /// The cited memories that were shortened.
    shortened: Vec<MemoryId>,
    /// The revision of the memory now, for `afterRevision` of the next question.
    revision: i64,
}

/// A model's window, filled.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecallWindow {
    /// System prompt, memories, summary of older messages, newer messages, question.
    messages: Vec<Message>,
    /// Number of tokens of each part.
    tokens: ContextTokens,
    /// How the window was divided.
    budgets: Budgets,
    /// The memories in the window.
    memory: PackedText,
    /// Number of older messages that were left out or summarized.
    older_turns: usize,
    /// The revision of the memory now, for `afterRevision` of the next question.
    revision: i64,
}

impl RecallAnswer {
    /// A page of what was found, with all fields of each memory.
    pub fn new(found: Recall, explain: bool, page: &Cursor) -> Self {
        Self::found(found, None, explain, page)
    }

    /// What was found, and packed into a text.
    pub fn with_pack(response: QueryResponse, explain: bool) -> Self {
        Self::packed(response, None, explain)
    }

    /// What was found, in a window.
    pub fn with_window(response: ContextResponse, explain: bool) -> Self {
        Self::windowed(response, None, explain)
    }

    /// A page of what was found, with these fields of each memory.
    pub(super) fn found(found: Recall, fields: Option<&[MemoryField]>, explain: bool, page: &Cursor) -> Self {
        let Recall { hits, degraded, intent, answered, confidence, more } = found;
        let next_cursor = page.next(more, hits.iter().map(|hit| hit.memory.id));
        let fields: Option<BTreeSet<String>> = fields.map(|fields| fields.iter().map(|field| field.name()).collect());
        let result = |hit: RecallHit| RecallResult {
            memory: RecalledMemory::new(hit.memory, fields.as_ref()),
            score: hit.score,
            newer: hit.newer,
            explain: explain.then_some(hit.explain),
        };
        let data = hits.into_iter().map(result).collect();
        Self { data, next_cursor, answered, confidence, intent, degraded, pack: None, window: None }
    }

    /// What was found, and packed into a text.
    pub(super) fn packed(response: QueryResponse, fields: Option<&[MemoryField]>, explain: bool) -> Self {
        let QueryResponse { text, tokens, budget_tokens, cited, left_out, shortened, revision, .. } = response;
        let QueryResponse { hits, degraded, intent, answered, confidence, .. } = response;
        let found = Recall { hits, degraded, intent, answered, confidence, more: false };
        let pack = RecallPack { text, tokens, budget_tokens, cited, left_out, shortened, revision };
        Self { pack: Some(pack), ..Self::found(found, fields, explain, &Cursor::default()) }
    }

    /// What was found, in a window.
    pub(super) fn windowed(response: ContextResponse, fields: Option<&[MemoryField]>, explain: bool) -> Self {
        let ContextResponse { context, revision, recall, .. } = response;
        let Context { messages, tokens, budgets, memory, older_turns } = context;
        let window = RecallWindow { messages, tokens, budgets, memory, older_turns, revision };
        Self {
            window: Some(window),
            ..Self::found(Recall { more: false, ..recall }, fields, explain, &Cursor::default())
        }
    }

    /// Number of memories.
    pub(super) fn len(&self) -> usize {
        self.data.len()
    }
}

/// A memory with all its fields, or with those that were asked for.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum RecalledMemory {
    Whole(Box<Memory>),
    Part(Map<String, Value>),
}

impl RecalledMemory {
    fn new(memory: Memory, fields: Option<&BTreeSet<String>>) -> Self {
        let Some(fields) = fields else { return Self::Whole(Box::new(memory)) };
        match serde_json::to_value(memory) {
            Ok(Value::Object(whole)) => {
                Self::Part(whole.into_iter().filter(|(name, _)| name == "id" || fields.contains(name)).collect())
            }
            _ => Self::Part(Map::new()),
        }
    }
}

/// The fields of a memory, of which all but the id may be missing.
impl PartialSchema for RecalledMemory {
    fn schema() -> RefOr<Schema> {
        let mut schema = Memory::schema();
        if let RefOr::T(Schema::Object(object)) = &mut schema {
            object.required = vec!["id".to_owned()];
            object.description = Some(
                "A memory. Only `id` is always there: `fields` chooses which of the others are returned.".to_owned(),
            );
        }
        schema
    }
}

impl ToSchema for RecalledMemory {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        Memory::schemas(schemas);
    }
}

macro_rules! fields {
    ($($variant:ident),+ $(,)?) => {
        /// A field of a memory.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
        #[serde(rename_all = "camelCase")]
        pub(super) enum MemoryField { $($variant),+ }

        #[cfg(test)]
        impl MemoryField {
            /// All of them.
            const ALL: &[Self] = &[$(Self::$variant),+];
        }
    };
}

fields! {
    Id, Version, Layer, Identifiers, ThreadId, RunId, ActorId, Role, Kind, Category, Content, ContentHash, Tokens, Tags,
    Metadata, Source, KnowledgePointer, AccessPolicy, Importance, Confidence, DecayRate, Pinned, AccessCount,
    LastAccessedAt, Relevance, EventTime, SaidAt, CreatedAt, ImportedAt, UpdatedAt, ValidFrom, ValidUntil, ExpiresAt,
    PurgeAt, SupersedesId, SupersededById, State,
}

impl MemoryField {
    /// The name, as in the record.
    fn name(self) -> String {
        serde_json::to_value(self).ok().and_then(|name| name.as_str().map(str::to_owned)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_a_memory_can_be_asked_for() {
        let RefOr::T(Schema::Object(memory)) = Memory::schema() else { panic!("a memory is an object") };
        let fields: BTreeSet<String> = memory.properties.keys().cloned().collect();
        assert_eq!(MemoryField::ALL.iter().map(|field| field.name()).collect::<BTreeSet<_>>(), fields);
    }
}
