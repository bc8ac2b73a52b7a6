//! The project file: a `loci.toml` in the working directory.
//!
//! Whoever wrote it may be a stranger, because a cloned repository can contain one. **Invariant:** it sets only the keys of
//! [`ALLOWED`]; it never chooses an endpoint, a secret, a data folder or a limit. Whatever is wrong with it is a note and not
//! a failure, so that it cannot prevent a command either.

use std::path::{Path, PathBuf};

use loci_types::Identifiers;
use toml::Value;

use crate::categories_file::read_categories;
use crate::settings::Settings;
use crate::sources::Sources;

/// The name of the file.
pub(crate) const NAME: &str = "loci.toml";
/// The settings that a project file may set.
const ALLOWED: [&str; 3] = ["user", "project", "categories_file"];
/// Maximum size of the file, in bytes. A larger one is not read.
const FILE_BYTES: u64 = 1 << 20;
/// Maximum number of ignored keys that are named in a note.
const NAMED: usize = 12;

/// Applies the project file in `folder`, and returns a note about what was done with it. `own` is the configuration of the
/// user, which is not a project file, even if it lies in this folder.
pub(crate) fn apply(
    settings: &mut Settings,
    sources: &mut Sources,
    folder: &Path,
    own: Option<&Path>,
) -> Option<String> {
    let path = folder.join(NAME);
    let same =
        own.and_then(|own| own.canonicalize().ok()).is_some_and(|own| path.canonicalize().is_ok_and(|it| it == own));
    // Only a plain file is read: a pipe would block.
    let about = std::fs::metadata(&path).ok().filter(|about| about.is_file() && !same)?;
    let advice = format!("to use it as configuration pass --config {NAME}");
    let unusable =
        |problem: &str| Some(format!("note: the project file {NAME} in this folder is ignored: {problem}; {advice}"));
    if about.len() > FILE_BYTES {
        return unusable(&format!("it has more than {FILE_BYTES} bytes"));
    }
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) => return unusable(&format!("it cannot be read: {error}")),
    };
    let Ok(table) = text.parse::<toml::Table>() else { return unusable("it is not valid TOML") };
    let (mut used, mut ignored, mut problems) = (Vec::new(), Vec::new(), Vec::new());
    for (key, value) in &table {
        if !ALLOWED.contains(&key.as_str()) {
            ignored.push(printable(key));
            continue;
        }
        match set(settings, folder, key, value) {
            Ok(()) => {
                sources.set(key, &path.display().to_string());
                used.push(key.as_str());
            }
            Err(problem) => problems.push(format!("{key} is ignored: {problem}")),
        }
    }
    let mut note = match used.as_slice() {
        [] => format!("note: no key is used of the project file {NAME} in this folder"),
        used => format!("note: the project file {NAME} in this folder sets {}", used.join(", ")),
    };
    for problem in problems {
        note.push_str(&format!("; {problem}"));
    }
    if !ignored.is_empty() {
        let verb = if ignored.len() == 1 { "is" } else { "are" };
        let rest = ignored.len().saturating_sub(NAMED);
        ignored.truncate(NAMED);
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        note.push_str(&format!(
            "; a project file may set only {}; {}{more} {verb} ignored; {advice}",
            ALLOWED.join(", "),
            ignored.join(", ")
        ));
    }
    Some(note)
}

/// Applies one key, or says what is wrong with its value.
fn set(settings: &mut Settings, folder: &Path, key: &str, value: &Value) -> Result<(), String> {
    let text = value.as_str().ok_or("it must be a text")?;
    let checked = |identifiers: Identifiers| identifiers.validate().map_err(|error| error.to_string());
    match key {
        "user" => {
            if settings.user.is_some() {
                return Err("your configuration names one already".to_owned());
            }
            checked(Identifiers { user_id: Some(text.to_owned()), ..Identifiers::default() })?;
            settings.user = Some(text.to_owned());
        }
        "project" => {
            checked(Identifiers { project_id: Some(text.to_owned()), ..Identifiers::default() })?;
            settings.project = Some(text.to_owned());
        }
        _ => {
            // Allowlists of categories restrict agents: a project must not replace those that the user has set.
            if settings.categories_file.is_some() {
                return Err("your configuration names one already".to_owned());
            }
            let file = inside(folder, Path::new(text))?;
            settings.categories = read_categories(&file).map_err(|error| printable(&error.to_string()))?;
            settings.categories_file = Some(file);
        }
    }
    Ok(())
}

/// The real path of a file, which must lie in `folder`, also after links are followed.
fn inside(folder: &Path, named: &Path) -> Result<PathBuf, String> {
    let resolve = |path: &Path| path.canonicalize().map_err(|error| format!("the file cannot be read: {error}"));
    let (root, file) = (resolve(folder)?, resolve(&folder.join(named))?);
    match file.metadata() {
        _ if !file.starts_with(&root) => Err("the file must lie in the folder of the project".to_owned()),
        Ok(about) if about.is_file() && about.len() <= FILE_BYTES => Ok(file),
        _ => Err(format!("it must be a file of at most {FILE_BYTES} bytes")),
    }
}

/// A text of the file as one short line without control characters.
fn printable(text: &str) -> String {
    let line: String = text.chars().take(200).map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
    crate::output::escaped(&line).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn applied(text: &str, files: &[(&str, &str)]) -> (Settings, Sources, String) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(NAME), text).unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        let (mut settings, mut sources) = (Settings::default(), Sources::default());
        let note = apply(&mut settings, &mut sources, folder.path(), None).unwrap_or_default();
        (settings, sources, note)
    }

    // H1
    #[test]
    fn only_harmless_keys_count_and_the_others_are_named() {
        let hostile = "user = \"ann\"\nproject = \"atlas\"\ndata = \"/tmp/x\"\n[embeddings]\nprovider = \"openai\"\n\
                       base_url = \"http://evil\"\napi_key_env = \"AWS_SECRET_ACCESS_KEY\"\n[redaction]\nmask = []\n";
        let (settings, sources, note) = applied(hostile, &[]);
        assert_eq!((settings.user.as_deref(), settings.project.as_deref()), (Some("ann"), Some("atlas")));
        assert_eq!(settings.data, None);
        assert_eq!(settings.public()["embeddings"], Settings::default().public()["embeddings"]);
        assert_eq!(settings.public()["redaction"], Settings::default().public()["redaction"]);
        assert!(sources.of("user").ends_with(NAME));
        assert_eq!(sources.of("embeddings.base_url"), "default");
        let expect = "note: the project file loci.toml in this folder sets project, user; a project file may set only user, \
                      project, categories_file; data, embeddings, redaction are ignored; to use it as configuration pass \
                      --config loci.toml";
        assert_eq!(note, expect);
    }

    #[test]
    fn what_is_wrong_with_a_project_file_is_a_note() {
        for (text, part) in [
            ("not toml", "not valid TOML"),
            ("user = 3\n", "user is ignored: it must be a text"),
            ("project = \"\"\n", "project is ignored: projectId is empty"),
            ("categories_file = \"none.yaml\"\n", "categories_file is ignored: the file cannot be read"),
            ("categories_file = \"/etc/hostname\"\n", "must lie in the folder"),
            ("categories_file = \"wrong.yaml\"\n", "categories_file is ignored"),
            ("\"\\u001b[31m\" = 1\n", "\\x1b[31m is ignored"),
        ] {
            let (settings, _, note) = applied(text, &[("wrong.yaml", "allowlists:\n  planner: [gaols]\n")]);
            assert!(note.contains(part) && !note.contains('\u{1b}'), "{text}: {note}");
            assert_eq!((settings.user, settings.project, settings.categories_file), (None, None, None));
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_out_of_the_folder_is_not_followed() {
        let (outside, folder) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::write(outside.path().join("own.yaml"), "categories:\n  custom: []\n").unwrap();
        std::os::unix::fs::symlink(outside.path().join("own.yaml"), folder.path().join("own.yaml")).unwrap();
        std::fs::write(folder.path().join(NAME), "categories_file = \"own.yaml\"\n").unwrap();
        let mut settings = Settings::default();
        let note = apply(&mut settings, &mut Sources::default(), folder.path(), None).unwrap();
        assert!(note.contains("must lie in the folder"), "{note}");
        assert_eq!(settings.categories_file, None);
    }

    #[test]
    fn the_own_configuration_is_no_project_file() {
        let folder = tempfile::tempdir().unwrap();
        let own = folder.path().join(NAME);
        std::fs::write(&own, "user = \"ann\"\n").unwrap();
        assert_eq!(apply(&mut Settings::default(), &mut Sources::default(), folder.path(), Some(&own)), None);
        let elsewhere = tempfile::tempdir().unwrap();
        assert_eq!(apply(&mut Settings::default(), &mut Sources::default(), elsewhere.path(), Some(&own)), None);
    }
}
