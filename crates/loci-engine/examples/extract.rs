//! What would be learned from a conversation?
//!
//! Reads turns from standard input, one a line, as `name: text`; `assistant` and `tool` are heard
//! as such, `user` is the user. Prints what each turn teaches, and how many turns a second of CPU
//! were read.

use std::io::Read;
use std::time::Instant;

use jiff::civil::date;
use jiff::tz::TimeZone;
use loci_engine::extract::{Candidate, Speaker, Surroundings, Utterance, extract};
use loci_types::MemoryId;
use uuid::Uuid;

#[expect(clippy::print_stdout, reason = "an example speaks to people")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut input = String::new();
    std::io::stdin().read_to_string(&mut input)?;
    let at = date(2026, 6, 1).at(12, 0, 0, 0).to_zoned(TimeZone::UTC)?.timestamp();
    let turns: Vec<Utterance<'_>> = input
        .lines()
        .filter(|line| !line.trim().is_empty())
        .enumerate()
        .map(|(number, line)| {
            let (name, text) = line.split_once(": ").unwrap_or(("user", line));
            let speaker = match name {
                "user" => Speaker::User(None),
                "assistant" => Speaker::Assistant,
                "tool" => Speaker::Tool,
                name => Speaker::Named(name),
            };
            Utterance { id: MemoryId(Uuid::from_u128(number as u128)), text, speaker, at }
        })
        .collect();
    let surroundings = Surroundings { time_zone: TimeZone::UTC, known: Vec::new() };
    let started = Instant::now();
    let found = extract(&turns, &surroundings);
    let took = started.elapsed();
    for (number, turn) in turns.iter().enumerate() {
        println!("{}", turn.text);
        let id = MemoryId(Uuid::from_u128(number as u128));
        found.iter().filter(|candidate| candidate.from[0] == id).for_each(show);
    }
    println!(
        "{} turns, {} candidates, {:.0} turns a second",
        turns.len(),
        found.len(),
        turns.len() as f64 / took.as_secs_f64()
    );
    Ok(())
}

#[expect(clippy::print_stdout, reason = "an example speaks to people")]
fn show(candidate: &Candidate) {
    let Candidate { content, kind, confidence, pattern, corrects, .. } = candidate;
    let claim = candidate
        .claim
        .as_ref()
        .map_or(String::new(), |claim| format!("{}|{}|{}", claim.subject, claim.attribute, claim.value));
    let names: Vec<String> =
        candidate.entities.iter().map(|mention| format!("{} {}", mention.name, mention.entity_type)).collect();
    let corrects = if *corrects { " corrects" } else { "" };
    println!("    {content}  [{kind} {pattern} {confidence:.2}{corrects}] {{{claim}}} <{}>", names.join(", "));
}
