//! The feed: the ledgers of all visible spaces as one resumable stream.
//!
//! Within a space the order is that of the commits; between spaces it is that of the clock. **Invariant:** however
//! the stream is divided into pages, each entry is delivered once: a cursor moves only past entries that were
//! delivered or never will be.

mod cursor;

use std::collections::{HashMap, VecDeque};

use jiff::Timestamp;
use loci_store::LedgerQuery;
use loci_types::{Error, Event, Kind, Layer, LedgerEntry, Memory, MemoryId, Space, State, Visible};
use serde::Serialize;
use serde_json::Value;

pub use self::cursor::FeedCursor;
use crate::access::policy::Caller;
use crate::{Engine, Result};

/// Maximum number of entries of a page.
const MAX_PAGE_ENTRIES: usize = 1_000;
/// Number of entries of a page if the request has no limit.
const DEFAULT_PAGE_ENTRIES: usize = 100;
/// Maximum number of reads of one call that find no matching entry.
const MAX_EMPTY_READS: usize = 16;
/// Minimum number of entries that are read from a space at once.
const MIN_READ_ENTRIES: usize = 16;

/// Which ledger entries are wanted. An empty list or an absent value does not restrict.
///
/// A cursor belongs to the request it was made with: entries that it excluded are skipped for good.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FeedRequest {
    /// The position after which entries are returned. Default: the beginning.
    pub cursor: FeedCursor,
    /// The layers of the memories. Default: all that the identifiers allow.
    pub layers: Option<Vec<Layer>>,
    /// Any of these events.
    pub events: Vec<Event>,
    /// About this memory.
    pub memory: Option<MemoryId>,
    /// In this conversation, or about a memory of it.
    pub thread: Option<String>,
    /// About memories of any of these kinds.
    pub kinds: Vec<String>,
    /// Maximum number of entries. Default: 100, at most 1,000.
    pub limit: Option<usize>,
}

/// A page of the feed.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FeedPage {
    /// The entries, oldest first.
    pub entries: Vec<FeedEntry>,
    /// The cursor before the first entry, with a position in every space. [`FeedCursor::pass`] advances it entry by
    /// entry, for clients that may be interrupted within a page.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub began: FeedCursor,
    /// The cursor of the next page.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    pub cursor: FeedCursor,
    /// Whether more entries are available already.
    pub more: bool,
}

/// A ledger entry with the current content of its memory. Earlier content is in the history.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct FeedEntry {
    /// The space in which it happened.
    pub space: String,
    /// Its number within the space.
    pub sequence: i64,
    /// When.
    #[serde(rename = "createdAt")]
    pub at: Timestamp,
    /// What, in capitals as history shows it.
    pub event: String,
    /// About which memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_id: Option<MemoryId>,
    /// The version after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u64>,
    /// The names of the fields that changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<String>,
    /// Who.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// Which part of Loci.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
    /// Why.
    pub reason: String,
    /// In which conversation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread_id: Option<String>,
    /// The actor who requested the change.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// The memory's layer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<Layer>,
    /// The memory's kind now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The memory's category now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Where the memory stands now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<State>,
    /// What the memory says now, unless it is forgotten or only proposed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
}

/// What is left of one space in this call.
struct Stream {
    space: Space,
    /// How far was looked.
    position: i64,
    /// How far there was something when the call began.
    end: i64,
    waiting: VecDeque<FeedEntry>,
}

impl Stream {
    fn is_hungry(&self) -> bool {
        self.waiting.is_empty() && self.position < self.end
    }

    /// The position up to which all entries were delivered or never will be.
    fn settled(&self) -> i64 {
        self.waiting.front().map_or(self.position, |entry| entry.sequence - 1)
    }
}

impl Engine {
    /// The current end of what this caller may see.
    pub async fn feed_now(&self, caller: &Caller) -> Result<FeedCursor> {
        let visible = self.visible(caller, None).await?;
        let ends = self.store.ledger_heads(&visible).await?;
        Ok(FeedCursor::end(&visible, &ends))
    }

    /// What happened after a place to memories that this caller may see, oldest first.
    pub async fn feed(&self, caller: &Caller, request: &FeedRequest) -> Result<FeedPage> {
        let limit = request.limit.unwrap_or(DEFAULT_PAGE_ENTRIES);
        if limit == 0 || limit > MAX_PAGE_ENTRIES {
            return Err(Error::invalid(
                "limit",
                format!("limit is {limit}, but must be between 1 and {MAX_PAGE_ENTRIES}"),
            )
            .into());
        }
        let visible = self.followed(caller, request.layers.as_deref()).await?;
        let ends = self.store.ledger_heads(&visible).await?;
        let began = request.cursor.completed(&visible, &ends);
        let stream = |(space, end)| Stream { position: began.position(&space), space, end, waiting: VecDeque::new() };
        let mut streams: Vec<Stream> = ends.into_iter().map(stream).collect();
        let (mut entries, mut fruitless) = (Vec::new(), 0);
        while entries.len() < limit {
            if streams.iter().any(Stream::is_hungry) {
                if fruitless >= MAX_EMPTY_READS {
                    break;
                }
                fruitless += self.fill(&visible, request, &mut streams, limit - entries.len()).await?;
                continue;
            }
            match earliest(&mut streams).and_then(|stream| stream.waiting.pop_front()) {
                Some(entry) => entries.push(entry),
                None => break,
            }
        }
        let mut cursor = began.clone();
        for stream in &streams {
            cursor.put(stream.space.clone(), stream.settled());
        }
        let more = streams.iter().any(|stream| stream.settled() < stream.end);
        Ok(FeedPage { entries, began, cursor, more })
    }

    /// What is read. A caller who sees the whole tenant keeps doing so: layers only filter.
    async fn followed(&self, caller: &Caller, layers: Option<&[Layer]>) -> Result<Visible> {
        let whole = caller.everyone && caller.identifiers.is_empty();
        self.visible(caller, layers.filter(|_| !whole)).await
    }

    /// Reads on in every space without waiting entries. Returns the number of spaces in which nothing matched.
    async fn fill(
        &self,
        visible: &Visible,
        request: &FeedRequest,
        streams: &mut [Stream],
        limit: usize,
    ) -> Result<usize> {
        let hungry: Vec<&mut Stream> = streams.iter_mut().filter(|stream| stream.is_hungry()).collect();
        let share = limit.div_ceil(hungry.len().max(1)).max(MIN_READ_ENTRIES);
        let mut found = Vec::with_capacity(hungry.len());
        for stream in hungry {
            let mut page = self
                .store
                .ledger(visible, &LedgerQuery::After { space: stream.space.clone(), sequence: stream.position }, share)
                .await?;
            // A space that was dropped meanwhile does not advance, and has no more entries.
            stream.end = if page.position > stream.position { stream.end } else { stream.position };
            stream.position = page.position;
            page.entries.retain(|entry| matches_entry(request, entry));
            found.push((stream, page.entries));
        }
        let memories = self.memories_of(visible, found.iter().flat_map(|(_, lines)| lines)).await?;
        let mut fruitless = 0;
        for (stream, lines) in found {
            let pairs = lines.into_iter().map(|line| {
                let memory = line.memory_id.and_then(|id| memories.get(&id));
                (line, memory)
            });
            let matching = pairs.filter(|(line, memory)| matches_memory(request, line, *memory));
            stream.waiting = matching.map(|(line, memory)| entry(line, memory)).collect();
            fruitless += usize::from(stream.waiting.is_empty());
        }
        Ok(fruitless)
    }

    /// The memories that these lines are about, as far as they are still there.
    pub(crate) async fn memories_of(
        &self,
        visible: &Visible,
        lines: impl Iterator<Item = &LedgerEntry>,
    ) -> Result<HashMap<MemoryId, Memory>> {
        let mut ids: Vec<MemoryId> = lines.filter_map(|line| line.memory_id).collect();
        ids.sort();
        ids.dedup();
        if ids.is_empty() {
            return Ok(HashMap::new());
        }
        let memories = self.store.fetch(visible, &ids).await?;
        Ok(memories.into_iter().map(|memory| (memory.id, memory)).collect())
    }
}

/// The space whose next entry happened first. Within a space the order of the commits stays, whatever
/// the clock said.
fn earliest(streams: &mut [Stream]) -> Option<&mut Stream> {
    let next = |stream: &&mut Stream| stream.waiting.front().map(|entry| entry.at);
    streams.iter_mut().filter(|stream| !stream.waiting.is_empty()).min_by_key(next)
}

/// Whether an entry matches the request by its own fields.
fn matches_entry(request: &FeedRequest, line: &LedgerEntry) -> bool {
    let named = |event: &Event| event.name().eq_ignore_ascii_case(&line.event);
    (request.events.is_empty() || request.events.iter().any(named))
        && request.memory.is_none_or(|id| line.memory_id == Some(id))
}

/// Whether an entry matches the request by its memory. A memory that was removed has no layer or kind.
fn matches_memory(request: &FeedRequest, line: &LedgerEntry, memory: Option<&Memory>) -> bool {
    let of_thread = |thread: &String| {
        line.thread_id.as_ref() == Some(thread)
            || memory.is_some_and(|memory| memory.thread_id.as_ref() == Some(thread))
    };
    let of_kind = |kind: &String| memory.is_some_and(|memory| memory.kind.name() == kind);
    let of_layer = |layer: &Layer| memory.is_some_and(|memory| memory.layer == *layer);
    request.thread.as_ref().is_none_or(of_thread)
        && (request.kinds.is_empty() || request.kinds.iter().any(of_kind))
        && request.layers.as_ref().is_none_or(|layers| layers.iter().any(of_layer))
}

pub(crate) fn entry(line: LedgerEntry, memory: Option<&Memory>) -> FeedEntry {
    let readable = |memory: &&Memory| !matches!(memory.state, State::SoftDeleted | State::Proposed);
    FeedEntry {
        changed: changed(&line),
        space: line.space,
        sequence: line.sequence,
        at: line.at,
        event: line.event,
        memory_id: line.memory_id,
        version: line.version,
        actor: line.actor,
        node: line.node,
        reason: line.reason,
        thread_id: line.thread_id,
        request_id: line.request_id,
        layer: memory.map(|memory| memory.layer),
        kind: memory.map(|memory| memory.kind.clone()),
        category: memory.and_then(|memory| memory.category.clone()),
        state: memory.map(|memory| memory.state),
        content: memory.filter(readable).map(|memory| memory.content.clone()),
    }
}

/// The fields that a line changed. Only lines that tell what was there before speak of fields.
fn changed(line: &LedgerEntry) -> Vec<String> {
    let fields = |value: &Option<Value>| match value {
        Some(Value::Object(fields)) => fields.keys().cloned().collect::<Vec<_>>(),
        _ => Vec::new(),
    };
    if line.old.is_none() {
        return Vec::new();
    }
    let mut names = [fields(&line.old), fields(&line.new)].concat();
    names.sort();
    names.dedup();
    names
}
