//! Tests of the layers: which memory overrides another, what the header tells, and what becomes of the session layer.

use loci_engine::json_lines::{ExportLine, ExportRequest};
use loci_engine::{
    Bands, Caller, Config, Consolidation, LearningLimits, Lifecycle, MaintainRequest, MaintenanceStep, NewMemory,
    QueryRequest, Update,
};
use loci_types::{Identifiers, Kind, Layer, MemoryId, Relation, State};
use serde_json::json;

use crate::house::{House, ask, in_session, new, user};

fn operator() -> Caller {
    Caller::operator()
}

async fn night(house: &House, step: MaintenanceStep) -> usize {
    let request = MaintainRequest { only: vec![step], ..MaintainRequest::default() };
    let report = house.engine.maintain(&operator(), request, |_| {}).await.unwrap();
    report.steps[0].changes as usize
}

async fn texts(house: &House, caller: &Caller) -> Vec<String> {
    let mut texts: Vec<String> = house.known(caller).await.into_iter().map(|memory| memory.content).collect();
    texts.sort();
    texts
}

fn in_layer(text: &str, layer: Layer) -> NewMemory {
    NewMemory { layer: Some(layer), ..new(text) }
}

// Coverage: S2.9.
#[tokio::test]
async fn a_setting_of_the_project_overrides_that_of_the_company() {
    for (company, project) in [
        ("Use spaces for indentation", "Use tabs for indentation"),
        ("Use tabs for indentation", "Use spaces for indentation"),
    ] {
        let house = House::new();
        let identifiers =
            Identifiers { company_id: Some("acme".into()), project_id: Some("web".into()), ..Identifiers::default() };
        let caller = Caller::new(identifiers);
        let general = house.engine.remember(&caller, in_layer(company, Layer::Company)).await.unwrap().id;
        house.engine.remember(&caller, in_layer(project, Layer::Project)).await.unwrap();
        let hits = house.engine.recall(&caller, ask("what do we use for indentation?")).await.unwrap().hits;
        let found: Vec<&str> = hits.iter().map(|hit| hit.memory.content.as_str()).collect();
        assert_eq!(found, [project]);
        assert_eq!(hits[0].explain.overrides, [general], "the overridden one is named");
        let request = QueryRequest { recall: ask("indentation"), ..QueryRequest::default() };
        let text = house.engine.query(&caller, request).await.unwrap().text;
        assert!(text.contains(project) && !text.contains(company), "{text}");
        // Neither is wrong: each layer keeps its own.
        assert_eq!(texts(&house, &caller).await.len(), 2);
    }
}

// Coverage: S2.17.
#[tokio::test]
async fn the_session_layer_is_promoted_and_removed_however_it_came_in() {
    let fact = |text: &str, importance| NewMemory {
        importance: Some(importance),
        kind: Some(Kind::FACT.into()),
        ..in_layer(text, Layer::Session)
    };
    for (name, turns, ending) in [
        ("memories alone, ended by name", false, "end"),
        ("beside turns of the user", true, "end"),
        ("another session on the thread", true, "next"),
        ("idle", false, "idle"),
        ("idle beside turns", true, "idle"),
    ] {
        let house = House::new();
        let ana = in_session("ana", "s1");
        if turns {
            house.say(&ana, "t", "user", "hello").await;
        }
        house.engine.remember(&ana, fact("The demo uses the blue data set", 0.9)).await.unwrap();
        house.engine.remember(&ana, fact("The window was open", 0.2)).await.unwrap();
        match ending {
            // The session is named, not given as an identifier.
            "end" => house.end(&user("ana"), "s1").await,
            "next" => {
                house.say(&in_session("ana", "s2"), "t", "user", "hello again").await;
                house.engine.work(&operator(), &[], 10).await.unwrap();
            }
            _ => {
                house.later(2);
                night(&house, MaintenanceStep::Consolidate).await;
            }
        }
        assert_eq!(texts(&house, &user("ana")).await, ["The demo uses the blue data set"], "{name}: promoted");
        assert_eq!(night(&house, MaintenanceStep::Sessions).await, 0, "{name}: kept for a week");
        house.later(8);
        night(&house, MaintenanceStep::Sessions).await;
        let left = texts(&house, &ana).await;
        assert_eq!(left, ["The demo uses the blue data set"], "{name}: the rest went");
    }
}

// Coverage: S2.14.
#[tokio::test]
async fn a_changed_or_confirmed_memory_is_active_again() {
    let house = House::new();
    let ana = user("ana");
    let fading = |text: &str| NewMemory { confidence: Some(0.2), ..new(text) };
    let pier = house.engine.remember(&ana, fading("Ann likes the old pier")).await.unwrap().id;
    let boat = house.engine.remember(&ana, fading("Ann owns a boat")).await.unwrap().id;
    night(&house, MaintenanceStep::Decay).await;
    let state = async |id: MemoryId| house.engine.get(&ana, id).await.unwrap().state;
    assert_eq!((state(pier).await, state(boat).await), (State::Decayed, State::Decayed));
    let update = Update { content: Some("Ann likes the new pier".into()), ..Update::default() };
    house.engine.update(&ana, pier, update).await.unwrap();
    house.engine.confirm(&ana, boat).await.unwrap();
    assert_eq!((state(pier).await, state(boat).await), (State::Active, State::Active));
    house.later(16);
    night(&house, MaintenanceStep::Decay).await;
    assert_eq!((state(pier).await, state(boat).await), (State::Active, State::Active));
}

// Coverage: S2.14.
#[tokio::test]
async fn what_is_restored_from_the_archive_stays() {
    let lifecycle = Lifecycle { relevance_rate: 0.1, archive_below: 0.1, ..Lifecycle::default() };
    let house = House::with(Config { lifecycle, ..Config::default() });
    let ana = user("ana");
    let id = house.remember(&ana, "Ann owns a boat").await.id;
    house.later(30);
    night(&house, MaintenanceStep::Decay).await;
    assert_eq!(house.engine.get(&ana, id).await.unwrap().state, State::Archived);
    house.engine.restore(&ana, id).await.unwrap();
    for _ in 0..3 {
        house.later(1);
        night(&house, MaintenanceStep::Decay).await;
    }
    let memory = house.engine.get(&ana, id).await.unwrap();
    assert_eq!((memory.state, memory.relevance > 0.7), (State::Active, true), "{}", memory.relevance);
}

// Coverage: S2.30.
#[tokio::test]
async fn what_the_metadata_says_of_the_record_becomes_its_fields() {
    let house = House::new();
    let caller = Caller::new(Identifiers { project_id: Some("proj_backend_api".into()), ..Identifiers::default() });
    let example = json!({
        "content": "Use PostgreSQL for all new services per ADR-042",
        "layer": "project",
        "metadata": {
            "tags": ["database", "architecture"],
            "source": { "type": "knowledge_sync" },
            "knowledgePointer": {
                "sourceType": "adr",
                "sourceId": "adr-042-database-selection",
                "contentHash": "sha256:abc123def456...",
                "syncedAt": "2025-01-07T09:00:00Z"
            },
            "relevance": 0.4,
            "decayFactor": 0.2
        }
    });
    let new: NewMemory = serde_json::from_value(example).unwrap();
    let id = house.engine.remember(&caller, new).await.unwrap().id;
    let memory = house.engine.get(&caller, id).await.unwrap();
    assert_eq!(memory.tags, ["database", "architecture"]);
    assert_eq!(memory.source.unwrap().kind, "knowledge_sync");
    assert_eq!(memory.knowledge_pointer.unwrap().source_id, "adr-042-database-selection");
    assert_eq!((memory.relevance, memory.decay_rate), (0.4, 0.2));
    let metadata = json!({ "tags": ["storage"], "checked": true }).as_object().cloned();
    house.engine.update(&caller, id, Update { metadata, ..Update::default() }).await.unwrap();
    let memory = house.engine.get(&caller, id).await.unwrap();
    assert_eq!((memory.tags.as_slice(), &memory.metadata["checked"]), (&["storage".to_owned()][..], &json!(true)));
    let source = loci_types::Source { kind: "banana".into(), ..Default::default() };
    let wrong = NewMemory { source: Some(source), ..crate::house::new("Use PostgreSQL") };
    let error = house.engine.remember(&caller, wrong).await.unwrap_err();
    assert_eq!(error.problem("x").details["field"], "source.type");
}

// Coverage: S3-1.1.
#[tokio::test]
async fn the_header_tells_changes_of_all_layers_once() {
    let house = House::new();
    let planner = Caller::new(Identifiers { agent_id: Some("planner".into()), ..user("ana").identifiers });
    let query = |since| QueryRequest { recall: ask("lamp"), since, ..QueryRequest::default() };
    house.remember(&user("ana"), "The hall has a blue lamp").await;
    let first = house.engine.query(&planner, query(Some(0))).await.unwrap();
    let head = "Memory updates since rev 0:\n- +created: The hall has a blue lamp (imp=3)";
    assert_eq!(first.updates, head, "the agent sees the user's changes");
    house.after(jiff::SignedDuration::from_secs(1));
    house.engine.remember(&planner, in_layer("The attic has a red lamp", Layer::Agent)).await.unwrap();
    house.after(jiff::SignedDuration::from_secs(1));
    house.remember(&user("ana"), "The cellar has a green lamp").await;
    let second = house.engine.query(&planner, query(Some(first.revision))).await.unwrap();
    let head = format!(
        "Memory updates since rev {}:\n- +created: The attic has a red lamp (imp=3)\n\
         - +created: The cellar has a green lamp (imp=3)",
        first.revision
    );
    assert_eq!(second.updates, head);
    assert_eq!(house.engine.query(&planner, query(Some(second.revision))).await.unwrap().updates, "");
    // Of five changes three are listed, under the same line.
    for colour in ["white", "black", "grey", "pink", "brown"] {
        let lamp = NewMemory { as_is: true, ..new(&format!("The barn has a {colour} lamp")) };
        house.engine.remember(&user("ana"), lamp).await.unwrap();
    }
    let third = house.engine.query(&planner, query(Some(second.revision))).await.unwrap().updates;
    assert!(third.starts_with(&format!("Memory updates since rev {}:\n- +created: ", second.revision)), "{third}");
    assert_eq!(third.lines().count(), 4, "{third}");
}

// Coverage: S3-1.1.
#[tokio::test]
async fn what_was_replaced_or_merged_is_listed_once() {
    let house = House::new();
    let ana = user("ana");
    house.remember(&ana, "The API port is 8080").await;
    let query = |since| QueryRequest { recall: ask("port"), since: Some(since), ..QueryRequest::default() };
    let revision = house.engine.query(&ana, query(0)).await.unwrap().revision;
    house.later(1);
    house.remember(&ana, "The API port is 9090").await;
    let listed = house.engine.query(&ana, query(revision)).await.unwrap().updates;
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert!(listed.contains("- ↑updated: The API port is 9090"), "{listed}");
}

// Coverage: S3-2.3.
#[tokio::test]
async fn a_changed_text_is_linked_anew() {
    let house = House::new();
    let ana = user("ana");
    let as_is = |text: &str| NewMemory { as_is: true, ..new(text) };
    let crane = house.engine.remember(&ana, as_is("The harbour crane is painted yellow")).await.unwrap().id;
    let other = house.engine.remember(&ana, as_is("Bananas ripen in the cellar")).await.unwrap().id;
    assert!(house.engine.edges(&ana, other, &[Relation::RelatedTo]).await.unwrap().is_empty());
    let update = Update { content: Some("The harbour crane is painted yellow and blue".into()), ..Update::default() };
    house.engine.update(&ana, other, update).await.unwrap();
    let edges = house.engine.edges(&ana, other, &[Relation::RelatedTo]).await.unwrap();
    assert_eq!(edges.iter().map(|edge| edge.target_id).collect::<Vec<_>>(), [crane]);
    assert!(edges[0].strength >= 0.6, "{edges:?}");
}

// Coverage: S3-4.1.
#[tokio::test]
async fn the_night_compares_what_matters_whatever_its_age_and_keeps_to_the_pairs_of_a_day() {
    let bands = Bands { reconcile: false, ..Bands::default() };
    let house = House::with(Config { bands, ..Config::default() });
    let ana = user("ana");
    let twins = [
        ("Tomas Silva owns the checkout module", "Tomas owns the checkout module"),
        ("Mira Novak owns the billing module", "Mira owns the billing module"),
    ];
    // Nothing is compared when it is written, and nothing is recent when the night comes.
    for text in twins.iter().flat_map(|(long, short)| [*long, *short]) {
        let important = NewMemory { importance: Some(0.9), ..new(text) };
        house.engine.remember(&ana, important).await.unwrap();
    }
    house.later(10);
    let learning = LearningLimits { pairs_per_user_per_day: 1, ..LearningLimits::default() };
    let house = house.reopened(Config { learning, ..Config::default() });
    assert!(night(&house, MaintenanceStep::Dedup).await <= 1, "one pair a day");
    assert_eq!(night(&house, MaintenanceStep::Dedup).await, 0, "not more in a second run of the day");
    // Four memories make six pairs.
    for _ in 0..6 {
        house.later(1);
        assert!(night(&house, MaintenanceStep::Dedup).await <= 1);
    }
    assert_eq!(texts(&house, &ana).await, [twins[1].0, twins[0].0]);
}

// Coverage: S2.31, S3-4.1.
#[tokio::test]
async fn scopes_below_the_trigger_and_other_layers_are_not_consolidated() {
    for (consolidation, left) in [
        (Consolidation { max_memories_before_trigger: 2, ..Consolidation::default() }, 2),
        (Consolidation { target_layers: vec![Layer::Project], ..Consolidation::default() }, 2),
        (Consolidation { max_memories_before_trigger: 1, target_layers: vec![Layer::User] }, 1),
    ] {
        let bands = Bands { reconcile: false, ..Bands::default() };
        let house = House::with(Config { bands, ..Config::default() });
        for text in ["Tomas Silva owns the checkout module", "Tomas owns the checkout module"] {
            house.remember(&user("ana"), text).await;
        }
        let house = house.reopened(Config { consolidation: consolidation.clone(), ..Config::default() });
        night(&house, MaintenanceStep::Dedup).await;
        assert_eq!(texts(&house, &user("ana")).await.len(), left, "{consolidation:?}");
    }
}

// Coverage: S3-9.1.
#[tokio::test]
async fn a_text_that_breaks_the_writing_rules_is_marked() {
    let house = House::new();
    let ana = user("ana");
    let id = house.remember(&ana, "I really love it because she gave it to me").await.id;
    let marks = house.engine.get(&ana, id).await.unwrap().metadata["writingRules"].clone();
    assert_eq!(marks, json!(["it is in the first person"]));
    let good = house.remember(&ana, "Ana loves the lamp of her aunt Vera").await.id;
    assert!(!house.engine.get(&ana, good).await.unwrap().metadata.contains_key("writingRules"));
    let update = Update { content: Some("Ana loves the vase of her aunt Vera".into()), ..Update::default() };
    house.engine.update(&ana, id, update).await.unwrap();
    assert!(!house.engine.get(&ana, id).await.unwrap().metadata.contains_key("writingRules"));
}

// Coverage: S3-10.1.
#[tokio::test]
async fn sensitive_sides_wait_in_every_language_with_a_table() {
    for (name, text, field) in [
        ("ana", "My home city is Graz", "city"),
        ("ana", "My name is Ana", "name"),
        ("ana", "My pronouns are she/her", "pronouns"),
        ("ana", "I'm a Spanish speaker", "language"),
        ("anna", "Ich heiße Anna", "name"),
        ("anna", "Ich wohne in Graz", "city"),
        ("anna", "Meine Muttersprache ist Deutsch", "language"),
        ("ana", "Mi nombre es Ana", "name"),
        ("ana", "Vivo en Sevilla", "city"),
        ("ana", "Mi idioma es el español", "language"),
        ("anne", "Je m'appelle Anne", "name"),
        ("anne", "J'habite à Lyon", "city"),
        ("дима", "Меня зовут Дима", "name"),
        ("дима", "Я живу в Казани", "city"),
        ("Дима", "Имя Димы — Дима", "name"),
    ] {
        let house = House::new();
        let caller = in_session(name, "s1");
        let turn = loci_engine::Turn {
            thread_id: "t".into(),
            content: text.into(),
            role: Some("user".into()),
            actor_id: Some(name.into()),
            ..Default::default()
        };
        house.engine.ingest(&caller, turn).await.unwrap();
        house.end(&caller, "s1").await;
        assert!(house.known(&user(name)).await.is_empty(), "{text}: no sensitive change without consent");
        let waiting = house.engine.proposals(&user(name)).await.unwrap();
        let fields: Vec<&str> = waiting.iter().map(|one| one.asked.field.as_str()).collect();
        assert_eq!(fields, [field], "{text}");
    }
}

// Coverage: S3-12.1.
#[tokio::test]
async fn numbered_steps_are_a_procedure() {
    for (text, expect) in [
        ("Remember how to deploy: 1. Run make. 2. Tag the commit. 3. Push.", None),
        ("Save this workflow: 1) Run make 2) Tag the commit 3) Push", None),
        (
            "How we deploy:\n1. Run make\n2. Tag the commit\n3. Push",
            Some("How we deploy: 1. Run make 2. Tag the commit 3. Push"),
        ),
    ] {
        let house = House::new();
        let ana = in_session("ana", "s1");
        house.say(&ana, "t", "user", text).await;
        house.end(&ana, "s1").await;
        let known = house.known(&user("ana")).await;
        assert_eq!(known.len(), 1, "{text}: {known:#?}");
        assert_eq!((known[0].kind.name(), known[0].category.as_deref()), ("procedural", Some("procedural")), "{text}");
        assert!(expect.is_none_or(|expect| known[0].content == expect), "{text}: {}", known[0].content);
        assert!(known[0].content.contains("2. Tag the commit"), "{text}: {}", known[0].content);
    }
}

// Coverage: S3-5.1.
#[tokio::test]
async fn turns_have_a_category_where_categories_are_configured() {
    let file = json!({ "allowlists": { "supervisor": ["activity", "tasks"], "planner": ["tasks"] } });
    let categories = serde_json::from_value(file).unwrap();
    let house = House::with(Config { categories, ..Config::default() });
    house.say(&user("ana"), "t", "user", "The barn has a red lamp").await;
    let agent = |slug: &str| Caller::new(Identifiers { agent_id: Some(slug.into()), ..user("ana").identifiers });
    assert_eq!(house.recall(&agent("supervisor"), "lamp").await, ["The barn has a red lamp"]);
    assert!(house.recall(&agent("planner"), "lamp").await.is_empty());
    let plain = House::new();
    let turn = plain.say(&user("ana"), "t", "user", "The barn has a red lamp").await;
    assert_eq!(plain.engine.get(&user("ana"), turn).await.unwrap().category, None);
}

// Coverage: S3-8.2.
#[tokio::test]
async fn the_history_of_a_user_is_exported_on_request() {
    let house = House::new();
    let ana = user("ana");
    let id = house.remember(&ana, "The door code is 7731").await.id;
    let update = Update { content: Some("The door code is 7732".into()), ..Update::default() };
    house.engine.update(&ana, id, update).await.unwrap();
    house.engine.forget(&ana, id, None, None).await.unwrap();
    for history in [false, true] {
        let request = ExportRequest { history, ..ExportRequest::default() };
        let mut export = house.engine.export(&ana, request).await.unwrap();
        let mut events = Vec::new();
        while let Some(lines) = house.engine.export_next(&mut export).await.unwrap() {
            for line in lines {
                if let ExportLine::History(entry) = line {
                    events.push(entry.event.clone());
                }
            }
        }
        let listed = events.iter().map(String::as_str).filter(|event| ["ADD", "UPDATE", "DELETE"].contains(event));
        let expect: &[&str] = if history { &["ADD", "UPDATE", "DELETE"] } else { &[] };
        assert_eq!(listed.collect::<Vec<_>>(), expect);
    }
}
