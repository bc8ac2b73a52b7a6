//! `loci consent`: memories that wait for the consent of their user.

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_types::{Memory, RequestScope};
use serde_json::Value;

use crate::api::{Api, Call};
use crate::arguments::{PageFlags, ScopeFlags};
use crate::command::{entries, print_next_page, print_warnings};
use crate::context::{Context, Model};
use crate::{output, shape};

/// What to do with proposals.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci consent list --user ann
  loci consent accept ID
  loci consent accept --all --user ann
  loci consent reject ID --reason 'too personal' --yes

What a conversation says about a sensitive attribute of its user is only proposed: recall does not find it until it is \
accepted, and it expires if nobody decides.")]
pub(crate) struct ConsentArgs {
    #[command(subcommand)]
    command: ConsentCommand,
}

#[derive(Debug, Subcommand)]
enum ConsentCommand {
    /// List proposals that wait for a decision, oldest first
    List {
        #[command(flatten)]
        page: PageFlags,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Accept proposals: they become memories
    Accept {
        /// Ids of the proposals, whole or short
        #[arg(required_unless_present = "all", value_name = "ID")]
        id: Vec<String>,
        /// Accept all proposals of the scope
        #[arg(long, conflicts_with = "id")]
        all: bool,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Reject proposals: they are deleted
    Reject {
        /// Ids of the proposals, whole or short
        #[arg(required = true, value_name = "ID")]
        id: Vec<String>,
        /// Reason, for the history
        #[arg(long, value_name = "TEXT")]
        reason: Option<String>,
        /// Confirm
        #[arg(short, long)]
        yes: bool,
        #[command(flatten)]
        scope: ScopeFlags,
    },
}

/// Lists proposals, or decides on them.
pub(crate) async fn run(context: &Context, args: ConsentArgs) -> Result<()> {
    match args.command {
        ConsentCommand::List { page, scope } => list(context, &page, &scope).await,
        ConsentCommand::Accept { id, all, scope } => accept(context, &scope, &id, all).await,
        ConsentCommand::Reject { id, reason, yes, scope } => reject(context, &scope, &id, reason.as_deref(), yes).await,
    }
}

async fn list(context: &Context, page: &PageFlags, scope: &ScopeFlags) -> Result<()> {
    let call = Call::get(&["v1", "consents"]).scope(&context.scope(scope));
    let answer = context.api(Model::Skip).await?.call(page.of(call)).await?;
    context.print(&answer, |answer| {
        if entries(answer).is_empty() {
            return output::line("No proposals wait for consent.");
        }
        let row = |proposal: &Value| {
            let field = shape::cell(&proposal["field"]);
            let memory: Option<Memory> = serde_json::from_value(proposal["memory"].clone()).ok();
            vec![
                if proposal["sensitive"] == true { format!("{field} (sensitive)") } else { field },
                shape::cell(&proposal["signals"]),
                proposal["lapsesAt"].as_str().and_then(|at| at.get(..10)).unwrap_or("–").to_owned(),
                memory.as_ref().map_or_else(String::new, |one| shape::brief(&loci_engine::reported(one), 120)),
                memory.map_or_else(String::new, |one| one.id.short()),
            ]
        };
        let head = ["attribute", "signals", "expires on", "content", "id"];
        output::line(&shape::table(&head, entries(answer).iter().map(row).collect()));
        print_next_page(answer);
    });
    Ok(())
}

async fn accept(context: &Context, flags: &ScopeFlags, ids: &[String], all: bool) -> Result<()> {
    // `--all` names nothing by its id: without scope flags it is about the default user, not about everyone.
    let scope = if all { context.scope(flags) } else { context.scope_of_id(flags) };
    let api = context.api(Model::Skip).await?;
    let ids = if all { waiting(&api, &scope).await? } else { named(&api, &scope, ids).await? };
    if ids.is_empty() {
        output::note("No proposals wait for consent.");
    }
    for id in ids {
        let answer = api.call(Call::post(&["v1", "consents", &id, "accept"]).scope(&scope)).await?;
        // A proposal whose statement is known already is deleted instead of being stored twice.
        let outcome = if answer["event"] == "DELETE" { "accepted, and known already" } else { "accepted" };
        print(context, &answer, outcome);
    }
    api.close().await;
    Ok(())
}

async fn reject(context: &Context, flags: &ScopeFlags, ids: &[String], reason: Option<&str>, yes: bool) -> Result<()> {
    let scope = context.scope_of_id(flags);
    let api = context.api(Model::Skip).await?;
    let named = named(&api, &scope, ids).await?;
    context.confirm(&format!("deletes {}", shape::count(named.len() as u64, "proposal")), yes)?;
    for id in named {
        let call = Call::post(&["v1", "consents", &id, "reject"]).scope(&scope).field("reason", reason);
        print(context, &api.call(call).await?, "rejected");
    }
    api.close().await;
    Ok(())
}

/// The ids of the named proposals. All are read before the first decision, so that a wrong id changes nothing.
async fn named(api: &Api, scope: &RequestScope, ids: &[String]) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for id in ids {
        let proposal = api.call(Call::get(&["v1", "consents", id]).scope(scope)).await?;
        found.push(shape::cell(&proposal["memory"]["id"]));
    }
    Ok(found)
}

/// The ids of all proposals. All are listed before the first decision, because a decision moves the pages.
async fn waiting(api: &Api, scope: &RequestScope) -> Result<Vec<String>> {
    let (mut found, mut cursor) = (Vec::new(), None);
    loop {
        let call = Call::get(&["v1", "consents"]).scope(scope).param("limit", Some(1000)).param("cursor", cursor);
        let answer = api.call(call).await?;
        found.extend(entries(&answer).iter().map(|proposal| shape::cell(&proposal["memory"]["id"])));
        cursor = answer["nextCursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return Ok(found);
        }
    }
}

/// Prints one decision, as soon as it is durable.
fn print(context: &Context, answer: &Value, outcome: &str) {
    context.print(answer, |answer| {
        output::line(&format!("{outcome} {}", output::muted(&shape::cell(&answer["id"]))));
        print_warnings(answer);
    });
}
