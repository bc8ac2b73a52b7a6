//! Reads memories: one by id, lists by filter, history and statistics.

use jiff::Timestamp;
use loci_store::{Cursor, Finding, LedgerQuery, Page, Stats};
use loci_types::{Edge, Filter, Layer, LedgerEntry, Memory, MemoryId, Reach, Relation, Visible};
use serde::Serialize;

use crate::access::bounds::{between, some_layers};
use crate::access::policy::Caller;
use crate::access::settings;
use crate::learn::consolidate::{MISSED, REFUSED, WRITTEN};
use crate::lifecycle::summary::{RUNS, SAVED};
use crate::{Engine, Result};

/// Maximum number of memories of a page.
const MAX_PAGE_MEMORIES: usize = 1_000;
/// Maximum number of ledger entries that one call returns.
const EVENTS: usize = 100_000;

/// Which memories to list.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ListRequest {
    /// The layers. Default: all that the identifiers allow.
    pub layers: Option<Vec<Layer>>,
    /// The filter. Default: valid memories.
    pub filter: Option<Filter>,
    /// After this place.
    pub cursor: Option<String>,
    /// Maximum number of memories. Default: 50, at most 1,000.
    pub limit: Option<usize>,
}

/// A page of memories.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ListResponse {
    /// The memories, newest first.
    pub memories: Vec<Memory>,
    /// Where the next page starts. Absent on the last page.
    #[cfg_attr(feature = "schema", schema(required))]
    pub next_cursor: Option<String>,
    /// How many there are on all pages.
    pub total_count: u64,
}

/// What happened to a memory.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// The entries, oldest first.
    pub events: Vec<LedgerEntry>,
}

/// How learning goes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct LearningStats {
    /// Memories that were learned from sessions.
    pub statements: u64,
    /// Statements that a language model wrote and that were refused.
    pub refused: u64,
    /// The share of learned statements that kept the writing rules. Absent if nothing was learned yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_pass_rate: Option<f64>,
    /// Requests to remember something for which nothing was found to keep.
    pub missed: u64,
    /// Summaries of long conversations that are kept.
    pub summaries: u64,
    /// Tokens that these summaries have saved.
    pub tokens_saved: u64,
    /// Tokens that the language model has read and written today.
    pub llm_tokens_today: u64,
}

impl Engine {
    /// One memory by its id. A soft-deleted one is seen too, with its state.
    pub async fn get(&self, caller: &Caller, id: MemoryId) -> Result<Memory> {
        let visible = self.visible_by_id(caller).await?;
        self.one(&visible, id).await
    }

    /// The memory with this id, or that there is none to be seen.
    pub(crate) async fn one(&self, visible: &Visible, id: MemoryId) -> Result<Memory> {
        let mut found = self.store.fetch(visible, &[id]).await?;
        Ok(found.pop().ok_or(loci_store::Error::NotFound(id))?)
    }

    /// A page of memories, newest first.
    pub async fn list(&self, caller: &Caller, request: ListRequest) -> Result<ListResponse> {
        some_layers(request.layers.as_deref())?;
        let visible = self.visible(caller, request.layers.as_deref()).await?;
        let filter = request.filter.unwrap_or_else(|| Filter::at(self.now()));
        filter.validate()?;
        settings::within(visible.categories(), &filter.categories)?;
        let limit = request.limit.unwrap_or(50);
        between("limit", limit, 1, MAX_PAGE_MEMORIES)?;
        let after = request.cursor.map(|cursor| cursor.parse::<Cursor>()).transpose()?;
        let listing = self.store.scan(&visible, &filter, Page { after, limit }).await?;
        Ok(ListResponse {
            memories: listing.memories,
            next_cursor: listing.next.map(|cursor| cursor.to_string()),
            total_count: listing.total,
        })
    }

    /// The number of memories that match the filter.
    pub async fn count(&self, caller: &Caller, filter: &Filter) -> Result<u64> {
        let visible = self.visible(caller, None).await?;
        filter.validate()?;
        settings::within(visible.categories(), &filter.categories)?;
        Ok(self.store.count(&visible, filter).await?)
    }

    /// What happened to a memory, oldest first.
    pub async fn history(&self, caller: &Caller, id: MemoryId, limit: usize) -> Result<History> {
        between("limit", limit, 1, EVENTS)?;
        let visible = self.visible_by_id(caller).await?;
        let events = self.store.ledger(&visible, &LedgerQuery::Memory(id), limit).await?.entries;
        if events.is_empty() {
            return Err(loci_store::Error::NotFound(id).into());
        }
        Ok(History { events })
    }

    /// The vectors of these memories by the present model; one without is left out.
    pub async fn embeddings(&self, caller: &Caller, ids: &[MemoryId]) -> Result<Vec<(MemoryId, Vec<f32>)>> {
        let Some(model) = self.model() else { return Ok(Vec::new()) };
        let visible = self.visible_by_id(caller).await?;
        let found = self.store.vectors(&visible, &model.name, ids).await?;
        Ok(found.into_iter().map(|(id, vector)| (id, vector.values)).collect())
    }

    /// The links of a memory, of these relations or of all.
    pub async fn edges(&self, caller: &Caller, id: MemoryId, relations: &[Relation]) -> Result<Vec<Edge>> {
        let visible = self.visible_by_id(caller).await?;
        self.one(&visible, id).await?;
        Ok(self.store.edges(&visible, &Filter::everything(self.now()), &[id], relations).await?)
    }

    /// How learning goes, over the whole tenant; none for those who do not see it.
    pub async fn learned(&self, caller: &Caller) -> Result<Option<LearningStats>> {
        let visible = self.visible_by_id(caller).await?;
        if *visible.reach() != Reach::Whole {
            return Ok(None);
        }
        let keys = [WRITTEN, REFUSED, MISSED, RUNS, SAVED].map(str::to_owned);
        let mut learned =
            LearningStats { llm_tokens_today: self.spent_today(&caller.tenant).await?, ..LearningStats::default() };
        for space in self.store.spaces(&caller.tenant).await? {
            for (key, count) in self.store.notes(&visible, &space, &keys, self.now()).await? {
                let count = count.as_f64().unwrap_or(0.0) as u64;
                match key.as_str() {
                    WRITTEN => learned.statements += count,
                    REFUSED => learned.refused += count,
                    MISSED => learned.missed += count,
                    RUNS => learned.summaries += count,
                    _ => learned.tokens_saved += count,
                }
            }
        }
        let all = learned.statements + learned.refused;
        learned.first_pass_rate = (all > 0).then(|| learned.statements as f64 / all as f64);
        Ok(Some(learned))
    }

    /// What there is, counted.
    pub async fn stats(&self, caller: &Caller) -> Result<Stats> {
        Ok(self.store.stats(&self.visible_by_id(caller).await?).await?)
    }

    /// Whether the caller's spaces have known a model other than the present one. Cheap; only then
    /// is it worth counting.
    pub async fn knows_other_models(&self, caller: &Caller) -> Result<bool> {
        let Some(embedder) = &self.embedder else { return Ok(false) };
        let names = self.store.model_names(&self.visible_by_id(caller).await?).await?;
        let languages = self.languages.as_ref().map(|embedder| &embedder.model().name);
        Ok(names.iter().any(|name| *name != embedder.model().name && Some(name) != languages))
    }

    /// Checks the store for damage, and repairs it if `repair` is set.
    pub async fn doctor(&self, caller: &Caller, repair: bool) -> Result<Vec<Finding>> {
        Ok(self.store.check(&self.visible_by_id(caller).await?, repair).await?)
    }

    /// A filter over every state, for those who look after the store.
    pub fn everything(&self, at: Option<Timestamp>) -> Filter {
        Filter::everything(at.unwrap_or_else(|| self.now()))
    }
}
