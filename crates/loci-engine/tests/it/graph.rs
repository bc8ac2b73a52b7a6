//! Tests of the knowledge graph, with the operations of the official memory server.

use loci_engine::{
    Caller, Engine, EntityObservations, Graph, GraphEntity, GraphImportReport, GraphRelation, ListRequest,
    MaintainRequest, Update,
};
use loci_types::{ErrorKind, Filter, Identifiers, Memory, Role, State};

use crate::house::{House, user};

fn entity(name: &str, entity_type: &str, observations: &[&str]) -> GraphEntity {
    GraphEntity { name: name.into(), entity_type: entity_type.into(), observations: texts(observations) }
}

fn relation(from: &str, relation_type: &str, to: &str) -> GraphRelation {
    GraphRelation { from: from.into(), to: to.into(), relation_type: relation_type.into() }
}

fn observed(entity_name: &str, contents: &[&str]) -> EntityObservations {
    EntityObservations { entity_name: entity_name.into(), contents: texts(contents) }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

/// The graph in short: `Ana/person: tea, cats; Acme/company:` and `Ana works at Acme`.
fn short(graph: &Graph) -> (String, String) {
    let entity = |one: &GraphEntity| format!("{}/{}:{}", one.name, one.entity_type, one.observations.join(","));
    let relation = |one: &GraphRelation| format!("{} {} {}", one.from, one.relation_type, one.to);
    let entities: Vec<String> = graph.entities.iter().map(entity).collect();
    let relations: Vec<String> = graph.relations.iter().map(relation).collect();
    (entities.join("; "), relations.join("; "))
}

async fn holds(engine: &Engine, caller: &Caller, entities: &str, relations: &str) {
    let graph = engine.graph_read(caller).await.unwrap();
    assert_eq!(short(&graph), (entities.to_owned(), relations.to_owned()));
}

/// Ana and Bob at Acme.
async fn furnished() -> (House, Caller) {
    let (house, ana) = (House::new(), user("ana"));
    let entities = vec![
        entity("Ana", "person", &["likes tea", "has two cats"]),
        entity("Bob", "person", &[]),
        entity("Acme", "company", &["makes anvils"]),
    ];
    let relations = vec![relation("Ana", "works at", "Acme"), relation("Bob", "knows", "Ana")];
    assert_eq!(house.engine.graph_create_entities(&ana, entities.clone()).await.unwrap(), entities);
    assert_eq!(house.engine.graph_create_relations(&ana, relations.clone()).await.unwrap(), relations);
    (house, ana)
}

const ENTITIES: &str = "Ana/person:likes tea,has two cats; Bob/person:; Acme/company:makes anvils";
const RELATIONS: &str = "Ana works at Acme; Bob knows Ana";

#[tokio::test]
async fn creating_passes_over_what_is_there() {
    let (house, ana) = furnished().await;
    let engine = &house.engine;
    let again = vec![entity("Ana", "robot", &["new"]), entity("ana", "cat", &["x", "x"]), entity("ana", "dog", &[])];
    let new = engine.graph_create_entities(&ana, again).await.unwrap();
    assert_eq!(new, [entity("ana", "cat", &["x", "x"])]);
    let again = vec![
        relation("Ana", "works at", "Acme"),
        relation("Acme", "works at", "Ana"),
        relation("Nobody", "is", "anywhere"),
        relation("Nobody", "is", "anywhere"),
    ];
    let new = engine.graph_create_relations(&ana, again).await.unwrap();
    assert_eq!(new, [relation("Acme", "works at", "Ana"), relation("Nobody", "is", "anywhere")]);
    let relations = format!("{RELATIONS}; Acme works at Ana; Nobody is anywhere");
    holds(engine, &ana, &format!("{ENTITIES}; ana/cat:x,x"), &relations).await;
    assert_eq!(engine.graph_create_entities(&ana, Vec::new()).await.unwrap(), []);
}

#[tokio::test]
async fn only_new_observations_are_added() {
    let (house, ana) = furnished().await;
    let engine = &house.engine;
    let observations = vec![
        observed("Ana", &["likes tea", "sings", "sings", "Likes tea"]),
        observed("Ana", &["sings", "runs"]),
        observed("Bob", &[]),
    ];
    let added = engine.graph_add_observations(&ana, observations.clone()).await.unwrap();
    let added_contents: Vec<(&str, Vec<String>)> =
        added.iter().map(|one| (one.entity_name.as_str(), one.added_observations.clone())).collect();
    let expect = [("Ana", texts(&["sings", "sings", "Likes tea"])), ("Ana", texts(&["runs"])), ("Bob", texts(&[]))];
    assert_eq!(added_contents, expect);
    let again = engine.graph_add_observations(&ana, observations).await.unwrap();
    assert!(again.iter().all(|one| one.added_observations.is_empty()));
    let entities =
        "Ana/person:likes tea,has two cats,sings,sings,Likes tea,runs; Bob/person:; Acme/company:makes anvils";
    holds(engine, &ana, entities, RELATIONS).await;
    // An unknown entity fails the whole call.
    let observations = vec![observed("Bob", &["early"]), observed("Eve", &["late"])];
    let error = engine.graph_add_observations(&ana, observations).await.unwrap_err();
    assert_eq!((error.kind(), error.to_string().as_str()), (ErrorKind::NotFound, "Entity with name Eve not found"));
    holds(engine, &ana, entities, RELATIONS).await;
}

#[tokio::test]
async fn deleting_is_silent_for_what_is_absent() {
    let (house, ana) = furnished().await;
    let engine = &house.engine;
    let deletions = [observed("Ana", &["likes tea", "never said"]), observed("Eve", &["likes tea"])];
    engine.graph_delete_observations(&ana, &deletions).await.unwrap();
    engine.graph_delete_relations(&ana, &[relation("Bob", "knows", "Ana"), relation("a", "b", "c")]).await.unwrap();
    holds(engine, &ana, "Ana/person:has two cats; Bob/person:; Acme/company:makes anvils", "Ana works at Acme").await;
    engine.graph_delete_entities(&ana, &texts(&["Acme", "Eve"])).await.unwrap();
    holds(engine, &ana, "Ana/person:has two cats; Bob/person:", "").await;
    engine.graph_delete_entities(&ana, &texts(&["Ana", "Bob"])).await.unwrap();
    holds(engine, &ana, "", "").await;
    assert!(house.known(&ana).await.is_empty());
}

#[tokio::test]
async fn what_was_deleted_can_be_made_anew_or_restored() {
    let (house, ana) = furnished().await;
    let engine = &house.engine;
    engine.graph_delete_entities(&ana, &texts(&["Ana"])).await.unwrap();
    let new = engine.graph_create_entities(&ana, vec![entity("Ana", "robot", &["likes tea"])]).await.unwrap();
    assert_eq!(new.len(), 1);
    let (bob, acme) = ("Bob/person:", "Acme/company:makes anvils");
    holds(engine, &ana, &format!("{bob}; {acme}; Ana/robot:likes tea"), "").await;
    engine.graph_delete_entities(&ana, &texts(&["Ana"])).await.unwrap();
    // The first of them comes back with what was said of it, and nothing of the second does.
    let filter = Some(Filter { states: vec![State::SoftDeleted], ..engine.everything(None) });
    let request = ListRequest { filter, limit: Some(100), ..ListRequest::default() };
    let gone = engine.list(&ana, request).await.unwrap().memories;
    let first: Vec<&Memory> = gone.iter().rev().take(4).collect();
    for memory in &first {
        engine.restore(&ana, memory.id).await.unwrap();
    }
    let back: Vec<&str> = first.iter().map(|memory| memory.content.as_str()).collect();
    assert_eq!(back, ["Ana is a person", "likes tea", "has two cats", "Ana works at Acme"]);
    holds(engine, &ana, ENTITIES, "Ana works at Acme").await;
}

#[tokio::test]
async fn searching_and_opening_bring_the_relations_of_either_end() {
    let (house, ana) = furnished().await;
    let engine = &house.engine;
    engine.graph_create_relations(&ana, vec![relation("x", "far from", "y")]).await.unwrap();
    let (one, bob, acme) = ("Ana/person:likes tea,has two cats", "Bob/person:", "Acme/company:makes anvils");
    for (query, entities, relations) in [
        ("TEA", one.to_owned(), RELATIONS),
        ("s tea", one.to_owned(), RELATIONS),
        ("tea cats", String::new(), ""),
        ("bob", bob.to_owned(), "Bob knows Ana"),
        ("Compan", acme.to_owned(), "Ana works at Acme"),
        ("person", format!("{one}; {bob}"), RELATIONS),
        ("works at", String::new(), ""),
        ("", ENTITIES.to_owned(), RELATIONS),
    ] {
        let found = engine.graph_search(&ana, query).await.unwrap();
        assert_eq!(short(&found), (entities, relations.to_owned()), "{query}");
    }
    for (names, entities, relations) in [
        (&["Bob"][..], bob.to_owned(), "Bob knows Ana"),
        (&["Bob", "Ana", "Bob"], format!("{one}; {bob}"), RELATIONS),
        (&["bob", "x"], String::new(), ""),
        (&[], String::new(), ""),
    ] {
        let found = engine.graph_open(&ana, &texts(names)).await.unwrap();
        assert_eq!(short(&found), (entities, relations.to_owned()), "{names:?}");
    }
}

#[tokio::test]
async fn bad_input_names_its_field_and_writes_nothing() {
    let (house, ana) = furnished().await;
    let engine = &house.engine;
    let long = "n".repeat(257);
    let endless = "x".repeat(engine.config().limits.content_characters + 1);
    let good = entity("Good", "thing", &["good"]);
    for (bad, field) in [
        (entity("", "thing", &[]), "name"),
        (entity(&long, "thing", &[]), "name"),
        (entity("a\0b", "thing", &[]), "name"),
        (entity("Bad", &long, &[]), "entityType"),
        (entity("Bad", "thing", &["fine", " "]), "observations"),
        (entity("Bad", "thing", &[&endless]), "observations"),
    ] {
        let error = engine.graph_create_entities(&ana, vec![good.clone(), bad]).await.unwrap_err();
        assert_eq!(error.problem("graph").details["field"], field);
    }
    for (bad, field) in [
        (relation("", "is", "b"), "from"),
        (relation("a", "is", &long), "to"),
        (relation("a", "is\0", "b"), "relationType"),
    ] {
        let error = engine.graph_create_relations(&ana, vec![relation("a", "is", "b"), bad]).await.unwrap_err();
        assert_eq!(error.problem("graph").details["field"], field);
    }
    let error = engine.graph_add_observations(&ana, vec![observed("Ana", &["ok", ""])]).await.unwrap_err();
    assert_eq!(error.problem("graph").details["field"], "contents");
    holds(engine, &ana, ENTITIES, RELATIONS).await;
    // A name may hold anything else.
    let odd = entity("  a\n\"b\" \u{1f60a} 'c'; -- ", "", &["line\nbreak ", "tab\t"]);
    let house = House::new();
    house.engine.graph_create_entities(&ana, vec![odd.clone()]).await.unwrap();
    assert_eq!(house.engine.graph_read(&ana).await.unwrap().entities, [odd]);
}

#[tokio::test]
async fn scopes_do_not_see_each_others_graphs() {
    let (house, ana) = furnished().await;
    let engine = &house.engine;
    let mut agent = ana.clone();
    agent.identifiers.agent_id = Some("planner".into());
    for other in [user("bob"), agent] {
        holds(engine, &other, "", "").await;
        let error = engine.graph_add_observations(&other, vec![observed("Ana", &["x"])]).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        let new = engine.graph_create_entities(&other, vec![entity("Ana", "boat", &["floats"])]).await.unwrap();
        assert_eq!(new.len(), 1);
        engine.graph_delete_entities(&other, &texts(&["Acme", "Bob"])).await.unwrap();
        holds(engine, &other, "Ana/boat:floats", "").await;
    }
    holds(engine, &ana, ENTITIES, RELATIONS).await;
    let nobody = Caller::new(Identifiers::default());
    assert_eq!(engine.graph_read(&nobody).await.unwrap_err().kind(), ErrorKind::MissingIdentifier);
}

#[tokio::test]
async fn who_may_only_look_changes_nothing() {
    let (house, ana) = furnished().await;
    let engine = &house.engine;
    let reader = Caller { role: Role::Reader, ..ana.clone() };
    let (names, said) = (texts(&["Ana"]), observed("Ana", &["likes tea"]));
    let refused = [
        engine.graph_create_entities(&reader, vec![entity("New", "thing", &[])]).await.unwrap_err(),
        engine.graph_create_relations(&reader, vec![relation("a", "b", "c")]).await.unwrap_err(),
        engine.graph_add_observations(&reader, vec![observed("Ana", &["x"])]).await.unwrap_err(),
        engine.graph_delete_entities(&reader, &names).await.unwrap_err(),
        engine.graph_delete_observations(&reader, &[said]).await.unwrap_err(),
        engine.graph_delete_relations(&reader, &[relation("Bob", "knows", "Ana")]).await.unwrap_err(),
        engine.graph_import(&reader, "").await.unwrap_err(),
    ];
    assert!(refused.iter().all(|error| error.kind() == ErrorKind::Unauthorized));
    holds(engine, &reader, ENTITIES, RELATIONS).await;
    // A caller with categories could not see what they write.
    let narrow = Caller { categories: Some(["work".to_owned()].into()), ..ana.clone() };
    let error = engine.graph_create_relations(&narrow, vec![relation("a", "b", "c")]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unauthorized);
    holds(engine, &narrow, "", "").await;
}

// Coverage: SPEC-8.10.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_processes_make_one_of_the_same() {
    const ROUNDS: usize = 25;
    let (house, ana) = (House::new(), user("ana"));
    let other = house.neighbour();
    let work = async |engine: &Engine, mine: &str| {
        let mut made = 0;
        for round in 0..ROUNDS {
            let name = format!("Thing {round}");
            let both = vec![entity(&name, "thing", &["seen", mine]), entity(&format!("{name} of {mine}"), "own", &[])];
            made += engine.graph_create_entities(&ana, both).await.unwrap().len();
            let observations = vec![observed(&name, &["shared", &format!("by {mine}")])];
            made += engine.graph_add_observations(&ana, observations).await.unwrap()[0].added_observations.len();
            let edge = vec![relation(&name, "is", "here"), relation(&name, "is", mine)];
            made += engine.graph_create_relations(&ana, edge).await.unwrap().len();
        }
        made
    };
    let (one, two) = tokio::join!(work(&house.engine, "one"), work(&other, "two"));
    // A round makes one shared thing and two own ones, three things said, three relations.
    assert_eq!(one + two, ROUNDS * (3 + 3 + 3));
    let graph = house.engine.graph_read(&ana).await.unwrap();
    assert_eq!((graph.entities.len(), graph.relations.len()), (3 * ROUNDS, 3 * ROUNDS));
    assert_eq!(other.graph_read(&ana).await.unwrap(), graph);
    for shared in graph.entities.iter().filter(|entity| entity.entity_type == "thing") {
        // The maker's two, and what both said since.
        assert_eq!(shared.observations.len(), 5, "{shared:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_is_left_of_what_is_deleted_while_others_write() {
    let (house, ana) = (House::new(), user("ana"));
    let other = house.neighbour();
    let thing = vec![entity("Thing", "thing", &["first"])];
    for round in 0..20 {
        house.engine.graph_create_entities(&ana, thing.clone()).await.unwrap();
        let text = format!("said {round}");
        let observations = vec![observed("Thing", &[&text])];
        let names = texts(&["Thing"]);
        let (deleted, said) = tokio::join!(
            house.engine.graph_delete_entities(&ana, &names),
            other.graph_add_observations(&ana, observations)
        );
        deleted.unwrap();
        assert!(said.is_ok() || said.unwrap_err().kind() == ErrorKind::NotFound);
        let left: Vec<String> = house.known(&ana).await.into_iter().map(|memory| memory.content).collect();
        assert!(left.is_empty(), "{left:?}");
    }
}

#[tokio::test]
async fn recall_and_the_registry_know_the_graph() {
    let (house, ana) = furnished().await;
    for (query, expect) in [("what is Acme", "Acme is a company"), ("Who makes anvils?", "makes anvils")] {
        let found = house.recall(&ana, query).await;
        assert!(found.iter().take(3).any(|content| content == expect), "{query}: {found:?}");
    }
    let profile = house.engine.entity(&ana, "ana").await.unwrap();
    assert_eq!(profile.entity.entity_type.name(), "person");
    let contents: Vec<&str> = profile.memories.iter().rev().map(|memory| memory.content.as_str()).collect();
    assert_eq!(contents, ["Ana is a person", "likes tea", "has two cats", "Ana works at Acme", "Bob knows Ana"]);
    // Later observations belong to the same entity.
    house.engine.graph_add_observations(&ana, vec![observed("Ana", &["sings"])]).await.unwrap();
    let later = house.engine.entity(&ana, "Ana").await.unwrap();
    assert_eq!((later.entity.id, later.memories.len()), (profile.entity.id, 6));
}

#[tokio::test]
async fn the_graph_neither_fades_nor_is_reconciled() {
    let mut config = loci_engine::Config::default();
    config.lifecycle.max_memories_per_user = Some(1);
    let (house, ana) = (House::with(config), user("ana"));
    let said = ["Ana lives in Paris", "Ana lives in Paris.", "Ana lives in Berlin", "The port is 4000"];
    let entities = vec![entity("Ana", "person", &said), entity("Port", "thing", &["The port is 4000"])];
    house.engine.graph_create_entities(&ana, entities.clone()).await.unwrap();
    house.remember(&ana, "Ana lives in Rome").await;
    house.remember(&ana, "The port is 5000").await;
    house.remember(&ana, "The port is 4000").await;
    for _ in 0..3 {
        house.engine.maintain(&Caller::operator(), MaintainRequest::default(), |_| {}).await.unwrap();
        assert_eq!(house.engine.graph_read(&ana).await.unwrap().entities, entities);
        house.later(400);
    }
}

#[tokio::test]
async fn records_keep_their_place_when_they_are_updated_or_moved() {
    let (house, ana) = furnished().await;
    let engine = &house.engine;
    let known = house.known(&ana).await;
    let tea = known.iter().find(|memory| memory.content == "likes tea").unwrap();
    let update = Update { content: Some("likes coffee".into()), ..Update::default() };
    engine.update(&ana, tea.id, update).await.unwrap();
    let observations = vec![observed("Ana", &["likes coffee", "likes tea"])];
    let added = engine.graph_add_observations(&ana, observations).await.unwrap();
    assert_eq!(added[0].added_observations, ["likes tea"]);
    let entities = "Ana/person:likes coffee,has two cats,likes tea; Bob/person:; Acme/company:makes anvils";
    holds(engine, &ana, entities, RELATIONS).await;
    // Elsewhere the records are a graph again, which knows what it has.
    let elsewhere = House::new();
    elsewhere.engine.import_many(&ana, house.known(&ana).await).await.unwrap();
    holds(&elsewhere.engine, &ana, entities, RELATIONS).await;
    let again = vec![entity("Ana", "robot", &[])];
    assert_eq!(elsewhere.engine.graph_create_entities(&ana, again).await.unwrap(), []);
    let observations = vec![observed("Ana", &["likes coffee"])];
    let added = elsewhere.engine.graph_add_observations(&ana, observations).await.unwrap();
    assert!(added[0].added_observations.is_empty());
}

const FILE: &str = r#"{"type":"entity","name":"Ana","entityType":"person","observations":["sings","sings",""]}

{"type":"relation","from":"Ana","to":"Choir","relationType":"sings in","since":2020}
{"type":"entity","name":"Ana","entityType":"robot","observations":["sings","runs"]}
{"type":"relation","from":"Ana","to":"Choir","relationType":"sings in"}
{"type":"entity","name":"Choir","entityType":"group","observations":[]}"#;

#[tokio::test]
async fn the_official_servers_file_comes_in_once() {
    let (house, ana) = (House::new(), user("ana"));
    let imported = house.engine.graph_import(&ana, &format!("\u{feff}{FILE}\r\n")).await.unwrap();
    assert_eq!(imported, GraphImportReport { entities: 2, observations: 3, relations: 1, skipped: 4 });
    holds(&house.engine, &ana, "Ana/person:sings,sings,runs; Choir/group:", "Ana sings in Choir").await;
    let again = house.engine.graph_import(&ana, FILE).await.unwrap();
    assert_eq!(again, GraphImportReport { skipped: 10, ..GraphImportReport::default() });
    // What is here gets what the file says besides.
    let more = FILE.replace("runs", "swims");
    let more = house.engine.graph_import(&ana, &more).await.unwrap();
    assert_eq!(more, GraphImportReport { observations: 1, skipped: 9, ..GraphImportReport::default() });
    holds(&house.engine, &ana, "Ana/person:sings,sings,runs,swims; Choir/group:", "Ana sings in Choir").await;
}

#[tokio::test]
async fn a_broken_line_is_named_and_nothing_comes_in() {
    let (house, ana) = (House::new(), user("ana"));
    for broken in [
        "{",
        "[]",
        "null",
        r#"{"name":"Eve","entityType":"person","observations":[]}"#,
        r#"{"type":"note","text":"x"}"#,
        r#"{"type":"entity","name":"Eve","entityType":"person","observations":"x"}"#,
        r#"{"type":"entity","name":"","entityType":"person","observations":[]}"#,
        r#"{"type":"relation","from":"a","to":"b"}"#,
        r#"{"type":"relation","from":"a","to":"b\u0000","relationType":"is"}"#,
    ] {
        let error = house.engine.graph_import(&ana, &format!("{FILE}\n{broken}")).await.unwrap_err();
        let problem = error.problem("import");
        assert_eq!(problem.details["field"], "jsonl", "{broken}");
        assert!(problem.message.starts_with("line 7: "), "{}", problem.message);
        holds(&house.engine, &ana, "", "").await;
    }
}

#[tokio::test]
async fn a_secret_stands_nowhere_in_the_graph() {
    let (house, ana) = (House::new(), user("ana"));
    // Put together here, so that nothing in this file looks like one.
    let secret = |letter: &str| format!("ghp_{}", letter.repeat(36));
    for letter in ["a", "b"] {
        let one = entity(&format!("key {}", secret(letter)), "token", &[&format!("it is {}", secret(letter))]);
        let created = house.engine.graph_create_entities(&ana, vec![one]).await.unwrap();
        // The second is called the same once its secret is masked, and so is there already.
        assert_eq!(created.len(), usize::from(letter == "a"), "{created:?}");
    }
    holds(&house.engine, &ana, "key [secret]/token:it is [secret]", "").await;
    let named = house.engine.entities(&ana, None, 0, 10).await.unwrap();
    assert!(named.iter().all(|entity| !entity.canonical_name.contains("ghp_")), "{named:?}");
    let file = format!(r#"{{"type":"relation","from":"{}","to":"b","relationType":"is"}}"#, secret("c"));
    house.engine.graph_import(&ana, &file).await.unwrap();
    let graph = serde_json::to_string(&house.engine.graph_read(&ana).await.unwrap()).unwrap();
    assert!(!graph.contains("ghp_"), "{graph}");
}
