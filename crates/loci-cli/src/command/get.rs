//! `loci get`: what is known of one memory?

use anyhow::Result;
use clap::Args;
use loci_types::Memory;
use serde_json::Value;

use crate::arguments::ScopeFlags;
use crate::context::{Context, Nobody};
use crate::{output, shape};

/// Which memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci get 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50
  loci get 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50 --json

Without names the whole store is looked at; with names, only what they open.")]
pub(crate) struct GetArgs {
    /// Id of the memory, whole or short
    id: String,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Prints one memory whole.
pub(crate) async fn run(context: &Context, args: &GetArgs) -> Result<()> {
    let given = args.id.parse()?;
    let caller = context.caller(&args.scope, false, Nobody::Operator);
    let engine = context.engine().await?;
    let id = engine.resolve_id(&caller, &given).await?;
    let memory = engine.get(&caller, id).await?;
    if context.json {
        output::json(&memory);
    } else {
        output::line(&output::strong(&loci_engine::reported(&memory)));
        output::line(&shape::pairs(&fields(&memory)));
    }
    Ok(())
}

/// Every field that has a value, by the name it has in the record.
fn fields(memory: &Memory) -> Vec<(String, String)> {
    let Ok(Value::Object(record)) = serde_json::to_value(memory) else { return Vec::new() };
    let mut fields = Vec::new();
    for (name, value) in record {
        match value {
            Value::Object(inner) if name == "identifiers" || name == "source" => {
                fields.extend(inner.iter().map(|(inner, value)| (format!("{name}.{inner}"), shape::plain(value))));
            }
            Value::Object(inner) if inner.is_empty() => {}
            Value::Array(items) if name == "tags" => {
                let tags: Vec<_> = items.iter().map(shape::plain).collect();
                if !tags.is_empty() {
                    fields.push((name, tags.join(", ")));
                }
            }
            Value::Null => {}
            _ if name == "content" => {}
            value => fields.push((name, shape::plain(&value))),
        }
    }
    fields
}
