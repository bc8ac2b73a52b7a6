//! Tests that only members see a pool, and that contributions keep their origin.

use loci_engine::{
    Caller, ContextRequest, EntityObservations, FeedRequest, FindRequest, GraphEntity, ListRequest, NewMemory, NewPool,
    OperationsRequest, QueryRequest, SummarizeRequest, Turn, Update,
};
use loci_types::{
    Bounds, ErrorKind, Filter, Grant, Identifiers, Layer, Memory, MemoryId, Outcome, Role, SessionFilter, Space, State,
    Tenant,
};

use crate::house::{House, ask, new, user};

/// A word in everything that must not be revealed.
const SECRET: &str = "zanzibar";

fn named(agent: Option<&str>, user: Option<&str>, pool: Option<&str>) -> Caller {
    let own = |name: Option<&str>| name.map(str::to_owned);
    let [agent_id, user_id, pool_id] = [own(agent), own(user), own(pool)];
    Caller::new(Identifiers { agent_id, user_id, pool_id, ..Identifiers::default() })
}

/// An agent that speaks for ana and names the pool.
fn member(agent: &str) -> Caller {
    named(Some(agent), Some("ana"), Some("physics"))
}

fn elsewhere(caller: Caller) -> Caller {
    Caller { tenant: Tenant::new("other").unwrap(), ..caller }
}

async fn make(house: &House, slug: &str, members: &[&str]) {
    let members = members.iter().map(|name| (*name).to_owned()).collect();
    let pool = NewPool { pool_id: slug.to_owned(), name: None, agent_ids: members };
    house.engine.create_pool(&Caller::operator(), pool).await.unwrap();
}

/// A pool with something in it that is worth a secret, and what it is about.
async fn house_with_a_pool() -> (House, Memory) {
    let house = House::new();
    make(&house, "physics", &["owl", "ant"]).await;
    let owl = member("owl");
    let secret = NewMemory { confidence: Some(0.4), ..new(&format!("Anna Petrova keeps the lantern in {SECRET}")) };
    let id = house.engine.contribute(&owl, secret).await.unwrap().id;
    let turn = Turn {
        thread_id: "monday".into(),
        content: format!("I met Boris in {SECRET}"),
        role: Some("user".into()),
        layer: Some(Layer::Pool),
        ..Turn::default()
    };
    house.engine.ingest(&owl, turn).await.unwrap();
    let only = named(Some("owl"), None, Some("physics"));
    let entity = GraphEntity {
        name: "Lantern".into(),
        entity_type: "thing".into(),
        observations: vec![format!("shines in {SECRET}")],
    };
    house.engine.graph_create_entities(&only, vec![entity]).await.unwrap();
    house.engine.work(&Caller::operator(), &[], 100).await.unwrap();
    let memory = house.engine.get(&owl, id).await.unwrap();
    (house, memory)
}

/// Everything in the pool, as it stands.
async fn user_data(house: &House) -> Vec<(MemoryId, u64, State)> {
    let mut owner = Caller::operator();
    owner.identifiers.pool_id = Some("physics".into());
    let request =
        ListRequest { filter: Some(house.engine.everything(None)), limit: Some(100), ..ListRequest::default() };
    let listed = house.engine.list(&owner, request).await.unwrap().memories;
    listed.into_iter().map(|memory| (memory.id, memory.version, memory.state)).collect()
}

/// What each verb answers, as text; an error as what it says, and that it is one.
struct Tried(Vec<(&'static str, Result<String, ErrorKind>)>);

impl Tried {
    fn add<T: std::fmt::Debug>(&mut self, verb: &'static str, outcome: Result<T, loci_engine::Error>) {
        let answer = outcome.map(|answer| format!("{answer:?}")).map_err(|error| {
            let problem = format!("{:?}", error.problem("x"));
            assert!(!problem.contains(SECRET), "{verb}: {problem}");
            error.kind()
        });
        self.0.push((verb, answer));
    }
}

/// Calls everything that reads.
async fn read(house: &House, caller: &Caller, memory: &Memory) -> Tried {
    let (engine, id, question) = (&house.engine, memory.id, "where does Anna Petrova keep the lantern?");
    let mut tried = Tried(Vec::new());
    tried.add("recall", engine.recall(caller, ask(question)).await);
    tried.add("search", engine.search(caller, ask(question)).await);
    let find = FindRequest { recall: ask(question), entity: Some("Lantern".into()), ..FindRequest::default() };
    tried.add("find", engine.find(caller, find).await);
    tried.add("query", engine.query(caller, QueryRequest { recall: ask(question), ..QueryRequest::default() }).await);
    let delta = QueryRequest { recall: ask("tea"), since: Some(0), ..QueryRequest::default() };
    tried.add("delta", engine.query(caller, delta).await);
    let context = ContextRequest { recall: ask(question), ..ContextRequest::default() };
    tried.add("context", engine.context(caller, context).await);
    tried.add("get", engine.get(caller, id).await);
    tried.add("list", engine.list(caller, ListRequest::default()).await);
    let pool = ListRequest { layers: Some(vec![Layer::Pool]), ..ListRequest::default() };
    tried.add("list the layer", engine.list(caller, pool).await);
    tried.add("history", engine.history(caller, id, 10).await);
    tried.add("explain", engine.explain(caller, id).await);
    tried.add("versions", engine.versions(caller, id).await);
    tried.add("edges", engine.edges(caller, id, &[]).await);
    tried.add("neighbourhood", engine.neighbourhood(caller, id, 2, &[]).await);
    tried.add("embeddings", engine.embeddings(caller, &[id]).await.map(|found| (!found.is_empty()).then_some(SECRET)));
    tried
        .add("entities", engine.entities(caller, None, 0, 10).await.map(|found| (!found.is_empty()).then_some(SECRET)));
    tried.add("entity", engine.entity(caller, "Lantern").await);
    tried.add("feed", engine.feed(caller, &FeedRequest::default()).await);
    tried.add("recent", engine.recent_changes(caller, None, 50).await);
    tried.add("stats", engine.stats(caller).await.map(|stats| (stats.memories > 0).then_some(SECRET)));
    let counted = engine.operations(caller, OperationsRequest::default()).await;
    tried.add("operations", counted.map(|answer| (!answer.data.is_empty()).then_some(SECRET)));
    let sessions = engine.sessions(caller, SessionFilter::default()).await;
    tried.add("sessions", sessions.map(|found| (!found.is_empty()).then_some(SECRET)));
    tried.add("proposals", engine.proposals(caller).await);
    tried.add("weak", engine.weak_facts(caller, Some(1.0), 10).await);
    tried.add("summarize", engine.summarize(caller, SummarizeRequest::default()).await);
    let monday = SummarizeRequest { session: Some("monday".into()), ..SummarizeRequest::default() };
    tried.add("summarize a session", engine.summarize(caller, monday).await);
    tried.add("graph", engine.graph_read(caller).await);
    tried.add("graph search", engine.graph_search(caller, SECRET).await);
    tried.add("graph open", engine.graph_open(caller, &["Lantern".into()]).await);
    tried.add("pool", engine.pool(caller).await.map(|pool| (!pool.members.is_empty()).then_some(SECRET)));
    tried.add("query the pool", engine.query_pool(caller, ask(question)).await);
    tried
}

/// Calls everything that changes what is there.
async fn write(house: &House, caller: &Caller, memory: &Memory) -> Tried {
    let (engine, id, said) = (&house.engine, memory.id, "a stranger was here");
    let mut tried = Tried(Vec::new());
    let layer = Some(Layer::Pool);
    tried.add("remember", engine.remember(caller, NewMemory { layer, ..new(said) }).await);
    tried.add("contribute", engine.contribute(caller, new(said)).await);
    tried.add("contribute a memory", engine.contribute_memory(caller, id).await);
    let turn = Turn { thread_id: "monday".into(), content: said.into(), layer, ..Turn::default() };
    tried.add("ingest", engine.ingest(caller, turn.clone()).await);
    tried.add("ingest many", engine.ingest_many(caller, vec![turn]).await);
    let update = Update { content: Some(said.into()), ..Update::default() };
    tried.add("update", engine.update(caller, id, update).await);
    tried.add("supersede", engine.supersede(caller, id, new(said)).await);
    tried.add("correct", engine.correct(caller, id, said, None).await);
    tried.add("confirm", engine.confirm(caller, id).await);
    tried.add("pin", engine.pin(caller, id, true).await);
    tried.add("forget", engine.forget(caller, id, None, None).await);
    tried.add("restore", engine.restore(caller, id).await);
    tried.add("erase", engine.erase(caller, id, None, None).await);
    tried.add("undo", engine.undo(caller, &Space::Pool("physics".into()), 1).await);
    tried.add("accept", engine.accept(caller, id).await);
    tried.add("reject", engine.reject(caller, id, None).await);
    tried.add("end a session", engine.end_session(caller, "monday").await);
    tried.add("unite", engine.merge_entities(caller, "Lantern", "Boris").await);
    let record = Memory { id: crate::house::unknown(), content: said.into(), ..memory.clone() };
    tried.add("check a record", engine.check_record(caller, &record).await);
    tried.add("import", engine.import_many(caller, vec![record]).await);
    let observed = EntityObservations { entity_name: "Lantern".into(), contents: vec![said.into()] };
    tried.add("observe", engine.graph_add_observations(caller, vec![observed]).await);
    tried.add("sync", engine.sync_pool(caller, |_, _| {}).await);
    tried.add("leave", engine.leave_pool(caller, "owl").await);
    tried.add("join", engine.join_pool(caller, "physics", &["spy".into()]).await);
    tried.add("drop", engine.drop_pool(caller, "physics").await);
    let again = NewPool { pool_id: "physics".into(), name: None, agent_ids: vec!["spy".into()] };
    tried.add("create", engine.create_pool(caller, again).await);
    tried
}

// Coverage: SPEC-4.1.
#[tokio::test]
async fn who_is_not_a_member_gets_nothing_by_any_verb() {
    let (house, memory) = house_with_a_pool().await;
    house.engine.leave_pool(&member("ant"), "ant").await.unwrap();
    // The same name in another tenant, with a member of the same name.
    let theirs = elsewhere(Caller::operator());
    let pool = NewPool { pool_id: "physics".into(), name: None, agent_ids: vec!["spy".into(), "owl".into()] };
    house.engine.create_pool(&theirs, pool).await.unwrap();
    make(&house, "chemistry", &["spy"]).await;
    let strangers = [
        ("a stranger", member("spy")),
        ("a former member", member("ant")),
        ("another tenant's member", elsewhere(member("spy"))),
        ("another tenant's member of the same name", elsewhere(member("owl"))),
        ("a user", named(None, Some("ana"), Some("physics"))),
        ("nobody", named(None, None, Some("physics"))),
        ("a user who names no pool", named(None, Some("ana"), None)),
        ("a stranger who names no pool", named(Some("spy"), Some("ana"), None)),
        ("a member who names no pool", named(Some("owl"), Some("ana"), None)),
        ("a member of another pool", named(Some("spy"), Some("ana"), Some("chemistry"))),
        ("a member by another spelling", member("Owl")),
        ("the operator as a stranger", Caller { operator: true, role: Role::Admin, ..member("spy") }),
    ];
    let before = user_data(&house).await;
    assert!(before.len() >= 4, "there is something to lose: {before:?}");
    // All of them read before any of them writes: what one has written is its own, not the pool's.
    for (sort, stranger) in &strangers {
        for (verb, answer) in read(&house, stranger, &memory).await.0 {
            let answer = answer.unwrap_or_default();
            let own = verb == "pool" && sort.contains("another");
            assert!(own || !answer.contains(SECRET), "{verb} by {sort}: {answer}");
        }
    }
    for (sort, stranger) in &strangers {
        // Who runs the store may do to a pool what it likes; it does not see more as a stranger.
        let runs = |verb: &str| {
            stranger.operator && matches!(verb, "join" | "drop" | "create" | "check a record" | "import" | "leave")
        };
        for (verb, answer) in write(&house, stranger, &memory).await.0 {
            let foreign = sort.starts_with("another tenant");
            let aimed = stranger.identifiers.pool_id.as_deref() == Some("physics") && !foreign;
            assert!(!answer.clone().unwrap_or_default().contains(SECRET), "{verb} by {sort}");
            assert!(!aimed || runs(verb) || answer.is_err(), "{verb} by {sort}: {answer:?}");
        }
        if !stranger.operator {
            assert_eq!(user_data(&house).await, before, "{sort} has changed something");
            let members = house.engine.pool(&member("owl")).await.unwrap().members.len();
            assert_eq!(members, 1, "{sort} let someone in or out");
        }
    }
}

// Coverage: SPEC-4.1.
#[tokio::test]
async fn a_stranger_receives_the_same_error_as_for_an_unknown_pool() {
    let (house, memory) = house_with_a_pool().await;
    let spy = |pool: &str| named(Some("spy"), Some("ana"), Some(pool));
    let error_of = async |pool: &str| {
        let error = house.engine.get(&spy(pool), memory.id).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthorized);
        format!("{:?}", error.problem("get")).replace(pool, "POOL")
    };
    assert_eq!(error_of("physics").await, error_of("nowhere").await);
    assert!(error_of("physics").await.contains("poolId"));
    // Named by nobody but the credential, it is left out, and the agent keeps what is its own.
    let bounds = Bounds {
        agents: ["spy".to_owned()].into(),
        users: ["ana".to_owned()].into(),
        pools: ["physics".to_owned()].into(),
        ..Bounds::default()
    };
    let grant =
        Grant { tenant: Tenant::default(), role: Role::Writer, bounds, categories: None, rights: Default::default() };
    let implied = Caller::admitted(&grant, "k", Identifiers::default()).unwrap();
    house.remember(&implied, "The spy drinks tea").await;
    assert_eq!(
        house.recall(&implied, "what does the spy drink, and where is the lantern?").await,
        ["The spy drinks tea"]
    );
    let own = house.known(&implied).await;
    assert_eq!((own.len(), own[0].identifiers.pool_id.as_deref()), (1, None));
    house.engine.join_pool(&Caller::operator(), "physics", &["spy".into()]).await.unwrap();
    assert!(house.recall(&implied, "where is the lantern?").await.iter().any(|text| text.contains(SECRET)));
}

// Coverage: SPEC-4.1.
#[tokio::test]
async fn a_member_reads_by_every_verb() {
    let (house, memory) = house_with_a_pool().await;
    let ant = member("ant");
    // The graph of a caller is in its most specific layer; nothing waits for consent or for a vector; links,
    // lines of a history and changes in the agent's own space tell no text.
    let silent = ["graph", "graph search", "graph open", "delta", "proposals", "models", "edges", "history"];
    let mut missed = Vec::new();
    for (verb, answer) in read(&house, &ant, &memory).await.0 {
        if !answer.as_ref().is_ok_and(|answer| answer.contains(SECRET) || silent.contains(&verb)) {
            missed.push((verb, answer));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
    let alone = named(Some("ant"), None, Some("physics"));
    assert_eq!(house.engine.graph_read(&alone).await.unwrap().entities.len(), 1);
    assert!(!house.engine.history(&ant, memory.id, 10).await.unwrap().events.is_empty());
    // The operator sees every pool there is, and no other.
    let mut operator = Caller::operator();
    operator.identifiers.pool_id = Some("physics".into());
    assert_eq!(house.engine.get(&operator, memory.id).await.unwrap().id, memory.id);
    operator.identifiers.pool_id = Some("nowhere".into());
    assert_eq!(house.engine.get(&operator, memory.id).await.unwrap_err().kind(), ErrorKind::Unauthorized);
}

#[tokio::test]
async fn a_member_writes_and_a_reader_does_not() {
    let (house, memory) = house_with_a_pool().await;
    let reader = Caller { role: Role::Reader, ..member("ant") };
    for (verb, answer) in write(&house, &reader, &memory).await.0 {
        assert!(answer.is_err() || verb == "check a record", "{verb}: {answer:?}");
    }
    let (ant, owl) = (member("ant"), member("owl"));
    let right = house.engine.correct(&ant, memory.id, "The lantern is in Graz", None).await.unwrap();
    assert_eq!(right.event, Outcome::Superseded);
    let by = async |id| house.engine.get(&owl, id).await.unwrap().identifiers.agent_id;
    assert_eq!((by(memory.id).await.as_deref(), by(right.id).await.as_deref()), (Some("owl"), Some("ant")));
    let kept = house.engine.contribute(&ant, new("Neutrons have no charge")).await.unwrap();
    assert_eq!(by(kept.id).await.as_deref(), Some("ant"));
    house.engine.forget(&owl, kept.id, None, None).await.unwrap();
}

// Coverage: S4.17.
#[tokio::test]
async fn pools_are_looked_after_by_the_operator() {
    let house = House::new();
    let operator = Caller::operator();
    make(&house, "physics", &["owl"]).await;
    let taken = NewPool { pool_id: "physics".into(), name: None, agent_ids: vec!["spy".into()] };
    assert_eq!(house.engine.create_pool(&operator, taken).await.unwrap_err().kind(), ErrorKind::Conflict);
    assert_eq!(house.engine.join_pool(&operator, "physics", &["ant".into(), "owl".into()]).await.unwrap(), 1);
    assert_eq!(
        house.engine.join_pool(&operator, "nowhere", &["ant".into()]).await.unwrap_err().kind(),
        ErrorKind::NotFound
    );
    let slugs = |pools: Vec<loci_engine::Pool>| pools.into_iter().map(|pool| pool.pool_id).collect::<Vec<_>>();
    assert_eq!(slugs(house.engine.pools(&operator).await.unwrap()), ["physics"]);
    assert_eq!(slugs(house.engine.pools(&named(Some("ant"), None, None)).await.unwrap()), ["physics"]);
    assert!(house.engine.pools(&named(Some("spy"), None, None)).await.unwrap().is_empty());
    let without_pools = Caller { pools: Some([].into()), ..named(Some("ant"), None, None) };
    assert!(house.engine.pools(&without_pools).await.unwrap().is_empty(), "not within the bounds of the credential");
    assert_eq!(house.engine.pools(&user("ana")).await.unwrap_err().kind(), ErrorKind::MissingIdentifier);
    // An agent takes out nobody but itself.
    assert_eq!(house.engine.leave_pool(&member("ant"), "owl").await.unwrap_err().kind(), ErrorKind::Unauthorized);
    house.engine.leave_pool(&member("ant"), "ant").await.unwrap();
    assert_eq!(house.engine.leave_pool(&member("ant"), "ant").await.unwrap_err().kind(), ErrorKind::Unauthorized);
    let all = Caller { identifiers: member("owl").identifiers, ..Caller::operator() };
    assert_eq!(house.engine.leave_pool(&all, "ant").await.unwrap_err().kind(), ErrorKind::NotFound);
    house.engine.leave_pool(&all, "owl").await.unwrap();
    for caller in [member("owl"), user("ana")] {
        assert_eq!(house.engine.drop_pool(&caller, "physics").await.unwrap_err().kind(), ErrorKind::Unauthorized);
    }
    house.engine.drop_pool(&operator, "physics").await.unwrap();
    assert_eq!(house.engine.drop_pool(&operator, "physics").await.unwrap_err().kind(), ErrorKind::NotFound);
}

// Coverage: S4.18.
#[tokio::test]
async fn a_contribution_keeps_where_it_came_from_and_stays() {
    let house = House::new();
    make(&house, "physics", &["owl", "ant"]).await;
    let owl = member("owl");
    let own = named(Some("owl"), Some("ana"), None);
    let id = house.remember(&own, "The reactor runs at 300 degrees").await.id;
    let first = house.engine.contribute_memory(&owl, id).await.unwrap();
    assert_eq!(first.event, Outcome::Created);
    assert_eq!(house.engine.contribute_memory(&owl, id).await.unwrap().event, Outcome::None);
    let copy = house.engine.get(&member("ant"), first.id).await.unwrap();
    assert_eq!((copy.layer, copy.identifiers.agent_id.as_deref()), (Layer::Pool, Some("owl")));
    assert_eq!(copy.metadata["contributedFrom"], serde_json::json!({ "space": "agent_memory_owl", "id": id }));
    // What has changed since takes the place of the old.
    house.later(1);
    let update = Update { content: Some("The reactor runs at 320 degrees".into()), ..Update::default() };
    house.engine.update(&own, id, update).await.unwrap();
    let second = house.engine.contribute_memory(&owl, id).await.unwrap();
    assert_ne!(second.id, first.id);
    let question = "how hot is the reactor?";
    assert_eq!(
        house.recall(&named(Some("ant"), None, Some("physics")), question).await,
        ["The reactor runs at 320 degrees"]
    );
    assert_eq!(house.engine.versions(&member("ant"), second.id).await.unwrap().versions.len(), 2);
    // It stays when its contributor goes.
    house.engine.leave_pool(&owl, "owl").await.unwrap();
    assert_eq!(house.recall(&named(Some("ant"), None, Some("physics")), question).await.len(), 1);
    assert_eq!(house.engine.contribute(&owl, new("x")).await.unwrap_err().kind(), ErrorKind::Unauthorized);
    // Private memories are not shared, and neither are memories of a pool.
    let private = NewMemory { access_policy: Some(loci_types::AccessPolicy::Private), ..new("The owl is afraid") };
    let hidden = house.engine.remember(&named(Some("ant"), Some("ana"), None), private).await.unwrap().id;
    for id in [hidden, second.id] {
        let error = house.engine.contribute_memory(&member("ant"), id).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
}

// Coverage: S4.19.
#[tokio::test]
async fn a_sync_brings_what_is_new_or_changed_and_only_that() {
    let house = House::new();
    make(&house, "physics", &["owl", "ant"]).await;
    let (owl, ant, own) = (member("owl"), member("ant"), named(Some("ant"), Some("ana"), None));
    let texts = ["Neutrons have no charge", "The reactor runs at 300 degrees", "Radon is a noble gas"];
    let mut ids = Vec::new();
    for text in texts {
        ids.push(house.engine.contribute(&owl, new(text)).await.unwrap().id);
    }
    // One the agent knows itself, one it has contributed itself.
    house.remember(&own, texts[2]).await;
    let mine = house.remember(&own, "Ferries leave from pier nine").await.id;
    house.engine.contribute_memory(&ant, mine).await.unwrap();
    let sync = async || {
        let done = house.engine.sync_pool(&ant, |_, _| {}).await.unwrap();
        (done.created, done.updated, done.unchanged)
    };
    assert_eq!(sync().await, (2, 0, 2));
    assert_eq!(sync().await, (0, 0, 4));
    let copies = house.known(&own).await;
    let copy = copies.iter().find(|memory| memory.content == texts[0]).unwrap();
    assert_eq!((copy.layer, copies.len()), (Layer::Agent, 4));
    let from = &copy.metadata["syncedFrom"];
    assert_eq!(
        (&from["pool"], &from["id"], &from["agentId"]),
        (&"physics".into(), &ids[0].to_string().into(), &"owl".into())
    );
    assert_eq!(copy.source.as_ref().map(|source| source.kind.as_str()), Some("pool"));
    // One is changed, one replaced, one is new.
    house.later(1);
    let update = Update { content: Some("Neutrons have no electric charge".into()), ..Update::default() };
    house.engine.update(&owl, ids[0], update).await.unwrap();
    house.engine.supersede(&owl, ids[1], new("The reactor runs at 320 degrees")).await.unwrap();
    house.engine.contribute(&owl, new("Muons decay quickly")).await.unwrap();
    assert_eq!(sync().await, (1, 2, 2));
    assert_eq!(sync().await, (0, 0, 5));
    let known: Vec<String> = house.known(&own).await.into_iter().map(|memory| memory.content).collect();
    for text in ["Neutrons have no electric charge", "The reactor runs at 320 degrees", "Muons decay quickly"] {
        assert!(known.iter().any(|known| known == text), "{text}: {known:?}");
    }
    assert_eq!(known.len(), 5, "{known:?}");
    // What the agent forgets stays forgotten, and what it has stays when it leaves.
    house.engine.forget(&own, copy.id, None, None).await.unwrap();
    assert_eq!(sync().await, (0, 0, 5));
    house.engine.leave_pool(&ant, "ant").await.unwrap();
    assert_eq!(house.engine.sync_pool(&ant, |_, _| {}).await.unwrap_err().kind(), ErrorKind::Unauthorized);
    assert_eq!(house.recall(&own, "how fast do muons decay?").await[0], "Muons decay quickly");
    assert_eq!(house.engine.get(&own, ids[0]).await.unwrap_err().kind(), ErrorKind::NotFound);
    // Dropping the pool takes nothing from the agent.
    house.engine.drop_pool(&Caller::operator(), "physics").await.unwrap();
    assert_eq!(house.known(&own).await.len(), 4);
}

// Coverage: S4.19.
#[tokio::test]
async fn a_sync_needs_a_member_and_its_user() {
    let house = House::new();
    make(&house, "physics", &["ant"]).await;
    for (caller, kind, field) in [
        (named(Some("ant"), None, Some("physics")), ErrorKind::MissingIdentifier, "userId"),
        (named(Some("ant"), Some("ana"), None), ErrorKind::MissingIdentifier, "poolId"),
        (named(None, Some("ana"), Some("physics")), ErrorKind::Unauthorized, "poolId"),
        (member("owl"), ErrorKind::Unauthorized, "poolId"),
    ] {
        let error = house.engine.sync_pool(&caller, |_, _| {}).await.unwrap_err();
        assert_eq!((error.kind(), error.problem("sync").details["field"].clone()), (kind, field.into()), "{caller:?}");
    }
}

// Coverage: SPEC-4.1.
#[tokio::test]
async fn results_of_a_pool_do_not_count_after_leaving_it() {
    let house = House::new();
    make(&house, "physics", &["owl", "ant"]).await;
    let statement = "Radon is a noble gas";
    house.engine.contribute(&member("owl"), new(statement)).await.unwrap();
    let mut request = ask("which gas is noble?");
    request.for_thread = Some("monday".into());
    assert_eq!(house.engine.recall(&member("ant"), request).await.unwrap().hits.len(), 1);
    house.engine.flush().await;
    house.engine.leave_pool(&member("ant"), "ant").await.unwrap();
    // The same words in the same conversation are the agent's own now.
    let own = named(Some("ant"), Some("ana"), None);
    let said = NewMemory { thread_id: Some("monday".into()), ..new(statement) };
    assert_eq!(house.engine.remember(&own, said).await.unwrap().event, Outcome::Created);
}

// Coverage: S0.8.
#[tokio::test]
async fn what_is_said_of_a_group_is_known_to_its_team() {
    let house = House::new();
    let of = |team: &str| {
        let mut caller = user("ana");
        caller.identifiers.team_id = Some(team.to_owned());
        caller
    };
    let rowers = NewMemory { layer: Some(Layer::Team), ..new("The rowers train on Tuesdays") };
    let id = house.engine.remember(&of("rowers"), rowers).await.unwrap().id;
    let mut ben = user("ben");
    ben.identifiers.team_id = Some("rowers".into());
    assert_eq!(house.recall(&ben, "when do the rowers train?").await, ["The rowers train on Tuesdays"]);
    for stranger in [of("climbers"), user("ana")] {
        assert!(house.recall(&stranger, "when do the rowers train?").await.is_empty());
        assert_eq!(house.engine.get(&stranger, id).await.unwrap_err().kind(), ErrorKind::NotFound);
    }
    let listed = ListRequest { filter: Some(Filter::at(house.engine.now())), ..ListRequest::default() };
    assert_eq!(house.engine.list(&ben, listed).await.unwrap().total_count, 1);
}
