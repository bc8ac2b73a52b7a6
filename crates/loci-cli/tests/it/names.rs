//! The command line names things as the HTTP API names them.

use serde_json::{Value, json};

use crate::bad::check;
use crate::run::Home;

/// A schema of the published description.
fn schema(name: &str) -> Value {
    let path = format!("{}/../../docs/openapi.json", env!("CARGO_MANIFEST_DIR"));
    let description: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    description["components"]["schemas"][name].clone()
}

/// The fields of a schema, sorted.
fn fields(schema: &Value) -> Vec<String> {
    let mut names: Vec<String> = schema["properties"].as_object().unwrap().keys().cloned().collect();
    names.sort();
    names
}

fn keys(value: &Value) -> Vec<String> {
    let mut names: Vec<String> = value.as_object().unwrap_or_else(|| panic!("{value}")).keys().cloned().collect();
    names.sort();
    names
}

fn kebab(name: &str) -> String {
    name.chars().flat_map(|c| c.is_uppercase().then_some('-').into_iter().chain(c.to_lowercase())).collect()
}

/// Whether a help text lists this flag.
fn lists(help: &str, flag: &str) -> bool {
    help.split(|c: char| !c.is_alphanumeric() && c != '-').any(|word| word == format!("--{flag}"))
}

#[test]
fn every_field_of_the_filter_is_a_flag() {
    let home = Home::new();
    let fields = fields(&schema("MemoryFilter"));
    assert!(fields.len() >= 31, "{fields:?}");
    for verb in ["list", "recall", "query", "context", "search", "summarize"] {
        let help = home.run(&[verb, "--help"]).out;
        let missing: Vec<String> = fields.iter().map(|field| kebab(field)).filter(|flag| !lists(&help, flag)).collect();
        assert!(missing.is_empty(), "loci {verb} lacks {missing:?}");
    }
}

#[test]
fn flags_that_http_names_otherwise_still_work() {
    let home = Home::new();
    home.remember(&["--user=ann", "--thread=t", "--run=r", "--actor=bo", "--tag=x", "--meta=n=1", "Ann likes tea"]);
    for flag in ["--thread=t", "--run=r", "--actor=bo", "--tag=x", "--meta=n=1"] {
        assert_eq!(home.count(&["--user=ann", flag]), 1, "{flag}");
    }
    home.json(&["recall", "--user=ann", "--for-thread=t", "tea"]);
    home.json(&["query", "--user=ann", "--for-thread=t", "--since=0", "--since-in=t", "--summarise", "tea"]);
    home.json(&["context", "--user=ann", "--since=0", "--since-in=t", "--summarise", "tea"]);
    home.json(&["summarise", "--user=ann"]);
    home.json(&["ingest", "--user=ann", "--thread=t", "--actor=bo", "--time=2026-01-31", "It rains"]);
    home.json(&["maintain", "--dry-run", "--only=summarise", "--at=2126-01-01"]);
    home.json(&["operations", "--since=2026-01-01", "--until=2026-02-01", "--by=week", "--op=add"]);
    assert_eq!(home.run(&["events", "--since=all", "--thread=t"]).code, 0);
    home.configure("[summarisation]\ntarget_tokens = 77\n");
    assert!(home.run(&["config", "check"]).out.contains("target_tokens = 77"));
    for verb in ["list", "recall", "query", "context", "remember", "ingest", "maintain", "operations", "events"] {
        let help = home.run(&[verb, "--help"]).out;
        for flag in [
            "thread",
            "run",
            "actor",
            "tag",
            "meta",
            "at",
            "for-thread",
            "since",
            "since-in",
            "summarise",
            "time",
            "by",
            "op",
            "until",
        ] {
            assert!(!lists(&help, flag), "loci {verb} --{flag}");
        }
    }
}

#[test]
fn a_conversation_has_one_name() {
    let home = Home::new();
    for (verb, flags) in [
        ("list", &["thread-id"][..]),
        ("recall", &["thread-id", "for-thread-id"]),
        ("query", &["thread-id", "for-thread-id", "changes-thread-id"]),
        ("context", &["thread-id", "for-thread-id", "changes-thread-id"]),
        ("remember", &["thread-id"]),
        ("ingest", &["thread-id"]),
    ] {
        let help = home.run(&[verb, "--help"]).out;
        for flag in flags {
            assert!(lists(&help, flag), "loci {verb} lacks --{flag}");
        }
    }
    home.remember(&["--thread-id=t", "My favourite colour is green"]);
    let answer = home.json(&["context", "--for-thread-id=t2", "favourite colour"]);
    assert_eq!(answer["data"][0]["memory"]["threadId"], "t", "{answer}");
    assert_eq!(home.json(&["remember", "--thread-id=t2", "My favourite colour is green"])["event"], "NONE");
}

#[test]
fn answers_to_questions_have_the_fields_of_http() {
    let home = Home::new();
    home.remember(&["--user=ann", "Ann drinks green tea"]);
    let whole = fields(&schema("RecallAnswer"));
    let without = |left_out: &[&str]| -> Vec<String> {
        whole.iter().filter(|name| !left_out.contains(&name.as_str())).cloned().collect()
    };
    let found = home.json(&["recall", "--user=ann", "tea"]);
    assert_eq!(keys(&found), without(&["pack", "window"]));
    assert_eq!(keys(&found["data"][0]), ["memory", "score"]);
    let packed = home.json(&["query", "--user=ann", "--budget-tokens=500", "tea"]);
    assert_eq!(keys(&packed), without(&["window"]));
    assert_eq!(keys(&packed["pack"]), fields(&schema("RecallPack")));
    assert_eq!(packed["pack"]["budgetTokens"], 500);
    assert_eq!(packed["data"][0]["memory"]["content"], "Ann drinks green tea");
    let short = home.json(&["query", "--user=ann", "--return=bullets", "tea"]);
    assert_eq!(keys(&short), without(&["window"]));
    assert_eq!(short["data"][0]["text"], "[fact] Ann drinks green tea");
    let filled = home.json(&["context", "--user=ann", "tea"]);
    assert_eq!(keys(&filled), without(&["pack"]));
    assert_eq!(keys(&filled["window"]), fields(&schema("RecallWindow")));
    home.json(&["pool", "create", "docs"]);
    assert_eq!(keys(&home.json(&["pool", "query", "docs", "tea"])), without(&["pack", "window"]));
}

#[test]
fn a_score_is_explained_when_that_is_asked_for() {
    let home = Home::new();
    home.remember(&["Ann drinks green tea"]);
    for verb in ["recall", "query", "context"] {
        let plain = home.json(&[verb, "tea"]);
        assert!(plain["data"][0].is_object() && plain["data"][0]["explain"].is_null(), "{plain}");
        let explained = home.json(&[verb, "tea", "--explain"]);
        assert!(explained["data"][0]["explain"]["lanes"].is_array(), "{explained}");
    }
}

#[test]
fn a_day_begins_at_midnight_in_the_configured_time_zone() {
    let home = Home::local();
    home.configure("[retrieval]\ntime_zone = \"Europe/Vienna\"\n");
    let id = home.remember(&["--event-time=2026-01-31", "--expires-at=2126-07-31", "Met Bo at the station"]);
    let memory = home.json(&["get", &id]);
    assert_eq!(
        (&memory["eventTime"], &memory["expiresAt"]),
        (&json!("2026-01-30T23:00:00Z"), &json!("2126-07-30T22:00:00Z"))
    );
    let total = |flag: &str| home.count(&[flag]);
    assert_eq!((total("--event-after=2026-01-31"), total("--event-after=2026-01-31T00:00:00Z")), (1, 0));
    let report = home.json(&["maintain", "--dry-run", "--only=purge", "--now=2127-01-01"]);
    assert_eq!(report["now"], "2126-12-31T23:00:00Z");
    let key = home.json(&["key", "create", "--name=k", "--expires-at=2127-01-01"]);
    assert_eq!(key["data"]["expiresAt"], "2126-12-31T23:00:00Z", "{key}");
    let said = home.json(&["ingest", "--thread-id=t", "--event-time=2026-01-31", "It rains"]);
    let line = br#"{"threadId":"u","content":"It snows","eventTime":"2026-01-31"}"#;
    let fed = home.feed(&["--json", "ingest", "-"], line);
    assert_eq!(fed.code, 0, "{fed:?}");
    for answer in [said, fed.value()] {
        let id = answer["data"][0]["writes"][0]["id"].as_str().unwrap();
        assert_eq!(home.json(&["get", id])["eventTime"], "2026-01-30T23:00:00Z");
    }
    for (args, field) in [
        (&["list", "--event-after=2026-01-31T12:00:00"][..], "eventAfter"),
        (&["recall", "--now=soon", "x"], "now"),
        (&["remember", "--expires-at=soon", "x"], "expiresAt"),
    ] {
        crate::bad::check(&home, args, "INVALID_INPUT", 20, field);
    }
}

/// Whether a text has a word in British spelling that names have in American spelling.
fn british(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_alphanumeric());
    words.filter(|word| ["summaris", "organisation"].iter().any(|one| word.to_lowercase().contains(one))).collect()
}

#[test]
fn names_have_one_spelling() {
    let home = Home::new();
    for verb in ["--help", "summarize", "query", "context", "maintain", "list", "key", "jobs"] {
        let help = home.run(&[verb, "--help"]).out;
        assert!(british(&help).is_empty(), "loci {verb}: {:?}", british(&help));
    }
    assert!(british(&home.run(&["config", "check"]).out).is_empty());
    for page in ["openapi.json", "http.md", "concepts.md", "learning.md", "settings.md", "glossary.md", "coverage.md"] {
        let text = std::fs::read_to_string(format!("{}/../../docs/{page}", env!("CARGO_MANIFEST_DIR"))).unwrap();
        assert!(british(&text).is_empty(), "docs/{page}: {:?}", british(&text));
    }
}

#[test]
fn every_strategy_is_in_the_help_and_in_the_concepts() {
    let home = Home::new();
    let concepts = std::fs::read_to_string(format!("{}/../../docs/concepts.md", env!("CARGO_MANIFEST_DIR"))).unwrap();
    for (name, verb) in [("Strategy", "recall"), ("SummaryStrategy", "summarize"), ("Format", "query")] {
        let help = home.run(&[verb, "--help"]).out;
        let found = schema(name);
        let values = found["enum"].as_array().cloned().unwrap_or_else(|| {
            found["oneOf"].as_array().unwrap().iter().flat_map(|one| one["enum"].as_array().unwrap().clone()).collect()
        });
        assert!(!values.is_empty());
        for value in values {
            let value = value.as_str().unwrap();
            assert!(help.contains(value), "loci {verb} --help lacks {value}");
            assert!(name == "Format" || concepts.contains(&format!("`{value}`")), "docs/concepts.md lacks {value}");
        }
    }
}

#[test]
fn recall_goes_on_from_page_to_page() {
    let home = Home::new();
    for number in 0..5 {
        home.remember(&["--user=ann", &format!("The harbour has crane number {number}")]);
    }
    let mut seen = std::collections::BTreeSet::new();
    let mut cursor = None;
    for _ in 0..3 {
        let flag: Option<String> = cursor.map(|cursor| format!("--cursor={cursor}"));
        let args: Vec<&str> =
            ["recall", "--user=ann", "--limit=2", "crane"].into_iter().chain(flag.as_deref()).collect();
        let page = home.json(&args);
        seen.extend(page["data"].as_array().unwrap().iter().map(|hit| hit["memory"]["id"].to_string()));
        cursor = page["nextCursor"].as_str().map(str::to_owned);
    }
    assert_eq!((seen.len(), cursor), (5, None));
    check(&home, &["recall", "--user=ann", "--cursor=x", "crane"], "INVALID_INPUT", 20, "cursor");
}

#[test]
fn a_short_id_is_a_filter_too() {
    let home = Home::new();
    let id = home.remember(&["--user=ann", "The lamp is green"]);
    home.remember(&["--user=ann", "The door squeaks"]);
    let short = id.parse::<loci_types::MemoryId>().unwrap().short();
    let flag = format!("--id={short}");
    assert_eq!(home.json(&["list", "--user=ann", &flag])["data"][0]["id"], id);
    assert_eq!(home.json(&["recall", "--user=ann", &flag, "lamp"])["data"][0]["memory"]["id"], id);
}

#[test]
fn a_tenant_that_does_not_exist_is_not_backed_up() {
    let home = Home::local();
    home.remember(&["--user=ann", "The lamp is green"]);
    let file = home.path().join("nobody.backup");
    check(&home, &["backup", "--tenant=nobody", file.to_str().unwrap()], "MEMORY_NOT_FOUND", 12, "tenant");
    assert!(!file.exists());
}
