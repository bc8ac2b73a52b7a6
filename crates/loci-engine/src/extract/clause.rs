//! Who does what, in one clause?
//!
//! A clause is read from the left: who it is about, then adverbs, auxiliaries and a verb from the
//! list, then the rest. What does not read so is no clause, and nothing is learned from it.

use std::ops::Range;

use super::lexicon::{self, within};
use super::verbs::{Form, verb};
use super::word::{Shape, Word};

/// Whom a clause is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    I,
    We,
    You,
    /// He, she, it, they.
    Pronoun,
    /// "This", "that": whatever was shown.
    Pointed,
    There,
    /// A name or a noun with its words.
    Thing,
    /// A verb alone: an order, or "Moved to Lisbon".
    Nobody,
}

/// What stands before the main verb and colours it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// "works", "worked", "is"
    Plain,
    /// "is working"
    Progressive,
    /// "has worked"
    Perfect,
    /// "will work", "is going to work"
    Future,
    /// "has to work", "must work"
    Duty,
    /// "used to work"
    Formerly,
    /// "can work"
    Can,
    /// "would work", "might work": not said to be so.
    Unreal,
}

/// One clause, taken apart. Ranges are places in `words`.
#[derive(Debug, Clone)]
pub(crate) struct Clause {
    pub(crate) words: Vec<Word>,
    pub(crate) who: Who,
    pub(crate) subject: Range<usize>,
    pub(crate) verb: usize,
    /// The base form of the main verb.
    pub(crate) lemma: String,
    pub(crate) form: Form,
    pub(crate) mood: Mood,
    pub(crate) negated: bool,
    /// "No longer", "any more".
    pub(crate) ended: bool,
    /// "Always", "usually", "never": a habit, and not this once.
    pub(crate) habit: bool,
    /// "Probably".
    pub(crate) hedged: bool,
}

impl Clause {
    /// What follows the verb.
    pub(crate) fn rest(&self) -> &[Word] {
        &self.words[self.verb + 1..]
    }

    /// The place of the first word of the rest.
    pub(crate) fn rest_at(&self) -> usize {
        self.verb + 1
    }

    pub(crate) fn subject_words(&self) -> &[Word] {
        &self.words[self.subject.clone()]
    }

    /// A word of the rest, or nothing.
    pub(crate) fn next(&self, place: usize) -> &str {
        self.rest().get(place).map_or("", |word| word.lower.as_str())
    }

    /// Whether the rest begins with these words.
    pub(crate) fn goes_on(&self, phrase: &str) -> bool {
        phrase.split(' ').enumerate().all(|(place, word)| self.next(place) == word)
    }

    /// Reads a clause.
    pub(crate) fn read(words: Vec<Word>) -> Option<Self> {
        let (who, subject) = subject(&words)?;
        let mut clause = Self {
            verb: subject.end,
            words,
            who,
            subject,
            lemma: String::new(),
            form: Form::Base,
            mood: Mood::Plain,
            negated: false,
            ended: false,
            habit: false,
            hedged: false,
        };
        clause.read_verb()?;
        clause.read_end();
        Some(clause)
    }

    /// An order to everyone, which has no subject: "never deploy on Fridays".
    pub(crate) fn order(words: Vec<Word>) -> Self {
        Self {
            verb: 0,
            words,
            who: Who::Nobody,
            subject: 0..0,
            lemma: String::new(),
            form: Form::Base,
            mood: Mood::Plain,
            negated: false,
            ended: false,
            habit: true,
            hedged: false,
        }
    }

    fn read_verb(&mut self) -> Option<()> {
        let mut place = self.subject.end;
        for _ in 0..8 {
            let word = self.words.get(place)?;
            if word.shape != Shape::Word {
                return None;
            }
            let lower = word.lower.clone();
            match lower.as_str() {
                "not" => self.negated = true,
                "no" if self.lower(place + 1) == "longer" => {
                    (self.ended, self.negated) = (true, true);
                    place += 1;
                }
                "will" | "shall" => self.mood = Mood::Future,
                "would" if matches!(self.lower(place + 1), "rather" | "prefer") => {}
                "rather" => {}
                "would" | "could" | "may" | "might" | "should" => self.mood = Mood::Unreal,
                "can" => self.mood = Mood::Can,
                "must" => self.mood = Mood::Duty,
                "used" if self.lower(place + 1) == "to" && base(self.lower(place + 2)) => {
                    self.mood = Mood::Formerly;
                    place += 1;
                }
                _ if within(lexicon::HEDGES, &lower) => self.hedged = true,
                _ if within(lexicon::ADVERBS, &lower) && verb(&lower).is_none() => {
                    self.habit |= within(lexicon::HABITS, &lower);
                    self.negated |= lower == "never";
                }
                _ => match self.auxiliary(place, &lower) {
                    Some(skip) => place += skip,
                    None => return self.settle(place),
                },
            }
            place += 1;
        }
        None
    }

    /// How many words more an auxiliary takes, if the word is one here.
    fn auxiliary(&mut self, place: usize, lower: &str) -> Option<usize> {
        let after = self.after_adverbs(place + 1);
        let next = self.lower(after).to_owned();
        let next = next.as_str();
        let form = verb(next).map(|(_, form)| form);
        match lower {
            "am" | "is" | "are" | "was" | "were" | "been" | "be" => {
                if next == "going" && self.lower(after + 1) == "to" && base(self.lower(after + 2)) {
                    self.note(place + 1, after);
                    self.mood = Mood::Future;
                    return Some(after + 1 - place);
                }
                let progressive = form == Some(Form::Ing) && next != "being" && next != "living-room";
                if progressive {
                    self.mood = Mood::Progressive;
                    self.note(place + 1, after);
                    return Some(after - 1 - place);
                }
                None
            }
            "have" | "has" | "had" => {
                if next == "to" && base(self.lower(after + 1)) {
                    self.mood = Mood::Duty;
                    return Some(1);
                }
                let got_to = next == "got" && self.lower(after + 1) == "to" && base(self.lower(after + 2));
                if got_to {
                    self.mood = Mood::Duty;
                    return Some(after + 1 - place);
                }
                let perfect = form == Some(Form::Past) && next != "set" && next != "put" && next != "cut";
                if perfect {
                    self.mood = Mood::Perfect;
                    self.note(place + 1, after);
                    return Some(after - 1 - place);
                }
                None
            }
            "do" | "does" | "did" if next == "not" || self.lower(place + 1) == "not" => Some(0),
            "do" | "does" | "did" if EMPHASISED.contains(&next) => Some(0),
            _ => None,
        }
    }

    /// The main verb stands here.
    fn settle(&mut self, place: usize) -> Option<()> {
        let lower = self.lower(place).to_owned();
        let (lemma, form) = match verb(&lower) {
            Some((lemma, form)) => (lemma.to_owned(), form),
            // After "I usually" stands a verb, whichever.
            None if self.habit && matches!(self.who, Who::I | Who::We) && lower.len() > 2 => (lower, Form::Base),
            None => return None,
        };
        if form == Form::Ing && self.mood != Mood::Progressive && self.who != Who::Nobody {
            return None;
        }
        self.verb = place;
        (self.lemma, self.form) = (lemma, form);
        // "Have got a dog" is "have a dog".
        let has_got = self.lemma == "get" && self.mood == Mood::Perfect;
        if has_got
            && (matches!(self.lower(place + 1), "a" | "an" | "the" | "my" | "no" | "some")
                || self.words.get(place + 1).is_some_and(Word::digits))
        {
            (self.lemma, self.form, self.mood) = ("have".to_owned(), Form::Base, Mood::Plain);
        }
        if self.lemma == "be" || self.lemma == "have" {
            let after = self.after_adverbs(place + 1);
            self.note(place + 1, after);
            // "Is not a fan": the negation stands behind the verb.
            self.verb = after.max(place + 1) - 1;
        }
        Some(())
    }

    /// Notes what the adverbs in a range say.
    fn note(&mut self, from: usize, until: usize) {
        for place in from..until.min(self.words.len()) {
            let lower = self.words[place].lower.as_str();
            self.negated |= matches!(lower, "not" | "never" | "longer");
            self.ended |= lower == "longer";
            self.habit |= within(lexicon::HABITS, lower);
            self.hedged |= within(lexicon::HEDGES, lower);
        }
    }

    /// The end of a clause can take back what it says: "any more".
    fn read_end(&mut self) {
        let rest = self.rest();
        let last = rest.iter().rfind(|word| word.speaks()).map_or("", |word| word.lower.as_str());
        let before = rest.iter().rev().filter(|word| word.speaks()).nth(1).map_or("", |word| word.lower.as_str());
        if self.negated && (last == "anymore" || (before == "any" && matches!(last, "more" | "longer"))) {
            self.ended = true;
        }
    }

    pub(crate) fn lower(&self, place: usize) -> &str {
        self.words.get(place).map_or("", |word| word.lower.as_str())
    }

    fn after_adverbs(&self, mut place: usize) -> usize {
        loop {
            let lower = self.lower(place);
            let adverb = lower == "not"
                || (within(lexicon::ADVERBS, lower) && verb(lower).is_none())
                || within(lexicon::HEDGES, lower);
            if lower == "no" && self.lower(place + 1) == "longer" {
                place += 2;
            } else if adverb && self.words.get(place + 1).is_some_and(Word::speaks) {
                place += 1;
            } else {
                return place;
            }
        }
    }
}

/// Verbs that "do" may stress: "I do like tea".
const EMPHASISED: &[&str] = &[
    "like", "love", "have", "want", "know", "live", "work", "use", "prefer", "need", "eat", "drink", "speak", "enjoy",
    "hate", "own",
];

pub(crate) fn base(lower: &str) -> bool {
    lower == "be" || verb(lower).is_some_and(|(lemma, _)| lemma == lower)
}

/// Whether a word can only be a verb that says something of one before it.
pub(crate) fn finite(lower: &str) -> bool {
    within(lexicon::AUXILIARIES, lower) || verb(lower).is_some_and(|(_, form)| matches!(form, Form::Third | Form::Past))
}

/// Whom the words begin with.
fn subject(words: &[Word]) -> Option<(Who, Range<usize>)> {
    let first = words.first()?;
    let who = match first.lower.as_str() {
        "i" => Who::I,
        "we" => Who::We,
        "you" | "u" => Who::You,
        "he" | "she" | "it" | "they" => Who::Pronoun,
        "this" | "that" | "these" | "those" => Who::Pointed,
        "there" => Who::There,
        _ => {
            if let Some(end) = thing(words) {
                return Some((Who::Thing, 0..end));
            }
            verb(&first.lower)?;
            return Some((Who::Nobody, 0..0));
        }
    };
    Some((who, 0..1))
}

/// Where the noun phrase ends that the words begin with: its verb follows.
fn thing(words: &[Word]) -> Option<usize> {
    let mut found = None;
    for place in 1..words.len().min(12) {
        let word = &words[place];
        if word.shape == Shape::Mark {
            // "The API (v2) runs", "Alice, my manager, approves" are handled by their own rules.
            break;
        }
        let lower = word.lower.as_str();
        if within(lexicon::SUBORDINATORS, lower) || matches!(lower, "and" | "or") && verb_follows(words, place) {
            break;
        }
        let before = words[place - 1].lower.as_str();
        if word.shape != Shape::Word || within(lexicon::DETERMINERS, before) || words[place - 1].owner() {
            continue;
        }
        if lower == "no" && words.get(place + 1).is_some_and(|next| next.is("longer")) {
            return Some(place);
        }
        let adverb = within(lexicon::ADVERBS, lower) && verb(lower).is_none();
        if within(lexicon::AUXILIARIES, lower)
            || (adverb && words.get(place + 1).is_some_and(|next| finite(&next.lower)))
        {
            return Some(place);
        }
        match verb(lower) {
            // "The API tests are flaky": a verb right behind speaks against this one.
            Some((_, Form::Third | Form::Past)) if !word.capital() => {
                if words.get(place + 1).is_some_and(|next| within(lexicon::AUXILIARIES, &next.lower)) {
                    continue;
                }
                return Some(place);
            }
            Some((_, Form::Base)) if found.is_none() && !word.capital() && plural(before) => found = Some(place),
            _ => {}
        }
        // After a preposition follows another noun.
        if within(lexicon::PREPOSITIONS, lower) && place > 6 {
            break;
        }
    }
    found
}

fn verb_follows(words: &[Word], place: usize) -> bool {
    words.get(place + 1).is_some_and(|next| finite(&next.lower))
}

fn plural(lower: &str) -> bool {
    (lower.ends_with('s') && !lower.ends_with("ss"))
        || matches!(lower, "people" | "kids" | "children" | "i" | "parents")
}

#[cfg(test)]
mod tests {
    use super::super::word::{join, words};
    use super::*;

    #[test]
    fn clauses_are_taken_apart() {
        for (text, expect) in [
            ("I live in Porto", "I|live|in Porto|"),
            ("I'm not really a fan of tea", "I|be|a fan of tea|not"),
            ("I don't eat meat", "I|eat|meat|not"),
            ("I no longer smoke", "I|smoke||not ended"),
            ("I have just moved to Lisbon", "I|move|to Lisbon|Perfect"),
            ("I've been playing piano for 10 years", "I|play|piano for 10 years|Progressive"),
            ("we are going to use Postgres", "we|use|Postgres|Future"),
            ("I used to live in Rome", "I|live|in Rome|Formerly"),
            ("I have to call Bob", "I|call|Bob|Duty"),
            ("The API tests are flaky", "The API tests|be|flaky|"),
            ("the deploy script lives in scripts", "the deploy script|live|in scripts|"),
            ("our tests run in CI", "our tests|run|in CI|"),
            ("The office closes at 6pm", "The office|close|at 6pm|"),
            ("Marta works at Acme", "Marta|work|at Acme|"),
            ("Project Atlas uses Rust", "Project Atlas|use|Rust|"),
            ("Deployed v2 to staging", "|deploy|v2 to staging|"),
            ("I usually crochet at night", "I|crochet|at night|habit"),
            ("I can't stand olives", "I|stand|olives|not Can"),
        ] {
            let clause = Clause::read(words(text)).unwrap_or_else(|| panic!("{text}"));
            let mut notes = Vec::new();
            notes.extend(clause.negated.then(|| "not".to_owned()));
            notes.extend(clause.ended.then(|| "ended".to_owned()));
            notes.extend(clause.habit.then(|| "habit".to_owned()));
            notes.extend((clause.mood != Mood::Plain).then(|| format!("{:?}", clause.mood)));
            let parts = [join(clause.subject_words()), clause.lemma.clone(), join(clause.rest()), notes.join(" ")];
            assert_eq!(parts.join("|"), expect, "{text}");
        }
        for text in ["the big red dog", "", "and so on", "tea and coffee"] {
            assert!(Clause::read(words(text)).is_none(), "{text}");
        }
    }
}
