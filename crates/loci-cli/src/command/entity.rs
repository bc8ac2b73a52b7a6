//! `loci entity`: who and what do memories speak of?

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_engine::EntityProfile;
use loci_types::Entity;
use serde_json::json;

use crate::arguments::ScopeFlags;
use crate::command::recall::about;
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// What to do with entities.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci entity list --user ann
  loci entity show Porto
  loci entity merge Robert Bob
  loci entity split ID --from Robert

Entities are people, projects, places and other things by name. Merging says that two names mean one
thing; splitting, with the id of the one that was taken up, says that they do not.")]
pub(crate) struct EntityArgs {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// List what is spoken of, most often first
    List {
        /// So many at most
        #[arg(long, value_name = "NUMBER", default_value_t = 100)]
        limit: usize,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Show what is known of an entity
    Show {
        /// Its name, another name of it, or its id
        name: String,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Say that two are the same
    Merge {
        /// The one that stays, by name or id
        into: String,
        /// The one that is taken up, by name or id
        from: String,
        #[command(flatten)]
        scope: ScopeFlags,
    },
    /// Say that two are not the same
    Split {
        /// The id of the one that was taken up
        id: String,
        /// The one that took it up, by name or id
        #[arg(long, value_name = "NAME")]
        from: String,
        #[command(flatten)]
        scope: ScopeFlags,
    },
}

/// Looks after entities.
pub(crate) async fn run(context: &Context, args: EntityArgs) -> Result<()> {
    match args.verb {
        Verb::List { limit, scope } => list(context, &scope, limit).await,
        Verb::Show { name, scope } => show(context, &scope, &name).await,
        Verb::Merge { into, from, scope } => merge(context, &scope, &into, &from).await,
        Verb::Split { id, from, scope } => split(context, &scope, &id, &from).await,
    }
}

async fn list(context: &Context, scope: &ScopeFlags, limit: usize) -> Result<()> {
    let caller = context.caller(scope, false, Nobody::Operator);
    let entities = context.engine().await?.entities(&caller, 0, limit).await?;
    if context.json {
        output::json(&json!({ "entities": entities }));
    } else if entities.is_empty() {
        output::line("Nothing is spoken of yet. Names are learned from conversations and from what is remembered.");
    } else {
        let rows = entities.iter().map(|entity| {
            vec![
                entity.canonical_name.clone(),
                entity.entity_type.to_string(),
                entity.aliases.join(", "),
                entity.mention_count.to_string(),
                entity.id.to_string(),
            ]
        });
        output::line(&shape::table(&["name", "what", "also", "spoken of", "id"], rows.collect()));
    }
    Ok(())
}

async fn show(context: &Context, scope: &ScopeFlags, name: &str) -> Result<()> {
    let caller = context.caller(scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    let profile = engine.entity(&caller, name).await?;
    if context.json {
        output::json(&profile);
    } else {
        print(&profile, engine.now());
    }
    Ok(())
}

fn print(profile: &EntityProfile, now: jiff::Timestamp) {
    let entity = &profile.entity;
    output::line(&output::strong(&entity.canonical_name));
    output::line(&output::muted(&line(entity)));
    if let Some(summary) = &entity.summary {
        output::line(summary);
    }
    for memory in &profile.memories {
        output::line("");
        output::line(&shape::brief(&loci_engine::reported(memory), 200));
        output::line(&output::muted(&about(memory, None, now)));
    }
}

/// What an entity is, in one line.
fn line(entity: &Entity) -> String {
    let also =
        if entity.aliases.is_empty() { String::new() } else { format!(" · also {}", entity.aliases.join(", ")) };
    format!("{}{also} · spoken of {} times · {}", entity.entity_type, entity.mention_count, entity.id)
}

async fn merge(context: &Context, scope: &ScopeFlags, into: &str, from: &str) -> Result<()> {
    let caller = context.caller(scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    let taken = engine.entity(&caller, from).await?.entity;
    let kept = engine.merge_entities(&caller, into, from).await?;
    if context.json {
        output::json(&kept);
    } else if kept.id == taken.id {
        output::line(&format!("{into} and {from} are one already"));
    } else {
        output::line(&format!("{} is found as {} from now on", taken.canonical_name, kept.canonical_name));
        output::line(&output::muted(&format!("to take it back: loci entity split {} --from {}", taken.id, kept.id)));
    }
    Ok(())
}

async fn split(context: &Context, scope: &ScopeFlags, id: &str, from: &str) -> Result<()> {
    let id = id.parse()?;
    let caller = context.caller(scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    let root = engine.split_entity(&caller, id, from).await?;
    // Whatever was divided stands by itself now; an unknown id does not.
    let own = engine.entity(&caller, &id.to_string()).await?.entity;
    if context.json {
        output::json(&own);
    } else {
        output::line(&format!("{} and {} are two things", own.canonical_name, root.canonical_name));
    }
    Ok(())
}
