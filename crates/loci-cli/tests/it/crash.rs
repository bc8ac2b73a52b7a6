//! A process is killed at a random moment: every acknowledged write is stored, and the next process finishes the rest.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::Duration;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use serde_json::Value;

use crate::run::Home;

#[test]
fn nothing_acknowledged_is_lost_when_a_writer_is_killed() {
    let seed: u64 = rand::rng().random();
    println!("seed {seed}");
    let mut random = SmallRng::seed_from_u64(seed);
    let home = Home::new();
    let mut acknowledged: HashSet<String> = HashSet::new();
    for round in 0..20 {
        let receipts = random.random_range(0..200);
        let moment = Duration::from_micros(random.random_range(0..3000));
        acknowledged.extend(killed_writer(&home, round, receipts, moment));
        let there: HashSet<String> =
            home.export().iter().map(|memory| memory["id"].as_str().unwrap().to_owned()).collect();
        let lost: Vec<_> = acknowledged.difference(&there).collect();
        assert!(lost.is_empty(), "seed {seed}, round {round}: lost {lost:?}");
        let doctor = home.run(&["doctor"]);
        assert_eq!(doctor.code, 0, "seed {seed}, round {round}: {doctor:?}");
    }
    assert!(acknowledged.len() > 200, "too few to prove anything: {}", acknowledged.len());
}

/// Feeds a writer without end and kills it after some receipts and a random delay. Returns every acknowledged id,
/// including those still in the pipe.
fn killed_writer(home: &Home, round: usize, receipts: usize, moment: Duration) -> Vec<String> {
    let mut child = home.command(&["--json", "remember", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let feeder = std::thread::spawn(move || {
        for line in 0.. {
            if writeln!(input, "round {round}, line {line}, something worth keeping").is_err() {
                return;
            }
        }
    });
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut ids = Vec::new();
    let mut line = String::new();
    let mut take = |output: &mut BufReader<_>| {
        line.clear();
        // A line without a line break was cut by the kill, so it was not acknowledged.
        let whole = output.read_line(&mut line).is_ok_and(|_| line.ends_with('\n'));
        whole.then(|| serde_json::from_str::<Value>(&line).unwrap()["id"].as_str().unwrap().to_owned())
    };
    while ids.len() < receipts {
        ids.push(take(&mut output).unwrap());
    }
    std::thread::sleep(moment);
    child.kill().unwrap();
    child.wait().unwrap();
    ids.extend(std::iter::from_fn(|| take(&mut output)));
    feeder.join().unwrap();
    ids
}

/// One year later, when many memories have decayed.
pub(crate) const LATER: &str = "2028-06-01";

#[test]
fn killed_maintenance_can_be_run_again() {
    let seed: u64 = rand::rng().random();
    println!("seed {seed}");
    let mut random = SmallRng::seed_from_u64(seed);
    let before = Home::local();
    fill(&before);
    let whole = copy(&before).locally();
    let start = std::time::Instant::now();
    assert_eq!(whole.run(&["maintain", "--yes", "--now", LATER]).code, 0);
    let night = start.elapsed();
    let expect = outcome(&whole);
    assert!(expect.iter().filter(|(_, state)| state == "soft_deleted").count() > 20, "{expect:?}");
    let mut cut = 0;
    for round in 0..20 {
        let home = copy(&before).locally();
        let mut child = home.command(&["maintain", "--yes", "--now", LATER]).spawn().unwrap();
        std::thread::sleep(night.mul_f64(random.random_range(0.05..1.0)));
        child.kill().unwrap();
        cut += usize::from(!child.wait().unwrap().success());
        let again = home.run(&["maintain", "--yes", "--now", LATER]);
        assert_eq!(again.code, 0, "seed {seed}, round {round}: {again:?}");
        assert_eq!(outcome(&home), expect, "seed {seed}, round {round}");
        let doctor = home.run(&["doctor"]);
        assert_eq!(doctor.code, 0, "seed {seed}, round {round}: {doctor:?}");
        agreed(&home);
    }
    assert!(cut >= 5, "only {cut} runs were cut short");
}

/// Writes facts, tasks and two sessions, one of which has ended.
pub(crate) fn fill(home: &Home) {
    for (kind, count) in [("task", 60), ("fact", 60), ("project", 30)] {
        let lines: String = (0..count).map(|n| format!("the {kind} number {n} of the harbour office\n")).collect();
        let run = home.feed(&["remember", "-", "--user", "ana", "--kind", kind, "--as-is"], lines.as_bytes());
        assert_eq!(run.code, 0, "{run:?}");
    }
    for (session, thing) in [("s1", "peanuts"), ("s2", "shrimp")] {
        let turns: String = (0..12)
            .map(|n| {
                let content = if n == 5 { format!("I'm allergic to {thing}.") } else { format!("hello number {n}") };
                let turn = serde_json::json!({
                    "threadId": "t", "sessionId": session, "role": "user", "actorId": "ana", "content": content,
                    "reference": format!("{session}-{n}"),
                });
                format!("{turn}\n")
            })
            .collect();
        let run = home.feed(&["ingest", "-", "--user", "ana"], turns.as_bytes());
        assert_eq!(run.code, 0, "{run:?}");
    }
}

fn copy(home: &Home) -> Home {
    fn walk(from: &std::path::Path, to: &std::path::Path) {
        std::fs::create_dir_all(to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let target = to.join(entry.file_name());
            if entry.path().is_dir() {
                walk(&entry.path(), &target);
            } else {
                std::fs::copy(entry.path(), target).unwrap();
            }
        }
    }
    let other = Home::new();
    walk(&home.data(), &other.data());
    other
}

/// The text and state of every memory.
pub(crate) fn outcome(home: &Home) -> Vec<(String, String)> {
    let field = |memory: &Value, name: &str| memory[name].as_str().unwrap().to_owned();
    let mut all: Vec<_> =
        home.export().iter().map(|memory| (field(memory, "content"), field(memory, "state"))).collect();
    all.sort();
    all
}

/// Checks that the ledger leads to the version and the state of every memory.
fn agreed(home: &Home) {
    for memory in home.export().iter().step_by(17) {
        let history = home.json(&["history", memory["id"].as_str().unwrap()]);
        let events = history["data"].as_array().unwrap();
        let latest = events.iter().filter_map(|event| event["version"].as_u64()).max();
        assert_eq!(latest, memory["version"].as_u64(), "{memory}");
        let state = events.iter().rev().find_map(|event| event["new"]["state"].as_str()).unwrap_or("active");
        assert_eq!(memory["state"], state, "{memory}");
    }
}
