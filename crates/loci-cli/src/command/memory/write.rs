//! Commands that change one memory.

use anyhow::Result;
use clap::Args;
use loci_types::{Error, Identifiers, Scope, Space};

use crate::api::Call;
use crate::arguments::ScopeFlags;
use crate::command::print_write;
use crate::context::{Context, Model};
use crate::details::Details;
use crate::output;

/// Sends a call that changes the memory with this id, and prints the answer.
async fn write(context: &Context, model: Model, id: &str, scope: &ScopeFlags, call: Call) -> Result<()> {
    let api = context.api(model).await?;
    let answer = context.write_of_id(&api, id, scope, call).await?;
    print_write(context, &answer);
    api.close().await;
    Ok(())
}

/// Which memory, and the new values.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci update ID I prefer green tea to coffee
  loci update ID --importance 0.9 --pin
  loci update ID --version 3 --tags drinks --tags morning
  loci update ID --metadata ticket=43 --metadata old=null

Only the given fields change. With --version the change is refused if the memory has changed since that version.")]
pub(crate) struct UpdateArgs {
    /// Id of the memory, whole or short
    id: String,
    /// New text
    #[arg(value_name = "TEXT")]
    text: Vec<String>,
    /// Expected version of the memory
    #[arg(long, value_name = "NUMBER")]
    version: Option<u64>,
    #[command(flatten)]
    details: Details,
    /// Pin it, or with `--pin=false` unpin it
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    pin: Option<bool>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Changes a memory.
pub(crate) async fn update(context: &Context, args: &UpdateArgs) -> Result<()> {
    let content = (!args.text.is_empty()).then(|| args.text.join(" "));
    let details = args.details.fields()?;
    if content.is_none() && details.is_empty() && args.pin.is_none() {
        return Err(Error::invalid("text", "nothing to change")
            .hint("give a new text, or a flag such as --tags; `loci update --help` lists them")
            .into());
    }
    // Only a new text needs a new vector.
    let model = if content.is_some() { Model::Load } else { Model::Skip };
    let call = Call::patch(&["v1", "memories", &args.id])
        .fields(details)
        .field("content", content)
        .field("pinned", args.pin)
        .field("version", args.version);
    write(context, model, &args.id, &args.scope, call).await
}

/// Which memories, and why.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci forget ID
  loci forget ID OTHER --reason 'no longer true'
  loci restore ID

A deleted memory is hidden at once; `loci restore` brings it back until it is purged.")]
pub(crate) struct ForgetArgs {
    /// Ids of the memories, whole or short
    #[arg(required = true, value_name = "ID")]
    id: Vec<String>,
    /// Expected version of the memory
    #[arg(long, value_name = "NUMBER")]
    version: Option<u64>,
    /// Reason, for the history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Deletes memories; they can be restored.
pub(crate) async fn forget(context: &Context, args: &ForgetArgs) -> Result<()> {
    let api = context.api(Model::Skip).await?;
    for id in &args.id {
        let version = args.version.map(|version| format!("\"{version}\""));
        let call =
            Call::delete(&["v1", "memories", id]).param("reason", args.reason.as_ref()).header("if-match", version);
        context.write_of_id(&api, id, &args.scope, call).await?;
        // The deletion answers without a body; the memory says its whole id and its version.
        let gone = api.call(Call::get(&["v1", "memories", id]).scope(&context.scope(&args.scope))).await?;
        let answer = serde_json::json!({ "id": gone["id"], "event": "DELETE", "version": gone["version"] });
        print_write(context, &answer);
    }
    Ok(())
}

/// Which memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci restore ID
  loci list --state soft_deleted")]
pub(crate) struct RestoreArgs {
    /// Id of the memory, whole or short
    id: String,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Restores a deleted memory.
pub(crate) async fn restore(context: &Context, args: &RestoreArgs) -> Result<()> {
    action(context, &args.id, "restore", &args.scope).await
}

/// Runs an action without a body on a memory.
async fn action(context: &Context, id: &str, name: &str, scope: &ScopeFlags) -> Result<()> {
    write(context, Model::Skip, id, scope, Call::post(&["v1", "memories", id, name])).await
}

/// Which memory, and what replaces it.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci memory supersede ID I live in Lisbon
  loci memory supersede ID --valid-from 2026-03-01 'The office is in Lisbon'

The old memory stays readable: `loci memory chain ID` shows both, and `loci recall --as-of` what held earlier. Use \
`loci memory correct` if it was never true.")]
pub(crate) struct SupersedeArgs {
    /// Id of the memory, whole or short
    id: String,
    /// Text that holds now
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    #[command(flatten)]
    details: Details,
    /// Pin the new memory
    #[arg(long)]
    pin: bool,
    /// Compute the vector later
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Replaces a memory by a newer one.
pub(crate) async fn supersede(context: &Context, args: &SupersedeArgs) -> Result<()> {
    let mut call = Call::post(&["v1", "memories", &args.id, "supersede"])
        .fields(args.details.fields()?)
        .field("content", args.text.join(" "));
    if args.pin {
        call = call.field("pinned", true);
    }
    write(context, context.model_unless(args.no_embed)?, &args.id, &args.scope, call).await
}

/// Which memory, and what is right.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci memory correct ID My favourite colour is blue
  loci memory correct ID 'Ann works at Acme' --reason 'misheard'

The right text replaces the wrong one, with full confidence. `loci undo` reverts it.")]
pub(crate) struct CorrectArgs {
    /// Id of the memory, whole or short
    id: String,
    /// Right text
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
    /// Reason, for the history
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Compute the vector later
    #[arg(long)]
    no_embed: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Replaces a memory that was wrong.
pub(crate) async fn correct(context: &Context, args: &CorrectArgs) -> Result<()> {
    let call = Call::post(&["v1", "memories", &args.id, "correct"])
        .field("content", args.text.join(" "))
        .field("reason", &args.reason);
    write(context, context.model_unless(args.no_embed)?, &args.id, &args.scope, call).await
}

/// Which memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci memory confirm ID

Its confidence becomes 1, and it no longer fades by itself.")]
pub(crate) struct ConfirmArgs {
    /// Id of the memory, whole or short
    id: String,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Confirms that a memory is right.
pub(crate) async fn confirm(context: &Context, args: &ConfirmArgs) -> Result<()> {
    action(context, &args.id, "confirm", &args.scope).await
}

/// Which two memories, and which one holds.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci memory explain ID                    # shows what it may contradict
  loci memory resolve ID OTHER --keep newer
  loci memory resolve ID OTHER --keep both  # they do not contradict each other

The memory that does not hold stays readable in the chain of the other: `loci memory chain ID`.")]
pub(crate) struct ResolveArgs {
    /// Id of one memory
    id: String,
    /// Id of the other memory
    other: String,
    /// Which one holds: newer, older or both
    #[arg(long, value_parser = ["newer", "older", "both"])]
    keep: String,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Decides between two memories.
pub(crate) async fn resolve(context: &Context, args: &ResolveArgs) -> Result<()> {
    let call =
        Call::post(&["v1", "memories", &args.id, "resolve"]).field("other", &args.other).field("keep", &args.keep);
    if args.keep == "both" && !context.json {
        let api = context.api(Model::Skip).await?;
        context.write_of_id(&api, &args.id, &args.scope, call).await?;
        output::line("resolved: both hold, and they are no longer linked as contradicting");
        return Ok(());
    }
    write(context, Model::Skip, &args.id, &args.scope, call).await
}

/// Which memory.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci memory pin ID
  loci memory pin ID --off

`loci list --pinned` lists pinned memories.")]
pub(crate) struct PinArgs {
    /// Id of the memory, whole or short
    id: String,
    /// Unpin it
    #[arg(long)]
    off: bool,
    #[command(flatten)]
    scope: ScopeFlags,
}

/// Pins or unpins a memory.
pub(crate) async fn pin(context: &Context, args: &PinArgs) -> Result<()> {
    let call = Call::patch(&["v1", "memories", &args.id]).field("pinned", !args.off);
    write(context, Model::Skip, &args.id, &args.scope, call).await
}

/// Which change.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci history ID
  loci undo users_39/42
  loci undo 42 --agent helper

Reverts one change of `loci history`, unless later changes depend on it. An undo is a change itself, and can be undone. \
Changes are numbered by space, so a number alone needs scope flags, which name the space.")]
pub(crate) struct UndoArgs {
    /// Change as `loci history` shows it, SPACE/NUMBER
    #[arg(value_name = "CHANGE")]
    change: String,
    /// Space of the change, if it is given as a number
    #[arg(long, value_name = "NAME", hide = true)]
    space: Option<String>,
    #[command(flatten)]
    scope: ScopeFlags,
}

impl UndoArgs {
    /// The space and the number of the change.
    fn parts(&self) -> Result<(String, String)> {
        if let Some((space, number)) = self.change.rsplit_once('/') {
            return Ok((space.to_owned(), number.to_owned()));
        }
        let space = match &self.space {
            Some(space) => space.clone(),
            None if !self.scope.is_empty() => space_of(&self.scope.identifiers())?.name(),
            None => {
                let message =
                    format!("`{}` does not name a change: the same number exists in every space", self.change);
                let hint = "write SPACE/NUMBER, as `loci history ID` shows it, such as users_39/42";
                return Err(Error::invalid("change", message).hint(hint).into());
            }
        };
        Ok((space, self.change.clone()))
    }
}

/// Reverts one change.
pub(crate) async fn undo(context: &Context, args: &UndoArgs) -> Result<()> {
    let (space, number) = args.parts()?;
    let api = context.api(Model::Skip).await?;
    // The space is named, and may belong to anyone whom the caller reaches.
    let call = Call::post(&["v1", "ledger", &space, &number, "undo"]).scope(&context.scope_of_id(&args.scope));
    let answer = api.call(call).await?;
    context.print(&answer, |answer| {
        let text = |name: &str| answer[name].as_str().unwrap_or_default();
        output::line(&format!("{} of change {space}/{number} is reverted: {}", text("event"), text("done")));
    });
    api.close().await;
    Ok(())
}

/// The space in which memories of this scope are stored.
fn space_of(scope: &Identifiers) -> Result<Space, Error> {
    let layer = scope.layers().first().copied().ok_or_else(|| {
        Error::invalid("space", "the scope does not name one space")
            .hint("write SPACE/NUMBER, as `loci history ID` shows it")
    })?;
    Ok(Scope::new(layer, scope)?.space())
}
