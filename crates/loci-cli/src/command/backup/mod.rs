//! `loci backup`: creates, verifies, schedules and restores backups.
//!
//! A backup is one file. It is written beside its name, synced and renamed, so that a file of that name is always complete.

mod create;
mod restore;
mod schedule;

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, Subcommand};
use loci_engine::BackupPart;
use loci_store::{Backup, verify_backup_chain};
use loci_types::Tenant;

use crate::context::Context;
use crate::{output, shape};

/// What to do with backups.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci backup create all.backup
  loci backup create researcher.backup --agent researcher
  loci backup create tuesday.backup --base monday.backup
  loci backup verify monday.backup tuesday.backup
  loci backup schedule ./backups --every 10m --keep-chains 2
  loci backup restore all.backup --data ./elsewhere

A backup is made while others write. It has each space as it was at one entry of its ledger: memories with their \
vectors, history, links, entities, facts, sessions, checkpoints, notes and jobs; a backup of everything also has agents, \
pools and keys. An increment (--base) has what changed since another backup.

Exit codes: 0 done; 20 the file is not a backup, or does not fit; 22 a backup is cut off or damaged; 23 the file cannot \
be written; 24 a full backup is needed, or the place is not empty.")]
pub(crate) struct BackupArgs {
    #[command(subcommand)]
    command: BackupCommand,
}

#[derive(Debug, Subcommand)]
enum BackupCommand {
    /// Make a backup
    Create(create::BackupCreateArgs),
    /// Verify backups from the first byte to the last
    Verify(VerifyArgs),
    /// Make backups again and again
    Schedule(schedule::ScheduleArgs),
    /// Restore a backup
    Restore(restore::BackupRestoreArgs),
}

/// Which backups.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci backup verify all.backup
  loci backup verify monday.backup tuesday.backup")]
struct VerifyArgs {
    /// Full backup, and its increments in their order
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

/// Runs the command.
pub(crate) async fn run(context: &Context, args: BackupArgs) -> Result<()> {
    match args.command {
        BackupCommand::Create(args) => create::run(context, &args).await,
        BackupCommand::Verify(args) => verify(context, &args).await,
        BackupCommand::Schedule(args) => schedule::run(context, &args).await,
        BackupCommand::Restore(args) => restore::run(context, &args).await,
    }
}

async fn verify(context: &Context, args: &VerifyArgs) -> Result<()> {
    let chain = verify_backup_chain(args.files.clone(), context.settings.encryption.key()?).await?;
    let answer = serde_json::json!({ "data": chain });
    context.print(&answer, |_| {
        chain.iter().zip(&args.files).for_each(|(backup, path)| print_backup("complete", path, backup));
    });
    Ok(())
}

/// The part of the store that a backup is about.
#[derive(Debug, Args)]
struct PartFlags {
    /// Only this tenant [default: all; `default` if a space is named]
    #[arg(long, value_name = "NAME")]
    tenant: Option<String>,
    /// Only the space of this agent
    #[arg(short, long, value_name = "SLUG", conflicts_with_all = ["pool", "space"])]
    agent: Option<String>,
    /// Only the space of this pool
    #[arg(long, value_name = "SLUG", conflicts_with = "space")]
    pool: Option<String>,
    /// Only this space: shared, users_00 to users_3f, agent_memory_SLUG or pool_SLUG
    #[arg(long, value_name = "NAME")]
    space: Option<String>,
}

impl PartFlags {
    fn part(&self) -> Result<BackupPart> {
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

fn print_backup(what: &str, path: &Path, backup: &Backup) {
    let kind = if backup.manifest.base.is_some() { "increment" } else { "full backup" };
    output::line(&format!(
        "{}: {what}, {kind} by Loci {} of {}, {} rows",
        output::strong(&path.display().to_string()),
        backup.manifest.program,
        shape::instant(backup.manifest.created_at),
        backup.rows
    ));
    for space in &backup.spaces {
        let from = if space.since > 0 { format!("entries {} to", space.since) } else { "up to entry".to_owned() };
        output::line(&format!("  {}/{}: {from} {}, {} rows", space.tenant, space.space, space.sequence, space.rows));
    }
}
