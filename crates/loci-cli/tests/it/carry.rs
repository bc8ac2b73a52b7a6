//! Export and import: an imported export equals the original.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::run::Home;

/// A store with records of every type.
fn filled() -> Home {
    let home = Home::new();
    let config = r#"{"limit":3,"categories":["tasks"]}"#;
    home.json(&["agent", "create", "helper", "--settings", config]);
    home.remember(&[
        "--agent=helper",
        "--user=ann",
        "--category=tasks",
        "--metadata=deep={\"a\":[1.0000000000000002,null]}",
        "likes ünïcode \u{1f9e0}",
    ]);
    let old = home.remember(&["--user=ann", "Ann lives in Porto"]);
    home.json(&["supersede", &old, "--user=ann", "Ann lives in Lisbon"]);
    let gone = home.remember(&["--project=atlas", "soon forgotten"]);
    home.json(&["forget", &gone, "--project=atlas"]);
    let pinned = home.remember(&["--user=bo", "Bo's key is under the mat", "--importance=0.123456789012345678"]);
    home.json(&["pin", &pinned, "--user=bo"]);
    for (role, text) in [
        ("user", "Where did Maria Silva move to?"),
        ("assistant", "yes"),
        ("user", "yes"),
        ("user", "yes"),
        ("user", "I work with Maria Silva at Acme Labs in Berlin, and I love hiking"),
    ] {
        home.json(&["ingest", "--user=ann", "--thread-id=t1", "--session=monday", "--role", role, text]);
    }
    home.json(&["session", "end", "monday", "--user=ann"]);
    home.json(&["ingest", "--user=ann", "--thread-id=t2", "--role=user", "a session that goes on"]);
    home.json(&["maintain"]);
    home.json(&["recall", "--user=ann", "where does Ann live"]);
    home
}

fn counts(report: &Value) -> [u64; 5] {
    ["imported", "replaced", "skipped", "refused", "conflicts"].map(|name| report[name].as_u64().unwrap())
}

fn of_type<'a>(lines: &'a [Value], name: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line["type"] == name).collect()
}

// Coverage: S0.5, SPEC-7.1.
#[test]
fn an_export_of_an_import_is_the_same() {
    let home = filled();
    let before = home.lines(&[]);
    assert_eq!(before, home.lines(&[]), "two exports of the same");
    for name in ["agent", "memory", "edge", "session"] {
        assert!(!of_type(&before, name).is_empty(), "{name}");
    }
    let file = home.path().join("all.jsonl").display().to_string();
    home.json(&["export", "--everyone", "--output", &file]);
    let copy = Home::new();
    let dry = copy.json(&["import", &file, "--dry-run"]);
    assert_eq!((counts(&dry)[0] as usize, &dry["dryRun"]), (before.len() - 1, &json!(true)));
    assert_eq!(copy.lines(&[]).len(), 1, "a dry run keeps nothing");
    let all = (before.len() - 1) as u64;
    assert_eq!(counts(&copy.json(&["import", &file])), [all, 0, 0, 0, 0]);
    assert_eq!(copy.lines(&[]), before);
    assert_eq!(counts(&copy.json(&["import", &file])), [0, 0, all, 0, 0]);
    assert_eq!(copy.lines(&[]), before, "twice is once");
    assert_eq!(copy.run(&["doctor"]).code, 0);
    let sessions = ["session", "list", "--everyone"];
    assert_eq!(copy.json(&sessions), home.json(&sessions), "what waits to be learned too");
    assert_eq!(home.json(&sessions)["data"].as_array().unwrap().len(), 2);
}

// Coverage: S0.5.
#[test]
fn a_record_that_changed_since_is_a_conflict_until_it_is_replaced() {
    let home = filled();
    let before = home.lines(&[]);
    let file = home.path().join("all.jsonl").display().to_string();
    home.json(&["export", "--everyone", "--output", &file]);
    let memory = of_type(&before, "memory")[0].clone();
    let id = memory["id"].as_str().unwrap();
    home.json(&["update", id, "--agent=helper", "--user=ann", "something else altogether"]);
    home.json(&["agent", "create", "helper", "--settings", r#"{"limit":9}"#]);
    let all = (before.len() - 1) as u64;
    let report = home.json(&["import", &file]);
    assert_eq!(counts(&report), [0, 0, all - 2, 0, 2], "{report}");
    assert!(report["problems"].to_string().contains(id), "{report}");
    assert_eq!(home.json(&["get", id])["content"], "something else altogether", "nothing is overwritten");
    assert_eq!(counts(&home.json(&["import", &file, "--replace"])), [0, 2, all - 2, 0, 0]);
    assert_eq!(home.lines(&[]), before);
    assert_eq!(home.run(&["doctor"]).code, 0);
    assert_eq!(home.json(&["recall", "--agent=helper", "--user=ann", "something else altogether"])["data"], json!([]));
}

// Coverage: S0.5.
#[test]
fn an_export_of_a_user_has_every_record_with_their_name() {
    let home = filled();
    home.remember(&["--user=ann", "--project=atlas", "--layer=project", "Ann informed the project"]);
    let lines = home.lines(&["--user=ann"]);
    assert_eq!(lines[0], json!({ "loci": "export", "format": 2, "userId": "ann", "vectors": false }));
    let layers: std::collections::BTreeSet<&str> =
        of_type(&lines, "memory").iter().map(|line| line["layer"].as_str().unwrap()).collect();
    assert_eq!(layers, ["agent", "project", "user"].into());
    assert!(of_type(&lines, "agent").is_empty(), "agents are nobody's");
    for line in &lines[1..] {
        if let Some(names) = line.get("identifiers") {
            assert_eq!(names["userId"], "ann", "{line}");
        }
    }
    let agent = home.lines(&["--agent=helper"]);
    assert_eq!((of_type(&agent, "agent").len(), of_type(&agent, "memory").len()), (1, 1));
    let copy = Home::new();
    let text: String = lines.iter().skip(1).map(|line| format!("{line}\n")).collect();
    let run = copy.feed(&["--json", "import", "-"], text.as_bytes());
    assert_eq!(counts(&run.value())[3..], [0, 0], "{run:?}");
    assert_eq!(copy.lines(&[])[1..].iter().filter(|line| line["type"] != "agent").count(), lines.len() - 1);
}

// Coverage: SPEC-7.1.
#[test]
fn a_damaged_line_is_reported_by_its_number() {
    let home = filled();
    let text = home.run(&["export", "--everyone"]).out;
    let lines: Vec<&str> = text.lines().collect();
    let swap = |place: usize, with: String| {
        let mut lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        lines[place] = with;
        lines.join("\n")
    };
    let header = lines[0].replace("\"format\":2", "\"format\":99");
    for (text, line, field) in [
        (swap(0, header), 1, "format"),
        (swap(2, "{\"type\":\"dream\"}".to_owned()), 3, "line"),
        (swap(2, lines[2][..lines[2].len() / 2].to_owned()), 3, "line"),
        (swap(2, "\0\0\0".to_owned()), 3, "line"),
        (swap(2, format!("{{\"content\":\"{}\"}}", "x".repeat(17 << 20))), 3, "body"),
    ] {
        let copy = Home::new();
        let run = copy.feed(&["--json", "import", "-"], text.as_bytes());
        let problem = run.problem();
        assert_ne!(run.code, 0);
        assert_eq!(
            (&problem["details"]["line"], &problem["details"]["field"]),
            (&json!(line), &json!(field)),
            "{problem}"
        );
    }
    let orphan: Vec<&&str> = lines.iter().filter(|line| line.contains("\"type\":\"edge\"")).collect();
    let copy = Home::new();
    let run = copy.feed(&["--json", "import", "-"], orphan[0].as_bytes());
    assert_eq!((run.code, counts(&run.value())), (0, [0, 0, 0, 1, 0]), "{run:?}");
    let strict = copy.feed(&["--json", "import", "-", "--strict"], orphan[0].as_bytes());
    assert_eq!(strict.problem()["details"]["line"], 1, "{strict:?}");
    let run = home.run(&["export", "--everyone", "--output", "/nowhere/at/all.jsonl"]);
    assert_eq!(run.code, 23, "{run:?}");
}

// Coverage: SPEC-7.1.
#[test]
fn vectors_are_exported_on_request() {
    let home = Home::new();
    let id = home.remember(&["--user=ann", "a vector of its own"]);
    let mut line = home.lines(&[]).remove(1);
    assert!(line.get("vectors").is_none());
    line["vectors"] = json!([{ "model": "stand-in", "values": "AACAPwAAAAA=", "tokenStates": "AP8=" }]);
    let copy = Home::new();
    let run = copy.feed(&["--json", "import", "-"], line.to_string().as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    let out = copy.lines(&["--vectors"]);
    assert_eq!((&out[0]["vectors"], &out[1]["id"]), (&json!(true), &json!(id)));
    assert_eq!(out[1]["vectors"], line["vectors"], "bit by bit");
    assert!(copy.lines(&[])[1].get("vectors").is_none());
}

/// Peak resident memory of a run in kilobytes.
#[cfg(target_os = "linux")]
fn peak(home: &Home, args: &[&str]) -> u64 {
    let mut child = home.command(args).stdout(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut most = 0;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        most = line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0).max(most);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{args:?}");
            return most;
        }
        std::thread::yield_now();
    }
}

// Coverage: SPEC-7.1.
#[cfg(target_os = "linux")]
#[test]
fn memory_use_does_not_grow_with_the_size_of_an_export() {
    let measure = |many: usize| {
        let home = Home::new();
        let (file, out) = (home.path().join("in.jsonl"), home.path().join("out.jsonl"));
        let line = |n: usize| format!("{{\"content\":\"memory number {n} of very many that come in\"}}\n");
        std::fs::write(&file, (0..many).map(line).collect::<String>()).unwrap();
        let took = [
            peak(&home, &["import", file.to_str().unwrap(), "--user=ann"]),
            peak(&home, &["export", "--everyone", "--output", out.to_str().unwrap()]),
        ];
        assert_eq!(std::fs::read_to_string(&out).unwrap().lines().count(), many + 1);
        took
    };
    let (few, many) = (measure(2_000), measure(12_000));
    for (few, many) in few.into_iter().zip(many) {
        // Caches of the database fill up to a limit, which does not depend on the size of the file.
        assert!(many < few + few / 2 + 16_000, "{few} kB for 2,000 but {many} kB for 12,000");
    }
}
