//! Contract: visibility.
//!
//! The reference is [`Visible::admits`]; every read must agree with it.

use std::collections::BTreeSet;

use loci_store::{EntityFilter, EntityQuery, LedgerQuery, Page, Store};
use loci_types::{
    AccessPolicy, Action, Batch, Bookkeeping, Entity, EntityId, IdRange, Kind, Layer, Memory, MemoryId, NoteValue,
    Reach, Relation, Scope, SessionFilter, Source, Space, Tenant, Visible,
};

use crate::driver::{Driver, good, name_in};
use crate::samples::*;

/// Checks that every read returns exactly those of `plain` that the reference admits. Each of them contains the word
/// "lantern", has a vector and is a turn of the session "t".
async fn reads_keep_to(driver: &Driver<'_>, visible: &Visible, plain: &[Memory]) {
    let store = driver.store;
    let admitted: Vec<&Memory> = plain.iter().filter(|memory| visible.admits(memory)).collect();
    let seen: BTreeSet<MemoryId> = admitted.iter().map(|memory| memory.id).collect();
    let ids: Vec<MemoryId> = plain.iter().map(|memory| memory.id).collect();
    let expect: Vec<MemoryId> = ids.iter().copied().filter(|id| seen.contains(id)).collect();

    let fetched: Vec<_> = good(store.fetch(visible, &ids).await).into_iter().map(|memory| memory.id).collect();
    assert_eq!(fetched, expect, "fetch, in the order asked");
    let all = [IdRange::Whole(id(0), MemoryId(uuid::Uuid::max()))];
    assert_eq!(good(store.ids_within(visible, &all, usize::MAX).await), Vec::from_iter(seen.iter().copied()), "ids");
    driver.sees(visible, "lantern", &expect).await;
    let vectors: BTreeSet<_> = good(store.vectors(visible, MODEL, &ids).await).into_iter().map(|(id, _)| id).collect();
    assert_eq!(vectors, seen, "vectors");
    for memory in plain {
        let history = good(store.ledger(visible, &LedgerQuery::Memory(memory.id), 99).await).entries;
        assert_eq!(!history.is_empty(), seen.contains(&memory.id), "history of {}", memory.content);
        for edge in good(store.edges(visible, &everything(), &[memory.id], &[]).await) {
            assert!(seen.contains(&edge.source_id) && seen.contains(&edge.target_id), "edges of {}", memory.content);
        }
        // Each memory mentions one entity, which has its text as name and no other mentions.
        let things = usize::from(seen.contains(&memory.id));
        let named = good(
            store
                .entities(visible, &EntityQuery::Named(std::slice::from_ref(&memory.content).to_vec()), usize::MAX)
                .await,
        );
        let spoken = good(store.entities(visible, &EntityQuery::MentionedBy(memory.id), usize::MAX).await);
        let thing = [EntityId(memory.id.0)];
        let speaking = good(store.memories_mentioning(visible, &now(), &thing, 9).await);
        assert_eq!([named.len(), spoken.len(), speaking.len()], [things; 3], "the entity of {}", memory.content);
        for line in good(store.ledger(&whole(), &LedgerQuery::Memory(memory.id), 99).await).entries {
            let found =
                crate::driver::line(store, visible, &crate::driver::space_of(memory), Some(line.sequence)).await;
            assert_eq!(found, seen.contains(&memory.id).then_some(line), "a line about {}", memory.content);
        }
    }
    let known = good(store.entities(visible, &EntityQuery::Known(EntityFilter::default()), 99).await);
    let known: BTreeSet<_> = known.into_iter().map(|entity| MemoryId(entity.id.0)).collect();
    assert_eq!(known, seen, "known entities");
    reads_of_spaces_keep_to(store, visible, plain, &admitted).await;
    for reach in [0, 1, 99] {
        let turn_runs = good(store.around(visible, &now(), &ids, reach).await);
        let mut placed: Vec<_> = turn_runs.iter().flat_map(|strip| &strip.places).map(|place| place.id).collect();
        placed.sort();
        assert_eq!(placed, expect, "{reach} around all of them");
    }
    let both = |pair: &&[Memory]| pair.iter().all(|memory| seen.contains(&memory.id)) && linked(pair);
    let edges = plain.windows(2).filter(both).count() as u64;
    let scopes: BTreeSet<_> = plain.iter().filter_map(|memory| memory.scope().ok()).map(|scope| scope.key()).collect();
    for key in scopes {
        let Ok(scope) = Scope::from_key(&key) else { continue };
        let newest = admitted.iter().rev().find(|memory| memory.scope().as_ref() == Ok(&scope)).map(|memory| memory.id);
        let last = good(store.last_of_thread(visible, &scope, "t").await).map(|memory| memory.id);
        assert_eq!(last, newest, "the last of the thread in {scope}");
        assert_eq!(good(store.last_of_thread(visible, &scope, "u").await), None);
        let turns: Vec<_> =
            admitted.iter().filter(|memory| memory.scope().as_ref() == Ok(&scope)).map(|memory| memory.id).collect();
        let waiting = good(store.pending_turns(visible, &scope, "t", 99).await);
        assert_eq!(waiting.into_iter().map(|turn| turn.id).collect::<Vec<_>>(), turns, "unlearned of {scope}");
    }
    let stats = good(store.stats(visible).await);
    assert_eq!(stats.memories, seen.len() as u64, "stats");
    assert_eq!(stats.by_state.values().sum::<u64>(), stats.memories);
    assert_eq!(stats.by_kind.values().sum::<u64>(), stats.memories);
    assert_eq!(stats.by_layer.values().sum::<u64>(), stats.memories);
    assert_eq!(stats.vectors.values().sum::<u64>(), stats.memories);
    assert_eq!(stats.edges.values().sum::<u64>(), edges, "edges counted");
    assert_eq!(good(store.stats(visible).await).vectors.values().sum::<u64>(), stats.memories, "models");
    let page = good(store.scan(visible, &now(), Page { after: None, limit: 1 }).await);
    assert_eq!(page.total, stats.memories, "totals");
}

/// Checks the reads of single spaces and those that depend only on scopes.
async fn reads_of_spaces_keep_to(store: &dyn Store, visible: &Visible, plain: &[Memory], admitted: &[&Memory]) {
    let within = |scope: &Scope| match visible.reach() {
        Reach::Whole => true,
        Reach::Scopes(scopes) => scopes.contains(scope),
    };
    let scopes: BTreeSet<_> = plain.iter().filter_map(|memory| memory.scope().ok()).map(|scope| scope.key()).collect();
    let scopes: Vec<Scope> = scopes.iter().filter_map(|key| Scope::from_key(key).ok()).filter(within).collect();
    let expect: BTreeSet<String> = scopes.iter().map(Scope::key).collect();
    let sessions = good(store.sessions(visible, &SessionFilter::default(), 99).await);
    assert_eq!(sessions.len(), expect.len(), "each session once");
    assert_eq!(sessions.iter().map(|session| session.scope.key()).collect::<BTreeSet<_>>(), expect, "sessions");
    let spaces: BTreeSet<Space> = plain.iter().map(crate::driver::space_of).collect();
    for space in spaces {
        let here = |memory: &&&Memory| crate::driver::space_of(memory) == space;
        let ids: BTreeSet<_> = admitted.iter().filter(here).map(|memory| memory.id).collect();
        let aged = good(store.list_for_ageing(visible, &space, 0, 99).await);
        assert_eq!(aged.into_iter().map(|ageing| ageing.id).collect::<BTreeSet<_>>(), ids, "ages in {space}");
        let changes = good(
            store.ledger(visible, &LedgerQuery::Changes { space: space.clone(), thread: None, since: 0 }, 999).await,
        )
        .entries;
        let found: BTreeSet<_> = changes.into_iter().filter_map(|line| line.memory_id).collect();
        assert_eq!(found, ids, "changes in {space}");
        let notes = good(store.notes(visible, &space, &["n".to_owned()], at(0)).await);
        let found: BTreeSet<_> = notes.into_iter().filter_map(|(_, value)| value.as_str().map(str::to_owned)).collect();
        let expect = scopes.iter().filter(|scope| scope.space() == space).map(Scope::key).collect();
        assert_eq!(found, expect, "notes in {space}");
    }
}

/// Whether two neighbours in the list are linked: if they are in one space.
fn linked(pair: &[Memory]) -> bool {
    crate::driver::space_of(&pair[0]) == crate::driver::space_of(&pair[1])
}

/// Stores the memories, each linked to the next, with an entity that it mentions and a session. Each scope gets a note
/// with its key.
async fn keep_all(driver: &Driver<'_>, plain: &[Memory]) {
    for memory in plain {
        driver.keep(memory.clone()).await;
        let space = crate::driver::space_of(memory);
        let thing = Entity { id: EntityId(memory.id.0), ..entity(1, &memory.content, &[]) };
        let scope = good(memory.scope().map_err(Into::into));
        driver.must(&space, name_in(&scope, thing)).await;
        let (session, thread) = ("t".to_owned(), "t".to_owned());
        driver.must(&space, Action::Bookkeeping(Bookkeeping::Attend { scope: scope.clone(), session, thread })).await;
        let value = NoteValue::Set(scope.key().into());
        driver
            .must(
                &space,
                Action::Bookkeeping(Bookkeeping::Note { scope: Some(scope), key: "n".into(), value, until: None }),
            )
            .await;
        driver.must(&space, Action::Mention { memory: memory.id, entity: EntityId(memory.id.0), counted: true }).await;
    }
    for pair in plain.windows(2).filter(|pair| linked(pair)) {
        let edge = edge(driver.next(), pair[0].id, pair[1].id, Relation::RelatedTo);
        driver.must(&crate::driver::space_of(&pair[0]), Action::Link(edge)).await;
    }
}

fn turn(driver: &Driver<'_>, scope: &Scope, text: &str) -> Memory {
    let mut memory = driver.sample(scope, text);
    memory.identifiers.session_id.get_or_insert_with(|| "t".to_owned());
    memory.thread_id = Some("t".into());
    memory.kind = Kind::stored(Kind::EPISODIC);
    memory.source = Some(Source { kind: "conversation".into(), ..Source::default() });
    memory
}

fn layers() -> Vec<Scope> {
    vec![
        user("anna"),
        user("vera"),
        scope(Layer::Session, &["anna", "t"]),
        scope(Layer::Session, &["vera", "t"]),
        scope(Layer::Project, &["anna"]),
        scope(Layer::Team, &["anna"]),
        scope(Layer::Org, &["anna"]),
        scope(Layer::Company, &["anna"]),
        agent("bot"),
        scope(Layer::Agent, &["bot", "vera"]),
        agent("owl"),
        scope(Layer::Pool, &["anna"]),
    ]
}

// Coverage: S0-6.1.
/// Reads respect scopes: two memories in each of 12 scopes with similar identifiers.
pub async fn every_read_keeps_to_the_scopes(store: &dyn Store) {
    let driver = Driver::on(store);
    let scopes = layers();
    let plain: Vec<_> = (0..24).map(|n| turn(&driver, &scopes[n % 12], &format!("lantern {n}"))).collect();
    keep_all(&driver, &plain).await;
    reads_keep_to(&driver, &whole(), &plain).await;
    reads_keep_to(&driver, &visible(&[]), &plain).await;
    reads_keep_to(&driver, &visible(&scopes), &plain).await;
    reads_keep_to(&driver, &visible(&[user("nobody"), agent("nobody")]), &plain).await;
    for (number, scope) in scopes.iter().enumerate() {
        reads_keep_to(&driver, &visible(std::slice::from_ref(scope)), &plain).await;
        reads_keep_to(&driver, &visible(&[scope.clone(), scopes[(number + 5) % 12].clone()]), &plain).await;
    }
}

/// Reads respect the categories of a caller, with and without access to the whole tenant.
pub async fn every_read_keeps_to_the_categories(store: &dyn Store) {
    let driver = Driver::on(store);
    let anna = user("anna");
    let plain: Vec<_> = [Some("work"), Some("home"), None, Some("work"), Some("")]
        .iter()
        .enumerate()
        .map(|(n, category)| Memory {
            category: category.map(str::to_owned),
            ..turn(&driver, &anna, &format!("lantern {n}"))
        })
        .collect();
    keep_all(&driver, &plain).await;
    for reach in [Reach::Whole, Reach::Scopes(vec![anna.clone()])] {
        for categories in [&[][..], &["work"], &["home", "work"], &["other"], &[""]] {
            let visible = grant(Tenant::default(), reach.clone(), Some(categories), None);
            reads_keep_to(&driver, &visible, &plain).await;
        }
    }
}

/// Reads respect the sessions that a caller is bound to. The turns belong to the session that their thread names.
pub async fn every_read_keeps_to_the_sessions(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let plain: Vec<_> = (0..3).map(|n| turn(&driver, &anna, &format!("lantern {n}"))).collect();
    keep_all(&driver, &plain).await;
    for reach in [Reach::Whole, Reach::Scopes(vec![anna.clone()])] {
        for sessions in [&[][..], &["t"], &["u"], &["t", "u"]] {
            let sessions = sessions.iter().map(|name| (*name).to_owned()).collect();
            let visible = grant(Tenant::default(), reach.clone(), None, None).in_sessions(sessions);
            reads_keep_to(&driver, &visible, &plain).await;
        }
    }
}

/// Private and restricted memories are visible to their actor, or to their user if they have no actor.
pub async fn every_read_keeps_to_the_writer(store: &dyn Store) {
    let driver = Driver::on(store);
    let mut plain = Vec::new();
    for scope in [user("anna"), scope(Layer::Team, &["crew"])] {
        for policy in AccessPolicy::ALL {
            for actor in [None, Some("anna"), Some("vera")] {
                let memory = turn(&driver, &scope, &format!("lantern {} {policy} {actor:?}", scope.layer()));
                plain.push(Memory { access_policy: *policy, actor_id: actor.map(str::to_owned), ..memory });
            }
        }
    }
    keep_all(&driver, &plain).await;
    let scopes = [user("anna"), scope(Layer::Team, &["crew"])];
    for viewer in [None, Some("anna"), Some("vera"), Some("eva"), Some("")] {
        reads_keep_to(&driver, &seen_by(viewer, &scopes), &plain).await;
        reads_keep_to(&driver, &seen_by(viewer, &scopes[..1]), &plain).await;
    }
    reads_keep_to(&driver, &whole(), &plain).await;
}

/// Scopes of different tenants are independent, even with access to the whole tenant.
pub async fn nothing_leaves_its_tenant(store: &dyn Store) {
    let driver = Driver::on(store);
    let (here, there) = (Tenant::default(), Tenant::new("other").unwrap_or_default());
    assert_ne!(here, there);
    for scope in [user("anna"), agent("bot")] {
        let (mine, theirs) = (driver.sample(&scope, "lantern of mine"), driver.sample(&scope, "lantern of theirs"));
        for (tenant, memory) in [(&here, &mine), (&there, &theirs)] {
            let changes = vec![add(memory.clone())];
            good(store.apply(Batch { tenant: tenant.clone(), space: scope.space(), changes }).await);
        }
        for reach in [Reach::Whole, Reach::Scopes(vec![scope.clone()])] {
            for (tenant, own, other) in [(&here, &mine, &theirs), (&there, &theirs, &mine)] {
                let visible = grant(tenant.clone(), reach.clone(), None, Some("anna"));
                for (name, lane) in driver.lanes(&visible, "lantern", &everything()).await {
                    assert!(lane.contains(&own.id) && !lane.contains(&other.id), "{name}");
                }
                assert_eq!(good(store.fetch(&visible, &[other.id]).await), []);
                assert_eq!(good(store.ledger(&visible, &LedgerQuery::Memory(other.id), 9).await).entries, []);
                assert_eq!(good(store.vectors(&visible, MODEL, &[other.id]).await), []);
                assert_eq!(good(store.around(&visible, &everything(), &[other.id], 9).await), []);
                let counted = good(store.frequencies(&visible, &["lantern".to_owned()]).await);
                assert_eq!(counted.of, [driver.count(&visible).await as u64]);
            }
        }
        // Nor can it be changed from the other tenant.
        let changes = vec![change(at(99), Action::Erase { id: theirs.id })];
        let batch = Batch { tenant: here.clone(), space: scope.space(), changes };
        store.apply(batch).await.expect_err("not of this tenant");
    }
    let nowhere = grant(Tenant::new("nobody").unwrap_or_default(), Reach::Whole, None, None);
    assert_eq!(good(store.stats(&nowhere).await).memories, 0);
    assert_eq!(driver.count(&nowhere).await, 0);
}

// Coverage: S0-6.1.
/// The memories of one agent are not visible in the scope of another, for the same user.
pub async fn nothing_leaves_its_agent(store: &dyn Store) {
    let driver = Driver::on(store);
    let mine = driver.remember(&agent("bot"), "lantern of the bot").await;
    let theirs = driver.remember(&agent("bot2"), "lantern of the other").await;
    driver.sees(&visible(&[agent("bot")]), "lantern", &[mine]).await;
    driver.sees(&visible(&[agent("bot2")]), "lantern", &[theirs]).await;
    driver.sees(&visible(&[agent("bot"), agent("bot2")]), "lantern", &[mine, theirs]).await;
    let link = Action::Link(edge(9, mine, theirs, Relation::Causal));
    driver.act(&agent("bot").space(), link).await.expect_err("an edge stays within its space");
}

/// Memories of a scope that is given twice are returned once.
pub async fn a_scope_named_twice_is_one_scope(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "lantern one").await;
    let two = driver.remember(&anna, "lantern two").await;
    driver.sees(&visible(&[anna.clone(), anna.clone(), anna]), "lantern", &[one, two]).await;
}

// Coverage: S1.28.
/// The counts of jobs and of bytes on disk need access to the whole tenant; the others count what is seen.
pub async fn numbers_count_only_what_is_seen(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    driver.remember(&anna, "one").await;
    let two = driver.remember(&anna, "two").await;
    driver.forget(&anna, two).await;
    let three = driver.remember(&vera, "three").await;
    driver.remember(&agent("bot"), "four").await;
    let lisbon = driver.name(&vera, "Lisbon", &[]).await;
    driver.mention(&vera, three, lisbon.id).await;
    let all = good(store.stats(&whole()).await);
    assert_eq!((all.memories, all.spaces, all.ledger, all.without_vector), (4, 2, 7, 0));
    assert_eq!((all.entities, all.orphans, all.content_bytes), (1, 2, 15));
    assert_eq!((all.by_state.get("active"), all.by_state.get("soft_deleted")), (Some(&3), Some(&1)));
    assert_eq!((all.by_layer.get("user"), all.by_layer.get("agent")), (Some(&3), Some(&1)));
    assert!(all.bytes > 0);
    let some = good(store.stats(&visible(&[anna])).await);
    assert_eq!((some.memories, some.spaces, some.ledger, some.bytes, some.jobs.len()), (2, 1, 3, 0, 0));
    assert_eq!((some.entities, some.orphans, some.content_bytes), (0, 1, 6));
    let other = good(store.stats(&visible(&[vera])).await);
    assert_eq!((other.entities, other.orphans, other.ledger), (1, 0, 2));
}
