//! All messages of Loci in one file, so that their wording is reviewed like code.
//!
//! The test collects every string literal that contains a space and a word, from the sources of all crates that people run:
//! errors, hints, log lines, reasons of ledger entries, headings of tables, questions, answers of MCP tools, and what commands
//! print. Nothing has to be registered: a literal is a message unless a rule in `exempt.rs` says why it is not one.
//! `docs/reference/messages.txt` must contain exactly these; `UPDATE=1 cargo test -p loci-testkit --test messages` renews it.
//! Help texts of commands are doc comments; `docs/reference/cli.md` has them. `docs/openapi.json` has those of the API.

#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

mod exempt;
mod literals;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use exempt::is_exempt;
use literals::{Literal, literals, without_tests};

/// Kinds of messages, and the calls, attributes and functions whose literals are of the kind. The first match counts.
const KINDS: &[(&str, &[&str])] = &[
    ("log", &["tracing::error!", "tracing::warn!", "tracing::info!", "tracing::debug!", "tracing::trace!"]),
    ("hint", &[".hint", "fn hint", "fn hint_of"]),
    (
        "reason",
        &[
            "self.change",
            "change",
            "run.push",
            "self.push",
            "self.patch",
            "self.replace",
            ".apply_one",
            ".on_one",
            "self.apply_run",
            "Comparison::Same",
            "Comparison::Replaces",
            "Comparison::Unlike",
            "fn reason",
            "Display for Cause",
            "why.unwrap_or",
        ],
    ),
    ("table", &["let head", "shape::table", "table", "print_page"]),
    ("output", &["output::line", "output::note", "output::warn", "println!", "eprintln!", "writeln!"]),
    ("question", &["confirm", "ask", "output::confirm"]),
    (
        "error",
        &[
            "Error::new",
            "Error::invalid",
            "invalid",
            "Failure::new",
            "Failure::unknown_caller",
            "refused",
            "Problem::new",
            "error",
            "custom",
            "bail!",
            "anyhow!",
            "with_context",
            ".context",
            "map_err",
            "ok_or_else",
            "require_operator",
            "require_admin",
        ],
    ),
    ("help", &["#"]),
];

/// Code before a literal that makes it the reason of a ledger entry.
const REASONS: &[&str] = &["let reason =", "let why =", "reason:", "reason.unwrap_or", "const REASON: &str ="];

/// The parts of Loci that write changes. They are arguments beside the reason.
const PARTS: &[&str] = &["hotpath", "context", "worker", "operator", "webhooks", "checkpoint"];

/// Words of Loci's old dialect, and riddles. None of them may occur in a message.
const DIALECT: &[&str] = &[
    "so many",
    "none: ",
    " is no ",
    " told",
    " meant ",
    " lying",
    " lies ",
    " standing",
    "nothing is taken",
    "abreast",
    "stops to",
    "goes on",
    "go on ",
    "is taken",
    "are taken",
    "taken back",
    "takes back",
    "tells",
    "broke off",
    "broken off",
    "breaks off",
    "comes along",
    "comes back",
    "as they go",
    "looks after",
    "look after",
    "in vain",
    "speaks of",
    "speak of",
    "mend ",
    "anew",
    "of its own",
    "has just come",
    "of the sort",
    "something else",
    "what is gone",
    "brings back",
    "brought back",
    "waits no",
    "stands at",
    "keeps apart",
    "apart from",
];

/// Lines that contain such words in plain English.
const PLAIN: &[&str] = &["runs on the server, and goes on there", "there is no ", "`told", "is no longer", "is no one"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The sources of a crate by their path below `crates/`, sorted.
fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if name != "tests" {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let parts: Vec<_> = path.strip_prefix(root().join("crates")).unwrap().iter().collect();
            let place = parts.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("/");
            found.push((place, fs::read_to_string(&path).unwrap()));
        }
    }
}

/// The kind of a message. `text` is any other: it becomes part of a message elsewhere.
fn kind(literal: &Literal) -> &'static str {
    let around = |name: &&str| {
        literal.around.iter().any(|open| {
            if name.starts_with('.') || name.contains("for ") {
                open.contains(name)
            } else {
                let end = open.rsplit("::").next().unwrap_or(open).rsplit('.').next().unwrap_or(open);
                open == *name || end == *name || open.starts_with(&format!("{name} "))
            }
        })
    };
    if is_reason(literal) {
        return "reason";
    }
    KINDS.iter().find(|(_, names)| names.iter().any(&around)).map_or("text", |(kind, _)| *kind)
}

/// Whether a literal is the reason of a ledger entry. Reasons may be one word.
fn is_reason(literal: &Literal) -> bool {
    let line = literal.before.rsplit('\n').next().unwrap_or_default();
    let (call, before) = (literal.around.last().map_or("", String::as_str), literal.around.iter().rev().nth(1));
    let call = if call == "format!" { before.map_or("", String::as_str) } else { call };
    let reasons = KINDS.iter().find(|(kind, _)| *kind == "reason").map_or(&[][..], |(_, names)| *names);
    let by_call = reasons.iter().any(|name| call == *name || name.starts_with('.') && call.ends_with(name));
    let assigned = REASONS.iter().any(|start| line.contains(start) || call.contains(start));
    (by_call || assigned) && !PARTS.contains(&literal.text.as_str())
}

/// Whether a literal is a heading of a table: an element of the array of headings.
fn is_heading(literal: &Literal) -> bool {
    let mut around = literal.around.iter().rev();
    match around.next().map(String::as_str) {
        Some("let head") => true,
        Some("") => around.next().is_some_and(|open| ["table", "print_page"].iter().any(|name| open.ends_with(name))),
        _ => false,
    }
}

/// Whether a literal is a text: it has a word beside its placeholders, and a space. Reasons and headings may be one word.
fn is_text(literal: &Literal) -> bool {
    let mut depth = 0_usize;
    let outside: String = literal
        .text
        .chars()
        .filter(|character| {
            match character {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ => return depth == 0,
            }
            false
        })
        .collect();
    let words = outside.split(|character: char| !character.is_alphabetic());
    let has_word = words.into_iter().any(|word| word.chars().count() > 1);
    has_word && (literal.text.trim().contains(' ') || is_reason(literal) || is_heading(literal))
}

/// All messages, grouped by crate and file.
fn collect() -> String {
    let mut written = String::from(
        "All messages of Loci by crate and file, collected by `cargo test -p loci-testkit --test messages`.\n\
         Help texts of commands are in cli.md, descriptions of the API in ../openapi.json.\n",
    );
    let mut files = Vec::new();
    let mut crates: Vec<_> = fs::read_dir(root().join("crates")).unwrap().map(|entry| entry.unwrap().path()).collect();
    crates.sort();
    for member in crates {
        sources(&member.join("src"), &mut files);
    }
    assert!(files.len() > 300, "the sources were not found: {}", files.len());
    let mut last = String::new();
    for (path, source) in &files {
        let mut known = BTreeSet::new();
        let mut lines = String::new();
        for literal in literals(without_tests(source)) {
            let text = literal.text.trim();
            if is_text(&literal) && !is_exempt(path, &literal) && known.insert(text.to_owned()) {
                lines.push_str(&format!("{:<8} {text}\n", kind(&literal)));
            }
        }
        if lines.is_empty() {
            continue;
        }
        let (member, file) = path.split_once("/src/").unwrap();
        if member != last {
            written.push_str(&format!("\n# {member}\n"));
            last = member.to_owned();
        }
        written.push_str(&format!("\n## {file}\n{lines}"));
    }
    written
}

#[test]
fn every_message_is_in_the_reviewed_file() {
    let written = collect();
    let path = root().join("docs/reference/messages.txt");
    #[expect(clippy::disallowed_methods, reason = "the variable requests a new snapshot")]
    if std::env::var_os("UPDATE").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, &written).unwrap();
    }
    let reviewed = fs::read_to_string(&path).unwrap_or_default();
    let known: BTreeSet<&str> = reviewed.lines().collect();
    let now: BTreeSet<&str> = written.lines().collect();
    let (new, gone): (Vec<_>, Vec<_>) = (now.difference(&known).collect(), known.difference(&now).collect());
    assert!(
        reviewed == written,
        "messages have changed; review them and run `UPDATE=1 cargo test -p loci-testkit --test messages`\n\
         new: {new:#?}\ngone: {gone:#?}"
    );
}

#[test]
fn messages_use_plain_words() {
    let mut found = Vec::new();
    let text = fs::read_to_string(root().join("docs/reference/messages.txt")).unwrap();
    // Lines with `#` are names of crates and files.
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut plain = line.to_lowercase();
        for word in PLAIN {
            plain = plain.replace(word, "");
        }
        if let Some(word) = DIALECT.iter().find(|word| plain.contains(**word)) {
            found.push(format!("`{word}` in {line}"));
        }
    }
    assert!(found.is_empty(), "{} messages are not in plain words: {found:#?}", found.len());
}
