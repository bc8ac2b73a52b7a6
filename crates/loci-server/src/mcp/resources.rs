//! What can be read without asking a question?

use loci_engine::pack::Format;
use loci_engine::{QueryRequest, RecallRequest, Strategy};
use loci_types::Layer;
use serde_json::json;

use super::answer::Answer;
use super::asked::Asked;
use super::profile::Profile;
use super::tool::verb;
use super::tools::{changes, graph, stats};
use crate::failure::{self, Failure};

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";
/// So many changes are told.
const CHANGES: usize = 50;
/// So many memories are looked at for what matters now.
const MATTERS: usize = 30;

/// Something to read.
pub(super) struct Listed {
    pub(super) uri: &'static str,
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: &'static str,
    pub(super) mime: &'static str,
}

const MEMORY: &[Listed] = &[
    Listed {
        uri: "loci://context",
        name: "context",
        title: "What matters now",
        description: "The most important of what is remembered, ready to be put before a conversation",
        mime: MARKDOWN,
    },
    Listed {
        uri: "loci://changes",
        name: "changes",
        title: "What changed",
        description: "The latest changes to what is remembered, newest first",
        mime: JSON,
    },
    Listed {
        uri: "loci://stats",
        name: "stats",
        title: "What there is",
        description: "How many memories, edges and entities there are, by sort",
        mime: JSON,
    },
];

const TEMPLATES: &[Listed] = &[Listed {
    uri: "loci://changes/{layer}",
    name: "changes-of-a-layer",
    title: "What changed in a layer",
    description: "The latest changes in one layer: agent, user, session, project, team, org, company or pool",
    mime: JSON,
}];

const GRAPH: &[Listed] = &[Listed {
    uri: "memory://knowledge-graph",
    name: "knowledge-graph",
    title: "Knowledge graph",
    description: "Every entity and every relation",
    mime: JSON,
}];

/// What a profile lists.
pub(super) fn listed(profile: Profile) -> &'static [Listed] {
    match profile {
        Profile::Graph => GRAPH,
        Profile::Default | Profile::Full => MEMORY,
    }
}

/// What a profile lists with a part to be filled in.
pub(super) fn templates(profile: Profile) -> &'static [Listed] {
    match profile {
        Profile::Graph => &[],
        Profile::Default | Profile::Full => TEMPLATES,
    }
}

/// What stands there, and in what form; none: there is nothing.
pub(super) async fn read(
    asked: &Asked,
    profile: Profile,
    uri: &str,
) -> Result<Option<(&'static str, String)>, Failure> {
    let layer = uri.strip_prefix("loci://changes/");
    match (profile, uri, layer) {
        (Profile::Graph, "memory://knowledge-graph", _) => Ok(Some((JSON, graph::whole(asked).await?))),
        (Profile::Graph, ..) => Ok(None),
        (_, "loci://context", _) => Ok(Some((MARKDOWN, context(asked).await?))),
        (_, "loci://changes", _) => Ok(Some((JSON, latest(asked, None).await?))),
        (_, "loci://stats", _) => {
            let told = stats::count(asked).await?;
            Ok(Some((JSON, told.within(asked.budget()).value.to_string())))
        }
        (.., Some(layer)) => {
            let layer = layer.parse::<Layer>().map_err(|error| failure::word(&error, "changes"))?;
            Ok(Some((JSON, latest(asked, Some(layer)).await?)))
        }
        _ => Ok(None),
    }
}

/// What matters most of all that is known, within the budget.
async fn context(asked: &Asked) -> Result<String, Failure> {
    let caller = asked.caller("context")?;
    let request = QueryRequest {
        recall: RecallRequest {
            query: "what matters most".to_owned(),
            strategy: Strategy::Importance,
            limit: Some(MATTERS),
            uncounted: true,
            ..RecallRequest::default()
        },
        format: Format::Markdown,
        budget_tokens: Some(asked.budget()),
        ..QueryRequest::default()
    };
    let answer = verb(asked, "query", asked.app.engine.query(&caller, request)).await?;
    match answer.text.trim().is_empty() {
        true => Ok("Nothing is remembered yet.".to_owned()),
        false => Ok(answer.text),
    }
}

async fn latest(asked: &Asked, layer: Option<Layer>) -> Result<String, Failure> {
    let told = changes::latest(asked, layer, CHANGES).await?;
    // Only the value is read here, so it alone is measured.
    let bare = Answer::new(json!({ "changes": told }), |_| String::new());
    Ok(bare.within(asked.budget()).value.to_string())
}
