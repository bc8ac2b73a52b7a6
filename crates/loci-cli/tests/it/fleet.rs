//! Two servers on one PostgreSQL, and one of them is always about to die.
//!
//! Under load one server after the other is killed and started again. Whoever gets no answer asks the other one.
//! At the end every acknowledged write is there once, every session was learned from once, and
//! whoever followed the events has been told of all of them, once.

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

/// A home whose memories lie in a schema of their own.
fn shared() -> Option<(Home, Schema)> {
    let schema = Schema::new()?;
    let home = Home::new().set("LOCI_STORE", "postgres").set("LOCI_POSTGRES_URL", schema.url.clone());
    let settings = format!(
        "[postgres]\nschema = \"{}\"\npartitions = 2\nconnections = 8\n\
         [server]\nrequests_per_second = 100000\nburst = 100000\n",
        schema.name
    );
    std::fs::write(home.path().join("loci.toml"), settings).unwrap();
    Some((home, schema))
}

/// How long it goes on, and how often a server is killed.
fn course() -> (Duration, u32) {
    #[expect(clippy::disallowed_methods, reason = "whoever runs tests asks for the long course here")]
    let long = std::env::var_os("LOCI_TEST_LONG").is_some();
    if long { (Duration::from_secs(5), 24) } else { (Duration::from_secs(3), 3) }
}

/// The servers, and all that is known from outside.
struct Fleet {
    addresses: Mutex<[String; 2]>,
    over: AtomicBool,
    /// How often no answer came, or one that says to try again.
    again: AtomicUsize,
    read: AtomicUsize,
}

impl Fleet {
    fn address(&self, which: usize) -> String {
        self.addresses.lock().unwrap()[which % 2].clone()
    }

    /// Asks one server and then the other until there is an answer that stands.
    fn insist(&self, first: usize, method: &str, path: &str, key: Option<&str>, body: &Value) -> Value {
        let headers: Vec<_> = key.iter().map(|key| ("Idempotency-Key", *key)).collect();
        let begun = Instant::now();
        for turn in first.. {
            match send(&self.address(turn), method, path, &headers, body) {
                Some((200..=299, answer)) => return answer,
                Some((status, answer)) if status < 500 && status != 429 => panic!("{path}: {status} {answer}"),
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

/// What one writer was told.
#[derive(Default)]
struct Acknowledged {
    /// The text of a memory or turn, and its id.
    texts: Vec<(String, String)>,
    /// What was learned from the sessions that it ended.
    facts: Vec<String>,
}

/// Remembers, talks and ends sessions until it is over.
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
            fleet.insist(writer, "POST", &format!("/v1/sessions/s{session}/end"), None, &json!({ "identifiers": who }));
            acknowledged.facts.push(format!("allergic to {thing}"));
        } else if step % 2 == 0 {
            let text = format!("writer {writer} counted box {number} in the harbour");
            let body = json!({ "content": text, "identifiers": { "userId": user }, "asIs": true });
            let answer = fleet.insist(writer + number, "POST", "/v1/memories", Some(&key), &body);
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
            let answer = fleet.insist(writer + number, "POST", "/v1/turns", Some(&key), &body);
            acknowledged.texts.push((text, answer["data"][0]["writes"][0]["id"].as_str().unwrap().to_owned()));
        }
    }
    acknowledged
}

/// Reads until it is over. A reader may be told to come back, and never anything wrong.
fn read(fleet: &Fleet, reader: usize) {
    for number in reader.. {
        if fleet.over.load(Ordering::Relaxed) {
            return;
        }
        let query =
            json!({ "query": "boxes in the harbour", "identifiers": { "userId": format!("user{}", number % 8) } });
        fleet.insist(number, "POST", "/v1/recall", None, &query);
        fleet.read.fetch_add(1, Ordering::Relaxed);
    }
}

/// What someone was told who follows all events and comes back whenever the stream breaks.
#[derive(Default)]
struct Followed {
    /// How often each memory was said to be created.
    created: HashMap<String, usize>,
    reconnects: usize,
}

/// Follows until it is enough.
fn follow(fleet: &Fleet, followed: &Mutex<Followed>, enough: &AtomicBool) {
    let mut last: Option<String> = None;
    for turn in 0.. {
        if let Some(mut stream) = Stream::open(&fleet.address(turn), "/v1/events?after=all", last.as_deref()) {
            while let Some(told) = stream.next() {
                if enough.load(Ordering::Relaxed) {
                    return;
                }
                last = told.id.or(last);
                if told.event.as_deref() == Some("ADD") {
                    let id = told.data["memoryId"].as_str().unwrap().to_owned();
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
        assert!(begun.elapsed() < Duration::from_secs(60), "in vain: {what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn nothing_is_lost_or_doubled_while_servers_die() {
    let Some((home, schema)) = shared() else { return };
    let (pause, kills) = course();
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
        // Whatever fails below, those who go on until they are told otherwise are told.
        let flags = [&fleet.over, &enough];
        let _ended = Ended(&flags);
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

        // Nobody waits two minutes here: what the dead had in hand is given free as if their lease were over.
        schema.ask(&format!("UPDATE {}.jobs SET lease_until = 0 WHERE state = 'running'", schema.name));
        // Without a model vectors wait for one.
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
        // Turns that say the same are several; ours are all different.
        let doubled: Vec<_> = times.iter().filter(|(_, times)| **times > 1).collect();
        assert!(doubled.is_empty(), "{doubled:?}");
        for fact in &facts {
            let known = times
                .keys()
                .filter(|(turn, text)| !turn && text.trim_end_matches('.').ends_with(fact.as_str()))
                .count();
            assert_eq!(known, 1, "{fact}");
        }
        eventually("whoever follows was told of everything", || {
            let followed = followed.lock().unwrap();
            ids.iter().all(|id| followed.created.contains_key(*id))
        });
        enough.store(true, Ordering::Relaxed);
        // A stream that has nothing to say is ended by its server.
        for server in servers.iter_mut().filter_map(Option::take) {
            server.stop();
        }
        let followed = followed.lock().unwrap();
        let twice = followed.created.values().filter(|times| **times > 1).count();
        assert_eq!(twice, 0, "events were told twice");
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

/// Sets these when it goes, however that comes about.
struct Ended<'a>(&'a [&'a AtomicBool]);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|flag| flag.store(true, Ordering::Relaxed));
    }
}

/// What the night did to whom. How someone writes is learned by whoever comes first, a worker by day or the
/// night itself, and ages accordingly: it is left out.
fn nights_work(home: &Home) -> Vec<(String, String)> {
    outcome(home).into_iter().filter(|(text, _)| !text.starts_with("ana writes")).collect()
}

#[test]
fn two_servers_do_the_work_of_one_night_once() {
    let (Some((alone, _kept)), Some((both, _also))) = (shared(), shared()) else { return };
    let night = json!({ "now": format!("{LATER}T00:00:00Z") });
    let maintain = |server: &Server| send(server.address(), "POST", "/v1/maintenance", &[], &night).unwrap();
    fill(&alone);
    let server = Server::start(&alone);
    assert_eq!(maintain(&server).0, 200);
    server.stop();
    let expect = nights_work(&alone);
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
    // On a busy machine one may come when the other is done; then it finds nothing left, which is looked at below.
    assert!(statuses == [200, 409] || statuses == [200, 200], "{answers:?}");
    for (_, told) in answers.iter().filter(|(status, _)| *status == 409) {
        assert_eq!((&told["code"], &told["details"]["field"]), (&json!("CONFLICT"), &json!("maintenance")));
    }
    assert_eq!(nights_work(&both), expect);
    // The one that was refused may do it afterwards, and finds nothing left.
    for server in &servers {
        let (status, report) = maintain(server);
        assert_eq!(status, 200, "{report}");
    }
    assert_eq!(nights_work(&both), expect);
    servers.into_iter().for_each(Server::stop);
    assert_eq!(both.run(&["doctor"]).code, 0);
}
