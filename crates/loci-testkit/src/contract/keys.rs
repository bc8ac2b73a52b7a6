//! Contract: API keys are stored, found and revoked within their tenant.

use loci_store::{CatalogueChange, KeyQuery, Store};
use loci_types::{Bounds, Grant, Key, Role, Tenant};

use crate::driver::good;
use crate::samples::*;

fn key(id: &str, tenant: &Tenant) -> Key {
    let users = ["ann".to_owned()].into();
    let bounds = Bounds { users, ..Bounds::default() };
    Key {
        id: id.to_owned(),
        name: format!("the key {id}"),
        hash: [7; 32],
        grant: Grant {
            tenant: tenant.clone(),
            role: Role::Writer,
            bounds,
            categories: Some(["tasks".into()].into()),
            rights: [loci_types::Right::Consent].into(),
        },
        created_at: at(3),
        expires_at: Some(at(9)),
        revoked_at: None,
    }
}

/// A key is read back unchanged, is found by its id alone, and is listed only within its tenant.
pub async fn keys_are_kept_within_their_tenant(store: &dyn Store) {
    let (ours, theirs) = (Tenant::default(), Tenant::new("other").unwrap_or_default());
    assert_eq!(good(store.keys(KeyQuery::Any).await), []);
    assert_eq!(good(store.tenants().await), []);
    assert_eq!(good(store.keys(KeyQuery::Id("a")).await), []);
    for one in [key("a", &ours), key("b", &ours), key("c", &theirs)] {
        good(store.change_catalogue(&one.grant.tenant.clone(), CatalogueChange::PutKey(one)).await);
    }
    assert!(!good(store.keys(KeyQuery::Any).await).is_empty());
    assert_eq!(good(store.tenants().await), [ours.clone(), theirs.clone()]);
    assert_eq!(good(store.keys(KeyQuery::Id("c")).await), [key("c", &theirs)]);
    assert_eq!(good(store.keys(KeyQuery::Tenant(&ours)).await), [key("a", &ours), key("b", &ours)]);
    store
        .change_catalogue(&key("a", &theirs).grant.tenant.clone(), CatalogueChange::PutKey(key("a", &theirs)))
        .await
        .expect_err("an id is taken once");
    assert_eq!(good(store.keys(KeyQuery::Id("a")).await), [key("a", &ours)]);
}

/// A second revocation can only move the time to an earlier instant. Another tenant cannot revoke a key.
pub async fn a_revoked_key_stays_revoked(store: &dyn Store) {
    let (ours, theirs) = (Tenant::default(), Tenant::new("other").unwrap_or_default());
    good(store.change_catalogue(&key("a", &ours).grant.tenant.clone(), CatalogueChange::PutKey(key("a", &ours))).await);
    assert!(
        good(store.change_catalogue(&theirs, CatalogueChange::RevokeKey { id: "a".to_owned(), at: at(4) }).await) == 0
    );
    assert!(
        good(store.change_catalogue(&ours, CatalogueChange::RevokeKey { id: "z".to_owned(), at: at(4) }).await) == 0
    );
    assert_eq!(good(store.keys(KeyQuery::Id("a")).await)[0].revoked_at, None);
    for (asked, holds) in [(at(6), at(6)), (at(5), at(5)), (at(8), at(5))] {
        assert!(
            good(store.change_catalogue(&ours, CatalogueChange::RevokeKey { id: "a".to_owned(), at: asked }).await) > 0
        );
        assert_eq!(good(store.keys(KeyQuery::Id("a")).await)[0].revoked_at, Some(holds));
    }
    assert!(!good(store.keys(KeyQuery::Any).await).is_empty(), "taking the last key away opens nothing");
}
