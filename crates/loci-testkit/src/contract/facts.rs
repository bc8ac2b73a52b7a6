//! Contract: facts, their sources and who may see them.

use loci_store::{LedgerQuery, Store};
use loci_types::{
    AccessPolicy, Action, ErrorKind, Fact, FactFilter, Memory, MemoryId, Outcome, Reach, Scope, Tenant, Visible,
};
use serde_json::{Map, Value, json};

use crate::driver::{Driver, good};
use crate::samples::*;

fn object(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap_or_default()
}

async fn state(driver: &Driver<'_>, fact: &Fact) -> Outcome {
    let space = good(fact.scope().map_err(Into::into)).space();
    driver.must(&space, Action::State(Box::new(fact.clone()))).await.outcome
}

fn holding() -> FactFilter {
    FactFilter::at(at(5_000))
}

fn past() -> FactFilter {
    FactFilter { include_past: true, ..holding() }
}

async fn objects(store: &dyn Store, visible: &Visible, filter: &FactFilter) -> Vec<String> {
    good(store.facts(visible, filter, 100).await).into_iter().map(|fact| fact.object).collect()
}

/// All fields are read back, with any characters. The ledger has one entry for the fact.
pub async fn a_fact_comes_back_field_by_field(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let source = driver.remember(&anna, "lantern").await;
    let full = Fact {
        confidence: 0.1,
        metadata: object(json!({ "n": 1.5, "deep": { "a": [null, "пч"] } })),
        sources: vec![source],
        ..fact(7, &anna, ["Databaseß", "has version", "v16 'quoted' 蜂"])
    };
    let before = good(store.stats(&whole()).await).ledger;
    assert_eq!(state(&driver, &full).await, Outcome::Created);
    let found = good(store.facts(&whole(), &holding(), 10).await);
    assert_eq!(found, [Fact { updated_at: driver.clock(), ..full.clone() }]);
    assert_eq!(good(store.stats(&whole()).await).ledger, before + 1);
    let found = good(store.ledger(&whole(), &LedgerQuery::Memory(source), 10).await)
        .entries
        .pop()
        .expect("a line about the source");
    assert_eq!((found.event.as_str(), found.new), ("FACT", Some(json!({ "fact": full.id }))));
}

// Coverage: S2.24.
/// Stating a fact again updates it: the highest confidence, merged metadata and all sources.
pub async fn a_fact_said_again_is_one(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let (one, two) = (driver.remember(&anna, "lantern").await, driver.remember(&anna, "harbour").await);
    let first = Fact {
        metadata: object(json!({ "a": 1, "b": 2, "c": null, "d": 4 })),
        sources: vec![one],
        ..fact(1, &anna, ["api", "port", "80"])
    };
    assert_eq!(state(&driver, &first).await, Outcome::Created);
    assert_eq!(state(&driver, &first).await, Outcome::None, "the same changes nothing");
    let less = Fact { confidence: 0.2, metadata: object(json!({ "b": 3, "d": null })), ..first.clone() };
    assert_eq!(state(&driver, &less).await, Outcome::Updated);
    let more = Fact { confidence: 0.9, metadata: Map::new(), sources: vec![two], ..first.clone() };
    assert_eq!(state(&driver, &more).await, Outcome::Updated);
    let [found] = &good(store.facts(&whole(), &holding(), 10).await)[..] else { panic!("one") };
    assert_eq!((found.confidence, &found.sources), (0.9, &vec![one, two]));
    assert_eq!(found.metadata, object(json!({ "a": 1, "b": 3 })));
    assert_eq!(found.created_at, first.created_at);
    // Another type, another scope or other words make another fact.
    for (number, other) in [
        (2, Fact { fact_type: "has".into(), ..fact(2, &anna, ["api", "port", "80"]) }),
        (3, fact(3, &user("vera"), ["api", "port", "80"])),
        (4, fact(4, &anna, ["API", "port", "80"])),
    ] {
        assert_eq!(state(&driver, &other).await, Outcome::Created, "{number}");
    }
    assert_eq!(good(store.facts(&whole(), &holding(), 10).await).len(), 4);
}

// Coverage: S2.24.
/// Facts are found by any combination of their fields, highest confidence first, then the latest.
pub async fn facts_are_found_by_any_of_their_words(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    for (number, sort, triple, confidence) in [
        (1, "uses", ["api", "runs on", "a"], 0.5),
        (2, "uses", ["api", "port", "b"], 0.9),
        (3, "has", ["web", "port", "c"], 0.5),
        (4, "has", ["web", "runs on", "d"], 0.1),
    ] {
        state(&driver, &Fact { fact_type: sort.into(), confidence, ..fact(number, &anna, triple) }).await;
    }
    let text = |text: &str| Some(text.to_owned());
    for (filter, expect) in [
        (holding(), "b c a d"),
        (FactFilter { fact_type: text("uses"), ..holding() }, "b a"),
        (FactFilter { subject: text("web"), ..holding() }, "c d"),
        (FactFilter { predicate: text("port"), ..holding() }, "b c"),
        (FactFilter { object: text("d"), ..holding() }, "d"),
        (FactFilter { subject: text("api"), predicate: text("port"), ..holding() }, "b"),
        (FactFilter { subject: text("api"), object: text("c"), ..holding() }, ""),
        (FactFilter { id: Some(fact(3, &anna, ["", "", ""]).id), ..holding() }, "c"),
        (FactFilter { subject: text("Api"), ..holding() }, ""),
        (FactFilter { subject: text("' OR 1"), ..holding() }, ""),
    ] {
        assert_eq!(objects(store, &whole(), &filter).await.join(" "), expect, "{filter:?}");
    }
    assert_eq!(good(store.facts(&whole(), &holding(), 2).await).len(), 2);
    assert_eq!(good(store.facts(&whole(), &holding(), 0).await).len(), 0);
}

/// A fact is visible where its scope is, and only in its tenant.
pub async fn facts_keep_to_their_scopes(store: &dyn Store) {
    let (driver, anna, vera, bot) = (Driver::on(store), user("anna"), user("vera"), agent("bot"));
    for (number, scope, word) in [(1, &anna, "a"), (2, &vera, "b"), (3, &bot, "c")] {
        state(&driver, &fact(number, scope, ["s", "p", word])).await;
    }
    for (seen, expect) in [
        (whole(), "c b a"),
        (visible(std::slice::from_ref(&anna)), "a"),
        (visible(&[vera.clone(), user("nobody")]), "b"),
        (visible(&[anna.clone(), bot.clone()]), "c a"),
        (visible(&[user("nobody")]), ""),
        (visible(&[]), ""),
        (grant(Tenant::new("other").unwrap_or_default(), Reach::Whole, None, None), ""),
    ] {
        assert_eq!(objects(store, &seen, &holding()).await.join(" "), expect, "{seen:?}");
    }
    // A source of another scope is refused, because it would make the fact visible to others.
    let strange = driver.remember(&vera, "lantern").await;
    let wrong = Fact { sources: vec![strange], ..fact(9, &anna, ["s", "p", "d"]) };
    let error = driver.act(&anna.space(), Action::State(Box::new(wrong.clone()))).await.expect_err("not its scope");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    let unknown = Fact { sources: vec![id(99_999)], ..wrong.clone() };
    let error = driver.act(&anna.space(), Action::State(Box::new(unknown))).await.expect_err("unknown");
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let error = driver.act(&bot.space(), Action::State(Box::new(wrong))).await.expect_err("not of this space");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

// Coverage: SPEC-5.5.
/// A fact with sources is visible to callers who see one of them; the other sources are not returned.
pub async fn a_fact_is_seen_with_one_of_its_sources(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let of = |category: Option<&str>, policy: AccessPolicy, text: &str| Memory {
        category: category.map(str::to_owned),
        access_policy: policy,
        actor_id: Some("vera".into()),
        ..driver.sample(&anna, text)
    };
    let tasks = driver.keep(of(Some("tasks"), AccessPolicy::Shared, "lantern")).await;
    let secrets = driver.keep(of(Some("secrets"), AccessPolicy::Shared, "harbour")).await;
    let private = driver.keep(of(Some("tasks"), AccessPolicy::Private, "meadow")).await;
    for (number, word, sources) in [
        (1, "alone", vec![]),
        (2, "tasks", vec![tasks]),
        (3, "secrets", vec![secrets]),
        (4, "private", vec![private]),
        (5, "both", vec![tasks, secrets]),
    ] {
        let metadata = object(json!({ "word": word }));
        state(&driver, &Fact { sources, metadata, ..fact(number, &anna, ["s", "p", word]) }).await;
    }
    let scopes = || Reach::Scopes(vec![anna.clone()]);
    let seen = |categories: Option<&[&str]>, viewer: &str| grant(Tenant::default(), scopes(), categories, Some(viewer));
    for (seen, expect) in [
        (whole(), "both private secrets tasks alone"),
        (seen(None, "vera"), "both private secrets tasks alone"),
        (seen(None, "anna"), "both secrets tasks alone"),
        (seen(Some(&["tasks"]), "anna"), "both tasks"),
        (seen(Some(&["tasks"]), "vera"), "both private tasks"),
        (seen(Some(&["secrets"]), "anna"), "both secrets"),
        (seen(Some(&["other"]), "vera"), ""),
        (seen(Some(&[]), "vera"), ""),
        (grant(Tenant::default(), Reach::Whole, Some(&["tasks"]), None), "both private tasks"),
    ] {
        assert_eq!(objects(store, &seen, &holding()).await.join(" "), expect, "{seen:?}");
        assert_eq!(objects(store, &seen, &past()).await.join(" "), expect, "{seen:?}");
    }
    let some = good(store.facts(&seen(Some(&["tasks"]), "anna"), &holding(), 10).await);
    let found: Vec<(&str, &[MemoryId], bool)> =
        some.iter().map(|fact| (fact.object.as_str(), &fact.sources[..], fact.metadata.is_empty())).collect();
    assert_eq!(found, [("both", &[tasks][..], true), ("tasks", &[tasks], false)]);
}

// Coverage: SPEC-5.5.
/// A fact without a valid source is past; another source, or stating it again, makes it valid.
pub async fn a_fact_holds_while_a_source_holds(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let (one, two) = (driver.remember(&anna, "lantern").await, driver.remember(&anna, "harbour").await);
    let both = Fact {
        sources: vec![one, two],
        confidence: 0.9,
        metadata: object(json!({ "old": true })),
        ..fact(1, &anna, ["anna", "city", "porto"])
    };
    state(&driver, &both).await;
    state(&driver, &fact(2, &anna, ["anna", "likes", "tea"])).await;
    let now = async || objects(store, &whole(), &holding()).await.join(" ");
    driver.replace(one, &anna, "lantern two").await;
    assert_eq!(now().await, "porto tea", "the other source still holds");
    driver.forget(&anna, two).await;
    assert_eq!(now().await, "tea");
    assert_eq!(objects(store, &whole(), &past()).await, ["porto", "tea"]);
    driver.must(&anna.space(), Action::Restore { id: two }).await;
    assert_eq!(now().await, "porto tea");
    driver.forget(&anna, two).await;
    // Stated again without sources, it has the new confidence and no sources.
    let anew = Fact { sources: Vec::new(), confidence: 0.3, metadata: Map::new(), ..both.clone() };
    assert_eq!(state(&driver, &anew).await, Outcome::Updated);
    assert_eq!(now().await, "tea porto");
    let found = good(store.facts(&whole(), &FactFilter { id: Some(both.id), ..holding() }, 1).await);
    assert_eq!((found[0].confidence, found[0].sources.len(), found[0].metadata.len()), (0.3, 0, 0));
}

// Coverage: SPEC-5.5.
/// A fact is removed with its last source; one that never had a source stays.
pub async fn a_fact_goes_with_its_last_source(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let (one, two) = (driver.remember(&anna, "lantern").await, driver.remember(&anna, "harbour").await);
    state(&driver, &Fact { sources: vec![one, two], ..fact(1, &anna, ["s", "p", "both"]) }).await;
    state(&driver, &Fact { sources: vec![one], ..fact(2, &anna, ["s", "p", "one"]) }).await;
    state(&driver, &fact(3, &anna, ["s", "p", "alone"])).await;
    let left = async || objects(store, &whole(), &past()).await;
    driver.must(&anna.space(), Action::Erase { id: one }).await;
    assert_eq!(left().await, ["alone", "both"]);
    driver.forget(&anna, two).await;
    assert_eq!(left().await, ["alone", "both"], "what is only forgotten may come back");
    driver.must(&anna.space(), Action::Purge { id: two }).await;
    assert_eq!(left().await, ["alone"]);
}

/// A fact is retracted only in its own scope, and can be stated again.
pub async fn a_fact_is_retracted(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let source = driver.remember(&anna, "lantern").await;
    let one = Fact { sources: vec![source], ..fact(1, &anna, ["s", "p", "o"]) };
    state(&driver, &one).await;
    let retract = |scope: &Scope| Action::Retract { scope: scope.clone(), id: one.id };
    assert_eq!(driver.must(&anna.space(), retract(&user("vera"))).await.outcome, Outcome::None, "not vera's");
    assert_eq!(objects(store, &whole(), &past()).await, ["o"]);
    let gone = driver.must(&anna.space(), retract(&anna)).await;
    assert_eq!((gone.outcome, gone.sequence.is_some()), (Outcome::Deleted, true));
    assert_eq!(driver.must(&anna.space(), retract(&anna)).await.outcome, Outcome::None);
    assert_eq!(objects(store, &whole(), &past()).await, [""; 0]);
    assert!(driver.get(source).await.is_some(), "the memory stays");
    assert_eq!(state(&driver, &one).await, Outcome::Created);
}
