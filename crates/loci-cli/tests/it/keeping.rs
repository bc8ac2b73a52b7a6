//! Backup, restore and erasure by the real binary.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use loci_testkit::servers::Schema;
use rusqlite::Connection;
use serde_json::{Value, json};

use crate::model::{copy, folder};
use crate::run::Home;

/// A home with memories in several spaces.
fn filled() -> Home {
    let home = Home::local();
    let tea = home.remember(&["--user", "ann", "I drink green tea in the morning"]);
    home.remember(&["--user", "ben", "The harbour is closed on Mondays"]);
    home.remember(&["--agent", "scout", "--user", "ann", "The lighthouse keeper is called Ida"]);
    home.json(&["supersede", &tea, "--user=ann", "I drink black tea in the morning"]);
    home.json(&["key", "create", "--name", "ops", "--role", "admin"]);
    home
}

/// All files below a folder that contain these bytes.
fn holding(folder: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(holding(&path, needle));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            if bytes.windows(needle.len()).any(|window| window.eq_ignore_ascii_case(needle.as_bytes())) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

// Coverage: S4.23, S4.24.
#[test]
fn a_backup_is_made_verified_and_restored() {
    let (home, elsewhere) = (filled(), Home::local());
    let file = home.path().join("all.backup");
    let file = file.to_str().unwrap();
    let made = home.json(&["backup", file]);
    assert!(made["rows"].as_u64().unwrap() > 10, "{made}");
    assert_eq!(home.json(&["backup", "--verify", file])["data"][0], made);
    assert_eq!(home.run(&["backup", file]).code, 24, "a file that is there is not written over");
    let run = home.run(&["backup", "--verify", file]);
    assert!(run.out.contains("complete") && run.out.contains("default/agent_memory_scout"), "{run:?}");
    let back = elsewhere.json(&["restore-backup", file]);
    // The agent, and a space for each of two users.
    assert_eq!(back["restored"].as_array().unwrap().len(), 3, "{back}");
    assert_eq!(elsewhere.lines(&[]), home.lines(&[]));
    assert_eq!(elsewhere.json(&["key", "list"]), home.json(&["key", "list"]));
    let history = |home: &Home| {
        let list = home.json(&["list", "--user", "ann"]);
        let id = list["data"][0]["id"].as_str().unwrap().to_owned();
        home.json(&["history", &id])
    };
    assert_eq!(history(&elsewhere), history(&home));
    assert_eq!(
        elsewhere.json(&["recall", "--user", "ann", "what tea"])["data"][0]["memory"]["content"],
        "I drink black tea in the morning"
    );
    let again = elsewhere.run(&["--json", "restore-backup", file]);
    assert_eq!((again.code, again.problem()["details"]["field"].clone()), (24, json!("replace")));
    assert_eq!(elsewhere.run(&["restore-backup", file, "--replace", "--yes"]).code, 0);
    assert_eq!(elsewhere.lines(&[]), home.lines(&[]));
    assert_eq!(elsewhere.run(&["doctor"]).code, 0);
    let twin = elsewhere.json(&["restore-backup", file, "--agent", "scout", "--as", "scout-2"]);
    assert_eq!(twin["restored"][0]["space"], "agent_memory_scout-2");
    let found = elsewhere.json(&["recall", "--agent", "scout-2", "--user", "ann", "who keeps the lighthouse"]);
    assert_eq!(found["data"].as_array().unwrap().len(), 1, "{found}");
}

// Coverage: S4.23.
#[test]
fn a_bad_backup_is_refused_with_the_reason() {
    let (home, other) = (filled(), filled());
    let before = other.lines(&[]);
    let file = home.path().join("all.backup");
    home.json(&["backup", file.to_str().unwrap()]);
    let bytes = std::fs::read(&file).unwrap();
    let bad = home.path().join("bad.backup");
    let mut flipped = bytes.clone();
    flipped[bytes.len() / 2] ^= 4;
    for (bytes, code, message) in [
        (&bytes[..bytes.len() / 2], 22, "cut off"),
        (&flipped[..], 22, "changed"),
        (&b"PK\x03\x04 something else"[..], 20, "not a backup of Loci"),
        (&b""[..], 20, "not a backup of Loci"),
    ] {
        std::fs::write(&bad, bytes).unwrap();
        for args in [&["backup", "--verify"][..], &["restore-backup", "--replace", "--yes"]] {
            let run = other.run(&[&["--json"], args, &[bad.to_str().unwrap()]].concat());
            assert_eq!(run.code, code, "{run:?}");
            assert!(run.err.contains(message), "{message}: {run:?}");
        }
    }
    assert_eq!(other.run(&["restore-backup", "nowhere.backup"]).code, 20);
    let odd = other.run(&["restore-backup", file.to_str().unwrap(), "--to-sequence", "3", "--replace", "--yes"]);
    assert!(odd.code == 20 && odd.err.contains("--space shared"), "{odd:?}");
    assert_eq!(other.lines(&[]), before);
    let unwritable = home.run(&["backup", "no/such/folder/all.backup"]);
    assert!(unwritable.code == 23 && unwritable.err.contains("cannot be written"), "{unwritable:?}");
}

// Coverage: SPEC-7.3.
#[test]
fn a_space_is_restored_to_an_earlier_sequence_and_time() {
    let home = Home::local();
    let mut states: Vec<(i64, Vec<Value>)> = Vec::new();
    let id = home.remember(&["--user", "ann", "I live in Bern"]);
    for text in ["I live in Basel", "I live in Chur", "I live in Davos"] {
        let line = Connection::open(home.file_of("ann")).unwrap();
        let line: i64 = line.query_row("SELECT max(sequence) FROM ledger", [], |row| row.get(0)).unwrap();
        states.push((line, home.export()));
        home.json(&["update", &id, "--user=ann", text]);
        home.remember(&["--user", "ann", &format!("and {text} still")]);
    }
    let file = home.path().join("all.backup");
    let file = file.to_str().unwrap();
    home.json(&["backup", file]);
    for (line, expect) in &states {
        let back = home.json(&[
            "restore-backup",
            file,
            "--space",
            "users_21",
            "--to-sequence",
            &line.to_string(),
            "--replace",
            "--yes",
        ]);
        assert_eq!((&back["restored"][0]["sequence"], &back["restored"][0]["lost"]), (&json!(line), &json!(0)));
        assert_eq!(&home.export(), expect, "line {line}");
        // The same text is recognised, so the deduplication keys were restored too.
        let known = home.json(&["remember", "--user", "ann", expect[0]["content"].as_str().unwrap()]);
        assert_eq!(known["event"], "NONE", "{known}");
        assert_eq!(home.run(&["doctor"]).code, 0);
    }
}

// Coverage: SPEC-7.3.
#[test]
fn a_schedule_makes_a_chain_of_backups_that_can_be_restored() {
    let (home, elsewhere) = (filled(), Home::local());
    let backups = home.path().join("backups");
    let backups = backups.to_str().unwrap();
    let mut child = home
        .command(&["--json", "backup", backups, "--every", "1s", "--times", "4", "--increments", "2", "--keep", "1"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stdout.take().unwrap()));
    let mut bases = Vec::new();
    for number in 0..4 {
        let line: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        bases.push(line["backup"]["base"].is_string());
        home.remember(&["--user", "ann", &format!("something new, number {number}")]);
    }
    assert!(child.wait().unwrap().success());
    assert_eq!(bases, [false, true, true, false]);
    assert_eq!(std::fs::read_dir(backups).unwrap().count(), 1, "the older chain is gone");
    elsewhere.json(&["restore-backup", backups]);
    assert!(elsewhere.json(&["doctor"]).is_object());
    let found = elsewhere.json(&["list", "--user", "ann"]);
    assert!(found.to_string().contains("number 2") && !found.to_string().contains("number 3"), "{found}");
    // An increment made by hand, in another folder.
    let (base, next) = (home.path().join("base"), home.path().join("next"));
    let (base, next) = (base.to_str().unwrap(), next.to_str().unwrap());
    home.json(&["backup", base]);
    home.remember(&["--user", "ann", "the very last"]);
    let made = home.json(&["backup", next, "--since", base]);
    assert!(made["base"].is_string(), "{made}");
    let third = Home::local();
    assert_eq!(third.run(&["restore-backup", next]).code, 20, "an increment alone");
    third.json(&["restore-backup", base, next]);
    assert_eq!(third.lines(&[]), home.lines(&[]));
}

const SECRET: &str = "zanzibarquuxly";

// Coverage: SPEC-7.4.
#[test]
fn erasing_shows_first_and_leaves_nothing_in_the_files() {
    let home = Home::local();
    for number in 0..20 {
        home.remember(&["--user", "wilhelmina", &format!("the {SECRET} number {number} is hers")]);
    }
    home.remember(&["--agent", "scout", "--user", "wilhelmina", &format!("{SECRET} again")]);
    home.remember(&["--user", "ben", "The harbour is closed on Mondays"]);
    let turn = json!({ "role": "user", "content": format!("I spoke to you of {SECRET}"), "threadId": "t" }).to_string();
    home.feed(&["ingest", "-", "--user", "wilhelmina"], turn.as_bytes());
    home.json(&[
        "checkpoint",
        "put",
        "--user",
        "wilhelmina",
        "--thread-id",
        "t",
        "--id",
        "one",
        &file(&home, &format!("\"{SECRET}\"")),
    ]);
    home.json(&["fact", "add", "--user", "wilhelmina", "she", "hides", SECRET]);
    let shown = home.json(&["erase", "--user", "wilhelmina"]);
    assert_eq!(shown["erased"], false);
    assert!(shown["total"]["memories"].as_u64().unwrap() >= 21, "{shown}");
    assert!(!holding(&home.data(), SECRET).is_empty());
    let done = home.json(&["erase", "--user", "wilhelmina", "--yes"]);
    assert_eq!((&done["erased"], &done["scrubbed"], &done["left"]), (&json!(true), &json!(true), &json!([])));
    assert_eq!(done["total"], shown["total"]);
    assert_eq!((&done["total"]["checkpoints"], &done["total"]["facts"]), (&json!(1), &json!(1)));
    assert_eq!(holding(&home.data(), SECRET), Vec::<String>::new());
    assert_eq!(holding(&home.data(), "zanzibarq"), Vec::<String>::new());
    assert_eq!(holding(&home.data(), "wilhelmina"), Vec::<String>::new());
    assert_eq!(home.export().len(), 1);
    assert_eq!(home.run(&["doctor"]).code, 0);
    let none = home.run(&["erase", "--user", "wilhelmina", "--yes"]);
    assert!(none.code == 0 && none.out.contains("No data of user wilhelmina"), "{none:?}");
    assert_eq!(home.run(&["erase", "--user", "", "--yes"]).code, 20);
}

fn file(home: &Home, text: &str) -> String {
    let path = home.path().join("state.json");
    std::fs::File::create(&path).unwrap().write_all(text.as_bytes()).unwrap();
    path.display().to_string()
}

// Coverage: SPEC-7.4.
#[test]
fn erasing_holds_on_a_server_too() {
    let Some(schema) = Schema::new() else { return };
    let home = Home::local().set("LOCI_STORE", "postgres").set("LOCI_POSTGRES_URL", schema.url.clone());
    home.configure(&format!("[postgres]\nschema = \"{}\"\n", schema.name));
    home.remember(&["--user", "wilhelmina", &format!("the {SECRET} is hers")]);
    let kept = home.remember(&["--user", "ben", "The harbour is closed on Mondays"]);
    let file = home.path().join("all.backup");
    home.json(&["backup", file.to_str().unwrap()]);
    let done = home.json(&["erase", "--user", "wilhelmina", "--yes"]);
    assert_eq!((&done["erased"], &done["total"]["memories"]), (&json!(true), &json!(1)));
    let left: Vec<Value> = home.export();
    assert_eq!((left.len(), left[0]["id"].as_str()), (1, Some(kept.as_str())));
    // A backup of a server can be restored to files.
    let files = Home::local();
    files.json(&["restore-backup", file.to_str().unwrap()]);
    assert_eq!(files.export().len(), 2);
}

// Coverage: S0.9.
#[test]
fn vectors_of_another_model_are_stored_beside_the_present_ones() {
    let home = Home::with_model().locally();
    let lines: String = (0..200)
        .map(|number| {
            format!("{{\"content\":\"Box {number} on the shelf holds part {} of the old clock\"}}\n", number * 7)
        })
        .chain(["{\"content\":\"My cat is called Minka\"}\n".to_owned()])
        .collect();
    home.feed(&["import", "-", "--user", "ann"], lines.as_bytes());
    let other = home.path().join("other");
    copy(&folder(), &other);
    // Another length limit gives other vectors, so it counts as another model.
    std::fs::write(other.join("sentence_bert_config.json"), r#"{"max_seq_length": 100}"#).unwrap();
    let other = other.to_str().unwrap();
    let works = |what: &str| {
        let run = home.run(&["--json", "recall", "--user", "ann", "name of the pet"]);
        let found = run.value();
        assert_eq!(found["degraded"], json!([]), "{what}");
        assert_eq!(found["data"][0]["memory"]["content"], "My cat is called Minka", "{what}");
        assert!(!run.err.contains("warning"), "{what}: {run:?}");
    };
    let estimate = home.json(&["reembed", "--model", other, "--dry-run", "--price", "0.5"]);
    assert_eq!(estimate["estimate"]["vectors"], 201, "{estimate}");
    assert!(estimate["cost"].as_f64().unwrap() > 0.0);
    works("before");
    let vectors = || -> i64 {
        let connection = Connection::open(home.file_of("ann")).unwrap();
        connection.query_row("SELECT count(*) FROM vectors", [], |row| row.get(0)).unwrap()
    };
    assert_eq!(vectors(), 201);
    let mut child = home.command(&["reembed", "--model", other]).spawn().unwrap();
    while vectors() == 201 {
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let half = vectors();
    assert!(half > 201 && half < 402, "it was stopped half-way: {half}");
    works("half-way");
    let rest = home.json(&["reembed", "--model", other]);
    assert_eq!(rest["embedded"].as_i64().unwrap(), 402 - half, "only the rest was made");
    assert_eq!(vectors(), 402);
    works("both are there");
    let home = home.set("LOCI_MODEL_DIR", other);
    let switched = home.json(&["reembed", "--drop-others", "--yes"]);
    assert_eq!((&switched["embedded"], switched["dropped"].as_object().unwrap().len()), (&json!(0), 1), "{switched}");
    let found = home.json(&["recall", "--user", "ann", "name of the pet"]);
    assert_eq!(found["data"][0]["memory"]["content"], "My cat is called Minka");
    assert_eq!(found["degraded"], json!([]));
    let connection = Connection::open(home.file_of("ann")).unwrap();
    let left: i64 = connection.query_row("SELECT count(*) FROM vectors", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 201);
}

#[test]
fn a_restored_chain_does_not_revive_revoked_keys() {
    let (home, elsewhere) = (filled(), Home::local());
    let key = home.json(&["key", "create", "--name", "short", "--role", "reader"])["id"].clone();
    home.json(&["agent", "create", "owl"]);
    home.json(&["pool", "create", "physics", "--member", "scout", "--member", "owl"]);
    let files = ["one", "two", "three"].map(|name| home.path().join(name).display().to_string());
    home.json(&["backup", &files[0]]);
    home.json(&["key", "revoke", key.as_str().unwrap(), "--yes"]);
    home.json(&["pool", "leave", "physics", "owl"]);
    home.json(&["agent", "drop", "scout", "--yes"]);
    home.json(&["backup", &files[1], "--since", &files[0]]);
    home.remember(&["--agent", "scout", "--user", "ann", "The new keeper is called Ivo"]);
    home.json(&["backup", &files[2], "--since", &files[1]]);
    elsewhere.json(&["restore-backup", &files[0], &files[1], &files[2]]);
    assert_eq!(elsewhere.lines(&[]), home.lines(&[]), "an agent that was made anew has only what is new");
    for verb in [&["key", "list"][..], &["pool", "show", "physics"]] {
        assert_eq!(elsewhere.json(verb), home.json(verb));
    }
    // Neither does an old backup that is restored into the same store.
    home.json(&["restore-backup", &files[0], "--replace", "--yes"]);
    assert!(!home.json(&["pool", "show", "physics"]).to_string().contains("owl"));
    assert!(home.json(&["key", "list"]).to_string().contains("revokedAt"));
}

#[test]
fn an_empty_space_stays_when_nothing_is_restored() {
    let home = filled();
    home.json(&["checkpoint", "put", "--user", "ann", "--thread-id", "t", "--id", "one", &file(&home, "1")]);
    let file = home.path().join("all").display().to_string();
    let made = home.json(&["backup", &file]);
    let spaces = made["spaces"].as_array().unwrap();
    let end = spaces.iter().find(|space| space["space"] == "users_21").unwrap()["sequence"].to_string();
    home.json(&["restore-backup", &file, "--space", "users_21", "--to-sequence", &end, "--replace", "--yes"]);
    assert_eq!(home.json(&["checkpoint", "get", "--user", "ann", "--thread-id", "t"])["id"], "one");
    home.json(&["restore-backup", &file, "--space", "users_21", "--to-sequence", "1", "--replace", "--yes"]);
    assert_ne!(home.run(&["checkpoint", "get", "--user", "ann", "--thread-id", "t"]).code, 0, "it came later");
}

#[test]
fn copies_made_by_others_are_erased_too() {
    let home = Home::local();
    home.json(&["agent", "create", "owl"]);
    home.json(&["agent", "create", "ant"]);
    home.json(&["pool", "create", "physics", "--member", "owl", "--member", "ant"]);
    let memory = home.remember(&["--agent", "owl", "--user", "wilhelmina", &format!("the {SECRET} is blue")]);
    home.json(&["pool", "contribute", "physics", "--agent", "owl", "--user", "wilhelmina", "--memory", &memory]);
    home.json(&["pool", "sync", "physics", "--agent", "ant", "--user", "bob"]);
    assert!(home.json(&["list", "--agent", "ant", "--user", "bob"]).to_string().contains(SECRET));
    home.json(&["erase", "--user", "wilhelmina", "--yes"]);
    assert_eq!(holding(&home.data(), SECRET), Vec::<String>::new());
}
