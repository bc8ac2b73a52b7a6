//! `loci fact`: facts as subject, predicate, object.

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::Value;

use crate::api::Call;
use crate::arguments::{PageFlags, ScopeFlags, metadata, number};
use crate::command::{entries, print_next_page, print_warnings};
use crate::context::{Context, Model};
use crate::{output, shape};

/// What to do with facts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci fact add Database version v16 --fact-type has_version --confidence 0.9
  loci fact add ana city lisbon --sources ID
  loci fact list --subject Database
  loci fact list --predicate city --include-past --json
  loci fact retract ID --reason upgraded --yes

A fact that is added again stays one: the greater confidence is kept, metadata and sources are added. A fact that was \
learned from memories holds while one of them holds, and is removed with the last of them.")]
pub(crate) struct FactArgs {
    #[command(subcommand)]
    command: FactCommand,
}

#[derive(Debug, Subcommand)]
enum FactCommand {
    /// Add a fact
    Add(AddArgs),
    /// List facts, the most certain first
    List(FactListArgs),
    /// Retract a fact; the memories that it was learned from stay
    Retract {
        /// Id of the fact
        id: String,
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

#[derive(Debug, Args)]
struct AddArgs {
    /// Subject: the thing that the fact is about
    subject: String,
    /// Predicate: the attribute or relation
    predicate: String,
    /// Object: the value
    object: String,
    /// Type of the fact [default: fact]
    #[arg(long, alias = "type", value_name = "TYPE")]
    fact_type: Option<String>,
    /// Confidence, 0 to 1 [default: 1]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = number)]
    confidence: Option<Value>,
    /// Id of a memory that it was learned from, whole or short; may be repeated
    #[arg(long, alias = "source", value_name = "ID")]
    sources: Vec<String>,
    /// Metadata field; may be repeated
    #[arg(long, alias = "meta", value_name = "KEY=VALUE")]
    metadata: Vec<String>,
    /// Layer [default: that of the sources, or the most specific one that the scope opens]
    #[arg(long, value_name = "LAYER")]
    layer: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

#[derive(Debug, Args)]
struct FactListArgs {
    /// Only facts of this type
    #[arg(long, alias = "type", value_name = "TYPE")]
    fact_type: Option<String>,
    /// Only facts with this subject
    #[arg(long, value_name = "TEXT")]
    subject: Option<String>,
    /// Only facts with this predicate
    #[arg(long, value_name = "TEXT")]
    predicate: Option<String>,
    /// Only facts with this object
    #[arg(long, value_name = "TEXT")]
    object: Option<String>,
    /// Include facts that were learned from memories of which none holds any more
    #[arg(long, alias = "past")]
    include_past: bool,
    #[command(flatten)]
    page: PageFlags,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Runs a command on facts.
pub(crate) async fn run(context: &Context, args: FactArgs) -> Result<()> {
    match args.command {
        FactCommand::Add(args) => add(context, args).await,
        FactCommand::List(args) => list(context, &args).await,
        FactCommand::Retract { id, reason, yes, scope } => retract(context, &scope, &id, reason.as_deref(), yes).await,
    }
}

async fn add(context: &Context, args: AddArgs) -> Result<()> {
    // Sources are named by their ids, and the fact belongs to their scope.
    let scope =
        if args.sources.is_empty() { context.scope_of_write(&args.scope)? } else { context.scope_of_id(&args.scope) };
    let call = Call::post(&["v1", "facts"])
        .scope(&scope)
        .field("subject", args.subject)
        .field("predicate", args.predicate)
        .field("object", args.object)
        .field("factType", args.fact_type)
        .field("confidence", args.confidence)
        .field("sources", args.sources)
        .field("metadata", metadata(&args.metadata)?)
        .field("layer", args.layer);
    let api = context.api(Model::Skip).await?;
    let answer = api.call(call).await?;
    context.print(&answer, |answer| {
        let outcome = match answer["event"].as_str() {
            Some("ADD") => "added",
            Some("NONE") => "unchanged",
            _ => "updated",
        };
        output::line(&format!("{outcome} {}", output::muted(&shape::cell(&answer["id"]))));
        print_warnings(answer);
    });
    api.close().await;
    Ok(())
}

async fn list(context: &Context, args: &FactListArgs) -> Result<()> {
    let call = Call::get(&["v1", "facts"])
        .scope(&context.scope(&args.scope))
        .param("factType", args.fact_type.as_ref())
        .param("subject", args.subject.as_ref())
        .param("predicate", args.predicate.as_ref())
        .param("object", args.object.as_ref())
        .param("includePast", args.include_past.then_some(true));
    let answer = context.api(Model::Skip).await?.call(args.page.of(call)).await?;
    context.print(&answer, |answer| {
        if entries(answer).is_empty() {
            return output::line("No facts. They come from `loci fact add` and from conversations.");
        }
        let row = |fact: &Value| {
            let confidence = fact["confidence"].as_f64().unwrap_or_default();
            vec![
                shape::cell(&fact["subject"]),
                shape::cell(&fact["predicate"]),
                shape::cell(&fact["object"]),
                shape::cell(&fact["factType"]),
                format!("{confidence:.2}"),
                fact["sources"].as_array().map_or(0, Vec::len).to_string(),
                shape::cell(&fact["id"]),
            ]
        };
        let head = ["subject", "predicate", "object", "type", "confidence", "sources", "id"];
        output::line(&shape::table(&head, entries(answer).iter().map(row).collect()));
        print_next_page(answer);
    });
    Ok(())
}

async fn retract(context: &Context, flags: &ScopeFlags, id: &str, reason: Option<&str>, yes: bool) -> Result<()> {
    let scope = context.scope_of_id(flags);
    let api = context.api(Model::Skip).await?;
    // The retraction answers without a body, and the fact cannot be read afterwards.
    let fact = api.call(Call::get(&["v1", "facts", id]).scope(&scope)).await?;
    let words = ["subject", "predicate", "object"].map(|name| shape::cell(&fact[name])).join(" ");
    context.confirm(&format!("retracts the fact `{words}`, which cannot be restored"), yes)?;
    let answer = api.call(Call::delete(&["v1", "facts", id]).scope(&scope).param("reason", reason)).await?;
    context.print(&answer, |_| {
        output::line(&format!("retracted: {words}"));
    });
    api.close().await;
    Ok(())
}
