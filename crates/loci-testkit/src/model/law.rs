//! Comparison of a store with its model.

use std::collections::{BTreeMap, BTreeSet};

use loci_store::text::Analyser;
use loci_store::{Error, Measure, Page, Store, TurnRun};
use loci_types::{Edge, Filter, Memory, MemoryId, Reach, State, Tenant, Visible};

use super::Model;
use super::steps::{Op, WORDS, scopes};
use crate::driver::{Driver, good};
use crate::samples::*;

/// Applies the steps to the store and to a model of it. Each result must be equal, and at the end everything that can
/// be read.
pub async fn agrees(store: &dyn Store, ops: &[Op]) {
    let mut model = Model::default();
    for (number, op) in (1..).zip(ops) {
        let (space, change) = model.change(number, op);
        let expect = model.apply(&space, &change);
        let context = format!("step {number}, {op:?}: {change:?}");
        let answer = store.apply(batch(&space, vec![change])).await;
        let answer = match answer {
            Ok(applied) => Ok((applied[0].id, applied[0].outcome, applied[0].version)),
            Err(Error::Database { problem, .. }) => panic!("{context}: {problem}"),
            Err(error) => Err(error.kind()),
        };
        assert_eq!(answer, expect, "{context}");
        chains_are_sound(store, &context).await;
    }
    let all = scopes();
    let categories: &[&str] = &["c1", "c2"];
    for visible in [
        whole(),
        seen_by(Some("ben"), &all[..3]),
        grant(Tenant::default(), Reach::Scopes(all[1..].to_vec()), Some(categories), Some("anna")),
    ] {
        same(store, &model, &visible).await;
    }
}

/// Checks the chains of all stored memories. It reads only the pointers of the memories and does not use the rules by
/// which they were set: a chain is the set of memories that are connected by pointers in either direction. A chain has
/// no cycle and at most one head that is neither deleted nor proposed.
async fn chains_are_sound(store: &dyn Store, after: &str) {
    let all = good(store.scan(&whole(), &everything(), Page { after: None, limit: 1_000 }).await).memories;
    let by_id: BTreeMap<MemoryId, &Memory> = all.iter().map(|memory| (memory.id, memory)).collect();
    let pointers: [fn(&Memory) -> Option<MemoryId>; 2] =
        [|memory| memory.superseded_by_id, |memory| memory.supersedes_id];
    for pointer in pointers {
        for memory in &all {
            let mut steps = 0;
            let mut next = pointer(memory);
            while let Some(there) = next.and_then(|id| by_id.get(&id)) {
                steps += 1;
                assert!(steps <= all.len(), "{after}: the chain of {} closes in a circle", memory.id);
                next = pointer(there);
            }
        }
    }
    // A chain is identified by the smallest id that is connected to it.
    let mut chain: BTreeMap<MemoryId, MemoryId> = by_id.keys().map(|id| (*id, *id)).collect();
    loop {
        let before = chain.clone();
        for memory in &all {
            for other in pointers.iter().filter_map(|pointer| pointer(memory)).filter(|id| by_id.contains_key(id)) {
                let name = chain[&memory.id].min(chain[&other]);
                chain.extend([(memory.id, name), (other, name)]);
            }
        }
        if chain == before {
            break;
        }
    }
    let mut heads: BTreeMap<MemoryId, Vec<MemoryId>> = BTreeMap::new();
    for memory in &all {
        if memory.superseded_by_id.is_none() && !matches!(memory.state, State::SoftDeleted | State::Proposed) {
            heads.entry(chain[&memory.id]).or_default().push(memory.id);
        }
    }
    for heads in heads.values() {
        assert!(heads.len() == 1, "{after}: a chain has the heads {heads:?}");
    }
}

async fn same(store: &dyn Store, model: &Model, visible: &Visible) {
    let driver = Driver::on(store);
    let ids: Vec<MemoryId> = model.known.iter().map(|(id, _)| *id).collect();
    let there = ids.iter().filter_map(|id| model.stored.get(id)).map(|stored| &stored.memory);
    let expect: Vec<&Memory> = there.filter(|memory| visible.admits(memory)).collect();
    let fetched = good(store.fetch(visible, &ids).await);
    assert_eq!(fetched.iter().collect::<Vec<_>>(), expect, "fetch");
    for filter in [now(), everything(), Filter { as_of: Some(at(12)), ..now() }] {
        let expect = model.matching(visible, &filter);
        let listing = good(store.scan(visible, &filter, Page { after: None, limit: 1_000 }).await);
        let plain: Vec<&Memory> = expect.iter().map(|stored| &stored.memory).collect();
        assert_eq!(listing.memories.iter().collect::<Vec<_>>(), plain, "scan");
        let sorted = |mut ids: Vec<MemoryId>| {
            ids.sort();
            ids
        };
        let near = sorted(driver.near(visible, "lantern", &filter).await);
        let embedded = expect.iter().filter(|stored| stored.embedded).map(|stored| stored.memory.id);
        assert_eq!(near, sorted(embedded.collect()), "nearest");
        for word in WORDS {
            let found = sorted(driver.words(visible, word, &filter).await);
            let holds = expect.iter().filter(|stored| stored.memory.content.contains(word));
            assert_eq!(found, sorted(holds.map(|stored| stored.memory.id).collect()), "lexical: {word}");
        }
        let newest: Vec<MemoryId> = plain.iter().map(|memory| memory.id).collect();
        assert_eq!(driver.top_by(visible, &filter, Measure::Newest).await, newest, "newest");
        let mut weighed = plain.clone();
        weighed.sort_by(|a, b| b.importance.total_cmp(&a.importance).then(b.id.cmp(&a.id)));
        let weighed: Vec<MemoryId> = weighed.iter().map(|memory| memory.id).collect();
        assert_eq!(driver.top_by(visible, &filter, Measure::Importance).await, weighed, "importance");
        let asked: Vec<MemoryId> = ids.iter().copied().step_by(3).collect();
        for reach in [0, 1, 2, 9] {
            let places = |strip: TurnRun| strip.places.iter().map(|place| place.id).collect();
            let turn_runs = good(store.around(visible, &filter, &asked, reach).await);
            let mut turn_runs: Vec<Vec<MemoryId>> = turn_runs.into_iter().map(places).collect();
            turn_runs.sort();
            assert_eq!(turn_runs, model.turn_runs(visible, &filter, &asked, reach), "{reach} around {asked:?}");
        }
    }
    let terms: Vec<String> = WORDS.iter().flat_map(|word| Analyser::default().query_terms(word)).collect();
    let holding: Vec<u64> = WORDS.iter().map(|word| model.holding(visible, word)).collect();
    assert_eq!(good(store.frequencies(visible, &terms).await).of, holding, "frequencies");
    let ends = |edge: Edge| (edge.source_id, edge.target_id, edge.relation);
    let mut edges: Vec<_> = good(store.edges(visible, &everything(), &ids, &[]).await).into_iter().map(ends).collect();
    edges.sort();
    let mut one_by_one = BTreeSet::new();
    for id in ids {
        one_by_one.extend(good(store.edges(visible, &everything(), &[id], &[]).await).into_iter().map(ends));
    }
    let seen = |id: &MemoryId| model.stored.get(id).is_some_and(|stored| visible.admits(&stored.memory));
    let expect: BTreeSet<_> =
        model.edges.iter().copied().filter(|(source, target, _)| seen(source) && seen(target)).collect();
    assert_eq!(one_by_one, expect, "edges");
    assert_eq!(edges, expect.into_iter().collect::<Vec<_>>(), "edges of all, each once");
}
