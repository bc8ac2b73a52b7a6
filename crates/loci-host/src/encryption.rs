//! The settings of encryption at rest, and the sizes of backups.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use loci_store::{BackupEncoding, EncryptionKey};
use loci_types::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

use crate::secret::SecretSource;
use crate::settings::Settings;

/// The usual variable of the key.
const KEY: &str = "LOCI_ENCRYPTION_KEY";

/// Encryption of the embedded store and of backups. There is none without a key.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Encryption {
    /// Whether the files of the embedded store are encrypted. It needs a build with the feature `encryption`.
    pub store: bool,
    /// Whether backups are encrypted.
    pub backups: bool,
    /// The environment variable that holds the key: 32 random bytes as 64 hexadecimal digits or as Base64. The name begins with
    /// `LOCI_`.
    pub key_env: String,
    /// The file that holds the key instead; only its owner may be able to read it.
    pub key_file: Option<PathBuf>,
    /// A program with its arguments that prints the key instead, such as `["pass", "show", "loci"]`.
    pub key_command: Vec<String>,
    /// The key, once it was read.
    #[serde(skip)]
    read: Arc<OnceLock<Option<EncryptionKey>>>,
}

impl Default for Encryption {
    fn default() -> Self {
        Self {
            store: true,
            backups: true,
            key_env: KEY.to_owned(),
            key_file: None,
            key_command: Vec::new(),
            read: Arc::default(),
        }
    }
}

/// How backups are stored.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BackupSettings {
    /// Whether backups are compressed.
    pub compress: bool,
}

impl Default for BackupSettings {
    fn default() -> Self {
        Self { compress: true }
    }
}

impl Encryption {
    /// Where the key is, unless a program prints it.
    pub fn secret(&self) -> SecretSource<'_> {
        SecretSource {
            variable_field: "encryption.key_env",
            file_field: "encryption.key_file",
            variable: &self.key_env,
            file: self.key_file.as_deref(),
            usual: KEY,
        }
    }

    /// Refuses two sources of the key.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        match !self.key_command.is_empty() && self.key_file.is_some() {
            true => Err(wrong("encryption.key_command", "encryption.key_command and encryption.key_file are both set")
                .hint("leave one of them out")),
            false => Ok(()),
        }
    }

    /// The key, if one is configured. It is read once.
    pub fn key(&self) -> Result<Option<EncryptionKey>, Error> {
        if let Some(read) = self.read.get() {
            return Ok(read.clone());
        }
        let (text, field) = match self.key_command.as_slice() {
            [] => (self.secret().read()?, "encryption.key_file"),
            [program, arguments @ ..] => (Some(print_key(program, arguments)?), "encryption.key_command"),
        };
        let key = text.map(|text| EncryptionKey::parse(&text)).transpose().map_err(|error| error.at(field))?;
        Ok(self.read.get_or_init(|| key).clone())
    }
}

/// What a program prints. It may ask the user on the terminal.
fn print_key(program: &str, arguments: &[String]) -> Result<String, Error> {
    let failed = |problem: String| {
        wrong("encryption.key_command", &format!("`{program}` {problem}"))
            .hint("name a program that prints the key and nothing else")
    };
    let run = Command::new(program).args(arguments).stdin(Stdio::inherit()).stderr(Stdio::inherit()).output();
    let output = run.map_err(|error| failed(format!("cannot be run: {error}")))?;
    if !output.status.success() {
        return Err(failed(format!("failed: {}", output.status)));
    }
    String::from_utf8(output.stdout).map_err(|_| failed("printed no text".to_owned()))
}

impl Settings {
    /// The key of the embedded store, if its files are encrypted.
    pub fn store_key(&self) -> Result<Option<EncryptionKey>, Error> {
        if self.encryption.store { self.encryption.key() } else { Ok(None) }
    }

    /// How new backups are stored.
    pub fn backup_encoding(&self) -> Result<BackupEncoding, Error> {
        let key = if self.encryption.backups { self.encryption.key()? } else { None };
        Ok(BackupEncoding { compress: self.backup.compress, key })
    }
}

fn wrong(field: &'static str, message: &str) -> Error {
    Error::new(ErrorKind::Configuration, message).at(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(text: &str) -> Settings {
        Settings::parse(text).unwrap()
    }

    #[cfg(unix)]
    #[test]
    fn a_program_prints_the_key() {
        let hex = "07".repeat(32);
        let printed = settings(&format!("[encryption]\nkey_command = [\"echo\", \"{hex}\"]\n"));
        assert_eq!(printed.store_key().unwrap(), Some(EncryptionKey::parse(&hex).unwrap()));
        assert!(printed.backup_encoding().unwrap().key.is_some());
        for (command, problem) in [
            ("[\"false\"]", "failed"),
            ("[\"loci-no-such-program\"]", "cannot be run"),
            ("[\"echo\", \"a passphrase\"]", "32 bytes"),
        ] {
            let error = settings(&format!("[encryption]\nkey_command = {command}\n")).store_key().unwrap_err();
            assert_eq!(error.field(), Some("encryption.key_command"));
            assert!(error.to_string().contains(problem), "{error}");
        }
    }

    #[test]
    fn what_is_encrypted_is_chosen_apart() {
        let hex = "07".repeat(32);
        let only =
            |part: &str| settings(&format!("[encryption]\n{part} = false\nkey_command = [\"echo\", \"{hex}\"]\n"));
        assert!(only("store").store_key().unwrap().is_none());
        assert!(only("backups").backup_encoding().unwrap().key.is_none());
        assert!(Settings::default().store_key().unwrap().is_none());
        let both = settings("[encryption]\nkey_command = [\"a\"]\nkey_file = \"b\"\n");
        assert_eq!(both.validate().unwrap_err().field(), Some("encryption.key_command"));
    }
}
