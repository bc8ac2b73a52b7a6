//! What leaves one house is the same in another.

use loci_engine::carry::{ExportRequest, Fate, Line, Taking};
use loci_engine::{Caller, MaintainRequest};
use loci_types::MemoryId;

use crate::house::{House, in_session, user};

async fn carried(house: &House, request: ExportRequest) -> Vec<Line> {
    let mut export = house.engine.export(&Caller::operator(), request).await.unwrap();
    let mut all = Vec::new();
    while let Some(lines) = house.engine.export_next(&mut export).await.unwrap() {
        all.extend(lines);
    }
    all
}

async fn everything(house: &House) -> Vec<Line> {
    carried(house, ExportRequest { vectors: true, ..ExportRequest::default() }).await
}

fn imported(fates: &[Fate]) -> usize {
    fates.iter().filter(|fate| matches!(fate, Fate::Imported)).count()
}

/// People, places and what was said of them; some of them the same.
async fn lived_in() -> House {
    let (house, ana) = (House::new(), in_session("ana", "s"));
    for text in [
        "I work with Robert Novak at Fabrikam",
        "Rob Novak lives in Oslo",
        "Contoso hired Robert Novak because he knows Kubernetes",
        "I moved to Lisbon in May",
    ] {
        house.say(&ana, "t", "user", text).await;
        house.say(&ana, "t", "assistant", "ok").await;
    }
    house.end(&ana, "s").await;
    let names: Vec<String> = house
        .engine
        .entities(&user("ana"), 50)
        .await
        .unwrap()
        .into_iter()
        .map(|entity| entity.canonical_name)
        .collect();
    assert!(names.len() >= 3, "{names:?}");
    // A union of a union: the deeper one must come back first.
    house.engine.unite_entities(&user("ana"), &names[1], &names[0]).await.unwrap();
    house.engine.unite_entities(&user("ana"), &names[2], &names[1]).await.unwrap();
    house.later(20);
    house.engine.maintain(&Caller::operator(), MaintainRequest::default(), |_| ()).await.unwrap();
    house.recall(&user("ana"), "where does Rob live").await;
    house.engine.flush().await;
    house
}

/// What came without a vector was given one, since there is a model; everything else is as it was.
fn as_they_were(mut lines: Vec<Line>, before: &[Line]) -> Vec<Line> {
    for (line, before) in lines.iter_mut().zip(before) {
        if let (Line::Memory(line), Line::Memory(before)) = (line, before)
            && before.vectors.is_empty()
        {
            line.vectors.clear();
        }
    }
    lines
}

#[tokio::test(flavor = "multi_thread")]
async fn everything_that_is_known_is_carried() {
    let (house, other) = (lived_in().await, House::new());
    other.later(40);
    let before = everything(&house).await;
    for name in ["memory", "edge", "entity", "mentions", "union", "session", "fact"] {
        assert!(before.iter().any(|line| line.name() == name), "{name}");
    }
    let aged = |line: &Line| matches!(line, Line::Memory(line) if line.aged_at.is_some() && !line.vectors.is_empty());
    assert!(before.iter().any(aged), "time was counted, and vectors were made");
    let operator = Caller::operator();
    let fates = other.engine.carry_in(&operator, before.clone(), &mut Taking::default()).await.unwrap();
    assert_eq!(imported(&fates), before.len(), "{fates:?}");
    assert_eq!(as_they_were(everything(&other).await, &before), before);
    let again = other.engine.carry_in(&operator, before.clone(), &mut Taking::default()).await.unwrap();
    assert!(again.iter().all(|fate| matches!(fate, Fate::Skipped)), "{again:?}");
    assert_eq!(as_they_were(everything(&other).await, &before), before);
    let wait = async |house: &House| house.engine.stats(&operator).await;
    assert!(wait(&other).await.unwrap().without_vector <= wait(&house).await.unwrap().without_vector);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_carries_only_their_own() {
    let (house, other) = (lived_in().await, House::new());
    let lines = everything(&house).await;
    let export = house.engine.export(&user("ben"), ExportRequest::default()).await.unwrap();
    assert_eq!(export.total(), 0);
    let fates = other.engine.carry_in(&user("ben"), lines.clone(), &mut Taking::default()).await.unwrap();
    assert!(fates.iter().all(|fate| matches!(fate, Fate::Refused(_))), "nothing of ana's is ben's to bring: {fates:?}");
    assert_eq!(everything(&other).await, []);
    let own = carried(&house, ExportRequest { user: Some("ana".into()), ..ExportRequest::default() }).await;
    let ids = |lines: &[Line]| -> Vec<MemoryId> {
        lines
            .iter()
            .filter_map(|line| if let Line::Memory(line) = line { Some(line.memory.id) } else { None })
            .collect()
    };
    assert_eq!(ids(&own), ids(&lines), "all of it carries her name");
}
