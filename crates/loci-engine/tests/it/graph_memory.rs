//! Tests of the graph memory: sessions that follow each other, entities, their links, descriptions and vectors, causes,
//! what is packed, and fused ranks.

use jiff::SignedDuration;
use loci_engine::pack::Format;
use loci_engine::{
    Caller, Config, MaintainRequest, MaintenanceStep, QueryRequest, QueryResponse, RecallRequest, Retrieval, Sessions,
    Strategy,
};
use loci_types::{EntityType, MemoryId, Relation, SessionFilter};

use crate::house::{House, ask, in_session, user};

async fn open_sessions(house: &House) -> Vec<String> {
    let filter = SessionFilter { ended: Some(false), ..SessionFilter::default() };
    let found = house.engine.sessions(&Caller::operator(), filter).await.unwrap();
    found.into_iter().map(|session| session.session_id).collect()
}

async fn maintain(house: &House, only: &[MaintenanceStep]) {
    let request = MaintainRequest { only: only.to_vec(), ..MaintainRequest::default() };
    house.engine.maintain(&Caller::operator(), request, |_| {}).await.unwrap();
}

async fn learn(house: &House, caller: &Caller, thread: &str, said: &[&str]) {
    for text in said {
        house.say(caller, thread, "user", text).await;
    }
    house.end(caller, thread).await;
}

async fn query(house: &House, caller: &Caller, question: &str) -> QueryResponse {
    let request = QueryRequest { recall: ask(question), budget_tokens: Some(800), ..QueryRequest::default() };
    house.engine.query(caller, request).await.unwrap()
}

/// The memories with these words, and the ids of those that share an entity with them.
async fn shared_with(house: &House, caller: &Caller, id: MemoryId) -> Vec<MemoryId> {
    let edges = house.engine.edges(caller, id, &[Relation::Entity]).await.unwrap();
    edges.iter().map(|edge| if edge.source_id == id { edge.target_id } else { edge.source_id }).collect()
}

// Coverage: S1.19.
#[tokio::test]
async fn a_new_session_of_a_user_closes_the_earlier_ones_in_any_thread() {
    let house = House::new();
    let (ana, ben) = (user("ana"), user("ben"));
    house.say(&ana, "conv1", "user", "I'm allergic to peanuts.").await;
    house.say(&ben, "other", "user", "I like tea.").await;
    house.say(&ana, "conv2", "user", "hi again").await;
    let mut open = open_sessions(&house).await;
    open.sort();
    assert_eq!(open, ["conv2", "other"], "nobody ends another's session");
    house.engine.work(&Caller::operator(), &[], 100).await.unwrap();
    assert_eq!(house.known(&ana).await[0].content, "I'm allergic to peanuts.");
    // A conversation that goes on is open again, and does not close the one beside it.
    house.say(&ana, "conv1", "user", "And to shrimp.").await;
    let mut open = open_sessions(&house).await;
    open.sort();
    assert_eq!(open, ["conv1", "conv2", "other"]);
}

// Coverage: S1.19.
#[tokio::test]
async fn an_idle_session_is_learned_from_after_half_an_hour() {
    let house = House::new();
    let ana = user("ana");
    house.say(&ana, "conv1", "user", "I'm allergic to peanuts.").await;
    house.after(SignedDuration::from_mins(29));
    assert_eq!(house.engine.end_idle_sessions(&Caller::operator()).await.unwrap(), 0);
    house.after(SignedDuration::from_mins(2));
    assert_eq!(house.engine.end_idle_sessions(&Caller::operator()).await.unwrap(), 1);
    house.engine.work(&Caller::operator(), &[], 100).await.unwrap();
    assert_eq!(house.known(&ana).await.len(), 1);
    assert!(house.engine.end_idle_sessions(&ana).await.is_err(), "only operators");
    // The night needs no more than that either, and the time is a setting.
    let config = Config { sessions: Sessions { idle_minutes: 5, ..Sessions::default() }, ..Config::default() };
    let house = House::with(config);
    house.say(&ana, "conv1", "user", "I'm allergic to peanuts.").await;
    house.after(SignedDuration::from_mins(6));
    maintain(&house, &[MaintenanceStep::Consolidate]).await;
    assert_eq!(house.known(&ana).await.len(), 1);
}

// Coverage: S1.24.
#[tokio::test]
async fn memories_that_share_an_entity_are_linked_to_the_nearest_few() {
    let (house, ana) = (House::new(), user("ana"));
    let mut ids = Vec::new();
    for n in 0..12 {
        let text = format!("The trip number {n} with my friend Paul went to town{n}");
        ids.push(house.remember(&ana, &text).await.id);
    }
    let apart = house.remember(&ana, "The boat needs paint").await.id;
    let mut edges = 0;
    for id in &ids {
        let shared = shared_with(&house, &ana, *id).await;
        assert!(!shared.is_empty() && !shared.contains(&apart), "{shared:?}");
        edges += shared.len();
    }
    // Each edge was counted at both ends.
    assert!(edges / 2 <= 3 * ids.len(), "{edges}");
    assert_eq!(shared_with(&house, &ana, apart).await, []);
    let edge = &house.engine.edges(&ana, ids[1], &[Relation::Entity]).await.unwrap()[0];
    let paul = house.engine.entity(&ana, "Paul").await.unwrap().entity;
    assert_eq!(edge.predicate.as_deref(), Some("Paul"));
    assert_eq!(edge.evidence, [serde_json::json!({ "entity": paul.id })]);
    assert!(edge.strength < 1.0);
    // What sessions teach is linked in the same way, within one batch too.
    let learned = user("learned");
    learn(&house, &learned, "conv1", &["My sister Marta lives in Graz.", "I gave my sister Marta a bike."]).await;
    let known = house.known(&learned).await;
    let facts: Vec<MemoryId> = known.iter().filter(|one| one.content.contains("Marta")).map(|one| one.id).collect();
    if let [one, other] = facts[..] {
        assert_eq!(shared_with(&house, &learned, one).await, [other]);
    } else {
        panic!("{known:#?}");
    }
}

// Coverage: S1.26.
#[tokio::test]
async fn a_fact_and_its_turn_count_one_mention() {
    let (house, ana) = (House::new(), user("ana"));
    learn(&house, &ana, "conv1", &["My colleague Paul works in Berlin."]).await;
    let paul = house.engine.entity(&ana, "Paul").await.unwrap();
    assert_eq!((paul.entity.mention_count, paul.entity.entity_type), (1, EntityType::Person));
    assert_eq!(paul.memories.len(), 2, "the fact and the turn are both shown");
}

// Coverage: S1.26.
#[tokio::test]
async fn aliases_are_taken_from_any_turn() {
    let (house, ana) = (House::new(), user("ana"));
    learn(&house, &ana, "conv1", &["My manager is Robert, aka Bob."]).await;
    learn(&house, &ana, "conv2", &["My colleague Robert, aka Bobby, runs Project Atlas"]).await;
    let bob = house.engine.entity(&ana, "Bob").await.unwrap().entity;
    assert_eq!((bob.canonical_name.as_str(), &*bob.aliases), ("Robert", &["Bob".to_owned(), "Bobby".to_owned()][..]));
}

// Coverage: S1.26.
#[tokio::test]
async fn a_note_that_begins_with_a_name_is_found_by_it() {
    let (house, ana) = (House::new(), user("ana"));
    for text in ["Clara works in Berlin as a dentist", "Clara has two cats", "Clara prefers tea"] {
        house.remember(&ana, text).await;
    }
    let clara = house.engine.entity(&ana, "Clara").await.unwrap();
    assert_eq!((clara.memories.len(), clara.entity.mention_count), (3, 3));
    assert_eq!(clara.entity.entity_type, EntityType::Person);
}

// Coverage: S1.23, S1.27.
#[tokio::test]
async fn descriptions_follow_the_facts_and_fill_the_share_of_profiles() {
    let (house, ana) = (House::new(), user("ana"));
    for text in ["My friend Paul works at Fabrikam", "My friend Paul plays chess", "The bike of my friend Paul is red"]
    {
        house.remember(&ana, text).await;
    }
    maintain(&house, &[MaintenanceStep::Enrich]).await;
    let summary = async || house.engine.entity(&ana, "Paul").await.unwrap().entity.summary.unwrap();
    let first = summary().await;
    assert!(first.contains("chess"), "{first}");
    let found = query(&house, &ana, "who is Paul?").await;
    let profiles = found.text.split("## Profiles").nth(1).unwrap_or_default();
    assert!(profiles.contains(&first) && profiles.contains("[entity Paul]"), "{}", found.text);
    assert!(
        found.cited.iter().all(|id| found.hits.iter().any(|hit| hit.memory.id == *id)),
        "only memories are cited by id"
    );
    // A question with a filter is narrower than a description.
    let filter = loci_types::Filter { tags: vec!["x".into()], ..loci_types::Filter::at(house.engine.now()) };
    let narrow = RecallRequest { filter: Some(filter), threshold: Some(0.0), ..ask("who is Paul?") };
    let request = QueryRequest { recall: narrow, ..QueryRequest::default() };
    assert!(!house.engine.query(&ana, request).await.unwrap().text.contains("[entity"));
    // Nothing has changed, so nothing is written; a new fact changes it.
    let dry = MaintainRequest { dry_run: true, only: vec![MaintenanceStep::Enrich], at: None };
    let plan = house.engine.maintain(&Caller::operator(), dry.clone(), |_| {}).await.unwrap();
    assert_eq!(plan.steps[0].changes, 0);
    house.later(1);
    house.remember(&ana, "My friend Paul moved to Lisbon with his violin").await;
    assert_eq!(house.engine.maintain(&Caller::operator(), dry, |_| {}).await.unwrap().steps[0].changes, 1);
    maintain(&house, &[MaintenanceStep::Enrich]).await;
    let second = summary().await;
    assert!(second.contains("violin"), "{second}");
}

// Coverage: S1.25.
#[tokio::test]
async fn entities_are_found_by_meaning() {
    let (house, ana) = (House::new(), user("ana"));
    house.remember(&ana, "My friend Paul repairs bikes and motorcycles").await;
    house.remember(&ana, "My friend Olga teaches the violin").await;
    let found = async |caller: &Caller, text: &str| {
        let found = house.engine.entities(caller, Some(text), 0, 5).await.unwrap();
        found.into_iter().map(|entity| entity.canonical_name).collect::<Vec<_>>()
    };
    // At once by the memories that mention them, and after the night by vectors of their own.
    assert_eq!(found(&ana, "who repairs bikes").await, ["Paul"]);
    maintain(&house, &[MaintenanceStep::Enrich]).await;
    assert_eq!(found(&ana, "teaches the violin").await, ["Olga"]);
    assert_eq!(found(&user("ben"), "teaches the violin").await, Vec::<String>::new());
    house.model(false);
    assert_eq!(found(&ana, "bikes").await, ["Paul"]);
}

// Coverage: S1.27.
#[tokio::test]
async fn evidence_is_the_turn_that_a_fact_was_learned_from() {
    let (house, ana) = (House::new(), user("ana"));
    let said = "The boiler made noises all night. I'm allergic to peanuts. What a week that was, nothing but rain.";
    learn(&house, &ana, "conv1", &[said]).await;
    let fact = house.known(&ana).await.pop().unwrap();
    assert!(fact.content.len() < said.len(), "{}", fact.content);
    let found = query(&house, &ana, "what am I allergic to?").await;
    let evidence = found.text.split("## Evidence").nth(1).unwrap_or_default();
    assert!(evidence.contains("boiler made noises"), "{}", found.text);
    assert!(!found.text.contains("derived_from"), "{}", found.text);
}

// Coverage: S1.29.
#[tokio::test]
async fn a_turn_that_names_its_cause_is_linked_to_what_was_said_before() {
    let (house, ana) = (House::new(), user("ana"));
    let cause = house.say(&ana, "conv1", "user", "The disk of the build server was full last night.").await;
    let aside = house.say(&ana, "conv1", "assistant", "Noted, thanks for telling me.").await;
    let effect = house.say(&ana, "conv1", "user", "That's why the nightly build failed.").await;
    house.end(&ana, "conv1").await;
    // The temporal link is in the history of the turn that it leads to.
    let history = house.engine.history(&ana, effect, 10).await.unwrap().events;
    assert!(serde_json::to_string(&history).unwrap().contains(&aside.to_string()), "{history:#?}");
    let edges = house.engine.edges(&ana, effect, &[Relation::Causal]).await.unwrap();
    assert_eq!(edges.iter().map(|edge| (edge.source_id, edge.target_id)).collect::<Vec<_>>(), [(cause, effect)]);
    assert_eq!((edges[0].confidence, edges[0].predicate.as_deref()), (0.7, Some("that's why")));
    assert_eq!(house.engine.edges(&ana, aside, &[Relation::Causal]).await.unwrap(), []);
    let hits = house.engine.recall(&ana, ask("why did the nightly build fail?")).await.unwrap().hits;
    let texts: Vec<&str> = hits.iter().map(|hit| hit.memory.content.as_str()).collect();
    assert!(texts.iter().any(|text| text.contains("disk")), "{texts:?}");
    assert!(!texts.iter().any(|text| text.contains("Noted")), "{texts:?}");
}

#[tokio::test]
async fn steps_become_procedures_and_assessments_opinions() {
    let (house, ana) = (House::new(), user("ana"));
    for text in [
        "To deploy, first run the tests, then push the tag, then check the dashboard.",
        "Save this workflow: 1) export the CSV 2) clean it 3) import it",
        "Remember how we deploy: run the tests, tag, push.",
        "In my opinion, Rust is worth the learning curve.",
    ] {
        house.say(&ana, "conv1", "user", text).await;
    }
    house.end(&ana, "conv1").await;
    let mut known: Vec<(String, String)> =
        house.known(&ana).await.into_iter().map(|one| (one.kind.name().to_owned(), one.content)).collect();
    known.sort();
    let expect = [
        ("opinion", "In my opinion, Rust is worth the learning curve."),
        ("procedural", "To deploy, first run the tests, then push the tag, then check the dashboard."),
        ("procedural", "how we deploy: run the tests, tag, push."),
        ("procedural", "workflow: 1. export the CSV 2. clean it 3. import it"),
    ];
    assert_eq!(known, expect.map(|(kind, text)| (kind.to_owned(), text.to_owned())));
}

// Coverage: S1.10.
#[tokio::test]
async fn ranks_are_fused_with_the_weights_that_are_set() {
    let with = |change: fn(&mut Retrieval)| {
        let mut config = Config::default();
        change(&mut config.retrieval);
        House::with(config)
    };
    let ana = user("ana");
    let fused = RecallRequest { strategy: Some(Strategy::Rrf), ..ask("green tea") };
    let tell = async |house: &House| {
        for text in ["green tea", "I drink green tea every day", "a green boat lies in the harbour", "red kite"] {
            house.remember(&ana, text).await;
        }
        house.engine.recall(&ana, fused.clone()).await.unwrap().hits
    };
    let hits = tell(&House::new()).await;
    assert_eq!(hits[0].memory.content, "green tea");
    // First in two lanes of three, with equal weights.
    let (k, first) = (60.0, 1.0 / 61.0);
    let lanes = |hit: &loci_engine::RecallHit| -> f64 {
        hit.explain.lanes.iter().filter(|lane| lane.lane != "languages").map(|lane| 1.0 / (k + lane.rank as f64)).sum()
    };
    assert!((hits[0].explain.terms.relevance - lanes(&hits[0]) / (3.0 * first)).abs() < 1e-9, "{:?}", hits[0].explain);
    let words = tell(&with(|retrieval| (retrieval.rrf_weight_vector, retrieval.rrf_weight_graph) = (0.0, 0.0))).await;
    assert!(words.iter().all(|hit| hit.explain.lanes.iter().any(|lane| lane.lane == "lexical")));
    assert_eq!(words[0].explain.terms.relevance, 1.0);
}

// Coverage: S1.11.
#[tokio::test]
async fn the_budget_of_a_context_is_a_setting() {
    let retrieval = Retrieval { context_token_budget: Some(2_000), ..Retrieval::default() };
    let house = House::with(Config { retrieval, ..Config::default() });
    let ana = user("ana");
    house.remember(&ana, "I drink green tea").await;
    let budget = async |request: QueryRequest| house.engine.query(&ana, request).await.unwrap().budget_tokens;
    let usual = QueryRequest { recall: ask("tea"), format: Format::Markdown, ..QueryRequest::default() };
    assert_eq!(budget(usual.clone()).await, 2_000);
    assert_eq!(budget(QueryRequest { budget_tokens: Some(300), ..usual }).await, 300);
}

// Coverage: S1.28.
#[tokio::test]
async fn maintenance_says_when_each_step_was_done() {
    let (house, ana) = (House::new(), in_session("ana", "s1"));
    assert!(house.engine.last_maintained(&ana).await.unwrap().is_empty());
    house.remember(&ana, "My friend Paul drinks tea").await;
    maintain(&house, &[MaintenanceStep::Decay, MaintenanceStep::Enrich]).await;
    let first = house.engine.now();
    house.later(1);
    maintain(&house, &[MaintenanceStep::Decay]).await;
    let times = house.engine.last_maintained(&ana).await.unwrap();
    assert_eq!(times.get(&MaintenanceStep::Decay), Some(&house.engine.now()));
    assert_eq!((times.get(&MaintenanceStep::Enrich), times.len()), (Some(&first), 2));
    let stats = house.engine.stats(&user("ana")).await.unwrap();
    assert_eq!((stats.entities, stats.orphans, stats.content_bytes), (1, 0, 25));
}

/// Questions of all kinds with their intent, in English and Russian.
const QUESTIONS: [(&str, &str); 38] = [
    ("why", "Why did the deploy fail on Friday?"),
    ("why", "What made us switch to Postgres?"),
    ("why", "How come Olga missed the train?"),
    ("why", "What's behind the drop in sales this month?"),
    ("why", "For what reason was the budget cut in March?"),
    ("why", "Why was it that we moved the standup to noon?"),
    ("when", "When is my next appointment with the dentist?"),
    ("when", "What day did the twins start school?"),
    ("when", "How long ago did we renew the certificate?"),
    ("when", "Since when has Marta been on the board?"),
    ("when", "At what time does the ferry to the island leave?"),
    ("when", "By when must the invoice be paid?"),
    ("who", "Who fixed the leaking tap?"),
    ("who", "Whose laptop was stolen?"),
    ("who", "Who should I call about the boiler?"),
    ("who", "Which of my colleagues speaks Japanese?"),
    ("who", "Who is Clara?"),
    ("what", "What database do we use?"),
    ("what", "Where did I park the car?"),
    ("what", "What is the wifi password at the cabin?"),
    ("what", "Which plan did we choose for the trip?"),
    ("what", "How many guests are coming?"),
    ("what", "What did Peter say about the contract?"),
    ("general", "Tell me everything about the Atlas project."),
    ("general", "Anything new with the garden?"),
    ("general", "Did I tell you about my knee?"),
    ("general", "Summarise my relationship with Ines."),
    ("general", "Is the heating on?"),
    ("why", "Почему упал деплой в пятницу?"),
    ("why", "Из-за чего мы перешли на Postgres?"),
    ("when", "Когда у меня приём у врача?"),
    ("when", "До какого числа надо оплатить счёт?"),
    ("who", "Кто починил кран?"),
    ("who", "С кем я играю в теннис по средам?"),
    ("what", "Какой пароль от вайфая на даче?"),
    ("what", "Где я припарковал машину?"),
    ("general", "Расскажи мне про проект Атлас."),
    ("general", "Есть новости о саде?"),
];

// Coverage: S1.9.
#[test]
fn questions_of_all_kinds_show_their_intent() {
    for (intent, question) in QUESTIONS {
        assert_eq!(loci_engine::plan::intent::keyword_intent(question).name(), intent, "{question}");
    }
}
