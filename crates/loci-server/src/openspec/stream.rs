//! `GET /stream`: server-sent events.
//!
//! `updates` sends entries that are created, updated and deleted, from now on or from a cursor; `query` sends the results
//! of a query one by one.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use loci_engine::{Caller, FeedEntry, FeedRequest};
use loci_types::{Error, Event as Line, MemoryId, State as MemoryState};
use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::failure::FailureResponses;
use super::layer_view::{LayerSelector, LayerView, with_identifiers};
use super::query::{EntryFilters, EntryQuery, QueryAnswer, QueryMode, QueryOptions, answer};
use crate::App;
use crate::event_stream::{EventStream, StreamRequest};
use crate::extract::Params;
use crate::failure::{Failure, to_failure};
use crate::guard::Principal;
use crate::metrics::Protocol;

const OPERATION: &str = "stream";

/// The ledger events that change an entry.
const EVENTS: [Line; 10] = [
    Line::Add,
    Line::Update,
    Line::Delete,
    Line::Merge,
    Line::Ttl,
    Line::Restore,
    Line::Supersede,
    Line::AccessPolicy,
    Line::Consent,
    Line::Erase,
];

with_identifiers!(
    /// What to stream, and the identifiers of the scope.
    #[derive(utoipa::IntoParams)]
    #[into_params(parameter_in = Query)]
    StreamParams {
        /// `updates` or `query`.
        #[serde(rename = "type")]
        #[param(rename = "type")]
        #[param(inline)]
        sort: Option<StreamType>,
        /// For `updates`: the cursor to resume from. The header `Last-Event-ID` takes precedence.
        after: Option<String>,
        /// For `query`: the text of the query.
        query: Option<String>,
        /// For `query`: how entries are searched.
        mode: Option<QueryMode>,
        /// For `query`: maximum number of results. Default: 10.
        #[param(minimum = 1, maximum = 100)]
        limit: Option<usize>,
        /// The layer types, separated by commas.
        types: Option<String>,
    }
);

/// What to stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = OpenSpecStream)]
pub(super) enum StreamType {
    /// Changes of entries.
    #[default]
    Updates,
    /// The results of a query.
    Query,
}

/// A change of an entry.
#[derive(Debug, Serialize)]
struct EntryUpdate {
    event: &'static str,
    entry: EntryOrId,
    timestamp: Timestamp,
}

/// The present entry, or only its id if it is deleted.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum EntryOrId {
    Entry(Box<Entry>),
    Id { id: MemoryId },
}

/// Streams changes of entries, or the results of a query.
#[utoipa::path(
    get, path = "/openspec/v1/knowledge/stream", operation_id = "openspecStream", tag = "openspec",
    params(
        StreamParams,
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that was received")
    ),
    responses(
        (status = 200, description = "Server-sent events", body = String, content_type = "text/event-stream"),
        FailureResponses
    ),
    security(("key" = ["reader"]))
)]
pub(super) async fn stream(
    State(app): State<Arc<App>>,
    principal: Principal,
    headers: HeaderMap,
    Params(following): Params<StreamParams>,
) -> Result<Response, Failure> {
    match following.sort.unwrap_or_default() {
        StreamType::Updates => updates(app, principal, headers, following).await,
        StreamType::Query => results(&app, &principal, following).await,
    }
}

async fn updates(
    app: Arc<App>,
    principal: Principal,
    headers: HeaderMap,
    following: StreamParams,
) -> Result<Response, Failure> {
    let unfit = [
        ("query", following.query.is_some()),
        ("mode", following.mode.is_some()),
        ("limit", following.limit.is_some()),
    ];
    if let Some((field, _)) = unfit.into_iter().find(|(_, given)| *given) {
        let error = Error::invalid(field, format!("{field} is only allowed with type=query"));
        return Err(to_failure(&error.hint("leave the field out, or use type=query"), OPERATION));
    }
    let caller = principal.caller(following.scope(), OPERATION)?;
    let mut filter = loci_types::Filter::at(app.engine.now());
    let view = LayerView::of(types(following.types.as_deref())).map_err(|error| to_failure(&error, OPERATION))?;
    let layers = view.narrow(&mut filter, app.engine.kinds(), &caller);
    if filter.states == [MemoryState::Archived] {
        let error = Error::invalid("types", "changes of archived entries are not streamed")
            .hint("search the archive with type=query");
        return Err(to_failure(&error, OPERATION));
    }
    let layers = layers.or_else(|| (!filter.layers.is_empty()).then_some(filter.layers));
    let request = FeedRequest { layers, kinds: filter.kinds, events: EVENTS.to_vec(), ..FeedRequest::default() };
    let wanted =
        StreamRequest { caller: caller.clone(), request, after: following.after, protocol: Protocol::OpenSpec };
    let stream = EventStream::open(app.clone(), principal, headers, wanted, "followEvents").await?;
    Ok(stream.into_response(move |line| to_event(app.clone(), caller.clone(), line)))
}

async fn to_event(app: Arc<App>, caller: Caller, line: FeedEntry) -> Option<Event> {
    let id = line.memory_id?;
    let event = event_name(&line)?;
    let entry = match app.engine.get(&caller, id).await {
        Ok(memory) if event != "deleted" && memory.state != MemoryState::SoftDeleted => {
            EntryOrId::Entry(Box::new(Entry::from(memory)))
        }
        _ => EntryOrId::Id { id },
    };
    Event::default().event(event).json_data(EntryUpdate { event, entry, timestamp: line.at }).ok()
}

/// The event that a ledger entry means for an entry, or `None` if it is not sent.
fn event_name(line: &FeedEntry) -> Option<&'static str> {
    if line.state == Some(MemoryState::Proposed) {
        return None;
    }
    let gone = line.state.is_none_or(|state| state == MemoryState::SoftDeleted);
    match line.event.as_str() {
        "ADD" => Some("created"),
        "DELETE" | "ERASE" => Some("deleted"),
        "TTL" | "CONSENT" if gone => Some("deleted"),
        "CONSENT" => Some("created"),
        _ => Some("updated"),
    }
}

async fn results(app: &App, principal: &Principal, following: StreamParams) -> Result<Response, Failure> {
    let loci_types::RequestScope { identifiers, everyone } = following.scope();
    let Some(query) = following.query else {
        return Err(to_failure(&Error::invalid("query", "type=query requires query"), OPERATION));
    };
    if following.after.is_some() {
        return Err(to_failure(&Error::invalid("after", "after is only allowed with type=updates"), OPERATION));
    }
    let mut options = QueryOptions::default();
    options.limit = following.limit.unwrap_or(options.limit);
    let layer = LayerSelector {
        types: types(following.types.as_deref()).map(str::to_owned).collect(),
        agent_id: identifiers.agent_id,
        user_id: identifiers.user_id,
        session_id: identifiers.session_id,
        project_id: identifiers.project_id,
        team_id: identifiers.team_id,
        org_id: identifiers.org_id,
        company_id: identifiers.company_id,
        pool_id: identifiers.pool_id,
        everyone,
        ..LayerSelector::default()
    };
    let mode = following.mode.unwrap_or_default();
    let asked = EntryQuery { query, mode, filters: EntryFilters::default(), options, layer };
    let QueryAnswer { results, metadata, .. } = answer(app, principal, asked).await?;
    let each = results.into_iter().map(|found| Event::default().event("result").json_data(found));
    let end = Event::default().event("end").json_data(metadata);
    let events: Vec<Result<Event, Infallible>> = each.chain([end]).filter_map(Result::ok).map(Ok).collect();
    Ok(Sse::new(futures::stream::iter(events)).into_response())
}

fn types(list: Option<&str>) -> impl Iterator<Item = &str> {
    list.into_iter().flat_map(|list| list.split(',')).map(str::trim).filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ledger_entries_become_events_of_entries() {
        let check = |event: &str, state: Option<MemoryState>, expect: Option<&str>| {
            let line = FeedEntry {
                space: "shared".into(),
                sequence: 1,
                at: Timestamp::UNIX_EPOCH,
                event: event.into(),
                memory_id: None,
                version: None,
                changed: Vec::new(),
                actor: None,
                node: None,
                reason: String::new(),
                thread_id: None,
                request_id: None,
                layer: None,
                kind: None,
                category: None,
                state,
                content: None,
            };
            assert_eq!(event_name(&line), expect, "{event} {state:?}");
        };
        check("ADD", Some(MemoryState::Active), Some("created"));
        check("ADD", Some(MemoryState::Proposed), None);
        check("CONSENT", Some(MemoryState::Active), Some("created"));
        check("CONSENT", Some(MemoryState::SoftDeleted), Some("deleted"));
        check("TTL", Some(MemoryState::Archived), Some("updated"));
        check("TTL", Some(MemoryState::SoftDeleted), Some("deleted"));
        check("TTL", None, Some("deleted"));
        check("ERASE", None, Some("deleted"));
        check("RESTORE", Some(MemoryState::Active), Some("updated"));
        check("SUPERSEDE", Some(MemoryState::Active), Some("updated"));
    }
}
