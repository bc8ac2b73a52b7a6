//! Which other name is given in passing?
//!
//! "Robert, everybody calls him Bob", "my sister Katarina, we all just say Kat", "Postgres, PG for
//! short", "Heron, HRN in all the tickets": the piece between two marks says nothing else, so it is
//! taken out of the sentence, and the names are joined.

use super::super::lexicon::{self, within};
use super::super::word::{Shape, Word};
use super::{Mention, name};

/// A short name and the name that it stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Alias {
    pub(crate) short: String,
    pub(crate) of: String,
}

/// Takes the pieces that only give another name out of a sentence. `last` is who was named last
/// before it.
pub(crate) fn take(words: &mut Vec<Word>, last: Option<&str>) -> Vec<Alias> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < words.len() {
        let end = (start..words.len()).find(|place| ends(&words[*place])).unwrap_or(words.len());
        let given = given(&words[start..end], start == 0)
            .and_then(|(short, sure)| Some(Alias { of: meant(&words[..start], &short, sure, last)?, short }));
        match given {
            Some(alias) if alias.short != alias.of => {
                found.push(alias);
                // The mark behind stays as the joint of what is left.
                words.drain(start.saturating_sub(1)..end);
                start = start.max(1);
            }
            _ => start = end + 1,
        }
    }
    found
}

fn ends(word: &Word) -> bool {
    word.any(&[",", ";", "—", "–", "(", ")", ".", "!"]) || word.is("-") && !word.glued
}

/// Who calls someone something.
const CALLERS: &[&str] =
    &["everybody", "everyone", "people", "we", "they", "i", "folks", "friends", "most", "colleagues", "all"];
const CALLS: &[&str] = &["call", "calls", "say", "says", "write", "abbreviate", "shorten", "nicknamed", "nickname"];
/// Those to whom something goes by another name.
const CIRCLES: &[&str] = &[
    "all",
    "everyone",
    "everybody",
    "the",
    "his",
    "her",
    "our",
    "my",
    "most",
    "friends",
    "us",
    "colleagues",
    "family",
];

/// The name that a piece gives, and whether it can only be read so.
fn given(piece: &[Word], opens: bool) -> Option<(String, bool)> {
    let lower = |place: usize| piece.get(place).map_or("", |word| word.lower.as_str());
    let calls = piece.iter().take(6).position(|word| word.any(CALLS));
    if let Some(calls) = calls.filter(|_| CALLERS.contains(&lower(0))) {
        let object = matches!(lower(calls + 1), "him" | "her" | "it" | "them");
        let at = calls + 1 + usize::from(object);
        let named = piece.get(at).filter(|word| is_name(word))?;
        let said = matches!(lower(calls), "say" | "says" | "write");
        let alone =
            piece.get(at + 1).is_none_or(|next| next.any(&["cause", "because", "for", "in", "at", "here", "since"]));
        return (alone && (object || said)).then(|| (name(std::slice::from_ref(named)), object));
    }
    if opens {
        return None;
    }
    let skip = usize::from(lower(0) == "or" || lower(0) == "just");
    let named = piece.get(skip).filter(|word| is_name(word))?;
    let short = lower(skip + 1) == "for" && lower(skip + 2) == "short" && piece.len() == skip + 3;
    let circle = matches!(lower(skip + 1), "to" | "in" | "among" | "for")
        && CIRCLES.contains(&lower(skip + 2))
        && piece.len() <= skip + 7;
    (short || circle).then(|| (name(std::slice::from_ref(named)), short))
}

fn is_name(word: &Word) -> bool {
    let plain = word.shape == Shape::Word && !within(lexicon::CALENDAR, &word.lower) && !word.is("i");
    plain && (word.capital() || word.digits())
}

/// The name before a piece that it gives another one for: the one that the short name abbreviates,
/// or else, where it can only be read so, the one named last.
fn meant(before: &[Word], short: &str, sure: bool, last: Option<&str>) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    let mut place = 0;
    while place < before.len() {
        let length = before[place..].iter().take_while(|word| is_name(word) && word.capital()).count();
        if length > 0 {
            names.push(name(&before[place..place + length]));
        }
        place += length.max(1);
    }
    let abbreviated = names.iter().rev().find(|name| abbreviates(short, name)).cloned();
    abbreviated.or_else(|| sure.then(|| names.pop().or_else(|| last.map(str::to_owned)))?)
}

/// Whether the letters of a short name come one after the other in a longer one.
fn abbreviates(short: &str, name: &str) -> bool {
    let (short, name) = (short.to_lowercase(), name.to_lowercase());
    let mut letters = name.chars();
    let begins = short.chars().next() == name.chars().next() || short.len() > 2 && name.contains(&short);
    begins
        && short.len() < name.len()
        && short.chars().filter(|c| c.is_alphabetic()).all(|c| letters.any(|letter| letter == c))
}

/// The names that are known already, each short one with the one it stands for.
pub(crate) fn known(mentions: &[Mention]) -> Vec<Alias> {
    let of = |mention: &Mention| -> Vec<Alias> {
        let single = |short: &&String| !short.contains(' ') && short.chars().count() > 1;
        mention
            .aliases
            .iter()
            .filter(single)
            .map(|short| Alias { short: short.clone(), of: mention.name.clone() })
            .collect()
    };
    mentions.iter().flat_map(of).collect()
}

/// A statement with the names that things are known by, where it used another one.
pub(crate) fn canonical(content: &str, aliases: &[Alias]) -> String {
    let mut told = content.to_owned();
    for Alias { short, of } in aliases {
        if told.contains(of.as_str())
            || ["called", "name is", "goes by", "known as"].iter().any(|says| told.contains(says))
        {
            continue;
        }
        let parts: Vec<String> = told
            .split(' ')
            .map(|part| {
                let bare = part.trim_end_matches([',', '.', ';', ':', '!', ')']);
                let (core, owner) = bare.strip_suffix("'s").map_or((bare, ""), |core| (core, "'s"));
                let same = core == short
                    || core.len() > 1 && short.chars().any(|c| c.is_ascii_digit()) && core.eq_ignore_ascii_case(short);
                if same { format!("{of}{owner}{}", &part[bare.len()..]) } else { part.to_owned() }
            })
            .collect();
        told = parts.join(" ");
    }
    told
}

#[cfg(test)]
mod tests {
    use super::super::super::word::{join, words};
    use super::*;

    #[test]
    fn names_given_in_passing_are_taken_out() {
        for (text, left, aliases) in [
            ("my friend Robert, everybody calls him Bob", "my friend Robert", "Bob=Robert"),
            (
                "my sister Katarina, we all just say Kat, lives in Vienna",
                "my sister Katarina, lives in Vienna",
                "Kat=Katarina",
            ),
            ("it keeps its data in Postgres, PG for short", "it keeps its data in Postgres", "PG=Postgres"),
            (
                "we run Kubernetes in Frankfurt, I'll just say k8s, with 3 nodes",
                "we run Kubernetes in Frankfurt, with 3 nodes",
                "k8s=Kubernetes",
            ),
            ("this is Elizabeth, Liz to all her friends", "this is Elizabeth", "Liz=Elizabeth"),
            ("Everyone calls him Bob", "", "Bob=Marek"),
            ("I live in Porto, Lisbon in the summer", "I live in Porto, Lisbon in the summer", ""),
            ("Ana said hi, we all say thanks", "Ana said hi, we all say thanks", ""),
        ] {
            let mut words = words(text);
            let found = take(&mut words, Some("Marek"));
            let shown: Vec<String> = found.iter().map(|alias| format!("{}={}", alias.short, alias.of)).collect();
            assert_eq!((join(&words).as_str(), shown.join(" ").as_str()), (left, aliases), "{text}");
        }
    }

    #[test]
    fn one_name_is_written() {
        let aliases = [Alias { short: "HRN".into(), of: "Heron".into() }];
        for (text, expect) in [
            ("The HRN audit is over", "The Heron audit is over"),
            ("HRN's port is 80", "Heron's port is 80"),
            ("Heron is HRN in tickets", "Heron is HRN in tickets"),
        ] {
            assert_eq!(canonical(text, &aliases), expect);
        }
    }
}
