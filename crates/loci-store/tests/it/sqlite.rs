//! Properties that only the embedded store has.

use std::path::{Path, PathBuf};
use std::process::Command;

use loci_store::prelude::*;
use loci_store::{CatalogueChange, Error, ExportCursor, Page, SqliteOptions, SqliteStore};
use loci_testkit::contract::sound;
use loci_testkit::driver::{Driver, good};
use loci_testkit::samples::*;
use loci_types::{Action, Bookkeeping, ErrorKind, Memory, MemoryId, Relation, Tenant};
use rusqlite::Connection;
use tempfile::TempDir;
use tokio::task::JoinSet;

fn open(folder: &Path) -> SqliteStore {
    good(SqliteStore::open(folder, SqliteOptions::default()))
}

fn fresh() -> (SqliteStore, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (open(folder.path()), folder)
}

fn file(folder: &Path, space: &str) -> PathBuf {
    folder.join("tenants/default/spaces").join(space).join("loci.db")
}

/// Moves everything from the log into the file itself, so that a test may look at its bytes.
fn settle(path: &Path) -> Connection {
    let raw = Connection::open(path).unwrap();
    let busy: i64 = raw.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0)).unwrap();
    assert_eq!(busy, 0, "nobody else holds the file");
    raw
}

#[tokio::test]
async fn a_store_opened_again_holds_everything() {
    let (store, folder) = fresh();
    let driver = Driver::on(&store);
    let (anna, bot) = (user("anna"), agent("bot"));
    let one = driver.remember(&anna, "lantern one").await;
    let two = driver.replace(one, &anna, "lantern two").await;
    let three = driver.remember(&bot, "lantern three").await;
    driver.link(&anna, two, one, Relation::RelatedTo).await;
    let before = (good(store.stats(&whole()).await), good(store.fetch(&whole(), &[one, two, three]).await));
    drop(store);
    let store = open(folder.path());
    let driver = Driver::from(&store, 100);
    let stats = good(store.stats(&whole()).await);
    let after =
        (loci_store::Stats { bytes: before.0.bytes, ..stats }, good(store.fetch(&whole(), &[one, two, three]).await));
    assert_eq!(after, before);
    driver.sees(&whole(), "lantern", &[two, three]).await;
    assert_eq!(good(store.edges(&whole(), &everything(), &[two], &[]).await).len(), 2);
    let again = driver.must(&anna.space(), Action::Add(Box::new(addition(driver.sample(&anna, "lantern two"))))).await;
    assert_eq!(again.id, Some(two));
    sound(&store).await;
}

// Coverage: S2.13.
/// Two values on one folder share nothing but the files, as two processes do.
#[tokio::test]
async fn two_stores_on_one_folder_see_each_other() {
    let (first, folder) = fresh();
    let second = open(folder.path());
    let (one, two) = (Driver::on(&first), Driver::from(&second, 1_000));
    let anna = user("anna");
    let a = one.remember(&anna, "lantern a").await;
    two.sees(&whole(), "lantern", &[a]).await;
    let b = two.remember(&anna, "lantern b").await;
    let c = two.remember(&agent("bot"), "lantern c").await;
    one.sees(&whole(), "lantern", &[a, b, c]).await;
    two.must(&anna.space(), Action::Revise(Box::new(new_text(a, "candle", true)))).await;
    assert_eq!(one.words(&whole(), "candle", &now()).await, [a]);
    assert_eq!(one.words(&whole(), "lantern", &now()).await.len(), 2);
    assert_eq!(one.near(&whole(), "candle", &now()).await.first(), Some(&a));
    two.must(&anna.space(), Action::Revise(Box::new(new_text(a, "lantern d", false)))).await;
    assert_eq!(one.near(&visible(std::slice::from_ref(&anna)), "lantern", &now()).await, [b]);
    one.must(&anna.space(), Action::Embed { id: a, of: hash("lantern d"), vector: vector("lantern d") }).await;
    two.sees(&whole(), "lantern", &[a, b, c]).await;
    one.must(&anna.space(), Action::Erase { id: b }).await;
    two.sees(&whole(), "lantern", &[a, c]).await;
    // One drops an agent and it begins anew; the other is not left with the old file.
    assert!(good(first.change_catalogue(&Tenant::default(), CatalogueChange::DropAgent("bot".to_owned())).await) > 0);
    two.sees(&whole(), "lantern", &[a]).await;
    let d = one.remember(&agent("bot"), "lantern d").await;
    two.sees(&whole(), "lantern", &[a, d]).await;
    let e = two.remember(&agent("bot"), "lantern e").await;
    one.sees(&whole(), "lantern", &[a, d, e]).await;
    sound(&first).await;
}

/// With room for nothing, vectors are loaded for each question and let go, and still answer right.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_budget_of_nothing_still_answers() {
    let folder = tempfile::tempdir().unwrap();
    let options = SqliteOptions { cache_bytes: 1, ..SqliteOptions::default() };
    let store = good(SqliteStore::open(folder.path(), options));
    let driver = Driver::on(&store);
    let scopes: Vec<_> = (0..6).map(|n| user(&format!("user-{n}"))).chain([agent("bot")]).collect();
    let mut ids = Vec::new();
    for scope in &scopes {
        ids.push(driver.remember(scope, "lantern").await);
    }
    driver.sees(&whole(), "lantern", &ids).await;
    let mut tasks = JoinSet::new();
    for task in 0..8 {
        let (store, scopes, ids) = (store.clone(), scopes.clone(), ids.clone());
        tasks.spawn(async move {
            for round in 0..40 {
                let which = (task + round) % scopes.len();
                let seen = visible(&scopes[which..=which]);
                let hits = good(store.nearest(&seen, &vector("lantern"), &now(), 5).await);
                assert_eq!(hits.iter().map(|hit| hit.id).collect::<Vec<_>>(), [ids[which]]);
            }
        });
    }
    tasks.join_all().await;
}

/// Writers and searchers at once: when all is quiet, the index knows everything.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn an_index_read_while_written_misses_nothing() {
    let (store, _folder) = fresh();
    let mut tasks = JoinSet::new();
    for task in 0..8_u64 {
        let store = store.clone();
        tasks.spawn(async move {
            let driver = Driver::from(&store, task * 1_000);
            for round in 0..25 {
                let scope = user(&format!("user-{}", (task + round) % 5));
                let kept = driver.remember(&scope, &format!("lantern {task} {round}")).await;
                let found = driver.near(&visible(&[scope]), "lantern", &now()).await;
                assert!(found.contains(&kept), "a reader sees its own write");
            }
        });
    }
    tasks.join_all().await;
    let driver = Driver::from(&store, 20_000);
    assert_eq!(driver.near(&whole(), "lantern", &now()).await.len(), 200);
    assert_eq!(driver.scan(&whole(), &now()).await.len(), 200);
    sound(&store).await;
}

#[tokio::test]
async fn a_folder_that_cannot_be_used_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let plain = folder.path().join("plain");
    std::fs::write(&plain, "not a folder").unwrap();
    for path in [plain.clone(), plain.join("below")] {
        let error = SqliteStore::open(&path, SqliteOptions::default()).err().expect("no folder");
        assert_eq!(error.kind(), ErrorKind::Storage);
        assert!(error.to_string().contains(&path.display().to_string()), "{error}");
        assert!(error.hint().is_some());
    }
    // The same for a space whose folder is in the way of itself.
    let store = open(&folder.path().join("data"));
    std::fs::create_dir_all(folder.path().join("data/tenants/default")).unwrap();
    std::fs::write(folder.path().join("data/tenants/default/spaces"), "in the way").unwrap();
    let error = Driver::on(&store)
        .act(&user("anna").space(), Action::Bookkeeping(Bookkeeping::Touch { ids: vec![] }))
        .await
        .expect_err("no folder");
    assert_eq!(error.kind(), ErrorKind::Storage);
    assert!(error.to_string().contains("spaces"), "{error}");
}

#[tokio::test]
async fn a_file_of_a_newer_loci_is_refused() {
    let (store, folder) = fresh();
    let driver = Driver::on(&store);
    driver.remember(&user("anna"), "lantern").await;
    let other = driver.remember(&agent("bot"), "lantern").await;
    let path = file(folder.path(), &user("anna").space().name());
    settle(&path).pragma_update(None, "user_version", 99).unwrap();
    let store = open(folder.path());
    let driver = Driver::from(&store, 10);
    let read = store.scan(&whole(), &now(), Page { after: None, limit: 9 }).await.expect_err("newer");
    let written = driver
        .act(&user("anna").space(), Action::Bookkeeping(Bookkeeping::Touch { ids: vec![] }))
        .await
        .expect_err("newer");
    for error in [read, written] {
        assert!(matches!(&error, Error::Newer { found: 99, path: at, .. } if *at == path), "{error:?}");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
    let findings = good(store.check(&whole(), false).await);
    assert!(findings.len() == 1 && findings[0].file == path.display().to_string(), "{findings:?}");
    driver.sees(&visible(&[agent("bot")]), "lantern", &[other]).await;
    drop(store);
    settle(&folder.path().join("catalogue.db")).pragma_update(None, "user_version", 99).unwrap();
    let error = SqliteStore::open(folder.path(), SqliteOptions::default()).err().expect("newer");
    assert!(matches!(error, Error::Newer { found: 99, .. }), "{error:?}");
}

/// Garbage over the pages, a cut header, a foreign header, a file cut short.
#[tokio::test]
async fn a_damaged_file_is_named_and_found() {
    type Damage = fn(&mut Vec<u8>);
    let damages: [(&str, Damage); 4] = [
        ("garbage", |bytes| bytes[8_192..].fill(0xa5)),
        ("a cut header", |bytes| bytes.truncate(60)),
        ("a foreign header", |bytes| bytes[..16].copy_from_slice(b"not a database!!")),
        ("cut short", |bytes| bytes.truncate(bytes.len() / 2 / 8_192 * 8_192)),
    ];
    for (name, damage) in damages {
        let (store, folder) = fresh();
        let driver = Driver::on(&store);
        for number in 0..60 {
            driver.remember(&user("anna"), &format!("lantern {number} {}", "word ".repeat(300))).await;
        }
        let other = driver.remember(&agent("bot"), "lantern").await;
        drop(store);
        let path = file(folder.path(), &user("anna").space().name());
        drop(settle(&path));
        let mut bytes = std::fs::read(&path).unwrap();
        damage(&mut bytes);
        std::fs::write(&path, bytes).unwrap();

        let store = open(folder.path());
        let driver = Driver::from(&store, 1_000);
        let anna = visible(&[user("anna")]);
        let all = Page { after: None, limit: 1_000 };
        let read = store.scan(&anna, &everything(), all).await.expect_err(name);
        assert!(matches!(&read, Error::Damaged { path: at, .. } if *at == path), "{name}: {read:?}");
        assert_eq!(read.kind(), ErrorKind::Corrupt, "{name}");
        assert!(read.hint().is_some_and(|hint| hint.contains("loci store doctor")), "{name}");
        assert!(read.to_string().contains(&path.display().to_string()), "{name}");
        for repair in [false, true] {
            let findings = good(store.check(&whole(), repair).await);
            assert!(!findings.is_empty(), "{name}");
            for finding in findings {
                assert_eq!(
                    (finding.file.as_str(), finding.check.as_str()),
                    (path.to_str().unwrap(), "pages"),
                    "{name}"
                );
                assert!(!finding.repaired, "what was in a damaged page is not ours to guess");
            }
        }
        // The other spaces go on.
        driver.sees(&visible(&[agent("bot")]), "lantern", &[other]).await;
        driver.remember(&agent("bot"), "lantern again").await;
    }
}

/// A time that no calendar has is reported as damage and does not become 1970.
#[tokio::test]
async fn a_damaged_time_is_reported() {
    let (store, folder) = fresh();
    let (driver, anna) = (Driver::on(&store), user("anna"));
    let (one, two) = (driver.remember(&anna, "lantern one").await, driver.remember(&anna, "lantern two").await);
    driver.link(&anna, one, two, Relation::Causal).await;
    let attend =
        Action::Bookkeeping(Bookkeeping::Attend { scope: anna.clone(), session: "s".into(), thread: "t".into() });
    driver.must(&anna.space(), attend).await;
    let path = file(folder.path(), &user("anna").space().name());
    let raw = Connection::open(&path).unwrap();
    raw.execute_batch(&format!(
        "UPDATE edges SET created_at = {max}; UPDATE sessions SET ended_at = {max}; UPDATE memories SET aged_at = {max};",
        max = i64::MAX
    ))
    .unwrap();
    drop(raw);
    let store: &dyn Store = &store;
    let edges = store.edges(&whole(), &everything(), &[one], &[]).await.map(drop);
    let mut read = vec![edges];
    for after in [ExportCursor::Sessions(None), ExportCursor::Memories(0)] {
        read.push(store.export_page(&whole(), &everything(), &anna.space(), &after, 9).await.map(drop));
    }
    for read in read {
        let error = read.expect_err("a damaged time");
        assert!(matches!(&error, Error::Damaged { path: at, .. } if *at == path), "{error:?}");
    }
}

#[tokio::test]
async fn the_doctor_mends_what_can_be_made_again() {
    let (store, folder) = fresh();
    let driver = Driver::on(&store);
    let anna = user("anna");
    let lost = driver.remember(&anna, "lantern lost").await;
    let dangling = driver.remember(&anna, "lantern dangling").await;
    let short = driver.remember(&anna, "lantern short").await;
    let tagged = driver.remember(&anna, "lantern tagged").await;
    let raw = Connection::open(file(folder.path(), &user("anna").space().name())).unwrap();
    let row = |id: MemoryId| -> i64 {
        raw.query_row("SELECT row FROM memories WHERE id = ?1", [id.as_bytes()], |row| row.get(0)).unwrap()
    };
    raw.execute("DELETE FROM words WHERE memory = ?1", [row(lost)]).unwrap();
    raw.pragma_update(None, "foreign_keys", false).unwrap();
    raw.execute("INSERT INTO words (memory, terms) VALUES (999, x'00000000')", []).unwrap();
    let gone = id(77_777);
    raw.execute(
        "UPDATE memories SET superseded_by_id = ?1 WHERE id = ?2",
        rusqlite::params![gone.as_bytes(), dangling.as_bytes()],
    )
    .unwrap();
    raw.execute("UPDATE vectors SET vector = x'00' WHERE memory = ?1", [row(short)]).unwrap();
    raw.execute("INSERT INTO tags (tag, memory) VALUES ('stray', ?1)", [row(tagged)]).unwrap();
    drop(raw);

    let found = good(store.check(&whole(), false).await);
    let mut names: Vec<_> = found.iter().map(|finding| finding.check.as_str()).collect();
    names.sort_unstable();
    assert_eq!(names, ["chains", "lexicon", "lexicon", "links", "tags", "vectors"]);
    assert!(found.iter().all(|finding| !finding.repaired && finding.problem.starts_with("1 ")), "{found:?}");
    assert!(!driver.words(&whole(), "lantern", &now()).await.contains(&lost));

    let mended = good(store.check(&whole(), true).await);
    assert!(mended.len() == 5 && mended.iter().all(|finding| finding.repaired), "{mended:?}");
    sound(&store).await;
    let mut words = driver.words(&whole(), "lantern", &now()).await;
    words.sort();
    assert_eq!(words, [lost, dangling, short, tagged]);
    assert_eq!(driver.near(&whole(), "lantern", &now()).await.len(), 3, "the short vector waits to be made again");
}

/// Changes that wait share one commit; the one that fails takes nobody with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn one_failure_in_a_shared_commit_is_its_own() {
    let (store, _folder) = fresh();
    let anna = user("anna");
    let kept = Driver::from(&store, 500).remember(&anna, "candle").await;
    let mut tasks = JoinSet::new();
    for number in 1..=64_u64 {
        let (store, anna) = (store.clone(), anna.clone());
        tasks.spawn(async move {
            let changes = match number {
                32 => {
                    // Its first half must go with its second.
                    let mut stale = new_text(kept, "torch", true);
                    stale.expect = Some(9);
                    vec![add(memory(number, &anna, "lost")), change(at(600), Action::Revise(Box::new(stale)))]
                }
                _ => vec![add(memory(number, &anna, &format!("lantern {number}")))],
            };
            (number, store.apply(batch(&anna.space(), changes)).await)
        });
    }
    for (number, outcome) in tasks.join_all().await {
        match number {
            32 => assert!(matches!(outcome, Err(Error::Conflict { expected: 9, found: 1, .. })), "{outcome:?}"),
            _ => assert_eq!(good(outcome)[0].id, Some(id(number))),
        }
    }
    let driver = Driver::from(&store, 700);
    assert_eq!(driver.scan(&whole(), &now()).await.len(), 64);
    assert_eq!(driver.words(&whole(), "lantern", &now()).await.len(), 63);
    assert_eq!(driver.words(&whole(), "lost torch", &now()).await, []);
    assert_eq!(driver.must_get(kept).await.content, "candle");
    sound(&store).await;
}

/// A small disk of its own, given back at the end.
struct Disk(TempDir);

impl Disk {
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"]).arg(folder.path());
        mount.output().is_ok_and(|output| output.status.success()).then_some(Self(folder))
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        drop(Command::new("umount").arg("-l").arg(self.0.path()).output());
    }
}

#[tokio::test]
async fn a_full_disk_keeps_nothing_by_halves() {
    let Some(disk) = Disk::mount("6m") else {
        println!("SKIPPED: a small disk cannot be mounted here, so a full one is not tested");
        return;
    };
    let ballast = disk.0.path().join("ballast");
    std::fs::write(&ballast, vec![1; 3 << 20]).unwrap();
    let store = open(&disk.0.path().join("data"));
    let anna = user("anna");
    let big = |number: u64| Memory {
        content: format!("lantern {number} {}", "x ".repeat(40_000)),
        ..memory(number, &anna, &format!("lantern {number}"))
    };
    let (mut kept, mut refused) = (Vec::new(), None);
    for number in 1..200 {
        match store.apply(batch(&anna.space(), vec![add(big(number))])).await {
            Ok(_) => kept.push(id(number)),
            Err(error) => {
                refused = Some((number, error));
                break;
            }
        }
    }
    let (number, error) = refused.expect("the disk is small");
    assert!(matches!(error, Error::DiskFull { .. }), "{error:?}");
    assert_eq!(error.kind(), ErrorKind::Storage);
    assert!(!kept.is_empty());
    // Those who share a commit on a full disk all fail, and none of them is there.
    let mut tasks = JoinSet::new();
    for more in 0..8 {
        let (store, batch) = (store.clone(), batch(&anna.space(), vec![add(big(number + more))]));
        tasks.spawn(async move { store.apply(batch).await });
    }
    for outcome in tasks.join_all().await {
        assert!(matches!(outcome, Err(Error::DiskFull { .. })), "{outcome:?}");
    }
    let driver = Driver::from(&store, 1_000);
    let mut there = driver.scan(&whole(), &everything()).await;
    there.reverse();
    assert_eq!(there, kept);
    std::fs::remove_file(&ballast).unwrap();
    kept.push(driver.remember(&anna, "lantern at last").await);
    good(store.apply(batch(&anna.space(), vec![add(big(number))])).await);
    kept.push(id(number));
    driver.sees(&whole(), "lantern", &kept).await;
    sound(&store).await;
}

#[tokio::test]
async fn a_file_that_is_lost_is_missed() {
    let (store, folder) = fresh();
    Driver::on(&store).remember(&user("anna"), "lantern").await;
    sound(&store).await;
    drop(store);
    let path = file(folder.path(), &user("anna").space().name());
    std::fs::remove_file(&path).unwrap();
    let findings = good(open(folder.path()).check(&whole(), false).await);
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].check.as_str(), findings[0].file.as_str()), ("file", path.to_str().unwrap()));
    // One that came back empty is missed as well.
    std::fs::write(&path, "").unwrap();
    assert_eq!(good(open(folder.path()).check(&whole(), false).await).len(), 1);
}

#[tokio::test]
async fn a_closed_store_leaves_whole_files() {
    let (store, folder) = fresh();
    let driver = Driver::on(&store);
    for text in ["one", "two", "three"] {
        driver.remember(&user("anna"), text).await;
    }
    // A reader that is still open must not keep the log from being folded in.
    assert_eq!(good(store.stats(&whole()).await).memories, 3);
    drop(store);
    let copy = folder.path().join("copy.db");
    std::fs::copy(file(folder.path(), &user("anna").space().name()), &copy).unwrap();
    let count: i64 =
        Connection::open(copy).unwrap().query_row("SELECT count(*) FROM memories", [], |row| row.get(0)).unwrap();
    assert_eq!(count, 3);
}
