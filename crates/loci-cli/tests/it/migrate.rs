//! Migration from a folder to a server and back by the real binary.

use std::path::Path;
use std::process::Stdio;

use loci_testkit::servers::Schema;
use rusqlite::Connection;
use serde_json::Value;
use tokio_postgres::SimpleQueryMessage;

use crate::run::{Home, Run};

/// A home with every type of record that commands can create.
fn filled() -> Home {
    // Embedding jobs are only queued if embedding is switched on.
    let home = Home::local().set("LOCI_EMBEDDINGS", "local");
    home.remember(&["--user", "ann", "--no-embed", "The lighthouse is in Brittany"]);
    let home = home.set("LOCI_EMBEDDINGS", "none");
    let tea = home.remember(&["--user", "ann", "I drink green tea in the morning"]);
    home.remember(&["--user", "ann", "--tags", "pets", "My cat is called Мурка"]);
    home.json(&["agent", "create", "scout"]);
    home.remember(&["--agent", "scout", "--user", "ann", "The harbour is closed on Mondays"]);
    home.json(&["supersede", &tea, "--user=ann", "I drink black tea in the morning"]);
    home.json(&["key", "create", "--name", "ops", "--role", "admin"]);
    home
}

fn migrate(home: &Home, from: &str, to: &str, more: &[&str]) -> Run {
    let mut args = vec!["--json", "migrate", "--from", from, "--to", to];
    args.extend(more);
    home.run(&args)
}

/// The number of rows and the hash of each table.
fn hashes(run: &Run) -> Vec<Value> {
    assert_eq!(run.code, 0, "{run:?}");
    run.value()["tables"].as_array().unwrap().clone()
}

// Coverage: SPEC-11.6.
#[test]
fn everything_goes_to_a_server_and_back() {
    let Some(schema) = Schema::new() else { return };
    let home = filled().set("LOCI_TEST_ADDRESS", schema.url.clone());
    let (data, copy) = (home.data(), home.path().join("copy"));
    let (data, copy) = (data.to_str().unwrap(), copy.to_str().unwrap());
    let to = ["--to-schema", &schema.name];
    let there = migrate(&home, data, "env:LOCI_TEST_ADDRESS", &to);
    let again = migrate(&home, data, &schema.url, &to);
    assert!(there.value()["copied"].as_u64().unwrap() > 20, "{there:?}");
    assert_eq!(again.value()["copied"], 0, "all is there: {again:?}");
    let back = migrate(&home, &schema.url, copy, &["--from-schema", &schema.name]);
    assert_eq!(hashes(&there), hashes(&again));
    assert_eq!(hashes(&there), hashes(&back));
    assert_eq!(hashes(&migrate(&home, data, copy, &["--verify-only"])), hashes(&there));
    let export = |folder: &str| {
        let run = home.run(&["--data", folder, "export", "--everyone"]);
        // The header contains the time.
        run.out.lines().skip(1).map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(export(copy), export(data));
    assert!(export(data).len() >= 4);
    let found = home.json(&["--data", copy, "recall", "--user", "ann", "what tea"]);
    assert!(found.to_string().contains("black tea"), "{found}");
}

// Coverage: SPEC-11.6.
#[test]
fn a_killed_copy_is_resumed() {
    let Some(schema) = Schema::new() else { return };
    let home = Home::new();
    let lines: String =
        (0..3_000).map(|n| format!("{{\"content\": \"memory number {n} of the long list\"}}\n")).collect();
    assert_eq!(home.feed(&["import", "--user", "ann", "-"], lines.as_bytes()).code, 0);
    let data = home.data();
    let args = ["migrate", "--from", data.to_str().unwrap(), "--to", &schema.url, "--to-schema", &schema.name];
    let mut child = home.command(&args).stdin(Stdio::null()).spawn().unwrap();
    // When the first page of the memories is stored, the copy is in progress.
    let first = |sql: String| {
        schema.ask(&sql).iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        })
    };
    let count = || {
        first(format!("SELECT to_regclass('{}.memories')::text", schema.name))?;
        first(format!("SELECT count(*) FROM {}.memories", schema.name))?.parse::<u64>().ok()
    };
    while count().unwrap_or(0) == 0 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it was killed");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let mut all = vec!["--json"];
    all.extend(args);
    let run = home.run(&all);
    assert_eq!(run.code, 0, "{run:?}");
    let (copied, verified) = (&run.value()["copied"], &run.value()["verified"]);
    assert!(copied.as_u64() < verified.as_u64(), "what was there is not copied again: {run:?}");
}

// Coverage: SPEC-11.7.
#[test]
fn a_move_that_is_not_possible_is_refused() {
    let home = filled();
    let (data, missing) = (home.data(), home.path().join("missing"));
    let (data, missing) = (data.to_str().unwrap(), missing.to_str().unwrap());
    let other = filled();
    let theirs = other.data();
    let empty = tempfile::tempdir().unwrap();
    let hollow = Home::new();
    hollow.run(&["init"]);
    let nothing = hollow.data();
    for (from, to, code, message) in [
        (missing, "x", "INVALID_INPUT", "is not a folder"),
        (empty.path().to_str().unwrap(), "x", "INVALID_INPUT", "has no data of Loci"),
        (nothing.to_str().unwrap(), "x", "INVALID_INPUT", "the source is empty"),
        (data, data, "INVALID_INPUT", "are the same store"),
        (data, "mysql://db", "INVALID_INPUT", "unknown kind of store `mysql`"),
        (data, "env:NOT_SET_HERE", "INVALID_INPUT", "NOT_SET_HERE is not set"),
        (data, "postgres://u:secret@127.0.0.1:1/x", "PROVIDER_ERROR", "does not answer"),
        (data, theirs.to_str().unwrap(), "CONFLICT", "the target has different data"),
    ] {
        let run = migrate(&home, from, to, &[]);
        let problem = run.problem();
        assert_eq!(problem["code"], code, "{from} → {to}: {run:?}");
        assert!(problem["message"].as_str().unwrap().contains(message), "{from} → {to}: {run:?}");
        assert!(problem["hint"].is_string() || code == "INVALID_INPUT", "{from} → {to}: {run:?}");
        assert!(!run.err.contains("secret"), "{run:?}");
    }
    assert!(!Path::new(missing).exists(), "a source is never made");
    assert!(!empty.path().join("catalogue.db").exists());
}

// Coverage: SPEC-11.6.
#[test]
fn a_damaged_copy_ends_the_command() {
    let home = filled();
    let copy = home.path().join("copy");
    let (data, to) = (home.data(), copy.to_str().unwrap());
    let from = data.to_str().unwrap();
    assert_eq!(migrate(&home, from, to, &[]).code, 0);
    let file = copy.join("tenants/default/spaces/users_21/loci.db");
    Connection::open(file).unwrap().execute("UPDATE memories SET content = 'x' WHERE row = 1", []).unwrap();
    let run = migrate(&home, from, to, &["--verify-only"]);
    let problem = run.problem();
    assert_eq!(
        (&problem["details"]["table"], &problem["details"]["key"]),
        (&"memories".into(), &"1".into()),
        "{run:?}"
    );
    let plain = home.run(&["migrate", "--from", from, "--to", from]);
    assert!(plain.err.starts_with("error[INVALID_INPUT]: the source and the target are the same"), "{plain:?}");
}
