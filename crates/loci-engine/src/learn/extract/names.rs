//! Finds names of persons and things in sentences.
//!
//! A name is written with a capital inside a sentence and is not in the word table of the language. The first word of
//! a sentence or heading is never a name by its capital alone. In German, where every noun has a capital, only a
//! title, a relation or a template marks a name. The type of an entity is given only where it is certain.

use std::collections::HashSet;

use loci_types::{EntityType, MemoryId};

use super::claim::{Claim, claims};
use super::select::AnalysedSentence;
use super::{Mention, SpeakerIdentity, Utterance};
use crate::learn::language::sentence::{Sentence, sentences};
use crate::learn::language::word::{Shape, Word, words};
use crate::learn::language::{Language, form, language_of};

/// Who is there, by the words of their names in lower case.
#[derive(Debug, Clone, Default)]
pub(crate) struct PresentNames(pub(crate) Vec<String>);

impl PresentNames {
    /// Whether a word in lower case is a name of someone who is there, or short for it.
    pub(crate) fn contains(&self, word: &str) -> bool {
        word.chars().count() > 2 && self.0.iter().any(|name| name.starts_with(word))
    }
}

/// What joins a name and another name for the same.
const ALIASES: &str =
    "aka|a.k.a|alias|also known as|known as|short for|genannt|auch bekannt als|alias de|dit|он же|также известный как";

/// The things that a sentence names, in order; each once. In a note that someone wrote to be remembered
/// (`note_of`), the subject of a verb of what people do is a name, unless it is the writer's own.
pub(crate) fn names(
    sentence: &Sentence<'_>,
    words: &[Word],
    language: Option<&Language>,
    claims: &[Claim],
    present: &PresentNames,
    note_of: Option<&SpeakerIdentity>,
) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    let german = language.is_some_and(|language| language.code == "de");
    let heading = sentence.text.ends_with(':') || sentence.list.is_some() && words.len() < 4;
    let mut place = 0;
    let mut last: Option<(usize, usize)> = None;
    while place < words.len() {
        let length = run(words, place);
        if length == 0 {
            place += 1;
            continue;
        }
        let marked = is_marked(words, place);
        let starts = words[..place].iter().all(|word| word.shape == Shape::Mark)
            || words[place - 1].shape == Shape::Mark && !words[place - 1].mark(",'-&");
        // "Thanks, Mel!" addresses someone who is there.
        let aside = |at: Option<usize>| {
            at.and_then(|at| words.get(at)).is_none_or(|word| word.shape == Shape::Mark && !word.mark("'"))
        };
        let addressed =
            present.contains(words[place].bare()) && (aside(place.checked_sub(1)) || aside(Some(place + length)));
        // "Robert, aka Bob" says that the first word is a name.
        let alias = place + length + 1 < words.len()
            && (place + length + 1..words.len().min(place + length + 6))
                .any(|end| is_alias(&words[place + length..end]));
        let other = note_of.is_some_and(|writer| !writer.is_owner(words[place].bare()));
        let subject = other && starts && !german && is_person_subject(&words[place..], length);
        let doubtful = (german || starts || heading) && !marked && !alias && !subject || addressed;
        if !doubtful {
            let name = text(sentence.text, &words[place..place + length]);
            let entity_type = match sort(words, place, length, claims, language) {
                EntityType::Concept if subject && !words[place + length].is(form::COPULA) => EntityType::Person,
                sort => sort,
            };
            let joined = last.filter(|(_, end)| is_alias(&words[*end..place])).map(|(at, _)| at);
            match joined {
                Some(at) => found[at].aliases.push(name),
                None if found.iter().all(|one| one.name != name) => {
                    found.push(Mention { name, entity_type, aliases: Vec::new() });
                    last = Some((found.len() - 1, place + length));
                }
                None => {}
            }
        }
        place += length;
    }
    found
}

/// What is said beside the name of a project.
const PROJECT: [&str; 5] = ["project", "projekt", "proyecto", "projet", "проект"];
/// Legal forms at the end of the name of a company.
const LEGAL_FORMS: [&str; 14] =
    ["ag", "gmbh", "inc", "ltd", "llc", "corp", "plc", "kg", "se", "sa", "srl", "bv", "oy", "ооо"];

/// How many words from here on are one name.
fn run(words: &[Word], place: usize) -> usize {
    let part = |word: &Word| {
        word.capital
            && word.shape != Shape::Mark
            && (word.form == 0 || word.form == form::TITLE)
            && !is_calendar(&word.text)
    };
    let mut length = 0;
    while let Some(word) = words.get(place + length) {
        let before = length.checked_sub(1).map(|before| &words[place + before]);
        let owner = before.is_some_and(|before| before.text.ends_with("'s"));
        let dot = word.mark(".") && before.is_some_and(|before| before.is(form::TITLE));
        if !(part(word) || dot) || owner {
            break;
        }
        length += 1;
    }
    // Capitals alone are an abbreviation or a raised voice.
    let long = words[place..place + length]
        .iter()
        .any(|word| word.form == 0 && word.shape == Shape::Plain && word.bare().chars().count() > 1 && !word.capitals);
    if long { length } else { 0 }
}

/// Days and months have capitals in English and are no names.
fn is_calendar(word: &str) -> bool {
    use crate::recall::plan::time::words::{month, weekday};
    let word = word.strip_suffix('s').unwrap_or(word);
    month(word).is_some() || weekday(word).is_some()
}

/// Whether a title, a relation, or a word for naming stands before: "my sister Marta", "Dr. Lee", "called Rex".
fn is_marked(words: &[Word], place: usize) -> bool {
    let before = place.checked_sub(1).map(|at| &words[at]);
    words[place].is(form::TITLE)
        || before.is_some_and(|word| {
            word.is(form::RELATION | form::TITLE)
                || matches!(word.text.as_str(), "called" | "named" | "heißt" | "namens" | "llama" | "appelle" | "зовут")
        })
}

/// Whether a name stands before a verb of what one person does ("Clara works"), or is something of the speaker's ("Clara
/// is my dentist").
fn is_person_subject(words: &[Word], length: usize) -> bool {
    let Some(verb) = words.get(length) else { return false };
    if verb.is(form::COPULA) {
        return words.get(length + 1).is_some_and(|word| word.is(form::MINE));
    }
    // In English a plural noun has a verb without -s.
    let third = !verb.text.is_ascii() || verb.text.ends_with('s') || verb.is(form::DID);
    third && verb.is(form::LIFE | form::LIKES | form::SAYS | form::DID)
}

/// What sort of thing a name is; a concept where that is not sure.
fn sort(words: &[Word], place: usize, length: usize, claims: &[Claim], language: Option<&Language>) -> EntityType {
    let before = place.checked_sub(1).map(|at| &words[at]);
    if words[place].is(form::TITLE)
        || before.is_some_and(|word| word.is(form::RELATION) && !word.text.starts_with("team"))
    {
        return EntityType::Person;
    }
    let folded: Vec<String> = words[place..place + length]
        .iter()
        .map(|word| language.map_or_else(|| word.bare().to_owned(), |language| language.folded(word.bare())))
        .collect();
    let folded = folded.join(" ");
    let claimed = claims.iter().find(|claim| claim.value == folded || claim.value.starts_with(&format!("{folded} ")));
    match claimed.map(|claim| claim.attribute) {
        Some("home") => return EntityType::Place,
        Some("employer") => return EntityType::Organization,
        _ => {}
    }
    let near = |form: u64| words[place.saturating_sub(4)..place].iter().any(|word| word.is(form));
    let into = before.is_some_and(|word| {
        matches!(word.text.as_str(), "in" | "to" | "from" | "at" | "en" | "à" | "nach" | "aus" | "в" | "из")
    });
    let travels = words.iter().any(|word| {
        matches!(
            word.text.as_str(),
            "trip" | "flew" | "visited" | "travelled" | "traveled" | "flight" | "born" | "grew"
        )
    });
    if into && travels && !near(form::EVENT & !form::EVENT) {
        return EntityType::Place;
    }
    let is_project = |word: &Word| PROJECT.contains(&word.text.as_str());
    let after = words.get(place + length);
    if before.is_some_and(is_project) || after.is_some_and(is_project) || length > 1 && is_project(&words[place]) {
        return EntityType::Project;
    }
    if length > 1 && LEGAL_FORMS.contains(&words[place + length - 1].bare()) {
        return EntityType::Organization;
    }
    EntityType::Concept
}

/// Whether these words between two names say that both are the same.
fn is_alias(between: &[Word]) -> bool {
    let words: Vec<&str> =
        between.iter().filter(|word| word.shape != Shape::Mark).map(|word| word.text.as_str()).collect();
    let words = words.join(" ");
    !words.is_empty() && ALIASES.split('|').any(|alias| alias == words)
}

/// A name as it is written, without the "'s" of an owner.
fn text(sentence: &str, words: &[Word]) -> String {
    let (Some(first), Some(last)) = (words.first(), words.last()) else { return String::new() };
    let name = &sentence[first.at.start..last.at.end];
    name.strip_suffix("'s").or_else(|| name.strip_suffix("’s")).unwrap_or(name).to_owned()
}

/// The things that a text names which someone wrote down on purpose.
pub(crate) fn mentioned(text: &str, voice: &SpeakerIdentity) -> Vec<Mention> {
    let language = language_of(text);
    let nobody = PresentNames::default();
    let named = sentences(text).into_iter().flat_map(|sentence| {
        let words = words(sentence.text, language);
        names(&sentence, &words, language, &claims(&words, language, voice), &nobody, Some(voice))
    });
    once_each(named)
}

pub(super) fn mentions(
    reads: &[AnalysedSentence<'_>],
    language: Option<&Language>,
    present: &PresentNames,
) -> Vec<Mention> {
    once_each(reads.iter().flat_map(|read| names(&read.sentence, &read.words, language, &read.claims, present, None)))
}

/// Each thing once, with all its other names.
fn once_each(named: impl Iterator<Item = Mention>) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    for mention in named {
        match found.iter_mut().find(|known| known.name == mention.name) {
            Some(known) => known.aliases.extend(mention.aliases),
            None => found.push(mention),
        }
    }
    found
}

/// The capitalised first words of the sentences of a text, which are names if they are known from elsewhere.
pub(crate) fn first_words(text: &str) -> Vec<String> {
    let first = |sentence: &Sentence<'_>| sentence.text.split(|c: char| !c.is_alphanumeric()).next().map(str::to_owned);
    let mut found: Vec<String> = sentences(text).iter().filter_map(first).collect();
    found.retain(|word| word.starts_with(char::is_uppercase) && word.chars().count() > 1);
    found.dedup();
    found
}

/// A capital at the beginning of a sentence is a name only if that name is known from elsewhere.
pub(super) fn add_first_words(
    turns: &[Utterance<'_>],
    known: &HashSet<String>,
    mentions: &mut Vec<(MemoryId, Vec<Mention>)>,
) {
    for turn in turns.iter().filter(|turn| turn.speaker.teaches()) {
        for sentence in sentences(turn.text) {
            let Some(first) = sentence.text.split(|c: char| !c.is_alphanumeric()).next() else { continue };
            if !first.starts_with(char::is_uppercase) || !known.contains(&first.to_lowercase()) {
                continue;
            }
            let at = mentions.iter().position(|(id, _)| *id == turn.id).unwrap_or_else(|| {
                mentions.push((turn.id, Vec::new()));
                mentions.len() - 1
            });
            if mentions[at].1.iter().all(|one| one.name != first) {
                let entity_type = EntityType::Concept;
                mentions[at].1.push(Mention { name: first.to_owned(), entity_type, aliases: Vec::new() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::language::language_of;
    use crate::learn::language::sentence::sentences;
    use crate::learn::language::word::words;

    fn found(text: &str, note_of: Option<&SpeakerIdentity>) -> Vec<String> {
        let sentence = sentences(text)[0];
        let language = language_of(text);
        let describe = |one: &Mention| {
            format!(
                "{}:{}{}",
                one.name,
                one.entity_type,
                one.aliases.iter().map(|alias| format!("={alias}")).collect::<String>()
            )
        };
        names(&sentence, &words(sentence.text, language), language, &[], &PresentNames::default(), note_of)
            .iter()
            .map(describe)
            .collect()
    }

    #[test]
    fn names_stand_inside_a_sentence() {
        for (text, expect) in [
            ("The weather was fine", vec![]),
            ("Sounds like a plan", vec![]),
            ("I met my sister Marta in May", vec!["Marta:person"]),
            ("We had dinner with Neal Stephenson", vec!["Neal Stephenson:concept"]),
            ("My manager is Robert, aka Bob", vec!["Robert:concept=Bob"]),
            ("I went to see Dr. Mwangi", vec!["Dr. Mwangi:person"]),
            ("We flew to Lisbon on Monday", vec!["Lisbon:place"]),
            ("Meine Tochter Lena mag Pferde", vec!["Lena:person"]),
            ("Key Features:", vec![]),
            ("We bought parts from Müller GmbH", vec!["Müller GmbH:organization"]),
            ("I work on the Atlas project", vec!["Atlas:project"]),
            ("We met Project Atlas people", vec!["Project Atlas:project"]),
        ] {
            assert_eq!(found(text, None), expect, "{text}");
        }
    }

    #[test]
    fn a_note_begins_with_the_name_of_whom_it_is_about() {
        for (text, expect) in [
            ("Clara works in Berlin as a dentist", vec!["Clara:person"]),
            ("Clara prefers tea", vec!["Clara:person"]),
            ("Clara is my dentist.", vec!["Clara:concept"]),
            ("Nature is great", vec![]),
            ("Ana lives in Berlin", vec![]),
            ("Kids love ice cream", vec![]),
            ("The weather was fine", vec![]),
        ] {
            let all = found(text, Some(&SpeakerIdentity::of(None, Some("ana"))));
            assert_eq!(
                all.iter().filter(|one| !one.contains("Berlin")).collect::<Vec<_>>(),
                expect.iter().collect::<Vec<_>>(),
                "{text}"
            );
        }
    }
}
