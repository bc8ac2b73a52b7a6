//! Tests of recall by entity and by time, and of recent changes.

use loci_engine::{FindRequest, NewMemory, Recall};
use loci_types::{ErrorKind, TimeRange};

use crate::house::{House, ask, new, user};

fn contents(found: &Recall) -> Vec<&str> {
    found.hits.iter().map(|hit| hit.memory.content.as_str()).collect()
}

#[tokio::test]
async fn a_time_narrows_by_date_or_else_by_the_day_it_came_in() {
    let (house, ana) = (House::new(), user("ana"));
    let dated = NewMemory { event_time: Some("2020-02-02T10:00:00Z".parse().unwrap()), ..new("The boat race was won") };
    house.engine.remember(&ana, dated).await.unwrap();
    house.remember(&ana, "The boat is painted red").await;
    house.later(40);
    house.remember(&ana, "The boat needs a new sail").await;
    let check = async |from: Option<&str>, until: Option<&str>, expect: &[&str]| {
        let point = |text: Option<&str>| text.map(|text| format!("{text}T00:00:00Z").parse().unwrap());
        let when = TimeRange { from: point(from), until: point(until) };
        let request = FindRequest { recall: ask("the boat"), when, ..FindRequest::default() };
        let found = house.engine.find(&ana, request).await.unwrap();
        let mut found_contents = contents(&found);
        found_contents.sort_unstable();
        assert_eq!(found_contents, expect, "{from:?} {until:?}");
    };
    let (race, red, sail) = ("The boat race was won", "The boat is painted red", "The boat needs a new sail");
    check(None, None, &[red, sail, race]).await;
    check(Some("2026-01-01"), None, &[red, sail]).await;
    check(Some("2026-06-20"), None, &[sail]).await;
    check(None, Some("2026-06-20"), &[red, race]).await;
    check(Some("2020-01-01"), Some("2021-01-01"), &[race]).await;
    check(Some("2027-01-01"), None, &[]).await;
}

#[tokio::test]
async fn a_thing_narrows_to_what_speaks_of_it() {
    let (house, ana) = (House::new(), user("ana"));
    house.say(&ana, "t", "user", "My sister Maria works at Initech").await;
    house.say(&ana, "t", "user", "My brother Carlos works at Globex").await;
    house.end(&ana, "t").await;
    let about =
        |name: &str| FindRequest { recall: ask("works at"), entity: Some(name.to_owned()), ..FindRequest::default() };
    let found = house.engine.find(&ana, about("maria")).await.unwrap();
    assert!(!found.hits.is_empty());
    assert!(contents(&found).iter().all(|content| content.contains("Maria")), "{:?}", contents(&found));
    let unknown = house.engine.find(&ana, about("Zebulon")).await.unwrap_err();
    assert_eq!(unknown.kind(), ErrorKind::NotFound);
    // Another user knows nobody by that name.
    assert_eq!(house.engine.find(&user("bo"), about("maria")).await.unwrap_err().kind(), ErrorKind::NotFound);
}

#[tokio::test]
async fn the_latest_changes_come_first_and_belong_to_who_asks() {
    let (house, ana) = (House::new(), user("ana"));
    let first = house.remember(&ana, "The boat is red").await.id;
    house.remember(&user("bo"), "The car is blue").await;
    house.later(1);
    let second = house.remember(&ana, "The harbour closes at nine").await.id;
    house.engine.forget(&ana, first, None, None).await.unwrap();
    let changes = house.engine.recent_changes(&ana, None, 10).await.unwrap();
    let shown: Vec<_> = changes.iter().map(|one| (one.event.as_str(), one.memory_id, one.content.as_deref())).collect();
    // A forgotten memory is listed without its text.
    let expect = [
        ("DELETE", Some(first), None),
        ("ADD", Some(second), Some("The harbour closes at nine")),
        ("ADD", Some(first), None),
    ];
    assert_eq!(shown, expect);
    assert_eq!(house.engine.recent_changes(&ana, None, 1).await.unwrap(), changes[..1]);
}
