//! `loci edges`: what does a memory hang together with?

use anyhow::Result;
use clap::Args;
use loci_types::Relation;
use serde_json::json;

use crate::arguments::ScopeFlags;
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// Which memory, and which links of it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci edges 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50
  loci edges 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50 --relation derived_from --relation causal --json

Relations: temporal, causal, entity, derived_from, supersedes, related_to.")]
pub(crate) struct EdgesArgs {
    /// Id of the memory, whole or short
    id: String,
    /// Only links that say this; may be repeated
    #[arg(long)]
    relation: Vec<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Prints the links of a memory.
pub(crate) async fn run(context: &Context, args: &EdgesArgs) -> Result<()> {
    let given = args.id.parse()?;
    let relations = args.relation.iter().map(|name| name.parse()).collect::<Result<Vec<Relation>, _>>()?;
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    let id = engine.resolve_id(&caller, &given).await?;
    let edges = engine.edges(&caller, id, &relations).await?;
    if context.json {
        output::json(&json!({ "edges": edges }));
        return Ok(());
    }
    if edges.is_empty() {
        output::line("It hangs together with nothing.");
        return Ok(());
    }
    let mut rows = Vec::new();
    for edge in &edges {
        let (arrow, other) = if edge.source_id == id { ("→", edge.target_id) } else { ("←", edge.source_id) };
        let text = engine.get(&caller, other).await.map(|memory| shape::brief(&loci_engine::reported(&memory), 80));
        rows.push(vec![
            format!("{arrow} {}", edge.relation),
            edge.predicate.clone().unwrap_or_default(),
            format!("{:.2}", edge.strength),
            text.unwrap_or_else(|_| "not to be seen here".to_owned()),
            other.short(),
        ]);
    }
    output::line(&shape::table(&["relation", "how", "strength", "what", "id"], rows));
    Ok(())
}
