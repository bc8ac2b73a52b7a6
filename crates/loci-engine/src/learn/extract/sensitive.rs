//! Determines which sensitive field of the speaker a sentence reveals.
//!
//! Name, pronouns, city and language are sensitive by default: what is learned about them waits for consent. Only
//! statements of speakers about themselves count.

use super::SpeakerIdentity;
use super::claim::Claim;
use super::select::has_name;
use crate::learn::language::word::{Shape, Word};
use crate::learn::language::{Attribute, Language, form};
use crate::recall::plan::time::words::among;

/// The field of the speaker's profile that a sentence would change.
pub(crate) fn field(
    words: &[Word],
    claims: &[Claim],
    language: Option<&Language>,
    voice: &SpeakerIdentity,
    name: Option<&str>,
) -> Option<&'static str> {
    claimed(claims, &voice.key).or_else(|| named(words, language?)).or_else(|| called(words, language?, voice, name))
}

/// Nouns for those who speak a language.
const SPEAKERS: &str = "speaker sprecher sprecherin hablante locuteur locutrice носитель носительница";

/// "Ana's name is …", "имя Димы — …": speakers may speak of themselves by their own name, in any case of it.
fn called(words: &[Word], language: &Language, voice: &SpeakerIdentity, name: Option<&str>) -> Option<&'static str> {
    let names = name.into_iter().flat_map(str::split_whitespace);
    let names: Vec<String> = names.map(|part| language.folded(&part.to_lowercase())).collect();
    let own = |word: &Word| voice.is_owner(word.bare()) || names.contains(&language.folded(word.bare()));
    let others = words.iter().any(|word| word.is(form::RELATION));
    let linked = words.iter().any(|word| word.is(form::COPULA) || word.mark("—–:="));
    let noun = words.iter().find_map(|word| language.noun(word.bare()).and_then(|noun| of(noun.name())));
    noun.filter(|_| linked && !others && words.iter().any(own))
}

/// The field that is claimed of the speaker.
pub(crate) fn claimed(claims: &[Claim], speaker: &str) -> Option<&'static str> {
    let own = claims.iter().filter(|claim| claim.subject == speaker && !claim.negated);
    own.filter_map(|claim| of(claim.attribute)).next()
}

/// Whether an attribute of someone needs consent.
pub(crate) fn is_private(attribute: Attribute) -> bool {
    of(attribute.name()).is_some()
}

fn of(attribute: &str) -> Option<&'static str> {
    match attribute {
        "name" => Some("name"),
        "pronouns" => Some("pronouns"),
        "home" | "address" => Some("city"),
        "language" => Some("language"),
        _ => None,
    }
}

/// "Lisbon is my home city", "my pronouns are they/them", "my mother tongue is Tatar": a noun of the speaker's with a value.
fn named(words: &[Word], language: &Language) -> Option<&'static str> {
    let spoken: Vec<&Word> = words.iter().filter(|word| word.shape != Shape::Mark).collect();
    let linked = spoken.iter().any(|word| word.is(form::COPULA)) || words.iter().any(|word| word.mark("—:"));
    let own = spoken.iter().position(|word| word.is(form::MINE | form::FIRST))?;
    // "I'm a Spanish speaker".
    if linked && spoken[own + 1..].iter().take(5).any(|word| among(SPEAKERS, &word.text)) {
        return Some("language");
    }
    let noun = spoken[own + 1..].iter().take(4).find_map(|word| language.noun(word.bare()))?;
    if noun == Attribute::Pronouns {
        return Some("pronouns");
    }
    let mine = spoken.iter().position(|word| word.is(form::MINE))?;
    let noun = spoken[mine + 1..].iter().take(3).find_map(|word| language.noun(word.bare()))?;
    let field = match noun {
        Attribute::Name => "name",
        Attribute::Pronouns => "pronouns",
        Attribute::Home | Attribute::Address => "city",
        Attribute::Language => "language",
        _ => return None,
    };
    (linked
        && (has_name(words) || words.first().is_some_and(|word| word.capital && word.form == 0) || field == "pronouns"))
        .then_some(field)
}
