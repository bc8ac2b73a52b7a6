//! `loci explain`: where does a memory come from?

use anyhow::Result;
use clap::Args;
use loci_engine::ProvenanceReport;
use loci_types::{Memory, MemoryId};

use crate::arguments::ScopeFlags;
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// Which memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci explain 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50
  loci explain 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50 --json

Shows what it was learned from, what it replaced and what replaced it, what it speaks of, what it hangs
together with and what happened to it. `loci recall --explain` tells why it was found.")]
pub(crate) struct ExplainArgs {
    /// Id of the memory, whole or short
    id: String,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Prints where a memory comes from.
pub(crate) async fn run(context: &Context, args: &ExplainArgs) -> Result<()> {
    let given = args.id.parse()?;
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    let id = engine.resolve_id(&caller, &given).await?;
    let found = engine.explain(&caller, id).await?;
    if context.json {
        output::json(&found);
    } else {
        print(&found);
    }
    Ok(())
}

fn print(found: &ProvenanceReport) {
    let memory = &found.memory;
    output::line(&output::strong(&loci_engine::shown(memory, found.newer.as_ref())));
    output::line(&output::muted(&format!(
        "{} · {} · version {} · {}",
        memory.kind, memory.state, memory.version, memory.id
    )));
    if let Some(source) = &memory.source {
        let parts = [Some(source.kind.clone()), source.role.clone(), source.reference.clone()];
        section("Came from", vec![parts.into_iter().flatten().collect::<Vec<_>>().join(", ")]);
    }
    section("Learned from", found.sources.iter().map(line).collect());
    if found.chain.len() > 1 {
        let told = |version: &Memory| {
            let mark = if version.id == memory.id { "→" } else { " " };
            format!("{mark} {}  {}", shape::instant(version.created_at), line(version))
        };
        section("Versions, oldest first", found.chain.iter().map(told).collect());
    }
    let entity = |entity: &loci_types::Entity| {
        let others =
            if entity.aliases.is_empty() { String::new() } else { format!(", also {}", entity.aliases.join(", ")) };
        format!("{} ({}{others})", entity.canonical_name, entity.entity_type)
    };
    section("Speaks of", found.entities.iter().map(entity).collect());
    let edge = |edge: &loci_types::Edge| {
        let (arrow, other) = other_end(edge, memory.id);
        format!("{arrow} {} {} (strength {:.2})", edge.relation, other.short(), edge.strength)
    };
    section("Hangs together with", found.edges.iter().map(edge).collect());
    let event = |entry: &loci_types::LedgerEntry| {
        let who = entry.actor.as_deref().map(|who| format!(" by {who}")).unwrap_or_default();
        format!("{}  {}{who}: {}", shape::instant(entry.at), entry.event, entry.reason)
    };
    section("What happened", found.history.iter().map(event).collect());
}

fn other_end(edge: &loci_types::Edge, id: MemoryId) -> (&'static str, MemoryId) {
    if edge.source_id == id { ("→", edge.target_id) } else { ("←", edge.source_id) }
}

fn line(memory: &Memory) -> String {
    format!("{} {}", shape::brief(&loci_engine::reported(memory), 80), output::muted(&memory.id.short()))
}

fn section(title: &str, lines: Vec<String>) {
    if lines.is_empty() {
        return;
    }
    output::line("");
    output::line(title);
    for line in lines {
        output::line(&format!("  {line}"));
    }
}
