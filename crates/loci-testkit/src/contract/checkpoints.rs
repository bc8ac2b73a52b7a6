//! Contract: checkpoints of programs.

use loci_store::{CheckpointWalk, Store};
use loci_types::{
    Action, Batch, Bookkeeping, Checkpoint, CheckpointFilter, CheckpointPlace, CheckpointStep, ErrorKind, Outcome,
    PendingWrite, Reach, Scope, Tenant, Visible,
};
use serde_json::{Map, Value, json};

use crate::driver::{Driver, good};
use crate::samples::*;

fn put(checkpoint: &Checkpoint) -> Action {
    let step = CheckpointStep::Put { checkpoint: checkpoint.clone(), expect_parent: None, replace: false };
    Action::Bookkeeping(Bookkeeping::Checkpoint(Box::new(step)))
}

async fn keep(driver: &Driver<'_>, checkpoint: &Checkpoint) -> Outcome {
    driver.must(&checkpoint.scope.space(), put(checkpoint)).await.outcome
}

fn all(scope: &Scope, thread: &str) -> CheckpointFilter {
    CheckpointFilter::of(scope.clone(), thread)
}

async fn ids(store: &dyn Store, visible: &Visible, filter: &CheckpointFilter) -> String {
    let found = good(store.checkpoints(visible, filter, CheckpointWalk::Newest, 100).await);
    found.into_iter().map(|(one, _)| one.id).collect::<Vec<_>>().join(" ")
}

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

/// All fields are read back, the bytes only on request. Checkpoints are not in the ledger.
pub async fn a_checkpoint_comes_back_field_by_field(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let bytes: Vec<u8> = (0..=255).cycle().take(70_000).collect();
    let full = Checkpoint {
        namespace: "inner|пч:1".into(),
        metadata: object(json!({ "step": -1, "deep": { "a": [null, "two"] } })),
        created_at: at(77),
        ..checkpoint(&anna, "t/1 'x'", "1ef-пч", Some("0"), &bytes)
    };
    let applied = driver.must(&anna.space(), put(&full)).await;
    assert_eq!((applied.id, applied.outcome, applied.sequence), (None, Outcome::Created, None));
    let empty =
        Checkpoint { data: Some(Vec::new()), bytes: 0, parent_id: None, ..checkpoint(&anna, "e", "e", None, b"") };
    keep(&driver, &empty).await;
    let read = CheckpointFilter { data: true, ..all(&anna, "t/1 'x'") };
    assert_eq!(good(store.checkpoints(&whole(), &read, CheckpointWalk::Newest, 9).await), [(full.clone(), Vec::new())]);
    let brief = good(store.checkpoints(&whole(), &all(&anna, "t/1 'x'"), CheckpointWalk::Newest, 9).await);
    assert_eq!(brief, [(Checkpoint { data: None, ..full }, Vec::new())]);
    let read = CheckpointFilter { data: true, ..all(&anna, "e") };
    assert_eq!(good(store.checkpoints(&whole(), &read, CheckpointWalk::Newest, 9).await), [(empty, Vec::new())]);
    assert_eq!(good(store.stats(&whole()).await).ledger, 0);
}

// Coverage: S3-15.1.
/// Putting the same checkpoint again changes nothing; another one with its id is a conflict unless it replaces it.
pub async fn an_id_is_put_once(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let first = checkpoint(&anna, "t", "1", None, b"one");
    assert_eq!(keep(&driver, &first).await, Outcome::Created);
    assert_eq!(keep(&driver, &Checkpoint { created_at: at(900), ..first.clone() }).await, Outcome::None);
    keep(&driver, &checkpoint(&anna, "t", "2", Some("1"), b"two")).await;
    for other in [
        checkpoint(&anna, "t", "1", None, b"other"),
        checkpoint(&anna, "t", "1", Some("0"), b"one"),
        Checkpoint { format: "json".into(), ..first.clone() },
        Checkpoint { metadata: object(json!({ "a": 1 })), ..first.clone() },
    ] {
        let error = driver.act(&anna.space(), put(&other)).await.expect_err("taken");
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
        let step = CheckpointStep::Put { checkpoint: other.clone(), expect_parent: None, replace: true };
        let replaced = driver.must(&anna.space(), Action::Bookkeeping(Bookkeeping::Checkpoint(Box::new(step)))).await;
        assert_eq!(replaced.outcome, Outcome::Updated);
        let read = CheckpointFilter { id: Some("1".into()), data: true, ..all(&anna, "t") };
        assert_eq!(good(store.checkpoints(&whole(), &read, CheckpointWalk::Newest, 9).await)[0].0, other);
    }
    assert_eq!(ids(store, &whole(), &all(&anna, "t")).await, "2 1", "what is replaced keeps its place");
    // The same id in another namespace or scope is another checkpoint.
    keep(&driver, &Checkpoint { namespace: "n".into(), ..checkpoint(&anna, "t", "1", None, b"n") }).await;
    keep(&driver, &checkpoint(&user("vera"), "t", "1", None, b"vera's")).await;
    assert_eq!(ids(store, &whole(), &all(&anna, "t")).await, "1 2 1");
}

/// A put with an expected parent is refused if that is not the newest checkpoint.
pub async fn a_thread_that_went_on_is_a_conflict(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let after = |id: &str, namespace: &str, expect: &str| {
        let checkpoint = Checkpoint { namespace: namespace.into(), ..checkpoint(&anna, "t", id, Some(expect), b"x") };
        let step = CheckpointStep::Put { checkpoint, expect_parent: Some(expect.into()), replace: false };
        Action::Bookkeeping(Bookkeeping::Checkpoint(Box::new(step)))
    };
    for (id, namespace, expect, good) in [
        ("1", "", "0", false),
        ("1", "", "", true),
        ("2", "", "", false),
        ("2", "", "1", true),
        ("3", "", "1", false),
        ("3", "", "2", true),
        ("1", "n", "3", false),
        ("1", "n", "", true),
    ] {
        match driver.act(&anna.space(), after(id, namespace, expect)).await {
            Ok(_) => assert!(good, "{id} after {expect}"),
            Err(error) => assert_eq!((error.kind(), good), (ErrorKind::Conflict, false), "{id} after {expect}"),
        }
    }
}

// Coverage: S3-15.1.
/// Pending writes are read in order with their checkpoint. The same task and position again replaces a write.
pub async fn writes_are_stored_with_their_checkpoint(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    keep(&driver, &checkpoint(&anna, "t", "1", None, b"one")).await;
    let write = |task: &str, position: i64, data: &[u8]| PendingWrite {
        task_id: task.into(),
        position,
        task_path: "~pull".into(),
        channel: "messages".into(),
        format: "msgpack".into(),
        data: data.to_vec(),
    };
    let of = |id: &str| CheckpointPlace {
        scope: anna.clone(),
        thread_id: "t".into(),
        namespace: String::new(),
        id: id.into(),
    };
    let writes = |id: &str, writes: Vec<PendingWrite>| {
        Action::Bookkeeping(Bookkeeping::Checkpoint(Box::new(CheckpointStep::Write { of: of(id), writes })))
    };
    let given = vec![write("b", 0, b"\0\xff"), write("a", 1, b"a1"), write("a", -1, b"")];
    driver.must(&anna.space(), writes("1", given)).await;
    driver.must(&anna.space(), writes("1", vec![write("a", 1, b"again")])).await;
    let read = CheckpointFilter { data: true, ..all(&anna, "t") };
    let found = good(store.checkpoints(&whole(), &read, CheckpointWalk::Newest, 9).await);
    assert_eq!(found[0].1, [write("a", -1, b""), write("a", 1, b"again"), write("b", 0, b"\0\xff")]);
    let error = driver.act(&anna.space(), writes("2", vec![write("a", 0, b"")])).await.expect_err("no such one");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    driver
        .must(&anna.space(), Action::Bookkeeping(Bookkeeping::Checkpoint(Box::new(CheckpointStep::Remove(of("1"))))))
        .await;
    keep(&driver, &checkpoint(&anna, "t", "1", None, b"one")).await;
    assert_eq!(good(store.checkpoints(&whole(), &read, CheckpointWalk::Newest, 9).await)[0].1, [], "they went with it");
}

/// Checkpoints are found newest first, before an id, by metadata, by namespace, by ancestors and by threads.
pub async fn checkpoints_are_found_by_what_is_asked(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    for (id, parent, namespace, step) in [
        ("1", None, "", json!({ "step": 0, "source": "input" })),
        ("2", Some("1"), "", json!({ "step": 1, "source": "loop" })),
        ("3", Some("1"), "", json!({ "step": 1, "source": "fork" })),
        ("9", None, "inner", json!({ "step": 0, "deep": { "a": [1] } })),
        ("4", Some("3"), "", json!({ "step": 2, "source": "loop" })),
    ] {
        let one = Checkpoint {
            namespace: namespace.into(),
            metadata: object(step),
            ..checkpoint(&anna, "t", id, parent, id.as_bytes())
        };
        keep(&driver, &one).await;
    }
    keep(&driver, &checkpoint(&anna, "u", "1", Some("gone"), b"u")).await;
    let root = || CheckpointFilter { namespace: Some(String::new()), ..all(&anna, "t") };
    let having = |value: Value| CheckpointFilter { metadata: object(value), ..all(&anna, "t") };
    for (filter, expect) in [
        (all(&anna, "t"), "4 9 3 2 1"),
        (root(), "4 3 2 1"),
        (CheckpointFilter { before: Some("3".into()), ..root() }, "2 1"),
        (CheckpointFilter { before: Some("1".into()), ..root() }, ""),
        (CheckpointFilter { before: Some("never".into()), ..root() }, ""),
        (CheckpointFilter { namespace: Some("inner".into()), ..all(&anna, "t") }, "9"),
        (CheckpointFilter { id: Some("2".into()), ..root() }, "2"),
        (having(json!({ "step": 1 })), "3 2"),
        (having(json!({ "step": 1, "source": "fork" })), "3"),
        (having(json!({ "deep": { "a": [1] } })), "9"),
        (having(json!({ "step": "1" })), ""),
        (all(&anna, "never"), ""),
    ] {
        assert_eq!(ids(store, &whole(), &filter).await, expect, "{filter:?}");
    }
    assert_eq!(good(store.checkpoints(&whole(), &root(), CheckpointWalk::Newest, 2).await).len(), 2);
    let line = async |filter: CheckpointFilter, limit| {
        let found = good(store.checkpoints(&whole(), &filter, CheckpointWalk::Ancestors, limit).await);
        found.into_iter().map(|(one, _)| one.id).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line(root(), 9).await, "4 3 1");
    assert_eq!(line(root(), 2).await, "4 3");
    assert_eq!(line(CheckpointFilter { id: Some("2".into()), ..root() }, 9).await, "2 1");
    assert_eq!(line(all(&anna, "u"), 9).await, "1", "it ends where the parent is not there");
    let threads = good(store.checkpoint_threads(&whole(), &anna, 9).await);
    let found: Vec<(&str, u64, &str)> =
        threads.iter().map(|one| (one.thread_id.as_str(), one.checkpoints, one.latest_id.as_str())).collect();
    assert_eq!(found, [("u", 1, "1"), ("t", 5, "4")]);
}

/// One checkpoint, a whole thread, or all but the newest of each namespace can be removed.
pub async fn checkpoints_are_removed(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let fill = async |thread: &str| {
        for (id, namespace) in [("1", ""), ("2", ""), ("3", ""), ("1", "n"), ("2", "n")] {
            let one = Checkpoint { namespace: namespace.into(), ..checkpoint(&anna, thread, id, None, b"x") };
            keep(&driver, &one).await;
        }
    };
    fill("t").await;
    fill("u").await;
    let step = async |step: CheckpointStep| {
        driver.must(&anna.space(), Action::Bookkeeping(Bookkeeping::Checkpoint(Box::new(step)))).await
    };
    let prune = |keep| CheckpointStep::Prune { scope: anna.clone(), thread_id: "t".into(), keep };
    let applied = step(prune(2)).await;
    assert_eq!((applied.outcome, applied.version), (Outcome::Erased, 1));
    assert_eq!(step(prune(2)).await.outcome, Outcome::None);
    assert_eq!(ids(store, &whole(), &all(&anna, "t")).await, "2 1 3 2");
    step(prune(1)).await;
    assert_eq!(ids(store, &whole(), &all(&anna, "t")).await, "2 3");
    let place =
        CheckpointPlace { scope: anna.clone(), thread_id: "t".into(), namespace: String::new(), id: "3".into() };
    assert_eq!(step(CheckpointStep::Remove(place.clone())).await.version, 1);
    assert_eq!(step(CheckpointStep::Remove(place)).await.outcome, Outcome::None);
    assert_eq!(ids(store, &whole(), &all(&anna, "t")).await, "2");
    let thread = CheckpointStep::RemoveThread { scope: anna.clone(), thread_id: "u".into() };
    assert_eq!(step(thread.clone()).await.version, 5);
    assert_eq!(step(thread).await.outcome, Outcome::None);
    assert_eq!(ids(store, &whole(), &all(&anna, "u")).await, "");
    assert_eq!(ids(store, &whole(), &all(&anna, "t")).await, "2", "the other thread stays");
}

/// Checkpoints are visible to callers who see the scope and are not limited to categories, and to nobody else.
pub async fn checkpoints_keep_to_their_scopes(store: &dyn Store) {
    let (driver, anna, bot) = (Driver::on(store), user("anna"), agent("bot"));
    keep(&driver, &checkpoint(&anna, "t", "anna's", None, b"x")).await;
    keep(&driver, &checkpoint(&bot, "t", "the bot's", None, b"x")).await;
    let other = Tenant::new("other").unwrap_or_default();
    let theirs = checkpoint(&anna, "t", "theirs", None, b"x");
    let changes = vec![change(at(9), put(&theirs))];
    good(store.apply(Batch { tenant: other.clone(), space: anna.space(), changes }).await);
    let scopes = |scope: &Scope| Reach::Scopes(vec![scope.clone()]);
    for (seen, expect, bots) in [
        (whole(), "anna's", "the bot's"),
        (visible(std::slice::from_ref(&anna)), "anna's", ""),
        (visible(std::slice::from_ref(&bot)), "", "the bot's"),
        (visible(&[user("vera")]), "", ""),
        (visible(&[]), "", ""),
        (grant(Tenant::default(), scopes(&anna), Some(&["tasks"]), Some("anna")), "", ""),
        (grant(Tenant::default(), Reach::Whole, Some(&["tasks"]), None), "", ""),
        (grant(other, Reach::Whole, None, None), "theirs", ""),
    ] {
        assert_eq!(ids(store, &seen, &all(&anna, "t")).await, expect, "{seen:?}");
        assert_eq!(ids(store, &seen, &all(&bot, "t")).await, bots, "{seen:?}");
        let line = good(store.checkpoints(&seen, &all(&anna, "t"), CheckpointWalk::Ancestors, 9).await);
        assert_eq!(line.len(), usize::from(!expect.is_empty()), "{seen:?}");
        let threads = good(store.checkpoint_threads(&seen, &anna, 9).await);
        assert_eq!(threads.len(), usize::from(!expect.is_empty()), "{seen:?}");
    }
    let strange =
        driver.act(&bot.space(), put(&checkpoint(&anna, "t", "2", None, b""))).await.expect_err("not its space");
    assert_eq!(strange.kind(), ErrorKind::InvalidInput);
}

// Coverage: S3-15.1.
/// Of 16 concurrent writers with the same expected parent one succeeds; no checkpoint is lost or duplicated.
pub async fn of_many_that_go_on_at_once_one_does(store: &dyn Store) {
    const WRITERS: usize = 16;
    const STEPS: usize = 4;
    let (driver, anna) = (Driver::on(store), user("anna"));
    keep(&driver, &checkpoint(&anna, "t", "start", None, b"")).await;
    let writer = async |writer: usize| {
        let mut won = Vec::new();
        for step in 0..STEPS {
            loop {
                let newest =
                    good(store.checkpoints(&whole(), &all(&anna, "t"), CheckpointWalk::Newest, 1).await).remove(0).0.id;
                let id = format!("{writer}.{step}");
                let new = checkpoint(&anna, "t", &id, Some(&newest), id.as_bytes());
                let put = CheckpointStep::Put { checkpoint: new, expect_parent: Some(newest), replace: false };
                let changes = vec![change(at(9), Action::Bookkeeping(Bookkeeping::Checkpoint(Box::new(put))))];
                match store.apply(batch(&anna.space(), changes)).await {
                    Ok(_) => break won.push(id),
                    Err(error) => assert_eq!(error.kind(), ErrorKind::Conflict, "{error}"),
                }
            }
        }
        won
    };
    let won = futures::future::join_all((0..WRITERS).map(writer)).await;
    let line = good(store.checkpoints(&whole(), &all(&anna, "t"), CheckpointWalk::Ancestors, 1_000).await);
    assert_eq!(line.len(), WRITERS * STEPS + 1, "one unbroken line");
    for id in won.iter().flatten() {
        assert_eq!(line.iter().filter(|(one, _)| one.id == *id).count(), 1, "{id}");
    }
    // If all put the same checkpoint concurrently, it is created once.
    let same = checkpoint(&anna, "u", "same", None, b"bytes");
    let put_same = async |_: usize| {
        let applied = good(store.apply(batch(&anna.space(), vec![change(at(9), put(&same))])).await);
        usize::from(applied[0].outcome == Outcome::Created)
    };
    let made = futures::future::join_all((0..WRITERS).map(put_same)).await;
    assert_eq!(made.iter().sum::<usize>(), 1);
}
