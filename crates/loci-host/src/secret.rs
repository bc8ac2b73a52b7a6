//! Secrets: where they may come from, and how they are read.
//!
//! **Invariant:** a secret is read only from a variable of the environment whose name begins with `LOCI_`, or from a file that
//! only its owner can read. A configuration can therefore not send a secret of another program to an endpoint.

use std::io::Read;
use std::path::Path;

use loci_types::{Error, ErrorKind};

use crate::settings::{Settings, variable};

/// How the names of variables with secrets begin.
const PREFIX: &str = "LOCI_";
/// Maximum size of a file with a secret, in bytes.
const FILE_BYTES: u64 = 64 << 10;

/// The two settings that say where one secret is: a variable, and a file, which wins.
#[derive(Debug, Clone, Copy)]
pub struct SecretSource<'a> {
    /// The setting with the name of the variable.
    pub variable_field: &'static str,
    /// The setting with the file.
    pub file_field: &'static str,
    /// The variable; empty for none.
    pub variable: &'a str,
    /// The file.
    pub file: Option<&'a Path>,
    /// The name that the variable usually has.
    pub usual: &'static str,
}

impl SecretSource<'_> {
    /// Refuses a variable whose name does not begin with `LOCI_`.
    pub fn validate(&self) -> Result<(), Error> {
        let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let fits =
            self.variable.len() > PREFIX.len() && self.variable.starts_with(PREFIX) && self.variable.chars().all(plain);
        if self.variable.is_empty() || fits {
            return Ok(());
        }
        let message = format!(
            "{} is `{}`, but secrets are read only from variables whose names begin with {PREFIX}",
            self.variable_field, self.variable
        );
        Err(wrong(self.variable_field, message).hint(format!(
            "put the secret into the variable {}, or into a file that {} names",
            self.usual, self.file_field
        )))
    }

    /// The secret, if there is one.
    pub fn read(&self) -> Result<Option<String>, Error> {
        self.validate()?;
        match self.file {
            Some(file) => read_file(file).map(Some).map_err(|problem| {
                wrong(self.file_field, format!("{}: {problem}", file.display()))
                    .hint("name a file with the secret alone that only its owner can read (chmod 600)")
            }),
            None => Ok(self.named_variable()),
        }
    }

    /// Where the secret comes from, in words; `None` if there is no secret.
    pub fn origin(&self) -> Option<String> {
        match self.file {
            Some(file) => Some(file.display().to_string()),
            None => self.named_variable().map(|_| self.variable.to_owned()),
        }
    }

    fn named_variable(&self) -> Option<String> {
        // A name that `=` or NUL makes invalid never passes `validate`.
        Some(self.variable).filter(|name| !name.is_empty()).and_then(variable)
    }
}

/// Reads a file that only its owner can read. A line end after the secret does not belong to it.
fn read_file(path: &Path) -> Result<String, String> {
    let file = std::fs::File::open(path).map_err(|error| format!("it cannot be read: {error}"))?;
    check_access(&file)?;
    let mut text = String::new();
    file.take(FILE_BYTES + 1).read_to_string(&mut text).map_err(|error| format!("it cannot be read: {error}"))?;
    if text.len() as u64 > FILE_BYTES {
        return Err(format!("it has more than {FILE_BYTES} bytes"));
    }
    match text.trim_end_matches(['\r', '\n']) {
        "" => Err("it is empty".to_owned()),
        secret => Ok(secret.to_owned()),
    }
}

/// Refuses a file that others may read. The open file is checked, so that it cannot be exchanged in between.
#[cfg(unix)]
fn check_access(file: &std::fs::File) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    let about = file.metadata().map_err(|error| format!("it cannot be read: {error}"))?;
    let mode = about.permissions().mode() & 0o777;
    match mode & 0o077 {
        _ if !about.is_file() => Err("it is not a file".to_owned()),
        0 => Ok(()),
        _ => Err(format!("others than its owner can access it (mode {mode:03o})")),
    }
}

/// Access to files is not checked where it has no Unix mode.
#[cfg(not(unix))]
fn check_access(_: &std::fs::File) -> Result<(), String> {
    Ok(())
}

impl Settings {
    /// Where every secret is, by the name of what it opens.
    pub fn secrets(&self) -> Vec<(&'static str, SecretSource<'_>)> {
        let mut all = vec![
            ("embeddings.api_key", self.embeddings.secret()),
            ("rerank.api_key", self.rerank.secret()),
            ("llm.api_key", self.llm.secret()),
            ("vectors.api_key", self.vectors.secret()),
            ("tiers.url", self.tiers.secret()),
            ("postgres.url", self.postgres.secret()),
            ("postgres.direct_url", self.postgres.direct_secret()),
            ("encryption.key", self.encryption.secret()),
        ];
        all.extend(self.jwt_secret().map(|source| ("auth.jwt.secret", source)));
        all
    }

    /// The shared secret of tokens, if tokens are configured.
    pub fn jwt_secret(&self) -> Option<SecretSource<'_>> {
        let jwt = self.auth.jwt.as_ref()?;
        Some(SecretSource {
            variable_field: "auth.jwt.secret_env",
            file_field: "auth.jwt.secret_file",
            variable: jwt.secret_env.as_deref().unwrap_or_default(),
            file: jwt.secret_file.as_deref(),
            usual: "LOCI_JWT_SECRET",
        })
    }
}

fn wrong(field: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Configuration, message).at(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source<'a>(variable: &'a str, file: Option<&'a Path>) -> SecretSource<'a> {
        SecretSource {
            variable_field: "llm.api_key_env",
            file_field: "llm.api_key_file",
            variable,
            file,
            usual: "LOCI_LLM_KEY",
        }
    }

    // H1
    #[test]
    fn variables_of_other_programs_are_refused_by_their_field() {
        for (name, fits) in [
            ("LOCI_LLM_KEY", true),
            ("", true),
            ("AWS_SECRET_ACCESS_KEY", false),
            ("LOCI_", false),
            ("loci_key", false),
            ("LOCI_A=B", false),
            ("OPENAI_API_KEY", false),
        ] {
            let outcome = source(name, None).validate();
            assert_eq!(outcome.is_ok(), fits, "{name}");
            if let Err(error) = outcome {
                assert_eq!((error.field(), error.kind()), (Some("llm.api_key_env"), ErrorKind::Configuration));
                assert!(error.advice().is_some_and(|hint| hint.contains("LOCI_LLM_KEY")), "{error:?}");
            }
        }
        // Every setting that names a variable is checked when the configuration is read.
        for (section, key) in [
            ("embeddings", "api_key_env"),
            ("rerank", "api_key_env"),
            ("llm", "api_key_env"),
            ("vectors", "api_key_env"),
            ("tiers", "url_env"),
            ("postgres", "url_env"),
            ("postgres", "direct_url_env"),
            ("encryption", "key_env"),
            ("auth.jwt", "secret_env"),
        ] {
            let settings = Settings::parse(&format!("[{section}]\n{key} = \"HOME\"\n")).unwrap();
            let field = format!("{section}.{key}");
            assert_eq!(settings.validate().unwrap_err().field(), Some(field.as_str()));
        }
    }

    #[cfg(unix)]
    #[test]
    fn files_are_read_if_only_their_owner_can_read_them() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        for (text, mode, expect) in [
            ("s3cret\n", 0o600, Ok("s3cret")),
            ("s3cret", 0o400, Ok("s3cret")),
            ("s3cret\r\n", 0o600, Ok("s3cret")),
            ("s3cret", 0o640, Err("mode 640")),
            ("s3cret", 0o604, Err("mode 604")),
            ("\n", 0o600, Err("empty")),
        ] {
            drop(std::fs::remove_file(&path));
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            match (source("LOCI_NONE", Some(&path)).read(), expect) {
                (Ok(read), Ok(expect)) => assert_eq!(read.as_deref(), Some(expect)),
                (Err(error), Err(part)) => {
                    assert!(error.to_string().contains(part), "{error}");
                    assert!(!error.to_string().contains("s3cret"), "{error}");
                    assert_eq!(error.field(), Some("llm.api_key_file"));
                }
                (outcome, expect) => panic!("{mode:o}: {outcome:?}, not {expect:?}"),
            }
        }
        let missing = folder.path().join("none");
        assert!(source("", Some(&missing)).read().unwrap_err().to_string().contains("cannot be read"));
        assert!(source("", Some(folder.path())).read().is_err());
        assert_eq!(source("LOCI_TEST_NO_SUCH_VARIABLE", None).read().unwrap(), None);
    }
}
