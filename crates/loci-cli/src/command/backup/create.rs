//! `loci backup create`: makes one backup.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use futures::StreamExt;
use loci_engine::{BackupPart, Clock as _};
use loci_store::{Backup, BackupEncoding, BackupPlan, verify_backup};
use loci_types::{Error, ErrorKind, Tenant};

use super::{PartFlags, print_backup};
use crate::api::Call;
use crate::command::task;
use crate::context::{Context, Model};
use crate::output;
use crate::store::AnyStore;

/// What to back up, and where to.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  loci backup create all.backup
  loci backup create researcher.backup --agent researcher
  loci backup create tuesday.backup --base monday.backup
  loci --server https://loci.example.com backup create all.backup

With --server the server makes the backup and it is downloaded.

Backups are compressed (setting: backup.compress), and encrypted if a key is configured ([encryption]).")]
pub(super) struct BackupCreateArgs {
    /// File to write
    file: PathBuf,
    #[command(flatten)]
    part: PartFlags,
    /// Make an increment: only what has changed since this backup
    #[arg(long, alias = "since", value_name = "FILE")]
    base: Option<PathBuf>,
    /// Overwrite the file if it exists
    #[arg(long)]
    force: bool,
}

/// Makes a backup.
pub(super) async fn run(context: &Context, args: &BackupCreateArgs) -> Result<()> {
    let (file, part) = (&args.file, args.part.part()?);
    if file.exists() && !args.force {
        return Err(Error::new(ErrorKind::Conflict, format!("{} exists", file.display()))
            .at("file")
            .hint("choose another name; --force overwrites it, which makes increments of it useless")
            .into());
    }
    let backup = if context.server.is_some() {
        if args.base.is_some() {
            return Err(Error::invalid("base", "a server makes full backups only")
                .hint("leave out --base, or run the command on the machine of the server")
                .into());
        }
        download(context, file, &part).await?
    } else {
        let store = open(context, &part).await?;
        let base = match &args.base {
            None => None,
            // Only its end is needed, but an increment of a damaged backup could never be restored.
            Some(base) => Some(verify_backup(base.clone(), context.settings.encryption.key()?).await?),
        };
        make(&store, &part, base, &context.settings.backup_encoding()?, file).await?
    };
    context.print(&serde_json::to_value(&backup)?, |_| print_backup("created", file, &backup));
    Ok(())
}

/// Opens the store, and checks that it has the tenant: its backup would be empty, which is noticed when it is needed.
pub(super) async fn open(context: &Context, part: &BackupPart) -> Result<AnyStore> {
    let store = AnyStore::open(&context.settings, &context.data()?).await?;
    if let Some(tenant) = part.tenant.as_ref().filter(|tenant| **tenant != Tenant::default())
        && !store.tenants().await?.contains(tenant)
    {
        let message = format!("unknown tenant `{}`", tenant.name());
        return Err(Error::new(ErrorKind::NotFound, message).at("tenant").into());
    }
    Ok(store)
}

/// Makes a backup of the store.
pub(super) async fn make(
    store: &AnyStore,
    part: &BackupPart,
    since: Option<Backup>,
    encoding: &BackupEncoding,
    path: &Path,
) -> Result<Backup> {
    let bar = output::progress(0, "rows");
    let shown = bar.clone();
    let BackupPart { tenant, space } = part.clone();
    let plan = BackupPlan { tenant, space, since, at: loci_engine::System.now(), encoding: encoding.clone() };
    let progress = Box::new(move |step: &loci_store::BackupStep| {
        shown.set_message(format!("{}/{} {}", step.tenant, step.space, step.table));
        shown.inc(step.rows);
    });
    let backup = store.create_backup_file(plan, path, progress).await;
    bar.finish_and_clear();
    Ok(backup?)
}

/// Lets the server make a backup, downloads it and removes it from the server.
async fn download(context: &Context, file: &Path, part: &BackupPart) -> Result<Backup> {
    let unwritable = |error: std::io::Error| {
        Error::new(ErrorKind::Storage, format!("{} cannot be written: {error}", file.display())).at("file")
    };
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut out = tempfile::NamedTempFile::new_in(folder).map_err(unwritable)?;
    let api = context.api(Model::Skip).await?;
    let call = Call::post(&["v1", "admin", "backups"])
        .field("tenant", part.tenant.as_ref().map(Tenant::name))
        .field("space", part.space.as_ref().map(ToString::to_string));
    let made = task::wait(&api, api.call(call).await?).await?;
    let name = made["name"].as_str().unwrap_or_default().to_owned();
    let mut bytes = api.stream(Call::get(&["v1", "admin", "backups", &name])).await?;
    while let Some(part) = bytes.next().await {
        out.write_all(&part?).map_err(unwritable)?;
    }
    out.as_file().sync_all().map_err(unwritable)?;
    // What was cut off on the way is not kept. An encrypted backup is verified with the key of the server.
    let backup = verify_backup(out.path().to_owned(), context.settings.encryption.key()?).await?;
    out.persist(file).map_err(|error| unwritable(error.error))?;
    api.call(Call::delete(&["v1", "admin", "backups", &name])).await?;
    Ok(backup)
}
