//! Statements that wait for the user's consent. A model can list them; only a person decides.

use loci_engine::Proposal;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::record::{brief, line, list};
use crate::failure::Failure;
use crate::mcp::answer::ToolAnswer;
use crate::mcp::call::Call;
use crate::mcp::tool::{Tool, tool};

/// The tool that lists proposals.
pub(super) const TOOLS: &[Tool] = &[tool!(
    "list_consents",
    "List consents",
    Reader,
    Reads,
    "listConsents",
    ConsentArguments => list_consents,
    "List statements about the user that are not used until the user consents. Use it when the user asks what waits. \
     You cannot decide: the user does, with `loci consent accept ID` or `loci consent reject ID`. Returns `data`, each \
     with `id`, `content`, the `field` of the profile and `lapses_at`."
)];

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConsentArguments {}

fn proposal(call: &Call, proposal: &Proposal) -> Value {
    let mut record = brief(call, &proposal.memory);
    record["field"] = json!(proposal.asked.field);
    record["sensitive"] = json!(proposal.asked.sensitive);
    record["signals"] = json!(proposal.asked.signals);
    record["lapses_at"] = json!(proposal.lapses_at.map(|at| call.instant(at)));
    record
}

async fn list_consents(call: &Call, _: ConsentArguments) -> Result<ToolAnswer, Failure> {
    let caller = call.caller()?;
    let found = call.run_operation(call.app.engine.proposals(&caller)).await?;
    let value = json!({ "data": found.iter().map(|one| proposal(call, one)).collect::<Vec<_>>() });
    let write = |value: &Value| {
        let lines: String = list(value, "data").map(line).collect();
        if lines.is_empty() { "Nothing waits for consent.".to_owned() } else { lines }
    };
    Ok(ToolAnswer::new(value, write).less("the user can decide on the first ones with `loci consent`"))
}
