//! What is in the database?
//!
//! The tables of a space's file, once for all spaces: every row begins with its tenant and its space,
//! and so does every key. A transaction says for which space it speaks (`loci.tenant`, `loci.space`),
//! new rows take both from there, and row-level security shows and takes no others. So the statements
//! are the same as for a file, and one that forgets whom it speaks for sees nothing. The catalogue is
//! shown to whoever says that it is the catalogue they look into (`loci.catalogue`); someone who speaks for a
//! tenant finds that tenant's lines in it and no others.
//!
//! Migrations are applied once, in order, under a lock that all servers share. A schema from a newer
//! Loci is refused.

use tokio_postgres::Client;

use super::{Distance, PostgresOptions};
use crate::{Error, Result};

/// The migrations, in order.
const MIGRATIONS: &[fn(&PostgresOptions) -> String] = &[first, second];

/// Held while the schema is brought up to date; the number has no meaning.
pub(crate) const LOCK: i64 = 0x6c6f_6369;

/// The tables whose rows belong to a space, parents before children.
pub(super) const OF_SPACES: &[&str] = &[
    "scopes",
    "models",
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
];

/// Those of them that came with the second migration.
const SECOND_OF_SPACES: &[&str] = &["facts", "fact_sources", "checkpoints", "checkpoint_writes"];

/// The catalogue: its tables, and which of their lines a tenant may read.
const OF_ALL: &[(&str, &str)] = &[
    ("tenants", "number = own_tenant()"),
    ("spaces", "tenant = (SELECT t.name FROM tenants t WHERE t.number = own_tenant())"),
    ("agents", "tenant = (SELECT t.name FROM tenants t WHERE t.number = own_tenant())"),
    ("keys", "tenant = (SELECT t.name FROM tenants t WHERE t.number = own_tenant())"),
    ("pools", "tenant = (SELECT t.name FROM tenants t WHERE t.number = own_tenant())"),
    ("pool_members", "tenant = (SELECT t.name FROM tenants t WHERE t.number = own_tenant())"),
];

/// Those of them that came with the second migration.
const SECOND_OF_ALL: &[&str] = &["pools", "pool_members"];

/// Those that grow with every memory and are spread over partitions by tenant.
const SPREAD: &[&str] = &["memories", "documents", "words", "vectors", "ledger"];

/// Brings the schema up to date. Runs as whoever may change it, not as the role that serves.
pub(super) async fn migrate(client: &mut Client, options: &PostgresOptions) -> Result<()> {
    let said = |error: tokio_postgres::Error| super::said(error.into());
    if is_current(client, options).await.map_err(said)? {
        return Ok(());
    }
    let transaction = client.transaction().await.map_err(said)?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await.map_err(said)?;
    let schema = quoted(&options.schema);
    transaction
        .batch_execute(&format!(
            "SET LOCAL client_min_messages = warning; SET LOCAL lock_timeout = '60s'; \
             CREATE SCHEMA IF NOT EXISTS {schema}; CREATE EXTENSION IF NOT EXISTS vector; \
             SET LOCAL search_path = {schema}, public; \
             CREATE TABLE IF NOT EXISTS format (number integer PRIMARY KEY)"
        ))
        .await
        .map_err(said)?;
    let row = transaction.query_one("SELECT coalesce(max(number), 0) FROM format", &[]).await.map_err(said)?;
    let (found, known) = (row.get::<_, i32>(0), MIGRATIONS.len() as i32);
    if found > known {
        return Err(Error::Newer { path: super::PLACE.into(), found: found.into(), known: known.into() });
    }
    for (number, script) in (1..).zip(MIGRATIONS).skip(found as usize) {
        transaction.batch_execute(&script(options)).await.map_err(said)?;
        transaction.execute("INSERT INTO format (number) VALUES ($1)", &[&number]).await.map_err(said)?;
    }
    transaction.batch_execute(&rights(options)).await.map_err(said)?;
    for size in &options.dimensions {
        transaction.batch_execute(&graph_index(Distance { half: options.halfvec, size: *size })).await.map_err(said)?;
    }
    transaction.commit().await.map_err(said)
}

/// Whether there is nothing to do. Making sure takes locks that writers would wait for, so it is only looked.
async fn is_current(client: &Client, options: &PostgresOptions) -> Result<bool, tokio_postgres::Error> {
    let schema = quoted(&options.schema);
    let ready = "SELECT to_regclass($1) IS NOT NULL AND to_regrole($2) IS NOT NULL";
    let row = client.query_one(ready, &[&format!("{schema}.format"), &quoted(&options.role)]).await?;
    if !row.get::<_, bool>(0) {
        return Ok(false);
    }
    let found = client.query_one(&format!("SELECT coalesce(max(number), 0) FROM {schema}.format"), &[]).await?;
    let usable = "SELECT has_schema_privilege($1, $2, 'USAGE')";
    let rights = client.query_one(usable, &[&options.role, &options.schema]).await?;
    let mut current = found.get::<_, i32>(0) == MIGRATIONS.len() as i32 && rights.get(0);
    for size in &options.dimensions {
        if (Distance { half: options.halfvec, size: *size }).has_graph() {
            let graph = format!("{schema}.vectors_near_{size}");
            let row = client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&graph]).await?;
            current &= row.get::<_, bool>(0);
        }
    }
    Ok(current)
}

/// A name as SQL takes it.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The role that serves: it owns nothing and cannot pass by the policies. It may set the counters, since
/// a copy keeps the numbers of its rows and must go on after them; and have a table looked over, which
/// only its owner can: one that was filled at once is searched badly until that was done.
fn rights(options: &PostgresOptions) -> String {
    let (schema, role) = (quoted(&options.schema), quoted(&options.role));
    let name = options.role.replace('\'', "''");
    format!(
        "DO $$ BEGIN IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = '{name}') THEN \
         CREATE ROLE {role} NOLOGIN NOSUPERUSER NOBYPASSRLS; END IF; \
         IF NOT (CASE WHEN current_setting('server_version_num')::integer >= 160000 \
         THEN pg_has_role(current_user, '{name}', 'SET') ELSE pg_has_role(current_user, '{name}', 'MEMBER') END) THEN EXECUTE 'GRANT {role} TO ' || quote_ident(current_user); END IF; \
         END $$; \
         CREATE OR REPLACE FUNCTION look_over(name text) RETURNS void LANGUAGE plpgsql SECURITY DEFINER \
         SET search_path = {schema}, pg_temp AS $$ BEGIN EXECUTE format('ANALYZE %I', name); END $$; \
         GRANT USAGE ON SCHEMA {schema} TO {role}; \
         GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {schema} TO {role}; \
         GRANT USAGE, UPDATE ON ALL SEQUENCES IN SCHEMA {schema} TO {role}; \
         GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA {schema} TO {role}"
    )
}

/// The graph that large scopes are searched by. Vectors of other sizes stand beside it.
fn graph_index(distance: Distance) -> String {
    let Distance { size, .. } = distance;
    match distance.has_graph() {
        true => format!(
            "CREATE INDEX IF NOT EXISTS vectors_near_{size} ON vectors USING {} WHERE vector_dims(vector) = {size}",
            distance.graph("vector")
        ),
        false => String::new(),
    }
}

fn first(options: &PostgresOptions) -> String {
    let vector = Distance { half: options.halfvec, size: 0 }.sort();
    let mut script = FIRST.replace("EMBEDDING", vector);
    for table in SPREAD {
        for part in 0..options.partitions.max(1) {
            script.push_str(&format!(
                "CREATE TABLE {table}_{part} PARTITION OF {table} FOR VALUES WITH (MODULUS {}, REMAINDER {part});\n",
                options.partitions.max(1)
            ));
            // The policies stand at the whole table: whoever names a part of it gets nothing.
            script.push_str(&format!("ALTER TABLE {table}_{part} ENABLE ROW LEVEL SECURITY;\n"));
        }
    }
    script.push_str(&policies(|table| !SECOND_OF_SPACES.contains(&table) && !SECOND_OF_ALL.contains(&table)));
    script.push_str(LAST);
    script
}

fn second(_: &PostgresOptions) -> String {
    let policies = policies(|table| SECOND_OF_SPACES.contains(&table) || SECOND_OF_ALL.contains(&table));
    format!("{SECOND}{policies}")
}

/// The walls around those tables that are meant.
fn policies(meant: impl Fn(&str) -> bool) -> String {
    let mut script = String::new();
    for table in OF_SPACES.iter().filter(|table| meant(table)) {
        script.push_str(&format!(
            "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;\n\
             ALTER TABLE {table} FORCE ROW LEVEL SECURITY;\n\
             CREATE POLICY own_space ON {table} USING (tenant = own_tenant() AND space = own_space());\n"
        ));
    }
    for (table, own) in OF_ALL.iter().filter(|(table, _)| meant(table)) {
        script.push_str(&format!(
            "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;\n\
             ALTER TABLE {table} FORCE ROW LEVEL SECURITY;\n\
             CREATE POLICY catalogue ON {table} USING (in_catalogue());\n\
             CREATE POLICY own_lines ON {table} FOR SELECT USING ({own});\n"
        ));
    }
    script
}

const FIRST: &str = "
-- For whom a transaction speaks. One that does not say gets nothing.
CREATE FUNCTION own_tenant() RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('loci.tenant', true), '')::integer;
CREATE FUNCTION own_space() RETURNS integer LANGUAGE sql STABLE PARALLEL SAFE
    RETURN nullif(current_setting('loci.space', true), '')::integer;
CREATE FUNCTION in_catalogue() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
    RETURN coalesce(current_setting('loci.catalogue', true) = 'on', false);

CREATE TABLE tenants (
    name       text PRIMARY KEY,
    created_at bigint NOT NULL,
    number     integer NOT NULL UNIQUE GENERATED ALWAYS AS IDENTITY
);
CREATE TABLE spaces (
    tenant     text NOT NULL REFERENCES tenants(name) ON DELETE CASCADE,
    name       text NOT NULL,
    created_at bigint NOT NULL,
    written    boolean NOT NULL DEFAULT false,
    number     integer NOT NULL UNIQUE GENERATED ALWAYS AS IDENTITY,
    PRIMARY KEY (tenant, name)
);
CREATE TABLE agents (
    tenant     text NOT NULL REFERENCES tenants(name) ON DELETE CASCADE,
    slug       text NOT NULL,
    config     json NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (tenant, slug)
);
CREATE TABLE keys (
    id         text PRIMARY KEY,
    tenant     text NOT NULL REFERENCES tenants(name) ON DELETE CASCADE,
    name       text NOT NULL,
    hash       bytea NOT NULL,
    allows     json NOT NULL,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint
);
CREATE INDEX keys_by_tenant ON keys (tenant);
CREATE TABLE scopes (
    tenant integer NOT NULL DEFAULT own_tenant(),
    space  integer NOT NULL DEFAULT own_space(),
    scope  bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    key    text NOT NULL,
    layer  text NOT NULL,
    PRIMARY KEY (tenant, space, scope),
    UNIQUE (tenant, space, key)
);

CREATE TABLE models (
    tenant     integer NOT NULL DEFAULT own_tenant(),
    space      integer NOT NULL DEFAULT own_space(),
    model      bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    name       text NOT NULL,
    dimensions bigint NOT NULL,
    PRIMARY KEY (tenant, space, model),
    UNIQUE (tenant, space, name)
);

-- Writers of one space wait for each other, so its rows are numbered in the order of the commits.
CREATE TABLE memories (
    tenant            integer NOT NULL DEFAULT own_tenant(),
    space             integer NOT NULL DEFAULT own_space(),
    row               bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    id                uuid NOT NULL,
    scope             bigint NOT NULL,
    version           bigint NOT NULL,
    layer             text NOT NULL,
    agent_id          text,
    user_id           text,
    session_id        text,
    project_id        text,
    team_id           text,
    org_id            text,
    company_id        text,
    pool_id           text,
    thread_id         text,
    run_id            text,
    actor_id          text,
    role              text,
    kind              text NOT NULL,
    category          text,
    content           text NOT NULL,
    content_hash      bytea NOT NULL,
    unless            bytea,
    tokens            bigint NOT NULL,
    tags              json,
    metadata          json,
    source_type       text,
    source_role       text,
    source_reference  text,
    knowledge_pointer json,
    access_policy     text NOT NULL,
    importance        double precision NOT NULL,
    confidence        double precision NOT NULL,
    decay_rate        double precision NOT NULL,
    pinned            boolean NOT NULL,
    access_count      bigint NOT NULL,
    last_accessed_at  bigint,
    relevance         double precision NOT NULL,
    event_time        bigint,
    created_at        bigint NOT NULL,
    updated_at        bigint NOT NULL,
    valid_from        bigint,
    valid_until       bigint,
    expires_at        bigint,
    purge_at          bigint,
    supersedes_id     uuid,
    superseded_by_id  uuid,
    state             text NOT NULL,
    claim             bytea,
    aged_at           bigint,
    PRIMARY KEY (tenant, space, row),
    UNIQUE (tenant, space, id),
    FOREIGN KEY (tenant, space, scope) REFERENCES scopes (tenant, space, scope)
) PARTITION BY HASH (tenant);
CREATE INDEX memories_by_scope ON memories (space, scope, id);
CREATE INDEX memories_by_weight ON memories (space, scope, importance, row);
CREATE INDEX memories_by_unless ON memories (space, unless, scope) WHERE unless IS NOT NULL;
CREATE INDEX memories_by_claim ON memories (space, claim, scope) WHERE claim IS NOT NULL;
CREATE INDEX memories_by_older ON memories (space, supersedes_id) WHERE supersedes_id IS NOT NULL;
CREATE INDEX memories_by_newer ON memories (space, superseded_by_id) WHERE superseded_by_id IS NOT NULL;
CREATE INDEX memories_by_thread ON memories (space, thread_id, scope, row) INCLUDE (session_id) WHERE thread_id IS NOT NULL;
CREATE INDEX memories_by_session ON memories (space, scope, coalesce(session_id, thread_id), row)
    WHERE kind = 'episodic' AND source_type = 'conversation';

CREATE TABLE tags (
    tenant integer NOT NULL DEFAULT own_tenant(),
    space  integer NOT NULL DEFAULT own_space(),
    tag    text NOT NULL,
    memory bigint NOT NULL,
    PRIMARY KEY (tenant, space, tag, memory),
    FOREIGN KEY (tenant, space, memory) REFERENCES memories (tenant, space, row) ON DELETE CASCADE
);
CREATE INDEX tags_by_memory ON tags (space, memory);

-- What a memory says, in the terms of our own analyser, and which memories a term leads to. The key
-- of `words` answers a question without a look at the table. A document knows its terms, so that they
-- can be taken away without an index of their own.
CREATE TABLE documents (
    tenant integer NOT NULL DEFAULT own_tenant(),
    space  integer NOT NULL DEFAULT own_space(),
    memory bigint NOT NULL,
    scope  bigint NOT NULL,
    length integer NOT NULL,
    terms  text[] NOT NULL,
    PRIMARY KEY (tenant, space, memory),
    FOREIGN KEY (tenant, space, memory) REFERENCES memories (tenant, space, row) ON DELETE CASCADE
) PARTITION BY HASH (tenant);
CREATE INDEX documents_by_scope ON documents (space, scope) INCLUDE (length);
CREATE TABLE words (
    tenant integer NOT NULL DEFAULT own_tenant(),
    space  integer NOT NULL DEFAULT own_space(),
    scope  bigint NOT NULL,
    term   text COLLATE \"C\" NOT NULL,
    memory bigint NOT NULL,
    times  integer NOT NULL,
    length integer NOT NULL,
    PRIMARY KEY (tenant, space, scope, term, memory) INCLUDE (times, length)
) PARTITION BY HASH (tenant);
CREATE FUNCTION words_leave() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    DELETE FROM words w WHERE w.tenant = OLD.tenant AND w.space = OLD.space AND w.scope = OLD.scope
        AND w.term = ANY (OLD.terms) AND w.memory = OLD.memory;
    RETURN OLD;
END $$;
CREATE TRIGGER words_leave BEFORE DELETE ON documents FOR EACH ROW EXECUTE FUNCTION words_leave();

CREATE TABLE vectors (
    tenant       integer NOT NULL DEFAULT own_tenant(),
    space        integer NOT NULL DEFAULT own_space(),
    memory       bigint NOT NULL,
    model        bigint NOT NULL,
    scope        bigint NOT NULL,
    vector       EMBEDDING NOT NULL,
    token_states bytea,
    PRIMARY KEY (tenant, space, memory),
    FOREIGN KEY (tenant, space, memory) REFERENCES memories (tenant, space, row) ON DELETE CASCADE,
    FOREIGN KEY (tenant, space, model) REFERENCES models (tenant, space, model)
) PARTITION BY HASH (tenant);
-- Vectors are compared where they lie; token states, which are seldom read, make room for them.
ALTER TABLE vectors ALTER COLUMN vector SET STORAGE MAIN, ALTER COLUMN token_states SET STORAGE EXTERNAL;
CREATE INDEX vectors_by_scope ON vectors (space, scope, model);

CREATE TABLE edges (
    tenant      integer NOT NULL DEFAULT own_tenant(),
    space       integer NOT NULL DEFAULT own_space(),
    id          uuid NOT NULL,
    source      bigint NOT NULL,
    target      bigint NOT NULL,
    relation    text NOT NULL,
    predicate   text,
    strength    double precision NOT NULL,
    confidence  double precision NOT NULL,
    valid_from  bigint NOT NULL,
    valid_until bigint,
    evidence    json,
    created_at  bigint NOT NULL,
    PRIMARY KEY (tenant, space, id),
    UNIQUE (tenant, space, source, relation, target),
    FOREIGN KEY (tenant, space, source) REFERENCES memories (tenant, space, row) ON DELETE CASCADE,
    FOREIGN KEY (tenant, space, target) REFERENCES memories (tenant, space, row) ON DELETE CASCADE
);
CREATE INDEX edges_by_target ON edges (space, target, relation);

CREATE TABLE entities (
    tenant         integer NOT NULL DEFAULT own_tenant(),
    space          integer NOT NULL DEFAULT own_space(),
    entity         bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    id             uuid NOT NULL,
    canonical_name text NOT NULL,
    entity_type    text NOT NULL,
    aliases        json NOT NULL,
    summary        text,
    first_seen     bigint NOT NULL,
    last_updated   bigint NOT NULL,
    mention_count  bigint NOT NULL,
    attributes     json NOT NULL,
    scope          bigint,
    united_with    bigint,
    PRIMARY KEY (tenant, space, entity),
    UNIQUE (tenant, space, id),
    FOREIGN KEY (tenant, space, united_with) REFERENCES entities (tenant, space, entity) ON DELETE SET NULL (united_with)
);
CREATE INDEX entities_by_union ON entities (space, united_with) WHERE united_with IS NOT NULL;
CREATE INDEX entities_by_scope ON entities (space, scope);
CREATE TABLE mentions (
    tenant integer NOT NULL DEFAULT own_tenant(),
    space  integer NOT NULL DEFAULT own_space(),
    memory bigint NOT NULL,
    entity bigint NOT NULL,
    PRIMARY KEY (tenant, space, memory, entity),
    FOREIGN KEY (tenant, space, memory) REFERENCES memories (tenant, space, row) ON DELETE CASCADE,
    FOREIGN KEY (tenant, space, entity) REFERENCES entities (tenant, space, entity) ON DELETE CASCADE
);
CREATE INDEX mentions_by_entity ON mentions (space, entity, memory);
CREATE TABLE names (
    tenant integer NOT NULL DEFAULT own_tenant(),
    space  integer NOT NULL DEFAULT own_space(),
    name   text NOT NULL,
    entity bigint NOT NULL,
    PRIMARY KEY (tenant, space, name, entity),
    FOREIGN KEY (tenant, space, entity) REFERENCES entities (tenant, space, entity) ON DELETE CASCADE
);
CREATE INDEX names_by_entity ON names (space, entity);

-- Numbers without gaps, in the order of the commits: writers of a space wait for each other.
CREATE FUNCTION next_line() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN
    RETURN (SELECT coalesce(max(l.sequence), 0) + 1 FROM ledger l
        WHERE l.tenant = own_tenant() AND l.space = own_space());
END $$;
-- Outlives the memories it tells of: `memory` names a row that may be gone.
CREATE TABLE ledger (
    tenant     integer NOT NULL DEFAULT own_tenant(),
    space      integer NOT NULL DEFAULT own_space(),
    sequence   bigint NOT NULL DEFAULT next_line(),
    at         bigint NOT NULL,
    event      text NOT NULL,
    memory     bigint,
    memory_id  uuid,
    scope      bigint,
    version    bigint,
    old        json,
    new        json,
    actor      text,
    node       text,
    reason     text NOT NULL,
    thread_id  text,
    request_id text,
    PRIMARY KEY (tenant, space, sequence)
) PARTITION BY HASH (tenant);
CREATE INDEX ledger_by_memory ON ledger (space, memory, sequence) WHERE memory IS NOT NULL;
CREATE INDEX ledger_by_memory_id ON ledger (space, memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX ledger_by_thread ON ledger (space, thread_id, sequence) WHERE thread_id IS NOT NULL;
-- Lines come in the order of time, so a few pages tell which stretch of the table holds an hour.
CREATE INDEX ledger_by_time ON ledger USING brin (at);
CREATE TABLE jobs (
    tenant      integer NOT NULL DEFAULT own_tenant(),
    space       integer NOT NULL DEFAULT own_space(),
    id          bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    kind        text NOT NULL,
    payload     json NOT NULL,
    unique_key  text,
    state       text NOT NULL,
    run_after   bigint NOT NULL,
    lease_until bigint,
    attempts    bigint NOT NULL,
    last_error  text,
    created_at  bigint NOT NULL,
    PRIMARY KEY (tenant, space, id)
);
CREATE UNIQUE INDEX jobs_are_unique ON jobs (tenant, space, unique_key)
    WHERE unique_key IS NOT NULL AND state IN ('waiting', 'running');
CREATE INDEX jobs_by_turn ON jobs (tenant, run_after) WHERE state IN ('waiting', 'running');

CREATE TABLE sessions (
    tenant               integer NOT NULL DEFAULT own_tenant(),
    space                integer NOT NULL DEFAULT own_space(),
    scope                bigint NOT NULL,
    name                 text NOT NULL,
    thread_id            text NOT NULL,
    started_at           bigint NOT NULL,
    last_at              bigint NOT NULL,
    ended_at             bigint,
    consolidated_at      bigint,
    consolidated_through uuid,
    through_row          bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant, space, scope, name),
    FOREIGN KEY (tenant, space, scope) REFERENCES scopes (tenant, space, scope)
);
CREATE INDEX sessions_by_thread ON sessions (space, thread_id, scope);

-- Scope 0 is nobody's.
CREATE TABLE notes (
    tenant integer NOT NULL DEFAULT own_tenant(),
    space  integer NOT NULL DEFAULT own_space(),
    key    text NOT NULL,
    scope  bigint NOT NULL,
    value  text NOT NULL,
    until  bigint,
    PRIMARY KEY (tenant, space, key, scope)
);
";

const SECOND: &str = "
-- Vectors of several models may stand side by side.
ALTER TABLE vectors DROP CONSTRAINT vectors_pkey;
ALTER TABLE vectors ADD CONSTRAINT vectors_pkey PRIMARY KEY (tenant, space, memory, model);

-- What is said of a thing, in three words. A triple is in its scope once.
CREATE TABLE facts (
    tenant     integer NOT NULL DEFAULT own_tenant(),
    space      integer NOT NULL DEFAULT own_space(),
    fact       bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    id         uuid NOT NULL,
    scope      bigint NOT NULL,
    fact_type  text NOT NULL,
    subject    text NOT NULL,
    predicate  text NOT NULL,
    object     text NOT NULL,
    confidence double precision NOT NULL,
    metadata   json,
    created_at bigint NOT NULL,
    updated_at bigint NOT NULL,
    PRIMARY KEY (tenant, space, fact),
    UNIQUE (tenant, space, id),
    UNIQUE (tenant, space, scope, subject, predicate, object, fact_type),
    FOREIGN KEY (tenant, space, scope) REFERENCES scopes (tenant, space, scope)
);
CREATE INDEX facts_by_type ON facts (space, fact_type, confidence);
CREATE INDEX facts_by_object ON facts (space, object, predicate);
-- The memories that a triple was learned from; when the last of them goes, so does the triple.
CREATE TABLE fact_sources (
    tenant integer NOT NULL DEFAULT own_tenant(),
    space  integer NOT NULL DEFAULT own_space(),
    fact   bigint NOT NULL,
    memory bigint NOT NULL,
    PRIMARY KEY (tenant, space, fact, memory),
    FOREIGN KEY (tenant, space, fact) REFERENCES facts (tenant, space, fact) ON DELETE CASCADE,
    FOREIGN KEY (tenant, space, memory) REFERENCES memories (tenant, space, row) ON DELETE CASCADE
);
CREATE INDEX fact_sources_by_memory ON fact_sources (space, memory);

-- Where the work of a thread stood. `format` says what the bytes are: json, or whatever the caller calls it.
CREATE TABLE checkpoints (
    tenant     integer NOT NULL DEFAULT own_tenant(),
    space      integer NOT NULL DEFAULT own_space(),
    checkpoint bigint NOT NULL GENERATED BY DEFAULT AS IDENTITY,
    scope      bigint NOT NULL,
    thread_id  text NOT NULL,
    namespace  text NOT NULL,
    id         text NOT NULL,
    parent_id  text,
    format     text NOT NULL,
    data       bytea NOT NULL,
    metadata   json,
    created_at bigint NOT NULL,
    PRIMARY KEY (tenant, space, checkpoint),
    UNIQUE (tenant, space, scope, thread_id, namespace, id),
    FOREIGN KEY (tenant, space, scope) REFERENCES scopes (tenant, space, scope)
);
-- What tasks wrote towards the next checkpoint.
CREATE TABLE checkpoint_writes (
    tenant     integer NOT NULL DEFAULT own_tenant(),
    space      integer NOT NULL DEFAULT own_space(),
    checkpoint bigint NOT NULL,
    task_id    text NOT NULL,
    position   bigint NOT NULL,
    task_path  text NOT NULL,
    channel    text NOT NULL,
    format     text NOT NULL,
    data       bytea NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (tenant, space, checkpoint, task_id, position),
    FOREIGN KEY (tenant, space, checkpoint) REFERENCES checkpoints (tenant, space, checkpoint) ON DELETE CASCADE
);

-- Pools and who is in them. `agent` is the slug of a member.
CREATE TABLE pools (
    tenant     text NOT NULL REFERENCES tenants(name) ON DELETE CASCADE,
    slug       text NOT NULL,
    name       text NOT NULL,
    created_at bigint NOT NULL,
    PRIMARY KEY (tenant, slug)
);
CREATE TABLE pool_members (
    tenant    text NOT NULL,
    pool      text NOT NULL,
    agent     text NOT NULL,
    joined_at bigint NOT NULL,
    PRIMARY KEY (tenant, pool, agent),
    FOREIGN KEY (tenant, pool) REFERENCES pools (tenant, slug) ON DELETE CASCADE
);
CREATE INDEX pool_members_by_agent ON pool_members (tenant, agent);
";

const LAST: &str = "
-- Which spaces of a tenant have work is asked for the tenant as a whole; no space has the number 0.
CREATE POLICY own_tenant ON jobs FOR SELECT USING (tenant = own_tenant() AND own_space() = 0);
";
