//! Tests of triples: visibility, learning, and expiry.

use std::collections::BTreeSet;

use loci_engine::{Caller, Config, FactRequest, NewFact, NewMemory, Redaction, Update};
use loci_types::{AccessPolicy, ErrorKind, Fact, Identifiers, Layer, MemoryId, Outcome, Tenant};
use serde_json::json;

use crate::house::{House, in_session, new, unknown, user};

fn fact([subject, predicate, object]: [&str; 3]) -> NewFact {
    NewFact { subject: subject.into(), predicate: predicate.into(), object: object.into(), ..NewFact::default() }
}

async fn triples(house: &House, caller: &Caller) -> Vec<String> {
    let facts = house.engine.facts(caller, FactRequest::default()).await.unwrap();
    let mut triples: Vec<String> =
        facts.iter().map(|fact| format!("{} {} {}", fact.subject, fact.predicate, fact.object)).collect();
    triples.sort();
    triples
}

async fn state(house: &House, caller: &Caller, new: NewFact) -> Fact {
    house.engine.state_fact(caller, new).await.unwrap().fact
}

fn narrowed(name: &str, categories: &[&str]) -> Caller {
    let categories: BTreeSet<String> = categories.iter().map(|one| (*one).to_owned()).collect();
    Caller { categories: Some(categories), ..user(name) }
}

// Coverage: S2.24.
#[tokio::test]
async fn a_triple_is_stated_found_and_retracted() {
    let house = House::new();
    let ana = user("ana");
    let new = NewFact {
        fact_type: Some("has_version".into()),
        confidence: Some(0.6),
        metadata: json!({ "by": "hand", "none": null }).as_object().unwrap().clone(),
        ..fact(["Database", "version", "v16"])
    };
    let first = house.engine.state_fact(&ana, new.clone()).await.unwrap();
    assert_eq!((first.event, first.fact.layer), (Outcome::Created, Layer::User));
    assert_eq!(first.fact.metadata.len(), 1, "{:?}", first.fact.metadata);
    assert_eq!(house.engine.state_fact(&ana, new.clone()).await.unwrap().event, Outcome::None);
    let surer = NewFact { confidence: Some(0.9), ..new.clone() };
    let again = house.engine.state_fact(&ana, surer).await.unwrap();
    assert_eq!((again.event, again.fact.id, again.fact.confidence), (Outcome::Updated, first.fact.id, 0.9));
    state(&house, &ana, fact(["API", "port", "80"])).await;
    let ask = |predicate: &str| FactRequest { predicate: Some(predicate.into()), ..FactRequest::default() };
    let found = house.engine.facts(&ana, ask("version")).await.unwrap();
    assert_eq!(found.iter().map(|fact| fact.object.as_str()).collect::<Vec<_>>(), ["v16"]);
    for stranger in [user("ben"), Caller { tenant: Tenant::new("other").unwrap(), ..user("ana") }] {
        assert_eq!(triples(&house, &stranger).await, [""; 0]);
        let refused = house.engine.retract_fact(&stranger, first.fact.id, None).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::NotFound);
    }
    house.engine.retract_fact(&ana, first.fact.id, Some("it was upgraded")).await.unwrap();
    assert_eq!(triples(&house, &ana).await, ["API port 80"]);
    assert_eq!(house.engine.retract_fact(&ana, first.fact.id, None).await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn what_is_stated_is_checked_and_masked() {
    let house = House::new();
    let ana = user("ana");
    let long = "x".repeat(513);
    let wide = "ш".repeat(400);
    for (new, field) in [
        (fact(["", "port", "80"]), "subject"),
        (fact(["API", " ", "80"]), "predicate"),
        (fact(["API", "port", ""]), "object"),
        (fact(["API", "port", "a\0"]), "object"),
        (fact([&long, "port", "80"]), "subject"),
        (fact([&wide, &wide, &wide]), "object"),
        (NewFact { fact_type: Some(String::new()), ..fact(["a", "b", "c"]) }, "factType"),
        (NewFact { confidence: Some(1.5), ..fact(["a", "b", "c"]) }, "confidence"),
        (NewFact { sources: vec![unknown().into(); 101], ..fact(["a", "b", "c"]) }, "sources"),
        (NewFact { sources: vec![unknown().into()], ..fact(["a", "b", "c"]) }, "sources"),
        (NewFact { layer: Some(Layer::Project), ..fact(["a", "b", "c"]) }, "projectId"),
    ] {
        let error = house.engine.state_fact(&ana, new).await.unwrap_err();
        assert_eq!(error.problem("state").details["field"], field, "{error}");
    }
    let secret = format!("sk-{}", "a1B2c3D4".repeat(6));
    let stated = house.engine.state_fact(&ana, fact(["API", "key", &secret])).await.unwrap();
    assert_eq!((stated.fact.object.as_str(), &stated.redacted[..]), ("[secret]", &["secret".to_owned()][..]));
    let strict =
        Config { redaction: Redaction { refuse: vec!["email".into()], ..Redaction::default() }, ..Config::default() };
    let house = House::with(strict);
    let error = house.engine.state_fact(&ana, fact(["ana", "email", "ana@example.org"])).await.unwrap_err();
    assert_eq!(error.problem("state").details["field"], "object");
}

#[tokio::test]
async fn a_triple_is_seen_by_those_who_see_where_it_comes_from() {
    let house = House::new();
    let ana = user("ana");
    let tasks = NewMemory { category: Some("tasks".into()), ..new("The lantern hangs in the hall") };
    let tasks = house.engine.remember(&ana, tasks).await.unwrap().id;
    let secrets = NewMemory { category: Some("secrets".into()), ..new("The harbour freezes in winter") };
    let secrets = house.engine.remember(&ana, secrets).await.unwrap().id;
    let from = |source: MemoryId, words| NewFact { sources: vec![source.into()], ..fact(words) };
    state(&house, &ana, from(tasks, ["lantern", "place", "hall"])).await;
    state(&house, &ana, from(secrets, ["harbour", "does", "freeze"])).await;
    state(&house, &ana, fact(["house", "colour", "red"])).await;
    assert_eq!(triples(&house, &ana).await.len(), 3);
    let some = narrowed("ana", &["tasks"]);
    assert_eq!(triples(&house, &some).await, ["lantern place hall"]);
    // They may state what comes from what they see, and nothing else; the answer tells nothing they could not see.
    for (new, kind) in [
        (fact(["house", "colour", "red"]), ErrorKind::Unauthorized),
        (from(secrets, ["harbour", "does", "freeze"]), ErrorKind::NotFound),
    ] {
        assert_eq!(house.engine.state_fact(&some, new).await.unwrap_err().kind(), kind);
    }
    let known = house.engine.state_fact(&some, from(tasks, ["harbour", "does", "freeze"])).await.unwrap();
    assert_eq!((known.event, &known.fact.sources[..]), (Outcome::Created, &[tasks][..]));
    // A private memory cannot be a source, and a source that becomes private hides its triple.
    let team = |name: &str| {
        let identifiers = Identifiers { team_id: Some("t".into()), ..Identifiers::default() };
        Caller { actor: Some(name.into()), ..Caller::new(identifiers) }
    };
    let said = NewMemory { actor_id: Some("ana".into()), ..new("The well is deep") };
    let well = house.engine.remember(&team("ana"), said).await.unwrap();
    state(&house, &team("ana"), from(well.id, ["well", "is", "deep"])).await;
    assert_eq!(triples(&house, &team("ben")).await, ["well is deep"]);
    let private =
        Update { version: Some(well.version), access_policy: Some(AccessPolicy::Private), ..Update::default() };
    house.engine.update(&team("ana"), well.id, private).await.unwrap();
    assert_eq!(triples(&house, &team("ben")).await, [""; 0]);
    assert_eq!(triples(&house, &team("ana")).await, ["well is deep"]);
    let refused = house.engine.state_fact(&team("ana"), from(well.id, ["well", "has", "water"])).await.unwrap_err();
    assert_eq!(refused.problem("state").details["field"], "sources");
    // Another caller can add the same triple and does not see that of the first.
    let heard = house.engine.state_fact(&team("ben"), fact(["well", "is", "deep"])).await.unwrap();
    assert_eq!((heard.event, heard.fact.sources.len()), (Outcome::Created, 0));
    assert_eq!(triples(&house, &team("ben")).await, ["well is deep"]);
}

// Coverage: SPEC-5.5.
#[tokio::test]
async fn sessions_teach_triples_and_close_them() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    house.say(&ana, "t", "user", "Our cluster has 3 nodes.").await;
    house.say(&ana, "t", "user", "I'm allergic to peanuts.").await;
    house.end(&ana, "s1").await;
    let facts = house.engine.facts(&user("ana"), FactRequest::default()).await.unwrap();
    let memories = house.known(&user("ana")).await;
    assert_eq!((facts.len(), memories.len()), (2, 2), "{facts:#?}");
    for fact in &facts {
        let source = memories.iter().find(|memory| fact.sources == [memory.id]).expect("its memory");
        assert_eq!((fact.confidence, fact.fact_type.as_str()), (source.confidence, source.kind.name()));
    }
    let nodes = FactRequest { predicate: Some("count".into()), ..FactRequest::default() };
    let count = async |request: &FactRequest| {
        let facts = house.engine.facts(&user("ana"), request.clone()).await.unwrap();
        facts.into_iter().map(|fact| fact.object).collect::<Vec<_>>()
    };
    assert_eq!(count(&nodes).await, ["3"]);
    let next = in_session("ana", "s2");
    house.later(1);
    house.say(&next, "t2", "user", "Our cluster has 5 nodes now.").await;
    house.end(&next, "s2").await;
    assert_eq!(count(&nodes).await, ["5"], "the old one no longer holds");
    let mut all = count(&FactRequest { include_past: true, ..nodes }).await;
    all.sort();
    assert_eq!(all, ["3", "5"]);
    assert_eq!(triples(&house, &user("ben")).await, [""; 0]);
}

// Coverage: SPEC-5.5.
#[tokio::test]
async fn what_is_consented_to_is_a_triple_then() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    house.say(&ana, "t", "user", "I live in Graz.").await;
    house.end(&ana, "s1").await;
    let cities = FactRequest { predicate: Some("home".into()), ..FactRequest::default() };
    assert_eq!(house.engine.facts(&user("ana"), cities.clone()).await.unwrap(), []);
    let waiting = house.engine.proposals(&user("ana")).await.unwrap();
    let id = waiting.first().expect("a proposal").memory.id;
    house.engine.accept(&user("ana"), id).await.unwrap();
    let facts = house.engine.facts(&user("ana"), cities).await.unwrap();
    assert_eq!(
        facts.iter().map(|fact| (fact.object.as_str(), &fact.sources[..])).collect::<Vec<_>>(),
        [("graz", &[id][..])]
    );
}
