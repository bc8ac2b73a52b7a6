//! `loci bench drive`: the benchmark harness sends commands as JSON lines and reads the answers.

use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::run::Home;

const USERS: u64 = 4;
const DIMENSIONS: u64 = 384;

/// A worker process that reads commands and writes answers.
struct Worker {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Worker {
    fn start(home: &Home) -> Self {
        let mut child = home.command(&["bench", "drive"]).stdin(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    /// A worker on a store and the data of `home`.
    fn open(home: &Home) -> Self {
        let mut worker = Self::start(home);
        let opened = worker.ask(json!({ "do": "open", "folder": home.path().join("store"), "data": data(home) }));
        assert!(opened["ms"].as_f64().unwrap() > 0.0, "{opened}");
        worker
    }

    fn ask(&mut self, command: Value) -> Value {
        writeln!(self.input, "{command}").unwrap();
        self.next()
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: `{line}`"))
    }

    fn close(mut self) {
        assert_eq!(self.ask(json!({ "do": "close" })), json!({}));
        assert!(self.child.wait().unwrap().success());
    }
}

fn data(home: &Home) -> PathBuf {
    home.path().join("bench")
}

/// The text of a row: words that no other row has, and words that many rows share.
fn text(number: u64) -> String {
    format!("keepsake{number} lies in drawer{} of the old cupboard", number % 7)
}

/// A vector with two coordinates that are not zero, so that the nearest neighbour is known.
fn vector(number: u64) -> Vec<f32> {
    let mut values = vec![0.0_f32; DIMENSIONS as usize];
    values[(number % DIMENSIONS) as usize] = 0.8;
    values[((number + USERS) % DIMENSIONS) as usize] = 0.6;
    values
}

/// Writes memories and questions. The answer to question n is memory n.
fn write_data(home: &Home, memories: u64, questions: u64) {
    std::fs::create_dir_all(data(home)).unwrap();
    for (name, vectors, count, said) in
        [("memories", "vectors", memories, ""), ("queries", "queries", questions, "where is ")]
    {
        let line = |number: u64| {
            let user = format!("u{:02}", number % USERS);
            json!({ "number": number, "user": user, "text": format!("{said}{}", text(number)) }).to_string() + "\n"
        };
        std::fs::write(data(home).join(format!("{name}.jsonl")), (0..count).map(line).collect::<String>()).unwrap();
        let bytes: Vec<u8> = (0..count).flat_map(vector).flat_map(f32::to_le_bytes).collect();
        std::fs::write(data(home).join(format!("{vectors}.f32")), bytes).unwrap();
    }
}

fn first(answer: &Value, question: usize) -> u64 {
    answer["ranked"][question][0].as_u64().unwrap_or_else(|| panic!("{answer}"))
}

// Coverage: SPEC-9.2.
#[test]
fn every_command_of_the_harness_is_answered() {
    let home = Home::new();
    write_data(&home, 400, 20);
    let mut worker = Worker::open(&home);
    assert_eq!(worker.ask(json!({ "do": "hello" }))["peer"], "loci");

    let loaded = worker.ask(json!({ "do": "load", "from": 0, "until": 100 }));
    assert!(loaded["seconds"].as_f64().unwrap() > 0.0 && loaded["cpu"].as_f64().unwrap() > 0.0, "{loaded}");
    assert_eq!(worker.ask(json!({ "do": "count" })), json!({ "count": 100 }));

    for (from, callers, vectors) in [(100, 1, true), (120, 64, true), (200, 1, false), (210, 64, false)] {
        let until = from + if callers == 1 { 10 } else { 80 };
        let added =
            worker.ask(json!({ "do": "add", "from": from, "until": until, "callers": callers, "vectors": vectors }));
        assert!(added["p99_ms"].as_f64() >= added["p50_ms"].as_f64() && added["p50_ms"].as_f64().unwrap() > 0.0);
    }
    let numbers: Vec<u64> = (0..110).chain(120..290).collect();
    assert_eq!(worker.ask(json!({ "do": "numbers" })), json!({ "numbers": numbers }));

    for way in ["find", "hybrid"] {
        let found = worker.ask(json!({ "do": way, "from": 5, "until": 15, "k": 3 }));
        for question in 0..10 {
            assert_eq!(first(&found, question), 5 + question as u64, "{way}: {found}");
            let users: Vec<u64> =
                found["ranked"][question].as_array().unwrap().iter().map(|n| n.as_u64().unwrap() % USERS).collect();
            assert!(users.iter().all(|user| *user == (5 + question as u64) % USERS), "{way}: {found}");
        }
    }

    assert!(worker.ask(json!({ "do": "update", "from": 0, "until": 5 }))["cpu"].is_number());
    assert_eq!(first(&worker.ask(json!({ "do": "find", "from": 3, "until": 4, "k": 1 })), 0), 3);
    assert!(worker.ask(json!({ "do": "delete", "from": 3, "until": 5 }))["p50_ms"].is_number());
    assert_ne!(first(&worker.ask(json!({ "do": "find", "from": 3, "until": 4, "k": 1 })), 0), 3);
    assert_eq!(worker.ask(json!({ "do": "count" })), json!({ "count": 278 }));

    let memory = worker.ask(json!({ "do": "memory" }));
    assert!(memory["rss_kb"].as_u64() >= memory["anonymous_kb"].as_u64(), "{memory}");

    assert_eq!(worker.ask(json!({ "do": "acknowledge", "from": 290, "until": 292 })), json!({ "added": 290 }));
    assert_eq!([worker.next(), worker.next()], [json!({ "added": 291 }), json!({ "done": true })]);
    let mixed = worker.ask(json!({ "do": "mixed", "seconds": 0.02, "from": 292 }));
    assert!(mixed["operations"].as_u64().unwrap() > 0, "{mixed}");
    worker.close();
}

// Coverage: SPEC-9.2.
#[test]
fn a_command_that_fails_is_answered_and_the_next_is_read() {
    let home = Home::new();
    write_data(&home, 4, 1);
    let mut worker = Worker::start(&home);
    for (command, said) in [
        (json!({ "do": "count" }), "nothing is open"),
        (json!({ "do": "dance" }), "not a command"),
        (json!({ "do": "find", "from": 1 }), "not a command"),
    ] {
        let answer = worker.ask(command);
        assert!(answer["error"].as_str().is_some_and(|error| error.contains(said)), "{answer}");
    }
    worker.close();
    let mut worker = Worker::open(&home);
    for (command, said) in [
        (json!({ "do": "load", "from": 0, "until": 9 }), "too few rows"),
        (json!({ "do": "load", "from": 9, "until": 10 }), "ends before row"),
        (json!({ "do": "text_add", "from": 0, "until": 1 }), "switched off"),
    ] {
        let answer = worker.ask(command);
        assert!(answer["error"].as_str().is_some_and(|error| error.contains(said)), "{answer}");
    }
    assert_eq!(worker.ask(json!({ "do": "load", "from": 0, "until": 4 }))["error"], Value::Null);
    worker.close();
}

// Coverage: SPEC-9.2.
#[test]
fn acknowledged_writes_survive_a_kill_and_are_seen_by_a_second_process() {
    let home = Home::new();
    write_data(&home, 2_000, 1);
    let mut worker = Worker::open(&home);
    let mut added = worker.ask(json!({ "do": "acknowledge", "from": 0, "until": 2000 }));
    for _ in 0..20 {
        added = worker.next();
    }
    let last = added["added"].as_u64().unwrap();
    worker.child.kill().unwrap();
    worker.child.wait().unwrap();

    let (mut one, mut other) = (Worker::open(&home), Worker::open(&home));
    let there = one.ask(json!({ "do": "numbers" }));
    let there: Vec<u64> = serde_json::from_value(there["numbers"].clone()).unwrap();
    assert!((0..=last).all(|number| there.contains(&number)), "{last} was acknowledged: {there:?}");
    one.ask(json!({ "do": "add", "from": 1990, "until": 1995, "callers": 1, "vectors": true }));
    other.ask(json!({ "do": "add", "from": 1995, "until": 2000, "callers": 1, "vectors": true }));
    for worker in [&mut one, &mut other] {
        assert_eq!(worker.ask(json!({ "do": "count" })), json!({ "count": there.len() + 10 }));
    }
    one.close();
    other.close();
}

// Coverage: SPEC-9.2.
#[test]
fn texts_are_embedded_by_the_real_model_and_its_share_is_reported() {
    let home = Home::with_model();
    write_data(&home, 12, 4);
    let mut worker = Worker::open(&home);
    let added = worker.ask(json!({ "do": "text_add", "from": 0, "until": 12 }));
    assert!(added["embedding_cpu"].as_f64().is_some_and(|cpu| cpu > 0.0), "{added}");
    assert!(added["cpu"].as_f64() >= added["embedding_cpu"].as_f64(), "{added}");
    let found = worker.ask(json!({ "do": "text_find", "from": 0, "until": 4, "k": 3 }));
    for question in 0..4 {
        assert_eq!(first(&found, question), question as u64, "{found}");
    }
    worker.close();
}
