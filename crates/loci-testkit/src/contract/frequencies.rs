//! Contract: frequencies of terms.
//!
//! Terms are counted per scope, regardless of the visibility of single memories: the counts only weigh terms.

use loci_store::text::Analyser;
use loci_store::{Frequencies, Store};
use loci_types::{Action, Visible};

use crate::driver::{Driver, good};
use crate::samples::*;

/// The number of memories with each term of the text, and of all memories. Checks that the counts are consistent.
async fn counts(store: &dyn Store, visible: &Visible, text: &str) -> (Vec<u64>, u64) {
    let terms = Analyser::default().query_terms(text);
    let Frequencies { memories, of } = good(store.frequencies(visible, &terms).await);
    assert_eq!(of.len(), terms.len(), "one count per term");
    assert!(of.iter().all(|count| *count <= memories), "{of:?} of {memories}");
    (of, memories)
}

/// Counts come in the order of the query, once per memory; a part of a word is not counted.
pub async fn a_word_counts_once_per_memory(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    driver.remember(&anna, "lantern lantern lanterns").await;
    driver.remember(&anna, "a lantern and a candle").await;
    driver.remember(&anna, "Пчёлы и мёд").await;
    driver.remember(&anna, "see src/main.rs and the main lan").await;
    for visible in [whole(), visible(std::slice::from_ref(&anna)), visible(&[anna.clone(), anna.clone()])] {
        for (text, expect) in [
            ("candle lantern torch", &[1, 2, 0][..]),
            ("lantern candle lantern", &[2, 1, 2]),
            ("lan lante", &[1, 0]),
            ("пчела", &[1]),
            ("main", &[1]),
            ("src/main.rs", &[1, 1, 1, 1]),
        ] {
            assert_eq!(counts(store, &visible, text).await, (expect.to_vec(), 4), "{text}");
        }
        let odd = ["lantern_1", "lantern_", "_", "", "lantern*", "\"lantern\"", "`", "'", "\u{1}"];
        let odd: Vec<String> = odd.iter().map(|term| (*term).to_owned()).collect();
        assert_eq!(good(store.frequencies(&visible, &odd).await).of, vec![0; odd.len()], "no term of ours");
        assert!(good(store.frequencies(&visible, &[]).await).of.is_empty());
    }
}

/// Memories of another user do not change the counts of a scope; access to the whole tenant counts all.
pub async fn words_of_other_scopes_do_not_count(store: &dyn Store) {
    let driver = Driver::on(store);
    let (anna, vera, bot) = (user("anna"), user("vera"), agent("bot"));
    driver.remember(&anna, "lantern").await;
    driver.remember(&vera, "lantern one").await;
    driver.remember(&vera, "lantern two, a secret").await;
    driver.remember(&bot, "lantern of the bot").await;
    let scopes = [anna, vera, bot, user("nobody"), agent("nobody")];
    for (seen, expect, memories) in [
        (&[0][..], [1, 0], 1),
        (&[1], [2, 1], 2),
        (&[2], [1, 0], 1),
        (&[0, 2], [2, 0], 2),
        (&[0, 1, 2], [4, 1], 4),
        (&[0, 3], [1, 0], 1),
        (&[3, 4], [0, 0], 0),
        (&[], [0, 0], 0),
    ] {
        let seen: Vec<_> = seen.iter().map(|which: &usize| scopes[*which].clone()).collect();
        assert_eq!(counts(store, &visible(&seen), "lantern secret").await, (expect.to_vec(), memories), "{seen:?}");
    }
    assert_eq!(counts(store, &whole(), "lantern secret").await, (vec![4, 1], 4));
}

/// A new text, an erasure and a purge change the counts at once; hidden memories are still counted.
pub async fn counts_follow_every_change(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "lantern one").await;
    let two = driver.remember(&anna, "lantern two").await;
    let space = anna.space();
    let visibles = [whole(), visible(std::slice::from_ref(&anna))];
    let are = async |expect: [u64; 2], memories: u64| {
        for visible in &visibles {
            assert_eq!(counts(store, visible, "lantern candle").await, (expect.to_vec(), memories));
        }
    };
    are([2, 0], 2).await;
    driver.must(&space, Action::Revise(Box::new(new_text(one, "candle", true)))).await;
    are([1, 1], 2).await;
    let three = driver.replace(two, &anna, "candle too").await;
    are([1, 2], 3).await;
    driver.forget(&anna, three).await;
    are([1, 2], 3).await;
    driver.must(&space, Action::Purge { id: three }).await;
    are([1, 1], 2).await;
    driver.must(&space, Action::Erase { id: two }).await;
    are([0, 1], 1).await;
    driver.must(&space, Action::Revise(Box::new(new_text(one, "lantern", true)))).await;
    are([1, 0], 1).await;
    driver.must(&space, Action::Erase { id: one }).await;
    are([0, 0], 0).await;
}

/// Counts stay correct after many changes.
pub async fn many_memories_are_counted_well(store: &dyn Store) {
    let (driver, scopes) = (Driver::on(store), [user("anna"), user("vera"), user("una")]);
    let space = scopes[0].space();
    let memories: Vec<_> = (0..300).map(|n| driver.sample(&scopes[n % 3], &format!("lantern {n}"))).collect();
    for some in memories.chunks(25) {
        good(store.apply(batch(&space, some.iter().cloned().map(add).collect())).await);
    }
    let mut changes = Vec::new();
    for (number, memory) in memories.iter().enumerate() {
        let id = memory.id;
        match number % 10 {
            0 => changes.push(Action::Erase { id }),
            1 | 2 => changes.push(Action::Revise(Box::new(new_text(id, &format!("candle {number}"), true)))),
            _ => {}
        }
    }
    let changes: Vec<_> = changes.into_iter().map(|action| change(driver.clock(), action)).collect();
    for some in changes.chunks(7) {
        good(store.apply(batch(&space, some.to_vec())).await);
    }
    assert_eq!(counts(store, &whole(), "lantern candle").await, (vec![210, 60], 270));
    for scope in scopes {
        assert_eq!(counts(store, &visible(&[scope]), "lantern candle").await, (vec![70, 20], 90));
    }
}
