//! The data folder: moved, damaged, from the future, or not writable.

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
    home.json(&["update", &id, "likes it still", "--tags=x"]);
    let gone = home.remember(&["--project=atlas", "soon forgotten"]);
    home.json(&["forget", &gone]);
    home.json(&["recall", "--user=ann", "number"]);

    let file = home.path().join("all.jsonl").display().to_string();
    assert_eq!(home.json(&["export", "--out", &file])["exported"], 702);
    let before = home.export();
    assert_eq!(before.len(), 702);

    let copy = Home::new();
    let counts = |told: Value| [&told["imported"], &told["skipped"], &told["refused"]].map(|n| n.as_u64().unwrap());
    assert_eq!(counts(copy.json(&["import", &file])), [703, 0, 0], "the memories and their agent");
    assert_eq!(copy.export(), before);
    assert_eq!(counts(copy.json(&["import", &file])), [0, 703, 0]);
    assert_eq!(copy.json(&["restore", &gone])["event"], "RESTORE");
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
    let run = home.run(&["export", "--out", "/nowhere/at/all.jsonl"]);
    assert_eq!(run.code, 23, "{run:?}");
}

#[test]
fn new_memories_are_imported_for_whom_they_name() {
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
    // Space by space: the team lies in `shared`, ann in `users_21`, zed in `users_2d`.
    let whose: Vec<Value> = home.export().iter().map(|memory| memory["identifiers"].clone()).collect();
    assert_eq!(whose, [json!({ "teamId": "red" }), json!({ "userId": "ann" }), json!({ "userId": "zed" })]);
}

#[test]
fn a_folder_that_cannot_be_written_is_told() {
    let home = Home::new();
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
fn a_file_from_the_future_is_refused_and_left_alone() {
    let home = Home::new();
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
    let home = Home::new();
    let lines: String = (0..200).map(|n| format!("memory number {n}\n")).collect();
    assert_eq!(home.feed(&["remember", "-"], lines.as_bytes()).code, 0);
    home.remember(&["--agent=helper", "--user=ann", "unharmed"]);
    // Everything into the main file, then noise over its first pages.
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
        assert!(run.err.contains("loci doctor"), "{run:?}");
    }
    for args in [&["doctor"][..], &["doctor", "--repair"]] {
        let run = home.run(args);
        assert_eq!(run.code, 22, "{run:?}");
        assert!(run.out.contains(&file), "{run:?}");
    }
    assert_eq!(home.json(&["list", "--agent=helper", "--user=ann", "--layer=agent"])["totalCount"], 1);
}

#[test]
fn a_damaged_catalogue_is_told_by_the_doctor() {
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
fn the_doctor_mends_words_that_were_lost() {
    let home = Home::new();
    home.remember(&["findable by its words"]);
    let connection = rusqlite::Connection::open(home.file_of("me")).unwrap();
    connection.execute("DELETE FROM words", []).unwrap();
    drop(connection);
    assert_eq!(home.json(&["recall", "findable"])["data"], json!([]));
    assert_eq!(home.run(&["doctor"]).code, 22);
    let mended = home.run(&["doctor", "--repair"]);
    assert_eq!(mended.code, 0, "{mended:?}");
    assert!(mended.out.contains("mended"), "{mended:?}");
    assert_eq!(home.run(&["doctor"]).code, 0);
    assert_eq!(home.json(&["recall", "findable"])["data"].as_array().unwrap().len(), 1);
}
