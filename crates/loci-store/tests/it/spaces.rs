//! The embedded store with many spaces, and with spaces that are slow, locked or deleted.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loci_store::prelude::*;
use loci_store::{Agent, CatalogueChange, Error, JobUpdate, Page, SqliteOptions, SqliteStore};
use loci_testkit::contract::sound;
use loci_testkit::driver::{Driver, good};
use loci_testkit::samples::*;
use loci_types::{Action, Bookkeeping, JobKind, JobSpec, Tenant};
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;
use tokio::task::JoinSet;

/// Longer than anything here takes, shorter than a statement waits for another process.
const SOON: Duration = Duration::from_secs(30);

fn open(folder: &Path) -> SqliteStore {
    good(SqliteStore::open(folder, SqliteOptions::default()))
}

fn fresh() -> (SqliteStore, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (open(folder.path()), folder)
}

fn file(folder: &Path, agent: &str) -> PathBuf {
    folder.join(format!("tenants/default/spaces/agent_memory_{agent}/loci.db"))
}

/// Holds the write lock of a file, as another process would.
fn locked(path: &Path) -> Connection {
    let raw = Connection::open(path).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    raw
}

/// The open files below a folder.
#[cfg(target_os = "linux")]
fn descriptors(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir("/proc/self/fd").unwrap();
    let targets = all.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    targets.filter(|target| target.starts_with(folder)).collect()
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn many_spaces_take_few_descriptors() {
    let (store, folder) = fresh();
    let driver = Driver::on(&store);
    let agents: Vec<_> = (0..250).map(|number| agent(&format!("agent-{number}"))).collect();
    for one in &agents {
        let id = driver.remember(one, "lantern").await;
        assert_eq!(driver.words(&visible(std::slice::from_ref(one)), "lantern", &now()).await, [id]);
    }
    let open = descriptors(folder.path()).len();
    assert!(open <= 320, "{open} files are open");
    // All are still found, and nothing is left beside the files of those that were closed.
    assert_eq!(driver.scan(&whole(), &now()).await.len(), agents.len());
    drop(store);
    assert_eq!(descriptors(folder.path()), Vec::<PathBuf>::new());
    let beside = |one: &str, ending: &str| file(folder.path(), one).with_file_name(format!("loci.db{ending}"));
    assert!(!beside("agent-0", "-wal").exists() && !beside("agent-0", "-shm").exists());
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_dropped_agent_is_closed_at_once() {
    let (store, folder) = fresh();
    let driver = Driver::on(&store);
    driver.remember(&agent("bot"), "lantern").await;
    driver.words(&whole(), "lantern", &now()).await;
    assert!(good(store.change_catalogue(&Tenant::default(), CatalogueChange::DropAgent("bot".to_owned())).await) > 0);
    let left: Vec<_> =
        descriptors(folder.path()).into_iter().filter(|path| path.to_string_lossy().contains("bot")).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}

#[tokio::test]
async fn a_space_with_one_memory_is_small() {
    let (store, folder) = fresh();
    Driver::on(&store).remember(&agent("bot"), "lantern").await;
    drop(store);
    let entries = std::fs::read_dir(file(folder.path(), "bot").parent().unwrap()).unwrap();
    let sizes: Vec<_> =
        entries.map(|entry| entry.unwrap()).map(|it| (it.file_name(), it.metadata().unwrap().len())).collect();
    assert_eq!(sizes.len(), 1, "{sizes:?}");
    assert!(sizes[0].1 <= 100_000, "{sizes:?}");
}

/// A file that grows gets larger pages, unless someone else has it open; then it is tried again when it has doubled.
#[tokio::test]
async fn a_space_that_grows_gets_larger_pages() {
    let (store, folder) = fresh();
    let other = open(folder.path());
    let driver = Driver::on(&store);
    let path = file(folder.path(), "bot");
    let bot = agent("bot");
    let page_size = || {
        let header = std::fs::read(&path).unwrap();
        u32::from(u16::from_be_bytes([header[16], header[17]]))
    };
    let mut ids = Vec::new();
    let text = "word ".repeat(60_000);
    for number in 0..24 {
        ids.push(driver.remember(&bot, &format!("lantern {number} {text}")).await);
        assert_eq!(driver.words(&whole(), "lantern", &now()).await.len(), ids.len());
        // A reader of another process.
        assert_eq!(good(other.stats(&whole()).await).memories, ids.len() as u64);
    }
    assert_eq!(page_size(), 1_024);
    drop(other);
    while page_size() == 1_024 {
        assert!(ids.len() < 200);
        ids.push(driver.remember(&bot, &format!("lantern {} {text}", ids.len())).await);
    }
    assert_eq!(page_size(), 8_192);
    ids.push(driver.remember(&bot, "lantern at last").await);
    ids.reverse();
    assert_eq!(driver.scan(&whole(), &now()).await, ids);
    sound(&store).await;
}

fn job(name: &str) -> Action {
    Action::Bookkeeping(Bookkeeping::Enqueue(JobSpec {
        kind: JobKind::Link,
        payload: json!({ "name": name }),
        unique: None,
        run_after: at(5),
    }))
}

/// A file that is only looked at by mistake is one that cannot be read.
#[tokio::test]
async fn a_worker_looks_only_at_spaces_with_work() {
    let (store, folder) = fresh();
    let driver = Driver::on(&store);
    let tenant = Tenant::default();
    driver.remember(&agent("idle"), "lantern").await;
    driver.must(&agent("busy").space(), job("it")).await;
    drop(store);
    std::fs::write(file(folder.path(), "idle"), "damaged").unwrap();
    let store = open(folder.path());
    let claim = async |seconds| good(store.claim(&tenant, JobKind::ALL, 9, at(seconds), Duration::from_secs(60)).await);
    assert_eq!(claim(4).await, []);
    let jobs = claim(5).await;
    assert_eq!(jobs.len(), 1);
    assert!(good(
        store
            .update_job(&tenant, &jobs[0], JobUpdate::Failed { error: "later".to_owned(), retry_at: Some(at(500)) })
            .await
    ));
    assert_eq!(claim(499).await, []);
    let again = claim(500).await;
    assert_eq!(again.len(), 1);
    assert_eq!(claim(559).await, []);
    let third = claim(560).await;
    assert_eq!(third.len(), 1, "a lease that ran out is found too");
    assert!(good(store.update_job(&tenant, &third[0], JobUpdate::Done).await));
    assert_eq!(claim(10_000).await, []);
    // Nothing waits there now: it is not looked at any more.
    let raw = Connection::open(folder.path().join("catalogue.db")).unwrap();
    let marked: i64 = raw.query_row("SELECT count(*) FROM work", [], |row| row.get(0)).unwrap();
    assert_eq!(marked, 0);
}

/// Work that nobody does, such as vectors without a model, is not looked at by those who want other work.
#[tokio::test]
async fn a_worker_looks_only_for_its_kinds() {
    let (store, folder) = fresh();
    let tenant = Tenant::default();
    Driver::on(&store).must(&agent("bot").space(), job("it")).await;
    drop(store);
    std::fs::write(file(folder.path(), "bot"), "damaged").unwrap();
    let store = open(folder.path());
    assert_eq!(good(store.claim(&tenant, &[JobKind::Embed], 9, at(9), SOON).await), []);
    assert!(store.claim(&tenant, &[JobKind::Link], 9, at(9), SOON).await.is_err());
}

/// Two stores on one folder, as two processes: the mark that one clears is not lost to the other's job, whichever comes
/// first.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_job_is_lost_between_two_processes() {
    let (writer, folder) = fresh();
    let worker = open(folder.path());
    let tenant = Tenant::default();
    let mut writers = JoinSet::new();
    for number in 0..4_u64 {
        let writer = writer.clone();
        writers.spawn(async move {
            let driver = Driver::from(&writer, number * 1_000);
            for round in 0..25 {
                driver.must(&agent("bot").space(), job(&format!("{number} {round}"))).await;
            }
        });
    }
    let mut done = 0;
    let deadline = tokio::time::Instant::now() + SOON;
    while done < 100 {
        assert!(tokio::time::Instant::now() < deadline, "{done} of 100 jobs were found");
        for job in good(worker.claim(&tenant, JobKind::ALL, 3, at(600), Duration::from_secs(60)).await) {
            assert!(good(worker.update_job(&tenant, &job, JobUpdate::Done).await));
            done += 1;
        }
    }
    writers.join_all().await;
}

/// A space that another process holds delays itself only.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_locked_space_holds_up_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = good(SqliteStore::open(folder.path(), SqliteOptions { writers: 2, ..SqliteOptions::default() }));
    let driver = Driver::on(&store);
    driver.remember(&agent("slow"), "lantern").await;
    let lock = locked(&file(folder.path(), "slow"));
    let waiting = tokio::spawn({
        let store = store.clone();
        async move { Driver::from(&store, 500).remember(&agent("slow"), "candle").await }
    });
    for number in 0..10 {
        let one = agent(&format!("agent-{number}"));
        tokio::time::timeout(SOON, driver.remember(&one, "lantern")).await.expect("it waits for nobody");
    }
    assert!(!waiting.is_finished());
    lock.execute_batch("ROLLBACK").unwrap();
    waiting.await.unwrap();
    sound(&store).await;
}

/// A write to a full queue is refused at once with a retryable error.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_that_is_full_refuses() {
    let (store, folder) = fresh();
    let driver = Driver::on(&store);
    driver.remember(&agent("slow"), "lantern").await;
    let lock = locked(&file(folder.path(), "slow"));
    let mut tasks = JoinSet::new();
    for _ in 0..6_000 {
        let (store, space) = (store.clone(), agent("slow").space());
        tasks.spawn(async move {
            store
                .apply(batch(&space, vec![change(at(9), Action::Bookkeeping(Bookkeeping::Touch { ids: vec![] }))]))
                .await
        });
    }
    let mut refused = 0;
    while let Some(outcome) = tasks.join_next().await {
        match outcome.unwrap() {
            Ok(_) => {}
            Err(error @ Error::Busy { .. }) => {
                assert!(error.problem("test").retryable);
                refused += 1;
                if refused == 100 {
                    lock.execute_batch("ROLLBACK").unwrap();
                }
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    assert!((100..=6_000 - 4_096).contains(&refused), "{refused}");
    driver.remember(&agent("slow"), "candle").await;
}

/// What is durable is not reported as failed because the catalogue cannot be written afterwards.
#[tokio::test]
async fn a_durable_change_succeeds_whatever_the_catalogue_does() {
    let (store, folder) = fresh();
    let raw = Connection::open(folder.path().join("catalogue.db")).unwrap();
    raw.execute_batch(
        "CREATE TRIGGER refused BEFORE UPDATE OF written ON spaces BEGIN SELECT RAISE(ABORT, 'refused'); END",
    )
    .unwrap();
    let driver = Driver::on(&store);
    let id = driver.remember(&user("anna"), "lantern").await;
    driver.sees(&whole(), "lantern", &[id]).await;
    raw.execute_batch("DROP TRIGGER refused").unwrap();
    // The next change notes it.
    driver.remember(&user("anna"), "candle").await;
    let written: bool = raw.query_row("SELECT written FROM spaces", [], |row| row.get(0)).unwrap();
    assert!(written);
}

/// A change of the catalogue that waits for another process blocks nobody who reads it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_catalogue_that_is_locked_is_still_read() {
    let (store, folder) = fresh();
    let tenant = Tenant::default();
    let made = |slug: &str| Agent { agent_id: slug.to_owned(), settings: json!({}), created_at: at(0) };
    assert!(good(store.change_catalogue(&tenant, CatalogueChange::PutAgent(made("one"))).await) > 0);
    let lock = locked(&folder.path().join("catalogue.db"));
    let waiting = tokio::spawn({
        let (store, tenant, two) = (store.clone(), tenant.clone(), made("two"));
        async move { store.change_catalogue(&tenant, CatalogueChange::PutAgent(two)).await }
    });
    for _ in 0..50 {
        let agents = tokio::time::timeout(SOON, store.agents(&tenant, None)).await.expect("readers wait for nobody");
        assert_eq!(good(agents).len(), 1);
        tokio::task::yield_now().await;
    }
    lock.execute_batch("ROLLBACK").unwrap();
    assert!(good(waiting.await.unwrap()) > 0);
}

/// A lease that was taken from a holder who is overdue, but alive, is not free when that one ends.
#[tokio::test]
async fn a_lease_taken_from_one_who_is_late_is_kept_when_that_one_ends() {
    let (late, folder) = fresh();
    let (next, third) = (open(folder.path()), open(folder.path()));
    let tenant = Tenant::default();
    let take = async |store: &SqliteStore, holder: &str, seconds| {
        good(store.lease(&tenant, "maintenance", holder, at(seconds), Duration::from_secs(60)).await)
    };
    assert!(take(&late, "late", 0).await);
    assert!(!take(&next, "next", 59).await);
    assert!(take(&next, "next", 61).await);
    drop(late);
    assert!(!take(&third, "third", 62).await);
    assert!(take(&next, "next", 63).await);
    drop(next);
    assert!(take(&third, "third", 64).await, "its holder is gone");
    good(third.lease(&tenant, "maintenance", "third", at(0), Duration::ZERO).await);
    let locks = std::fs::read_dir(folder.path()).unwrap();
    let locks = locks.filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|it| it == "lock"));
    assert_eq!(locks.count(), 1, "the one of `late`, whom nobody was asked about");
}

/// Names that differ only by case have files that differ on every file system.
#[tokio::test]
async fn agents_that_differ_by_case_share_nothing() {
    let (store, folder) = fresh();
    let driver = Driver::on(&store);
    let (upper, lower) =
        (driver.remember(&agent("Bob"), "lantern").await, driver.remember(&agent("bob"), "lantern").await);
    driver.sees(&visible(&[agent("bob")]), "lantern", &[lower]).await;
    assert!(good(store.change_catalogue(&Tenant::default(), CatalogueChange::DropAgent("bob".to_owned())).await) > 0);
    driver.sees(&whole(), "lantern", &[upper]).await;
    let spaces = std::fs::read_dir(folder.path().join("tenants/default/spaces")).unwrap();
    let names: Vec<_> = spaces.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert!(names.iter().all(|name| *name == name.to_lowercase()), "{names:?}");
}

/// The ledger still names the number of a scope that was erased.
#[tokio::test]
async fn the_number_of_an_erased_scope_is_not_given_again() {
    let (store, folder) = fresh();
    let driver = Driver::on(&store);
    driver.remember(&user("anna"), "lantern").await;
    let raw = Connection::open(folder.path().join("tenants/default/spaces/users_38/loci.db")).unwrap();
    let last = || raw.query_row("SELECT max(scope) FROM scopes", [], |row| row.get::<_, i64>(0)).unwrap();
    let before = last();
    driver.must(&user("anna").space(), Action::EraseUser { user: "anna".to_owned() }).await;
    driver.remember(&user("vera"), "lantern").await;
    assert!(last() > before);
}

/// More questions than connections are answered one after the other.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn more_readers_than_connections_take_turns() {
    let (store, _folder) = fresh();
    let driver = Driver::on(&store);
    for number in 0..150 {
        driver.remember(&agent(&format!("agent-{number}")), "lantern").await;
    }
    let mut tasks = JoinSet::new();
    for _ in 0..12 {
        let store = store.clone();
        tasks.spawn(async move { good(store.scan(&whole(), &now(), Page { after: None, limit: 500 }).await).total });
    }
    assert!(tasks.join_all().await.into_iter().all(|total| total == 150));
}

async fn agents_of(store: &SqliteStore) -> Vec<String> {
    good(store.agents(&Tenant::default(), None).await).into_iter().map(|agent| agent.agent_id).collect()
}

/// A process that ended between the move of a dropped folder and the rest leaves nothing that comes back.
#[tokio::test]
async fn an_interrupted_drop_is_finished_when_the_store_is_opened() {
    let (store, folder) = fresh();
    let driver = Driver::on(&store);
    for name in ["bot", "kept"] {
        driver.remember(&agent(name), "lantern").await;
    }
    drop(store);
    let below = "tenants/default/spaces";
    let dropped = folder.path().join("dropped/0").join(below);
    std::fs::create_dir_all(&dropped).unwrap();
    let name = "agent_memory_bot";
    std::fs::rename(folder.path().join(below).join(name), dropped.join(name)).unwrap();
    let store = open(folder.path());
    assert_eq!(agents_of(&store).await, ["kept"]);
    assert!(!dropped.exists());
    // A new agent of this name begins with nothing.
    let id = Driver::from(&store, 100).remember(&agent("bot"), "candle").await;
    assert_eq!(Driver::from(&store, 200).scan(&visible(&[agent("bot")]), &now()).await, [id]);
    let drop_bot = CatalogueChange::DropAgent("bot".to_owned());
    assert!(good(store.change_catalogue(&Tenant::default(), drop_bot).await) > 0);
    assert_eq!(agents_of(&store).await, ["kept"]);
    assert_eq!(std::fs::read_dir(folder.path().join("dropped")).unwrap().count(), 0);
}

/// A job that cannot be read is dead; it stops neither the jobs behind it nor those of other spaces.
#[tokio::test]
async fn a_damaged_job_stops_no_other() {
    let (store, folder) = fresh();
    let driver = Driver::on(&store);
    let tenant = Tenant::default();
    for (name, space) in [("first", "bot"), ("second", "bot"), ("third", "other")] {
        driver.must(&agent(space).space(), job(name)).await;
    }
    let raw = Connection::open(file(folder.path(), "bot")).unwrap();
    raw.execute("UPDATE jobs SET payload = '{broken' WHERE payload LIKE '%first%'", []).unwrap();
    let mut names: Vec<_> = good(store.claim(&tenant, JobKind::ALL, 9, at(9), SOON).await)
        .iter()
        .map(|job| job.payload["name"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    assert_eq!(names, ["second", "third"]);
    let dead = good(store.jobs(&tenant, &["dead"], 9).await);
    assert_eq!(dead.len(), 1);
    assert!(dead[0].last_error.as_ref().unwrap().contains("cannot be read"), "{dead:?}");
}

/// The jobs of a space that cannot be written wait; those of others are done.
#[tokio::test]
async fn a_space_that_cannot_be_written_stops_no_other() {
    let (store, folder) = fresh();
    let driver = Driver::on(&store);
    let tenant = Tenant::default();
    for name in ["bot", "other"] {
        driver.must(&agent(name).space(), job(name)).await;
    }
    let raw = Connection::open(file(folder.path(), "bot")).unwrap();
    raw.execute_batch("CREATE TRIGGER no BEFORE UPDATE ON jobs BEGIN SELECT raise(ABORT, 'no'); END").unwrap();
    let claimed = good(store.claim(&tenant, JobKind::ALL, 9, at(9), SOON).await);
    assert_eq!(claimed.len(), 1);
    assert_eq!(claimed[0].payload["name"], "other");
    assert!(store.claim(&tenant, JobKind::ALL, 9, at(9), SOON).await.is_err());
}

/// A space that cannot be examined is not an empty one.
#[tokio::test]
async fn a_space_that_cannot_be_examined_is_an_error() {
    let (store, folder) = fresh();
    Driver::on(&store).remember(&agent("bot"), "lantern").await;
    drop(store);
    let space = file(folder.path(), "bot").parent().unwrap().to_owned();
    std::fs::rename(&space, space.with_file_name("aside")).unwrap();
    std::fs::write(&space, "no folder").unwrap();
    let store = open(folder.path());
    assert!(store.stats(&whole()).await.is_err());
}
