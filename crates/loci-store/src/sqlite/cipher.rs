//! Encryption of the files of a store with SQLCipher.
//!
//! Every page of every file, and of its log, is encrypted with one key. A file named `encryption` in the data folder says
//! that the store is encrypted and has a fingerprint of the key, so that a missing or wrong key is not taken for damage.
//! **Invariant:** a folder has encrypted files only or plain files only.

use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use loci_types::ErrorKind;
use rusqlite::{Connection, OpenFlags};

use super::{private, schema};
use crate::encryption::EncryptionKey;
use crate::{Error, Result};

/// The file that marks an encrypted store.
const MARK: &str = "encryption";

/// How the files of a store are read and written: as they are, or encrypted.
#[derive(Clone, Default)]
pub(super) struct Cipher {
    key: Option<Arc<FileKey>>,
}

struct FileKey {
    /// The statement that gives the key to a connection.
    unlock: String,
    /// The bytes of the encrypted file of an empty space, created once.
    image: OnceLock<Vec<u8>>,
}

impl Cipher {
    /// The cipher of the store in this folder. A new store is marked as encrypted if there is a key.
    ///
    /// # Errors
    /// If the key is missing, wrong, or the store is not encrypted; and if this build of Loci cannot encrypt.
    pub(super) fn of_store(folder: &Path, key: Option<&EncryptionKey>) -> Result<Self> {
        let mark = folder.join(MARK);
        let found = match std::fs::read_to_string(&mark) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            found => Some(found.map_err(|error| Error::io(&mark, &error))?),
        };
        match (key, found) {
            (None, None) => Ok(Self::default()),
            (None, Some(_)) => Err(wrong(
                folder,
                "is encrypted, and no key is configured",
                "set encryption.key_file, or LOCI_ENCRYPTION_KEY",
            )),
            (Some(key), Some(found)) if found.trim() == fingerprint(key) => Self::new(key),
            (Some(_), Some(_)) => {
                Err(wrong(folder, "is encrypted with another key", "configure the key that it was created with"))
            }
            (Some(_), None) if folder.join("catalogue.db").exists() => {
                let hint = "encryption.store = false opens it as it is; to encrypt it, restore a backup into a new data folder";
                Err(wrong(folder, "is not encrypted, but a key is configured", hint))
            }
            (Some(key), None) => {
                let cipher = Self::new(key)?;
                let written = private::file_options().create(true).truncate(true).open(&mark).and_then(|mut file| {
                    writeln!(file, "{}", fingerprint(key))?;
                    file.sync_all()
                });
                written.map_err(|error| Error::io(&mark, &error))?;
                Ok(cipher)
            }
        }
    }

    #[cfg(feature = "encryption")]
    fn new(key: &EncryptionKey) -> Result<Self> {
        let hex = data_encoding::HEXLOWER.encode(&key.for_store());
        let unlock = format!("PRAGMA key = \"x'{hex}'\"");
        Ok(Self { key: Some(Arc::new(FileKey { unlock, image: OnceLock::new() })) })
    }

    #[cfg(not(feature = "encryption"))]
    fn new(_: &EncryptionKey) -> Result<Self> {
        let error = loci_types::Error::new(ErrorKind::Configuration, "this build of Loci cannot encrypt its store");
        let hint = "build it with `--features encryption`, or set encryption.store = false and use an encrypted disk";
        Err(error.at("encryption.store").hint(hint).into())
    }

    /// Whether files are encrypted.
    pub(super) fn encrypts(&self) -> bool {
        self.key.is_some()
    }

    /// Opens a connection, and gives it the key.
    pub(super) fn connect(&self, path: &Path, flags: OpenFlags) -> rusqlite::Result<Connection> {
        let connection = Connection::open_with_flags(path, flags)?;
        if let Some(key) = &self.key {
            connection.execute_batch(&key.unlock)?;
        }
        Ok(connection)
    }

    /// The bytes of the encrypted file of an empty space. It is created beside `path`.
    pub(super) fn image(&self, path: &Path) -> Result<Option<&[u8]>> {
        let Some(key) = &self.key else { return Ok(None) };
        if let Some(image) = key.image.get() {
            return Ok(Some(image));
        }
        let failed = |error: std::io::Error| Error::io(path, &error);
        let new = path.with_extension(format!("image-{}", uuid::Uuid::new_v4().simple()));
        let opened = schema::open_existing(&new, schema::SPACE, self);
        // The last connection to close moves the log into the file.
        let created = opened.and_then(|connection| connection.close().map_err(|(_, error)| Error::sqlite(&new, error)));
        let image = created.and_then(|()| std::fs::read(&new).map_err(failed));
        drop(std::fs::remove_file(&new));
        let image = image?;
        Ok(Some(key.image.get_or_init(|| image)))
    }
}

/// What the mark holds: how files are encrypted, and a fingerprint of the key.
fn fingerprint(key: &EncryptionKey) -> String {
    format!("sqlcipher 4, key {}", key.fingerprint())
}

fn wrong(folder: &Path, problem: &str, hint: &str) -> Error {
    let error =
        loci_types::Error::new(ErrorKind::Configuration, format!("the store in {} {problem}", folder.display()));
    error.at("encryption.key_file").hint(hint).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: &str) -> EncryptionKey {
        EncryptionKey::parse(&byte.repeat(32)).unwrap()
    }

    fn problem(folder: &Path, key: Option<&EncryptionKey>) -> String {
        match Cipher::of_store(folder, key) {
            Ok(_) => String::new(),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
                error.to_string()
            }
        }
    }

    #[test]
    fn a_plain_store_and_a_key_do_not_fit() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(problem(folder.path(), None), "");
        std::fs::write(folder.path().join("catalogue.db"), "").unwrap();
        assert_eq!(problem(folder.path(), None), "");
        assert!(problem(folder.path(), Some(&key("07"))).contains("is not encrypted"));
        assert!(!folder.path().join(MARK).exists());
    }

    #[cfg(feature = "encryption")]
    #[test]
    fn an_encrypted_store_needs_its_key() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(problem(folder.path(), Some(&key("07"))), "");
        assert_eq!(problem(folder.path(), Some(&key("07"))), "");
        assert!(problem(folder.path(), Some(&key("08"))).contains("another key"));
        assert!(problem(folder.path(), None).contains("no key is configured"));
    }

    #[cfg(not(feature = "encryption"))]
    #[test]
    fn a_build_without_encryption_does_not_store_in_the_clear_what_should_be_encrypted() {
        let folder = tempfile::tempdir().unwrap();
        assert!(problem(folder.path(), Some(&key("07"))).contains("cannot encrypt"));
        assert!(!folder.path().join(MARK).exists());
    }
}
