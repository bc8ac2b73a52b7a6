//! Contract: united entities.

use loci_store::{EntityFilter, EntityQuery, Store};
use loci_types::{Action, Entity, EntityId, ErrorKind, Memory, MemoryId, Outcome, Reach, Scope, Visible};
use serde_json::json;

use crate::driver::{Driver, good, line, name_in};
use crate::samples::*;

fn unite(into: EntityId, from: EntityId) -> Action {
    Action::Unite { into, from }
}

async fn named(store: &dyn Store, visible: &Visible, name: &str) -> Vec<Entity> {
    good(store.entities(visible, &EntityQuery::Named([name.to_owned()].to_vec()), usize::MAX).await)
}

async fn speaking(store: &dyn Store, entities: &[EntityId]) -> Vec<(MemoryId, f64)> {
    let hits = good(store.memories_mentioning(&whole(), &now(), entities, 99).await);
    hits.into_iter().map(|hit| (hit.id, hit.score)).collect()
}

async fn known(store: &dyn Store, visible: &Visible, filter: &EntityFilter, limit: usize) -> Vec<EntityId> {
    good(store.entities(visible, &EntityQuery::Known(filter.clone()), limit).await)
        .into_iter()
        .map(|entity| entity.id)
        .collect()
}

/// Creates an entity with a memory that mentions it.
async fn thing(driver: &Driver<'_>, scope: &Scope, name: &str, aliases: &[&str]) -> (Entity, MemoryId) {
    let entity = driver.name(scope, name, aliases).await;
    let memory = driver.remember(scope, &format!("lantern of {name}")).await;
    driver.mention(scope, memory, entity.id).await;
    (Entity { mention_count: 1, ..entity }, memory)
}

/// United entities are found as one by all names, with all mentions; after a division each has its own again.
pub async fn a_union_is_found_as_one_and_can_be_divided(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let (first, of_first) = thing(&driver, &anna, "NYC", &["Gotham"]).await;
    let (root, of_root) = thing(&driver, &anna, "New York", &["Big Apple", "Gotham"]).await;
    let applied = driver.must(&anna.space(), unite(root.id, first.id)).await;
    assert_eq!((applied.id, applied.outcome), (None, Outcome::Merged));
    let line = line(store, &whole(), &anna.space(), applied.sequence).await;
    assert_eq!(line.and_then(|line| line.new), Some(json!({ "entity": root.id, "united": first.id })));
    let one = Entity {
        aliases: vec!["Big Apple".into(), "Gotham".into(), "NYC".into()],
        mention_count: 2,
        created_at: first.created_at,
        ..root.clone()
    };
    for visible in [whole(), visible(std::slice::from_ref(&anna))] {
        for name in ["nyc", "new york", "gotham", "big apple"] {
            assert_eq!(named(store, &visible, name).await, std::slice::from_ref(&one), "{name}");
        }
        for memory in [of_first, of_root] {
            assert_eq!(
                good(store.entities(&visible, &EntityQuery::MentionedBy(memory), usize::MAX).await),
                std::slice::from_ref(&one)
            );
        }
        assert_eq!(known(store, &visible, &EntityFilter::default(), 9).await, [root.id]);
    }
    for asked in [&[root.id][..], &[first.id], &[first.id, root.id]] {
        assert_eq!(speaking(store, asked).await, [(of_root, 1.0), (of_first, 1.0)], "by any of their ids");
    }
    // Writing back the united entity does not store the names of the others with it.
    let described = Entity { summary: Some("a city".into()), ..one };
    driver.must(&anna.space(), name_in(&anna, described)).await;
    let again = driver.must(&anna.space(), unite(first.id, root.id)).await;
    assert_eq!((again.outcome, again.sequence), (Outcome::None, None), "they are one already");
    let divided = driver.must(&anna.space(), Action::Divide { scope: None, entity: first.id }).await;
    assert_eq!((divided.outcome, divided.sequence.is_some()), (Outcome::Restored, true));
    let apart = Entity { updated_at: driver.clock(), ..first.clone() };
    assert_eq!(named(store, &whole(), "NYC").await, [apart]);
    let root = Entity { summary: Some("a city".into()), ..root };
    assert_eq!(named(store, &whole(), "New York").await, std::slice::from_ref(&root));
    assert_eq!(speaking(store, &[root.id]).await, [(of_root, 1.0)]);
    assert_eq!(speaking(store, &[first.id]).await, [(of_first, 1.0)]);
    for whole_one in [first.id, EntityId(id(77_777).0)] {
        let idle = driver.must(&anna.space(), Action::Divide { scope: None, entity: whole_one }).await;
        assert_eq!((idle.outcome, idle.sequence), (Outcome::None, None));
    }
}

/// United entities can be united again by any of their ids, and are divided where they were united.
pub async fn unions_make_chains(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let mut things = Vec::new();
    for name in ["Ann", "Anna", "Anna Smith", "A. Smith", "Mrs Smith"] {
        things.push(thing(&driver, &anna, name, &[]).await);
    }
    let [a, b, c, d, e]: [EntityId; 5] = std::array::from_fn(|which| things[which].0.id);
    driver.must(&anna.space(), unite(b, a)).await;
    driver.must(&anna.space(), unite(c, b)).await;
    driver.must(&anna.space(), unite(d, e)).await;
    // By ids that are not roots, on both sides.
    let applied = driver.must(&anna.space(), unite(a, e)).await;
    let line = line(store, &whole(), &anna.space(), applied.sequence).await;
    assert_eq!(line.and_then(|line| line.new), Some(json!({ "entity": c, "united": d })), "what a division takes back");
    for (entity, _) in &things {
        let found = named(store, &whole(), &entity.canonical_name).await;
        assert_eq!(found.iter().map(|one| (one.id, one.mention_count)).collect::<Vec<_>>(), [(c, 5)]);
    }
    assert_eq!(speaking(store, &[a]).await.len(), 5);
    assert_eq!(known(store, &whole(), &EntityFilter::default(), 9).await, [c]);
    driver.must(&anna.space(), Action::Divide { scope: None, entity: d }).await;
    let roots = async |which: usize| named(store, &whole(), &things[which].0.canonical_name).await[0].id;
    let found = [roots(0).await, roots(1).await, roots(2).await, roots(3).await, roots(4).await];
    assert_eq!(found, [c, c, c, d, d]);
    driver.must(&anna.space(), Action::Divide { scope: None, entity: b }).await;
    let found = [roots(0).await, roots(1).await, roots(2).await, roots(3).await, roots(4).await];
    assert_eq!(found, [b, b, c, d, d]);
}

/// An entity belongs to one scope: entities of the same name in other scopes are different ones.
pub async fn a_thing_does_not_leave_its_scope(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let (hers, of_hers) = thing(&driver, &anna, "Harbour", &[]).await;
    let (his, of_his) = thing(&driver, &vera, "Harbour", &["port"]).await;
    let stolen = Entity { summary: Some("stolen".into()), ..hers.clone() };
    for (space, action) in [
        (anna.space(), unite(hers.id, his.id)),
        (anna.space(), unite(his.id, hers.id)),
        (anna.space(), unite(hers.id, EntityId(id(77_777).0))),
        (anna.space(), unite(EntityId(id(77_777).0), hers.id)),
        (anna.space(), Action::Mention { memory: of_his, entity: hers.id, counted: true }),
        (anna.space(), Action::Mention { memory: of_hers, entity: his.id, counted: true }),
        (anna.space(), name_in(&vera, stolen.clone())),
        (anna.space(), name_in(&agent("bot"), stolen)),
    ] {
        let case = format!("{action:?}");
        let error = driver.act(&space, action).await.expect_err("across scopes");
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{case}");
    }
    let of_anna = visible(std::slice::from_ref(&anna));
    assert_eq!(named(store, &of_anna, "harbour").await, std::slice::from_ref(&hers));
    assert_eq!(named(store, &of_anna, "port").await, []);
    assert_eq!(named(store, &visible(&[vera]), "harbour").await, std::slice::from_ref(&his));
    assert_eq!(named(store, &whole(), "harbour").await.len(), 2);
    assert_eq!(speaking(store, &[hers.id, his.id]).await, [(of_his, 0.5), (of_hers, 0.5)]);
}

/// A summary may quote any memory, so it is hidden from callers who are limited to categories.
pub async fn a_summary_is_not_for_those_who_see_some_categories(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let harbour = driver.name(&anna, "Harbour", &[]).await;
    let memory = Memory { category: Some("work".into()), ..driver.sample(&anna, "lantern") };
    let memory = driver.keep(memory).await;
    driver.mention(&anna, memory, harbour.id).await;
    for reach in [Reach::Whole, Reach::Scopes(vec![anna.clone()])] {
        for (categories, expect) in [(None, harbour.summary.clone()), (Some(&["work", "home"][..]), None)] {
            let visible = grant(Default::default(), reach.clone(), categories, None);
            let by_name = named(store, &visible, "harbour").await;
            let spoken = good(store.entities(&visible, &EntityQuery::MentionedBy(memory), usize::MAX).await);
            let known = good(store.entities(&visible, &EntityQuery::Known(EntityFilter::default()), 9).await);
            for found in [by_name, spoken, known] {
                assert_eq!(found.len(), 1);
                assert_eq!(found[0].summary, expect, "{visible:?}");
            }
        }
    }
}

/// Entities with the most mentions come first, a union counting as one, up to the limit.
pub async fn those_spoken_of_most_are_known_first(store: &dyn Store) {
    let (driver, anna, bot) = (Driver::on(store), user("anna"), agent("bot"));
    let mut memories = Vec::new();
    for number in 0..4 {
        memories.push(driver.remember(&anna, &format!("lantern {number}")).await);
    }
    let mut ids = Vec::new();
    for (name, mentions) in [("one", 1), ("three", 3), ("nobody's", 0), ("two", 2), ("also two", 2), ("also one", 1)] {
        let bare =
            Entity { summary: (name != "three").then(|| "a summary".into()), ..entity(driver.next(), name, &[]) };
        driver.must(&anna.space(), name_in(&anna, bare.clone())).await;
        for memory in &memories[..mentions] {
            driver.mention(&anna, *memory, bare.id).await;
        }
        ids.push(bare.id);
    }
    let (abroad, _) = thing(&driver, &bot, "abroad", &[]).await;
    let any = EntityFilter::default;
    let check = async |visible: &Visible, filter: EntityFilter, expect: &[EntityId]| {
        for limit in [0, 1, 2, 3, usize::MAX] {
            let found = known(store, visible, &filter, limit).await;
            assert_eq!(found, expect[..limit.min(expect.len())], "{limit} of {filter:?}");
        }
    };
    check(&whole(), any(), &[ids[1], ids[3], ids[4], ids[0], ids[5], abroad.id]).await;
    check(&visible(std::slice::from_ref(&anna)), any(), &[ids[1], ids[3], ids[4], ids[0], ids[5]]).await;
    check(&visible(&[bot]), any(), &[abroad.id]).await;
    check(&visible(&[user("vera")]), any(), &[]).await;
    check(&whole(), EntityFilter { mentions_min: 2, ..any() }, &[ids[1], ids[3], ids[4]]).await;
    check(&whole(), EntityFilter { mentions_min: 4, ..any() }, &[]).await;
    check(&whole(), EntityFilter { without_summary: true, ..any() }, &[ids[1]]).await;
    // The united entity has the most mentions, although its root has the fewest.
    for from in [ids[4], ids[5]] {
        driver.must(&anna.space(), unite(ids[0], from)).await;
    }
    check(&whole(), any(), &[ids[0], ids[1], ids[3], abroad.id]).await;
    check(&whole(), EntityFilter { mentions_min: 4, ..any() }, &[ids[0]]).await;
}

/// Compaction removes entities without mentions; a root stays while one of its entities is mentioned.
pub async fn what_nobody_speaks_of_is_swept(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let (root, of_root) = thing(&driver, &anna, "Harbour", &[]).await;
    let (other, of_other) = thing(&driver, &anna, "Port", &[]).await;
    let (alone, of_alone) = thing(&driver, &anna, "Boat", &[]).await;
    driver.must(&anna.space(), unite(root.id, other.id)).await;
    for gone in [of_root, of_alone] {
        driver.must(&anna.space(), Action::Erase { id: gone }).await;
    }
    let sweep = async || good(store.compact(&Default::default(), &anna.space(), at(0)).await);
    assert_eq!((sweep().await, sweep().await), (1, 0));
    assert_eq!(good(store.stats(&whole()).await).entities, 1, "united ones count once");
    assert_eq!(named(store, &whole(), "harbour").await[0].id, root.id);
    assert_eq!(speaking(store, &[alone.id]).await, []);
    assert_eq!(speaking(store, &[root.id]).await, [(of_other, 1.0)]);
}
