//! What goes into a model's window?
//!
//! The context builder: system text, tools, memories that matter to the input, recent history and
//! the input, each within its part of the window.

use crate::pack::Format;
use crate::pack::context::{Context, ContextParts, Message, Window, build};
use crate::policy::Caller;
use crate::{Engine, RecallRequest, Result};

/// What the window is filled with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextRequest {
    /// What the model is told to be.
    pub system: String,
    /// Descriptions of its tools.
    pub tools: Vec<String>,
    /// The turns so far, oldest first.
    pub history: Vec<Message>,
    /// What was said last; memories are looked for by it.
    pub input: String,
    /// How large the window is and how it is shared out.
    pub window: Window,
    /// How memories are written.
    pub format: Format,
    /// How memories are looked for; its query is the input.
    pub recall: RecallRequest,
    /// Tell what changed since this revision.
    pub since: Option<i64>,
    /// Only changes of this conversation.
    pub thread_id: Option<String>,
}

impl Engine {
    /// Fills a model's window.
    pub async fn context(&self, caller: &Caller, request: ContextRequest) -> Result<Context> {
        let complexity = crate::plan::complexity::complexity(&request.input);
        let limit = request.recall.limit.or(Some(complexity.limit().max(self.config.retrieval.limit)));
        let recall = RecallRequest { query: request.input.clone(), limit, ..request.recall };
        let mut found = self.recall(caller, recall).await?;
        // Kinds that are only for those who ask for them do not come unasked.
        found.hits.retain(|hit| self.kinds.spec(&hit.memory.kind).in_context);
        let (_, delta) = self.delta(caller, request.since, request.thread_id.as_deref()).await?;
        let items = self.items(&found);
        let parts = ContextParts {
            system: &request.system,
            tools: &request.tools,
            memories: &items,
            delta: delta.as_ref(),
            history: &request.history,
            input: &request.input,
        };
        Ok(build(&parts, &request.window, request.format)?)
    }
}
