//! Tests of the results of recall and search, their order, and their explanations.

use loci_engine::{Caller, NewMemory, RecallRequest, Weights};
use loci_types::{ErrorKind, Filter, Identifiers, Layer};

use crate::house::{House, ask, new, user};

fn both(user: &str, project: &str) -> Caller {
    Caller::new(Identifiers {
        user_id: Some(user.to_owned()),
        project_id: Some(project.to_owned()),
        ..Identifiers::default()
    })
}

// Coverage: S0-4.3, S1.4, SPEC-6.5.
#[tokio::test]
async fn an_explanation_adds_up_to_the_score() {
    let house = House::new();
    let ana = user("ana");
    for content in ["Ana has a red bicycle", "Ana sold her bicycle", "I was wrong: the bicycle is blue", "rain"] {
        house.remember(&ana, content).await;
    }
    let recall = house.engine.recall(&ana, ask("red bicycle")).await.unwrap();
    assert_eq!(recall.hits.len(), 3);
    assert_eq!(recall.hits[0].memory.content, "Ana has a red bicycle");
    let weights = Weights::default();
    for hit in recall.hits {
        let explain = hit.explain;
        // Exactly, not nearly: the explanation is what recall ranks by.
        assert_eq!(explain.evidence, explain.sum_of_clues());
        assert_eq!(explain.terms.relevance, explain.judged_relevance());
        assert_eq!(hit.score, explain.score(&weights));
        let terms = &explain.terms;
        let sum = 0.5 * terms.relevance + terms.closeness * (0.3 * terms.recency + 0.2 * terms.utility);
        assert_eq!(
            hit.score,
            sum + (1.0 - sum) * explain.terms.closeness * (explain.terms.layer + explain.terms.relation)
        );
        assert!(!explain.lanes.is_empty() && explain.lanes.iter().all(|lane| lane.rank >= 1));
    }
}

// Coverage: S0.1.
#[tokio::test]
async fn recall_counts_what_it_returned() {
    let house = House::new();
    let ana = user("ana");
    let id = house.remember(&ana, "Ana has a red bicycle").await.id;
    for _ in 0..3 {
        house.recall(&ana, "bicycle").await;
    }
    house.engine.flush().await;
    let memory = house.engine.get(&ana, id).await.unwrap();
    assert_eq!((memory.access_count, memory.version), (3, 1));
    assert!(memory.last_accessed_at.is_some());
}

// Coverage: S2.8, S2.9.
#[tokio::test]
async fn the_same_in_two_layers_is_shown_once_in_the_specific_one() {
    let house = House::new();
    let caller = both("ana", "atlas");
    let text = "Use tabs for indentation in every file";
    let general = NewMemory { layer: Some(Layer::Project), ..new(text) };
    let general = house.engine.remember(&caller, general).await.unwrap().id;
    let specific = NewMemory { layer: Some(Layer::User), ..new(text) };
    let specific = house.engine.remember(&caller, specific).await.unwrap().id;
    let recall = house.engine.recall(&caller, ask("indentation")).await.unwrap();
    assert_eq!(recall.hits.len(), 1);
    assert_eq!(recall.hits[0].memory.id, specific);
    assert_eq!(recall.hits[0].explain.overrides, [general]);
}

// Coverage: S2.3.
#[tokio::test]
async fn search_merges_by_precedence_and_names_its_layers() {
    let house = House::new();
    let caller = both("ana", "atlas");
    for (layer, content) in [
        (Layer::Project, "indentation in this project is four spaces"),
        (Layer::User, "indentation matters little to ana"),
        (Layer::User, "lunch is at noon"),
    ] {
        house.engine.remember(&caller, NewMemory { layer: Some(layer), ..new(content) }).await.unwrap();
    }
    let found = house.engine.search(&caller, ask("indentation")).await.unwrap();
    assert_eq!(found.searched_layers, [Layer::User, Layer::Project]);
    assert_eq!(found.total_count, 2);
    let layers: Vec<Layer> = found.results.iter().map(|hit| hit.layer).collect();
    assert_eq!(layers, [Layer::User, Layer::Project]);
    let narrow = RecallRequest { layers: Some(vec![Layer::Team]), ..ask("x") };
    assert_eq!(house.engine.search(&caller, narrow).await.unwrap_err().kind(), ErrorKind::MissingIdentifier);
}

// Coverage: S2.3.
#[tokio::test]
async fn questions_are_checked() {
    let house = House::new();
    let check = async |request: RecallRequest, kind: ErrorKind, field: &str| {
        let error = house.engine.recall(&user("ana"), request).await.unwrap_err();
        assert_eq!(error.kind(), kind);
        assert_eq!(error.problem("recall").details["field"], field);
    };
    check(ask(" "), ErrorKind::InvalidInput, "query").await;
    check(ask(&"x".repeat(8_193)), ErrorKind::QueryTooLong, "query").await;
    check(RecallRequest { limit: Some(0), ..ask("x") }, ErrorKind::InvalidInput, "limit").await;
    check(RecallRequest { limit: Some(101), ..ask("x") }, ErrorKind::InvalidInput, "limit").await;
    check(RecallRequest { threshold: Some(2.0), ..ask("x") }, ErrorKind::InvalidInput, "threshold").await;
}

#[tokio::test]
async fn an_old_memory_ranks_below_a_new_one_that_says_as_much() {
    let house = House::new();
    let ana = user("ana");
    for content in ["Standup is at nine for the red team", "Standup is at ten for the red team"] {
        house.engine.remember(&ana, NewMemory { kind: Some("task".into()), ..new(content) }).await.unwrap();
    }
    let now = ask("standup red team");
    let later = RecallRequest { at: Some("2026-09-01T12:00:00Z".parse().unwrap()), ..now.clone() };
    let (now, later) = (house.engine.recall(&ana, now).await.unwrap(), house.engine.recall(&ana, later).await.unwrap());
    assert!((now.hits[0].explain.terms.recency - 1.0).abs() < 1e-9);
    assert!(later.hits[0].explain.terms.recency < 0.2, "{}", later.hits[0].explain.terms.recency);
}

// Coverage: S3-6.1.
#[tokio::test]
async fn filters_narrow_both_lanes() {
    let house = House::new();
    let ana = user("ana");
    for (kind, content) in [("task", "fix the green lamp"), ("fact", "the green lamp is old")] {
        house.engine.remember(&ana, NewMemory { kind: Some(kind.into()), ..new(content) }).await.unwrap();
    }
    let filter = Filter { kinds: vec!["task".into()], ..Filter::at(house.engine.now()) };
    let recall = house.engine.recall(&ana, RecallRequest { filter: Some(filter), ..ask("green lamp") }).await.unwrap();
    assert_eq!(recall.hits.len(), 1);
    assert_eq!(recall.hits[0].memory.content, "fix the green lamp");
}

#[tokio::test]
async fn a_rare_word_counts_in_a_small_space_too() {
    let house = House::new();
    house.model(false);
    let caller = Caller::new(Identifiers {
        user_id: Some("ana".into()),
        agent_id: Some("desk".into()),
        ..Identifiers::default()
    });
    for number in 0..30 {
        house.remember(&user("ana"), &format!("note number {number} about lamps")).await;
    }
    house.remember(&user("ana"), "the build failed with ERR-7731").await;
    house.remember(&caller, "ERR-7731 means the disk is full").await;
    let mut found = house.recall(&caller, "ERR-7731").await;
    found.sort();
    assert_eq!(found, ["ERR-7731 means the disk is full", "the build failed with ERR-7731"]);
}

// Coverage: S2.8.
#[tokio::test]
async fn facts_that_differ_in_a_number_both_stay() {
    let house = House::new();
    let ana = user("ana");
    for number in [4411, 4412] {
        house
            .remember(&ana, &format!("The invoice {number} of the month of March was paid in full by the customer"))
            .await;
    }
    assert_eq!(house.recall(&ana, "invoice March customer").await.len(), 2);
}
