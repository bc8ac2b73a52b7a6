//! Describes an entity by sentences of the memories that mention it.
//!
//! Pure and extractive: no word is added. The best sentences that name the entity are taken, first those whose
//! subject it is, and none that repeats another.

use std::collections::BTreeSet;

use loci_store::text::{Analyser, says_nothing};

use crate::learn::language::language_of;
use crate::learn::language::word::{Shape, Word, words};
use crate::prompt::pack::line::{cut, fold};
use crate::prompt::pack::shorten::split;

/// Maximum number of characters of a profile.
pub const MAX_CHARACTERS: usize = 280;

/// Maximum number of sentences of a profile.
const MAX_SENTENCES: usize = 4;
/// Two sentences that share this part of the shorter one's words say the same.
const SAME: f64 = 0.75;
/// What importance counts beside recency.
const IMPORTANCE: f64 = 0.6;

/// A memory that may tell something.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProfileFact<'a> {
    /// What it says.
    pub content: &'a str,
    /// How much it matters, in `0..=1`.
    pub importance: f64,
    /// How fresh it is, in `0..=1`.
    pub recency: f64,
}

/// What the facts say about `name`: up to four sentences, or none if nothing names it.
pub fn profile(name: &str, facts: &[ProfileFact<'_>]) -> Option<String> {
    let analyser = Analyser::default();
    let named = Name::new(name, &analyser);
    let mut sentences: Vec<ProfileSentence> = facts.iter().flat_map(|fact| named.sentences(fact)).collect();
    // A stable sort: among equals the earlier fact stays first.
    sentences.sort_by(|a, b| a.place.cmp(&b.place).then(b.worth.total_cmp(&a.worth)));
    let mut taken: Vec<&ProfileSentence> = Vec::new();
    let mut length = 0;
    for sentence in &sentences {
        let own = sentence.text.chars().count() + usize::from(!taken.is_empty());
        if taken.len() < MAX_SENTENCES
            && length + own <= MAX_CHARACTERS
            && !taken.iter().any(|other| same(other, sentence))
        {
            length += own;
            taken.push(sentence);
        }
    }
    if taken.is_empty() {
        return sentences.first().map(|sentence| cut(&sentence.text, MAX_CHARACTERS));
    }
    Some(taken.iter().map(|sentence| sentence.text.as_str()).collect::<Vec<_>>().join(" "))
}

/// Where an entity stands in a sentence; the first is the best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum MentionRole {
    /// The sentence is about it.
    Subject,
    /// The sentence is about something of it: "Ana's dog".
    Owner,
    /// It is named.
    Elsewhere,
}

struct ProfileSentence {
    text: String,
    place: MentionRole,
    worth: f64,
    /// Its content words without the name.
    terms: BTreeSet<String>,
}

fn same(one: &ProfileSentence, other: &ProfileSentence) -> bool {
    let shared = one.terms.intersection(&other.terms).count() as f64;
    shared >= SAME * one.terms.len().min(other.terms.len()) as f64
}

/// An entity's name as it is looked for.
struct Name<'a> {
    analyser: &'a Analyser,
    /// The stems of its words, because Russian names are inflected.
    stems: Vec<String>,
    /// It is also a word that says nothing ("Will"), so only the capital tells.
    capital: bool,
}

impl<'a> Name<'a> {
    fn new(name: &str, analyser: &'a Analyser) -> Self {
        let words: Vec<Word> = clauses(name).into_iter().flatten().collect();
        let capital = words.iter().any(|word| word.capital && says_nothing(&word.text));
        Self { analyser, stems: words.iter().map(|word| analyser.stem(&word.text)).collect(), capital }
    }

    /// The sentences of a fact that say something about the name.
    fn sentences(&self, fact: &ProfileFact<'_>) -> Vec<ProfileSentence> {
        let sane = |value: f64| if value.is_finite() { value.clamp(0.0, 1.0) } else { 0.0 };
        let worth = IMPORTANCE * sane(fact.importance) + (1.0 - IMPORTANCE) * sane(fact.recency);
        // What someone said stays in its quotation marks.
        let parts = if fact.content.contains(": \"") { vec![fact.content] } else { split(fact.content) };
        let statements = parts.into_iter().filter(|part| !part.ends_with(['?', '？']));
        let sentence = |part: &str| {
            let clauses = clauses(part);
            let places = clauses.iter().enumerate().filter_map(|(at, clause)| self.place(at, clause));
            let place = places.min()?;
            let terms: BTreeSet<String> =
                self.analyser.terms(part).into_iter().filter(|term| !self.stems.contains(term)).collect();
            (!terms.is_empty()).then(|| ProfileSentence { text: ended(fold(part)), place, worth, terms })
        };
        statements.filter_map(sentence).collect()
    }

    /// Where the name stands in a clause, if it does.
    fn place(&self, at: usize, clause: &[Word]) -> Option<MentionRole> {
        let start = (0..clause.len()).find(|start| self.stands_at(clause, *start))?;
        let last = &clause[start + self.stems.len() - 1].text;
        // "In 2021, the Atlas project …": an article before it, or one clause, does not make it less the subject.
        let first = start == 0 || (start == 1 && matches!(clause[0].text.as_str(), "the" | "a" | "an"));
        Some(match (first && at < 2, last.ends_with("'s")) {
            (true, false) => MentionRole::Subject,
            (true, true) => MentionRole::Owner,
            (false, _) => MentionRole::Elsewhere,
        })
    }

    fn stands_at(&self, clause: &[Word], start: usize) -> bool {
        let Some(words) = clause.get(start..start + self.stems.len()) else { return false };
        !self.stems.is_empty()
            && words.iter().zip(&self.stems).all(|(word, stem)| {
                let bare = word.text.strip_suffix("'s").unwrap_or(&word.text);
                self.analyser.stem(bare) == *stem && (!self.capital || word.capital)
            })
    }
}

/// The words of a sentence between its commas.
fn clauses(text: &str) -> Vec<Vec<Word>> {
    let words = words(text, language_of(text));
    let parts = words.split(|word| word.mark(",;:"));
    parts.map(|part| part.iter().filter(|word| word.shape != Shape::Mark).cloned().collect()).collect()
}

/// The sentence with a mark at its end, so that another may follow.
fn ended(mut text: String) -> String {
    if text.ends_with(|c: char| c.is_alphanumeric() || matches!(c, ')' | '"' | '»' | '”')) {
        text.push('.');
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn facts<'a>(rows: &[(&'a str, f64, f64)]) -> Vec<ProfileFact<'a>> {
        rows.iter()
            .map(|(content, importance, recency)| ProfileFact { content, importance: *importance, recency: *recency })
            .collect()
    }

    #[test]
    fn the_best_sentences_about_a_name() {
        let long = format!("Ana wrote {} pages.", "very ".repeat(60));
        for (what, name, rows, expect) in [
            ("nothing", "Ana", vec![], None),
            ("nobody", "Ana", vec![("Tom lives in Porto.", 0.9, 0.9), ("Banana bread is good.", 0.9, 0.9)], None),
            ("no name", " ", vec![("Ana lives in Porto.", 0.9, 0.9)], None),
            ("only a question", "Ana", vec![("Does Ana live in Porto?", 0.9, 0.9)], None),
            ("only the name", "Ana", vec![("Ana!", 0.9, 0.9)], None),
            ("one is enough", "Ana", vec![("ana lives in Porto", 0.5, 0.5)], Some("ana lives in Porto.")),
            (
                "the subject comes first, then what is hers, then the rest",
                "Ana",
                vec![
                    ("Tom works with Ana.", 0.9, 0.9),
                    ("Ana's dog is called Rex.", 0.6, 0.5),
                    ("Ana lives in Porto.", 0.3, 0.5),
                    ("In 2021, Ana founded a bakery.", 0.5, 0.5),
                ],
                Some("In 2021, Ana founded a bakery. Ana lives in Porto. Ana's dog is called Rex. Tom works with Ana."),
            ),
            (
                "four at most",
                "Ana",
                vec![
                    ("Ana sings.", 0.5, 0.1),
                    ("Ana paints.", 0.5, 0.2),
                    ("Ana swims.", 0.5, 0.3),
                    ("Ana climbs.", 0.5, 0.4),
                    ("Ana dances.", 0.5, 0.5),
                ],
                Some("Ana dances. Ana climbs. Ana swims. Ana paints."),
            ),
            (
                "what was said before is not said again",
                "Ana",
                vec![
                    ("Ana lives in Porto.", 0.5, 0.5),
                    ("Ana lives in Porto with Tom.", 0.9, 0.5),
                    ("Ana has 3 dogs.", 0.5, 0.4),
                    ("Ana has 5 dogs.", 0.5, 0.5),
                ],
                Some("Ana lives in Porto with Tom. Ana has 5 dogs. Ana has 3 dogs."),
            ),
            (
                "what is too long gives way",
                "Ana",
                vec![(&long, 0.9, 0.9), ("Ana lives in Porto.", 0.1, 0.1)],
                Some("Ana lives in Porto."),
            ),
            (
                "several words",
                "project Atlas",
                vec![("The project Atlas ships in May.", 0.5, 0.5), ("Atlas carries the sky.", 0.9, 0.9)],
                Some("The project Atlas ships in May."),
            ),
            (
                "a name that is also a small word",
                "Will",
                vec![("Will leads the team.", 0.5, 0.5), ("The team will move.", 0.9, 0.9)],
                Some("Will leads the team."),
            ),
            (
                "inflected",
                "Анна",
                vec![("Том работает с Анной.", 0.9, 0.9), ("Анна живёт в Риге", 0.5, 0.5)],
                Some("Анна живёт в Риге. Том работает с Анной."),
            ),
            (
                "numbers that are none",
                "Ana",
                vec![("Ana sings.", f64::NAN, f64::INFINITY), ("Ana paints.", 0.1, 0.1)],
                Some("Ana paints. Ana sings."),
            ),
        ] {
            assert_eq!(profile(name, &facts(&rows)).as_deref(), expect, "{what}");
        }
        let cut = profile("Ana", &facts(&[(&long, 0.5, 0.5)])).unwrap();
        assert!(cut.chars().count() <= MAX_CHARACTERS && cut.ends_with('…'), "{cut}");
    }

    proptest! {
        #[test]
        fn short_and_about_the_name(
            rows in prop::collection::vec(
                ("(Ana|ana's|the|dog|sings|in|Porto|[.!?,]|\\PC{0,9}| ){0,30}", 0.0..1.0, 0.0..1.0),
                0..9,
            ),
        ) {
            let rows: Vec<(&str, f64, f64)> = rows.iter().map(|(text, a, b)| (text.as_str(), *a, *b)).collect();
            let facts = facts(&rows);
            let text = profile("Ana", &facts);
            if let Some(text) = &text {
                prop_assert!(text.chars().count() <= MAX_CHARACTERS && !text.is_empty());
                prop_assert!(text.ends_with('…') || text.to_lowercase().contains("ana"));
            }
            prop_assert_eq!(text, profile("Ana", &facts));
        }
    }
}
