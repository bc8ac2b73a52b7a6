//! Contract: a lease has one holder at a time.

use std::time::Duration;

use loci_store::Store;
use loci_types::Tenant;

use crate::driver::good;
use crate::samples::*;

async fn take(store: &dyn Store, tenant: &Tenant, name: &str, holder: &str, seconds: i64) -> bool {
    good(store.lease(tenant, name, holder, at(seconds), Duration::from_secs(60)).await)
}

// Coverage: S2.22.
/// The first holder has the lease until it ends, and may renew it.
pub async fn one_holder_at_a_time(store: &dyn Store) {
    let here = Tenant::default();
    for (name, holder, seconds, expect) in [
        ("night", "one", 0, true),
        ("night", "two", 0, false),
        ("night", "two", 59, false),
        ("other work", "two", 0, true),
        ("night", "one", 30, true),
        ("night", "two", 60, false),
        ("night", "two", 89, false),
        ("night", "two", 90, true),
        ("night", "one", 91, false),
        ("night", "one", 150, true),
    ] {
        assert_eq!(take(store, &here, name, holder, seconds).await, expect, "{holder} takes {name} at {seconds}");
    }
}

/// A released lease is free at once. Only the holder can release it.
pub async fn a_lease_is_given_back_by_its_holder(store: &dyn Store) {
    let here = Tenant::default();
    assert!(take(store, &here, "night", "one", 0).await);
    good(store.lease(&here, "night", "two", at(0), Duration::ZERO).await);
    good(store.lease(&here, "other work", "one", at(0), Duration::ZERO).await);
    assert!(!take(store, &here, "night", "two", 1).await);
    good(store.lease(&here, "night", "one", at(0), Duration::ZERO).await);
    assert!(take(store, &here, "night", "two", 1).await);
    good(store.lease(&here, "night", "one", at(0), Duration::ZERO).await);
    assert!(!take(store, &here, "night", "one", 2).await);
}

/// Leases of the same name in different tenants are independent.
pub async fn leases_keep_to_their_tenant(store: &dyn Store) {
    let (here, there) = (Tenant::default(), Tenant::new("other").unwrap_or_default());
    assert!(take(store, &here, "night", "one", 0).await);
    assert!(take(store, &there, "night", "two", 0).await);
    good(store.lease(&there, "night", "one", at(0), Duration::ZERO).await);
    good(store.lease(&there, "night", "two", at(0), Duration::ZERO).await);
    assert!(!take(store, &here, "night", "two", 1).await);
    assert!(take(store, &there, "night", "one", 1).await);
}
