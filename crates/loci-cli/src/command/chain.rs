//! `loci chain`: what was so before, and what is so now?

use anyhow::Result;
use clap::Args;
use loci_types::Memory;

use crate::arguments::ScopeFlags;
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// Which memory: any of its versions.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci chain 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50
  loci chain 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50 --json

`→` stands before the version that holds now, (gone) behind one that was forgotten or faded. `loci history` shows what happened to one of them.")]
pub(crate) struct ChainArgs {
    /// Id of the memory, whole or short
    id: String,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Prints all versions of what a memory says, oldest first.
pub(crate) async fn run(context: &Context, args: &ChainArgs) -> Result<()> {
    let given = args.id.parse()?;
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    let id = engine.resolve_id(&caller, &given).await?;
    let chain = engine.versions(&caller, id).await?;
    if context.json {
        output::json(&chain);
        return Ok(());
    }
    let rows = chain.versions.iter().enumerate().map(|(place, version)| {
        let holds = version.superseded_by_id.is_none() && version.state.is_live();
        let mark = if holds { "→ " } else { "" };
        vec![
            format!("{mark}{}{}", place + 1, if version.state.is_live() { "" } else { " (gone)" }),
            shape::instant(since(version)),
            version.valid_until.map_or_else(|| "–".to_owned(), shape::instant),
            shape::brief(&loci_engine::reported(version), 120),
            version.id.short(),
        ]
    });
    output::line(&shape::table(&["version", "holds from", "until", "what", "id"], rows.collect()));
    Ok(())
}

/// Since when it holds, as far as anyone said.
fn since(memory: &Memory) -> jiff::Timestamp {
    memory.valid_from.unwrap_or_else(|| shape::since(memory))
}
