//! `loci backup schedule`: makes backups in a folder until it is stopped.
//!
//! A full backup and the increments after it are a chain. Older chains than `--keep-chains` are removed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use jiff::SignedDuration;
use loci_engine::{BackupPart, Clock as _, FULL_BACKUP, backup_stamp};
use loci_store::{Backup, BackupEncoding};
use loci_types::{Error, ErrorKind};
use serde_json::json;

use super::create::{make, open};
use super::{PartFlags, print_backup};
use crate::context::Context;
use crate::output;
use crate::store::AnyStore;

/// The end of the names of increments.
const INCREMENT: &str = "-next.backup";

/// Where to, and how often.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci backup schedule ./backups --every 10m
  loci backup schedule ./backups --every 1h --increments 23 --keep-chains 7
  loci backup restore ./backups

A full backup comes first, then increments, then a full one again after --increments of them. Chains older than --keep-chains \
are removed. `loci backup restore FOLDER` restores the latest.")]
pub(super) struct ScheduleArgs {
    /// Folder of the backups; it is created if it does not exist
    folder: PathBuf,
    #[command(flatten)]
    part: PartFlags,
    /// Time between two backups: 30s, 10m, 1h
    #[arg(long, value_name = "DURATION")]
    every: String,
    /// Number of chains to keep
    #[arg(long, alias = "keep", value_name = "NUMBER", default_value_t = 2)]
    keep_chains: usize,
    /// Number of increments after which a full backup is made again
    #[arg(long, value_name = "NUMBER", default_value_t = 24)]
    increments: usize,
    /// Stop after this number of backups
    #[arg(long, value_name = "NUMBER")]
    times: Option<usize>,
}

/// Makes backups until it is stopped.
pub(super) async fn run(context: &Context, args: &ScheduleArgs) -> Result<()> {
    context.require_local("backup schedule")?;
    let (folder, part, pause) = (&args.folder, args.part.part()?, parse_duration(&args.every)?);
    let (store, encoding) = (open(context, &part).await?, context.settings.backup_encoding()?);
    std::fs::create_dir_all(folder)
        .map_err(|error| Error::new(ErrorKind::Storage, format!("{}: {error}", folder.display())).at("folder"))?;
    let (mut base, mut increments, mut made) = (None::<Backup>, 0, 0);
    loop {
        let since = base.take().filter(|_| increments < args.increments);
        match make_next(&store, &part, since, &encoding, folder).await {
            Ok((path, backup)) => {
                increments = if backup.manifest.base.is_some() { increments + 1 } else { 0 };
                context.print(&json!({ "file": path, "backup": backup }), |_| print_backup("created", &path, &backup));
                if increments == 0 {
                    prune(folder, &part.prefix(), args.keep_chains.max(1))?;
                }
                base = Some(backup);
            }
            // A later failure must not end the schedule; the first one shows whether it can work at all.
            Err(error) if made > 0 => {
                output::warn(&format!("no backup was made: {error}"), Some("the next one is made as scheduled"));
            }
            Err(error) => return Err(error),
        }
        made += 1;
        if args.times.is_some_and(|times| made >= times) {
            return Ok(());
        }
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            _ = tokio::signal::ctrl_c() => return Ok(()),
        }
    }
}

fn parse_duration(text: &str) -> Result<Duration> {
    let wrong = |message: String| Error::invalid("every", message).hint("write it as 30s, 10m or 1h");
    let duration: SignedDuration = text.parse().map_err(|_| wrong(format!("`{text}` is not a duration")))?;
    let duration = Duration::try_from(duration).ok().filter(|duration| !duration.is_zero());
    Ok(duration.ok_or_else(|| wrong("the time between backups must be more than 0".to_owned()))?)
}

/// Makes an increment, or a full backup where an increment cannot be made.
async fn make_next(
    store: &AnyStore,
    part: &BackupPart,
    since: Option<Backup>,
    encoding: &BackupEncoding,
    folder: &Path,
) -> Result<(PathBuf, Backup)> {
    let (prefix, stamp) = (part.prefix(), backup_stamp(loci_engine::System.now()));
    if since.is_some() {
        let path = folder.join(format!("{prefix}{stamp}{INCREMENT}"));
        match make(store, part, since, encoding, &path).await {
            Ok(backup) => return Ok((path, backup)),
            Err(error) => match error.downcast_ref::<loci_store::Error>().map(loci_store::Error::kind) {
                // The ledger is another one, or something was erased: a full backup is needed.
                Some(ErrorKind::Conflict) => output::note(&format!("{error}")),
                _ => return Err(error),
            },
        }
    }
    let path = folder.join(format!("{prefix}{stamp}{FULL_BACKUP}"));
    let backup = make(store, part, None, encoding, &path).await?;
    Ok((path, backup))
}

/// The latest chain of a folder for the part of the store that the prefix names; `None` if there is none.
pub(super) fn latest_chain(folder: &Path, prefix: &str) -> std::io::Result<Option<Vec<PathBuf>>> {
    let files = backup_files(folder, prefix)?;
    Ok(chain_starts(&files).last().map(|first| files[*first..].to_vec()))
}

/// The backups of a schedule, in the order in which they were made.
fn backup_files(folder: &Path, prefix: &str) -> std::io::Result<Vec<PathBuf>> {
    let ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(prefix));
        let at = name.and_then(|name| name.strip_suffix(FULL_BACKUP).or_else(|| name.strip_suffix(INCREMENT)));
        // In names of other parts of the store something else is at the place of the time.
        at.is_some_and(|at| at.len() == 23 && at.bytes().all(|byte| byte.is_ascii_digit() || b"TZ.".contains(&byte)))
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).filter(ours).collect();
    files.sort();
    Ok(files)
}

/// The place of each full backup among the files.
fn chain_starts(files: &[PathBuf]) -> Vec<usize> {
    let full = |path: &PathBuf| path.to_str().is_some_and(|name| name.ends_with(FULL_BACKUP));
    (0..files.len()).filter(|place| full(&files[*place])).collect()
}

/// Removes all but the latest chains.
fn prune(folder: &Path, prefix: &str, keep: usize) -> Result<()> {
    let files = backup_files(folder, prefix)?;
    let starts = chain_starts(&files);
    let Some(first) = starts.len().checked_sub(keep).and_then(|place| starts.get(place)) else { return Ok(()) };
    files[..*first].iter().try_for_each(std::fs::remove_file).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_latest_chains_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let time = |second: u32| format!("20260601T1200{second:02}.000000Z");
        let ours = [(1, FULL_BACKUP), (2, INCREMENT), (3, FULL_BACKUP), (4, INCREMENT)]
            .map(|(second, end)| format!("loci-{}{end}", time(second)));
        let others = [
            "mine.backup".to_owned(),
            "loci-notes-full.backup".to_owned(),
            format!("loci-default-shared-{}{FULL_BACKUP}", time(5)),
        ];
        for name in ours.iter().chain(&others) {
            std::fs::write(folder.path().join(name), b"").unwrap();
        }
        let names = || -> Vec<String> {
            let files = backup_files(folder.path(), "loci-").unwrap();
            files.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
        };
        prune(folder.path(), "loci-", 2).unwrap();
        assert_eq!(names(), ours);
        prune(folder.path(), "loci-", 1).unwrap();
        assert_eq!(names(), ours[2..]);
        assert!(others.iter().all(|name| folder.path().join(name).exists()), "other files stay");
    }
}
