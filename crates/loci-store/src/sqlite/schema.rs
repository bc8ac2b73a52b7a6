//! What is in a space's file?
//!
//! Each migration is a script applied once, in order, in one transaction with the new
//! `user_version`. A file from a newer Loci is refused, never guessed at. Instants are
//! microseconds; ids are sixteen bytes; `row` numbers are private to the file.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;

use super::file::FileId;
use super::words;
use crate::text::{Analyser, asks};
use crate::{Error, Result};

/// The migrations of a space.
pub(super) const SPACE: &[&str] = &[SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_5, SPACE_6, SPACE_7];

/// The migrations of the catalogue.
pub(super) const CATALOGUE: &[&str] = &[CATALOGUE_1, CATALOGUE_2, CATALOGUE_3, CATALOGUE_4, CATALOGUE_5];

const SPACE_1: &str = "
CREATE TABLE scopes (
    scope INTEGER PRIMARY KEY,
    key   TEXT NOT NULL UNIQUE,
    layer TEXT NOT NULL
);

CREATE TABLE memories (
    row               INTEGER PRIMARY KEY AUTOINCREMENT,
    id                BLOB NOT NULL UNIQUE,
    scope             INTEGER NOT NULL REFERENCES scopes(scope),
    version           INTEGER NOT NULL,
    layer             TEXT NOT NULL,
    agent_id          TEXT,
    user_id           TEXT,
    session_id        TEXT,
    project_id        TEXT,
    team_id           TEXT,
    org_id            TEXT,
    company_id        TEXT,
    pool_id           TEXT,
    thread_id         TEXT,
    run_id            TEXT,
    actor_id          TEXT,
    role              TEXT,
    kind              TEXT NOT NULL,
    category          TEXT,
    content           TEXT NOT NULL,
    content_hash      BLOB NOT NULL,
    unless            BLOB,
    tokens            INTEGER NOT NULL,
    tags              TEXT,
    metadata          TEXT,
    source_type       TEXT,
    source_role       TEXT,
    source_reference  TEXT,
    knowledge_pointer TEXT,
    access_policy     TEXT NOT NULL,
    importance        REAL NOT NULL,
    confidence        REAL NOT NULL,
    decay_rate        REAL NOT NULL,
    pinned            INTEGER NOT NULL,
    access_count      INTEGER NOT NULL,
    last_accessed_at  INTEGER,
    relevance         REAL NOT NULL,
    event_time        INTEGER,
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL,
    valid_from        INTEGER,
    valid_until       INTEGER,
    expires_at        INTEGER,
    purge_at          INTEGER,
    supersedes_id     BLOB,
    superseded_by_id  BLOB,
    state             TEXT NOT NULL
);
CREATE INDEX memories_by_scope ON memories(scope, id);
CREATE INDEX memories_by_unless ON memories(unless, scope) WHERE unless IS NOT NULL;
CREATE INDEX memories_by_older ON memories(supersedes_id) WHERE supersedes_id IS NOT NULL;
CREATE INDEX memories_by_newer ON memories(superseded_by_id) WHERE superseded_by_id IS NOT NULL;
CREATE INDEX memories_by_thread ON memories(thread_id, scope) WHERE thread_id IS NOT NULL;

CREATE TABLE tags (
    tag    TEXT NOT NULL,
    memory INTEGER NOT NULL REFERENCES memories(row) ON DELETE CASCADE,
    PRIMARY KEY (tag, memory)
) WITHOUT ROWID;
CREATE INDEX tags_by_memory ON tags(memory);

-- Terms are made by our own analyser and carry the number of their scope, so that a search costs
-- what its scope holds and not what the space holds. The text itself is not kept twice.
CREATE VIRTUAL TABLE lexicon USING fts5(
    terms, content='', contentless_delete=1, tokenize=\"ascii tokenchars '_.'\"
);
CREATE TRIGGER memories_leave_the_lexicon AFTER DELETE ON memories BEGIN
    DELETE FROM lexicon WHERE rowid = old.row;
END;

CREATE TABLE models (
    model      INTEGER PRIMARY KEY,
    name       TEXT NOT NULL UNIQUE,
    dimensions INTEGER NOT NULL
);
CREATE TABLE vectors (
    memory       INTEGER PRIMARY KEY REFERENCES memories(row) ON DELETE CASCADE,
    model        INTEGER NOT NULL REFERENCES models(model),
    vector       BLOB NOT NULL,
    token_states BLOB
);

CREATE TABLE edges (
    id          BLOB PRIMARY KEY,
    source      INTEGER NOT NULL REFERENCES memories(row) ON DELETE CASCADE,
    target      INTEGER NOT NULL REFERENCES memories(row) ON DELETE CASCADE,
    relation    TEXT NOT NULL,
    predicate   TEXT,
    strength    REAL NOT NULL,
    confidence  REAL NOT NULL,
    valid_from  INTEGER NOT NULL,
    valid_until INTEGER,
    evidence    TEXT,
    created_at  INTEGER NOT NULL,
    UNIQUE (source, relation, target)
) WITHOUT ROWID;
CREATE INDEX edges_by_target ON edges(target, relation);

CREATE TABLE entities (
    entity         INTEGER PRIMARY KEY,
    id             BLOB NOT NULL UNIQUE,
    canonical_name TEXT NOT NULL,
    entity_type    TEXT NOT NULL,
    aliases        TEXT NOT NULL,
    summary        TEXT,
    first_seen     INTEGER NOT NULL,
    last_updated   INTEGER NOT NULL,
    mention_count  INTEGER NOT NULL,
    attributes     TEXT NOT NULL
);
CREATE TABLE mentions (
    memory INTEGER NOT NULL REFERENCES memories(row) ON DELETE CASCADE,
    entity INTEGER NOT NULL REFERENCES entities(entity) ON DELETE CASCADE,
    PRIMARY KEY (memory, entity)
) WITHOUT ROWID;
CREATE INDEX mentions_by_entity ON mentions(entity, memory);

-- Outlives the memories it tells of: `memory` names a row that may be gone.
CREATE TABLE ledger (
    sequence   INTEGER PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    event      TEXT NOT NULL,
    memory     INTEGER,
    memory_id  BLOB,
    scope      INTEGER,
    version    INTEGER,
    old        TEXT,
    new        TEXT,
    actor      TEXT,
    node       TEXT,
    reason     TEXT NOT NULL,
    thread_id  TEXT,
    request_id TEXT
);
CREATE INDEX ledger_by_memory ON ledger(memory) WHERE memory IS NOT NULL;

CREATE TABLE jobs (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    kind        TEXT NOT NULL,
    payload     TEXT NOT NULL,
    unique_key  TEXT,
    state       TEXT NOT NULL,
    run_after   INTEGER NOT NULL,
    lease_until INTEGER,
    attempts    INTEGER NOT NULL,
    last_error  TEXT,
    created_at  INTEGER NOT NULL
);
CREATE UNIQUE INDEX jobs_are_unique ON jobs(unique_key) WHERE unique_key IS NOT NULL AND state IN ('waiting', 'running');
CREATE INDEX jobs_by_turn ON jobs(run_after) WHERE state IN ('waiting', 'running');
";

/// Entities are found by any of their names, and memories by their weight.
const SPACE_2: &str = "
CREATE TABLE names (
    name   TEXT NOT NULL,
    entity INTEGER NOT NULL REFERENCES entities(entity) ON DELETE CASCADE,
    PRIMARY KEY (name, entity)
) WITHOUT ROWID;
INSERT OR IGNORE INTO names SELECT lower_case(canonical_name), entity FROM entities;
INSERT OR IGNORE INTO names SELECT lower_case(a.value), e.entity FROM entities e, json_each(e.aliases) a;
CREATE INDEX memories_by_weight ON memories(scope, importance);
CREATE INDEX ledger_by_thread ON ledger(thread_id, sequence) WHERE thread_id IS NOT NULL;
";

/// What a memory claims, how far time has been counted, whose entities are, sessions, and the notes of upkeep.
const SPACE_3: &str = "
ALTER TABLE memories ADD COLUMN claim BLOB;
ALTER TABLE memories ADD COLUMN aged_at INTEGER;
CREATE INDEX memories_by_claim ON memories(claim, scope) WHERE claim IS NOT NULL;
CREATE INDEX memories_by_session ON memories(scope, coalesce(session_id, thread_id))
    WHERE kind = 'episodic' AND source_type = 'conversation';
ALTER TABLE entities ADD COLUMN scope INTEGER REFERENCES scopes(scope);
ALTER TABLE entities ADD COLUMN united_with INTEGER REFERENCES entities(entity) ON DELETE SET NULL;
UPDATE entities SET scope = (SELECT m.scope FROM mentions t JOIN memories m ON m.row = t.memory
    WHERE t.entity = entities.entity ORDER BY t.memory LIMIT 1);
-- Names and summaries do not leave their scope: the others will name the thing for themselves.
DELETE FROM mentions WHERE (SELECT m.scope FROM memories m WHERE m.row = mentions.memory)
    != (SELECT e.scope FROM entities e WHERE e.entity = mentions.entity);
CREATE INDEX entities_by_union ON entities(united_with) WHERE united_with IS NOT NULL;
CREATE INDEX entities_by_scope ON entities(scope);

-- `through_row` is how far a session was learned from; rows only grow, whatever clocks do.
CREATE TABLE sessions (
    scope                INTEGER NOT NULL REFERENCES scopes(scope),
    name                 TEXT NOT NULL,
    thread_id            TEXT NOT NULL,
    started_at           INTEGER NOT NULL,
    last_at              INTEGER NOT NULL,
    ended_at             INTEGER,
    consolidated_at      INTEGER,
    consolidated_through BLOB,
    through_row          INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (scope, name)
) WITHOUT ROWID;
CREATE INDEX sessions_by_thread ON sessions(thread_id, scope);

-- Scope 0 is nobody's.
CREATE TABLE notes (
    key   TEXT NOT NULL,
    scope INTEGER NOT NULL,
    value TEXT NOT NULL,
    until INTEGER,
    PRIMARY KEY (key, scope)
) WITHOUT ROWID;
";

/// Vectors of several models side by side, triples, and what agents stand at.
const SPACE_4: &str = "
CREATE TABLE vectors_by_model (
    memory       INTEGER NOT NULL REFERENCES memories(row) ON DELETE CASCADE,
    model        INTEGER NOT NULL REFERENCES models(model),
    vector       BLOB NOT NULL,
    token_states BLOB,
    PRIMARY KEY (memory, model)
);
INSERT INTO vectors_by_model SELECT memory, model, vector, token_states FROM vectors ORDER BY memory;
DROP TABLE vectors;
ALTER TABLE vectors_by_model RENAME TO vectors;

-- What is said of a thing, in three words. A triple is in its scope once.
CREATE TABLE facts (
    fact       INTEGER PRIMARY KEY AUTOINCREMENT,
    id         BLOB NOT NULL UNIQUE,
    scope      INTEGER NOT NULL REFERENCES scopes(scope),
    fact_type  TEXT NOT NULL,
    subject    TEXT NOT NULL,
    predicate  TEXT NOT NULL,
    object     TEXT NOT NULL,
    confidence REAL NOT NULL,
    metadata   TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    UNIQUE (scope, subject, predicate, object, fact_type)
);
CREATE INDEX facts_by_type ON facts(fact_type, confidence);
CREATE INDEX facts_by_object ON facts(object, predicate);
-- The memories that a triple was learned from; when the last of them goes, so does the triple.
CREATE TABLE fact_sources (
    fact   INTEGER NOT NULL REFERENCES facts(fact) ON DELETE CASCADE,
    memory INTEGER NOT NULL REFERENCES memories(row) ON DELETE CASCADE,
    PRIMARY KEY (fact, memory)
) WITHOUT ROWID;
CREATE INDEX fact_sources_by_memory ON fact_sources(memory);

-- Where the work of a thread stood. `format` says what the bytes are: json, or whatever the caller calls it.
CREATE TABLE checkpoints (
    checkpoint INTEGER PRIMARY KEY AUTOINCREMENT,
    scope      INTEGER NOT NULL REFERENCES scopes(scope),
    thread_id  TEXT NOT NULL,
    namespace  TEXT NOT NULL,
    id         TEXT NOT NULL,
    parent_id  TEXT,
    format     TEXT NOT NULL,
    data       BLOB NOT NULL,
    metadata   TEXT,
    created_at INTEGER NOT NULL,
    UNIQUE (scope, thread_id, namespace, id)
);
-- What tasks wrote towards the next checkpoint.
CREATE TABLE checkpoint_writes (
    checkpoint INTEGER NOT NULL REFERENCES checkpoints(checkpoint) ON DELETE CASCADE,
    task_id    TEXT NOT NULL,
    position   INTEGER NOT NULL,
    task_path  TEXT NOT NULL,
    channel    TEXT NOT NULL,
    format     TEXT NOT NULL,
    data       BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (checkpoint, task_id, position)
);
";

/// Words as fingerprints beside their memory, instead of an index of words.
const SPACE_5: &str = "
-- `answers` is the row of the question whose words it has too.
CREATE TABLE words (
    memory  INTEGER PRIMARY KEY REFERENCES memories(row) ON DELETE CASCADE,
    answers INTEGER,
    terms   BLOB NOT NULL
);
INSERT INTO words SELECT m.row, q.row, words_of(m.content, q.content) FROM memories m
    LEFT JOIN memories q ON q.row = (SELECT p.row FROM edges e JOIN memories p ON p.row = e.source
        WHERE e.target = m.row AND e.relation = 'temporal' AND p.scope = m.scope
        AND p.session_id IS NOT DISTINCT FROM m.session_id
        AND (p.actor_id IS DISTINCT FROM m.actor_id OR p.role IS DISTINCT FROM m.role) LIMIT 1) AND asks(q.content)
    ORDER BY m.row;
DROP TRIGGER memories_leave_the_lexicon;
DROP TABLE lexicon;
";

/// When something was said, apart from when it happened and since when it holds. Until now turns had it as their event,
/// and what was learned from them as the start of its validity.
const SPACE_6: &str = "
ALTER TABLE memories ADD COLUMN said_at INTEGER;
ALTER TABLE memories ADD COLUMN imported_at INTEGER;
UPDATE memories SET said_at = event_time WHERE event_time IS NOT NULL AND source_type = 'conversation';
UPDATE memories SET said_at = valid_from WHERE valid_from IS NOT NULL AND source_type = 'consolidation';
";

/// Numbers of scopes and models are never given again: the ledger names scopes that an erasure has removed. Jobs are
/// found by their kind.
const SPACE_7: &str = "
CREATE TABLE numbered_scopes (
    scope INTEGER PRIMARY KEY AUTOINCREMENT,
    key   TEXT NOT NULL UNIQUE,
    layer TEXT NOT NULL
);
INSERT INTO numbered_scopes SELECT scope, key, layer FROM scopes ORDER BY scope;
DROP TABLE scopes;
ALTER TABLE numbered_scopes RENAME TO scopes;
INSERT INTO sqlite_sequence (name, seq) SELECT 'scopes', 0
    WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'scopes');
UPDATE sqlite_sequence SET seq = max(seq, (SELECT coalesce(max(scope), 0) FROM ledger)) WHERE name = 'scopes';

CREATE TABLE numbered_models (
    model      INTEGER PRIMARY KEY AUTOINCREMENT,
    name       TEXT NOT NULL UNIQUE,
    dimensions INTEGER NOT NULL
);
INSERT INTO numbered_models SELECT model, name, dimensions FROM models ORDER BY model;
DROP TABLE models;
ALTER TABLE numbered_models RENAME TO models;

-- When the next job of each kind is due.
DROP INDEX jobs_by_turn;
CREATE INDEX jobs_by_kind ON jobs(kind, run_after) WHERE state IN ('waiting', 'running');
";

const CATALOGUE_1: &str = "
CREATE TABLE tenants (
    name       TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
-- `written` tells a space that lost its file from one that never had any.
CREATE TABLE spaces (
    tenant     TEXT NOT NULL REFERENCES tenants(name) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    written    INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
CREATE TABLE agents (
    tenant     TEXT NOT NULL REFERENCES tenants(name) ON DELETE CASCADE,
    slug       TEXT NOT NULL,
    config     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, slug)
) WITHOUT ROWID;
CREATE TABLE keys (
    id         BLOB PRIMARY KEY,
    tenant     TEXT NOT NULL REFERENCES tenants(name) ON DELETE CASCADE,
    hash       BLOB NOT NULL UNIQUE,
    bounds     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) WITHOUT ROWID;
CREATE TABLE settings (
    tenant TEXT NOT NULL REFERENCES tenants(name) ON DELETE CASCADE,
    name   TEXT NOT NULL,
    value  TEXT NOT NULL,
    PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
";

/// Who does the work that only one may do.
const CATALOGUE_2: &str = "
CREATE TABLE leases (
    tenant TEXT NOT NULL,
    name   TEXT NOT NULL,
    holder TEXT NOT NULL,
    until  INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
";

/// Credentials; nothing was ever written to the table of the first format.
const CATALOGUE_3: &str = "
DROP TABLE keys;
CREATE TABLE keys (
    id         TEXT PRIMARY KEY,
    tenant     TEXT NOT NULL REFERENCES tenants(name) ON DELETE CASCADE,
    name       TEXT NOT NULL,
    hash       BLOB NOT NULL,
    allows     TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) WITHOUT ROWID;
CREATE INDEX keys_by_tenant ON keys(tenant);
";

/// Pools and who is in them. `agent` is the slug of a member.
const CATALOGUE_4: &str = "
CREATE TABLE pools (
    tenant     TEXT NOT NULL REFERENCES tenants(name) ON DELETE CASCADE,
    slug       TEXT NOT NULL,
    name       TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, slug)
) WITHOUT ROWID;
CREATE TABLE pool_members (
    tenant    TEXT NOT NULL,
    pool      TEXT NOT NULL,
    agent     TEXT NOT NULL,
    joined_at INTEGER NOT NULL,
    PRIMARY KEY (tenant, pool, agent),
    FOREIGN KEY (tenant, pool) REFERENCES pools(tenant, slug) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX pool_members_by_agent ON pool_members(tenant, agent);
";

/// When a job of a kind may be due in a space, in microseconds; no row: there is none. Spaces of older catalogues are
/// looked at once, whichever kinds are wanted (`kind` is empty).
const CATALOGUE_5: &str = "
CREATE TABLE work (
    tenant TEXT NOT NULL,
    space  TEXT NOT NULL,
    kind   TEXT NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (tenant, space, kind),
    FOREIGN KEY (tenant, space) REFERENCES spaces(tenant, name) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX work_by_time ON work(tenant, kind, at);
INSERT INTO work SELECT tenant, name, '', 0 FROM spaces;
DROP TABLE settings;
";

/// How long a statement waits for another process.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes of a page of a new file. A space has some fifty tables and indexes of at least a page each, so small pages keep
/// small spaces small: 64 kB where pages of 8 KiB take 440 kB. Counted in instructions, an add takes 1.3 % less and a recall
/// 1.7 % more than with 8 KiB.
const PAGE_SIZE: i64 = 1024;

/// Bytes of a page of a file that has grown. Reading all vectors of a large scope takes a third less time than with small
/// pages, and the file a fifth less space.
const LARGE_PAGE_SIZE: i64 = 8192;

/// Number of small pages from which on a file gets large ones.
const MANY_PAGES: i64 = 4_096;

/// Number of small pages from which on a file is left as it is: writing it anew would hold up its writers for long.
const TOO_MANY_PAGES: i64 = 262_144;

/// How often a new file is tried before it counts as busy.
const TRIES: usize = 400;

/// Opens a file for writing, creates what is missing and brings it up to date.
pub(super) fn open(path: &Path, migrations: &[&str]) -> Result<Connection> {
    let said = |error| Error::sqlite(path, error);
    if migrations == SPACE && !path.exists() {
        // Where that fails, the usual way below does the same, more slowly, or says what is wrong.
        drop(create(path));
    }
    let mut connection = Connection::open(path).map_err(said)?;
    prepare(&connection).map_err(said)?;
    // Counts only before the first table.
    connection.pragma_update(None, "page_size", PAGE_SIZE).map_err(said)?;
    patiently(|| connection.pragma_update(None, "journal_mode", "WAL")).map_err(said)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(said)?;
    if cfg!(target_os = "macos") {
        // There a plain sync leaves what was written in the cache of the drive.
        connection.pragma_update(None, "fullfsync", true).map_err(said)?;
        connection.pragma_update(None, "checkpoint_fullfsync", true).map_err(said)?;
    }
    // What is deleted is overwritten where that costs no more pages; an erasure does it everywhere.
    connection.pragma_update(None, "secure_delete", "FAST").map_err(said)?;
    let known = migrations.len() as i64;
    if version(&connection).map_err(said)? != known {
        migrate(&mut connection, path, migrations)?;
    }
    Ok(connection)
}

/// Writes the file of a new space from an image of an empty one: running all migrations takes ten times as long. The file
/// gets its name when it is complete and durable; a file that another process has made meanwhile stays as it is.
fn create(path: &Path) -> Result<()> {
    let failed = |error: std::io::Error| Error::io(path, &error);
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    // The log of a file that was removed by hand would be taken for that of the new one.
    if beside("-wal").exists() {
        return Ok(());
    }
    let new = beside(&format!(".new-{}", std::process::id()));
    let mut file = File::create_new(&new).map_err(failed)?;
    let written = image().and_then(|image| file.write_all(image).and_then(|()| file.sync_all()).map_err(failed));
    // Unlike a rename, a link does not replace what is there.
    let named = written.and_then(|()| std::fs::hard_link(&new, path).map_err(failed));
    std::fs::remove_file(&new).map_err(failed)?;
    named
}

/// The bytes of the file of an empty space, made once in each process.
fn image() -> Result<&'static [u8]> {
    static IMAGE: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(image) = IMAGE.get() {
        return Ok(image);
    }
    let path = Path::new(":memory:");
    let said = |error| Error::sqlite(path, error);
    let mut connection = Connection::open_in_memory().map_err(said)?;
    connection.pragma_update(None, "page_size", PAGE_SIZE).map_err(said)?;
    migrate(&mut connection, path, SPACE)?;
    // Tables that a later migration drops leave empty pages.
    connection.execute_batch("VACUUM").map_err(said)?;
    let mut image = connection.serialize(rusqlite::MAIN_DB).map_err(said)?.to_vec();
    // The read and the write version of the header: the file keeps a write-ahead log.
    if let Some(versions) = image.get_mut(18..20) {
        versions.fill(2);
    }
    Ok(IMAGE.get_or_init(|| image))
}

/// The number of small pages of a file; 0 if it has large ones.
pub(super) fn small_pages(connection: &Connection) -> rusqlite::Result<i64> {
    let pragma = |name: &str| -> rusqlite::Result<i64> {
        connection.prepare_cached(&format!("PRAGMA {name}"))?.query_row([], |row| row.get(0))
    };
    Ok(if pragma("page_size")? == PAGE_SIZE { pragma("page_count")? } else { 0 })
}

/// Whether a file has grown so far that it should get large pages. With `before`, the number it had before a commit, only
/// when it has doubled since the last time, because an attempt fails while someone else has the file open.
pub(super) fn has_outgrown_its_pages(before: i64, now: i64) -> bool {
    (MANY_PAGES..TOO_MANY_PAGES).contains(&now) && (before == 0 || before.ilog2() < now.ilog2())
}

/// Writes a file anew with large pages, if nobody else has it open: SQLite changes the size of pages only without a
/// write-ahead log, and gives that up only to who is alone. Rows keep their numbers.
pub(super) fn enlarge_pages(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::ZERO)?;
    let rebuild = || {
        let mode: String = connection.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))?;
        if mode == "delete" {
            connection.pragma_update(None, "page_size", LARGE_PAGE_SIZE)?;
            connection.execute_batch("VACUUM")?;
        }
        Ok(())
    };
    let rebuilt = rebuild();
    patiently(|| connection.pragma_update(None, "journal_mode", "WAL"))?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    match rebuilt {
        Err(rusqlite::Error::SqliteFailure(error, _))
            if matches!(error.code, rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) =>
        {
            Ok(())
        }
        rebuilt => rebuilt,
    }
}

/// Tries again while someone else is doing the same: the change of the journal of a new file is the
/// one thing for which SQLite does not wait by itself.
fn patiently<T>(mut work: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    for _ in 0..TRIES {
        match work() {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
                std::thread::sleep(Duration::from_millis(5));
            }
            outcome => return outcome,
        }
    }
    work()
}

/// Opens a file for reading.
pub(super) fn open_reader(path: &Path) -> Result<Connection> {
    use rusqlite::OpenFlags;
    let said = |error| Error::sqlite(path, error);
    // SQLite lets only a connection that may write fold the log into its file and remove it when it is the last to
    // close; a read-only one would leave a log and a shared memory of 32 KiB beside each file that was ever read.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // The same file before and after is the one that was opened.
    let (connection, file) = loop {
        let before = FileId::of(path);
        let connection = Connection::open_with_flags(path, flags).map_err(said)?;
        match FileId::of(path) {
            Some(file) if before == Some(file) => break (connection, file),
            _ => {}
        }
    };
    prepare(&connection).map_err(said)?;
    connection.pragma_update(None, "query_only", true).map_err(said)?;
    file.attach(&connection).map_err(said)?;
    // Pages are read where they lie instead of being copied into a cache of each reader.
    connection.pragma_update(None, "mmap_size", i64::from(i32::MAX)).map_err(said)?;
    Ok(connection)
}

/// Whether a file is there and of an older format. Only its header is read.
pub(super) fn is_old(path: &Path, migrations: &[&str]) -> bool {
    let mut header = [0; 64];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut header));
    let found = u32::from_be_bytes([header[60], header[61], header[62], header[63]]);
    read.is_ok() && found > 0 && (found as usize) < migrations.len()
}

/// The format of a file, which must not be newer than what we know.
pub(super) fn format(connection: &Connection, path: &Path, migrations: &[&str]) -> Result<i64> {
    let found = version(connection).map_err(|error| Error::sqlite(path, error))?;
    let known = migrations.len() as i64;
    if found > known {
        return Err(Error::Newer { path: path.to_owned(), found, known });
    }
    Ok(found)
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(128);
    // A plan is made once for a statement. Left to itself SQLite looks at the values and plans anew with
    // every other one, which cost a fifth of a recall and a tenth of an add.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -4096)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn migrate(connection: &mut Connection, path: &Path, migrations: &[&str]) -> Result<()> {
    let said = |error| Error::sqlite(path, error);
    functions(connection).map_err(said)?;
    // A table that others refer to is made anew and renamed, which SQLite allows only so; it is not allowed to change
    // this inside a transaction.
    connection.pragma_update(None, "foreign_keys", false).map_err(said)?;
    let migrated = migrate_in_transaction(connection, path, migrations);
    connection.pragma_update(None, "foreign_keys", true).map_err(said)?;
    migrated
}

fn migrate_in_transaction(connection: &mut Connection, path: &Path, migrations: &[&str]) -> Result<()> {
    let said = |error| Error::sqlite(path, error);
    // Two processes may open a new file at once: the lock decides, the loser finds it done.
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(said)?;
    let found = format(&transaction, path, migrations)?;
    let known = migrations.len() as i64;
    for script in &migrations[found as usize..] {
        transaction.execute_batch(script).map_err(said)?;
    }
    transaction.pragma_update(None, "user_version", known).map_err(said)?;
    transaction.commit().map_err(said)
}

/// What the migrations ask of us: lower case in every script, which SQLite's own `lower` knows only of ASCII, the
/// words of a text, and whether it asks.
fn functions(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection
        .create_scalar_function("lower_case", 1, flags, |context| Ok(context.get::<String>(0)?.to_lowercase()))?;
    connection.create_scalar_function("asks", 1, flags, |context| Ok(asks(&context.get::<String>(0)?)))?;
    let analyser = Analyser::default();
    connection.create_scalar_function("words_of", 2, flags, move |context| {
        let (content, question) = (context.get::<String>(0)?, context.get::<Option<String>>(1)?);
        Ok(words::words_of(&analyser, &content, question.as_deref()))
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    /// Planning costs more than most questions do.
    #[test]
    fn a_statement_that_runs_again_is_not_planned_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loci.db");
        let writer = open(&path, SPACE).unwrap();
        for connection in [writer, open_reader(&path).unwrap()] {
            let mut statement =
                connection.prepare("SELECT row FROM memories WHERE pinned = ?1 ORDER BY row LIMIT ?2").unwrap();
            for limit in 0..4 {
                assert_eq!(statement.query_map([1, limit], |_| Ok(())).unwrap().count(), 0);
            }
            assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
        }
    }
}
