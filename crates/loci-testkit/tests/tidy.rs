//! Checks of the repository that no compiler makes.
//!
//! They cover which crate may depend on which, the length of files, names of types, and words that Loci does not use.

#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Which crates of the workspace a crate may depend on.
const EDGES: &[(&str, &[&str])] = &[
    ("loci-types", &[]),
    ("loci-breaker", &[]),
    ("loci-store", &["loci-types", "loci-breaker"]),
    ("loci-models", &["loci-types", "loci-breaker"]),
    ("loci-engine", &["loci-types", "loci-store", "loci-models"]),
    ("loci-server", &["loci-types", "loci-engine"]),
    ("loci-host", &["loci-types", "loci-store", "loci-models", "loci-engine", "loci-server"]),
    ("loci-bench", &["loci-types", "loci-store", "loci-models", "loci-engine", "loci-host"]),
    ("loci-cli", &["loci-types", "loci-store", "loci-models", "loci-engine", "loci-server", "loci-host", "loci-bench"]),
    ("loci-testkit", &["loci-types", "loci-store", "loci-models", "loci-engine"]),
];

/// External crates that only these crates may use.
const OUTSIDE: &[(&str, &[&str])] = &[
    ("rusqlite", &["loci-store", "loci-bench"]),
    ("redis", &["loci-store"]),
    ("rten-gemm", &["loci-models"]),
    // The server delivers webhooks; the command line calls a server.
    ("reqwest", &["loci-cli", "loci-host", "loci-models", "loci-server", "loci-store"]),
    ("axum", &["loci-server", "loci-testkit"]),
    ("rmcp", &["loci-server"]),
    ("clap", &["loci-cli", "loci-bench"]),
    ("anyhow", &["loci-cli", "loci-bench"]),
    // Only with the feature `otlp`.
    ("opentelemetry", &["loci-cli", "loci-server"]),
    ("opentelemetry-otlp", &["loci-cli"]),
    ("opentelemetry_sdk", &["loci-cli"]),
    ("tracing-opentelemetry", &["loci-cli", "loci-server"]),
];

/// Words of a dialect that Loci once had. They match as whole words, in any case.
const DIALECT: &[&str] = &["so many", "none:", "is no", "told", "meant", "lying", "standing", "abreast"];

/// Plain English that contains words of the dialect.
const PLAIN: &[&str] = &["const none:", "there is no", "is no longer", "`none:", "`told"];

/// Files that may contain these words because they are data: words of a language, and sentences that people say. Paths that
/// end with `/` are folders.
const DATA: &[&str] = &[
    "crates/loci-cli/tests/it/carry.rs",
    "crates/loci-cli/tests/it/keeping.rs",
    "crates/loci-engine/src/learn/extract/tests.rs",
    "crates/loci-engine/src/learn/language/",
    "crates/loci-engine/src/portability/importers/markdown.rs",
    "crates/loci-engine/src/recall/plan/intent/asks.rs",
    "crates/loci-engine/src/recall/plan/time/tests.rs",
    "crates/loci-engine/src/write/kinds.rs",
    // The key of a stored note.
    "crates/loci-engine/src/write/reconcile/write.rs",
    "crates/loci-engine/tests/data/",
    "crates/loci-models/tests/it/fixtures/",
    "crates/loci-server/tests/it/rules.rs",
    "crates/loci-store/src/text/stop.rs",
    "crates/loci-testkit/tests/messages/",
    "crates/loci-testkit/tests/tidy.rs",
];

/// Maximum number of lines of a file.
const MAX_LINES: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Collects the text files at and below a path. Files that are not UTF-8 are left out.
fn walk(path: &Path, found: &mut Vec<(PathBuf, String)>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap().flatten() {
            walk(&entry.path(), found);
        }
    } else if let Ok(text) = fs::read_to_string(path) {
        found.push((path.to_owned(), text));
    }
}

fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    walk(&root().join("crates"), &mut found);
    found.retain(|(path, _)| path.extension().is_some_and(|ending| ending == "rs"));
    assert!(found.len() > 40, "the sources were not found");
    found
}

/// The path below the root of the repository, with `/` on every system.
fn relative(path: &Path) -> String {
    let parts: Vec<_> =
        path.strip_prefix(root()).unwrap().components().map(|part| part.as_os_str().to_string_lossy()).collect();
    parts.join("/")
}

/// The name of the type that a line declares, public or private. Types inside functions and implementations are indented and
/// left out.
fn declared_type(line: &str) -> Option<&str> {
    let visible = ["pub(crate) ", "pub(super) ", "pub "].iter().find_map(|word| line.strip_prefix(word));
    let line = visible.unwrap_or(line);
    let line = line.strip_prefix("unsafe ").unwrap_or(line);
    let name = ["struct ", "enum ", "trait ", "type "].iter().find_map(|word| line.strip_prefix(word))?;
    // A macro declares `$name`, which is not a name yet.
    name.split(|character: char| !character.is_alphanumeric() && character != '_')
        .next()
        .filter(|name| !name.is_empty())
}

/// The words of the dialect in a line, without those that are plain English.
fn dialect(line: &str) -> Vec<&'static str> {
    // `NONE:` is the declaration of a constant.
    let mut line = line.replace("NONE:", "").to_lowercase();
    for plain in PLAIN {
        line = line.replace(plain, "");
    }
    let is_word = |character: char| character.is_alphanumeric();
    let occurs = |word: &str| {
        line.match_indices(word).any(|(place, _)| {
            let after = line[place + word.len()..].chars().next();
            let inside = match word.strip_suffix(':') {
                // Prose has a space after the colon; `None::<T>` is code.
                Some(_) => after != Some(' '),
                None => after.is_some_and(is_word),
            };
            !inside && !line[..place].chars().next_back().is_some_and(is_word)
        })
    };
    DIALECT.iter().copied().filter(|word| occurs(word)).collect()
}

/// The dependencies of a crate, without those that only its tests use.
fn dependencies(member: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join("crates").join(member).join("Cargo.toml")).unwrap();
    let mut inside = false;
    let mut names = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            inside = line == "[dependencies]";
        } else if inside && let Some(end) = line.find(['.', ' ', '=']) {
            names.push(line[..end].to_owned());
        }
    }
    names
}

#[test]
fn dependencies_point_down() {
    for (member, allowed) in EDGES {
        for name in dependencies(member) {
            if name.starts_with("loci-") {
                assert!(allowed.contains(&name.as_str()), "{member} must not use {name}");
            }
            if let Some((_, members)) = OUTSIDE.iter().find(|(outside, _)| *outside == name) {
                assert!(members.contains(member), "{member} must not use {name}");
            }
        }
    }
}

#[test]
fn every_room_is_guarded() {
    let members: Vec<String> = fs::read_dir(root().join("crates"))
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    for member in members {
        assert!(EDGES.iter().any(|(guarded, _)| *guarded == member), "{member} has no line in EDGES");
    }
}

#[test]
fn files_are_about_one_thing() {
    for (path, text) in sources() {
        let lines = text.lines().count();
        assert!(
            lines <= MAX_LINES || path.components().any(|part| part.as_os_str() == "tests"),
            "{} has {lines} lines",
            path.display()
        );
    }
}

#[test]
fn files_say_what_they_are_about() {
    for (path, text) in sources() {
        assert!(text.starts_with("//!"), "{} has no head", path.display());
    }
}

#[test]
fn types_of_a_crate_have_different_names() {
    let mut places: BTreeMap<(String, String), Vec<String>> = BTreeMap::new();
    for (path, text) in sources() {
        let path = relative(&path);
        let Some((member, file)) = path.trim_start_matches("crates/").split_once("/src/") else { continue };
        if file.split('/').any(|part| part == "tests" || part == "tests.rs") {
            continue;
        }
        // The module of tests is at the end of a file; `#[cfg(test)] mod name;` is a file of its own.
        let end = text.match_indices("#[cfg(test)]\nmod ").map(|(place, _)| place);
        let end = end.into_iter().find(|place| text[*place..].lines().nth(1).is_some_and(|line| line.ends_with('{')));
        for name in text[..end.unwrap_or(text.len())].lines().filter_map(declared_type) {
            places.entry((member.to_owned(), name.to_owned())).or_default().push(path.clone());
        }
    }
    assert!(places.len() > 100, "the types were not found");
    places.retain(|_, places| places.len() > 1);
    assert!(places.is_empty(), "types of one crate with the same name: {places:#?}");
}

#[test]
fn text_is_written_in_plain_words() {
    let mut files = Vec::new();
    for place in ["crates", "docs", "scripts", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "Makefile"] {
        walk(&root().join(place), &mut files);
    }
    let mut found = Vec::new();
    for (path, text) in &files {
        let path = relative(path);
        let crate_file = path.starts_with("crates/");
        if crate_file && !path.contains("/src/") && !path.contains("/tests/")
            || DATA.iter().any(|data| path == *data || data.ends_with('/') && path.starts_with(data))
        {
            continue;
        }
        for (number, line) in text.lines().enumerate() {
            let words = dialect(line);
            if !words.is_empty() {
                found.push(format!("{path}:{}: {}", number + 1, words.join(", ")));
            }
        }
    }
    assert!(found.is_empty(), "{} lines are not in plain words:\n{}", found.len(), found.join("\n"));
}

#[test]
fn words_of_the_dialect_are_found() {
    for (line, expect) in [
        ("/// So many hits; none: the default.", vec!["so many", "none:"]),
        ("fn what_fails_is_told() {", vec!["told"]),
        ("let told = 1;", vec!["told"]),
        ("a body that is no JSON", vec!["is no"]),
        ("there is no folder, and it is no longer used in the meantime", vec![]),
        ("None::<u8>, applying, understanding", vec![]),
    ] {
        assert_eq!(dialect(line), expect, "{line}");
    }
    assert_eq!(declared_type("pub(crate) enum Job {"), Some("Job"));
    assert_eq!(declared_type("    type Error = String;"), None);
    assert_eq!(declared_type("pub type Result<T> ="), Some("Result"));
    assert_eq!(declared_type("pub(super) struct Job;"), Some("Job"));
    assert_eq!(declared_type("struct Job;"), Some("Job"));
}
