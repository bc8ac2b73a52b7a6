//! Working memory and session entries on the command line, kept in Redis between calls, and their benchmark.

use loci_testkit::servers;
use serde_json::json;

use crate::bad::check;
use crate::run::Home;

/// A home with Redis as its tier, under a prefix of its own.
fn shared() -> Option<Home> {
    let url = servers::redis()?;
    let home = Home::new().set("LOCI_REDIS_URL", url);
    let prefix = format!("loci-test-{}", uuid::Uuid::new_v4());
    let settings = format!("[tiers]\nkind = \"redis\"\nprefix = \"{prefix}\"\n[working]\nflush_tokens = 40\n");
    home.configure(&settings);
    Some(home)
}

#[test]
fn working_memory_outlives_the_command_in_redis() {
    let Some(home) = shared() else { return };
    let scope = ["--user", "ann", "--agent", "tutor"];
    let with = |verb: &[&str]| home.json(&[&["working"], verb, &scope[..]].concat());
    let first = with(&["append", "--role", "user", "Which", "chapter", "were", "we", "at?"]);
    assert_eq!((&first["event"], &first["data"]["messageCount"]), (&json!("ADD"), &json!(1)));
    assert_eq!(with(&["append", "--role", "assistant", "The third one."])["data"]["messageCount"], 2);
    with(&["tool", "c1", "{\"celsius\": 21}", "--tool", "weather"]);
    with(&["scratchpad", "proof first"]);
    let view = with(&["get"]);
    assert_eq!(view["messages"][1]["content"], "The third one.");
    assert_eq!(
        (&view["toolResults"][0]["content"], &view["scratchpad"]),
        (&json!({ "celsius": 21 }), &json!("proof first"))
    );
    assert_eq!(with(&["search", "chapter"])["data"].as_array().unwrap().len(), 1);
    assert_eq!(with(&["query", "chapter", "--limit=1"])["data"].as_array().unwrap().len(), 1, "the earlier name");
    let plain = home.run(&[&["working", "get"], &scope[..]].concat());
    assert!(
        plain.code == 0 && plain.out.contains("user: Which chapter") && plain.out.contains("2 messages"),
        "{plain:?}"
    );
    // Above the token limit the messages are flushed and stored as turns.
    let answer = with(&["append", &"many words to say ".repeat(12)]);
    assert_eq!((&answer["data"]["flushedCount"], &answer["data"]["messageCount"]), (&json!(3), &json!(0)));
    assert_eq!(home.json(&[&["list"], &scope[..]].concat())["data"].as_array().unwrap().len(), 3);
    let unconfirmed = home.run(&[&["--json", "working", "clear"], &scope[..]].concat());
    assert_eq!((unconfirmed.code, &unconfirmed.problem()["details"]["field"]), (20, &json!("yes")));
    assert_eq!(with(&["get"])["scratchpad"], "proof first");
    with(&["clear", "--yes"]);
    assert_eq!(with(&["get"])["scratchpad"], "");
}

// Coverage: S2.27.
#[test]
fn entries_of_a_session_outlive_the_command_in_redis() {
    let Some(home) = shared() else { return };
    let put = |text: &str, importance: &str| {
        home.json(&["session", "put", "monday", text, "--importance", importance, "--user", "ann"]);
    };
    put("Ann likes long walks by the river", "0.9");
    put("Ann sneezed", "0.1");
    let recent = home.json(&["session", "recent", "monday", "--user", "ann"]);
    assert_eq!(recent["data"][0]["content"], "Ann sneezed");
    let found = home.json(&["session", "recent", "monday", "--user", "ann", "--query", "river"]);
    assert_eq!(found["data"].as_array().unwrap().len(), 1);
    assert_eq!(home.json(&["session", "end", "monday", "--user", "ann"])["event"], "UPDATE");
    assert_eq!(home.json(&["list", "--user", "ann"])["data"].as_array().unwrap().len(), 1);
    assert_eq!(home.json(&["session", "recent", "monday", "--user", "ann"])["data"], json!([]));
}

#[test]
fn without_a_server_and_without_redis_nothing_is_pretended() {
    let home = Home::local();
    for args in [
        &["working", "append", "hello"][..],
        &["working", "get"],
        &["session", "put", "monday", "hello"],
        &["session", "recent", "monday"],
    ] {
        let run = check(&home, args, "CONFIGURATION_ERROR", 19, "server");
        assert!(run.err.contains("would be lost") && run.err.contains("--server"), "{run:?}");
    }
    assert_eq!(home.json(&["list", "--everyone"])["data"], json!([]), "nor is anything stored");
}

#[test]
fn working_memory_and_entries_outlive_the_command_on_a_server() {
    let home = Home::remote();
    let scope = ["--user", "ann", "--agent", "tutor"];
    let with = |verb: &[&str]| home.json(&[&["working"], verb, &scope[..]].concat());
    assert_eq!(with(&["append", "--role=user", "hello"])["data"]["messageCount"], 1);
    with(&["tool", "c1", "sunny"]);
    with(&["scratchpad", "proof first"]);
    let view = with(&["get"]);
    assert_eq!(
        (&view["messages"][0]["content"], &view["toolResults"][0]["content"]),
        (&json!("hello"), &json!("sunny"))
    );
    assert_eq!(with(&["flush"])["flushedCount"], 1);
    with(&["clear", "-y"]);
    assert_eq!(with(&["get"])["scratchpad"], "");
    let put = home.json(&["session", "put", "monday", "--id=exam", "--ttl=60", "The exam is on Friday"]);
    assert_eq!((&put["event"], &put["id"]), (&json!("ADD"), &json!("exam")));
    assert_eq!(home.json(&["session", "put", "monday", "--id=exam", "It is on Monday"])["event"], "UPDATE");
    let recent = home.run(&["session", "recent", "monday"]);
    assert!(recent.out.contains("It is on Monday") && !recent.out.contains("Friday"), "{recent:?}");
    check(&home, &["working", "append", "--role=king", "hello"], "INVALID_INPUT", 20, "role");
}

#[test]
fn the_bench_of_working_memory_reports_the_ratio_to_a_map() {
    let home = Home::new();
    let run = home.run(&["--json", "bench", "working"]);
    assert_eq!(run.code, 0, "{run:?}");
    for work in ["working get", "working append", "working query"] {
        for metric in ["us_p50", "map_us_p50", "ratio"] {
            let line = format!("\"metric\":\"{metric}\"");
            assert!(
                run.out.lines().any(|one| one.contains(work) && one.contains(&line)),
                "{work} {metric}: {}",
                run.out
            );
        }
    }
    assert!(home.run(&["bench", "working"]).out.contains("ratio"));
}
