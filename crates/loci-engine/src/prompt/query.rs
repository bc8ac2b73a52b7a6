//! `memory.query`: recall and packing in one call.
//!
//! A query, filters and a token budget give bullets or whole memories. On-demand recall is the same call with a small
//! `top_k`.

use loci_types::{Filter, MemoryId};
use serde::{Deserialize, Serialize};

use crate::access::bounds::between;
use crate::access::policy::Caller;
use crate::prompt::pack::{Format, PackBudget, PackedText, pack};
use crate::{Answered, Engine, Recall, RecallHit, RecallRequest, Result};

/// Maximum budget, in tokens.
const MAX_BUDGET_TOKENS: usize = 1_000_000;

/// A question with a budget.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryRequest {
    /// The question, its filters and its number of hits.
    pub recall: RecallRequest,
    /// How the answer is written.
    pub format: Format,
    /// Maximum number of tokens. Default: `retrieval.context_token_budget`, or by the complexity of the query.
    pub budget_tokens: Option<usize>,
    /// Whether what does not fit is shortened instead of left out.
    pub summarize: bool,
    /// The revision after which changes are listed. Default: no changes are listed.
    pub since: Option<i64>,
    /// Lists only changes of this thread. The results are recorded for it, so that they are not learned from it
    /// again.
    pub thread_id: Option<String>,
    /// Whether only hits are packed, without descriptions of entities and the turns that hits were learned from.
    pub hits_only: bool,
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct QueryResponse {
    /// What goes into the prompt.
    pub text: String,
    /// How many tokens that is.
    pub tokens: usize,
    /// The most it may have been.
    pub budget_tokens: usize,
    /// The memories in it.
    pub cited: Vec<MemoryId>,
    /// Those that found no room.
    pub left_out: Vec<MemoryId>,
    /// Those of the cited that were shortened.
    pub shortened: Vec<MemoryId>,
    /// The revision now; ask for what changed since then the next time.
    pub revision: i64,
    /// The header that lists what changed, as a whole. Empty if nothing changed, or if no revision was given.
    pub updates: String,
    /// The hits themselves.
    pub hits: Vec<RecallHit>,
    /// Parts that could not be asked.
    pub degraded: Vec<String>,
    /// What the question was taken to be after.
    pub intent: String,
    /// Whether what is known answers it.
    pub answered: Answered,
    /// How likely the first hits answer it, 0..1.
    pub confidence: f64,
}

impl Engine {
    /// Finds what matters and writes it within a budget.
    pub async fn query(&self, caller: &Caller, request: QueryRequest) -> Result<QueryResponse> {
        let complexity = crate::recall::plan::complexity::complexity(&request.recall.query);
        let budget_tokens =
            request.budget_tokens.or(self.config.retrieval.context_token_budget).unwrap_or_else(|| complexity.budget());
        between("budgetTokens", budget_tokens, 0, MAX_BUDGET_TOKENS)?;
        let uncounted = request.recall.uncounted;
        let thread = request.recall.for_thread.clone().or_else(|| request.thread_id.clone());
        let layers = request.recall.layers.clone();
        let asked = request.recall.clone();
        let found = self.recall_for_prompt(caller, request.recall, complexity.limit()).await?;
        let mut items = self.items(caller, &found);
        if !request.hits_only {
            items.extend(self.surroundings(caller, &asked, &found).await?);
        }
        let since = (request.since, request.thread_id.as_deref());
        let (revision, delta) = self.delta(caller, layers.as_deref(), since).await?;
        let budget = PackBudget { tokens: budget_tokens, summarize: request.summarize, ..PackBudget::default() };
        let PackedText { text, tokens, cited, left_out, shortened } =
            pack(&items, delta.as_ref(), request.format, &budget);
        if !uncounted {
            self.count_cited(caller, thread.as_deref(), &found, &cited).await;
        }
        let Recall { hits, degraded, intent, answered, confidence, more: _ } = found;
        Ok(QueryResponse {
            text,
            tokens,
            budget_tokens,
            cited,
            left_out,
            shortened,
            revision,
            updates: delta.map(|delta| delta.header()).unwrap_or_default(),
            hits,
            degraded,
            intent,
            answered,
            confidence,
        })
    }

    /// Recalls what may come into a prompt: kinds that are only for those who ask for them by kind or
    /// category stay out, categories keep to their modes, and nothing is counted yet.
    pub(crate) async fn recall_for_prompt(
        &self,
        caller: &Caller,
        mut request: RecallRequest,
        limit: usize,
    ) -> Result<Recall> {
        let settings = self.settings_of(caller).await?;
        let most = self.config.retrieval.max_limit;
        let limit = request.limit.or(settings.limit).unwrap_or_else(|| limit.min(most));
        let categories = &self.config.categories;
        request.limit = Some(categories.limit(limit, most.max(limit)));
        request.uncounted = true;
        let now = request.at.unwrap_or_else(|| self.now());
        let filter = request.filter.get_or_insert_with(|| Filter::at(now));
        let (layers, whole) = (request.layers.clone(), categories.any_whole().then(|| filter.clone()));
        if filter.kinds.is_empty() && filter.categories.is_empty() {
            filter.kinds = self.kinds.iter().filter(|kind| kind.in_context).map(|kind| kind.name.clone()).collect();
        }
        let mut found = self.recall(caller, request).await?;
        categories.keep(&mut found.hits, limit);
        if let Some(filter) = whole {
            self.add_whole(&self.visible(caller, layers.as_deref()).await?, &filter, &mut found.hits).await?;
        }
        Ok(found)
    }

    /// Counts a use of the memories that were packed. Those that were left out are not counted.
    pub(crate) async fn count_cited(&self, caller: &Caller, thread: Option<&str>, found: &Recall, cited: &[MemoryId]) {
        let used = found.hits.iter().filter(|hit| cited.contains(&hit.memory.id));
        let used: Vec<RecallHit> = used.cloned().collect();
        self.record_returned(caller, thread, &used).await;
        if found.answered == Answered::Yes {
            self.count_used(caller, &used).await;
        }
    }
}
