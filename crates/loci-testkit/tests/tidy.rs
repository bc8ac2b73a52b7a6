//! Checks of the repository that no compiler makes.
//!
//! They cover which crate may depend on which, the length of files, and that `docs/coverage.md` names tests that exist.

#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Which crates of the workspace a crate may depend on.
const EDGES: &[(&str, &[&str])] = &[
    ("loci-types", &[]),
    ("loci-store", &["loci-types"]),
    ("loci-models", &["loci-types"]),
    ("loci-engine", &["loci-types", "loci-store", "loci-models"]),
    ("loci-server", &["loci-types", "loci-engine"]),
    ("loci-cli", &["loci-types", "loci-store", "loci-models", "loci-engine", "loci-server"]),
    ("loci-testkit", &["loci-types", "loci-store", "loci-models", "loci-engine"]),
];

/// External crates that only these crates may use.
const OUTSIDE: &[(&str, &[&str])] = &[
    ("rusqlite", &["loci-store", "loci-cli"]),
    ("redis", &["loci-store"]),
    ("rten-gemm", &["loci-models"]),
    // The server delivers webhooks.
    ("reqwest", &["loci-models", "loci-server", "loci-store"]),
    ("axum", &["loci-server", "loci-testkit"]),
    ("rmcp", &["loci-server"]),
    ("clap", &["loci-cli"]),
    ("anyhow", &["loci-cli"]),
    // Only with the feature `otlp`.
    ("opentelemetry", &["loci-cli", "loci-server"]),
    ("opentelemetry-otlp", &["loci-cli"]),
    ("opentelemetry_sdk", &["loci-cli"]),
    ("tracing-opentelemetry", &["loci-cli", "loci-server"]),
];

/// Maximum number of lines of a file.
const LONGEST: usize = 600;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in fs::read_dir(folder).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    walk(&root().join("crates"), &mut found);
    assert!(found.len() > 40, "the sources were not found");
    found
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
            lines <= LONGEST || path.components().any(|part| part.as_os_str() == "tests"),
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
fn coverage_names_tests_that_exist() {
    let coverage = fs::read_to_string(root().join("docs/coverage.md")).unwrap();
    let sources = sources();
    let mut tests: BTreeMap<&str, usize> = BTreeMap::new();
    for (_, text) in &sources {
        for (place, _) in text.match_indices("fn ") {
            let name = &text[place + 3..];
            let end = name.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(0);
            *tests.entry(&name[..end]).or_default() += 1;
        }
    }
    let rows: Vec<&str> = coverage.lines().filter(|line| line.starts_with("| S")).collect();
    assert!(rows.len() > 20, "the rows were not found");
    for row in rows {
        let proof = row.trim_end_matches('|').rsplit('|').next().unwrap().trim();
        if proof == "–" {
            continue;
        }
        for name in proof.split(',').map(|name| name.trim().trim_matches('`')) {
            assert!(tests.contains_key(name), "docs/coverage.md names `{name}`, which does not exist:\n{row}");
        }
    }
}
