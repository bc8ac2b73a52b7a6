//! `loci backup`: how is everything put into one file?
//!
//! The file is the store's; here stands what is meant, where it goes, and when it is made again. A file that is not
//! whole never has its name: it is written beside it, synced, and renamed.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use clap::Args;
use jiff::SignedDuration;
use loci_engine::{BackupPart, Clock as _, FULL_BACKUP, backup_stamp};
use loci_store::{Backup, BackupPlan, verify_backup, verify_backup_chain};
use loci_types::{Error, ErrorKind, Tenant};
use serde_json::json;

use crate::context::Context;
use crate::floor::AnyStore;
use crate::output;

/// How the files of a schedule end.
pub(super) const FULL: &str = FULL_BACKUP;
pub(super) const NEXT: &str = "-next.backup";

/// What, where to, and how often.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci backup all.backup
  loci backup researcher.backup --agent researcher
  loci backup tuesday.backup --since monday.backup
  loci backup --verify monday.backup tuesday.backup
  loci backup ./backups --every 10m --keep 2

A backup is made while others write. It holds each space as it was at one line of its ledger: memories with their
vectors, history, edges, entities, facts, sessions, checkpoints, notes and jobs; a whole backup also holds agents,
pools and keys. An increment (--since) holds what has changed since another backup.

With --every, FILE is a folder: a full backup comes first, then increments, then a full one again after --increments
of them. Older chains than --keep are removed. `loci restore-backup FOLDER` brings the latest back.

Exit codes: 0 done; 20 the file is no backup, or does not fit; 21 no increment can be made, a full backup is needed;
22 a backup is cut off or damaged; 23 the file cannot be written.")]
pub(crate) struct BackupArgs {
    /// The file to write; with --every a folder; with --verify the files to look through, the full one first
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    #[command(flatten)]
    part: PartFlags,
    /// Only what has changed since this backup
    #[arg(long, value_name = "FILE", conflicts_with = "every")]
    since: Option<PathBuf>,
    /// Write over a file that is there
    #[arg(long)]
    force: bool,
    /// Write nothing: look through backups from the first byte to the last
    #[arg(long, conflicts_with_all = ["since", "every"])]
    verify: bool,
    /// Again and again, after so long: 30s, 10m, 1h
    #[arg(long, value_name = "TIME")]
    every: Option<String>,
    /// Chains to keep
    #[arg(long, value_name = "NUMBER", default_value_t = 2, requires = "every")]
    keep: usize,
    /// Increments after which a full backup is made again
    #[arg(long, value_name = "NUMBER", default_value_t = 24, requires = "every")]
    increments: usize,
    /// Stop after so many backups
    #[arg(long, value_name = "NUMBER", requires = "every")]
    times: Option<usize>,
}

/// Makes a backup, or looks through some.
pub(crate) async fn run(context: &Context, args: &BackupArgs) -> Result<()> {
    if args.verify {
        let chain = verify_backup_chain(args.files.clone()).await?;
        if context.json {
            output::json(&chain);
        } else {
            chain.iter().zip(&args.files).for_each(|(backup, path)| tell("whole", path, backup));
        }
        return Ok(());
    }
    let [file] = &args.files[..] else {
        return Err(Error::invalid("file", "one backup is made at a time").hint("give one FILE").into());
    };
    let store = AnyStore::open(&context.settings, &context.data()?).await?;
    let part = args.part.part()?;
    // The backup of a tenant that does not exist would be empty, and be noticed when it is needed.
    if let Some(tenant) = part.tenant.as_ref().filter(|tenant| **tenant != Tenant::default())
        && !store.tenants().await?.contains(tenant)
    {
        let message = format!("unknown tenant `{}`", tenant.name());
        return Err(Error::new(ErrorKind::NotFound, message).at("tenant").into());
    }
    if let Some(every) = &args.every {
        return again(context, args, &store, &part, file, every).await;
    }
    if file.exists() && !args.force {
        return Err(Error::new(ErrorKind::Conflict, format!("{} is there already", file.display()))
            .at("file")
            .hint("choose another name; --force writes over it, and increments on top of it are of no use then")
            .into());
    }
    let since = match &args.since {
        None => None,
        // Only its end is needed, but one that is damaged is no ground to build on.
        Some(base) => Some(verify_backup(base.clone()).await?),
    };
    let backup = make(&store, &part, since, file).await?;
    if context.json {
        output::json(&backup);
    } else {
        tell("made", file, &backup);
    }
    Ok(())
}

/// What of the store is meant, in words.
#[derive(Debug, Args)]
pub(super) struct PartFlags {
    /// Only this tenant; a space without one is of the tenant `default`
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,
    /// Only this agent's space
    #[arg(long, value_name = "SLUG", conflicts_with_all = ["pool", "space"])]
    agent: Option<String>,
    /// Only this pool's space
    #[arg(long, value_name = "SLUG", conflicts_with = "space")]
    pool: Option<String>,
    /// Only this space, by its name: shared, users_00 to users_3f, agent_memory_SLUG or pool_SLUG
    #[arg(long, value_name = "NAME")]
    space: Option<String>,
}

impl PartFlags {
    pub(super) fn part(&self) -> Result<BackupPart> {
        let space = match (&self.agent, &self.pool, &self.space) {
            (Some(slug), ..) => Some(format!("agent_memory_{slug}").parse()?),
            (_, Some(slug), _) => Some(format!("pool_{slug}").parse()?),
            (.., Some(name)) => Some(name.parse()?),
            _ => None,
        };
        let tenant = match &self.tenant {
            Some(name) => Some(Tenant::new(name)?),
            None => space.as_ref().map(|_| Tenant::default()),
        };
        Ok(BackupPart { tenant, space })
    }
}

async fn make(store: &AnyStore, part: &BackupPart, since: Option<Backup>, path: &Path) -> Result<Backup> {
    let bar = output::progress(0, "rows");
    let told = bar.clone();
    let BackupPart { tenant, space } = part.clone();
    let plan = BackupPlan { tenant, space, since, at: loci_engine::System.now() };
    let progress = Box::new(move |step: &loci_store::BackupStep| {
        told.set_message(format!("{}/{} {}", step.tenant, step.space, step.table));
        told.inc(step.rows);
    });
    let made = store.create_backup_file(plan, path, progress).await;
    bar.finish_and_clear();
    Ok(made?)
}

/// Makes backups until it is stopped.
async fn again(
    context: &Context,
    args: &BackupArgs,
    store: &AnyStore,
    part: &BackupPart,
    folder: &Path,
    every: &str,
) -> Result<()> {
    let pause = length(every)?;
    std::fs::create_dir_all(folder)
        .map_err(|error| Error::new(ErrorKind::Storage, format!("{}: {error}", folder.display())).at("file"))?;
    let (mut base, mut increments, mut made) = (None::<Backup>, 0, 0);
    loop {
        let since = base.take().filter(|_| increments < args.increments);
        match next(store, part, since, folder).await {
            Ok((path, backup)) => {
                increments = if backup.manifest.base.is_some() { increments + 1 } else { 0 };
                if context.json {
                    output::json(&json!({ "file": path, "backup": backup }));
                } else {
                    tell("made", &path, &backup);
                }
                if increments == 0 {
                    prune(folder, &part.prefix(), args.keep.max(1))?;
                }
                base = Some(backup);
            }
            // One that failed must not be the last; the first tells whether it can work at all.
            Err(error) if made > 0 => output::warn(&format!("no backup was made: {error}"), Some("it is tried again")),
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

fn length(every: &str) -> Result<Duration> {
    let pause: SignedDuration = every.parse().map_err(|_| {
        Error::invalid("every", format!("`{every}` is no length of time")).hint("for example 30s, 10m or 1h")
    })?;
    let pause = Duration::try_from(pause).ok().filter(|pause| !pause.is_zero());
    Ok(pause.ok_or_else(|| {
        Error::invalid("every", "the time between backups must be longer than nothing").hint("for example 10m")
    })?)
}

/// An increment, or a full backup where none can be made.
async fn next(store: &AnyStore, part: &BackupPart, since: Option<Backup>, folder: &Path) -> Result<(PathBuf, Backup)> {
    let (begin, at) = (part.prefix(), backup_stamp(loci_engine::System.now()));
    if since.is_some() {
        let path = folder.join(format!("{begin}{at}{NEXT}"));
        match make(store, part, since, &path).await {
            Ok(backup) => return Ok((path, backup)),
            Err(error) => match error.downcast_ref::<loci_store::Error>().map(loci_store::Error::kind) {
                // The ledger is another one, or something was erased: then all of it is put in again.
                Some(ErrorKind::Conflict) => output::note(&format!("{error}")),
                _ => return Err(error),
            },
        }
    }
    let path = folder.join(format!("{begin}{at}{FULL}"));
    let backup = make(store, part, None, &path).await?;
    Ok((path, backup))
}

/// The files of a folder's schedule for one part of the store, in the order they were made.
pub(super) fn scheduled(folder: &Path, begin: &str) -> std::io::Result<Vec<PathBuf>> {
    let ours = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).and_then(|name| name.strip_prefix(begin));
        let at = name.and_then(|name| name.strip_suffix(FULL).or_else(|| name.strip_suffix(NEXT)));
        // Files of others, and of other parts, have no time right there.
        at.is_some_and(|at| at.len() == 23 && at.bytes().all(|byte| byte.is_ascii_digit() || b"TZ.".contains(&byte)))
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)?.flatten().map(|entry| entry.path()).filter(ours).collect();
    files.sort();
    Ok(files)
}

/// The place of each full backup among the files.
pub(super) fn chains(files: &[PathBuf]) -> Vec<usize> {
    let full = |path: &PathBuf| path.to_str().is_some_and(|name| name.ends_with(FULL));
    (0..files.len()).filter(|place| full(&files[*place])).collect()
}

/// Removes all but the latest chains.
fn prune(folder: &Path, begin: &str, keep: usize) -> Result<()> {
    let files = scheduled(folder, begin)?;
    let chains = chains(&files);
    let Some(first) = chains.len().checked_sub(keep).and_then(|place| chains.get(place)) else { return Ok(()) };
    files[..*first].iter().try_for_each(std::fs::remove_file).map_err(Into::into)
}

fn tell(what: &str, path: &Path, backup: &Backup) {
    let kind = if backup.manifest.base.is_some() { "an increment" } else { "a full backup" };
    output::line(&format!(
        "{}: {what}, {kind} of Loci {} from {}, {} rows",
        output::strong(&path.display().to_string()),
        backup.manifest.program,
        backup.manifest.created_at,
        backup.rows
    ));
    for space in &backup.spaces {
        let from = if space.since > 0 { format!("lines {} to", space.since) } else { "line".to_owned() };
        output::line(&format!("  {}/{}: {from} {}, {} rows", space.tenant, space.space, space.sequence, space.rows));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_but_the_latest_chains_go() {
        let folder = tempfile::tempdir().unwrap();
        let time = |second: u32| format!("20260601T1200{second:02}.000000Z");
        let mine =
            [(1, FULL), (2, NEXT), (3, FULL), (4, NEXT)].map(|(second, end)| format!("loci-{}{end}", time(second)));
        let others = [
            "mine.backup".to_owned(),
            "loci-notes-full.backup".to_owned(),
            format!("loci-default-shared-{}{FULL}", time(5)),
        ];
        for name in mine.iter().chain(&others) {
            std::fs::write(folder.path().join(name), b"").unwrap();
        }
        let names = || -> Vec<String> {
            let files = scheduled(folder.path(), "loci-").unwrap();
            files.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect()
        };
        prune(folder.path(), "loci-", 2).unwrap();
        assert_eq!(names(), mine);
        prune(folder.path(), "loci-", 1).unwrap();
        assert_eq!(names(), mine[2..]);
        assert!(others.iter().all(|name| folder.path().join(name).exists()), "others are left alone");
    }
}
