//! What are several turns about?
//!
//! A word that two of them share, and that somewhere stands where things stand: behind an article
//! or a preposition. Verbs and adjectives are shared too, but nothing is about "the failing".

use std::collections::{BTreeMap, BTreeSet};

use loci_store::text::{Analyser, says_nothing};

use crate::upkeep::clause::{Clause, clauses};

/// What turns are about.
pub(super) struct Topic {
    /// The word alone.
    pub(super) word: String,
    /// As it stands in a sentence: "the deployment", "Postgres", "«деплой»".
    pub(super) shown: String,
}

/// Words before a thing that "the" can replace.
const ARTICLES: &str = "\
    the, a, an, this, that, these, those, my, our, your, his, her, their, another, этот, эта, это, эти, этого, этой, \
    этим, этому, эту, мой, моя, мое, мои, моего, моей, моим, мою, наш, наша, наше, наши, нашего, нашей, нашу";
/// Words before a thing that has no article.
const PREPOSITIONS: &str = "\
    about, with, of, for, on, in, by, from, to, over, о, об, про, с, со, за, из, на, в, во, от, для";
/// Things that are never the topic.
const VAGUE: &str = "\
    thing, things, stuff, time, times, day, days, week, weeks, month, year, morning, evening, night, today, yesterday, \
    tomorrow, way, lot, bit, help, moment, hours, hour, minutes, people, someone, everything, anything, nothing, \
    something, nerves, energy, monday, tuesday, wednesday, thursday, \
    friday, saturday, sunday, дело, раз, день, дня, время, неделю, неделя, час, часов, помощь, сил, сегодня, вчера";

/// A word as it was found.
struct Found {
    /// The shortest form that was written.
    form: String,
    /// Which of the texts have it.
    texts: BTreeSet<usize>,
    /// How often it stood behind an article, behind a preposition, with a capital inside a sentence.
    article: usize,
    preposition: usize,
    name: usize,
}

/// What most of these turns are about. The facts only help: a topic is named in a turn.
pub(super) fn topic(speaker: &str, turns: &[&str], facts: &[&str]) -> Option<Topic> {
    let analyser = Analyser::default();
    let own: BTreeSet<String> = analyser.terms(speaker).into_iter().collect();
    let mut found: BTreeMap<String, Found> = BTreeMap::new();
    for (number, text) in turns.iter().chain(facts).enumerate() {
        for clause in clauses(text) {
            for place in 0..clause.words.len() {
                note(&analyser, &clause, place, number, &mut found);
            }
        }
    }
    let in_turns = |found: &Found| found.texts.range(..turns.len()).count();
    found.retain(|stem, found| {
        let thing = found.article + found.preposition + found.name > 0;
        !own.contains(stem) && thing && in_turns(found) > 0 && found.texts.len() > 1
    });
    let weight = |found: &Found| (in_turns(found), found.article + found.name, found.texts.len());
    // Among equals the first in the alphabet, so that the answer is always the same.
    let best = found.values().rev().max_by_key(|found| weight(found))?;
    Some(Topic { shown: shown(best), word: best.form.to_lowercase() })
}

fn note(analyser: &Analyser, clause: &Clause, place: usize, text: usize, found: &mut BTreeMap<String, Found>) {
    let word = &clause.words[place];
    let bare = word.text.strip_suffix("'s").unwrap_or(&word.text);
    let short = bare.chars().count() < 3 || bare.contains('\'') || bare.chars().any(|c| c.is_ascii_digit());
    if short || says_nothing(bare) || clause.is_any(place, VAGUE) {
        return;
    }
    let name = word.capital && !(clause.opens && place == 0);
    let form = if name { capitalised(bare) } else { bare.to_owned() };
    let entry = found.entry(analyser.stem(bare)).or_insert_with(|| Found {
        form: form.clone(),
        texts: BTreeSet::new(),
        article: 0,
        preposition: 0,
        name: 0,
    });
    if form.chars().count() < entry.form.chars().count() {
        entry.form = form;
    }
    entry.texts.insert(text);
    // "the new deploy fails": what stands before a word that says something is not the thing itself.
    let last = clause.words.get(place + 1).is_none_or(|next| says_nothing(&next.text.replace('\'', "")));
    entry.article += usize::from(place > 0 && last && clause.is_any(place - 1, ARTICLES));
    entry.preposition += usize::from(place > 0 && last && clause.is_any(place - 1, PREPOSITIONS));
    entry.name += usize::from(name);
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// English words take their article; others stand as they were written.
fn shown(found: &Found) -> String {
    if !found.form.is_ascii() {
        return format!("«{}»", found.form);
    }
    if found.article > 0 && found.name == 0 { format!("the {}", found.form) } else { found.form.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_topic_is_a_thing_that_is_shared() {
        for (turns, facts, expect) in [
            (vec!["The deployment failed.", "I hate this deployment!"], vec![], Some("the deployment")),
            (vec!["Stuck with Postgres again", "I hate Postgres"], vec![], Some("Postgres")),
            (vec!["tired of deployments", "so many deployments"], vec![], Some("deployments")),
            (vec!["The exam is near", "I can't sleep"], vec!["Ana has an exam in May."], Some("the exam")),
            (vec!["Бесит этот деплой", "Опять упал деплой"], vec![], Some("«деплой»")),
            (vec!["It keeps failing", "Failing again"], vec![], None),
            (vec!["Ugh", "Argh"], vec![], None),
            (vec!["What a day", "Such a day"], vec![], None),
            (vec!["Ana is here", "For Ana"], vec![], None),
            (vec!["Ugh", "I hate it"], vec!["Ana has an exam.", "The exam is near."], None),
        ] {
            assert_eq!(topic("Ana", &turns, &facts).map(|topic| topic.shown).as_deref(), expect, "{turns:?}");
        }
    }
}
