//! `loci entity`: people and things that memories mention.

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_types::Memory;
use serde_json::Value;

use crate::api::Call;
use crate::arguments::{PageFlags, ScopeFlags};
use crate::command::recall::about;
use crate::command::{entries, print_next_page};
use crate::context::{Context, Model};
use crate::{output, shape};

/// What to do with entities.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci entity list --user ann
  loci entity list --query 'who repairs my bike'
  loci entity show Porto
  loci entity merge Robert Bob
  loci entity split ID --out-of Robert

Entities are people, projects, places and other things that have a name. `merge` makes two entities one, with the names of \
both; `split` reverts that and needs the id of the entity that was merged, which `merge` prints.")]
pub(crate) struct EntityArgs {
    #[command(subcommand)]
    command: EntityCommand,
}

#[derive(Debug, Subcommand)]
enum EntityCommand {
    /// List entities, those mentioned most first, or those that fit a description
    List {
        /// Description of what is looked for: lists the entities nearest in meaning
        #[arg(long, value_name = "TEXT")]
        query: Option<String>,
        #[command(flatten)]
        page: PageFlags,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Show an entity and the newest memories that mention it, at most 20
    Show {
        /// Name, alias or id of the entity
        name: String,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Merge two entities that are the same
    Merge {
        /// Entity that stays: name, alias or id
        into: String,
        /// Entity that is merged into it: name, alias or id
        from: String,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Revert a merge
    Split {
        /// Id of the entity that was merged
        id: String,
        /// Entity that it was merged into: name, alias or id
        #[arg(long, alias = "from", value_name = "NAME")]
        out_of: String,
        #[command(flatten)]
        scope: ScopeFlags,
    },
}

/// Runs a command on entities.
pub(crate) async fn run(context: &Context, args: EntityArgs) -> Result<()> {
    match args.command {
        EntityCommand::List { query, page, scope } => list(context, query.as_ref(), &page, &scope).await,
        EntityCommand::Show { name, scope } => show(context, &scope, &name).await,
        EntityCommand::Merge { into, from, scope } => merge(context, &scope, &into, &from).await,
        EntityCommand::Split { id, out_of, scope } => split(context, &scope, &id, &out_of).await,
    }
}

/// The other names of an entity.
fn aliases(entity: &Value) -> String {
    let names = entity["aliases"].as_array().into_iter().flatten();
    names.filter_map(Value::as_str).collect::<Vec<_>>().join(", ")
}

async fn list(context: &Context, query: Option<&String>, page: &PageFlags, scope: &ScopeFlags) -> Result<()> {
    let call = Call::get(&["v1", "entities"]).scope(&context.scope(scope)).param("query", query);
    let model = if query.is_some() { Model::Load } else { Model::Skip };
    let answer = context.api(model).await?.call(page.of(call)).await?;
    context.print(&answer, |answer| {
        if entries(answer).is_empty() {
            return output::line("No entities. They are learned from conversations and memories.");
        }
        let row = |entity: &Value| {
            vec![
                shape::cell(&entity["canonicalName"]),
                shape::cell(&entity["entityType"]),
                aliases(entity),
                shape::cell(&entity["mentionCount"]),
                shape::cell(&entity["id"]),
            ]
        };
        let head = ["name", "type", "aliases", "mentions", "id"];
        output::line(&shape::table(&head, entries(answer).iter().map(row).collect()));
        print_next_page(answer);
    });
    Ok(())
}

async fn show(context: &Context, scope: &ScopeFlags, name: &str) -> Result<()> {
    let call = Call::get(&["v1", "entities", name]).scope(&context.scope(scope));
    let answer = context.api(Model::Skip).await?.call(call).await?;
    let memories: Vec<Memory> = serde_json::from_value(answer["memories"].clone())?;
    context.print(&answer, |profile| {
        let entity = &profile["entity"];
        output::line(&output::strong(&shape::cell(&entity["canonicalName"])));
        let mut parts = vec![shape::cell(&entity["entityType"])];
        if !aliases(entity).is_empty() {
            parts.push(format!("also {}", aliases(entity)));
        }
        parts.push(format!("mentions: {}", entity["mentionCount"]));
        parts.push(shape::cell(&entity["id"]));
        output::line(&output::muted(&parts.join(" · ")));
        if let Some(summary) = entity["summary"].as_str() {
            output::line(summary);
        }
        for memory in &memories {
            output::line("");
            output::line(&shape::brief(&loci_engine::reported(memory), 200));
            output::line(&output::muted(&about(memory, None, context.now())));
        }
    });
    Ok(())
}

async fn merge(context: &Context, flags: &ScopeFlags, into: &str, from: &str) -> Result<()> {
    let scope = context.scope(flags);
    let api = context.api(Model::Skip).await?;
    // After the merge its name finds the other entity, and only its id can split it off again.
    let merged = api.call(Call::get(&["v1", "entities", from]).scope(&scope)).await?["entity"].take();
    let call = Call::post(&["v1", "entities", into, "merge"]).scope(&scope).field("from", from);
    let answer = api.call(call).await?;
    context.print(&answer, |answer| {
        if answer["id"] == merged["id"] {
            return output::line(&format!("{into} and {from} are the same entity already"));
        }
        let (name, kept) = (shape::cell(&merged["canonicalName"]), shape::cell(&answer["data"]["canonicalName"]));
        output::line(&format!("{name} is merged into {kept}"));
        let (id, kept) = (shape::cell(&merged["id"]), shape::cell(&answer["id"]));
        output::line(&output::muted(&format!("to revert: loci entity split {id} --out-of {kept}")));
    });
    api.close().await;
    Ok(())
}

async fn split(context: &Context, flags: &ScopeFlags, id: &str, from: &str) -> Result<()> {
    let scope = context.scope(flags);
    let api = context.api(Model::Skip).await?;
    let call = Call::post(&["v1", "entities", from, "split"]).scope(&scope).field("id", id);
    let answer = api.call(call).await?;
    let own = api.call(Call::get(&["v1", "entities", id]).scope(&scope)).await?["entity"].take();
    context.print(&answer, |answer| {
        let (name, kept) = (shape::cell(&own["canonicalName"]), shape::cell(&answer["data"]["canonicalName"]));
        output::line(&format!("{name} is separate from {kept} again"));
    });
    api.close().await;
    Ok(())
}
