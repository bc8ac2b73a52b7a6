//! Commands that show one memory, and the list of fading ones.

use anyhow::Result;
use clap::Args;
use loci_engine::ProvenanceReport;
use loci_types::{Edge, LedgerEntry, Memory, MemoryId};
use serde_json::Value;

use crate::api::Call;
use crate::arguments::{ScopeFlags, number};
use crate::context::{Context, Model};
use crate::{output, shape};

/// Which memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci get 0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50
  loci get 417392855 --json")]
pub(crate) struct GetArgs {
    /// Id of the memory, whole or short
    id: String,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Shows one memory with all its fields.
pub(crate) async fn get(context: &Context, args: &GetArgs) -> Result<()> {
    let answer = read(context, &args.id, &[], &args.scope, |call| call).await?;
    let memory: Memory = serde_json::from_value(answer.clone())?;
    context.print(&answer, |answer| {
        output::line(&output::strong(&loci_engine::reported(&memory)));
        output::line(&shape::pairs(&fields(answer)));
    });
    Ok(())
}

/// Reads a memory, or a resource below it.
async fn read(
    context: &Context,
    id: &str,
    below: &[&str],
    scope: &ScopeFlags,
    further: impl FnOnce(Call) -> Call,
) -> Result<Value> {
    let call = Call::get(&[&["v1", "memories", id], below].concat()).scope(&context.scope_of_id(scope));
    context.api(Model::Skip).await?.call(further(call)).await
}

/// Every field that has a value, by the name that it has in the record.
fn fields(memory: &Value) -> Vec<(String, String)> {
    let mut fields = Vec::new();
    for (name, value) in memory.as_object().into_iter().flatten() {
        match value {
            Value::Object(inner) if name == "identifiers" || name == "source" => {
                fields.extend(inner.iter().map(|(inner, value)| (format!("{name}.{inner}"), shape::plain(value))));
            }
            Value::Object(inner) if inner.is_empty() => {}
            Value::Array(items) if name == "tags" => {
                let tags: Vec<_> = items.iter().map(shape::plain).collect();
                if !tags.is_empty() {
                    fields.push((name.clone(), tags.join(", ")));
                }
            }
            Value::Null => {}
            _ if name == "content" => {}
            value => fields.push((name.clone(), shape::plain(value))),
        }
    }
    fields
}

/// Which memory, and which part of its history.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci history ID
  loci history ID --until 2026-01-31 --json

`loci undo CHANGE` reverts a change of the first column.")]
pub(crate) struct HistoryArgs {
    /// Id of the memory, whole or short
    id: String,
    /// Maximum number of changes, at most 1,000
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 100)]
    limit: usize,
    /// Cursor of the next page: `nextCursor` of the page before
    #[arg(long)]
    cursor: Option<String>,
    /// Only changes up to this time
    #[arg(long, alias = "at", value_name = "TIME")]
    until: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Shows the changes of one memory, oldest first.
pub(crate) async fn history(context: &Context, args: &HistoryArgs) -> Result<()> {
    let until = crate::arguments::instant("until", args.until.as_deref())?;
    let page = |call: Call| call.param("limit", Some(args.limit)).param("cursor", args.cursor.as_ref());
    let mut answer = read(context, &args.id, &["history"], &args.scope, page).await?;
    let mut entries: Vec<LedgerEntry> = serde_json::from_value(answer["data"].clone())?;
    if let Some(until) = until {
        entries.retain(|entry| entry.at <= until);
        answer["data"] = serde_json::to_value(&entries)?;
    }
    context.print(&answer, |_| {
        let rows = entries.iter().map(|entry| {
            vec![
                format!("{}/{}", entry.space, entry.sequence),
                shape::instant(entry.at),
                entry.event.clone(),
                entry.version.map_or_else(String::new, |version| version.to_string()),
                entry.actor.clone().unwrap_or_else(|| "–".to_owned()),
                entry.reason.clone(),
                change(entry),
            ]
        });
        output::line(&shape::table(&["change", "time", "event", "version", "by", "reason", "fields"], rows.collect()));
    });
    Ok(())
}

/// Each field that changed, with its old and new value.
fn change(entry: &LedgerEntry) -> String {
    let empty = serde_json::Map::new();
    let old = entry.old.as_ref().and_then(Value::as_object).unwrap_or(&empty);
    let new = entry.new.as_ref().and_then(Value::as_object).unwrap_or(&empty);
    let mut names: Vec<&String> = old.keys().chain(new.keys()).collect();
    names.sort();
    names.dedup();
    let short =
        |value: Option<&Value>| value.map_or_else(|| "–".to_owned(), |value| shape::brief(&shape::plain(value), 40));
    let lines = names.iter().map(|name| match (old.get(*name), new.get(*name)) {
        (None, new) => format!("{name}: {}", short(new)),
        (old, new) => format!("{name}: {} → {}", short(old), short(new)),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Which memory: any of its versions.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci memory chain ID
  loci memory chain ID --json

`→` marks the version that holds now, (deleted) one that was deleted or has faded.")]
pub(crate) struct ChainArgs {
    /// Id of the memory, whole or short
    id: String,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Lists all versions of a memory, oldest first.
pub(crate) async fn chain(context: &Context, args: &ChainArgs) -> Result<()> {
    let answer = read(context, &args.id, &["chain"], &args.scope, |call| call.param("limit", Some(1000))).await?;
    let versions: Vec<Memory> = serde_json::from_value(answer["data"].clone())?;
    context.print(&answer, |_| {
        let rows = versions.iter().enumerate().map(|(place, version)| {
            let holds = version.superseded_by_id.is_none() && version.state.is_live();
            let mark = if holds { "→ " } else { "" };
            vec![
                format!("{mark}{}{}", place + 1, if version.state.is_live() { "" } else { " (deleted)" }),
                shape::instant(version.valid_from.unwrap_or_else(|| shape::since(version))),
                version.valid_until.map_or_else(|| "–".to_owned(), shape::instant),
                shape::brief(&loci_engine::reported(version), 120),
                version.id.short(),
            ]
        });
        output::line(&shape::table(&["version", "valid from", "until", "content", "id"], rows.collect()));
    });
    Ok(())
}

/// Which memory, and which links.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci memory links ID
  loci memory links ID --relation derived_from --relation causal --json

Relations: temporal, causal, entity, derived_from, supersedes, related_to, may_contradict.")]
pub(crate) struct LinksArgs {
    /// Id of the memory, whole or short
    id: String,
    /// Only links of this relation; may be repeated
    #[arg(long)]
    relation: Vec<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Lists links to and from a memory.
pub(crate) async fn links(context: &Context, args: &LinksArgs) -> Result<()> {
    let scope = context.scope_of_id(&args.scope);
    let api = context.api(Model::Skip).await?;
    let relations = (!args.relation.is_empty()).then(|| args.relation.join(","));
    let call = Call::get(&["v1", "memories", &args.id, "edges"]).scope(&scope).param("relation", relations);
    let answer = api.call(call.param("limit", Some(1000))).await?;
    if context.json {
        output::json(&answer);
        return Ok(());
    }
    let edges: Vec<Edge> = serde_json::from_value(answer["data"].clone())?;
    if edges.is_empty() {
        output::line("No links.");
        return Ok(());
    }
    let memory = api.call(Call::get(&["v1", "memories", &args.id]).scope(&scope)).await?;
    let id: MemoryId = serde_json::from_value(memory["id"].clone())?;
    let mut rows = Vec::new();
    for edge in &edges {
        let (arrow, other) = other_end(edge, id);
        let text = api.call(Call::get(&["v1", "memories", &other.to_string()]).scope(&scope)).await;
        let text = text.ok().and_then(|memory| serde_json::from_value::<Memory>(memory).ok());
        rows.push(vec![
            format!("{arrow} {}", edge.relation),
            edge.predicate.clone().unwrap_or_default(),
            format!("{:.2}", edge.strength),
            text.map_or_else(|| "(not visible)".to_owned(), |memory| shape::brief(&loci_engine::reported(&memory), 80)),
            other.short(),
        ]);
    }
    output::line(&shape::table(&["relation", "predicate", "strength", "content", "id"], rows));
    Ok(())
}

/// Which memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci memory explain ID
  loci memory explain ID --json

Shows its source, its versions, the entities that it mentions, its links and its history. `loci recall --explain` shows \
why it was found.")]
pub(crate) struct ExplainArgs {
    /// Id of the memory, whole or short
    id: String,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Shows where a memory comes from.
pub(crate) async fn explain(context: &Context, args: &ExplainArgs) -> Result<()> {
    let answer = read(context, &args.id, &["provenance"], &args.scope, |call| call).await?;
    let found: ProvenanceReport = serde_json::from_value(answer.clone())?;
    context.print(&answer, |_| print_provenance(&found));
    Ok(())
}

fn print_provenance(found: &ProvenanceReport) {
    let memory = &found.memory;
    output::line(&output::strong(&loci_engine::shown(memory, found.newer.as_ref())));
    output::line(&output::muted(&format!(
        "{} · {} · version {} · {}",
        memory.kind, memory.state, memory.version, memory.id
    )));
    if let Some(source) = &memory.source {
        let parts = [Some(source.kind.clone()), source.role.clone(), source.reference.clone()];
        section("Source", vec![parts.into_iter().flatten().collect::<Vec<_>>().join(", ")]);
    }
    section("Learned from", found.sources.iter().map(line).collect());
    if found.chain.len() > 1 {
        let version_line = |version: &Memory| {
            let mark = if version.id == memory.id { "→" } else { " " };
            format!("{mark} {}  {}", shape::instant(version.created_at), line(version))
        };
        section("Versions, oldest first", found.chain.iter().map(version_line).collect());
    }
    let entity = |entity: &loci_types::Entity| {
        let others =
            if entity.aliases.is_empty() { String::new() } else { format!(", also {}", entity.aliases.join(", ")) };
        format!("{} ({}{others})", entity.canonical_name, entity.entity_type)
    };
    section("Mentions", found.entities.iter().map(entity).collect());
    let edge = |edge: &loci_types::Edge| {
        let (arrow, other) = other_end(edge, memory.id);
        format!("{arrow} {} {} (strength {:.2})", edge.relation, other.short(), edge.strength)
    };
    section("Links", found.edges.iter().map(edge).collect());
    let event = |entry: &loci_types::LedgerEntry| {
        let who = entry.actor.as_deref().map(|who| format!(" by {who}")).unwrap_or_default();
        format!("{}  {}{who}: {}", shape::instant(entry.at), entry.event, entry.reason)
    };
    section("History", found.history.iter().map(event).collect());
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

/// Which facts.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci memory fading
  loci memory fading --below 0.8 --user ann --json

`loci memory confirm ID` keeps a fact that is right, `loci memory correct ID` replaces one that is wrong, `loci forget ID` \
deletes it.")]
pub(crate) struct FadingArgs {
    /// Maximum confidence, 0 to 1 [default: lifecycle.decayed_below]
    #[arg(long, value_name = "NUMBER", allow_negative_numbers = true, value_parser = number)]
    below: Option<Value>,
    /// Maximum number of facts, at most 1,000
    #[arg(short = 'n', long, value_name = "NUMBER", default_value_t = 20)]
    limit: usize,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Lists facts with low confidence, the lowest first.
pub(crate) async fn fading(context: &Context, args: &FadingArgs) -> Result<()> {
    let call = Call::get(&["v1", "memories", "weak"])
        .scope(&context.scope(&args.scope))
        .param("below", args.below.as_ref())
        .param("limit", Some(args.limit));
    let answer = context.api(Model::Skip).await?.call(call).await?;
    context.print(&answer, |answer| {
        let facts = answer["data"].as_array().map(Vec::as_slice).unwrap_or_default();
        if facts.is_empty() {
            return output::line("No facts with low confidence.");
        }
        let row = |fact: &Value| {
            let memory: Option<Memory> = serde_json::from_value(fact["memory"].clone()).ok();
            vec![
                fact["confidenceNow"].as_f64().map_or_else(String::new, |now| format!("{now:.2}")),
                fact["goneAt"].as_str().and_then(|at| at.get(..10)).unwrap_or("–").to_owned(),
                memory.as_ref().map_or_else(String::new, |one| shape::brief(&loci_engine::reported(one), 120)),
                memory.map_or_else(String::new, |one| one.id.short()),
            ]
        };
        output::line(&shape::table(&["confidence", "deleted on", "content", "id"], facts.iter().map(row).collect()));
    });
    Ok(())
}
