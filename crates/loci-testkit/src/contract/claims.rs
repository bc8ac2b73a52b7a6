//! Contract: memories are found by their claim key.

use loci_store::Store;
use loci_types::{Action, Addition, ContentHash, Filter, Memory, MemoryId, NewContent, Patch, Scope, State, Visible};

use crate::driver::Driver;
use crate::samples::*;

fn claiming(memory: Memory, claim: Option<ContentHash>) -> Box<Addition> {
    Box::new(Addition { claim, ..addition(memory) })
}

async fn claim(driver: &Driver<'_>, scope: &Scope, text: &str, about: &str) -> MemoryId {
    let memory = driver.sample(scope, text);
    let id = memory.id;
    driver.must(&scope.space(), Action::Add(claiming(memory, Some(hash(about))))).await;
    id
}

fn about(what: &str) -> Filter {
    Filter { claim: Some(hash(what)), ..now() }
}

/// Every search returns exactly the visible memories with the key.
pub async fn a_claim_is_found_by_its_key(store: &dyn Store) {
    let (driver, anna, vera) = (Driver::on(store), user("anna"), user("vera"));
    let one = claim(&driver, &anna, "lantern one", "home").await;
    let two = claim(&driver, &anna, "lantern two", "home").await;
    let job = claim(&driver, &anna, "lantern three", "job").await;
    let theirs = claim(&driver, &vera, "lantern four", "home").await;
    driver.remember(&anna, "lantern of nothing").await;
    let seen = visible(std::slice::from_ref(&anna));
    let find = async |visible: &Visible, what: &str, expect: &[MemoryId]| {
        driver.sees_with(visible, "lantern", &about(what), expect).await;
    };
    find(&seen, "home", &[one, two]).await;
    find(&seen, "job", &[job]).await;
    find(&seen, "nothing", &[]).await;
    find(&whole(), "home", &[one, two, theirs]).await;
    find(&visible(&[vera]), "home", &[theirs]).await;
    let narrow = Filter { states: vec![State::Archived], ..about("home") };
    driver.sees_with(&whole(), "lantern", &narrow, &[]).await;
    driver.forget(&anna, two).await;
    find(&seen, "home", &[one]).await;
}

/// A new text has its own key or none; other changes keep the key.
pub async fn a_new_text_makes_a_new_claim(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let one = claim(&driver, &anna, "lantern one", "home").await;
    let revise = async |patch| {
        driver
            .must(
                &anna.space(),
                Action::Revise(Box::new(loci_types::Revision {
                    vector: Some(vector("lantern")),
                    ..revision(one, patch)
                })),
            )
            .await;
    };
    let content = |text: &str, claim: Option<&str>| {
        let claim = claim.map(hash);
        Some(NewContent { text: text.into(), hash: hash(text), unless: None, claim, tokens: 1 })
    };
    revise(Patch { pinned: Some(true), ..Patch::default() }).await;
    driver.sees_with(&whole(), "lantern", &about("home"), &[one]).await;
    revise(Patch { content: content("lantern two", Some("job")), ..Patch::default() }).await;
    driver.sees_with(&whole(), "lantern", &about("home"), &[]).await;
    driver.sees_with(&whole(), "lantern", &about("job"), &[one]).await;
    revise(Patch { content: content("lantern three", None), ..Patch::default() }).await;
    driver.sees_with(&whole(), "lantern", &about("job"), &[]).await;
    driver.sees(&whole(), "lantern", &[one]).await;
}

/// A superseding memory has its own key, and the superseded one keeps its key.
pub async fn a_replacement_brings_its_claim(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let old = claim(&driver, &anna, "lantern one", "home").await;
    let new = driver.sample(&anna, "lantern two");
    let head = new.id;
    let replace = Action::Supersede { old, new: claiming(new, Some(hash("home"))) };
    driver.must(&anna.space(), replace).await;
    driver.sees_with(&whole(), "lantern", &about("home"), &[head]).await;
    let both = Filter { claim: Some(hash("home")), ..everything() };
    driver.sees_with(&whole(), "lantern", &both, &[old, head]).await;
    driver.forget(&anna, head).await;
    driver.sees_with(&whole(), "lantern", &about("home"), &[old]).await;
}
