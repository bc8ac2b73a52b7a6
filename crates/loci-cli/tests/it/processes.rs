//! Several processes, one data folder.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};

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
                most = most.max(run.value()["hits"].as_array().unwrap().len());
            }
            most
        });
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let home = &home;
                scope.spawn(move || {
                    let lines: String = (0..500).map(|n| format!("memory {n} of writer {writer}\n")).collect();
                    let run = home.feed(&["--json", "remember", "-"], lines.as_bytes());
                    assert_eq!((run.code, run.err.as_str()), (0, ""), "{run:?}");
                    let receipt = |line: &str| {
                        let receipt: Value = serde_json::from_str(line).unwrap();
                        assert_eq!(receipt["event"], "created");
                        receipt["id"].as_str().unwrap().to_owned()
                    };
                    run.out.lines().map(receipt).collect::<Vec<_>>()
                })
            })
            .collect();
        let ids = writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect();
        done.store(true, Ordering::SeqCst);
        assert!(reader.join().unwrap() > 0, "the reader saw nothing");
        ids
    });
    let acknowledged: HashSet<String> = acknowledged.into_iter().collect();
    let found: HashSet<String> = home.export().iter().map(|memory| memory["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(acknowledged.len(), 2000);
    assert_eq!(found, acknowledged);
    assert_eq!(home.json(&["list"])["totalCount"], 2000);
    assert_eq!(home.run(&["doctor"]).code, 0);
}

#[test]
fn a_reader_sees_what_others_write_by_words_and_by_meaning() {
    let home = Home::with_model();
    // One process that stays, and so must catch up with what others write.
    let server = crate::serve::Server::start(&home);
    home.remember(&["My cat is called Minka"]);
    home.feed(&["remember", "-"], b"The invoice is due on Friday\nThe train leaves at nine\n");
    for (question, answer, lane) in [
        ("Minka", "My cat is called Minka", "lexical"),
        ("name of the pet", "My cat is called Minka", "vector"),
        ("when must I pay", "The invoice is due on Friday", "vector"),
        ("train", "The train leaves at nine", "lexical"),
    ] {
        let recall = home.json(&["recall", question]);
        let hit = &recall["hits"][0];
        assert_eq!(hit["memory"]["content"], answer, "{question}: {recall}");
        let lanes: Vec<_> =
            hit["explain"]["lanes"].as_array().unwrap().iter().map(|lane| lane["lane"].as_str().unwrap()).collect();
        assert!(lanes.contains(&lane), "{question}: {lanes:?}");
    }
    server.stop();
}
