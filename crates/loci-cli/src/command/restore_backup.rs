//! `loci restore-backup`: how does everything come back?

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Result;
use clap::Args;
use loci_engine::{Caller, Clock as _, System};
use loci_store::{RestoreOutcome, RestorePlan, RestorePoint};
use loci_types::{Error, Space};
use serde_json::json;

use super::backup::{PartFlags, chains, scheduled};
use crate::arguments::instant;
use crate::context::Context;
use crate::floor::AnyStore;
use crate::output;

/// What, where to, and how far back.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci restore-backup all.backup --data ./elsewhere
  loci restore-backup monday.backup tuesday.backup --replace
  loci restore-backup all.backup --agent researcher --as researcher-2
  loci restore-backup all.backup --space shared --to-time 2026-06-01T12:00:00Z --replace
  loci restore-backup all.backup --agent researcher --to-sequence 1200 --replace
  loci restore-backup ./backups

Give a full backup first and its increments after it, or the folder of `loci backup --every`, of which the latest
chain is taken. Everything is looked through before anything is changed; a file that is cut off, changed or foreign
is refused, and what is there stays as it is. Each space comes back in one transaction.

A space that is not empty is only replaced with --replace; spaces that the backup does not hold stay. Keys that are
there stay as they are, and a pool keeps the members it has: nobody is let in again by a backup. --to-sequence and --to-time go back within what the
backup holds, by taking back the lines of its ledger; what was purged or erased by then does not come back, and is
counted. Vectors of another model than the present one are made anew, unless --no-embed is given.

Exit codes: 0 done; 20 the file is no backup, or does not fit; 21 the place is not empty; 22 a backup is cut off or
damaged; 23 the disk is full.")]
pub(crate) struct RestoreBackupArgs {
    /// The full backup and its increments, in their order; or the folder they lie in
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    part: PartFlags,
    /// The agent or pool that it comes back as
    #[arg(long = "as", value_name = "SLUG")]
    rename: Option<String>,
    /// As it was at this line of the ledger; needs one space
    #[arg(long, value_name = "NUMBER", conflicts_with = "to_time")]
    to_sequence: Option<i64>,
    /// As it was at this time; needs one space
    #[arg(long, value_name = "TIME")]
    to_time: Option<String>,
    /// Put it in the place of what is there
    #[arg(long)]
    replace: bool,
    /// Leave vectors as they are
    #[arg(long)]
    no_embed: bool,
}

/// Brings a backup back.
pub(crate) async fn run(context: &Context, args: &RestoreBackupArgs) -> Result<()> {
    let part = args.part.part()?;
    let rename = match (&args.rename, &part.space) {
        (None, _) => None,
        (Some(slug), Some(Space::Agent(_))) => Some(format!("agent_memory_{slug}").parse()?),
        (Some(slug), Some(Space::Pool(_))) => Some(format!("pool_{slug}").parse()?),
        (Some(_), _) => {
            return Err(Error::invalid("as", "only an agent or a pool can come back as another")
                .hint("name the one in the backup with --agent or --pool")
                .into());
        }
    };
    let until = match (args.to_sequence, instant("to-time", args.to_time.as_deref())?) {
        (Some(sequence), _) => Some(RestorePoint::Sequence(sequence)),
        (None, Some(time)) => Some(RestorePoint::Time(time)),
        (None, None) => None,
    };
    let engine = Arc::new(context.engine_with_model(args.no_embed, &Caller::operator()).await?);
    let rules = engine.clone();
    let plan = RestorePlan {
        files: files(&args.files, &part.prefix())?,
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
    bar.set_message("bringing back");
    let restored = store.restore_backup(plan).await;
    bar.finish_and_clear();
    let restored = restored?;
    let made = if engine.model().is_some() { embed(&engine).await? } else { 0 };
    if engine.store().indexed().is_some() {
        engine.vector_rebuild(&Caller::operator(), |_, _, _| {}).await?;
    }
    if context.json {
        output::json(&json!({ "restored": restored, "embedded": made }));
    } else {
        tell(&restored, made);
    }
    Ok(())
}

/// The files that are meant by a folder: its latest chain.
fn files(given: &[PathBuf], begin: &str) -> Result<Vec<PathBuf>> {
    let [folder] = given else { return Ok(given.to_vec()) };
    if !folder.is_dir() {
        return Ok(given.to_vec());
    }
    // One that holds everything will do for a part of it too.
    let mut files = scheduled(folder, begin)?;
    if files.is_empty() {
        files = scheduled(folder, "loci-")?;
    }
    match chains(&files).last() {
        Some(first) => Ok(files[*first..].to_vec()),
        None => Err(Error::invalid("file", format!("there is no full backup in {}", folder.display()))
            .hint("`loci backup FOLDER --every 10m` makes such a folder")
            .into()),
    }
}

/// Makes the vectors that the present model has not made.
async fn embed(engine: &loci_engine::Engine) -> Result<u64> {
    let bar = output::progress(0, "memories");
    let told = bar.clone();
    let done = engine
        .reembed(&Caller::operator(), move |seen, total| {
            told.set_length(total);
            told.set_position(seen);
        })
        .await;
    bar.finish_and_clear();
    Ok(done?.embedded)
}

fn tell(restored: &[RestoreOutcome], made: u64) {
    for space in restored {
        let back = if space.rewound > 0 { format!(", {} lines taken back", space.rewound) } else { String::new() };
        output::line(&format!(
            "{}/{}: {} memories, as of line {}{back}",
            space.tenant, space.space, space.memories, space.sequence
        ));
        if space.lost > 0 {
            output::warn(&format!("{} memories were purged or erased since and do not come back", space.lost), None);
        }
    }
    if made > 0 {
        output::line(&format!("{made} vectors made anew"));
    }
}
