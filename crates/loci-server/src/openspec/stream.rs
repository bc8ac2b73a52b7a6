//! How is knowledge followed?
//!
//! `updates` tells what is created, updated and deleted, from now on or from where it was left;
//! `query` tells the results of a question one by one.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use loci_engine::{Caller, FeedEntry, FeedRequest};
use loci_types::{Error, Event as Line, MemoryId, State as Stands};
use serde::{Deserialize, Serialize};

use super::place::{Meant, Where, with_identifiers};
use super::query::{Answer, Filters, Mode, Options, Query, answer};
use super::shape::Entry;
use super::told::ToldFailures;
use crate::App;
use crate::extract::Params;
use crate::failure::{Failure, word};
use crate::follow::{Follow, Wish};
use crate::guard::Who;
use crate::metrics::Protocol;

const OPERATION: &str = "stream";

/// The lines of the ledger that change what an entry is.
const TOLD: [Line; 10] = [
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
    /// What is followed, and whose it is.
    #[derive(utoipa::IntoParams)]
    #[into_params(parameter_in = Query)]
    Following {
        /// `updates` or `query`.
        #[serde(rename = "type")]
        #[param(rename = "type")]
        #[param(inline)]
        sort: Option<Sort>,
        /// For `updates`: go on from here; the header `Last-Event-ID` says the same.
        after: Option<String>,
        /// For `query`: the question.
        query: Option<String>,
        /// For `query`: what it is looked up by.
        mode: Option<Mode>,
        /// For `query`: so many results.
        #[param(minimum = 1, maximum = 100)]
        limit: Option<usize>,
        /// The layer types that are meant, divided by commas.
        types: Option<String>,
    }
);

/// What is followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = OpenSpecStream)]
pub(super) enum Sort {
    /// What changes.
    #[default]
    Updates,
    /// The results of a question.
    Query,
}

/// What happened to an entry.
#[derive(Debug, Serialize)]
struct Update {
    event: &'static str,
    entry: Told,
    timestamp: Timestamp,
}

/// The entry as it is now, or only its name if it is no longer there.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Told {
    Whole(Box<Entry>),
    Name { id: MemoryId },
}

/// Follows what changes, or the results of a question.
#[utoipa::path(
    get, path = "/openspec/v1/knowledge/stream", operation_id = "openspecStream", tag = "openspec",
    params(
        Following,
        ("Last-Event-ID" = Option<String>, Header, description = "Go on after this event")
    ),
    responses(
        (status = 200, description = "Server-sent events", body = String, content_type = "text/event-stream"),
        ToldFailures
    ),
    security(("key" = ["reader"]))
)]
pub(super) async fn stream(
    State(app): State<Arc<App>>,
    who: Who,
    headers: HeaderMap,
    Params(following): Params<Following>,
) -> Result<Response, Failure> {
    match following.sort.unwrap_or_default() {
        Sort::Updates => updates(app, who, headers, following).await,
        Sort::Query => results(&app, &who, following).await,
    }
}

async fn updates(app: Arc<App>, who: Who, headers: HeaderMap, following: Following) -> Result<Response, Failure> {
    let unfit = [
        ("query", following.query.is_some()),
        ("mode", following.mode.is_some()),
        ("limit", following.limit.is_some()),
    ];
    if let Some((field, _)) = unfit.into_iter().find(|(_, given)| *given) {
        let error = Error::invalid(field, format!("{field} belongs to type=query"));
        return Err(word(&error.hint("leave it out, or ask with type=query"), OPERATION));
    }
    let caller = who.caller(following.identifiers(), OPERATION)?;
    let mut filter = loci_types::Filter::at(app.engine.now());
    let meant = Meant::of(types(following.types.as_deref())).map_err(|error| word(&error, OPERATION))?;
    let layers = meant.narrow(&mut filter, app.engine.kinds(), &caller);
    if filter.states == [Stands::Archived] {
        let error = Error::invalid("types", "the archive is not followed").hint("ask for it with type=query");
        return Err(word(&error, OPERATION));
    }
    let layers = layers.or_else(|| (!filter.layers.is_empty()).then_some(filter.layers));
    let request = FeedRequest { layers, kinds: filter.kinds, events: TOLD.to_vec(), ..FeedRequest::default() };
    let wish = Wish { caller: caller.clone(), request, after: following.after, door: Protocol::OpenSpec };
    let follow = Follow::open(app.clone(), who, headers, wish, "followEvents").await?;
    Ok(follow.told(move |line| tell(app.clone(), caller.clone(), line)))
}

async fn tell(app: Arc<App>, caller: Caller, line: FeedEntry) -> Option<Event> {
    let id = line.memory_id?;
    let event = happened(&line)?;
    let entry = match app.engine.get(&caller, id).await {
        Ok(memory) if event != "deleted" && memory.state != Stands::SoftDeleted => {
            Told::Whole(Box::new(Entry::from(memory)))
        }
        _ => Told::Name { id },
    };
    Event::default().event(event).json_data(Update { event, entry, timestamp: line.at }).ok()
}

/// What a line of the ledger means to who follows entries; none: nothing.
fn happened(line: &FeedEntry) -> Option<&'static str> {
    if line.state == Some(Stands::Proposed) {
        return None;
    }
    let gone = line.state.is_none_or(|state| state == Stands::SoftDeleted);
    match line.event.as_str() {
        "ADD" => Some("created"),
        "DELETE" | "ERASE" => Some("deleted"),
        "TTL" | "CONSENT" if gone => Some("deleted"),
        "CONSENT" => Some("created"),
        _ => Some("updated"),
    }
}

async fn results(app: &App, who: &Who, following: Following) -> Result<Response, Failure> {
    let whose = following.identifiers();
    let Some(query) = following.query else {
        return Err(word(&Error::invalid("query", "type=query needs a query"), OPERATION));
    };
    if following.after.is_some() {
        return Err(word(&Error::invalid("after", "after belongs to type=updates"), OPERATION));
    }
    let mut options = Options::default();
    options.limit = following.limit.unwrap_or(options.limit);
    let layer = Where {
        types: types(following.types.as_deref()).map(str::to_owned).collect(),
        agent_id: whose.agent_id,
        user_id: whose.user_id,
        session_id: whose.session_id,
        project_id: whose.project_id,
        team_id: whose.team_id,
        org_id: whose.org_id,
        company_id: whose.company_id,
        pool_id: whose.pool_id,
        ..Where::default()
    };
    let mode = following.mode.unwrap_or_default();
    let asked = Query { query, mode, filters: Filters::default(), options, layer };
    let Answer { results, metadata, .. } = answer(app, who, asked).await?;
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
    fn lines_are_told_as_what_they_mean_to_an_entry() {
        let check = |event: &str, state: Option<Stands>, expect: Option<&str>| {
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
            assert_eq!(happened(&line), expect, "{event} {state:?}");
        };
        check("ADD", Some(Stands::Active), Some("created"));
        check("ADD", Some(Stands::Proposed), None);
        check("CONSENT", Some(Stands::Active), Some("created"));
        check("CONSENT", Some(Stands::SoftDeleted), Some("deleted"));
        check("TTL", Some(Stands::Archived), Some("updated"));
        check("TTL", Some(Stands::SoftDeleted), Some("deleted"));
        check("TTL", None, Some("deleted"));
        check("ERASE", None, Some("deleted"));
        check("RESTORE", Some(Stands::Active), Some("updated"));
        check("SUPERSEDE", Some(Stands::Active), Some("updated"));
    }
}
