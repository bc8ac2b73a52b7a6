//! Files and folders that only the user of this process may use.
//!
//! **Invariant:** every folder that the store makes has the mode 0700 and every file 0600, whatever the umask is. SQLite
//! gives its logs the mode of their database. Wider modes of earlier versions are narrowed when a file is opened. On
//! systems without such modes the folder of the user is what protects the files.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Creates a folder and its parents, if they do not exist.
pub(super) fn create_folder(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// The options to create a file.
pub(super) fn file_options() -> OpenOptions {
    let mut options = File::options();
    options.write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Creates an empty file, if there is none, and narrows the mode of a database and its logs.
pub(super) fn create_database(path: &Path) -> io::Result<()> {
    match file_options().create_new(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    narrow(path)?;
    ["-wal", "-shm"].iter().try_for_each(|ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        narrow(&PathBuf::from(name))
    })
}

/// Takes the rights of other users from a file or folder, if it exists and this process owns it.
pub(super) fn narrow(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = match std::fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            metadata => metadata?.permissions().mode() & 0o7777,
        };
        if mode & 0o077 != 0 {
            match std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode & !0o077)) {
                // Another process may have removed it.
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                // Another user may own it, or the file system may be read-only. Loci works all the same.
                Err(error) => {
                    tracing::warn!(%error, path = %path.display(), "other users of this machine can read this")
                }
                Ok(()) => {}
            }
        }
    }
    let _ = path;
    Ok(())
}
