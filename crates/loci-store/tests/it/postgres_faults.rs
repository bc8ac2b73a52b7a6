//! A store whose PostgreSQL is away, slow, cut off, read-only or full.
//!
//! Whatever happens to it: what was acknowledged is there, once; what was not is reported as something that may be
//! tried again, soon and not after a long silence; and afterwards the same store goes on by itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use loci_store::prelude::*;
use loci_store::{Error, PostgresOptions, PostgresStore};
use loci_testkit::contract::sound;
use loci_testkit::driver::{Driver, good};
use loci_testkit::proxy::Proxy;
use loci_testkit::samples::*;
use loci_testkit::servers::Schema;
use loci_types::{ErrorKind, MemoryId, Outcome};

use crate::postgres::fresh;

/// As long as one statement may take in these tests.
const TIMEOUT: Duration = Duration::from_secs(1);
/// When a caller must have an answer at the latest: the store's own patience, and a little for a busy machine.
const PATIENCE: Duration = Duration::from_millis(2_700);

fn options(schema: &Schema) -> PostgresOptions {
    PostgresOptions { schema: schema.name.clone(), partitions: 2, timeout: TIMEOUT, ..PostgresOptions::default() }
}

/// A store behind a proxy.
struct Shaky {
    store: PostgresStore,
    proxy: Proxy,
    schema: Schema,
}

impl Shaky {
    async fn new() -> Option<Self> {
        let schema = Schema::new()?;
        let proxy = Proxy::to(schema.address()).await;
        let store = good(PostgresStore::open(&schema.through(proxy.address()), options(&schema)).await);
        Some(Self { store, proxy, schema })
    }
}

#[track_caller]
fn unavailable(error: &Error) {
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    assert_eq!((error.kind(), error.kind().row().retryable), (ErrorKind::Provider, true));
    assert!(error.hint().is_some());
}

/// Stores the text with this number. The same one may be sent as often as one likes.
async fn write(store: &PostgresStore, number: u64) -> loci_store::Result<MemoryId> {
    let anna = user("anna");
    let memory = memory(number, &anna, &format!("lantern {number}"));
    let applied = store.apply(batch(&anna.space(), vec![add(memory)])).await?;
    Ok(applied[0].id.unwrap())
}

/// Exactly these are there, each once and whole.
async fn holds(store: &PostgresStore, numbers: std::ops::Range<u64>) {
    let expect: Vec<MemoryId> = numbers.map(id).collect();
    Driver::on(store).sees(&whole(), "lantern", &expect).await;
    sound(store).await;
}

// Coverage: S2.29, SPEC-11.2.
#[tokio::test(flavor = "multi_thread")]
async fn away_at_the_start() {
    let Some(schema) = Schema::new() else { return };
    let proxy = Proxy::to(schema.address()).await;
    type Blow = fn(&Proxy);
    let blows: [(&str, Blow); 2] = [("cut", Proxy::cut), ("silent", |proxy| proxy.delay(Duration::from_secs(3_600)))];
    for (how, hurt) in blows {
        hurt(&proxy);
        let begun = Instant::now();
        let error = PostgresStore::open(&schema.through(proxy.address()), options(&schema)).await.err().unwrap();
        unavailable(&error);
        assert!(begun.elapsed() < PATIENCE, "{how}: {:?}", begun.elapsed());
        proxy.heal();
    }
    let store = good(PostgresStore::open(&schema.through(proxy.address()), options(&schema)).await);
    good(write(&store, 1).await);
    // Nobody listens at all.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    unavailable(&PostgresStore::open(&schema.through(free), options(&schema)).await.err().unwrap());
}

/// Eight writers, each sending every one of its texts until it is acknowledged. Returns how often one was refused.
async fn eight_writers(store: &PostgresStore, each: u64, trouble: impl AsyncFn(usize)) -> usize {
    let (refused, written) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let over = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = (0..8)
        .map(|writer| {
            let (store, refused, written) = (store.clone(), refused.clone(), written.clone());
            tokio::spawn(async move {
                for number in 1 + writer * each..=(writer + 1) * each {
                    while let Err(error) = write(&store, number).await {
                        unavailable(&error);
                        refused.fetch_add(1, Ordering::Relaxed);
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                    written.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    let watched = over.clone();
    let all = async {
        for writer in writers {
            writer.await.unwrap();
        }
        watched.store(true, Ordering::Relaxed);
    };
    let troubles = async {
        let mut times = 0;
        while !over.load(Ordering::Relaxed) {
            // Each blow falls when a few more were acknowledged since the last, so in the middle of others.
            let before = written.load(Ordering::Relaxed);
            while written.load(Ordering::Relaxed) < before + 20 && !over.load(Ordering::Relaxed) {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            trouble(times).await;
            times += 1;
        }
        times
    };
    let ((), times) = tokio::join!(all, troubles);
    assert!(times >= 4, "only {times} blows fell");
    refused.load(Ordering::Relaxed)
}

// Coverage: S2.29, SPEC-11.2.
#[tokio::test(flavor = "multi_thread")]
async fn lost_in_the_middle() {
    let Some(Shaky { store, proxy, schema }) = Shaky::new().await else { return };
    let refused = eight_writers(&store, 40, async |times| {
        proxy.cut();
        tokio::time::sleep(Duration::from_millis(10 * times as u64)).await;
        proxy.heal();
    })
    .await;
    assert!(refused > 0, "no write was in the middle of it");
    holds(&store, 1..321).await;
    // The report describes the database and not the cache of this store.
    let other = good(PostgresStore::open(&schema.url, options(&schema)).await);
    holds(&other, 1..321).await;
}

/// Nobody waits much longer than a statement may take.
async fn given_up(what: &str, work: impl Future<Output = Option<Error>>) {
    let begun = Instant::now();
    unavailable(&work.await.unwrap_or_else(|| panic!("{what} was answered")));
    assert!(begun.elapsed() < PATIENCE, "{what}: {:?}", begun.elapsed());
}

// Coverage: S2.29.
#[tokio::test(flavor = "multi_thread")]
async fn slow() {
    let Some(Shaky { store, proxy, schema: _schema }) = Shaky::new().await else { return };
    good(write(&store, 1).await);
    proxy.delay(Duration::from_millis(10));
    good(write(&store, 2).await);
    holds(&store, 1..3).await;
    proxy.delay(Duration::from_secs(2));
    given_up("a write", async { write(&store, 3).await.err() }).await;
    given_up("a read", async { store.fetch(&whole(), &[id(1)]).await.err() }).await;
    given_up("a question", async { store.lexical(&whole(), "lantern", &now(), 9).await.err() }).await;
    proxy.heal();
    for number in 3..5 {
        good(write(&store, number).await);
    }
    holds(&store, 1..5).await;
}

/// A superuser of one test, so that only this test's connections are hurt.
struct Owner {
    name: String,
    schema: Schema,
}

impl Owner {
    fn new() -> Option<(Self, String)> {
        let schema = Schema::new()?;
        let name = format!("{}_owner", schema.name);
        // With the password of the test user, if it has one.
        let (scheme, rest) = schema.url.split_once("://").unwrap();
        let (shown, place) = rest.split_once('@').unwrap_or(("", rest));
        let password = shown.split_once(':').map_or("", |(_, password)| password);
        let url = format!("{scheme}://{name}:{password}@{place}");
        schema.ask(&format!("CREATE ROLE {name} SUPERUSER LOGIN PASSWORD '{password}'"));
        Some((Self { name, schema }, url))
    }

    /// Ends all of its connections, as a server that goes down does.
    fn cut(&self) {
        self.schema
            .ask(&format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{}'", self.name));
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        self.cut();
        let Self { name, schema } = self;
        schema.ask(&format!("DROP SCHEMA IF EXISTS {} CASCADE; REASSIGN OWNED BY {name} TO CURRENT_USER; DROP OWNED BY {name}; DROP ROLE {name}", schema.name));
    }
}

// Coverage: SPEC-11.2.
#[tokio::test(flavor = "multi_thread")]
async fn failing_over() {
    let Some((owner, url)) = Owner::new() else { return };
    let store = good(PostgresStore::open(&url, options(&owner.schema)).await);
    eight_writers(&store, 20, async |_| owner.cut()).await;
    holds(&store, 1..161).await;
    // Those who connect now find a server that can be read and not written, as while a standby takes over.
    owner.schema.ask(&format!("ALTER ROLE {} SET default_transaction_read_only = on", owner.name));
    owner.cut();
    for _ in 0..3 {
        let error = write(&store, 500).await.unwrap_err();
        unavailable(&error);
        assert!(error.to_string().contains("read-only"), "{error}");
        holds(&store, 1..161).await;
    }
    let begun = Instant::now();
    let bot = agent("bot");
    let new = store.apply(batch(&bot.space(), vec![add(memory(900, &bot, "candle"))])).await;
    unavailable(&new.unwrap_err());
    assert!(begun.elapsed() < PATIENCE);
    // Many readers hold connections that were made while it was so.
    let readers: Vec<_> = (0..12)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { good(store.fetch(&whole(), &[id(1)]).await).len() })
        })
        .collect();
    for reader in readers {
        assert_eq!(reader.await.unwrap(), 1);
    }
    owner.schema.ask(&format!("ALTER ROLE {} RESET default_transaction_read_only", owner.name));
    good(write(&store, 161).await);
    holds(&store, 1..162).await;
}

// Coverage: SPEC-11.2.
#[tokio::test(flavor = "multi_thread")]
async fn delivered_twice() {
    let Some((store, _schema)) = fresh().await else { return };
    let (driver, anna) = (Driver::on(&store), user("anna"));
    let changes = vec![add(memory(1, &anna, "lantern 1")), add(memory(2, &anna, "lantern 2"))];
    let first = good(store.apply(batch(&anna.space(), changes.clone())).await);
    let again = good(store.apply(batch(&anna.space(), changes.clone())).await);
    let ids = |applied: &[loci_store::Applied]| applied.iter().map(|one| one.id).collect::<Vec<_>>();
    assert_eq!(ids(&first), ids(&again));
    assert!(again.iter().all(|one| one.outcome != Outcome::Created), "{again:?}");
    // The same under other ids, as when a caller that got no answer makes a new request of it, all at once.
    let tries: Vec<_> = (0..8)
        .map(|delivery| {
            let (store, anna) = (store.clone(), anna.clone());
            tokio::spawn(async move {
                let again = memory(100 + delivery, &anna, "lantern 1");
                good(store.apply(batch(&anna.space(), vec![add(again)])).await)[0].id
            })
        })
        .collect();
    for delivery in tries {
        assert_eq!(delivery.await.unwrap(), first[0].id);
    }
    holds(&store, 1..3).await;
    assert_eq!(driver.count(&whole()).await, 2);
}

// Coverage: SPEC-11.2.
/// A trigger refuses what a full disk would refuse, with the same code and after half of the change was
/// written: a stand-in, for a disk cannot be filled here without hurting others.
#[tokio::test(flavor = "multi_thread")]
async fn full() {
    let Some((store, schema)) = fresh().await else { return };
    good(write(&store, 1).await);
    let name = &schema.name;
    schema.ask(&format!(
        "CREATE FUNCTION {name}.filled() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$; \
         CREATE TRIGGER full_disk BEFORE INSERT ON {name}.words FOR EACH ROW EXECUTE FUNCTION {name}.filled()"
    ));
    let tries: Vec<_> = (2..10)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { write(&store, number).await })
        })
        .collect();
    for one in tries {
        let error = one.await.unwrap().unwrap_err();
        assert!(matches!(error, Error::DiskFull { .. }), "{error:?}");
        assert_eq!(error.kind(), ErrorKind::Storage);
        assert!(error.hint().is_some_and(|hint| hint.contains("free some space")));
    }
    holds(&store, 1..2).await;
    schema.ask(&format!("DROP TRIGGER full_disk ON {name}.words"));
    for number in 2..10 {
        good(write(&store, number).await);
    }
    holds(&store, 1..10).await;
}

/// The processes that serve an owner's connections.
fn serving(owner: &Owner) -> std::collections::BTreeSet<String> {
    let sql = format!("SELECT pid FROM pg_stat_activity WHERE usename = '{}'", owner.name);
    let answer = owner.schema.ask(&sql);
    let pids = answer.iter().filter_map(|message| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
        _ => None,
    });
    pids.collect()
}

/// A deadlock or a serialisation failure concerns one transaction: it is run again, and the idle connections stay.
#[tokio::test(flavor = "multi_thread")]
async fn a_deadlock_does_not_empty_the_pool() {
    let Some((owner, url)) = Owner::new() else { return };
    let store = good(PostgresStore::open(&url, options(&owner.schema)).await);
    good(write(&store, 1).await);
    let readers: Vec<_> = (0..12)
        .map(|_| {
            let store = store.clone();
            tokio::spawn(async move { good(store.lexical(&whole(), "lantern", &now(), 9).await).len() })
        })
        .collect();
    for reader in readers {
        assert_eq!(reader.await.unwrap(), 1);
    }
    let before = serving(&owner);
    assert!(before.len() >= 4, "too few connections to prove anything: {before:?}");
    let name = &owner.schema.name;
    for (number, code) in [(2, "deadlock_detected"), (3, "serialization_failure")] {
        // The first attempt to write fails. A sequence counts the attempts, since it is not rolled back.
        owner.schema.ask(&format!(
            "CREATE SEQUENCE {name}.attempts; GRANT USAGE ON SEQUENCE {name}.attempts TO PUBLIC; \
             CREATE FUNCTION {name}.contended() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
             IF nextval('{name}.attempts') = 1 THEN RAISE EXCEPTION 'contended' USING ERRCODE = '{code}'; END IF; \
             RETURN NEW; END $$; \
             CREATE TRIGGER contended BEFORE INSERT ON {name}.memories FOR EACH ROW EXECUTE FUNCTION {name}.contended()"
        ));
        good(write(&store, number).await);
        assert!(owner.schema.number("SELECT last_value FROM attempts") >= 2, "{code}: nothing was contended");
        owner.schema.ask(&format!(
            "DROP TRIGGER contended ON {name}.memories; DROP FUNCTION {name}.contended(); DROP SEQUENCE {name}.attempts"
        ));
    }
    let gone: Vec<_> = before.difference(&serving(&owner)).cloned().collect();
    assert!(gone.len() <= 2, "each of two failures may cost its own connection, and {} are gone", gone.len());
    holds(&store, 1..4).await;
}

/// The thread that drops a store may be the only one that drives its connections: it must not wait for a write that is under
/// way.
#[test]
fn a_store_is_dropped_in_the_middle_of_a_write_by_the_only_thread_of_a_runtime() {
    let Some(schema) = Schema::new() else { return };
    let (ended, end) = std::sync::mpsc::channel();
    let (url, name) = (schema.url.clone(), schema.name.clone());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let options = PostgresOptions { schema: name.clone(), partitions: 2, ..PostgresOptions::default() };
            let store = good(PostgresStore::open(&url, options).await);
            good(write(&store, 1).await);
            // Someone else holds the lock of the space, so the next write is under way until this connection ends.
            let (client, connection) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await.unwrap();
            tokio::spawn(connection);
            let lock = format!("SELECT pg_advisory_lock(hashtext('{name}'), number) FROM {name}.spaces");
            client.batch_execute(&lock).await.unwrap();
            let writing = store.clone();
            let task = tokio::spawn(async move { write(&writing, 2).await });
            tokio::time::sleep(Duration::from_millis(500)).await;
            task.abort();
            drop(task.await);
            drop(store);
            drop(client);
        });
        ended.send(()).unwrap();
    });
    end.recv_timeout(Duration::from_secs(8)).expect("dropping the store waits for a write that waits for this thread");
}
