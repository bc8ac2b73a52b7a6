//! Finds explicit requests to remember something.
//!
//! A request is a phrase of the language table in the imperative ("remember that …", "schreib dir … auf") or after
//! words that ask ("could you …", "would you mind …"). Its content follows it, is in its middle or before it in the
//! same sentence, or is in a neighbouring sentence. Recollections ("I remember that …") are not requests.

use std::ops::Range;

use crate::learn::language::word::{Shape, Word};
use crate::learn::language::{Language, Phrase, form};
use crate::recall::plan::time::words::among;

/// A request to remember something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Request {
    /// The bytes of the sentence with the content of the request. `None` if it is in another sentence.
    pub(crate) what: Option<Range<usize>>,
    /// Someone wants to be reminded of it: it is something to do.
    pub(crate) reminder: bool,
}

/// The most words between the parts of a phrase: "write my number down".
const GAP: usize = 8;

/// Requests of languages that have no table, by the word that asks.
const OTHER: &str = "lembra lembra-te lembre lembre-se lembrar ricorda ricordati annota onthoud vergeet zapamiętaj pamiętaj hatırla unutma husk ingat nhớ";
const OTHER_UNSPACED: &str = "记住 記住 别忘了 別忘了 记下 覚えて 忘れないで 기억해 تذكر تذكّر याद จำไว้";

/// Verbs of keeping, by which someone may ask that something is not kept.
const KEEPS: &str = "remember save store record memorize memorise keep merk merke speicher speichere recuerdes guardes apuntes retiens garde запоминай запоминайте сохраняй";

const FORGETS: &str = "forget vergiss vergesst olvida olvídate oublie oubliez забудь забудьте";

/// Whether someone asks that this is not kept: "don't remember this: …", "forget that …".
pub(crate) fn declines(words: &[Word]) -> bool {
    let mut spoken = words.iter().filter(|word| word.shape != Shape::Mark && !word.is(form::OPENER | form::INVITES));
    let forgets = spoken.next().is_some_and(|word| among(FORGETS, &word.text));
    // "Vergiss nicht" asks for the contrary.
    forgets && !spoken.take(2).any(|word| word.is(form::NEGATION))
        || words.windows(2).any(|two| two[0].is(form::NEGATION) && among(KEEPS, &two[1].text))
}

/// What a sentence asks to be remembered, if it does.
pub(crate) fn request(text: &str, asks: bool, words: &[Word], language: Option<&Language>) -> Option<Request> {
    let Some(language) = language else { return unlisted(text, words) };
    let spoken: Vec<&Word> = words.iter().filter(|word| word.shape != Shape::Mark || is_mark(word)).collect();
    let texts: Vec<&str> = spoken.iter().map(|word| word.text.as_str()).collect();
    for start in 0..texts.len() {
        // What someone quotes they do not ask for.
        if text[..spoken[start].at.start].matches(['"', '“', '”', '«', '»']).count() % 2 == 1 {
            continue;
        }
        let invited = invited(&spoken[..start]);
        let begins = begins(&spoken[..start]) && !asks || invited;
        let fits = |phrase: &&Phrase| if phrase.infinitive { invited } else { begins || invited };
        let reminder = language.reminders.iter().find(|phrase| fits(phrase) && phrase.ends(&texts[start..]).is_some());
        // "Remind me what the difference is" asks for an answer.
        let asks_back =
            spoken[start..].iter().take(4).any(|word| word.is(form::ASKS) && !word.is(form::CONDITION | form::LIMIT));
        if reminder.is_some() && !asks_back && !recollects(&spoken, start) {
            return Some(Request { what: trimmed(text, spoken[start].at.start..text.len()), reminder: true });
        }
        let found = language.requests.iter().filter(fits).find_map(|phrase| phrase.ends(&texts[start..]));
        if let Some((gap, length)) = found
            && !recollects(&spoken, start)
        {
            let gap = start + gap.start..start + gap.end;
            return Some(Request { what: asked_for(text, &spoken, start, gap, start + length), reminder: false });
        }
    }
    None
}

fn is_mark(word: &Word) -> bool {
    word.mark(",;:.!?—–-(")
}

/// The content after a request, in its middle, or before it. `None` if it refers to something outside the sentence.
fn asked_for(text: &str, spoken: &[&Word], start: usize, gap: Range<usize>, end: usize) -> Option<Range<usize>> {
    let tells = |words: &[&Word]| words.iter().filter(|word| word.tells()).count();
    let refers = |word: &Word| word.is(form::PRONOUN) && !word.is(form::FIRST | form::MINE);
    let in_gap = &spoken[gap.clone()];
    let gap_refers = in_gap.first().is_some_and(|word| refers(word) && in_gap.len() < 4);
    if tells(in_gap) > 0 && !gap_refers {
        return trimmed(text, in_gap[0].at.start..in_gap[in_gap.len() - 1].at.end);
    }
    // "Remember this: …" gives it behind the colon.
    let mut rest = &spoken[end..];
    if let Some(colon) = rest.iter().position(|word| word.mark(":"))
        && tells(&rest[colon..]) > 0
    {
        // "Remember how we deploy: …": what stands before the colon says what the rest is for.
        let heading = rest[..colon].iter().find(|word| among("how wie cómo comment как", &word.text));
        return trimmed(text, heading.map_or(rest[colon].at.end, |word| word.at.start)..text.len());
    }
    let small = |word: &Word| {
        word.shape == Shape::Mark
            || matches!(
                word.text.as_str(),
                "that" | "dass" | "que" | "что" | "please" | "bitte" | "пожалуйста" | "плиз" | "porfa"
            )
    };
    let that = rest.first().is_some_and(|word| word.text == "that");
    let clause = |at: usize| {
        rest.get(at).is_some_and(|word| {
            word.shape != Shape::Mark && !word.is(form::ROLE | form::AND | form::BECAUSE | form::NOW | form::OPENER)
        })
    };
    let conjunction = that && clause(1);
    if conjunction || !that {
        let skip = rest.iter().position(|word| !small(word)).unwrap_or(rest.len());
        rest = &rest[skip..];
    }
    // "Remember this for next time", "keep that in mind", "guárdalo como preferencia", "не забывай об этом" refer to something
    // that was said elsewhere.
    let last = spoken[end - 1];
    let clitic = last.text.ends_with("lo") && last.text.len() > 5 || last.is(form::PRONOUN) && last.text != "that";
    let next = rest.iter().find(|word| !word.is(form::ROLE));
    let elsewhere = !in_gap.is_empty() || next.is_some_and(|word| refers(word)) && !conjunction;
    let open = rest
        .first()
        .is_none_or(|word| word.is(form::ROLE | form::AND | form::BECAUSE | form::NOW | form::OPENER | form::LIMIT));
    let refers_back = clitic || last.text == "olvide" || last.text == "that";
    if !(elsewhere || refers_back && open) && tells(rest) > 0 {
        return trimmed(text, rest[0].at.start..text.len());
    }
    // "Write this down, the code is 4410": the pronoun points ahead.
    let ahead = spoken[end..].iter().position(|word| word.mark(",—–-")).map(|comma| &spoken[end + comma + 1..]);
    let ahead = ahead.filter(|words| {
        words.first().is_some_and(|word| !word.is(form::BECAUSE | form::AND | form::OPENER | form::INVITES))
    });
    let concrete = |word: &&Word| {
        matches!(word.shape, Shape::Number | Shape::Code)
            || word.is(form::FIRST | form::MINE | form::COPULA | form::RELATION)
            || word.capital
    };
    if let Some(words) = ahead.filter(|words| tells(words) > 1 && words.iter().any(concrete)) {
        return trimmed(text, words[0].at.start..text.len());
    }
    let before = &spoken[..start];
    let lead =
        |word: &&Word| word.shape == Shape::Mark || word.is(form::AND | form::INVITES | form::FILLER | form::EMPTY);
    let last = before.iter().rposition(|word| !lead(word))?;
    let before = &before[..=last];
    let known = tells(before) > 1 || before.iter().any(|word| word.is(form::FIRST | form::MINE | form::STYLE));
    if known && tells(before) > 0 { trimmed(text, 0..before[last].at.end) } else { None }
}

/// Whether a clause begins behind these words, so that a verb is an order.
fn begins(before: &[&Word]) -> bool {
    let lead = |word: &&&Word| {
        word.is(form::OPENER | form::GREETING | form::AND | form::REACTION)
            || matches!(
                word.text.as_str(),
                "please"
                    | "bitte"
                    | "favor"
                    | "por"
                    | "porfa"
                    | "пожалуйста"
                    | "плиз"
                    | "also"
                    | "just"
                    | "do"
                    | "then"
                    | "svp"
                    | "mal"
            )
    };
    before.iter().rev().find(|word| !lead(word)).is_none_or(|word| word.shape == Shape::Mark)
}

/// Whether these words ask for what follows: "can you", "would you mind", "I want you to", "¿podrías", "можешь".
fn invited(before: &[&Word]) -> bool {
    let clause = before.iter().rposition(|word| word.mark(".;!?:")).map_or(0, |at| at + 1);
    before[clause..].iter().rev().take(6).any(invites)
}

fn invites(word: &&Word) -> bool {
    word.is(form::INVITES)
}

/// "I remember that …", "do you remember …", "remember when we …": nothing is asked for.
fn recollects(spoken: &[&Word], start: usize) -> bool {
    let before = |steps: usize| start.checked_sub(steps).map(|at| spoken[at]);
    let own = before(1).is_some_and(|word| word.is(form::FIRST))
        || before(2).is_some_and(|word| word.is(form::FIRST))
            && before(1).is_some_and(|word| word.is(form::LASTING | form::EMPTY | form::LIMIT | form::NEGATION));
    let next = |steps: usize| spoken.get(start + steps).map_or("", |word| word.text.as_str());
    let times = spoken[start].text == "remember"
        && (next(1) == "when"
            || next(1) == "how" && matches!(next(2), "we" | "i" | "he" | "she" | "they")
            || next(1) == "the" && matches!(next(2), "time" | "day" | "days" | "times"));
    own || times && !spoken.iter().any(|word| word.mark(":"))
}

/// The range without the signs and small words around what is asked for.
fn trimmed(text: &str, at: Range<usize>) -> Option<Range<usize>> {
    let part = &text[at.clone()];
    let sign =
        |c: char| c.is_whitespace() || matches!(c, ':' | ',' | ';' | '-' | '–' | '—' | '：' | '，' | '.' | '!' | '?');
    let start = part.len() - part.trim_start_matches(sign).len();
    let end = part.trim_end_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '-' | '–' | '—')).len();
    (start < end).then(|| at.start + start..at.start + end)
}

/// A request in a language without a table.
fn unlisted(text: &str, words: &[Word]) -> Option<Request> {
    let listed = |word: &&Word| OTHER.split_whitespace().any(|one| one == word.text);
    let word = words.iter().filter(|word| word.shape != Shape::Mark).take(4).find(listed);
    let end = match word {
        Some(word) => word.at.end,
        None => OTHER_UNSPACED.split_whitespace().find_map(|phrase| text.find(phrase).map(|at| at + phrase.len()))?,
    };
    let after = trimmed(text, end..text.len());
    let has_text = |at: &Range<usize>| text[at.clone()].chars().filter(|c| c.is_alphanumeric()).count() > 2;
    // Where the verb comes last, what is asked for stands before it.
    let what = after.filter(has_text).or_else(|| trimmed(text, 0..text.len()));
    Some(Request { what, reminder: false })
}

impl Phrase {
    /// Where the phrase ends if these words begin with it, and the words in its gap.
    fn ends(&self, words: &[&str]) -> Option<(Range<usize>, usize)> {
        if !words.starts_with(&self.words) {
            return None;
        }
        let start = self.words.len();
        if self.rest.is_empty() {
            return Some((start..start, start));
        }
        let gap = (0..=GAP).find(|gap| words.get(start + gap..).is_some_and(|words| words.starts_with(&self.rest)))?;
        Some((start..start + gap, start + gap + self.rest.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::learn::language::language_of;
    use crate::learn::language::word::words;

    fn asked(text: &str) -> Option<Option<&str>> {
        let language = language_of(text);
        request(text, text.ends_with('?'), &words(text, language), language)
            .map(|request| request.what.map(|at| &text[at]))
    }

    #[test]
    fn what_is_asked_for_is_found() {
        for (text, expect) in [
            ("Please remember that I'm allergic to nuts.", Some(Some("I'm allergic to nuts."))),
            ("ok so don't forget: the gate closes at 9", Some(Some("the gate closes at 9"))),
            ("Can you keep in mind that we ship on Mondays?", Some(Some("we ship on Mondays?"))),
            ("Would you mind making a note that the serial is QX-2209?", Some(Some("the serial is QX-2209?"))),
            ("write my locker number down: 4410", Some(Some("my locker number"))),
            ("My locker code is 4410, please remember that.", Some(Some("My locker code is 4410"))),
            ("keep that in mind going forward", Some(None)),
            ("Remember this for next time.", Some(None)),
            ("Remember this:", Some(None)),
            ("Merk dir bitte, dass ich kein Fleisch esse.", Some(Some("ich kein Fleisch esse."))),
            ("Schreib dir das endlich auf!", Some(None)),
            ("Recuerda que vivo en Sevilla", Some(Some("vivo en Sevilla"))),
            ("Soy zurdo, memorízalo por favor", Some(Some("Soy zurdo"))),
            ("Запомни, пожалуйста: у меня непереносимость лактозы", Some(Some("у меня непереносимость лактозы"))),
            ("记住我住在北京", Some(Some("我住在北京"))),
            ("remind me to call Bob", Some(Some("remind me to call Bob"))),
            ("remind me what the difference is", None),
            ("I remember that we went to Rome", None),
            ("I'll never forget the day we met", None),
            ("Do you remember that bar?", None),
            ("Remember when we went to Rome?", None),
            ("The store closes at nine", None),
            ("Ich erinnere mich an den Urlaub", None),
        ] {
            assert_eq!(asked(text), expect, "{text}");
        }
    }
}
