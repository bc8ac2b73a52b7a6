//! What does a statement say about what?
//!
//! A [`Claim`] is a statement taken apart: subject, attribute, value. Two claims about the same
//! subject and attribute can contradict each other; any others cannot. Statements come from rules,
//! callers and models, so many ways to say a thing lead to one attribute.

mod be;
mod fold;
mod russian;
mod verb;

use super::clause::{Clause, Mood, Who};
use super::lexicon::{self, within};
use super::prose::sentences;
use super::word::{Word, words};
use fold::{fold, unbracketed};

/// A statement taken apart. All texts are folded: lower case, no articles, single spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// What it is about: `ana`, `ana's cluster`, `project atlas`.
    pub subject: String,
    /// Which side of it: `city`, `employer`, `likes`, `count of node`, `port`.
    pub attribute: String,
    /// What is said of that side: `lisbon`, `tea`, `5`.
    pub value: String,
    /// It says that this is not so, or no longer.
    pub negated: bool,
    /// There can be only one value at a time: a second one replaces the first.
    pub single: bool,
}

/// What a statement says about its subject, before that is named.
struct Side {
    attribute: String,
    value: String,
    negated: bool,
    single: bool,
}

impl Side {
    fn many(attribute: impl Into<String>, value: String) -> Option<Self> {
        Some(Self { attribute: attribute.into(), value, negated: false, single: false })
    }

    fn one(attribute: impl Into<String>, value: String) -> Option<Self> {
        Some(Self { attribute: attribute.into(), value, negated: false, single: true })
    }

    fn denied(self, negated: bool) -> Self {
        Self { negated: self.negated ^ negated, ..self }
    }
}

/// What a text states, if that can be read: the first sentence of it, in English or Russian.
pub fn claim_of(text: &str) -> Option<Claim> {
    let sentence = sentences(text).into_iter().next().filter(|sentence| !sentence.asks)?;
    if super::russian::is_russian(sentence.text) {
        return russian::claim(sentence.text).filter(stands);
    }
    let words = unbracketed(words(sentence.text));
    let claim = order(&words).or_else(|| {
        let clause = Clause::read(words.clone())?;
        stated(&clause)
    })?;
    Some(claim).filter(stands)
}

/// A claim without a subject or a value claims nothing.
fn stands(claim: &Claim) -> bool {
    !claim.subject.is_empty() && !claim.value.is_empty() && !claim.attribute.is_empty()
}

fn stated(clause: &Clause) -> Option<Claim> {
    if clause.mood == Mood::Unreal {
        return None;
    }
    let subject = subject(clause)?;
    if clause.lemma == "be" && !matches!(clause.mood, Mood::Progressive | Mood::Duty) {
        return be::claim(clause, subject);
    }
    let side = verb::side(clause)?;
    let subject = side.1.unwrap_or(subject);
    let negated = clause.negated || clause.mood == Mood::Formerly;
    let Side { attribute, value, negated, single } = side.0.denied(negated);
    Some(Claim { subject, attribute, value, negated, single })
}

/// Whom a clause is about, folded. A relation with a name is known by the name.
fn subject(clause: &Clause) -> Option<String> {
    match clause.who {
        Who::I => Some("user".to_owned()),
        Who::We => Some("user's team".to_owned()),
        Who::Thing => Some(subject_of(clause.subject_words())),
        _ => None,
    }
}

fn subject_of(words: &[Word]) -> String {
    let related = words.len() > 2 && words.iter().any(|word| within(lexicon::RELATIONS, &word.lower));
    match words.last() {
        Some(last) if related && last.capital() && !last.owner() => fold(std::slice::from_ref(last)),
        _ => fold(words),
    }
}

/// "Use tabs for indentation", "Always run the tests", "Never deploy on Fridays".
fn order(words: &[Word]) -> Option<Claim> {
    let first = words.first()?;
    let never = first.is("never") || (first.is("do") && words.get(1).is_some_and(|word| word.is("not")));
    let skip = match () {
        () if first.is("do") && never => 2,
        () if first.any(&["always", "never"]) => 1,
        () if first.is("use") => 0,
        () => return None,
    };
    let verb = words.get(skip)?;
    if !super::clause::base(&verb.lower) {
        return None;
    }
    let rest = &words[skip + 1..];
    if verb.is("use")
        && let Some(place) = rest.iter().position(|word| word.is("for"))
    {
        let subject = fold(&rest[place + 1..]);
        return Some(Claim {
            subject,
            attribute: "use".into(),
            value: fold(&rest[..place]),
            negated: never,
            single: true,
        });
    }
    Some(Claim {
        subject: "rule".into(),
        attribute: verb.lower.clone(),
        value: fold(rest),
        negated: never,
        single: false,
    })
}

/// The field of a person's profile that a claim would change, if the claim is about that person:
/// the caller knows whether the subject is the speaker. What someone else owns or is called
/// ("ana's sister") changes no field.
pub fn consent_field(claim: &Claim) -> Option<&'static str> {
    let own = !claim.subject.contains("'s ")
        && !claim.subject.starts_with("project ")
        && claim.subject.split(' ').count() <= 3;
    if !own || claim.negated {
        return None;
    }
    match claim.attribute.as_str() {
        "name" | "preferred name" | "nickname" => Some("name"),
        "pronouns" => Some("pronouns"),
        _ if claim.value.ends_with("pronouns") => Some("pronouns"),
        "city" | "hometown" | "origin" | "from" | "comes from" | "is from" => Some("city"),
        "language" | "preferred language" | "native language" | "answers in" | "speaks" => Some("language"),
        "tone" | "style" => Some("tone"),
        "goal" => Some("goals"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
