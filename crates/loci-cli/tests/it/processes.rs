//! Several processes, one data folder.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loci_engine::{Caller, Config, Engine, RecallRequest};
use loci_models::Local;
use loci_store::{SqliteOptions, SqliteStore};
use loci_types::Identifiers;
use serde_json::Value;

use crate::run::Home;

#[test]
fn four_writers_and_a_reader_share_a_folder() {
    let home = Home::new();
    let done = AtomicBool::new(false);
    let acknowledged: Vec<String> = std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut most = 0;
            while !done.load(Ordering::SeqCst) {
                let run = home.run(&["--json", "recall", "--limit=100", "memory", "of", "writer"]);
                assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
                most = most.max(run.value()["data"].as_array().unwrap().len());
            }
            most
        });
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let home = &home;
                scope.spawn(move || {
                    let lines: String = (0..500).map(|n| format!("memory {n} of writer {writer}\n")).collect();
                    let run = home.feed(&["--json", "remember", "-", "--as-is"], lines.as_bytes());
                    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
                    let receipt = |line: &str| {
                        let receipt: Value = serde_json::from_str(line).unwrap();
                        assert_eq!(receipt["event"], "ADD");
                        receipt["id"].as_str().unwrap().to_owned()
                    };
                    run.out.lines().map(receipt).collect::<Vec<_>>()
                })
            })
            .collect();
        let written: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        // The reader must stop even if a writer failed.
        done.store(true, Ordering::SeqCst);
        let ids = written.into_iter().flat_map(Result::unwrap).collect();
        assert!(reader.join().unwrap() > 0, "the reader saw nothing");
        ids
    });
    let acknowledged: HashSet<String> = acknowledged.into_iter().collect();
    let found: HashSet<String> = home.export().iter().map(|memory| memory["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(acknowledged.len(), 2000);
    assert_eq!(found, acknowledged);
    assert_eq!(home.json(&["stats"])["memories"], 2000);
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_stays_sees_what_others_write_by_words_and_by_meaning() {
    let home = Home::with_model();
    // This process is the reader: it stays open, so its index must catch up with each write.
    let store = SqliteStore::open(&home.data(), SqliteOptions::default()).unwrap();
    let model = Local::load(&crate::model::folder()).unwrap();
    let reader =
        Engine::new(Arc::new(store), Some(Arc::new(model)), Arc::new(loci_engine::System), Config::default()).unwrap();
    let me = Caller::new(Identifiers { user_id: Some("me".into()), ..Identifiers::default() });
    let ask = async |query: &str| {
        let request = RecallRequest { query: query.to_owned(), ..RecallRequest::default() };
        reader.recall(&me, request).await.unwrap()
    };
    assert!(ask("name of the pet").await.hits.is_empty());
    for (text, question, lane) in [
        ("My cat is called Minka", "name of the pet", "vector"),
        ("The invoice is due on Friday", "when must I pay", "vector"),
        ("The train leaves at nine", "train", "lexical"),
        ("Bo plays the oboe", "oboe", "lexical"),
    ] {
        home.remember(&[text]);
        let recall = ask(question).await;
        assert!(recall.degraded.is_empty());
        let hit = &recall.hits[0];
        assert_eq!(hit.memory.content, text, "{question}");
        assert!(hit.explain.lanes.iter().any(|found| found.lane == lane), "{question}: {:?}", hit.explain);
    }
}
