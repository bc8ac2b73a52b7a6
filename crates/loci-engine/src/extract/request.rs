//! What does someone ask outright to be remembered?
//!
//! A request begins its sentence ("please remember that …", "can you note down …") or ends it ("…, don't forget"). What
//! it asks for stands in the same sentence, or else next to it. Recollections ("I remember that …") are no requests.

use crate::language::word::{Shape, Word};
use crate::language::{Language, form};

/// A request to remember something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    /// The bytes of the sentence that hold what is asked for; none: it stands in another sentence.
    pub(crate) what: Option<std::ops::Range<usize>>,
    /// Someone wants to be reminded of it: it is something to do.
    pub(crate) reminder: bool,
}

/// How far into a sentence a request may begin.
const LATEST: usize = 8;

/// Requests of languages that have no table, by the word that asks.
const OTHER: &str = "lembra lembra-te lembre lembre-se não-esqueças ricorda ricordati annota onthoud vergeet zapamiętaj pamiętaj запам'ятай hatırla unutma \
    kom-ihåg husk ingat nhớ";
const OTHER_UNSPACED: [&str; 12] = [
    "记住",
    "記住",
    "别忘了",
    "別忘了",
    "覚えて",
    "覚えておいて",
    "忘れないで",
    "기억해",
    "تذكر",
    "تذكّر",
    "याद रख",
    "จำไว้",
];

/// What a sentence asks to be remembered, if it does.
pub(crate) fn request(text: &str, words: &[Word], language: Option<&Language>) -> Option<Request> {
    let Some(language) = language else { return unlisted(text, words) };
    let spoken: Vec<&Word> = words.iter().filter(|word| word.shape != Shape::Mark || word.text == ":").collect();
    let texts: Vec<&str> = spoken.iter().map(|word| word.text.as_str()).collect();
    for start in 0..texts.len().min(LATEST) {
        if !leads_in(&spoken[..start]) {
            break;
        }
        let fits =
            |phrases: &[Vec<&str>]| phrases.iter().find(|phrase| texts[start..].starts_with(phrase)).map(Vec::len);
        if fits(&language.reminders).is_some() {
            return Some(Request { what: Some(spoken[start].at.start..text.len()), reminder: true });
        }
        if let Some(length) = fits(&language.requests)
            && !recollects(&spoken, start, length)
        {
            let from = spoken[start + length - 1].at.end;
            let what = trimmed(text, from..text.len());
            let tells = spoken[start + length..].iter().any(|word| word.tells());
            return Some(Request { what: tells.then_some(what).flatten(), reminder: false });
        }
    }
    at_the_end(text, &spoken, &texts, language)
}

/// "My locker code is 4410, please remember that."
fn at_the_end(text: &str, spoken: &[&Word], texts: &[&str], language: &Language) -> Option<Request> {
    let phrase = |phrase: &&Vec<&str>| {
        let rest = texts.len().checked_sub(phrase.len())?;
        // The phrase, and after it no more than "that", "it", "please".
        let starts = (rest.saturating_sub(2)..=rest).rev();
        starts.into_iter().find(|start| {
            texts[*start..].starts_with(phrase) && spoken[start + phrase.len()..].iter().all(|word| !word.tells())
        })
    };
    let start = language
        .requests
        .iter()
        .filter(|phrase| phrase.len() > 1 || phrase[0].chars().count() > 5)
        .find_map(|one| phrase(&one))?;
    let before = &spoken[..start];
    if recollects(spoken, start, 1) || before.iter().filter(|word| word.tells()).count() < 2 {
        return None;
    }
    // "…, please remember that": the words that only lead in to the request are no part of what it asks for.
    let last = before.iter().rposition(|word| word.tells())?;
    Some(Request { what: trimmed(text, 0..before[last].at.end), reminder: false })
}

/// Whether these words may stand before a request: "okay so please", "can you", "I want you to".
fn leads_in(words: &[&Word]) -> bool {
    use form::{AUXILIARY, EMPTY, FIRST, GREETING, OPENER, REACTION, ROLE, SECOND};
    let small = |word: &&Word| {
        word.is(OPENER | GREETING | EMPTY | AUXILIARY | SECOND | FIRST | REACTION | ROLE)
            || matches!(
                word.text.as_str(),
                "want"
                    | "need"
                    | "like"
                    | "make"
                    | "sure"
                    | "thing"
                    | "important"
                    | "bitte"
                    | "favor"
                    | "quiero"
                    | "quick"
            )
    };
    words.iter().all(small)
}

/// "I remember that …", "do you remember …", "remember when we …": nothing is asked for.
fn recollects(spoken: &[&Word], start: usize, length: usize) -> bool {
    let before = |steps: usize| start.checked_sub(steps).map(|at| spoken[at]);
    let wanted =
        spoken[..start].iter().any(|word| matches!(word.text.as_str(), "want" | "need" | "like" | "quiero" | "hope"));
    let first = before(1).is_some_and(|word| word.is(form::FIRST)) && !wanted;
    let can = |word: &Word| {
        matches!(
            word.text.as_str(),
            "can" | "could" | "would" | "will" | "should" | "must" | "to" | "puedes" | "podrías"
        )
    };
    let second = before(1).is_some_and(|word| word.is(form::SECOND))
        && !before(2).is_some_and(can)
        && !wanted
        && spoken[start].text == "remember";
    let next = spoken.get(start + length).map(|word| word.text.as_str());
    let times = spoken[start].text == "remember"
        && (matches!(next, Some("when"))
            || next == Some("the")
                && spoken
                    .get(start + length + 1)
                    .is_some_and(|word| matches!(word.text.as_str(), "time" | "day" | "days" | "times")));
    first || second || times
}

/// The range without the signs and small words around what is asked for.
fn trimmed(text: &str, at: std::ops::Range<usize>) -> Option<std::ops::Range<usize>> {
    let part = &text[at.clone()];
    let sign = |c: char| c.is_whitespace() || matches!(c, ':' | ',' | ';' | '-' | '–' | '—' | '：' | '，' | '.' | '!');
    let start = part.len() - part.trim_start_matches(sign).len();
    let end = part.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '-' | '–' | '—')).len();
    (start < end).then(|| at.start + start..at.start + end)
}

/// A request in a language without a table.
fn unlisted(text: &str, words: &[Word]) -> Option<Request> {
    let word = words
        .iter()
        .filter(|word| word.shape != Shape::Mark)
        .take(3)
        .find(|word| OTHER.split_whitespace().any(|one| one == word.text));
    let end = match word {
        Some(word) => word.at.end,
        None => OTHER_UNSPACED.iter().find_map(|phrase| text.find(phrase).map(|at| at + phrase.len()))?,
    };
    let after = trimmed(text, end..text.len());
    let told = |at: &std::ops::Range<usize>| text[at.clone()].chars().filter(|c| c.is_alphanumeric()).count() > 2;
    // Where the verb comes last, what is asked for stands before it.
    let what = after.filter(told).or_else(|| trimmed(text, 0..text.len()));
    Some(Request { what, reminder: false })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::language::language_of;
    use crate::language::word::words;

    fn asked(text: &str) -> Option<Option<&str>> {
        let language = language_of(text);
        request(text, &words(text, language), language).map(|request| request.what.map(|at| &text[at]))
    }

    #[test]
    fn what_is_asked_for_is_found() {
        for (text, expect) in [
            ("Please remember that I'm allergic to nuts.", Some(Some("I'm allergic to nuts."))),
            ("ok so don't forget: the gate closes at 9", Some(Some("the gate closes at 9"))),
            ("Can you keep in mind that we ship on Mondays?", Some(Some("we ship on Mondays?"))),
            ("My locker code is 4410, please remember that.", Some(Some("My locker code is 4410"))),
            ("Remember this:", Some(None)),
            ("Merk dir bitte, dass ich kein Fleisch esse.", Some(Some("ich kein Fleisch esse."))),
            ("Recuerda que vivo en Sevilla", Some(Some("vivo en Sevilla"))),
            ("Запомни, пожалуйста: у меня аллергия на кошек", Some(Some("у меня аллергия на кошек"))),
            ("记住我住在北京", Some(Some("我住在北京"))),
            ("remind me to call Bob", Some(Some("remind me to call Bob"))),
            ("I remember that we went to Rome", None),
            ("Do you remember that bar?", None),
            ("Remember when we went to Rome?", None),
            ("The store closes at nine", None),
        ] {
            assert_eq!(asked(text), expect, "{text}");
        }
    }
}
