//! Tests of learning from sessions: learning once, consent, names, causes, insights, summaries, a language model.

use std::time::Duration;

use loci_engine::summarize::SummaryStrategy;
use loci_engine::{Caller, Config, QueryRequest, Sessions, Summarization, SummarizeRequest, Update};
use loci_types::{ErrorKind, Filter, JobKind, Layer, Outcome, Relation, Right, SessionFilter, State};
use serde_json::json;
use wiremock::{MockServer, ResponseTemplate};

use crate::house::{House, ask, in_session, new, user};
use crate::llm::{answering, scripted};

fn operator() -> Caller {
    Caller::operator()
}

async fn texts(house: &House, caller: &Caller) -> Vec<String> {
    let mut texts: Vec<String> = house.known(caller).await.into_iter().map(|memory| memory.content).collect();
    texts.sort();
    texts
}

// Coverage: S0-1.4, S1.19, S1.20.
#[tokio::test]
async fn a_session_teaches_once() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    house.say(&ana, "t", "user", "Good morning!").await;
    let said = house.say(&ana, "t", "user", "I'm allergic to peanuts.").await;
    house.say(&ana, "t", "assistant", "Noted, no peanuts.").await;
    // A new session on the thread closes the old one and queues the learning, once.
    let next = in_session("ana", "s2");
    house.say(&next, "t", "user", "hi again").await;
    house.say(&next, "t", "user", "how are you?").await;
    house.engine.end_session(&ana, "s1").await.unwrap();
    let waiting = house.engine.jobs(&operator(), &["waiting"]).await.unwrap();
    assert_eq!(waiting.iter().filter(|job| job.kind == JobKind::Consolidate).count(), 1, "a double trigger is one job");
    house.engine.work(&operator(), &[], 100).await.unwrap();
    let known = house.known(&user("ana")).await;
    assert_eq!(known.len(), 1, "{known:#?}");
    let fact = &known[0];
    assert_eq!(fact.content, "I'm allergic to peanuts.");
    assert_eq!(loci_engine::reported(fact), "Ana, 2026-06-01: \"I'm allergic to peanuts.\"");
    assert_eq!((fact.identifiers.session_id.as_deref(), fact.category.as_deref()), (Some("s1"), Some("knowledge")));
    assert_eq!((fact.importance, fact.said_at.is_some()), (0.9, true));
    let source = fact.source.as_ref().unwrap();
    assert_eq!((source.kind.as_str(), source.reference.as_deref()), ("distillation", Some("s1")));
    let provenance = house.engine.explain(&ana, fact.id).await.unwrap();
    assert_eq!(provenance.sources.iter().map(|memory| memory.id).collect::<Vec<_>>(), [said]);
    // Again, by hand and by another process: nothing more.
    let scope = house.engine.sessions(&operator(), SessionFilter::default()).await.unwrap()[0].scope.clone();
    let again = house.engine.consolidate(&operator(), &scope, "s1").await.unwrap();
    assert_eq!(again.turns, 0);
    let other = house.neighbour();
    assert_eq!(other.consolidate(&operator(), &scope, "s1").await.unwrap().turns, 0);
    // What comes later is learned by itself.
    house.say(&ana, "t", "user", "My favourite colour is green.").await;
    house.end(&ana, "s1").await;
    assert_eq!(house.known(&user("ana")).await.len(), 2);
}

// Coverage: S1.20.
#[tokio::test]
async fn two_workers_learn_a_session_once() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    for n in 0..30 {
        house.say(&ana, "t", "user", &format!("My favourite number{n} is {n}.")).await;
    }
    let scope = house.engine.sessions(&operator(), SessionFilter::default()).await.unwrap()[0].scope.clone();
    let other = house.neighbour();
    let boss = operator();
    let (one, two) =
        futures::join!(house.engine.consolidate(&boss, &scope, "s1"), other.consolidate(&boss, &scope, "s1"));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!(one.turns + two.turns, 30, "{one:?} {two:?}");
    let all = texts(&house, &user("ana")).await;
    let mut distinct = all.clone();
    distinct.dedup();
    assert_eq!(all, distinct);
}

#[tokio::test]
async fn repeats_contradictions_and_corrections_within_a_session() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    for text in [
        "Our cluster has 3 nodes.",
        "btw our cluster has 3 nodes",
        "Our cluster has 5 nodes now.",
        "The API port is 8080.",
        "No wait, the API port is 4000, not 8080.",
        "haha ok thanks",
        "If I lived in Rome I would eat ice cream.",
    ] {
        house.say(&ana, "t", "user", text).await;
    }
    house.end(&ana, "s1").await;
    let known = texts(&house, &user("ana")).await;
    assert!(known.iter().any(|text| text.contains('5')), "{known:?}");
    assert!(!known.iter().any(|text| text.contains("has 3")), "{known:?}");
    assert!(known.iter().any(|text| text.contains("4000")), "{known:?}");
    assert!(!known.iter().any(|text| text.contains("Rome") || text.contains("haha")), "{known:?}");
    assert!(known.len() <= 3, "{known:?}");
}

// Coverage: SPEC-5.1.
#[tokio::test]
async fn what_recall_returned_is_not_learned_again() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    let fact = house.remember(&user("ana"), "Ana is allergic to peanuts").await.id;
    let query =
        QueryRequest { recall: ask("allergic peanuts"), thread_id: Some("t".into()), ..QueryRequest::default() };
    assert_eq!(house.engine.query(&ana, query).await.unwrap().cited, [fact]);
    house.engine.flush().await;
    let before = house.engine.history(&ana, fact, 100).await.unwrap().events.len();
    house.say(&ana, "t", "user", "Ana is allergic to peanuts.").await;
    house.end(&ana, "s1").await;
    assert_eq!(texts(&house, &user("ana")).await, ["Ana is allergic to peanuts"]);
    assert_eq!(house.engine.history(&ana, fact, 100).await.unwrap().events.len(), before, "no source, no signal");
    // Not on the way of `remember` either.
    let echo = |text: &str| loci_engine::NewMemory { thread_id: Some("t".into()), ..new(text) };
    assert_eq!(house.engine.remember(&ana, echo("ana is allergic to peanuts!")).await.unwrap().event, Outcome::None);
    // What says more is kept, whatever recall returned.
    for text in ["Ana is allergic to peanuts and cashews", "It is not true that Ana is allergic to peanuts"] {
        assert_eq!(house.engine.remember(&ana, echo(text)).await.unwrap().event, Outcome::Created, "{text}");
    }
}

// Coverage: S3-10.1.
#[tokio::test]
async fn sensitive_sides_wait_for_consent() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    house.say(&ana, "t", "user", "I live in Porto.").await;
    house.end(&ana, "s1").await;
    assert!(house.known(&user("ana")).await.is_empty(), "no sensitive change without consent");
    assert!(house.recall(&user("ana"), "Porto").await.is_empty(), "nor is the turn returned");
    let waiting = house.engine.proposals(&user("ana")).await.unwrap();
    assert_eq!(waiting.len(), 1);
    assert_eq!((waiting[0].asked.field.as_str(), waiting[0].asked.sensitive), ("city", true));
    assert!(house.engine.proposals(&user("bo")).await.unwrap().is_empty());
    let id = waiting[0].memory.id;
    assert_eq!(house.engine.accept(&user("bo"), id).await.unwrap_err().kind(), ErrorKind::NotFound);
    house.engine.accept(&user("ana"), id).await.unwrap();
    assert_eq!(house.known(&user("ana")).await[0].state, State::Active);
    let hits = house.engine.recall(&user("ana"), ask("Porto")).await.unwrap().hits;
    assert_eq!((hits.len(), hits[0].explain.sources.len()), (1, 1), "the memory, and its turn as its source");
    assert_eq!(house.engine.accept(&user("ana"), id).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    // A later city takes its place when it is accepted, and not before.
    let ana = in_session("ana", "s2");
    house.later(1);
    house.say(&ana, "t", "user", "I moved to Lisbon.").await;
    house.end(&ana, "s2").await;
    assert!(house.known(&user("ana")).await[0].content.contains("Porto"));
    let lisbon = house.engine.proposals(&user("ana")).await.unwrap()[0].memory.id;
    house.engine.accept(&user("ana"), lisbon).await.unwrap();
    let chain = house.engine.versions(&user("ana"), lisbon).await.unwrap().versions;
    assert_eq!(chain.iter().map(|memory| memory.id).collect::<Vec<_>>(), [id, lisbon]);
    let events = house.engine.history(&user("ana"), lisbon, 10).await.unwrap().events;
    assert!(events.iter().any(|line| line.event == "CONSENT" && line.reason.contains("consented")));
    // One that is rejected or lapses is never known.
    let ana = in_session("ana", "s3");
    house.say(&ana, "t", "user", "I moved to Faro.").await;
    house.end(&ana, "s3").await;
    let faro = house.engine.proposals(&user("ana")).await.unwrap()[0].memory.id;
    house.engine.reject(&user("ana"), faro, Some("private")).await.unwrap();
    assert!(house.engine.proposals(&user("ana")).await.unwrap().is_empty());
    assert_eq!(house.engine.get(&user("ana"), faro).await.unwrap().state, State::SoftDeleted);
}

/// Consent is a right of its own: no other change of a proposal stands for it.
#[tokio::test]
async fn nothing_else_decides_on_a_proposal() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    house.say(&ana, "t", "user", "I live in Porto.").await;
    house.end(&ana, "s1").await;
    let (ana, agent) = (user("ana"), Caller { rights: [Right::HardDelete].into(), ..user("ana") });
    let proposed = house.engine.proposals(&ana).await.unwrap()[0].memory.clone();
    let id = proposed.id;
    let text = || Update { content: Some("Ana lives in Faro.".into()), ..Update::default() };
    let mark =
        |value| Update { metadata: Some([("consent".to_owned(), value)].into_iter().collect()), ..Update::default() };
    let (engine, unauthorized) = (&house.engine, ErrorKind::Unauthorized);
    assert_eq!(engine.accept(&agent, id).await.unwrap_err().kind(), unauthorized);
    assert_eq!(engine.reject(&agent, id, None).await.unwrap_err().kind(), unauthorized);
    assert_eq!(engine.update(&agent, id, text()).await.unwrap_err().kind(), unauthorized, "what is accepted then");
    assert_eq!(engine.forget(&agent, id, None, None).await.unwrap_err().kind(), unauthorized, "that is to reject it");
    assert_eq!(engine.erase(&agent, id, None, None).await.unwrap_err().kind(), unauthorized);
    assert!(engine.pin(&agent, id, true).await.is_err());
    for value in [json!(null), json!({"field": "tea"})] {
        assert!(engine.update(&ana, id, mark(value)).await.is_err(), "the mark of a proposal cannot be taken off");
    }
    let space = engine.space_of(&ana).await.unwrap();
    for entry in engine.history(&ana, id, 10).await.unwrap().events {
        let _ = engine.undo(&agent, &space, entry.sequence).await;
    }
    assert_eq!(engine.get(&ana, id).await.unwrap().state, State::Proposed);
    assert_eq!(engine.get(&ana, id).await.unwrap().content, proposed.content);
    // What was rejected comes back neither by a restore nor by an undo.
    engine.reject(&ana, id, None).await.unwrap();
    assert_eq!(engine.restore(&ana, id).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    for entry in engine.history(&ana, id, 10).await.unwrap().events {
        let _ = engine.undo(&ana, &space, entry.sequence).await;
    }
    assert_eq!(engine.get(&ana, id).await.unwrap().state, State::SoftDeleted);
    assert!(house.recall(&ana, "Porto").await.is_empty());
}

// Coverage: S1.22.
#[tokio::test]
async fn names_and_aliases_are_resolved_and_can_be_parted() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    house.say(&ana, "t", "user", "My colleague Robert works at Fabrikam.").await;
    house.say(&ana, "t", "user", "Robert, aka Bob, prefers tea over coffee.").await;
    house.say(&ana, "t", "user", "I know that Bob is allergic to shrimp.").await;
    house.end(&ana, "s1").await;
    let robert = house.engine.entity(&user("ana"), "Bob").await.unwrap();
    assert!(
        robert.entity.canonical_name == "Robert" || robert.entity.aliases.contains(&"Robert".to_owned()),
        "{robert:#?}"
    );
    assert!(robert.memories.len() >= 2, "{robert:#?}");
    assert_eq!(house.engine.entity(&user("bo"), "Bob").await.unwrap_err().kind(), ErrorKind::NotFound);
    let fabrikam = house.engine.entity(&user("ana"), "Fabrikam").await.unwrap().entity;
    let union = house.engine.merge_entities(&user("ana"), "Robert", "Fabrikam").await.unwrap();
    assert!(union.aliases.contains(&"Fabrikam".to_owned()));
    assert_eq!(house.engine.entity(&user("ana"), "Fabrikam").await.unwrap().entity.id, union.id);
    house.engine.split_entity(&user("ana"), fabrikam.id, "Robert").await.unwrap();
    assert_eq!(house.engine.entity(&user("ana"), "Fabrikam").await.unwrap().entity.id, fabrikam.id);
}

#[tokio::test]
async fn nothing_is_guessed_at_without_a_language_model() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    let broke = house.say(&ana, "t", "user", "The certificate of the gateway ran out last night.").await;
    for text in ["The gateway refused every request.", "I'm so frustrated with the deployment again."] {
        house.say(&ana, "t", "user", text).await;
    }
    house.end(&ana, "s1").await;
    assert!(house.engine.edges(&ana, broke, &[Relation::Causal]).await.unwrap().is_empty());
    assert!(house.known(&user("ana")).await.iter().all(|memory| memory.kind.name() != "insight"));
    let scope = house.engine.sessions(&operator(), SessionFilter::default()).await.unwrap()[0].scope.clone();
    assert_eq!(house.engine.find_causes(&operator(), &scope, "s1").await.unwrap(), 0);
    assert_eq!(house.engine.find_insights(&operator(), &scope, "s1").await.unwrap(), 0);
}

// Coverage: S1.29, S3-3.1.
#[tokio::test]
async fn causes_and_insights_come_from_a_language_model() {
    let server = MockServer::start().await;
    let causes = json!({ "causes": [{ "pair": 1, "cause": "first" }] });
    let house = House::new().with_llm(scripted(&server, answering(&causes.to_string()), Duration::from_secs(5)).await);
    let ana = in_session("ana", "s1");
    let broke = house.say(&ana, "t", "user", "The certificate of the gateway ran out last night.").await;
    let fell = house.say(&ana, "t", "user", "The gateway refused every request.").await;
    let scope = house.engine.sessions(&operator(), SessionFilter::default()).await.unwrap()[0].scope.clone();
    assert_eq!(house.engine.find_causes(&operator(), &scope, "s1").await.unwrap(), 1);
    let edges = house.engine.edges(&ana, broke, &[Relation::Causal]).await.unwrap();
    assert_eq!(edges.iter().map(|edge| (edge.source_id, edge.target_id)).collect::<Vec<_>>(), [(broke, fell)]);
    assert_eq!(edges[0].confidence, 0.7);
    server.reset().await;
    let insight =
        json!({ "insights": [{ "summary": "Ana worries about the gateway.", "tags": ["worry"], "importance": 2 }] });
    crate::llm::mount(&server, answering(&insight.to_string())).await;
    assert_eq!(house.engine.find_insights(&operator(), &scope, "s1").await.unwrap(), 1);
    let known = house.known(&user("ana")).await;
    let found = known.iter().find(|memory| memory.kind.name() == "insight").expect("an insight");
    assert_eq!(found.category.as_deref(), Some("relationship_dynamic"));
    // Within a day a pair is not compared again; after it, it is.
    assert_eq!(house.engine.find_insights(&operator(), &scope, "s1").await.unwrap(), 0);
    house.later(2);
    assert_eq!(house.engine.find_insights(&operator(), &scope, "s1").await.unwrap(), 1);
}

#[tokio::test]
async fn what_is_over_the_daily_cap_is_learned_the_next_day() {
    let learning = loci_engine::LearningLimits { writes_per_user_per_day: 2, ..loci_engine::LearningLimits::default() };
    let house = House::with(Config { learning, ..Config::default() });
    let ana = in_session("ana", "s1");
    for text in
        ["My dog Rex is six.", "My cat Mo is two.", "My sister Marta has a horse.", "My brother Tom has a boat."]
    {
        house.say(&ana, "t", "user", text).await;
    }
    house.engine.end_session(&ana, "s1").await.unwrap();
    let worked = house.engine.work(&operator(), &[], 10).await.unwrap();
    assert_eq!((worked.done, worked.failed, worked.waiting), (0, 0, 1));
    assert_eq!(worked.learned.waits_until.map(|at| at.to_string()).as_deref(), Some("2026-06-02T00:00:00Z"));
    assert_eq!(house.known(&user("ana")).await.len(), 2);
    assert_eq!(house.engine.work(&operator(), &[], 10).await.unwrap(), loci_engine::JobRun::default(), "not before");
    house.later(1);
    house.engine.work(&operator(), &[], 10).await.unwrap();
    assert_eq!(house.known(&user("ana")).await.len(), 4);
}

#[tokio::test]
async fn a_session_is_learned_from_again_on_request() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    house.say(&ana, "t", "user", "My dog Rex is six years old.").await;
    house.end(&ana, "s1").await;
    let dog = house.known(&user("ana")).await[0].id;
    house.engine.forget(&user("ana"), dog, None, None).await.unwrap();
    house.engine.queue_learning(&user("ana"), "s1", true).await.unwrap();
    house.engine.work(&operator(), &[], 10).await.unwrap();
    assert_eq!(texts(&house, &user("ana")).await, ["My dog Rex is six years old."]);
    house.engine.queue_learning(&user("ana"), "s1", true).await.unwrap();
    house.engine.work(&operator(), &[], 10).await.unwrap();
    assert_eq!(house.known(&user("ana")).await.len(), 1, "what is known is not added twice");
    assert_eq!(house.engine.queue_learning(&user("bo"), "s1", true).await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn a_request_that_cannot_be_kept_is_reported() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    house.say(&ana, "t", "user", "Remember this").await;
    house.engine.end_session(&ana, "s1").await.unwrap();
    let worked = house.engine.work(&operator(), &[], 10).await.unwrap();
    assert_eq!(worked.learned.missed, ["Remember this"]);
    assert_eq!(house.engine.learned(&operator()).await.unwrap().unwrap().missed, 1);
    let events = house.engine.feed(&user("ana"), &loci_engine::FeedRequest::default()).await.unwrap();
    assert!(events.entries.iter().any(|entry| entry.event == "LEARN"), "{events:?}");
}

// Coverage: S0.3.
#[tokio::test]
async fn possible_contradictions_are_linked_shown_and_resolved() {
    let house = House::new();
    let ana = user("ana");
    let diet = house.remember(&ana, "Ana follows a keto diet").await.id;
    house.later(1);
    let vegan = house.remember(&ana, "Ana stopped the keto diet and eats vegan food now").await;
    assert_eq!(vegan.event, Outcome::Created, "both stay");
    let hits = house.engine.recall(&ana, ask("keto diet")).await.unwrap().hits;
    let old = hits.iter().find(|hit| hit.memory.id == diet).expect("it is still found");
    assert_eq!(old.newer.as_ref().map(|newer| newer.id), Some(vegan.id));
    assert!(old.text().contains("(newer: Ana stopped the keto diet"), "{}", old.text());
    assert_eq!(house.engine.explain(&ana, diet).await.unwrap().newer.map(|newer| newer.id), Some(vegan.id));
    let packed =
        house.engine.query(&ana, QueryRequest { recall: ask("keto diet"), ..QueryRequest::default() }).await.unwrap();
    assert!(packed.text.contains("(newer: "), "{}", packed.text);
    let stranger = house.engine.resolve(&user("bo"), diet, vegan.id, loci_engine::Keep::Newer).await.unwrap_err();
    assert_eq!(stranger.kind(), ErrorKind::InvalidInput);
    let itself = house.engine.resolve(&ana, diet, diet, loci_engine::Keep::Newer).await.unwrap_err();
    assert_eq!(itself.kind(), ErrorKind::InvalidInput, "one memory contradicts nothing");
    house.engine.resolve(&ana, diet, vegan.id, loci_engine::Keep::Newer).await.unwrap();
    assert_eq!(texts(&house, &ana).await, ["Ana stopped the keto diet and eats vegan food now"]);
    let chain = house.engine.versions(&ana, vegan.id).await.unwrap().versions;
    assert!(
        chain.iter().any(|memory| memory.id == diet)
            || house.engine.get(&ana, diet).await.unwrap().superseded_by_id == Some(vegan.id)
    );
}

#[tokio::test]
async fn what_was_settled_is_not_linked_again_in_the_night() {
    let house = House::new();
    let ana = user("ana");
    let nuts = house.remember(&ana, "Bob is allergic to nuts").await.id;
    house.later(1);
    let fine = house.remember(&ana, "Bob is not allergic to nuts").await.id;
    assert_eq!(house.engine.explain(&ana, nuts).await.unwrap().newer.map(|newer| newer.id), Some(fine));
    house.engine.resolve(&ana, nuts, fine, loci_engine::Keep::Both).await.unwrap();
    assert_eq!(house.engine.explain(&ana, nuts).await.unwrap().newer, None);
    let night = loci_engine::MaintainRequest { only: vec![loci_engine::MaintenanceStep::Dedup], ..Default::default() };
    house.engine.maintain(&operator(), night, |_| {}).await.unwrap();
    assert_eq!(house.engine.explain(&ana, nuts).await.unwrap().newer, None, "it was settled");
}

// Coverage: S4.14.
#[tokio::test]
async fn a_session_is_summarized_in_four_ways() {
    let rules = Summarization { threshold_tokens: 100, target_tokens: 60, ..Summarization::default() };
    let house = House::with(Config { summarization: rules, ..Config::default() });
    let ana = in_session("ana", "s1");
    for n in 0..30 {
        house
            .say(&ana, "t", "user", &format!("The harbour crane number {n} lifted {n} crates of oranges today."))
            .await;
    }
    for strategy in SummaryStrategy::ALL {
        let request = SummarizeRequest {
            session: Some("s1".into()),
            strategy: Some(*strategy),
            target_tokens: Some(60),
            ..SummarizeRequest::default()
        };
        let summary = house.engine.summarize(&ana, request).await.unwrap();
        assert!(!summary.text.is_empty() && summary.tokens_after <= 60 && !summary.used_llm, "{summary:?}");
        assert!(summary.tokens_saved > 0);
    }
    assert_eq!(house.engine.requested_summaries().runs, 4);
    // The session need not have ended.
    let only = || loci_engine::MaintainRequest {
        only: vec![loci_engine::MaintenanceStep::Summarize],
        ..loci_engine::MaintainRequest::default()
    };
    let summarized = async || house.engine.maintain(&operator(), only(), |_| {}).await.unwrap().steps[0].changes;
    assert_eq!(summarized().await, 1);
    assert_eq!(summarized().await, 0, "once");
    let learned = house.engine.learned(&operator()).await.unwrap().unwrap();
    assert!(learned.tokens_saved > 0 && learned.summaries == 1, "{learned:?}");
    // Nor has it ended with that: what comes later makes another summary, in the place of the first.
    for n in 30..60 {
        house.say(&ana, "t", "user", &format!("The harbour crane number {n} lifted {n} crates of lemons today.")).await;
    }
    assert_eq!(summarized().await, 1);
    house.end(&ana, "s1").await;
    assert_eq!(summarized().await, 0);
    let tagged = Filter { tags: vec!["summary".into()], ..Filter::at(house.engine.now()) };
    assert_eq!(house.engine.count(&ana, &tagged).await.unwrap(), 1);
    let none = SummarizeRequest { session: Some("nope".into()), ..SummarizeRequest::default() };
    assert_eq!(house.engine.summarize(&ana, none).await.unwrap_err().kind(), ErrorKind::NotFound);
}

// Coverage: S2.17.
#[tokio::test]
async fn what_matters_of_a_session_is_kept_for_its_user() {
    let sessions = Sessions { retention_days: 7, ..Sessions::default() };
    let house = House::with(Config { sessions, ..Config::default() });
    let ana = in_session("ana", "s1");
    house.say(&ana, "t", "user", "hello").await;
    let remember = |text: &str, importance| loci_engine::NewMemory {
        layer: Some(Layer::Session),
        importance: Some(importance),
        kind: Some("fact".into()),
        ..new(text)
    };
    house.engine.remember(&ana, remember("The demo uses the blue data set", 0.9)).await.unwrap();
    house.engine.remember(&ana, remember("The window was open", 0.2)).await.unwrap();
    // The session layer's own session: turns that lie there.
    let mut deep = ana.clone();
    deep.identifiers.session_id = Some("s1".into());
    let turn = loci_engine::Turn {
        thread_id: "t9".into(),
        content: "ok".into(),
        layer: Some(Layer::Session),
        ..Default::default()
    };
    house.engine.ingest(&deep, turn).await.unwrap();
    house.end(&ana, "s1").await;
    house.engine.work(&operator(), &[], 10).await.unwrap();
    let of_user = texts(&house, &user("ana")).await;
    assert_eq!(of_user, ["The demo uses the blue data set"]);
    house.later(40);
    let request =
        loci_engine::MaintainRequest { only: vec![loci_engine::MaintenanceStep::Sessions], ..Default::default() };
    house.engine.maintain(&operator(), request, |_| {}).await.unwrap();
    assert_eq!(
        texts(&house, &in_session("ana", "s1")).await,
        ["The demo uses the blue data set"],
        "the rest went with it"
    );
}

// Coverage: SPEC-5.2.
#[tokio::test]
async fn a_language_model_that_fails_fails_loudly_and_the_job_stays() {
    let faults: [(&str, ResponseTemplate); 6] = [
        ("prose", answering("I would rather write a poem.")),
        ("broken", answering(r#"{"facts": ["#)),
        ("nothing", ResponseTemplate::new(200)),
        ("large", ResponseTemplate::new(200).set_body_string("x".repeat(10 << 20))),
        ("busy", ResponseTemplate::new(429).insert_header("Retry-After", "7")),
        ("late", answering("{}").set_delay(Duration::from_secs(30))),
    ];
    for (name, fault) in faults {
        let server = MockServer::start().await;
        let house = House::new().with_llm(scripted(&server, fault, Duration::from_millis(400)).await);
        let ana = in_session("ana", "s1");
        house.say(&ana, "t", "user", "I'm allergic to peanuts.").await;
        house.engine.end_session(&ana, "s1").await.unwrap();
        let worked = house.engine.work(&operator(), &[], 10).await.unwrap();
        assert_eq!((worked.done, worked.failed), (0, 1), "{name}");
        assert!(house.known(&user("ana")).await.is_empty(), "{name}: nothing is half-written");
        let jobs = house.engine.jobs(&operator(), &["waiting"]).await.unwrap();
        let job = jobs.iter().find(|job| job.kind == JobKind::Consolidate).unwrap();
        assert_eq!(job.attempts, 1, "{name}");
        let said = job.last_error.as_deref().unwrap();
        assert!(!said.is_empty() && !said.contains("peanuts"), "{name}: {said}");
        // When the model is itself again, the job is done.
        server.reset().await;
        let good = json!({ "facts": ["Ana is allergic to peanuts."] });
        crate::llm::mount(&server, answering(&good.to_string())).await;
        // The model is not asked again before the pause after its failure has passed.
        let started = std::time::Instant::now();
        loop {
            house.later(1);
            let worked = house.engine.work(&operator(), &[JobKind::Consolidate], 10).await.unwrap();
            if worked.done == 1 {
                break;
            }
            let jobs = house.engine.jobs(&operator(), &[]).await.unwrap();
            assert!(started.elapsed() < Duration::from_secs(20), "{name}: {jobs:?}");
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
}

#[tokio::test]
async fn of_two_that_contradict_each_other_the_later_said_holds() {
    let house = House::new();
    let said = async |session: &str, time: &str, text: &str| {
        let turn = loci_engine::Turn {
            thread_id: session.into(),
            content: text.into(),
            role: Some("user".into()),
            actor_id: Some("ana".into()),
            event_time: Some(time.parse().unwrap()),
            ..Default::default()
        };
        let caller = in_session("ana", session);
        house.engine.ingest(&caller, turn).await.unwrap();
        house.end(&caller, session).await;
    };
    said("new", "2026-05-01T10:00:00Z", "I work at Globex.").await;
    said("old", "2025-01-01T10:00:00Z", "I work at Acme.").await;
    let known = texts(&house, &user("ana")).await;
    assert!(
        known.iter().any(|text| text.contains("Globex")) && !known.iter().any(|text| text.contains("Acme")),
        "{known:?}"
    );
    // What held before is there for those who ask for that time.
    let then =
        loci_types::Filter { as_of: Some("2025-06-01T00:00:00Z".parse().unwrap()), ..house.engine.everything(None) };
    let request = loci_engine::ListRequest { filter: Some(then), ..Default::default() };
    let held = house.engine.list(&user("ana"), request).await.unwrap().memories;
    assert!(held.iter().any(|memory| memory.content.contains("Acme") && memory.kind.name() != "episodic"), "{held:#?}");
}

#[tokio::test]
async fn a_rejected_proposal_does_not_come_back_by_itself() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    house.say(&ana, "t", "user", "I live in Porto.").await;
    house.say(&ana, "t", "user", "My sister Marta lives in Graz.").await;
    house.end(&ana, "s1").await;
    let waiting = house.engine.proposals(&user("ana")).await.unwrap();
    assert_eq!(waiting.len(), 1, "where someone else lives needs no consent of Ana's: {waiting:#?}");
    let id = waiting[0].memory.id;
    assert_eq!(house.engine.pin(&user("ana"), id, true).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    house.engine.reject(&user("ana"), id, None).await.unwrap();
    assert_eq!(house.engine.restore(&user("ana"), id).await.unwrap_err().kind(), ErrorKind::InvalidInput);
}
