//! Tests of recall beyond words: links, times, persons, and explanations.

use jiff::Timestamp;
use loci_engine::pack::Format;
use loci_engine::pack::tokens::count_tokens;
use loci_engine::{Caller, ContextRequest, NewMemory, QueryRequest, RecallRequest, Strategy};
use loci_types::{
    Action, Batch, Change, Edge, EdgeId, Entity, EntityId, EntityType, Filter, Identifiers, Layer, MemoryId,
    Provenance, Relation, Scope,
};
use serde_json::json;

use crate::house::{House, ask, new, user};

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

/// Writes a change past the engine's verbs, as the work of the night does.
async fn apply(house: &House, caller: &Caller, action: Action) {
    let scope = Scope::new(Layer::User, &caller.identifiers).unwrap();
    let change = Change { action, reason: "test".into(), provenance: Provenance::default(), at: house.engine.now() };
    let batch = Batch { tenant: caller.tenant.clone(), space: scope.space(), changes: vec![change] };
    house.engine.store().apply(batch).await.unwrap();
}

async fn link(house: &House, caller: &Caller, from: MemoryId, to: MemoryId, relation: Relation, strength: f64) {
    let now = house.engine.now();
    let edge = Edge {
        id: EdgeId(uuid::Uuid::from_u128(from.0.as_u128() ^ to.0.as_u128().rotate_left(7))),
        source_id: from,
        target_id: to,
        relation,
        predicate: None,
        strength,
        confidence: 1.0,
        valid_from: now,
        valid_until: None,
        evidence: Vec::new(),
        created_at: now,
    };
    apply(house, caller, Action::Link(edge)).await;
}

async fn talk(house: &House, session: &str, turns: &[(&str, &str, &str)]) -> Caller {
    let mut caller = user("ana");
    caller.identifiers.session_id = Some(session.to_owned());
    for (who, day, text) in turns {
        // The layer is the user's, whatever the session.
        let new = NewMemory {
            layer: Some(Layer::User),
            kind: Some("episodic".into()),
            thread_id: Some("talk".into()),
            actor_id: Some((*who).into()),
            event_time: Some(at(&format!("{day}T10:00:00Z"))),
            ..new(text)
        };
        house.engine.remember(&caller, new).await.unwrap();
    }
    user("ana")
}

// Coverage: SPEC-6.1.
#[tokio::test]
async fn an_answer_is_found_by_the_question_before_it() {
    let house = House::new();
    let ana = talk(
        &house,
        "one",
        &[
            ("Ben", "2026-05-01", "Nice weather today."),
            ("Ben", "2026-05-01", "Where did you buy the violin?"),
            ("Ana", "2026-05-01", "At the flea market, for next to nothing."),
            ("Ben", "2026-05-01", "I have to go now."),
        ],
    )
    .await;
    for up in [true, false] {
        house.model(up);
        let found = house.recall(&ana, "Where did Ana get her violin?").await;
        assert!(found[..2].contains(&"At the flea market, for next to nothing.".to_owned()), "model {up}: {found:?}");
    }
}

// Coverage: S1.15.
#[tokio::test]
async fn a_named_day_finds_what_happened_then() {
    let house = House::new();
    let ana = talk(
        &house,
        "one",
        &[
            ("Ana", "2026-03-02", "I went running by the river."),
            ("Ana", "2026-04-09", "I went running in the park."),
            ("Ana", "2026-05-20", "I went running on the track."),
        ],
    )
    .await;
    for (question, expect) in [
        ("Where did I go running on 9 April?", "I went running in the park."),
        ("Where did I go running in March 2026?", "I went running by the river."),
        ("Где я занималась running в мае?", "I went running on the track."),
    ] {
        let recall = house.engine.recall(&ana, ask(question)).await.unwrap();
        let results: Vec<_> = recall.hits.iter().map(|hit| (&hit.memory.content, &hit.explain.clues)).collect();
        assert_eq!(recall.hits[0].memory.content, expect, "{question}: {results:#?}");
    }
}

// Coverage: S1.12.
#[tokio::test]
async fn why_follows_causes() {
    let house = House::new();
    let ana = user("ana");
    let effect = house.remember(&ana, "The release was postponed").await.id;
    let cause = house.remember(&ana, "A certificate ran out overnight").await.id;
    house.remember(&ana, "Lunch was late").await;
    let question = "why was the release postponed";
    assert!(!house.recall(&ana, question).await.contains(&"A certificate ran out overnight".to_owned()));
    link(&house, &ana, cause, effect, Relation::Causal, 1.0).await;
    let recall = house.engine.recall(&ana, ask(question)).await.unwrap();
    assert_eq!(recall.intent, "why");
    let hit = recall.hits.iter().find(|hit| hit.memory.id == cause);
    let Some(hit) = hit else { panic!("the cause is not among {:#?}", recall.hits) };
    assert!(hit.explain.lanes.iter().any(|lane| lane.lane == "graph"), "{:?}", hit.explain.lanes);
}

// Coverage: S1.13, S1.18.
#[tokio::test]
async fn who_follows_names_and_aliases() {
    let house = House::new();
    let ana = user("ana");
    let id = house.remember(&ana, "The head of security signs every contract").await.id;
    let now = house.engine.now();
    let entity = Entity {
        id: EntityId(uuid::Uuid::from_u128(7)),
        canonical_name: "Katarina Lind".into(),
        entity_type: EntityType::Person,
        aliases: vec!["Kat".into()],
        summary: None,
        created_at: now,
        updated_at: now,
        mention_count: 0,
        attributes: serde_json::Map::new(),
    };
    let entity_id = entity.id;
    let scope = Scope::new(Layer::User, &ana.identifiers).unwrap();
    apply(&house, &ana, Action::Name { scope, entity: Box::new(entity) }).await;
    assert_eq!(house.recall(&ana, "Who is Kat?").await.len(), 0);
    apply(&house, &ana, Action::Mention { memory: id, entity: entity_id, counted: true }).await;
    for question in ["Who is Kat?", "who is katarina lind", "What is Kat's job?"] {
        assert_eq!(house.recall(&ana, question).await.len(), 1, "{question}");
    }
    let provenance = house.engine.explain(&ana, id).await.unwrap();
    assert_eq!(provenance.entities[0].canonical_name, "Katarina Lind");
    let error = house.engine.explain(&user("ben"), id).await.unwrap_err();
    assert_eq!(error.kind(), loci_types::ErrorKind::NotFound);
}

// Coverage: S3-2.2.
#[tokio::test]
async fn relations_raise_a_hit_and_are_returned_with_it() {
    let house = House::new();
    let ana = user("ana");
    let tea = house.remember(&ana, "Ana drinks green tea").await.id;
    let pot = house.remember(&ana, "The pot stands on the shelf").await.id;
    let before = house.engine.recall(&ana, ask("green tea")).await.unwrap().hits.remove(0);
    link(&house, &ana, tea, pot, Relation::RelatedTo, 0.8).await;
    let after = house.engine.recall(&ana, ask("green tea")).await.unwrap().hits.remove(0);
    assert_eq!(before.explain.terms.relation, 0.0);
    assert_eq!(after.explain.terms.relation, 0.0, "that two are alike says nothing of the question");
    link(&house, &ana, tea, pot, Relation::Causal, 0.8).await;
    let after = house.engine.recall(&ana, ask("green tea")).await.unwrap().hits.remove(0);
    assert!((after.explain.terms.relation - 0.05 * 0.8).abs() < 1e-12);
    assert_eq!(after.score, after.explain.score(&house.engine.config().retrieval.weights));
    let related = &after.explain.related;
    assert!(related.is_empty() || related[0].id == pot);
    let query = QueryRequest { recall: ask("green tea"), ..QueryRequest::default() };
    let text = house.engine.query(&ana, query).await.unwrap().text;
    assert!(text.contains("The pot stands on the shelf"), "{text}");
    // What was forgotten is not shown beside a hit, whichever strategy found it.
    house.engine.forget(&ana, pot, None, None).await.unwrap();
    for strategy in [Strategy::Hybrid, Strategy::Recency] {
        let request = RecallRequest { strategy: Some(strategy), ..ask("green tea") };
        let found = house.engine.recall(&ana, request).await.unwrap();
        assert!(found.hits.iter().all(|hit| hit.explain.related.is_empty()), "{strategy}: {:?}", found.hits);
    }
}

// Coverage: S4.9.
#[tokio::test]
async fn strategies_choose_their_lane() {
    let house = House::new();
    let ana = user("ana");
    for (content, importance) in [("red kite", 0.9), ("blue kite", 0.2), ("green boat", 0.5)] {
        let new = NewMemory { importance: Some(importance), ..new(content) };
        house.engine.remember(&ana, new).await.unwrap();
    }
    let first = async |strategy: Strategy| {
        let recall =
            house.engine.recall(&ana, RecallRequest { strategy: Some(strategy), ..ask("blue kite") }).await.unwrap();
        (recall.hits.len(), recall.hits[0].memory.content.clone())
    };
    assert_eq!(first(Strategy::Recency).await, (3, "green boat".to_owned()));
    assert_eq!(first(Strategy::Importance).await, (3, "red kite".to_owned()));
    assert_eq!(first(Strategy::Semantic).await.1, "blue kite");
    assert_eq!(first(Strategy::Hybrid).await.1, "blue kite");
    let new = house.recall(&ana, "what is the latest?").await;
    assert_eq!(new[0], "green boat", "{new:?}");
}

// Coverage: S0-4.4, S3-6.1.
#[tokio::test]
async fn an_agents_settings_narrow_what_it_recalls() {
    let house = House::new();
    let settings =
        json!({ "categories": ["work"], "limit": 1, "weights": { "similarity": 1.0, "recency": 0.0, "utility": 0.0 } });
    house.engine.create_agent(&Caller::operator(), "desk", settings).await.unwrap();
    let desk = Caller::new(Identifiers { agent_id: Some("desk".into()), ..user("ana").identifiers });
    for (category, content) in
        [("work", "the lamp in the office"), ("work", "a lamp in the lab"), ("home", "the lamp at home")]
    {
        let new = NewMemory { category: Some(category.into()), layer: Some(Layer::User), ..new(content) };
        house.engine.remember(&user("ana"), new).await.unwrap();
    }
    let home = Filter { categories: vec!["home".into()], ..Filter::at(house.engine.now()) };
    let refused = house.engine.recall(&desk, RecallRequest { filter: Some(home), ..ask("lamp") }).await.unwrap_err();
    assert_eq!(refused.kind(), loci_types::ErrorKind::Unauthorized);
    let listed = house.engine.list(&desk, loci_engine::ListRequest::default()).await.unwrap();
    assert_eq!(listed.memories.len(), 2, "the wall stands for every read");
    let recall = house.engine.recall(&desk, ask("lamp")).await.unwrap();
    assert_eq!(recall.hits.len(), 1);
    assert_eq!(recall.hits[0].memory.category.as_deref(), Some("work"));
    assert!(recall.hits[0].score <= recall.hits[0].explain.terms.relevance + 0.1);
    assert_eq!(house.engine.recall(&user("ana"), ask("lamp")).await.unwrap().hits.len(), 3);
    let since = QueryRequest { recall: ask("lamp"), since: Some(0), ..QueryRequest::default() };
    let text = house.engine.query(&desk, since).await.unwrap().text;
    assert!(!text.contains("at home"), "{text}");
}

// Coverage: S3-1.1, S3-6.1, S3-11.1.
#[tokio::test]
async fn a_query_keeps_its_budget_and_lists_changes() {
    let house = House::new();
    let ana = user("ana");
    for number in 0..30 {
        house.remember(&ana, &format!("Lamp number {number} hangs in the long corridor of the old house")).await;
    }
    let ask_for = |budget: usize, since: Option<i64>, format: Format| QueryRequest {
        recall: RecallRequest { limit: Some(30), ..ask("lamp in the corridor") },
        budget_tokens: Some(budget),
        since,
        format,
        ..QueryRequest::default()
    };
    for format in Format::ALL {
        for budget in [0, 1, 40, 200, 1_000] {
            let answer = house.engine.query(&ana, ask_for(budget, Some(0), *format)).await.unwrap();
            assert!(answer.tokens <= budget && count_tokens(&answer.text) <= budget, "{format} {budget}");
            assert_eq!(answer.cited.len() + answer.left_out.len(), answer.hits.len());
        }
    }
    let seen = house.engine.query(&ana, ask_for(500, None, Format::Markdown)).await.unwrap();
    assert!(!seen.text.contains("Memory updates"), "{}", seen.text);
    let id = house.remember(&ana, "The corridor has a new lamp").await.id;
    house.engine.forget(&ana, id, None, Some("no longer true")).await.unwrap();
    let next = house.engine.query(&ana, ask_for(500, Some(seen.revision), Format::Markdown)).await.unwrap();
    assert!(next.revision > seen.revision);
    let head = format!("Memory updates since rev {}:\n- −deleted: memory {}", seen.revision, id.citation());
    assert!(next.text.starts_with(&head), "{}", next.text);
    let again = house.engine.query(&ana, ask_for(500, Some(next.revision), Format::Markdown)).await.unwrap();
    assert!(!again.text.contains("Memory updates"), "{}", again.text);
}

// Coverage: S4.10.
#[tokio::test]
async fn a_context_fits_the_window() {
    let house = House::new();
    let ana = user("ana");
    house.remember(&ana, "Ana is allergic to peanuts").await;
    let request = ContextRequest {
        system: "You are a cook.".into(),
        recall: ask("is Ana allergic to peanuts?"),
        window: loci_engine::pack::context::Window::of(4_000),
        ..ContextRequest::default()
    };
    let context = house.engine.context(&ana, request.clone()).await.unwrap();
    let (context, degraded) = (context.context, context.degraded);
    assert!(context.messages.iter().any(|message| message.content.contains("allergic to peanuts")));
    assert!(context.tokens.sum() <= 4_000);
    assert!(degraded.is_empty());
    let tiny = ContextRequest { window: loci_engine::pack::context::Window::of(5), ..request };
    assert_eq!(house.engine.context(&ana, tiny).await.unwrap_err().kind(), loci_types::ErrorKind::ContentTooLong);
}

// Coverage: S1.18.
#[tokio::test]
async fn provenance_lists_sources_versions_and_history() {
    let house = House::new();
    let ana = user("ana");
    let turn = house.remember(&ana, "I moved to Porto last spring").await.id;
    let fact = house.remember(&ana, "Ana lives in Porto").await.id;
    link(&house, &ana, fact, turn, Relation::DerivedFrom, 1.0).await;
    let provenance = house.engine.explain(&ana, fact).await.unwrap();
    assert_eq!(provenance.sources.iter().map(|memory| memory.id).collect::<Vec<_>>(), [turn]);
    assert_eq!(provenance.chain.iter().map(|memory| memory.id).collect::<Vec<_>>(), [fact]);
    assert_eq!(provenance.history[0].reason, "remembered");
    let relations = |edges: &[loci_types::Edge]| edges.iter().map(|edge| edge.relation).collect::<Vec<_>>();
    assert_eq!(relations(&provenance.edges), [Relation::Entity], "both are about Porto");
    assert_eq!(provenance.entities.iter().map(|entity| entity.canonical_name.as_str()).collect::<Vec<_>>(), ["Porto"]);
    // From the other end the link is one among others, not a source.
    let provenance = house.engine.explain(&ana, turn).await.unwrap();
    assert!(provenance.sources.is_empty());
    let mut known = relations(&provenance.edges);
    known.sort();
    assert_eq!(known, [Relation::Entity, Relation::DerivedFrom]);
}

// Coverage: SPEC-6.6.
#[tokio::test]
async fn what_is_hidden_gives_no_evidence() {
    let house = House::new();
    let ana =
        talk(&house, "one", &[("Ben", "2026-05-01", "Did the zeppelin land?"), ("Ana", "2026-05-01", "Yes, at noon.")])
            .await;
    let question = house.engine.recall(&ana, ask("zeppelin")).await.unwrap();
    let asked = question.hits.iter().find(|hit| hit.memory.content.contains("zeppelin")).unwrap().memory.id;
    house.engine.forget(&ana, asked, None, Some("gone")).await.unwrap();
    assert_eq!(house.recall(&ana, "zeppelin").await.len(), 0, "an answer is not found by a forgotten question");
    let after = house.engine.recall(&ana, ask("the zeppelin at noon")).await.unwrap();
    assert_eq!(after.hits.len(), 1);
    // Only its own word counts, not that of the question it answered.
    let clues = &after.hits[0].explain.clues;
    assert!(clues.iter().all(|clue| clue.clue != loci_engine::Clue::Asked), "{clues:?}");
}

/// User and session are in one space, user and project in two. What is found, in which order and with how much evidence, is the
/// same.
#[tokio::test]
async fn what_lies_in_two_spaces_ranks_as_what_lies_in_one() {
    let texts = [
        "The lantern of the lighthouse keeper hangs by the door",
        "A lantern hangs in the hall",
        "The keeper of the lighthouse is called Olaf",
        "The door of the barn is painted green",
        "Bees are kept behind the barn",
        "The lighthouse was built of granite, and its lantern came by ship",
    ];
    let mut runs = Vec::new();
    for (layer, spaces) in [(Layer::Session, 1), (Layer::Project, 2)] {
        let house = House::new();
        let mut caller = user("ana");
        match layer {
            Layer::Session => caller.identifiers.session_id = Some("s".to_owned()),
            _ => caller.identifiers.project_id = Some("p".to_owned()),
        }
        for (number, text) in texts.iter().enumerate() {
            let layer = if number % 2 == 0 { Layer::User } else { layer };
            house.engine.remember(&caller, NewMemory { layer: Some(layer), ..new(text) }).await.unwrap();
        }
        assert_eq!(house.engine.store().spaces(&caller.tenant).await.unwrap().len(), spaces);
        let found = house.engine.recall(&caller, ask("Where does the lantern of the lighthouse hang?")).await.unwrap();
        let hits: Vec<_> = (found.hits.iter())
            .map(|hit| (hit.memory.content.clone(), format!("{:.9}", hit.explain.evidence), hit.explain.similarity))
            .collect();
        assert!(hits.len() > 3, "{hits:?}");
        runs.push((hits, found.answered, format!("{:.9}", found.confidence)));
    }
    assert_eq!(runs[0], runs[1]);
}
