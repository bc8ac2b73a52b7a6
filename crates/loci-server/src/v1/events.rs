//! The change feed under `/v1/events`, and the counts of changes under `/v1/operations`.
//!
//! An event has one name everywhere: the word of the ledger in capitals, such as `ADD`.

use std::borrow::Cow;
use std::str::FromStr;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::response::sse::Event as SseEvent;
use jiff::Timestamp;
use loci_engine::{Bucket, FeedCursor, FeedEntry, FeedRequest, Operations, OperationsRequest, optional_instant};
use loci_types::{Error, Event, Layer, MemoryId};
use serde::{Deserialize, Serialize};
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{IntoParams, PartialSchema, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::IdentifierParams;
use super::page::{Page, PageParams};
use crate::App;
use crate::event_stream::{EventStream, StreamRequest};
use crate::extract::{ListParams, ScopedParams, words};
use crate::failure::{Failure, Failures, to_failure};
use crate::guard::Principal;
use crate::metrics::Protocol;

/// The routes of events.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(events)).routes(routes!(ledger)).routes(routes!(operations))
}

/// The name of an event in the ledger, in capitals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct EventName(Event);

impl FromStr for EventName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let found = Event::ALL.iter().find(|event| event.name().to_uppercase() == text);
        found.map(|event| Self(*event)).ok_or_else(|| {
            Error::invalid("event", format!("unknown event `{text}`: expected one of {}", names().join(", ")))
        })
    }
}

fn names() -> Vec<String> {
    Event::ALL.iter().map(|event| event.name().to_uppercase()).collect()
}

impl PartialSchema for EventName {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names())).into()
    }
}

impl ToSchema for EventName {
    fn name() -> Cow<'static, str> {
        Cow::Borrowed("EventName")
    }
}

/// The events that are followed or listed: those that match all of what is given.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct EventParams {
    /// Where to start: the place after an earlier event, `all` for the first event, or `now`. Default: now for the
    /// stream, `all` for the list. The header `Last-Event-ID` of the stream takes precedence.
    after: Option<String>,
    /// Any of these events.
    #[serde(deserialize_with = "words")]
    #[param(inline, style = Form, explode = false, required = false, min_items = 1)]
    event: Vec<EventName>,
    /// About this memory.
    #[param(value_type = Option<uuid::Uuid>)]
    memory_id: Option<MemoryId>,
    /// In this thread.
    thread_id: Option<String>,
    /// About memories of any of these kinds.
    #[serde(deserialize_with = "words")]
    #[param(style = Form, explode = false, required = false, min_items = 1)]
    kind: Vec<String>,
    /// About memories in any of these layers. Default: all layers that the identifiers open.
    #[serde(deserialize_with = "words")]
    #[param(style = Form, explode = false, required = false, min_items = 1)]
    layer: Vec<Layer>,
}

/// What is counted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct OperationParams {
    /// Count from this time on: an instant, or a day in `retrieval.time_zone`. Default: the last seven days.
    #[serde(deserialize_with = "optional_instant")]
    #[param(nullable = false, value_type = Option<String>)]
    after: Option<Timestamp>,
    /// Count what happened before this time: an instant, or a day. Default: now.
    #[serde(deserialize_with = "optional_instant")]
    #[param(nullable = false, value_type = Option<String>)]
    before: Option<Timestamp>,
    /// The length of a bucket; `whole` counts everything in one. Default: `day`.
    #[param(inline, nullable = false, value_type = Option<Bucket>)]
    bucket: Option<String>,
    /// Only changes by any of these parts of Loci, such as `hotpath` or `worker`.
    #[serde(deserialize_with = "words")]
    #[param(style = Form, explode = false, required = false, min_items = 1)]
    node: Vec<String>,
    /// Any of these events.
    #[serde(deserialize_with = "words")]
    #[param(inline, style = Form, explode = false, required = false, min_items = 1)]
    event: Vec<EventName>,
}

impl EventParams {
    /// The feed that the parameters select, without its start.
    fn request(mut self, app: &App, operation: &str) -> Result<FeedRequest, Failure> {
        for kind in &mut self.kind {
            let known = app.engine.kinds().parse(kind).map_err(|error| to_failure(&error, operation).field("kind"))?;
            *kind = known.name().to_owned();
        }
        Ok(FeedRequest {
            layers: (!self.layer.is_empty()).then_some(self.layer),
            events: self.event.iter().map(|name| name.0).collect(),
            memory: self.memory_id,
            thread: self.thread_id,
            kinds: self.kind,
            ..FeedRequest::default()
        })
    }
}

/// Follows changes of memories that the caller may see, as server-sent events.
///
/// Each event has the place to resume from as its `id`, its name as `event`, such as `ADD`, and an entry of the ledger
/// as `data`, whose `event` is the same name.
#[utoipa::path(
    get, path = "/v1/events", operation_id = "followEvents", tag = "events",
    params(
        EventParams, IdentifierParams,
        ("Last-Event-ID" = Option<String>, Header, description = "The id of the last event that was received; the stream resumes after it")
    ),
    responses(
        (status = 200, description = "Server-sent events", body = String, content_type = "text/event-stream"),
        Failures
    ),
    security(("key" = ["reader"]))
)]
async fn events(
    State(app): State<Arc<App>>,
    principal: Principal,
    headers: HeaderMap,
    ScopedParams(scope, params): ScopedParams<EventParams>,
) -> Result<Response, Failure> {
    const OPERATION: &str = "followEvents";
    let after = params.after.clone();
    let wanted = StreamRequest {
        caller: principal.caller(scope, OPERATION)?,
        request: params.request(&app, OPERATION)?,
        after,
        protocol: Protocol::Http,
    };
    let stream = EventStream::open(app, principal, headers, wanted, OPERATION).await?;
    Ok(stream
        .into_response(async |entry: FeedEntry| SseEvent::default().event(entry.event.clone()).json_data(entry).ok()))
}

/// An entry of the ledger with its place.
#[derive(Debug, Serialize, ToSchema)]
struct LedgerItem {
    /// The entry.
    #[serde(flatten)]
    entry: FeedEntry,
    /// The place after the entry, for `after` of a later request.
    cursor: String,
}

/// Lists changes of memories that the caller may see, oldest first.
///
/// `after` is the place to start from: `cursor` of an entry, or `all` for the first, which is the default.
#[utoipa::path(
    get, path = "/v1/ledger", operation_id = "listLedger", tag = "events",
    params(EventParams, PageParams, IdentifierParams),
    responses((status = 200, description = "A page of entries", body = Page<LedgerItem>), Failures),
    security(("key" = ["reader"]))
)]
async fn ledger(
    State(app): State<Arc<App>>,
    principal: Principal,
    ListParams { scope, page, params }: ListParams<EventParams>,
) -> Result<Json<Page<LedgerItem>>, Failure> {
    const OPERATION: &str = "listLedger";
    let caller = principal.caller(scope, OPERATION)?;
    let named = page.cursor.as_deref().map(|text| ("cursor", text));
    let cursor = match named.or(params.after.as_deref().map(|text| ("after", text))) {
        None => FeedCursor::start(),
        Some((field, text)) => text.parse().map_err(|error: Error| to_failure(&error, OPERATION).field(field))?,
    };
    let request = FeedRequest { cursor, limit: Some(page.limit), ..params.request(&app, OPERATION)? };
    let found = app.run_operation(OPERATION, app.engine.feed(&caller, &request)).await?;
    let mut place = found.began;
    let data = found.entries.into_iter().map(|entry| {
        place.pass(&entry);
        LedgerItem { cursor: place.to_string(), entry }
    });
    Ok(Json(Page { data: data.collect(), next_cursor: found.more.then(|| found.cursor.to_string()) }))
}

/// Counts changes over time, by event and by the part of Loci that made them.
#[utoipa::path(
    get, path = "/v1/operations", operation_id = "countOperations", tag = "events",
    params(OperationParams, IdentifierParams),
    responses((status = 200, description = "The counts", body = Operations), Failures),
    security(("key" = ["reader"]))
)]
async fn operations(
    State(app): State<Arc<App>>,
    principal: Principal,
    ScopedParams(scope, params): ScopedParams<OperationParams>,
) -> Result<Json<Operations>, Failure> {
    const OPERATION: &str = "countOperations";
    let bucket = params.bucket.as_deref().map(str::parse::<Bucket>).transpose();
    let request = OperationsRequest {
        after: params.after,
        before: params.before,
        bucket: bucket.map_err(|error| to_failure(&error, OPERATION))?.unwrap_or_default(),
        nodes: params.node,
        events: params.event.iter().map(|name| name.0).collect(),
    };
    let caller = principal.caller(scope, OPERATION)?;
    app.run_operation(OPERATION, app.engine.operations(&caller, request)).await.map(Json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_reads_back_in_capitals_only() {
        for event in Event::ALL {
            let name = event.name().to_uppercase();
            assert_eq!(name.parse::<EventName>().unwrap(), EventName(*event));
            assert!(event.name().parse::<EventName>().is_err(), "{event}");
        }
        assert_eq!("BORN".parse::<EventName>().unwrap_err().field(), Some("event"));
    }
}
