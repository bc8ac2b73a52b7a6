//! Tests of operation counts.

use loci_engine::{Bucket, Caller, NewMemory, OperationsRequest};
use loci_types::{ErrorKind, Event, MemoryId};

use crate::house::{House, new, user};

async fn write(house: &House, caller: &Caller, content: &str) -> MemoryId {
    let memory = NewMemory { as_is: true, ..new(content) };
    house.engine.remember(caller, memory).await.unwrap().id
}

/// Each sum as `day node op count`.
async fn counted(house: &House, caller: &Caller, request: OperationsRequest) -> Vec<String> {
    let counts = house.engine.operations(caller, request).await.unwrap();
    let day = |at: jiff::Timestamp| at.to_string()[5..10].to_owned();
    counts.data.iter().map(|one| format!("{} {} {} {}", day(one.start), one.node, one.event, one.count)).collect()
}

// Coverage: S3-14.2.
#[tokio::test]
async fn what_was_done_is_counted_by_day_part_and_event() {
    let (house, ana, ben, operator) = (House::new(), user("ana"), user("ben"), Caller::operator());
    house.model(false);
    // The first of June 2026 is a Monday.
    write(&house, &ana, "The lamp is green").await;
    house.later(1);
    let door = write(&house, &ana, "The door squeaks").await;
    write(&house, &ben, "The roof leaks").await;
    house.engine.forget(&ana, door, None, None).await.unwrap();
    house.later(6);
    write(&house, &ana, "The tree fell").await;
    let all = OperationsRequest::default();
    let week = ["06-02 hotpath ADD 2", "06-02 hotpath DELETE 1", "06-08 hotpath ADD 1"];
    assert_eq!(counted(&house, &operator, all.clone()).await, week, "the last seven days, today among them");
    assert_eq!(
        counted(&house, &ana, all.clone()).await,
        ["06-02 hotpath ADD 1", "06-02 hotpath DELETE 1", "06-08 hotpath ADD 1"]
    );
    let after = Some("2026-06-01T00:00:00Z".parse().unwrap());
    for (request, expect) in [
        (
            OperationsRequest { after, events: vec![Event::Add], ..all.clone() },
            &["06-01 hotpath ADD 1", "06-02 hotpath ADD 2", "06-08 hotpath ADD 1"][..],
        ),
        (OperationsRequest { after, events: vec![Event::Delete], ..all.clone() }, &["06-02 hotpath DELETE 1"]),
        (OperationsRequest { after, nodes: vec!["worker".into()], ..all.clone() }, &[]),
        (
            OperationsRequest { after, nodes: vec!["hotpath".into()], bucket: Bucket::Week, ..all.clone() },
            &["06-01 hotpath ADD 3", "06-01 hotpath DELETE 1", "06-08 hotpath ADD 1"],
        ),
        (
            OperationsRequest { after, bucket: Bucket::Whole, ..all.clone() },
            &["06-01 hotpath ADD 4", "06-01 hotpath DELETE 1"],
        ),
        (
            OperationsRequest { after, before: Some("2026-06-02T00:00:00Z".parse().unwrap()), ..all.clone() },
            &["06-01 hotpath ADD 1"],
        ),
    ] {
        assert_eq!(counted(&house, &operator, request.clone()).await, expect, "{request:?}");
    }
    let hours = house.engine.operations(&operator, OperationsRequest { bucket: Bucket::Hour, ..all }).await.unwrap();
    assert_eq!(hours.data[0].start, "2026-06-02T12:00:00Z".parse().unwrap());
    assert_eq!((hours.after, hours.before), ("2026-06-02T00:00:00Z".parse().unwrap(), house.engine.now()));
}

#[tokio::test]
async fn a_range_that_cannot_be_counted_is_refused() {
    let (house, operator) = (House::new(), Caller::operator());
    let at = |text: &str| Some(text.parse().unwrap());
    for (after, before, bucket, field) in [
        (at("2026-04-20T00:00:00Z"), None, Bucket::Hour, "bucket"),
        (at("2020-01-01T00:00:00Z"), None, Bucket::Day, "bucket"),
        (at("-005000-01-01T00:00:00Z"), None, Bucket::Week, "bucket"),
        (at("2027-01-01T00:00:00Z"), None, Bucket::Day, "after"),
        (at("2026-01-02T00:00:00Z"), at("2026-01-01T00:00:00Z"), Bucket::Whole, "after"),
        (at("2026-01-01T00:00:00Z"), at("2026-01-01T00:00:00Z"), Bucket::Day, "after"),
    ] {
        let request = OperationsRequest { after, before, bucket, ..OperationsRequest::default() };
        let error = house.engine.operations(&operator, request).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert_eq!(error.problem("countOperations").details["field"], field, "{after:?} {bucket}");
    }
    for (from, bucket) in [("2026-05-01T00:00:00Z", Bucket::Hour), ("-009999-01-03T00:00:00Z", Bucket::Whole)] {
        let request = OperationsRequest { after: at(from), bucket, ..OperationsRequest::default() };
        assert_eq!(house.engine.operations(&operator, request).await.unwrap().data, []);
    }
    let nobody = house.engine.operations(&Caller::new(Default::default()), OperationsRequest::default()).await;
    assert_eq!(nobody.unwrap_err().kind(), ErrorKind::MissingIdentifier);
}
