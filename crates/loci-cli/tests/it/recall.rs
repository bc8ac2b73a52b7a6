//! Recall with the real models, and its answer when nothing is known.

use serde_json::{Value, json};

use crate::run::Home;

/// A home with the models of this machine and default settings.
fn furnished(texts: &[&str]) -> Home {
    let home = Home::with_model();
    let lines: Vec<String> = texts.iter().map(|text| format!("{text}\n")).collect();
    let run = home.feed(&["remember", "-"], lines.concat().as_bytes());
    assert_eq!(run.code, 0, "{run:?}");
    home
}

fn first(home: &Home, question: &str) -> Value {
    home.json(&["recall", question])["data"][0]["memory"]["content"].clone()
}

// Coverage: SPEC.3.
#[test]
fn the_newest_of_those_about_the_same_comes_first() {
    let asides = ["The office is closed on Fridays", "Lunch is at noon in the canteen", "The printer is upstairs"];
    for (old, new, question) in [
        ("The cluster has 5 nodes", "The cluster has 7 nodes", "how many nodes does the cluster have"),
        ("My dentist is Dr. Weber", "I switched dentists, now I go to Dr. Lindqvist", "who is my dentist"),
        ("The rent is 900 euros", "The landlord raised the rent to 980 euros", "how much is the rent"),
        ("The release is on 3 May", "The release is on 17 May", "when is the release"),
        ("The staging URL is stage1.example.org", "The staging URL is stage2.example.org", "what is the staging URL"),
        ("Standup starts at nine", "Standup starts at half past ten", "when does standup start"),
        ("Our CI runs on Jenkins", "Our CI runs on Buildkite", "what does our CI run on"),
        ("Ines lives in Braga", "Ines lives in Faro", "where does Ines live"),
    ] {
        let home = furnished(&[&[old], &asides[..], &[new]].concat());
        assert_eq!(first(&home, question), new, "{question}");
    }
}

// Coverage: SPEC.3.
#[test]
fn a_code_that_nobody_mentioned_and_another_topic_have_no_answer() {
    let home = furnished(&["ERR-7731 means the disk is full", "The heating is serviced in October"]);
    for question in ["what does ERR-9040 mean", "who won the chess tournament on the cruise?"] {
        let recall = home.json(&["recall", question]);
        assert_eq!((&recall["data"], &recall["answered"]), (&json!([]), &json!("no")), "{question}: {recall}");
        let all = home.json(&["recall", question, "--threshold=0"]);
        assert!(!all["data"].as_array().unwrap().is_empty(), "{question}: whatever there is was asked for");
    }
    let known = home.json(&["recall", "what does ERR-7731 mean"]);
    assert_eq!(known["answered"], "yes", "{known}");
}

// Coverage: SPEC.3.
#[test]
fn other_languages_are_found_in_themselves_and_from_english() {
    let home = furnished(&[
        "Der Ersatzschlüssel hängt hinter dem Sicherungskasten",
        "Meine Schwester arbeitet als Hebamme in Kiel",
        "Моя сестра учит игре на скрипке",
        "The bicycle pump is in the blue crate",
    ]);
    for (question, expect) in [
        ("Wo finde ich den Reserveschlüssel?", "Der Ersatzschlüssel hängt hinter dem Sicherungskasten"),
        ("where is the spare key", "Der Ersatzschlüssel hängt hinter dem Sicherungskasten"),
        ("На чём играет сестра?", "Моя сестра учит игре на скрипке"),
        ("Wo ist die Luftpumpe für das Fahrrad?", "The bicycle pump is in the blue crate"),
    ] {
        assert_eq!(first(&home, question), expect, "{question}");
    }
    let again = home.json(&["reembed"]);
    assert_eq!(again["embedded"], 0, "each has the vector of the model that can read it: {again}");
}

// Coverage: SPEC.3.
#[test]
fn the_end_of_a_long_note_is_found_and_quoted() {
    let filler = "The week went by with the usual errands, a little rain, and long calls about the garden fence. ";
    let answer = "On Friday the vet said that the cat must not get any dairy.";
    let home = furnished(&[&format!("{}{answer}", filler.repeat(9)), "The dog likes long walks by the river"]);
    let hit = home.json(&["recall", "--explain", "what should the cat not be fed"])["data"][0].clone();
    let passage = hit["explain"]["passage"].as_str().unwrap();
    assert!(passage.contains("dairy") && passage.len() < 500, "{passage}");
}

// Coverage: SPEC.4.
#[test]
fn single_memories_are_measured_as_lived() {
    let home = Home::with_model();
    let (corpus, questions, out) =
        (home.path().join("corpus.jsonl"), home.path().join("questions.jsonl"), home.path().join("run.jsonl"));
    let lines = [
        json!({ "id": "a", "user": "u", "text": "The spare key hangs behind the fuse box", "createdDaysAgo": 600 }),
        json!({ "id": "b", "user": "u", "text": "The oven is cleaned every spring", "createdDaysAgo": 2 }),
        json!({ "id": "c", "user": "other", "text": "The spare key is under the mat", "createdDaysAgo": 1 }),
    ];
    std::fs::write(&corpus, lines.map(|line| line.to_string()).join("\n")).unwrap();
    let asked = [
        json!({ "qid": "1", "user": "u", "question": "Where is the extra key?", "evidence": ["a"], "category": "where" }),
        json!({ "qid": "2", "user": "u", "question": "What is Q-9931?", "evidence": [], "category": "none" }),
    ];
    std::fs::write(&questions, asked.map(|line| line.to_string()).join("\n")).unwrap();
    let (corpus, questions, out) =
        (corpus.display().to_string(), questions.display().to_string(), out.display().to_string());
    let report = home.json(&["eval", "memories", "--corpus", &corpus, "--questions", &questions, "--out", &out]);
    assert_eq!(
        (&report["measures"]["ALL"]["hit@1"], &report["measures"]["ALL"]["refused"]),
        (&json!(1.0), &json!(1.0))
    );
    let run: Vec<Value> =
        std::fs::read_to_string(&out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(run[0]["ranked"][0], "a", "and nothing of another user: {run:?}");
    assert_eq!((&run[1]["ranked"], &run[1]["answered"]), (&json!([]), &json!("no")));
    std::fs::write(&corpus, "").unwrap();
    let empty = home.run(&["eval", "memories", "--corpus", &corpus, "--questions", &questions]);
    assert!(empty.code != 0 && empty.err.contains("holds nothing"), "{empty:?}");
}

#[test]
fn a_plain_line_is_imported_with_the_time_it_was_made() {
    let home = Home::new();
    let file = home.path().join("plain.jsonl");
    std::fs::write(&file, r#"{"content":"The ferry leaves at nine","createdAt":"2024-03-01T08:00:00Z"}"#).unwrap();
    let run = home.run(&["import", &file.display().to_string()]);
    assert_eq!(run.code, 0, "{run:?}");
    assert_eq!(home.json(&["list"])["data"][0]["createdAt"], "2024-03-01T08:00:00Z");
    std::fs::write(&file, r#"{"content":"x","createdAt":"soon"}"#).unwrap();
    let run = home.run(&["import", &file.display().to_string()]);
    assert!(run.code != 0 && run.err.contains("createdAt"), "{run:?}");
}
