//! Which other names does a text give for something?
//!
//! "Robert (everyone calls him Bob)", "Robert, aka Bob", "Bob, i.e. Robert Smith", "Postgres, or PG
//! for short", "k8s (Kubernetes)".

use super::super::lexicon::{self, within};
use super::super::word::{Shape, Word};
use super::{Mention, name};
use loci_types::EntityType;

/// Joins the names of a sentence that mean the same thing.
pub(super) fn join(words: &[Word], found: &mut Vec<Mention>) {
    for place in 1..words.len() {
        let Some((short, of)) = pair(words, place) else { continue };
        let known = |found: &[Mention], name: &str| found.iter().position(|mention| mention.name == name);
        let entity_type = [&of, &short]
            .iter()
            .find_map(|name| known(found, name).map(|at| found[at].entity_type))
            .unwrap_or(EntityType::Concept);
        if let Some(at) = known(found, &short) {
            found.remove(at);
        }
        let at = known(found, &of).unwrap_or_else(|| {
            found.push(Mention { name: of.clone(), entity_type, aliases: Vec::new() });
            found.len() - 1
        });
        let better = if found[at].entity_type == EntityType::Concept { entity_type } else { found[at].entity_type };
        found[at].entity_type =
            if within(lexicon::TOOLS, &of.to_lowercase()) || within(lexicon::TOOLS, &short.to_lowercase()) {
                EntityType::Tool
            } else {
                better
            };
        if !found[at].aliases.contains(&short) {
            found[at].aliases.push(short);
        }
    }
}

/// An alias and the name it stands for, if the words at a place join them.
fn pair(words: &[Word], place: usize) -> Option<(String, String)> {
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let before = |end: usize| {
        let start = (0..end).rev().take_while(|at| words[*at].capital()).last();
        match start {
            Some(start) => Some(name(&words[start..end])),
            None => end
                .checked_sub(1)
                .filter(|at| words[*at].shape == Shape::Word && words[*at].digits())
                .map(|at| words[at].text.clone()),
        }
    };
    let after = |start: usize| {
        let end = (start..words.len()).take_while(|at| words[*at].capital()).last()? + 1;
        Some(name(&words[start..end]))
    };
    let opened = words[place].any(&["(", ","]);
    let inside = place + usize::from(opened);
    match lower(inside) {
        "aka" | "a.k.a" => Some((after(inside + 1)?, before(place)?)),
        "i.e" | "ie" if opened => {
            let start = inside + 1 + usize::from(lower(inside + 1) == ".") + usize::from(lower(inside + 1) == ",");
            Some((before(place)?, after(start)?))
        }
        "or" if opened && short_for(words, inside) => Some((after(inside + 1)?, before(place)?)),
        "short" if lower(inside + 1) == "for" => Some((before(place)?, after(inside + 2)?)),
        _ if words[place].is("(") => {
            let close = words.iter().skip(place).position(|word| word.is(")"))? + place;
            let called =
                (place..close).find(|at| words[*at].any(&["calls", "call", "called", "goes", "nickname", "known"]));
            if let Some(called) = called {
                let start = (called..close).find(|at| words[*at].capital())?;
                return Some((after(start)?, before(place)?));
            }
            // "k8s (Kubernetes)": the longer is the name.
            let (outer, inner) = (before(place)?, after(place + 1)?);
            let whole = close == place + 1 + inner.split(' ').count();
            let shorter = outer.chars().count() < inner.chars().count();
            let abbreviation = |short: &str| {
                short.chars().count() <= 5 && short.chars().skip(1).any(|c| c.is_uppercase() || c.is_ascii_digit())
            };
            match () {
                () if !whole => None,
                () if shorter && abbreviation(&outer) => Some((outer, inner)),
                () if abbreviation(&inner) => Some((inner, outer)),
                () => None,
            }
        }
        _ => None,
    }
}

fn short_for(words: &[Word], place: usize) -> bool {
    words
        .iter()
        .skip(place)
        .take(6)
        .zip(words.iter().skip(place + 1))
        .any(|(one, two)| one.is("for") && two.is("short"))
}
