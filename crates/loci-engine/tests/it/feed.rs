//! Tests of the feed: its order, its visibility, and that no entry is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use loci_engine::{Caller, Engine, FeedCursor, FeedEntry, FeedPage, FeedRequest, NewMemory, Update};
use loci_types::{AccessPolicy, Action, Batch, Change, Event, Layer, MemoryId, Provenance, State, Tenant};

use crate::house::{House, new, user};

/// A user with an agent.
fn with_agent(name: &str, agent: &str) -> Caller {
    let mut caller = user(name);
    caller.identifiers.agent_id = Some(agent.to_owned());
    caller
}

/// Writes a memory without reconciliation.
async fn write(engine: &Engine, caller: &Caller, content: &str) -> MemoryId {
    let memory = NewMemory { as_is: true, ..new(content) };
    engine.remember(caller, memory).await.unwrap().id
}

async fn page(engine: &Engine, caller: &Caller, cursor: &FeedCursor, limit: usize) -> FeedPage {
    let request = FeedRequest { cursor: cursor.clone(), limit: Some(limit), ..FeedRequest::default() };
    engine.feed(caller, &request).await.unwrap()
}

/// Everything from a place on, in pages of these sizes, by cursors that went through text.
async fn follow(engine: &Engine, caller: &Caller, mut request: FeedRequest, limits: &[usize]) -> Vec<FeedEntry> {
    let mut all = Vec::new();
    for limit in limits.iter().cycle() {
        request.limit = Some(*limit);
        let page = engine.feed(caller, &request).await.unwrap();
        assert!(page.entries.len() <= *limit);
        all.extend(page.entries);
        request.cursor = page.cursor.to_string().parse().unwrap();
        if !page.more {
            break;
        }
    }
    all
}

async fn events(engine: &Engine, caller: &Caller) -> Vec<(String, Option<MemoryId>)> {
    let all = follow(engine, caller, FeedRequest::default(), &[1_000]).await;
    all.into_iter().map(|entry| (entry.event, entry.memory_id)).collect()
}

/// Does something to the space of Ana that the engine itself does only at night.
async fn act(house: &House, action: Action) {
    let provenance = Provenance { node: "worker".into(), ..Provenance::default() };
    let change = Change { action, reason: "the night".into(), provenance, at: house.engine.now() };
    let space = house.engine.space_of(&user("ana")).await.unwrap();
    let batch = Batch { tenant: Tenant::default(), space, changes: vec![change] };
    house.engine.store().apply(batch).await.unwrap();
}

#[tokio::test]
async fn events_are_delivered_in_their_order() {
    let (house, ana) = (House::new(), user("ana"));
    house.model(false);
    let start = house.engine.feed_now(&ana).await.unwrap();
    let one = write(&house.engine, &ana, "The lamp is green").await;
    let text = Update { content: Some("The lamp is blue".into()), ..Update::default() };
    house.engine.update(&ana, one, text).await.unwrap();
    let two = write(&house.engine, &ana, "The door squeaks").await;
    house.engine.forget(&ana, two, None, None).await.unwrap();
    let FeedPage { entries, cursor, more, .. } = page(&house.engine, &ana, &start, 100).await;
    let events: Vec<_> = entries.iter().map(|entry| (entry.event.as_str(), entry.memory_id.unwrap())).collect();
    assert_eq!(events, [("ADD", one), ("UPDATE", one), ("ADD", two), ("DELETE", two)]);
    assert!(!more);
    let [added, updated, _, deleted] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!(added.content.as_deref(), Some("The lamp is blue"), "what it says now");
    assert_eq!((added.layer, added.state, added.version), (Some(Layer::User), Some(State::Active), Some(1)));
    assert!(updated.changed.contains(&"content".to_owned()), "{updated:?}");
    assert_eq!(
        (deleted.content.as_deref(), deleted.state),
        (None, Some(State::SoftDeleted)),
        "listed without its text"
    );
    let json = serde_json::to_string(&entries).unwrap();
    assert!(!json.contains("green") && !json.contains("squeaks"), "{json}");
    // At the end there is nothing, and the place stays.
    let rest = page(&house.engine, &ana, &cursor, 100).await;
    assert_eq!((rest.entries.len(), rest.more, &rest.cursor), (0, false, &cursor));
    assert_eq!(house.engine.feed_now(&ana).await.unwrap(), cursor);
}

#[tokio::test]
async fn callers_receive_only_events_they_may_see() {
    let (house, ana, ben) = (House::new(), user("ana"), user("ben"));
    house.model(false);
    let work = NewMemory { category: Some("work".into()), as_is: true, ..new("The lamp is green") };
    let work = house.engine.remember(&ana, work).await.unwrap().id;
    let secret = NewMemory {
        access_policy: Some(AccessPolicy::Private),
        actor_id: Some("carl".into()),
        as_is: true,
        ..new("The key lies under the stone")
    };
    let secret = house.engine.remember(&ana, secret).await.unwrap().id;
    let other = write(&house.engine, &ben, "The door squeaks").await;
    let (purged, erased) =
        (write(&house.engine, &ana, "The tree fell").await, write(&house.engine, &ana, "The roof leaks").await);
    house.engine.forget(&ana, purged, None, None).await.unwrap();
    act(&house, Action::Purge { id: purged }).await;
    act(&house, Action::Erase { id: erased }).await;
    let line = |event: &str, id| (event.to_owned(), Some(id));
    assert_eq!(events(&house.engine, &ana).await, [line("ADD", work)]);
    assert_eq!(events(&house.engine, &ben).await, [line("ADD", other)]);
    let carl = Caller { actor: Some("carl".into()), ..user("ana") };
    assert_eq!(events(&house.engine, &carl).await, [line("ADD", work), line("ADD", secret)]);
    let bound = Caller { categories: Some(BTreeSet::from(["work".to_owned()])), ..carl };
    assert_eq!(events(&house.engine, &bound).await, [line("ADD", work)]);
    let elsewhere = Caller { tenant: Tenant::new("other").unwrap(), ..Caller::operator() };
    assert_eq!(events(&house.engine, &elsewhere).await, []);
    let all = follow(&house.engine, &Caller::operator(), FeedRequest::default(), &[1_000]).await;
    let gone = all.iter().filter(|entry| [Some(purged), Some(erased)].contains(&entry.memory_id));
    let gone: Vec<_> = gone.map(|entry| (entry.event.as_str(), entry.content.as_deref())).collect();
    assert_eq!(gone, [("ADD", None), ("ADD", None), ("DELETE", None), ("TTL", None), ("ERASE", None)]);
    assert!(house.engine.feed(&Caller::new(Default::default()), &FeedRequest::default()).await.is_err());
}

#[tokio::test]
async fn a_new_space_is_followed_from_its_first_entry() {
    let (house, operator) = (House::new(), Caller::operator());
    house.model(false);
    let engine = &house.engine;
    write(engine, &user("ana"), "The lamp is green").await;
    let (mine, own) = (with_agent("ana", "a"), engine.feed_now(&with_agent("ana", "a")).await.unwrap());
    let cursor = engine.feed_now(&operator).await.unwrap();
    let first = write(engine, &mine, "The door squeaks").await;
    for (caller, cursor) in [(&operator, &cursor), (&mine, &own)] {
        let page = page(engine, caller, cursor, 10).await;
        assert_eq!(page.entries.iter().map(|entry| entry.memory_id).collect::<Vec<_>>(), [Some(first)]);
        assert_eq!(page.entries[0].space, "agent_memory_a");
    }
    // A caller who was not following an agent before does not receive its past.
    let ana = engine.feed_now(&user("ana")).await.unwrap();
    let wider = page(engine, &mine, &ana, 10).await;
    assert_eq!(wider.entries, []);
    let second = write(engine, &mine, "The roof leaks").await;
    assert_eq!(page(engine, &mine, &wider.cursor, 10).await.entries[0].memory_id, Some(second));
    // An agent that was dropped and comes again begins anew.
    let (whole, own) = (engine.feed_now(&operator).await.unwrap(), engine.feed_now(&mine).await.unwrap());
    engine.create_agent(&operator, "a", serde_json::json!({})).await.unwrap();
    engine.drop_agent(&operator, "a").await.unwrap();
    assert_eq!(page(engine, &operator, &whole, 10).await.entries, []);
    let again = write(engine, &mine, "The gate is open").await;
    for (caller, cursor) in [(&operator, &whole), (&mine, &own)] {
        assert_eq!(page(engine, caller, cursor, 10).await.entries[0].memory_id, Some(again));
    }
}

#[tokio::test]
async fn filters_choose_and_lose_nothing() {
    let (house, ana) = (House::new(), user("ana"));
    house.model(false);
    let engine = &house.engine;
    let lamp = write(engine, &ana, "The lamp is green").await;
    let task = NewMemory { kind: Some("task".into()), as_is: true, ..new("Mend the roof") };
    let task = engine.remember(&ana, task).await.unwrap().id;
    let turn = house.say(&ana, "t-1", "user", "Hello there").await;
    let own = write(engine, &with_agent("ana", "a"), "The door squeaks").await;
    engine.forget(&ana, lamp, None, None).await.unwrap();
    let (all, operator) = (FeedRequest::default(), Caller::operator());
    let check = async |caller: &Caller, request: FeedRequest, expect: &[(&str, MemoryId)]| {
        for limits in [&[1][..], &[2, 1], &[100]] {
            let found = follow(engine, caller, request.clone(), limits).await;
            let found: Vec<_> = found.iter().map(|entry| (entry.event.as_str(), entry.memory_id.unwrap())).collect();
            assert_eq!(found, expect, "{request:?}");
        }
    };
    check(&ana, FeedRequest { events: vec![Event::Delete], ..all.clone() }, &[("DELETE", lamp)]).await;
    let lamps = [("ADD", lamp), ("DELETE", lamp)];
    check(&ana, FeedRequest { memory: Some(lamp), ..all.clone() }, &lamps).await;
    check(&ana, FeedRequest { memory: Some(own), ..all.clone() }, &[]).await;
    check(&ana, FeedRequest { kinds: vec!["task".into()], ..all.clone() }, &[("ADD", task)]).await;
    check(&ana, FeedRequest { thread: Some("t-1".into()), ..all.clone() }, &[("ADD", turn)]).await;
    check(&ana, FeedRequest { thread: Some("t-2".into()), ..all.clone() }, &[]).await;
    let agents = FeedRequest { layers: Some(vec![Layer::Agent]), ..all.clone() };
    check(&with_agent("ana", "a"), agents.clone(), &[("ADD", own)]).await;
    check(&operator, agents, &[("ADD", own)]).await;
    let both = FeedRequest { events: vec![Event::Add], kinds: vec!["task".into(), "episodic".into()], ..all.clone() };
    check(&operator, both, &[("ADD", task), ("ADD", turn)]).await;
    for (limit, field) in [(0, "limit"), (1_001, "limit")] {
        let error = engine.feed(&ana, &FeedRequest { limit: Some(limit), ..all.clone() }).await.unwrap_err();
        assert_eq!(error.problem("feed").details["field"], field);
    }
}

#[tokio::test]
async fn a_long_way_without_news_is_gone_in_bounded_steps() {
    // Mara is in the same shard as Ana.
    let (house, ana, mara) = (House::new(), user("ana"), user("mara"));
    house.model(false);
    let scope = loci_engine::policy::target(&mara, None).unwrap();
    let many = (0..40_000).map(|number| {
        let memory = loci_testkit::samples::memory(number, &scope, &format!("note {number}"));
        let action = Action::Add(Box::new(loci_types::Addition::new(memory)));
        Change { action, reason: String::new(), provenance: Provenance::default(), at: house.engine.now() }
    });
    let batch = Batch { tenant: Tenant::default(), space: scope.space(), changes: many.collect() };
    house.engine.store().apply(batch).await.unwrap();
    let last = write(&house.engine, &ana, "The lamp is green").await;
    let first = page(&house.engine, &ana, &FeedCursor::start(), 10).await;
    assert_eq!((first.entries.len(), first.more), (0, true), "it comes back before it is through");
    assert_ne!(first.cursor, FeedCursor::start());
    let all = follow(&house.engine, &ana, FeedRequest::default(), &[10]).await;
    assert_eq!(all.iter().map(|entry| entry.memory_id).collect::<Vec<_>>(), [Some(last)]);
}

/// SplitMix64, so that the same seed gives the same pages everywhere.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// However it is cut into pages, and wherever one is cut off, the stream is the same.
#[tokio::test]
async fn pages_of_any_size_make_the_same_stream() {
    let house = House::new();
    house.model(false);
    let callers = [user("ana"), with_agent("ana", "a"), with_agent("ana", "b"), user("ben"), with_agent("ben", "a")];
    for number in 0..150_u64 {
        let caller = &callers[(mixed(number) % 5) as usize];
        let id = write(&house.engine, caller, &format!("The lamp {number} burns")).await;
        if number % 7 == 0 {
            // The clock may go back; the order within a space stays.
            house.later(if number % 3 == 0 { -1 } else { 2 });
        }
        if number % 5 == 0 {
            house.engine.forget(caller, id, None, None).await.unwrap();
        }
    }
    for caller in [Caller::operator(), callers[1].clone(), callers[3].clone()] {
        let all = follow(&house.engine, &caller, FeedRequest::default(), &[1_000]).await;
        assert!(all.len() > 20, "{}", all.len());
        for seed in 0..12 {
            let limits: Vec<usize> = (0..40).map(|step| 1 + (mixed(seed * 100 + step) % 30) as usize).collect();
            let found = follow(&house.engine, &caller, FeedRequest::default(), &limits).await;
            assert_eq!(found, all, "seed {seed}");
            // Cut off after any entry.
            let first = page(&house.engine, &caller, &FeedCursor::start(), 1_000).await;
            let mut cursor = first.began;
            let cut = (mixed(seed) % all.len() as u64) as usize;
            all[..cut].iter().for_each(|entry| cursor.pass(entry));
            let request = FeedRequest { cursor, ..FeedRequest::default() };
            assert_eq!(follow(&house.engine, &caller, request, &limits).await, all[cut..], "seed {seed} cut {cut}");
        }
    }
}

// Coverage: SPEC-8.9.
/// Several processes write to three spaces; a concurrent reader receives every entry once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_repeated_while_others_write() {
    const EACH: usize = 60;
    let house = House::new();
    house.model(false);
    let neighbour = house.neighbour();
    let running = AtomicUsize::new(4);
    let writing = async |engine: &Engine, caller: Caller| {
        for number in 0..EACH {
            let text = format!("{:?} lamp {number} burns", caller.identifiers);
            write(engine, &caller, &text).await;
        }
        running.fetch_sub(1, Ordering::SeqCst);
    };
    let reading = async |caller: Caller, limit: usize| {
        let (mut cursor, mut seen) = (FeedCursor::start(), Vec::new());
        loop {
            let over = running.load(Ordering::SeqCst) == 0;
            let page = page(&house.engine, &caller, &cursor, limit).await;
            let idle = page.entries.is_empty() && !page.more;
            seen.extend(page.entries.into_iter().map(|entry| (entry.space, entry.sequence)));
            cursor = page.cursor.to_string().parse().unwrap();
            if over && idle {
                return seen;
            }
            tokio::task::yield_now().await;
        }
    };
    let (.., whole, ana) = futures::join!(
        writing(&house.engine, user("ana")),
        writing(&neighbour, user("ben")),
        writing(&neighbour, with_agent("ana", "a")),
        writing(&house.engine, with_agent("ana", "b")),
        reading(Caller::operator(), 7),
        reading(user("ana"), 3),
    );
    let mut spaces: BTreeMap<String, Vec<i64>> = BTreeMap::new();
    whole.into_iter().for_each(|(space, sequence)| spaces.entry(space).or_default().push(sequence));
    assert_eq!(spaces.len(), 4);
    for (space, sequences) in spaces {
        let end = sequences.len() as i64;
        assert!(end >= EACH as i64);
        assert_eq!(sequences, (1..=end).collect::<Vec<_>>(), "{space}");
    }
    let again = follow(&house.engine, &user("ana"), FeedRequest::default(), &[1_000]).await;
    assert!(again.len() >= EACH);
    assert_eq!(ana, again.into_iter().map(|entry| (entry.space, entry.sequence)).collect::<Vec<_>>());
}
