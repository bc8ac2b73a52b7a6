//! `loci fact`: what is said of things, in three words?

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_engine::{FactRequest, NewFact};
use loci_types::{Fact, MemoryRef, Outcome};
use serde_json::json;

use crate::arguments::{ScopeFlags, metadata};
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// What to do with triples.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci fact add Database version v16 --type has_version --confidence 0.9
  loci fact add ana city lisbon --source ID --user ana
  loci fact list --subject Database
  loci fact list --predicate city --past --json
  loci fact retract ID

A triple is there once: said again, the greater confidence stands and metadata and sources are added. One
that was learned from memories holds while one of them holds, and goes with the last of them.")]
pub(crate) struct FactArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// State a triple
    Add(AddArgs),
    /// List triples by any of their words, the surest first
    List(ListArgs),
    /// Take a triple back; the memories it came from stay
    Retract {
        /// Its id
        id: String,
        /// Why, for the history
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        scope: ScopeFlags,
    },
}

#[derive(Debug, Args)]
struct AddArgs {
    /// What it is about
    subject: String,
    /// Which side of it
    predicate: String,
    /// What is said of that side
    object: String,
    /// What sort of thing it says
    #[arg(long = "type", value_name = "TYPE", default_value = "fact")]
    sort: String,
    /// How sure you are, 0 to 1
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true)]
    confidence: Option<f64>,
    /// A memory that it was learned from; may be repeated
    #[arg(long, value_name = "ID")]
    source: Vec<String>,
    /// Anything else; may be repeated
    #[arg(long, alias = "meta", value_name = "KEY=VALUE")]
    metadata: Vec<String>,
    /// The layer [default: that of the sources, or the most specific that is named]
    #[arg(long, value_name = "LAYER")]
    layer: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Of this sort
    #[arg(long = "type", value_name = "TYPE")]
    sort: Option<String>,
    /// About this
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,
    /// About this side of it
    #[arg(long, value_name = "TEXT")]
    predicate: Option<String>,
    /// That say this of it
    #[arg(long, value_name = "TEXT")]
    object: Option<String>,
    /// Also those that no longer hold
    #[arg(long)]
    past: bool,
    /// So many at most
    #[arg(long, value_name = "NUMBER", default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Looks after triples.
pub(crate) async fn run(context: &Context, args: FactArgs) -> Result<()> {
    match args.verb {
        Verb::Add(args) => add(context, args).await,
        Verb::List(args) => list(context, args).await,
        Verb::Retract { id, reason, scope } => retract(context, &scope, &id, reason.as_deref()).await,
    }
}

async fn add(context: &Context, args: AddArgs) -> Result<()> {
    let sources = args.source.iter().map(|id| id.parse()).collect::<Result<Vec<MemoryRef>, _>>()?;
    let new = NewFact {
        layer: args.layer.as_deref().map(str::parse).transpose()?,
        fact_type: Some(args.sort),
        subject: args.subject,
        predicate: args.predicate,
        object: args.object,
        confidence: args.confidence,
        metadata: metadata(&args.metadata)?,
        sources,
    };
    // Sources say whose it is; without them it is somebody's.
    let nobody = if new.sources.is_empty() { Nobody::User } else { Nobody::Operator };
    let caller = context.caller(&args.scope, new.layer.is_some(), nobody);
    let engine = context.engine().await?;
    let stated = engine.state_fact(&caller, new).await?;
    if context.json {
        output::json(&stated);
        return Ok(());
    }
    let told = match stated.event {
        Outcome::Created => "stated",
        Outcome::None => "nothing to do: already so",
        _ => "stated again",
    };
    output::line(&format!("{told} {}", output::muted(&stated.fact.id.to_string())));
    if !stated.redacted.is_empty() {
        output::note(&format!("masked: {}", stated.redacted.join(", ")));
    }
    Ok(())
}

async fn list(context: &Context, args: ListArgs) -> Result<()> {
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let request = FactRequest {
        offset: 0,
        fact_type: args.sort,
        subject: args.subject,
        predicate: args.predicate,
        object: args.object,
        include_past: args.past,
        limit: Some(args.limit),
    };
    let facts = context.engine().await?.facts(&caller, request).await?;
    if context.json {
        output::json(&json!({ "facts": facts }));
    } else if facts.is_empty() {
        output::line("Nothing of this is said. Triples come from `loci fact add` and from conversations.");
    } else {
        let row = |fact: &Fact| {
            vec![
                fact.subject.clone(),
                fact.predicate.clone(),
                fact.object.clone(),
                fact.fact_type.clone(),
                format!("{:.2}", fact.confidence),
                fact.sources.len().to_string(),
                fact.id.to_string(),
            ]
        };
        let head = ["subject", "predicate", "object", "type", "sure", "sources", "id"];
        output::line(&shape::table(&head, facts.iter().map(row).collect()));
    }
    Ok(())
}

async fn retract(context: &Context, scope: &ScopeFlags, id: &str, reason: Option<&str>) -> Result<()> {
    let caller = context.caller(scope, false, Nobody::Operator);
    let fact = context.engine().await?.retract_fact(&caller, id.parse()?, reason).await?;
    if context.json {
        output::json(&fact);
    } else {
        output::line(&format!("retracted: {} {} {}", fact.subject, fact.predicate, fact.object));
    }
    Ok(())
}
