//! Backups: a restore brings back everything, and a damaged backup is refused.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loci_store::prelude::*;
use loci_store::{
    Backup, BackupEncoding, BackupPlan, DeriveKeys, DerivedKeys, EncryptionKey, Error, LedgerQuery, MigrateOptions,
    PostgresOptions, PostgresStore, RestoreOutcome, RestorePlan, RestorePoint, create_backup, migrate, restore_backup,
    verify_backup_chain,
};
use loci_testkit::contract::sound;
use loci_testkit::driver::{Driver, good};
use loci_testkit::model::{self, Op};
use loci_testkit::samples::*;
use loci_testkit::servers::Schema;
use loci_types::{Action, Edge, ErrorKind, Layer, Memory, MemoryId, Space, Tenant};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use crate::copy::{fill, folder};

/// Compressed and encrypted, as most of these tests make and read backups.
fn sealed() -> BackupEncoding {
    BackupEncoding { compress: true, key: EncryptionKey::parse(&"07".repeat(32)).ok() }
}

fn everything_of() -> BackupPlan {
    BackupPlan { tenant: None, space: None, since: None, at: at(50_000), encoding: sealed() }
}

/// The store's tests know no rules for words but these.
fn derive() -> DeriveKeys {
    Arc::new(|memory: &Memory| DerivedKeys {
        hash: hash(&memory.content),
        unless: Some(hash(&memory.content)),
        claim: None,
    })
}

fn plan(files: &[PathBuf]) -> RestorePlan {
    RestorePlan {
        files: files.to_vec(),
        key: sealed().key,
        tenant: None,
        space: None,
        rename: None,
        until: None,
        replace: false,
        at: at(60_000),
        derive: derive(),
    }
}

/// Writes a backup to a file. A macro, because the store may be of two types.
macro_rules! made {
    ($from:expr, $plan:expr, $path:expr) => {{
        let file = std::fs::File::create($path).unwrap();
        create_backup($from, $plan, file, Box::new(|_| {})).await.map(|(backup, mut file)| {
            file.flush().unwrap();
            backup
        })
    }};
}

/// Checks that every row of both stores is the same.
macro_rules! same {
    ($one:expr, $other:expr) => {
        good(
            migrate($one, $other, MigrateOptions { verify_only: true, ..MigrateOptions::default() }, &mut |_| Ok(()))
                .await,
        )
    };
}

async fn server(schema: &Schema) -> PostgresStore {
    let options = PostgresOptions { schema: schema.name.clone(), ..PostgresOptions::default() };
    PostgresStore::open(&schema.url, options).await.unwrap()
}

// Coverage: S4.23.
#[tokio::test]
async fn everything_comes_back_as_it_was() {
    let ((store, _home), (other, _elsewhere), place) = (folder(), folder(), tempfile::tempdir().unwrap());
    fill(&store).await;
    let (from, to, file) = (&store, &other, place.path().join("all.backup"));
    let backup = good(made!(from, everything_of(), &file));
    assert_eq!(good(verify_backup_chain(vec![file.clone()], sealed().key).await), [backup]);
    good(restore_backup(to, plan(&[file])).await);
    same!(from, to);
    sound(&other).await;
}

/// Without the key a backup shows nothing, and no way of storing it changes what comes back.
#[tokio::test]
async fn a_sealed_backup_is_smaller_and_opens_with_its_key_alone() {
    let ((store, _home), place) = (folder(), tempfile::tempdir().unwrap());
    fill(&store).await;
    let key = sealed().key;
    let mut sizes = Vec::new();
    for (compress, key) in [(false, None), (true, None), (false, key.clone()), (true, key.clone())] {
        let file = place.path().join("one.backup");
        let encoding = BackupEncoding { compress, key: key.clone() };
        let made = good(made!(&store, BackupPlan { encoding, ..everything_of() }, &file));
        assert_eq!((made.manifest.compressed, made.manifest.encrypted), (compress, key.is_some()));
        let bytes = std::fs::read(&file).unwrap();
        let shown = bytes.windows(9).any(|part| part == b"createdAt");
        assert_eq!(shown, !compress && key.is_none());
        sizes.push(bytes.len());
        let (other, _elsewhere) = folder();
        let (from, to) = (&store, &other);
        good(restore_backup(to, plan(&[file])).await);
        same!(from, to);
    }
    assert!(sizes[1] * 2 < sizes[0] && sizes[3] * 2 < sizes[0], "{sizes:?}");
    let file = place.path().join("one.backup");
    for (key, problem) in [(None, "no key is configured"), (EncryptionKey::parse(&"08".repeat(32)).ok(), "another key")]
    {
        let error = verify_backup_chain(vec![file.clone()], key).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.to_string().contains(problem), "{error}");
    }
}

// Coverage: S4.23.
#[tokio::test]
async fn a_backup_goes_from_one_database_to_the_other() {
    let Some(schema) = Schema::new() else { return };
    let ((store, _home), (other, _elsewhere), place) = (folder(), folder(), tempfile::tempdir().unwrap());
    fill(&store).await;
    let server = server(&schema).await;
    let (from, middle, to) = (&store, &server, &other);
    let (first, second) = (place.path().join("one"), place.path().join("two"));
    good(made!(from, everything_of(), &first));
    good(restore_backup(middle, plan(&[first])).await);
    same!(from, middle);
    good(made!(middle, everything_of(), &second));
    good(restore_backup(to, plan(&[second])).await);
    same!(from, to);
}

// Coverage: SPEC-7.3.
#[tokio::test]
async fn increments_add_up() {
    let ((store, _home), (other, _elsewhere), place) = (folder(), folder(), tempfile::tempdir().unwrap());
    let (from, to) = (&store, &other);
    let mut files: Vec<PathBuf> = Vec::new();
    let mut base: Option<Backup> = None;
    let steps = steps(|op| !matches!(op, Op::Erase(_)), 160);
    for (number, part) in steps.chunks(40).enumerate() {
        for (space, change) in part {
            // What the model refuses, the store refuses too.
            drop(store.apply(batch(space, vec![change.clone()])).await);
        }
        let file = place.path().join(format!("{number}.backup"));
        let made = good(made!(from, BackupPlan { since: base.take(), ..everything_of() }, &file));
        assert_eq!(made.manifest.base.is_some(), number > 0);
        base = Some(made);
        files.push(file);
    }
    assert!(files.len() > 2, "{} steps", steps.len());
    let missing = vec![files[0].clone(), files[2].clone()];
    let error = restore_backup(to, plan(&missing)).await.unwrap_err();
    assert!(error.to_string().contains("is not an increment of the backup before it"), "{error}");
    good(restore_backup(to, plan(&files)).await);
    same!(from, to);
    sound(&other).await;
}

#[tokio::test]
async fn an_increment_that_would_keep_what_was_erased_is_refused() {
    let ((store, _home), place) = (folder(), tempfile::tempdir().unwrap());
    let (driver, anna) = (Driver::on(&store), user("anna"));
    let id = driver.remember(&anna, "lantern").await;
    let from = &store;
    let base = good(made!(from, everything_of(), &place.path().join("base")));
    driver.must(&anna.space(), Action::Erase { id }).await;
    let error = made!(from, BackupPlan { since: Some(base), ..everything_of() }, &place.path().join("next"));
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Conflict);
}

/// Random changes among those for which `wanted` is true.
fn steps(wanted: impl Fn(&Op) -> bool, most: usize) -> Vec<(Space, loci_types::Change)> {
    let mut runner = TestRunner::deterministic();
    let mut ops: Vec<Op> = Vec::new();
    while ops.len() < most {
        ops.extend(model::sequences(most).new_tree(&mut runner).unwrap().current().into_iter().filter(&wanted));
    }
    ops.truncate(most);
    model::changes(&ops)
}

/// All memories of a space and the edges between them.
async fn state(store: &dyn Store, space: &Space) -> (Vec<Memory>, Vec<Edge>) {
    let mut page = loci_store::Page { after: None, limit: 1_000 };
    let mut memories = Vec::new();
    loop {
        let listing = good(store.scan(&whole(), &everything(), page).await);
        memories.extend(listing.memories.into_iter().filter(|memory| loci_testkit::driver::space_of(memory) == *space));
        match listing.next {
            Some(next) => page = loci_store::Page { after: Some(next), limit: 1_000 },
            None => break,
        }
    }
    memories.sort_by_key(|memory| memory.id);
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    let mut edges = good(store.edges(&whole(), &everything(), &ids, &[]).await);
    edges.sort_by_key(|edge| (edge.source_id, edge.target_id, edge.relation));
    // An edge that was drawn again may have another id; what it says is the same.
    edges.iter_mut().for_each(|edge| edge.id = loci_types::EdgeId(uuid::Uuid::nil()));
    (memories, edges)
}

// Coverage: SPEC-7.3.
#[tokio::test]
async fn a_space_goes_back_to_any_line() {
    let ((store, _home), place) = (folder(), tempfile::tempdir().unwrap());
    let space = user("anna").space();
    // Scores that follow the use have no lines; what is gone for good stays gone.
    let steps = steps(|op| !matches!(op, Op::Erase(_) | Op::Purge(_) | Op::Touch(_)), 240);
    let mut recorded = Vec::new();
    for (number, (own, change)) in steps.iter().enumerate() {
        drop(store.apply(batch(own, vec![change.clone()])).await);
        if number % 40 == 39 {
            let line = good(store.ledger_heads(&whole()).await)[&space];
            recorded.push((line, change.at, state(&store, &space).await));
        }
    }
    let file = place.path().join("all");
    good(made!(&store, everything_of(), &file));
    assert!(recorded.len() >= 3);
    for (line, time, expect) in recorded {
        for until in [RestorePoint::Sequence(line), RestorePoint::Time(time)] {
            let (other, _elsewhere) = folder();
            let wanted =
                RestorePlan { space: Some(space.clone()), until: Some(until), ..plan(std::slice::from_ref(&file)) };
            let done = good(restore_backup(&other, wanted).await);
            assert_eq!((done[0].sequence, done[0].lost), (line, 0), "{until:?}");
            let found = state(&other, &space).await;
            for (found, expect) in found.0.iter().zip(&expect.0) {
                assert_eq!(found, expect, "{until:?}");
            }
            assert_eq!(found, expect, "{until:?}");
            sound(&other).await;
        }
    }
}

// Coverage: SPEC-7.3.
#[tokio::test]
async fn what_is_gone_for_good_is_counted() {
    let ((store, _home), (other, _elsewhere), place) = (folder(), folder(), tempfile::tempdir().unwrap());
    let (driver, anna) = (Driver::on(&store), user("anna"));
    let (kept, gone) = (driver.remember(&anna, "lantern").await, driver.remember(&anna, "candle").await);
    let line = good(store.ledger_heads(&whole()).await)[&anna.space()];
    driver.must(&anna.space(), Action::Erase { id: gone }).await;
    let file = place.path().join("all");
    good(made!(&store, everything_of(), &file));
    let wanted = RestorePlan { space: Some(anna.space()), until: Some(RestorePoint::Sequence(line)), ..plan(&[file]) };
    let done = good(restore_backup(&other, wanted).await);
    assert_eq!((done[0].memories, done[0].lost), (1, 1));
    assert!(Driver::on(&other).get(kept).await.is_some() && Driver::on(&other).get(gone).await.is_none());
}

// Coverage: S4.23.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_backup_under_eight_writers_is_of_one_moment() {
    let (store, _home) = folder();
    under_writers(Arc::new(store.clone()), async |path| good(made!(&store, everything_of(), path))).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_backup_of_a_server_under_eight_writers_is_of_one_moment() {
    let Some(schema) = Schema::new() else { return };
    let store = server(&schema).await;
    under_writers(Arc::new(store.clone()), async |path| good(made!(&store, everything_of(), path))).await;
}

async fn under_writers(store: Arc<dyn Store>, back_up: impl AsyncFn(&Path) -> Backup) {
    let place = tempfile::tempdir().unwrap();
    let project = |name: &str| scope(Layer::Project, &[name]);
    let (stop, space) = (Arc::new(AtomicBool::new(false)), Space::Shared);
    Driver::on(&*store).remember(&project("anna"), "lantern zero").await;
    let writers: Vec<_> = (1..=8_u64)
        .map(|writer| {
            let (store, stop) = (store.clone(), stop.clone());
            tokio::spawn(async move {
                let (scope, mut number) = (project(&format!("u{writer}")), writer * 1_000_000);
                while !stop.load(Ordering::Relaxed) {
                    number += 2;
                    let memory = memory(number, &scope, &format!("lantern {number}"));
                    let id = memory.id;
                    good(store.apply(batch(&scope.space(), vec![add(memory)])).await);
                    let patch = new_text(id, &format!("candle {number}"), number.is_multiple_of(4));
                    let change = change(at(number as i64 % 1_000), Action::Revise(Box::new(patch)));
                    good(store.apply(batch(&scope.space(), vec![change])).await);
                }
            })
        })
        .collect();
    let file = place.path().join("under");
    let mut backups: Vec<Backup> = Vec::new();
    while backups.len() < 3 || backups[backups.len() - 1].spaces[0].sequence < backups[0].spaces[0].sequence + 40 {
        backups.push(back_up(&file).await);
    }
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    let line = backups[backups.len() - 1].spaces[0].sequence;
    let end = good(store.ledger_heads(&whole()).await)[&space];
    assert!(line > backups[0].spaces[0].sequence && end >= line, "nobody wrote meanwhile: {line} of {end}");
    let ((one, _one), (other, _other)) = (folder(), folder());
    good(restore_backup(&one, plan(&[file])).await);
    sound(&one).await;
    // The ledger itself says what was there at that line.
    let feed = |store: Arc<dyn Store>| {
        let space = space.clone();
        async move {
            let mut lines = Vec::new();
            let mut after = 0;
            loop {
                let page = good(
                    store.ledger(&whole(), &LedgerQuery::After { space: space.clone(), sequence: after }, 500).await,
                );
                if page.position == after {
                    return lines;
                }
                after = page.position;
                lines.extend(page.entries.into_iter().filter(|entry| entry.sequence <= line));
            }
        }
    };
    assert_eq!(feed(Arc::new(one.clone())).await, feed(store.clone()).await);
    let file = place.path().join("after");
    back_up(&file).await;
    let wanted = RestorePlan { space: Some(space.clone()), until: Some(RestorePoint::Sequence(line)), ..plan(&[file]) };
    good(restore_backup(&other, wanted).await);
    assert_eq!(state(&one, &space).await, state(&other, &space).await);
}

// Coverage: S4.23.
#[tokio::test]
async fn a_bad_backup_is_refused_and_nothing_is_changed() {
    let ((store, _home), (other, _elsewhere), place) = (folder(), folder(), tempfile::tempdir().unwrap());
    Driver::on(&store).remember(&user("anna"), "lantern").await;
    let kept = Driver::from(&other, 500).remember(&user("anna"), "here before").await;
    let whole_file = place.path().join("good");
    good(made!(&store, BackupPlan { encoding: BackupEncoding::default(), ..everything_of() }, &whole_file));
    let bytes = std::fs::read(&whole_file).unwrap();
    let bad = place.path().join("bad");
    let check = async |what: &str, bytes: &[u8], messages: &[&str], kind: ErrorKind| {
        std::fs::write(&bad, bytes).unwrap();
        let wanted = RestorePlan { replace: true, ..plan(std::slice::from_ref(&bad)) };
        let error = restore_backup(&other, wanted).await.unwrap_err();
        assert_eq!(error.kind(), kind, "{what}: {error}");
        assert!(messages.iter().any(|message| error.to_string().contains(message)), "{what}: {error}");
        assert!(Driver::on(&other).get(kept).await.is_some(), "{what}");
    };
    let step = (bytes.len() / 60).max(1);
    for cut in (12..bytes.len()).step_by(step) {
        check("cut off", &bytes[..cut], &["cut off", "wrong"], ErrorKind::Corrupt).await;
    }
    for place in (12..bytes.len()).step_by(step) {
        let mut flipped = bytes.clone();
        flipped[place] ^= 1 << (place % 8);
        check("a bit is flipped", &flipped, &["wrong", "cut off", "changed", "does not match"], ErrorKind::Corrupt)
            .await;
    }
    check("more follows", &[&bytes[..], b"x"].concat(), &["has data after its end"], ErrorKind::Corrupt).await;
    for foreign in [&b""[..], b"SQLite format 3\0 and so on", b"{\"loci\":\"export\"}\n"] {
        check("foreign", foreign, &["is not a backup of Loci"], ErrorKind::InvalidInput).await;
    }
    let error = restore_backup(&other, plan(std::slice::from_ref(&whole_file))).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict, "a place that is not empty: {error}");
    assert!(Driver::on(&other).get(kept).await.is_some());
    let replaced = good(restore_backup(&other, RestorePlan { replace: true, ..plan(&[whole_file]) }).await);
    assert_eq!(replaced[0].memories, 1);
    assert!(Driver::on(&other).get(kept).await.is_none());
    let there = Driver::on(&other).words(&whole(), "lantern", &now()).await;
    assert_eq!(there.len(), 1, "and what came is found");
}

#[tokio::test]
async fn readers_of_the_ledger_learn_that_it_was_restored() {
    let ((store, _home), place) = (folder(), tempfile::tempdir().unwrap());
    let (driver, anna) = (Driver::on(&store), user("anna"));
    driver.remember(&anna, "lantern").await;
    let (side, file) = (&store, place.path().join("all"));
    good(made!(side, everything_of(), &file));
    let later = driver.remember(&anna, "lantern later").await;
    assert_eq!(driver.near(&whole(), "lantern", &now()).await.len(), 2, "the arrays are loaded");
    let before = good(store.ledger_heads(&whole()).await)[&anna.space()];
    good(restore_backup(side, RestorePlan { replace: true, ..plan(&[file]) }).await);
    let feed =
        good(store.ledger(&whole(), &LedgerQuery::After { space: anna.space().clone(), sequence: before }, 10).await);
    assert_eq!(feed.entries.len(), 1);
    assert_eq!((feed.entries[0].event.as_str(), feed.entries[0].sequence), ("RESTORE", before + 1));
    assert!(driver.get(later).await.is_none());
    assert_eq!(driver.near(&whole(), "lantern", &now()).await.len(), 1);
    let new = driver.remember(&anna, "lantern anew").await;
    assert!(driver.near(&whole(), "lantern", &now()).await.contains(&new));
    sound(&store).await;
}

// Coverage: S4.24.
#[tokio::test]
async fn an_agent_comes_back_as_another() {
    let ((store, _home), place) = (folder(), tempfile::tempdir().unwrap());
    let driver = Driver::on(&store);
    let bot = agent("bot");
    let id = driver.remember(&bot, "lantern").await;
    let (side, file) = (&store, place.path().join("bot"));
    let only = BackupPlan { tenant: Some(Tenant::default()), space: Some(bot.space()), ..everything_of() };
    good(made!(side, only, &file));
    let twin = Space::Agent("twin".into());
    let wanted =
        RestorePlan { space: Some(bot.space()), rename: Some(twin.clone()), ..plan(std::slice::from_ref(&file)) };
    let done: Vec<RestoreOutcome> = good(restore_backup(side, wanted).await);
    assert_eq!((done[0].space.as_str(), done[0].memories), ("agent_memory_twin", 1));
    let seen = good(store.scan(&visible(&[agent("twin")]), &now(), loci_store::Page { after: None, limit: 9 }).await);
    assert_eq!(seen.memories.len(), 1);
    assert_eq!((seen.memories[0].id, seen.memories[0].identifiers.agent_id.as_deref()), (id, Some("twin")));
    assert!(good(store.agents(&Tenant::default(), None).await).iter().any(|agent| agent.agent_id == "twin"));
    let wrong = RestorePlan { space: Some(bot.space()), rename: Some(Space::Shared), ..plan(&[file]) };
    assert!(matches!(restore_backup(side, wrong).await, Err(Error::Word(_))));
}

/// A backup that lacks a space which was written to would look complete.
#[tokio::test]
async fn a_space_that_is_gone_is_not_left_out_of_a_backup() {
    let ((store, home), place) = (folder(), tempfile::tempdir().unwrap());
    Driver::on(&store).remember(&agent("bot"), "lantern").await;
    let path = home.path().join("tenants/default/spaces/agent_memory_bot");
    std::fs::rename(&path, home.path().join("aside")).unwrap();
    let failed = made!(&store, everything_of(), &place.path().join("all.backup")).unwrap_err();
    assert!(matches!(&failed, Error::Damaged { problem, .. } if problem.contains("missing")), "{failed:?}");
}

/// A space that somebody writes to while the ones before it are restored is left as it is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_written_while_a_backup_is_restored_is_kept() {
    let ((store, _home), (other, elsewhere), place) = (folder(), folder(), tempfile::tempdir().unwrap());
    for name in ["a", "b"] {
        Driver::on(&store).remember(&agent(name), "lantern").await;
    }
    let path = place.path().join("all.backup");
    good(made!(&store, everything_of(), &path));
    // Space b exists and is empty; another process is writing to it.
    let b = elsewhere.path().join("tenants/default/spaces/agent_memory_b/loci.db");
    let id = Driver::on(&other).remember(&agent("b"), "candle").await;
    let writer = rusqlite::Connection::open(&b).unwrap();
    let entry = last_ledger_row(&writer);
    writer.execute("DELETE FROM ledger", []).unwrap();
    writer.execute_batch("BEGIN IMMEDIATE").unwrap();
    insert_ledger_row(&writer, &entry);
    let restoring = tokio::spawn({
        let other = other.clone();
        async move { restore_backup(&other, plan(&[path])).await }
    });
    let a = elsewhere.path().join("tenants/default/spaces/agent_memory_a/loci.db");
    while !a.exists() || good(other.stats(&visible(&[agent("a")])).await).memories == 0 {
        tokio::task::yield_now().await;
    }
    writer.execute_batch("COMMIT").unwrap();
    let failed = restoring.await.unwrap().unwrap_err();
    assert!(failed.to_string().contains("is not empty"), "{failed}");
    assert_eq!(Driver::from(&other, 100).scan(&visible(&[agent("b")]), &now()).await, [id]);
}

fn last_ledger_row(connection: &rusqlite::Connection) -> Vec<rusqlite::types::Value> {
    let sql = "SELECT * FROM ledger ORDER BY sequence DESC LIMIT 1";
    let mut statement = connection.prepare(sql).unwrap();
    let columns = statement.column_count();
    statement.query_row([], |row| (0..columns).map(|column| row.get(column)).collect()).unwrap()
}

fn insert_ledger_row(connection: &rusqlite::Connection, row: &[rusqlite::types::Value]) {
    let sql = format!("INSERT INTO ledger VALUES ({})", vec!["?"; row.len()].join(", "));
    connection.execute(&sql, rusqlite::params_from_iter(row)).unwrap();
}
