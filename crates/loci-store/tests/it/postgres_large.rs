//! Long and crowded work on PostgreSQL. These tests take minutes, so they run only when they are asked for by name.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use loci_store::prelude::*;
use loci_store::{
    BackupPlan, CatalogueChange, DeriveKeys, DerivedKeys, PostgresOptions, PostgresStore, RestorePlan, create_backup,
    restore_backup,
};
use loci_testkit::driver::good;
use loci_testkit::samples::*;
use loci_testkit::servers::Schema;
use loci_types::{Action, Memory, Tenant};

use crate::postgres::fresh;

const MEMORIES: usize = 300_000;

/// Fills the shared space past the store, as fast as the server can: memories of two users, their words and their ledger.
async fn fill(store: &PostgresStore, schema: &Schema) {
    for (number, name) in [(1, "anna"), (2, "ben")] {
        let scope = user(name);
        good(
            store
                .apply(batch(&scope.space(), vec![add(memory(number, &scope, "the lantern hangs by the door"))]))
                .await,
        );
    }
    // One in fifteen is ben's.
    schema.ask(&format!(
        "SET search_path = {}, public; \
         DO $do$ DECLARE names text; BEGIN \
         SELECT string_agg(quote_ident(column_name), ', ') INTO names FROM information_schema.columns \
         WHERE table_schema = current_schema() AND table_name = 'memories' AND column_name NOT IN ('row', 'id', 'unless'); \
         CREATE TEMP TABLE samples AS SELECT * FROM memories; \
         EXECUTE format('INSERT INTO memories (id, %s) SELECT gen_random_uuid(), %s FROM samples s JOIN generate_series(1, {MEMORIES}) n \
         ON (s.user_id = ''ben'') = (n %% 15 = 0)', names, names); END $do$; \
         INSERT INTO documents (tenant, space, memory, scope, length, terms) SELECT tenant, space, row, scope, 8, \
         ARRAY(SELECT 'w' || (row * k % 5000) FROM generate_series(1, 8) k GROUP BY 1) FROM memories \
         WHERE row NOT IN (SELECT memory FROM documents); \
         INSERT INTO words (tenant, space, scope, term, memory, times, length) SELECT tenant, space, scope, t, memory, 1, 8 \
         FROM documents, unnest(terms) t ON CONFLICT DO NOTHING; \
         INSERT INTO ledger (tenant, space, sequence, at, event, memory, memory_id, scope, version, actor, reason) \
         SELECT tenant, space, 10 + row, created_at, 'add', row, id, scope, 1, user_id, '' FROM memories; \
         ANALYZE memories; ANALYZE documents; ANALYZE words; ANALYZE ledger",
        schema.name
    ));
}

fn derive() -> DeriveKeys {
    Arc::new(|memory: &Memory| DerivedKeys { hash: hash(&memory.content), unless: None, claim: None })
}

#[expect(clippy::print_stdout, reason = "the figures are what the test is run for")]
async fn timed<T>(what: &str, work: impl Future<Output = loci_store::Result<T>>) -> T {
    let begun = Instant::now();
    let done = good(work.await);
    println!("{what}: {:.1} s", begun.elapsed().as_secs_f64());
    done
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes minutes"]
async fn long_work_on_a_large_space_succeeds() {
    let Some((store, schema)) = fresh().await else { return };
    let begun = Instant::now();
    fill(&store, &schema).await;
    println!("filled in {:.1} s", begun.elapsed().as_secs_f64());
    let stats = timed("stats", store.stats(&whole())).await;
    assert!(stats.memories > MEMORIES as u64 - 10, "{}", stats.memories);
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("all.backup");
    let plan = BackupPlan { tenant: None, space: None, since: None, at: at(50_000) };
    timed("backup", async {
        create_backup(&store, plan, std::fs::File::create(Path::new(&file)).unwrap(), Box::new(|_| {})).await
    })
    .await;
    let erased = change(at(60_000), Action::EraseUser { user: "ben".to_owned() });
    timed("erase of 20,000 of them", store.apply(batch(&user("ben").space(), vec![erased]))).await;
    let plan = RestorePlan {
        files: vec![file],
        tenant: None,
        space: None,
        rename: None,
        until: None,
        replace: true,
        at: at(70_000),
        derive: derive(),
    };
    timed("restore --replace", restore_backup(&store, plan)).await;
    assert_eq!(good(store.stats(&whole()).await).memories, stats.memories);
    timed("doctor", store.check(&whole(), false)).await;
    let scope = agent("large");
    good(store.apply(batch(&scope.space(), vec![add(memory(9, &scope, "lantern"))])).await);
    // The rows of the shared space go to the agent's, which can be dropped.
    let name = &schema.name;
    let number = |space: &str| format!("(SELECT number FROM {name}.spaces WHERE name = '{space}')");
    let other = schema.number(&format!("SELECT {}::bigint", number(&scope.space().name())));
    let shared = schema.number(&format!("SELECT {}::bigint", number("shared")));
    let mut moved = String::from("SET session_replication_role = replica;");
    for table in ["scopes", "models", "memories", "documents", "words", "ledger", "vectors", "tags"] {
        moved.push_str(&format!("DELETE FROM {name}.{table} WHERE space = {other};"));
        moved.push_str(&format!("UPDATE {name}.{table} SET space = {other} WHERE space = {shared};"));
    }
    schema.ask(&moved);
    let tenant = Tenant::default();
    assert!(timed("drop", store.change_catalogue(&tenant, CatalogueChange::DropAgent("large".to_owned()))).await > 0);
    assert_eq!(schema.number("SELECT count(*) FROM memories"), 0);
    assert_eq!(schema.number("SELECT count(*) FROM words"), 0);
    assert_eq!(schema.number("SELECT count(*) FROM dropped_spaces"), 0);
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn commits_of_two_servers() {
    let Some(schema) = Schema::new() else { return };
    let options = || PostgresOptions { schema: schema.name.clone(), partitions: 2, ..PostgresOptions::default() };
    let one = good(PostgresStore::open(&schema.url, options()).await);
    let other = good(PostgresStore::open(&schema.url, options()).await);
    let end = Instant::now() + Duration::from_secs(20);
    let writers: Vec<_> = (0..64_u64)
        .map(|writer| {
            let store = if writer % 2 == 0 { one.clone() } else { other.clone() };
            tokio::spawn(async move {
                let scope = user(&format!("user-{writer}"));
                let mut written = 0;
                while Instant::now() < end {
                    let number = writer * 1_000_000 + written;
                    let text = format!("lantern {number} hangs by the door of house {writer}");
                    good(store.apply(batch(&scope.space(), vec![add(memory(number, &scope, &text))])).await);
                    written += 1;
                }
                written
            })
        })
        .collect();
    let mut written = 0;
    for writer in writers {
        written += writer.await.unwrap();
    }
    println!("{:.0} additions a second, {} transactions", written as f64 / 20.0, one.commits() + other.commits());
}
