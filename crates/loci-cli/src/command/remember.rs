//! `loci remember`: how is something said to Loci?

use anyhow::Result;
use clap::Args;
use loci_engine::{Caller, NewMemory};

use crate::arguments::ScopeFlags;
use crate::command::{print_learned, stream};
use crate::context::{Context, Nobody};
use crate::details::Details;

/// What to remember, and what is known about it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci remember I prefer tea to coffee
  loci remember --user ann --kind decision --tags database 'We chose PostgreSQL'
  loci remember --project atlas --metadata ticket=42 --pin 'Releases happen on Tuesdays'
  loci remember --event-time 2026-01-31 'Met Bo at the station'
  cat notes.txt | loci remember - --json

With `-` each line of standard input is one memory, and each receipt is printed only once its
memory is safe on disk. What is known already is kept once; what has changed takes the place of the old,
which `loci chain` still shows. --as-is keeps both.")]
pub(crate) struct RememberArgs {
    /// The text, or `-` for one memory per line of standard input
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// The layer; default: the most specific one that the names below open
    #[arg(long, value_name = "LAYER")]
    layer: Option<String>,
    #[command(flatten)]
    details: Details,
    /// Keep it whatever happens
    #[arg(long)]
    pin: bool,
    /// The conversation it belongs to
    #[arg(long, alias = "thread", value_name = "THREAD")]
    thread_id: Option<String>,
    /// The run of an agent that made it
    #[arg(long, alias = "run", value_name = "RUN")]
    run_id: Option<String>,
    /// Who said it
    #[arg(long, alias = "actor", value_name = "NAME")]
    actor_id: Option<String>,
    /// In which role: user, assistant, tool, system
    #[arg(long)]
    role: Option<String>,
    /// Keep it beside whatever it repeats or contradicts
    #[arg(long)]
    as_is: bool,
    /// Leave the vector for later
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

impl RememberArgs {
    fn memory(&self, content: String) -> Result<NewMemory, loci_types::Error> {
        let mut memory = self.details.memory(content)?;
        if let Some(source) = &mut memory.source {
            source.role.clone_from(&self.role);
        }
        Ok(NewMemory {
            layer: self.layer.as_deref().map(str::parse).transpose()?,
            pinned: self.pin,
            thread_id: self.thread_id.clone(),
            run_id: self.run_id.clone(),
            actor_id: self.actor_id.clone(),
            role: self.role.clone(),
            as_is: self.as_is,
            ..memory
        })
    }
}

/// Remembers one text, or each line of standard input.
pub(crate) async fn run(context: &Context, args: RememberArgs) -> Result<()> {
    let caller: Caller = context.caller(&args.scope, args.layer.is_some(), Nobody::User);
    let from_input = args.text == ["-"];
    let memory = args.memory(if from_input { String::new() } else { args.text.join(" ") })?;
    let engine = context.engine_with_model(args.no_embed, &caller).await?;
    if from_input {
        return stream::remember(&engine, &caller, &memory, context.json).await;
    }
    let receipt = engine.remember(&caller, memory).await?;
    print_learned(&receipt, context.json);
    Ok(())
}
