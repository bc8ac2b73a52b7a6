//! Resources: what can be read without a question.

use loci_engine::pack::{Format, block_tokens, data_block};
use loci_engine::{QueryRequest, RecallRequest, Strategy};
use loci_types::{ErrorKind, Layer};
use serde_json::json;

use super::CALL;
use super::answer::ToolAnswer;
use super::call::Call;
use super::profile::Profile;
use super::tools::{changes, graph, stats};
use crate::failure::{self, Failure};

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";
/// Maximum number of changes of the resource.
const CHANGES: usize = 50;
/// Maximum number of memories of the context.
const MATTERS: usize = 30;

/// A resource, or a template of resources.
pub(super) struct ResourceSpec {
    pub(super) uri: &'static str,
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) mime: &'static str,
}

const MEMORY: &[ResourceSpec] = &[
    ResourceSpec {
        uri: "loci://context",
        name: "context",
        title: "What matters now",
        description: "The most important memories, as text to begin a conversation with",
        mime: MARKDOWN,
    },
    ResourceSpec {
        uri: "loci://changes",
        name: "changes",
        title: "Recent changes",
        description: "The latest changes of memories, newest first",
        mime: JSON,
    },
    ResourceSpec {
        uri: "loci://stats",
        name: "stats",
        title: "Statistics",
        description: "Numbers of memories, links and entities",
        mime: JSON,
    },
];

const TEMPLATES: &[ResourceSpec] = &[ResourceSpec {
    uri: "loci://changes/{layer}",
    name: "changes-of-a-layer",
    title: "Recent changes of a layer",
    description: "The latest changes in one layer: agent, user, session, project, team, org, company or pool",
    mime: JSON,
}];

const GRAPH: &[ResourceSpec] = &[ResourceSpec {
    uri: "memory://knowledge-graph",
    name: "knowledge-graph",
    title: "Knowledge graph",
    description: "Every entity and every relation",
    mime: JSON,
}];

/// The resources of a profile.
pub(super) fn listed(profile: Profile) -> &'static [ResourceSpec] {
    match profile {
        Profile::Graph => GRAPH,
        Profile::Default | Profile::Full => MEMORY,
    }
}

/// The templates of a profile.
pub(super) fn templates(profile: Profile) -> &'static [ResourceSpec] {
    match profile {
        Profile::Graph => &[],
        Profile::Default | Profile::Full => TEMPLATES,
    }
}

/// Returns the `operationId` of the HTTP operation that reads the same as a resource.
pub(super) fn operation(profile: Profile, uri: &str) -> &'static str {
    match (profile, uri) {
        (Profile::Graph, "memory://knowledge-graph") => "listEntities",
        (Profile::Graph, _) => CALL,
        (_, "loci://context") => "recall",
        (_, "loci://stats") => "getStats",
        (_, uri) if uri.starts_with("loci://changes") => "followEvents",
        _ => CALL,
    }
}

/// Reads a resource: its media type and its text.
pub(super) async fn read(call: &Call, profile: Profile, uri: &str) -> Result<(&'static str, String), Failure> {
    let layer = uri.strip_prefix("loci://changes/");
    match (profile, uri, layer) {
        (Profile::Graph, "memory://knowledge-graph", _) => Ok((JSON, graph::whole(call).await?)),
        (Profile::Graph, ..) => Err(unknown(uri)),
        (_, "loci://context", _) => Ok((MARKDOWN, context(call).await?)),
        (_, "loci://changes", _) => Ok((JSON, latest(call, None).await?)),
        (_, "loci://stats", _) => {
            let counts = stats::count(call).await?;
            Ok((JSON, counts.within(call.budget()).value.to_string()))
        }
        (.., Some(layer)) => {
            let layer = layer.parse::<Layer>().map_err(|error| failure::to_failure(&error, call.operation))?;
            Ok((JSON, latest(call, Some(layer)).await?))
        }
        _ => Err(unknown(uri)),
    }
}

fn unknown(uri: &str) -> Failure {
    let uri: String = uri.chars().take(200).collect();
    Failure::new(ErrorKind::NotFound, format!("unknown resource `{uri}`"), CALL).field("uri")
}

/// The most important memories, within the budget.
async fn context(call: &Call) -> Result<String, Failure> {
    let caller = call.caller()?;
    let request = QueryRequest {
        recall: RecallRequest {
            query: "what matters most".to_owned(),
            strategy: Some(Strategy::Importance),
            limit: Some(MATTERS),
            uncounted: true,
            ..RecallRequest::default()
        },
        format: Format::Markdown,
        budget_tokens: Some(call.budget().saturating_sub(block_tokens())),
        ..QueryRequest::default()
    };
    let answer = call.run_operation(call.app.engine.query(&caller, request)).await?;
    match answer.text.trim().is_empty() {
        true => Ok("Nothing is stored yet.".to_owned()),
        false => Ok(data_block(&answer.text)),
    }
}

async fn latest(call: &Call, layer: Option<Layer>) -> Result<String, Failure> {
    let latest = changes::latest(call, layer, CHANGES).await?;
    // Only the value is returned here, so it alone is measured.
    let bare = ToolAnswer::new(json!({ "data": latest }), |_| String::new());
    Ok(bare.within(call.budget()).value.to_string())
}
