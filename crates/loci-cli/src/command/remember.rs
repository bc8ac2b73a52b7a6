//! `loci remember`: stores a memory.

use anyhow::Result;
use clap::Args;
use loci_types::RequestScope;
use serde_json::{Map, Value};

use crate::api::{Api, Call, reported};
use crate::arguments::ScopeFlags;
use crate::command::{print_write, stream};
use crate::context::Context;
use crate::details::Details;
use crate::fault::Reported;
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
    /// The memory with this text.
    fn memory(&self, content: &str) -> Result<Map<String, Value>> {
        let mut fields = self.details.fields()?;
        if let (Some(source), Some(role)) = (fields.get_mut("source"), &self.role) {
            source["role"] = role.as_str().into();
        }
        let texts = [
            ("content", Some(content)),
            ("layer", self.layer.as_deref()),
            ("threadId", self.thread_id.as_deref()),
            ("runId", self.run_id.as_deref()),
            ("actorId", self.actor_id.as_deref()),
            ("role", self.role.as_deref()),
        ];
        fields.extend(texts.into_iter().filter_map(|(name, text)| Some((name.to_owned(), text?.into()))));
        for (name, set) in [("pinned", self.pin), ("asIs", self.as_is)] {
            if set {
                fields.insert(name.to_owned(), true.into());
            }
        }
        Ok(fields)
    }

    /// The call that adds this text.
    fn call(&self, scope: &RequestScope, content: &str) -> Result<Call> {
        Ok(Call::post(&["v1", "memories"]).scope(scope).fields(self.memory(content)?))
    }

    /// Adds texts together, so that a model embeds them in one call. Returns one answer for each, up to the first failure.
    async fn add_many(&self, api: &Api, scope: &RequestScope, texts: Vec<String>) -> Vec<Result<Value>> {
        if let [text] = &texts[..] {
            return vec![self.add(api, scope, text).await];
        }
        match self.add_batch(api, scope, &texts).await {
            Ok(answers) => answers,
            // The batch was refused as a whole, and nothing of it was written: alone, the line says why.
            Err(error) if error.is::<Reported>() => {
                let mut answers = Vec::with_capacity(texts.len());
                for text in texts {
                    answers.push(self.add(api, scope, &text).await);
                    if answers.last().is_some_and(Result::is_err) {
                        break;
                    }
                }
                answers
            }
            Err(error) => vec![Err(error)],
        }
    }

    async fn add(&self, api: &Api, scope: &RequestScope, text: &str) -> Result<Value> {
        api.call(self.call(scope, text)?).await
    }

    async fn add_batch(&self, api: &Api, scope: &RequestScope, texts: &[String]) -> Result<Vec<Result<Value>>> {
        let memories = texts.iter().map(|text| self.memory(text)).collect::<Result<Vec<_>>>()?;
        let call = Call::post(&["v1", "memories", "batch"]).scope(scope).field("memories", memories);
        let mut answer = api.call(call).await?;
        let mut answers = Vec::with_capacity(texts.len());
        for mut entry in answer["data"].as_array_mut().map(std::mem::take).unwrap_or_default() {
            let fields = entry.as_object_mut().map(std::mem::take).unwrap_or_default();
            answers.push(match fields.get("error") {
                Some(problem) => Err(reported(problem).into()),
                None => Ok(written(api, scope, fields).await),
            });
        }
        Ok(answers)
    }
}

/// Stores one text, or each line of standard input.
pub(crate) async fn run(context: &Context, args: RememberArgs) -> Result<()> {
    let scope = context.scope_of_write(&args.scope)?;
    let api = context.api(context.model_unless(args.no_embed)?).await?;
    if args.text == ["-"] {
        let take = |lines: Vec<String>| {
            let (args, api, scope) = (&args, &api, &scope);
            async move {
                let mut printed = Vec::with_capacity(lines.len());
                for answer in args.add_many(api, scope, lines).await {
                    printed.push(match answer {
                        Ok(answer) if context.json => Ok((answer, None)),
                        Ok(answer) => {
                            let replaced = replaced(api, scope, &answer).await;
                            Ok((answer, replaced))
                        }
                        Err(error) => Err(error),
                    });
                }
                printed
            }
        };
        // A line is reconciled with the lines before it, so those must be stored first.
        let at_once = if args.as_is { stream::AT_ONCE } else { 1 };
        let tell = |(answer, replaced): (Value, Option<String>)| print(context, &answer, replaced);
        stream::each_batch(stream::LONGEST_LINE, at_once, take, tell).await?;
    } else {
        let answer = api.call(args.call(&scope, &args.text.join(" "))?).await?;
        let replaced = if context.json { None } else { replaced(&api, &scope, &answer).await };
        print(context, &answer, replaced);
    }
    api.close().await;
    Ok(())
}

/// The answer to one memory of a batch, as a single write is answered.
async fn written(api: &Api, scope: &RequestScope, mut fields: Map<String, Value>) -> Value {
    fields.remove("index");
    let id = fields.get("id").and_then(Value::as_str).unwrap_or_default();
    // The write has succeeded; if the memory cannot be read, its id is all that there is to show.
    let memory = api.call(Call::get(&["v1", "memories", id]).scope(scope)).await.unwrap_or_default();
    fields.insert("data".to_owned(), memory);
    Value::Object(fields)
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
