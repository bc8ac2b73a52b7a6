//! Tests of export and import between two stores.

use loci_engine::json_lines::{ExportLine, ExportRequest, ImportOptions, ImportOutcome};
use loci_engine::{Caller, MaintainRequest};
use loci_types::MemoryId;

use crate::house::{House, in_session, user};

async fn carried(house: &House, request: ExportRequest) -> Vec<ExportLine> {
    let mut export = house.engine.export(&Caller::operator(), request).await.unwrap();
    let mut all = Vec::new();
    while let Some(lines) = house.engine.export_next(&mut export).await.unwrap() {
        all.extend(lines);
    }
    all
}

async fn everything(house: &House) -> Vec<ExportLine> {
    carried(house, ExportRequest { vectors: true, ..ExportRequest::default() }).await
}

fn imported(fates: &[ImportOutcome]) -> usize {
    fates.iter().filter(|fate| matches!(fate, ImportOutcome::Imported)).count()
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
        .entities(&user("ana"), None, 0, 50)
        .await
        .unwrap()
        .into_iter()
        .map(|entity| entity.canonical_name)
        .collect();
    assert!(names.len() >= 3, "{names:?}");
    // A union of a union: the deeper one must come back first.
    house.engine.merge_entities(&user("ana"), &names[1], &names[0]).await.unwrap();
    house.engine.merge_entities(&user("ana"), &names[2], &names[1]).await.unwrap();
    house.later(20);
    house.engine.maintain(&Caller::operator(), MaintainRequest::default(), |_| ()).await.unwrap();
    house.recall(&user("ana"), "where does Rob live").await;
    house.engine.flush().await;
    house
}

/// What came without a vector was given one, since there is a model; everything else is as it was.
fn as_they_were(mut lines: Vec<ExportLine>, before: &[ExportLine]) -> Vec<ExportLine> {
    for (line, before) in lines.iter_mut().zip(before) {
        if let (ExportLine::Memory(line), ExportLine::Memory(before)) = (line, before)
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
    let aged = |line: &ExportLine| matches!(line, ExportLine::Memory(line) if line.aged_at.is_some() && !line.vectors.is_empty());
    assert!(before.iter().any(aged), "time was counted, and vectors were made");
    let operator = Caller::operator();
    let fates = other.engine.import_lines(&operator, before.clone(), &mut ImportOptions::default()).await.unwrap();
    assert_eq!(imported(&fates), before.len(), "{fates:?}");
    assert_eq!(as_they_were(everything(&other).await, &before), before);
    let again = other.engine.import_lines(&operator, before.clone(), &mut ImportOptions::default()).await.unwrap();
    assert!(again.iter().all(|fate| matches!(fate, ImportOutcome::Skipped)), "{again:?}");
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
    let fates = other.engine.import_lines(&user("ben"), lines.clone(), &mut ImportOptions::default()).await.unwrap();
    assert!(
        fates.iter().all(|fate| matches!(fate, ImportOutcome::Refused(_))),
        "nothing of ana's is ben's to bring: {fates:?}"
    );
    assert_eq!(everything(&other).await, []);
    let own = carried(&house, ExportRequest { user: Some("ana".into()), ..ExportRequest::default() }).await;
    let ids = |lines: &[ExportLine]| -> Vec<MemoryId> {
        lines
            .iter()
            .filter_map(|line| if let ExportLine::Memory(line) = line { Some(line.memory.id) } else { None })
            .collect()
    };
    assert_eq!(ids(&own), ids(&lines), "all of it carries her name");
}

/// What was changed outside and brought back over what is here is here afterwards, whole: the second time there is
/// nothing left to replace. A memory does not change its scope that way.
#[tokio::test(flavor = "multi_thread")]
async fn a_replacement_converges() {
    let (house, ana, operator) = (House::new(), in_session("ana", "s1"), Caller::operator());
    let first = house.remember(&ana, "the lantern is red").await.id;
    house.remember(&ana, "the harbour is closed on Mondays").await;
    let mut lines = everything(&house).await;
    for line in &mut lines {
        if let ExportLine::Memory(line) = line {
            line.memory.identifiers.session_id = Some("s2".into());
            line.memory.identifiers.project_id = Some("p2".into());
            line.memory.run_id = Some("r2".into());
        }
    }
    let replaced = async |lines: &[ExportLine]| {
        let fates =
            house.engine.import_lines(&operator, lines.to_vec(), &mut ImportOptions::new(true, false)).await.unwrap();
        assert!(!fates.iter().any(|fate| matches!(fate, ImportOutcome::Refused(_))), "{fates:?}");
        fates.iter().filter(|fate| matches!(fate, ImportOutcome::Replaced)).count()
    };
    assert_eq!(replaced(&lines).await, 2);
    assert_eq!(everything(&house).await, lines);
    assert_eq!(replaced(&lines).await, 0);
    for line in &mut lines {
        if let ExportLine::Memory(line) = line {
            line.memory.identifiers.user_id = Some("ben".into());
        }
    }
    let fates = house.engine.import_lines(&operator, lines, &mut ImportOptions::new(true, false)).await.unwrap();
    assert_eq!(fates.iter().filter(|fate| matches!(fate, ImportOutcome::Refused(_))).count(), 2, "{fates:?}");
    assert_eq!(house.engine.get(&ana, first).await.unwrap().identifiers.user_id.as_deref(), Some("ana"));
}

/// A state of a chain that was exported comes back over a later one, whichever record comes first.
#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_state_of_a_chain_comes_back() {
    let (house, ana, operator) = (House::new(), user("ana"), Caller::operator());
    let old = house.remember(&ana, "ana lives in Lisbon").await.id;
    let new = house.engine.correct(&ana, old, "ana lives in Porto", None).await.unwrap().id;
    let heads = async || {
        let mut heads = Vec::new();
        for id in [old, new] {
            let memory = house.engine.get(&ana, id).await.unwrap();
            if memory.superseded_by_id.is_none() && memory.state.is_live() {
                heads.push(id);
            }
        }
        heads
    };
    assert_eq!(heads().await, [new], "one has replaced the other");
    house.engine.forget(&ana, new, None, None).await.unwrap();
    assert_eq!(heads().await, [old]);
    let lines = everything(&house).await;
    house.engine.restore(&ana, new).await.unwrap();
    assert_eq!(heads().await, [new]);
    let fates =
        house.engine.import_lines(&operator, lines.clone(), &mut ImportOptions::new(true, false)).await.unwrap();
    assert!(!fates.iter().any(|fate| matches!(fate, ImportOutcome::Refused(_))), "{fates:?}");
    assert_eq!(heads().await, [old]);
}
