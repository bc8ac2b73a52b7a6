//! Do edges hold?

use loci_store::Store;
use loci_types::{Action, Addition, Edge, EdgeId, Outcome, Relation};

use crate::hand::{Hand, good};
use crate::samples::*;

/// There is one edge per source, target and relation.
pub async fn a_second_link_renews_the_first(store: &dyn Store) {
    let (hand, anna) = (Hand::on(store), user("anna"));
    let (one, two) = (hand.remember(&anna, "one").await, hand.remember(&anna, "two").await);
    assert_eq!(hand.link(&anna, one, two, Relation::RelatedTo).await.outcome, Outcome::Created);
    let first = good(store.edges(&whole(), one, None).await);
    let mut renewed = edge(900, one, two, Relation::RelatedTo);
    renewed.strength = 0.125;
    let applied = hand.must(&anna.space(), Action::Link(renewed.clone())).await;
    assert_eq!((applied.id, applied.outcome), (Some(one), Outcome::Updated));
    let expect = Edge { id: first[0].id, created_at: first[0].created_at, ..renewed };
    assert_eq!(good(store.edges(&whole(), one, None).await), [expect]);
    hand.link(&anna, one, two, Relation::Causal).await;
    hand.link(&anna, two, one, Relation::RelatedTo).await;
    assert_eq!(good(store.edges(&whole(), one, None).await).len(), 3);
    assert_eq!(good(store.edges(&whole(), two, Some(Relation::RelatedTo)).await).len(), 2);
    assert_eq!(good(store.stats(&whole()).await).edges.get("related_to"), Some(&2));
}

/// All its fields, and two edges that wish for one id both stand.
pub async fn an_edge_comes_back_field_by_field(store: &dyn Store) {
    let (hand, anna) = (Hand::on(store), user("anna"));
    let (one, two) = (hand.remember(&anna, "one").await, hand.remember(&anna, "two").await);
    let written = edge(40, one, two, Relation::DerivedFrom);
    hand.must(&anna.space(), Action::Link(written.clone())).await;
    assert_eq!(good(store.edges(&whole(), two, None).await), std::slice::from_ref(&written));
    let bare = Edge { relation: Relation::Entity, predicate: None, valid_until: None, evidence: vec![], ..written };
    hand.must(&anna.space(), Action::Link(bare.clone())).await;
    let read = good(store.edges(&whole(), two, Some(Relation::Entity)).await);
    assert_eq!(read.len(), 1);
    assert_ne!(read[0].id, bare.id);
    assert_eq!(Edge { id: bare.id, ..read[0].clone() }, bare);
}

/// Only the named relation goes, and only once.
pub async fn a_link_is_taken_away(store: &dyn Store) {
    let (hand, anna) = (Hand::on(store), user("anna"));
    let (one, two) = (hand.remember(&anna, "one").await, hand.remember(&anna, "two").await);
    hand.link(&anna, one, two, Relation::RelatedTo).await;
    hand.link(&anna, one, two, Relation::Causal).await;
    let unlink = Action::Unlink { source: one, target: two, relation: Relation::Causal };
    assert_eq!(hand.must(&anna.space(), unlink.clone()).await.outcome, Outcome::Deleted);
    assert_eq!(hand.must(&anna.space(), unlink).await.outcome, Outcome::None);
    let left = good(store.edges(&whole(), one, None).await);
    assert_eq!(left.iter().map(|edge| edge.relation).collect::<Vec<_>>(), [Relation::RelatedTo]);
    let events: Vec<_> = good(store.history(&whole(), one, 99).await).into_iter().map(|entry| entry.event).collect();
    assert_eq!(events, ["ADD", "LINK", "LINK", "UNLINK"]);
}

/// An erased end takes its edges along, and no others.
pub async fn edges_go_with_their_memory(store: &dyn Store) {
    let (hand, anna) = (Hand::on(store), user("anna"));
    let one = hand.remember(&anna, "one").await;
    let two = hand.remember(&anna, "two").await;
    let three = hand.remember(&anna, "three").await;
    hand.link(&anna, one, two, Relation::RelatedTo).await;
    hand.link(&anna, two, three, Relation::RelatedTo).await;
    hand.link(&anna, one, three, Relation::RelatedTo).await;
    hand.must(&anna.space(), Action::Erase { id: two }).await;
    let left = good(store.edges(&whole(), one, None).await);
    assert_eq!(left.iter().map(|edge| edge.target_id).collect::<Vec<_>>(), [three]);
}

/// An edge leads from one memory to another; one that would follow itself follows nothing.
pub async fn nothing_is_linked_to_itself(store: &dyn Store) {
    let (hand, anna) = (Hand::on(store), user("anna"));
    let memory = hand.sample(&anna, "one");
    let one = memory.id;
    let follows = Addition { follows: Some(one), ..Addition::new(memory) };
    hand.must(&anna.space(), Action::Add(Box::new(follows))).await;
    let link = Action::Link(edge(9, one, one, Relation::Temporal));
    let error = hand.act(&anna.space(), link).await.expect_err("to itself");
    assert_eq!(error.kind(), loci_types::ErrorKind::InvalidInput);
    assert_eq!(good(store.edges(&whole(), one, None).await), []);
    hand.must(&anna.space(), Action::Erase { id: one }).await;
}

/// A turn is linked to the one before it; one that follows nothing known is kept all the same.
pub async fn a_follower_is_linked_to_the_one_before(store: &dyn Store) {
    let (hand, anna) = (Hand::on(store), user("anna"));
    let before = hand.remember(&anna, "before").await;
    let turn = hand.sample(&anna, "after");
    let after = turn.id;
    let follow = |memory, before| Action::Add(Box::new(Addition { follows: Some(before), ..Addition::new(memory) }));
    hand.must(&anna.space(), follow(turn, before)).await;
    let edges = good(store.edges(&whole(), after, Some(Relation::Temporal)).await);
    assert_eq!(edges.len(), 1);
    assert_eq!((edges[0].source_id, edges[0].target_id), (before, after));
    let lost = hand.sample(&anna, "lost");
    let lost_id = lost.id;
    hand.must(&anna.space(), follow(lost, id(77_777))).await;
    assert_eq!(good(store.edges(&whole(), lost_id, None).await), []);
    // One that both follows and replaces has both edges.
    let new = hand.sample(&anna, "replaces");
    let both = new.id;
    let new = Addition { follows: Some(after), ..addition(new) };
    hand.must(&anna.space(), Action::Supersede { old: before, new: Box::new(new) }).await;
    let mut relations: Vec<_> =
        good(store.edges(&whole(), both, None).await).into_iter().map(|edge| edge.relation).collect();
    relations.sort();
    assert_eq!(relations, [Relation::Temporal, Relation::Supersedes]);
    assert!(good(store.edges(&whole(), both, None).await).iter().any(|edge| edge.id == EdgeId(both.0)));
}
