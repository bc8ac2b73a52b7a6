//! `loci remember`: stores a memory.

use anyhow::Result;
use clap::Args;
use loci_types::RequestScope;
use serde_json::Value;

use crate::api::{Api, Call};
use crate::arguments::ScopeFlags;
use crate::command::{print_write, stream};
use crate::context::Context;
use crate::details::Details;
use crate::output;

/// The text and the fields of a memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci remember I prefer tea to coffee
  loci remember --user ann --kind decision --tags database 'We chose PostgreSQL'
  loci remember --project atlas --metadata ticket=42 --pin 'Releases happen on Tuesdays'
  loci remember --event-time 2026-01-31 'Met Bo at the station'
  cat notes.txt | loci remember - --json

With `-` each line of standard input is one memory; each answer is printed once its memory is durable. A repeated \
statement is stored once. A changed value supersedes the old memory, which `loci memory chain` still shows; --as-is \
keeps both.")]
pub(crate) struct RememberArgs {
    /// The text, or `-` for one memory per line of standard input
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// Layer [default: the most specific one that the scope opens]
    #[arg(long, value_name = "LAYER")]
    layer: Option<String>,
    #[command(flatten)]
    details: Details,
    /// Pin it, so that it never fades
    #[arg(long)]
    pin: bool,
    /// Conversation that it belongs to
    #[arg(long, alias = "thread", value_name = "THREAD")]
    thread_id: Option<String>,
    /// Agent run that made it
    #[arg(long, alias = "run", value_name = "RUN")]
    run_id: Option<String>,
    /// Who said it
    #[arg(long, alias = "actor", value_name = "NAME")]
    actor_id: Option<String>,
    /// Role of the speaker: user, assistant, tool, system
    #[arg(long)]
    role: Option<String>,
    /// Store it even if it repeats or contradicts another memory
    #[arg(long)]
    as_is: bool,
    /// Compute the vector later
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

impl RememberArgs {
    /// The call that adds this text.
    fn call(&self, scope: &RequestScope, content: &str) -> Result<Call> {
        let mut fields = self.details.fields()?;
        if let (Some(source), Some(role)) = (fields.get_mut("source"), &self.role) {
            source["role"] = role.as_str().into();
        }
        let mut call = Call::post(&["v1", "memories"])
            .scope(scope)
            .fields(fields)
            .field("content", content)
            .field("layer", &self.layer)
            .field("threadId", &self.thread_id)
            .field("runId", &self.run_id)
            .field("actorId", &self.actor_id)
            .field("role", &self.role);
        if self.pin {
            call = call.field("pinned", true);
        }
        if self.as_is {
            call = call.field("asIs", true);
        }
        Ok(call)
    }
}

/// Stores one text, or each line of standard input.
pub(crate) async fn run(context: &Context, args: RememberArgs) -> Result<()> {
    let scope = context.scope_of_write(&args.scope)?;
    let api = context.api(context.model_unless(args.no_embed)?).await?;
    if args.text == ["-"] {
        let take = |line: String| {
            let call = args.call(&scope, &line);
            let (api, scope) = (&api, &scope);
            async move {
                let answer = api.call(call?).await?;
                let replaced = if context.json { None } else { replaced(api, scope, &answer).await };
                Ok((answer, replaced))
            }
        };
        // A line is reconciled with the lines before it, so those must be stored first.
        let at_once = if args.as_is { stream::AT_ONCE } else { 1 };
        stream::each(stream::LONGEST_LINE, at_once, take, |(answer, replaced)| print(context, &answer, replaced))
            .await?;
    } else {
        let answer = api.call(args.call(&scope, &args.text.join(" "))?).await?;
        let replaced = if context.json { None } else { replaced(&api, &scope, &answer).await };
        print(context, &answer, replaced);
    }
    api.close().await;
    Ok(())
}

/// Prints the answer, and the line about the memory that was replaced.
fn print(context: &Context, answer: &Value, replaced: Option<String>) {
    print_write(context, answer);
    if let Some(line) = replaced {
        output::line(&line);
    }
}

/// The text of the memory that a new one superseded, as a line.
async fn replaced(api: &Api, scope: &RequestScope, answer: &Value) -> Option<String> {
    let id = answer["data"]["supersedesId"].as_str()?;
    // The write has succeeded; if the old text cannot be read, its id is all that there is to show.
    let old = api.call(Call::get(&["v1", "memories", id]).scope(scope)).await.unwrap_or_default();
    let text = old["content"].as_str().unwrap_or("(not readable)");
    Some(format!("replaced: {text} {}", output::muted(id)))
}
