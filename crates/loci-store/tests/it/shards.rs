//! Stores and backups from before users had shards are split completely and once.
//!
//! `fixtures/before-shards` was written by the last Loci without shards: three users, a session, a project, chains, a forgotten
//! memory, facts, checkpoints, an entity and a waiting job, all in `shared`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loci_store::prelude::*;
use loci_store::{
    CheckpointWalk, DerivedKeys, LedgerQuery, MigrateOptions, PostgresOptions, PostgresStore, RestoreOutcome,
    RestorePlan, RestorePoint, SqliteOptions, SqliteStore, migrate, restore_backup,
};
use loci_testkit::contract::sound;
use loci_testkit::driver::{Driver, good};
use loci_testkit::samples::*;
use loci_testkit::servers::Schema;
use loci_types::{
    CheckpointFilter, FactFilter, Filter, JobKind, Layer, Memory, Scope, SessionFilter, Space, Tenant, Vector,
};
use rusqlite::Connection;
use tempfile::TempDir;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/before-shards").join(name)
}

fn file(folder: &Path, space: &Space) -> PathBuf {
    folder.join("tenants/default/spaces").join(space.name()).join("loci.db")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::copy(from, to).unwrap();
}

/// A copy of the old store, with vectors, and with rows that lie across users and project as only mistakes could make them.
fn old_store() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, to) in [
        ("store/catalogue.db", folder.path().join("catalogue.db")),
        ("store/tenants/default/spaces/shared/loci.db", file(folder.path(), &Space::Shared)),
    ] {
        copy(&fixture(name), &to);
    }
    let raw = Connection::open(file(folder.path(), &Space::Shared)).unwrap();
    raw.execute_batch(
        "INSERT INTO models (name, dimensions) VALUES ('small', 2);
         INSERT INTO vectors (memory, model, vector) SELECT row, 1, x'0000803f00000000' FROM memories;
         INSERT INTO edges (id, source, target, relation, strength, confidence, valid_from, created_at)
            SELECT randomblob(16), a.row, b.row, 'related_to', 1, 1, 0, 0 FROM memories a, memories b
            WHERE a.user_id = 'cleo' AND b.project_id = 'atlas' LIMIT 1;
         INSERT INTO entities (entity, id, canonical_name, entity_type, aliases, first_seen, last_updated, mention_count, attributes,
            scope, united_with) SELECT 70, randomblob(16), 'Choir', 'group', '[]', 0, 0, 1, '{}', scope, 1
            FROM memories WHERE user_id = 'cleo';
         INSERT INTO names (name, entity) VALUES ('choir', 70);
         INSERT INTO mentions (memory, entity) SELECT row, 70 FROM memories WHERE user_id = 'cleo';
         INSERT INTO notes (key, scope, value) SELECT 'own', scope, '1' FROM memories WHERE user_id = 'cleo';
         INSERT INTO notes (key, scope, value) VALUES ('nobody', 0, '1');
         INSERT INTO jobs (kind, payload, state, run_after, attempts, created_at)
            SELECT 'embed', json_object('memory', lower(substr(hex(id), 1, 8) || '-' || substr(hex(id), 9, 4) || '-' ||
            substr(hex(id), 13, 4) || '-' || substr(hex(id), 17, 4) || '-' || substr(hex(id), 21))), 'waiting', 0, 0, 0
            FROM memories WHERE user_id = 'cleo' OR project_id = 'atlas'",
    )
    .unwrap();
    folder
}

fn open(folder: &Path) -> SqliteStore {
    good(SqliteStore::open(folder, SqliteOptions::default()))
}

fn atlas() -> Scope {
    scope(Layer::Project, &["atlas"])
}

/// The spaces that the old store is split into.
fn spaces() -> Vec<Space> {
    let mut spaces = vec![Space::Shared];
    spaces.extend(["ann", "ben", "cleo"].map(|name| user(name).space()));
    spaces.sort();
    spaces
}

/// Later than everything in the old store.
fn today() -> Filter {
    Filter::everything(at(700 * 86_400))
}

/// How many rows there are in each table of a file.
fn counts(file: &Path) -> BTreeMap<String, i64> {
    let raw = Connection::open(file).unwrap();
    let tables: Vec<String> = raw
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        .and_then(|mut read| read.query_map([], |row| row.get(0))?.collect())
        .unwrap();
    let count = |table: &String| raw.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).unwrap();
    tables.iter().map(|table| (table.clone(), count(table))).collect()
}

/// Content and state of memories by id, and the numbers of their ledger entries.
type OldMemories = BTreeMap<String, (String, String, Vec<i64>)>;

/// The memories of an old file.
fn read_old_memories(file: &Path) -> OldMemories {
    let raw = Connection::open(file).unwrap();
    let mut read = raw.prepare("SELECT lower(hex(id)), content, state, row FROM memories").unwrap();
    let rows = read.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get::<_, i64>(3)?))).unwrap();
    rows.map(Result::unwrap)
        .map(|(id, content, state, row): (String, String, String, i64)| {
            let mut lines = raw.prepare("SELECT sequence FROM ledger WHERE memory = ?1 ORDER BY sequence").unwrap();
            let lines = lines.query_map([row], |line| line.get(0)).unwrap().map(Result::unwrap).collect();
            (id, (content, state, lines))
        })
        .collect()
}

/// Checks that a store has what the old file had: everything once, where it belongs.
async fn is_split(store: &dyn Store, before: &OldMemories) {
    assert_eq!(good(store.spaces(&Tenant::default()).await), spaces());
    let all = good(store.scan(&whole(), &today(), loci_store::Page { after: None, limit: 99 }).await).memories;
    let mut found = BTreeMap::new();
    for memory in &all {
        let history = good(store.ledger(&whole(), &LedgerQuery::Memory(memory.id), 99).await).entries;
        let space = memory.scope().unwrap().space().name();
        assert!(history.iter().all(|entry| entry.space == space), "{history:?}");
        let lines = history.iter().map(|entry| entry.sequence).collect();
        let id = memory.id.0.simple().to_string();
        found.insert(id, (memory.content.clone(), memory.state.name().to_owned(), lines));
    }
    assert_eq!(found, *before);
    let of = |scope: Scope| all.iter().filter(move |memory| memory.scope().unwrap() == scope);
    let driver = Driver::from(store, 900 * 86_400);
    for (scope, words, expect) in [
        (user("ann"), "bees", "Ann keeps bees behind the barn"),
        (user("ben"), "clocks", "Ben repairs clocks on Fridays"),
        (user("cleo"), "choir", "Cleo sings in a choir"),
        (scope(Layer::Session, &["ann", "tuesday"]), "meeting", "The meeting is in room seven"),
        (atlas(), "postgresql", "The project atlas uses PostgreSQL with pgvector"),
    ] {
        let there: Vec<&Memory> = of(scope.clone()).filter(|memory| memory.content == expect).collect();
        assert_eq!(there.len(), 1, "{expect}");
        for seen in [whole(), visible(std::slice::from_ref(&scope))] {
            assert_eq!(driver.words(&seen, words, &today()).await, [there[0].id], "{words}");
        }
    }
    // A question with its answer, a chain, and what was learned and kept.
    assert_eq!(driver.words(&visible(&[user("ann")]), "lighthouse", &today()).await.len(), 2);
    let new = of(user("ann")).find(|memory| memory.content == "The old boat is blue").unwrap();
    let old = of(user("ann")).find(|memory| memory.content == "The old boat is green").unwrap();
    assert_eq!((old.superseded_by_id, new.supersedes_id), (Some(new.id), Some(old.id)));
    let sessions = good(store.sessions(&visible(&[user("ann")]), &SessionFilter::default(), 9).await);
    assert_eq!(sessions.iter().map(|session| session.session_id.as_str()).collect::<Vec<_>>(), ["monday"]);
    for (scope, facts) in [(user("ann"), 1), (user("ben"), 0), (atlas(), 1)] {
        assert_eq!(good(store.facts(&visible(&[scope]), &FactFilter::at(at(700 * 86_400)), 9).await).len(), facts);
    }
    let filter = CheckpointFilter::of(user("ben"), "build");
    assert_eq!(good(store.checkpoints(&visible(&[user("ben")]), &filter, CheckpointWalk::Newest, 9).await).len(), 1);
    sound(store).await;
}

// Coverage: SPEC.1.
#[tokio::test]
async fn an_older_store_is_split_by_user() {
    let folder = old_store();
    let (before, rows) =
        (read_old_memories(&file(folder.path(), &Space::Shared)), counts(&file(folder.path(), &Space::Shared)));
    let store = open(folder.path());
    is_split(&store, &before).await;
    // Vectors are found, jobs are claimed where they are now, and what is nobody's stays.
    let near = Vector { model: "small".to_owned(), values: vec![1.0, 0.0], token_states: None };
    for (scope, near_by) in [(user("ben"), 3), (atlas(), 2)] {
        let hits = good(store.nearest(&visible(&[scope]), &near, &today(), 9).await);
        assert_eq!(hits.len(), near_by);
    }
    let jobs = good(store.claim(&Tenant::default(), JobKind::ALL, 9, at(700 * 86_400), Duration::from_secs(9)).await);
    let mut where_jobs_lie: Vec<String> = jobs.into_iter().map(|job| job.space).collect();
    where_jobs_lie.sort();
    let (ann, cleo) = (user("ann").space(), user("cleo").space());
    let mut expect = vec![ann.name(), cleo.name(), "shared".to_owned(), "shared".to_owned()];
    expect.sort();
    assert_eq!(where_jobs_lie, expect);
    for (space, key) in [(&cleo, "own"), (&Space::Shared, "nobody")] {
        assert_eq!(good(store.notes(&whole(), space, &[key.to_owned()], at(0)).await).len(), 1, "{key}");
    }
    drop(store);
    // Nothing is lost or duplicated, except links between memories that are now in two files.
    let mut sum = BTreeMap::<String, i64>::new();
    for space in spaces() {
        counts(&file(folder.path(), &space))
            .into_iter()
            .for_each(|(table, count)| *sum.entry(table).or_default() += count);
    }
    let pieces = spaces().len() as i64;
    // The older format had no vectors of entities.
    assert_eq!(sum.remove("entity_vectors"), Some(0));
    let mut expect = rows;
    *expect.get_mut("models").unwrap() *= pieces;
    *expect.get_mut("ledger").unwrap() += pieces;
    *expect.get_mut("edges").unwrap() -= 1;
    assert_eq!(sum, expect);
    // It goes on, with numbers that nobody has read.
    let store = open(folder.path());
    let added = Driver::from(&store, 900 * 86_400).remember(&user("ben"), "Ben sold the clocks").await;
    let entries = good(store.ledger(&whole(), &LedgerQuery::Memory(added), 9).await).entries;
    assert!(entries[0].sequence > 20, "{entries:?}");
    sound(&store).await;
}

// Coverage: SPEC.1.
/// Whatever was done when it was interrupted, the split begins anew and ends the same.
#[tokio::test]
async fn an_interrupted_split_is_resumed() {
    let (old, done) = (old_store(), old_store());
    let before = read_old_memories(&file(old.path(), &Space::Shared));
    drop(open(done.path()));
    let shards: Vec<Space> = spaces().into_iter().filter(|space| *space != Space::Shared).collect();
    // All shards are copied and none of them deleted; one is only half written.
    for copied in 0..=shards.len() {
        let folder = old_store();
        for path in ["catalogue.db", "tenants/default/spaces/shared/loci.db"] {
            copy(&old.path().join(path), &folder.path().join(path));
        }
        let raw = Connection::open(folder.path().join("catalogue.db")).unwrap();
        for space in shards.iter().take(copied) {
            copy(&file(done.path(), space), &file(folder.path(), space));
            let known = "INSERT INTO spaces (tenant, name, created_at, written) VALUES ('default', ?1, 1, 1)";
            raw.execute(known, [space.name()]).unwrap();
        }
        drop(raw);
        if let Some(space) = shards.get(copied) {
            let half = file(folder.path(), space).with_extension("split");
            fs::create_dir_all(half.parent().unwrap()).unwrap();
            fs::write(half, b"half").unwrap();
        }
        let store = open(folder.path());
        is_split(&store, &before).await;
    }
    // Everything is done but for the number of the format.
    let raw = Connection::open(done.path().join("catalogue.db")).unwrap();
    raw.pragma_update(None, "user_version", 5).unwrap();
    raw.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)").unwrap();
    drop(raw);
    is_split(&open(done.path()), &before).await;
}

#[test]
fn several_processes_may_open_an_older_store_at_once() {
    let folder = old_store();
    let before = read_old_memories(&file(folder.path(), &Space::Shared));
    let openers: Vec<_> = (0..4)
        .map(|_| {
            let path = folder.path().to_owned();
            std::thread::spawn(move || drop(open(&path)))
        })
        .collect();
    openers.into_iter().for_each(|opener| opener.join().unwrap());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async { is_split(&open(folder.path()), &before).await });
}

/// A process of before that still has the file open is refused, instead of writing where nobody looks.
#[test]
fn an_older_process_writes_no_user_into_a_split_store() {
    let folder = old_store();
    let older = Connection::open(file(folder.path(), &Space::Shared)).unwrap();
    drop(open(folder.path()));
    let add = "INSERT INTO scopes (key, layer) VALUES (?1, ?2)";
    let error = older.execute(add, ["user\u{1f}dora", "user"]).unwrap_err().to_string();
    assert!(error.contains("split by user"), "{error}");
    older.execute(add, ["team\u{1f}blue", "team"]).unwrap();
}

fn plan(files: &[&str]) -> RestorePlan {
    RestorePlan {
        key: None,
        files: files.iter().map(|name| fixture(name)).collect(),
        tenant: None,
        space: None,
        rename: None,
        until: None,
        replace: false,
        at: at(800 * 86_400),
        derive: Arc::new(|memory: &Memory| DerivedKeys { hash: hash(&memory.content), unless: None, claim: None }),
    }
}

/// What an old backup has, from the old store that it was made of.
fn backed_up() -> OldMemories {
    read_old_memories(&fixture("store/tenants/default/spaces/shared/loci.db"))
}

fn names(restored: &[RestoreOutcome]) -> Vec<String> {
    restored.iter().map(|outcome| outcome.space.clone()).collect()
}

// Coverage: SPEC.1.
#[tokio::test]
async fn an_older_backup_is_split_when_it_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    let restored = good(restore_backup(&store, plan(&["full.backup", "more.backup"])).await);
    let mut expect: Vec<String> = spaces().iter().map(Space::name).collect();
    expect.sort();
    let mut found = names(&restored);
    found.sort();
    assert_eq!(found, expect);
    is_split(&store, &backed_up()).await;
    // Again only in the place of what is there, and then as it was at an earlier line.
    assert!(restore_backup(&store, plan(&["full.backup"])).await.is_err());
    let earlier = RestorePlan {
        space: Some(Space::Shared),
        tenant: Some(Tenant::default()),
        until: Some(RestorePoint::Sequence(1)),
        replace: true,
        ..plan(&["full.backup"])
    };
    good(restore_backup(&store, earlier).await);
    let driver = Driver::on(&store);
    assert_eq!(driver.scan(&whole(), &today()).await.len(), 1, "only the first memory");
    sound(&store).await;
}

async fn server(schema: &Schema) -> PostgresStore {
    let options = PostgresOptions { schema: schema.name.clone(), partitions: 2, ..PostgresOptions::default() };
    good(PostgresStore::open(&schema.url, options).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_backup_is_split_on_postgres_too() {
    let Some(schema) = Schema::new() else { return };
    let store = server(&schema).await;
    good(restore_backup(&store, plan(&["full.backup", "more.backup"])).await);
    is_split(&store, &backed_up()).await;
}

// Coverage: SPEC.1.
/// A schema of before is split into the same rows as a file of before.
#[tokio::test(flavor = "multi_thread")]
async fn an_older_schema_is_split_by_user() {
    let Some(schema) = Schema::new() else { return };
    let folder = old_store();
    let before = read_old_memories(&file(folder.path(), &Space::Shared));
    let files = open(folder.path());
    let store = server(&schema).await;
    good(migrate(&files, &store, MigrateOptions::default(), &mut |_| Ok(())).await);
    drop(store);
    // Puts everything back into one space, as the last version without shards would have it.
    let mut script = format!("SET search_path = {}, public; SET session_replication_role = replica; ", schema.name);
    let shards = "(SELECT number FROM spaces WHERE name LIKE 'users%')";
    let shared = "(SELECT number FROM spaces WHERE name = 'shared')";
    script.push_str(&format!(
        "DELETE FROM models WHERE space IN {shards}; DELETE FROM ledger WHERE reason = 'split by user'; "
    ));
    for table in [
        "scopes",
        "memories",
        "tags",
        "documents",
        "words",
        "vectors",
        "edges",
        "entities",
        "mentions",
        "names",
        "ledger",
        "jobs",
        "sessions",
        "notes",
        "facts",
        "fact_sources",
        "checkpoints",
        "checkpoint_writes",
    ] {
        script.push_str(&format!("UPDATE {table} SET space = {shared} WHERE space IN {shards}; "));
    }
    script.push_str(
        "INSERT INTO edges (tenant, space, id, source, target, relation, strength, confidence, valid_from, created_at)
         SELECT a.tenant, a.space, gen_random_uuid(), a.row, b.row, 'related_to', 1, 1, 0, 0 FROM memories a, memories b
         WHERE a.user_id = 'cleo' AND b.project_id = 'atlas' LIMIT 1;
         UPDATE entities SET united_with = 1 WHERE entity = 70;
         DELETE FROM spaces WHERE name LIKE 'users%'; DROP FUNCTION users_have_shards CASCADE; DROP TABLE entity_vectors; DELETE FROM format WHERE number >= 6",
    );
    schema.ask(&script);
    assert_eq!(schema.number("SELECT count(*) FROM spaces"), 1);
    let store = server(&schema).await;
    is_split(&store, &before).await;
    good(
        migrate(&files, &store, MigrateOptions { verify_only: true, ..MigrateOptions::default() }, &mut |_| Ok(()))
            .await,
    );
    // References are checked again, and a server of before is refused.
    assert_eq!(
        schema.number(
            "SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND NOT convalidated AND \
        connamespace = current_schema()::regnamespace"
        ),
        0
    );
    let outlaw = format!(
        "SET search_path = {}, public; DO $$ BEGIN INSERT INTO scopes (tenant, space, key, layer) VALUES (1, {shared}, 'user' || chr(31) \
         || 'dora', 'user'); RAISE 'accepted'; EXCEPTION WHEN OTHERS THEN IF SQLERRM NOT LIKE '%split by user%' THEN RAISE; \
         END IF; END $$",
        schema.name
    );
    schema.ask(&outlaw);
    let added = Driver::from(&store, 900 * 86_400).remember(&user("ben"), "Ben sold the clocks").await;
    let entries = good(store.ledger(&whole(), &LedgerQuery::Memory(added), 9).await).entries;
    assert!(entries[0].sequence > 20, "{entries:?}");
    sound(&store).await;
}
