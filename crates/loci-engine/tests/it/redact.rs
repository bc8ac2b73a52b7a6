//! Tests that secrets are masked or refused by every operation that writes.

use loci_engine::{Caller, Config, NewMemory, Redaction, Turn, Update};
use loci_types::{ErrorKind, MemoryId, Outcome, Source};
use serde_json::json;

use crate::house::{House, new, user};

const CARD: &str = "4111 1111 1111 1111";

fn refusing() -> House {
    let redaction = Redaction { mask: vec!["secret".into()], refuse: vec!["card".into()], ..Redaction::default() };
    House::with(Config { redaction, ..Config::default() })
}

/// Whether anything that is kept of a memory, or was, holds the text.
async fn leaks(house: &House, caller: &Caller, id: MemoryId, text: &str) -> bool {
    let memory = house.engine.get(caller, id).await.unwrap();
    let history = house.engine.history(caller, id, 100).await.unwrap();
    let kept = json!([memory, history]).to_string();
    kept.contains(text)
}

// Coverage: SPEC-5.4.
#[tokio::test]
async fn a_secret_is_masked_on_every_way_in() {
    let house = House::new();
    let ana = user("ana");
    let text = "The alarm panel has password=hunter2secret";
    let filled = NewMemory {
        tags: vec!["password=hunter2secret".into()],
        category: Some("password=hunter2secret".into()),
        metadata: json!({ "deep": { "apiKey": "hunter2secret" } }).as_object().unwrap().clone(),
        source: Some(Source { kind: "manual".into(), role: None, reference: Some("token=hunter2secret".into()) }),
        ..new(text)
    };
    let receipt = house.engine.remember(&ana, filled).await.unwrap();
    assert_eq!((receipt.event, receipt.redacted.as_slice()), (Outcome::Created, &["secret".to_owned()][..]));
    let id = receipt.id;
    let memory = house.engine.get(&ana, id).await.unwrap();
    assert_eq!(memory.content, "The alarm panel has password=[secret]");
    assert_eq!(memory.content_hash, loci_engine::content_hash(&memory.content));
    assert_eq!(memory.tags, ["password=[secret]"]);
    assert_eq!(memory.metadata["deep"]["apiKey"], "[secret]");
    assert_eq!(memory.source.unwrap().reference.as_deref(), Some("token=[secret]"));
    assert!(!leaks(&house, &ana, id, "hunter2").await);
    // Another secret in its place says the same, and the receipt still tells that something was masked.
    let again = house.engine.remember(&ana, new("The alarm panel has password=other7")).await.unwrap();
    assert_eq!((again.event, again.redacted.len()), (Outcome::None, 1));

    let change = Update { content: Some(format!("The alarm panel was paid with {CARD}")), ..Update::default() };
    let receipt = house.engine.update(&ana, id, change).await.unwrap();
    assert_eq!(receipt.redacted, ["card"]);
    assert!(!leaks(&house, &ana, id, "1111 1111").await);

    let why = Some("the old one was password=hunter2secret");
    let receipt = house.engine.correct(&ana, id, &format!("The alarm panel costs {CARD}"), why).await.unwrap();
    assert_eq!(receipt.redacted, ["card"]);
    assert!(!leaks(&house, &ana, receipt.id, "1111 1111").await && !leaks(&house, &ana, receipt.id, "hunter2").await);
    assert!(!leaks(&house, &ana, id, "hunter2").await);

    let receipt = house.engine.supersede(&ana, receipt.id, new("The alarm panel has token=xyz123")).await.unwrap();
    assert_eq!(receipt.redacted, ["secret"]);
    assert!(!leaks(&house, &ana, receipt.id, "xyz123").await);

    let turn = Turn { thread_id: "t".into(), content: format!("my card is {CARD}, ok?"), ..Turn::default() };
    let receipts = house.engine.ingest(&ana, turn).await.unwrap();
    assert_eq!(receipts[0].redacted, ["card"]);
    assert_eq!(house.engine.get(&ana, receipts[0].id).await.unwrap().content, "my card is [card], ok?");

    for secret in ["hunter2secret", "4111"] {
        let found = house.recall(&ana, secret).await;
        assert!(found.iter().all(|content| !content.contains(secret)), "{found:?}");
    }
    assert_eq!(house.remember(&ana, "Ana likes tea").await.redacted, Vec::<String>::new());
}

#[tokio::test]
async fn a_secret_is_not_cut_in_two_by_a_long_turn() {
    let house = House::new();
    // The cut falls between the word and what it gives away.
    let content = format!("{}password is hunter2secret {}", "word ".repeat(1_636), "word ".repeat(400));
    let turn = Turn { thread_id: "t".into(), content, ..Turn::default() };
    let receipts = house.engine.ingest(&user("ana"), turn).await.unwrap();
    assert!(receipts.len() > 1);
    for receipt in receipts {
        assert!(!leaks(&house, &user("ana"), receipt.id, "hunter2").await);
    }
}

#[tokio::test]
async fn records_from_elsewhere_are_masked_too() {
    let (house, open) = (House::new(), House::with(open()));
    let ana = user("ana");
    let new = NewMemory { tags: vec!["password=hunter2".into()], ..new(&format!("paid with {CARD}")) };
    let record = open.engine.draft(&ana, new, None).unwrap();
    assert!(record.content.contains(CARD), "nothing is masked where nothing is to be");
    assert_eq!(house.engine.import_many(&ana, vec![record.clone()]).await.unwrap(), [Outcome::Created]);
    let memory = house.engine.get(&ana, record.id).await.unwrap();
    assert_eq!((memory.content.as_str(), memory.tags[0].as_str()), ("paid with [card]", "password=[secret]"));
    assert_eq!(memory.content_hash, loci_engine::content_hash(&memory.content));
    assert_eq!(memory.tokens, loci_engine::estimate_tokens(&memory.content));
    // Line by line, it is refused before anything is kept.
    let strict = refusing();
    assert_eq!(strict.engine.check_record(&ana, &record).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(strict.engine.import_many(&ana, vec![record]).await.unwrap_err().kind(), ErrorKind::InvalidInput);
}

fn open() -> Config {
    Config { redaction: Redaction { mask: Vec::new(), ..Redaction::default() }, ..Config::default() }
}

// Coverage: SPEC-5.4.
#[tokio::test]
async fn what_is_refused_leaves_nothing_behind() {
    let house = refusing();
    let ana = user("ana");
    let id = house.remember(&ana, "The lamp is red").await.id;
    let text = format!("The lamp was paid with {CARD}");
    let filled = |change: fn(&mut NewMemory)| {
        let mut new = new("The lamp is green");
        change(&mut new);
        new
    };
    let engine = &house.engine;
    let update = Update { content: Some(text.clone()), ..Update::default() };
    let turn = Turn { thread_id: "t".into(), content: text.clone(), ..Turn::default() };
    for (error, field) in [
        (engine.remember(&ana, new(&text)).await.unwrap_err(), "content"),
        (engine.remember(&ana, filled(|new| new.tags = vec![CARD.into()])).await.unwrap_err(), "tags"),
        (engine.remember(&ana, filled(|new| new.category = Some(CARD.into()))).await.unwrap_err(), "category"),
        (
            engine
                .remember(&ana, filled(|new| drop(new.metadata.insert("a".into(), json!([CARD])))))
                .await
                .unwrap_err(),
            "metadata",
        ),
        (engine.ingest(&ana, turn).await.unwrap_err(), "content"),
        (engine.update(&ana, id, update).await.unwrap_err(), "content"),
        (engine.correct(&ana, id, &text, None).await.unwrap_err(), "content"),
        (engine.supersede(&ana, id, new(&text)).await.unwrap_err(), "content"),
        (engine.draft(&ana, new(&text), None).unwrap_err(), "content"),
    ] {
        let problem = error.problem("x");
        assert_eq!((error.kind(), &problem.details["field"]), (ErrorKind::InvalidInput, &json!(field)));
        assert!(problem.message.contains("`card`") && !json!(problem).to_string().contains("1111 1111"), "{problem:?}");
    }
    assert_eq!(house.recall(&ana, "lamp").await, ["The lamp is red"]);
    assert_eq!(house.engine.history(&ana, id, 10).await.unwrap().events.len(), 1);
}

#[tokio::test]
async fn what_the_house_learns_keeps_to_the_rules() {
    // The turn was said before anyone minded; what is learned from it later is masked, not refused.
    let before = House::with(open());
    let ana = crate::house::in_session("ana", "s1");
    before.say(&ana, "t", "user", &format!("I live in Porto. I have the card {CARD} since May.")).await;
    let redaction = Redaction { mask: Vec::new(), refuse: vec!["card".into()], ..Redaction::default() };
    let after = before.reopened(Config { redaction, ..Config::default() });
    after.engine.end_session(&ana, "s1").await.unwrap();
    let worked = after.engine.work(&Caller::operator(), &[], 100).await.unwrap();
    assert!(worked.done > 0 && worked.failed == 0, "{worked:?}");
    let known = after.engine.list(&ana, loci_engine::ListRequest::default()).await.unwrap().memories;
    let learned: Vec<_> = known.iter().filter(|memory| memory.kind.name() != "episodic").collect();
    assert!(learned.iter().all(|memory| !memory.content.contains("1111 1111")), "{learned:#?}");
}

#[tokio::test]
async fn nul_characters_are_refused_by_the_field() {
    let house = House::new();
    let ana = user("ana");
    let nul = || "a\0b".to_owned();
    let source = |kind: &str, role: Option<String>, reference: Option<String>| {
        Some(Source { kind: kind.to_owned(), role, reference })
    };
    let some = Some(nul());
    let base = || new("The lamp is red");
    let object = |value: serde_json::Value| value.as_object().unwrap().clone();
    for (new, field) in [
        (new("a\0b"), "content"),
        (NewMemory { tags: vec![nul()], ..base() }, "tags"),
        (NewMemory { category: some.clone(), ..base() }, "category"),
        (NewMemory { metadata: object(json!({ "a": [{ "b": "a\0b" }] })), ..base() }, "metadata"),
        (NewMemory { metadata: object(json!({ "a\0b": 1 })), ..base() }, "metadata"),
        (NewMemory { source: source("a\0b", None, None), ..base() }, "source.type"),
        (NewMemory { source: source("manual", some.clone(), None), ..base() }, "source.role"),
        (NewMemory { source: source("manual", None, some.clone()), ..base() }, "source.reference"),
        (NewMemory { thread_id: some.clone(), ..base() }, "threadId"),
        (NewMemory { run_id: some.clone(), ..base() }, "runId"),
        (NewMemory { actor_id: some.clone(), ..base() }, "actorId"),
        (NewMemory { role: some.clone(), ..base() }, "role"),
    ] {
        let error = house.engine.remember(&ana, new).await.unwrap_err();
        let problem = error.problem("x");
        assert_eq!((error.kind(), &problem.details["field"]), (ErrorKind::InvalidInput, &json!(field)), "{problem:?}");
    }
    let id = house.remember(&ana, "The lamp is red").await.id;
    for (update, field) in [
        (Update { category: Some(some.clone()), ..Update::default() }, "category"),
        (Update { tags: Some(vec![nul()]), ..Update::default() }, "tags"),
        (Update { source: Some(source("manual", None, some.clone())), ..Update::default() }, "source.reference"),
        (Update { metadata: Some(object(json!({ "a": "\0" }))), ..Update::default() }, "metadata"),
    ] {
        let error = house.engine.update(&ana, id, update).await.unwrap_err();
        assert_eq!(error.problem("x").details["field"], field);
    }
    let mut record = house.engine.get(&ana, id).await.unwrap();
    record.actor_id = some.clone();
    assert_eq!(house.engine.check_record(&ana, &record).await.unwrap_err().problem("x").details["field"], "actorId");
    let turn = Turn { thread_id: nul(), content: "x".into(), ..Turn::default() };
    assert_eq!(house.engine.ingest(&ana, turn).await.unwrap_err().problem("x").details["field"], "threadId");
    let all = house.engine.list(&ana, loci_engine::ListRequest::default()).await.unwrap();
    assert_eq!(all.total_count, 1);
}
