//! Who comes first when nothing is asked?

use loci_store::{Hit, Measure, Store};
use loci_types::{AccessPolicy, Action, Filter, Memory, MemoryId, Patch};

use crate::hand::{Hand, good};
use crate::samples::*;

fn ids(hits: &[Hit]) -> Vec<MemoryId> {
    hits.iter().map(|hit| hit.id).collect()
}

/// Over all scopes and spaces, scored by when they came; the limit keeps the first.
pub async fn the_newest_come_first(store: &dyn Store) {
    let hand = Hand::on(store);
    let scopes = [user("anna"), agent("bot"), user("vera")];
    let mut memories: Vec<Memory> = (0..12).map(|n| hand.sample(&scopes[n % 3], &format!("lantern {n}"))).collect();
    for (number, pair) in memories.chunks_mut(2).enumerate() {
        // What came at the same instant is told apart by its id; importance says nothing here.
        pair[1].created_at = pair[0].created_at;
        pair[1].importance = number as f64 / 10.0;
    }
    let mut newest = Vec::new();
    for memory in memories {
        newest.push(hand.keep(memory).await);
    }
    newest.reverse();
    let hits = good(store.foremost(&whole(), &now(), Measure::Newest, 100).await);
    assert_eq!(ids(&hits), newest);
    for hit in &hits {
        assert_eq!(hit.score, hand.must_get(hit.id).await.created_at.as_second() as f64, "scored by seconds");
    }
    for limit in [0, 1, 5, 12, usize::MAX] {
        assert_eq!(good(store.foremost(&whole(), &now(), Measure::Newest, limit).await), hits[..limit.min(12)]);
    }
}

/// Equals stand in the order they came, newest first, and the limit keeps the newest of them.
pub async fn the_most_important_come_first_then_the_newest(store: &dyn Store) {
    let hand = Hand::on(store);
    let scopes = [user("anna"), agent("bot"), user("vera")];
    let mut all: Vec<(f64, MemoryId)> = Vec::new();
    for number in 0..18_usize {
        let importance = [0.5, 0.25, 1.0, 0.5, 0.0][number % 5];
        let memory = Memory { importance, ..hand.sample(&scopes[number % 3], &format!("lantern {number}")) };
        all.push((importance, hand.keep(memory).await));
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    let expect: Vec<Hit> = all.iter().map(|(score, id)| Hit { id: *id, score: *score }).collect();
    for limit in [0, 1, 2, 5, 9, 18, usize::MAX] {
        let hits = good(store.foremost(&whole(), &now(), Measure::Importance, limit).await);
        assert_eq!(hits, expect[..limit.min(18)], "limit {limit}");
    }
    let least = expect[17].id;
    let raise = revision(least, Patch { importance: Some(0.75), ..Patch::default() });
    let space = crate::hand::space_of(&hand.must_get(least).await);
    hand.must(&space, Action::Revise(Box::new(raise))).await;
    let hits = good(store.foremost(&whole(), &now(), Measure::Importance, 5).await);
    assert_eq!((hits[4].id, hits[4].score), (least, 0.75), "after the four that matter most");
}

/// The limit is filled from what is seen and meant, not before it.
pub async fn foremost_keeps_to_what_is_seen_and_meant(store: &dyn Store) {
    let (hand, anna, vera) = (Hand::on(store), user("anna"), user("vera"));
    let kept = hand.remember(&anna, "lantern kept").await;
    let tagged = hand.keep(Memory { tags: vec!["t".into()], ..hand.sample(&anna, "lantern tagged") }).await;
    let old = hand.remember(&anna, "lantern old").await;
    let new = hand.replace(old, &anna, "lantern new").await;
    for number in 0..20 {
        let forgotten = hand.remember(&anna, &format!("lantern forgotten {number}")).await;
        hand.forget(&anna, forgotten).await;
        let secret =
            Memory { access_policy: AccessPolicy::Private, actor_id: Some("vera".into()), ..hand.sample(&anna, "x") };
        hand.keep(Memory { content_hash: hash(&number.to_string()), importance: 1.0, ..secret }).await;
        hand.keep(Memory { importance: 1.0, ..hand.sample(&vera, &format!("lantern of Ben {number}")) }).await;
    }
    for by in [Measure::Newest, Measure::Importance] {
        let first = async |filter: &Filter, limit| {
            ids(&good(store.foremost(&visible(std::slice::from_ref(&anna)), filter, by, limit).await))
        };
        assert_eq!(first(&now(), 2).await, [new, tagged], "{by:?}");
        assert_eq!(first(&now(), 9).await, [new, tagged, kept], "{by:?}");
        assert_eq!(first(&Filter { tags: vec!["t".into()], ..now() }, 1).await, [tagged], "{by:?}");
        assert_eq!(first(&Filter { superseded: true, ..now() }, 3).await, [new, old, tagged], "{by:?}");
        assert_eq!(first(&Filter { tags: vec!["none".into()], ..now() }, 9).await, [], "{by:?}");
    }
}
