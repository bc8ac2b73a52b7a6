//! Tests of changing knowledge: repeats, contradictions, chains, undo.

use loci_engine::{Config, NewMemory, Update};
use loci_types::{ErrorKind, Layer, Outcome, State};

use crate::house::{House, ask, new, unknown, user};

// Coverage: S0-5.3.
#[tokio::test]
async fn a_cluster_of_three_nodes_becomes_one_of_five() {
    let (house, ana) = (House::new(), user("ana"));
    let three = house.remember(&ana, "User's cluster has 3 nodes").await;
    house.later(7);
    let five = house.remember(&ana, "User's cluster has 5 nodes (scaled from 3 in Feb 2026)").await;
    assert_eq!(five.event, Outcome::Superseded);
    let chain = house.engine.versions(&ana, three.id).await.unwrap();
    assert_eq!(chain.versions.iter().map(|memory| memory.id).collect::<Vec<_>>(), [three.id, five.id]);
    assert_eq!(chain.head, five.id);
    let old = &chain.versions[0];
    assert_eq!((old.superseded_by_id, old.state), (Some(five.id), State::Active), "nothing is deleted");
    assert_eq!(old.valid_until, Some(chain.versions[1].created_at), "its validity is closed");
    assert_eq!(house.recall(&ana, "how many nodes has the cluster").await.len(), 1);
    // Deleting the head uncovers the one before.
    house.engine.forget(&ana, five.id, None, None).await.unwrap();
    assert_eq!(house.recall(&ana, "cluster nodes").await, ["User's cluster has 3 nodes"]);
    let history = house.engine.history(&ana, three.id, 10).await.unwrap().events;
    assert_eq!(history.iter().map(|line| line.event.as_str()).collect::<Vec<_>>(), ["ADD", "SUPERSEDE", "RESTORE"]);
    assert!(history[1].reason.contains("value 3 → 5"), "{}", history[1].reason);
}

// Coverage: S0.3.
#[tokio::test]
async fn a_contradiction_closes_the_old_and_deletes_nothing() {
    let (house, ana) = (House::new(), user("ana"));
    house.remember(&ana, "Ana lives in Porto").await;
    house.later(1);
    house.remember(&ana, "Ana lives in Lisbon").await;
    house.later(1);
    let last = house.remember(&ana, "Ana lives in Faro").await;
    let chain = house.engine.versions(&ana, last.id).await.unwrap().versions;
    let texts: Vec<&str> = chain.iter().map(|memory| memory.content.as_str()).collect();
    assert_eq!(texts, ["Ana lives in Porto", "Ana lives in Lisbon", "Ana lives in Faro"]);
    assert_eq!(house.known(&ana).await.len(), 1);
    // What is only like it stays beside it.
    house.remember(&ana, "Bob lives in Porto").await;
    house.remember(&ana, "Ana likes Porto").await;
    assert_eq!(house.known(&ana).await.len(), 3);
    // Unrelated facts are not touched.
    let one = house.remember(&ana, "The deploy of build 4021 failed").await;
    let two = house.remember(&ana, "The deploy of build 4022 failed").await;
    assert_ne!(one.id, two.id);
    assert_eq!(house.known(&ana).await.len(), 5);
}

#[tokio::test]
async fn what_is_said_again_is_known_and_what_says_more_is_kept_beside_it() {
    let (house, ana) = (House::new(), user("ana"));
    let first = house.remember(&ana, "Ana is allergic to peanuts").await;
    let again = house.remember(&ana, "ana is allergic to peanuts!").await;
    assert_eq!((again.event, again.id), (Outcome::None, first.id));
    let gate = house.remember(&ana, "The gate of the old garden squeaks loudly when it opens").await;
    let more = house.remember(&ana, "The gate of the old garden squeaks loudly when it opens wide").await;
    assert_eq!(more.event, Outcome::Created);
    let texts: Vec<String> = house.known(&ana).await.into_iter().map(|memory| memory.content).collect();
    assert_eq!(texts.len(), 3, "{texts:?}");
    assert!(texts.contains(&"The gate of the old garden squeaks loudly when it opens".to_owned()));
    // What says less is known.
    let less = house.remember(&ana, "The gate of the old garden squeaks loudly when opened").await;
    assert_eq!((less.event, less.id), (Outcome::None, gate.id));
    // As it is means as it is.
    let beside = NewMemory { as_is: true, ..new("Ana is allergic to peanuts and shrimp") };
    assert_eq!(house.engine.remember(&ana, beside).await.unwrap().event, Outcome::Created);
}

// Coverage: S2.16.
#[tokio::test]
async fn spaces_at_the_company_give_way_to_tabs_in_the_project() {
    let house = House::new();
    let mut caller = user("ana");
    caller.identifiers.company_id = Some("acme".into());
    caller.identifiers.project_id = Some("atlas".into());
    let rule = |text: &str, layer| NewMemory { layer: Some(layer), ..new(text) };
    house.engine.remember(&caller, rule("Use spaces for indentation", Layer::Company)).await.unwrap();
    house.engine.remember(&caller, rule("Use tabs for indentation", Layer::Project)).await.unwrap();
    // By words alone both answer as well, so the layer decides.
    house.model(false);
    let recall = house.engine.recall(&caller, ask("what to use for indentation")).await.unwrap();
    assert_eq!(recall.hits[0].memory.content, "Use tabs for indentation");
    // Each layer keeps its own truth: neither has replaced the other.
    let known = house.known(&caller).await;
    assert_eq!(known.len(), 2);
    assert!(known.iter().all(|memory| memory.superseded_by_id.is_none()));
}

// Coverage: S1.30.
#[tokio::test]
async fn corrected_confirmed_and_pinned() {
    let (house, ana) = (House::new(), user("ana"));
    let id = house.remember(&ana, "The port is 8080").await.id;
    let right = house.engine.correct(&ana, id, "The port is 4000", Some("misheard")).await.unwrap();
    assert_eq!(right.event, Outcome::Superseded);
    let memory = house.engine.get(&ana, right.id).await.unwrap();
    assert_eq!((memory.supersedes_id, memory.source.unwrap().kind.as_str()), (Some(id), "correction"));
    house.engine.confirm(&ana, right.id).await.unwrap();
    let memory = house.engine.get(&ana, right.id).await.unwrap();
    assert_eq!((memory.confidence, memory.decay_rate), (1.0, 0.0));
    house.engine.pin(&ana, right.id, true).await.unwrap();
    assert!(house.engine.get(&ana, right.id).await.unwrap().pinned);
    let replaced = house.engine.supersede(&ana, id, new("The port is 9000")).await.unwrap_err();
    assert_eq!(replaced.kind(), ErrorKind::InvalidInput, "the middle of a chain is not replaced");
    for error in [
        house.engine.correct(&ana, unknown(), "x", None).await.unwrap_err(),
        house.engine.confirm(&user("bo"), right.id).await.unwrap_err(),
        house.engine.versions(&user("bo"), right.id).await.unwrap_err(),
    ] {
        assert_eq!(error.kind(), ErrorKind::NotFound);
    }
}

/// Nobody would ever do that work.
#[tokio::test]
async fn nothing_waits_for_vectors_where_embedding_is_switched_off() {
    for switched_off in [false, true] {
        let folder = tempfile::tempdir().unwrap();
        let store = loci_store::SqliteStore::open(folder.path(), loci_store::SqliteOptions::default()).unwrap();
        let clock = std::sync::Arc::new(loci_engine::System);
        let engine = loci_engine::Engine::new(std::sync::Arc::new(store), None, clock, Config::default()).unwrap();
        let engine = if switched_off { engine.without_vectors() } else { engine };
        let (ana, operator) = (user("ana"), loci_engine::Caller::operator());
        let receipt = engine.remember(&ana, new("The queue holds jobs")).await.unwrap();
        engine.supersede(&ana, receipt.id, new("The queue holds no jobs")).await.unwrap();
        let waiting = engine.jobs(&operator, &["waiting"]).await.unwrap();
        let embed = waiting.iter().filter(|job| job.kind == loci_types::JobKind::Embed).count();
        assert_eq!(embed, if switched_off { 0 } else { 2 });
    }
}

// Coverage: S0.2, S0-5.4.
#[tokio::test]
async fn a_chain_that_grows_too_long_is_distilled() {
    let (house, ana) = (House::new(), user("ana"));
    let mut head = house.remember(&ana, "The queue holds 0 jobs").await.id;
    for number in 1..=21 {
        let receipt = house.engine.supersede(&ana, head, new(&format!("The queue holds {number} jobs"))).await.unwrap();
        head = receipt.id;
    }
    let operator = loci_engine::Caller::operator();
    let jobs = house.engine.jobs(&operator, &["waiting"]).await.unwrap();
    assert_eq!(jobs.iter().filter(|job| job.kind == loci_types::JobKind::Distil).count(), 2, "above twenty, each time");
    house.engine.work(&operator, &[], 10).await.unwrap();
    let chain = house.engine.versions(&ana, head).await.unwrap().versions;
    let live: Vec<&str> =
        chain.iter().filter(|memory| memory.state == State::Active).map(|memory| memory.content.as_str()).collect();
    assert_eq!(live, ["The queue holds 21 jobs"], "one authoritative memory");
    assert_eq!(house.recall(&ana, "queue jobs").await, ["The queue holds 21 jobs"]);
    let kept = house.engine.get(&ana, head).await.unwrap();
    assert_eq!(kept.metadata["distilled"]["versions"], 22);
    // The versions stay in the history, and can be restored until they are purged.
    assert_eq!((chain.len(), chain[0].content.as_str()), (22, "The queue holds 0 jobs"));
    let events = house.engine.history(&ana, chain[0].id, 10).await.unwrap().events;
    assert!(events.iter().any(|event| event.reason == format!("distilled into {head}")), "{events:?}");
}

// Coverage: SPEC-7.5.
#[tokio::test]
async fn what_was_done_is_taken_back() {
    let (house, ana) = (House::new(), user("ana"));
    let id = house.remember(&ana, "The lamp is green").await.id;
    let space = house.engine.space_of(&ana).await.unwrap();
    let last = async |event: &str| {
        let lines = house.engine.history(&ana, id, 100).await.unwrap().events;
        lines.into_iter().rev().find(|line| line.event == event).unwrap().sequence
    };
    let text = async || house.engine.get(&ana, id).await.unwrap();
    let change = Update { content: Some("The lamp is blue".into()), importance: Some(0.9), ..Update::default() };
    house.engine.update(&ana, id, change).await.unwrap();
    let line = last("UPDATE").await;
    house.engine.undo(&ana, &space, line).await.unwrap();
    let back = text().await;
    assert_eq!((back.content.as_str(), back.importance), ("The lamp is green", 0.5));
    assert_eq!(house.recall(&ana, "lamp green").await, ["The lamp is green"], "its words are found again");
    // The same line cannot be taken back again: its values are gone.
    let twice = house.engine.undo(&ana, &space, line).await.unwrap_err();
    assert_eq!(twice.kind(), ErrorKind::Conflict);
    house.engine.forget(&ana, id, None, None).await.unwrap();
    house.engine.undo(&ana, &space, last("DELETE").await).await.unwrap();
    assert_eq!(text().await.state, State::Active);
    house.engine.undo(&ana, &space, last("ADD").await).await.unwrap();
    assert_eq!(text().await.state, State::SoftDeleted);
    let none = house.engine.undo(&ana, &space, 9_999).await.unwrap_err();
    assert_eq!((none.kind(), none.problem("undo").details["field"].as_str()), (ErrorKind::NotFound, Some("sequence")));
    let hidden = house.engine.undo(&user("bo"), &space, line).await.unwrap_err();
    assert_eq!(hidden.kind(), ErrorKind::NotFound, "nobody takes back what they do not see");
}

#[tokio::test]
async fn two_processes_replace_one_memory_and_the_chain_stays_whole() {
    let (house, ana) = (House::new(), user("ana"));
    house.remember(&ana, "Ana lives in Porto").await;
    let other = house.neighbour();
    let cities: Vec<String> = (0..8).map(|n| format!("Ana lives in Town{}", (b'a' + n) as char)).collect();
    let writes = cities.iter().enumerate().map(|(n, text)| {
        let engine = if n % 2 == 0 { &house.engine } else { &other };
        engine.remember(&ana, new(text))
    });
    for receipt in futures::future::join_all(writes).await {
        receipt.unwrap();
    }
    let known = house.known(&ana).await;
    let heads = known.iter().filter(|memory| memory.content.starts_with("Ana lives")).count();
    assert_eq!(heads, 1, "{known:#?}");
}

// Coverage: S3-2.3.
#[tokio::test]
async fn the_nearest_are_linked() {
    let (house, ana) = (House::new(), user("ana"));
    let lamp = house.remember(&ana, "The brass lamp in the hall needs a new cord").await.id;
    let other = house.remember(&ana, "The brass lamp in the hall needs a bulb").await.id;
    let edges = house.engine.edges(&ana, other, &[loci_types::Relation::RelatedTo]).await.unwrap();
    assert_eq!(edges.iter().map(|edge| (edge.source_id, edge.target_id)).collect::<Vec<_>>(), [(other, lamp)]);
    assert!((0.6..=1.0).contains(&edges[0].strength));
    let far = house.remember(&ana, "Zebras graze at dawn").await.id;
    assert!(house.engine.edges(&ana, far, &[]).await.unwrap().is_empty());
}

#[tokio::test]
async fn the_same_words_in_another_order_are_another_thing() {
    let (house, ana) = (House::new(), user("ana"));
    for pair in [
        ["Ana owes Bo 50 euros", "Bo owes Ana 50 euros"],
        ["Ana wants the report before the meeting", "Ana wants the report after the meeting"],
        ["Turn the alarm on at night", "Turn the alarm off at night"],
        ["Deploy to staging then production", "Deploy to production then staging"],
    ] {
        for text in pair {
            assert_eq!(house.remember(&ana, text).await.event, Outcome::Created, "{text}");
        }
    }
}

#[tokio::test]
async fn what_only_its_writer_sees_meets_nothing_that_others_see() {
    let house = House::new();
    let team = |actor: &str| {
        let mut caller = user(actor);
        caller.identifiers.team_id = Some("crew".into());
        caller.actor = Some(actor.into());
        caller
    };
    let note = |text: &str, actor: &str, private: bool| NewMemory {
        layer: Some(Layer::Team),
        actor_id: Some(actor.into()),
        access_policy: private.then_some(loci_types::AccessPolicy::Private),
        ..new(text)
    };
    let (ana, bo) = (team("ana"), team("bo"));
    let shared = house.engine.remember(&bo, note("The gate code is 1111", "bo", false)).await.unwrap();
    // Neither does a private contradiction replace it, nor do private words get into it.
    for text in
        ["The gate code is 2222", "The spare key lies under the pot, the gate code is 1111", "The gate code is 1111"]
    {
        let private = house.engine.remember(&ana, note(text, "ana", true)).await.unwrap();
        assert_ne!(private.id, shared.id, "{text}");
    }
    let seen = house.engine.get(&bo, shared.id).await.unwrap();
    assert_eq!((seen.content.as_str(), seen.superseded_by_id), ("The gate code is 1111", None));
}

#[tokio::test]
async fn who_forgets_the_middle_and_then_the_head_has_the_first_again() {
    let (house, ana) = (House::new(), user("ana"));
    let mut ids = Vec::new();
    for port in [3000, 4000, 5000] {
        house.later(1);
        ids.push(house.remember(&ana, &format!("The staging port is {port}")).await.id);
    }
    house.engine.forget(&ana, ids[1], None, None).await.unwrap();
    assert_eq!(house.recall(&ana, "staging port").await, ["The staging port is 5000"]);
    house.engine.forget(&ana, ids[2], None, None).await.unwrap();
    assert_eq!(house.recall(&ana, "staging port").await, ["The staging port is 3000"]);
    let deleted = house.engine.correct(&ana, ids[2], "The staging port is 6000", None).await.unwrap_err();
    assert_eq!(deleted.kind(), ErrorKind::InvalidInput);
}

// Coverage: S4.16.
#[tokio::test]
async fn what_one_agent_finds_out_another_reads_in_their_pool() {
    let house = House::new();
    let agent = |name: &str, pool: Option<&str>| {
        let mut caller = user("ana");
        caller.identifiers.agent_id = Some(name.into());
        caller.identifiers.pool_id = pool.map(str::to_owned);
        caller
    };
    let (researcher, coder) = (agent("researcher", Some("technical-docs")), agent("coder", Some("technical-docs")));
    let members = vec!["researcher".to_owned(), "coder".to_owned()];
    let pool = loci_engine::NewPool { pool_id: "technical-docs".into(), name: None, agent_ids: members };
    house.engine.create_pool(&loci_engine::Caller::operator(), pool).await.unwrap();
    let found = NewMemory { layer: Some(Layer::Pool), ..new("WebGPU requires WGSL shaders, not GLSL") };
    house.engine.remember(&researcher, found).await.unwrap();
    let question = "how do shaders work in WebGPU?";
    assert_eq!(house.recall(&coder, question).await, ["WebGPU requires WGSL shaders, not GLSL"]);
    assert!(house.recall(&agent("stranger", None), question).await.is_empty());
}
