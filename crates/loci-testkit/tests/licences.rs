//! Every dependency has a licence that Loci may be distributed with.
//!
//! The licences are those that `cargo metadata` reports for this platform. `deny.toml` has the same list, for `cargo deny`.

#![expect(clippy::unwrap_used, reason = "a test stops where it fails")]

use std::path::Path;
use std::process::Command;

/// Licences that a dependency may have.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    // Its conditions hold for its own files alone, which Loci does not change.
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Whether an SPDX expression can be met with the allowed licences. `/` is an older spelling of `OR`.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ").replace(" WITH ", "_WITH_");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut place = 0;
    let allowed = any_of(&words, &mut place);
    allowed && place == words.len()
}

fn any_of(words: &[&str], place: &mut usize) -> bool {
    let mut allowed = all_of(words, place);
    while words.get(*place) == Some(&"OR") {
        *place += 1;
        let other = all_of(words, place);
        allowed = allowed || other;
    }
    allowed
}

fn all_of(words: &[&str], place: &mut usize) -> bool {
    let mut allowed = single(words, place);
    while words.get(*place) == Some(&"AND") {
        *place += 1;
        let other = single(words, place);
        allowed = allowed && other;
    }
    allowed
}

fn single(words: &[&str], place: &mut usize) -> bool {
    let word = words.get(*place).copied().unwrap_or_default();
    *place += 1;
    if word != "(" {
        return ALLOWED.contains(&word.replace("_WITH_", " WITH ").as_str());
    }
    let allowed = any_of(words, place);
    let closed = words.get(*place) == Some(&")");
    *place += 1;
    allowed && closed
}

fn cargo(arguments: &[&str]) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_dependency_has_an_allowed_licence() {
    let version = cargo(&["-vV"]);
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).unwrap();
    let metadata = cargo(&["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", host]);
    let metadata: serde_json::Value = serde_json::from_str(&metadata).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    assert!(packages.len() > 100, "the dependencies were not found");
    let refused: Vec<String> = packages
        .iter()
        .filter(|package| !package["license"].as_str().is_some_and(is_allowed))
        .map(|package| format!("{} {}: {}", package["name"], package["version"], package["license"]))
        .collect();
    assert!(refused.is_empty(), "dependencies with another licence:\n{}", refused.join("\n"));
}

#[test]
fn the_configuration_of_cargo_deny_has_the_same_list() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deny.toml")).unwrap();
    for licence in ALLOWED {
        assert!(text.contains(&format!("\"{licence}\"")), "deny.toml lacks {licence}");
    }
}

#[test]
fn expressions_of_licences_are_read() {
    for (expression, expect) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("MIT OR GPL-3.0", true),
        ("MIT/GPL-3.0", true),
        ("MIT AND GPL-3.0", false),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
        ("(MIT AND GPL-3.0) OR GPL-2.0", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("GPL-2.0 WITH Classpath-exception-2.0", false),
        ("(MIT", false),
        ("MIT)", false),
        ("", false),
    ] {
        assert_eq!(is_allowed(expression), expect, "{expression}");
    }
}
