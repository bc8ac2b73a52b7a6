//! The life of a memory: said, learned, changed, confirmed, tidied, taken back.

use serde_json::{Value, json};

use crate::bad::check;
use crate::run::Home;

/// The id of a memory that nobody has.
const UNKNOWN: &str = "0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50";
const INVALID: (&str, i32) = ("INVALID_INPUT", 20);
const NOT_FOUND: (&str, i32) = ("MEMORY_NOT_FOUND", 12);
/// Of sessions, entities and whatever else is not a memory.
const ABSENT: (&str, i32) = ("NOT_FOUND", 12);

/// A run that must succeed, as people see it.
fn shown(home: &Home, args: &[&str]) -> String {
    let run = home.run(args);
    assert_eq!(run.code, 0, "{args:?}: {run:?}");
    run.out
}

/// The short form of an id, as lists show it.
fn short(id: &str) -> String {
    id.parse::<loci_types::MemoryId>().unwrap().short()
}

/// All of these words are there.
fn says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "`{word}` is missing in {text}");
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_else(|| panic!("{value} is not a string"))
}

/// The writes of a turn that was ingested.
fn writes(answer: &Value) -> &Vec<Value> {
    assert_eq!(answer["data"].as_array().unwrap().len(), 1, "{answer}");
    answer["data"][0]["writes"].as_array().unwrap()
}

/// Two turns of Ann on Monday, learned from: her colour is known, her city only proposed.
fn learned() -> Home {
    let home = Home::new();
    for said in ["I live in Porto", "My favourite colour is green"] {
        home.json(&["ingest", "--user=ann", "--thread-id=t", "--session=monday", "--role=user", said]);
    }
    let report = home.json(&["session", "learn", "monday", "--user=ann"]);
    assert_eq!(
        (&report["turns"], &report["added"], &report["proposed"]),
        (&json!(2), &json!(1), &json!(1)),
        "{report}"
    );
    home
}

/// What is known and not only said.
fn facts(home: &Home) -> Vec<Value> {
    let all = home.json(&["list", "--user=ann"])["data"].clone();
    all.as_array().unwrap().iter().filter(|memory| memory["kind"] != "episodic").cloned().collect()
}

#[test]
fn turns_come_in_one_by_one_or_by_the_line() {
    let home = Home::new();
    let answer = home.json(&[
        "ingest",
        "--user=ann",
        "--session=monday",
        "--thread-id=t",
        "--role=user",
        "--actor-id=Ann",
        "--event-time=2026-01-31",
        "--reference=m1",
        "I live in Porto",
    ]);
    let write = &writes(&answer)[0];
    assert_eq!(write["event"], "ADD");
    let memory = home.json(&["get", "--user=ann", text(&write["id"])]);
    let expect = json!({
        "layer": "user", "kind": "episodic", "threadId": "t", "role": "user", "actorId": "Ann",
        "eventTime": "2026-01-31T00:00:00Z", "identifiers": { "userId": "ann", "sessionId": "monday" },
        "source": { "type": "conversation", "role": "user", "reference": "m1" },
    });
    for (field, value) in expect.as_object().unwrap() {
        assert_eq!(&memory[field], value, "{field}");
    }
    says(&shown(&home, &["ingest", "--user=ann", "--thread-id=t", "Noted."]), &["remembered"]);

    let lines = concat!(
        r#"{"threadId":"u","content":"one","sessionId":"s1","role":"user","actorId":"Ann","conversation":1}"#,
        "\n\n",
        r#"{"content":"two","eventTime":"2026-02-01T10:00:00Z","reference":"m2","metadata":{"n":3}}"#,
        "\n",
    );
    let run = home.feed(&["--json", "ingest", "-", "--user=ann", "--thread-id=u", "--session=s0"], lines.as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    let ids: Vec<Value> =
        run.out.lines().map(|line| writes(&serde_json::from_str(line).unwrap())[0]["id"].clone()).collect();
    assert_eq!(ids.len(), 2);
    let get = |id: &Value| home.json(&["get", "--user=ann", text(id)]);
    let (one, two) = (get(&ids[0]), get(&ids[1]));
    assert_eq!((&one["identifiers"]["sessionId"], &two["identifiers"]["sessionId"]), (&json!("s1"), &json!("s0")));
    assert_eq!((&two["threadId"], &two["metadata"]["n"]), (&json!("u"), &json!(3)));
    // The second follows the first.
    let edges = home.json(&["edges", "--user=ann", text(&ids[0]), "--relation=temporal"]);
    assert_eq!(edges["data"][0]["targetId"], ids[1]);
    says(&shown(&home, &["edges", "--user=ann", text(&ids[0])]), &["→ temporal", "two"]);
    check(&home, &["edges", "--user=ann", text(&ids[0]), "--relation=hatred"], INVALID.0, INVALID.1, "relation");
    check(&home, &["edges", UNKNOWN], NOT_FOUND.0, NOT_FOUND.1, "id");
}

#[test]
fn a_turn_longer_than_a_memory_is_one_line_with_several_writes() {
    let home = Home::new();
    home.configure("[limits]\ncontent_characters = 20");
    let answer = home.json(&["ingest", "--thread-id=t", "This is longer than a memory may be"]);
    assert_eq!(writes(&answer).len(), 2, "{answer}");
    says(&shown(&home, &["ingest", "--thread-id=t", "This is longer than a memory may be"]), &["remembered"]);
}

#[test]
fn turns_that_cannot_be_taken_are_named() {
    let home = Home::new();
    check(&home, &["ingest", "--thread-id=t", " "], INVALID.0, INVALID.1, "content");
    check(&home, &["ingest", "no thread"], INVALID.0, INVALID.1, "threadId");
    check(&home, &["ingest", "--thread-id=t", "--event-time=soon", "x"], INVALID.0, INVALID.1, "eventTime");
    for (line, field, message) in [
        ("{\"content\":", "line", "not JSON"),
        ("{\"threadId\":\"t\",\"content\":\"x\",\"colour\":1}", "colour", "`colour`"),
        ("{\"content\":\"x\"}", "threadId", "empty"),
        ("{\"threadId\":\"t\"}", "content", "empty"),
    ] {
        let input = format!(
            "{{\"threadId\":\"t\",\"content\":\"kept\"}}\n{line}\n{{\"threadId\":\"t\",\"content\":\"never\"}}\n"
        );
        let run = home.feed(&["--json", "ingest", "-"], input.as_bytes());
        let problem = run.problem();
        assert_eq!((run.code, run.out.lines().count()), (20, 1), "{line}: {run:?}");
        assert_eq!(
            (&problem["details"]["line"], &problem["details"]["field"]),
            (&json!(2), &json!(field)),
            "{problem}"
        );
        says(text(&problem["message"]), &["line 2: ", message]);
    }
    // A turn without a name of its own is taken in each time.
    assert_eq!(home.export().len(), 4);
}

#[test]
fn sessions_are_listed_ended_and_learned_from() {
    let home = learned();
    let sessions = home.json(&["session", "list", "--user=ann"])["data"].clone();
    assert_eq!((&sessions[0]["sessionId"], &sessions[0]["pending"]), (&json!("monday"), &json!(false)));
    let listed = |flag: &str| home.json(&["session", "list", "--everyone", flag])["data"].as_array().unwrap().len();
    assert_eq!((listed("--ended"), listed("--ended=false"), listed("--limit=1")), (0, 1, 1));
    says(&shown(&home, &["session", "list", "--everyone"]), &["monday", "user ann", "pending"]);
    says(&shown(&home, &["session", "learn", "monday", "--user=ann"]), &["no new turns"]);
    says(&shown(&home, &["session", "learn", "monday", "--user=ann", "--again"]), &["1 turn read", "known already"]);
    says(&shown(&home, &["session", "learn", "monday", "--user=ann", "--no-wait"]), &["queued"]);
    assert_eq!(home.json(&["session", "end", "monday", "--user=ann"])["event"], "UPDATE");
    says(&shown(&home, &["session", "end", "monday", "--user=ann"]), &["already"]);
    assert_eq!((listed("--ended"), listed("--pending")), (1, 0));
    says(&shown(&home, &["session", "list", "--user=ann", "--pending"]), &["No sessions"]);
    check(&home, &["session", "end", "never"], ABSENT.0, ABSENT.1, "sessionId");
    check(&home, &["session", "learn", "never"], ABSENT.0, ABSENT.1, "sessionId");
    // Sessions of other users are neither found nor ended.
    home.json(&["ingest", "--user=bo", "--thread-id=t", "--session=monday", "I live in Rome"]);
    check(&home, &["session", "end", "monday"], ABSENT.0, ABSENT.1, "sessionId");
    assert_eq!(listed("--ended=false"), 1);
    assert_eq!(home.json(&["session", "end", "monday", "--user=bo"])["event"], "UPDATE");
    let stats = home.json(&["stats", "--everyone"]);
    assert_eq!(stats["learned"]["statements"], 2, "{stats}");
    assert!(stats["memories"].is_u64() && stats["learned"]["firstPassRate"].is_f64(), "{stats}");
    says(
        &shown(&home, &["stats", "--everyone"]),
        &["memories learned", "tokens saved", "tokens of the language model"],
    );
    assert_eq!(home.json(&["stats", "--user=ann"])["learned"], Value::Null);
}

#[test]
fn what_is_sensitive_waits_for_consent() {
    let home = learned();
    let proposals = home.json(&["consent", "list", "--user=ann"])["data"].clone();
    assert_eq!((&proposals[0]["field"], &proposals[0]["sensitive"]), (&json!("city"), &json!(true)), "{proposals}");
    let id = text(&proposals[0]["memory"]["id"]).to_owned();
    says(&shown(&home, &["consent", "list", "--user=ann"]), &["city", "Porto", &short(&id)]);
    says(&shown(&home, &["consent", "list"]), &["No proposals"]);
    assert_eq!(facts(&home).len(), 1);
    // A wrong id among several decides nothing.
    check(&home, &["consent", "accept", &id, UNKNOWN, "--user=ann"], NOT_FOUND.0, NOT_FOUND.1, "id");
    // Nor does the default user decide for others.
    assert_eq!(shown(&home, &["consent", "accept", "--all"]), "");
    assert_eq!(facts(&home).len(), 1);
    assert_eq!(home.json(&["consent", "accept", &id])["id"], *id);
    assert_eq!(facts(&home).len(), 2);
    check(&home, &["consent", "accept", &id, "--user=ann"], NOT_FOUND.0, NOT_FOUND.1, "id");
    check(&home, &["consent", "reject", "nonsense"], INVALID.0, INVALID.1, "id");
    check(&home, &["consent", "reject", UNKNOWN], NOT_FOUND.0, NOT_FOUND.1, "id");
    assert_eq!(home.run(&["consent", "accept"]).code, 2);
    says(&shown(&home, &["consent", "list", "--user=ann"]), &["No proposals"]);

    let home = learned();
    says(&shown(&home, &["consent", "accept", "--all", "--user=ann"]), &["accepted"]);
    assert_eq!(shown(&home, &["consent", "accept", "--all", "--user=ann"]), "");
    let home = learned();
    let id = home.json(&["consent", "list", "--everyone"])["data"][0]["memory"]["id"].clone();
    says(&shown(&home, &["consent", "reject", text(&id), "--yes", "--user=ann", "--reason=private"]), &["rejected"]);
    assert_eq!(facts(&home).len(), 1);
}

#[test]
fn a_memory_is_replaced_corrected_confirmed_and_pinned() {
    let home = Home::new();
    let first = home.remember(&["--user=ann", "--kind=fact", "--tags=home", "The office is in Porto"]);
    let second = home.json(&[
        "supersede",
        &first,
        "--user=ann",
        "--valid-from=2026-03-01",
        "The",
        "office",
        "is",
        "in",
        "Lisbon",
    ]);
    assert_eq!(second["event"], "SUPERSEDE");
    let second = text(&second["id"]);
    let now = home.json(&["get", second]);
    assert_eq!((&now["supersedesId"], &now["tags"]), (&json!(first), &json!(["home"])));
    let third = home.json(&["correct", second, "--user=ann", "The office is in Faro", "--reason=misheard"]);
    let third = text(&third["id"]);
    let chain = home.json(&["chain", &first]);
    let versions = chain["data"].as_array().unwrap();
    assert_eq!((versions.len(), &versions[2]["id"]), (3, &json!(third)), "{chain}");
    says(&shown(&home, &["chain", third]), &["→ 3", "Porto", "Lisbon", "Faro", "2026-03-01", &short(&first)]);

    assert_eq!(home.json(&["confirm", third, "--user=ann"])["event"], "UPDATE");
    assert_eq!(home.json(&["get", third])["decayRate"], 0.0);
    says(&shown(&home, &["confirm", third, "--user=ann"]), &[third]);
    assert_eq!(home.json(&["pin", third, "--user=ann"])["event"], "UPDATE");
    assert_eq!(home.json(&["get", third])["pinned"], true);
    says(&shown(&home, &["pin", third, "--user=ann", "--off"]), &["updated"]);
    assert_eq!(home.json(&["get", third])["pinned"], false);
    says(&shown(&home, &["supersede", third, "--user=ann", "The office is in Braga"]), &["replacing an older memory"]);

    for verb in ["confirm", "pin", "chain"] {
        check(&home, &[verb, UNKNOWN], NOT_FOUND.0, NOT_FOUND.1, "id");
    }
    for verb in ["supersede", "correct"] {
        check(&home, &[verb, UNKNOWN, "x"], NOT_FOUND.0, NOT_FOUND.1, "id");
        check(&home, &[verb, "nonsense", "x"], INVALID.0, INVALID.1, "id");
        let head = text(&home.json(&["chain", &first])["data"].as_array().unwrap().last().unwrap()["id"]).to_owned();
        check(&home, &[verb, &head, "--user=ann", " "], INVALID.0, INVALID.1, "content");
    }
}

#[test]
fn what_is_said_again_is_known_and_what_has_changed_takes_its_place() {
    let home = Home::new();
    let diet = home.remember(&["Ana follows a keto diet"]);
    let vegan = home.remember(&["Ana stopped the keto diet and eats vegan food now"]);
    says(&shown(&home, &["recall", "keto diet"]), &["newer: Ana stopped"]);
    says(&shown(&home, &["explain", &diet]), &["newer: Ana stopped", "may_contradict"]);
    check(&home, &["resolve", &diet, UNKNOWN, "--keep=newer"], INVALID.0, INVALID.1, "other");
    assert_eq!(home.json(&["resolve", &diet, &vegan, "--keep=newer"])["id"], *vegan);
    assert_eq!(home.count(&[]), 1);
    home.json(&["forget", &vegan]);
    home.json(&["forget", &diet]);
    says(&shown(&home, &["remember", "My favourite colour is green"]), &["remembered"]);
    says(&shown(&home, &["remember", "My favourite colour is green"]), &["unchanged"]);
    let changed = home.json(&["remember", "My favourite colour is blue"]);
    assert_eq!(changed["event"], "SUPERSEDE", "{changed}");
    // What is printed is what holds now.
    let chain = home.json(&["chain", text(&changed["id"])]);
    assert_eq!(chain["data"].as_array().unwrap().last().unwrap()["id"], changed["id"], "{chain}");
    // Lines meet those before them.
    let run = home.feed(&["--json", "remember", "-"], b"My favourite colour is pink\nMy favourite colour is blue\n");
    assert_eq!((run.code, run.out.lines().count()), (0, 2), "{run:?}");
    assert_eq!(home.json(&["list"])["data"][0]["content"], "My favourite colour is blue");
    assert_eq!(home.count(&[]), 1);
    assert_eq!(home.json(&["remember", "--as-is", "My favourite colour is red"])["event"], "ADD");
    assert_eq!(home.count(&[]), 2);
    let answer = home.json(&["recall", "--for-thread-id=t", "favourite", "colour"]);
    assert!(!answer["data"].as_array().unwrap().is_empty());
    let repeated = text(&answer["data"][0]["memory"]["content"]).to_owned();
    assert_eq!(home.json(&["remember", "--thread-id=t", &repeated])["event"], "NONE");
}

#[test]
fn what_fades_is_shown_before_it_is_gone() {
    let home = Home::new();
    let id = home.remember(&["--kind=fact", "--confidence=0.2", "The office is in Porto"]);
    home.remember(&["--kind=fact", "Bo plays the cello"]);
    let weak = home.json(&["weak", "--below=0.5"])["data"].clone();
    assert_eq!((weak.as_array().unwrap().len(), &weak[0]["memory"]["id"]), (1, &json!(id)));
    assert!(weak[0]["confidenceNow"].as_f64().unwrap() <= 0.2, "{weak}");
    says(&shown(&home, &["weak", "--below=0.5"]), &["confidence", "0.20", "Porto", &short(&id)]);
    says(&shown(&home, &["weak", "--below=0.01"]), &["No facts with low confidence"]);
    check(&home, &["weak", "--below=1", "--limit=0"], INVALID.0, INVALID.1, "limit");
    check(&home, &["weak", "--below=7"], INVALID.0, INVALID.1, "below");
}

#[test]
fn things_that_are_spoken_of_are_named_united_and_divided() {
    let home = Home::new();
    for said in ["I work with my colleague Maria", "I work with my colleague Marie"] {
        home.json(&["ingest", "--user=ann", "--thread-id=t", "--session=monday", "--role=user", said]);
    }
    home.json(&["session", "learn", "monday", "--user=ann"]);
    let entities = home.json(&["entity", "list", "--user=ann"])["data"].clone();
    let id = |name: &str| {
        let found = entities.as_array().unwrap().iter().find(|entity| entity["canonicalName"] == name);
        text(&found.unwrap_or_else(|| panic!("{name} is missing in {entities}"))["id"]).to_owned()
    };
    let (maria, marie) = (id("Maria"), id("Marie"));
    says(&shown(&home, &["entity", "list", "--user=ann"]), &["Maria", "Marie", "person"]);
    says(&shown(&home, &["entity", "list"]), &["No entities"]);
    let show = |name: &str| home.json(&["entity", "show", name, "--user=ann"]);
    let profile = show("Maria");
    assert_eq!(profile["entity"]["id"], *maria);
    assert!(!profile["memories"].as_array().unwrap().is_empty(), "{profile}");
    says(&shown(&home, &["entity", "show", "Maria", "--user=ann"]), &["Maria", "mentions: ", &maria]);
    let merge = ["entity", "merge", "Maria", "Marie", "--user=ann"];
    says(&shown(&home, &merge), &["Marie is merged into Maria", &marie]);
    assert_eq!(show("Marie")["entity"]["id"], *maria);
    assert_eq!(home.json(&merge)["id"], *maria);
    says(&shown(&home, &merge), &["the same entity already"]);
    let split = home.json(&["entity", "split", &marie, "--from=Maria", "--user=ann"]);
    assert_eq!((&split["id"], &split["event"]), (&json!(maria), &json!("UPDATE")));
    assert_eq!(show("Marie")["entity"]["id"], *marie);
    for args in [
        &["entity", "show", "Nobody", "--user=ann"][..],
        &["entity", "merge", "Maria", "Nobody", "--user=ann"],
        &["entity", "split", UNKNOWN, "--from=Maria", "--user=ann"],
        &["entity", "show", "Maria"],
    ] {
        check(&home, args, ABSENT.0, ABSENT.1, "entity");
    }
    check(&home, &["entity", "split", "nonsense", "--from=Maria", "--user=ann"], INVALID.0, INVALID.1, "id");
}

#[test]
fn jobs_wait_are_done_retried_and_dropped() {
    // Where embedding is switched off nothing waits for it; here it is on at first, and no model is at hand later.
    let home = Home::new().set("LOCI_EMBEDDINGS", "local");
    home.json(&["ingest", "--user=ann", "--thread-id=t", "--session=monday", "My favourite colour is green"]);
    let home = home.set("LOCI_EMBEDDINGS", "none");
    home.json(&["session", "end", "monday", "--user=ann"]);
    let jobs = home.json(&["jobs"])["data"].clone();
    let kinds: Vec<&str> = jobs.as_array().unwrap().iter().map(|job| text(&job["kind"])).collect();
    assert!(kinds.contains(&"consolidate") && kinds.contains(&"embed"), "{jobs}");
    says(&shown(&home, &["jobs", "list", "--state=waiting"]), &["consolidate", "monday", "waiting"]);
    says(&shown(&home, &["jobs", "--state=dead"]), &["No jobs."]);
    let embed = jobs.as_array().unwrap().iter().find(|job| job["kind"] == "embed").unwrap();
    let (space, id) = (text(&embed["space"]), embed["id"].to_string());
    assert_eq!(home.json(&["jobs", "retry", space, &id])["retried"], true);
    let done = home.json(&["jobs", "run"]);
    assert_eq!((&done["failed"], &done["vectors"]), (&json!(0), &json!(0)), "{done}");
    assert!(done["done"].as_u64().unwrap() >= 1, "{done}");
    assert_eq!(facts(&home).len(), 1);
    says(&shown(&home, &["jobs", "run", "--limit=1"]), &["done", "failed"]);
    check(&home, &["jobs", "drop", space, &id], INVALID.0, INVALID.1, "yes");
    says(&shown(&home, &["jobs", "drop", space, &id, "--yes"]), &["is removed"]);
    check(&home, &["jobs", "drop", space, &id, "--yes"], ABSENT.0, ABSENT.1, "job");
    check(&home, &["jobs", "retry", "shared", "4096"], ABSENT.0, ABSENT.1, "job");
    check(&home, &["jobs", "retry", "nowhere", "1"], INVALID.0, INVALID.1, "space");
    check(&home, &["jobs", "--state=asleep"], INVALID.0, INVALID.1, "state");
}

#[test]
fn the_night_is_planned_done_and_done_again() {
    let home = Home::new();
    let id = home.remember(&["--expires-at=2020-01-01", "--kind=fact", "The gate code is 4711"]);
    let plan = home.json(&["maintain", "--dry-run"]);
    assert_eq!((&plan["dryRun"], plan["steps"].as_array().unwrap().len()), (&json!(true), 15));
    let expire = plan["steps"].as_array().unwrap().iter().find(|step| step["step"] == "expire").unwrap();
    assert_eq!((&expire["changes"], &expire["planned"][0]["id"]), (&json!(1), &json!(id)), "{plan}");
    let report = shown(&home, &["maintain", "--dry-run", "--only=expire"]);
    says(&report, &["expire: 1 change", "gate code", &short(&id), "nothing was changed"]);
    assert_eq!(home.json(&["get", &id])["state"], "active");
    says(&shown(&home, &["maintain", "--only=expire", "--only=purge"]), &["expire: 1 change"]);
    assert_eq!(home.json(&["get", &id])["state"], "soft_deleted");
    says(&shown(&home, &["maintain", "--only=expire"]), &["Nothing to do."]);
    assert_eq!(home.run(&["maintain"]).code, 0);
    let later = home.json(&["maintain", "--dry-run", "--only=purge", "--now=2099-01-01"]);
    assert_eq!(later["steps"][0]["changes"], 1, "{later}");
    check(&home, &["maintain", "--only=dancing"], INVALID.0, INVALID.1, "only");
    check(&home, &["maintain", "--now=soon"], INVALID.0, INVALID.1, "now");
}

#[test]
fn a_line_of_the_history_is_taken_back() {
    let home = Home::new();
    let id = home.remember(&["--kind=fact", "The office is in Porto"]);
    home.json(&["update", &id, "The office is in Lisbon"]);
    let events = home.json(&["history", &id])["data"].clone();
    let update = events.as_array().unwrap().iter().find(|event| event["event"] == "UPDATE").expect("an update");
    assert_eq!(update["space"], "users_20");
    let change = |event: &serde_json::Value| format!("{}/{}", text(&event["space"]), event["sequence"]);
    let line = change(update);
    let table = shown(&home, &["history", &id]);
    assert!(table.lines().next().unwrap().trim_start().starts_with("change"), "{table}");
    assert!(table.lines().any(|row| row.trim_start().starts_with(&line)), "{table}");
    let undone = home.json(&["undo", &line]);
    assert_eq!((&undone["event"], &undone["memoryId"]), (&json!("UPDATE"), &json!(id)));
    assert_eq!(home.json(&["get", &id])["content"], "The office is in Porto");
    check(&home, &["undo", &line], "CONFLICT", 24, "sequence");
    let first = change(&events[0]);
    says(&shown(&home, &["undo", &first]), &["is reverted", &id]);
    assert_eq!(home.json(&["get", &id])["state"], "soft_deleted");
    check(&home, &["undo", "users_20/4096"], "NOT_FOUND", NOT_FOUND.1, "sequence");
    check(&home, &["undo", "nowhere/1"], INVALID.0, INVALID.1, "space");
    // A number alone would be of another space than the reader thinks.
    check(&home, &["undo", "1"], INVALID.0, INVALID.1, "change");

    // The ledger entries of an agent are in a space of its own.
    let own = home.remember(&["--agent=helper", "--user=ann", "Ann likes short answers"]);
    says(&shown(&home, &["history", &own]), &["agent_memory_helper/1"]);
    let line = home.json(&["history", &own])["data"][0]["sequence"].to_string();
    home.json(&["undo", &line, "--agent=helper", "--user=ann"]);
    assert_eq!(home.json(&["get", &own])["state"], "soft_deleted");
}

#[test]
fn a_conversation_is_said_in_few_words() {
    let home = learned();
    let summary = home.json(&["session", "summarize", "monday", "--user=ann"]);
    says(text(&summary["text"]), &["green"]);
    assert!(!text(&summary["text"]).contains("Porto"), "a turn that waits for consent is left out: {summary}");
    assert_eq!(summary["usedLlm"], false);
    assert_eq!(home.json(&["summarize", "--session=monday", "--user=ann"]), summary, "the earlier name");
    let run = home.run(&["session", "summarize", "--user=ann", "--strategy=extractive", "--target-tokens=50"]);
    assert_eq!(run.code, 0, "{run:?}");
    says(&run.out, &["green"]);
    says(&run.err, &["short enough"]);
    says(&shown(&home, &["session", "summarize", "--user=ann", "--layer=user"]), &["green"]);
    says(&shown(&home, &["session", "summarize", "--user=ann", "--kind=task"]), &["nothing to summarize"]);
    says(&shown(&home, &["session", "summarize", "--user=nobody"]), &["nothing to summarize"]);
    check(&home, &["session", "summarize", "never"], ABSENT.0, ABSENT.1, "sessionId");
    check(&home, &["session", "summarize", "monday"], ABSENT.0, ABSENT.1, "sessionId");
    check(&home, &["session", "summarize", "--strategy=poem"], INVALID.0, INVALID.1, "strategy");
    check(&home, &["session", "summarize", "--target-tokens=0"], INVALID.0, INVALID.1, "targetTokens");
    assert_eq!(home.run(&["session", "summarize", "monday", "--session=tuesday"]).code, 2);
}

#[test]
fn earlier_names_of_commands_have_the_help_of_the_present_ones() {
    let home = Home::new();
    for verb in [
        "ingest",
        "session",
        "supersede",
        "correct",
        "confirm",
        "pin",
        "chain",
        "weak",
        "entity",
        "edges",
        "consent",
        "jobs",
        "maintain",
        "undo",
        "summarize",
        "events",
        "operations",
        "fact",
        "checkpoint",
    ] {
        says(&shown(&home, &[verb, "--help"]), &["Examples:", "--json"]);
    }
}
