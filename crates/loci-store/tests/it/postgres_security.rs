//! Row-level security: a tenant is hidden from another even with raw SQL.
//!
//! Every table of the schema that names a tenant is walked, with the role that serves and past all of our own
//! statements: for another tenant, for another space, for nobody, whole tables and their parts.

use loci_store::prelude::*;
use loci_store::{Agent, CatalogueChange, Pool, PostgresOptions, PostgresStore};
use loci_testkit::driver::{Driver, good};
use loci_testkit::samples::*;
use loci_testkit::servers::Schema;
use loci_types::{Action, Batch, Bookkeeping, Fact, Grant, JobKind, JobSpec, Key, Memory, NoteValue, Relation, Tenant};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Client, NoTls};

use crate::postgres::fresh;

/// Something in every table, for the default tenant; another tenant has a space with one memory.
async fn fill(store: &PostgresStore) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let first = driver.remember(&anna, "lantern").await;
    let second = driver.keep(Memory { tags: vec!["light".into()], ..driver.sample(&anna, "candle") }).await;
    driver.link(&anna, first, second, Relation::Temporal).await;
    let entity = driver.name(&anna, "Graz", &["the town"]).await;
    driver.mention(&anna, first, entity.id).await;
    let job = JobSpec { kind: JobKind::Link, payload: serde_json::json!({}), unique: None, run_after: at(0) };
    for action in [
        Action::Bookkeeping(Bookkeeping::Enqueue(job)),
        Action::Bookkeeping(Bookkeeping::Attend { scope: anna.clone(), session: "monday".into(), thread: "t".into() }),
        Action::Bookkeeping(Bookkeeping::Note {
            scope: None,
            key: "n".into(),
            value: NoteValue::Add(1.0),
            until: None,
        }),
    ] {
        driver.must(&anna.space(), action).await;
    }
    let learned = Fact { sources: vec![first], ..fact(1, &anna, ["lantern", "is", "lit"]) };
    driver.must(&anna.space(), Action::State(Box::new(learned))).await;
    for action in put_with_write(checkpoint(&anna, "t", "1", None, b"one")) {
        driver.must(&anna.space(), action).await;
    }
    let tenant = Tenant::default();
    good(
        store
            .change_catalogue(
                &tenant,
                CatalogueChange::PutAgent(Agent {
                    agent_id: "bot".into(),
                    settings: serde_json::json!({}),
                    created_at: at(1),
                }),
            )
            .await,
    );
    let pool = Pool { pool_id: "physics".into(), name: "Physics".into(), created_at: at(2) };
    good(
        store
            .change_catalogue(&tenant, CatalogueChange::CreatePool { pool, members: ["bot".to_owned()].to_vec() })
            .await,
    );
    good(
        store
            .change_catalogue(&key("ours", &tenant).grant.tenant.clone(), CatalogueChange::PutKey(key("ours", &tenant)))
            .await,
    );
    let other = Batch { tenant: other(), space: anna.space(), changes: vec![add(memory(1, &anna, "lantern"))] };
    good(store.apply(other).await);
    good(
        store
            .change_catalogue(
                &key("theirs", &self::other()).grant.tenant,
                CatalogueChange::PutKey(key("theirs", &self::other())),
            )
            .await,
    );
}

fn other() -> Tenant {
    Tenant::new("other").unwrap()
}

fn key(id: &str, tenant: &Tenant) -> Key {
    Key {
        id: id.to_owned(),
        name: id.to_owned(),
        hash: [7; 32],
        grant: Grant::whole(tenant.clone()),
        created_at: at(3),
        expires_at: None,
        revoked_at: None,
    }
}

/// A connection as a server has it: the role that serves, and the schema before all others.
async fn served(schema: &Schema) -> Client {
    let (client, connection) = tokio_postgres::connect(&schema.url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let role = PostgresOptions::default().role;
    client.batch_execute(&format!("SET ROLE {role}; SET search_path = {}, public", schema.name)).await.unwrap();
    client
}

/// Every table and every part of one that names a tenant: with its name, and whether by number.
async fn tables(schema: &Schema) -> Vec<(String, bool)> {
    let (client, connection) = tokio_postgres::connect(&schema.url, NoTls).await.unwrap();
    tokio::spawn(connection);
    let sql = "SELECT table_name::text, data_type = 'integer' FROM information_schema.columns \
               WHERE table_schema = $1 AND column_name = 'tenant' ORDER BY 1";
    let rows = client.query(sql, &[&schema.name]).await.unwrap();
    rows.iter().map(|row| (row.get(0), row.get(1))).collect()
}

// Coverage: SPEC-11.1.
#[tokio::test(flavor = "multi_thread")]
async fn raw_sql_shows_nothing_of_another() {
    let Some((store, schema)) = fresh().await else { return };
    fill(&store).await;
    let tables = tables(&schema).await;
    let whole = tables.iter().filter(|(name, _)| !name.ends_with(|last: char| last.is_ascii_digit()));
    assert_eq!(whole.clone().count(), 26, "{tables:?}");
    // A space that is being removed is noted here; it is put there by hand, since the note goes with the last row.
    let noted =
        "INSERT INTO dropped_spaces SELECT t.number, s.number FROM tenants t JOIN spaces s ON s.tenant = t.name";
    let vectors = "INSERT INTO entity_vectors SELECT tenant, space, entity, 'm', '' FROM entities";
    schema.ask(&format!("SET search_path = {}; {noted}; {vectors}", schema.name));
    for (table, _) in whole {
        let rows = schema.number(&format!("SELECT count(*) FROM {table}"));
        assert!(rows > 0, "{table} is empty, so nothing would be proved");
    }
    let tenant = schema.number("SELECT number::bigint FROM tenants WHERE name = 'default'");
    let other = schema.number("SELECT number::bigint FROM tenants WHERE name = 'other'");
    let space = schema.number("SELECT number::bigint FROM spaces WHERE tenant = 'default' AND name = 'users_38'");
    let theirs = schema.number("SELECT number::bigint FROM spaces WHERE tenant = 'other'");
    let speaking =
        |tenant: i64, space: i64| format!("SET LOCAL loci.tenant = {tenant}; SET LOCAL loci.space = {space}");
    let mut client = served(&schema).await;
    for (who, says, catalogue) in [
        ("nobody", String::new(), false),
        ("another tenant", speaking(other, theirs), false),
        ("another tenant that names our space", speaking(other, space), false),
        ("another space of ours", speaking(tenant, theirs), true),
        ("a tenant that is not there", speaking(4_711, space), false),
    ] {
        for (table, by_number) in &tables {
            let transaction = client.transaction().await.unwrap();
            transaction.batch_execute(&says).await.unwrap();
            let ours = if *by_number {
                format!("tenant = {tenant} AND space = {space}")
            } else {
                "tenant = 'default'".to_owned()
            };
            let sql = format!("SELECT count(*) FROM {table} WHERE {ours}");
            let rows: i64 = transaction.query_one(&sql, &[]).await.unwrap().get(0);
            // A tenant reads its own lines of the catalogue, whichever space it speaks for.
            assert_eq!(rows > 0, catalogue && !by_number, "{who}: {sql} gave {rows}");
            if who == "nobody" {
                let rows: i64 =
                    transaction.query_one(&format!("SELECT count(*) FROM {table}"), &[]).await.unwrap().get(0);
                assert_eq!(rows, 0, "{table} to someone who says nothing");
            }
        }
    }
    // What may be seen is seen, or the rest would prove nothing.
    let transaction = client.transaction().await.unwrap();
    transaction.batch_execute(&speaking(tenant, space)).await.unwrap();
    for (table, rows) in [("memories", 2_i64), ("memories_0", 0), ("memories_1", 0), ("keys", 1), ("spaces", 2)] {
        let found: i64 = transaction.query_one(&format!("SELECT count(*) FROM {table}"), &[]).await.unwrap().get(0);
        assert_eq!(found, rows, "{table}");
    }
}

// Coverage: SPEC-11.1.
#[tokio::test(flavor = "multi_thread")]
async fn raw_sql_writes_nothing_for_another() {
    let Some((store, schema)) = fresh().await else { return };
    fill(&store).await;
    let tenant = schema.number("SELECT number::bigint FROM tenants WHERE name = 'default'");
    let space = schema.number("SELECT number::bigint FROM spaces WHERE tenant = 'default' AND name = 'users_38'");
    let other = schema.number("SELECT number::bigint FROM tenants WHERE name = 'other'");
    let theirs = schema.number("SELECT number::bigint FROM spaces WHERE tenant = 'other'");
    let mut client = served(&schema).await;
    for (table, by_number) in tables(&schema).await {
        let insert = match by_number {
            true => format!("INSERT INTO {table} (tenant, space) VALUES ({tenant}, {space})"),
            false => format!("INSERT INTO {table} (tenant) VALUES ('default')"),
        };
        let transaction = client.transaction().await.unwrap();
        let says = format!("SET LOCAL loci.tenant = {other}; SET LOCAL loci.space = {theirs}");
        transaction.batch_execute(&says).await.unwrap();
        let refused = transaction.execute(&insert, &[]).await.unwrap_err();
        // The policy speaks before any constraint does.
        assert_eq!(refused.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE), "{insert}: {refused:?}");
        drop(transaction);
        let transaction = client.transaction().await.unwrap();
        transaction.batch_execute(&says).await.unwrap();
        let ours = if by_number { format!("tenant = {tenant}") } else { "tenant = 'default'".to_owned() };
        let changed = transaction.execute(&format!("DELETE FROM {table} WHERE {ours}"), &[]).await.unwrap();
        assert_eq!(changed, 0, "{table}");
    }
    assert_eq!(Driver::on(&store).count(&whole()).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_role_that_serves_cannot_pass_by() {
    let Some((store, schema)) = fresh().await else { return };
    let client = served(&schema).await;
    let sql = "SELECT current_user::text, rolsuper, rolbypassrls, rolcreaterole, rolcreatedb, rolcanlogin \
               FROM pg_roles WHERE rolname = current_user";
    let row = client.query_one(sql, &[]).await.unwrap();
    assert_eq!(row.get::<_, String>(0), PostgresOptions::default().role);
    assert!((1..6_usize).all(|column| !row.get::<_, bool>(column)), "{row:?}");
    let owned = format!(
        "SELECT count(*) FROM pg_class WHERE relnamespace = '{}'::regnamespace AND relowner = '{}'::regrole",
        schema.name,
        PostgresOptions::default().role
    );
    assert_eq!(schema.number(&owned), 0, "it owns nothing");
    for statement in ["ALTER TABLE memories DISABLE ROW LEVEL SECURITY", "DROP POLICY own_space ON memories"] {
        let refused = client.batch_execute(statement).await.unwrap_err();
        assert_eq!(refused.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE), "{statement}");
    }
    drop(store);
}

// Coverage: SPEC-11.1.
#[tokio::test(flavor = "multi_thread")]
async fn a_role_that_passes_by_is_refused() {
    let Some(schema) = Schema::new() else { return };
    for right in ["SUPERUSER", "BYPASSRLS"] {
        let role = format!("{}_{}", schema.name, right.to_lowercase());
        schema.ask(&format!("CREATE ROLE {role} {right}"));
        let options = PostgresOptions { schema: schema.name.clone(), role: role.clone(), ..PostgresOptions::default() };
        let opened = PostgresStore::open(&schema.url, options).await;
        let problem = opened.err().map(|error| error.problem("open"));
        schema.ask(&format!("DROP SCHEMA {} CASCADE; DROP OWNED BY {role}; DROP ROLE {role}", schema.name));
        let problem = problem.unwrap_or_else(|| panic!("{right} was let in"));
        assert_eq!(
            (problem.code.as_str(), &problem.details["field"]),
            ("INVALID_INPUT", &"postgres.role".into()),
            "{problem:?}"
        );
        assert!(problem.message.contains(&role), "{problem:?}");
    }
}
