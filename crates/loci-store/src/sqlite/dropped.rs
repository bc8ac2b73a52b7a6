//! Spaces that were dropped: their folders are first moved to `dropped`, then removed.
//!
//! A folder is moved in one step, so that no crash leaves a part of a space behind that could be read again.
//! [`finish`] completes what a crash interrupted.

use std::io;
use std::path::{Path, PathBuf};

use super::catalogue::SqliteCatalogue;
use super::space_path;
use crate::Result;
use crate::sql::{catalogue, keys};

/// The folder for dropped spaces, inside that of the store.
const DROPPED: &str = "dropped";

/// Moves the folder of a space away and returns where it is now; `None` if there is none. Its path below the folder of
/// the store is kept, so that [`finish`] knows which space it was.
pub(super) fn move_away(store: &Path, space: &Path) -> io::Result<Option<PathBuf>> {
    let dropped = store.join(DROPPED).join(uuid::Uuid::new_v4().to_string());
    let target = dropped.join(space.strip_prefix(store).unwrap_or(Path::new("space")));
    super::private::create_folder(target.parent().unwrap_or(&dropped))?;
    match std::fs::rename(space, &target) {
        Ok(()) => Ok(Some(dropped)),
        Err(error) => {
            std::fs::remove_dir_all(&dropped)?;
            if error.kind() == io::ErrorKind::NotFound { Ok(None) } else { Err(error) }
        }
    }
}

/// Completes drops that were interrupted: removes the entries of the spaces from the catalogue, and their folders.
pub(super) fn finish(store: &Path, entries: &SqliteCatalogue) -> Result<()> {
    let Ok(dropped) = std::fs::read_dir(store.join(DROPPED)) else { return Ok(()) };
    let dropped: Vec<PathBuf> = dropped.flatten().map(|folder| folder.path()).collect();
    if dropped.is_empty() {
        return Ok(());
    }
    for name in entries.read_catalogue(keys::tenants)? {
        let tenant = loci_types::Tenant::new(&name)?;
        for space in entries.read_catalogue(|connection| catalogue::spaces(connection, &tenant))? {
            let path = space_path(store, &tenant, &space);
            let below = path.parent().and_then(|folder| folder.strip_prefix(store).ok());
            let is_dropped = below.is_some_and(|below| dropped.iter().any(|folder| folder.join(below).exists()));
            if is_dropped && !path.exists() {
                entries.write_catalogue(|connection| catalogue::drop_space(connection, &tenant, &space))?;
            }
        }
    }
    for folder in dropped {
        // Another process may remove it at the same time, and what is left is removed when the store is opened next.
        if let Err(error) = std::fs::remove_dir_all(&folder) {
            tracing::warn!(%error, folder = %folder.display(), "the folder of a dropped space could not be removed");
        }
    }
    Ok(())
}
