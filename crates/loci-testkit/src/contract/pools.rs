//! Contract: pools and their members.

use loci_store::{CatalogueChange, LedgerQuery, Pool, PoolFilter, Store};
use loci_types::{ErrorKind, Layer, Scope, Tenant};

use crate::driver::{Driver, good};
use crate::samples::*;

fn pool(slug: &str) -> Pool {
    Pool { pool_id: slug.to_owned(), name: format!("The pool of {slug}"), created_at: at(3) }
}

fn of(slug: &str) -> Scope {
    scope(Layer::Pool, &[slug])
}

fn names(members: &[&str]) -> Vec<String> {
    members.iter().map(|member| (*member).to_owned()).collect()
}

async fn members(store: &dyn Store, tenant: &Tenant, pool: &str) -> Vec<String> {
    let found = good(store.pools(tenant, &PoolFilter::named(pool)).await);
    found.into_iter().flat_map(|record| record.members).map(|member| member.agent_id).collect()
}

async fn slugs_of(store: &dyn Store, tenant: &Tenant, agent: &str) -> Vec<String> {
    good(store.pools(tenant, &PoolFilter::of_member(agent)).await)
        .into_iter()
        .map(|record| record.pool.pool_id)
        .collect()
}

// Coverage: S4.17.
/// A pool is created once and listed by name. Creating it again changes nothing.
pub async fn pools_are_made_once_and_listed(store: &dyn Store) {
    let tenant = Tenant::default();
    assert_eq!(good(store.pools(&tenant, &PoolFilter::default()).await), []);
    assert_eq!(good(store.pools(&tenant, &PoolFilter::named("physics")).await), []);
    assert!(
        good(
            store
                .change_catalogue(
                    &tenant,
                    CatalogueChange::CreatePool { pool: pool("physics"), members: names(&["owl", "ant"]).to_vec() }
                )
                .await
        ) > 0
    );
    assert!(
        good(
            store
                .change_catalogue(
                    &tenant,
                    CatalogueChange::CreatePool { pool: pool("chemistry"), members: [].to_vec() }
                )
                .await
        ) > 0
    );
    let other = Pool { name: "Another".into(), ..pool("physics") };
    assert!(
        good(
            store
                .change_catalogue(
                    &tenant,
                    CatalogueChange::CreatePool { pool: other, members: names(&["spy"]).to_vec() }
                )
                .await
        ) == 0
    );
    let all = good(store.pools(&tenant, &PoolFilter::default()).await).into_iter().map(|record| record.pool);
    assert_eq!(all.collect::<Vec<_>>(), [pool("chemistry"), pool("physics")]);
    let physics = good(store.pools(&tenant, &PoolFilter::named("physics")).await).remove(0);
    assert_eq!(physics.pool, pool("physics"));
    assert_eq!(members(store, &tenant, "physics").await, ["ant", "owl"]);
    assert_eq!(physics.members[0].created_at, at(3));
    assert!(good(store.pools(&tenant, &PoolFilter::shared("physics", "spy")).await).is_empty());
    for (slug, member) in [("../x", "ant"), ("fine", "../x")] {
        let error = store
            .change_catalogue(
                &tenant,
                CatalogueChange::CreatePool { pool: pool(slug), members: names(&[member]).to_vec() },
            )
            .await
            .expect_err("not a slug");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
    assert_eq!(good(store.pools(&tenant, &PoolFilter::named("fine")).await), []);
    store.change_catalogue(&tenant, CatalogueChange::DropPool("../x".to_owned())).await.expect_err("not a slug");
}

// Coverage: S4.17.
/// An agent joins a pool once and can leave it. Joining a pool that does not exist has no effect.
pub async fn members_come_and_go(store: &dyn Store) {
    let tenant = Tenant::default();
    assert!(
        good(
            store
                .change_catalogue(
                    &tenant,
                    CatalogueChange::CreatePool { pool: pool("physics"), members: names(&["owl"]).to_vec() }
                )
                .await
        ) > 0
    );
    assert!(
        good(
            store
                .change_catalogue(
                    &tenant,
                    CatalogueChange::CreatePool { pool: pool("chemistry"), members: names(&["owl"]).to_vec() }
                )
                .await
        ) > 0
    );
    assert_eq!(
        good(
            store
                .change_catalogue(
                    &tenant,
                    CatalogueChange::JoinPool {
                        pool: "physics".to_owned(),
                        agents: names(&["ant", "owl", "ant"]).to_vec(),
                        at: at(5)
                    }
                )
                .await
        ),
        1
    );
    assert_eq!(
        good(
            store
                .change_catalogue(
                    &tenant,
                    CatalogueChange::JoinPool {
                        pool: "nowhere".to_owned(),
                        agents: names(&["ant"]).to_vec(),
                        at: at(5)
                    }
                )
                .await
        ),
        0
    );
    assert_eq!(members(store, &tenant, "physics").await, ["ant", "owl"]);
    assert_eq!(
        good(store.pools(&tenant, &PoolFilter::named("physics")).await)[0]
            .members
            .iter()
            .map(|one| one.created_at)
            .max(),
        Some(at(5))
    );
    assert_eq!(slugs_of(store, &tenant, "owl").await, ["chemistry", "physics"]);
    assert_eq!(slugs_of(store, &tenant, "ant").await, ["physics"]);
    for (pool, agent, expect) in
        [("physics", "ant", true), ("physics", "Ant", false), ("chemistry", "ant", false), ("nowhere", "ant", false)]
    {
        let shared = good(store.pools(&tenant, &PoolFilter::shared(pool, agent)).await);
        assert_eq!(!shared.is_empty(), expect, "{agent} in {pool}");
    }
    assert!(
        good(
            store
                .change_catalogue(
                    &tenant,
                    CatalogueChange::LeavePool { pool: "physics".to_owned(), agent: "ant".to_owned() }
                )
                .await
        ) > 0
    );
    assert!(
        good(
            store
                .change_catalogue(
                    &tenant,
                    CatalogueChange::LeavePool { pool: "physics".to_owned(), agent: "ant".to_owned() }
                )
                .await
        ) == 0
    );
    assert!(
        good(
            store
                .change_catalogue(
                    &tenant,
                    CatalogueChange::LeavePool { pool: "nowhere".to_owned(), agent: "ant".to_owned() }
                )
                .await
        ) == 0
    );
    assert!(good(store.pools(&tenant, &PoolFilter::shared("physics", "ant")).await).is_empty());
    assert_eq!(members(store, &tenant, "physics").await, ["owl"]);
    store
        .change_catalogue(
            &tenant,
            CatalogueChange::JoinPool { pool: "physics".to_owned(), agents: names(&["../x"]).to_vec(), at: at(6) },
        )
        .await
        .expect_err("not a slug");
}

// Coverage: S4.17.
/// Pools of the same name in different tenants are independent.
pub async fn a_pool_is_its_tenants_own(store: &dyn Store) {
    let (ours, theirs) = (Tenant::default(), Tenant::new("other").unwrap_or_default());
    assert!(
        good(
            store
                .change_catalogue(
                    &ours,
                    CatalogueChange::CreatePool { pool: pool("physics"), members: names(&["owl"]).to_vec() }
                )
                .await
        ) > 0
    );
    assert_eq!(good(store.pools(&theirs, &PoolFilter::default()).await), []);
    assert!(
        good(
            store
                .change_catalogue(
                    &theirs,
                    CatalogueChange::CreatePool { pool: pool("physics"), members: names(&["spy"]).to_vec() }
                )
                .await
        ) > 0
    );
    assert_eq!(members(store, &ours, "physics").await, ["owl"]);
    assert!(good(store.pools(&ours, &PoolFilter::shared("physics", "spy")).await).is_empty());
    assert!(good(store.pools(&theirs, &PoolFilter::shared("physics", "owl")).await).is_empty());
    assert_eq!(slugs_of(store, &theirs, "owl").await, Vec::<String>::new());
    assert!(good(store.change_catalogue(&theirs, CatalogueChange::DropPool("physics".to_owned())).await) > 0);
    assert_eq!(members(store, &ours, "physics").await, ["owl"]);
}

// Coverage: S4.17.
/// Dropping a pool removes its space with all data and its members. Other pools stay, and a new pool of the same name
/// starts empty.
pub async fn dropping_a_pool_removes_everything(store: &dyn Store) {
    let (driver, tenant) = (Driver::on(store), Tenant::default());
    for slug in ["physics", "chemistry"] {
        assert!(
            good(
                store
                    .change_catalogue(
                        &tenant,
                        CatalogueChange::CreatePool { pool: pool(slug), members: names(&["owl"]).to_vec() }
                    )
                    .await
            ) > 0
        );
    }
    let gone = driver.remember(&of("physics"), "lantern of physics").await;
    let other = driver.remember(&of("chemistry"), "lantern of chemistry").await;
    let own = driver.remember(&agent("owl"), "lantern of the owl").await;
    driver.sees(&visible(&[of("physics"), agent("owl")]), "lantern", &[gone, own]).await;
    assert!(good(store.change_catalogue(&tenant, CatalogueChange::DropPool("physics".to_owned())).await) > 0);
    assert!(good(store.change_catalogue(&tenant, CatalogueChange::DropPool("physics".to_owned())).await) == 0);
    driver.sees(&whole(), "lantern", &[other, own]).await;
    driver.sees(&visible(&[of("physics")]), "lantern", &[]).await;
    assert_eq!(driver.get(gone).await, None);
    assert_eq!(good(store.ledger(&whole(), &LedgerQuery::Memory(gone), 9).await).entries, []);
    assert_eq!(slugs_of(store, &tenant, "owl").await, ["chemistry"]);
    assert_eq!(members(store, &tenant, "physics").await, Vec::<String>::new());
    assert!(
        good(
            store
                .change_catalogue(&tenant, CatalogueChange::CreatePool { pool: pool("physics"), members: [].to_vec() })
                .await
        ) > 0
    );
    assert!(good(store.pools(&tenant, &PoolFilter::shared("physics", "owl")).await).is_empty());
    let fresh = driver.remember(&of("physics"), "lantern, anew").await;
    driver.sees(&visible(&[of("physics")]), "lantern", &[fresh]).await;
}

/// Dropping an agent removes it from all pools. A new agent of the same name is not a member.
pub async fn an_agent_that_is_dropped_is_in_no_pool(store: &dyn Store) {
    let (driver, tenant) = (Driver::on(store), Tenant::default());
    driver.remember(&agent("owl"), "lantern").await;
    assert!(
        good(
            store
                .change_catalogue(
                    &tenant,
                    CatalogueChange::CreatePool { pool: pool("physics"), members: names(&["ant", "owl"]).to_vec() }
                )
                .await
        ) > 0
    );
    assert!(good(store.change_catalogue(&tenant, CatalogueChange::DropAgent("owl".to_owned())).await) > 0);
    assert_eq!(members(store, &tenant, "physics").await, ["ant"]);
    driver.remember(&agent("owl"), "lantern, anew").await;
    assert!(good(store.pools(&tenant, &PoolFilter::shared("physics", "owl")).await).is_empty());
}

/// Writing to the space of an unknown pool, as an import does, registers the pool without members.
pub async fn a_pool_that_is_written_to_is_known_and_has_no_members(store: &dyn Store) {
    let (driver, tenant) = (Driver::on(store), Tenant::default());
    driver.remember(&of("physics"), "lantern").await;
    let slugs: Vec<_> = good(store.pools(&tenant, &PoolFilter::default()).await)
        .into_iter()
        .map(|record| record.pool.pool_id)
        .collect();
    assert_eq!(slugs, ["physics"]);
    assert_eq!(members(store, &tenant, "physics").await, Vec::<String>::new());
    assert_eq!(
        good(
            store
                .change_catalogue(
                    &tenant,
                    CatalogueChange::JoinPool {
                        pool: "physics".to_owned(),
                        agents: names(&["owl"]).to_vec(),
                        at: at(9)
                    }
                )
                .await
        ),
        1
    );
}
