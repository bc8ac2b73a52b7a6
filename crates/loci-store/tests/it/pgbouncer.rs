//! The contract of every store, on PostgreSQL behind PgBouncer in transaction mode.

use loci_store::{PostgresOptions, PostgresStore};
use loci_testkit::servers::{Schema, pgbouncer};

/// A store that reaches the server for tests through PgBouncer, and directly where it needs a session.
async fn fresh() -> Option<(PostgresStore, Schema)> {
    let (pooler, schema) = (pgbouncer()?, Schema::new()?);
    let options = PostgresOptions {
        direct: Some(schema.url.clone()),
        schema: schema.name.clone(),
        partitions: 2,
        ..PostgresOptions::default()
    };
    let store = PostgresStore::open(&pooler, options).await.unwrap();
    Some((store, schema))
}

loci_testkit::store_contract!(fresh);
