//! Does the shared store keep the same contract, on a real PostgreSQL?

use loci_store::{PostgresOptions, PostgresStore};
use loci_testkit::servers::Schema;

/// A store of its own in the server for tests.
pub(crate) async fn fresh() -> Option<(PostgresStore, Schema)> {
    let schema = Schema::new()?;
    let options = PostgresOptions { schema: schema.name.clone(), partitions: 2, ..PostgresOptions::default() };
    let store = PostgresStore::open(&schema.url, options).await.unwrap();
    Some((store, schema))
}

loci_testkit::store_contract!(fresh);
