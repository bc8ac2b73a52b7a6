//! `loci serve --while-used`: a server that ends with its last user.
//!
//! A program that uses the server holds a shared lock on the file `server.users` in the data folder. The server tries to get the
//! exclusive lock: it succeeds when no user is left, whether they closed the file or were killed, and it keeps the lock until its
//! process is gone. So a program that gets the shared lock finds either a server that stays, or none.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// The name of the file in the data folder.
const FILE: &str = "server.users";

/// How long a new server waits for its first user.
const GRACE: Duration = Duration::from_secs(5);

/// How often the lock is tried.
const INTERVAL: Duration = Duration::from_secs(1);

/// The lock of the users of the server of a data folder.
pub(crate) struct Users {
    file: File,
}

impl Users {
    /// Opens the file in the data folder, which must exist. The file is private to its owner.
    pub(crate) fn of(data: &Path) -> Result<Self> {
        let path = data.join(FILE);
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&path).with_context(|| path.display().to_string())?;
        Ok(Self { file })
    }

    /// Completes when nobody uses the server any more; the lock is held from then on until this value is dropped.
    /// Where files cannot be locked it never completes, so that the server goes on.
    pub(crate) async fn gone(&self) {
        tokio::time::sleep(GRACE).await;
        loop {
            match self.are_gone() {
                Ok(true) => return,
                Ok(false) => tokio::time::sleep(INTERVAL).await,
                Err(error) => {
                    tracing::warn!(%error, "the users of the server cannot be counted; it runs until it is stopped");
                    return std::future::pending().await;
                }
            }
        }
    }

    /// Takes the exclusive lock if no user holds the shared one.
    fn are_gone(&self) -> io::Result<bool> {
        match self.file.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_are_gone_when_none_holds_the_lock_and_new_ones_wait() {
        let folder = tempfile::tempdir().unwrap();
        let server = Users::of(folder.path()).unwrap();
        let (one, two) = (Users::of(folder.path()).unwrap(), Users::of(folder.path()).unwrap());
        one.file.lock_shared().unwrap();
        two.file.lock_shared().unwrap();
        assert!(!server.are_gone().unwrap());
        drop(one);
        assert!(!server.are_gone().unwrap(), "one user is left");
        drop(two);
        assert!(server.are_gone().unwrap());
        let late = Users::of(folder.path()).unwrap();
        assert!(matches!(late.file.try_lock_shared(), Err(TryLockError::WouldBlock)), "the server is ending");
        drop(server);
        late.file.try_lock_shared().unwrap();
    }
}
