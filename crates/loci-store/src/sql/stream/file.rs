//! Writes a backup to a file.
//!
//! A file that is not whole never has its name: it is written beside it, synced, and renamed. Only its owner may read
//! it, because it holds everything.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use loci_types::ErrorKind;

use super::backup::{Backup, BackupPlan, BackupProgress};
use crate::{Administration, Error, Result};

/// The bytes that are written at once.
const BUFFER: usize = 1 << 18;

/// Writes a backup of the planned part of a store to a file, which only its owner can read. `cancelled` is asked before
/// each write; the file is removed if it returns true or anything fails.
///
/// # Errors
/// If the store or the file fails, or an increment does not follow from the backup that it is based on.
pub async fn create_backup_file(
    store: &(impl Administration + ?Sized),
    plan: BackupPlan,
    path: &Path,
    progress: BackupProgress,
    cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
) -> Result<Backup> {
    let begun = unfinished(path);
    let failed = |error: io::Error| unwritable(path, &error);
    let file = Arc::new(Mutex::new(BufWriter::with_capacity(BUFFER, private(&begun).map_err(failed)?)));
    let out = Box::new(SharedFile { file: file.clone(), cancelled });
    let made = store.write_backup(plan, out, progress).await;
    let finished = made.and_then(|backup| {
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        file.flush().map_err(failed)?;
        file.get_ref().sync_all().map_err(failed)?;
        std::fs::rename(&begun, path).map_err(failed)?;
        Ok(backup)
    });
    if finished.is_err() {
        drop(std::fs::remove_file(&begun));
    }
    finished
}

/// The file while it is written: the store gets a writer, and the buffer stays here to be synced.
struct SharedFile {
    file: Arc<Mutex<BufWriter<File>>>,
    cancelled: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Write for SharedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.cancelled)() {
            return Err(io::Error::other("the backup was cancelled"));
        }
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner).flush()
    }
}

/// The name of a file that is not whole yet.
fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".part");
    PathBuf::from(name)
}

fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    let message = format!("{} cannot be written: {error}", path.display());
    loci_types::Error::new(ErrorKind::Storage, message).at("file").hint("choose another place").into()
}
