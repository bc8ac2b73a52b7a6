//! `loci ingest`: stores turns of a conversation.

use anyhow::Result;
use clap::Args;
use loci_types::{Error, RequestScope};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::api::Call;
use crate::arguments::ScopeFlags;
use crate::command::{entries, print_write, stream};
use crate::context::{Context, Model};
use crate::fault::Reported;

/// Maximum length of a line in bytes; the API limits the turn itself.
const LONGEST_LINE: usize = 16 << 20;

/// Where the API finds a turn in the body of a call.
const IN_BODY: &str = "turns[0].";

/// The turn.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci ingest --thread-id t1 I live in Porto
  loci ingest --user ann --thread-id t1 --session monday --role assistant 'Noted.'
  cat turns.jsonl | loci ingest - --user ann --json

With `-` each line of standard input is one turn: {\"threadId\": …, \"content\": …}, optionally with sessionId, role, actorId, \
eventTime, reference and metadata; flags give what a line does not. Each answer is printed once its turn is durable. \
Without --session each thread is a session. Memories are learned from a session when it ends: `loci session end`, or \
`loci store maintain`.

--json prints the answer of POST /v1/turns: {\"data\": [{\"index\": 0, \"writes\": […]}]}.")]
pub(crate) struct IngestArgs {
    /// The text, or `-` for one JSON object per line of standard input
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    #[command(flatten)]
    turn: TurnFlags,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Fields of a turn besides its text, by the names of the API.
#[derive(Debug, Default, Args, Serialize)]
#[serde(rename_all = "camelCase")]
struct TurnFlags {
    /// Conversation that it belongs to
    #[arg(long, alias = "thread", value_name = "THREAD")]
    #[serde(skip_serializing_if = "Option::is_none")]
    thread_id: Option<String>,
    /// Role of the speaker: user, assistant, tool, system
    #[arg(long)]
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    /// Who said it
    #[arg(long, alias = "actor", value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    actor_id: Option<String>,
    /// When it was said: RFC 3339, or YYYY-MM-DD for midnight in retrieval.time_zone
    #[arg(long, alias = "time", value_name = "TIME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    event_time: Option<String>,
    /// Id of the message in its own system
    #[arg(long, value_name = "ID")]
    #[serde(skip_serializing_if = "Option::is_none")]
    reference: Option<String>,
}

impl TurnFlags {
    /// The given fields, as the API takes them.
    fn fields(&self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(fields)) => fields,
            _ => Map::new(),
        }
    }
}

/// Stores one turn, or each line of standard input.
pub(crate) async fn run(context: &Context, args: IngestArgs) -> Result<()> {
    let scope = context.scope_of_write(&args.scope)?;
    let mut turn = args.turn.fields();
    let api = context.api(Model::Skip).await?;
    if args.text == ["-"] {
        let take = |line: String| {
            let call = read(&scope, &turn, &line).map(|(scope, turn)| call(&scope, turn));
            let api = &api;
            async move { api.call(call?).await.map_err(of_turn) }
        };
        // A turn is linked to the turn before it, which must be stored first.
        stream::each(LONGEST_LINE, 1, take, |answer| print(context, &answer)).await?;
    } else {
        turn.insert("content".to_owned(), args.text.join(" ").into());
        print(context, &api.call(call(&scope, turn)).await.map_err(of_turn)?);
    }
    api.close().await;
    Ok(())
}

fn call(scope: &RequestScope, turn: Map<String, Value>) -> Call {
    Call::post(&["v1", "turns"]).scope(scope).field("turns", [turn])
}

/// A failure by the field of the turn: the command sends one turn, and its user knows no list and no place in a body.
fn of_turn(error: anyhow::Error) -> anyhow::Error {
    let mut reported = match error.downcast::<Reported>() {
        Ok(reported) => reported,
        Err(other) => return other,
    };
    let problem = &mut reported.problem;
    let field = problem.details.get("field").and_then(Value::as_str).and_then(|field| field.strip_prefix(IN_BODY));
    if let Some(field) = field.map(str::to_owned) {
        let message = problem.message.split(" at line ").next().unwrap_or_default();
        problem.message = message.strip_prefix(IN_BODY).unwrap_or(message).to_owned();
        problem.details.insert("field".to_owned(), field.into());
    }
    reported.into()
}

/// Prints the write of each memory that was made of a turn: a long turn has several.
fn print(context: &Context, answer: &Value) {
    context.print(answer, |answer| {
        let turns = entries(answer).iter();
        for write in turns.filter_map(|turn| turn["writes"].as_array()).flatten() {
            print_write(context, write);
        }
    });
}

/// The turn of a line and its scope; flags give what the line does not.
fn read(
    scope: &RequestScope,
    flags: &Map<String, Value>,
    line: &str,
) -> Result<(RequestScope, Map<String, Value>), Error> {
    let hint = "a line is an object like {\"threadId\": \"t1\", \"content\": \"I live in Porto\"}";
    let wrong = |error: serde_json::Error| {
        let text = error.to_string();
        // serde counts lines from the start of this one, which is not the number of the line.
        let reason = text.split(" at line ").next().unwrap_or(&text);
        Error::invalid("line", format!("the line is not JSON: {reason}")).hint(hint)
    };
    let Value::Object(mut fields) = serde_json::from_str(line).map_err(wrong)? else {
        return Err(Error::invalid("line", "the line is JSON, but not an object").hint(hint));
    };
    fields.retain(|_, value| !value.is_null());
    // Files of several conversations number them; a turn has no such field.
    fields.remove("conversation");
    let mut scope = scope.clone();
    match fields.remove("sessionId") {
        None => {}
        Some(Value::String(session)) => scope.identifiers.session_id = Some(session),
        Some(other) => return Err(Error::invalid("sessionId", format!("sessionId is {other}, but must be text"))),
    }
    let mut turn = flags.clone();
    turn.extend(fields);
    Ok((scope, turn))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn flags_give_what_a_line_does_not() {
        let flags = TurnFlags { thread_id: Some("t".into()), role: Some("user".into()), ..TurnFlags::default() };
        let line = r#"{"content":"x","sessionId":"s","conversation":3,"role":null,"reference":"r"}"#;
        let (scope, turn) = read(&RequestScope::default(), &flags.fields(), line).unwrap();
        assert_eq!(scope.identifiers.session_id.as_deref(), Some("s"));
        assert_eq!(Value::from(turn), json!({ "threadId": "t", "content": "x", "role": "user", "reference": "r" }));
        let (_, turn) = read(&RequestScope::default(), &flags.fields(), r#"{"role":"tool"}"#).unwrap();
        assert_eq!(turn["role"], "tool");
    }

    #[test]
    fn a_failure_names_the_field_of_the_turn() {
        for (detail, field, message, own) in [
            ("turns[0].role: not text at line 1 column 9", "turns[0].role", "role: not text", "role"),
            ("content is empty", "content", "content is empty", "content"),
        ] {
            let body = json!({ "code": "INVALID_INPUT", "detail": detail, "details": { "field": field } });
            let error = of_turn(crate::api::reported(&body).into());
            let problem = &error.downcast_ref::<Reported>().unwrap().problem;
            assert_eq!((problem.message.as_str(), &problem.details["field"]), (message, &json!(own)));
        }
    }

    #[test]
    fn a_line_that_is_not_an_object_is_refused() {
        for (line, field, message) in [
            ("{", "line", "not JSON: EOF while parsing an object"),
            ("[1]", "line", "not an object"),
            (r#"{"content":"x","sessionId":7}"#, "sessionId", "must be text"),
        ] {
            let error = read(&RequestScope::default(), &Map::new(), line).unwrap_err();
            assert_eq!(error.field(), Some(field), "{line}");
            assert!(error.to_string().contains(message), "{line}: {error}");
        }
    }
}
