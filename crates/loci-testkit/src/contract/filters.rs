//! Contract: filters.
//!
//! The reference is [`Filter::matches`]; every search must agree with it.

use loci_store::Store;
use loci_types::{AccessPolicy, Filter, KnowledgePointer, Layer, Memory, Source, State, TimeRange};
use serde_json::json;

use crate::driver::{Driver, good};
use crate::samples::*;

/// A case: its name, the change that makes a memory match, and the change of the filter.
struct Case(&'static str, fn(&mut Memory), fn(&mut Filter));

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn source(role: Option<&str>) -> Source {
    Source { kind: "tool_result".into(), role: role.map(str::to_owned), reference: None }
}

fn pointer() -> KnowledgePointer {
    KnowledgePointer { source_type: "adr".into(), source_id: "1".into(), content_hash: "h".into(), synced_at: at(1) }
}

fn range(from: Option<i64>, until: Option<i64>) -> TimeRange {
    TimeRange { from: from.map(at), until: until.map(at) }
}

fn deleted_and_expired(memory: &mut Memory) {
    (memory.state, memory.expires_at) = (State::SoftDeleted, Some(at(4_000)));
}

const CASES: &[Case] = &[
    Case("states", |m| m.state = State::Archived, |f| f.states = vec![State::Archived]),
    Case("deleted", |m| m.state = State::SoftDeleted, |f| f.states = vec![State::SoftDeleted, State::Decayed]),
    Case("deleted and expired", deleted_and_expired, |f| f.states = vec![State::SoftDeleted]),
    Case("superseded", |m| m.superseded_by_id = Some(id(1)), |f| f.superseded = true),
    Case("not yet valid", |m| m.valid_from = Some(at(6_000)), |f| f.superseded = true),
    Case("no longer valid", |m| m.valid_until = Some(at(5_000)), |f| f.superseded = true),
    Case("expired", |m| m.expires_at = Some(at(5_000)), |f| f.superseded = true),
    Case("now, earlier", |m| m.valid_until = Some(at(4_000)), |f| f.now = at(3_999)),
    Case("now, later", |m| m.valid_from = Some(at(6_500)), |f| f.now = at(6_500)),
    Case("as of, by validity", |m| m.valid_from = Some(at(-90)), |f| f.as_of = Some(at(-50))),
    Case("as of, by event", |m| m.event_time = Some(at(-80)), |f| f.as_of = Some(at(-80))),
    Case("as of, by creation", |_| (), |f| f.as_of = Some(at(20))),
    Case("as of, by end", |m| m.valid_until = Some(at(4_500)), |f| f.as_of = Some(at(4_499))),
    Case("as of, expired", |m| m.expires_at = Some(at(4_500)), |f| f.as_of = Some(at(4_600))),
    Case("kinds", |m| m.kind = loci_types::Kind::stored("task"), |f| f.kinds = words(&["task", "person"])),
    Case("categories", |m| m.category = Some("hobby".into()), |f| f.categories = words(&["work", "hobby"])),
    Case("tags", |m| m.tags = words(&["a", "b"]), |f| f.tags = words(&["b", "c"])),
    Case("a repeated tag", |m| m.tags = words(&["d", "d"]), |f| f.tags = words(&["d"])),
    Case("source types", |m| m.source = Some(source(None)), |f| f.source_types = words(&["tool_result"])),
    Case("source roles", |m| m.source = Some(source(Some("tool"))), |f| f.source_roles = words(&["tool"])),
    Case("has pointer", |m| m.knowledge_pointer = Some(pointer()), |f| f.has_knowledge_pointer = Some(true)),
    Case("has no pointer", |_| (), |f| f.has_knowledge_pointer = Some(false)),
    Case("pinned", |m| m.pinned = true, |f| f.pinned = Some(true)),
    Case("not pinned", |_| (), |f| f.pinned = Some(false)),
    Case("importance from", |m| m.importance = 0.75, |f| f.importance_min = Some(0.75)),
    Case("importance to", |m| m.importance = 0.25, |f| f.importance_max = Some(0.25)),
    Case("confidence from", |m| m.confidence = 0.75, |f| f.confidence_min = Some(0.75)),
    Case("confidence to", |m| m.confidence = 0.25, |f| f.confidence_max = Some(0.25)),
    Case("event", |m| m.event_time = Some(at(100)), |f| f.event = range(Some(100), Some(101))),
    Case("event until", |m| m.event_time = Some(at(-100)), |f| f.event = range(None, Some(-90))),
    Case("event from", |m| m.event_time = Some(at(4_000)), |f| f.event = range(Some(3_000), None)),
    Case("created", |m| m.created_at = at(200), |f| f.created = range(Some(200), Some(201))),
    Case("updated", |m| m.updated_at = at(300), |f| f.updated = range(Some(300), Some(301))),
    Case("layers", |_| (), |f| f.layers = vec![Layer::Session, Layer::Org]),
    Case(
        "access policies",
        |m| m.access_policy = AccessPolicy::Public,
        |f| f.access_policies = vec![AccessPolicy::Public, AccessPolicy::Organization],
    ),
    Case("users", |m| m.identifiers.user_id = Some("anna".into()), |f| f.users = words(&["anna"])),
    Case("agents", |m| m.identifiers.agent_id = Some("bot".into()), |f| f.agents = words(&["bot"])),
    Case("sessions", |m| m.identifiers.session_id = Some("s".into()), |f| f.sessions = words(&["s"])),
    Case("runs", |m| m.run_id = Some("r".into()), |f| f.runs = words(&["r"])),
    Case("actors", |m| m.actor_id = Some("vera".into()), |f| f.actors = words(&["vera"])),
    Case("roles", |m| m.role = Some("tool".into()), |f| f.roles = words(&["tool"])),
    Case("threads", |m| m.thread_id = Some("t".into()), |f| f.threads = words(&["t"])),
    Case(
        "metadata",
        |m| drop(m.metadata.insert("k".into(), json!(1))),
        |f| {
            f.metadata.insert("k".into(), json!(1));
        },
    ),
    Case(
        "all at once",
        |m| (m.pinned, m.importance, m.tags) = (true, 0.9, words(&["z"])),
        |f| {
            (f.pinned, f.importance_min, f.tags) = (Some(true), Some(0.8), words(&["z"]));
        },
    ),
    Case("everything", |m| m.state = State::SoftDeleted, |f| *f = everything()),
    Case(
        "as of, everything",
        |m| m.state = State::SoftDeleted,
        |f| {
            *f = Filter { as_of: Some(at(10)), ..everything() };
        },
    ),
    Case("no states", |_| (), |f| f.states = Vec::new()),
    // Ids are given by the driver, so this case sets one of its own; the second belongs to no memory.
    Case("ids", |m| m.id = id(900_001), |f| f.ids = vec![id(900_001), id(900_002), id(900_001)]),
];

// Coverage: S0-1.3, S2.10, S3-6.2.
/// For each case every search returns what the reference returns, among memories of all cases and some plain ones.
pub async fn every_field_follows_the_specification(store: &dyn Store) {
    let driver = Driver::on(store);
    let scopes =
        [scope(Layer::Project, &["loci"]), scope(Layer::Session, &["vera", "s-1"]), scope(Layer::User, &["eva"])];
    let mut plain = Vec::new();
    for (number, Case(name, set, _)) in CASES.iter().enumerate() {
        let mut memory = driver.sample(&scopes[if *name == "layers" { 1 } else { 0 }], &format!("lantern {number}"));
        set(&mut memory);
        driver.keep(memory.clone()).await;
        plain.push(memory);
    }
    for scope in &scopes {
        let memory = driver.sample(scope, "a plain lantern");
        driver.keep(memory.clone()).await;
        plain.push(memory);
    }
    for Case(name, _, set) in CASES {
        let mut filter = now();
        set(&mut filter);
        for visible in [whole(), visible(&scopes), visible(&scopes[..1])] {
            let law = |memory: &&Memory| filter.matches(memory) && visible.admits(memory);
            let mut expect: Vec<_> = plain.iter().filter(law).map(|memory| memory.id).collect();
            expect.sort();
            for (lane, found) in driver.lanes(&visible, "lantern", &filter).await {
                assert_eq!(found, expect, "{lane}: {name}");
            }
        }
        let matching = plain.iter().filter(|memory| filter.matches(memory)).count();
        assert!((matching > 0) == (*name != "no states"), "{name} means something");
        assert!(matching < plain.len() || *name == "everything", "{name} leaves something out");
    }
}

// Coverage: S2.10.
/// Metadata of every JSON type, under any key, is compared as JSON.
pub async fn metadata_is_compared_as_json(store: &dyn Store) {
    let driver = Driver::on(store);
    let anna = user("anna");
    let names = ["k", "a.b", "a b", "quo\"te", "back\\slash", "$", "[0]", "ключ", "'; DROP TABLE memories; --"];
    let values = [
        json!(null),
        json!(true),
        json!(1),
        json!(1.0),
        json!(-0.5),
        json!(1e300),
        json!(u64::MAX),
        json!("1"),
        json!(""),
        json!("ё\n\"\\\u{1}\u{1f41d}"),
        json!([]),
        json!([1, "two", null]),
        json!({}),
        json!({ "b": 1, "a": { "deep": [true] } }),
    ];
    let mut plain = vec![driver.sample(&anna, "lantern")];
    driver.keep(plain[0].clone()).await;
    for (number, value) in values.iter().enumerate() {
        for (other, name) in names.iter().enumerate() {
            let mut memory = driver.sample(&anna, &format!("lantern {number} {other}"));
            memory.metadata.insert((*name).to_owned(), value.clone());
            driver.keep(memory.clone()).await;
            plain.push(memory);
        }
    }
    for value in &values {
        for name in names {
            let mut filter = now();
            filter.metadata.insert(name.to_owned(), value.clone());
            let expect: Vec<_> = plain.iter().rev().filter(|memory| filter.matches(memory)).map(|m| m.id).collect();
            assert_eq!(expect.len(), 1);
            assert_eq!(driver.scan(&whole(), &filter).await, expect, "{name}: {value}");
        }
    }
    assert_eq!(good(store.stats(&whole()).await).memories, plain.len() as u64);
}
