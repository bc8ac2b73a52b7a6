//! Erasure of a user: nothing of the user is left in any file or table.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use loci_store::prelude::*;
use loci_store::{LedgerQuery, PostgresOptions, PostgresStore};
use loci_testkit::contract::sound;
use loci_testkit::driver::{Driver, good};
use loci_testkit::samples::*;
use loci_testkit::servers::Schema;
use loci_types::{
    Action, Addition, Bookkeeping, JobKind, JobSpec, Kind, Layer, Memory, NoteValue, Relation, Source, Tenant,
};
use serde_json::json;

use crate::copy::folder;

/// Words that nobody else says.
const SECRET: &str = "zanzibarquuxly";
/// A name that nobody else has.
const WHO: &str = "wilhelminaprudence";
/// Someone of other tests, who run beside those that look for the first name in the files of the server.
const SHE: &str = "theodora";

/// Files below a folder that hold these bytes.
pub(crate) fn holding(folder: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    let Ok(entries) = std::fs::read_dir(folder) else { return found };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            found.extend(holding(&path, needle));
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes.windows(needle.len()).any(|window| window.eq_ignore_ascii_case(needle.as_bytes()))
        {
            found.push(path.display().to_string());
        }
    }
    found
}

/// Something of everything that a user leaves, and something of someone else beside it.
async fn live(store: &dyn Store) -> Memory {
    let driver = Driver::on(store);
    let (own, other) = (user(WHO), user("ben"));
    let at_bot = scope(Layer::Agent, &["bot", WHO]);
    let space = own.space();
    let first = driver.remember(&own, &format!("the {SECRET} lantern")).await;
    let second = driver.replace(first, &own, &format!("the {SECRET} candle")).await;
    driver.must(&space, Action::Revise(Box::new(new_text(second, &format!("{SECRET} torch"), true)))).await;
    driver.link(&own, first, second, Relation::Causal).await;
    let gone = driver.remember(&own, &format!("soon gone {SECRET}")).await;
    driver.must(&space, Action::Erase { id: gone }).await;
    let thing = driver.name(&own, SECRET, &[]).await;
    driver.mention(&own, second, thing.id).await;
    driver.remember(&at_bot, &format!("bot knows {SECRET}")).await;
    // Something for the team that they said.
    let team = scope(Layer::Team, &["crew"]);
    let mut said = driver.sample(&team, &format!("{SECRET} for the crew"));
    said.actor_id = Some(WHO.into());
    driver.keep(said).await;
    let turn = Memory {
        kind: Kind::stored(Kind::EPISODIC),
        source: Some(Source { kind: "conversation".into(), ..Source::default() }),
        thread_id: Some(format!("t-{SECRET}")),
        ..driver.sample(&own, &format!("a turn about {SECRET}"))
    };
    driver.must(&space, Action::Add(Box::new(Addition::new(turn)))).await;
    let (session, thread) = (format!("s-{SECRET}"), format!("t-{SECRET}"));
    driver.must(&space, Action::Bookkeeping(Bookkeeping::Attend { scope: own.clone(), session, thread })).await;
    let note = |scope, key: &str| {
        Action::Bookkeeping(Bookkeeping::Note {
            scope,
            key: key.to_owned(),
            value: NoteValue::Set(json!({ "word": SECRET })),
            until: None,
        })
    };
    driver.must(&space, note(Some(own.clone()), "word")).await;
    driver.must(&space, note(Some(own.clone()), "answer 1")).await;
    driver
        .must(
            &space,
            Action::Bookkeeping(Bookkeeping::Enqueue(JobSpec {
                kind: JobKind::Embed,
                payload: json!({ "memory": second, "why": SECRET }),
                unique: None,
                run_after: at(1),
            })),
        )
        .await;
    driver
        .must(
            &space,
            Action::Bookkeeping(Bookkeeping::Enqueue(JobSpec {
                kind: JobKind::Consolidate,
                payload: json!({ "scope": own.key(), "session": SECRET }),
                unique: None,
                run_after: at(1),
            })),
        )
        .await;
    // Much comes and goes, so that pages are freed.
    for number in 0..200 {
        driver.remember(&own, &format!("{SECRET} number {number} {}", "and so on ".repeat(40))).await;
    }
    let kept = driver.remember(&other, "a plain lantern").await;
    driver.must_get(kept).await
}

/// Erases, and looks that the others lost nothing.
async fn erased(store: &dyn Store, kept: &Memory) {
    let there = good(store.user_data(&whole(), WHO).await);
    // Their own space and those of the agent, the team and someone else.
    assert_eq!(there.len(), 4, "{there:?}");
    assert!(there[&user(WHO).space()].memories > 200, "{there:?}");
    assert!(good(store.user_data(&visible(&[user(WHO)]), WHO).await).is_empty(), "visible only to those who see all");
    for space in there.keys() {
        Driver::from(store, 9_000).must(space, Action::EraseUser { user: WHO.into() }).await;
    }
    let left = good(store.user_data(&whole(), WHO).await);
    assert!(left.values().all(loci_store::UserData::is_empty), "{left:?}");
    assert_eq!(Driver::on(store).must_get(kept.id).await, *kept);
    assert_eq!(Driver::on(store).words(&whole(), "lantern", &everything()).await, [kept.id]);
    assert_eq!(Driver::on(store).near(&whole(), "lantern", &everything()).await, [kept.id]);
    // An erased memory can be recognised by its hash, and by nothing else.
    let feed = good(
        store.ledger(&whole(), &LedgerQuery::After { space: user(WHO).space().clone(), sequence: 0 }, 5_000).await,
    );
    let tombs: Vec<_> = feed.entries.iter().filter(|entry| entry.event == "ERASE").collect();
    assert!(tombs.len() > 200, "{}", tombs.len());
    let hashes = tombs.iter().filter(|entry| entry.new.as_ref().is_some_and(|new| new.get("contentHash").is_some()));
    assert!(hashes.count() > 200);
    let ledger = serde_json::to_string(&feed.entries).unwrap();
    assert!(!ledger.contains(SECRET) && !ledger.contains(WHO), "the ledger contains nothing of the user");
    sound(store).await;
}

// Coverage: SPEC-7.4.
#[tokio::test]
async fn nothing_is_left_in_the_files() {
    let (store, home) = folder();
    let kept = live(&store).await;
    assert!(!holding(home.path(), SECRET).is_empty(), "it is there before");
    erased(&store, &kept).await;
    assert_eq!(good(store.scrub(&Tenant::default()).await), None);
    assert_eq!(holding(home.path(), SECRET), Vec::<String>::new());
    assert_eq!(holding(home.path(), "zanzibarq"), Vec::<String>::new(), "not even a stem");
    assert_eq!(holding(home.path(), WHO), Vec::<String>::new());
    // Erasing someone who is not there changes nothing.
    let before = good(store.ledger_heads(&whole()).await);
    Driver::from(&store, 20_000).must(&user(WHO).space(), Action::EraseUser { user: WHO.into() }).await;
    assert_eq!(good(store.ledger_heads(&whole()).await), before);
    drop(store);
    assert_eq!(holding(home.path(), SECRET), Vec::<String>::new());
}

// Coverage: SPEC-7.4.
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_left_on_the_server() {
    let Some(schema) = Schema::new() else { return };
    let options = PostgresOptions { schema: schema.name.clone(), ..PostgresOptions::default() };
    let store = PostgresStore::open(&schema.url, options).await.unwrap();
    let shown = |name: &str| {
        let answer = schema.ask(&format!("SELECT current_setting('{name}')"));
        answer.iter().find_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
            _ => None,
        })
    };
    // Only the operator of the server can have its log removed at once.
    schema.ask("ALTER SYSTEM SET wal_recycle = off");
    schema.ask("SELECT pg_reload_conf()");
    let folder = shown("data_directory").unwrap();
    if std::fs::read_dir(&folder).is_err() {
        eprintln!("the server's folder cannot be read from here; its bytes are not searched");
        return;
    }
    let kept = live(&store).await;
    schema.ask("CHECKPOINT");
    // Statistics quote what they have seen.
    schema.ask(&format!("ANALYZE {}.memories", schema.name));
    assert!(!holding(Path::new(&folder), SECRET).is_empty(), "it is there before");
    erased(&store, &kept).await;
    // Other tests read in the same database; as long as one of their transactions runs, rows must be kept for it.
    let begun = Instant::now();
    while let Some(left) = good(store.scrub(&Tenant::default()).await) {
        assert!(left.contains("still running") && begun.elapsed() < Duration::from_secs(120), "{left}");
    }
    assert_eq!(holding(Path::new(&folder), SECRET), Vec::<String>::new());
    assert_eq!(holding(Path::new(&folder), WHO), Vec::<String>::new());
}

/// What a user with this many memories left, with something of someone else beside it.
async fn much(store: &dyn Store, memories: u64) {
    let (own, driver) = (user(SHE), Driver::on(store));
    let additions =
        |from: u64| (from..from + 100).map(|number| add(memory(number, &own, &format!("lantern {number}"))));
    for from in (0..memories).step_by(100) {
        good(store.apply(batch(&own.space(), additions(10_000 + from).collect())).await);
    }
    driver.replace(id(10_001), &own, "a new lantern").await;
    driver.remember(&user("ben"), "a plain candle").await;
}

/// Fails when the memory with this text is removed.
async fn interrupted(store: &dyn Store, what: &str) {
    let space = user(SHE).space();
    let before = good(store.user_data(&whole(), SHE).await)[&space].clone();
    let (positions, change) = (good(store.ledger_heads(&whole()).await), Action::EraseUser { user: SHE.into() });
    let refused = store.apply(batch(&space, vec![loci_testkit::samples::change(at(9), change)])).await;
    assert!(refused.is_err(), "{what}: it says that it is done");
    // What went is gone, and the rest is still the user's.
    let between = good(store.user_data(&whole(), SHE).await)[&space].clone();
    assert!(between.memories < before.memories, "{what}: all in one transaction");
    assert!(between.memories > 0, "{what}: nothing was left to do");
    assert!(good(store.ledger_heads(&whole()).await)[&space] > positions[&space], "{what}");
    sound(store).await;
}

/// A second run finishes what a first one began, and then nothing is left.
async fn finished(store: &dyn Store) {
    let space = user(SHE).space();
    let before = good(store.user_data(&whole(), SHE).await)[&space].memories;
    Driver::from(store, 90_000).must(&space, Action::EraseUser { user: SHE.into() }).await;
    let left = good(store.user_data(&whole(), SHE).await);
    assert!(left.values().all(loci_store::UserData::is_empty), "{left:?}");
    assert_eq!(Driver::on(store).words(&whole(), "lantern", &everything()).await, []);
    assert_eq!(Driver::on(store).words(&whole(), "candle", &everything()).await.len(), 1);
    let (mut feed, mut sequence) = (Vec::new(), 0);
    loop {
        let page = good(store.ledger(&whole(), &LedgerQuery::After { space: space.clone(), sequence }, 500).await);
        if page.position == sequence {
            break;
        }
        sequence = page.position;
        feed.extend(page.entries);
    }
    let ledger = serde_json::to_string(&feed).unwrap();
    assert!(!ledger.contains("lantern") && !ledger.contains(SHE), "the ledger contains nothing of the user");
    // Each memory has its line, and the last line counts those of this run.
    let erased = |field: &'static str| {
        feed.iter().filter(|entry| entry.event == "ERASE").filter_map(move |entry| entry.new.as_ref()?.get(field))
    };
    assert_eq!(erased("contentHash").count(), 1_001);
    assert_eq!(erased("memories").collect::<Vec<_>>(), [&json!(before)]);
    sound(store).await;
}

#[tokio::test]
async fn an_interrupted_erasure_is_finished_by_the_next_in_a_file() {
    let (store, home) = folder();
    much(&store, 1_000).await;
    let file = home.path().join(format!("tenants/default/spaces/{}/loci.db", user(SHE).space()));
    let broken = "CREATE TRIGGER broken BEFORE DELETE ON memories WHEN OLD.content = 'lantern 10700'
                  BEGIN SELECT RAISE(ABORT, 'interrupted'); END";
    rusqlite::Connection::open(&file).unwrap().execute_batch(broken).unwrap();
    interrupted(&store, "a file").await;
    rusqlite::Connection::open(&file).unwrap().execute_batch("DROP TRIGGER broken").unwrap();
    finished(&store).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_erasure_is_finished_by_the_next_on_a_server() {
    let Some((store, schema)) = crate::postgres::fresh().await else { return };
    much(&store, 1_000).await;
    let name = &schema.name;
    schema.ask(&format!(
        "CREATE FUNCTION {name}.broken() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         IF OLD.content = 'lantern 10700' THEN RAISE EXCEPTION 'interrupted'; END IF; RETURN OLD; END $$; \
         CREATE TRIGGER broken BEFORE DELETE ON {name}.memories FOR EACH ROW EXECUTE FUNCTION {name}.broken()"
    ));
    interrupted(&store, "a server").await;
    schema.ask(&format!("DROP TRIGGER broken ON {name}.memories"));
    finished(&store).await;
}

/// The files of a schema's tables, by name. A table that is written anew gets another one.
fn files(schema: &Schema) -> BTreeMap<String, String> {
    let sql = format!(
        "SELECT relname, pg_relation_filenode(oid) FROM pg_class WHERE relkind = 'r' AND relnamespace = '{}'::regnamespace",
        schema.name
    );
    let answer = schema.ask(&sql);
    let pairs = answer.iter().filter_map(|message| match message {
        tokio_postgres::SimpleQueryMessage::Row(row) => Some((row.get(0)?.to_owned(), row.get(1)?.to_owned())),
        _ => None,
    });
    pairs.collect()
}

/// Cleaning one tenant leaves the partitions of others alone, and nobody is kept from reading for long.
#[tokio::test(flavor = "multi_thread")]
async fn cleaning_up_makes_nobody_wait() {
    let Some((store, schema)) = crate::postgres::fresh().await else { return };
    let own = user(SHE);
    let driver = Driver::on(&store);
    let kept = driver.remember(&own, "lantern").await;
    let tenant = schema.number("SELECT number::bigint FROM tenants WHERE name = 'default'");
    let part = schema.number(&format!(
        "SELECT part::bigint FROM generate_series(0, 1) part WHERE satisfies_hash_partition('memories'::regclass, 2, part, {tenant}::integer)"
    ));
    let before = files(&schema);
    assert_eq!(good(store.scrub(&Tenant::default()).await).filter(|left| !left.contains("wal_recycle")), None);
    let after = files(&schema);
    for table in ["memories", "documents", "words", "vectors", "ledger"] {
        let (ours, others) = (format!("{table}_{part}"), format!("{table}_{}", 1 - part));
        assert_ne!(before[&ours], after[&ours], "{ours} was not written anew");
        assert_eq!(before[&others], after[&others], "{others} is not this tenant's and was written anew");
    }
    // Someone reads for long. Others can still read, and what could not be rewritten is reported.
    let (reader, connection) = tokio_postgres::connect(&schema.url, tokio_postgres::NoTls).await.unwrap();
    tokio::spawn(connection);
    reader.batch_execute(&format!("BEGIN; SELECT count(*) FROM {}.memories_{part}", schema.name)).await.unwrap();
    let cleaning = {
        let store = store.clone();
        tokio::spawn(async move { store.scrub(&Tenant::default()).await })
    };
    let (mut longest, begun) = (Duration::ZERO, Instant::now());
    while !cleaning.is_finished() {
        let asked = Instant::now();
        assert_eq!(good(store.fetch(&whole(), &[kept]).await).len(), 1);
        longest = longest.max(asked.elapsed());
        assert!(begun.elapsed() < Duration::from_secs(50), "it waits for the reader");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let left = good(cleaning.await.unwrap()).unwrap();
    assert!(left.contains(&format!("memories_{part} could not be written anew")), "{left}");
    assert!(longest < Duration::from_secs(8), "a reader waited {longest:?}");
    reader.batch_execute("COMMIT").await.unwrap();
}
