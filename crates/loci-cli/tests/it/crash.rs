//! A writer dies at a random moment: whatever it acknowledged is there.

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

/// Feeds a writer without end and kills it after some receipts and a moment; returns every id
/// that it acknowledged, those still in the pipe included.
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
        // A line without its end was cut by the kill: it was not acknowledged.
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
