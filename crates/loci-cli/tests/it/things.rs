//! Triples and checkpoints on the command line.

use serde_json::{Value, json};

use crate::run::Home;

/// Runs what must fail with this code, naming this field.
fn refused(home: &Home, args: &[&str], code: i32, field: &str) {
    let mut all = vec!["--json"];
    all.extend(args);
    let run = home.run(&all);
    assert_eq!((run.code, run.problem()["details"]["field"].as_str()), (code, Some(field)), "{args:?}: {run:?}");
}

// Coverage: S2.24.
#[test]
fn triples_are_added_listed_and_retracted() {
    let home = Home::new();
    let stated = home.json(&["fact", "add", "Database", "version", "v16", "--type=has_version", "--confidence=0.5"]);
    assert_eq!((&stated["event"], &stated["data"]["factType"]), (&json!("ADD"), &json!("has_version")));
    assert_eq!(stated["data"]["identifiers"], json!({ "userId": "me" }));
    let memory = home.remember(&["--user=ana", "Ana lives in Lisbon"]);
    let args = ["fact", "add", "ana", "city", "lisbon", "--metadata=by=hand", "--sources", &memory];
    let learned = home.json(&args);
    assert_eq!(
        (&learned["data"]["sources"], &learned["data"]["identifiers"]),
        (&json!([memory]), &json!({ "userId": "ana" }))
    );
    assert_eq!(home.json(&args)["event"], "NONE");
    let objects = |args: &[&str]| {
        let mut all = vec!["fact", "list"];
        all.extend(args);
        let facts = home.json(&all)["data"].as_array().unwrap().clone();
        facts.iter().map(|fact| fact["object"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(objects(&["--everyone"]), ["lisbon", "v16"]);
    assert_eq!(objects(&["--everyone", "--predicate=city"]), ["lisbon"]);
    assert_eq!(objects(&["--subject=Database", "--fact-type=has_version", "--object=v16"]), ["v16"]);
    assert_eq!(objects(&["--user=me"]), ["v16"]);
    assert_eq!(objects(&[]), ["v16"], "the default is the same user that `add` writes for");
    assert_eq!(objects(&["--user=nobody"]), [""; 0]);
    // What no longer holds is past, and goes with its memory.
    assert_eq!(home.run(&["forget", &memory, "--user=ana"]).code, 0);
    assert_eq!(objects(&["--everyone"]), ["v16"]);
    assert_eq!(objects(&["--everyone", "--include-past"]), ["lisbon", "v16"]);
    let shown = home.run(&["fact", "list"]);
    assert!(shown.out.contains("Database") && shown.out.contains("0.50"), "{shown:?}");
    let id = stated["id"].as_str().unwrap();
    assert!(home.run(&["fact", "retract", id, "--yes", "--reason=upgraded"]).out.contains("Database version v16"));
    refused(&home, &["fact", "retract", id], 12, "id");
    refused(&home, &["fact", "add", "", "b", "c"], 20, "subject");
    refused(&home, &["fact", "add", "a", "b", "c", "--confidence=7"], 20, "confidence");
    refused(&home, &["fact", "list", "--limit=0"], 20, "limit");
    assert!(home.run(&["fact", "list"]).out.contains("No facts"));
}

// Coverage: S3-15.1.
#[test]
fn checkpoints_come_back_byte_by_byte() {
    let home = Home::new();
    let bytes: Vec<u8> = (0..=255).cycle().take(1 << 20).collect();
    let put = home.feed(
        &["--json", "checkpoint", "put", "--thread-id=t", "--format=bytes", "--id=1", "--metadata=step=1", "-"],
        &bytes,
    );
    let answer = put.value();
    assert_eq!((put.code, &answer["id"], &answer["event"]), (0, &json!("1"), &json!("ADD")), "{put:?}");
    assert_eq!((&answer["data"]["bytes"], &answer["data"]["data"]), (&json!(1 << 20), &Value::Null));
    let got = home.command(&["checkpoint", "get", "--thread-id=t"]).output().unwrap();
    assert!(got.status.success() && got.stdout == bytes, "the bytes are the same");
    let file = home.path().join("state.json");
    std::fs::write(&file, r#"{"at": 2}"#).unwrap();
    let file = file.to_str().unwrap();
    let second = ["checkpoint", "put", "--thread-id=t", "--id=2", "--parent-id=1", "--expect-parent=1", file];
    assert_eq!(home.json(&second)["event"], "ADD");
    refused(&home, &["checkpoint", "put", "--thread-id=t", "--id=3", "--expect-parent=1", file], 24, "expectParent");
    refused(&home, &["checkpoint", "put", "--thread-id=t", "--id=1", file], 24, "id");
    refused(&home, &["checkpoint", "put", "--thread-id=t", "no such file"], 20, "file");
    assert_eq!(home.feed(&["checkpoint", "put", "--thread-id=t", "-"], b"not JSON").code, 20);
    let got = home.command(&["checkpoint", "get", "--thread-id=t"]).output().unwrap();
    assert_eq!(String::from_utf8(got.stdout).unwrap(), r#"{"at":2}"#);
    let newest = home.json(&["checkpoint", "get", "--thread-id=t"]);
    assert_eq!((&newest["data"], &newest["parentId"]), (&json!({ "at": 2 }), &json!("1")));
    let ids =
        |answer: &Value| answer["data"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&home.json(&["checkpoint", "list", "--thread-id=t"])), ["2", "1"]);
    assert_eq!(ids(&home.json(&["checkpoint", "list", "--thread-id=t", "--metadata=step=1"])), ["1"]);
    assert_eq!(ids(&home.json(&["checkpoint", "list", "--thread-id=t", "--before-id=2"])), ["1"]);
    let page = home.json(&["checkpoint", "list", "--thread-id=t", "--limit=1"]);
    let cursor = format!("--cursor={}", page["nextCursor"].as_str().unwrap());
    assert_eq!(ids(&page), ["2"]);
    assert_eq!(ids(&home.json(&["checkpoint", "list", "--thread-id=t", "--limit=1", &cursor])), ["1"]);
    let with_data = home.json(&["checkpoint", "list", "--thread-id=t", "--include-data"]);
    assert_eq!((&with_data["data"][0]["data"], &page["data"][0]["data"]), (&json!({ "at": 2 }), &Value::Null));
    assert_eq!(ids(&home.json(&["checkpoint", "history", "--thread-id=t"])), ["2", "1"]);
    assert_eq!(ids(&home.json(&["checkpoint", "history", "--thread-id=t", "--checkpoint-id=1"])), ["1"]);
    let shown = home.run(&["checkpoint", "history", "--thread-id=t"]);
    assert!(shown.out.contains("1048576"), "{shown:?}");
    assert_eq!(home.json(&["checkpoint", "threads"])["data"][0]["checkpoints"], 2);
    assert_eq!(home.json(&["checkpoint", "threads", "--user=other"])["data"], json!([]));
    refused(&home, &["checkpoint", "get", "--thread-id=t", "--user=other"], 12, "threadId");
    refused(&home, &["checkpoint", "delete", "--thread-id=t", "--keep=1"], 20, "yes");
    let delete = |flags: &[&str]| home.json(&[&["checkpoint", "delete", "--thread-id=t", "--yes"], flags].concat());
    assert_eq!(delete(&["--keep=1"])["removedCount"], 1);
    delete(&["--id=2"]);
    refused(&home, &["checkpoint", "delete", "--thread-id=t", "--id=2", "--yes"], 12, "id");
    assert_eq!(home.json(&["checkpoint", "put", "--thread-id=t", "--expect-parent=", file])["event"], "ADD");
    delete(&[]);
    refused(&home, &["checkpoint", "delete", "--thread-id=t", "--yes"], 12, "threadId");
}
