//! Tests that explicit requests to remember something are kept.
//!
//! The turns were written by people who had not seen the rules, in English, German, Russian and Spanish.

use jiff::tz::TimeZone;
use loci_engine::extract::{ExtractionContext, LearningCandidate, Speaker, Utterance, extract};
use loci_types::MemoryId;
use serde_json::Value;
use uuid::Uuid;

/// The conversations of a file, and what must be kept of each.
fn conversations(file: &str) -> Vec<Value> {
    file.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn learned(conversation: &Value) -> Vec<LearningCandidate> {
    let turns = conversation["turns"].as_array().unwrap();
    let turn = |(place, turn): (usize, &'static Value)| Utterance {
        id: MemoryId(Uuid::from_u128(place as u128)),
        text: turn["text"].as_str().unwrap(),
        speaker: if turn["role"] == "user" { Speaker::User(Some("Ana")) } else { Speaker::Assistant },
        actor: None,
        at: "2026-06-01T12:00:00Z".parse().unwrap(),
    };
    let turns: &'static [Value] = turns.clone().leak();
    let turns: Vec<Utterance<'_>> = turns.iter().enumerate().map(turn).collect();
    let surroundings = ExtractionContext { time_zone: TimeZone::UTC, known: Default::default(), owner: None };
    extract(&turns, &surroundings).candidates
}

#[test]
fn what_is_asked_for_is_kept_however_it_is_asked() {
    let all = conversations(include_str!("../data/requests.jsonl"));
    assert!(all.len() > 100);
    for conversation in all {
        let found = learned(&conversation);
        let kept: String = found
            .iter()
            .map(|one| format!("{} {} ", one.context.as_deref().unwrap_or_default(), one.content))
            .collect();
        for word in conversation["keep"].as_array().unwrap() {
            let word = word.as_str().unwrap();
            assert!(kept.to_lowercase().contains(&word.to_lowercase()), "{word}: {conversation} {kept}");
        }
    }
}

#[test]
fn what_only_sounds_like_a_request_is_none() {
    for conversation in conversations(include_str!("../data/no-requests.jsonl")) {
        let found = learned(&conversation);
        assert!(found.iter().all(|one| !one.requested), "{conversation} {found:?}");
    }
}
