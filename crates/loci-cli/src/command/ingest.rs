//! `loci ingest`: how does a conversation come in?

use anyhow::Result;
use clap::Args;
use loci_engine::{Caller, Turn};
use loci_types::{Error, Receipt};
use serde::Serialize;
use serde_json::Value;

use crate::arguments::{ScopeFlags, instant};
use crate::command::{print_learned, stream};
use crate::context::{Context, Nobody};
use crate::output;

/// The longest line: far above what any turn can have.
const LONGEST: usize = 16 << 20;

/// What was said, and where.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci ingest --thread-id t1 I live in Porto
  loci ingest --user ann --thread-id t1 --session monday --role assistant 'Noted.'
  cat turns.jsonl | loci ingest - --user ann --json

With `-` each line of standard input is one turn: {\"threadId\": …, \"content\": …} with sessionId, role,
actorId, eventTime, reference and metadata where they are known; the flags stand for what a line does
not say. Each receipt is printed only once its turn is safe on disk. What a conversation teaches is
learned when it is over: `loci session end`, or `loci maintain`.")]
pub(crate) struct IngestArgs {
    /// The text, or `-` for one JSON object per line of standard input
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// The conversation
    #[arg(long, alias = "thread", value_name = "THREAD")]
    thread_id: Option<String>,
    /// In which role: user, assistant, tool, system
    #[arg(long)]
    role: Option<String>,
    /// Who said it
    #[arg(long, alias = "actor", value_name = "NAME")]
    actor_id: Option<String>,
    /// When it was said: RFC 3339, or YYYY-MM-DD for midnight in retrieval.time_zone
    #[arg(long, alias = "time", value_name = "TIME")]
    event_time: Option<String>,
    /// The message's own id
    #[arg(long, value_name = "ID")]
    reference: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// What became of a turn: a long one is kept in pieces.
#[derive(Debug, Serialize)]
struct Taken<'a> {
    #[serde(flatten)]
    first: &'a Receipt,
    #[serde(skip_serializing_if = "<[Receipt]>::is_empty")]
    more: &'a [Receipt],
}

/// Takes in one turn, or each line of standard input.
pub(crate) async fn run(context: &Context, args: IngestArgs) -> Result<()> {
    let caller = context.caller(&args.scope, false, Nobody::User);
    let from_input = args.text == ["-"];
    let turn = Turn {
        thread_id: args.thread_id.unwrap_or_default(),
        content: if from_input { String::new() } else { args.text.join(" ") },
        actor_id: args.actor_id,
        role: args.role,
        event_time: instant("eventTime", args.event_time.as_deref())?,
        reference: args.reference,
        ..Turn::default()
    };
    let engine = context.engine().await?;
    if !from_input {
        print(&engine.ingest(&caller, turn).await?, context.json);
        return Ok(());
    }
    // One after the other: a turn is linked to the one before it.
    let take = |line: String| {
        let read = read(&caller, &turn, &line);
        let engine = &engine;
        async move {
            let (caller, turn) = read?;
            Ok(engine.ingest(&caller, turn).await?)
        }
    };
    stream::each(LONGEST, 1, take, |receipts| print(&receipts, context.json)).await
}

fn print(receipts: &[Receipt], as_json: bool) {
    let Some((first, more)) = receipts.split_first() else { return };
    if as_json {
        return output::json(&Taken { first, more });
    }
    for receipt in receipts {
        print_learned(receipt, false);
    }
}

/// The turn that a line stands for, and whose it is.
fn read(whose: &Caller, pattern: &Turn, line: &str) -> Result<(Caller, Turn), Error> {
    let hint = "a line is an object like {\"threadId\": \"t1\", \"content\": \"I live in Porto\"}";
    let wrong = |error: serde_json::Error| {
        let told = error.to_string();
        // serde counts lines too, but from the start of this one, which would only confuse.
        let reason = told.split(" at line ").next().unwrap_or(&told);
        Error::invalid("line", format!("this is not a turn: {reason}")).hint(hint)
    };
    let Value::Object(mut fields) = serde_json::from_str(line).map_err(wrong)? else {
        return Err(Error::invalid("line", "this is JSON, but not an object").hint(hint));
    };
    fields.retain(|_, value| !value.is_null());
    // Which of several conversations it was is nothing that a memory keeps.
    fields.remove("conversation");
    let mut caller = whose.clone();
    match fields.remove("sessionId") {
        None => {}
        Some(Value::String(session)) => caller.identifiers.session_id = Some(session),
        Some(other) => return Err(Error::invalid("sessionId", format!("sessionId is {other}, but must be text"))),
    }
    let said: Turn = serde_json::from_value(Value::Object(fields)).map_err(wrong)?;
    let turn = Turn {
        thread_id: if said.thread_id.is_empty() { pattern.thread_id.clone() } else { said.thread_id },
        actor_id: said.actor_id.or_else(|| pattern.actor_id.clone()),
        role: said.role.or_else(|| pattern.role.clone()),
        event_time: said.event_time.or(pattern.event_time),
        reference: said.reference.or_else(|| pattern.reference.clone()),
        ..said
    };
    Ok((caller, turn))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_what_it_knows_and_the_flags_the_rest() {
        let whose = Caller::new(loci_types::Identifiers::default());
        let pattern = Turn { thread_id: "t".into(), role: Some("user".into()), ..Turn::default() };
        let line = r#"{"content":"x","sessionId":"s","conversation":3,"role":null,"reference":"r"}"#;
        let (caller, turn) = read(&whose, &pattern, line).unwrap();
        assert_eq!(caller.identifiers.session_id.as_deref(), Some("s"));
        assert_eq!((turn.thread_id.as_str(), turn.content.as_str()), ("t", "x"));
        assert_eq!((turn.role.as_deref(), turn.reference.as_deref()), (Some("user"), Some("r")));
    }

    #[test]
    fn what_is_no_turn_is_refused_by_its_field() {
        let whose = Caller::new(loci_types::Identifiers::default());
        for (line, field, told) in [
            ("{", "line", "not a turn"),
            ("[1]", "line", "not an object"),
            (r#"{"content":"x","colour":1}"#, "line", "`colour`"),
            (r#"{"content":7}"#, "line", "invalid type"),
            (r#"{"content":"x","sessionId":7}"#, "sessionId", "must be text"),
            (r#"{"content":"x","eventTime":"soon"}"#, "line", "not a turn"),
        ] {
            let error = read(&whose, &Turn::default(), line).unwrap_err();
            assert_eq!(error.field(), Some(field), "{line}");
            assert!(error.to_string().contains(told), "{line}: {error}");
        }
    }
}
