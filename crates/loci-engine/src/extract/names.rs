//! Who and what is spoken of by name?
//!
//! Names are found by their capitals and typed by what stands around them: "in Porto" is a place,
//! "at Acme" an organization, "using Terraform" a tool, "my sister Marta" a person. A capital that
//! only begins a sentence is no name by itself. Names that are known are found in any spelling.

use loci_types::EntityType;

use super::lexicon::{self, within};
use super::prose::sentences;
use super::verbs::verb;
use super::word::{Shape, Word, words};
use super::{Mention, Speaker};
use sort::{sort, uses};

mod alias;
pub(super) mod cyrillic;
pub(crate) mod given;
mod sort;

/// The things that a text names, in order; each once.
pub fn mentions(text: &str, speaker: Speaker<'_>, known: &[Mention]) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let speaks_of_self = text
        .split(|c: char| !c.is_alphanumeric())
        .any(|word| matches!(word, "I" | "i" | "my" | "My" | "me" | "я" | "Я"));
    if let Speaker::User(Some(name)) | Speaker::Named(name) = speaker
        && speaks_of_self
    {
        add(&mut found, name, EntityType::Person, known);
    }
    for sentence in sentences(text) {
        let words = words(sentence.text);
        let mut place = 0;
        while place < words.len() {
            let (length, named) = at(&words, place, known);
            if let Some((name, entity_type)) = named {
                add(&mut found, &name, entity_type, known);
            }
            place += length.max(1);
        }
        alias::join(&words, &mut found);
        cyrillic::join(&words, &mut found);
    }
    found
}

/// Adds a name, or what is known by it.
fn add(found: &mut Vec<Mention>, name: &str, entity_type: EntityType, known: &[Mention]) {
    if matches!(name, "User" | "Assistant" | "Пользователь") {
        return;
    }
    let same = |mention: &Mention| {
        let lower = name.to_lowercase();
        mention.name.to_lowercase() == lower || mention.aliases.iter().any(|alias| alias.to_lowercase() == lower)
    };
    if found.iter().any(same) {
        return;
    }
    match known.iter().find(|mention| same(mention)) {
        Some(mention) if !found.contains(mention) => found.push(mention.clone()),
        Some(_) => {}
        None => found.push(Mention { name: name.to_owned(), entity_type, aliases: Vec::new() }),
    }
}

/// What is named at a place, and how many words it takes.
fn at(words: &[Word], place: usize, known: &[Mention]) -> (usize, Option<(String, EntityType)>) {
    if let Some((length, name, entity_type)) = remembered(words, place, known) {
        return (length, Some((name, entity_type)));
    }
    let word = &words[place];
    if word.shape == Shape::Code {
        return (1, address(&word.text));
    }
    if word.text.starts_with(|c: char| ('А'..='я').contains(&c) || c == 'Ё') {
        return cyrillic::at(words, place);
    }
    let length = run(words, place);
    if length == 0 {
        let tool = within(lexicon::TOOLS, &word.lower) && word.lower.len() > 2 && !word.capital() && uses(words, place);
        return (1, tool.then(|| (word.text.clone(), EntityType::Tool)));
    }
    let run = &words[place..place + length];
    let name = name(run);
    let entity_type = sort(words, place, length);
    (length, entity_type.map(|entity_type| (name, entity_type)))
}

/// A known name or alias at a place.
fn remembered(words: &[Word], place: usize, known: &[Mention]) -> Option<(usize, String, EntityType)> {
    let fits = |name: &str| {
        let mut length = 0;
        for part in name.split_whitespace() {
            let word = words.get(place + length)?;
            let lower = word.lower.strip_suffix("'s").unwrap_or(&word.lower);
            if lower != part.to_lowercase() {
                return None;
            }
            length += 1;
        }
        (length > 0).then_some(length)
    };
    // A known name that is also a word ("Will", "go") must be written as a name.
    let allowed =
        |name: &str| words[place].capital() || (verb(&name.to_lowercase()).is_none() && name.chars().count() > 2);
    known
        .iter()
        .flat_map(|mention| std::iter::once(&mention.name).chain(&mention.aliases).map(move |name| (mention, name)))
        .filter(|(_, name)| allowed(name))
        .filter_map(|(mention, name)| Some((fits(name)?, mention.name.clone(), mention.entity_type)))
        .max_by_key(|(length, ..)| *length)
}

/// A handle is someone, an address is used by its host.
fn address(text: &str) -> Option<(String, EntityType)> {
    if let Some(handle) = text.strip_prefix('@') {
        return handle.starts_with(char::is_alphabetic).then(|| (text.to_owned(), EntityType::Person));
    }
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"))?;
    let host = rest.split(['/', '?', '#']).next().filter(|host| !host.is_empty())?;
    Some((host.strip_prefix("www.").unwrap_or(host).to_owned(), EntityType::Tool))
}

/// How many words from here on are one name.
fn run(words: &[Word], place: usize) -> usize {
    let titled = words[place].any(&["dr", "mr", "mrs", "ms", "prof", "dr.", "mr.", "mrs.", "ms.", "prof."]);
    if !is_name(words, place) && !titled {
        return 0;
    }
    let mut length = 1;
    while let Some(word) = words.get(place + length) {
        let before = &words[place + length - 1];
        let more = word.capital()
            && word.text.is_ascii() == before.text.is_ascii()
            && !word.is("i")
            && !before.owner()
            && !within(lexicon::CALENDAR, &word.lower)
            && !within(lexicon::AUXILIARIES, &word.lower);
        let joint = word.any(&["of", "de", "da", "&"])
            && words.get(place + length + 1).is_some_and(Word::capital)
            && before.capital()
            && word.is("&") | word.any(&["de", "da"]);
        if !more && !joint {
            break;
        }
        length += 1;
    }
    length
}

/// Whether a word is written as a name, and not only as the first of a sentence.
fn is_name(words: &[Word], place: usize) -> bool {
    let word = &words[place];
    let lower = word.lower.strip_suffix("'s").unwrap_or(&word.lower);
    if !word.capital()
        || lower == "i"
        || within(lexicon::CALENDAR, lower)
        || word.text.chars().count() < 2 && !within(lexicon::TOOLS, lower)
    {
        return false;
    }
    let starts = place == 0
        || words[..place].iter().all(|word| word.shape == Shape::Mark)
        || words[place - 1].any(&[":", "\"", "“"]);
    if !starts {
        return true;
    }
    let inner = word.text.chars().skip(1).any(|c| c.is_uppercase() || c.is_ascii_digit());
    if inner && word.text.chars().any(char::is_lowercase)
        || within(lexicon::TOOLS, lower)
        || within(lexicon::PLACES, lower)
    {
        return true;
    }
    let next = words.get(place + 1);
    let common = COMMON.contains(&lower)
        || within(lexicon::DETERMINERS, lower)
        || within(lexicon::PREPOSITIONS, lower)
        || within(lexicon::ADVERBS, lower)
        || within(lexicon::SUBORDINATORS, lower)
        || within(lexicon::AUXILIARIES, lower)
        || within(lexicon::GREETINGS, lower)
        || within(lexicon::ORDERS, lower)
        || within(lexicon::HEDGES, lower)
        || within(lexicon::ATTRIBUTES, lower)
        || within(lexicon::RELATIONS, lower)
        || within(lexicon::TALK, lower)
        || within(lexicon::EVENTS, lower)
        || verb(lower).is_some()
            && !matches!(lower, "mark" | "will" | "bill" | "jack" | "rob" | "pat" | "sue" | "grant")
        || lower.ends_with("ing")
        || lower.ends_with("ly")
        || (lower.ends_with('s') && lower.len() > 6 && !word.owner());
    let acts = next.is_some_and(|next| {
        verb(&next.lower).is_some_and(|(_, form)| form != super::verbs::Form::Base)
            || next.capital()
            || within(lexicon::AUXILIARIES, &next.lower)
            || next.any(&[",", "(", "and"])
    });
    !common && (acts || word.owner())
}

/// Words that often begin a sentence and name nothing.
const COMMON: &[&str] = &[
    "we",
    "you",
    "he",
    "she",
    "it",
    "they",
    "there",
    "here",
    "what",
    "who",
    "how",
    "why",
    "where",
    "when",
    "which",
    "yes",
    "no",
    "not",
    "and",
    "but",
    "or",
    "well",
    "today",
    "yesterday",
    "tomorrow",
    "standup",
    "lunch",
    "dinner",
    "breakfast",
    "rent",
    "people",
    "everyone",
    "someone",
    "nobody",
    "everything",
    "something",
    "nothing",
    "both",
    "many",
    "most",
    "others",
    "let",
    "ok",
    "btw",
    "fyi",
    "user",
    "assistant",
    "deploys",
    "tests",
    "code",
    "team",
    "work",
    "home",
    "school",
    "office",
    "production",
    "staging",
    "prod",
    "backups",
    "releases",
    "meetings",
    "coffee",
    "tea",
    "food",
    "dogs",
    "cats",
    "kids",
    "customers",
    "clients",
    "builds",
    "logs",
    "data",
    "money",
    "music",
    "steps",
    "first",
    "second",
    "next",
    "then",
    "finally",
];

/// The name as it is kept.
fn name(run: &[Word]) -> String {
    let mut text = String::new();
    for word in run {
        if !text.is_empty() && !word.glued {
            text.push(' ');
        }
        text.push_str(word.text.strip_suffix("'s").or_else(|| word.text.strip_suffix("’s")).unwrap_or(&word.text));
    }
    text
}
