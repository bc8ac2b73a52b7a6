//! Contract: the newest and the most important memories.

use loci_store::{Hit, Measure, Store};
use loci_types::{AccessPolicy, Action, Filter, Memory, MemoryId, Patch};

use crate::driver::{Driver, good};
use crate::samples::*;

fn ids(hits: &[Hit]) -> Vec<MemoryId> {
    hits.iter().map(|hit| hit.id).collect()
}

// Coverage: S4.9.
/// Memories of all scopes and spaces, newest first, scored by their creation time, up to the limit.
pub async fn the_newest_come_first(store: &dyn Store) {
    let driver = Driver::on(store);
    let scopes = [user("anna"), agent("bot"), user("vera")];
    let mut memories: Vec<Memory> = (0..12).map(|n| driver.sample(&scopes[n % 3], &format!("lantern {n}"))).collect();
    for (number, pair) in memories.chunks_mut(2).enumerate() {
        // Memories of the same time are ordered by id; importance has no effect.
        pair[1].created_at = pair[0].created_at;
        pair[1].importance = number as f64 / 10.0;
    }
    let mut newest = Vec::new();
    for memory in memories {
        newest.push(driver.keep(memory).await);
    }
    newest.reverse();
    let hits = good(store.top_by(&whole(), &now(), Measure::Newest, 100).await);
    assert_eq!(ids(&hits), newest);
    for hit in &hits {
        assert_eq!(hit.score, driver.must_get(hit.id).await.created_at.as_second() as f64, "scored by seconds");
    }
    for limit in [0, 1, 5, 12, usize::MAX] {
        assert_eq!(good(store.top_by(&whole(), &now(), Measure::Newest, limit).await), hits[..limit.min(12)]);
    }
}

// Coverage: S4.9.
/// Memories of equal importance are ordered newest first, and the limit keeps the newest.
pub async fn the_most_important_come_first_then_the_newest(store: &dyn Store) {
    let driver = Driver::on(store);
    let scopes = [user("anna"), agent("bot"), user("vera")];
    let mut all: Vec<(f64, MemoryId)> = Vec::new();
    for number in 0..18_usize {
        let importance = [0.5, 0.25, 1.0, 0.5, 0.0][number % 5];
        let memory = Memory { importance, ..driver.sample(&scopes[number % 3], &format!("lantern {number}")) };
        all.push((importance, driver.keep(memory).await));
    }
    all.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
    let expect: Vec<Hit> = all.iter().map(|(score, id)| Hit { id: *id, score: *score }).collect();
    for limit in [0, 1, 2, 5, 9, 18, usize::MAX] {
        let hits = good(store.top_by(&whole(), &now(), Measure::Importance, limit).await);
        assert_eq!(hits, expect[..limit.min(18)], "limit {limit}");
    }
    let least = expect[17].id;
    let raise = revision(least, Patch { importance: Some(0.75), ..Patch::default() });
    let space = crate::driver::space_of(&driver.must_get(least).await);
    driver.must(&space, Action::Revise(Box::new(raise))).await;
    let hits = good(store.top_by(&whole(), &now(), Measure::Importance, 5).await);
    assert_eq!((hits[4].id, hits[4].score), (least, 0.75), "after the four that matter most");
}

// Coverage: S3-6.2.
/// The limit counts only visible memories that match the filter.
pub async fn top_by_keeps_to_visibility_and_filter(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let kept = driver.remember(&anna, "lantern kept").await;
    let tagged = driver.keep(Memory { tags: vec!["t".into()], ..driver.sample(&anna, "lantern tagged") }).await;
    let old = driver.remember(&anna, "lantern old").await;
    let new = driver.replace(old, &anna, "lantern new").await;
    for number in 0..20 {
        let forgotten = driver.remember(&anna, &format!("lantern forgotten {number}")).await;
        driver.forget(&anna, forgotten).await;
        let secret =
            Memory { access_policy: AccessPolicy::Private, actor_id: Some("vera".into()), ..driver.sample(&anna, "x") };
        driver.keep(Memory { content_hash: hash(&number.to_string()), importance: 1.0, ..secret }).await;
        driver.keep(Memory { importance: 1.0, ..driver.sample(&vera, &format!("lantern of Ben {number}")) }).await;
    }
    for by in [Measure::Newest, Measure::Importance] {
        let first = async |filter: &Filter, limit| {
            ids(&good(store.top_by(&visible(std::slice::from_ref(&anna)), filter, by, limit).await))
        };
        assert_eq!(first(&now(), 2).await, [new, tagged], "{by:?}");
        assert_eq!(first(&now(), 9).await, [new, tagged, kept], "{by:?}");
        assert_eq!(first(&Filter { tags: vec!["t".into()], ..now() }, 1).await, [tagged], "{by:?}");
        assert_eq!(first(&Filter { superseded: true, ..now() }, 3).await, [new, old, tagged], "{by:?}");
        assert_eq!(first(&Filter { tags: vec!["none".into()], ..now() }, 9).await, [], "{by:?}");
    }
}
