//! The number of round trips to PostgreSQL, and what a connection leaves on the server.

use std::time::Duration;

use loci_store::prelude::*;
use loci_store::{PostgresOptions, PostgresStore};
use loci_testkit::driver::good;
use loci_testkit::proxy::Proxy;
use loci_testkit::samples::*;
use loci_testkit::servers::Schema;
use loci_types::{Action, Addition, Bookkeeping, Layer, Tenant};

use crate::postgres::fresh;

#[tokio::test(flavor = "multi_thread")]
async fn one_addition_waits_six_times_at_most() {
    let Some((store, _schema)) = fresh().await else { return };
    let anna = user("anna");
    let mut waited = 0;
    // The first ones make the space, the scope and the model, and prepare what later ones use.
    for number in 1..=8 {
        let memory = memory(number, &anna, &format!("the lantern number {number} hangs by the door"));
        let before = store.round_trips();
        good(store.apply(batch(&anna.space(), vec![add(memory)])).await);
        waited = store.round_trips() - before;
    }
    assert!(waited <= 6, "{waited} round trips");
    println!("one addition: {waited} round trips");
}

/// The numbers of all shards of a tenant are asked for at once.
#[tokio::test(flavor = "multi_thread")]
async fn many_users_do_not_ask_for_their_spaces_one_by_one() {
    let Some((store, schema)) = fresh().await else { return };
    let users: Vec<_> = (0..8).map(|number| user(&format!("user-{number}"))).collect();
    for (number, scope) in (1..).zip(&users) {
        good(store.apply(batch(&scope.space(), vec![add(memory(number, scope, "lantern"))])).await);
    }
    let options = PostgresOptions { schema: schema.name.clone(), ..PostgresOptions::default() };
    let other = good(PostgresStore::open(&schema.url, options).await);
    for scope in &users {
        good(other.lexical(&visible(std::slice::from_ref(scope)), "lantern", &now(), 9).await);
    }
    // One for the numbers, one for each user, and two to prepare their statements.
    assert!(other.round_trips() <= 11, "{} round trips", other.round_trips());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lease_whose_connection_failed_can_be_taken_again() {
    let Some(schema) = Schema::new() else { return };
    let proxy = Proxy::to(schema.address()).await;
    let options = PostgresOptions {
        schema: schema.name.clone(),
        partitions: 2,
        timeout: Duration::from_millis(500),
        ..PostgresOptions::default()
    };
    let store = good(PostgresStore::open(&schema.through(proxy.address()), options).await);
    let (tenant, lease) = (Tenant::default(), Duration::from_secs(60));
    assert!(good(store.lease(&tenant, "maintenance", "one", at(0), lease).await));
    // The server falls silent: the connection stays open, and what is asked on it is not answered in time.
    proxy.delay(Duration::from_secs(3_600));
    assert!(store.lease(&tenant, "maintenance", "one", at(1), lease).await.is_err());
    proxy.heal();
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    // Another holder gets it as soon as the server has noticed that the connection is gone.
    while !good(store.lease(&tenant, "maintenance", "two", at(2), lease).await) {
        assert!(std::time::Instant::now() < deadline, "the lock of the failed connection is still held");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_do_not_multiply_with_what_is_asked() {
    let Some((store, schema)) = fresh().await else { return };
    // Projects, because all of them are in one space.
    let project = |number: usize| scope(Layer::Project, &[&format!("project-{number}")]);
    let first = project(0);
    good(store.apply(batch(&first.space(), vec![add(memory(1, &first, "lantern"))])).await);
    for number in 0..200_usize {
        let scopes: Vec<_> = (0..=number).map(project).collect();
        let mut filter = now();
        filter.tags = (0..number % 7).map(|tag| format!("tag-{tag}")).collect();
        filter.users = (0..number % 11).map(|user| format!("user-{user}")).collect();
        good(store.lexical(&visible(&scopes), "lantern", &filter, 10).await);
        good(store.notes(&visible(&scopes), &first.space(), &["one".to_owned()], at(0)).await);
    }
    // Other sessions' statements cannot be seen from outside, so the store is asked how often it waited to prepare one: a
    // statement that is known is one round trip.
    let before = store.round_trips();
    for number in 200..210_usize {
        let scopes: Vec<_> = (0..=number).map(project).collect();
        good(store.lexical(&visible(&scopes), "lantern", &now(), 10).await);
    }
    assert!(store.round_trips() - before <= 12, "{} round trips", store.round_trips() - before);
    drop(schema);
}

/// A connection keeps a bounded number of statements on the server, whatever it is asked. Only a session sees its own, so a
/// trigger counts them in the connection that writes.
#[tokio::test(flavor = "multi_thread")]
async fn a_connection_forgets_statements() {
    let Some((store, schema)) = fresh().await else { return };
    let anna = user("anna");
    good(store.apply(batch(&anna.space(), vec![add(memory(1, &anna, "lantern"))])).await);
    let name = &schema.name;
    schema.ask(&format!(
        "CREATE TABLE {name}.seen (pid integer, statements bigint); \
         CREATE FUNCTION {name}.see() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$ BEGIN \
         INSERT INTO {name}.seen SELECT pg_backend_pid(), count(*) FROM pg_prepared_statements; RETURN NEW; END $$; \
         CREATE TRIGGER see BEFORE INSERT ON {name}.memories FOR EACH ROW EXECUTE FUNCTION {name}.see()"
    ));
    // Statements with different texts, one after the other on the same connection.
    for number in 0..512_usize {
        let mut filter = now();
        filter.metadata = (0..number / 8).map(|field| (format!("field-{field}"), field.into())).collect();
        filter.pinned = (number & 1 > 0).then_some(true);
        filter.importance_min = (number & 2 > 0).then_some(0.5);
        filter.confidence_min = (number & 4 > 0).then_some(0.5);
        good(store.lexical(&visible(std::slice::from_ref(&anna)), "lantern", &filter, 10).await);
        if number % 16 == 15 {
            let added = memory(100 + number as u64, &anna, &format!("the lantern number {number}"));
            good(store.apply(batch(&anna.space(), vec![add(added)])).await);
        }
    }
    let most = schema.number("SELECT max(statements) FROM seen");
    println!("at most {most} prepared statements on a connection");
    assert!(schema.number("SELECT count(DISTINCT pid) FROM seen") == 1, "several connections were used");
    assert!(most > 200, "{most}: too few different texts to prove anything");
    assert!(most <= 440, "{most} statements are prepared on one connection");
}

/// A turn is a memory, the edge from the turn before it, and its session.
#[tokio::test(flavor = "multi_thread")]
async fn one_turn_waits_six_times_at_most() {
    let Some((store, _schema)) = fresh().await else { return };
    let anna = user("anna");
    let (mut waited, mut before) = (0, None);
    for number in 1..=8 {
        let mut turn = memory(number, &anna, &format!("is the lantern number {number} by the door?"));
        turn.actor_id = Some(format!("speaker {}", number % 2));
        let unless = Some(hash(&turn.content));
        let addition = Addition { unless, follows: before.replace(turn.id), ..Addition::new(turn) };
        let attend = Action::Bookkeeping(Bookkeeping::Attend {
            scope: anna.clone(),
            session: "s".to_owned(),
            thread: "t".to_owned(),
        });
        let changes = vec![change(at(1), Action::Add(Box::new(addition))), change(at(1), attend)];
        let trips = store.round_trips();
        good(store.apply(batch(&anna.space(), changes)).await);
        waited = store.round_trips() - trips;
    }
    println!("one turn: {waited} round trips");
    assert!(waited <= 6, "{waited} round trips");
}

/// Questions compute on the threads of the caller's runtime. A write waits for the server several times and must not wait for
/// them each time.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_write_does_not_wait_for_a_busy_runtime() {
    let Some((store, _schema)) = fresh().await else { return };
    let anna = user("anna");
    let write = async |number| {
        let memory = memory(number, &anna, &format!("lantern {number}"));
        good(store.apply(batch(&anna.space(), vec![add(memory)])).await);
    };
    write(1).await;
    let busy = tokio::spawn(async {
        loop {
            std::thread::sleep(Duration::from_millis(200));
            tokio::task::yield_now().await;
        }
    });
    let begun = std::time::Instant::now();
    for number in 2..7 {
        write(number).await;
    }
    busy.abort();
    assert!(begun.elapsed() < Duration::from_secs(3), "five writes took {:?}", begun.elapsed());
}
