//! The body of a question.

use jiff::Timestamp;
use loci_engine::pack::Format;
use loci_engine::pack::context::{Message, Window};
use loci_engine::{Caller, ContextRequest, QueryRequest, RecallRequest, Strategy, optional_instant};
use loci_types::{ErrorKind, Layer};
use serde::Deserialize;
use utoipa::ToSchema;

use super::answer::MemoryField;
use super::cursor::Cursor;
use super::read_filter;
use crate::App;
use crate::failure::Failure;
use crate::v1::filter::MemoryFilter;

/// A question to the memory.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Recall)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct RecallBody {
    /// The question, in plain words. At most 8,192 characters.
    query: String,
    /// Maximum number of memories. Default: the limit of the agent's settings, else 10. With `pack` and without such a
    /// setting: 5 for a simple question and 20 for a complex one; with `window` 10 and 20.
    #[schema(minimum = 1, maximum = 100)]
    limit: Option<usize>,
    /// Where the page starts: `nextCursor` of the page before. Default: the first page. The other fields must be the
    /// same for all pages. The pages of one question return at most 1,000 memories. Not with `pack` or `window`.
    cursor: Option<String>,
    /// Minimum cosine similarity of what the vector search contributes. 0 returns whatever there is, even if it does not
    /// answer the question. Default: the threshold of the agent's settings, else of the configuration.
    #[schema(minimum = 0, maximum = 1)]
    threshold: Option<f64>,
    /// The memories that are searched. Default: all that hold now, in all layers that the identifiers open.
    filter: Option<MemoryFilter>,
    /// The instant or day that counts as now: for "last week" in the question, for expiry and for recency. Default: the
    /// time of the request.
    #[serde(default, deserialize_with = "optional_instant")]
    #[schema(value_type = Option<String>)]
    now: Option<Timestamp>,
    /// Which searches are combined, and what decides the order.
    /// Default: `retrieval.strategy` of the configuration, which is `hybrid`.
    strategy: Option<Strategy>,
    /// Minimum score of a result. Default: that of the agent's settings, else of the configuration.
    #[schema(minimum = 0, maximum = 1)]
    score_threshold: Option<f64>,
    /// The conversation that receives the answer. What it repeats of the answer is not learned from it again.
    thread_id: Option<String>,
    /// Whether each result has `explain`, which says how its score is made up.
    #[serde(default)]
    #[schema(default = false)]
    pub(super) explain: bool,
    /// The fields of each memory that are returned; `id` always is. Default: all.
    #[schema(min_items = 1)]
    pub(super) fields: Option<Vec<MemoryField>>,
    /// The revision after which changes of the memory are listed at the beginning of the text of `pack` or `window`:
    /// `revision` of an earlier answer. Default: no list of changes.
    #[schema(minimum = 0)]
    after_revision: Option<i64>,
    /// The conversation whose changes are listed. Needs `afterRevision`. Default: the changes of all.
    changes_thread_id: Option<String>,
    /// Also return the memories as one text within a budget of tokens. Not with `window`.
    pack: Option<PackOptions>,
    /// Also return messages that fill a model's window: system prompt, memories, conversation and question. Not with
    /// `pack`.
    window: Option<WindowOptions>,
}

/// How memories are packed into a text.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct PackOptions {
    /// Maximum number of tokens of the text, counted with the vocabulary `o200k_base`. Default: 1,000 for a simple
    /// question, 3,000 for a complex one.
    #[schema(minimum = 0, maximum = 1_000_000)]
    budget_tokens: Option<usize>,
    /// How the text is written.
    format: Format,
    /// Whether memories that do not fit are shortened instead of left out.
    summarize: bool,
}

/// A model's window, and what else goes into it.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(super) struct WindowOptions {
    /// The size of the window in tokens, including the room for the model's answer.
    #[schema(minimum = 1, maximum = 10_000_000, default = 128_000)]
    tokens: Option<usize>,
    /// The part of the window for memories, in per cent.
    #[schema(minimum = 0, maximum = 100, default = 70)]
    memory_percent: Option<usize>,
    /// The system prompt. It is never cut.
    system: String,
    /// Descriptions of the model's tools. They are sent beside the messages, but take their part of the window.
    #[schema(max_items = 1024)]
    tools: Vec<String>,
    /// The conversation so far, the oldest message first. The newest that fit are kept.
    #[schema(max_items = 10000)]
    history: Vec<Message>,
    /// Whether memories and messages that do not fit are summarized instead of left out.
    summarize: bool,
    /// How the memories are written.
    format: Format,
}

/// What the engine is asked.
pub(super) enum Question {
    Recall(Box<RecallRequest>),
    Pack(Box<QueryRequest>),
    Window(Box<ContextRequest>),
}

impl RecallBody {
    /// The page that is asked for.
    pub(super) fn cursor(&self) -> Result<Cursor, Failure> {
        Cursor::read(self.cursor.as_deref())
    }

    /// Refuses fields that exclude each other.
    pub(super) fn check(&self, operation: &str) -> Result<(), Failure> {
        let refuse = |field: &str, message: &str, hint: &str| {
            Err(Failure::new(ErrorKind::InvalidInput, message, operation).field(field).hint(hint))
        };
        let prompt = self.pack.is_some() || self.window.is_some();
        if self.pack.is_some() && self.window.is_some() {
            return refuse(
                "window",
                "pack and window exclude each other",
                "send two requests, or leave one of them out",
            );
        }
        if prompt && self.cursor.is_some() {
            return refuse("cursor", "a pack or a window has no pages", "leave cursor out, or pack and window");
        }
        if !prompt && (self.after_revision.is_some() || self.changes_thread_id.is_some()) {
            let field = if self.after_revision.is_some() { "afterRevision" } else { "changesThreadId" };
            return refuse(field, "changes are listed in a pack or a window", "give pack or window, or leave it out");
        }
        if self.after_revision.is_some_and(i64::is_negative) {
            return refuse(
                "afterRevision",
                "afterRevision must not be negative",
                "give the revision of an earlier answer",
            );
        }
        if self.after_revision.is_none() && self.changes_thread_id.is_some() {
            return refuse(
                "changesThreadId",
                "changesThreadId needs afterRevision",
                "give the revision of an earlier answer",
            );
        }
        if self.fields.as_ref().is_some_and(Vec::is_empty) {
            return refuse("fields", "fields is empty", "leave it out for all fields");
        }
        Ok(())
    }

    /// The layers that are asked.
    pub(super) fn layers(&self) -> Option<&[Layer]> {
        self.filter.as_ref()?.layers()
    }

    /// The question as the engine takes it.
    pub(super) async fn question(&mut self, app: &App, caller: &Caller, operation: &str) -> Result<Question, Failure> {
        let now = self.now.unwrap_or_else(|| app.engine.now());
        let (layers, filter) = read_filter(self.filter.take(), &app.engine, caller, now, operation).await?;
        let recall = RecallRequest {
            query: std::mem::take(&mut self.query),
            layers,
            limit: self.limit,
            threshold: self.threshold,
            filter,
            at: self.now,
            strategy: self.strategy,
            score_threshold: self.score_threshold,
            uncounted: false,
            for_thread: self.thread_id.take(),
            returned: self.cursor()?.returned().to_vec(),
        };
        let (since, thread_id) = (self.after_revision, self.changes_thread_id.take());
        Ok(match (self.pack.take(), self.window.take()) {
            (Some(PackOptions { budget_tokens, format, summarize }), _) => {
                let hits_only = format == Format::Bullets;
                let request = QueryRequest { recall, format, budget_tokens, summarize, since, thread_id, hits_only };
                Question::Pack(Box::new(request))
            }
            (None, Some(window)) => Question::Window(Box::new(window.request(recall, since, thread_id))),
            (None, None) => Question::Recall(Box::new(recall)),
        })
    }
}

impl WindowOptions {
    fn request(self, recall: RecallRequest, since: Option<i64>, thread_id: Option<String>) -> ContextRequest {
        let usual = Window::default();
        let window = Window {
            tokens: self.tokens.unwrap_or(usual.tokens),
            memory_percent: self.memory_percent.unwrap_or(usual.memory_percent),
            summarize: self.summarize,
            ..usual
        };
        let Self { system, tools, history, format, .. } = self;
        ContextRequest { system, tools, history, window, format, recall, since, thread_id }
    }
}
