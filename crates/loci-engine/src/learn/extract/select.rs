//! Reads the sentences of a turn and scores how much each is worth keeping.
//!
//! By form alone: a statement of persons about themselves or what is theirs, or one with a name, a number, a date or
//! a change. Questions, orders, reactions, greetings, jokes and hypotheses are not kept. The score grows with the
//! number of signs; none of them is a word about a topic.

use super::claim::{Claim, claims};
use super::names::PresentNames;
use super::procedure::tells_steps;
use super::request::{Request, declines, request};
use super::{SpeakerIdentity, Utterance};
use crate::learn::language::sentence::{Sentence, sentences};
use crate::learn::language::word::{Shape, Word, words};
use crate::learn::language::{Language, form};

/// A sentence with what was read from it.
pub(super) struct AnalysedSentence<'a> {
    pub(super) sentence: Sentence<'a>,
    pub(super) words: Vec<Word>,
    pub(super) request: Option<Request>,
    pub(super) claims: Vec<Claim>,
    pub(super) worth: Option<f64>,
    /// It asks that something is not kept.
    pub(super) declines: bool,
}

/// What matters of those who hear a turn.
pub(crate) struct Audience<'a> {
    /// The one before asked something.
    pub(super) asked: bool,
    /// Someone is there who can be asked to remember.
    pub(crate) listens: bool,
    /// Who is there, by the words of their names.
    pub(crate) present: &'a PresentNames,
}

/// Reads the sentences of a turn and scores each.
pub(super) fn analyse<'a>(
    turn: &Utterance<'a>,
    language: Option<&Language>,
    voice: &SpeakerIdentity,
    hearing: &Audience<'_>,
) -> Vec<AnalysedSentence<'a>> {
    let one = |(place, sentence): (usize, Sentence<'a>)| {
        let words = words(sentence.text, language);
        let declined = declines(&words);
        let request = request(sentence.text, sentence.asks, &words, language).filter(|_| hearing.listens && !declined);
        // "No, Tuesday" answers whatever was said before.
        let lead = words.iter().take_while(|word| word.is(form::NEGATION | form::CONFIRMS)).count();
        let denies = lead > 0 && words.get(lead).is_some_and(|word| word.shape == Shape::Mark);
        let claims = claims(&words, language, voice);
        let worth = language
            .filter(|_| !declined)
            .and_then(|_| worth(&sentence, &words, &claims, (hearing.asked || denies) && place == 0, hearing));
        AnalysedSentence { claims, sentence, words, request, worth, declines: declined }
    };
    sentences(turn.text).into_iter().enumerate().map(one).collect()
}

/// Minimum score of a sentence that is kept. Conversations between people are mostly small talk; what someone says to
/// an assistant is mostly relevant.
pub(crate) fn min_worth(among_people: bool) -> f64 {
    if among_people { 1.3 } else { 0.9 }
}

/// The score of a sentence. `None` if its form states nothing. Names of participants only address them, and
/// instructions of people to each other are not instructions to the assistant.
pub(crate) fn worth(
    sentence: &Sentence<'_>,
    words: &[Word],
    claims: &[Claim],
    answers: bool,
    hearing: &Audience<'_>,
) -> Option<f64> {
    let present = hearing.present;
    let has = |form: u64| words.iter().any(|word| word.is(form));
    let spoken: Vec<&Word> = words.iter().filter(|word| word.shape != Shape::Mark).collect();
    let body = body(&spoken);
    let first = body.first()?;
    let telling = spoken.iter().filter(|word| word.tells()).count();
    let (own, mine) = (has(form::FIRST), has(form::MINE));
    let number = spoken.iter().any(|word| matches!(word.shape, Shape::Number | Shape::Code) || word.counts);
    let name = words.iter().skip(1).any(|word| is_name(word) && !present.contains(word.bare()));
    let typed = sentence.text.contains(": ") || sentence.text.contains(" = ") || sentence.list.is_some();
    let dated = spoken.iter().any(|word| word.is(form::TIME) || is_day(&word.text));
    if sentence.asks || asks(body) || telling == 0 || sentence.text.ends_with([':', '：']) {
        return None;
    }
    if telling < 2
        && !number
        && !(answers && (has(form::LIFE | form::VITAL | form::RELATION) || telling == 1 && spoken.len() <= 4))
    {
        return None;
    }
    // "My boss said: I am allergic" are someone else's words.
    let says = words.iter().position(|word| word.is(form::SAYS));
    let others = says.is_some_and(|says| {
        says > 0
            && !words[..says].iter().any(|word| word.is(form::FIRST))
            && words.get(says + 1).is_some_and(|word| word.mark(":\"“«„"))
    });
    if others {
        return None;
    }
    // "Write me a short invitation" is done once; "answer in short sentences" holds for all that follows.
    let once = spoken
        .iter()
        .take(5)
        .any(|word| matches!(word.text.as_str(), "a" | "an" | "ein" | "eine" | "einen" | "un" | "una" | "une"));
    let general =
        has(form::STYLE) && !once || has(form::LASTING) || body.iter().take(2).any(|word| word.is(form::NEGATION));
    if orders(body) && !(general && hearing.listens) {
        return None;
    }
    let unreal = body.iter().any(|word| word.is(form::UNREAL) && !word.is(form::PLANS));
    let imagined = has(form::CONDITION) && (unreal || has(form::PAST) || has(form::LASTING));
    if imagined || body.iter().take(3).any(|word| word.is(form::UNREAL) && !word.is(form::PLANS)) || joke(&spoken) {
        return None;
    }
    let reacts = first.is(form::REACTION | form::GREETING) || spoken[0].is(form::GREETING) && telling < 3;
    if reacts && !(mine || number || own && has(form::LIFE | form::DID)) {
        return None;
    }
    let second = has(form::SECOND);
    if second && !own && !mine && !general {
        return None;
    }
    let sign = |present: bool, worth: f64| if present { worth } else { 0.0 };
    let concrete = name || number || dated;
    let worth = 0.05 * (telling.min(6) as f64)
        + sign(own, 0.5)
        + sign(mine, 0.5)
        + sign(name, 0.5)
        + sign(number, 0.5)
        + sign(dated, 0.4)
        + sign(has(form::RELATION), 0.4)
        + sign(has(form::LIFE), 0.4)
        + sign(has(form::DID) && (own || mine || name), 0.4)
        + sign(has(form::LIKES) && own && !second, 0.4)
        + sign(has(form::VITAL) && (own || mine || has(form::RELATION) || number), 0.8)
        + sign(has(form::LASTING), 0.2)
        + sign(has(form::PLANS) && own, 0.3)
        + sign(has(form::CHANGE), 0.3)
        + sign(general && orders(body), 1.0)
        + sign(tells_steps(sentence.text), 1.0)
        + sign(typed, 0.4)
        + sign(!claims.is_empty(), 0.4)
        + sign(answers, 0.7);
    let idle = sign(second, if concrete || has(form::RELATION) { 0.4 } else { 0.9 })
        + sign(unreal, 0.6)
        + sign(has(form::CONDITION), 0.3)
        + sign(has(form::REACTION), 0.4)
        + sign(has(form::FEELING) && !concrete, 0.5)
        + sign(has(form::SHOWS), 1.0)
        + sign(has(form::HELP), 0.5)
        + sign(has(form::VAGUE), 0.2)
        + sign(!own && !mine && !name && first.is(form::PRONOUN), 0.4);
    Some(worth - idle)
}

/// A month or a day of the week.
pub(crate) fn is_day(word: &str) -> bool {
    use crate::recall::plan::time::words::{month, weekday};
    let word = word.strip_suffix('s').filter(|word| word.len() > 4).unwrap_or(word);
    word.chars().count() > 2
        && (month(word).is_some() || weekday(word).is_some())
        && !matches!(word, "may" | "mar" | "sun" | "sat" | "mon")
}

/// The words without the openers before them.
pub(crate) fn body<'a, 'w>(spoken: &'a [&'w Word]) -> &'a [&'w Word] {
    let opener = |word: &&Word| word.is(form::OPENER | form::CONFIRMS) || word.text == "please" || word.text == "bitte";
    let start = spoken.iter().position(|word| !opener(word)).unwrap_or(spoken.len().saturating_sub(1));
    &spoken[start..]
}

/// A question that has no mark: "what is …", "can you …".
fn asks(body: &[&Word]) -> bool {
    let Some(first) = body.first() else { return false };
    let next = body.get(1);
    first.is(form::ASKS) && next.is_some_and(|word| word.is(form::AUXILIARY | form::COPULA))
        || first.is(form::AUXILIARY)
            && !first.is(form::COPULA)
            && next.is_some_and(|word| word.is(form::SECOND | form::PRONOUN | form::FIRST))
}

/// Whether the listener is asked to do something.
fn orders(body: &[&Word]) -> bool {
    let Some(first) = body.first() else { return false };
    first.is(form::ORDER)
        && !body.iter().take(3).any(|word| word.is(form::FIRST) && word.text != "me" && word.text != "us")
        || first.is(form::NEGATION | form::LASTING) && body.get(1).is_some_and(|word| word.is(form::ORDER))
        || first.text == "do" && body.get(1).is_some_and(|word| word.is(form::NEGATION))
        || first.text == "stop"
}

/// Whether it says that it is a joke. "lol" before a statement is only laughter.
fn joke(spoken: &[&Word]) -> bool {
    spoken.iter().skip(1).any(|word| word.is(form::JOKE))
}

/// Whether something inside the sentence is written as a name.
pub(crate) fn has_name(words: &[Word]) -> bool {
    words.iter().skip(1).any(is_name)
}

fn is_name(word: &Word) -> bool {
    word.capital && word.shape != Shape::Mark && word.form == 0 && word.text.chars().count() > 1 && !is_day(&word.text)
}

/// Whether a sentence begins with a pronoun and names nobody: "it was a gift", "they love the park".
pub(crate) fn refers_back(words: &[Word]) -> bool {
    let spoken: Vec<&Word> = words.iter().filter(|word| word.shape != Shape::Mark).collect();
    let pronoun = |word: &&Word| word.is(form::PRONOUN) && !word.is(form::ROLE);
    body(&spoken).iter().take(3).any(pronoun) && !has_name(words)
}

/// Whether a sentence cannot be understood without the one before: it begins with a pronoun, or names nobody and nothing.
pub(crate) fn leans(words: &[Word]) -> bool {
    let spoken: Vec<&Word> = words.iter().filter(|word| word.shape != Shape::Mark).collect();
    let body = body(&spoken);
    let stands = body.iter().any(|word| word.is(form::FIRST | form::MINE | form::RELATION)) || has_name(words);
    let fragment = !stands && spoken.len() <= 6;
    refers_back(words) || fragment || spoken.first().is_some_and(|word| word.is(form::CONFIRMS | form::NEGATION))
}
