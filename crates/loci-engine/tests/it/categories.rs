//! Tests of categories: who may see and write them, and how they are added to a context.

use std::collections::BTreeSet;

use loci_engine::{
    Caller, Categories, Config, ContextRequest, Error, ListRequest, NewMemory, QueryRequest, RecallRequest, Turn,
    Update,
};
use loci_types::{AccessPolicy, ErrorKind, Filter, Grant, Identifiers, Layer, MemoryId, Outcome, SessionFilter};
use serde_json::json;

use crate::house::{House, ask, new, user};

fn rules(categories: serde_json::Value, allowlists: serde_json::Value) -> House {
    let file = json!({ "categories": { "system": categories }, "allowlists": allowlists });
    let categories: Categories = serde_json::from_value(file).unwrap();
    House::with(Config { categories, ..Config::default() })
}

fn agent(slug: &str) -> Caller {
    Caller::new(Identifiers { agent_id: Some(slug.into()), ..user("ana").identifiers })
}

fn of(category: &str, content: &str) -> NewMemory {
    NewMemory { category: Some(category.into()), layer: Some(Layer::User), ..new(content) }
}

fn asking(house: &House, category: &str) -> Filter {
    Filter { categories: vec![category.into()], ..Filter::at(house.engine.now()) }
}

/// What becomes of each verb that takes a category.
async fn verbs(
    house: &House,
    caller: &Caller,
    category: &str,
    own: MemoryId,
) -> Vec<(&'static str, Result<(), Error>)> {
    let engine = &house.engine;
    let filter = || Some(asking(house, category));
    let recall = || RecallRequest { filter: filter(), ..ask("lamp") };
    let query = QueryRequest { recall: recall(), ..QueryRequest::default() };
    let context = ContextRequest { recall: recall(), ..ContextRequest::default() };
    let context = ContextRequest { window: loci_engine::pack::context::Window::of(8_000), ..context };
    let list = ListRequest { filter: filter(), ..ListRequest::default() };
    let update = Update { category: Some(Some(category.into())), ..Update::default() };
    let fresh = |what: &str| of(category, &format!("The {what} of {category} is new"));
    vec![
        ("recall", engine.recall(caller, recall()).await.map(drop)),
        ("search", engine.search(caller, recall()).await.map(drop)),
        ("query", engine.query(caller, query).await.map(drop)),
        ("context", engine.context(caller, context).await.map(drop)),
        ("list", engine.list(caller, list).await.map(drop)),
        ("remember", engine.remember(caller, fresh("shelf")).await.map(drop)),
        ("update", engine.update(caller, own, update).await.map(drop)),
        ("supersede", engine.supersede(caller, own, fresh("lamp")).await.map(drop)),
    ]
}

// Coverage: S3-5.2.
#[tokio::test]
async fn an_allowlist_holds_for_every_verb() {
    let lists = json!({
        "supervisor": ["profile", "goals", "tasks"], "planner": ["goals", "tasks", "projects"], "stylist": ["tone"],
    });
    for (slug, category, allowed) in [
        ("supervisor", "profile", true),
        ("supervisor", "tone", false),
        ("planner", "tasks", true),
        ("planner", "profile", false),
        ("stylist", "tone", true),
        ("stylist", "tasks", false),
        ("unlisted", "tone", true),
    ] {
        let house = rules(json!([{ "name": "profile" }]), lists.clone());
        let first = |slug: &str| if slug == "stylist" { "tone" } else { "goals" };
        let own = house.engine.remember(&agent(slug), of(first(slug), "The lamp is red")).await.unwrap().id;
        for (verb, outcome) in verbs(&house, &agent(slug), category, own).await {
            match outcome {
                Ok(()) => assert!(allowed, "{slug} {verb} {category}"),
                Err(error) => {
                    assert!(!allowed, "{slug} {verb} {category}: {error}");
                    assert_eq!(error.kind(), ErrorKind::Unauthorized, "{slug} {verb}");
                    assert!(error.to_string().contains(&format!("`{category}`")), "{verb}: {error}");
                }
            }
        }
        let memories = house.engine.list(&user("ana"), ListRequest::default()).await.unwrap().total_count;
        assert_eq!(memories, if allowed { 2 } else { 1 }, "{slug} {category}: nothing is half-written");
        // Without a category anyone may write.
        house.engine.remember(&agent(slug), new("The shed is blue")).await.unwrap();
    }
}

#[tokio::test]
async fn agent_settings_allowlist_and_credential_meet() {
    let house = rules(json!([]), json!({ "planner": ["goals", "tasks"] }));
    let settings = json!({ "categories": ["tasks", "tone"] });
    house.engine.create_agent(&Caller::operator(), "planner", settings).await.unwrap();
    for (category, content) in [("goals", "a lamp goal"), ("tasks", "a lamp task"), ("tone", "a lamp tone")] {
        house.engine.remember(&user("ana"), NewMemory { as_is: true, ..of(category, content) }).await.unwrap();
    }
    let planner = agent("planner");
    assert_eq!(house.recall(&planner, "lamp").await, ["a lamp task"]);
    for (category, allowed) in [("goals", false), ("tone", false), ("tasks", true)] {
        let list = ListRequest { filter: Some(asking(&house, category)), ..ListRequest::default() };
        assert_eq!(house.engine.list(&planner, list).await.is_ok(), allowed, "{category}");
    }
    let credential = Caller { categories: Some(BTreeSet::from(["goals".to_owned()])), ..planner };
    let refused = house.engine.remember(&credential, of("tasks", "x")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unauthorized);
    assert!(house.recall(&credential, "lamp").await.is_empty());
    let user = Caller { categories: Some(BTreeSet::from(["goals".to_owned()])), ..user("ana") };
    let refused = house.engine.remember(&user, of("tasks", "x")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unauthorized, "a credential narrows without an agent too");
}

/// Three in the profile, some events; only the events are about lamps.
async fn furnished(house: &House) -> Caller {
    let ana = user("ana");
    let kept = |category: &str, content: String| NewMemory {
        as_is: true,
        kind: Some("fact".into()),
        ..of(category, &content)
    };
    for number in 1..=3 {
        house.engine.remember(&ana, kept("profile", format!("Ana speaks language {number}"))).await.unwrap();
    }
    for number in 1..=6 {
        house.engine.remember(&ana, kept("event", format!("A lamp broke in house {number}"))).await.unwrap();
    }
    house.engine.remember(&ana, kept("other", "The lamp is on the table".into())).await.unwrap();
    ana
}

fn categories_of(hits: &[loci_engine::RecallHit]) -> Vec<&str> {
    hits.iter().filter_map(|hit| hit.memory.category.as_deref()).collect()
}

// Coverage: S3-5.2.
#[tokio::test]
async fn a_category_comes_whole_or_as_far_as_it_matches() {
    let spec = json!([{ "name": "profile", "context": "all" }, { "name": "event", "context": "rag", "rag_length": 2 }]);
    let house = rules(spec, json!({}));
    let ana = furnished(&house).await;
    let query = |recall: RecallRequest| QueryRequest { recall, budget_tokens: Some(2_000), ..QueryRequest::default() };
    let answer = house.engine.query(&ana, query(ask("lamp"))).await.unwrap();
    let found = categories_of(&answer.hits);
    assert_eq!(found.iter().filter(|name| **name == "event").count(), 2, "{found:?}");
    assert_eq!(found.iter().filter(|name| **name == "other").count(), 1, "{found:?}");
    assert_eq!(found[3..], ["profile"; 3], "behind what matched");
    let mut contents: Vec<&str> = answer.hits[3..].iter().map(|hit| hit.memory.content.as_str()).collect();
    contents.sort_unstable();
    assert_eq!(contents, ["Ana speaks language 1", "Ana speaks language 2", "Ana speaks language 3"]);
    assert_eq!(answer.cited.len(), 6);
    house.engine.flush().await;
    for hit in &answer.hits[3..] {
        let count = house.engine.get(&ana, hit.memory.id).await.unwrap().access_count;
        assert_eq!(count, 0, "what comes whole whatever is asked was not used");
    }
    // What matches does not come twice.
    let answer = house.engine.query(&ana, query(ask("language 2"))).await.unwrap();
    let ids: BTreeSet<MemoryId> = answer.hits.iter().map(|hit| hit.memory.id).collect();
    assert_eq!(ids.len(), answer.hits.len());
    assert_eq!(answer.hits[0].memory.content, "Ana speaks language 2");
    // A caller who asks for some categories receives no others.
    let filter = Some(asking(&house, "event"));
    let answer = house.engine.query(&ana, query(RecallRequest { filter, ..ask("lamp") })).await.unwrap();
    assert_eq!(categories_of(&answer.hits), ["event"; 2]);
    // The context builder keeps to the same, recall itself does not.
    let window = loci_engine::pack::context::Window::of(8_000);
    let request = ContextRequest { recall: ask("lamp"), window, ..ContextRequest::default() };
    assert_eq!(house.engine.context(&ana, request).await.unwrap().context.memory.cited.len(), 6);
    assert_eq!(house.recall(&ana, "lamp").await.len(), 7);
}

#[tokio::test]
async fn a_category_that_comes_whole_keeps_to_the_budget_and_to_the_wall() {
    let house = rules(json!([{ "name": "profile", "context": "all" }]), json!({ "planner": ["event"] }));
    let ana = furnished(&house).await;
    for number in 0..120 {
        let one = NewMemory { as_is: true, ..of("profile", &format!("Ana has seen the river number {number}")) };
        house.engine.remember(&ana, one).await.unwrap();
    }
    for budget in [0, 50, 150, 400, 1_000] {
        let query = QueryRequest { recall: ask("lamp"), budget_tokens: Some(budget), ..QueryRequest::default() };
        let answer = house.engine.query(&ana, query).await.unwrap();
        assert!(answer.tokens <= budget, "{budget}");
        let matched = answer.hits.iter().filter(|hit| hit.score > 0.0).count();
        assert_eq!(answer.hits.len(), matched + 100, "a hundred at most");
        // What matched has as much room as if nothing else came.
        let filter = Filter { categories: vec!["event".into(), "other".into()], ..Filter::at(house.engine.now()) };
        let recall = RecallRequest { filter: Some(filter), ..ask("lamp") };
        let alone = QueryRequest { recall, budget_tokens: Some(budget), ..QueryRequest::default() };
        let alone = house.engine.query(&ana, alone).await.unwrap();
        assert!(alone.cited.iter().all(|id| answer.cited.contains(id)), "{budget}");
        assert!(budget < 400 || answer.cited.len() > alone.cited.len(), "{budget}");
    }
    let query = QueryRequest { recall: ask("lamp"), ..QueryRequest::default() };
    let answer = house.engine.query(&agent("planner"), query).await.unwrap();
    assert!(categories_of(&answer.hits).iter().all(|name| *name == "event"), "{answer:?}");
    // Without a file nothing changes.
    let plain = House::new();
    let ana = furnished(&plain).await;
    let query = QueryRequest { recall: ask("lamp"), ..QueryRequest::default() };
    let answer = plain.engine.query(&ana, query).await.unwrap();
    assert!(!categories_of(&answer.hits).contains(&"profile"));
}

#[tokio::test]
async fn leaving_the_agent_out_opens_nothing() {
    let house = rules(json!([{ "name": "profile" }]), json!({ "planner": ["tasks"] }));
    let secret = house.engine.remember(&user("ana"), of("profile", "The lamp is red")).await.unwrap().id;
    let grant = json!({ "tenant": "default", "role": "writer", "bounds": { "agents": ["planner"], "users": ["ana"] } });
    let grant: Grant = serde_json::from_value(grant).unwrap();
    let as_user = Caller::admitted(&grant, "k", user("ana").identifiers).unwrap();
    assert_eq!(house.engine.get(&as_user, secret).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(house.engine.list(&as_user, ListRequest::default()).await.unwrap().total_count, 0);
    let refused = house.engine.remember(&as_user, of("profile", "The shed is blue")).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unauthorized);
    // For a caller who may not see a memory, the same text is new.
    let receipt = house.engine.remember(&as_user, of("tasks", "The lamp is red")).await.unwrap();
    assert_ne!((receipt.id, receipt.event), (secret, Outcome::None));
}

#[tokio::test]
async fn a_credential_for_some_categories_sees_no_conversation() {
    let house = rules(json!([{ "name": "profile" }]), json!({}));
    let turn = Turn { thread_id: "a talk".into(), content: "The lamp is red".into(), ..Turn::default() };
    house.engine.ingest(&user("ana"), turn).await.unwrap();
    let all = house.engine.sessions(&user("ana"), SessionFilter::default()).await.unwrap();
    let some = Caller { categories: Some(["tasks".to_owned()].into()), ..user("ana") };
    assert_eq!((all.len(), house.engine.sessions(&some, SessionFilter::default()).await.unwrap()), (1, Vec::new()));
}

// Coverage: SPEC-4.3.
#[tokio::test]
async fn what_became_private_is_nobody_elses_twin() {
    let house = House::new();
    let member = |name: &str| {
        let identifiers = Identifiers { project_id: Some("atlas".into()), ..user(name).identifiers };
        Caller::new(identifiers)
    };
    let in_project = || NewMemory { layer: Some(Layer::Project), ..new("The vault is behind the oak") };
    let hidden = house.engine.remember(&member("ana"), in_project()).await.unwrap().id;
    let private = Update { access_policy: Some(AccessPolicy::Private), ..Update::default() };
    house.engine.update(&member("ana"), hidden, private).await.unwrap();
    assert!(house.engine.get(&member("bob"), hidden).await.is_err());
    let own = house.engine.remember(&member("bob"), in_project()).await.unwrap();
    assert_ne!((own.id, own.event), (hidden, Outcome::None), "bob keeps his own and learns nothing");
    assert_eq!(house.engine.get(&member("bob"), own.id).await.unwrap().content, "The vault is behind the oak");
}
