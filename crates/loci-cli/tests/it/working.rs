//! What agents have before them, from the command line: through a real Redis beyond one call, and the bench.

use loci_testkit::servers;
use serde_json::json;

use crate::run::Home;

/// A home whose tier is Redis, under a prefix of its own.
fn shared() -> Option<Home> {
    let url = servers::redis()?;
    let home = Home::new().set("LOCI_REDIS_URL", url);
    let prefix = format!("loci-test-{}", uuid::Uuid::new_v4());
    let settings = format!("[tiers]\nkind = \"redis\"\nprefix = \"{prefix}\"\n[working]\nflush_tokens = 40\n");
    std::fs::write(home.path().join("loci.toml"), settings).unwrap();
    Some(home)
}

#[test]
fn what_an_agent_has_before_it_outlives_the_command_in_redis() {
    let Some(home) = shared() else { return };
    let whose = ["--user", "ann", "--agent", "tutor"];
    let with = |verb: &[&str]| home.json(&[&["working"], verb, &whose[..]].concat());
    assert_eq!(with(&["append", "--role", "user", "Which", "chapter", "were", "we", "at?"])["messageCount"], 1);
    assert_eq!(with(&["append", "--role", "assistant", "The third one."])["messageCount"], 2);
    with(&["tool", "c1", "{\"celsius\": 21}", "--tool", "weather"]);
    with(&["scratchpad", "proof first"]);
    let view = with(&["get"]);
    assert_eq!(view["messages"][1]["content"], "The third one.");
    assert_eq!(
        (&view["toolResults"][0]["content"], &view["scratchpad"]),
        (&json!({ "celsius": 21 }), &json!("proof first"))
    );
    assert_eq!(with(&["query", "chapter"])["hits"].as_array().unwrap().len(), 1);
    let plain = home.run(&[&["working", "get"], &whose[..]].concat());
    assert!(
        plain.code == 0 && plain.out.contains("user: Which chapter") && plain.out.contains("2 messages"),
        "{plain:?}"
    );
    // Too many tokens: they are kept as turns.
    let told = with(&["append", &"many words to say ".repeat(12)]);
    assert_eq!((&told["flushedCount"], &told["messageCount"]), (&json!(3), &json!(0)));
    assert_eq!(home.json(&[&["list"], &whose[..]].concat())["totalCount"], 3);
    assert_eq!(with(&["clear"])["cleared"], true);
    assert_eq!(with(&["get"])["scratchpad"], "");
}

#[test]
fn entries_of_a_session_outlive_the_command_in_redis() {
    let Some(home) = shared() else { return };
    let put = |text: &str, importance: &str| {
        home.json(&["session", "put", "monday", text, "--importance", importance, "--user", "ann"]);
    };
    put("Ann likes long walks by the river", "0.9");
    put("Ann sneezed", "0.1");
    let recent = home.json(&["session", "recent", "monday", "--user", "ann"]);
    assert_eq!(recent["entries"][0]["content"], "Ann sneezed");
    let found = home.json(&["session", "recent", "monday", "--user", "ann", "--query", "river"]);
    assert_eq!(found["entries"].as_array().unwrap().len(), 1);
    assert_eq!(home.json(&["session", "end", "monday", "--user", "ann"])["ended"], true);
    assert_eq!(home.json(&["list", "--user", "ann"])["totalCount"], 1);
    assert_eq!(home.json(&["session", "recent", "monday", "--user", "ann"])["entries"], json!([]));
}

#[test]
fn without_a_tier_it_is_said_that_nothing_is_left() {
    let home = Home::new();
    let run = home.run(&["working", "append", "--user", "ann", "hello"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.err.contains("nothing of this is left"), "{run:?}");
    let wrong = home.run(&["--json", "working", "append", "--user", "ann", "--role", "king", "hello"]);
    assert_eq!((wrong.code, &wrong.problem()["details"]["field"]), (20, &json!("role")));
}

#[test]
fn the_bench_of_working_memory_tells_the_ratio_to_a_map() {
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
