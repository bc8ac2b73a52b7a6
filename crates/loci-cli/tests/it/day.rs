//! What is known after a day of talk?
//!
//! The conversations and what must be known afterwards lie in `tests/day`, as its README says. They are
//! checked themselves, for an unsound day would judge nothing; then the binary lives through them, without a
//! language model, and is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::run::Home;

/// The turns of Ana's day, in order.
fn turns() -> Vec<Value> {
    lines("turns.jsonl")
}

/// What must be known after Ana's day.
fn expect() -> Value {
    serde_json::from_str(&read("expect.json")).unwrap()
}

/// The turns of someone else, who talks differently.
fn other_turns() -> Vec<Value> {
    lines("other.jsonl")
}

/// What must be known about them.
fn other_expect() -> Value {
    serde_json::from_str(&read("other-expect.json")).unwrap()
}

fn lines(name: &str) -> Vec<Value> {
    read(name).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn read(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/day").join(name);
    fs::read_to_string(path).unwrap()
}

/// A text of a record; the test fails when it is not there.
fn text<'a>(record: &'a Value, field: &str) -> &'a str {
    record[field].as_str().unwrap_or_else(|| panic!("{field} is missing in {record}"))
}

/// A list of a record.
fn list<'a>(record: &'a Value, field: &str) -> &'a [Value] {
    record[field].as_array().unwrap_or_else(|| panic!("{field} is missing in {record}"))
}

/// A list of texts.
fn texts(list: &[Value]) -> Vec<&str> {
    list.iter().map(|item| item.as_str().unwrap()).collect()
}

/// Whether one of the words is in the text, whatever their case.
fn says(text: &str, words: &[Value]) -> bool {
    let text = text.to_lowercase();
    texts(words).iter().any(|word| text.contains(&word.to_lowercase()))
}

/// How many different values a field has.
fn different(turns: &[Value], field: &str) -> usize {
    turns.iter().map(|turn| text(turn, field)).collect::<BTreeSet<_>>().len()
}

/// Turns by reference.
fn by_reference(turns: &[Value]) -> BTreeMap<&str, &Value> {
    let found: BTreeMap<_, _> = turns.iter().map(|turn| (text(turn, "reference"), turn)).collect();
    assert_eq!(found.len(), turns.len(), "a reference stands twice");
    found
}

/// What holds for every turn and every set of turns.
fn check_turns(turns: &[Value]) {
    for turn in turns {
        let user = match text(turn, "role") {
            "user" => true,
            "assistant" => false,
            role => panic!("{role} in {turn}"),
        };
        assert_eq!(turn["actorId"].is_string(), user, "{turn}");
        assert!(text(turn, "reference").starts_with(text(turn, "conversation")), "{turn}");
        assert!(!text(turn, "content").trim().is_empty(), "{turn}");
    }
    let mut sessions = BTreeMap::new();
    for pair in turns.windows(2) {
        assert!(text(&pair[0], "eventTime") < text(&pair[1], "eventTime"), "{} is not later", pair[1]);
    }
    for turn in turns {
        let thread = sessions.entry(text(turn, "sessionId")).or_insert(text(turn, "threadId"));
        assert_eq!(*thread, text(turn, "threadId"), "a session in two threads: {turn}");
    }
    assert_eq!(sessions.len(), different(turns, "conversation"));
}

/// What is expected can be met: it is said in the turns, and what is not to be learned holds no fact.
fn check_expect(turns: &[Value], expect: &Value) {
    let by_reference = by_reference(turns);
    let content = |reference: &Value| text(by_reference[reference.as_str().unwrap()], "content");
    let chitchat: BTreeSet<_> = texts(list(expect, "chitchat")).into_iter().collect();
    assert!(chitchat.len() * 2 >= turns.len(), "{} of {} are chit-chat", chitchat.len(), turns.len());
    let mut told = BTreeSet::new();
    for fact in list(expect, "facts") {
        assert!(matches!(text(fact, "language"), "en" | "ru"), "{fact}");
        assert!(text(fact, "question").ends_with('?'), "{fact}");
        assert!(says(content(&fact["turn"]), list(fact, "answer")), "{fact}");
        assert!(texts(list(fact, "not")).iter().all(|word| !texts(list(fact, "answer")).contains(word)), "{fact}");
        told.insert(text(fact, "turn"));
    }
    for change in list(expect, "contradictions") {
        let (latest, before) = list(change, "turns").split_last().unwrap();
        assert!(!before.is_empty(), "{change}");
        assert!(says(content(latest), list(change, "latest")), "{change}");
        for turn in before {
            assert!(says(content(turn), list(change, "old")), "{change}");
            assert!(!says(content(turn), list(change, "latest")), "{change}");
        }
        assert!(list(change, "turns").iter().all(|turn| says(content(turn), list(change, "about"))), "{change}");
        told.extend(texts(list(change, "turns")));
    }
    let mut again = BTreeSet::new();
    for same in list(expect, "duplicates") {
        let same = texts(same.as_array().unwrap());
        assert!(same.len() > 1, "{same:?}");
        again.extend(&same[1..]);
        told.extend(same);
    }
    for entity in list(expect, "entities") {
        for name in list(entity, "names") {
            assert!(turns.iter().any(|turn| text(turn, "content").contains(name.as_str().unwrap())), "{name}");
        }
    }
    let repeats = texts(list(expect, "repeats"));
    let listed: BTreeSet<_> = repeats.into_iter().chain(texts(list(expect, "paraphrases"))).collect();
    assert_eq!(again, listed, "what is said again is a repeat or a paraphrase");
    assert!(texts(list(expect, "corrections")).iter().all(|turn| told.contains(turn)));
    assert!(texts(list(expect, "echoes")).iter().all(|turn| chitchat.contains(turn)));
    for (reference, turn) in &by_reference {
        let learned = told.contains(reference);
        assert_ne!(learned, chitchat.contains(reference), "{turn}");
        assert!(!learned || turn["role"] == "user", "{turn}");
    }
    assert!(told.iter().chain(&chitchat).all(|reference| by_reference.contains_key(reference)));
}

/// At least so many of each class.
fn check_counts(expect: &Value, least: &[(&str, usize)]) {
    for (class, least) in least {
        let count = list(expect, class).len();
        assert!(count >= *least, "{count} {class}, not {least}");
    }
}

#[test]
fn the_day_is_sound() {
    let (turns, expect) = (turns(), expect());
    check_turns(&turns);
    check_expect(&turns, &expect);
    assert_eq!((turns.len(), different(&turns, "conversation"), different(&turns, "threadId")), (200, 8, 6));
    for conversation in 1..=8 {
        let name = format!("c{conversation}");
        let length = turns.iter().filter(|turn| text(turn, "conversation") == name).count();
        assert!((20..=30).contains(&length), "{name} has {length} turns");
    }
    check_counts(
        &expect,
        &[
            ("facts", 60),
            ("contradictions", 18),
            ("corrections", 6),
            ("repeats", 12),
            ("paraphrases", 12),
            ("duplicates", 20),
            ("entities", 8),
            ("chitchat", 101),
        ],
    );
    let twice = list(&expect, "contradictions").iter().filter(|change| list(change, "turns").len() > 2).count();
    assert!(twice >= 3, "{twice} change twice");
}

#[test]
fn the_other_voice_is_sound() {
    let (turns, expect) = (other_turns(), other_expect());
    check_turns(&turns);
    check_expect(&turns, &expect);
    assert_eq!((turns.len(), different(&turns, "conversation")), (60, 3));
    check_counts(&expect, &[("facts", 20), ("contradictions", 4), ("repeats", 2), ("paraphrases", 3)]);
}

/// What was learned from a day.
struct Known {
    home: Home,
    user: String,
    /// Every learned memory, replaced ones too, with the references of the turns it came from.
    learned: Vec<(Value, BTreeSet<String>)>,
}

impl Known {
    /// Lives through the turns, one conversation after the other, as the user would: each is ended, learned
    /// from, and what it proposes is accepted.
    fn after(turns: &[Value]) -> Self {
        let home = Home::with_model();
        let user = turns.iter().find_map(|turn| turn["actorId"].as_str()).unwrap().to_owned();
        let mut done = BTreeSet::new();
        for turn in turns {
            let session = text(turn, "sessionId");
            if !done.insert(session) {
                continue;
            }
            let said: String = turns
                .iter()
                .filter(|turn| text(turn, "sessionId") == session)
                .map(|turn| format!("{turn}\n"))
                .collect();
            let run = home.feed(&["ingest", "-", "--user", &user], said.as_bytes());
            assert_eq!(run.code, 0, "{run:?}");
            home.json(&["session", "end", session, "--user", &user]);
            home.json(&["jobs", "run"]);
            let accepted = home.run(&["--json", "consent", "accept", "--all", "--user", &user]);
            assert_eq!(accepted.code, 0, "{accepted:?}");
        }
        let told = |memory: Value| {
            let explained = home.json(&["explain", text(&memory, "id"), "--user", &user]);
            let sources = list(&explained, "sources").iter();
            let references =
                sources.filter_map(|turn| turn["source"]["reference"].as_str().map(str::to_owned)).collect();
            (memory, references)
        };
        let records = home.export().into_iter();
        let learned =
            records.filter(|memory| !["episodic", "insight"].contains(&text(memory, "kind"))).map(told).collect();
        Self { home, user, learned }
    }

    /// What holds now.
    fn active(&self) -> impl Iterator<Item = &(Value, BTreeSet<String>)> {
        self.learned.iter().filter(|(memory, _)| {
            memory["supersededById"].is_null() && matches!(text(memory, "state"), "active" | "decayed")
        })
    }

    /// The facts that recall finds, and those with which it still tells what no longer holds.
    fn facts(&self, expect: &Value) -> (Vec<String>, Vec<String>) {
        let kinds: Vec<&str> = [
            "fact",
            "preference",
            "person",
            "project",
            "task",
            "decision",
            "correction",
            "procedural",
            "opinion",
            "document",
        ]
        .into_iter()
        .flat_map(|kind| ["--kind", kind])
        .collect();
        let (mut missed, mut stale) = (Vec::new(), Vec::new());
        for fact in list(expect, "facts") {
            let mut ask = vec!["recall", text(fact, "question"), "--user", &self.user, "--limit", "5"];
            ask.extend(&kinds);
            let answer = self.home.json(&ask);
            let hits: Vec<&str> = list(&answer, "hits").iter().map(|hit| text(&hit["memory"], "content")).collect();
            if !hits.iter().any(|hit| says(hit, list(fact, "answer"))) {
                missed.push(text(fact, "id").to_owned());
            }
            if hits.iter().any(|hit| says(hit, list(fact, "not")) && !says(hit, list(fact, "answer"))) {
                stale.push(text(fact, "id").to_owned());
            }
        }
        (missed, stale)
    }

    /// The contradictions that are not resolved to the latest, with the old one in a chain.
    fn unresolved(&self, expect: &Value) -> Vec<String> {
        let about = |memory: &Value, change: &Value| says(text(memory, "content"), list(change, "about"));
        let resolved = |change: &Value| {
            let says = |memory: &Value, field: &str| says(text(memory, "content"), list(change, field));
            let latest = self.active().any(|(memory, _)| says(memory, "latest") && about(memory, change));
            let old = self
                .active()
                .any(|(memory, _)| says(memory, "old") && !says(memory, "latest") && about(memory, change));
            latest && !old
        };
        list(expect, "contradictions")
            .iter()
            .filter(|change| !resolved(change))
            .map(|change| text(change, "id").to_owned())
            .collect()
    }

    /// What was learned from turns that hold nothing.
    fn junk(&self, expect: &Value) -> Vec<&str> {
        let chitchat: BTreeSet<&str> = texts(list(expect, "chitchat")).into_iter().collect();
        self.active()
            .filter(|(_, from)| !from.is_empty() && from.iter().all(|turn| chitchat.contains(turn.as_str())))
            .map(|(memory, _)| text(memory, "content"))
            .collect()
    }

    /// Facts that were said several times and are known several times.
    fn duplicates(&self, expect: &Value) -> Vec<Vec<&str>> {
        let group = |turns: &Value| {
            let turns: BTreeSet<&str> = texts(turns.as_array().unwrap()).into_iter().collect();
            let from = self.active().filter(|(_, from)| from.iter().any(|turn| turns.contains(turn.as_str())));
            from.map(|(memory, _)| text(memory, "content")).collect::<Vec<_>>()
        };
        list(expect, "duplicates").iter().map(group).filter(|known| known.len() > 1).collect()
    }

    /// Names that do not lead to one entity.
    fn unknown_names(&self, expect: &Value) -> Vec<String> {
        let entity = |name: &str| {
            let run = self.home.run(&["--json", "entity", "show", name, "--user", &self.user]);
            (run.code == 0).then(|| text(&run.value()["entity"], "id").to_owned())
        };
        let one = |names: &Value| {
            let ids: BTreeSet<Option<String>> = texts(list(names, "names")).into_iter().map(entity).collect();
            ids.len() == 1 && !ids.contains(&None)
        };
        list(expect, "entities").iter().filter(|names| !one(names)).map(|names| names["names"].to_string()).collect()
    }
}

#[test]
fn a_day_is_learned() {
    let expect = expect();
    let known = Known::after(&turns());
    let (missed, stale) = known.facts(&expect);
    let (unresolved, junk) = (known.unresolved(&expect), known.junk(&expect));
    let (duplicates, names) = (known.duplicates(&expect), known.unknown_names(&expect));
    let all = list(&expect, "facts").len();
    println!("facts found {} of {all}, missed {missed:?}, stale {stale:?}", all - missed.len());
    println!("unresolved {unresolved:?}, junk {junk:?}, duplicates {duplicates:#?}, names {names:?}");
    assert!((all - missed.len()) * 100 >= all * 80, "missed {missed:?}");
    assert!(junk.is_empty(), "{junk:?}");
    assert!(unresolved.is_empty(), "{unresolved:?}");
    assert!(duplicates.is_empty(), "{duplicates:#?}");
    assert!(names.is_empty(), "{names:?}");
    println!("a year later {} fade or go", a_year_passes(&known.home));
    let stats = known.home.json(&["stats"]);
    assert!(stats["learning"]["firstPassRate"].as_f64().unwrap() >= 0.95, "{stats}");
    let mut texts: Vec<&str> = known.active().map(|(memory, _)| text(memory, "content")).collect();
    texts.sort_unstable();
    assert!(texts.windows(2).all(|pair| pair[0].to_lowercase() != pair[1].to_lowercase()), "{texts:#?}");
}

/// A dry run tells what a year would do, and the run does exactly that.
fn a_year_passes(home: &Home) -> usize {
    let later = in_a_year();
    let plan = |flags: &[&str]| {
        let report = home.json(&[&["maintain", "--at", &later], flags].concat());
        let steps = list(&report, "steps").iter();
        let planned = steps.flat_map(|step| list(step, "planned").to_vec());
        planned.filter(|change| change["id"].is_string()).collect::<Vec<Value>>()
    };
    let dry = plan(&["--dry-run"]);
    assert!(!dry.is_empty());
    assert_eq!(plan(&[]), dry);
    let states: BTreeMap<String, Value> =
        home.export().into_iter().map(|memory| (text(&memory, "id").to_owned(), memory["state"].clone())).collect();
    for change in &dry {
        let expect = match text(change, "action") {
            "soft-delete" => "soft_deleted",
            "mark as decayed" => "decayed",
            action => panic!("{action}"),
        };
        assert_eq!(states[text(change, "id")], expect, "{change}");
    }
    dry.len()
}

#[test]
fn another_voice_is_understood() {
    let expect = other_expect();
    let known = Known::after(&other_turns());
    let (missed, stale) = known.facts(&expect);
    let all = list(&expect, "facts").len();
    println!("facts found {} of {all}, missed {missed:?}, stale {stale:?}", all - missed.len());
    println!(
        "unresolved {:?}, duplicates {:#?}, junk {:?}",
        known.unresolved(&expect),
        known.duplicates(&expect),
        known.junk(&expect)
    );
    assert!((all - missed.len()) * 100 >= all * 80, "missed {missed:?}");
}

/// The binary has the machine's clock, so the test must ask it too.
#[expect(clippy::disallowed_methods, reason = "the day is lived through today")]
fn in_a_year() -> String {
    let hours = jiff::SignedDuration::from_hours(24 * 366);
    jiff::Timestamp::now().saturating_add(hours).unwrap().to_string()
}
