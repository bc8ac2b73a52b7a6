//! Tests of two servers on one PostgreSQL whose clocks are five minutes apart.
//!
//! The one ahead considers every job of the other overdue and runs it as well; its effect exists once.

use std::sync::Arc;

use jiff::SignedDuration;
use loci_engine::{Caller, MaintainRequest};
use loci_store::{PostgresOptions, PostgresStore};
use loci_testkit::servers::Schema;
use loci_types::{ErrorKind, JobKind};

use crate::house::{House, in_session, user};

/// What each session tells of.
const THINGS: [&str; 10] =
    ["peanuts", "shrimp", "celery", "mustard", "sesame", "lupin", "gluten", "soy", "walnuts", "pollen"];

/// A house that is right, and one whose clock is ahead.
async fn two() -> Option<(House, House, Schema)> {
    let schema = Schema::new()?;
    let open = async || {
        let options = PostgresOptions { schema: schema.name.clone(), partitions: 2, ..PostgresOptions::default() };
        Arc::new(PostgresStore::open(&schema.url, options).await.unwrap())
    };
    let (first, second) = (open().await, open().await);
    let (right, ahead) = (House::on(|_, _| first), House::on(|_, _| second));
    ahead.after(SignedDuration::from_mins(5));
    Some((right, ahead, schema))
}

#[tokio::test(flavor = "multi_thread")]
async fn sessions_are_learned_once_by_clocks_that_differ() {
    let Some((right, ahead, _schema)) = two().await else { return };
    for (number, thing) in THINGS.iter().enumerate() {
        // Turns of one session come through both doors.
        let ana = in_session("ana", &format!("s{number}"));
        right.say(&ana, &format!("t{number}"), "user", "Good morning!").await;
        ahead.say(&ana, &format!("t{number}"), "user", &format!("I'm allergic to {thing}.")).await;
        right.say(&ana, &format!("t{number}"), "assistant", "Noted.").await;
        let door = if number % 2 == 0 { &right } else { &ahead };
        door.engine.end_session(&ana, &format!("s{number}")).await.unwrap();
    }
    let operator = Caller::operator();
    for _ in 0..3 {
        let (one, other) = tokio::join!(right.engine.work(&operator, &[], 100), ahead.engine.work(&operator, &[], 100));
        one.unwrap();
        other.unwrap();
    }
    // A job that the one ahead scheduled for later is due for the other when its clock gets there.
    right.after(SignedDuration::from_mins(5));
    right.engine.work(&operator, &[], 100).await.unwrap();
    for house in [&right, &ahead] {
        let known: Vec<String> = house.known(&user("ana")).await.into_iter().map(|memory| memory.content).collect();
        for thing in THINGS {
            let fact = format!("allergic to {thing}");
            assert_eq!(known.iter().filter(|text| text.contains(&fact)).count(), 1, "{fact}: {known:?}");
        }
    }
    let left = right.engine.jobs(&operator, &[]).await.unwrap();
    assert!(left.iter().all(|job| job.kind != JobKind::Consolidate && job.state == "waiting"), "{left:?}");
}

// Coverage: SPEC-11.4.
#[tokio::test(flavor = "multi_thread")]
async fn one_server_runs_maintenance_despite_clock_skew() {
    let Some((right, ahead, _schema)) = two().await else { return };
    for number in 0..20 {
        right.remember(&user("ana"), &format!("box {number} stands in hall {number}")).await;
    }
    right.later(400);
    ahead.later(400);
    let night =
        async |house: &House| house.engine.maintain(&Caller::operator(), MaintainRequest::default(), |_| {}).await;
    let (one, other) = tokio::join!(night(&right), night(&ahead));
    // Who comes second is refused, or finds it done if the first was quick; both cannot do it at once.
    for error in [one.as_ref().err(), other.as_ref().err()].into_iter().flatten() {
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    }
    assert!(one.is_ok() || other.is_ok(), "{one:?} {other:?}");
    let before = right.known(&user("ana")).await;
    assert_eq!(before, ahead.known(&user("ana")).await);
}
