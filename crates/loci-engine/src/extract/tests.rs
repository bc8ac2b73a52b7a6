//! Is the right thing learned from each sentence, and nothing from talk?
//!
//! A row is a turn and what it teaches, each as `content |kind`, the surest first. It is noon on
//! Monday, 1 June 2026, in UTC. A line break in a turn is a turn of its own.

use jiff::civil::date;
use jiff::tz::TimeZone;
use loci_types::{Class, MemoryId};
use proptest::prelude::*;
use uuid::Uuid;

use super::{Candidate, Speaker, Surroundings, Utterance, claim_of, extract};
use crate::writing::validate;

mod english;
mod laws;
mod russian;
mod talk;

/// What a conversation teaches; turns are told apart by line breaks, speakers by `name: `.
fn learned(text: &str) -> Vec<Candidate> {
    let at = date(2026, 6, 1).at(12, 0, 0, 0).to_zoned(TimeZone::UTC).unwrap().timestamp();
    let turns: Vec<Utterance<'_>> = text
        .split(" ¶ ")
        .enumerate()
        .map(|(number, turn)| {
            let (speaker, text) = match turn.split_once(" » ") {
                Some(("assistant", text)) => (Speaker::Assistant, text),
                Some(("tool", text)) => (Speaker::Tool, text),
                Some(("user", text)) => (Speaker::User(None), text),
                Some((name, text)) => (Speaker::Named(name), text),
                None => (Speaker::User(Some("Ana")), turn),
            };
            Utterance { id: MemoryId(Uuid::from_u128(number as u128)), text, speaker, at }
        })
        .collect();
    extract(&turns, &Surroundings { time_zone: TimeZone::UTC, known: Vec::new() })
}

fn show(candidates: &[Candidate]) -> String {
    candidates
        .iter()
        .map(|candidate| format!("{} |{}", candidate.content, candidate.kind))
        .collect::<Vec<_>>()
        .join("; ")
}

/// Every row that teaches something else, so that one run shows them all.
fn check(rows: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (text, expect) in rows {
        let found = learned(text);
        laws(&found);
        if show(&found) != *expect {
            wrong.push(format!("{text}\n  want {expect}\n  have {}", show(&found)));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}

/// What holds for everything that is learned.
fn laws(found: &[Candidate]) {
    for candidate in found {
        let class = match candidate.kind.as_str() {
            "procedural" => Class::Procedural,
            "preference" => Class::Opinion,
            _ => Class::Semantic,
        };
        assert_eq!(validate(&candidate.content, class), vec![], "{}", candidate.content);
        assert!((0.0..=1.0).contains(&candidate.confidence));
        if let (Some(claim), Some(read)) = (&candidate.claim, claim_of(&candidate.content)) {
            assert_eq!(claim, &read, "{}", candidate.content);
        }
    }
}
