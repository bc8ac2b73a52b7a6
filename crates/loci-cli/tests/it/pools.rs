//! Pools on the command line.

use serde_json::json;

use crate::run::Home;

/// A home with a pool of two, and something in it.
fn shared() -> (Home, String) {
    let home = Home::new();
    let made = home.json(&["pool", "create", "docs", "--name", "Documents", "--member=researcher", "--member=coder"]);
    let pool = &made["data"];
    assert_eq!((&pool["poolId"], pool["members"].as_array().map(Vec::len)), (&json!("docs"), Some(2)));
    let text = "WebGPU requires WGSL shaders, not GLSL";
    let receipt = home.json(&["pool", "contribute", "docs", "--agent=researcher", "--kind=fact", text]);
    assert_eq!(receipt["event"], "ADD");
    let id = receipt["id"].as_str().unwrap().to_owned();
    (home, id)
}

// Coverage: S4.16.
#[test]
fn a_pool_is_made_used_left_and_dropped() {
    let (home, id) = shared();
    assert_eq!(home.json(&["pool", "list"])["data"][0]["name"], "Documents");
    assert_eq!(home.json(&["pool", "list", "--agent=spy"])["data"], json!([]));
    let hits = home.json(&["pool", "query", "docs", "--agent=coder", "how do shaders work in WebGPU?"]);
    assert_eq!(hits["data"][0]["memory"]["id"].as_str(), Some(id.as_str()));
    assert_eq!(hits["data"][0]["memory"]["identifiers"]["agentId"], "researcher");

    // Into the agent's own memory, once.
    let sync = ["pool", "sync", "docs", "--agent=coder", "--user=ann"];
    assert_eq!(home.json(&sync)["created"], 1);
    let again = home.json(&sync);
    assert_eq!((&again["created"], &again["unchanged"]), (&json!(0), &json!(1)));
    // A copy of what the agent has.
    let own = home.remember(&["--agent=coder", "--user=ann", "Shaders are compiled at build time"]);
    let given = ["pool", "contribute", "docs", "--agent=coder", "--user=ann", "--memory", &own];
    assert_eq!(home.json(&given)["event"], "ADD");
    assert_eq!(home.json(&given)["event"], "NONE");

    let left = home.run(&["pool", "leave", "docs", "coder"]);
    assert!(left.code == 0 && left.out.contains("coder left docs"), "{left:?}");
    let kept = home.json(&["recall", "--agent=coder", "--user=ann", "WebGPU shaders"]);
    assert_eq!(kept["data"][0]["memory"]["metadata"]["syncedFrom"]["id"].as_str(), Some(id.as_str()));
    let join = ["pool", "join", "docs", "coder", "tester"];
    assert_eq!((&home.json(&join)["event"], &home.json(&join)["event"]), (&json!("UPDATE"), &json!("NONE")));
    let shown = home.run(&["pool", "show", "docs"]);
    assert!(shown.out.contains("researcher") && shown.out.contains("tester"), "{shown:?}");

    assert_eq!(home.run(&["pool", "drop", "docs"]).code, 20);
    assert_eq!(home.json(&["pool", "drop", "docs", "--yes"])["dropped"], true);
    assert_eq!(home.run(&["pool", "drop", "docs", "--yes"]).code, 12);
    assert!(!home.data().join("tenants/default/spaces/pool_docs").exists());
}

// Coverage: SPEC-4.1.
#[test]
fn who_is_not_a_member_gets_nothing_from_any_command() {
    let (home, id) = shared();
    home.json(&["pool", "leave", "docs", "coder"]);
    let spy = ["--pool=docs", "--agent=spy", "--user=ann"];
    let former = ["--pool=docs", "--agent=coder", "--user=ann"];
    let person = ["--pool=docs", "--user=ann"];
    let unknown = ["--pool=nowhere", "--agent=spy", "--user=ann"];
    let commands: &[&[&str]] = &[
        &["recall", "WebGPU shaders"],
        &["query", "WebGPU shaders"],
        &["search", "WebGPU shaders"],
        &["context", "WebGPU shaders"],
        &["list"],
        &["get", &id],
        &["history", &id],
        &["explain", &id],
        &["chain", &id],
        &["edges", &id],
        &["stats"],
        &["events"],
        &["operations"],
        &["weak"],
        &["export"],
        &["summarize"],
        &["entity", "list"],
        &["consent", "list"],
        &["session", "list"],
        &["remember", "--layer=pool", "a stranger was here"],
        &["update", &id, "a stranger was here"],
        &["supersede", &id, "a stranger was here"],
        &["correct", &id, "a stranger was here"],
        &["confirm", &id],
        &["pin", &id],
        &["forget", &id],
        &["undo", "1"],
    ];
    for command in commands {
        for who in [&spy[..], &former, &person, &unknown] {
            let run = home.run(&[command, who].concat());
            assert_eq!(run.code, 18, "{command:?} {who:?}: {run:?}");
            assert!(!run.out.contains("WGSL") && !run.err.contains("WGSL"), "{command:?} {who:?}: {run:?}");
        }
        // The memory is not found without naming the pool.
        let run = home.run(&[command, &["--agent=researcher", "--user=ann"][..]].concat());
        assert!(!run.out.contains("WGSL"), "{command:?}: {run:?}");
    }
    for args in [&["query", "docs", "shaders"][..], &["show", "docs"], &["sync", "docs", "--user=ann"]] {
        for agent in ["--agent=spy", "--agent=coder"] {
            let run = home.run(&[&["pool"], args, &[agent]].concat());
            assert_eq!(run.code, 18, "{args:?}: {run:?}");
        }
    }
    // Nothing has changed, and a member sees it as it was.
    let seen = home.json(&["get", &id, "--pool=docs", "--agent=researcher"]);
    assert_eq!((&seen["version"], &seen["state"]), (&json!(1), &json!("active")));
    assert_eq!(home.json(&["list", "--pool=docs", "--agent=researcher"])["data"].as_array().unwrap().len(), 1);
}

#[test]
fn a_pool_comes_along_when_everything_is_exported_and_imported() {
    let (home, id) = shared();
    let file = home.path().join("all.jsonl");
    assert_eq!(home.run(&["export", "--everyone", "--out", file.to_str().unwrap()]).code, 0);
    let other = Home::new();
    assert_eq!(other.run(&["import", file.to_str().unwrap()]).code, 0);
    // The pool exists, but has no members until they join.
    assert_eq!(other.json(&["pool", "show", "docs"])["members"], json!([]));
    let ask = ["get", &id, "--pool=docs", "--agent=coder"];
    assert_eq!(other.run(&ask).code, 18);
    other.json(&["pool", "join", "docs", "coder"]);
    assert_eq!(other.json(&ask)["id"].as_str(), Some(id.as_str()));
}

// Coverage: S0.8.
#[test]
fn what_is_said_of_a_group_is_kept_in_its_team() {
    let home = Home::new();
    home.remember(&["--team=rowers", "The rowers train on Tuesdays"]);
    let seen = home.json(&["recall", "--user=ben", "--team=rowers", "when do the rowers train?"]);
    assert_eq!(seen["data"][0]["memory"]["layer"], "team");
    assert_eq!(home.json(&["recall", "--user=ben", "--team=climbers", "when do they train?"])["data"], json!([]));
}
