//! Contract: memories are found by a part of their id, within what is visible.

use loci_store::Store;
use loci_types::{MemoryId, MemoryRef, Visible};
use uuid::Uuid;

use crate::driver::{Driver, good};
use crate::samples::*;

/// Ids with the same time and different last blocks; two of them begin alike.
const IDS: [u128; 4] = [
    0x0194_0000_0000_7001_8001_6b1d_2c3e_4f50,
    0x0194_0000_0000_7002_8002_6b1d_2c3f_0000,
    0x0194_0000_0000_7003_8003_0000_0000_0007,
    0x0194_0000_0000_7004_8004_ffff_ffff_ffff,
];

fn known(place: usize) -> MemoryId {
    MemoryId(Uuid::from_u128(IDS[place]))
}

async fn find(store: &dyn Store, visible: &Visible, text: &str) -> Vec<MemoryId> {
    let Ok(given) = text.parse::<MemoryRef>() else { panic!("{text} is not a reference") };
    good(store.ids_within(visible, &given.ranges(), 9).await)
}

/// Each short form finds exactly the memories whose ids it begins, oldest first, in any state.
pub async fn a_part_of_an_id_finds_its_memories(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    for (place, word) in ["one", "two", "three", "four"].into_iter().enumerate() {
        driver.keep(loci_types::Memory { id: known(place), ..driver.sample(&anna, word) }).await;
    }
    driver.forget(&anna, known(3)).await;
    let seen = visible(&[anna]);
    for place in 0..IDS.len() {
        let id = known(place);
        for text in [id.short(), id.to_string()[24..].to_owned(), id.to_string()[..26].to_owned()] {
            assert_eq!(find(store, &seen, &text).await, [id], "{text}");
            assert_eq!(find(store, &whole(), &text).await, [id], "{text} in the whole tenant");
        }
    }
    assert_eq!(find(store, &seen, "6b1d2c").await, [known(0), known(1)]);
    assert_eq!(find(store, &seen, "6b1d2c3f").await, [known(1)]);
    assert_eq!(find(store, &seen, "6b1d2d").await, []);
    let both = "6b1d2c".parse::<MemoryRef>().map(|given| given.ranges()).unwrap_or_default();
    assert_eq!(good(store.ids_within(&seen, &both, 1).await), [known(0)], "not more than asked for");
}

/// A part of an id finds nothing outside the visible scopes.
pub async fn a_part_of_an_id_keeps_to_what_is_seen(store: &dyn Store) {
    let driver = Driver::on(store);
    for (place, name) in ["anna", "ben"].into_iter().enumerate() {
        driver.keep(loci_types::Memory { id: known(place), ..driver.sample(&user(name), "lantern") }).await;
    }
    assert_eq!(find(store, &visible(&[user("anna")]), "6b1d2c").await, [known(0)]);
    assert_eq!(find(store, &visible(&[user("ben")]), "6b1d2c").await, [known(1)]);
    assert_eq!(find(store, &visible(&[user("cleo")]), "6b1d2c").await, []);
    assert_eq!(find(store, &visible(&[user("cleo")]), &known(0).short()).await, []);
}
