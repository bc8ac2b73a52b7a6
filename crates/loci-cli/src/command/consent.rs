//! `loci consent`: what waits for someone to agree?

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_types::{MemoryRef, Outcome, Receipt};
use serde_json::json;

use crate::arguments::ScopeFlags;
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// What to do with proposals.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci consent list
  loci consent accept ID
  loci consent accept --all --user ann
  loci consent reject ID --reason 'none of your business'

What a conversation tells about a sensitive side of its user is only proposed: nobody sees it until it
is accepted, and it lapses if nobody decides.")]
pub(crate) struct ConsentArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List what waits, oldest first
    List {
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Let something be known
    Accept {
        /// Which; may be several
        #[arg(required_unless_present = "all", value_name = "ID")]
        id: Vec<String>,
        /// Everything that waits
        #[arg(long, conflicts_with = "id")]
        all: bool,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Let something never be known
    Reject {
        /// Which; may be several
        #[arg(required = true, value_name = "ID")]
        id: Vec<String>,
        /// Why, for the history
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        #[command(flatten)]
        scope: ScopeFlags,
    },
}

/// Lists proposals, or decides on them.
pub(crate) async fn run(context: &Context, args: ConsentArgs) -> Result<()> {
    match args.verb {
        Verb::List { scope } => list(context, &scope).await,
        Verb::Accept { id, all, scope } => accept(context, &scope, &id, all).await,
        Verb::Reject { id, reason, scope } => reject(context, &scope, &id, reason.as_deref()).await,
    }
}

async fn list(context: &Context, scope: &ScopeFlags) -> Result<()> {
    let caller = context.caller(scope, false, Nobody::Operator);
    let proposals = context.engine().await?.proposals(&caller).await?;
    if context.json {
        output::json(&json!({ "proposals": proposals }));
    } else if proposals.is_empty() {
        output::line("Nothing waits for consent.");
    } else {
        let rows = proposals.iter().map(|proposal| {
            let asked = &proposal.asked;
            vec![
                if asked.sensitive { format!("{} (sensitive)", asked.field) } else { asked.field.clone() },
                asked.signals.to_string(),
                proposal.lapses_at.map_or_else(|| "–".to_owned(), |at| at.strftime("%Y-%m-%d").to_string()),
                shape::brief(&loci_engine::reported(&proposal.memory), 120),
                proposal.memory.id.short(),
            ]
        });
        output::line(&shape::table(&["about", "signals", "lapses on", "what", "id"], rows.collect()));
    }
    Ok(())
}

async fn accept(context: &Context, scope: &ScopeFlags, ids: &[String], all: bool) -> Result<()> {
    let given = read(ids)?;
    let caller = context.caller(scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    let ids = if all {
        engine.proposals(&caller).await?.into_iter().map(|proposal| proposal.memory.id).collect()
    } else {
        engine.resolve_ids(&caller, &given).await?
    };
    if ids.is_empty() && !context.json {
        output::line("Nothing waits for consent.");
    }
    for id in ids {
        print(&engine.accept(&caller, id).await?, true, context.json);
    }
    Ok(())
}

async fn reject(context: &Context, scope: &ScopeFlags, ids: &[String], reason: Option<&str>) -> Result<()> {
    let given = read(ids)?;
    let caller = context.caller(scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    for id in engine.resolve_ids(&caller, &given).await? {
        print(&engine.reject(&caller, id, reason).await?, false, context.json);
    }
    Ok(())
}

/// All ids before anything is decided, so that a wrong one leaves nothing half done.
fn read(ids: &[String]) -> Result<Vec<MemoryRef>> {
    Ok(ids.iter().map(|id| id.parse()).collect::<Result<_, _>>()?)
}

/// One receipt a line, each as soon as it is durable.
fn print(receipt: &Receipt, accepted: bool, as_json: bool) {
    if as_json {
        return output::json(receipt);
    }
    let told = match (accepted, receipt.event) {
        // What is known already is not said twice.
        (true, Outcome::Deleted) => "accepted, and known already",
        (true, _) => "accepted",
        (false, _) => "rejected",
    };
    output::line(&format!("{told} {}", output::muted(&receipt.id.to_string())));
}
