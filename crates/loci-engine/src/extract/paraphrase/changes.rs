//! What has changed, in plain words?
//!
//! Decisions, steps of a quantity, moves and new names, put as a plain statement.

use super::super::clause::base;
use super::super::lexicon::{self, within};
use super::super::verbs::{Form, verb};
use super::super::when::Dated;
use super::super::word::{Shape, Word};
use super::*;

/// "Decision: use Postgres", "decided on Postgres".
pub(super) fn decided(words: &[Word]) -> Found {
    for head in [
        "decision :",
        "final decision :",
        "decided :",
        "the decision is",
        "the decision is :",
        "our decision is",
        "decision made :",
        "final answer :",
    ] {
        if begins(words, head) {
            let rest = &words[head.split(' ').count()..];
            let rest = if lower(rest, 0) == ":" { &rest[1..] } else { rest };
            let rest = if lower(rest, 0) == "to" { &rest[1..] } else { rest };
            let rest = if begins(rest, "we will") { &rest[2..] } else { rest };
            let rest = if lower(rest, 0) == "we" && base(lower(rest, 1)) { &rest[1..] } else { rest };
            let joint = if base(lower(rest, 0)) { "we decided to" } else { "we decided on" };
            return (!rest.is_empty()).then(|| (with(joint, rest), "decision"));
        }
    }
    None
}

/// Verbs that say how many there are now.
pub(super) const SCALES: &[&str] = &["scale", "grow", "shrink", "go", "expand", "increase", "reduce", "bump", "cut"];

/// "We scaled to 5 nodes" says what there is now, and what it was.
pub(super) fn scaled(words: &[Word]) -> Found {
    let start = words.iter().take(4).position(|word| {
        verb(&word.lower).is_some_and(|(lemma, form)| form == Form::Past && SCALES.contains(&lemma) || lemma == "scale")
    })?;
    if !words[..start].iter().all(|word| word.any(&["i", "we", "have", "just", "recently", "finally", "has", "also"])) {
        return None;
    }
    let to = words.iter().skip(start).position(|word| word.is("to")).map(|place| place + start)?;
    let counts = |place: usize| {
        words.get(place).is_some_and(|word| word.shape == Shape::Number || within(lexicon::NUMBERS, &word.lower))
    };
    let unit =
        words.get(to + 2).filter(|word| word.shape == Shape::Word && !within(lexicon::PREPOSITIONS, &word.lower))?;
    if !counts(to + 1) {
        return None;
    }
    let from = words[start..to].iter().position(|word| word.is("from")).map(|place| place + start);
    let object: Vec<Word> = words[start + 1..from.unwrap_or(to)]
        .iter()
        .filter(|word| !word.any(&["up", "down", "out", "back"]))
        .cloned()
        .collect();
    let mut told = match object.is_empty() {
        false => object,
        true if unit.lower.starts_with("node") => say("our cluster"),
        true => say("we"),
    };
    told.extend(say(if told.last().is_some_and(|word| word.is("we")) { "have" } else { "has" }));
    told.extend(words[to + 1..=to + 2].iter().cloned());
    let mut reason: Vec<Word> = say("(scaled");
    if let Some(from) = from.filter(|from| counts(from + 1)) {
        reason.extend(words[from..=from + 1].iter().cloned());
    }
    let tail = words[to + 3..]
        .iter()
        .take_while(|word| word.shape != Shape::Mark && !within(lexicon::SUBORDINATORS, &word.lower));
    reason.extend(tail.cloned());
    if reason.len() > 2 {
        reason.extend(say(")"));
        if let Some(last) = reason.last_mut() {
            last.glued = true;
        }
        told.extend(reason);
    }
    Some((told, "change"))
}

/// "We changed the port to 9090": the port is 9090.
pub(super) fn set(words: &[Word]) -> Found {
    let start = words.iter().take(4).position(|word| {
        verb(&word.lower).is_some_and(|(lemma, form)| {
            form == Form::Past
                && matches!(
                    lemma,
                    "change"
                        | "set"
                        | "bump"
                        | "raise"
                        | "lower"
                        | "increase"
                        | "reduce"
                        | "push"
                        | "move"
                        | "update"
                        | "upgrade"
                        | "extend"
                )
        })
    })?;
    if let Some(told) = moved(words) {
        return Some((told, "change"));
    }
    if !words[..start].iter().all(|word| word.any(&["i", "we", "have", "just", "recently", "finally", "has"])) {
        return None;
    }
    let to = words.iter().skip(start).position(|word| word.any(&["to", "until"])).map(|place| place + start)?;
    let from = words[start..to].iter().position(|word| word.is("from")).map_or(to, |place| place + start);
    let object = &words[start + 1..from];
    let head = object.last()?;
    let fits = object.first().is_some_and(|word| word.any(&["the", "my", "our"]) || word.capital() || word.owner());
    if !fits || !within(lexicon::ATTRIBUTES, &head.lower) || words.get(to + 1).is_none() {
        return None;
    }
    let mut told = object.to_vec();
    told.extend(say("is"));
    told.extend_from_slice(&words[to + 1..]);
    Some((told, "change"))
}

/// "The deadline moved to March 15": it is March 15.
pub(super) fn moved(words: &[Word]) -> Option<Vec<Word>> {
    let verb_at = words
        .iter()
        .take(9)
        .position(|word| word.any(&["moved", "changed", "slipped", "pushed", "was", "has", "got"]))
        .filter(|place| *place > 1)?;
    let subject = &words[..verb_at];
    let dated = subject
        .last()
        .is_some_and(|word| within(lexicon::ATTRIBUTES, &word.lower) || within(lexicon::EVENTS, &word.lower));
    let to = words[verb_at..].iter().take(4).position(|word| word.is("to")).map(|place| place + verb_at)?;
    let turned = words[verb_at..to].iter().any(|word| word.any(&["moved", "changed", "slipped", "pushed"]));
    let clock = words.get(to + 1).is_some_and(|word| {
        word.text.contains(':') || words.get(to + 2).is_some_and(|next| next.any(&["am", "pm", "o'clock"]))
    });
    let day = words.get(to + 1).is_some_and(|word| {
        within(lexicon::CALENDAR, &word.lower)
            || word.digits() && words.get(to + 2).is_some_and(|next| within(lexicon::CALENDAR, &next.lower))
    });
    let noun =
        subject.first().is_some_and(|word| within(lexicon::DETERMINERS, &word.lower) || word.owner() || word.capital());
    let dated = dated || noun && (clock || day);
    if !dated || !turned || words.len() <= to + 1 || subject.iter().any(|word| word.any(&["i", "we"])) {
        return None;
    }
    let mut told = subject.to_vec();
    let event = !subject.last().is_some_and(|word| within(lexicon::ATTRIBUTES, &word.lower));
    told.extend(say(match () {
        () if clock => "is at",
        () if event && day && !subject.iter().any(|word| word.is("deadline")) => "is on",
        () => "is",
    }));
    told.extend_from_slice(&words[to + 1..]);
    Some(told)
}

/// "Deadline: March 1", "wedding on 12 June".
pub(super) fn labelled(words: &[Word], dates: &[Dated]) -> Found {
    let owned = words.first()?.any(&["my", "our", "the"]);
    let head = |told: &[Word]| {
        let mut all = if owned {
            Vec::new()
        } else {
            say(
                if told.first().is_some_and(|w| {
                    w.capital() && !within(lexicon::EVENTS, &w.lower) && !within(lexicon::ATTRIBUTES, &w.lower)
                }) {
                    ""
                } else {
                    "the"
                },
            )
        };
        all.extend(told.iter().enumerate().map(|(place, word)| {
            if place == 0 && !owned && within(lexicon::ATTRIBUTES, &word.lower) {
                word.instead(&word.lower.clone())
            } else {
                word.clone()
            }
        }));
        all
    };
    let colon = words.iter().take(5).position(|word| word.is(":"));
    if let Some(colon) = colon.filter(|colon| *colon > 0 && words.len() > colon + 1) {
        let label = &words[..colon];
        if label.iter().all(|word| word.shape == Shape::Word)
            && within(lexicon::ATTRIBUTES, &label[colon - 1].lower)
            && words.len() <= colon + 8
        {
            let mut told = head(label);
            told.extend(say("is"));
            told.extend_from_slice(&words[colon + 1..]);
            return Some((told, "labelled"));
        }
    }
    let event = words.iter().take(5).position(|word| within(lexicon::EVENTS, &word.lower))?;
    let joint = words.get(event + 1)?;
    let behind = usize::from(joint.any(&["on", ":", ",", "-", "at"]));
    let dated = dates.iter().any(|dated| {
        words.get(event + 1 + behind).is_some_and(|word| word.at.start == dated.at.start && word.at.end > 0)
    });
    let plain = words[..event].iter().all(|word| {
        word.shape == Shape::Word
            && verb(&word.lower).is_none_or(|(_, form)| form == Form::Base)
            && !word.any(&["i", "a", "an", "no", "every", "this", "that", "your", "any"])
    });
    if !dated || !plain {
        return None;
    }
    let mut told = if owned { Vec::new() } else { say("my") };
    told.extend(words[..=event].iter().map(|word| if owned { word.clone() } else { word.instead(&word.text) }));
    told.extend(say("is on"));
    told.extend_from_slice(&words[event + 1 + behind..]);
    Some((told, "date"))
}

/// "Moved to Lisbon", "love pizza", "working at Acme", "allergic to nuts".
pub(super) fn unsaid_subject(words: &[Word]) -> Found {
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

pub(super) fn lowered(words: &[Word]) -> Vec<Word> {
    let mut words = words.to_vec();
    if let Some(first) = words.first_mut() {
        first.text = first.text.to_lowercase();
    }
    words
}
