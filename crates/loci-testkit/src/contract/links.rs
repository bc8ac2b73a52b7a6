//! Contract: edges between memories.

use loci_store::{LedgerQuery, Store};
use loci_types::{AccessPolicy, Action, Addition, Edge, EdgeId, Memory, MemoryId, Outcome, Relation, Visible};

use crate::driver::{Driver, good};
use crate::samples::*;

// Coverage: S3-2.1.
/// There is one edge per source, target and relation.
pub async fn a_second_link_renews_the_first(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let (one, two) = (driver.remember(&anna, "one").await, driver.remember(&anna, "two").await);
    assert_eq!(driver.link(&anna, one, two, Relation::RelatedTo).await.outcome, Outcome::Created);
    let first = good(store.edges(&whole(), &everything(), &[one], &[]).await);
    let mut renewed = edge(900, one, two, Relation::RelatedTo);
    renewed.strength = 0.125;
    let applied = driver.must(&anna.space(), Action::Link(renewed.clone())).await;
    assert_eq!((applied.id, applied.outcome), (Some(one), Outcome::Updated));
    let expect = Edge { id: first[0].id, created_at: first[0].created_at, ..renewed };
    assert_eq!(good(store.edges(&whole(), &everything(), &[one], &[]).await), [expect]);
    driver.link(&anna, one, two, Relation::Causal).await;
    driver.link(&anna, two, one, Relation::RelatedTo).await;
    assert_eq!(good(store.edges(&whole(), &everything(), &[one], &[]).await).len(), 3);
    assert_eq!(good(store.edges(&whole(), &everything(), &[two], &[Relation::RelatedTo]).await).len(), 2);
    assert_eq!(good(store.stats(&whole()).await).edges.get("related_to"), Some(&2));
}

// Coverage: S1.1.
/// All fields are read back. If two edges have the same id, both are stored, one with another id.
pub async fn an_edge_comes_back_field_by_field(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let (one, two) = (driver.remember(&anna, "one").await, driver.remember(&anna, "two").await);
    let written = edge(40, one, two, Relation::DerivedFrom);
    driver.must(&anna.space(), Action::Link(written.clone())).await;
    assert_eq!(good(store.edges(&whole(), &everything(), &[two], &[]).await), std::slice::from_ref(&written));
    let bare = Edge { relation: Relation::Entity, predicate: None, valid_until: None, evidence: vec![], ..written };
    driver.must(&anna.space(), Action::Link(bare.clone())).await;
    let read = good(store.edges(&whole(), &everything(), &[two], &[Relation::Entity]).await);
    assert_eq!(read.len(), 1);
    assert_ne!(read[0].id, bare.id);
    assert_eq!(Edge { id: bare.id, ..read[0].clone() }, bare);
}

/// Only the edge of the named relation is removed, and only once.
pub async fn a_link_is_taken_away(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let (one, two) = (driver.remember(&anna, "one").await, driver.remember(&anna, "two").await);
    driver.link(&anna, one, two, Relation::RelatedTo).await;
    driver.link(&anna, one, two, Relation::Causal).await;
    let unlink = Action::Unlink { source: one, target: two, relation: Relation::Causal };
    assert_eq!(driver.must(&anna.space(), unlink.clone()).await.outcome, Outcome::Deleted);
    assert_eq!(driver.must(&anna.space(), unlink).await.outcome, Outcome::None);
    let left = good(store.edges(&whole(), &everything(), &[one], &[]).await);
    assert_eq!(left.iter().map(|edge| edge.relation).collect::<Vec<_>>(), [Relation::RelatedTo]);
    let events: Vec<_> = good(store.ledger(&whole(), &LedgerQuery::Memory(one), 99).await)
        .entries
        .into_iter()
        .map(|entry| entry.event)
        .collect();
    assert_eq!(events, ["ADD", "LINK", "LINK", "UNLINK"]);
}

// Coverage: S1.1.
/// Erasing a memory removes its edges and no others.
pub async fn edges_go_with_their_memory(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "one").await;
    let two = driver.remember(&anna, "two").await;
    let three = driver.remember(&anna, "three").await;
    driver.link(&anna, one, two, Relation::RelatedTo).await;
    driver.link(&anna, two, three, Relation::RelatedTo).await;
    driver.link(&anna, one, three, Relation::RelatedTo).await;
    driver.must(&anna.space(), Action::Erase { id: two }).await;
    let left = good(store.edges(&whole(), &everything(), &[one], &[]).await);
    assert_eq!(left.iter().map(|edge| edge.target_id).collect::<Vec<_>>(), [three]);
}

/// An edge from a memory to itself is refused, and a memory that follows itself gets no edge.
pub async fn nothing_is_linked_to_itself(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let memory = driver.sample(&anna, "one");
    let one = memory.id;
    let follows = Addition { follows: Some(one), ..Addition::new(memory) };
    driver.must(&anna.space(), Action::Add(Box::new(follows))).await;
    let link = Action::Link(edge(9, one, one, Relation::Temporal));
    let error = driver.act(&anna.space(), link).await.expect_err("to itself");
    assert_eq!(error.kind(), loci_types::ErrorKind::InvalidInput);
    assert_eq!(good(store.edges(&whole(), &everything(), &[one], &[]).await), []);
    driver.must(&anna.space(), Action::Erase { id: one }).await;
}

// Coverage: S1.14.
/// A turn is linked to the one before it. A turn that follows an unknown memory is stored without an edge.
pub async fn a_follower_is_linked_to_the_one_before(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let before = driver.remember(&anna, "before").await;
    let turn = driver.sample(&anna, "after");
    let after = turn.id;
    let follow = |memory, before| Action::Add(Box::new(Addition { follows: Some(before), ..Addition::new(memory) }));
    driver.must(&anna.space(), follow(turn, before)).await;
    let edges = good(store.edges(&whole(), &everything(), &[after], &[Relation::Temporal]).await);
    assert_eq!(edges.len(), 1);
    assert_eq!((edges[0].source_id, edges[0].target_id), (before, after));
    let lost = driver.sample(&anna, "lost");
    let lost_id = lost.id;
    driver.must(&anna.space(), follow(lost, id(77_777))).await;
    assert_eq!(good(store.edges(&whole(), &everything(), &[lost_id], &[]).await), []);
    // A memory that both follows and supersedes has both edges.
    let new = driver.sample(&anna, "replaces");
    let both = new.id;
    let new = Addition { follows: Some(after), ..addition(new) };
    driver.must(&anna.space(), Action::Supersede { old: before, new: Box::new(new) }).await;
    let mut relations: Vec<_> =
        good(store.edges(&whole(), &everything(), &[both], &[]).await).into_iter().map(|edge| edge.relation).collect();
    relations.sort();
    assert_eq!(relations, [Relation::Temporal, Relation::Supersedes]);
    assert!(
        good(store.edges(&whole(), &everything(), &[both], &[]).await).iter().any(|edge| edge.id == EdgeId(both.0))
    );
}

/// An edge between two of the given memories is returned once; edges of other memories are not returned.
pub async fn edges_of_several_memories_come_once(store: &dyn Store) {
    let driver = Driver::on(store);
    let (anna, bot) = (user("anna"), agent("bot"));
    let mut ids = Vec::new();
    for text in ["one", "two", "three", "four", "five"] {
        ids.push(driver.remember(&anna, text).await);
    }
    for (source, target) in [(0, 1), (1, 0), (1, 2), (2, 3), (3, 4)] {
        driver.link(&anna, ids[source], ids[target], Relation::RelatedTo).await;
    }
    ids.extend([driver.remember(&bot, "six").await, driver.remember(&bot, "seven").await]);
    driver.link(&bot, ids[5], ids[6], Relation::RelatedTo).await;
    for (asked, expect) in [
        (&[0, 1][..], &[(0, 1), (1, 0), (1, 2)][..]),
        (&[1, 0, 1, 1], &[(0, 1), (1, 0), (1, 2)]),
        (&[0, 2], &[(0, 1), (1, 0), (1, 2), (2, 3)]),
        (&[4, 5], &[(3, 4), (5, 6)]),
        (&[6, 5], &[(5, 6)]),
        (&[], &[]),
    ] {
        let mut asked: Vec<_> = asked.iter().map(|which| ids[*which]).collect();
        let expect: Vec<_> = expect.iter().map(|(source, target)| (ids[*source], ids[*target])).collect();
        asked.push(id(77_777));
        let mut found: Vec<_> = good(store.edges(&whole(), &everything(), &asked, &[]).await)
            .into_iter()
            .map(|edge| (edge.source_id, edge.target_id))
            .collect();
        found.sort();
        assert_eq!(found, expect, "{asked:?}");
    }
}

// Coverage: S1.14.
/// Edges are returned if they have one of the given relations; without relations all are returned.
pub async fn edges_of_the_relations_asked_for(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let (one, two) = (driver.remember(&anna, "one").await, driver.remember(&anna, "two").await);
    let three = driver.remember(&anna, "three").await;
    for relation in Relation::ALL {
        driver.link(&anna, one, two, *relation).await;
    }
    driver.link(&anna, two, three, Relation::Causal).await;
    let related = async |ids: &[MemoryId], relations: &[Relation]| {
        let mut found: Vec<_> = good(store.edges(&whole(), &everything(), ids, relations).await)
            .into_iter()
            .map(|edge| edge.relation)
            .collect();
        found.sort();
        found
    };
    assert_eq!(related(&[one], &[]).await, Relation::ALL);
    for relation in Relation::ALL {
        assert_eq!(related(&[one], &[*relation]).await, [*relation]);
    }
    assert_eq!(related(&[one], &[Relation::Entity, Relation::Causal]).await, [Relation::Causal, Relation::Entity]);
    assert_eq!(related(&[one, three], &[Relation::Causal]).await, [Relation::Causal, Relation::Causal]);
    assert_eq!(related(&[three], &[Relation::Temporal, Relation::Entity]).await, []);
}

/// An edge is visible only if both its memories are.
pub async fn an_edge_is_seen_with_both_its_ends(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let (one, two) = (driver.remember(&anna, "one").await, driver.remember(&anna, "two").await);
    let theirs = driver.remember(&vera, "theirs").await;
    let secret =
        Memory { access_policy: AccessPolicy::Private, actor_id: Some("vera".into()), ..driver.sample(&anna, "x") };
    let secret = driver.keep(secret).await;
    for (source, target) in [(one, two), (one, theirs), (theirs, two), (secret, one), (two, secret)] {
        driver.link(&anna, source, target, Relation::RelatedTo).await;
    }
    let all = [one, two, theirs, secret];
    let ends = async |visible: &Visible, ids: &[MemoryId]| {
        let found = good(store.edges(visible, &everything(), ids, &[]).await);
        found.iter().map(|edge| (edge.source_id, edge.target_id)).collect::<Vec<_>>()
    };
    let seen = visible(std::slice::from_ref(&anna));
    assert_eq!(ends(&seen, &all).await, [(one, two)]);
    assert_eq!(ends(&seen, &[theirs, secret]).await, []);
    assert_eq!(ends(&visible(std::slice::from_ref(&vera)), &all).await, []);
    assert_eq!(ends(&seen_by(Some("vera"), &[anna.clone(), vera]), &all).await.len(), 5);
    assert_eq!(ends(&whole(), &all).await.len(), 5);
    // A forgotten memory is still visible, and so are its edges.
    driver.forget(&anna, two).await;
    assert_eq!(ends(&seen, &all).await, [(one, two)]);
}
