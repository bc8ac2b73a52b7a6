//! Removes the bytes of deleted rows of a tenant from the table files.
//!
//! PostgreSQL keeps the bytes of a deleted row until its page is rewritten. `VACUUM FULL` rewrites a table and blocks
//! readers meanwhile, so it runs only on the partitions of this tenant and on tables without partitions, and only for a
//! short time. A table that is too large or in use for too long is vacuumed instead, which blocks nobody. Its freed
//! space is overwritten by later rows; the result says so.
//!
//! The server's log (WAL) contains earlier content until its segments are removed, which depends on the server's
//! settings. Runs as the owner of the tables, not as the role that executes requests.

use std::time::Duration;

use tokio_postgres::Client;
use tokio_postgres::error::SqlState;

use super::schema::{OF_SPACES, SPREAD, quoted};
use super::{Address, PostgresOptions, sql_error};
use crate::Result;

/// Maximum size in bytes of a table with its indexes that is rewritten: about a second of work.
const REWRITTEN_UP_TO: i64 = 128 << 20;

/// Maximum time in milliseconds to wait for the lock and to rewrite a table; readers are blocked at most this long.
const PATIENCE: u32 = 3_000;

/// Maximum number of attempts of a statement that ends in a deadlock.
const ATTEMPTS: usize = 5;

/// The partitions of the tenant `$2` and the tables without partitions, with their sizes. `$1` is the schema, `$3` are
/// all tables, `$4` the partitioned ones. A partition is named after its parent and its number.
const CONCERNED: &str = "
SELECT c.relname::text, pg_total_relation_size(c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
LEFT JOIN pg_class p ON p.oid = i.inhparent
WHERE n.nspname = $1 AND c.relkind = 'r' AND CASE WHEN p.relname = ANY($4) THEN satisfies_hash_partition(
    p.oid, (SELECT count(*) FROM pg_inherits s WHERE s.inhparent = p.oid)::integer,
    substring(c.relname FROM '[0-9]+$')::integer, $2::integer)
ELSE c.relname = ANY($3) END
ORDER BY c.relname";

/// Cleans the tables of a tenant. Returns a description of what may be left, if anything.
pub(super) async fn tables(address: &Address, options: &PostgresOptions, tenant: i32) -> Result<Option<String>> {
    let (client, driven) = address.driven().await?;
    let scrubbed = clean(&client, &options.schema, tenant).await;
    drop(client);
    drop(driven.await);
    let left = scrubbed.map_err(|error| sql_error(error.into()))?;
    Ok((!left.is_empty()).then(|| left.join("; ")))
}

async fn clean(client: &Client, schema: &str, tenant: i32) -> Result<Vec<String>, tokio_postgres::Error> {
    client.batch_execute("SET lock_timeout = '60s'").await?;
    let still_read = wait_for_readers(client).await?;
    let concerned = client.query(CONCERNED, &[&schema, &tenant, &OF_SPACES, &SPREAD]).await?;
    let mut kept = Vec::new();
    for row in concerned {
        let (name, size): (String, i64) = (row.get(0), row.get(1));
        let table = format!("{}.{}", quoted(schema), quoted(&name));
        if size > REWRITTEN_UP_TO || !rewrite(client, &format!("(FULL, ANALYZE) {table}")).await? {
            client.batch_execute("SET statement_timeout = 0").await?;
            patiently(client, &format!("VACUUM (ANALYZE) {table}")).await?;
            kept.push(name);
        }
    }
    // A partitioned table has statistics of its own.
    client.batch_execute("SET statement_timeout = 0").await?;
    for table in SPREAD {
        patiently(client, &format!("ANALYZE {}.{}", quoted(schema), quoted(table))).await?;
    }
    // The statistics catalogue contains column values. Not every role may rewrite it, switch the WAL and run a
    // checkpoint; the server does so by itself later.
    let quoted = matches!(rewrite(client, "FULL pg_catalog.pg_statistic").await, Ok(true));
    client.batch_execute("SET statement_timeout = 0").await?;
    let switched = client.batch_execute("SELECT pg_switch_wal()").await;
    let emptied = client.batch_execute("CHECKPOINT").await.and(client.batch_execute("CHECKPOINT").await);
    let recycles = client.query_one("SELECT current_setting('wal_recycle')::boolean", &[]).await?.get::<_, bool>(0);
    let mut left = Vec::new();
    if still_read {
        left.push(
            "a transaction that began earlier is still running and may read the deleted rows, so PostgreSQL keeps their bytes; \
             run the command again when it has ended"
                .to_owned(),
        );
    }
    if !kept.is_empty() {
        left.push(format!(
            "{} could not be written anew without making others wait, so the bytes of deleted rows stay in free space of \
             the table files until PostgreSQL uses it again; VACUUM FULL in a quiet hour removes them",
            kept.join(", ")
        ));
    }
    if !quoted || switched.and(emptied).is_err() {
        left.push(
            "this role may not make PostgreSQL clean its statistics, begin a new log and a checkpoint, so earlier content \
             stays there until the server has done so by itself"
                .to_owned(),
        );
    } else if recycles {
        left.push(
            "PostgreSQL writes over old segments of its log instead of removing them (wal_recycle = on), so earlier content \
             stays there until they are used again"
                .to_owned(),
        );
    }
    Ok(left)
}

/// The transactions of this database that may still read rows deleted before now: their processes and starts.
const READERS: &str = "
SELECT coalesce(array_agg(pid || ' ' || xact_start), '{}') FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
  AND backend_type <> 'autovacuum worker'";

/// Waits for the transactions that may still read what was deleted, because rewriting a table keeps their rows. Returns
/// true if one is still running after [`PATIENCE`].
async fn wait_for_readers(client: &Client) -> Result<bool, tokio_postgres::Error> {
    let readers = async || Ok(client.query_one(READERS, &[]).await?.get::<_, Vec<String>>(0));
    let first = readers().await?;
    let until = tokio::time::Instant::now() + Duration::from_millis(PATIENCE.into());
    loop {
        let now = readers().await?;
        if !first.iter().any(|reader| now.contains(reader)) {
            return Ok(false);
        }
        if tokio::time::Instant::now() > until {
            return Ok(true);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Executes a statement again if it met another clean-up in a deadlock, which ends one of the two.
async fn patiently(client: &Client, sql: &str) -> Result<(), tokio_postgres::Error> {
    for _ in 1..ATTEMPTS {
        match client.batch_execute(sql).await {
            Err(error) if error.code() == Some(&SqlState::T_R_DEADLOCK_DETECTED) => {}
            done => return done,
        }
    }
    client.batch_execute(sql).await
}

/// Whether a statement failed because others used the same tables.
fn is_busy(error: &tokio_postgres::Error) -> bool {
    let busy = [SqlState::QUERY_CANCELED, SqlState::LOCK_NOT_AVAILABLE, SqlState::T_R_DEADLOCK_DETECTED];
    error.code().is_some_and(|code| busy.contains(code))
}

/// Rewrites a table. Returns false if that took too long; then nothing has changed.
async fn rewrite(client: &Client, what: &str) -> Result<bool, tokio_postgres::Error> {
    client.batch_execute(&format!("SET statement_timeout = {PATIENCE}")).await?;
    match client.batch_execute(&format!("VACUUM {what}")).await {
        Ok(()) => Ok(true),
        Err(error) if is_busy(&error) => Ok(false),
        Err(error) => Err(error),
    }
}
