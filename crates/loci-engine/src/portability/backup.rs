//! Backups in a folder of the server.
//!
//! Each tenant has a folder of its own below it, so that an admin reaches the backups of their tenant and no others.
//! An admin of the tenant `default` runs the store: their backups hold all tenants unless they name one. Names are made
//! here; a name from outside is only ever compared with that shape, and never leads out of the folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use loci_store::{Backup, BackupEncoding, BackupPlan, BackupStep, RestoreOutcome, RestorePlan, create_backup_file};
use loci_types::{Error, ErrorKind, Space, Tenant};
use serde::Serialize;

use crate::access::policy::{self, Caller};
use crate::{Engine, Result};

/// How the name of a full backup ends, here and in the folders of `loci backup --every`.
pub const FULL_BACKUP: &str = "-full.backup";

/// The longest name of a backup, in bytes.
const LONGEST_NAME: usize = 255;

/// Where a server keeps its backups, and how they are stored.
#[derive(Debug, Clone)]
pub struct BackupFolder {
    /// The folder, with one for each tenant below it.
    pub path: PathBuf,
    /// How new backups are stored, and the key of encrypted ones.
    pub encoding: BackupEncoding,
}

/// The part of the store that a backup holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BackupPart {
    /// The tenant. Default: all tenants.
    pub tenant: Option<Tenant>,
    /// The space of that tenant. Default: all spaces, and the agents, pools and keys.
    pub space: Option<Space>,
}

impl BackupPart {
    /// The part that a caller may back up or restore: that of their tenant, or any for who runs the store.
    fn for_caller(caller: &Caller, part: Self) -> Result<Self> {
        policy::require_operator(caller, "manage backups")?;
        let tenant = match part.tenant {
            tenant if policy::is_store_operator(caller) => tenant,
            Some(other) if other != caller.tenant => {
                return Err(Error::new(ErrorKind::Unauthorized, "an admin can only back up their own tenant")
                    .at("tenant")
                    .hint("leave the tenant out")
                    .into());
            }
            _ => Some(caller.tenant.clone()),
        };
        // A space belongs to one tenant.
        let tenant = tenant.or_else(|| part.space.as_ref().map(|_| caller.tenant.clone()));
        Ok(Self { tenant, space: part.space })
    }

    /// How the names of its backups begin.
    pub fn prefix(&self) -> String {
        match (&self.tenant, &self.space) {
            (Some(tenant), Some(space)) => format!("loci-{}-{space}-", tenant.name()),
            (Some(tenant), None) => format!("loci-{}-", tenant.name()),
            (None, _) => "loci-".to_owned(),
        }
    }
}

/// The time in the name of a backup. Names sort by it.
pub fn backup_stamp(at: Timestamp) -> String {
    at.strftime("%Y%m%dT%H%M%S.%6fZ").to_string()
}

/// A backup in the folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = Backup))]
#[serde(rename_all = "camelCase")]
pub struct StoredBackup {
    /// The name of the file.
    pub name: String,
    /// The size of the file, in bytes.
    pub bytes: u64,
    /// When the backup was made.
    pub created_at: Timestamp,
    /// The only tenant in it; null if it holds all tenants.
    #[cfg_attr(feature = "schema", schema(required))]
    pub tenant: Option<String>,
    /// The spaces in it. Empty if the summary beside the file is missing; verifying the backup reads them.
    pub spaces: Vec<StoredSpace>,
}

/// A space in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema), schema(as = BackupSpace))]
#[serde(rename_all = "camelCase")]
pub struct StoredSpace {
    /// The tenant of the space.
    pub tenant: String,
    /// The name of the space.
    pub space: String,
    /// Number of rows.
    pub rows: u64,
    /// The sequence number of its last ledger entry.
    pub sequence: i64,
}

/// What a restore did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Restoration {
    /// The spaces that were restored.
    pub spaces: Vec<RestoreOutcome>,
    /// Number of vectors that were computed because another model had made those of the backup.
    pub embedded: u64,
}

impl Engine {
    /// The part of the store that the caller may back up. A tenant that does not exist is refused: its backup would be
    /// empty, and would be noticed when it is needed.
    pub async fn check_backup(&self, caller: &Caller, part: BackupPart) -> Result<BackupPart> {
        let part = BackupPart::for_caller(caller, part)?;
        match &part.tenant {
            Some(tenant) if *tenant != caller.tenant && !self.tenants_of(caller).await?.contains(tenant) => {
                Err(Error::new(ErrorKind::NotFound, format!("unknown tenant `{}`", tenant.name())).at("tenant").into())
            }
            _ => Ok(part),
        }
    }

    /// Makes a full backup in the folder. `progress` receives the number of rows written so far. The backup is
    /// abandoned when `cancelled` returns true.
    pub async fn create_backup(
        &self,
        caller: &Caller,
        folder: &BackupFolder,
        part: BackupPart,
        mut progress: impl FnMut(u64) + Send + 'static,
        cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
    ) -> Result<StoredBackup> {
        let part = self.check_backup(caller, part).await?;
        let own = own_folder(caller, folder);
        private_folder(&own).map_err(|error| unwritable(&own, &error))?;
        let (at, mut rows) = (self.now(), 0);
        let name = format!("{}{}{FULL_BACKUP}", part.prefix(), backup_stamp(at));
        let encoding = folder.encoding.clone();
        let plan = BackupPlan { tenant: part.tenant, space: part.space, since: None, at, encoding };
        let report = Box::new(move |step: &BackupStep| {
            rows += step.rows;
            progress(rows);
        });
        // Batched writes that were acknowledged belong into it.
        self.write_waiting().await;
        let path = own.join(&name);
        let made = create_backup_file(&*self.store, plan, &path, report, cancelled).await;
        let backup = made.map_err(|error| match error.kind() {
            ErrorKind::Storage => unwritable(&path, &std::io::Error::other(error.to_string())).into(),
            _ => crate::Error::from(error),
        })?;
        let summary = serde_json::to_vec(&backup).unwrap_or_default();
        // A backup without its summary is whole; its spaces are only not listed.
        if let Err(error) = write_private(&summary_of(&path), &summary) {
            tracing::warn!(%error, name, "the summary of a backup was not written");
        }
        stored(&path).ok_or_else(|| unknown(&name).into())
    }

    /// The backups of the caller's folder, newest first.
    pub fn backups(&self, caller: &Caller, folder: &BackupFolder) -> Result<Vec<StoredBackup>> {
        policy::require_operator(caller, "manage backups")?;
        let Ok(files) = std::fs::read_dir(own_folder(caller, folder)) else { return Ok(Vec::new()) };
        let named = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(is_name);
        let paths = files.flatten().map(|file| file.path()).filter(named);
        let mut found: Vec<StoredBackup> = paths.filter_map(|path| stored(&path)).collect();
        found.sort_by(|one, other| (other.created_at, &other.name).cmp(&(one.created_at, &one.name)));
        Ok(found)
    }

    /// The file of a backup of the caller's folder.
    pub fn backup_file(&self, caller: &Caller, folder: &BackupFolder, name: &str) -> Result<PathBuf> {
        policy::require_operator(caller, "manage backups")?;
        let path = own_folder(caller, folder).join(if is_name(name) { name } else { return Err(unknown(name).into()) });
        // A link could lead anywhere.
        let is_file = std::fs::symlink_metadata(&path).is_ok_and(|known| known.is_file());
        if is_file { Ok(path) } else { Err(unknown(name).into()) }
    }

    /// Removes a backup from the caller's folder.
    pub fn remove_backup(&self, caller: &Caller, folder: &BackupFolder, name: &str) -> Result<()> {
        let path = self.backup_file(caller, folder, name)?;
        std::fs::remove_file(&path).map_err(|error| unwritable(&path, &error))?;
        drop(std::fs::remove_file(summary_of(&path)));
        Ok(())
    }

    /// Verifies a backup of the caller's folder from the first byte to the last.
    pub async fn verify_backup(&self, caller: &Caller, folder: &BackupFolder, name: &str) -> Result<Backup> {
        let path = self.backup_file(caller, folder, name)?;
        loci_store::verify_backup(path.clone(), folder.encoding.key.clone())
            .await
            .map_err(|error| without_folder(error, &path))
    }

    /// Restores a backup of the caller's folder. Spaces that are not empty are only replaced if `replace` is set. An
    /// admin of a tenant restores that tenant alone. Afterwards vectors of other models are computed anew, and an
    /// external index is filled again.
    pub async fn restore_backup(
        self: &Arc<Self>,
        caller: &Caller,
        folder: &BackupFolder,
        name: &str,
        replace: bool,
    ) -> Result<Restoration> {
        let path = self.backup_file(caller, folder, name)?;
        let tenant = BackupPart::for_caller(caller, BackupPart::default())?.tenant;
        let rules = self.clone();
        let plan = RestorePlan {
            files: vec![path.clone()],
            key: folder.encoding.key.clone(),
            tenant,
            space: None,
            rename: None,
            until: None,
            replace,
            at: self.now(),
            derive: Arc::new(move |memory| rules.derived_keys(memory)),
        };
        let spaces = self.store.restore_backup(plan).await.map_err(|error| without_folder(error, &path))?;
        self.feature_cache.clear();
        let tenants: BTreeSet<&str> = spaces.iter().map(|space| space.tenant.as_str()).collect();
        let mut embedded = 0;
        for tenant in tenants {
            let operator = Caller { tenant: Tenant::new(tenant)?, ..Caller::operator() };
            embedded += self.reembed(&operator, |_, _| {}).await?.embedded;
            if self.store.indexed().is_some() {
                self.vector_rebuild(&operator, |_, _, _| {}).await?;
            }
        }
        Ok(Restoration { spaces, embedded })
    }

    /// Removes the backups of a tenant, which the next tenant of that name must not find.
    pub(crate) fn remove_backups_of(&self, tenant: &Tenant, folder: &Path) -> Result<()> {
        let folder = folder.join(tenant.name());
        match std::fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(unwritable(&folder, &error).into()),
            _ => Ok(()),
        }
    }
}

fn own_folder(caller: &Caller, folder: &BackupFolder) -> PathBuf {
    folder.path.join(caller.tenant.name())
}

/// Whether this can be the name of a backup: one plain file name of the shape that is made here.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    name.len() <= LONGEST_NAME
        && name.starts_with("loci-")
        && name.ends_with(FULL_BACKUP)
        && name.bytes().all(plain)
        && !name.contains("..")
}

fn summary_of(path: &Path) -> PathBuf {
    path.with_extension("backup.json")
}

/// What is known of a backup without reading all of it; none if the file is gone.
fn stored(path: &Path) -> Option<StoredBackup> {
    let known = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let summary = std::fs::read(summary_of(path)).ok();
    let backup = summary.and_then(|bytes| serde_json::from_slice::<Backup>(&bytes).ok());
    let written = known.modified().ok().and_then(|at| Timestamp::try_from(at).ok());
    let spaces = backup.iter().flat_map(|backup| &backup.spaces).map(|space| StoredSpace {
        tenant: space.tenant.clone(),
        space: space.space.clone(),
        rows: space.rows,
        sequence: space.sequence,
    });
    Some(StoredBackup {
        name: path.file_name()?.to_str()?.to_owned(),
        bytes: known.len(),
        spaces: spaces.collect(),
        created_at: backup.as_ref().map(|backup| backup.manifest.created_at).or(written)?,
        tenant: backup.and_then(|backup| backup.manifest.tenant),
    })
}

fn private_folder(folder: &Path) -> std::io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

fn write_private(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    std::io::Write::write_all(&mut options.open(path)?, bytes)
}

/// Where the folder is stays in the log.
fn unwritable(path: &Path, error: &std::io::Error) -> Error {
    tracing::error!(%error, path = %path.display(), "the backup folder cannot be written");
    Error::new(ErrorKind::Storage, "the backup folder cannot be written")
        .hint("the server's log has the details; `server.backup_folder` sets another folder")
}

/// The error of a backup with its file name instead of its path.
fn without_folder(error: loci_store::Error, path: &Path) -> crate::Error {
    let (message, name) = (error.to_string(), path.file_name().unwrap_or_default().to_string_lossy());
    let place = path.display().to_string();
    if !message.contains(&place) {
        return error.into();
    }
    tracing::error!(%error, "a backup cannot be used");
    let located = Error::new(error.kind(), message.replace(&place, &name)).at("name");
    located.hint("nothing was changed; use another backup, or a copy of this one").into()
}

fn unknown(name: &str) -> Error {
    let shown: String = name.chars().take(LONGEST_NAME).collect();
    Error::new(ErrorKind::NotFound, format!("unknown backup `{shown}`"))
        .at("name")
        .hint("list the backups to see their names")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_in_the_folder() {
        assert!(is_name("loci-20260601T120000.000000Z-full.backup"));
        assert!(is_name("loci-acme-agent_memory_bot-20260601T120000.000000Z-full.backup"));
        for wrong in [
            "",
            "loci-full.backup/../x-full.backup",
            "../loci-x-full.backup",
            "loci-..-full.backup",
            "loci-x-full.backup.part",
            "loci-x-full.backup.json",
            "loci-\\x-full.backup",
            "loci-\0-full.backup",
            "other-full.backup",
        ] {
            assert!(!is_name(wrong), "{wrong}");
        }
    }
}
