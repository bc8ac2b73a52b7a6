//! Which other names does a Russian text give for someone?
//!
//! "Антонина, для всех просто баба Тоня", "Михаил, мы все зовём его Миша", "Михаил (Миша)".

use loci_types::EntityType;

use super::super::super::word::{Shape, Word};
use super::super::Mention;
use super::is_cyrillic;

/// Words that lead to another name: "для всех просто баба Тоня".
const LEADS: &[&str] = &[
    "для всех",
    "для своих",
    "для друзей",
    "для близких",
    "для нас",
    "для родных",
    "для домашних",
    "для коллег",
    "для меня",
    "он же",
    "она же",
    "он",
    "или",
    "или просто",
    "просто",
    "в быту",
    "дома",
    "по-домашнему",
    "по-простому",
    "по прозвищу",
    "прозвище",
    "по кличке",
    "кличка",
    "сокращенно",
    "коротко",
    "короче",
    "ласково",
    "известный как",
    "известная как",
    "она же просто",
    "также",
    "в народе",
    "ник",
];
/// Verbs of calling someone by a name.
const CALLS: &[&str] =
    &["зовем", "зовут", "зову", "называем", "называют", "называю", "кличем", "кличут", "величаем", "прозвали", "звали"];
/// Words beside such a verb.
const BESIDE: &[&str] = &[
    "мы",
    "все",
    "его",
    "ее",
    "их",
    "я",
    "просто",
    "ласково",
    "дома",
    "обычно",
    "которого",
    "которую",
    "которая",
    "который",
    "которых",
    "у",
    "нас",
    "в",
    "семье",
    "на",
    "работе",
    "друзья",
    "коллеги",
    "как",
    "сокращенно",
    "коротко",
    "всегда",
    "между",
    "собой",
    "родные",
    "близкие",
];

/// The other name that an aside gives, if it gives one and nothing else.
pub(in super::super::super) fn nickname(aside: &[Word]) -> Option<&[Word]> {
    let called = aside.iter().position(|word| CALLS.contains(&word.lower.as_str()));
    let start = match called {
        Some(called) => {
            let beside = |word: &Word| BESIDE.contains(&word.lower.as_str());
            if !aside[..called].iter().all(beside) {
                return None;
            }
            called + 1 + aside[called + 1..].iter().take_while(|word| beside(word)).count()
        }
        None => {
            let begins = |lead: &&str| {
                lead.split(' ').enumerate().all(|(place, part)| aside.get(place).is_some_and(|word| word.is(part)))
            };
            let length = LEADS.iter().filter(|lead| begins(lead)).map(|lead| lead.split(' ').count()).max()?;
            length + aside[length..].iter().take_while(|word| word.any(&["просто", "всегда", "—", "-"])).count()
        }
    };
    let name = aside.get(start..)?;
    let last = name.last()?;
    let plain = name.iter().all(|word| word.shape == Shape::Word);
    (plain && name.len() <= 3 && last.capital()).then_some(name)
}

/// Joins the names that a sentence gives for the same person: "Антонина (баба Тоня)", "Михаил, он же
/// Миша".
pub(in super::super) fn join(words: &[Word], found: &mut Vec<Mention>) {
    for place in 1..words.len() {
        let name = words[place - 1].text.as_str();
        let Some(at) = found.iter().position(|mention| mention.name.split(' ').next_back() == Some(name)) else {
            continue;
        };
        let Some(alias) = alias(words, place) else { continue };
        let text: Vec<&str> = alias.iter().map(|word| word.text.as_str()).collect();
        let text = text.join(" ");
        if found[at].name == text {
            continue;
        }
        found[at].entity_type = EntityType::Person;
        if !found[at].aliases.contains(&text) {
            found[at].aliases.push(text);
        }
        let name = found[at].name.clone();
        found.retain(|mention| {
            mention.name == name || !alias.iter().any(|word| word.capital() && mention.name == word.text)
        });
    }
}

/// The other name that is given at a mark behind a name.
fn alias(words: &[Word], place: usize) -> Option<&[Word]> {
    let (mark, rest) = words.get(place..)?.split_first()?;
    if mark.is("(") {
        let inside = &rest[..rest.iter().position(|word| word.is(")"))?];
        let bare = inside.len() <= 2 && inside.iter().all(is_cyrillic) && inside.last().is_some_and(Word::capital);
        return nickname(inside).or(bare.then_some(inside));
    }
    if !mark.any(&[",", "—", "–"]) {
        return None;
    }
    let end = rest.iter().position(|word| word.any(&[",", "—", "–", ".", "!", "?"])).unwrap_or(rest.len());
    nickname(&rest[..end])
}
