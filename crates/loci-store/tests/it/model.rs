//! The store equals its in-memory model and never returns what is not visible.

use loci_store::prelude::*;
use loci_store::{Page, SqliteOptions, SqliteStore};
use loci_testkit::driver::good;
use loci_testkit::samples::*;
use loci_testkit::{contract, model};
use loci_types::{AccessPolicy, Layer, Memory, Reach, Scope, Tenant, Visible};
use proptest::prelude::*;

fn run(work: impl AsyncFnOnce(SqliteStore)) {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let store = SqliteStore::open(folder.path(), SqliteOptions { writers: 1, ..Default::default() }).unwrap();
    runtime.block_on(work(store));
}

fn run_shared(ops: &[model::Op]) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        let Some((store, _schema)) = crate::postgres::fresh().await else { return };
        model::agrees(&store, ops).await;
        contract::sound(&store).await;
    });
}

fn any_scope() -> impl Strategy<Value = Scope> {
    (0..6_u8, 0..3_u8).prop_map(|(layer, name)| {
        let name = ["anna", "ben", "eva"][usize::from(name)];
        match layer {
            0 => scope(Layer::Agent, &["bot", name]),
            1 => scope(Layer::Agent, &[name, "anna"]),
            2 => scope(Layer::Session, &[name, "s"]),
            3 => scope(Layer::Team, &[name]),
            4 => scope(Layer::Pool, &[name]),
            _ => user(name),
        }
    })
}

fn any_visible() -> impl Strategy<Value = Visible> {
    let viewer = prop::option::of(prop::sample::select(vec!["anna", "ben", "x"]));
    let categories = prop::option::of(prop::collection::vec(prop::sample::select(vec!["a", "b"]), 0..3));
    let reach = prop_oneof![
        4 => prop::collection::vec(any_scope(), 0..6).prop_map(Reach::Scopes),
        1 => Just(Reach::Whole),
    ];
    (reach, categories, viewer)
        .prop_map(|(reach, categories, viewer)| grant(Tenant::default(), reach, categories.as_deref(), viewer))
}

fn any_memory() -> impl Strategy<Value = Memory> {
    let category = prop::option::of(prop::sample::select(vec!["a", "b", "c"]));
    let actor = prop::option::of(prop::sample::select(vec!["anna", "ben"]));
    (any_scope(), category, actor, prop::sample::select(AccessPolicy::ALL)).prop_map(
        |(scope, category, actor, access_policy)| Memory {
            category: category.map(str::to_owned),
            actor_id: actor.map(str::to_owned),
            access_policy,
            ..memory(0, &scope, "")
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_store_equals_its_model(ops in model::sequences(30)) {
        run(async |store| {
            model::agrees(&store, &ops).await;
            contract::sound(&store).await;
        });
    }

    #[test]
    fn chains_neither_fork_nor_close_in_a_circle(ops in model::chain_sequences(40)) {
        run(async |store| {
            model::agrees(&store, &ops).await;
            contract::sound(&store).await;
        });
    }
}

proptest! {
    // Few cases: each has a schema of its own in the server.
    #![proptest_config(ProptestConfig { cases: 8, max_shrink_iters: 32, ..ProptestConfig::default() })]

    #[test]
    fn a_shared_store_equals_its_model(ops in model::sequences(30)) {
        run_shared(&ops);
    }

    #[test]
    fn chains_neither_fork_nor_close_in_a_circle_on_a_server(ops in model::chain_sequences(40)) {
        run_shared(&ops);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn what_is_recalled_is_visible(
        memories in prop::collection::vec(any_memory(), 1..40),
        visibles in prop::collection::vec(any_visible(), 1..6),
    ) {
        run(async |store| {
            let mut all = Vec::new();
            for (number, memory) in (1..).zip(memories) {
                let content = format!("lantern {number}");
                let memory = Memory { id: id(number), content_hash: hash(&content), content, ..memory };
                let space = memory.scope().unwrap().space();
                good(store.apply(batch(&space, vec![add(memory.clone())])).await);
                all.push(memory);
            }
            for visible in visibles {
                let mut expect: Vec<_> = all.iter().filter(|m| visible.admits(m)).map(|m| m.id).collect();
                expect.reverse();
                let listing = good(store.scan(&visible, &now(), Page { after: None, limit: 100 }).await);
                let scan: Vec<_> = listing.memories.iter().map(|memory| memory.id).collect();
                assert_eq!(scan, expect, "scan");
                for hits in [
                    good(store.lexical(&visible, "lantern", &now(), 100).await),
                    good(store.nearest(&visible, &vector("lantern"), &now(), 100).await),
                ] {
                    let mut found: Vec<_> = hits.iter().map(|hit| hit.id).collect();
                    found.sort_by_key(|id| std::cmp::Reverse(*id));
                    assert_eq!(found, expect);
                }
            }
        });
    }
}
