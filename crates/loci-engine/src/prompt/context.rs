//! Builds the messages for a model's context window.
//!
//! System text, tools, memories that match the input, recent history and the input each have a share of the window.

use serde::Serialize;

use crate::access::bounds::between;
use crate::access::policy::Caller;
use crate::prompt::pack::Format;
use crate::prompt::pack::context::{Context, ContextParts, Message, Window, build};
use crate::{Engine, Recall, RecallRequest, Result};

/// Maximum size of a window, in tokens.
const MAX_WINDOW_TOKENS: usize = 10_000_000;
/// The most tools.
const TOOLS: usize = 1_024;
/// Maximum number of turns.
const MAX_TURNS: usize = 10_000;

/// Number of memories that are recalled for a window, of which as many are packed as fit.
const CANDIDATES: usize = 100;

/// What the window is filled with.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ContextRequest {
    /// The system prompt.
    pub system: String,
    /// Descriptions of its tools.
    pub tools: Vec<String>,
    /// The turns so far, oldest first.
    pub history: Vec<Message>,
    /// How large the window is and how it is shared out.
    pub window: Window,
    /// How memories are written.
    pub format: Format,
    /// How memories are looked for. Its query is what the user says now, and the last message of the window.
    pub recall: RecallRequest,
    /// Tell what changed since this revision.
    pub since: Option<i64>,
    /// Only changes of this conversation.
    pub thread_id: Option<String>,
}

/// What goes into the window, and what there is to know about it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ContextResponse {
    /// The messages with their token counts.
    #[serde(flatten)]
    pub context: Context,
    /// The revision now; ask for what changed since then the next time.
    pub revision: i64,
    /// Parts that could not be asked.
    pub degraded: Vec<String>,
    /// What recall found, of which the window holds what fits.
    #[serde(skip)]
    pub recall: Recall,
}

impl Engine {
    /// Fills a model's window.
    pub async fn context(&self, caller: &Caller, request: ContextRequest) -> Result<ContextResponse> {
        between("window.tokens", request.window.tokens, 1, MAX_WINDOW_TOKENS)?;
        between("memoryPercent", request.window.memory_percent, 0, 100)?;
        between("tools", request.tools.len(), 0, TOOLS)?;
        between("history", request.history.len(), 0, MAX_TURNS)?;
        let RecallRequest { query, uncounted, layers, for_thread, .. } = request.recall.clone();
        let asked = request.recall.clone();
        let found = self.recall_for_prompt(caller, request.recall, CANDIDATES).await?;
        let since = (request.since, request.thread_id.as_deref());
        let (revision, delta) = self.delta(caller, layers.as_deref(), since).await?;
        let mut items = self.items(caller, &found);
        items.extend(self.surroundings(caller, &asked, &found).await?);
        let parts = ContextParts {
            system: &request.system,
            tools: &request.tools,
            memories: &items,
            delta: delta.as_ref(),
            history: &request.history,
            input: &query,
        };
        let context = build(&parts, &request.window, request.format)?;
        if !uncounted {
            self.count_cited(caller, for_thread.as_deref(), &found, &context.memory.cited).await;
        }
        Ok(ContextResponse { context, revision, degraded: found.degraded.clone(), recall: found })
    }
}
