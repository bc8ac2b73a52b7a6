//! What would be learned from these lines?
//!
//! Reads turns from standard input, one a line, `assistant:` before those of the assistant, and prints
//! what the rules make of each: statements, claims and names.

use std::io::BufRead;

use jiff::tz::TimeZone;
use loci_engine::extract::claim::claim_of;
use loci_engine::extract::{Speaker, Surroundings, Utterance, extract};
use loci_types::MemoryId;
use uuid::Uuid;

#[expect(clippy::print_stdout, reason = "it is there to be read")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let lines: Vec<String> = std::io::stdin().lock().lines().collect::<Result<_, _>>()?;
    let at = "2026-06-01T12:00:00Z".parse()?;
    let turns: Vec<Utterance<'_>> = lines
        .iter()
        .enumerate()
        .map(|(number, line)| {
            let (speaker, text) = match line.strip_prefix("assistant:") {
                Some(text) => (Speaker::Assistant, text),
                None => (Speaker::User(Some("Ana")), line.as_str()),
            };
            Utterance { id: MemoryId(Uuid::from_u128(number as u128)), text, speaker, at }
        })
        .collect();
    let surroundings = Surroundings { time_zone: TimeZone::UTC, known: Vec::new() };
    let found = extract(&turns, &surroundings);
    for turn in &turns {
        println!("{}\n   as a statement: {:?}", turn.text, claim_of(turn.text));
        for candidate in found.iter().filter(|candidate| candidate.from.contains(&turn.id)) {
            let names: Vec<&str> = candidate.entities.iter().map(|mention| mention.name.as_str()).collect();
            println!(
                "   {} ({:.2}, {}{}): {} {names:?}\n      {:?}",
                candidate.kind,
                candidate.confidence,
                candidate.pattern,
                if candidate.corrects { ", corrects" } else { "" },
                candidate.content,
                candidate.claim
            );
        }
    }
    Ok(())
}
