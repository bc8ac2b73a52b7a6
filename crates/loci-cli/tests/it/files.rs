//! The data folder: copied, damaged, written by a newer version, or not writable.

use std::io::{Seek, SeekFrom, Write};

use serde_json::{Value, json};

use crate::run::Home;

#[test]
fn an_export_comes_back_whole() {
    let home = Home::new();
    let lines: String = (0..700).map(|n| format!("memory number {n} of many\n")).collect();
    assert_eq!(home.feed(&["remember", "-", "--user=ann", "--thread-id=t"], lines.as_bytes()).code, 0);
    let id =
        home.remember(&["--agent=helper", "--user=ann", "--metadata=deep={\"a\":[1,null]}", "likes ünïcode \u{1f9e0}"]);
    home.json(&["update", &id, "--user=ann", "--agent=helper", "likes it still", "--tags=x"]);
    let gone = home.remember(&["--project=atlas", "soon forgotten"]);
    home.json(&["forget", &gone, "--project=atlas"]);
    home.json(&["recall", "--user=ann", "number"]);

    let file = home.path().join("all.jsonl").display().to_string();
    assert_eq!(home.json(&["export", "--everyone", "--out", &file])["exported"], 702);
    let before = home.export();
    assert_eq!(before.len(), 702);

    let copy = Home::new();
    let counts =
        |report: Value| [&report["imported"], &report["skipped"], &report["refused"]].map(|n| n.as_u64().unwrap());
    assert_eq!(counts(copy.json(&["import", &file])), [703, 0, 0], "the memories and their agent");
    assert_eq!(copy.export(), before);
    assert_eq!(counts(copy.json(&["import", &file])), [0, 703, 0]);
    assert_eq!(copy.json(&["restore", &gone, "--project=atlas"])["event"], "RESTORE");
    assert_eq!(copy.run(&["doctor"]).code, 0);
    let same = copy.json(&["remember", "--user=ann", "memory number 7 of many"]);
    assert_eq!(same["event"], "NONE");
    let hits = copy.json(&["recall", "--user=ann", "number 7"])["data"].clone();
    assert!(!hits.as_array().unwrap().is_empty());
}

#[test]
fn a_scope_can_be_exported_alone() {
    let home = Home::new();
    home.remember(&["--user=ann", "hers"]);
    home.remember(&["--user=bo", "his"]);
    home.remember(&["--user=ann", "--project=atlas", "--layer=project", "everyone's"]);
    let count = |args: &[&str]| home.lines(args).len() - 1;
    assert_eq!((count(&[]), count(&["--user=ann"]), count(&["--project=atlas"])), (3, 2, 1));
    assert_eq!((count(&["--user=ann", "--layer=user"]), count(&["--user=nobody"])), (1, 0));
    assert_eq!(count(&["--user=ann", "--project=atlas", "--layer=project"]), 1);
    let run = home.run(&["export", "--everyone", "--out", "/nowhere/at/all.jsonl"]);
    assert_eq!(run.code, 23, "{run:?}");
}

#[test]
fn new_memories_are_imported_for_the_user_they_name() {
    let home = Home::new();
    let lines = [
        json!({ "content": "plain" }),
        json!({ "content": "plain" }),
        json!({ "content": "hers", "identifiers": { "userId": "ann" }, "kind": "preference", "tags": ["a"] }),
        json!({ "content": "the team's", "layer": "team", "identifiers": { "teamId": "red" } }),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let run = home.feed(&["--json", "import", "-", "--user=zed"], text.as_bytes());
    assert_eq!((&run.value()["imported"], &run.value()["skipped"]), (&json!(3), &json!(1)));
    // The order is that of the spaces: the team is in `shared`, ann in `users_21`, zed in `users_2d`.
    let owners: Vec<Value> = home.export().iter().map(|memory| memory["identifiers"].clone()).collect();
    assert_eq!(owners, [json!({ "teamId": "red" }), json!({ "userId": "ann" }), json!({ "userId": "zed" })]);
}

#[test]
fn a_folder_that_cannot_be_written_is_reported() {
    let home = Home::local();
    std::fs::write(home.path().join("file"), "").unwrap();
    let below = home.path().join("file/data").display().to_string();
    for verb in [&["remember", "x"][..], &["recall", "x"], &["init"]] {
        let run = home.run(&[&["--data", &below], verb].concat());
        assert_eq!(run.code, 23, "{run:?}");
        assert!(run.err.contains("STORAGE_UNAVAILABLE") && run.err.contains(&below), "{run:?}");
        assert!(run.err.contains("--data"), "{run:?}");
    }
}

#[test]
fn a_file_of_a_newer_version_is_refused_and_not_changed() {
    let home = Home::local();
    let id = home.remember(&["from now"]);
    let connection = || rusqlite::Connection::open(home.file_of("me")).unwrap();
    let known: i64 = connection().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    let raise = |version: i64| connection().pragma_update(None, "user_version", version).unwrap();
    raise(999);
    for verb in [&["recall", "now"][..], &["remember", "more"], &["get", &id], &["list"]] {
        let run = home.run(verb);
        assert_eq!(run.code, 22, "{verb:?} {run:?}");
        assert!(run.err.contains("newer version") && run.err.contains("loci.db"), "{run:?}");
    }
    let doctor = home.run(&["doctor"]);
    assert_eq!(doctor.code, 22);
    raise(known);
    assert_eq!(home.json(&["get", &id])["content"], "from now");
}

#[test]
fn a_damaged_file_is_named_and_doctor_is_offered() {
    let home = Home::local();
    let lines: String = (0..200).map(|n| format!("memory number {n}\n")).collect();
    assert_eq!(home.feed(&["remember", "-"], lines.as_bytes()).code, 0);
    home.remember(&["--agent=helper", "--user=ann", "unharmed"]);
    // Moves everything into the main file and overwrites its first pages.
    let connection = rusqlite::Connection::open(home.file_of("me")).unwrap();
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    drop(connection);
    let mut file = std::fs::OpenOptions::new().write(true).open(home.file_of("me")).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    file.write_all(&[0x5a; 40_000]).unwrap();
    drop(file);
    let file = home.file_of("me").display().to_string();
    for verb in [&["recall", "number"][..], &["remember", "more"], &["list"]] {
        let run = home.run(verb);
        assert_eq!(run.code, 22, "{verb:?} {run:?}");
        assert!(run.err.contains("STORE_CORRUPT") && run.err.contains(&file), "{run:?}");
        assert!(run.err.contains("loci store doctor"), "{run:?}");
    }
    for args in [&["doctor"][..], &["doctor", "--repair"]] {
        let run = home.run(args);
        assert_eq!(run.code, 22, "{run:?}");
        assert!(run.out.contains(&file), "{run:?}");
    }
    assert_eq!(home.count(&["--agent=helper", "--user=ann", "--layer=agent"]), 1);
}

#[test]
fn the_doctor_reports_a_damaged_catalogue() {
    let home = Home::new();
    home.remember(&["one"]);
    std::fs::write(home.data().join("catalogue.db"), [0x5a; 9000]).unwrap();
    for suffix in ["catalogue.db-wal", "catalogue.db-shm"] {
        drop(std::fs::remove_file(home.data().join(suffix)));
    }
    assert_eq!(home.run(&["list"]).code, 22);
    let run = home.run(&["doctor"]);
    assert_eq!(run.code, 22);
    assert!(run.out.contains("catalogue.db"), "{run:?}");
}

#[test]
fn the_doctor_rebuilds_a_lost_word_index() {
    let home = Home::new();
    home.remember(&["findable by its words"]);
    let connection = rusqlite::Connection::open(home.file_of("me")).unwrap();
    connection.execute("DELETE FROM words", []).unwrap();
    drop(connection);
    assert_eq!(home.json(&["recall", "findable"])["data"], json!([]));
    assert_eq!(home.run(&["doctor"]).code, 22);
    let mended = home.run(&["doctor", "--repair"]);
    assert_eq!(mended.code, 0, "{mended:?}");
    assert!(mended.out.contains("repaired"), "{mended:?}");
    assert_eq!(home.run(&["doctor"]).code, 0);
    assert_eq!(home.json(&["recall", "findable"])["data"].as_array().unwrap().len(), 1);
}
