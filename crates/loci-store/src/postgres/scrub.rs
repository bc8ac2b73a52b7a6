//! How are tables left without what was removed from them?
//!
//! A row that was deleted keeps its bytes until its page is written anew, so every table is written anew. The
//! server's log holds what was written before; it goes as the server goes on, and only the server's own settings
//! say when. Runs as whoever owns the tables, not as the role that serves.

use super::schema::{OF_SPACES, quoted};
use super::{Address, PostgresOptions, said};
use crate::Result;

/// Makes the tables anew. Writers wait meanwhile. Returns what may be left.
pub(super) async fn tables(address: &Address, options: &PostgresOptions) -> Result<Option<String>> {
    let (client, driven) = address.driven().await?;
    let scrubbed = async {
        client.batch_execute("SET statement_timeout = 0; SET lock_timeout = '60s'").await?;
        for table in OF_SPACES {
            client
                .batch_execute(&format!("VACUUM (FULL, ANALYZE) {}.{}", quoted(&options.schema), quoted(table)))
                .await?;
        }
        // The server's own statistics quote values of the columns. Only some roles may do this and the next; the
        // server does both by itself in a while.
        let quoted = client.batch_execute("VACUUM FULL pg_catalog.pg_statistic").await;
        let switched = client.batch_execute("SELECT pg_switch_wal()").await;
        let emptied = client.batch_execute("CHECKPOINT").await.and(client.batch_execute("CHECKPOINT").await);
        let emptied = quoted.and(switched).and(emptied);
        let row = client.query_one("SELECT current_setting('wal_recycle')::boolean", &[]).await?;
        Ok::<_, tokio_postgres::Error>((emptied.is_ok(), row.get::<_, bool>(0)))
    }
    .await;
    drop(client);
    drop(driven.await);
    let (emptied, reused) = scrubbed.map_err(|error| said(error.into()))?;
    Ok(match (emptied, reused) {
        (true, false) => None,
        (true, true) => Some(
            "PostgreSQL writes over old segments of its log instead of removing them (wal_recycle = on), so earlier \
             content stays there until they are used again"
                .to_owned(),
        ),
        (false, _) => Some(
            "this role may not make PostgreSQL clean its statistics, begin a new log and a checkpoint, so earlier \
             content stays there until the server has done so by itself"
                .to_owned(),
        ),
    })
}
