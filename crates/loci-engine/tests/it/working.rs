//! Tests of working memory: order, bounds, restarts, erasure.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use loci_engine::{Caller, Config, Engine, FoundBy, NewMessage, NewToolResult, Working, WorkingQuery};
use loci_store::tier::{ProcessTier, RedisTier, Tier, TierOptions};
use loci_testkit::servers;
use loci_types::{ErrorKind, Role};
use serde_json::json;

use crate::house::{House, in_session, user};

fn agent(name: &str, slug: &str) -> Caller {
    let mut caller = user(name);
    caller.identifiers.agent_id = Some(slug.to_owned());
    caller
}

fn said(content: impl Into<String>) -> NewMessage {
    NewMessage { content: content.into(), role: Some("user".to_owned()), ..NewMessage::default() }
}

async fn append(engine: &Engine, caller: &Caller, content: &str) {
    let appended = engine.append(caller, said(content)).await.unwrap();
    assert_eq!(appended.degraded, [] as [&str; 0], "{content}");
}

async fn messages(engine: &Engine, caller: &Caller) -> Vec<String> {
    engine.working(caller).await.unwrap().messages.iter().map(|message| message.content.clone()).collect()
}

fn bounded(working: Working) -> House {
    House::with(Config { working, ..Config::default() })
}

// Coverage: S2.26, S4.20.
#[tokio::test]
async fn what_is_put_before_an_agent_is_read_in_order() {
    let house = House::new();
    let engine = &house.engine;
    let ana = agent("ana", "tutor");
    let before = engine.working(&ana).await.unwrap();
    append(engine, &ana, "one").await;
    append(engine, &ana, "hello world").await;
    for content in [json!("21 degrees"), json!({ "celsius": 22 })] {
        let result = NewToolResult { call_id: "c1".into(), content, ..NewToolResult::default() };
        engine.put_tool_result(&ana, result).await.unwrap();
    }
    engine.set_scratchpad(&ana, "first this").await.unwrap();
    engine.set_scratchpad(&ana, "then that").await.unwrap();
    let now = engine.working(&ana).await.unwrap();
    assert_eq!(messages(engine, &ana).await, ["one", "hello world"]);
    assert_eq!((now.tokens(), &*now.scratchpad), (3, "then that"));
    assert_eq!(now.tool_results.len(), 1);
    assert_eq!(now.tool_results["c1"].content, json!({ "celsius": 22 }));
    assert!(before.messages.is_empty(), "a snapshot stays as it was");
    // Nobody else has it before them: another user, agent, or session.
    let mut other = ana.clone();
    other.identifiers.session_id = Some("s".into());
    for stranger in [agent("bo", "tutor"), agent("ana", "cook"), user("ana"), other] {
        assert!(messages(engine, &stranger).await.is_empty(), "{stranger:?}");
    }
    engine.clear_working(&ana).await.unwrap();
    assert!(messages(engine, &ana).await.is_empty());
    assert!(engine.working(&ana).await.unwrap().tool_results.is_empty());
}

/// A credential that is bound to a session neither reads nor writes what belongs to the other sessions of its user, and
/// what its bearer appends keeps nobody else's messages from being stored.
#[tokio::test]
async fn a_credential_of_a_session_reaches_its_own_working_memory_alone() {
    let house = House::new();
    let (engine, ana) = (&house.engine, user("ana"));
    let bound = Caller { sessions: ["tuesday".to_owned()].into(), ..user("ana") };
    let monday = |content: &str| NewMessage { thread_id: Some("monday".into()), ..said(content) };
    house.say(&ana, "monday", "user", "Ana talks about the move").await;
    engine.append(&ana, monday("Ana plans a surprise")).await.unwrap();
    assert!(messages(engine, &bound).await.is_empty());
    let refused = engine.append(&bound, monday("forged")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unauthorized, "{refused}");
    append(engine, &bound, "its own").await;
    assert_eq!(messages(engine, &bound).await, ["its own"]);
    assert_eq!(messages(engine, &in_session("ana", "tuesday")).await, ["its own"], "it is that of its session");
    assert_eq!(messages(engine, &ana).await, ["Ana plans a surprise"]);
    assert_eq!(engine.flush_working(&ana).await.unwrap(), 1);
    assert_eq!(engine.flush_working(&bound).await.unwrap(), 1);
    let several = Caller { sessions: ["tuesday".to_owned(), "friday".to_owned()].into(), ..user("ana") };
    assert_eq!(engine.working(&several).await.unwrap_err().kind(), ErrorKind::MissingIdentifier);
}

#[tokio::test]
async fn what_cannot_be_put_in_is_named() {
    let house = House::new();
    let (engine, ana) = (&house.engine, user("ana"));
    for (new, field) in [
        (said(""), "content"),
        (said("a\0b"), "content"),
        (NewMessage { role: Some("king".into()), ..said("x") }, "role"),
        (NewMessage { thread_id: Some(" ".into()), ..said("x") }, "threadId"),
        (NewMessage { embedding: Some(vec![1.0; 3]), ..said("x") }, "embedding"),
        (NewMessage { embedding: Some(vec![f32::NAN; 256]), ..said("x") }, "embedding"),
    ] {
        let error = engine.append(&ana, new.clone()).await.unwrap_err();
        assert_eq!(error.problem("x").details["field"], field, "{new:?}");
    }
    let nameless = NewToolResult { content: json!(1), ..NewToolResult::default() };
    assert_eq!(engine.put_tool_result(&ana, nameless).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    assert!(messages(engine, &ana).await.is_empty());
    // A secret is masked before anybody has it.
    let key = format!("my key is AK{}", "IAIOSFODNN7EXAMPLE");
    assert_eq!(engine.append(&ana, said(key)).await.unwrap().redacted, ["secret"]);
    assert_eq!(messages(engine, &ana).await, ["my key is [secret]"]);
    // A reader does not write; a caller with some categories sees nothing of it; a caller without identifiers gets an
    // error.
    let reader = Caller { role: Role::Reader, ..ana.clone() };
    assert_eq!(engine.append(&reader, said("x")).await.unwrap_err().kind(), ErrorKind::Unauthorized);
    assert_eq!(messages(engine, &reader).await.len(), 1);
    let narrow = Caller { categories: Some(["work".to_owned()].into()), ..ana };
    assert_eq!(engine.working(&narrow).await.unwrap_err().kind(), ErrorKind::Unauthorized);
    assert_eq!(engine.working(&Caller::operator()).await.unwrap_err().kind(), ErrorKind::MissingIdentifier);
}

// Coverage: S4.21.
#[tokio::test]
async fn too_many_tokens_become_turns_in_order() {
    let house = bounded(Working { flush_tokens: 60, ..Working::default() });
    let (engine, ana) = (&house.engine, in_session("ana", "s1"));
    let all: Vec<String> = (0..40).map(|number| format!("message {number} of many")).collect();
    let mut flushed = 0;
    for content in &all {
        flushed += engine.append(&ana, said(content)).await.unwrap().flushed;
        assert!(engine.working(&ana).await.unwrap().tokens() <= 60, "{content}");
    }
    let (turns, left) = (house.turns(&ana).await, messages(engine, &ana).await);
    assert_eq!(turns.len(), flushed);
    assert!(!turns.is_empty() && !left.is_empty(), "{} {}", turns.len(), left.len());
    assert_eq!([turns, left].concat(), all);
    assert_eq!(engine.flush_working(&ana).await.unwrap(), 40 - flushed);
    assert_eq!(house.turns(&ana).await, all);
}

// Coverage: S4.21.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_lost_or_doubled_while_many_append_and_flush() {
    let house = bounded(Working { flush_tokens: 80, ..Working::default() });
    let (engine, ana) = (Arc::new(house.neighbour()), in_session("ana", "s1"));
    let appending = (0..8).map(|task| {
        let (engine, ana) = (engine.clone(), ana.clone());
        tokio::spawn(async move {
            for number in 0..25 {
                append(&engine, &ana, &format!("task {task} says {number:02}")).await;
            }
        })
    });
    let flushing = (0..2).map(|_| {
        let (engine, ana) = (engine.clone(), ana.clone());
        tokio::spawn(async move {
            for _ in 0..10 {
                engine.flush_working(&ana).await.unwrap();
                tokio::task::yield_now().await;
            }
        })
    });
    let tasks: Vec<_> = appending.chain(flushing).collect();
    for task in tasks {
        task.await.unwrap();
    }
    engine.flush_working(&ana).await.unwrap();
    assert!(messages(&engine, &ana).await.is_empty());
    let turns = house.turns(&ana).await;
    assert_eq!(turns.len(), 200);
    for task in 0..8 {
        let own: Vec<&String> = turns.iter().filter(|turn| turn.starts_with(&format!("task {task} "))).collect();
        let expect: Vec<String> = (0..25).map(|number| format!("task {task} says {number:02}")).collect();
        assert_eq!(own, expect.iter().collect::<Vec<_>>());
    }
}

// Coverage: S4.21.
#[tokio::test]
async fn a_flush_that_fails_keeps_what_it_could_not_write() {
    let house = bounded(Working { flush_tokens: 15, ..Working::default() });
    let (engine, ana) = (&house.engine, in_session("ana", "s1"));
    house.say(&ana, "s1", "user", "The store is there.").await;
    house.break_at("poison");
    for content in ["one two three four", "five six seven", "some poison here", "eight nine ten eleven"] {
        append(engine, &ana, content).await;
    }
    let receipt = engine.append(&ana, said("twelve thirteen fourteen fifteen sixteen")).await.unwrap();
    assert_eq!((receipt.flushed, receipt.degraded.len()), (0, 1), "{receipt:?}");
    assert!(receipt.degraded[0].starts_with("flush: "), "{receipt:?}");
    let left = messages(engine, &ana).await;
    assert_eq!(left.len(), 3, "what is durable has gone, the rest is there: {left:?}");
    assert_eq!(left[0], "some poison here");
    assert!(engine.flush_working(&ana).await.is_err());
    append(engine, &user("bo"), "another is not troubled").await;
    house.heal();
    assert_eq!(engine.flush_working(&ana).await.unwrap(), 3);
    let turns = house.turns(&ana).await;
    assert_eq!(turns.len(), 6);
    assert_eq!(turns[1..4], ["one two three four", "five six seven", "some poison here"]);
}

// Coverage: S4.21.
#[tokio::test]
async fn two_who_flush_the_same_message_make_one_turn_of_it() {
    let tier: Arc<dyn Tier> = Arc::new(ProcessTier::new(TierOptions::default(), 1 << 20));
    let house = House::new().with_tier(tier.clone());
    let other = house.neighbour().with_tier(tier);
    let ana = in_session("ana", "s1");
    for content in ["one", "two", "three"] {
        append(&house.engine, &ana, content).await;
    }
    house.engine.flush().await;
    assert_eq!(messages(&other, &ana).await, ["one", "two", "three"], "read back by another process");
    append(&other, &ana, "four").await;
    assert_eq!(house.engine.flush_working(&ana).await.unwrap(), 3);
    // Ids of two processes are in order only if their times are.
    house.after(SignedDuration::from_secs(1));
    assert_eq!(other.flush_working(&ana).await.unwrap(), 4);
    assert_eq!(house.turns(&ana).await, ["one", "two", "three", "four"]);
}

// Coverage: S4.20.
#[tokio::test]
async fn the_one_used_longest_ago_is_kept_as_turns_and_goes() {
    let house = bounded(Working { agents: 2, ..Working::default() });
    let engine = &house.engine;
    append(engine, &user("ana"), "of ana").await;
    append(engine, &user("bo"), "of bo").await;
    engine.working(&user("ana")).await.unwrap();
    append(engine, &user("cy"), "of cy").await;
    assert_eq!(house.turns(&user("bo")).await, ["of bo"], "ana was used since");
    assert!(messages(engine, &user("bo")).await.is_empty());
    assert_eq!(messages(engine, &user("ana")).await, ["of ana"]);
    assert_eq!(messages(engine, &user("cy")).await, ["of cy"]);
    assert!(house.turns(&user("ana")).await.is_empty());
}

// Coverage: S4.20.
#[tokio::test]
async fn too_many_bytes_send_away_the_one_used_longest_ago() {
    let house = bounded(Working { bytes: 10_000, ..Working::default() });
    let engine = &house.engine;
    let large = |number: usize| format!("{number} {}", "word ".repeat(500));
    for number in 0..6 {
        append(engine, &user(&format!("user{number}")), &large(number)).await;
    }
    for number in 0..6 {
        let name = user(&format!("user{number}"));
        let (kept, here) = (house.turns(&name).await.len(), messages(engine, &name).await.len());
        assert_eq!((kept, here), if number < 3 { (1, 0) } else { (0, 1) }, "{number}");
    }
    // One alone may not grow beyond it: what it said is kept, and what fits nowhere is refused.
    for number in 0..8 {
        append(engine, &user("solo"), &large(number)).await;
    }
    assert_eq!(house.turns(&user("solo")).await.len() + messages(engine, &user("solo")).await.len(), 8);
    let huge = NewToolResult { call_id: "c".into(), content: json!("x".repeat(20_000)), ..NewToolResult::default() };
    assert_eq!(engine.put_tool_result(&user("solo"), huge).await.unwrap_err().kind(), ErrorKind::RateLimited);
}

// Coverage: S4.20.
#[tokio::test]
async fn idle_working_memory_is_stored_as_turns() {
    let house = House::new();
    let engine = &house.engine;
    append(engine, &user("ana"), "of ana").await;
    append(engine, &user("bo"), "of bo").await;
    engine.set_scratchpad(&user("bo"), "notes").await.unwrap();
    house.after(SignedDuration::from_mins(20));
    assert_eq!(messages(engine, &user("ana")).await.len(), 1, "reading is use");
    house.after(SignedDuration::from_mins(29));
    assert!(messages(engine, &user("bo")).await.is_empty(), "49 minutes is too long");
    assert_eq!(&*engine.working(&user("bo")).await.unwrap().scratchpad, "");
    assert_eq!(house.turns(&user("bo")).await, ["of bo"]);
    assert!(house.turns(&user("ana")).await.is_empty());
    // Without anyone asking, too.
    house.after(SignedDuration::from_mins(60));
    engine.tidy_working().await;
    assert_eq!(house.turns(&user("ana")).await, ["of ana"]);
}

#[tokio::test]
async fn what_is_left_at_the_end_is_kept_as_turns() {
    let house = House::new();
    append(&house.engine, &user("ana"), "goodbye").await;
    house.engine.close().await;
    assert_eq!(house.turns(&user("ana")).await, ["goodbye"]);
}

fn redis() -> Option<impl Fn() -> Arc<dyn Tier>> {
    let url = servers::redis()?;
    // A busy machine does not count as an unavailable server.
    let deadline = Duration::from_secs(10);
    let prefix = format!("loci-test-{}", uuid::Uuid::new_v4());
    let options = TierOptions { prefix, deadline, ..TierOptions::default() };
    Some(move || Arc::new(RedisTier::new(&url, options.clone()).unwrap()) as Arc<dyn Tier>)
}

// Coverage: S2.26.
#[tokio::test]
async fn working_memory_outlives_its_process_in_redis() {
    let Some(tier) = redis() else { return };
    let house = House::new().with_tier(tier());
    let ana = agent("ana", "tutor");
    let engine = &house.engine;
    append(engine, &ana, "one").await;
    let near = NewMessage { embed: true, ..said("the violin concerto") };
    engine.append(&ana, near).await.unwrap();
    for content in [json!("old"), json!([1, { "a": null }])] {
        let result = NewToolResult { call_id: "c1".into(), content, ..NewToolResult::default() };
        engine.put_tool_result(&ana, result).await.unwrap();
    }
    engine.set_scratchpad(&ana, "old notes").await.unwrap();
    engine.set_scratchpad(&ana, "notes").await.unwrap();
    let before = engine.working(&ana).await.unwrap();
    engine.close().await;
    let next = house.neighbour().with_tier(tier());
    let after = next.working(&ana).await.unwrap();
    let contents = |memory: &loci_engine::WorkingMemory| {
        let contents = |message: &Arc<loci_engine::WorkingMessage>| (message.id, message.content.clone(), message.at);
        memory.messages.iter().map(contents).collect::<Vec<_>>()
    };
    assert_eq!(contents(&after), contents(&before));
    assert_eq!((&*after.scratchpad, &after.tool_results["c1"].content), ("notes", &json!([1, { "a": null }])));
    let asked = WorkingQuery { query: "violin concerto".into(), ..WorkingQuery::default() };
    let hits = next.query_working(&ana, asked).await.unwrap();
    assert_eq!(
        (hits[0].found_by, hits[0].message.as_ref().unwrap().content.as_str()),
        (FoundBy::Similarity, "the violin concerto")
    );
    // What became turns does not come back; what is new comes after it.
    assert_eq!(next.flush_working(&ana).await.unwrap(), 2);
    append(&next, &ana, "three").await;
    next.close().await;
    let last = house.neighbour().with_tier(tier());
    assert_eq!(messages(&last, &ana).await, ["three"]);
    assert_eq!(&*last.working(&ana).await.unwrap().scratchpad, "notes");
    last.clear_working(&ana).await.unwrap();
    let cleared = house.neighbour().with_tier(tier());
    assert!(messages(&cleared, &ana).await.is_empty());
    assert_eq!(house.turns(&ana).await, ["one", "the violin concerto"]);
}

// Coverage: S2.26.
#[tokio::test]
async fn an_unavailable_tier_blocks_nobody_and_is_reported() {
    let tier = RedisTier::new("redis://127.0.0.1:1", TierOptions::default()).unwrap();
    let house = House::new().with_tier(Arc::new(tier));
    let (engine, ana) = (&house.engine, user("ana"));
    for content in ["one", "two"] {
        engine.append(&ana, said(content)).await.unwrap();
    }
    assert_eq!(messages(engine, &ana).await, ["one", "two"]);
    engine.flush().await;
    let view = engine.working_view(&ana).await.unwrap();
    assert!(view.degraded[0].starts_with("tier: redis"), "{:?}", view.degraded);
    assert_eq!(engine.flush_working(&ana).await.unwrap(), 2);
    // What must not come back is not said to be gone.
    assert_eq!(engine.clear_working(&ana).await.unwrap_err().kind(), ErrorKind::Provider);
}

async fn erased_everywhere(tier: impl Fn() -> Arc<dyn Tier>) {
    let house = House::new().with_tier(tier());
    let other = house.neighbour().with_tier(tier());
    let (here, there, third) = (agent("ana", "tutor"), agent("ana", "cook"), in_session("ana", "s"));
    append(&house.engine, &here, "in this process").await;
    append(&other, &there, "in another process").await;
    append(&other, &user("bo"), "of bo").await;
    other
        .put_entry(&third, "s", loci_engine::NewEntry { content: "an entry".into(), ..Default::default() })
        .await
        .unwrap();
    house.engine.flush().await;
    other.flush().await;
    // The clock moves, so that what was said before is older than the erasure.
    house.after(SignedDuration::from_secs(1));
    let erased = house.engine.erase_working(&Caller::operator(), "ana").await.unwrap();
    assert_eq!((erased.working, erased.tier), (1, 3));
    assert!(messages(&house.engine, &here).await.is_empty());
    // Another process still holds something, and drops it instead of keeping it.
    assert_eq!(other.flush_working(&there).await.unwrap(), 0);
    assert!(messages(&other, &there).await.is_empty());
    assert!(other.entries(&third, "s", 0, None).await.unwrap().is_empty());
    assert!(house.turns(&there).await.is_empty() && house.turns(&user("ana")).await.is_empty());
    assert_eq!(messages(&house.neighbour().with_tier(tier()), &user("bo")).await, ["of bo"]);
    // Nobody erases another.
    let error = house.engine.erase_working(&user("bo"), "ana").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
}

#[tokio::test]
async fn a_user_is_erased_from_what_agents_have_before_them() {
    let tier: Arc<dyn Tier> = Arc::new(ProcessTier::new(TierOptions::default(), 1 << 20));
    erased_everywhere(|| tier.clone()).await;
}

#[tokio::test]
async fn a_user_is_erased_from_redis() {
    let Some(tier) = redis() else { return };
    erased_everywhere(tier).await;
}

// Coverage: S2.26.
#[tokio::test]
async fn what_is_about_the_question_is_found() {
    let house = House::new();
    let (engine, ana) = (&house.engine, user("ana"));
    for (content, embed) in
        [("the violin needs new strings", true), ("the weather was fine", true), ("a violin lesson on Friday", false)]
    {
        engine.append(&ana, NewMessage { embed, ..said(content) }).await.unwrap();
    }
    let result = NewToolResult {
        call_id: "shop".into(),
        content: json!({ "violin strings": "in stock" }),
        embed: true,
        ..NewToolResult::default()
    };
    engine.put_tool_result(&ana, result).await.unwrap();
    let ask = |limit| WorkingQuery { query: "violin strings".into(), limit, ..WorkingQuery::default() };
    let hits = engine.query_working(&ana, ask(None)).await.unwrap();
    let found: Vec<(FoundBy, bool)> = hits.iter().map(|hit| (hit.found_by, hit.tool_result.is_some())).collect();
    assert!(found.contains(&(FoundBy::Words, false)) && found.contains(&(FoundBy::Similarity, true)), "{found:?}");
    assert!(hits.windows(2).all(|pair| pair[0].score >= pair[1].score));
    assert_eq!(engine.query_working(&ana, ask(Some(1))).await.unwrap().len(), 1);
    house.model(false);
    let hits = engine.query_working(&ana, ask(None)).await.unwrap();
    assert!(hits.iter().all(|hit| hit.found_by == FoundBy::Words), "without a model by words");
    assert_eq!(hits.len(), 3);
    for limit in [0, 1_002] {
        assert_eq!(engine.query_working(&ana, ask(Some(limit))).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    // What was kept as turns is not before the agent any more.
    engine.flush_working(&ana).await.unwrap();
    house.model(true);
    let hits = engine.query_working(&ana, ask(None)).await.unwrap();
    assert!(hits.iter().all(|hit| hit.message.is_none()), "{hits:?}");
    tokio::time::timeout(Duration::from_secs(5), engine.flush()).await.unwrap();
}
