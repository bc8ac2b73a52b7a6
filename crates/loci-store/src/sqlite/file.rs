//! Names and identities of files.

use std::path::Path;

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::{FromSqlResult, ValueRef};

/// The identity of a file: device, inode and time of creation. A new file may get the inode of one that was deleted,
/// but not its time of creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct FileId(u64, u64, u64);

impl FileId {
    /// The file at this path; `None` if there is none or it cannot be examined.
    pub(super) fn of(path: &Path) -> Option<Self> {
        Self::find(path).ok().flatten()
    }

    /// The file at this path; `None` if there is none.
    pub(super) fn find(path: &Path) -> std::io::Result<Option<Self>> {
        let metadata = match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            metadata => metadata?,
        };
        let created = metadata.created().ok().and_then(|at| at.duration_since(std::time::UNIX_EPOCH).ok());
        let created = created.map_or(0, |since| since.as_nanos() as u64);
        #[cfg(unix)]
        let (device, inode) = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let (device, inode) = (0, 0);
        Ok(Some(Self(device, inode, created)))
    }

    /// Registers this identity on a connection as the SQL function `file_id()`, so that its users can find out which
    /// file it reads even if the path leads to another file by then.
    pub(super) fn attach(self, connection: &Connection) -> rusqlite::Result<()> {
        let bytes = [self.0, self.1, self.2].map(u64::to_le_bytes).concat();
        connection.create_scalar_function("file_id", 0, FunctionFlags::SQLITE_UTF8, move |_| Ok(bytes.clone()))
    }

    /// Reads a value of `file_id()`.
    pub(super) fn from_value(value: ValueRef<'_>) -> FromSqlResult<Self> {
        let (numbers, _) = value.as_blob()?.as_chunks::<8>();
        let number = |at: usize| numbers.get(at).map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Ok(Self(number(0), number(1), number(2)))
    }
}

/// The folder name of a tenant or a space. Some file systems treat `Bob` and `bob` as the same name, drop a trailing
/// dot, or reserve names such as `con`; the encoding gives every name a folder of its own on all of them. Upper case
/// letters, a trailing dot and reserved names are encoded with `~`, which no name contains; all other names stay as
/// they are.
pub(super) fn path_component(name: &str) -> String {
    let mut component = String::with_capacity(name.len() + 8);
    let stem = name.split('.').next().unwrap_or_default().to_ascii_lowercase();
    if is_reserved(&stem) {
        component.push_str("~~");
    }
    for letter in name.chars() {
        if letter.is_ascii_uppercase() {
            component.push('~');
        }
        component.push(letter.to_ascii_lowercase());
    }
    if component.ends_with('.') {
        component.pop();
        component.push_str("~-");
    }
    component
}

/// Whether Windows treats a name with this stem as a device.
fn is_reserved(stem: &str) -> bool {
    let numbered =
        |prefix: &str| stem.strip_prefix(prefix).is_some_and(|rest| matches!(rest.as_bytes(), [b'1'..=b'9']));
    matches!(stem, "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}

/// Renames the folders of tenants and spaces to their encoded names. Up to catalogue format 4 names were not encoded.
pub(super) fn rename_folders(folder: &Path) -> std::io::Result<()> {
    let tenants = folder.join("tenants");
    rename_each(&tenants)?;
    for tenant in folders(&tenants)? {
        rename_each(&tenants.join(tenant).join("spaces"))?;
    }
    Ok(())
}

fn rename_each(folder: &Path) -> std::io::Result<()> {
    for name in folders(folder)?.into_iter().filter(|name| !name.contains('~')) {
        let present = path_component(&name);
        if present != name {
            match std::fs::rename(folder.join(&name), folder.join(&present)) {
                // Another process was faster.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                outcome => outcome?,
            }
        }
    }
    Ok(())
}

/// The names of the folders in a folder; empty if it does not exist.
fn folders(folder: &Path) -> std::io::Result<Vec<String>> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.extend(entry.file_name().into_string());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_that_a_file_system_may_take_for_one_have_folders_that_differ() {
        for (name, folder) in [
            ("bob", "bob"),
            ("agent_memory_bob-7.x", "agent_memory_bob-7.x"),
            ("Bob", "~bob"),
            ("BoB", "~bo~b"),
            ("a.", "a~-"),
            ("a..", "a.~-"),
            ("A.D", "~a.~d"),
            ("con", "~~con"),
            ("CON", "~~~c~o~n"),
            ("nul.txt", "~~nul.txt"),
            ("com1", "~~com1"),
            ("com10", "com10"),
            ("console", "console"),
        ] {
            assert_eq!(path_component(name), folder);
        }
        let names = ["a", "A", "a.", "A.", "a-", "A-", "ab", "aB", "Ab", "AB", "con", "Con", "CON", "con.", "d", "D"];
        let folders: HashSet<String> = names.iter().map(|name| path_component(name).to_lowercase()).collect();
        assert_eq!(folders.len(), names.len());
        assert!(folders.iter().all(|folder| !folder.ends_with('.')));
    }

    #[test]
    fn folders_of_before_are_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let old = folder.path().join("tenants/Acme/spaces/agent_memory_Bob");
        std::fs::create_dir_all(&old).unwrap();
        std::fs::write(old.join("loci.db"), "it").unwrap();
        std::fs::create_dir_all(folder.path().join("tenants/acme/spaces/shared")).unwrap();
        for _ in 0..2 {
            rename_folders(folder.path()).unwrap();
            let new = folder.path().join("tenants/~acme/spaces/agent_memory_~bob/loci.db");
            assert_eq!(std::fs::read_to_string(new).unwrap(), "it");
            assert!(folder.path().join("tenants/acme/spaces/shared").is_dir() && !old.exists());
        }
        rename_folders(&folder.path().join("nothing")).unwrap();
    }
}
