//! Long and crowded work on PostgreSQL. These tests take minutes, so they run only when they are asked for by name.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use loci_store::prelude::*;
use loci_store::{
    BackupEncoding, BackupPlan, CatalogueChange, DeriveKeys, DerivedKeys, PostgresOptions, PostgresStore, RestorePlan,
    create_backup, restore_backup,
};
use loci_testkit::driver::good;
use loci_testkit::proxy::Proxy;
use loci_testkit::samples::*;
use loci_testkit::servers::Schema;
use loci_types::{Action, Memory, Scope, Tenant};

use crate::postgres::fresh;

const MEMORIES: usize = 300_000;

/// Fills one space past the store, as fast as the server can: memories of two users of a shard, their words and their ledger.
async fn fill(store: &PostgresStore, schema: &Schema) {
    for (number, name) in [(1, "anna"), (2, "vera")] {
        let scope = user(name);
        good(
            store
                .apply(batch(&scope.space(), vec![add(memory(number, &scope, "the lantern hangs by the door"))]))
                .await,
        );
    }
    // One in fifteen is vera's.
    schema.ask(&format!(
        "SET search_path = {}, public; \
         DO $do$ DECLARE names text; BEGIN \
         SELECT string_agg(quote_ident(column_name), ', ') INTO names FROM information_schema.columns \
         WHERE table_schema = current_schema() AND table_name = 'memories' AND column_name NOT IN ('row', 'id', 'unless'); \
         CREATE TEMP TABLE samples AS SELECT * FROM memories; \
         EXECUTE format('INSERT INTO memories (id, %s) SELECT gen_random_uuid(), %s FROM samples s JOIN generate_series(1, {MEMORIES}) n \
         ON (s.user_id = ''vera'') = (n %% 15 = 0)', names, names); END $do$; \
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
    let plan =
        BackupPlan { tenant: None, space: None, since: None, at: at(50_000), encoding: BackupEncoding::default() };
    timed("backup", async {
        create_backup(&store, plan, std::fs::File::create(Path::new(&file)).unwrap(), Box::new(|_| {})).await
    })
    .await;
    let erased = change(at(60_000), Action::EraseUser { user: "vera".to_owned() });
    timed("erase of 20,000 of them", store.apply(batch(&user("vera").space(), vec![erased]))).await;
    let plan = RestorePlan {
        key: None,
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
    // The rows of the shard go to the agent's space, which can be dropped.
    let name = &schema.name;
    let number = |space: &str| format!("(SELECT number FROM {name}.spaces WHERE name = '{space}')");
    let other = schema.number(&format!("SELECT {}::bigint", number(&scope.space().name())));
    let shard = schema.number(&format!("SELECT {}::bigint", number(&user("anna").space().name())));
    let mut moved = String::from("SET session_replication_role = replica;");
    for table in ["scopes", "models", "memories", "documents", "words", "ledger", "vectors", "tags"] {
        moved.push_str(&format!("DELETE FROM {name}.{table} WHERE space = {other};"));
        moved.push_str(&format!("UPDATE {name}.{table} SET space = {other} WHERE space = {shard};"));
    }
    schema.ask(&moved);
    let tenant = Tenant::default();
    assert!(timed("drop", store.change_catalogue(&tenant, CatalogueChange::DropAgent("large".to_owned()))).await > 0);
    assert_eq!(schema.number("SELECT count(*) FROM memories"), 0);
    assert_eq!(schema.number("SELECT count(*) FROM words"), 0);
    assert_eq!(schema.number("SELECT count(*) FROM dropped_spaces"), 0);
}

/// Additions and transactions a second of 64 writers, half of them on each of two servers.
async fn written(servers: &[PostgresStore; 2], first: u64, scopes: &[Scope]) -> (f64, f64) {
    const SECONDS: u64 = 10;
    let commits = || servers.iter().map(PostgresStore::commits).sum::<u64>();
    let write = async |end: Instant, first: u64| {
        let writers: Vec<_> = (0_u64..)
            .zip(scopes)
            .map(|(writer, scope)| {
                let (store, scope) = (servers[writer as usize % 2].clone(), scope.clone());
                tokio::spawn(async move {
                    let mut written = 0;
                    while Instant::now() < end {
                        let number = first + writer * 1_000_000 + written;
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
        written
    };
    // The first ones make the spaces, the scopes and the model, and prepare statements.
    write(Instant::now() + Duration::from_secs(3), first).await;
    let before = commits();
    let additions = write(Instant::now() + Duration::from_secs(SECONDS), first + 500_000_000).await;
    ((additions as f64) / SECONDS as f64, (commits() - before) as f64 / SECONDS as f64)
}

/// What shards bring to the writers of one tenant: all users in one shard, as all were before there were shards, against users
/// as they come. A server on the same machine is bound by its processors, one across a network by the time that a statement
/// takes; the proxy delays what it carries by a quarter of a millisecond each way.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "a measurement"]
async fn commits_of_two_servers() {
    let Some(schema) = Schema::new() else { return };
    let proxy = Proxy::to(schema.address()).await;
    let options = || PostgresOptions { schema: schema.name.clone(), partitions: 2, ..PostgresOptions::default() };
    let open = async || good(PostgresStore::open(&schema.through(proxy.address()), options()).await);
    let servers = [open().await, open().await];
    let users = || (0_u64..).map(|number| user(&format!("user-{number}")));
    let together: Vec<Scope> = users().filter(|scope| scope.space() == user("user-0").space()).take(64).collect();
    let apart: Vec<Scope> = users().take(64).collect();
    for (first, delay) in [(0, 0), (2_000_000_000, 250)] {
        proxy.delay(Duration::from_micros(delay));
        let (before, transactions) = written(&servers, first, &together).await;
        let (after, more) = written(&servers, first + 1_000_000_000, &apart).await;
        println!(
            "delay {delay} µs: one space {before:.0} additions in {transactions:.0} transactions a second, shards {after:.0} in \
             {more:.0}: {:.1} times as many additions, {:.1} times as many transactions",
            after / before,
            more / transactions
        );
    }
}
