//! Copying between stores: everything arrives, whatever happens on the way, and a difference is reported.

use std::collections::BTreeSet;

use loci_store::prelude::*;
use loci_store::{
    Agent, CatalogueChange, CheckpointWalk, EntityFilter, EntityQuery, Error, KeyQuery, LedgerQuery, MigrateOptions,
    MigratePhase, MigrateStep, MigrationReport, PostgresOptions, PostgresStore, SqliteOptions, SqliteStore, migrate,
};
use loci_testkit::contract::sound;
use loci_testkit::driver::{Driver, good};
use loci_testkit::model;
use loci_testkit::samples::*;
use loci_testkit::servers::Schema;
use loci_types::{
    Action, Addition, Batch, Bookkeeping, Checkpoint, CheckpointFilter, ErrorKind, Fact, FactFilter, Grant, JobKind,
    JobSpec, Key, Kind, Memory, MemoryId, NoteValue, Reach, Relation, Role, SessionFilter, Source, Tenant, Vector,
    Visible,
};
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use rusqlite::Connection;
use serde_json::json;
use tempfile::TempDir;

/// Where Anna lies.
const ANNA: &str = "tenants/default/spaces/users_38/loci.db";

/// A page this small makes many of few rows.
const SMALL: MigrateOptions = MigrateOptions { verify_only: false, page: 7 };

pub(super) fn folder() -> (SqliteStore, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (SqliteStore::open(folder.path(), SqliteOptions::default()).unwrap(), folder)
}

fn other() -> Tenant {
    Tenant::new("other").unwrap()
}

/// Migrates without looking at the progress. A macro, because the stores may be of two types.
macro_rules! moved {
    ($from:expr, $to:expr, $options:expr $(,)?) => {
        migrate($from, $to, $options, &mut |_| Ok(())).await
    };
}

/// Everything there can be: what chance leaves behind, and what it does not touch.
pub(super) async fn fill(store: &dyn Store) {
    let mut runner = TestRunner::deterministic();
    let mut chance = || model::sequences(120).new_tree(&mut runner).unwrap().current();
    let steps = (0..20).map(|_| chance()).max_by_key(Vec::len).unwrap_or_default();
    model::agrees(store, &steps).await;
    let driver = Driver::from(store, 1_000);
    let (anna, bot) = (user("anna"), agent("bot"));
    let space = anna.space();
    // Names and texts with everything that a database might trip over.
    let full = driver.keep(full_memory(driver.next(), &anna)).await;
    let states = Vector { token_states: Some(vec![0, 1, 2, 255]), ..vector("with states") };
    let stated =
        Addition { vector: Some(states), ..addition(driver.sample(&anna, "with states \u{10FFFF} \u{1} end")) };
    let with_states = stated.memory.id;
    driver.must(&space, Action::Add(Box::new(stated))).await;
    let odd = Vector { values: vec![f32::NAN; DIMENSIONS], ..vector("odd") };
    let odd = Addition { vector: Some(odd), ..addition(driver.sample(&bot, "points nowhere")) };
    driver.must(&bot.space(), Action::Add(Box::new(odd))).await;
    driver.link(&anna, full, with_states, Relation::Causal).await;
    // Two turns, of which the second answers the first.
    let mut turns = Vec::new();
    for (text, who) in [("Where does the ferryman live?", "ben"), ("By the old mill", "anna")] {
        let mut turn = driver.sample(&anna, text);
        turn.identifiers.session_id = Some("s".into());
        let turn = Memory {
            kind: Kind::stored(Kind::EPISODIC),
            source: Some(Source { kind: "conversation".into(), ..Source::default() }),
            thread_id: Some("t".into()),
            actor_id: Some(who.into()),
            ..turn
        };
        let follows = turns.last().copied();
        turns.push(turn.id);
        driver.must(&space, Action::Add(Box::new(Addition { follows, ..addition(turn) }))).await;
    }
    for session in ["s", "\u{1}odd", "ä"] {
        let (scope, session) = (anna.clone(), session.to_owned());
        driver.must(&space, Action::Bookkeeping(Bookkeeping::Attend { scope, session, thread: "t".into() })).await;
    }
    let through = Action::Bookkeeping(Bookkeeping::Consolidate {
        scope: anna.clone(),
        session: "s".into(),
        expect: None,
        through: turns[0],
        report: serde_json::Value::Null,
    });
    driver.must(&space, through).await;
    // The one that is taken up has the smaller number.
    let [one, two] = [driver.name(&anna, "Мурка", &["The CAT", "\u{1}"]).await, driver.name(&anna, "Felix", &[]).await];
    driver.mention(&anna, full, one.id).await;
    driver.must(&space, Action::Unite { into: two.id, from: one.id }).await;
    for scope in [None, Some(anna.clone())] {
        let value = NoteValue::Set(json!({ "a": [1, "\u{1}"] }));
        let until = scope.is_some().then(|| at(80_000));
        driver.must(&space, Action::Bookkeeping(Bookkeeping::Note { scope, key: "seen".into(), value, until })).await;
    }
    for unique in [None, Some("once".to_owned())] {
        let payload = json!({ "id": full.to_string() });
        let job = JobSpec { kind: JobKind::Link, payload, unique, run_after: at(7) };
        driver.must(&space, Action::Bookkeeping(Bookkeeping::Enqueue(job))).await;
    }
    let metadata = json!({ "a": "\u{1}" }).as_object().cloned().unwrap_or_default();
    let learned =
        Fact { sources: vec![full], metadata: metadata.clone(), ..fact(1, &anna, ["Мурка", "likes", "fish"]) };
    for fact in [learned, fact(2, &anna, ["Felix", "is", "a \u{10FFFF} cat"])] {
        driver.must(&space, Action::State(Box::new(fact))).await;
    }
    let kept = Checkpoint { metadata, ..checkpoint(&anna, "t", "1", Some("0"), &[0, 1, 255]) };
    for action in put_with_write(kept) {
        driver.must(&space, action).await;
    }
    let agent = Agent { agent_id: "idle".into(), settings: json!({ "mood": "\u{1}" }), created_at: at(5) };
    good(store.change_catalogue(&Tenant::default(), CatalogueChange::PutAgent(agent)).await);
    let grant = Grant { role: Role::Writer, categories: Some(["a".into()].into()), ..Grant::whole(other()) };
    let key = Key {
        id: "k".into(),
        name: "the key".into(),
        hash: [9; 32],
        grant,
        created_at: at(3),
        expires_at: Some(at(99)),
        revoked_at: Some(at(50)),
    };
    good(store.change_catalogue(&key.grant.tenant.clone(), CatalogueChange::PutKey(key)).await);
    let theirs = Batch { tenant: other(), space: space.clone(), changes: vec![add(memory(2_000, &anna, "theirs"))] };
    good(store.apply(theirs).await);
    // The last of all is gone: its number must not come again.
    let gone = driver.remember(&anna, "gone").await;
    driver.must(&space, Action::Erase { id: gone }).await;
}

/// What a reader sees, in words.
async fn seen(store: &dyn Store) -> Vec<String> {
    let mut seen = Vec::new();
    let tenants = good(store.tenants().await);
    seen.push(format!("tenants {tenants:?}"));
    for tenant in tenants {
        let all = grant(tenant.clone(), Reach::Whole, None, None);
        for space in good(store.spaces(&tenant).await) {
            let notes = good(store.notes(&all, &space, &["seen".to_owned()], at(1)).await);
            let feed = good(store.ledger(&all, &LedgerQuery::After { space: space.clone(), sequence: 0 }, 1_000).await);
            // An agent of whom nothing was ever written has a space on a server, and no file in a folder.
            if feed.position > 0 {
                seen.push(format!("space {space} {notes:?} {feed:?}"));
            }
        }
        let mut positions = good(store.ledger_heads(&all).await);
        positions.retain(|_, last| *last > 0);
        seen.push(format!("positions {positions:?}"));
        seen.push(format!("agents {:?}", good(store.agents(&tenant, None).await)));
        seen.push(format!("keys {:?}", good(store.keys(KeyQuery::Tenant(&tenant)).await)));
        seen.push(format!("jobs {:?}", good(store.jobs(&tenant, &["waiting", "running", "dead"], 99).await)));
        seen.push(format!("sessions {:?}", good(store.sessions(&all, &SessionFilter::default(), 99).await)));
        seen.push(format!(
            "entities {:?}",
            good(store.entities(&all, &EntityQuery::Known(EntityFilter::default()), 99).await)
        ));
        let past = FactFilter { include_past: true, ..FactFilter::at(at(1)) };
        seen.push(format!("facts {:?}", good(store.facts(&all, &past, 99).await)));
        let kept = CheckpointFilter { data: true, ..CheckpointFilter::of(user("anna"), "t") };
        seen.push(format!("checkpoints {:?}", good(store.checkpoints(&all, &kept, CheckpointWalk::Newest, 99).await)));
        seen.extend(seen_memories(store, &all).await);
    }
    seen
}

async fn seen_memories(store: &dyn Store, all: &Visible) -> Vec<String> {
    let mut seen = Vec::new();
    let ids = Driver::on(store).scan(all, &everything()).await;
    for memory in good(store.fetch(all, &ids).await) {
        let history = good(store.ledger(all, &LedgerQuery::Memory(memory.id), 99).await).entries;
        let spoken_of = good(store.entities(all, &EntityQuery::MentionedBy(memory.id), usize::MAX).await);
        seen.push(format!("memory {memory:?} {history:?} {spoken_of:?}"));
    }
    let mut edges = good(store.edges(all, &everything(), &ids, &[]).await);
    edges.sort_by_key(|edge| edge.id);
    seen.push(format!("edges {edges:?}"));
    let mut vectors = good(store.vectors(all, MODEL, &ids).await);
    vectors.sort_by_key(|(id, _)| *id);
    vectors.retain(|(_, vector)| vector.values.iter().all(|value| value.is_finite() && *value != 0.0));
    seen.push(format!("vectors {vectors:?}"));
    // Scores differ in their last digits, and those that score alike in their order.
    let sorted = |ids: Vec<MemoryId>| ids.into_iter().collect::<BTreeSet<_>>();
    for word in ["lantern", "ferryman", "bees", "candle mill"] {
        let (near, words) =
            (Driver::on(store).near(all, word, &everything()).await, store.lexical(all, word, &everything(), 99).await);
        let words = good(words).into_iter().map(|hit| hit.id).collect();
        seen.push(format!("{word}: {:?} {:?}", sorted(near), sorted(words)));
    }
    seen
}

async fn same_reads(one: &dyn Store, other: &dyn Store) {
    let (expect, found) = (seen(one).await, seen(other).await);
    for (expect, found) in expect.iter().zip(&found) {
        assert_eq!(expect, found);
    }
    assert_eq!(expect.len(), found.len());
    sound(other).await;
}

/// The hashes of everything.
fn hashes(copied: &MigrationReport) -> Vec<(Option<&str>, &str, &str, u64)> {
    let hash = |table: &'_ loci_store::ComparedTable| (table.table, table.rows);
    assert!(copied.tables.iter().map(hash).any(|(_, rows)| rows > 0));
    copied.tables.iter().map(|table| (table.space.as_deref(), table.table, table.hash.as_str(), table.rows)).collect()
}

// Coverage: SPEC-11.6.
#[tokio::test(flavor = "multi_thread")]
async fn everything_goes_to_a_server_and_back() {
    let Some((server, _schema)) = crate::postgres::fresh().await else { return };
    let (first, _first) = folder();
    fill(&first).await;
    let (last, _last) = folder();
    let there = good(moved!(&first, &server, SMALL));
    same_reads(&first, &server).await;
    let back = good(moved!(&server, &last, MigrateOptions { page: 3, ..SMALL }));
    same_reads(&first, &last).await;
    assert_eq!(hashes(&there), hashes(&back), "a hash depends neither on the database nor on the pages");
    for table in [
        "memories", "tags", "vectors", "edges", "entities", "unions", "mentions", "names", "ledger", "jobs",
        "sessions", "notes", "words", "keys",
    ] {
        assert!(there.tables.iter().any(|compared| compared.table == table && compared.rows > 0), "{table} was tried");
    }
    // What was copied goes on, and no number comes again.
    for store in [&server as &dyn Store, &last] {
        let driver = Driver::from(store, 5_000);
        let new = driver.remember(&user("anna"), "after the move").await;
        assert_eq!(
            good(store.ledger(&whole(), &LedgerQuery::Memory(new), 99).await).entries.len(),
            1,
            "nothing was inherited"
        );
        driver.name(&user("anna"), "Nova", &[]).await;
        sound(store).await;
    }
}

// Coverage: SPEC-11.7.
#[tokio::test(flavor = "multi_thread")]
async fn a_number_is_never_given_twice_in_a_copied_folder() {
    let ((first, _first), (last, _last)) = (folder(), folder());
    fill(&first).await;
    good(moved!(&first, &last, SMALL));
    same_reads(&first, &last).await;
    let row = |folder: &TempDir| {
        let sql = "SELECT seq FROM sqlite_sequence WHERE name = 'memories'";
        Connection::open(folder.path().join(ANNA)).unwrap().query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    assert_eq!(row(&_first), row(&_last));
}

/// Migrates, but stops after a few pages, as a crash would: what was written before is durable. Then again and again, until
/// everything is there.
macro_rules! moved_with_stops {
    ($from:expr, $to:expr) => {{
        let mut stops = 0;
        loop {
            let mut left = 3_usize;
            let outcome = migrate($from, $to, SMALL, &mut |step: &MigrateStep<'_>| {
                if step.phase == MigratePhase::Copied {
                    left = left.checked_sub(1).ok_or_else(|| Error::Refused("stopped here".into()))?;
                }
                Ok(())
            })
            .await;
            let Err(error) = outcome else { break };
            assert_eq!(error.to_string(), "stopped here");
            stops += 1;
            assert!(stops < 1_000, "it comes to an end");
        }
        assert!(stops > 9, "it was stopped in many places: {stops}");
        let again = good(moved!($from, $to, SMALL));
        assert_eq!(again.copied, 0, "all is there");
        same_reads($from, $to).await;
        good(moved!($from, $to, MigrateOptions { verify_only: true, ..SMALL }));
    }};
}

// Coverage: SPEC-11.6.
#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_copy_is_resumed() {
    let ((first, _first), (last, _last)) = (folder(), folder());
    fill(&first).await;
    moved_with_stops!(&first, &last);
    if let Some((server, _schema)) = crate::postgres::fresh().await {
        moved_with_stops!(&first, &server);
    }
}

// Coverage: SPEC-11.7.
#[tokio::test(flavor = "multi_thread")]
async fn a_target_with_other_data_is_not_changed() {
    let ((first, _first), (last, _last)) = (folder(), folder());
    fill(&first).await;
    let id = Driver::on(&last).remember(&user("anna"), "was here before").await;
    let refused = moved!(&first, &last, SMALL).expect_err("occupied");
    assert!(matches!(&refused, Error::Occupied { place, .. } if place == "default/users_38"), "{refused}");
    assert_eq!(refused.kind(), ErrorKind::Conflict);
    assert_eq!(Driver::on(&last).scan(&whole(), &everything()).await, [id]);
    assert_eq!(good(last.tenants().await), [Tenant::default()], "nothing was written");
}

// Coverage: SPEC-11.6.
#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_copy_is_reported() {
    for (sql, table, expected) in [
        (
            "UPDATE memories SET content = content || '!' WHERE row = ROW",
            "memories",
            "ROW is not the same in the target",
        ),
        (
            "UPDATE vectors SET vector = zeroblob(128) WHERE memory = ROW",
            "vectors",
            "ROW 1 is not the same in the target",
        ),
        ("DELETE FROM ledger WHERE sequence = 3", "ledger", "3 is missing in the target"),
        ("DELETE FROM words WHERE memory = ROW", "words", "ROW is missing in the target"),
        ("INSERT INTO names (name, entity) VALUES ('x', 1)", "names", "1 \"x\" is in the target and not in the source"),
    ] {
        let ((first, _first), (last, damaged)) = (folder(), folder());
        fill(&first).await;
        good(moved!(&first, &last, SMALL));
        let raw = Connection::open(damaged.path().join(ANNA)).unwrap();
        // One that chance has left there.
        let row: i64 = raw.query_row("SELECT min(memory) FROM vectors", [], |row| row.get(0)).unwrap();
        let (sql, expected) = (sql.replace("ROW", &row.to_string()), expected.replace("ROW", &row.to_string()));
        assert_eq!(raw.execute(&sql, []).unwrap(), 1, "{sql}");
        drop(raw);
        let error = moved!(&first, &last, SMALL).expect_err(&sql);
        let Error::Unlike { table: named, key, problem, .. } = &error else { panic!("{sql}: {error:?}") };
        assert_eq!((named.as_str(), format!("{key} {problem}").as_str()), (table, expected.as_str()), "{sql}");
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}

// Coverage: SPEC-11.7.
#[tokio::test(flavor = "multi_thread")]
async fn a_source_that_is_written_to_is_reported() {
    let ((first, _first), (last, _last)) = (folder(), folder());
    Driver::on(&first).remember(&user("anna"), "first").await;
    let file = _first.path().join(ANNA);
    let mut once = true;
    let error = migrate(&first, &last, SMALL, &mut |step| {
        if step.table == "checkpoint_writes" && std::mem::take(&mut once) {
            let sql = "INSERT INTO ledger (at, event, reason) VALUES (1, 'created', 'meanwhile')";
            Connection::open(&file).unwrap().execute(sql, []).unwrap();
        }
        Ok(())
    })
    .await
    .expect_err("it moved");
    assert!(matches!(&error, Error::Overtaken(message) if message.contains("from line 1 to 2")), "{error}");
    // Lines that came meanwhile are copied by the next run.
    assert_eq!(good(moved!(&first, &last, SMALL)).copied, 1);
}

// Coverage: SPEC-11.7.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_copied_is_refused() {
    let ((first, place), (last, _last)) = (folder(), folder());
    let refusal =
        async |from: &SqliteStore, to: &SqliteStore| moved!(from, to, SMALL).expect_err("refused").to_string();
    assert_eq!(refusal(&first, &last).await, "the source is empty: there is nothing to copy");
    let same = SqliteStore::open(&place.path().join("."), SqliteOptions::default()).unwrap();
    assert_eq!(refusal(&first, &same).await, "the source and the target are the same store");
    Driver::on(&first).remember(&user("anna"), "lost").await;
    std::fs::remove_file(place.path().join(ANNA)).unwrap();
    assert!(refusal(&first, &last).await.contains("missing"));
    let Some(schema) = Schema::new() else { return };
    let open = async || {
        let options = PostgresOptions { schema: schema.name.clone(), partitions: 1, ..PostgresOptions::default() };
        assert!(
            !PostgresStore::is_there(&schema.url, &PostgresOptions { schema: "loci_never".into(), ..options.clone() })
                .await
                .unwrap()
        );
        PostgresStore::open(&schema.url, options).await.unwrap()
    };
    let (one, two) = (open().await, open().await);
    let error = moved!(&one, &two, SMALL).expect_err("the same");
    assert_eq!(error.to_string(), "the source and the target are the same store");
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_of_half_precision_are_compared_as_such() {
    let Some(schema) = Schema::new() else { return };
    let options =
        PostgresOptions { schema: schema.name.clone(), partitions: 1, halfvec: true, ..PostgresOptions::default() };
    let server = PostgresStore::open(&schema.url, options).await.unwrap();
    let (first, _first) = folder();
    Driver::on(&first).remember(&user("anna"), "lantern").await;
    let copied = good(moved!(&first, &server, SMALL));
    assert!(copied.tables.iter().any(|table| table.table == "vectors" && table.rows > 0));
}

/// Migrates, and prints how long it took.
macro_rules! timed {
    ($name:expr, $from:expr, $to:expr) => {{
        let (started, mut copied) = (std::time::Instant::now(), None);
        let (mut last, mut tables) = (started, std::collections::BTreeMap::<_, f64>::new());
        let report = migrate($from, $to, MigrateOptions::default(), &mut |step: &MigrateStep<'_>| {
            *tables.entry(step.table).or_default() +=
                std::mem::replace(&mut last, std::time::Instant::now()).elapsed().as_secs_f64();
            if step.phase == MigratePhase::Verified {
                copied.get_or_insert_with(|| started.elapsed());
            }
            Ok(())
        })
        .await;
        let (report, copying) = (good(report), copied.unwrap_or_default());
        let comparing = started.elapsed() - copying;
        println!(
            "{}: {} rows copied in {:.1} s ({:.0} rows/s, {:.0} memories/s), compared in {:.1} s",
            $name,
            report.copied,
            copying.as_secs_f64(),
            report.copied as f64 / copying.as_secs_f64(),
            MEMORIES as f64 / copying.as_secs_f64(),
            comparing.as_secs_f64()
        );
        println!("  seconds by table: {tables:.1?}");
    }};
}

/// Prints how quickly memories go there and back.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement; run it alone"]
async fn how_quick_a_move_is() {
    const MEMORIES: u64 = 20_000;
    let Some(schema) = Schema::new() else { return };
    // As the command does it: the graph comes last.
    let options =
        |dimensions| PostgresOptions { schema: schema.name.clone(), dimensions, ..PostgresOptions::default() };
    let server = PostgresStore::open(&schema.url, options(Vec::new())).await.unwrap();
    let ((first, _first), (last, _last)) = (folder(), folder());
    let anna = user("anna");
    let all: Vec<u64> = (1..=MEMORIES).collect();
    for numbers in all.chunks(500) {
        let addition = |number: &u64| {
            let text = format!(
                "memory {number}: the ferry to island {} leaves at {} from pier {}",
                number % 97,
                number % 24,
                number % 7
            );
            let values = loci_testkit::vectors::hashed_vector(&text, 384);
            let vector = Vector { values, token_states: Some(vec![7; 64 * 16]), ..vector("") };
            let addition = Addition { vector: Some(vector), ..addition(memory(*number, &anna, &text)) };
            change(at(*number as i64), Action::Add(Box::new(addition)))
        };
        good(first.apply(batch(&anna.space(), numbers.iter().map(addition).collect())).await);
    }
    timed!("to the server", &first, &server);
    timed!("back", &server, &last);
    let started = std::time::Instant::now();
    PostgresStore::open(&schema.url, options(vec![384])).await.unwrap();
    println!("the graph: {:.1} s", started.elapsed().as_secs_f64());
}

/// A SQLite file of an older version may hold NUL in a text. PostgreSQL cannot, so the copy stops and says why.
#[tokio::test(flavor = "multi_thread")]
async fn a_nul_in_an_old_file_is_refused_by_name() {
    let Some(schema) = Schema::new() else { return };
    let (from, _folder) = folder();
    Driver::on(&from).remember(&user("anna"), "one \0 two").await;
    let options = PostgresOptions { schema: schema.name.clone(), ..PostgresOptions::default() };
    let to = PostgresStore::open(&schema.url, options).await.unwrap();
    let refused = moved!(&from, &to, SMALL).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidInput);
    assert_eq!(refused.to_string(), "memories: a text contains a NUL character, which PostgreSQL cannot store");
}
