//! The schema of the database and its migrations.
//!
//! It has the tables of a space's SQLite file, once for all spaces: every row and every key begins with tenant and
//! space. A transaction sets both (`loci.tenant`, `loci.space`), new rows take them as defaults, and row-level security
//! hides all other rows. So the statements are the same as for SQLite, and a transaction that sets neither sees
//! nothing. The catalogue is visible to transactions that set `loci.catalogue`; others read only the rows of their
//! tenant in it.
//!
//! Migrations are applied once, in order, under a lock that all servers share. A schema of a newer version of Loci is
//! refused.

use tokio_postgres::Client;

use super::tables::{FIFTH, FIRST, FOURTH, LAST, SECOND, SEVENTH, THIRD};
use super::{Distance, PostgresOptions, split};
use crate::{Error, Result};

/// The migrations, in order.
const MIGRATIONS: &[fn(&PostgresOptions) -> String] = &[first, second, third, fourth, fifth, split::users, seventh];

/// The error code of `open_write` for a space that was removed.
pub(super) const SPACE_REMOVED: &str = "LC001";

/// Key of the advisory lock that is held during migrations. The number is arbitrary.
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
    "entity_vectors",
    "ledger",
    "jobs",
    "sessions",
    "notes",
    "facts",
    "fact_sources",
    "checkpoints",
    "checkpoint_writes",
];

/// Those that the second migration creates.
const SECOND_OF_SPACES: &[&str] = &["facts", "fact_sources", "checkpoints", "checkpoint_writes"];

/// Those that the seventh migration creates.
pub(super) const SEVENTH_OF_SPACES: &[&str] = &["entity_vectors"];

/// The tables of the catalogue, with the condition on the rows that a tenant may read.
pub(super) const OF_ALL: &[(&str, &str)] = &[
    ("tenants", "number = own_tenant()"),
    ("spaces", "tenant = (SELECT t.name FROM tenants t WHERE t.number = own_tenant())"),
    ("agents", "tenant = (SELECT t.name FROM tenants t WHERE t.number = own_tenant())"),
    ("keys", "tenant = (SELECT t.name FROM tenants t WHERE t.number = own_tenant())"),
    ("pools", "tenant = (SELECT t.name FROM tenants t WHERE t.number = own_tenant())"),
    ("pool_members", "tenant = (SELECT t.name FROM tenants t WHERE t.number = own_tenant())"),
];

/// Those that the second migration creates.
const SECOND_OF_ALL: &[&str] = &["pools", "pool_members"];

/// The tables that grow with every memory; they are partitioned by tenant.
pub(super) const SPREAD: &[&str] = &["memories", "documents", "words", "vectors", "ledger"];

/// Migrates the schema. Runs as the user of the address, not as the role that executes requests.
pub(super) async fn migrate(client: &mut Client, options: &PostgresOptions) -> Result<()> {
    let sql_error = |error: tokio_postgres::Error| super::sql_error(error.into());
    if is_current(client, options).await.map_err(sql_error)? {
        return Ok(());
    }
    let transaction = client.transaction().await.map_err(sql_error)?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await.map_err(sql_error)?;
    let schema = quoted(&options.schema);
    transaction
        .batch_execute(&format!(
            "SET LOCAL client_min_messages = warning; SET LOCAL lock_timeout = '60s'; \
             CREATE SCHEMA IF NOT EXISTS {schema}; CREATE EXTENSION IF NOT EXISTS vector; \
             SET LOCAL search_path = {schema}, public; \
             CREATE TABLE IF NOT EXISTS format (number integer PRIMARY KEY)"
        ))
        .await
        .map_err(sql_error)?;
    let row = transaction.query_one("SELECT coalesce(max(number), 0) FROM format", &[]).await.map_err(sql_error)?;
    let (found, known) = (row.get::<_, i32>(0), MIGRATIONS.len() as i32);
    if found > known {
        return Err(Error::Newer { path: super::PLACE.into(), found: found.into(), known: known.into() });
    }
    for (number, script) in (1..).zip(MIGRATIONS).skip(found as usize) {
        transaction.batch_execute(&script(options)).await.map_err(sql_error)?;
        transaction.execute("INSERT INTO format (number) VALUES ($1)", &[&number]).await.map_err(sql_error)?;
    }
    transaction.batch_execute(&rights(options)).await.map_err(sql_error)?;
    for size in &options.dimensions {
        transaction
            .batch_execute(&graph_index(Distance { half: options.halfvec, size: *size }))
            .await
            .map_err(sql_error)?;
    }
    transaction.commit().await.map_err(sql_error)
}

/// The identity of the store: the comment on the table `format`, which dumps of the database contain. It is created when it
/// is missing.
pub(super) async fn store_id(client: &mut Client, options: &PostgresOptions) -> Result<String> {
    let sql_error = |error: tokio_postgres::Error| super::sql_error(error.into());
    let table = format!("{}.format", quoted(&options.schema));
    let read = "SELECT obj_description(to_regclass($1), 'pg_class')";
    let found: Option<String> = client.query_one(read, &[&table]).await.map_err(sql_error)?.get(0);
    if let Some(found) = found {
        return Ok(found);
    }
    let transaction = client.transaction().await.map_err(sql_error)?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK]).await.map_err(sql_error)?;
    let found: Option<String> = transaction.query_one(read, &[&table]).await.map_err(sql_error)?.get(0);
    let id = found.unwrap_or_else(|| uuid::Uuid::new_v4().to_string());
    transaction
        .batch_execute(&format!("COMMENT ON TABLE {table} IS '{}'", id.replace('\'', "")))
        .await
        .map_err(sql_error)?;
    transaction.commit().await.map_err(sql_error)?;
    Ok(id)
}

/// Whether the schema is up to date. It only reads, because a migration takes locks that would block writers.
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

/// Quotes an identifier.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Creates the role that executes requests and grants its rights. It owns nothing and cannot bypass the policies. It
/// may set sequences, because a copy keeps the numbers of its rows and continues after them, and run ANALYZE through
/// `look_over`, which only the owner of a table can: after a bulk load a table is searched badly without it.
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

/// The graph index on vectors of one dimension, for searching large scopes.
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
            // The policies are on the parent table: a query that names a partition directly sees no rows.
            script.push_str(&format!("ALTER TABLE {table}_{part} ENABLE ROW LEVEL SECURITY;\n"));
        }
    }
    let later = [SECOND_OF_SPACES, SECOND_OF_ALL, SEVENTH_OF_SPACES].concat();
    script.push_str(&policies(|table| !later.contains(&table)));
    script.push_str(LAST);
    script
}

fn second(_: &PostgresOptions) -> String {
    let policies = policies(|table| SECOND_OF_SPACES.contains(&table) || SECOND_OF_ALL.contains(&table));
    format!("{SECOND}{policies}")
}

fn third(_: &PostgresOptions) -> String {
    THIRD.to_owned()
}

fn fourth(_: &PostgresOptions) -> String {
    FOURTH.to_owned()
}

fn fifth(_: &PostgresOptions) -> String {
    FIFTH.to_owned()
}

fn seventh(_: &PostgresOptions) -> String {
    format!("{SEVENTH}{}", policies(|table| SEVENTH_OF_SPACES.contains(&table)))
}

/// Row-level security and policies of the tables that `selects` selects.
fn policies(selects: impl Fn(&str) -> bool) -> String {
    let mut script = String::new();
    for table in OF_SPACES.iter().filter(|table| selects(table)) {
        script.push_str(&format!(
            "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;\n\
             ALTER TABLE {table} FORCE ROW LEVEL SECURITY;\n\
             CREATE POLICY own_space ON {table} USING (tenant = own_tenant() AND space = own_space());\n"
        ));
    }
    for (table, own) in OF_ALL.iter().filter(|(table, _)| selects(table)) {
        script.push_str(&format!(
            "ALTER TABLE {table} ENABLE ROW LEVEL SECURITY;\n\
             ALTER TABLE {table} FORCE ROW LEVEL SECURITY;\n\
             CREATE POLICY catalogue ON {table} USING (in_catalogue());\n\
             CREATE POLICY own_lines ON {table} FOR SELECT USING ({own});\n"
        ));
    }
    script
}
