//! How is what happens followed and counted over HTTP?

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::response::sse::Event as Told;
use jiff::Timestamp;
use loci_engine::{Bucket, FeedEntry, FeedRequest, Operations, OperationsRequest};
use loci_types::{Error, Event, Layer, MemoryId};
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::IdentifierParams;
use crate::App;
use crate::extract::ScopedParams;
use crate::failure::{Failure, Failures, word};
use crate::follow::{Follow, Wish};
use crate::guard::Who;

/// What each line of the ledger is called in the stream.
const NAMES: [(Event, &str); 16] = [
    (Event::Add, "created"),
    (Event::Update, "updated"),
    (Event::Delete, "deleted"),
    (Event::Merge, "merged"),
    (Event::Link, "linked"),
    (Event::Unlink, "unlinked"),
    (Event::Ttl, "faded"),
    (Event::Restore, "restored"),
    (Event::Supersede, "superseded"),
    (Event::AccessPolicy, "access_changed"),
    (Event::Consent, "consent"),
    (Event::Erase, "erased"),
    (Event::Embed, "embedded"),
    (Event::Entity, "entity"),
    (Event::Fact, "fact"),
    (Event::Learn, "learned"),
];

/// The routes of events.
pub(super) fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(events)).routes(routes!(operations))
}

/// Which events are followed.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Following {
    /// Go on after this place; `all` is the first line, and none is now. `Last-Event-ID` says the same.
    after: Option<String>,
    /// Only these events, divided by commas, such as `created,updated,deleted`.
    events: Option<String>,
    /// Only about this memory.
    #[param(value_type = Option<uuid::Uuid>)]
    memory_id: Option<MemoryId>,
    /// Only in this conversation.
    thread_id: Option<String>,
    /// Only about memories of these kinds, divided by commas.
    kinds: Option<String>,
    /// Only about memories in these layers, divided by commas.
    layers: Option<String>,
}

/// What is counted.
#[derive(Debug, Clone, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
struct Counting {
    /// From this instant; none: the last seven days.
    from: Option<Timestamp>,
    /// Until before this instant; none: now.
    until: Option<Timestamp>,
    /// In stretches of an `hour`, a `day`, a `week`, or the `whole`; none: by day.
    by: Option<String>,
    /// Only by these parts of Loci, divided by commas, such as `hotpath,worker`.
    nodes: Option<String>,
    /// Only these events, divided by commas, such as `add,update`.
    ops: Option<String>,
}

/// Follows what happens to memories that the caller may see, as server-sent events.
///
/// Each event has the place to go on from as its id, a name such as `created`, and a line of the ledger as its data.
#[utoipa::path(
    get, path = "/v1/events", operation_id = "followEvents", tag = "events",
    params(Following, IdentifierParams, ("Last-Event-ID" = Option<String>, Header, description = "Go on after this event")),
    responses(
        (status = 200, description = "Server-sent events", body = String, content_type = "text/event-stream"),
        Failures
    ),
    security(("key" = ["reader"]))
)]
async fn events(
    State(app): State<Arc<App>>,
    who: Who,
    headers: HeaderMap,
    ScopedParams(whose, following): ScopedParams<Following>,
) -> Result<Response, Failure> {
    const OPERATION: &str = "events";
    let wrong = |error: Error| word(&error, OPERATION);
    let layers = list(&following.layers).map(str::parse::<Layer>).collect::<Result<Vec<_>, _>>().map_err(wrong)?;
    let request = FeedRequest {
        layers: (!layers.is_empty()).then_some(layers),
        events: named(&following.events, "events").map_err(wrong)?,
        memory: following.memory_id,
        thread: following.thread_id,
        kinds: list(&following.kinds).map(str::to_owned).collect(),
        ..FeedRequest::default()
    };
    for kind in &request.kinds {
        app.engine.kinds().parse(kind).map_err(|error| word(&error, OPERATION).field("kinds"))?;
    }
    let wish = Wish { caller: who.caller(whose, OPERATION)?, request, after: following.after };
    let follow = Follow::open(app, who, headers, wish, OPERATION).await?;
    Ok(follow.told(async |entry: FeedEntry| Told::default().event(name(&entry.event)).json_data(entry).ok()))
}

/// Counts what was done, by part of Loci and event, over time.
#[utoipa::path(
    get, path = "/v1/operations", operation_id = "countOperations", tag = "events",
    params(Counting, IdentifierParams),
    responses((status = 200, description = "The counts", body = Operations), Failures),
    security(("key" = ["reader"]))
)]
async fn operations(
    State(app): State<Arc<App>>,
    who: Who,
    ScopedParams(whose, counting): ScopedParams<Counting>,
) -> Result<Json<Operations>, Failure> {
    const OPERATION: &str = "operations";
    let bucket = counting.by.as_deref().map(str::parse::<Bucket>).transpose();
    let request = OperationsRequest {
        from: counting.from,
        until: counting.until,
        bucket: bucket.map_err(|error| word(&error, OPERATION).field("by"))?.unwrap_or_default(),
        nodes: list(&counting.nodes).map(str::to_owned).collect(),
        ops: named(&counting.ops, "ops").map_err(|error| word(&error, OPERATION))?,
    };
    let caller = who.caller(whose, OPERATION)?;
    let counted = app.verb(OPERATION, app.engine.operations(&caller, request)).await;
    counted.map(Json).map_err(|failure| match failure.problem().details.get("field") {
        Some(field) if field == "bucket" => failure.field("by"),
        _ => failure,
    })
}

/// What a line of the ledger is called in the stream.
fn name(event: &str) -> &'static str {
    NAMES.iter().find(|(line, _)| line.name().eq_ignore_ascii_case(event)).map_or("changed", |(_, name)| name)
}

/// The events with these names, as the stream or the ledger calls them.
fn named(names: &Option<String>, field: &'static str) -> Result<Vec<Event>, Error> {
    let known = |word: &str| {
        let found = NAMES.iter().find(|(line, name)| *name == word || line.name().eq_ignore_ascii_case(word));
        found.map(|(line, _)| *line).ok_or_else(|| {
            let names: Vec<_> = NAMES.iter().map(|(_, name)| *name).collect();
            Error::invalid(field, format!("`{word}` is not an event")).hint(format!("use any of {}", names.join(", ")))
        })
    };
    list(names).map(known).collect()
}

fn list(text: &Option<String>) -> impl Iterator<Item = &str> {
    text.iter().flat_map(|text| text.split(',')).map(str::trim).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_has_a_name_and_reads_back() {
        for event in Event::ALL {
            let told = name(&event.name().to_uppercase());
            assert_ne!(told, "changed", "{event}");
            let names = Some(format!("{told}, {}", event.name()));
            assert_eq!(named(&names, "events").unwrap(), [*event, *event]);
        }
        assert_eq!(named(&Some("born".into()), "ops").unwrap_err().field(), Some("ops"));
        assert_eq!(named(&None, "events").unwrap(), []);
    }
}
