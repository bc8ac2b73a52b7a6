//! Contract: every turn of a session is learned from exactly once.

use jiff::Timestamp;
use loci_store::Store;
use loci_types::{
    AccessPolicy, Action, Bookkeeping, ErrorKind, Kind, Memory, MemoryId, Outcome, Reach, Scope, Session,
    SessionFilter, Source, State, Visible,
};

use crate::driver::{Driver, good};
use crate::samples::*;

/// A turn of a conversation that is not stored yet.
fn turn(driver: &Driver<'_>, scope: &Scope, session: Option<&str>, thread: &str) -> Memory {
    let mut memory = driver.sample(scope, &format!("lantern {}", driver.next()));
    memory.identifiers.session_id = session.map(str::to_owned);
    Memory {
        kind: Kind::stored(Kind::EPISODIC),
        source: Some(Source { kind: "conversation".into(), ..Source::default() }),
        thread_id: Some(thread.to_owned()),
        ..memory
    }
}

async fn attend(driver: &Driver<'_>, scope: &Scope, session: &str, thread: &str) -> Timestamp {
    let (scope, session, thread) = (scope.clone(), session.to_owned(), thread.to_owned());
    driver.must(&scope.space(), Action::Bookkeeping(Bookkeeping::Attend { scope, session, thread })).await;
    driver.clock()
}

/// Stores a turn and continues its session.
async fn say(driver: &Driver<'_>, scope: &Scope, session: &str) -> MemoryId {
    attend(driver, scope, session, "t").await;
    driver.keep(turn(driver, scope, Some(session), "t")).await
}

fn end(scope: &Scope, session: &str) -> Action {
    Action::Bookkeeping(Bookkeeping::EndSession { scope: scope.clone(), session: session.to_owned() })
}

fn learn(scope: &Scope, session: &str, expect: Option<MemoryId>, through: MemoryId) -> Action {
    Action::Bookkeeping(Bookkeeping::Consolidate {
        scope: scope.clone(),
        session: session.to_owned(),
        expect,
        through,
        report: serde_json::Value::Null,
    })
}

async fn all(store: &dyn Store, visible: &Visible) -> Vec<Session> {
    good(store.sessions(visible, &SessionFilter::default(), usize::MAX).await)
}

async fn the(store: &dyn Store, name: &str) -> Session {
    let filter = SessionFilter { session_id: Some(name.to_owned()), ..SessionFilter::default() };
    let mut found = good(store.sessions(&whole(), &filter, 9).await);
    assert_eq!(found.len(), 1, "sessions that are called {name}");
    found.remove(0)
}

async fn pending_turns(store: &dyn Store, visible: &Visible, scope: &Scope, session: &str) -> Vec<MemoryId> {
    let turns = good(store.pending_turns(visible, scope, session, usize::MAX).await);
    turns.into_iter().map(|turn| turn.id).collect()
}

/// A session begins with its first turn, continues with every other, ends once, and can be continued.
pub async fn a_session_begins_goes_on_and_ends(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let began = attend(&driver, &anna, "s", "t").await;
    let mut expect = Session {
        scope: anna.clone(),
        session_id: "s".into(),
        thread_id: "t".into(),
        created_at: began,
        updated_at: began,
        ended_at: None,
        consolidated_at: None,
        consolidated_through: None,
        pending: false,
    };
    assert_eq!(the(store, "s").await, expect);
    expect.updated_at = attend(&driver, &anna, "s", "t").await;
    assert_eq!(the(store, "s").await, expect);
    assert_eq!(driver.must(&anna.space(), end(&anna, "s")).await.outcome, Outcome::Updated);
    expect.ended_at = Some(driver.clock());
    assert_eq!(the(store, "s").await, expect);
    assert_eq!(driver.must(&anna.space(), end(&anna, "s")).await.outcome, Outcome::None, "it is over already");
    assert_eq!(the(store, "s").await, expect);
    for nobody in [end(&anna, "u"), end(&user("vera"), "s")] {
        assert_eq!(driver.must(&anna.space(), nobody).await.outcome, Outcome::None);
    }
    expect.updated_at = attend(&driver, &anna, "s", "t").await;
    expect.ended_at = None;
    assert_eq!(the(store, "s").await, expect);
    assert_eq!(all(store, &whole()).await, [expect]);
    assert_eq!(good(store.stats(&whole()).await).ledger, 0, "none of this is history");
}

/// The pending turns are the live turns of the conversation, in order, and nothing else.
pub async fn turns_wait_in_their_order(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let one = say(&driver, &anna, "s").await;
    let two = say(&driver, &anna, "s").await;
    // A session may contain several threads; a thread without a session is one by itself.
    let three = driver.keep(turn(&driver, &anna, Some("s"), "another")).await;
    attend(&driver, &anna, "alone", "alone").await;
    let alone = driver.keep(turn(&driver, &anna, None, "alone")).await;
    let decayed = driver.keep(Memory { state: State::Decayed, ..turn(&driver, &anna, Some("s"), "t") }).await;
    let strange = [
        Memory { kind: Kind::stored(Kind::FACT), ..turn(&driver, &anna, Some("s"), "t") },
        Memory { source: None, ..turn(&driver, &anna, Some("s"), "t") },
        Memory {
            source: Some(Source { kind: "tool_result".into(), ..Source::default() }),
            ..turn(&driver, &anna, Some("s"), "t")
        },
        turn(&driver, &anna, Some("u"), "t"),
        turn(&driver, &anna, None, "t"),
        turn(&driver, &vera, Some("s"), "t"),
        Memory { state: State::Archived, ..turn(&driver, &anna, Some("s"), "t") },
        Memory { state: State::SoftDeleted, ..turn(&driver, &anna, Some("s"), "t") },
        Memory { state: State::Proposed, ..turn(&driver, &anna, Some("s"), "t") },
    ];
    for memory in strange {
        driver.keep(memory).await;
    }
    let turns = good(store.pending_turns(&whole(), &anna, "s", usize::MAX).await);
    let mut read = Vec::new();
    for turn in &turns {
        read.push(driver.must_get(turn.id).await);
    }
    assert_eq!(turns, read, "whole memories");
    assert_eq!(pending_turns(store, &whole(), &anna, "s").await, [one, two, three, decayed]);
    assert_eq!(pending_turns(store, &whole(), &anna, "alone").await, [alone]);
    assert_eq!(pending_turns(store, &whole(), &anna, "nobody").await, []);
    let first: Vec<_> =
        good(store.pending_turns(&whole(), &anna, "s", 2).await).into_iter().map(|turn| turn.id).collect();
    assert_eq!(first, [one, two]);
    driver.forget(&anna, one).await;
    assert_eq!(
        pending_turns(store, &whole(), &anna, "s").await,
        [two, three, decayed],
        "what was forgotten is not learned"
    );
    for id in [two, three, decayed] {
        assert!(the(store, "s").await.pending);
        driver.must(&anna.space(), Action::Erase { id }).await;
    }
    assert!(!the(store, "s").await.pending, "nothing of it is left");
}

/// The mark moves to the last turn that was learned from; only later turns are pending.
pub async fn what_was_learned_does_not_wait_again(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = say(&driver, &anna, "s").await;
    let two = say(&driver, &anna, "s").await;
    let three = say(&driver, &anna, "s").await;
    let other = say(&driver, &anna, "other").await;
    let lines = good(store.stats(&whole()).await).ledger;
    driver.must(&anna.space(), learn(&anna, "s", None, two)).await;
    let session = the(store, "s").await;
    assert_eq!((session.consolidated_through, session.consolidated_at), (Some(two), Some(driver.clock())));
    assert!(session.pending);
    assert_eq!(pending_turns(store, &whole(), &anna, "s").await, [three]);
    driver.must(&anna.space(), learn(&anna, "s", Some(two), three)).await;
    assert!(!the(store, "s").await.pending);
    assert_eq!(pending_turns(store, &whole(), &anna, "s").await, []);
    assert_eq!(pending_turns(store, &whole(), &anna, "other").await, [other]);
    assert_eq!(good(store.stats(&whole()).await).ledger, lines + 2, "each leaves a line with what was learned");
    // After `Unlearn` all turns are pending again.
    driver
        .must(&anna.space(), Action::Bookkeeping(Bookkeeping::Unlearn { scope: anna.clone(), session: "s".to_owned() }))
        .await;
    assert_eq!(pending_turns(store, &whole(), &anna, "s").await, [one, two, three]);
    driver.must(&anna.space(), learn(&anna, "s", None, three)).await;
    let four = say(&driver, &anna, "s").await;
    assert!(the(store, "s").await.pending);
    assert_eq!(pending_turns(store, &whole(), &anna, "s").await, [four]);
    // A turn before the mark does not become pending again when it is revised.
    driver.must(&anna.space(), Action::Revise(Box::new(new_text(one, "lantern anew", true)))).await;
    assert_eq!(pending_turns(store, &whole(), &anna, "s").await, [four]);
}

/// A batch with an outdated mark is refused as a whole, so that nothing is learned twice.
pub async fn who_comes_second_learns_nothing(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = say(&driver, &anna, "s").await;
    let two = say(&driver, &anna, "s").await;
    driver.must(&anna.space(), learn(&anna, "s", None, one)).await;
    let before = (the(store, "s").await, driver.count(&whole()).await, good(store.stats(&whole()).await));
    for (expect, kind) in [(None, ErrorKind::Conflict), (Some(two), ErrorKind::Conflict)] {
        let fact = driver.sample(&anna, "lantern of a lesson");
        let note = Action::Bookkeeping(Bookkeeping::Note {
            scope: None,
            key: "n".into(),
            value: loci_types::NoteValue::Add(1.0),
            until: None,
        });
        let actions = [
            note,
            end(&anna, "s"),
            Action::Bookkeeping(Bookkeeping::Touch { ids: vec![one] }),
            learn(&anna, "s", expect, two),
            Action::Erase { id: one },
        ];
        let mut changes: Vec<_> = actions.into_iter().map(|action| change(driver.clock(), action)).collect();
        changes.insert(0, add(fact));
        let error = store.apply(batch(&anna.space(), changes)).await.expect_err("overtaken");
        assert_eq!(error.kind(), kind, "{error}");
        let after = (the(store, "s").await, driver.count(&whole()).await, good(store.stats(&whole()).await));
        assert_eq!((&after.0, after.1, &after.2.jobs), (&before.0, before.1, &before.2.jobs));
        assert_eq!(after.2.ledger, before.2.ledger);
        assert_eq!(driver.must_get(one).await.access_count, 0);
        assert_eq!(good(store.notes(&whole(), &anna.space(), &["n".to_owned()], at(0)).await), []);
    }
    driver.must(&anna.space(), learn(&anna, "s", Some(one), two)).await;
}

/// The mark must be a turn of the scope, in an existing session, and never moves back.
pub async fn a_mark_goes_only_forward(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let one = say(&driver, &anna, "s").await;
    let two = say(&driver, &anna, "s").await;
    let theirs = say(&driver, &vera, "s").await;
    driver.must(&anna.space(), learn(&anna, "s", None, two)).await;
    let before = all(store, &whole()).await;
    for (action, kind) in [
        (learn(&anna, "s", Some(two), one), ErrorKind::InvalidInput),
        (learn(&anna, "s", Some(two), theirs), ErrorKind::InvalidInput),
        (learn(&anna, "s", Some(two), id(77_777)), ErrorKind::NotFound),
        (learn(&anna, "nobody", None, two), ErrorKind::InvalidInput),
        (learn(&agent("bot"), "s", None, two), ErrorKind::InvalidInput),
        (
            Action::Bookkeeping(Bookkeeping::Attend { scope: agent("bot"), session: "s".into(), thread: "t".into() }),
            ErrorKind::InvalidInput,
        ),
    ] {
        let case = format!("{action:?}");
        let error = driver.act(&anna.space(), action).await.expect_err("no such mark");
        assert_eq!(error.kind(), kind, "{case}");
        assert_eq!(all(store, &whole()).await, before, "{case}");
    }
}

/// If turns before the mark or the turn of the mark are removed, no other turn becomes pending.
pub async fn a_turn_that_goes_does_not_bring_its_session_back(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = say(&driver, &anna, "s").await;
    let two = say(&driver, &anna, "s").await;
    driver.must(&anna.space(), learn(&anna, "s", None, two)).await;
    driver.forget(&anna, two).await;
    driver.must(&anna.space(), Action::Purge { id: two }).await;
    assert!(!the(store, "s").await.pending);
    assert_eq!(pending_turns(store, &whole(), &anna, "s").await, []);
    driver.must(&anna.space(), Action::Erase { id: one }).await;
    let three = say(&driver, &anna, "s").await;
    assert_eq!(pending_turns(store, &whole(), &anna, "s").await, [three]);
    assert_eq!(the(store, "s").await.consolidated_through, Some(two), "the mark still tells who comes second");
    driver.must(&anna.space(), learn(&anna, "s", Some(two), three)).await;
    assert!(!the(store, "s").await.pending);
}

/// Sessions are found by each condition, least recently active first.
pub async fn sessions_are_found_by_what_is_asked(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let first = say(&driver, &anna, "learned").await;
    driver.must(&anna.space(), learn(&anna, "learned", None, first)).await;
    say(&driver, &anna, "ended").await;
    driver.must(&anna.space(), end(&anna, "ended")).await;
    attend(&driver, &agent("bot"), "empty", "t").await;
    say(&driver, &anna, "open").await;
    attend(&driver, &anna, "learned", "t").await;
    let quiet = the(store, "open").await.updated_at;
    let any = SessionFilter::default;
    for (filter, expect) in [
        (any(), &["ended", "empty", "open", "learned"][..]),
        (SessionFilter { session_id: Some("open".into()), ..any() }, &["open"]),
        (SessionFilter { session_id: Some("ope".into()), ..any() }, &[]),
        (SessionFilter { ended: Some(true), ..any() }, &["ended"]),
        (SessionFilter { ended: Some(false), ..any() }, &["empty", "open", "learned"]),
        (SessionFilter { pending: true, ..any() }, &["ended", "open"]),
        (SessionFilter { quiet_since: Some(quiet), ..any() }, &["ended", "empty"]),
        (SessionFilter { pending: true, ended: Some(false), quiet_since: Some(at(9_000)), ..any() }, &["open"]),
        (SessionFilter { pending: true, session_id: Some("learned".into()), ..any() }, &[]),
    ] {
        for limit in [0, 1, 2, usize::MAX] {
            let found = good(store.sessions(&whole(), &filter, limit).await);
            let names: Vec<_> = found.iter().map(|session| session.session_id.as_str()).collect();
            assert_eq!(names, expect[..limit.min(expect.len())], "{limit} of {filter:?}");
        }
    }
}

/// The name of a session is unique per scope, and sessions are visible only where their scope is.
pub async fn sessions_keep_to_their_scopes(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let scopes = [anna.clone(), vera.clone(), agent("bot")];
    let mut turns = Vec::new();
    for scope in &scopes {
        turns.push(say(&driver, scope, "s").await);
    }
    let names = |sessions: Vec<Session>| sessions.into_iter().map(|session| session.scope).collect::<Vec<_>>();
    assert_eq!(names(all(store, &whole()).await), scopes);
    assert_eq!(names(all(store, &visible(&[])).await), []);
    assert_eq!(names(all(store, &visible(&[user("nobody")])).await), []);
    for (scope, turn) in scopes.iter().zip(&turns) {
        let seen = visible(std::slice::from_ref(scope));
        assert_eq!(names(all(store, &seen).await), std::slice::from_ref(scope));
        for other in &scopes {
            let expect = if other == scope { vec![*turn] } else { vec![] };
            assert_eq!(pending_turns(store, &seen, other, "s").await, expect);
        }
    }
    // Ending and learning affect only the session of one scope.
    driver.must(&anna.space(), end(&anna, "s")).await;
    driver.must(&anna.space(), learn(&anna, "s", None, turns[0])).await;
    let touched: Vec<_> = all(store, &whole()).await.iter().map(|one| (one.ended_at.is_some(), one.pending)).collect();
    assert_eq!(touched, [(true, false), (false, true), (false, true)]);
    // Within a scope only the visible turns are returned.
    let secret = Memory {
        access_policy: AccessPolicy::Private,
        actor_id: Some("vera".into()),
        category: Some("work".into()),
        ..turn(&driver, &anna, Some("s"), "t")
    };
    let secret = driver.keep(secret).await;
    let bound = grant(Default::default(), Reach::Whole, Some(&["home"]), None);
    assert_eq!(pending_turns(store, &visible(std::slice::from_ref(&anna)), &anna, "s").await, []);
    assert_eq!(pending_turns(store, &bound, &anna, "s").await, []);
    assert_eq!(pending_turns(store, &seen_by(Some("vera"), std::slice::from_ref(&anna)), &anna, "s").await, [secret]);
}
