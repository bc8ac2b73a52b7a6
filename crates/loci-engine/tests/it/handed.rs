//! Tests of options of callers: lexical search, given vectors, highlights, and immediate erasure.

use loci_engine::{Caller, NewMemory, RecallRequest, Strategy};
use loci_types::{ErrorKind, Outcome};

use crate::house::{House, ask, new, unknown, user};

#[tokio::test]
async fn words_alone_find_and_order() {
    let (house, ana) = (House::new(), user("ana"));
    house.remember(&ana, "The lantern hangs in the hall").await;
    house.remember(&ana, "The lantern in the cellar is a brass lantern").await;
    house.remember(&ana, "Ana bakes bread on Sundays").await;
    // The words need no model.
    house.model(false);
    let request = RecallRequest { strategy: Some(Strategy::Lexical), ..ask("brass lantern") };
    let found = house.engine.recall(&ana, request).await.unwrap();
    let texts: Vec<&str> = found.hits.iter().map(|hit| hit.memory.content.as_str()).collect();
    assert_eq!(texts, ["The lantern in the cellar is a brass lantern", "The lantern hangs in the hall"]);
    assert_eq!((found.degraded.len(), found.hits[0].explain.lanes[0].lane.as_str()), (0, "lexical"));
    assert_eq!("lexical".parse::<Strategy>().unwrap(), Strategy::Lexical);
}

#[tokio::test]
async fn vectors_are_handed_to_who_may_see_them() {
    let (house, ana) = (House::new(), user("ana"));
    let id = house.remember(&ana, "Ana plays the cello").await.id;
    let later = NewMemory { embed_later: true, ..new("Ana sails in summer") };
    let later = house.engine.remember(&ana, later).await.unwrap();
    assert!(!later.embedding_generated);
    let found = house.engine.embeddings(&ana, &[id, later.id, unknown()]).await.unwrap();
    assert_eq!(found.iter().map(|(id, vector)| (*id, vector.len())).collect::<Vec<_>>(), [(id, 256)]);
    assert_eq!(house.engine.embeddings(&user("ben"), &[id]).await.unwrap(), []);
    house.engine.work(&Caller::operator(), &[], 100).await.unwrap();
    house.engine.embed_waiting(&Caller::operator(), 100).await.unwrap();
    assert_eq!(house.engine.embeddings(&ana, &[later.id]).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_is_erased_leaves_no_word() {
    let (house, ana) = (House::new(), user("ana"));
    let receipt = house.remember(&ana, "The password of the safe is sesame").await;
    let stale = house.engine.erase(&ana, receipt.id, Some(receipt.version + 1), None).await.unwrap_err();
    assert_eq!(stale.kind(), ErrorKind::VersionConflict);
    assert_eq!(house.engine.erase(&user("ben"), receipt.id, None, None).await.unwrap_err().kind(), ErrorKind::NotFound);
    let gone = house.engine.erase(&ana, receipt.id, Some(receipt.version), Some("asked for")).await.unwrap();
    assert_eq!(gone.event, Outcome::Erased);
    assert_eq!(house.engine.get(&ana, receipt.id).await.unwrap_err().kind(), ErrorKind::NotFound);
    assert_eq!(house.recall(&ana, "sesame safe").await, Vec::<String>::new());
    let history = house.engine.history(&Caller::operator(), receipt.id, 10).await.unwrap().events;
    assert_eq!(history.last().map(|line| (line.event.as_str(), line.reason.as_str())), Some(("ERASE", "asked for")));
    assert!(!serde_json::to_string(&history).unwrap().contains("sesame"));
}

#[tokio::test]
async fn highlights_are_the_sentences_that_share_words() {
    let house = House::new();
    let check = |query: &str, text: &str, expect: &[&str]| {
        assert_eq!(house.engine.highlights(query, text), expect, "{query}");
    };
    let text = "The gate opens at six. Dogs are kept inside! Who closes the gates? Nobody knows.";
    check("when do gates open", text, &["The gate opens at six.", "Who closes the gates?"]);
    check("dog", text, &["Dogs are kept inside!"]);
    check("the of and", text, &[]);
    check("cello", text, &[]);
    check("gate", "", &[]);
}
