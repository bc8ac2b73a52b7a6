//! Contract: turn runs around memories.
//!
//! The order of turn runs is undefined; each is compared by its memories.

use std::collections::BTreeSet;

use loci_store::{Store, TurnRef};
use loci_types::{
    AccessPolicy, Action, Bookkeeping, Filter, Kind, Memory, MemoryId, Patch, Scope, State, Vector, Visible,
};

use crate::driver::{Driver, good};
use crate::samples::*;

/// A turn of a thread, with or without a session.
fn turn(driver: &Driver<'_>, scope: &Scope, thread: &str, session: Option<&str>) -> Memory {
    let number = driver.next();
    let mut memory = memory(number, scope, &format!("lantern {number}"));
    memory.thread_id = Some(thread.to_owned());
    memory.identifiers.session_id = session.map(str::to_owned);
    memory
}

/// Stores this number of consecutive turns.
async fn talk(driver: &Driver<'_>, scope: &Scope, thread: &str, session: Option<&str>, turns: usize) -> Vec<MemoryId> {
    let mut ids = Vec::new();
    for _ in 0..turns {
        ids.push(driver.keep(turn(driver, scope, thread, session)).await);
    }
    ids
}

/// The memories of each run, the oldest run first.
async fn turn_runs(store: &dyn Store, visible: &Visible, ids: &[MemoryId], reach: usize) -> Vec<Vec<MemoryId>> {
    strips_of(store, visible, &now(), ids, reach).await
}

async fn strips_of(
    store: &dyn Store,
    visible: &Visible,
    filter: &Filter,
    ids: &[MemoryId],
    reach: usize,
) -> Vec<Vec<MemoryId>> {
    let turn_runs = good(store.around(visible, filter, ids, reach).await);
    let mut turn_runs: Vec<Vec<MemoryId>> =
        turn_runs.iter().map(|run| run.places.iter().map(|place| place.id).collect()).collect();
    turn_runs.sort();
    turn_runs
}

/// The turn of a memory, which must be the only one of its run.
async fn place(store: &dyn Store, id: MemoryId) -> TurnRef {
    let turn_runs = good(store.around(&whole(), &everything(), &[id], 0).await);
    assert_eq!((turn_runs.len(), turn_runs[0].places.len()), (1, 1));
    turn_runs[0].places[0]
}

/// The session of the run of a memory.
async fn session(store: &dyn Store, id: MemoryId) -> u64 {
    let turn_runs = good(store.around(&whole(), &everything(), &[id], 1).await);
    assert_eq!(turn_runs.len(), 1);
    turn_runs[0].session
}

// Coverage: SPEC-6.1.
/// A run has up to `reach` turns before and after the memory, in the order of insertion.
pub async fn neighbours_are_within_reach(store: &dyn Store) {
    let driver = Driver::on(store);
    for scope in [user("anna"), agent("bot")] {
        let all = talk(&driver, &scope, "t", None, 10).await;
        for (which, reach, from, until) in [
            (4, 0, 4, 4),
            (4, 1, 3, 5),
            (4, 3, 1, 7),
            (0, 2, 0, 2),
            (9, 3, 6, 9),
            (1, 2, 0, 3),
            (4, 100, 0, 9),
            (4, usize::MAX, 0, 9),
        ] {
            let found = turn_runs(store, &visible(std::slice::from_ref(&scope)), &[all[which]], reach).await;
            assert_eq!(found, [all[from..=until].to_vec()], "{reach} around {which}");
            assert_eq!(turn_runs(store, &whole(), &[all[which]], reach).await, found);
        }
        assert_eq!(turn_runs(store, &whole(), &[all[5], all[5], id(77_777), all[5]], 1).await, [all[4..=6].to_vec()]);
    }
    assert_eq!(turn_runs(store, &whole(), &[], 3).await, [[]; 0]);
    assert_eq!(turn_runs(store, &whole(), &[id(77_777)], 3).await, [[]; 0]);
}

/// Adjacent and overlapping runs are joined, in whatever order they were requested.
pub async fn runs_that_touch_become_one_strip(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let all = talk(&driver, &anna, "t", None, 14).await;
    for (asked, reach, expect) in [
        (&[2, 6][..], 1, &[(1, 3), (5, 7)][..]),
        (&[2, 5], 1, &[(1, 6)]),
        (&[2, 4], 1, &[(1, 5)]),
        (&[2, 3], 1, &[(1, 4)]),
        (&[2, 3, 4, 8], 1, &[(1, 5), (7, 9)]),
        (&[2, 7, 12], 2, &[(0, 13)]),
        (&[2, 8, 13], 2, &[(0, 4), (6, 13)]),
        (&[3, 4, 6], 0, &[(3, 4), (6, 6)]),
        (&[0, 13], 3, &[(0, 3), (10, 13)]),
        (&[0, 13], 6, &[(0, 13)]),
        (&[1, 2, 9], 5, &[(0, 13)]),
    ] {
        let asked: Vec<MemoryId> = asked.iter().map(|which| all[*which]).collect();
        let expect: Vec<_> = expect.iter().map(|(from, until)| all[*from..=*until].to_vec()).collect();
        assert_eq!(turn_runs(store, &whole(), &asked, reach).await, expect, "{reach} around {asked:?}");
        let backward: Vec<MemoryId> = asked.iter().rev().copied().collect();
        assert_eq!(turn_runs(store, &whole(), &backward, reach).await, expect, "backward");
    }
}

// Coverage: SPEC-6.1.
/// A run contains no turns of other sessions, threads or scopes, even if these are interleaved.
pub async fn a_strip_stays_in_its_session_thread_and_scope(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let before = talk(&driver, &anna, "t", None, 2).await;
    let mut sessions = Vec::new();
    for session in ["s-1", "s-2"] {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            own.push(driver.keep(turn(&driver, &anna, "t", Some(session))).await);
            others.push(driver.keep(turn(&driver, &anna, "u", Some(session))).await);
            driver.keep(turn(&driver, &vera, "t", Some(session))).await;
            driver.keep(turn(&driver, &agent("bot"), "t", Some(session))).await;
            driver.remember(&anna, &format!("outside {}", driver.next())).await;
        }
        sessions.push((own, others));
    }
    for reach in [3, 100] {
        assert_eq!(turn_runs(store, &whole(), &before[..1], reach).await, std::slice::from_ref(&before));
        for (own, others) in &sessions {
            for which in 0..3 {
                assert_eq!(turn_runs(store, &whole(), &own[which..=which], reach).await, std::slice::from_ref(own));
                assert_eq!(
                    turn_runs(store, &whole(), &others[which..=which], reach).await,
                    std::slice::from_ref(others)
                );
            }
        }
        // Requested together, they stay separate runs.
        let asked = [before[1], sessions[0].0[0], sessions[0].0[2], sessions[1].0[0], sessions[1].1[1]];
        let expect = [before.clone(), sessions[0].0.clone(), sessions[1].0.clone(), sessions[1].1.clone()];
        assert_eq!(turn_runs(store, &whole(), &asked, reach).await, expect);
    }
}

/// Memories without a thread are runs of their own.
pub async fn a_memory_outside_any_thread_stands_alone(store: &dyn Store) {
    let driver = Driver::on(store);
    let mut ids = Vec::new();
    for scope in [user("anna"), agent("bot"), agent("owl")] {
        for text in ["lantern one", "lantern two"] {
            let mut memory = driver.sample(&scope, text);
            memory.identifiers.session_id = Some("s".into());
            ids.push(driver.keep(memory).await);
        }
    }
    let alone: Vec<Vec<MemoryId>> = ids.iter().map(|id| vec![*id]).collect();
    assert_eq!(turn_runs(store, &whole(), &ids, 5).await, alone);
    assert_eq!(turn_runs(store, &whole(), &[&ids[..], &ids].concat(), 5).await, alone, "each once");
    let sessions: BTreeSet<u64> =
        good(store.around(&whole(), &now(), &ids, 5).await).iter().map(|run| run.session).collect();
    assert_eq!(sessions.len(), ids.len(), "a session for each");
}

// Coverage: S3-6.2.
/// Memories that are invisible or do not match the filter are skipped within a run and have none of their own.
pub async fn what_is_not_visible_or_filtered_out_is_in_no_turn_run(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let first = driver.keep(turn(&driver, &anna, "t", None)).await;
    let mut hidden = Vec::new();
    for (name, edit) in [
        ("forgotten", (|memory| memory.state = State::SoftDeleted) as fn(&mut Memory)),
        ("archived", |memory| memory.state = State::Archived),
        ("expired", |memory| memory.expires_at = Some(at(4_000))),
        ("private of another", |memory| {
            (memory.access_policy, memory.actor_id) = (AccessPolicy::Private, Some("vera".into()));
        }),
        ("of another kind", |memory| memory.kind = Kind::stored("task")),
    ] {
        let mut memory = turn(&driver, &anna, "t", None);
        edit(&mut memory);
        hidden.push((name, driver.keep(memory).await));
    }
    let old = driver.keep(turn(&driver, &anna, "t", None)).await;
    let last = driver.keep(turn(&driver, &anna, "t", None)).await;
    driver.replace(old, &anna, "lantern in place of the old").await;
    hidden.push(("replaced", old));

    let filter = Filter { kinds: vec![Kind::FACT.to_owned()], ..now() };
    let seen = visible(std::slice::from_ref(&anna));
    for asked in [&[first][..], &[last], &[first, last]] {
        assert_eq!(strips_of(store, &seen, &filter, asked, 9).await, [[first, last]]);
    }
    for (name, id) in &hidden {
        assert_eq!(strips_of(store, &seen, &filter, &[*id], 9).await, [[]; 0], "around the one that is {name}");
    }
    // With more visible memories and a wider filter they are part of the run.
    let mut all: Vec<MemoryId> = hidden.iter().map(|(_, id)| *id).chain([first, last]).collect();
    all.sort();
    assert_eq!(strips_of(store, &whole(), &everything(), &[first], 9).await, [all.clone()]);
    all.retain(|id| *id != hidden[3].1);
    assert_eq!(strips_of(store, &seen, &everything(), &[last], 9).await, [all]);
    assert_eq!(strips_of(store, &visible(&[user("vera")]), &everything(), &[first], 9).await, [[]; 0]);
}

/// Runs of one session have the same session number; all others have different ones, in any space.
pub async fn strips_of_one_session_say_so(store: &dyn Store) {
    let driver = Driver::on(store);
    let mut sessions = BTreeSet::new();
    let mut all = Vec::new();
    for scope in [user("anna"), user("vera"), agent("bot"), agent("owl")] {
        for (thread, name) in [("t", None), ("t", Some("s-1")), ("t", Some("s-2")), ("u", Some("s-1")), ("u", None)] {
            let turns = talk(&driver, &scope, thread, name, 9).await;
            let one = session(store, turns[0]).await;
            assert_eq!(session(store, turns[8]).await, one);
            let two = good(store.around(&whole(), &now(), &[turns[0], turns[8]], 1).await);
            assert_eq!(two.iter().map(|run| run.session).collect::<Vec<_>>(), [one, one]);
            assert!(sessions.insert(one), "{scope} {thread} {name:?} has a session of its own");
            all.extend(turns);
        }
    }
    let turn_runs = good(store.around(&whole(), &now(), &all, 0).await);
    assert_eq!(turn_runs.iter().map(|run| run.session).collect::<BTreeSet<_>>(), sessions, "asked together");
}

/// The stamp changes with the text, the metadata, the vector and the token states of a memory.
pub async fn a_stamp_changes_with_the_memory_and_its_vector(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let kept = driver.keep(turn(&driver, &anna, "t", None)).await;
    let other = driver.keep(turn(&driver, &anna, "t", None)).await;
    let quiet = place(store, other).await.stamp;
    let mut stamps = BTreeSet::from([quiet, place(store, kept).await.stamp]);
    assert_eq!(stamps.len(), 2, "each memory has its own");
    let of = hash("candle");
    let embed = |vector| Action::Embed { id: kept, of, vector };
    let with = |states: Option<&[u8]>| Vector { token_states: states.map(<[u8]>::to_vec), ..vector("candle") };
    let patch = Patch { tags: Some(vec!["t".into()]), ..Patch::default() };
    for (name, action) in [
        ("a new text, no vector", Action::Revise(Box::new(new_text(kept, "candle", false)))),
        ("its vector", embed(with(None))),
        ("its states", embed(with(Some(&[1, 2])))),
        ("other states", embed(with(Some(&[1, 3])))),
        ("another vector by the same model", embed(Vector { token_states: Some(vec![1, 3]), ..vector("torch") })),
        ("a vector by another model", embed(Vector { model: "another".into(), ..with(Some(&[1, 3])) })),
        ("new labels", Action::Revise(Box::new(revision(kept, patch)))),
        ("forgotten", Action::Forget { id: kept, expect: None, purge_at: at(50_000) }),
        ("and back", Action::Restore { id: kept }),
    ] {
        driver.must(&anna.space(), action).await;
        assert!(stamps.insert(place(store, kept).await.stamp), "{name}");
    }
    assert_eq!(place(store, other).await.stamp, quiet);
    assert_eq!(place(store, kept).await, place(store, kept).await, "the same as long as nothing happens");
}

/// An access changes the access count and not the stamp.
pub async fn a_touch_counts_and_leaves_the_stamp(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let memory = Memory { access_count: 3, ..turn(&driver, &anna, "t", None) };
    let (one, two) = (driver.keep(memory).await, driver.keep(turn(&driver, &anna, "t", None)).await);
    let before = (place(store, one).await, place(store, two).await);
    assert_eq!((before.0.access_count, before.1.access_count), (3, 0));
    for _ in 0..2 {
        driver.must(&anna.space(), Action::Bookkeeping(Bookkeeping::Touch { ids: vec![one, two, one] })).await;
    }
    let after = good(store.around(&visible(&[anna]), &now(), &[one], 1).await);
    let counted = [TurnRef { access_count: 7, ..before.0 }, TurnRef { access_count: 2, ..before.1 }];
    assert_eq!(after.iter().map(|run| &run.places[..]).collect::<Vec<_>>(), [counted]);
}
