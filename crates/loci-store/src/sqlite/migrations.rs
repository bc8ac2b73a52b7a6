//! The migrations of SQLite files.
//!
//! A released migration never changes, because files of that format exist. A new format is a new migration.

/// The migrations of a space.
pub(super) const SPACE: &[&str] = &[SPACE_1, SPACE_2, SPACE_3, SPACE_4, SPACE_5, SPACE_6, SPACE_7, SPACE_8];

/// The migrations of the catalogue.
pub(super) const CATALOGUE: &[&str] = &[CATALOGUE_1, CATALOGUE_2, CATALOGUE_3, CATALOGUE_4, CATALOGUE_5, CATALOGUE_6];

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

/// Adds the names of entities and the index of memories by importance.
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

/// Adds claims, the time of the last ageing, the scopes of entities, sessions and notes.
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

/// Adds vectors of several models, facts and checkpoints.
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

/// Replaces the full-text index by a table with the terms of each memory as fingerprints.
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

/// Adds the time at which something was said. Earlier, turns had it as event time, and memories learned from them as
/// the start of their validity.
const SPACE_6: &str = "
ALTER TABLE memories ADD COLUMN said_at INTEGER;
ALTER TABLE memories ADD COLUMN imported_at INTEGER;
UPDATE memories SET said_at = event_time WHERE event_time IS NOT NULL AND source_type = 'conversation';
UPDATE memories SET said_at = valid_from WHERE valid_from IS NOT NULL AND source_type = 'consolidation';
";

/// Numbers of scopes and models are never reused, because the ledger refers to scopes that an erasure has removed. Adds
/// an index of jobs by kind.
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

/// Adds the vectors of entities: 32-bit floats of unit length, little-endian. They are computed again when they are
/// missing, so they are in no backup.
const SPACE_8: &str = "
CREATE TABLE entity_vectors (
    entity INTEGER PRIMARY KEY REFERENCES entities(entity) ON DELETE CASCADE,
    model  TEXT NOT NULL,
    vector BLOB NOT NULL
);
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

/// Adds leases.
const CATALOGUE_2: &str = "
CREATE TABLE leases (
    tenant TEXT NOT NULL,
    name   TEXT NOT NULL,
    holder TEXT NOT NULL,
    until  INTEGER NOT NULL,
    PRIMARY KEY (tenant, name)
) WITHOUT ROWID;
";

/// Replaces the table of credentials. The one of the first format was never written to.
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

/// Adds pools and their members. `agent` is the slug of a member.
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

/// Adds the time at which a job of a kind may be due in a space, in microseconds; without a row there is none. Spaces
/// of older catalogues are checked once for all kinds (an empty `kind`).
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

/// Data of users is in shards, into which [`super::split`] has split an older `shared` space. They are checked once for
/// jobs.
const CATALOGUE_6: &str = "
INSERT INTO work SELECT tenant, name, '', 0 FROM spaces WHERE name GLOB 'users_*' ON CONFLICT DO NOTHING;
";
