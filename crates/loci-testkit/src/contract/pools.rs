//! Do pools come and go cleanly, and is only in them who joined?

use loci_store::{Pool, Store};
use loci_types::{ErrorKind, Layer, Scope, Tenant};

use crate::hand::{Hand, good};
use crate::samples::*;

fn pool(slug: &str) -> Pool {
    Pool { slug: slug.to_owned(), name: format!("The pool of {slug}"), created_at: at(3) }
}

fn of(slug: &str) -> Scope {
    scope(Layer::Pool, &[slug])
}

fn names(members: &[&str]) -> Vec<String> {
    members.iter().map(|member| (*member).to_owned()).collect()
}

async fn members(store: &dyn Store, tenant: &Tenant, pool: &str) -> Vec<String> {
    good(store.members(tenant, pool).await).into_iter().map(|member| member.agent_id).collect()
}

async fn slugs_of(store: &dyn Store, tenant: &Tenant, agent: &str) -> Vec<String> {
    good(store.pools_of(tenant, agent).await).into_iter().map(|pool| pool.slug).collect()
}

/// Made once, listed by name; making one of the same name again changes nothing of it.
pub async fn pools_are_made_once_and_listed(store: &dyn Store) {
    let tenant = Tenant::default();
    assert_eq!(good(store.pools(&tenant).await), []);
    assert_eq!(good(store.pool(&tenant, "physics").await), None);
    assert!(good(store.create_pool(&tenant, pool("physics"), &names(&["owl", "ant"])).await));
    assert!(good(store.create_pool(&tenant, pool("chemistry"), &[]).await));
    let other = Pool { name: "Another".into(), ..pool("physics") };
    assert!(!good(store.create_pool(&tenant, other, &names(&["spy"])).await));
    assert_eq!(good(store.pools(&tenant).await), [pool("chemistry"), pool("physics")]);
    assert_eq!(good(store.pool(&tenant, "physics").await), Some(pool("physics")));
    assert_eq!(members(store, &tenant, "physics").await, ["ant", "owl"]);
    assert_eq!(good(store.members(&tenant, "physics").await)[0].joined_at, at(3));
    assert!(!good(store.in_pool(&tenant, "physics", "spy").await));
    for (slug, member) in [("../x", "ant"), ("fine", "../x")] {
        let error = store.create_pool(&tenant, pool(slug), &names(&[member])).await.expect_err("not a slug");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
    assert_eq!(good(store.pool(&tenant, "fine").await), None);
    store.drop_pool(&tenant, "../x").await.expect_err("not a slug");
}

/// Who joins is in, once; who leaves is out; nobody joins what is not there.
pub async fn members_come_and_go(store: &dyn Store) {
    let tenant = Tenant::default();
    assert!(good(store.create_pool(&tenant, pool("physics"), &names(&["owl"])).await));
    assert!(good(store.create_pool(&tenant, pool("chemistry"), &names(&["owl"])).await));
    assert_eq!(good(store.join_pool(&tenant, "physics", &names(&["ant", "owl", "ant"]), at(5)).await), Some(1));
    assert_eq!(good(store.join_pool(&tenant, "nowhere", &names(&["ant"]), at(5)).await), None);
    assert_eq!(members(store, &tenant, "physics").await, ["ant", "owl"]);
    assert_eq!(good(store.members(&tenant, "physics").await).iter().map(|one| one.joined_at).max(), Some(at(5)));
    assert_eq!(slugs_of(store, &tenant, "owl").await, ["chemistry", "physics"]);
    assert_eq!(slugs_of(store, &tenant, "ant").await, ["physics"]);
    for (pool, agent, expect) in
        [("physics", "ant", true), ("physics", "Ant", false), ("chemistry", "ant", false), ("nowhere", "ant", false)]
    {
        assert_eq!(good(store.in_pool(&tenant, pool, agent).await), expect, "{agent} in {pool}");
    }
    assert!(good(store.leave_pool(&tenant, "physics", "ant").await));
    assert!(!good(store.leave_pool(&tenant, "physics", "ant").await));
    assert!(!good(store.leave_pool(&tenant, "nowhere", "ant").await));
    assert!(!good(store.in_pool(&tenant, "physics", "ant").await));
    assert_eq!(members(store, &tenant, "physics").await, ["owl"]);
    store.join_pool(&tenant, "physics", &names(&["../x"]), at(6)).await.expect_err("not a slug");
}

/// The same name in another tenant is another pool.
pub async fn a_pool_is_its_tenants_own(store: &dyn Store) {
    let (ours, theirs) = (Tenant::default(), Tenant::new("other").unwrap_or_default());
    assert!(good(store.create_pool(&ours, pool("physics"), &names(&["owl"])).await));
    assert_eq!(good(store.pools(&theirs).await), []);
    assert!(good(store.create_pool(&theirs, pool("physics"), &names(&["spy"])).await));
    assert_eq!(members(store, &ours, "physics").await, ["owl"]);
    assert!(!good(store.in_pool(&ours, "physics", "spy").await));
    assert!(!good(store.in_pool(&theirs, "physics", "owl").await));
    assert_eq!(slugs_of(store, &theirs, "owl").await, Vec::<String>::new());
    assert!(good(store.drop_pool(&theirs, "physics").await));
    assert_eq!(members(store, &ours, "physics").await, ["owl"]);
}

/// Its space goes with all that is in it and with its members, others stay, and it can begin anew without them.
pub async fn dropping_a_pool_removes_everything(store: &dyn Store) {
    let (hand, tenant) = (Hand::on(store), Tenant::default());
    for slug in ["physics", "chemistry"] {
        assert!(good(store.create_pool(&tenant, pool(slug), &names(&["owl"])).await));
    }
    let gone = hand.remember(&of("physics"), "lantern of physics").await;
    let other = hand.remember(&of("chemistry"), "lantern of chemistry").await;
    let own = hand.remember(&agent("owl"), "lantern of the owl").await;
    hand.sees(&visible(&[of("physics"), agent("owl")]), "lantern", &[gone, own]).await;
    assert!(good(store.drop_pool(&tenant, "physics").await));
    assert!(!good(store.drop_pool(&tenant, "physics").await));
    hand.sees(&whole(), "lantern", &[other, own]).await;
    hand.sees(&visible(&[of("physics")]), "lantern", &[]).await;
    assert_eq!(hand.get(gone).await, None);
    assert_eq!(good(store.history(&whole(), gone, 9).await), []);
    assert_eq!(slugs_of(store, &tenant, "owl").await, ["chemistry"]);
    assert_eq!(members(store, &tenant, "physics").await, Vec::<String>::new());
    assert!(good(store.create_pool(&tenant, pool("physics"), &[]).await));
    assert!(!good(store.in_pool(&tenant, "physics", "owl").await));
    let fresh = hand.remember(&of("physics"), "lantern, anew").await;
    hand.sees(&visible(&[of("physics")]), "lantern", &[fresh]).await;
}

/// Whoever takes its name later does not take its place.
pub async fn an_agent_that_is_dropped_is_in_no_pool(store: &dyn Store) {
    let (hand, tenant) = (Hand::on(store), Tenant::default());
    hand.remember(&agent("owl"), "lantern").await;
    assert!(good(store.create_pool(&tenant, pool("physics"), &names(&["ant", "owl"])).await));
    assert!(good(store.drop_agent(&tenant, "owl").await));
    assert_eq!(members(store, &tenant, "physics").await, ["ant"]);
    hand.remember(&agent("owl"), "lantern, anew").await;
    assert!(!good(store.in_pool(&tenant, "physics", "owl").await));
}

/// An import may bring a pool in before anyone made it: it is listed, and nobody is in it.
pub async fn a_pool_that_is_written_to_is_known_and_has_no_members(store: &dyn Store) {
    let (hand, tenant) = (Hand::on(store), Tenant::default());
    hand.remember(&of("physics"), "lantern").await;
    let slugs: Vec<_> = good(store.pools(&tenant).await).into_iter().map(|pool| pool.slug).collect();
    assert_eq!(slugs, ["physics"]);
    assert_eq!(members(store, &tenant, "physics").await, Vec::<String>::new());
    assert_eq!(good(store.join_pool(&tenant, "physics", &names(&["owl"]), at(9)).await), Some(1));
}
