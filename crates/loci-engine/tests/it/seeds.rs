//! Worked examples of the schema and of the memory tiers.

use loci_engine::pack::Format;
use loci_engine::pack::context::Window;
use loci_engine::summarize::SummaryStrategy;
use loci_engine::{
    Caller, Config, ContextRequest, Lifecycle, ListRequest, MaintainRequest, MaintenanceStep, NewMemory, RecallRequest,
    Retrieval, Strategy, SummarizeRequest,
};
use loci_types::{Filter, Identifiers, Outcome, Relation, State};
use serde_json::json;

use crate::house::{House, ask, in_session, new, user};

fn step(step: MaintenanceStep) -> MaintainRequest {
    MaintainRequest { only: vec![step], ..MaintainRequest::default() }
}

// Coverage: S0.3.
#[tokio::test]
async fn who_prefers_python_and_typescript_has_both_flagged() {
    let (house, ana) = (House::new(), user("ana"));
    let python = house.remember(&ana, "user prefers Python").await.id;
    house.later(1);
    let typescript = house.remember(&ana, "user prefers TypeScript").await;
    assert_eq!((typescript.event, house.known(&ana).await.len()), (Outcome::Created, 2), "both stay");
    let links = house.engine.edges(&ana, typescript.id, &[Relation::MayContradict]).await.unwrap();
    assert_eq!(links.iter().map(|link| link.target_id).collect::<Vec<_>>(), [python]);
    let newer = house.engine.explain(&ana, python).await.unwrap().newer;
    assert_eq!(newer.map(|newer| newer.text), Some("user prefers TypeScript".to_owned()));
}

// Coverage: S0-4.1, S0-4.4.
#[tokio::test]
async fn an_agent_has_a_score_threshold() {
    let house = House::new();
    let settings = json!({
        "memory": {
            "weights": { "similarity": 0.5, "recency": 0.3, "utility": 0.2 },
            "retrievalLimit": 10,
            "scoreThreshold": 0.3
        }
    });
    house.engine.create_agent(&Caller::operator(), "desk", settings).await.unwrap();
    house.engine.create_agent(&Caller::operator(), "strict", json!({ "scoreThreshold": 1.0 })).await.unwrap();
    for (agent, finds) in [("open", true), ("desk", true), ("strict", false)] {
        let identifiers = Identifiers { agent_id: Some(agent.into()), ..user("ana").identifiers };
        let caller = Caller::new(identifiers);
        house.remember(&caller, "The lamp in the hall is green").await;
        let hits = house.engine.recall(&caller, ask("which lamp is green?")).await.unwrap().hits;
        assert_eq!(!hits.is_empty(), finds, "{agent}");
        assert!(hits.iter().all(|hit| (0.3..=1.0).contains(&hit.score)), "{hits:#?}");
        let all = RecallRequest { score_threshold: Some(0.0), ..ask("which lamp is green?") };
        assert_eq!(house.engine.recall(&caller, all).await.unwrap().hits.len(), 1, "the request has the last word");
        let none = RecallRequest { score_threshold: Some(1.0), ..ask("which lamp is green?") };
        assert_eq!(house.engine.recall(&caller, none).await.unwrap().hits.len(), 0);
    }
}

// Coverage: S0-1.3.
#[tokio::test]
async fn what_expired_is_listed_until_it_is_purged() {
    let (house, ana) = (House::new(), user("ana"));
    let expires_at = Some("2026-06-05T00:00:00Z".parse().unwrap());
    let id =
        house.engine.remember(&ana, NewMemory { expires_at, ..new("Deploy to staging by Friday") }).await.unwrap().id;
    house.later(7);
    assert!(house.known(&ana).await.is_empty());
    house.engine.maintain(&Caller::operator(), step(MaintenanceStep::Expire), |_| {}).await.unwrap();
    let deleted = async || {
        let filter = Filter { states: vec![State::SoftDeleted], ..Filter::at(house.engine.now()) };
        let request = ListRequest { filter: Some(filter), ..ListRequest::default() };
        let listed = house.engine.list(&ana, request).await.unwrap().memories;
        listed.into_iter().map(|memory| memory.id).collect::<Vec<_>>()
    };
    assert_eq!(deleted().await, [id]);
    house.later(31);
    house.engine.maintain(&Caller::operator(), step(MaintenanceStep::Purge), |_| {}).await.unwrap();
    assert!(deleted().await.is_empty());
}

// Coverage: S4.1.
#[tokio::test]
async fn a_skill_is_procedural_and_a_result_of_a_tool_matters_more() {
    let (house, ana) = (House::new(), user("ana"));
    let skill = NewMemory { kind: Some("skill".into()), ..new("Build with make, then run the smoke tests") };
    let id = house.engine.remember(&ana, skill).await.unwrap().id;
    assert_eq!(house.engine.get(&ana, id).await.unwrap().kind.name(), "procedural");
    for (role, importance) in [("tool", 0.6), ("assistant", 0.5)] {
        let id = house.say(&ana, "t", role, "exit code 0").await;
        assert!((house.engine.get(&ana, id).await.unwrap().importance - importance).abs() < 1e-9, "{role}");
    }
}

// Coverage: S4.4.
#[tokio::test]
async fn the_strategy_of_the_configuration_is_the_usual_one() {
    let retrieval = Retrieval { strategy: Strategy::Recency, ..Retrieval::default() };
    let (house, ana) = (House::with(Config { retrieval, ..Config::default() }), user("ana"));
    house.remember(&ana, "The red kite nests here").await;
    house.later(1);
    house.remember(&ana, "The ferry leaves at nine").await;
    assert_eq!(house.recall(&ana, "red kite").await, ["The ferry leaves at nine", "The red kite nests here"]);
    let hybrid = RecallRequest { strategy: Some(Strategy::Hybrid), ..ask("red kite") };
    let hits = house.engine.recall(&ana, hybrid).await.unwrap().hits;
    assert_eq!(hits[0].memory.content, "The red kite nests here");
}

// Coverage: S4.4.
#[tokio::test]
async fn retention_and_compaction_follow_the_configuration() {
    let lifecycle = Lifecycle { retention_days: Some(90), compaction_enabled: false, ..Lifecycle::default() };
    let (house, ana) = (House::with(Config { lifecycle, ..Config::default() }), user("ana"));
    for (content, pinned) in [("The office is in Rome", false), ("The lease ends in 2031", true)] {
        let kept = NewMemory { importance: Some(0.9), pinned, ..new(content) };
        house.engine.remember(&ana, kept).await.unwrap();
    }
    house.later(91);
    let report = house.engine.maintain(&Caller::operator(), step(MaintenanceStep::Ttl), |_| {}).await.unwrap();
    let planned = &report.steps[0].planned;
    assert_eq!(planned.iter().map(|one| one.about.as_str()).collect::<Vec<_>>(), ["The office is in Rome"]);
    assert_eq!(planned[0].why, "not used within the retention period");
    let report = house.engine.maintain(&Caller::operator(), step(MaintenanceStep::Compact), |_| {}).await.unwrap();
    assert_eq!(report.steps[0].changes, 0);
}

// Coverage: S4.10, S4.11.
#[tokio::test]
async fn a_window_takes_a_hundred_candidates_and_summarizes_those_that_do_not_fit() {
    let (house, ana) = (House::new(), user("ana"));
    for number in 0..80 {
        house.remember(&ana, &format!("The gateway of service{number} listens on port {}.", 7_000 + number)).await;
    }
    let fill = async |tokens: usize, summarize: bool| {
        let window = Window { summarize, ..Window::of(tokens) };
        // Whatever there is: the stub of the model knows nothing of meaning.
        let query = "which ports do the gateways of the services listen on?";
        let recall = RecallRequest { threshold: Some(0.0), ..ask(query) };
        let request = ContextRequest { window, recall, format: Format::Markdown, ..ContextRequest::default() };
        house.engine.context(&ana, request).await.unwrap().context
    };
    assert_eq!(fill(128_000, false).await.memory.cited.len(), 80);
    let filled = fill(1_000, true).await;
    let text = &filled.memory.text;
    assert!(filled.memory.left_out.len() > 10 && filled.tokens.sum() <= 1_000, "{filled:#?}");
    let (listed, summary) = text.split_once("- [Previous context summary]: ").expect(text);
    assert!(summary.matches("listens on port").count() > 3 && summary.trim_end().ends_with('.'), "{summary}");
    for line in listed.lines().filter_map(|line| line.strip_prefix("- ")) {
        assert!(line.split(" [").next().unwrap().ends_with('.'), "a whole sentence: {line}");
    }
}

// Coverage: S4.12.
#[tokio::test]
async fn an_extractive_summary_keeps_decisions_and_numbers_and_drops_filler() {
    let house = House::new();
    let ana = in_session("ana", "s1");
    for (role, content) in [
        ("user", "Good morning! It rains again."),
        ("assistant", "Ha. Stay dry."),
        ("user", "We decided to use Postgres because we know it."),
        ("assistant", "OK."),
        ("user", "The budget is 4,200 euros."),
        ("assistant", "Sounds good!"),
        ("user", "I prefer short answers without lists."),
        ("assistant", "Sure thing."),
        ("user", "Thanks, talk to you later!"),
        ("assistant", "Bye."),
        ("user", "Oh, one more question, can you hear me well?"),
        ("assistant", "Yes, I can hear you well."),
    ] {
        house.say(&ana, "t", role, content).await;
    }
    let request = SummarizeRequest {
        session: Some("s1".into()),
        strategy: Some(SummaryStrategy::Hierarchical),
        target_tokens: Some(70),
        ..SummarizeRequest::default()
    };
    let summary = house.engine.summarize(&ana, request).await.unwrap().text;
    for kept in ["decided to use Postgres", "4,200 euros", "I prefer short answers"] {
        assert!(summary.contains(kept), "{kept}: {summary}");
    }
    for filler in ["Ha.", "OK.", "Stay dry.", "Bye.", "Sounds good"] {
        assert!(!summary.contains(filler), "{filler}: {summary}");
    }
}
