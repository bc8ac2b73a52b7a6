//! The contract of every store, on a real PostgreSQL.

use loci_store::prelude::*;
use loci_store::{Page, PostgresOptions, PostgresStore};
use loci_testkit::contract::sound;
use loci_testkit::driver::{Driver, good};
use loci_testkit::samples::*;
use loci_testkit::servers::Schema;
use loci_types::Memory;
use serde_json::json;

/// A store of its own in the server for tests.
pub(crate) async fn fresh() -> Option<(PostgresStore, Schema)> {
    let schema = Schema::new()?;
    let options = PostgresOptions { schema: schema.name.clone(), partitions: 2, ..PostgresOptions::default() };
    let store = PostgresStore::open(&schema.url, options).await.unwrap();
    Some((store, schema))
}

loci_testkit::store_contract!(fresh);

/// Earlier versions kept NUL, which PostgreSQL cannot store, as U+10FFFF and a digit. The owner of the tables is an ordinary role:
/// the policies hold for it too.
#[tokio::test(flavor = "multi_thread")]
async fn texts_that_held_nul_are_readable_again() {
    let Some((store, schema)) = fresh().await else { return };
    let (driver, anna) = (Driver::on(&store), user("anna"));
    let metadata = json!({ "note": "c\u{10FFFF}0d", "\u{10FFFF}1": true }).as_object().unwrap().clone();
    let tags = vec!["t\u{10FFFF}0".to_owned()];
    let odd = Memory { metadata, tags, ..driver.sample(&anna, "a\u{10FFFF}0b \u{10FFFF}1 \u{10FFFF}10 end") };
    let odd = driver.keep(odd).await;
    let plain = driver.remember(&anna, "plain").await;
    let untouched = driver.must_get(plain).await;
    drop(store);
    let owner = format!("{}_owner", schema.name);
    schema.ask(&format!(
        "DELETE FROM {0}.format WHERE number >= 5; DROP FUNCTION {0}.users_have_shards CASCADE; DROP TABLE {0}.entity_vectors; CREATE ROLE {owner} NOSUPERUSER; GRANT CREATE ON DATABASE postgres TO {owner}; \
         GRANT {1} TO {owner}; ALTER SCHEMA {0} OWNER TO {owner}; \
         DO $$ DECLARE t record; BEGIN FOR t IN SELECT oid::regclass AS name FROM pg_class WHERE relkind IN ('r', 'p') \
         AND relnamespace = '{0}'::regnamespace LOOP EXECUTE format('ALTER TABLE %s OWNER TO {owner}', t.name); END LOOP; \
         FOR t IN SELECT oid::regprocedure AS name FROM pg_proc WHERE pronamespace = '{0}'::regnamespace \
         LOOP EXECUTE format('ALTER FUNCTION %s OWNER TO {owner}', t.name); END LOOP; END $$",
        schema.name,
        PostgresOptions::default().role
    ));
    let options = PostgresOptions { schema: schema.name.clone(), partitions: 2, ..PostgresOptions::default() };
    let as_owner = format!("{}?options=-c%20role%3D{owner}", schema.url);
    let store = PostgresStore::open(&as_owner, options).await;
    schema.ask(&format!("REASSIGN OWNED BY {owner} TO CURRENT_USER; DROP OWNED BY {owner}; DROP ROLE {owner}"));
    let store = store.unwrap();
    let driver = Driver::on(&store);
    let found = driver.must_get(odd).await;
    assert_eq!(found.content, "a\u{FFFD}b \u{10FFFF} \u{10FFFF}0 end");
    assert_eq!(found.metadata["note"], "c\u{FFFD}d");
    assert_eq!(found.metadata["\u{10FFFF}"], true);
    assert_eq!(found.tags, ["t\u{FFFD}"]);
    assert_eq!(driver.must_get(plain).await, untouched);
    let mut tagged = now();
    tagged.tags = vec!["t\u{FFFD}".to_owned()];
    assert_eq!(good(store.scan(&whole(), &tagged, Page { limit: 10, after: None }).await).memories.len(), 1);
    sound(&store).await;
}
