//! Shows what would be learned from turns, or what becomes of pairs, without a store or a model.
//!
//! `cargo run --example learn -- talk turns.jsonl` and `cargo run --example learn -- pairs pairs.jsonl`

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::disallowed_methods)]

use std::collections::{BTreeMap, HashSet};

use jiff::tz::TimeZone;
use loci_engine::extract::{ExtractionContext, Speaker, SpeakerIdentity, Utterance, extract};
use loci_engine::reconcile::{AnalysedText, Decision, KnownStatement, Statement, reconcile};
use loci_engine::{Config, content_hash};
use loci_types::MemoryId;
use serde_json::Value;
use uuid::Uuid;

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let lines = std::fs::read_to_string(&arguments[2]).unwrap();
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    if arguments[1] == "talk" { talk(&lines) } else { pairs(&lines) }
}

fn talk(lines: &[Value]) {
    let mut sessions: BTreeMap<(String, String), Vec<&Value>> = BTreeMap::new();
    for line in lines {
        sessions.entry((line["conv"].as_str().unwrap().into(), line["session"].to_string())).or_default().push(line);
    }
    for ((conversation, session), lines) in sessions {
        println!("== {conversation} {session}");
        let turns: Vec<Utterance<'_>> = lines.iter().map(|line| turn(line)).collect();
        let surroundings = ExtractionContext { time_zone: TimeZone::UTC, known: HashSet::new(), owner: None };
        let found = extract(&turns, &surroundings);
        for one in &found.candidates {
            let turns: Vec<u128> = one.from.iter().map(|id| id.0.as_u128()).collect();
            println!(
                "{turns:?} {} {:.2} {}{:?} {:?}{}",
                one.kind,
                one.importance,
                one.context.as_ref().map(|context| format!("(re: {context:?}) ")).unwrap_or_default(),
                one.content,
                one.dates,
                one.field.map(|field| format!(" <{field}>")).unwrap_or_default(),
            );
            for claim in &one.claims {
                println!(
                    "      {} | {} | {} {}",
                    claim.subject,
                    claim.attribute,
                    claim.value,
                    if claim.single { "" } else { "(many)" }
                );
            }
        }
        for missed in &found.missed {
            println!("   MISSED {}", missed.request);
        }
        let names: Vec<String> = found
            .mentions
            .iter()
            .flat_map(|(_, names)| names)
            .map(|one| format!("{}:{}", one.name, one.entity_type))
            .collect();
        println!("   names: {}", names.join(", "));
    }
}

fn turn(line: &Value) -> Utterance<'_> {
    let speaker = match line["role"].as_str() {
        Some("assistant") => Speaker::Assistant,
        Some("tool" | "system") => Speaker::Tool,
        _ => Speaker::User(line["actor"].as_str().or(line["speaker"].as_str())),
    };
    Utterance {
        id: MemoryId(Uuid::from_u128(line["pos"].as_u64().unwrap().into())),
        text: line["text"].as_str().unwrap(),
        speaker,
        actor: None,
        at: line["time"].as_str().and_then(|time| time.parse().ok()).unwrap_or_default(),
    }
}

fn pairs(lines: &[Value]) {
    let voice = SpeakerIdentity::of(None, None);
    for line in lines {
        let known: Vec<&str> = line["known"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
        let neighbour = |(place, text): (usize, &&str)| KnownStatement {
            id: MemoryId(Uuid::from_u128(place as u128)),
            hash: content_hash(text),
            reading: AnalysedText::of(text, None, &voice),
            similarity: None,
            said_at: jiff::Timestamp::UNIX_EPOCH,
            confirmed: false,
            as_is: false,
            copied: false,
        };
        let known: Vec<KnownStatement> = known.iter().enumerate().map(neighbour).collect();
        let text = line["new"].as_str().unwrap();
        let new = Statement {
            hash: content_hash(text),
            reading: AnalysedText::of(text, None, &voice),
            said_at: jiff::Timestamp::UNIX_EPOCH,
            copied: false,
            confirmed: false,
        };
        let decision = reconcile(&new, &known, &Config::default().bands);
        let found = match &decision {
            Decision::Skip { .. } => "same",
            Decision::Supersede { .. } => "replace",
            Decision::Add { contradicts, .. } if !contradicts.is_empty() => "link",
            _ => "add",
        };
        let expect = line["expect"].as_str().unwrap();
        let right = found == expect || found == "add" && expect == "more";
        println!(
            "{} {expect} -> {found} {} | {} => {text}",
            if right { " " } else { "X" },
            decision.reason(),
            line["known"]
        );
    }
}
