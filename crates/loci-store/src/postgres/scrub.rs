//! Leaves nothing of what was removed from a tenant's spaces in the tables.
//!
//! PostgreSQL keeps the bytes of a deleted row until its page is written anew. `VACUUM FULL` writes a table anew and lets nobody
//! read it meanwhile, so only the partitions of this tenant and the tables that have no partitions are concerned, and only as
//! long as readers wait without noticing much: a table that is too large, or that someone reads for long, is vacuumed instead,
//! which holds nobody up. Its freed space is overwritten by later rows; the answer says so.
//!
//! The server's log holds what was written before; it goes as the server goes on, and only the server's own settings
//! say when. Runs as whoever owns the tables, not as the role that serves.

use tokio_postgres::Client;

use super::schema::{OF_SPACES, SPREAD, quoted};
use super::{Address, PostgresOptions, sql_error};
use crate::Result;

/// The largest table, with its indexes, that is written anew: about a second of work.
const REWRITTEN_UP_TO: i64 = 128 << 20;

/// The longest that readers of a table wait, in milliseconds: for whoever reads it now, and for it to be written anew.
const PATIENCE: u32 = 3_000;

/// The partitions of the tenant `$2`, and the tables that have none, with their sizes. `$1` is the schema, `$3` are all
/// tables, `$4` those with partitions, which are called after their parent and their number.
const CONCERNED: &str = "
SELECT c.relname::text, pg_total_relation_size(c.oid)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
LEFT JOIN pg_class p ON p.oid = i.inhparent
WHERE n.nspname = $1 AND c.relkind = 'r' AND CASE WHEN p.relname = ANY($4) THEN satisfies_hash_partition(
    p.oid, (SELECT count(*) FROM pg_inherits s WHERE s.inhparent = p.oid)::integer,
    substring(c.relname FROM '[0-9]+$')::integer, $2::integer)
ELSE c.relname = ANY($3) END
ORDER BY c.relname";

/// Cleans the tables of a tenant. Returns what may be left.
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
    let concerned = client.query(CONCERNED, &[&schema, &tenant, &OF_SPACES, &SPREAD]).await?;
    let mut kept = Vec::new();
    for row in concerned {
        let (name, size): (String, i64) = (row.get(0), row.get(1));
        let table = format!("{}.{}", quoted(schema), quoted(&name));
        if size > REWRITTEN_UP_TO || !rewrite(client, &format!("(FULL, ANALYZE) {table}")).await? {
            client.batch_execute("SET statement_timeout = 0").await?;
            client.batch_execute(&format!("VACUUM (ANALYZE) {table}")).await?;
            kept.push(name);
        }
    }
    // The statistics of a partitioned table are its own.
    client.batch_execute("SET statement_timeout = 0").await?;
    for table in SPREAD {
        client.batch_execute(&format!("ANALYZE {}.{}", quoted(schema), quoted(table))).await?;
    }
    // The server's own statistics quote values of the columns. Only some roles may do this and the next; the server does
    // both by itself in a while.
    let quoted = matches!(rewrite(client, "FULL pg_catalog.pg_statistic").await, Ok(true));
    client.batch_execute("SET statement_timeout = 0").await?;
    let switched = client.batch_execute("SELECT pg_switch_wal()").await;
    let emptied = client.batch_execute("CHECKPOINT").await.and(client.batch_execute("CHECKPOINT").await);
    let recycles = client.query_one("SELECT current_setting('wal_recycle')::boolean", &[]).await?.get::<_, bool>(0);
    let mut left = Vec::new();
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

/// Writes a table anew. Returns false if that took too long; then nothing has changed.
async fn rewrite(client: &Client, what: &str) -> Result<bool, tokio_postgres::Error> {
    use tokio_postgres::error::SqlState;
    client.batch_execute(&format!("SET statement_timeout = {PATIENCE}")).await?;
    match client.batch_execute(&format!("VACUUM {what}")).await {
        Ok(()) => Ok(true),
        Err(error) if matches!(error.code(), Some(&SqlState::QUERY_CANCELED | &SqlState::LOCK_NOT_AVAILABLE)) => {
            Ok(false)
        }
        Err(error) => Err(error),
    }
}
