//! Import of files of other systems: every format is recognised, and a second import adds nothing.

use serde_json::{Value, json};

use crate::run::Home;

fn counts(report: &Value) -> [u64; 4] {
    ["imported", "skipped", "refused", "conflicts"].map(|name| report[name].as_u64().unwrap())
}

fn mem0() -> String {
    json!({ "results": [
        { "id": "1", "memory": "Prefers aisle seats", "user_id": "ann", "created_at": "2024-02-03T04:05:06Z",
          "updated_at": null, "metadata": { "app": "travel" }, "hash": "h" },
        { "id": "2", "memory": "Is allergic to nuts", "agent_id": "planner", "created_at": "2024-02-03T04:05:07-08:00" },
        { "id": "3", "memory": "" },
        { "id": "4", "memory": "Has no time" },
    ]})
    .to_string()
}

fn langgraph() -> String {
    let item = |key: &str, namespace: Value, value: Value| {
        json!({ "namespace": namespace, "key": key, "value": value, "created_at": "2025-01-02T03:04:05+00:00",
            "updated_at": "2025-01-03T03:04:05+00:00" })
    };
    [
        item("a", json!(["users", "bo", "memories"]), json!({ "text": "Bo plays chess" })),
        item("b", json!(["facts"]), json!({ "city": "Porto" })),
    ]
    .map(|item| format!("{item}\n"))
    .concat()
        + "not json\n"
}

fn chatgpt() -> String {
    let node = |parent: Option<&str>, role: &str, text: &str, at: u64| {
        json!({ "parent": parent, "message": { "id": format!("m{at}"), "author": { "role": role },
            "create_time": at, "content": { "content_type": "text", "parts": [text] } } })
    };
    let talk = |id: &str, at: u64| {
        json!({ "id": id, "title": "A talk", "create_time": at, "current_node": "c", "mapping": {
            "root": { "parent": null, "message": null },
            "a": node(Some("root"), "user", "What is the capital of Peru?", at),
            "b": node(Some("a"), "assistant", "Lima.", at + 5),
            "c": node(Some("b"), "user", "thanks", at + 9),
            "x": node(Some("a"), "assistant", "another branch", at + 7),
        }})
    };
    json!([talk("t1", 1_700_000_000), talk("t2", 1_700_001_000), { "id": "odd" }]).to_string()
}

fn claude() -> String {
    json!([{ "uuid": "c1", "name": "Tea", "created_at": "2024-05-01T10:00:00Z", "chat_messages": [
        { "uuid": "1", "sender": "human", "text": "Which tea is best?", "created_at": "2024-05-01T10:00:01Z" },
        { "uuid": "2", "sender": "assistant", "text": "", "content": [{ "type": "text", "text": "Green." }],
          "created_at": "2024-05-01T10:00:09Z" },
        { "uuid": "3", "sender": "human", "text": "a zero \u{0} in it" },
    ]}])
    .to_string()
}

const GRAPH: &str = "{\"type\":\"entity\",\"name\":\"Ann\",\"entityType\":\"person\",\"observations\":[\"Likes tea\"]}\n\
    {\"type\":\"relation\",\"from\":\"Ann\",\"to\":\"Acme\",\"relationType\":\"works at\"}\n{\"type\":\"other\"}\n";

const NOTES: &str =
    "---\ntags: [home]\ndate: 2023-04-05\n---\n# Garden\n- Water the roses\n- Prune in March\n\n# Car\nIt is blue.\n";

// Coverage: SPEC-7.2.
#[test]
fn each_system_is_recognised_and_comes_in_once() {
    for (name, text, format, expect) in [
        ("memories.json", mem0(), "mem0", [3, 0, 1, 0]),
        ("store.jsonl", langgraph(), "langgraph", [2, 0, 1, 0]),
        ("conversations.json", chatgpt(), "chatgpt", [6, 0, 1, 0]),
        ("conversations.json", claude(), "claude", [2, 0, 1, 0]),
        ("memory.json", GRAPH.to_owned(), "mcp-memory", [3, 0, 1, 0]),
        ("notes.md", NOTES.to_owned(), "markdown", [3, 0, 0, 0]),
    ] {
        let home = Home::new();
        std::fs::write(home.path().join(name), &text).unwrap();
        let dry = home.json(&["import", name, "--user=zed", "--dry-run"]);
        assert_eq!((&dry["format"], &dry["dryRun"]), (&json!(format.replace('-', "_")), &json!(true)), "{dry}");
        if format != "mcp-memory" {
            assert_eq!(counts(&dry), expect, "{format}: {dry}");
            assert!(!dry["samples"].as_array().unwrap().is_empty(), "{dry}");
        }
        assert_eq!(home.export().len(), 0, "{format}: a dry run keeps nothing");
        let report = home.json(&["import", name, "--user=zed"]);
        assert_eq!(counts(&report), expect, "{format}: {report}");
        if expect[2] > 0 {
            assert_eq!(report["problems"].as_array().unwrap().len() as u64, expect[2], "{report}");
        }
        let kept = home.lines(&[]);
        let again = home.json(&["import", name, "--user=zed"]);
        assert_eq!((counts(&again)[0], counts(&again)[3]), (0, 0), "{format}: {again}");
        assert_eq!(home.lines(&[]), kept, "{format}: twice is once");
        assert_eq!(home.run(&["doctor"]).code, 0, "{format}");
        let strict = home.run(&["import", name, "--user=zed", "--strict"]);
        assert_eq!(strict.code == 0, expect[2] == 0, "{format}: {strict:?}");
        let named = home.json(&["import", name, "--user=zed", "--from", format]);
        assert_eq!(counts(&named)[0], 0, "{format}");
    }
}

#[test]
fn owner_and_times_are_those_of_the_file() {
    let home = Home::new();
    home.feed(&["import", "-", "--user=zed"], mem0().as_bytes());
    home.feed(&["import", "-", "--user=zed"], langgraph().as_bytes());
    let kept = home.export();
    let find = |text: &str| kept.iter().find(|memory| memory["content"] == text).unwrap_or_else(|| panic!("{text}"));
    let seats = find("Prefers aisle seats");
    assert_eq!((&seats["identifiers"], &seats["layer"]), (&json!({ "userId": "ann" }), &json!("user")));
    assert_eq!((&seats["createdAt"], &seats["metadata"]["app"]), (&json!("2024-02-03T04:05:06Z"), &json!("travel")));
    assert_eq!(seats["source"], json!({ "type": "import", "reference": "1" }));
    let nuts = find("Is allergic to nuts");
    assert_eq!(nuts["identifiers"], json!({ "agentId": "planner", "userId": "zed" }), "the file names no user");
    assert_eq!((&nuts["layer"], &nuts["createdAt"]), (&json!("agent"), &json!("2024-02-03T12:05:07Z")));
    assert_eq!(find("Bo plays chess")["identifiers"]["userId"], "bo");
    assert_eq!(find("{\"city\":\"Porto\"}")["tags"], json!(["facts"]));
}

// Coverage: SPEC-7.2.
#[test]
fn a_conversation_is_a_thread_in_its_order() {
    let home = Home::new();
    std::fs::write(home.path().join("c.json"), chatgpt()).unwrap();
    let report = home.json(&["import", "c.json", "--user=ann"]);
    assert_eq!(report["conversations"], 2, "{report}");
    let kept = home.export();
    let texts: Vec<&str> =
        kept.iter().filter(|m| m["threadId"] == "t1").map(|m| m["content"].as_str().unwrap()).collect();
    assert_eq!(texts, ["What is the capital of Peru?", "Lima.", "thanks"], "and nothing of the other branch");
    assert_eq!((&kept[0]["role"], &kept[0]["kind"]), (&json!("user"), &json!("episodic")));
    assert_eq!(kept[0]["eventTime"], "2023-11-14T22:13:20Z");
    let lines = home.lines(&[]);
    let sessions: Vec<&Value> = lines.iter().filter(|line| line["type"] == "session").collect();
    assert_eq!((sessions.len(), &sessions[0]["sessionId"]), (2, &json!("t1")));
    assert_eq!(
        (&sessions[0]["createdAt"], &sessions[0]["updatedAt"]),
        (&json!("2023-11-14T22:13:20Z"), &json!("2023-11-14T22:13:29Z"))
    );
    let edges = lines.iter().filter(|line| line["relation"] == "temporal").count();
    assert_eq!(edges, 4, "two in each thread");
    // The answer is found by the words of its question.
    let hits = home.json(&["recall", "--user=ann", "capital of Peru"]);
    assert!(hits.to_string().contains("Lima."), "{hits}");
    // A forgotten memory does not come back with the same file.
    let id = kept[0]["id"].as_str().unwrap();
    home.json(&["forget", id, "--user=ann"]);
    assert_eq!(counts(&home.json(&["import", "c.json", "--user=ann"]))[0], 0);
    assert_eq!(home.json(&["get", id])["state"], "soft_deleted");
}

// Coverage: SPEC-7.2.
#[test]
fn a_folder_of_notes_comes_in_file_by_file() {
    let home = Home::new();
    let folder = home.path().join("notes");
    std::fs::create_dir_all(folder.join("deep")).unwrap();
    std::fs::write(folder.join("a.md"), NOTES).unwrap();
    std::fs::write(folder.join("deep/b.markdown"), "One line.").unwrap();
    std::fs::write(folder.join("bad.md"), b"\xff\xfe").unwrap();
    std::fs::write(folder.join("other.txt"), "not a note").unwrap();
    std::fs::write(folder.join(".hidden.md"), "not yours").unwrap();
    let report = home.json(&["import", "notes", "--user=ann"]);
    assert_eq!(counts(&report), [4, 0, 1, 0], "{report}");
    let kept = home.export();
    let roses = kept.iter().find(|memory| memory["content"] == "Garden: Water the roses").unwrap();
    assert_eq!((&roses["tags"], &roses["createdAt"]), (&json!(["home"]), &json!("2023-04-05T00:00:00Z")));
    assert_eq!((&roses["metadata"]["file"], &roses["metadata"]["heading"]), (&json!("a.md"), &json!("Garden")));
    assert_eq!(counts(&home.json(&["import", "notes", "--user=ann"]))[0], 0);
    std::fs::remove_dir_all(&folder).unwrap();
    std::fs::create_dir(&folder).unwrap();
    assert_eq!(home.run(&["import", "notes"]).code, 20, "a folder without notes");
}

#[test]
fn long_notes_are_split_and_secrets_are_masked() {
    let home = Home::new();
    let long = format!("# Long\n{}", "a paragraph of some words.\n\n".repeat(2_000));
    std::fs::write(home.path().join("long.md"), long).unwrap();
    let report = home.json(&["import", "long.md", "--user=ann"]);
    assert!(counts(&report)[0] > 1 && counts(&report)[2] == 0, "{report}");
    let token = "0123456789abcdefghijklmnopqrstuvwxyzABCDEF";
    let secret = json!([{ "id": "1", "memory": format!("My key is sk-{token}") }]);
    let run = home.feed(&["--json", "import", "-", "--user=ann"], secret.to_string().as_bytes());
    assert_eq!(counts(&run.value()), [1, 0, 0, 0], "{run:?}");
    assert!(!home.run(&["export", "--everyone"]).out.contains(token));
}

// Coverage: SPEC-7.2.
#[test]
fn an_unreadable_file_is_reported_and_the_entries_before_are_kept() {
    for (text, from, kept, message) in [
        ("", Some("mem0"), 0, "empty"),
        ("  \n ", Some("chatgpt"), 0, "empty"),
        ("", Some("mcp-memory"), 0, "empty"),
        ("", Some("markdown"), 0, "empty"),
        ("[{\"id\":\"1\",\"memory\":\"one\"},{\"id\":\"2\",\"mem", None, 1, "may be incomplete"),
        ("[{\"id\":\"1\",\"memory\":\"one\"}]", Some("claude"), 0, "claude"),
        ("[{\"id\":\"1\",\"memory\":\"one\"}]", Some("mcp-memory"), 0, "no entity"),
        ("nonsense", Some("langgraph"), 0, "cannot be read further"),
        ("\0\0\0\0", Some("chatgpt"), 0, "cannot be read further"),
        ("\0\0\0\0", None, 0, "not a memory"),
        ("x", Some("outlook"), 0, "mem0"),
    ] {
        let home = Home::new();
        let mut args = vec!["--json", "import", "-", "--user=ann"];
        args.extend(from.iter().flat_map(|from| ["--from", *from]));
        let run = home.feed(&args, text.as_bytes());
        assert_eq!(run.code, 20, "{text:?} {from:?}: {run:?}");
        assert!(run.problem().to_string().contains(message), "{text:?} {from:?}: {run:?}");
        assert_eq!(home.export().len(), kept, "{text:?} {from:?}");
    }
    let home = Home::new();
    let huge = format!("{{\"memory\":\"one\"}}\n{{\"memory\":\"{}\"}}\n{{\"memory\":\"two\"}}\n", "x".repeat(17 << 20));
    let run = home.feed(&["--json", "import", "-", "--user=ann"], huge.as_bytes());
    assert_eq!((run.code, counts(&run.value())), (0, [2, 0, 1, 0]), "{run:?}");
    let nul = json!([{ "memory": "with \u{0}" }, { "memory": "without" }]).to_string();
    let run = home.feed(&["--json", "import", "-", "--user=ann"], nul.as_bytes());
    assert_eq!((run.code, counts(&run.value())), (0, [1, 0, 1, 0]), "{run:?}");
    assert_eq!(home.run(&["import", "nowhere.json"]).code, 20);
}
