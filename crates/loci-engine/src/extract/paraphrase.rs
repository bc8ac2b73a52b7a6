//! Which plain statement is meant by a turn of phrase?
//!
//! "Remind me to call Bob", "let's go with Postgres", "deploy by Friday", "port: 8080": each is put
//! into a plain clause first, so that reading, judging and retelling know one form of it. Words
//! that were not said stand on no bytes, so that no date is read out of them.

mod ask;
mod now;

use super::clause::base;
use super::lexicon::{self, within};
use super::opener::Opening;
use super::verbs::{Form, verb};
use super::when::Dated;
use super::word::{Shape, Word, words};
use ask::{duty, named, reminder, standing};
use now::{decided, labelled, moved, scaled, set};

/// A clause in plain words, and the pattern that it came from, if any.
pub(crate) type Plain = (Vec<Word>, Option<&'static str>);

/// Words that were not said.
pub(crate) fn say(text: &str) -> Vec<Word> {
    let mut said = words(text);
    for word in &mut said {
        word.at = 0..0;
    }
    said
}

fn with(head: &str, tail: &[Word]) -> Vec<Word> {
    let mut all = say(head);
    all.extend(tail.iter().cloned());
    if let Some(first) = all.get_mut(say(head).len()) {
        first.glued = false;
    }
    all
}

fn lower(words: &[Word], place: usize) -> &str {
    words.get(place).map_or("", |word| word.lower.as_str())
}

/// Whether the words begin so.
pub(crate) fn begins(words: &[Word], phrase: &str) -> bool {
    phrase.split(' ').enumerate().all(|(place, part)| lower(words, place) == part)
}

/// The clause in plain words.
pub(crate) fn plain(words: Vec<Word>, opening: &Opening, dates: &[Dated], assistant: bool) -> Plain {
    let found = if assistant {
        None
    } else {
        reminder(&words)
            .or_else(|| named(&words))
            .or_else(|| own_thing(&words))
            .or_else(|| on_days(&words))
            .or_else(|| harmful(&words))
            .or_else(|| duty(&words, opening, dates))
            .or_else(|| standing(&words, opening))
            .or_else(|| agreed(&words))
            .or_else(|| rather(&words))
            .or_else(|| longed(&words))
            .or_else(|| together(&words))
            .or_else(|| unsaid_subject(&words))
    };
    let found = found
        .or_else(|| decided(&words))
        .or_else(|| moved(&words).map(|told| (told, "change")))
        .or_else(|| scaled(&words))
        .or_else(|| set(&words))
        .or_else(|| labelled(&words, dates));
    match found {
        Some((words, pattern)) => (words, Some(pattern)),
        None => (words, None),
    }
}

type Found = Option<(Vec<Word>, &'static str)>;

/// "Let's go with Postgres."
fn agreed(words: &[Word]) -> Found {
    if !begins(words, "let us") {
        return None;
    }
    let place = 2 + usize::from(lower(words, 2) == "just");
    let firm = matches!(
        lower(words, place),
        "use"
            | "stick"
            | "switch"
            | "pick"
            | "choose"
            | "keep"
            | "adopt"
            | "drop"
            | "deploy"
            | "name"
            | "call"
            | "target"
            | "host"
            | "store"
            | "postpone"
            | "skip"
            | "standardise"
            | "standardize"
            | "settle"
    ) || begins(&words[place..], "go with")
        || begins(&words[place..], "go for")
        || begins(&words[place..], "move to")
        || begins(&words[place..], "move the")
        || begins(&words[place..], "do the")
        || begins(&words[place..], "ship the")
        || begins(&words[place..], "schedule the");
    if !firm {
        return None;
    }
    Some((with("I decided to", &words[place..]), "decision"))
}

/// "I'd rather use tabs than spaces": tabs are preferred.
fn rather(words: &[Word]) -> Found {
    if !begins(words, "i would rather") && !begins(words, "we would rather") {
        return None;
    }
    let rest = &words[3..];
    let skip = match lower(rest, 0) {
        "use" | "have" | "take" => 1,
        "go" if lower(rest, 1) == "with" => 2,
        "not" => return None,
        _ => 0,
    };
    let than = rest.iter().position(|word| word.is("than"));
    let mut told =
        if skip == 0 && base(lower(rest, 0)) && than.is_none() { say("I prefer to") } else { say("I prefer") };
    told.extend(rest[skip..].iter().map(|word| if word.is("than") { word.instead("over") } else { word.clone() }));
    Some((told, "rather"))
}

/// "I'd love to visit Japan" is a goal; "I'd like to know" is none.
fn longed(words: &[Word]) -> Found {
    longs(words).then(|| (with("I want to", &words[4..]), "longed"))
}

/// Whether someone longs for something that is not done in a minute.
pub(crate) fn longs(words: &[Word]) -> bool {
    let longs =
        begins(words, "i would love to") || begins(words, "i would like to") || begins(words, "we would love to");
    let goal = matches!(
        lower(words, 4),
        "visit" | "learn" | "travel" | "become" | "move" | "live" | "own" | "build" | "run" | "start"
    );
    longs && goal
}

/// "My wife and I live in Porto": I live in Porto with my wife.
fn together(words: &[Word]) -> Found {
    let i = words.iter().take(6).position(|word| word.is("i")).filter(|i| *i > 1)?;
    let own = words[0].any(&["my"]) || words[0].capital() && !within(lexicon::DETERMINERS, &words[0].lower);
    let acts = words[i + 1..].iter().find(|word| !within(lexicon::ADVERBS, &word.lower));
    let acts = acts.map_or("", |word| word.lower.as_str());
    if !words[i - 1].is("and") || !own || verb(acts).is_none() {
        return None;
    }
    let mut told = words[i..].to_vec();
    while told.last().is_some_and(|word| word.shape == Shape::Mark) {
        told.pop();
    }
    if matches!(acts, "share" | "run" | "own" | "have") {
        let end = told
            .iter()
            .position(|word| word.shape == Shape::Mark || within(lexicon::SUBORDINATORS, &word.lower))
            .unwrap_or(told.len());
        let mut with_whom = say("with");
        with_whom.extend(words[..i - 1].iter().cloned());
        told.splice(end..end, with_whom);
    }
    if matches!(acts, "live" | "work" | "moved" | "are" | "got" | "adopted" | "bought") {
        let wed = told.iter().any(|word| word.any(&["married", "engaged"]));
        told.extend(say(if wed { "to" } else { "with" }));
        told.extend(
            words[..i - 1]
                .iter()
                .enumerate()
                .map(|(place, word)| if place == 0 && word.is("my") { word.instead("my") } else { word.clone() }),
        );
    }
    Some((told, "together"))
}

/// "The new address is …" is mine, "the three of us" are we, "the thing I'm on is Heron" is my work.
fn own_thing(words: &[Word]) -> Found {
    let is = words.iter().take(5).position(|word| word.is("is"));
    if let Some(is) = is.filter(|is| *is > 1) {
        let own = words[is - 1].any(&["address", "name", "email", "phone"]);
        let bare = words[0].is("the") && words[1..is - 1].iter().all(|word| word.any(&["new", "current", "home"]));
        if own && bare {
            let mut told = say("my");
            told.extend_from_slice(&words[1..]);
            return Some((told, if words[is - 1].is("name") { "name" } else { "own" }));
        }
    }
    let of_us =
        words.iter().take(4).position(|word| word.is("of")).filter(|of| *of > 0 && lower(words, of + 1) == "us");
    if let Some(of) = of_us {
        let many = words[..of]
            .iter()
            .all(|word| word.any(&["the", "both", "all"]) || within(lexicon::NUMBERS, &word.lower) || word.digits());
        return many.then(|| (with("we", &words[of + 2..]), "us"));
    }
    let work = begins(words, "the") && words.get(1)?.any(&["thing", "project", "service", "app", "product", "system"]);
    let called = words.iter().position(|word| word.any(&["called", "named"])).filter(|_| work)?;
    let on = words[..called].iter().any(|word| word.any(&["i", "we"]))
        && words[..called].iter().any(|word| word.any(&["on", "building"]));
    (on && words.get(called + 1)?.capital()).then(|| (with("I am working on", &words[called + 1..called + 2]), "work"))
}

/// "Wednesday evenings are my pottery class": it is then.
fn on_days(words: &[Word]) -> Found {
    let first = words
        .first()
        .filter(|word| within(lexicon::CALENDAR, &word.lower) && word.lower.trim_end_matches('s').ends_with("day"))?;
    let is = words
        .iter()
        .take(4)
        .position(|word| word.any(&["is", "are"]))
        .filter(|is| words.get(is + 1).is_some_and(|word| word.any(&["my", "our"])))?;
    let end = words[is..].iter().position(|word| word.shape == Shape::Mark).map_or(words.len(), |place| place + is);
    let mut told = words[is + 1..end].to_vec();
    told.extend(say("is on"));
    told.push(first.clone());
    told.extend_from_slice(&words[1..is]);
    Some((told, "date"))
}

/// "Walnuts make my throat swell": I cannot have them.
fn harmful(words: &[Word]) -> Found {
    const HARM: &[&str] = &[
        "swell",
        "itch",
        "ill",
        "sick",
        "hives",
        "rash",
        "migraine",
        "migraines",
        "sneeze",
        "vomit",
        "wheeze",
        "throat",
    ];
    let verb_at = words
        .iter()
        .take(4)
        .position(|word| word.any(&["make", "makes", "give", "gives"]))
        .filter(|place| *place > 0)?;
    let subject = &words[..verb_at];
    let harm = words[verb_at..].iter().any(|word| word.any(HARM)) && words.get(verb_at + 1)?.any(&["me", "my"]);
    let noun = subject.iter().all(|word| {
        word.shape == Shape::Word
            && !within(lexicon::DETERMINERS, &word.lower)
            && !word.any(&["it", "they", "he", "she", "you", "i", "we"])
    });
    if !harm || !noun {
        return None;
    }
    let end = words.iter().position(|word| word.shape == Shape::Mark).unwrap_or(words.len());
    let subject = lowered(subject);
    let mut told = say("I can not have");
    told.extend(subject.iter().cloned());
    told.extend(say("because"));
    told.extend(subject);
    told.extend_from_slice(&words[verb_at..end]);
    Some((told, "health"))
}

/// "Moved to Lisbon", "love pizza", "working at Acme", "allergic to nuts".
fn unsaid_subject(words: &[Word]) -> Found {
    let skip =
        words.iter().take(3).take_while(|word| word.any(&["just", "finally", "recently", "already", "also"])).count();
    let words = &words[skip..];
    let first = words.first()?;
    let next = lower(words, 1);
    // "Mum lives in Leeds" is mine.
    if first.any(&["mum", "mom", "dad", "grandma", "grandpa", "mother", "father"]) && verb(next).is_some() {
        return Some((with("my", &lowered(words)), "unsaid"));
    }
    let i = |pattern: &'static str| Some((with("I", &lowered(words)), pattern));
    let be = |pattern: &'static str| Some((with("I am", &lowered(words)), pattern));
    if begins(words, "not into") || begins(words, "not really into") {
        return Some((with("I am", words), "unsaid"));
    }
    if begins(words, "allergic to")
        || begins(words, "big fan of")
        || begins(words, "not a fan of")
        || begins(words, "huge fan of")
    {
        let head = if first.any(&["big", "huge"]) { "I am a" } else { "I am" };
        return Some((with(head, &lowered(words)), "unsaid"));
    }
    match verb(&first.lower)? {
        (lemma, Form::Past)
            if !matches!(
                lemma,
                "be" | "have"
                    | "do"
                    | "say"
                    | "mean"
                    | "put"
                    | "let"
                    | "set"
                    | "cut"
                    | "hit"
                    | "read"
                    | "bet"
                    | "give"
                    | "think"
                    | "hurt"
                    | "cost"
                    | "see"
            ) =>
        {
            let noun = words.get(1).is_some_and(|word| {
                verb(&word.lower).is_some_and(|(_, form)| form != Form::Ing) || word.any(&[",", ":"])
            });
            if noun { None } else { i("unsaid") }
        }
        ("love" | "hate" | "prefer" | "enjoy" | "dislike" | "live" | "work", Form::Base)
            if words.len() > 1
                && !matches!(next, "it" | "this" | "that" | "to" | "you" | "your" | "how" | "the" | ",") =>
        {
            i("unsaid")
        }
        ("work" | "live" | "learn" | "move" | "use" | "study" | "switch", Form::Ing)
            if words.len() > 2 && !words.iter().any(|word| word.any(&["is", "are", "was"])) =>
        {
            be("unsaid")
        }
        _ => None,
    }
}

fn lowered(words: &[Word]) -> Vec<Word> {
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut() {
        first.text = first.text.to_lowercase();
    }
    words
}
