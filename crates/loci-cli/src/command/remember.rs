//! `loci remember`: how is something said to Loci?

use anyhow::Result;
use clap::Args;
use loci_engine::{Caller, NewMemory};
use loci_types::Source;

use crate::arguments::{ScopeFlags, metadata, moment};
use crate::command::{print_learned, stream};
use crate::context::{Context, Nobody};

/// What to remember, and what is known about it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci remember I prefer tea to coffee
  loci remember --user ann --kind decision --tag database 'We chose PostgreSQL'
  loci remember --project atlas --meta ticket=42 --pin 'Releases happen on Tuesdays'
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
    /// fact, preference, person, project, task, episodic, decision, …; default: chosen by the text
    #[arg(long)]
    kind: Option<String>,
    /// A category
    #[arg(long)]
    category: Option<String>,
    /// A free label; may be repeated
    #[arg(long)]
    tag: Vec<String>,
    /// How much it matters, 0 to 1; default: judged by the text
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    importance: Option<f64>,
    /// How sure you are, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    confidence: Option<f64>,
    /// Keep it whatever happens
    #[arg(long)]
    pin: bool,
    /// When it happened: RFC 3339, or YYYY-MM-DD (midnight UTC)
    #[arg(long, value_name = "TIME")]
    event_time: Option<String>,
    /// Since when it holds
    #[arg(long, value_name = "TIME")]
    valid_from: Option<String>,
    /// Until when it held
    #[arg(long, value_name = "TIME")]
    valid_until: Option<String>,
    /// When it stops to be of use
    #[arg(long, value_name = "TIME")]
    expires: Option<String>,
    /// How it was acquired: conversation, manual, import, …
    #[arg(long, value_name = "TYPE")]
    source: Option<String>,
    /// Anything else, by name; may be repeated
    #[arg(long, value_name = "KEY=VALUE")]
    meta: Vec<String>,
    /// The conversation it belongs to
    #[arg(long)]
    thread: Option<String>,
    /// The run of an agent that made it
    #[arg(long)]
    run: Option<String>,
    /// Who said it
    #[arg(long)]
    actor: Option<String>,
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
        Ok(NewMemory {
            content,
            layer: self.layer.as_deref().map(str::parse).transpose()?,
            kind: self.kind.clone(),
            category: self.category.clone(),
            tags: self.tag.clone(),
            metadata: metadata(&self.meta)?,
            source: self.source.clone().map(|kind| Source { kind, role: self.role.clone(), reference: None }),
            importance: self.importance,
            confidence: self.confidence,
            pinned: self.pin,
            event_time: moment("eventTime", self.event_time.as_deref())?,
            valid_from: moment("validFrom", self.valid_from.as_deref())?,
            valid_until: moment("validUntil", self.valid_until.as_deref())?,
            expires_at: moment("expiresAt", self.expires.as_deref())?,
            thread_id: self.thread.clone(),
            run_id: self.run.clone(),
            actor_id: self.actor.clone(),
            role: self.role.clone(),
            as_is: self.as_is,
            ..NewMemory::default()
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
