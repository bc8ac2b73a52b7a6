//! Invalid input: each has an error code, a field and a message that names it, and no data is lost.

use serde_json::Value;

use crate::run::{Home, Run};

/// Runs a command with and without `--json` and checks the error code, the exit code and the field.
pub(crate) fn check(home: &Home, args: &[&str], code: &str, exit: i32, field: &str) -> Run {
    let person = home.run(args);
    assert_eq!(person.code, exit, "{args:?} {person:?}");
    assert!(person.err.contains(&format!("error[{code}]: ")), "{args:?} {person:?}");
    assert!(person.err.contains(&format!("  field: {field}")), "{args:?} {person:?}");
    assert_eq!(person.out, "");
    let machine = home.run(&[&["--json"], args].concat());
    let problem = machine.problem();
    assert_eq!(machine.code, exit);
    assert_eq!((&problem["code"], &problem["details"]["field"]), (&code.into(), &field.into()), "{args:?}");
    assert_eq!(problem["operation"], args[0], "the command as it was given");
    person
}

#[test]
fn words_that_do_not_fit_are_named() {
    let home = Home::new();
    let long = "a".repeat(8193);
    let id = home.remember(&["first"]);
    let unknown = "0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50";
    let invalid = ("INVALID_INPUT", 20);
    for (args, (code, exit), field) in [
        (&["remember", "--layer=galaxy", "x"][..], ("INVALID_LAYER", 10), "layer"),
        (&["recall", "--layer=galaxy", "x"], ("INVALID_LAYER", 10), "layer"),
        (&["list", "--layer=galaxy"], ("INVALID_LAYER", 10), "layer"),
        (&["remember", "--everyone", "x"], invalid, "everyone"),
        (&["recall", "--layer=project", "x"], ("MISSING_IDENTIFIER", 11), "projectId"),
        (&["remember", ""], invalid, "content"),
        (&["remember", "  \n "], invalid, "content"),
        (&["remember", &long], ("CONTENT_TOO_LONG", 13), "content"),
        (&["recall", &long], ("QUERY_TOO_LONG", 14), "query"),
        (&["recall", " "], invalid, "query"),
        (&["remember", "--importance=NaN", "x"], invalid, "importance"),
        (&["remember", "--importance=1.5", "x"], invalid, "importance"),
        (&["remember", "--importance", "-1", "x"], invalid, "importance"),
        (&["remember", "--confidence=inf", "x"], invalid, "confidence"),
        (&["remember", "--kind=emotion", "x"], invalid, "kind"),
        (&["remember", "--metadata=novalue", "x"], invalid, "metadata"),
        (&["remember", "--event-time=yesterday", "x"], invalid, "eventTime"),
        (&["remember", "--valid-from=2026-02-01", "--valid-until=2026-01-01", "x"], invalid, "validUntil"),
        (&["remember", "--user=", "x"], invalid, "userId"),
        (&["remember", "--agent=../up", "--user=u", "x"], invalid, "agentId"),
        (&["recall", "--now=soon", "x"], invalid, "now"),
        (&["recall", "--limit=0", "x"], invalid, "limit"),
        (&["recall", "--threshold=2", "x"], invalid, "threshold"),
        (&["recall", "--importance-min=NaN", "x"], invalid, "importanceMin"),
        (&["list", "--state=asleep"], invalid, "state"),
        (&["list", "--cursor=!!!"], invalid, "cursor"),
        (&["list", "--limit=1001"], invalid, "limit"),
        (&["list", "--created-after=2026-02-01", "--created-before=2026-01-01"], invalid, "createdBefore"),
        (&["get", "nonsense"], invalid, "id"),
        (&["update", &id], invalid, "text"),
        (&["update", &id, "--importance=NaN"], invalid, "importance"),
        (&["update", &id, "--version=7", "x"], ("VERSION_CONFLICT", 21), "version"),
        (&["forget", &id, "--version=7"], ("VERSION_CONFLICT", 21), "version"),
        (&["agent", "create", "a b"], invalid, "agentId"),
        (&["agent", "create", "a", "--settings=[1]"], invalid, "settings"),
        (&["agent", "drop", "a"], invalid, "yes"),
        (&["import", "nowhere.jsonl"], invalid, "file"),
        (&["serve", "--listen=0.0.0.0:0"], ("CONFIGURATION_ERROR", 19), "listen"),
        (&["serve", "--listen=nonsense"], ("CONFIGURATION_ERROR", 19), "listen"),
        (&["reembed"], ("CONFIGURATION_ERROR", 19), "embeddings"),
        (&["--config=nowhere.toml", "stats"], ("CONFIGURATION_ERROR", 19), "config"),
    ] {
        if args[0].starts_with("--config") {
            let run = home.run(args);
            assert_eq!(run.code, exit);
            assert!(run.err.contains(code) && run.err.contains("nowhere.toml"), "{run:?}");
            continue;
        }
        check(&home, args, code, exit, field);
    }
    for verb in [&["get"][..], &["update", "--pin"], &["forget"], &["restore"], &["history"]] {
        let run = home.run(&[verb, &[unknown]].concat());
        assert_eq!(run.code, 12, "{run:?}");
        assert!(run.err.contains("MEMORY_NOT_FOUND") && run.err.contains(unknown), "{run:?}");
    }
    // None of these calls stored anything.
    assert_eq!(home.export().len(), 1);
    assert_eq!(home.json(&["get", &id])["version"], 1);
}

#[test]
fn wrong_usage_ends_with_two() {
    let home = Home::new();
    for args in [&[][..], &["remember"], &["dance"], &["recall", "--limit=many", "x"], &["list", "--colour"]] {
        assert_eq!(home.run(args).code, 2, "{args:?}");
    }
}

#[test]
fn lines_before_a_broken_one_are_kept() {
    let home = Home::new();
    let run = home.feed(&["--json", "remember", "-"], b"first\n\nsecond\nbroken \xff\nnever\n");
    assert_eq!(run.code, 20, "{run:?}");
    let problem = run.problem();
    assert_eq!((&problem["details"]["field"], &problem["details"]["line"]), (&"content".into(), &4.into()));
    assert!(problem["message"].as_str().unwrap().starts_with("line 4: content is not valid UTF-8"), "{problem}");
    let receipts: Vec<Value> = run.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kept: Vec<Value> = home.export();
    assert_eq!(kept.iter().map(|memory| &memory["content"]).collect::<Vec<_>>(), ["first", "second"]);
    let ids = |values: &[Value]| values.iter().map(|value| value["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(&receipts), ids(&kept));

    let long = format!("third\n{}\nafter\n", "x".repeat(9000));
    let run = home.feed(&["remember", "-"], long.as_bytes());
    assert_eq!(run.code, 13, "{run:?}");
    assert!(run.err.contains("line 2: content has 9000 characters"), "{run:?}");
    let run = home.feed(&["remember", "-"], "y".repeat(1 << 20).as_bytes());
    assert_eq!(run.code, 13, "{run:?}");
}

#[test]
fn a_malformed_import_keeps_and_counts_what_came_before() {
    let home = Home::new();
    let good = "{\"content\":\"one\"}\n{\"content\":\"two\",\"identifiers\":{\"userId\":\"ann\"}}\n";
    for (bad, field) in [
        ("{\"content\":", "line"),
        ("[1]", "line"),
        ("{\"text\":\"x\"}", "content"),
        ("{\"content\":\"x\",\"colour\":1}", "line"),
        ("{\"content\":\"\"}", "content"),
        ("{\"content\":\"x\",\"importance\":7}", "importance"),
        ("{\"content\":\"x\",\"layer\":\"project\"}", "projectId"),
        ("{\"id\":\"x\",\"content\":\"x\"}", "line"),
    ] {
        let run = home.feed(&["--json", "import", "-"], format!("{good}{bad}\n{{\"content\":\"never\"}}\n").as_bytes());
        let problem = run.problem();
        assert_eq!(problem["details"]["line"], 3, "{bad}: {problem}");
        assert_eq!(problem["details"]["field"], field, "{bad}: {problem}");
        assert!(problem["message"].as_str().unwrap().contains("entries before it are stored"), "{problem}");
        if field == "line" {
            assert_eq!(run.code, 20, "{bad}");
        }
        let count = |name: &str| problem["details"][name].as_u64().unwrap();
        assert_eq!(count("imported") + count("skipped"), 2, "{bad}");
    }
    assert_eq!(home.export().len(), 2);
}

#[test]
fn a_wrong_configuration_is_named() {
    let home = Home::local();
    for (text, message) in [
        ("colour = 1", "colour"),
        ("[retrieval]\nlimit = 0", "retrieval.limit"),
        ("[retrieval]\nlimits = 3", "limits"),
        ("[retrieval.weights]\nsimilarity = 0.9\nrecency = 0.9\nutility = 0.1", "retrieval.weights"),
        ("[embeddings]\nprovider = \"magic\"", "magic"),
        ("[[kinds]]\nname = \"x\"\nclass = \"semantic\"\nhalf_life_days = 0", "kinds.half_life_days"),
        ("not toml", "loci.toml"),
    ] {
        home.configure(text);
        for args in [&["config", "check"][..], &["stats"]] {
            let run = home.run(args);
            assert_eq!(run.code, 19, "{text}: {run:?}");
            assert!(run.err.contains("CONFIGURATION_ERROR") && run.err.contains(message), "{text}: {run:?}");
        }
    }
    home.configure("user = \"kim\"\n[limits]\ncontent_characters = 5");
    assert_eq!(home.run(&["remember", "too long"]).code, 13);
    let odd = Home::local().set("LOCI_EMBEDDINGS", "magic");
    assert_eq!(odd.run(&["stats"]).code, 19);
}
