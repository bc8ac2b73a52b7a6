//! Tests of session entries: storing, reading, searching, and promotion at the end.

use std::sync::Arc;

use loci_engine::{Caller, Config, FoundBy, NewEntry, Sessions};
use loci_store::tier::{ProcessTier, TierOptions};
use loci_types::{ErrorKind, SessionFilter};
use serde_json::json;

use crate::house::{House, in_session, user};

fn house_with(config: Config) -> House {
    House::with(config).with_tier(Arc::new(ProcessTier::new(TierOptions::default(), 1 << 20)))
}

fn entry(content: &str, importance: f64) -> NewEntry {
    NewEntry { content: content.into(), importance: Some(importance), ..NewEntry::default() }
}

async fn put(house: &House, caller: &Caller, new: NewEntry) {
    let put = house.engine.put_entry(caller, "s1", new).await.unwrap();
    assert_eq!(put.degraded, [] as [&str; 0]);
    house.after(jiff::SignedDuration::from_secs(1));
}

async fn texts(house: &House, caller: &Caller) -> Vec<String> {
    let entries = house.engine.entries(caller, "s1", 0, None).await.unwrap();
    entries.into_iter().map(|entry| entry.content).collect()
}

// Coverage: S2.27.
#[tokio::test]
async fn entries_are_read_newest_first_and_found_by_meaning_or_words() {
    let house = house_with(Config::default());
    let ana = user("ana");
    put(&house, &ana, entry("the exam is on Friday", 0.5)).await;
    put(&house, &ana, NewEntry { embed: true, ..entry("violin strings are in stock", 0.5) }).await;
    put(&house, &ana, NewEntry { id: Some("x".into()), ..entry("first", 0.1) }).await;
    put(&house, &ana, NewEntry { id: Some("x".into()), ..entry("second", 0.1) }).await;
    assert_eq!(texts(&house, &ana).await, ["second", "violin strings are in stock", "the exam is on Friday"]);
    let ask = async |query: &str| house.engine.query_entries(&ana, "s1", query, 0, Some(1)).await.unwrap();
    let hit = &ask("violin strings").await[0];
    assert_eq!((hit.entry.content.as_str(), hit.found_by), ("violin strings are in stock", FoundBy::Similarity));
    let hit = &ask("when is the exam").await[0];
    assert_eq!((hit.entry.content.as_str(), hit.found_by), ("the exam is on Friday", FoundBy::Words));
    for stranger in [user("bo"), in_session("bo", "s1")] {
        assert!(texts(&house, &stranger).await.is_empty());
    }
    for (new, field) in [
        (entry(" ", 0.5), "content"),
        (entry("x", 1.5), "importance"),
        (NewEntry { ttl_seconds: Some(0), ..entry("x", 0.5) }, "ttlSeconds"),
        (NewEntry { embedding: Some(vec![0.5]), ..entry("x", 0.5) }, "embedding"),
    ] {
        let error = house.engine.put_entry(&ana, "s1", new).await.unwrap_err();
        assert_eq!(error.problem("x").details["field"], field);
    }
    let nowhere = House::new();
    let error = nowhere.engine.entries(&ana, "s1", 0, None).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration, "without a tier there are no entries");
}

// Coverage: S2.28.
#[tokio::test]
async fn what_matters_is_remembered_for_the_user_when_the_session_ends() {
    let house = house_with(Config::default());
    let ana = in_session("ana", "s1");
    house.remember(&user("ana"), "Ana is allergic to peanuts").await;
    house.say(&ana, "t", "user", "Good morning!").await;
    put(&house, &ana, entry("Ana is allergic to peanuts", 0.9)).await;
    put(
        &house,
        &ana,
        NewEntry {
            metadata: [("from".to_owned(), json!("tutor"))].into_iter().collect(),
            ..entry("Ana plays the violin on Sundays", 0.7)
        },
    )
    .await;
    put(&house, &ana, entry("Ana yawned", 0.69)).await;
    assert!(house.engine.end_session(&ana, "s1").await.unwrap());
    let known: Vec<String> = house.known(&user("ana")).await.into_iter().map(|memory| memory.content).collect();
    assert_eq!(known, ["Ana plays the violin on Sundays", "Ana is allergic to peanuts"], "known once, and no yawn");
    assert!(texts(&house, &ana).await.is_empty());
    assert!(!house.engine.end_session(&ana, "s1").await.unwrap(), "it was over");
    // Who may not see entries does not end them either.
    put(&house, &ana, entry("Ana hums", 0.1)).await;
    let narrow = Caller { categories: Some(["work".to_owned()].into()), ..ana.clone() };
    assert!(house.engine.end_session(&narrow, "s1").await.is_err());
    assert_eq!(texts(&house, &ana).await, ["Ana hums"]);
    // The operator names nobody: whose session it is, the store knows.
    house.say(&ana, "t", "user", "And again.").await;
    put(&house, &ana, entry("Ana moved to Graz in May", 0.8)).await;
    house.engine.end_session(&Caller::operator(), "s1").await.unwrap();
    assert_eq!(house.known(&user("ana")).await.len(), 3);
}

#[tokio::test]
async fn a_session_of_nothing_but_entries_ends_too_and_may_keep_nothing() {
    let rules = Sessions { promote_important: false, ..Sessions::default() };
    for (sessions, kept) in [(Sessions::default(), 1), (rules, 0)] {
        let house = house_with(Config { sessions, ..Config::default() });
        let ana = user("ana");
        put(&house, &ana, entry("Ana plays the violin on Sundays", 1.0)).await;
        assert!(house.engine.end_session(&ana, "s1").await.unwrap());
        assert_eq!(house.known(&ana).await.len(), kept);
        assert_eq!(house.engine.end_session(&ana, "s1").await.unwrap_err().kind(), ErrorKind::NotFound);
    }
}

#[tokio::test]
async fn a_session_that_gives_way_to_another_leaves_what_matters() {
    let house = house_with(Config::default());
    let (first, second) = (in_session("ana", "s1"), in_session("ana", "s2"));
    house.say(&first, "t", "user", "Good morning!").await;
    put(&house, &first, entry("Ana plays the violin on Sundays", 0.9)).await;
    house.say(&second, "t", "user", "Good evening!").await;
    assert_eq!(house.known(&user("ana")).await.len(), 1);
    assert!(texts(&house, &first).await.is_empty());
}

// Coverage: S2.28.
#[tokio::test]
async fn what_could_not_be_remembered_stays_until_it_can() {
    let house = house_with(Config::default());
    let ana = in_session("ana", "s1");
    house.say(&ana, "t", "user", "Good morning!").await;
    put(&house, &ana, entry("Ana keeps poison in the shed", 0.9)).await;
    house.break_at("poison");
    assert_eq!(house.engine.end_session(&ana, "s1").await.unwrap_err().kind(), ErrorKind::Provider);
    let open = SessionFilter { ended: Some(false), ..SessionFilter::default() };
    assert_eq!(house.engine.sessions(&ana, open).await.unwrap().len(), 1, "it is not over");
    assert_eq!(texts(&house, &ana).await.len(), 1);
    house.heal();
    assert!(house.engine.end_session(&ana, "s1").await.unwrap());
    assert_eq!(house.known(&user("ana")).await.len(), 1);
}
