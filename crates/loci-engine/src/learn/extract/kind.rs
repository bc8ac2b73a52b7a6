//! Determines the kind and the importance of a quotation by the forms of its words.

use super::claim::Claim;
use super::select::body;
use crate::learn::language::word::{Shape, Word, words};
use crate::learn::language::{form, language_of};

/// The kind of a quotation, by the forms of its words.
pub(super) fn kind(words: &[&Word]) -> &'static str {
    let has = |form: u64| words.iter().any(|word| word.is(form));
    let own = has(form::FIRST | form::MINE);
    let spoken: Vec<&Word> = words.iter().copied().filter(|word| word.shape != Shape::Mark).collect();
    match () {
        () if instructs(&spoken) => "preference",
        () if thinks(&spoken) => "opinion",
        () if likes(&spoken) => "preference",
        () if words.iter().any(|word| {
            matches!(
                word.text.as_str(),
                "decided" | "entschieden" | "beschlossen" | "decidido" | "décidé" | "решил" | "решила" | "решили"
            )
        }) =>
        {
            "decision"
        }
        () if has(form::RELATION) && (has(form::MINE) || own) => "person",
        () => "fact",
    }
}

/// An instruction for how to speak or write: "please answer in short sentences".
fn instructs(words: &[&Word]) -> bool {
    let first =
        body(words).first().is_some_and(|word| word.is(form::ORDER | form::STYLE | form::NEGATION | form::LASTING));
    first && words.iter().any(|word| word.is(form::STYLE))
}

/// "I love …", "my favourite …": a liking of the speaker's, and not the word alone.
fn likes(words: &[&Word]) -> bool {
    (0..words.len()).any(|place| {
        words[place].is(form::FIRST | form::MINE) && words[place..].iter().take(4).any(|word| word.is(form::LIKES))
    })
}

/// The kind of a text that its forms tell: a liking or an opinion of the one who speaks.
pub(crate) fn kind_by_form(text: &str) -> Option<&'static str> {
    let language = language_of(text)?;
    let words = words(text, Some(language));
    let spoken: Vec<&Word> = words.iter().filter(|word| word.shape != Shape::Mark).collect();
    match () {
        () if thinks(&spoken) => Some("opinion"),
        () if likes(&spoken) => Some("preference"),
        () => None,
    }
}

/// What marks a statement as an opinion, wherever it stands.
const OPINION: &[&[&str]] = &[
    &["in", "my", "opinion"],
    &["if", "you", "ask", "me"],
    &["meiner", "meinung", "nach"],
    &["à", "mon", "avis"],
    &["en", "mi", "opinión"],
    &["на", "мой", "взгляд"],
    &["по-моему"],
];

/// "I think …", "In my opinion …".
fn thinks(spoken: &[&Word]) -> bool {
    let marked = |phrase: &&[&str]| {
        spoken.windows(phrase.len()).any(|words| words.iter().zip(*phrase).all(|(word, text)| word.text == *text))
    };
    body(spoken).windows(2).take(3).any(|two| two[0].is(form::FIRST) && two[1].is(form::SAYS))
        || OPINION.iter().any(marked)
}

/// How much a quotation matters, by what it is.
pub(super) fn importance(words: &[&Word], requested: bool, claims: &[Claim]) -> f64 {
    let has = |form: u64| words.iter().any(|word| word.is(form));
    let own = has(form::FIRST | form::MINE);
    let lasting = claims.iter().any(|claim| {
        matches!(claim.attribute, "name" | "birthday" | "born" | "home" | "employer" | "allergy" | "pronouns")
    });
    match () {
        () if has(form::VITAL) && own => 0.9,
        () if requested => 0.85,
        () if instructs(words) => 0.75,
        () if lasting => 0.75,
        () if own && has(form::RELATION) || likes(words) => 0.6,
        () if !claims.is_empty() || has(form::PLANS) => 0.6,
        () => 0.5,
    }
}
