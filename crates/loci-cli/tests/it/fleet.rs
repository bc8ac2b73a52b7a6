//! Two servers on one PostgreSQL, killed and started again in turn under load.
//!
//! A client that gets no answer tries the other server. At the end every acknowledged write is stored once, every session
//! was learned from once, and a follower of the events has received each of them once.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};

use loci_testkit::servers::Schema;
use serde_json::{Value, json};

use crate::crash::{LATER, fill, outcome};
use crate::plain::{Stream, send};
use crate::run::Home;
use crate::serve::Server;

/// A home that stores its memories in a PostgreSQL schema of its own.
fn shared() -> Option<(Home, Schema)> {
    let schema = Schema::new()?;
    let home = Home::new().set("LOCI_STORE", "postgres").set("LOCI_POSTGRES_URL", schema.url.clone());
    let settings = format!(
        "[postgres]\nschema = \"{}\"\npartitions = 2\nconnections = 8\n\
         [server]\nrequests_per_second = 100000\nburst = 100000\n",
        schema.name
    );
    home.configure(&settings);
    Some((home, schema))
}

/// The time between two kills and their number.
fn kill_plan() -> (Duration, u32) {
    #[expect(clippy::disallowed_methods, reason = "the variable selects the long run")]
    let long = std::env::var_os("LOCI_TEST_LONG").is_some();
    if long { (Duration::from_secs(5), 24) } else { (Duration::from_secs(3), 3) }
}

/// The addresses of the servers, and counters of the clients.
struct Fleet {
    addresses: Mutex<[String; 2]>,
    over: AtomicBool,
    /// Number of requests without an answer or with a retryable failure.
    again: AtomicUsize,
    read: AtomicUsize,
}

impl Fleet {
    fn address(&self, which: usize) -> String {
        self.addresses.lock().unwrap()[which % 2].clone()
    }

    /// Sends a request to both servers in turn until one of them answers with success. Panics on a failure that is not
    /// retryable.
    fn send_until_success(&self, first: usize, method: &str, path: &str, key: Option<&str>, body: &Value) -> Value {
        let headers: Vec<_> = key.iter().map(|key| ("Idempotency-Key", *key)).collect();
        let begun = Instant::now();
        for turn in first.. {
            match send(&self.address(turn), method, path, &headers, body) {
                Some((200..=299, answer)) => return answer,
                Some((status, answer)) if status < 500 && answer["retryable"] != true => {
                    panic!("{path}: {status} {answer}")
                }
                Some((_, answer)) => assert_eq!(answer["retryable"], true, "{path}: {answer}"),
                None => {}
            }
            self.again.fetch_add(1, Ordering::Relaxed);
            assert!(begun.elapsed() < Duration::from_secs(60), "{path}: no server answers");
            std::thread::sleep(Duration::from_millis(20));
        }
        unreachable!()
    }
}

/// The acknowledgements that one writer received.
#[derive(Default)]
struct Acknowledged {
    /// The text of a memory or turn, and its id.
    texts: Vec<(String, String)>,
    /// The facts that must be learned from the sessions that the writer ended.
    facts: Vec<String>,
}

/// Adds memories and turns and ends sessions until `Fleet::over` is set.
fn write(fleet: &Fleet, writer: usize) -> Acknowledged {
    let mut acknowledged = Acknowledged::default();
    let user = format!("user{writer}");
    for number in 0.. {
        if fleet.over.load(Ordering::Relaxed) {
            break;
        }
        let (session, step) = (number / 12, number % 12);
        let who = json!({ "userId": user, "sessionId": format!("s{session}") });
        let thing = format!("cargo{writer}x{session}");
        let key = format!("{writer}-{number}");
        if step == 11 {
            fleet.send_until_success(
                writer,
                "POST",
                &format!("/v1/sessions/s{session}/end"),
                None,
                &json!({ "identifiers": who }),
            );
            acknowledged.facts.push(format!("allergic to {thing}"));
        } else if step % 2 == 0 {
            let text = format!("writer {writer} counted box {number} in the harbour");
            let body = json!({ "content": text, "identifiers": { "userId": user }, "asIs": true });
            let answer = fleet.send_until_success(writer + number, "POST", "/v1/memories", Some(&key), &body);
            acknowledged.texts.push((text, answer["id"].as_str().unwrap().to_owned()));
        } else {
            let text = match step {
                5 => format!("I'm allergic to {thing}."),
                _ => format!("hello number {number} from writer {writer}"),
            };
            let turn = json!({
                "threadId": format!("t{session}"), "role": "user", "actorId": "ana", "content": text, "reference": key,
            });
            let body = json!({ "identifiers": who, "turns": [turn] });
            let answer = fleet.send_until_success(writer + number, "POST", "/v1/turns", Some(&key), &body);
            acknowledged.texts.push((text, answer["data"][0]["writes"][0]["id"].as_str().unwrap().to_owned()));
        }
    }
    acknowledged
}

/// Reads until the test ends. A reader may be asked to retry; any other failure ends the test.
fn read(fleet: &Fleet, reader: usize) {
    for number in reader.. {
        if fleet.over.load(Ordering::Relaxed) {
            return;
        }
        let query =
            json!({ "query": "boxes in the harbour", "identifiers": { "userId": format!("user{}", number % 8) } });
        fleet.send_until_success(number, "POST", "/v1/recall", None, &query);
        fleet.read.fetch_add(1, Ordering::Relaxed);
    }
}

/// The events that a follower received, who reconnects whenever the stream breaks.
#[derive(Default)]
struct Followed {
    /// Number of `ADD` events of each memory.
    created: HashMap<String, usize>,
    reconnects: usize,
}

/// Follows all events until `enough` is set.
fn follow(fleet: &Fleet, followed: &Mutex<Followed>, enough: &AtomicBool) {
    let mut last: Option<String> = None;
    for turn in 0.. {
        if let Some(mut stream) =
            Stream::open(&fleet.address(turn), "/v1/events?after=all&everyone=true", last.as_deref())
        {
            while let Some(event) = stream.next() {
                if enough.load(Ordering::Relaxed) {
                    return;
                }
                last = event.id.or(last);
                if event.event.as_deref() == Some("ADD") {
                    let id = event.data["memoryId"].as_str().unwrap().to_owned();
                    *followed.lock().unwrap().created.entry(id).or_default() += 1;
                }
            }
        }
        if enough.load(Ordering::Relaxed) {
            return;
        }
        followed.lock().unwrap().reconnects += 1;
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "timed out waiting until {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

// Coverage: SPEC-11.3.
#[test]
fn nothing_is_lost_or_duplicated_while_servers_are_killed() {
    let Some((home, schema)) = shared() else { return };
    let (pause, kills) = kill_plan();
    let mut servers: Vec<Option<Server>> = (0..2).map(|_| Some(Server::start(&home))).collect();
    let addresses = [0, 1].map(|which| servers[which].as_ref().unwrap().address().to_owned());
    let fleet = Fleet {
        addresses: Mutex::new(addresses),
        over: AtomicBool::new(false),
        again: AtomicUsize::new(0),
        read: AtomicUsize::new(0),
    };
    let (followed, enough) = (Mutex::new(Followed::default()), AtomicBool::new(false));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| follow(&fleet, &followed, &enough));
        // Sets both flags even if an assertion below fails, so that the threads end.
        let flags = [&fleet.over, &enough];
        let _end = SetOnDrop(&flags);
        let fleet = &fleet;
        let writers: Vec<_> = (0..8).map(|writer| scope.spawn(move || write(fleet, writer))).collect();
        let readers: Vec<_> = (0..2).map(|reader| scope.spawn(move || read(fleet, reader))).collect();
        for round in 0..kills as usize {
            std::thread::sleep(pause);
            servers[round % 2].take().unwrap().kill();
            let server = Server::start(&home);
            fleet.addresses.lock().unwrap()[round % 2] = server.address().to_owned();
            servers[round % 2] = Some(server);
        }
        std::thread::sleep(pause);
        fleet.over.store(true, Ordering::Relaxed);
        readers.into_iter().for_each(|reader| reader.join().unwrap());
        let acknowledged: Vec<_> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
        let load = begun.elapsed();

        // Ends the leases of the killed servers, so that the test does not wait two minutes for them.
        schema.ask(&format!("UPDATE {}.jobs SET lease_until = 0 WHERE state = 'running'", schema.name));
        // Without a model the `embed` jobs stay in the queue.
        let due = "SELECT count(*) FROM jobs WHERE kind <> 'embed' AND (state = 'running' \
                   OR (state = 'waiting' AND run_after <= extract(epoch FROM now()) * 1000000))";
        eventually("all jobs are done", || schema.number(due) == 0);
        assert_eq!(schema.number("SELECT count(*) FROM jobs WHERE state = 'dead' OR kind = 'consolidate'"), 0);

        let all = home.export();
        let mut times: BTreeMap<(bool, &str), usize> = BTreeMap::new();
        let ids: HashSet<&str> = all.iter().map(|memory| memory["id"].as_str().unwrap()).collect();
        for memory in &all {
            let turn = memory["kind"] == "episodic";
            *times.entry((turn, memory["content"].as_str().unwrap())).or_default() += 1;
        }
        let texts: Vec<_> = acknowledged.iter().flat_map(|one| &one.texts).collect();
        let facts: Vec<_> = acknowledged.iter().flat_map(|one| &one.facts).collect();
        for (text, id) in &texts {
            assert!(ids.contains(id.as_str()), "{text:?} was acknowledged as {id} and is not there");
        }
        // Equal turns would be stored several times; the turns of this test are all different.
        let doubled: Vec<_> = times.iter().filter(|(_, times)| **times > 1).collect();
        assert!(doubled.is_empty(), "{doubled:?}");
        for fact in &facts {
            let known = times
                .keys()
                .filter(|(turn, text)| !turn && text.trim_end_matches('.').ends_with(fact.as_str()))
                .count();
            assert_eq!(known, 1, "{fact}");
        }
        eventually("the follower has received every event", || {
            let followed = followed.lock().unwrap();
            ids.iter().all(|id| followed.created.contains_key(*id))
        });
        enough.store(true, Ordering::Relaxed);
        // An idle stream is ended by its server.
        for server in servers.iter_mut().filter_map(Option::take) {
            server.stop();
        }
        let followed = followed.lock().unwrap();
        let twice = followed.created.values().filter(|times| **times > 1).count();
        assert_eq!(twice, 0, "events were sent twice");
        let doctor = home.run(&["doctor"]);
        assert_eq!(doctor.code, 0, "{doctor:?}");
        println!(
            "{kills} kills in {:.0} s: {} acknowledged, {} sessions learned from, {} reads, {} asked again, {} reconnects, {} events",
            load.as_secs_f64(),
            texts.len(),
            facts.len(),
            fleet.read.load(Ordering::Relaxed),
            fleet.again.load(Ordering::Relaxed),
            followed.reconnects,
            followed.created.len()
        );
        assert!(texts.len() > 200 && facts.len() > 8, "too few to prove anything");
        assert!(fleet.again.load(Ordering::Relaxed) > 0 && followed.reconnects > 0, "no kill was noticed");
    });
}

/// Sets these flags when it is dropped, also during a panic.
struct SetOnDrop<'a>(&'a [&'a AtomicBool]);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|flag| flag.store(true, Ordering::Relaxed));
    }
}

/// The outcome of maintenance for each memory. Memories about how a user writes are left out: either a worker or
/// maintenance itself learns them first, and their age depends on that.
fn maintenance_outcome(home: &Home) -> Vec<(String, String)> {
    outcome(home).into_iter().filter(|(text, _)| !text.starts_with("ana writes")).collect()
}

// Coverage: SPEC-11.3.
#[test]
fn two_servers_run_the_same_maintenance_once() {
    let (Some((alone, _kept)), Some((both, _also))) = (shared(), shared()) else { return };
    let night = json!({ "now": format!("{LATER}T00:00:00Z") });
    let maintain = |server: &Server| send(server.address(), "POST", "/v1/maintenance", &[], &night).unwrap();
    fill(&alone);
    let server = Server::start(&alone);
    assert_eq!(maintain(&server).0, 200);
    server.stop();
    let expect = maintenance_outcome(&alone);
    assert!(expect.iter().filter(|(_, state)| state == "soft_deleted").count() > 20, "{expect:?}");

    fill(&both);
    let servers = [Server::start(&both), Server::start(&both)];
    let start = Barrier::new(2);
    let answers: Vec<(u16, Value)> = std::thread::scope(|scope| {
        let ask = |server: &Server| {
            start.wait();
            maintain(server)
        };
        let asked: Vec<_> = servers.iter().map(|server| scope.spawn(move || ask(server))).collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    });
    let mut statuses: Vec<u16> = answers.iter().map(|(status, _)| *status).collect();
    statuses.sort_unstable();
    // On a busy machine one may start after the other has finished; then it finds nothing to do, which is checked below.
    assert!(statuses == [200, 409] || statuses == [200, 200], "{answers:?}");
    for (_, problem) in answers.iter().filter(|(status, _)| *status == 409) {
        assert_eq!((&problem["code"], &problem["details"]["field"]), (&json!("CONFLICT"), &json!("maintenance")));
    }
    assert_eq!(maintenance_outcome(&both), expect);
    // The refused server may run it afterwards and finds nothing to do.
    for server in &servers {
        let (status, report) = maintain(server);
        assert_eq!(status, 200, "{report}");
    }
    assert_eq!(maintenance_outcome(&both), expect);
    servers.into_iter().for_each(Server::stop);
    assert_eq!(both.run(&["doctor"]).code, 0);
}
