//! Contract: user shards.

use std::collections::BTreeSet;

use loci_store::{ExportCursor, LedgerQuery, Measure, Store};
use loci_types::{Action, Layer, MemoryId, Scope, Shard, Space, Tenant};

use crate::driver::{Driver, good};
use crate::samples::*;

/// Two users in different shards, a session of the first, and a project.
fn scopes() -> [Scope; 4] {
    [user("anna"), user("ben"), scope(Layer::Session, &["anna", "monday"]), scope(Layer::Project, &["atlas"])]
}

async fn fill(driver: &Driver<'_>) -> Vec<MemoryId> {
    let mut ids = Vec::new();
    for scope in scopes() {
        ids.push(driver.remember(&scope, &format!("lantern of {scope}")).await);
    }
    ids
}

// Coverage: SPEC.1.
/// A user and their sessions are in one space, users of other shards in others. A space exists after its first write
/// and has a ledger of its own. A caller with access to the whole tenant sees all of them.
pub async fn each_user_is_stored_in_their_shard(store: &dyn Store) {
    let (driver, [anna, ben, monday, atlas]) = (Driver::on(store), scopes());
    assert_eq!(good(store.spaces(&Tenant::default()).await), []);
    driver.remember(&anna, "lantern").await;
    let first = Space::Users(Shard::of("anna"));
    let made = good(store.spaces(&Tenant::default()).await);
    assert_eq!(made, std::slice::from_ref(&first), "no shard before it is needed");
    let ids = fill(&driver).await;
    let spaces = [Space::Shared, Space::Users(Shard::of("ben")), first.clone()];
    assert_eq!(good(store.spaces(&Tenant::default()).await), spaces);
    let ends = good(store.ledger_heads(&whole()).await);
    assert_eq!(ends.into_iter().collect::<Vec<_>>(), spaces.into_iter().zip([1, 1, 3]).collect::<Vec<_>>());
    for (scope, id) in [&anna, &ben, &monday, &atlas].into_iter().zip(&ids) {
        let entries = good(store.ledger(&whole(), &LedgerQuery::Memory(*id), 9).await).entries;
        assert_eq!(entries.iter().map(|entry| entry.space.clone()).collect::<Vec<_>>(), [scope.space().name()]);
        assert!(driver.count(&visible(std::slice::from_ref(scope))).await > 0);
    }
    assert_eq!(driver.count(&whole()).await, 5);
    // Data of a user is refused in any other space.
    for space in [&Space::Shared, &ben.space()] {
        let stray = Action::Add(Box::new(addition(driver.sample(&anna, "stray"))));
        driver.act(space, stray).await.expect_err("not the shard of anna");
    }
    let stats = good(store.stats(&whole()).await);
    assert_eq!((stats.memories, stats.spaces), (5, 3));
}

// Coverage: SPEC.1.
/// Every search returns the memories of two spaces once, in one order.
pub async fn a_user_and_a_project_are_found_together(store: &dyn Store) {
    let (driver, [anna, ben, monday, atlas]) = (Driver::on(store), scopes());
    let ids = fill(&driver).await;
    driver.sees(&visible(&[anna.clone(), monday.clone(), atlas.clone()]), "lantern", &[ids[0], ids[2], ids[3]]).await;
    driver.sees(&whole(), "lantern", &ids).await;
    let both = visible(&[anna.clone(), atlas.clone()]);
    assert_eq!(driver.top_by(&both, &now(), Measure::Newest).await, [ids[3], ids[0]]);
    let counted = good(store.frequencies(&both, &["lantern".to_owned()]).await);
    assert_eq!((counted.memories, counted.of), (2, vec![2]));
    // The best match of each space comes first, however many memories the space has.
    let exact = driver.remember(&anna, "copper kettle").await;
    for number in 0..4 {
        driver.remember(&atlas, &format!("a kettle {number} that somebody has left behind in the hall")).await;
    }
    let theirs = driver.remember(&atlas, "copper kettle on the stove").await;
    let found = driver.words(&both, "copper kettle", &now()).await;
    assert_eq!(BTreeSet::from([found[0], found[1]]), BTreeSet::from([exact, theirs]));
    assert_eq!(driver.near(&both, "copper kettle", &now()).await[0], exact);
    assert_eq!(driver.words(&visible(&[ben]), "kettle", &now()).await, []);
}

// Coverage: SPEC.1.
/// The data of a user is counted in, and erased from, every space that has some.
pub async fn a_user_is_erased_from_every_space(store: &dyn Store) {
    let (driver, [anna, ben, monday, atlas]) = (Driver::on(store), scopes());
    let ids = fill(&driver).await;
    let said = loci_types::Memory { actor_id: Some("anna".into()), ..driver.sample(&atlas, "lantern that anna lit") };
    let said = driver.keep(said).await;
    let known = driver.remember(&agent("bot"), "lantern that the agent of anna knows of").await;
    let left = good(store.user_data(&whole(), "anna").await);
    let left: Vec<_> =
        left.into_iter().filter(|(_, left)| !left.is_empty()).map(|(space, of)| (space, of.memories)).collect();
    assert_eq!(left, [(agent("bot").space(), 1), (Space::Shared, 1), (anna.space(), 2)]);
    for (space, _) in left {
        driver.must(&space, Action::EraseUser { user: "anna".into() }).await;
    }
    assert!(good(store.user_data(&whole(), "anna").await).values().all(loci_store::UserData::is_empty));
    for id in [ids[0], ids[2], said, known] {
        assert_eq!(driver.get(id).await, None);
    }
    driver.sees(&whole(), "lantern", &[ids[1], ids[3]]).await;
    assert_eq!(driver.count(&visible(&[anna, monday])).await, 0);
    assert_eq!(driver.count(&visible(&[ben])).await, 1);
}

/// Exporting all spaces of a tenant returns each memory once.
pub async fn a_tenant_is_carried_shard_by_shard(store: &dyn Store) {
    let (driver, [anna, ..]) = (Driver::on(store), scopes());
    let mut ids = fill(&driver).await;
    let mut carried = Vec::new();
    for space in good(store.spaces(&Tenant::default()).await) {
        let page = good(store.export_page(&whole(), &everything(), &space, &ExportCursor::Memories(0), 99).await);
        for exported in page.memories {
            assert_eq!(exported.memory.scope().map(|scope| scope.space()).ok(), Some(space.clone()));
            carried.push(exported.memory.id);
        }
    }
    carried.sort();
    ids.sort();
    assert_eq!(carried, ids);
    // A caller who may not see a shard exports nothing from it.
    let other = Space::Users(Shard::of("ben"));
    let page = good(store.export_page(&visible(&[anna]), &everything(), &other, &ExportCursor::Memories(0), 99).await);
    assert_eq!(page.memories, []);
}
