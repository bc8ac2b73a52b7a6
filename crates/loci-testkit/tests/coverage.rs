//! `docs/coverage.toml` says which tests prove which item of the seed documents. Here it is checked, and
//! `docs/coverage.md` is generated from it: `UPDATE=1 cargo test -p loci-testkit --test coverage`.

#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Coverage {
    row: Vec<Row>,
}

/// An item of a seed document or of the specification.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    /// Unique, begins with the name of the document.
    id: String,
    /// The requirement.
    item: String,
    /// The commands or interfaces that fulfil it.
    offered: String,
    /// The tests that prove it; empty if it is not built.
    tests: Vec<String>,
    /// A text of the document that the tests use as it is.
    example: Option<String>,
}

const HEAD: &str = "# Coverage

This page lists each item of the five seed documents (S0 to S4) and of the specification (SPEC), with the command or interface that
offers it and the tests that prove it. Each test carries the id of the row in a comment. It is generated from `docs/coverage.toml` by
`UPDATE=1 cargo test -p loci-testkit --test coverage`.

A row with `–` is not built yet. A text in quotation marks is an example of the document that the tests use as it is.

| id | item | offered by | proved by |
|---|---|---|---|
";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rows() -> Vec<Row> {
    let text = fs::read_to_string(root().join("docs/coverage.toml")).unwrap();
    let Coverage { row } = toml::from_str(&text).unwrap();
    assert!(row.len() > 100, "the rows were not found");
    row
}

/// Collects the Rust files below a folder.
fn collect(folder: &Path, found: &mut Vec<String>) {
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(fs::read_to_string(&path).unwrap());
        }
    }
}

/// A text without differences of white space and of escapes in source code.
fn plain(text: &str) -> String {
    text.replace("\\\n", " ").replace("\\\"", "\"").split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The ids in the comments above each function, and the places of the files that have a function of this name.
fn functions(files: &[String]) -> BTreeMap<&str, (BTreeSet<&str>, Vec<usize>)> {
    let mut functions: BTreeMap<&str, (BTreeSet<&str>, Vec<usize>)> = BTreeMap::new();
    for (place, text) in files.iter().enumerate() {
        let mut ids = BTreeSet::new();
        for line in text.lines().map(str::trim) {
            if let Some(listed) = line.strip_prefix("// Coverage: ") {
                ids.extend(listed.trim_end_matches('.').split(", "));
            } else if let Some((_, rest)) = line.split_once("fn ").filter(|(before, _)| !before.contains("//")) {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
                let known = functions.entry(&rest[..end]).or_default();
                known.0.append(&mut ids);
                known.1.push(place);
            }
        }
    }
    functions
}

#[test]
fn each_row_is_proved_by_tests_that_carry_its_id() {
    let rows = rows();
    let mut files = Vec::new();
    collect(&root().join("crates"), &mut files);
    let functions = functions(&files);
    let walked = plain(&fs::read_to_string(root().join("scripts/seeds.py")).unwrap());
    let mut problems = Vec::new();
    for row in &rows {
        let mut found = walked.contains(&plain(row.example.as_deref().unwrap_or_default()));
        for test in &row.tests {
            let Some((ids, places)) = functions.get(test.as_str()) else {
                problems.push(format!("{}: the test `{test}` does not exist", row.id));
                continue;
            };
            if !ids.contains(row.id.as_str()) {
                problems.push(format!("{}: `{test}` has no comment `// Coverage: {}.`", row.id, row.id));
            }
            let example = plain(row.example.as_deref().unwrap_or_default());
            found |= places.iter().any(|place| plain(&files[*place]).contains(&example));
        }
        if !found {
            problems.push(format!("{}: no test has the example {:?}", row.id, row.example));
        }
    }
    let known: BTreeMap<&str, &Row> = rows.iter().map(|row| (row.id.as_str(), row)).collect();
    assert_eq!(known.len(), rows.len(), "ids are unique");
    for (name, (ids, _)) in &functions {
        for id in ids {
            if !known.get(id).is_some_and(|row| row.tests.iter().any(|test| test == name)) {
                problems.push(format!("`{name}` carries {id}, but this row does not name it"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
#[expect(clippy::disallowed_methods, reason = "a test reads its own variables")]
fn the_page_is_generated_from_the_table() {
    let mut page = HEAD.to_owned();
    for row in rows() {
        let mut item = row.item;
        if let Some(example) = &row.example {
            write!(item, " (“{example}”)").unwrap();
        }
        let tests: Vec<String> = row.tests.iter().map(|test| format!("`{test}`")).collect();
        let proved = if tests.is_empty() { "–".to_owned() } else { tests.join(", ") };
        writeln!(page, "| {} | {item} | {} | {proved} |", row.id, row.offered).unwrap();
    }
    let path = root().join("docs/coverage.md");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap() == page, "docs/coverage.md is out of date: run this test with UPDATE=1");
}
