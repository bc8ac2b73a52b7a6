//! Each command on a data folder: writing, reading, changing, forgetting, agents, stats.

use serde_json::{Value, json};

use crate::run::Home;

#[test]
fn init_prints_the_next_steps() {
    let home = Home::new();
    let run = home.run(&["init"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.out.contains(&home.data().display().to_string()), "{run:?}");
    assert!(run.out.contains("loci remember") && run.out.contains("loci recall"), "{run:?}");
    assert!(home.data().join("catalogue.db").exists());
    assert_eq!(home.json(&["init"])["model"]["ready"], false);
}

#[test]
fn what_is_remembered_is_recalled() {
    let home = Home::new();
    let receipt = home.json(&["remember", "I", "prefer", "tea", "to", "coffee"]);
    assert_eq!((&receipt["event"], &receipt["version"]), (&json!("ADD"), &json!(1)));
    let again = home.json(&["remember", "i prefer tea to coffee."]);
    assert_eq!((&again["event"], &again["id"]), (&json!("NONE"), &receipt["id"]));

    let recall = home.json(&["recall", "which", "tea", "--explain"]);
    let hit = &recall["data"][0];
    assert_eq!(hit["memory"]["id"], receipt["id"]);
    assert_eq!(hit["memory"]["content"], "I prefer tea to coffee");
    assert_eq!(hit["explain"]["lanes"][0]["lane"], "lexical");
    assert_eq!(hit["explain"]["lanes"][0]["rank"], 1);
    for term in ["recency", "utility"] {
        assert!(hit["explain"][term].is_f64(), "{hit}");
    }
    assert!(hit["explain"]["evidence"].is_f64() && hit["score"].is_f64());
    assert!(hit["explain"]["clues"].as_array().unwrap().iter().any(|clue| clue["clue"] == "words"));
    assert_eq!(recall["degraded"], json!(["vector"]));
    // Counted before the command ended.
    assert_eq!(home.json(&["get", receipt["id"].as_str().unwrap()])["accessCount"], 1);

    let run = home.run(&["recall", "tea", "--explain"]);
    assert!(run.out.contains("I prefer tea to coffee") && run.out.contains("just now"), "{run:?}");
    assert!(run.out.contains("relevance") && run.out.contains("#1"), "{run:?}");
    let run = home.run(&["recall", "submarines"]);
    assert_eq!(run.code, 0);
    assert!(run.out.contains("No memory answers this"), "{run:?}");
}

#[test]
fn every_field_that_is_given_is_kept() {
    let home = Home::new();
    let id = home.remember(&[
        "--user=ann",
        "--session=s1",
        "--layer=session",
        "--kind=decision",
        "--category=tech",
        "--tags=db",
        "--tags=sql",
        "--importance=0.9",
        "--confidence=0.8",
        "--pin",
        "--event-time=2026-01-31",
        "--valid-from=2026-01-01T10:00:00Z",
        "--valid-until=2126-01-01",
        "--expires-at=2127-01-01",
        "--source=manual",
        "--metadata=n=3",
        "--metadata=city=Porto",
        "--thread-id=t1",
        "--run-id=r1",
        "--actor-id=bo",
        "--role=user",
        "We chose PostgreSQL",
    ]);
    let memory = home.json(&["get", &id]);
    let expect = json!({
        "layer": "session", "identifiers": { "userId": "ann", "sessionId": "s1" }, "kind": "decision",
        "category": "tech", "tags": ["db", "sql"], "importance": 0.9, "confidence": 0.8, "pinned": true,
        "eventTime": "2026-01-31T00:00:00Z", "validFrom": "2026-01-01T10:00:00Z", "validUntil": "2126-01-01T00:00:00Z",
        "expiresAt": "2127-01-01T00:00:00Z", "source": { "type": "manual", "role": "user" },
        "metadata": { "n": 3, "city": "Porto", "writingRules": ["it is in the first person"] }, "threadId": "t1", "runId": "r1", "actorId": "bo", "role": "user",
    });
    for (field, value) in expect.as_object().unwrap() {
        assert_eq!(&memory[field], value, "{field}");
    }
    let shown = home.run(&["get", &id]).out;
    for part in ["We chose PostgreSQL", "db, sql", "identifiers.userId", "Porto"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    // Each filter finds it, and its opposite does not.
    let scope = ["--user=ann", "--session=s1"];
    // Recall makes it surer each time, so confidence comes first.
    for (found, lost) in [
        ("--confidence-min=0.8", "--confidence-min=0.9"),
        ("--confidence-max=1", "--confidence-max=0.1"),
        ("--layer=session", "--layer=user"),
        ("--kind=decision", "--kind=fact"),
        ("--category=tech", "--category=food"),
        ("--tags=db", "--tags=wine"),
        ("--source-type=manual", "--source-type=import"),
        ("--source-role=user", "--source-role=tool"),
        ("--role=user", "--role=tool"),
        ("--actor-id=bo", "--actor-id=cy"),
        ("--thread-id=t1", "--thread-id=t2"),
        ("--run-id=r1", "--run-id=r2"),
        ("--pinned", "--pinned=false"),
        ("--importance-min=0.9", "--importance-max=0.8"),
        ("--created-after=2026-01-01", "--created-before=2026-01-01"),
        ("--updated-after=2026-01-01", "--updated-before=2026-01-01"),
        ("--event-after=2026-01-31", "--event-before=2026-01-31"),
        ("--id=ID", "--id=0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50"),
        ("--user-id=ann", "--user-id=bo"),
        ("--session-id=s1", "--session-id=s2"),
        ("--superseded", "--agent-id=helper"),
        ("--access-policy=shared", "--access-policy=public"),
        ("--state=active", "--state=archived"),
        ("--metadata=n=3", "--metadata=n=4"),
        ("--has-knowledge-pointer=false", "--has-knowledge-pointer"),
        ("--as-of=2026-02-01", "--as-of=2025-01-01"),
    ] {
        for verb in [&["list"][..], &["recall", "PostgreSQL"]] {
            let count = |flag: &str| {
                let value = home.json(&[verb, &scope, &[&*flag.replace("ID", &id)]].concat());
                let found = value.get("memories").or(value.get("data")).or(value.get("results")).unwrap();
                found.as_array().unwrap().len()
            };
            assert_eq!((count(found), count(lost)), (1, 0), "{verb:?} {found} {lost}");
        }
    }
}

#[test]
fn names_open_scopes_and_nothing_is_filled_in() {
    let home = Home::new();
    home.remember(&["--user=ann", "Ann likes mountains"]);
    home.remember(&["--agent=helper", "--user=ann", "Ann likes short answers"]);
    home.remember(&["mine alone"]);
    let total = |args: &[&str]| home.count(args);
    assert_eq!(total(&[]), 1);
    assert_eq!(total(&["--user=ann"]), 1);
    assert_eq!(total(&["--user=ann", "--agent=helper"]), 2);
    assert_eq!(total(&["--user=me"]), 1);
    assert_eq!(home.json(&["stats", "--everyone"])["memories"], 3);
    assert_eq!(home.json(&["stats", "--user=ann"])["memories"], 1);
    let other = home.json(&["get", home.export()[0]["id"].as_str().unwrap()]);
    assert_eq!(other["identifiers"]["userId"], "ann");
    let run = home.run(&["get", other["id"].as_str().unwrap(), "--user=bo"]);
    assert_eq!(run.code, 12, "{run:?}");
}

#[test]
fn the_default_user_can_be_set() {
    let home = Home::new().set("LOCI_USER", "zoe");
    home.remember(&["hello"]);
    assert_eq!(home.export()[0]["identifiers"]["userId"], "zoe");
}

#[test]
fn pages_follow_each_other() {
    let home = Home::new();
    let lines: String = (0..25).map(|n| format!("memory number {n}\n")).collect();
    assert_eq!(home.feed(&["remember", "-"], lines.as_bytes()).code, 0);
    let (mut seen, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut args = vec!["list", "--limit=10"];
        let flag = cursor.as_ref().map(|cursor| format!("--cursor={cursor}"));
        args.extend(flag.as_deref());
        let page = home.json(&args);
        seen.extend(page["data"].as_array().unwrap().iter().map(|memory| memory["id"].clone()));
        match page["nextCursor"].as_str() {
            Some(next) => cursor = Some(next.to_owned()),
            None => break,
        }
    }
    let mut all: Vec<Value> = home.export().iter().rev().map(|memory| memory["id"].clone()).collect();
    assert_eq!(seen, all);
    all.dedup();
    assert_eq!(all.len(), 25);
    assert!(home.run(&["list", "--limit=10"]).out.contains("--cursor"));
}

#[test]
fn a_memory_is_changed_forgotten_and_restored() {
    let home = Home::new();
    let id = home.remember(&["The office is in Porto"]);
    let receipt = home.json(&["update", &id, "--version=1", "The office is in Lisbon", "--importance=0.7", "--pin"]);
    assert_eq!((&receipt["event"], &receipt["version"]), (&json!("UPDATE"), &json!(2)));
    let memory = home.json(&["get", &id]);
    assert_eq!((&memory["content"], &memory["pinned"]), (&json!("The office is in Lisbon"), &json!(true)));
    assert_eq!(home.json(&["forget", &id, "--reason=moved"])["event"], "DELETE");
    assert_eq!(home.json(&["recall", "office"])["data"], json!([]));
    assert_eq!(home.count(&["--state=soft_deleted"]), 1);
    assert_eq!(home.json(&["restore", &id])["event"], "RESTORE");
    assert_eq!(home.json(&["recall", "office"])["data"].as_array().unwrap().len(), 1);

    let events = home.json(&["history", &id])["data"].clone();
    let names: Vec<_> = events.as_array().unwrap().iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!(names, ["ADD", "ENTITY", "UPDATE", "DELETE", "RESTORE"]);
    let table = home.run(&["history", &id]).out;
    assert!(table.contains("moved") && table.contains("→") && table.contains("Lisbon"), "{table}");
}

#[test]
fn agents_come_and_go() {
    let home = Home::new();
    assert_eq!(home.json(&["agent", "create", "helper", "--settings", r#"{"limit":5}"#])["event"], "ADD");
    assert_eq!(home.json(&["agent", "create", "helper"])["event"], "UPDATE");
    home.remember(&["--agent=scout", "--user=ann", "Ann is at sea"]);
    let agents = home.json(&["agent", "list"])["data"].clone();
    let names: Vec<_> = agents.as_array().unwrap().iter().map(|agent| agent["agentId"].as_str().unwrap()).collect();
    assert_eq!(names, ["helper", "scout"]);
    assert_eq!(home.run(&["agent", "drop", "scout"]).code, 20);
    assert_eq!(home.export().len(), 1);
    assert_eq!(home.json(&["agent", "drop", "scout", "--yes"])["dropped"], true);
    assert_eq!(home.export().len(), 0);
    assert_eq!(home.run(&["agent", "drop", "scout", "--yes"]).code, 12);
}

#[test]
fn stats_doctor_config_and_completions_answer() {
    let home = Home::new();
    home.remember(&["one"]);
    assert_eq!(home.json(&["stats"])["memories"], 1);
    assert!(home.run(&["stats"]).out.contains("without a vector"));
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 0);
    assert!(doctor.out.contains("no damage found"), "{doctor:?}");
    assert_eq!(home.json(&["doctor"])["findings"], json!([]));
    let config = home.run(&["config", "check"]);
    assert_eq!(config.code, 0, "{config:?}");
    assert!(
        config.out.contains("embeddings.provider: LOCI_EMBEDDINGS") && config.out.contains("[retrieval]"),
        "{config:?}"
    );
    assert!(config.err.contains("ok"));
    // What it prints is itself a configuration.
    std::fs::write(home.path().join("printed.toml"), &config.out).unwrap();
    assert_eq!(home.run(&["config", "check", "printed.toml"]).code, 0);
    for shell in ["bash", "zsh", "fish"] {
        let run = home.run(&["completions", shell]);
        assert!(run.code == 0 && run.out.contains("loci"), "{shell}");
    }
}

#[test]
fn every_command_explains_itself() {
    let home = Home::new();
    for verb in [
        "init",
        "agent",
        "remember",
        "recall",
        "search",
        "get",
        "list",
        "update",
        "forget",
        "restore",
        "history",
        "stats",
        "doctor",
        "export",
        "import",
        "reembed",
        "model",
        "serve",
        "config",
        "completions",
    ] {
        let run = home.run(&[verb, "--help"]);
        assert_eq!(run.code, 0, "{verb}");
        assert!(run.out.contains("Examples:") && run.out.contains("--json"), "{verb}: {}", run.out);
    }
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let home = Home::new();
    let lines: String = (0..3000).map(|n| format!("a line that is long enough to fill a pipe soon {n}\n")).collect();
    assert_eq!(home.feed(&["remember", "-"], lines.as_bytes()).code, 0);
    let mut child = home.command(&["export", "--everyone"]).spawn().unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr), (Some(0), Vec::new()));
}
