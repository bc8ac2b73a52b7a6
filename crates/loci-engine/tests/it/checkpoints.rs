//! Tests of checkpoints: storing, finding, and isolation between callers.

use std::collections::BTreeSet;
use std::sync::Arc;

use loci_engine::{
    Caller, CheckpointRemoval, CheckpointRequest, Config, Limits, NewCheckpoint, NewFact, SavedCheckpoint,
};
use loci_types::{ErrorKind, Identifiers, Layer, Outcome, PendingWrite, Role, Tenant};
use serde_json::{Map, json};

use crate::house::{House, user};

fn step(thread: &str, id: &str, parent: Option<&str>, data: &str) -> NewCheckpoint {
    NewCheckpoint {
        thread_id: thread.into(),
        id: Some(id.into()),
        parent_id: parent.map(str::to_owned),
        data: data.into(),
        ..NewCheckpoint::default()
    }
}

fn of(thread: &str) -> CheckpointRequest {
    CheckpointRequest { thread_id: thread.into(), ..CheckpointRequest::default() }
}

fn field(error: &loci_engine::Error) -> String {
    error.problem("checkpoint").details["field"].as_str().unwrap_or_default().to_owned()
}

// Coverage: S3-15.1.
#[tokio::test]
async fn a_program_resumes_from_its_checkpoint() {
    let house = House::new();
    let ana = user("ana");
    let engine = &house.engine;
    for (id, parent) in [("1", None), ("2", Some("1")), ("3", Some("2"))] {
        let put = engine.put_checkpoint(&ana, step("t", id, parent, &format!("{{\"at\":{id}}}"))).await.unwrap();
        assert_eq!((put.id.as_str(), put.event), (id, Outcome::Created));
    }
    let (newest, _) = engine.checkpoint(&ana, "t", "", None).await.unwrap();
    assert_eq!((newest.id.as_str(), newest.data.as_deref()), ("3", Some(&b"{\"at\":3}"[..])));
    let write = PendingWrite {
        task_id: "task".into(),
        position: 0,
        task_path: String::new(),
        channel: "messages".into(),
        format: "msgpack".into(),
        data: vec![0, 255],
    };
    assert_eq!(engine.put_writes(&ana, "t", "", "3", vec![write]).await.unwrap(), 1);
    let saved = SavedCheckpoint::from(engine.checkpoint(&ana, "t", "", Some("3")).await.unwrap());
    assert_eq!((saved.data, &saved.writes[0].data), (Some(json!({ "at": 3 })), &json!("AP8=")));
    let line = engine.checkpoint_history(&ana, of("t")).await.unwrap();
    assert_eq!(line.iter().map(|(one, _)| one.id.as_str()).collect::<Vec<_>>(), ["3", "2", "1"]);
    let before = CheckpointRequest { before: Some("3".into()), ..of("t") };
    assert_eq!(engine.checkpoints(&ana, before).await.unwrap().len(), 2);
    // An id of its own for one that was given none.
    let unnamed = NewCheckpoint { id: None, ..step("u", "", None, "null") };
    let made = engine.put_checkpoint(&ana, unnamed).await.unwrap().id;
    assert_eq!(engine.checkpoint(&ana, "u", "", None).await.unwrap().0.id, made);
    let threads = engine.checkpoint_threads(&ana, 0, 100).await.unwrap();
    assert_eq!(threads.iter().map(|one| one.thread_id.as_str()).collect::<Vec<_>>(), ["u", "t"]);
    assert_eq!(engine.delete_checkpoints(&ana, "t", CheckpointRemoval::AllBut(1)).await.unwrap(), 2);
    assert_eq!(engine.delete_checkpoints(&ana, "t", CheckpointRemoval::Thread).await.unwrap(), 1);
    assert_eq!(engine.checkpoint(&ana, "t", "", None).await.unwrap_err().kind(), ErrorKind::NotFound);
    // A checkpoint does not count as a memory.
    assert_eq!(engine.stats(&Caller::operator()).await.unwrap().memories, 0);
}

#[tokio::test]
async fn what_is_put_is_checked() {
    let limits = Limits { checkpoint_bytes: 16, ..Limits::default() };
    let house = House::with(Config { limits, ..Config::default() });
    let (ana, long) = (user("ana"), "x".repeat(513));
    let mut fields = Map::new();
    fields.insert("a".into(), "x".repeat(70_000).into());
    for (new, expect, kind) in [
        (step("", "1", None, "1"), "threadId", ErrorKind::InvalidInput),
        (step("t", "", None, "1"), "id", ErrorKind::InvalidInput),
        (step(&long, "1", None, "1"), "threadId", ErrorKind::InvalidInput),
        (step("t", "a\0", None, "1"), "id", ErrorKind::InvalidInput),
        (step("t", "1", None, "not json"), "data", ErrorKind::InvalidInput),
        (step("t", "1", None, "\"0123456789abcdef\""), "data", ErrorKind::ContentTooLong),
        (NewCheckpoint { metadata: fields, ..step("t", "1", None, "1") }, "metadata", ErrorKind::InvalidInput),
    ] {
        let error = house.engine.put_checkpoint(&ana, new).await.unwrap_err();
        assert_eq!((field(&error).as_str(), error.kind()), (expect, kind), "{error}");
    }
    let bytes = NewCheckpoint { format: "bytes".into(), ..step("t", "1", None, "not json") };
    house.engine.put_checkpoint(&ana, bytes.clone()).await.unwrap();
    let other = NewCheckpoint { data: b"other".to_vec(), ..bytes };
    let error = house.engine.put_checkpoint(&ana, other.clone()).await.unwrap_err();
    assert_eq!((error.kind(), field(&error).as_str()), (ErrorKind::Conflict, "id"));
    let put = house.engine.put_checkpoint(&ana, NewCheckpoint { replace: true, ..other }).await.unwrap();
    assert_eq!(put.event, Outcome::Updated);
    let late = NewCheckpoint { expect_parent: Some("0".into()), ..step("t", "2", Some("0"), "1") };
    let error = house.engine.put_checkpoint(&ana, late).await.unwrap_err();
    assert_eq!((error.kind(), field(&error).as_str()), (ErrorKind::Conflict, "expectParent"));
}

// Coverage: S3-15.1.
#[tokio::test]
async fn a_checkpoint_is_nobody_elses() {
    let house = House::new();
    let engine = &house.engine;
    let agent = |agent: &str, user: &str| {
        let identifiers =
            Identifiers { agent_id: Some(agent.to_owned()), user_id: Some(user.to_owned()), ..Identifiers::default() };
        Caller::new(identifiers)
    };
    engine.put_checkpoint(&user("ana"), step("t", "user's", None, "1")).await.unwrap();
    engine.put_checkpoint(&agent("bot", "ana"), step("t", "bot's", None, "1")).await.unwrap();
    let found = engine.checkpoint(&agent("bot", "ana"), "t", "", None).await.unwrap().0;
    assert_eq!((found.id.as_str(), found.scope.layer()), ("bot's", Layer::Agent));
    assert_eq!(engine.checkpoint(&user("ana"), "t", "", None).await.unwrap().0.id, "user's");
    let some = Caller { categories: Some(BTreeSet::from(["tasks".to_owned()])), ..user("ana") };
    for stranger in [
        user("ben"),
        agent("other", "ana"),
        agent("bot", "ben"),
        Caller { tenant: Tenant::new("other").unwrap(), ..user("ana") },
        some.clone(),
    ] {
        assert_eq!(engine.checkpoints(&stranger, of("t")).await.unwrap(), [], "{stranger:?}");
        assert_eq!(engine.checkpoint_threads(&stranger, 0, 100).await.unwrap(), []);
        assert_eq!(engine.checkpoint_history(&stranger, of("t")).await.unwrap_err().kind(), ErrorKind::NotFound);
        if stranger.categories.is_none() {
            assert_eq!(engine.delete_checkpoints(&stranger, "t", CheckpointRemoval::Thread).await.unwrap(), 0);
        }
    }
    let reader = Caller { role: Role::Reader, ..user("ana") };
    for refused in [some, reader] {
        let error = engine.put_checkpoint(&refused, step("t", "9", None, "1")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthorized);
        let error = engine.delete_checkpoints(&refused, "t", CheckpointRemoval::Thread).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthorized);
    }
    let error = engine.checkpoints(&Caller::operator(), of("t")).await.unwrap_err();
    assert_eq!((error.kind(), field(&error).as_str()), (ErrorKind::MissingIdentifier, "userId"));
}

#[tokio::test(flavor = "multi_thread")]
async fn sixteen_writers_make_one_line() {
    let house = Arc::new(House::new());
    house.engine.put_checkpoint(&user("ana"), step("t", "start", None, "0")).await.unwrap();
    let writers = (0..16).map(|writer| {
        let house = house.clone();
        tokio::spawn(async move {
            let mut conflicts = 0;
            for number in 0..3 {
                loop {
                    let newest = house.engine.checkpoint(&user("ana"), "t", "", None).await.unwrap().0.id;
                    let id = format!("{writer}.{number}");
                    let new =
                        NewCheckpoint { expect_parent: Some(newest.clone()), ..step("t", &id, Some(&newest), "1") };
                    match house.engine.put_checkpoint(&user("ana"), new).await {
                        Ok(_) => break,
                        Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
                    }
                    conflicts += 1;
                }
            }
            conflicts
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.unwrap();
    }
    let all = CheckpointRequest { limit: Some(1_000), ..of("t") };
    let line = house.engine.checkpoint_history(&user("ana"), all).await.unwrap();
    assert_eq!(line.len(), 16 * 3 + 1);
}

/// Folders of agents are named after them, and not every file system tells `Planner` from `planner`.
#[tokio::test]
async fn no_door_makes_an_agent_that_differs_by_case_only() {
    let house = House::new();
    let of = |agent: &str| {
        let identifiers =
            Identifiers { agent_id: Some(agent.into()), user_id: Some("ana".into()), ..Identifiers::default() };
        Caller::new(identifiers)
    };
    let engine = &house.engine;
    engine.put_checkpoint(&of("planner"), step("t", "1", None, "{}")).await.unwrap();
    let refused = engine.put_checkpoint(&of("Planner"), step("t", "1", None, "{}")).await.unwrap_err();
    assert_eq!((refused.kind(), field(&refused).as_str()), (ErrorKind::InvalidInput, "agentId"), "{refused}");
    let fact = NewFact { subject: "Ana".into(), predicate: "likes".into(), object: "tea".into(), ..NewFact::default() };
    let refused = engine.state_fact(&of("Planner"), fact).await.unwrap_err();
    assert_eq!(field(&refused), "agentId", "{refused}");
    engine.put_checkpoint(&of("planner"), step("t", "2", None, "{}")).await.unwrap();
}
