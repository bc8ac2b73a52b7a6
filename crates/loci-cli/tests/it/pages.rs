//! Runs the examples of the documentation.
//!
//! Each page has its own data folder, with one memory of the user `ana` (its id is in the variable `ID`), and a server on that
//! folder in the place of `http://127.0.0.1:7077`. The fenced blocks `sh`, `console` and `python` of a page run in their order
//! in one working folder. In `console` blocks the lines after `$ ` are the commands; the others are output and are not compared.
//! A block that cannot run here is fenced as `sh no-run`, with a comment above it that says why.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::run::Home;
use crate::serve::Server;

/// An example of a page.
struct Example {
    language: String,
    text: String,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The pages of a folder, by name.
fn pages(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join(folder)).unwrap().flatten().map(|entry| entry.path());
    let mut pages: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "md")).collect();
    pages.sort();
    pages
}

/// The fenced blocks of a page that run.
fn examples(text: &str) -> Vec<Example> {
    let mut found = Vec::new();
    let mut open: Option<Example> = None;
    for line in text.lines() {
        match (&mut open, line.trim_start().strip_prefix("```")) {
            (None, Some(language)) => {
                open = Some(Example { language: language.trim().to_owned(), text: String::new() });
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(example), None) => {
                example.text.push_str(line);
                example.text.push('\n');
            }
            (None, None) => {}
        }
    }
    found.retain(|example| ["sh", "console", "python"].contains(&example.language.as_str()));
    found
}

/// The commands of a console block, without its output.
fn commands(text: &str) -> String {
    let (mut script, mut continued) = (String::new(), false);
    for line in text.lines() {
        let command = if continued { Some(line) } else { line.strip_prefix("$ ") };
        if let Some(command) = command {
            script.push_str(command);
            script.push('\n');
            continued = command.ends_with('\\');
        }
    }
    script
}

/// Replaces the placeholder `ID` by the variable of that name.
fn with_id(script: &str) -> String {
    let word = |word: &str| if word == "ID" { "\"$ID\"".to_owned() } else { word.to_owned() };
    let line = |line: &str| line.split(' ').map(word).collect::<Vec<_>>().join(" ");
    script.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Runs the examples of a page and returns what failed.
fn run_page(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let examples = examples(&text);
    if examples.is_empty() {
        return Vec::new();
    }
    let home = Home::local();
    let id = home.remember(&["Ana likes plain words", "--user", "ana"]);
    let server = Server::start(&home);
    let binary = Path::new(env!("CARGO_BIN_EXE_loci")).parent().unwrap().display().to_string();
    let mut failures = Vec::new();
    for (number, example) in examples.iter().enumerate() {
        let text = example.text.replace("http://127.0.0.1:7077", &format!("http://{}", server.address()));
        let mut command = Command::new("timeout");
        match example.language.as_str() {
            "python" => command.args(["60", "python3", "-c", &text]),
            language => {
                let script = if language == "console" { commands(&text) } else { text.clone() };
                let quiet = "curl() { command curl --silent --show-error --fail \"$@\"; }";
                let script = format!("set -euo pipefail\n{quiet}\n{}", with_id(&script));
                command.args(["60", "bash", "-c", &script])
            }
        };
        command.env_clear().current_dir(home.path());
        command.env("PATH", format!("{binary}:/usr/local/bin:/usr/bin:/bin")).env("HOME", home.path());
        command.env("LOCI_DATA", home.data()).env("LOCI_EMBEDDINGS", "none").env("ID", &id);
        // Not pipes: an example may leave a server behind, which would hold them open.
        let output = home.path().join("output");
        let file = std::fs::File::create(&output).unwrap();
        command.stdin(Stdio::null()).stdout(file.try_clone().unwrap()).stderr(file);
        let mut child = command.spawn().unwrap();
        let success = child.wait().unwrap().success();
        // `timeout` leads a group of its own, in which everything is that the example has started.
        drop(Command::new("kill").args(["--", &format!("-{}", child.id())]).stderr(Stdio::null()).status());
        if !success {
            let page = path.file_name().unwrap_or_default().display();
            let output = std::fs::read_to_string(&output).unwrap_or_default();
            failures.push(format!("{page}, example {}:\n{text}\n{output}", number + 1));
        }
    }
    server.stop();
    failures
}

fn run_pages(pages: &[PathBuf]) {
    assert!(!pages.is_empty());
    let failures: Vec<String> = pages.iter().flat_map(|page| run_page(page)).collect();
    assert!(failures.is_empty(), "{} examples failed\n\n{}", failures.len(), failures.join("\n\n"));
}

#[test]
fn the_examples_of_the_readme_and_the_guides_run() {
    let mut pages = pages("docs/guides");
    pages.insert(0, root().join("README.md"));
    run_pages(&pages);
}

// Coverage: SPEC-8.1.
#[test]
fn the_examples_of_the_other_pages_run() {
    run_pages(&pages("docs"));
}

#[test]
fn a_block_that_does_not_run_says_why() {
    for page in [vec![root().join("README.md")], pages("docs"), pages("docs/guides")].concat() {
        let text = std::fs::read_to_string(&page).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        for (place, line) in lines.iter().enumerate() {
            if line.trim_start().starts_with("```") && line.trim_end().ends_with(" no-run") {
                let above = lines[..place].iter().rev().find(|line| !line.trim().is_empty()).unwrap_or(&"");
                assert!(above.trim_end().ends_with("-->"), "{}:{}: {line}", page.display(), place + 1);
            }
        }
    }
}
