//! Contract: notes.

use jiff::Timestamp;
use loci_store::Store;
use loci_types::{Action, Batch, Bookkeeping, ErrorKind, NoteValue, Outcome, Reach, Scope, Space, Tenant, Visible};
use serde_json::{Value, json};

use crate::driver::{Driver, good};
use crate::samples::*;

fn note(scope: Option<&Scope>, key: &str, value: NoteValue, until: Option<Timestamp>) -> Action {
    Action::Bookkeeping(Bookkeeping::Note { scope: scope.cloned(), key: key.to_owned(), value, until })
}

fn set(scope: Option<&Scope>, key: &str, value: Value) -> Action {
    note(scope, key, NoteValue::Set(value), None)
}

fn add_to(scope: Option<&Scope>, key: &str, more: f64) -> Action {
    note(scope, key, NoteValue::Add(more), None)
}

/// The notes of Anna's space, sorted.
async fn say(store: &dyn Store, visible: &Visible, keys: &[&str], now: Timestamp) -> Vec<(String, Value)> {
    say_in(store, visible, &user("anna").space(), keys, now).await
}

async fn say_in(
    store: &dyn Store,
    visible: &Visible,
    space: &Space,
    keys: &[&str],
    now: Timestamp,
) -> Vec<(String, Value)> {
    let keys: Vec<String> = keys.iter().map(|key| (*key).to_owned()).collect();
    let mut found = good(store.notes(visible, space, &keys, now).await);
    found.sort_by_key(|(key, value)| (key.clone(), value.to_string()));
    found
}

fn notes(pairs: &[(&str, Value)]) -> Vec<(String, Value)> {
    pairs.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
}

/// Any value is read back, a later one replaces it, and notes are not in the ledger.
pub async fn a_note_says_what_was_written_last(store: &dyn Store) {
    let (driver, space) = (Driver::on(store), user("anna").space());
    assert_eq!(say(store, &whole(), &["a"], at(0)).await, []);
    for value in [json!(true), json!({ "deep": [1, null, "пч"] }), json!("text"), json!(0.1), json!(null), json!([])]
    {
        let applied = driver.must(&space, set(None, "a", value.clone())).await;
        assert_eq!((applied.id, applied.outcome, applied.sequence), (None, Outcome::Updated, None));
        assert_eq!(say(store, &whole(), &["a"], at(0)).await, notes(&[("a", value)]));
    }
    driver.must(&space, set(None, "A", json!(2))).await;
    driver.must(&space, set(None, "a%", json!(3))).await;
    assert_eq!(say(store, &whole(), &["a%", "A", "b"], at(0)).await, notes(&[("A", json!(2)), ("a%", json!(3))]));
    assert_eq!(say(store, &whole(), &[], at(0)).await, []);
    let stats = good(store.stats(&whole()).await);
    assert_eq!((stats.ledger, stats.memories), (0, 0));
}

/// A number is added to the earlier value, or to 0 if there is none or it is not a number.
pub async fn a_note_adds_up(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let space = anna.space();
    let mut sum = 0.0;
    for more in [1.5, 2.0, -0.25] {
        driver.must(&space, add_to(Some(&anna), "n", more)).await;
        sum += more;
        assert_eq!(say(store, &whole(), &["n"], at(0)).await, notes(&[("n", json!(sum))]));
    }
    driver.must(&space, add_to(None, "n", 1.0)).await;
    driver.must(&space, set(Some(&anna), "n", json!(10))).await;
    driver.must(&space, add_to(Some(&anna), "n", 1.0)).await;
    assert_eq!(say(store, &visible(std::slice::from_ref(&anna)), &["n"], at(0)).await, notes(&[("n", json!(11.0))]));
    driver.must(&space, set(Some(&anna), "n", json!("no number"))).await;
    driver.must(&space, add_to(Some(&anna), "n", 1.0)).await;
    assert_eq!(say(store, &visible(&[anna]), &["n"], at(0)).await, notes(&[("n", json!(1.0))]));
}

/// An expired note is neither read nor added to.
pub async fn a_note_counts_until_its_end(store: &dyn Store) {
    let (driver, space) = (Driver::on(store), user("anna").space());
    driver.must(&space, note(None, "n", NoteValue::Add(5.0), Some(at(100)))).await;
    for (now, expect) in [(0, Some(5.0)), (99, Some(5.0)), (100, None), (101, None)] {
        let expect: Vec<_> = expect.into_iter().map(|sum| ("n", json!(sum))).collect();
        assert_eq!(say(store, &whole(), &["n"], at(now)).await, notes(&expect), "{now}");
    }
    let later = |seconds, more| {
        let action = note(None, "n", NoteValue::Add(more), Some(at(seconds + 100)));
        batch(&space, vec![change(at(seconds), action)])
    };
    good(store.apply(later(99, 1.0)).await);
    assert_eq!(say(store, &whole(), &["n"], at(99)).await, notes(&[("n", json!(6.0))]));
    good(store.apply(later(199, 2.0)).await);
    assert_eq!(say(store, &whole(), &["n"], at(199)).await, notes(&[("n", json!(2.0))]), "it begins anew");
    driver.must(&space, set(None, "n", json!(7))).await;
    assert_eq!(say(store, &whole(), &["n"], at(99_999)).await, notes(&[("n", json!(7))]), "and now has no end");
}

/// A note of a scope is visible where the scope is; one without a scope only with access to the whole tenant.
pub async fn notes_keep_to_their_scopes(store: &dyn Store) {
    let (driver, anna, vera, bot) = (Driver::on(store), user("anna"), user("vera"), agent("bot"));
    let space = anna.space();
    for (scope, value) in [(Some(&anna), "anna's"), (Some(&vera), "vera's"), (None, "nobody's")] {
        driver.must(&space, set(scope, "n", json!(value))).await;
    }
    driver.must(&bot.space(), set(Some(&bot), "n", json!("the bot's"))).await;
    let say = async |visible: &Visible, space: &Space| {
        let found = say_in(store, visible, space, &["n"], at(0)).await;
        found.into_iter().map(|(_, value)| value.as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    for (seen, expect) in [
        (whole(), &["anna's", "nobody's", "vera's"][..]),
        (visible(std::slice::from_ref(&anna)), &["anna's"]),
        (visible(&[vera.clone(), user("nobody")]), &["vera's"]),
        (visible(&[anna.clone(), vera, bot.clone()]), &["anna's", "vera's"]),
        (visible(&[user("nobody")]), &[]),
        (visible(std::slice::from_ref(&bot)), &[]),
        (visible(&[]), &[]),
        (grant(Tenant::new("other").unwrap_or_default(), Reach::Whole, None, None), &[]),
    ] {
        assert_eq!(say(&seen, &space).await, expect, "{seen:?}");
    }
    assert_eq!(say(&whole(), &bot.space()).await, ["the bot's"]);
    assert_eq!(say(&visible(std::slice::from_ref(&bot)), &bot.space()).await, ["the bot's"]);
    assert_eq!(say(&visible(&[anna]), &bot.space()).await, [""; 0]);
    assert_eq!(say(&whole(), &agent("nobody").space()).await, [""; 0]);
    let strange = driver.act(&space, set(Some(&bot), "n", json!(1))).await.expect_err("not of this space");
    assert_eq!(strange.kind(), ErrorKind::InvalidInput);
    let changes = vec![change(at(9), set(None, "n", json!("theirs")))];
    let other = Tenant::new("other").unwrap_or_default();
    good(store.apply(Batch { tenant: other, space: space.clone(), changes }).await);
    assert_eq!(say(&whole(), &space).await.len(), 3);
}

/// Compaction removes expired notes and returns their number.
pub async fn sweeping_takes_what_no_longer_counts(store: &dyn Store) {
    let (driver, anna) = (Driver::on(store), user("anna"));
    let (tenant, space) = (Tenant::default(), anna.space());
    assert_eq!(good(store.compact(&tenant, &space, at(0)).await), 0, "nothing is there yet");
    for (key, until) in [("a", Some(at(10))), ("b", Some(at(20))), ("c", None)] {
        driver.must(&space, note(Some(&anna), key, NoteValue::Set(json!(1)), until)).await;
    }
    let keys = ["a", "b", "c"];
    let left =
        async || say(store, &whole(), &keys, at(-1_000)).await.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    for (now, gone, expect) in [(9, 0, &keys[..]), (10, 1, &keys[1..]), (10, 0, &keys[1..]), (9_000, 1, &keys[2..])] {
        assert_eq!(good(store.compact(&tenant, &space, at(now)).await), gone, "{now}");
        assert_eq!(left().await, expect, "{now}");
    }
    let kept = driver.remember(&anna, "lantern").await;
    good(store.compact(&tenant, &space, at(9_000)).await);
    good(store.compact(&Tenant::new("other").unwrap_or_default(), &space, at(9_000)).await);
    driver.sees(&whole(), "lantern", &[kept]).await;
}
