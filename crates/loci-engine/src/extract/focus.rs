//! Whom does "she" mean?
//!
//! The last person and the last thing that were spoken of, as long as only one comes into question
//! and it was not long ago. In doubt there is none, and nothing is learned.

use super::clause::{Clause, Who};
use super::lexicon::{self, within};
use super::word::{Shape, Word, join};

/// For how many sentences something stays in mind.
const STAYS: usize = 2;
/// A thing fades sooner: "it" often means nothing.
const THING_STAYS: usize = 2;

/// Who and what was spoken of last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Focus {
    person: Option<Person>,
    thing: Option<String>,
    person_age: usize,
    thing_age: usize,
}

#[derive(Debug, Clone, PartialEq)]
struct Person {
    name: String,
    female: Option<bool>,
}

impl Focus {
    /// The one a pronoun means.
    pub(crate) fn person(&self, pronoun: &str) -> Option<&str> {
        let person = self.person.as_ref()?;
        let fits = match pronoun {
            "she" | "her" | "hers" => person.female != Some(false),
            "he" | "him" | "his" => person.female != Some(true),
            _ => true,
        };
        fits.then_some(person.name.as_str())
    }

    /// What "it" means.
    pub(crate) fn thing(&self) -> Option<&str> {
        self.thing.as_deref()
    }

    /// What "the cluster" means, if that was just spoken of more fully.
    pub(crate) fn fuller(&self, noun: &str) -> Option<&str> {
        let thing = self.thing.as_deref()?;
        let folded = thing.to_lowercase();
        let noun = noun.to_lowercase();
        (folded.ends_with(&format!(" {noun}"))
            || folded.starts_with(&format!("the {noun} for "))
            || folded.starts_with(&format!("the {noun} of ")))
        .then_some(thing)
    }

    /// A sentence has passed.
    pub(crate) fn pass(&mut self) {
        self.person_age += 1;
        self.thing_age += 1;
        if self.person_age > STAYS {
            self.person = None;
        }
        if self.thing_age > THING_STAYS {
            self.thing = None;
        }
    }

    /// Takes note of whom a sentence names. `owner` is whose relations they are: "Ana's".
    pub(crate) fn people(&mut self, words: &[Word], owner: &str) {
        let mut found: Vec<Person> = Vec::new();
        for place in 0..words.len() {
            if let Some(person) = relation(words, place, owner).or_else(|| named(words, place))
                && !found.iter().any(|other| other.name == person.name)
            {
                found.push(person);
            }
        }
        if found.len() == 2 && found[1].female.is_none() && found[0].name.ends_with(&found[1].name) {
            found.pop();
        }
        match found.len() {
            0 => return,
            1 => self.person = found.pop(),
            _ => self.person = None,
        }
        self.person_age = 0;
    }

    /// Takes note of what a clause is about, as it was retold.
    pub(crate) fn about(&mut self, clause: &Clause, subject: &str, owner: &str) {
        let thing = match clause.who {
            Who::Thing if !is_person(clause.subject_words()) => Some(subject.to_owned()),
            Who::I | Who::We => owned(clause, owner),
            _ => None,
        };
        if thing.is_some() {
            self.thing = thing;
            self.thing_age = 0;
        }
    }

    /// Takes note of a thing by its name: "it is called Heron".
    pub(crate) fn name(&mut self, name: &str) {
        (self.thing, self.thing_age) = (Some(name.to_owned()), 0);
    }

    /// Who was named last.
    pub(crate) fn named_last(&self) -> Option<&str> {
        self.person.as_ref().map(|person| person.name.as_str())
    }

    /// Keeps what was just meant in mind.
    pub(crate) fn again(&mut self) {
        self.person_age = 0;
        self.thing_age = 0;
    }
}

/// "My sister Marta", "my sister".
fn relation(words: &[Word], place: usize, owner: &str) -> Option<Person> {
    let noun = words.get(place + 1)?;
    let lower = noun.lower.strip_suffix("'s").unwrap_or(&noun.lower);
    let named_so = noun.owner()
        && words.get(place + 2).is_some_and(|word| word.is("name"))
        && words.get(place + 3).is_some_and(|word| word.is("is"));
    let own = words[place].any(&["my", "our"]);
    let introduced = words[place].any(&["a", "an"]) && place > 0 && words[place - 1].any(&["have", "got"]);
    if !(own || introduced) || !within(lexicon::RELATIONS, lower) || noun.owner() && !named_so {
        return None;
    }
    let female = match () {
        () if within(lexicon::FEMALE, lower) => Some(true),
        () if within(lexicon::MALE, lower) => Some(false),
        () => None,
    };
    let called = words.get(place + 2).is_some_and(|word| word.any(&["called", "named", "is"]));
    let name = words
        .get(if named_so { place + 4 } else { place + 2 + usize::from(called) })
        .filter(|word| word.capital() && !word.owner());
    let name = name.map_or_else(|| format!("{owner} {}", noun.text), |name| name.text.clone());
    Some(Person { name, female })
}

/// A name that does what people do: "Marta works", "met Bob".
fn named(words: &[Word], place: usize) -> Option<Person> {
    let word = &words[place];
    let proper = word.capital()
        && !word.owner()
        && word.text.chars().skip(1).all(char::is_lowercase)
        && word.text.chars().count() > 2
        && !within(lexicon::CALENDAR, &word.lower)
        && !within(lexicon::TOOLS, &word.lower)
        && !within(lexicon::PLACES, &word.lower);
    let next = words.get(place + 1).map_or("", |next| next.lower.as_str());
    let before = place.checked_sub(1).map_or("", |before| words[before].lower.as_str());
    let acts = matches!(
        next,
        "works"
            | "lives"
            | "is"
            | "likes"
            | "loves"
            | "hates"
            | "prefers"
            | "said"
            | "says"
            | "told"
            | "joined"
            | "moved"
            | "has"
    ) && (next != "is"
        || words.get(place + 2).is_some_and(|word| word.any(&["my", "our", "a", "an", "the", "allergic"])));
    let met = matches!(before, "met" | "with" | "asked" | "married" | "told" | "hired") && !matches!(next, "at");
    let called = matches!(before, "named" | "called")
        && !within(lexicon::ATTRIBUTES, place.checked_sub(2).map_or("", |at| words[at].lower.as_str()))
        && words[..place]
            .iter()
            .any(|word| within(lexicon::PETS, &word.lower) || within(lexicon::RELATIONS, &word.lower));
    let relative = place > 1 && within(lexicon::RELATIONS, before);
    (proper && (acts || met || called) && !relative).then(|| Person { name: word.text.clone(), female: None })
}

/// Whether a noun phrase is about someone.
pub(crate) fn is_person(words: &[Word]) -> bool {
    words.iter().any(|word| within(lexicon::RELATIONS, &word.lower)) && !words.iter().any(Word::owner)
}

/// "I have a cluster": the thing is now mine.
fn owned(clause: &Clause, owner: &str) -> Option<String> {
    if !matches!(clause.lemma.as_str(), "have" | "buy" | "get" | "own" | "build" | "start" | "run" | "adopt")
        || clause.negated
    {
        return None;
    }
    let rest = clause.rest();
    let article = rest.first()?.any(&["a", "an"]);
    let end = rest
        .iter()
        .position(|word| {
            word.shape == Shape::Mark
                || within(lexicon::PREPOSITIONS, &word.lower)
                || word.any(&["that", "which", "called", "named", "who"])
        })
        .unwrap_or(rest.len());
    let noun = &rest[usize::from(article)..end];
    let person = noun.iter().any(|word| within(lexicon::RELATIONS, &word.lower));
    (article && !noun.is_empty() && noun.len() <= 3 && !person).then(|| format!("{owner} {}", join(noun)))
}
