//! What may be known, and who decides?

use loci_engine::Proposal;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{brief, id, line, list, receipt, seconds, text};
use crate::failure::Failure;
use crate::mcp::answer::Answer;
use crate::mcp::asked::Asked;
use crate::mcp::tool::{Tool, tool, verb};

/// The tools about consent.
pub(super) const TOOLS: &[Tool] = &[
    tool!(
        "list_consents",
        "List consents",
        Reader,
        Reads,
        Nothing => proposals,
        "List statements about the user that wait for the user's consent. Use it when the user wants to know, or to \
         ask the user about one of them. Returns `proposals`, each with `id`, `content`, the `field` it is about and \
         `lapsesAt`. Example: {}"
    ),
    tool!(
        "decide_consent",
        "Decide a consent",
        Writer,
        Sets,
        Decide => decide,
        "Accept or reject a statement that waits for consent. Use it only after the user has said so, never on your \
         own. Returns `id` and `event`. \
         Example: {\"proposal_id\": \"0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50\", \"decision\": \"accept\"}"
    ),
];

/// Nothing is asked for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// What the user said.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Decide {
    /// The id of the proposal.
    proposal_id: String,
    /// What the user decided.
    decision: Decision,
    /// Why, if it was said.
    reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Decision {
    Accept,
    Reject,
}

fn told(proposal: &Proposal) -> Value {
    let mut told = brief(&proposal.memory);
    told["field"] = json!(proposal.asked.field);
    told["sensitive"] = json!(proposal.asked.sensitive);
    told["signals"] = json!(proposal.asked.signals);
    told["lapsesAt"] = json!(proposal.lapses_at.map(seconds));
    told
}

async fn proposals(asked: &Asked, _: Nothing) -> Result<Answer, Failure> {
    let caller = asked.caller("consent")?;
    let found = verb(asked, "consent", asked.app.engine.proposals(&caller)).await?;
    let value = json!({ "proposals": found.iter().map(told).collect::<Vec<_>>() });
    let write = |value: &Value| {
        let lines: String = list(value, "proposals").map(line).collect();
        if lines.is_empty() { "Nothing waits for consent.".to_owned() } else { lines }
    };
    Ok(Answer::new(value, write).less("decide on the first ones; the others follow"))
}

async fn decide(asked: &Asked, given: Decide) -> Result<Answer, Failure> {
    let (caller, which) = (asked.caller("consent")?, id("proposal_id", &given.proposal_id)?);
    let engine = &asked.app.engine;
    let done = match given.decision {
        Decision::Accept => verb(asked, "consent", engine.accept(&caller, which)).await?,
        Decision::Reject => verb(asked, "consent", engine.reject(&caller, which, given.reason.as_deref())).await?,
    };
    let mut value = receipt(&done);
    value["decision"] = json!(if given.decision == Decision::Accept { "accept" } else { "reject" });
    let write = |value: &Value| match text(value, "decision") {
        "accept" => format!("{} is known from now on.", text(value, "id")),
        _ => format!("{} is not kept.", text(value, "id")),
    };
    Ok(Answer::new(value, write))
}
