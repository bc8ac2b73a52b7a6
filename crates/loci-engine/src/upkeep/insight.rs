//! What do someone's words tell about them?
//!
//! Pure, and slow to judge: a feeling must show in two turns at least, a style in most of them, a
//! change of taste in a memory that replaced another. Everything else tells nothing. What is told
//! is in the third person, by name and without pronouns, and fits in [`LONGEST`] characters.

mod feeling;
mod topic;

use std::collections::HashSet;

use super::clause::{Clause, clauses, each};
use crate::pack::line::{cut, fold};
use crate::text::normalise;

/// The most characters of an insight.
pub const LONGEST: usize = 280;

/// So many turns are read, the latest.
const TURNS: usize = 5;
/// So many new facts are read.
const FACTS: usize = 3;
/// The most insights at a time.
const MOST: usize = 3;
/// A style shows in so many turns, or it is chance.
const HABIT: usize = 4;
/// A turn of so few words is terse.
const TERSE: usize = 4;
/// How much an insight matters, from 1 to 5.
const USUAL: u8 = 2;
/// And when hardly a turn is without the feeling.
const STRONG: u8 = 3;

/// What insights are drawn from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct InsightInput<'a> {
    /// The user's name, or "User".
    pub name: &'a str,
    /// The user's latest turns, in their order.
    pub turns: &'a [&'a str],
    /// Preferences that were replaced: the old text and the new.
    pub changes: &'a [(String, String)],
    /// What was lately learned.
    pub facts: &'a [&'a str],
}

/// Something that someone's words tell about them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Insight {
    /// A statement in the third person.
    pub summary: String,
    /// What it is about, in single words.
    pub tags: Vec<String>,
    /// How much it matters, from 1 to 5.
    pub importance: u8,
}

/// What the latest words tell about their speaker: three things at most, mostly nothing.
pub fn insights(input: &InsightInput<'_>) -> Vec<Insight> {
    let name = match cut(&fold(input.name), 60) {
        name if name.is_empty() => "User".to_owned(),
        name => name,
    };
    let turns = latest(input.turns);
    let facts = &input.facts[..input.facts.len().min(FACTS)];
    let mut insights = feelings(&name, &turns, facts);
    insights.extend(input.changes.iter().filter_map(|(old, new)| change(&name, old, new)));
    insights.extend(style(&name, &turns));
    insights.truncate(MOST);
    insights
}

/// The last turns, each text once: who sends a thing twice does not feel it twice.
fn latest<'a>(turns: &[&'a str]) -> Vec<&'a str> {
    let mut seen = HashSet::new();
    let last = &turns[turns.len().saturating_sub(TURNS)..];
    last.iter().copied().filter(|turn| seen.insert(normalise(turn))).collect()
}

/// The feelings that show again and again, at most two, the most frequent first.
fn feelings(name: &str, turns: &[&str], facts: &[&str]) -> Vec<Insight> {
    let read: Vec<Vec<Clause>> = turns.iter().map(|turn| clauses(turn)).collect();
    let mut shown: Vec<(&'static str, Vec<&str>)> = Vec::new();
    for feeling in feeling::FEELINGS {
        let in_turn = |clauses: &[Clause]| clauses.iter().any(|clause| feeling.shows_in(clause));
        let showing = turns.iter().zip(&read).filter(|(_, clauses)| in_turn(clauses));
        shown.push((feeling.name, showing.map(|(turn, _)| *turn).collect()));
    }
    shown.retain(|(_, turns)| turns.len() > 1);
    shown.sort_by_key(|(_, turns)| std::cmp::Reverse(turns.len()));
    shown.truncate(2);
    let told = |(feeling, turns): (&str, Vec<&str>)| {
        let topic = topic::topic(name, &turns, facts);
        let about = topic.as_ref().map(|topic| format!(", mostly about {}", topic.shown)).unwrap_or_default();
        let tags = std::iter::once(feeling.to_owned()).chain(topic.map(|topic| topic.word)).collect();
        let importance = if turns.len() >= HABIT { STRONG } else { USUAL };
        insight(format!("{name} shows repeated {feeling}{about}."), tags, importance)
    };
    shown.into_iter().map(told).collect()
}

/// What a preference was and what it has become.
fn change(name: &str, old: &str, new: &str) -> Option<Insight> {
    let tidy = |text: &str| fold(text).trim_end_matches(['.', '!', ' ']).to_owned();
    let (old, new) = (tidy(old), tidy(new));
    if old.is_empty() || new.is_empty() || normalise(&old) == normalise(&new) {
        return None;
    }
    let (was, is) = sides(name, &old, &new);
    if points(&was) || points(&is) {
        return None;
    }
    let summary = format!("{name}'s taste has changed: formerly {}, now {}.", cut(&was, 90), cut(&is, 90));
    Some(insight(summary, vec!["preference".to_owned(), "change".to_owned()], USUAL))
}

/// What differs between two statements: all behind the words with which both begin. What is left of either alone
/// would say nothing ("likes tea", "likes tea with milk"), so then only the name is taken off.
fn sides(name: &str, old: &str, new: &str) -> (String, String) {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split(' ').collect(), new.split(' ').collect());
    let same = |(a, b): &(&&str, &&str)| a.to_lowercase() == b.to_lowercase();
    let common = old.iter().zip(&new).take_while(same).count();
    let named = |words: &[&str]| {
        let of_name = name.split(' ').count();
        let starts = words.len() > of_name && words[..of_name].join(" ").to_lowercase() == name.to_lowercase();
        if starts { of_name } else { 0 }
    };
    let from = if common < old.len().min(new.len()) { (common, common) } else { (named(&old), named(&new)) };
    (old[from.0..].join(" "), new[from.1..].join(" "))
}

/// Words that stand for someone or something unnamed.
const PRONOUNS: &str = "\
    i, i'm, i've, i'd, i'll, me, my, mine, myself, we, us, our, ours, you, your, yours, he, him, his, she, her, hers, \
    it, its, it's, they, them, their, theirs, я, меня, мне, мной, мой, моя, мое, мои, мою, мы, нас, нам, наш, ты, \
    тебя, тебе, вы, вас, вам, он, его, ему, она, ее, ей, они, их, им, оно";

fn points(text: &str) -> bool {
    clauses(text).iter().any(|clause| (0..clause.words.len()).any(|place| clause.is_any(place, PRONOUNS)))
}

/// Words of courtesy.
const POLITE: &str = "\
    please, pls, thanks, thank you, many thanks, could you, would you, would you mind, kindly, if you don't mind, \
    i appreciate, much appreciated, sorry to bother, пожалуйста, спасибо, благодарю, будьте добры, будь добр, \
    будь добра, будьте любезны, не могли бы, не мог бы, не могла бы, если не трудно, если вас не затруднит";

/// How someone writes, if most turns show it.
fn style(name: &str, turns: &[&str]) -> Option<Insight> {
    let read: Vec<Vec<Clause>> = turns.iter().map(|turn| clauses(turn)).collect();
    let polite = |turn: &&Vec<Clause>| each(POLITE).any(|phrase| turn.iter().any(|c| c.find(phrase).is_some()));
    let terse = |turn: &&Vec<Clause>| (1..=TERSE).contains(&turn.iter().map(|c| c.words.len()).sum());
    let (polite, terse) = (read.iter().filter(polite).count(), read.iter().filter(terse).count());
    let (how, tag) = match (polite >= HABIT, terse >= HABIT) {
        (true, true) => ("in few words, yet politely", "polite"),
        (true, false) => ("politely, with please and thanks in most turns", "polite"),
        (false, true) => ("tersely, in a few words a turn", "terse"),
        (false, false) => return None,
    };
    Some(insight(format!("{name} writes {how}."), vec!["style".to_owned(), tag.to_owned()], USUAL))
}

fn insight(summary: String, tags: Vec<String>, importance: u8) -> Insight {
    Insight { summary: cut(&summary, LONGEST), tags, importance }
}

#[cfg(test)]
mod tests;
