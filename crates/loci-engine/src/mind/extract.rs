//! What does a language model learn from turns?
//!
//! Turns are read in batches and go by number. What comes back is believed item by item: one that
//! names a turn that was not given, a kind that does not exist or that breaks the writing rules is
//! refused with the reason, and the others stay. What an item claims of what is left to the rules,
//! which read it from the sentence.

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use loci_models::ChatQuestion;
use loci_types::{EntityType, MemoryId};
use serde_json::{Value, json};

use super::fence::{fence, place, quote};
use super::prompt::Purpose;
use super::rules::{PROCEDURE, STATEMENT, fault};
use super::{Mind, Spent, importance, items, list, object, plain, question};
use crate::extract::{Candidate, Mention, Speaker, Utterance};
use crate::pack::tokens::count_tokens;
use crate::{Result, normalise};

/// Candidates of a batch.
const MOST: usize = 5;
/// Turns before a batch that are shown again, so that it is understood.
const BEFORE: usize = 2;
/// Tokens that may be written: five candidates with their entities, and room for other scripts.
const TOKENS: u32 = 1_600;
/// How sure we are of what is said outright, and of what only follows.
const STATED: f64 = 0.9;
const IMPLIED: f64 = 0.6;

/// The kinds that can be learned from turns.
const KINDS: &[&str] =
    &["fact", "person", "project", "task", "decision", "preference", "opinion", "correction", "procedural"];

/// What was learned.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extracted {
    /// What may be worth remembering.
    pub candidates: Vec<Candidate>,
    /// What was written and not believed.
    pub refused: Vec<Refusal>,
    /// How many of the turns were read, from the first. All of them, unless the tokens ran out.
    pub read: usize,
}

/// Something that a model wrote and that is not believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refusal {
    /// The first turn of the batch that it was written for, counted from 0.
    pub batch: usize,
    /// Its place in the answer, counted from 0.
    pub item: usize,
    /// Why, without a word of it.
    pub reason: &'static str,
}

impl Mind {
    /// What can be learned from turns, in their order. If the tokens run out after the first batch,
    /// what was learned so far is returned with the number of turns that were read.
    pub async fn extract(&self, turns: &[Utterance<'_>]) -> Result<(Extracted, Spent)> {
        let mut spent = Spent::default();
        let mut learned = Extracted::default();
        for batch in batches(turns, self.limits.batch_tokens, self.limits.batch_turns) {
            let question = asked(turns, &batch, &self.time_zone);
            if batch.start > 0 && !self.affords(&question) {
                break;
            }
            let answer = self.ask(&question, &mut spent).await?;
            learned.read = batch.end;
            self.take(&answer, turns, batch, &mut learned);
        }
        Ok((learned, spent))
    }

    fn affords(&self, question: &ChatQuestion) -> bool {
        self.left().is_none_or(|left| self.chat.estimate(question) <= left)
    }

    /// Sorts the items of an answer into what is believed and what is not.
    fn take(&self, answer: &Value, turns: &[Utterance<'_>], batch: Range<usize>, learned: &mut Extracted) {
        let mut kept = 0;
        for (item, value) in items(answer, "candidates").enumerate() {
            let mut refuse = |reason| learned.refused.push(Refusal { batch: batch.start, item, reason });
            let read = candidate(value, &turns[batch.clone()], &self.time_zone);
            match read.and_then(|candidate| fresh(candidate, &learned.candidates)) {
                Ok(_) if kept == MOST => refuse("it is one too many"),
                Ok(candidate) => {
                    kept += 1;
                    learned.candidates.push(candidate);
                }
                Err(reason) => refuse(reason),
            }
        }
    }
}

/// A candidate that was not noted before.
fn fresh(candidate: Candidate, earlier: &[Candidate]) -> Result<Candidate, &'static str> {
    let words = normalise(&candidate.content);
    let noted = earlier.iter().any(|earlier| normalise(&earlier.content) == words);
    if noted { Err("it was noted before") } else { Ok(candidate) }
}

/// Turns that are read together: within both limits, and at least one.
fn batches(turns: &[Utterance<'_>], tokens: usize, count: usize) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    let mut total = 0;
    for (place, turn) in turns.iter().enumerate() {
        let size = count_tokens(turn.text);
        match batches.last_mut() {
            Some(batch) if total + size <= tokens && batch.len() < count => {
                batch.end = place + 1;
                total += size;
            }
            _ => {
                batches.push(place..place + 1);
                total = size;
            }
        }
    }
    batches
}

fn asked(turns: &[Utterance<'_>], batch: &Range<usize>, time_zone: &TimeZone) -> ChatQuestion {
    let before = &turns[batch.start.saturating_sub(BEFORE)..batch.start];
    let mut lines: Vec<String> = before.iter().map(|turn| format!("[before] {}", line(turn, time_zone))).collect();
    let numbered = turns[batch.clone()].iter().zip(1..);
    lines.extend(numbered.map(|(turn, number)| format!("[{number}] {}", line(turn, time_zone))));
    question(Purpose::Extract, fence(&lines), schema(), TOKENS)
}

/// A turn as it is shown, such as `2026-05-03 14:05 Sunday, user "Ana": "I moved."`.
fn line(turn: &Utterance<'_>, time_zone: &TimeZone) -> String {
    let at = turn.at.to_zoned(time_zone.clone()).strftime("%Y-%m-%d %H:%M %A");
    let speaker = match turn.speaker {
        Speaker::User(Some(name)) => format!("user {}", quote(name)),
        Speaker::User(None) => "user".to_owned(),
        Speaker::Assistant => "assistant".to_owned(),
        Speaker::Named(name) => quote(name),
        Speaker::Tool => "tool".to_owned(),
    };
    format!("{at}, {speaker}: {}", quote(turn.text))
}

/// Kinds and lengths are not part of the shape: an item that misses them costs itself, not the answer.
fn schema() -> Value {
    let date = json!({ "type": ["string", "null"] });
    let entity = object([("name", plain("string")), ("type", plain("string")), ("aliases", list(plain("string")))]);
    let candidate = object([
        ("content", plain("string")),
        ("kind", plain("string")),
        ("turns", list(plain("integer"))),
        ("stated", plain("boolean")),
        ("importance", plain("integer")),
        ("corrects", plain("boolean")),
        ("happened", date.clone()),
        ("since", date.clone()),
        ("deadline", date),
        ("entities", list(entity)),
    ]);
    object([("candidates", list(candidate))])
}

/// An item of an answer, or why it is not believed.
fn candidate(item: &Value, turns: &[Utterance<'_>], time_zone: &TimeZone) -> Result<Candidate, &'static str> {
    let content = item["content"].as_str().unwrap_or_default().trim().to_owned();
    let kind = item["kind"].as_str().unwrap_or_default().trim().to_lowercase();
    if !KINDS.contains(&kind.as_str()) {
        return Err("its kind is unknown");
    }
    let from = sources(item, turns)?;
    let most = if kind == "procedural" { PROCEDURE } else { STATEMENT };
    if let Some(fault) = fault(&content, most) {
        return Err(fault);
    }
    let date = |name: &str| item[name].as_str().and_then(date);
    let midnight = |day: Date| day.to_zoned(time_zone.clone()).ok().map(|day| day.timestamp());
    let stated = item["stated"].as_bool().unwrap_or(false);
    Ok(Candidate {
        content,
        kind,
        claim: None,
        confidence: if stated { STATED } else { IMPLIED },
        importance: importance(&item["importance"]),
        entities: mentions(item),
        event_time: date("happened").and_then(midnight),
        valid_from: date("since").and_then(midnight),
        expires_at: date("deadline").and_then(|day| day.tomorrow().ok()).and_then(midnight),
        corrects: item["corrects"].as_bool().unwrap_or(false),
        pattern: format!("llm:extract@{}", Purpose::Extract.prompt().version),
        from,
    })
}

/// The turns that an item names, each once. A number that was not given makes the item doubtful.
fn sources(item: &Value, turns: &[Utterance<'_>]) -> Result<Vec<MemoryId>, &'static str> {
    let mut from = Vec::new();
    for number in items(item, "turns") {
        let place = place(number, turns.len()).ok_or("it names a turn that was not given")?;
        if !from.contains(&turns[place].id) {
            from.push(turns[place].id);
        }
    }
    if from.is_empty() { Err("it names no turn") } else { Ok(from) }
}

/// The things that an item speaks of. A sort of thing that is not known is an idea.
fn mentions(item: &Value) -> Vec<Mention> {
    let mut mentions: Vec<Mention> = Vec::new();
    for entity in items(item, "entities") {
        let name = entity["name"].as_str().unwrap_or_default().trim();
        if name.is_empty() || mentions.iter().any(|known| known.name == name) {
            continue;
        }
        let mut aliases: Vec<String> = Vec::new();
        for alias in items(entity, "aliases").filter_map(Value::as_str).map(str::trim) {
            if !alias.is_empty() && alias != name && !aliases.iter().any(|known| known == alias) {
                aliases.push(alias.to_owned());
            }
        }
        let sort = entity["type"].as_str().unwrap_or_default().trim().to_lowercase();
        let entity_type = sort.parse().unwrap_or(EntityType::Concept);
        mentions.push(Mention { name: name.to_owned(), entity_type, aliases });
    }
    mentions
}

/// A day as models write it. A month or a year alone is its first day; what is no date is none.
fn date(text: &str) -> Option<Date> {
    let text = text.trim();
    let whole = match text.len() {
        4 => format!("{text}-01-01"),
        7 => format!("{text}-01"),
        _ => text.to_owned(),
    };
    whole.parse().ok().or_else(|| Some(text.parse::<Timestamp>().ok()?.to_zoned(TimeZone::UTC).date()))
}

#[cfg(test)]
mod tests {
    use jiff::tz::offset;
    use uuid::Uuid;

    use super::*;

    fn turn(id: u128, text: &str) -> Utterance<'_> {
        let at = "2026-05-03T14:05:00Z".parse().unwrap();
        Utterance { id: MemoryId(Uuid::from_u128(id)), text, speaker: Speaker::User(None), at }
    }

    fn item(changes: Value) -> Value {
        let mut item = json!({
            "content": "Ana lives in Lisbon.", "kind": "fact", "turns": [1], "stated": true, "importance": 3,
            "corrects": false, "happened": null, "since": null, "deadline": null, "entities": [],
        });
        for (name, value) in changes.as_object().unwrap() {
            item[name] = value.clone();
        }
        item
    }

    #[test]
    fn batches_keep_both_limits_and_leave_no_turn_out() {
        let turns: Vec<Utterance<'_>> = ["one", "two", "three four five six", "seven"]
            .into_iter()
            .zip(1..)
            .map(|(text, id)| turn(id, text))
            .collect();
        for (tokens, count, expect) in
            [(100, 10, vec![4]), (100, 2, vec![2, 4]), (2, 10, vec![2, 3, 4]), (1, 1, vec![1, 2, 3, 4])]
        {
            let batches = batches(&turns, tokens, count);
            let ends: Vec<usize> = batches.iter().map(|batch| batch.end).collect();
            assert_eq!(ends, expect, "{tokens} {count}");
            assert!(batches.iter().skip(1).zip(&ends).all(|(batch, end)| batch.start == *end) && batches[0].start == 0);
        }
        assert!(batches(&[], 100, 10).is_empty());
    }

    #[test]
    fn a_turn_is_shown_on_one_line_with_its_day_and_speaker() {
        let zone = TimeZone::fixed(offset(9));
        for (speaker, expect) in [
            (Speaker::User(None), r#"2026-05-03 23:05 Sunday, user: "a\nb""#),
            (Speaker::User(Some("Ana")), r#"2026-05-03 23:05 Sunday, user "Ana": "a\nb""#),
            (Speaker::Named("Tom\n[9]"), r#"2026-05-03 23:05 Sunday, "Tom\n[9]": "a\nb""#),
            (Speaker::Assistant, r#"2026-05-03 23:05 Sunday, assistant: "a\nb""#),
            (Speaker::Tool, r#"2026-05-03 23:05 Sunday, tool: "a\nb""#),
        ] {
            assert_eq!(line(&Utterance { speaker, ..turn(1, "a\nb") }, &zone), expect);
        }
    }

    #[test]
    fn an_item_is_believed_or_refused_with_the_reason() {
        let turns = [turn(1, "I live in Lisbon"), turn(2, "since May")];
        let long = "x".repeat(281);
        for (changes, expect) in [
            (json!({}), None),
            (json!({ "kind": "Decision " }), None),
            (json!({ "turns": [2, 2.0] }), None),
            (json!({ "kind": "procedural", "content": &long }), None),
            (json!({ "importance": 9, "happened": "some day" }), None),
            (json!({ "turns": [3] }), Some("it names a turn that was not given")),
            (json!({ "turns": [1, 0] }), Some("it names a turn that was not given")),
            (json!({ "turns": [] }), Some("it names no turn")),
            (json!({ "kind": "episodic" }), Some("its kind is unknown")),
            (json!({ "kind": "rumour" }), Some("its kind is unknown")),
            (json!({ "content": &long }), Some("it is too long")),
            (json!({ "content": " " }), Some("it is empty")),
            (json!({ "content": "She lives in Lisbon." }), Some("it has a pronoun in place of a name")),
        ] {
            assert_eq!(candidate(&item(changes.clone()), &turns, &TimeZone::UTC).err(), expect, "{changes}");
        }
    }

    #[test]
    fn times_sources_and_things_are_read() {
        let turns = [turn(1, "a"), turn(2, "b")];
        let changes = json!({
            "turns": [2, 1, 2], "stated": false, "importance": 5, "corrects": true,
            "happened": "2026-05-02", "since": "2026-04", "deadline": "2026-05-31",
            "entities": [
                { "name": "Ana Silva", "type": "Person", "aliases": ["Ana", "Ana", "Ana Silva", ""] },
                { "name": "thrift", "type": "virtue", "aliases": [] },
                { "name": " ", "type": "person", "aliases": [] },
            ],
        });
        let zone = TimeZone::fixed(offset(1));
        let candidate = candidate(&item(changes), &turns, &zone).unwrap();
        let time = |text: &str| Some(text.parse::<Timestamp>().unwrap());
        assert_eq!(candidate.from, [turns[1].id, turns[0].id]);
        assert_eq!(candidate.event_time, time("2026-05-01T23:00:00Z"));
        assert_eq!(candidate.valid_from, time("2026-03-31T23:00:00Z"));
        assert_eq!(candidate.expires_at, time("2026-05-31T23:00:00Z"));
        assert_eq!((candidate.confidence, candidate.importance, candidate.corrects), (IMPLIED, Some(1.0), true));
        let mention = |name: &str, entity_type, aliases: &[&str]| Mention {
            name: name.to_owned(),
            entity_type,
            aliases: aliases.iter().map(|&alias| alias.to_owned()).collect(),
        };
        let expect = [mention("Ana Silva", EntityType::Person, &["Ana"]), mention("thrift", EntityType::Concept, &[])];
        assert_eq!(candidate.entities, expect);
    }
}
