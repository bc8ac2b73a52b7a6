//! Contract: which memories of a chain are visible.

use loci_store::{LedgerQuery, Store};
use loci_types::{Action, ErrorKind, Filter, Memory, MemoryId, Outcome, Patch, Relation, Scope, State, Visible};

use crate::driver::{Driver, good};
use crate::samples::*;

/// The pointers of a memory: the one it supersedes, and the one that superseded it.
async fn pointers(driver: &Driver<'_>, id: MemoryId) -> (Option<MemoryId>, Option<MemoryId>) {
    let memory = driver.must_get(id).await;
    (memory.supersedes_id, memory.superseded_by_id)
}

// Coverage: S0-5.1.
/// By default only the head of a chain is found; the others stay readable.
pub async fn only_the_head_is_seen(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "lantern one").await;
    let new = driver.sample(&anna, "lantern two");
    let two = new.id;
    let applied = driver.must(&anna.space(), Action::Supersede { old: one, new: Box::new(addition(new)) }).await;
    assert_eq!((applied.id, applied.outcome, applied.version), (Some(two), Outcome::Superseded, 1));
    let three = driver.replace(two, &anna, "lantern three").await;
    driver.sees(&whole(), "lantern", &[three]).await;
    driver.sees_with(&whole(), "lantern", &everything(), &[one, two, three]).await;
    assert_eq!(pointers(&driver, one).await, (None, Some(two)));
    assert_eq!(pointers(&driver, two).await, (Some(one), Some(three)));
    assert_eq!(pointers(&driver, three).await, (Some(two), None));
    let edges = good(store.edges(&whole(), &everything(), &[two], &[Relation::Supersedes]).await);
    let ends: Vec<_> = edges.iter().map(|edge| (edge.source_id, edge.target_id)).collect();
    assert_eq!(ends, [(two, one), (three, two)]);
    // The deduplication key of the head counts.
    let again =
        driver.must(&anna.space(), Action::Add(Box::new(addition(driver.sample(&anna, "lantern three"))))).await;
    assert_eq!((again.id, again.outcome), (Some(three), Outcome::None));
}

// Coverage: S1.8.
/// A query for a past time returns what was valid then.
pub async fn the_past_sees_what_held_then(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let mut old = driver.sample(&anna, "lantern in Berlin");
    old.event_time = Some(at(-1_000));
    let old = driver.keep(old).await;
    let mut new = driver.sample(&anna, "lantern in Paris");
    new.valid_from = Some(at(-500));
    let (new, action) = (new.id, Action::Supersede { old, new: Box::new(addition(new)) });
    driver.must(&anna.space(), action).await;
    assert_eq!(driver.must_get(old).await.valid_until, Some(at(-500)));
    for (then, expect) in
        [(-1_001, vec![]), (-1_000, vec![old]), (-501, vec![old]), (-500, vec![new]), (900, vec![new])]
    {
        let filter = Filter { as_of: Some(at(then)), ..now() };
        driver.sees_with(&whole(), "lantern", &filter, &expect).await;
    }
}

// Coverage: S0-5.1.
/// A chain does not fork: a superseded memory is not superseded again.
pub async fn what_was_replaced_is_not_replaced_again(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let old = driver.remember(&anna, "lantern one").await;
    let new = driver.replace(old, &anna, "lantern two").await;
    let again = Action::Supersede { old, new: Box::new(addition(driver.sample(&anna, "lantern three"))) };
    let error = driver.act(&anna.space(), again).await.expect_err("it has a successor");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains(&new.to_string()), "{error}");
    assert_eq!(driver.count(&whole()).await, 2);
}

// Coverage: S0-5.2.
/// Forgetting the head reinstates the memory before it; restoring the head supersedes it again.
pub async fn a_head_that_is_forgotten_uncovers_the_one_before(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let old = driver.remember(&anna, "lantern one").await;
    let new = driver.replace(old, &anna, "lantern two").await;
    let closed = driver.must_get(old).await.valid_until;
    driver.forget(&anna, new).await;
    driver.sees(&whole(), "lantern", &[old]).await;
    let uncovered = driver.must_get(old).await;
    assert_eq!((uncovered.superseded_by_id, uncovered.valid_until), (None, None));
    driver.must(&anna.space(), Action::Restore { id: new }).await;
    driver.sees(&whole(), "lantern", &[new]).await;
    assert_eq!(pointers(&driver, old).await, (None, Some(new)));
    assert_eq!(driver.must_get(old).await.valid_until, closed, "it held as long as it did before");
    // Purging a forgotten head leaves the memory before it active.
    driver.forget(&anna, new).await;
    driver.must(&anna.space(), Action::Purge { id: new }).await;
    driver.sees_with(&whole(), "lantern", &everything(), &[old]).await;
    driver.sees(&whole(), "lantern", &[old]).await;
}

/// Erasing the head reinstates the memory before it.
pub async fn a_head_that_is_erased_uncovers_the_one_before(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let old = driver.remember(&anna, "lantern one").await;
    let new = driver.replace(old, &anna, "lantern two").await;
    driver.must(&anna.space(), Action::Erase { id: new }).await;
    driver.sees(&whole(), "lantern", &[old]).await;
    assert_eq!(pointers(&driver, old).await, (None, None));
}

/// A head that ageing archives, deletes or purges does not reinstate the memory before it.
pub async fn a_head_that_fades_away_uncovers_nothing(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let old = driver.remember(&anna, "lantern one").await;
    let new = driver.replace(old, &anna, "lantern two").await;
    let fade = |state| Action::Fade { id: new, state, confidence: None, relevance: None, purge_at: Some(at(9)) };
    for state in [State::Archived, State::SoftDeleted] {
        driver.must(&anna.space(), fade(state)).await;
        driver.sees(&whole(), "lantern", &[]).await;
    }
    driver.must(&anna.space(), Action::Purge { id: new }).await;
    driver.sees(&whole(), "lantern", &[]).await;
    assert_eq!(pointers(&driver, old).await, (None, None), "it points to nothing that is gone");
}

/// A memory keeps its own end of validity when it is superseded and when its head is forgotten.
pub async fn an_own_end_survives_a_head_that_goes(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let mut old = driver.sample(&anna, "lantern one");
    old.valid_until = Some(at(7_000));
    let old = driver.keep(old).await;
    let new = driver.replace(old, &anna, "lantern two").await;
    assert_eq!(driver.must_get(old).await.valid_until, Some(at(7_000)));
    driver.forget(&anna, new).await;
    assert_eq!(driver.must_get(old).await.valid_until, Some(at(7_000)));
    driver.sees(&whole(), "lantern", &[old]).await;
}

/// Erasing a memory in the middle of a chain links its neighbours to each other.
pub async fn a_chain_closes_over_a_link_that_is_erased(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "lantern one").await;
    let two = driver.replace(one, &anna, "lantern two").await;
    let three = driver.replace(two, &anna, "lantern three").await;
    driver.must(&anna.space(), Action::Erase { id: two }).await;
    assert_eq!(pointers(&driver, one).await, (None, Some(three)));
    assert_eq!(pointers(&driver, three).await, (Some(one), None));
    driver.sees(&whole(), "lantern", &[three]).await;
    driver.forget(&anna, three).await;
    driver.sees(&whole(), "lantern", &[one]).await;
    driver.must(&anna.space(), Action::Erase { id: one }).await;
    assert_eq!(pointers(&driver, three).await, (None, None));
}

/// After a merge only the memory that was merged into is found.
pub async fn several_become_one(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "lantern one").await;
    let two = driver.remember(&anna, "lantern two").await;
    let three = driver.remember(&anna, "lantern three").await;
    let merge = Action::Merge { into: Box::new(new_text(one, "lantern of all", true)), from: vec![two, three] };
    let applied = driver.must(&anna.space(), merge).await;
    assert_eq!((applied.id, applied.outcome, applied.version), (Some(one), Outcome::Merged, 2));
    driver.sees(&whole(), "lantern", &[one]).await;
    assert_eq!(driver.must_get(one).await.content, "lantern of all");
    for taken in [two, three] {
        let read = driver.must_get(taken).await;
        assert_eq!((read.superseded_by_id, read.valid_until), (Some(one), Some(driver.clock())));
    }
    let events: Vec<_> = good(store.ledger(&whole(), &LedgerQuery::Memory(one), 99).await)
        .entries
        .into_iter()
        .map(|entry| entry.event)
        .collect();
    assert_eq!(events, ["ADD", "UPDATE", "MERGE"]);
    let mut stale = new_text(one, "lantern again", true);
    stale.expect = Some(1);
    let error = driver.act(&anna.space(), Action::Merge { into: Box::new(stale), from: vec![] }).await;
    assert_eq!(error.expect_err("stale").kind(), ErrorKind::VersionConflict);
}

/// A merge into itself, into a superseded memory or from one is refused: the chain could become a cycle.
pub async fn a_merge_into_itself_is_refused(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "lantern one").await;
    let two = driver.remember(&anna, "lantern two").await;
    let three = driver.remember(&anna, "lantern three").await;
    let merge = |into, from| Action::Merge { into: Box::new(revision(into, Patch::default())), from };
    let refused = async |action| {
        let error = driver.act(&anna.space(), action).await.expect_err("a circle");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    };
    refused(merge(one, vec![one])).await;
    driver.must(&anna.space(), merge(one, vec![two])).await;
    refused(merge(two, vec![one])).await;
    refused(merge(three, vec![two])).await;
    driver.sees(&whole(), "lantern", &[one, three]).await;
}

/// Merged memories stay hidden after the memory that they were merged into is erased, and no longer point to it.
pub async fn originals_stay_hidden_when_their_merger_is_erased(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "lantern one").await;
    let two = driver.remember(&anna, "lantern two").await;
    let merge = Action::Merge { into: Box::new(new_text(one, "lantern of both", true)), from: vec![two] };
    driver.must(&anna.space(), merge).await;
    driver.must(&anna.space(), Action::Erase { id: one }).await;
    driver.sees(&whole(), "lantern", &[]).await;
    assert_eq!(pointers(&driver, two).await, (None, None));
}

/// Returns the heads of chains with more memories than a limit, with their numbers of memories.
pub async fn long_chains_are_found_by_their_heads(store: &dyn Store) {
    let (driver, anna, vera, bot) = (Driver::on(store), user("anna"), user("vera"), agent("bot"));
    let chain = async |scope: &Scope, links: usize| {
        let mut ids = vec![driver.remember(scope, &format!("lantern {}", driver.next())).await];
        while let Some(last) = ids.last().filter(|_| ids.len() < links) {
            ids.push(driver.replace(*last, scope, &format!("lantern {}", driver.next())).await);
        }
        ids
    };
    let (alone, two) = (chain(&anna, 1).await, chain(&anna, 2).await);
    let (four, theirs, abroad) = (chain(&anna, 4).await, chain(&vera, 3).await, chain(&bot, 5).await);
    let head = |ids: &[MemoryId]| (ids[ids.len() - 1], ids.len());
    let long = async |visible: &Visible, scope: &Scope, most: usize| {
        let mut found = good(store.long_chains(visible, &scope.space(), most, usize::MAX).await);
        found.sort();
        found
    };
    assert_eq!(
        long(&whole(), &anna, 0).await,
        [head(&two), head(&four), head(&theirs)],
        "a single memory is not a chain"
    );
    assert_eq!(long(&whole(), &anna, 2).await, [head(&four), head(&theirs)]);
    assert_eq!(long(&whole(), &anna, 3).await, [head(&four)]);
    assert_eq!(long(&whole(), &anna, 4).await, []);
    assert_eq!(long(&whole(), &bot, 4).await, [head(&abroad)]);
    assert_eq!(long(&visible(std::slice::from_ref(&anna)), &anna, 1).await, [head(&two), head(&four)]);
    assert_eq!(long(&visible(std::slice::from_ref(&vera)), &anna, 1).await, [head(&theirs)]);
    assert_eq!(long(&visible(std::slice::from_ref(&vera)), &bot, 1).await, []);
    assert_eq!(good(store.long_chains(&whole(), &anna.space(), 0, 2).await).len(), 2);
    // Only existing memories are counted, and only a live head is returned.
    driver.must(&anna.space(), Action::Erase { id: four[1] }).await;
    assert_eq!(long(&whole(), &anna, 2).await, [(four[3], 3), head(&theirs)]);
    driver.forget(&vera, theirs[2]).await;
    driver.forget(&anna, alone[0]).await;
    assert_eq!(long(&whole(), &anna, 1).await, [head(&two), (four[3], 3), (theirs[1], 2)]);
    // A pointer to an unknown memory is not a chain.
    let imported = Memory { supersedes_id: Some(id(77_777)), ..driver.sample(&anna, "lantern from elsewhere") };
    let imported = driver.keep(imported).await;
    assert!(!long(&whole(), &anna, 1).await.iter().any(|(head, _)| *head == imported));
}

/// A forgotten memory is not restored if another has superseded its predecessor meanwhile. The error names that one and
/// nothing is changed. Once that one is forgotten, the memory can be restored.
pub async fn a_place_that_was_taken_is_not_taken_back(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "lantern one").await;
    let two = driver.replace(one, &anna, "lantern two").await;
    driver.forget(&anna, two).await;
    let three = driver.replace(one, &anna, "lantern three").await;
    let before = driver.must_get(two).await;
    let error = driver.act(&anna.space(), Action::Restore { id: two }).await.expect_err("its place is taken");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert!(error.to_string().contains(&three.to_string()), "{error}");
    assert_eq!(driver.must_get(two).await, before);
    let fade = Action::Fade { id: two, state: State::Active, confidence: None, relevance: None, purge_at: None };
    assert_eq!(driver.act(&anna.space(), fade).await.expect_err("nor by time").kind(), ErrorKind::InvalidInput);
    driver.sees(&whole(), "lantern", &[three]).await;
    driver.forget(&anna, three).await;
    driver.sees(&whole(), "lantern", &[one]).await;
    driver.must(&anna.space(), Action::Restore { id: two }).await;
    driver.sees(&whole(), "lantern", &[two]).await;
    let error = driver.act(&anna.space(), Action::Restore { id: three }).await.expect_err("now this one's is taken");
    assert!(error.to_string().contains(&two.to_string()), "{error}");
    driver.forget(&anna, two).await;
    driver.sees(&whole(), "lantern", &[one]).await;
}

/// The same if the predecessor was merged into another memory, until ageing has soft-deleted that one.
pub async fn a_place_is_free_once_nobody_holds_it(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "lantern one").await;
    let two = driver.replace(one, &anna, "lantern two").await;
    driver.forget(&anna, two).await;
    let other = driver.remember(&anna, "lantern other").await;
    let merge = Action::Merge { into: Box::new(revision(other, Patch::default())), from: vec![one] };
    driver.must(&anna.space(), merge).await;
    let error = driver.act(&anna.space(), Action::Restore { id: two }).await.expect_err("it was merged");
    assert!(error.to_string().contains(&other.to_string()), "{error}");
    for state in [State::Archived, State::SoftDeleted] {
        let fade = Action::Fade { id: other, state, confidence: None, relevance: None, purge_at: Some(at(9)) };
        driver.must(&anna.space(), fade).await;
    }
    driver.must(&anna.space(), Action::Restore { id: two }).await;
    driver.sees(&whole(), "lantern", &[two]).await;
    assert_eq!(pointers(&driver, one).await, (None, Some(two)));
    driver.must(&anna.space(), Action::Purge { id: other }).await;
    driver.forget(&anna, two).await;
    driver.sees(&whole(), "lantern", &[one]).await;
}

/// After several memories of a chain are forgotten and restored, only the newest restored one is found.
pub async fn a_chain_that_was_forgotten_comes_back_as_one(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "lantern one").await;
    let two = driver.replace(one, &anna, "lantern two").await;
    let three = driver.replace(two, &anna, "lantern three").await;
    let restore = async |id| driver.must(&anna.space(), Action::Restore { id }).await;
    for order in [[two, three], [three, two]] {
        for id in order {
            driver.forget(&anna, id).await;
        }
        driver.sees(&whole(), "lantern", &[one]).await;
        restore(three).await;
        driver.sees(&whole(), "lantern", &[three]).await;
        restore(two).await;
        driver.sees(&whole(), "lantern", &[three]).await;
        for id in order {
            driver.forget(&anna, id).await;
        }
        restore(two).await;
        driver.sees(&whole(), "lantern", &[two]).await;
        restore(three).await;
        driver.sees(&whole(), "lantern", &[three]).await;
    }
    assert_eq!(pointers(&driver, one).await, (None, Some(two)));
    assert_eq!(pointers(&driver, two).await, (Some(one), Some(three)));
}

/// Only live memories are superseded or merged: with a proposal or a deleted memory the chain could become a cycle.
pub async fn what_does_not_hold_is_not_replaced(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let old = driver.remember(&anna, "lantern old").await;
    let gone = driver.replace(old, &anna, "lantern gone").await;
    driver.forget(&anna, gone).await;
    let proposal =
        Memory { state: State::Proposed, purge_at: Some(at(9_000)), ..driver.sample(&anna, "lantern proposed") };
    let proposal = driver.keep(proposal).await;
    let merge = |into, from| Action::Merge { into: Box::new(revision(into, Patch::default())), from: vec![from] };
    for id in [gone, proposal] {
        let new = Box::new(addition(driver.sample(&anna, "lantern new")));
        for action in [Action::Supersede { old: id, new }, merge(old, id), merge(id, old)] {
            let case = format!("{action:?}");
            let error = driver.act(&anna.space(), action).await.expect_err(&case);
            assert_eq!(error.kind(), ErrorKind::InvalidInput, "{case}");
        }
    }
    let over = |over| Action::Decide { id: proposal, accept: true, over: Some(over), purge_at: at(9_000) };
    assert_eq!(driver.act(&anna.space(), over(gone)).await.expect_err("deleted").kind(), ErrorKind::InvalidInput);
    driver.must(&anna.space(), Action::Restore { id: gone }).await;
    driver.must(&anna.space(), over(gone)).await;
    driver.sees(&whole(), "lantern", &[proposal]).await;
}

/// Imported records keep their pointers, but are refused if these would create a fork or a cycle.
pub async fn pointers_from_elsewhere_keep_chains_whole(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = driver.remember(&anna, "lantern one").await;
    let two = driver.replace(one, &anna, "lantern two").await;
    let refused = async |action: Action| {
        let case = format!("{action:?}");
        let error = driver.act(&anna.space(), action).await.expect_err(&case);
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{case}");
        error.to_string()
    };
    let put = |memory: Memory| Action::Replace(Box::new(addition(memory)));
    let new = |memory: Memory| Action::Add(Box::new(addition(memory)));
    let fork = Memory { supersedes_id: Some(one), ..driver.sample(&anna, "lantern fork") };
    assert!(refused(new(fork.clone())).await.contains(&two.to_string()));
    let lone = driver.sample(&anna, "lantern lone");
    refused(new(Memory { superseded_by_id: Some(lone.id), ..lone })).await;
    let (first, second) = (driver.must_get(one).await, driver.must_get(two).await);
    assert!(refused(put(Memory { superseded_by_id: None, ..first.clone() })).await.contains(&two.to_string()));
    refused(put(Memory { superseded_by_id: Some(one), ..second.clone() })).await;
    refused(put(Memory { supersedes_id: Some(two), ..first.clone() })).await;
    assert_eq!((driver.must_get(one).await, driver.must_get(two).await), (first.clone(), second));
    // A record that is superseded by the head, or that replaces its own version, is accepted.
    driver.must(&anna.space(), new(Memory { superseded_by_id: Some(two), ..fork })).await;
    driver.must(&anna.space(), put(Memory { tags: vec!["x".into()], ..first })).await;
    driver.sees(&whole(), "lantern", &[two]).await;
}
