//! Contract: entities and mentions.

use loci_store::{EntityFilter, EntityQuery, Hit, Store};
use loci_types::{AccessPolicy, Action, Entity, EntityId, Filter, Memory, MemoryId, Visible};

use crate::driver::{Driver, good, name_in};
use crate::samples::*;

/// The ids of the entities with these names, sorted.
async fn named(store: &dyn Store, visible: &Visible, names: &[&str]) -> Vec<EntityId> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    sorted(good(store.entities(visible, &EntityQuery::Named(names.to_vec()), usize::MAX).await))
}

async fn entities_of(store: &dyn Store, visible: &Visible, id: MemoryId) -> Vec<EntityId> {
    sorted(good(store.entities(visible, &EntityQuery::MentionedBy(id), usize::MAX).await))
}

fn sorted(entities: Vec<Entity>) -> Vec<EntityId> {
    let mut ids: Vec<EntityId> = entities.into_iter().map(|entity| entity.id).collect();
    ids.sort();
    ids
}

/// All fields are read back, with the number of mentions.
pub async fn an_entity_comes_back_field_by_field(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let lisbon = driver.name(&anna, "Lisbon", &["Lisboa", "the white city"]).await;
    let bare = Entity { summary: None, attributes: serde_json::Map::new(), ..entity(driver.next(), "Porto", &[]) };
    driver.must(&anna.space(), name_in(&anna, bare.clone())).await;
    let memory = driver.remember(&anna, "lantern").await;
    let once = |entity: &Entity| Entity { mention_count: 1, ..entity.clone() };
    for entity in [&lisbon, &bare] {
        driver.mention(&anna, memory, entity.id).await;
        let found = good(
            store
                .entities(
                    &whole(),
                    &EntityQuery::Named(std::slice::from_ref(&entity.canonical_name).to_vec()),
                    usize::MAX,
                )
                .await,
        );
        assert_eq!(found, [once(entity)]);
    }
    assert_eq!(
        good(store.entities(&whole(), &EntityQuery::MentionedBy(memory), usize::MAX).await),
        [once(&lisbon), once(&bare)]
    );
    // An update keeps `created_at` and replaces the other fields.
    let described = Entity {
        aliases: vec!["Olisipo".into()],
        summary: Some("on the Tagus".into()),
        updated_at: at(400),
        created_at: at(300),
        ..lisbon.clone()
    };
    driver.must(&anna.space(), name_in(&anna, described.clone())).await;
    let expect = Entity { created_at: lisbon.created_at, ..once(&described) };
    assert_eq!(
        good(store.entities(&whole(), &EntityQuery::Named(["lisbon".to_owned()].to_vec()), usize::MAX).await),
        [expect]
    );
}

// Coverage: S1.13.
/// An entity is found by its name or an alias, regardless of case, but not by a part of a name.
pub async fn an_entity_is_found_by_any_name_in_any_case(store: &dyn Store) {
    let driver = Driver::on(store);
    let (anna, bot) = (user("anna"), agent("bot"));
    let mut ids = Vec::new();
    for (scope, name, aliases) in [
        (&anna, "Ana López", &["Ana", "@Ana"][..]),
        (&anna, "Ёлка", &["НОВОГОДНЯЯ Ель"]),
        (&anna, "ÅNGSTRÖM", &["Æther", "Ἀθῆναι"]),
        (&bot, "Lisbon", &["LISBOA", "lisbon", "100%_city'"]),
        (&anna, "The Ana", &["ana"]),
    ] {
        let entity = driver.name(scope, name, aliases).await;
        let memory = driver.remember(scope, &format!("lantern of {name}")).await;
        driver.mention(scope, memory, entity.id).await;
        ids.push(entity.id);
    }
    for visible in [whole(), visible(&[anna, bot])] {
        for (names, expect) in [
            (&["ana lópez"][..], &[0][..]),
            (&["ANA LÓPEZ"], &[0]),
            (&["@ANA"], &[0]),
            (&["Ana"], &[0, 4]),
            (&["ёлка"], &[1]),
            (&["ЁЛКА"], &[1]),
            (&["Новогодняя ель"], &[1]),
            (&["ångström"], &[2]),
            (&["ÆTHER"], &[2]),
            (&["ἀθῆναι"], &[2]),
            (&["lisbon", "Lisboa", "LISBON"], &[3]),
            (&["100%_CITY'"], &[3]),
            (&["lisbon", "ёлка", "nobody"], &[1, 3]),
            (&["lis", "lisbon ", "lis%", "%", "*", "", "López"], &[]),
            (&[], &[]),
        ] {
            let expect: Vec<EntityId> = expect.iter().map(|which| ids[*which]).collect();
            assert_eq!(named(store, &visible, names).await, expect, "{names:?}");
        }
    }
}

// Coverage: S1.25.
/// An entity is found by the vector of its description, nearest first, by those who see a mention of it. A new description,
/// or the erasure of a memory that it may quote, removes the vector.
pub async fn an_entity_is_found_by_its_vector(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let mut known = Vec::new();
    for (scope, name, text) in
        [(&anna, "Lisbon", "a white city"), (&anna, "Porto", "port wine"), (&vera, "Faro", "a city")]
    {
        let entity = driver.name(scope, name, &[]).await;
        let memory = driver.remember(scope, &format!("lantern of {name}")).await;
        driver.mention(scope, memory, entity.id).await;
        let vector = vector(text);
        driver.must(&scope.space(), Action::EmbedEntity { entity: entity.id, vector }).await;
        known.push((entity, memory));
    }
    let near = async |visible: &Visible, text: &str, limit: usize| -> Vec<EntityId> {
        let found = good(store.nearest_entities(visible, &vector(text), limit).await);
        assert!(found.is_sorted_by(|a, b| a.1 >= b.1), "{found:?}");
        found.into_iter().map(|(entity, _)| entity.id).collect()
    };
    let ids: Vec<EntityId> = known.iter().map(|(entity, _)| entity.id).collect();
    assert_eq!(near(&visible(std::slice::from_ref(&anna)), "the white city", 9).await, [ids[0], ids[1]]);
    assert_eq!(near(&visible(std::slice::from_ref(&anna)), "port wine", 1).await, [ids[1]]);
    assert_eq!(near(&visible(&[vera]), "port wine", 9).await, [ids[2]]);
    let other = loci_types::Vector { model: "another".into(), ..vector("port wine") };
    assert_eq!(good(store.nearest_entities(&whole(), &other, 9).await), []);
    let without = EntityFilter { without_vector_of: Some(MODEL.into()), ..EntityFilter::default() };
    let waiting = async || sorted(good(store.entities(&whole(), &EntityQuery::Known(without.clone()), 9).await));
    assert_eq!(waiting().await, []);
    let described = Entity { summary: Some("wine".into()), ..known[1].0.clone() };
    driver.must(&anna.space(), name_in(&anna, described)).await;
    assert_eq!(waiting().await, [ids[1]]);
    driver.must(&anna.space(), Action::Erase { id: known[0].1 }).await;
    assert_eq!(near(&visible(&[anna]), "the white city", 9).await, []);
}

/// A renamed entity keeps its mentions and is not found by its old names.
pub async fn a_renamed_entity_loses_its_old_names(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let first = driver.name(&anna, "Constantinople", &["Byzantium", "Царьград"]).await;
    let memory = driver.remember(&anna, "lantern").await;
    driver.mention(&anna, memory, first.id).await;
    let renamed = Entity {
        canonical_name: "Istanbul".into(),
        aliases: vec!["byzantium".into(), "Стамбул".into()],
        ..first.clone()
    };
    driver.must(&anna.space(), name_in(&anna, renamed)).await;
    for (name, expect) in [
        ("istanbul", &[first.id][..]),
        ("стамбул", &[first.id]),
        ("Byzantium", &[first.id]),
        ("Constantinople", &[]),
        ("царьград", &[]),
    ] {
        assert_eq!(named(store, &whole(), &[name]).await, expect, "{name}");
    }
    let spoken = good(store.entities(&whole(), &EntityQuery::MentionedBy(memory), usize::MAX).await);
    assert_eq!((spoken.len(), spoken[0].canonical_name.as_str()), (1, "Istanbul"));
}

/// An entity is visible only to callers who see a memory that mentions it.
pub async fn an_entity_is_seen_where_it_is_spoken_of(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let harbour = driver.name(&anna, "Harbour", &["port"]).await.id;
    let private =
        Memory { access_policy: AccessPolicy::Private, actor_id: Some("vera".into()), ..driver.sample(&anna, "x") };
    let private = driver.keep(private).await;
    let see = async |who: &Visible| named(store, who, &["harbour", "PORT"]).await;
    let (of_anna, of_ben) =
        (seen_by(Some("anna"), std::slice::from_ref(&anna)), seen_by(Some("vera"), &[anna.clone(), vera.clone()]));
    assert_eq!(see(&whole()).await, [], "nothing speaks of it yet");
    driver.mention(&anna, private, harbour).await;
    assert_eq!((see(&of_anna).await, see(&of_ben).await, see(&whole()).await), (vec![], vec![harbour], vec![harbour]));
    assert_eq!(see(&visible(&[])).await, []);
    assert_eq!(see(&visible(&[agent("bot")])).await, []);
    let bound = grant(Default::default(), whole().reach().clone(), Some(&["work"]), None);
    assert_eq!(see(&bound).await, [], "a caller who is bound to categories");
    let own = driver.remember(&anna, "lantern of Anna").await;
    driver.mention(&anna, own, harbour).await;
    assert_eq!(see(&of_anna).await, [harbour]);
    driver.must(&anna.space(), Action::Erase { id: own }).await;
    assert_eq!((see(&of_anna).await, see(&of_ben).await), (vec![], vec![harbour]));
}

/// The entities that a memory mentions are visible to callers who see the memory.
pub async fn a_memory_tells_what_it_speaks_of(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let harbour = driver.name(&anna, "Harbour", &[]).await.id;
    let boat = driver.name(&anna, "Boat", &[]).await.id;
    let (both, one) = (driver.remember(&anna, "both").await, driver.remember(&anna, "one").await);
    let silent = driver.remember(&anna, "neither").await;
    let theirs = driver.remember(&vera, "Ben's").await;
    let ship = driver.name(&vera, "Boat", &[]).await.id;
    for (scope, memory, entity) in
        [(&anna, both, boat), (&anna, both, harbour), (&anna, one, boat), (&vera, theirs, ship)]
    {
        driver.mention(scope, memory, entity).await;
    }
    let seen = visible(&[anna]);
    for (memory, expect) in
        [(both, &[harbour, boat][..]), (one, &[boat]), (silent, &[]), (theirs, &[]), (id(77_777), &[])]
    {
        assert_eq!(entities_of(store, &seen, memory).await, expect);
    }
    assert_eq!(entities_of(store, &whole(), theirs).await, [ship]);
}

// Coverage: S1.13.
/// Memories are ordered by the share of the given entities that they mention, then newest first, up to the limit.
pub async fn memories_with_most_mentions_come_first(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let mut entities = Vec::new();
    for name in ["Harbour", "Boat", "Gull", "Unspoken"] {
        entities.push(driver.name(&anna, name, &[]).await.id);
    }
    let mut memories = Vec::new();
    for speaks_of in [&[0, 1][..], &[0], &[0, 1, 2], &[1], &[2], &[], &[0, 1]] {
        let memory = driver.remember(&anna, &format!("lantern {}", memories.len())).await;
        for which in speaks_of {
            driver.mention(&anna, memory, entities[*which]).await;
        }
        memories.push(memory);
    }
    let far = agent("bot");
    let strange = driver.name(&far, "Harbour", &[]).await.id;
    let abroad = driver.remember(&far, "lantern abroad").await;
    driver.mention(&far, abroad, strange).await;
    memories.push(abroad);
    entities.push(strange);
    for (asked, expect) in [
        (&[0][..], &[(6, 1.0), (2, 1.0), (1, 1.0), (0, 1.0)][..]),
        (&[0, 1], &[(6, 1.0), (2, 1.0), (0, 1.0), (3, 0.5), (1, 0.5)]),
        (&[2, 1, 0, 3], &[(2, 0.75), (6, 0.5), (0, 0.5), (4, 0.25), (3, 0.25), (1, 0.25)]),
        (&[0, 1, 0, 0], &[(6, 1.0), (2, 1.0), (0, 1.0), (3, 0.5), (1, 0.5)]),
        (&[4, 2], &[(7, 0.5), (4, 0.5), (2, 0.5)]),
        (&[3], &[]),
        (&[], &[]),
    ] {
        let asked: Vec<EntityId> = asked.iter().map(|which| entities[*which]).collect();
        let expect: Vec<Hit> =
            expect.iter().map(|(which, score)| Hit { id: memories[*which], score: *score }).collect();
        for limit in [0, 1, 2, 3, 4, 100, usize::MAX] {
            let hits = good(store.memories_mentioning(&whole(), &now(), &asked, limit).await);
            assert_eq!(hits, expect[..limit.min(expect.len())], "{limit} of {asked:?}");
        }
    }
    assert_eq!(good(store.memories_mentioning(&whole(), &now(), &[EntityId(id(77_777).0)], 9).await), []);
}

/// The limit counts only visible memories that match the filter.
pub async fn mentioning_memories_keep_to_visibility_and_filter(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let harbour = driver.name(&anna, "Harbour", &[]).await.id;
    let kept = driver.keep(Memory { tags: vec!["t".into()], ..driver.sample(&anna, "kept") }).await;
    let old = driver.remember(&anna, "old").await;
    let private =
        Memory { access_policy: AccessPolicy::Private, actor_id: Some("vera".into()), ..driver.sample(&anna, "x") };
    let (forgotten, private) = (driver.remember(&anna, "forgotten").await, driver.keep(private).await);
    let theirs = driver.remember(&vera, "theirs").await;
    let haven = driver.name(&vera, "Harbour", &[]).await.id;
    driver.mention(&vera, theirs, haven).await;
    for memory in [kept, old, forgotten, private] {
        driver.mention(&anna, memory, harbour).await;
    }
    let new = driver.replace(old, &anna, "new").await;
    driver.forget(&anna, forgotten).await;
    let speak = async |visible: &Visible, filter: &Filter, limit| {
        let hits = good(store.memories_mentioning(visible, filter, &[harbour, haven], limit).await);
        hits.into_iter().map(|hit| hit.id).collect::<Vec<_>>()
    };
    let seen = visible(std::slice::from_ref(&anna));
    assert_eq!(speak(&seen, &now(), 1).await, [kept]);
    assert_eq!(speak(&seen, &now(), 9).await, [kept], "what replaces has to say it itself");
    driver.mention(&anna, new, harbour).await;
    assert_eq!(speak(&seen, &now(), 9).await, [new, kept]);
    assert_eq!(speak(&seen, &Filter { tags: vec!["t".into()], ..now() }, 1).await, [kept]);
    assert_eq!(speak(&seen, &everything(), 9).await, [new, forgotten, old, kept]);
    assert_eq!(speak(&seen_by(Some("vera"), &[anna, vera]), &now(), 9).await, [new, theirs, private, kept]);
    assert_eq!(speak(&visible(&[]), &everything(), 9).await, []);
    driver.must(&user("anna").space(), Action::Erase { id: new }).await;
    assert_eq!(speak(&seen, &now(), 1).await, [old], "the one before it holds again");
}

/// Repeating a mention does not change the number of mentions.
pub async fn a_second_mention_changes_nothing(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let harbour = driver.name(&anna, "Harbour", &["port"]).await.id;
    let (one, two) = (driver.remember(&anna, "one").await, driver.remember(&anna, "two").await);
    for memory in [one, one, two, one] {
        driver.mention(&anna, memory, harbour).await;
    }
    let spoken = good(store.entities(&whole(), &EntityQuery::MentionedBy(one), usize::MAX).await);
    assert_eq!((spoken.len(), spoken[0].mention_count), (1, 2));
    let hits = good(store.memories_mentioning(&whole(), &now(), &[harbour], 9).await);
    assert_eq!(hits, [Hit { id: two, score: 1.0 }, Hit { id: one, score: 1.0 }]);
    let lost = Action::Mention { memory: id(77_777), entity: harbour, counted: true };
    driver.act(&anna.space(), lost).await.expect_err("no such memory");
}
