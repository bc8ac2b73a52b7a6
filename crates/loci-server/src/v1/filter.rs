//! The filter of memories, as a JSON object in bodies and as query parameters.
//!
//! There is one declaration, [`MemoryFilter`], for both. Query parameters are turned into the JSON object that the
//! declaration describes and are then read like a body, so that both take the same fields and refuse the same values.
//! The filter is applied in the store; here it is only read.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use jiff::Timestamp;
use loci_engine::{Caller, Engine, optional_instant};
use loci_types::{AccessPolicy, Filter, Layer, MemoryId, MemoryRef, RequestScope, State, TimeRange};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use utoipa::{IntoParams, PartialSchema, ToSchema};

use super::page::PageRequest;
use crate::extract::{field_failure, is_identifier, json, names_scope, parameters, scope_of_query, split};
use crate::failure::Failure;

/// Conditions that a memory must meet. A condition that is absent holds for every memory; a list holds if one of its
/// values does.
///
/// As query parameters, lists are separated by commas, and `userId`, `agentId` and `sessionId` are named
/// `filter.userId`, `filter.agentId` and `filter.sessionId`, because their plain names are identifiers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, ToSchema, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct MemoryFilter {
    /// Any of these ids.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1, max_items = 1000)]
    #[param(style = Form, explode = false, nullable = false, min_items = 1, max_items = 1000)]
    id: Option<Vec<MemoryRef>>,
    /// Any of these layers.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1)]
    #[param(style = Form, explode = false, nullable = false, min_items = 1)]
    layer: Option<Vec<Layer>>,
    /// Any of these kinds.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1, max_items = 256)]
    #[param(style = Form, explode = false, nullable = false, min_items = 1, max_items = 256)]
    kind: Option<Vec<String>>,
    /// Any of these categories.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1, max_items = 256)]
    #[param(style = Form, explode = false, nullable = false, min_items = 1, max_items = 256)]
    category: Option<Vec<String>>,
    /// At least one of these tags.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1, max_items = 256)]
    #[param(style = Form, explode = false, nullable = false, min_items = 1, max_items = 256)]
    tags: Option<Vec<String>>,
    /// Any of these states. Default: `active` and `decayed`.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1)]
    #[param(style = Form, explode = false, nullable = false, min_items = 1)]
    state: Option<Vec<State>>,
    /// Any of these conversations.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1, max_items = 256)]
    #[param(style = Form, explode = false, nullable = false, min_items = 1, max_items = 256)]
    thread_id: Option<Vec<String>>,
    /// Any of these agent runs.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1, max_items = 256)]
    #[param(style = Form, explode = false, nullable = false, min_items = 1, max_items = 256)]
    run_id: Option<Vec<String>>,
    /// Any of these speakers or writers.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1, max_items = 256)]
    #[param(style = Form, explode = false, nullable = false, min_items = 1, max_items = 256)]
    actor_id: Option<Vec<String>>,
    /// Any of these roles of the speaker.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1, max_items = 256)]
    #[param(style = Form, explode = false, nullable = false, min_items = 1, max_items = 256)]
    role: Option<Vec<String>>,
    /// Any of these users among the identifiers of the memory.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1, max_items = 256)]
    #[param(rename = "filter.userId", style = Form, explode = false, nullable = false, min_items = 1, max_items = 256)]
    user_id: Option<Vec<String>>,
    /// Any of these agents among the identifiers of the memory.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1, max_items = 256)]
    #[param(rename = "filter.agentId", style = Form, explode = false, nullable = false, min_items = 1, max_items = 256)]
    agent_id: Option<Vec<String>>,
    /// Any of these sessions among the identifiers of the memory.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1, max_items = 256)]
    #[param(rename = "filter.sessionId", style = Form, explode = false, nullable = false, min_items = 1, max_items = 256)]
    session_id: Option<Vec<String>>,
    /// Any of these types of the source, for example `conversation`.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1, max_items = 256)]
    #[param(style = Form, explode = false, nullable = false, min_items = 1, max_items = 256)]
    source_type: Option<Vec<String>>,
    /// Any of these roles of the source.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1, max_items = 256)]
    #[param(style = Form, explode = false, nullable = false, min_items = 1, max_items = 256)]
    source_role: Option<Vec<String>>,
    /// Any of these access policies.
    #[serde(deserialize_with = "some")]
    #[schema(min_items = 1)]
    #[param(style = Form, explode = false, nullable = false, min_items = 1)]
    access_policy: Option<Vec<AccessPolicy>>,
    /// Whether it is pinned.
    #[param(nullable = false)]
    pinned: Option<bool>,
    /// Whether it mirrors a knowledge item.
    #[param(nullable = false)]
    has_knowledge_pointer: Option<bool>,
    /// Metadata fields that have exactly these values. As a query parameter, a JSON object.
    #[schema(value_type = Object)]
    #[param(value_type = String, required = false)]
    metadata: BTreeMap<String, Value>,
    /// The least importance.
    #[schema(minimum = 0, maximum = 1)]
    #[param(nullable = false, minimum = 0, maximum = 1)]
    importance_min: Option<f64>,
    /// The greatest importance.
    #[schema(minimum = 0, maximum = 1)]
    #[param(nullable = false, minimum = 0, maximum = 1)]
    importance_max: Option<f64>,
    /// The least confidence.
    #[schema(minimum = 0, maximum = 1)]
    #[param(nullable = false, minimum = 0, maximum = 1)]
    confidence_min: Option<f64>,
    /// The greatest confidence.
    #[schema(minimum = 0, maximum = 1)]
    #[param(nullable = false, minimum = 0, maximum = 1)]
    confidence_max: Option<f64>,
    /// It happened at this instant or day, or later. Memories without `eventTime` do not match.
    #[serde(deserialize_with = "optional_instant")]
    #[param(nullable = false)]
    event_after: Option<Timestamp>,
    /// It happened before this instant or day. Memories without `eventTime` do not match.
    #[serde(deserialize_with = "optional_instant")]
    #[param(nullable = false)]
    event_before: Option<Timestamp>,
    /// It was added at this instant or day, or later.
    #[serde(deserialize_with = "optional_instant")]
    #[param(nullable = false)]
    created_after: Option<Timestamp>,
    /// It was added before this instant or day.
    #[serde(deserialize_with = "optional_instant")]
    #[param(nullable = false)]
    created_before: Option<Timestamp>,
    /// It was last changed at this instant or day, or later.
    #[serde(deserialize_with = "optional_instant")]
    #[param(nullable = false)]
    updated_after: Option<Timestamp>,
    /// It was last changed before this instant or day.
    #[serde(deserialize_with = "optional_instant")]
    #[param(nullable = false)]
    updated_before: Option<Timestamp>,
    /// Whether superseded, expired and not yet valid memories are included.
    #[param(required = false, default = false)]
    superseded: bool,
    /// Selects what held at this instant or day instead of what holds now.
    #[serde(deserialize_with = "optional_instant")]
    #[param(nullable = false)]
    as_of: Option<Timestamp>,
}

impl MemoryFilter {
    /// The layers that the filter names.
    pub(crate) fn layers(&self) -> Option<&[Layer]> {
        self.layer.as_deref()
    }

    /// The filter of the store, evaluated at this instant. Short ids are looked up among what the caller may see.
    pub(crate) async fn resolve(
        mut self,
        engine: &Engine,
        caller: &Caller,
        now: Timestamp,
        operation: &str,
    ) -> Result<Filter, Failure> {
        if let Some(kinds) = &mut self.kind {
            kinds.iter_mut().for_each(|kind| *kind = engine.kinds().stored_name(kind).to_owned());
        }
        let given = self.id.take().unwrap_or_default();
        let ids = engine.resolve_filter_ids(caller, &given).await;
        let ids = ids.map_err(|error| Failure::of(error.problem(operation)))?;
        Ok(self.at(now, ids))
    }

    fn at(self, now: Timestamp, ids: Vec<MemoryId>) -> Filter {
        let open = Filter::at(now);
        let range = |from, until| TimeRange { from, until };
        Filter {
            ids,
            layers: self.layer.unwrap_or_default(),
            kinds: self.kind.unwrap_or_default(),
            categories: self.category.unwrap_or_default(),
            tags: self.tags.unwrap_or_default(),
            states: self.state.unwrap_or_else(|| open.states.clone()),
            threads: self.thread_id.unwrap_or_default(),
            runs: self.run_id.unwrap_or_default(),
            actors: self.actor_id.unwrap_or_default(),
            roles: self.role.unwrap_or_default(),
            users: self.user_id.unwrap_or_default(),
            agents: self.agent_id.unwrap_or_default(),
            sessions: self.session_id.unwrap_or_default(),
            source_types: self.source_type.unwrap_or_default(),
            source_roles: self.source_role.unwrap_or_default(),
            access_policies: self.access_policy.unwrap_or_default(),
            pinned: self.pinned,
            has_knowledge_pointer: self.has_knowledge_pointer,
            metadata: self.metadata,
            importance_min: self.importance_min,
            importance_max: self.importance_max,
            confidence_min: self.confidence_min,
            confidence_max: self.confidence_max,
            event: range(self.event_after, self.event_before),
            created: range(self.created_after, self.created_before),
            updated: range(self.updated_after, self.updated_before),
            superseded: self.superseded,
            as_of: self.as_of,
            ..open
        }
    }

    /// Whether the filter excludes nothing: `superseded` and `asOf` alone are no conditions.
    pub(crate) fn is_open(&self) -> bool {
        Self { superseded: false, as_of: None, ..self.clone() } == Self::default()
    }

    /// Reads the filter from query parameters.
    fn from_query(text: &str) -> Result<Self, Failure> {
        let mut object = Map::new();
        for (name, text) in form_urlencoded::parse(text.as_bytes()) {
            let field = match name.strip_prefix("filter.") {
                Some(inner) if is_identifier(inner) => inner,
                _ => &name,
            };
            let value = forms().get(field).map_or_else(|| Value::from(text.as_ref()), |form| form.value(&text));
            if object.insert(field.to_owned(), value).is_some() {
                return Err(field_failure(name.to_string(), &format!("duplicate field `{name}`")));
            }
        }
        let bytes =
            serde_json::to_vec(&object).map_err(|error| field_failure("query".to_owned(), &error.to_string()))?;
        json(&bytes).map_err(|failure| {
            // A parameter is one text, so the place within a list is of no use to the caller.
            let field = failure.problem().details.get("field").and_then(Value::as_str).unwrap_or_default();
            let field = field.split(['[', '.']).next().unwrap_or_default().to_owned();
            let prefix = if is_identifier(&field) { "filter." } else { "" };
            failure.field(&format!("{prefix}{field}"))
        })
    }
}

/// The failure of a filter in a body: its field is named within `filter`.
pub(crate) fn in_body(failure: Failure) -> Failure {
    let field = failure.problem().details.get("field").and_then(Value::as_str).unwrap_or_default();
    if forms().contains_key(field) { failure.within("filter") } else { failure }
}

/// How the text of a query parameter becomes a JSON value.
#[derive(Debug, Clone, Copy)]
enum Form {
    List,
    Json,
    Text,
}

impl Form {
    fn value(self, text: &str) -> Value {
        match self {
            Self::List => text.split(',').map(str::trim).collect(),
            // A text that is not JSON stays a text; reading the filter then refuses it by the name of its field.
            // What is absent is left out, not called null.
            Self::Json => {
                serde_json::from_str(text).ok().filter(|value: &Value| !value.is_null()).unwrap_or_else(|| text.into())
            }
            Self::Text => text.into(),
        }
    }
}

/// The form of each field, by the types of the published schema.
fn forms() -> &'static BTreeMap<String, Form> {
    static FORMS: OnceLock<BTreeMap<String, Form>> = OnceLock::new();
    FORMS.get_or_init(|| {
        let schema = serde_json::to_value(MemoryFilter::schema()).unwrap_or_default();
        let form = |(name, property): (&String, &Value)| {
            let kinds = property["type"].as_array().cloned().unwrap_or_else(|| vec![property["type"].clone()]);
            let form = match kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null") {
                Some("array") => Form::List,
                Some("string") | None => Form::Text,
                Some(_) => Form::Json,
            };
            (name.clone(), form)
        };
        schema["properties"].as_object().into_iter().flatten().map(form).collect()
    })
}

/// Reads a list, which must not be empty: "none of them" would otherwise be read as "no condition".
fn some<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<Vec<T>>, D::Error> {
    let list = Option::<Vec<T>>::deserialize(deserializer)?;
    match list.as_ref().is_some_and(Vec::is_empty) {
        true => Err(D::Error::custom("the list is empty; leave it out for no condition")),
        false => Ok(list),
    }
}

/// The query parameters that select memories.
pub(crate) struct FilterParams {
    pub(crate) scope: RequestScope,
    pub(crate) filter: MemoryFilter,
}

impl<S: Send + Sync> FromRequestParts<S> for FilterParams {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let (_, rest) = split(parts.uri.query().unwrap_or_default(), names_scope);
        Ok(Self { scope: scope_of_query(&parts.uri)?, filter: MemoryFilter::from_query(&rest)? })
    }
}

/// The query parameters that select a page of memories.
pub(crate) struct FilterPageParams {
    pub(crate) scope: RequestScope,
    pub(crate) page: PageRequest,
    pub(crate) filter: MemoryFilter,
}

impl<S: Send + Sync> FromRequestParts<S> for FilterPageParams {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        let (page, rest) = split(parts.uri.query().unwrap_or_default(), |name| matches!(name, "limit" | "cursor"));
        let (_, rest) = split(&rest, names_scope);
        Ok(Self {
            scope: scope_of_query(&parts.uri)?,
            page: PageRequest::new(parameters(&page)?)?,
            filter: MemoryFilter::from_query(&rest)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(text: &str) -> MemoryFilter {
        json(text.as_bytes()).unwrap()
    }

    #[test]
    fn parameters_and_bodies_are_one_filter() {
        for (query, body) in [
            ("", "{}"),
            ("kind=fact, preference&tags=a", r#"{"kind":["fact","preference"],"tags":["a"]}"#),
            ("filter.userId=ann,ben", r#"{"userId":["ann","ben"]}"#),
            (
                "pinned=true&importanceMin=0.5&superseded=true",
                r#"{"pinned":true,"importanceMin":0.5,"superseded":true}"#,
            ),
            ("createdAfter=2026-01-31", r#"{"createdAfter":"2026-01-31T00:00:00Z"}"#),
            ("metadata=%7B%22room%22%3A7%7D&layer=user", r#"{"metadata":{"room":7},"layer":["user"]}"#),
            ("threadId=7&role=true", r#"{"threadId":["7"],"role":["true"]}"#),
        ] {
            assert_eq!(MemoryFilter::from_query(query).unwrap(), object(body), "{query}");
        }
        for (query, field) in [
            ("kind=a&kind=b", "kind"),
            ("layer=galaxy", "layer"),
            ("layer=", "layer"),
            ("state=alive", "state"),
            ("id=7", "id"),
            ("pinned=perhaps", "pinned"),
            ("pinned=null", "pinned"),
            ("importanceMin=high", "importanceMin"),
            ("metadata=room", "metadata"),
            ("createdAfter=soon", "createdAfter"),
            ("filter.kind=a", "filter"),
            ("colour=red", "colour"),
        ] {
            let failure = MemoryFilter::from_query(query).unwrap_err();
            assert_eq!(failure.problem().details["field"], field, "{query}");
        }
    }

    #[test]
    fn a_filter_without_conditions_is_open() {
        for (body, open) in [
            ("{}", true),
            (r#"{"superseded":true,"asOf":"2026-01-31"}"#, true),
            (r#"{"metadata":{},"kind":null}"#, true),
            (r#"{"kind":["fact"]}"#, false),
            (r#"{"pinned":false}"#, false),
            (r#"{"state":["archived"]}"#, false),
        ] {
            assert_eq!(object(body).is_open(), open, "{body}");
        }
        assert!(json::<MemoryFilter>(br#"{"id":[]}"#).is_err());
    }

    #[test]
    fn every_field_has_a_form_and_reaches_the_store() {
        assert_eq!(forms().len(), 31);
        let now = Timestamp::UNIX_EPOCH;
        let whole = object(
            r#"{"id":["0194fdc2-fa2f-7fc0-b1d3-aa2ca9a4f2f0"],"layer":["user"],"kind":["k"],"category":["c"],"tags":["t"],
                "state":["archived"],"threadId":["t"],"runId":["r"],"actorId":["a"],"role":["r"],"userId":["u"],
                "agentId":["a"],"sessionId":["s"],"sourceType":["s"],"sourceRole":["s"],"accessPolicy":["private"],
                "pinned":true,"hasKnowledgePointer":true,"metadata":{"a":1},"importanceMin":0.1,"importanceMax":0.2,
                "confidenceMin":0.3,"confidenceMax":0.4,"eventAfter":"2026-01-01","eventBefore":"2026-01-02",
                "createdAfter":"2026-01-03","createdBefore":"2026-01-04","updatedAfter":"2026-01-05",
                "updatedBefore":"2026-01-06","superseded":true,"asOf":"2026-01-07"}"#,
        );
        let id = "0194fdc2-fa2f-7fc0-b1d3-aa2ca9a4f2f0".parse().unwrap();
        let (made, open) = (format!("{:?}", whole.at(now, vec![id])), format!("{:?}", Filter::at(now)));
        // What a request cannot ask for stays open.
        for untouched in ["happened: TimeRange { from: None, until: None }", "claim: None", "twin: None", "about: None"]
        {
            assert!(made.contains(untouched) && open.contains(untouched), "{untouched}");
        }
        assert_eq!(made.matches("[]").count(), 0, "{made}");
        assert_eq!(made.matches(": None").count(), 5, "{made}");
    }
}
