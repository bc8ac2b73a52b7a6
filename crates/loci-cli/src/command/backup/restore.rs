//! `loci backup restore`: restores backups.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use loci_engine::{Caller, Clock as _, System};
use loci_store::{RestoreOutcome, RestorePlan, RestorePoint};
use loci_types::{Error, Space};
use serde_json::json;

use super::PartFlags;
use super::schedule::latest_chain;
use crate::arguments::instant;
use crate::context::Context;
use crate::store::AnyStore;
use crate::{output, shape};

/// What to restore, where to, and up to which time.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci backup restore all.backup --data ./elsewhere
  loci backup restore monday.backup tuesday.backup --replace
  loci backup restore all.backup --agent researcher --as researcher-2
  loci backup restore all.backup --space shared --to-time 2026-06-01T12:00:00Z --replace
  loci backup restore all.backup --agent researcher --to-sequence 1200 --replace
  loci backup restore ./backups

Give a full backup first and its increments after it, or the folder of `loci backup schedule`, of which the latest \
chain is restored. The files are verified before anything is changed. Each space is restored in one transaction.

A space that is not empty is replaced only with --replace; spaces that the backup does not have stay. Keys and members \
of pools that exist stay as they are: a backup gives nobody access again. --to-sequence and --to-time revert the entries \
of the ledger after that point; memories that were purged or erased since are not restored, and are counted. Vectors of \
another model than the present one are computed again, unless --no-embed is given.

Exit codes: 0 done; 20 the file is not a backup, or does not fit; 22 a backup is cut off or damaged; 23 the disk is full; \
24 a space is not empty.")]
pub(super) struct BackupRestoreArgs {
    /// Full backup and its increments, in their order; or the folder of a schedule
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    part: PartFlags,
    /// Name that the agent or pool gets
    #[arg(long = "as", value_name = "SLUG")]
    rename: Option<String>,
    /// Restore the state after this entry of the ledger; needs one space
    #[arg(long, value_name = "NUMBER", conflicts_with = "to_time")]
    to_sequence: Option<i64>,
    /// Restore the state at this time; needs one space
    #[arg(long, value_name = "TIME")]
    to_time: Option<String>,
    /// Replace spaces that are not empty
    #[arg(long)]
    replace: bool,
    /// Confirm that spaces are replaced
    #[arg(short, long)]
    yes: bool,
    /// Do not compute vectors
    #[arg(long)]
    no_embed: bool,
}

/// Restores a backup.
pub(super) async fn run(context: &Context, args: &BackupRestoreArgs) -> Result<()> {
    context.require_local("backup restore")?;
    let part = args.part.part()?;
    let rename = match (&args.rename, &part.space) {
        (None, _) => None,
        (Some(slug), Some(Space::Agent(_))) => Some(format!("agent_memory_{slug}").parse()?),
        (Some(slug), Some(Space::Pool(_))) => Some(format!("pool_{slug}").parse()?),
        (Some(_), _) => {
            return Err(Error::invalid("as", "only an agent or a pool can be restored under another name")
                .hint("name the one in the backup with --agent or --pool")
                .into());
        }
    };
    let until = match (args.to_sequence, instant("to-time", args.to_time.as_deref())?) {
        (Some(sequence), _) => Some(RestorePoint::Sequence(sequence)),
        (None, Some(time)) => Some(RestorePoint::Time(time)),
        (None, None) => None,
    };
    if args.replace {
        context.confirm("replaces what is in the restored spaces now", args.yes)?;
    }
    let engine = Arc::new(context.engine_with_model(args.no_embed, &Caller::operator()).await?);
    let rules = engine.clone();
    let plan = RestorePlan {
        files: files(&args.files, &part.prefix())?,
        key: context.settings.encryption.key()?,
        tenant: part.tenant,
        space: part.space,
        rename,
        until,
        replace: args.replace,
        at: System.now(),
        derive: Arc::new(move |memory| rules.derived_keys(memory)),
    };
    let store = AnyStore::open(&context.settings, &context.data()?).await?;
    let bar = output::steps(1);
    bar.set_message("restoring");
    let restored = store.restore_backup(plan).await;
    bar.finish_and_clear();
    let restored = restored?;
    let embedded = if engine.model().is_some() { embed(&engine).await? } else { 0 };
    if engine.store().indexed().is_some() {
        engine.vector_rebuild(&Caller::operator(), |_, _, _| {}).await?;
    }
    let answer = json!({ "restored": restored, "embedded": embedded });
    context.print(&answer, |_| print_restored(&restored, embedded));
    Ok(())
}

/// The given files, or the latest chain of the given folder.
fn files(given: &[PathBuf], prefix: &str) -> Result<Vec<PathBuf>> {
    let [folder] = given else { return Ok(given.to_vec()) };
    if !folder.is_dir() {
        return Ok(given.to_vec());
    }
    // A backup of everything also has each part.
    let chain = match latest_chain(folder, prefix)? {
        None => latest_chain(folder, "loci-")?,
        chain => chain,
    };
    Ok(chain.ok_or_else(|| {
        Error::invalid("file", format!("{} has no full backup", folder.display()))
            .hint("`loci backup schedule FOLDER --every 10m` makes such a folder")
    })?)
}

/// Computes the missing vectors of the present model.
async fn embed(engine: &loci_engine::Engine) -> Result<u64> {
    let bar = output::progress(0, "memories");
    let shown = bar.clone();
    let done = engine
        .reembed(&Caller::operator(), move |seen, total| {
            shown.set_length(total);
            shown.set_position(seen);
        })
        .await;
    bar.finish_and_clear();
    Ok(done?.embedded)
}

fn print_restored(restored: &[RestoreOutcome], embedded: u64) {
    for space in restored {
        let reverted = if space.rewound > 0 { format!(", {} entries reverted", space.rewound) } else { String::new() };
        output::line(&format!(
            "{}/{}: {}, as of entry {}{reverted}",
            space.tenant,
            space.space,
            shape::count(space.memories, "memory"),
            space.sequence
        ));
        if space.lost > 0 {
            output::warn(&format!("{} memories were purged or erased since and are not restored", space.lost), None);
        }
    }
    if embedded > 0 {
        output::line(&format!("{embedded} vectors computed"));
    }
}
