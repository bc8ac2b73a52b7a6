//! What is it now that was decided, scaled, set, moved?

use super::super::clause::{base, finite};
use super::super::lexicon::{self, within};
use super::super::verbs::{Form, verb};
use super::super::when::Dated;
use super::super::word::{Shape, Word};
use super::{Found, begins, lower, lowered, say, with};

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
const SCALES: &[&str] = &["scale", "grow", "shrink", "go", "expand", "increase", "reduce", "bump", "cut"];

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
    if head.is("name") && from < to && !object[0].is("my") {
        // "Changed the name from Falcon to Eagle" is about Falcon.
        let told = [words[..start].to_vec(), say("renamed"), words[from + 1..].to_vec()].concat();
        return Some((told, "renamed"));
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
        .filter(|place| *place > 0)?;
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
    let bare = subject.len() == 1 && !subject[0].capital();
    let mut told = if bare { titled(subject, false) } else { subject.to_vec() };
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
    let colon = words.iter().take(5).position(|word| word.is(":"));
    if let Some(colon) = colon.filter(|colon| *colon > 0 && words.len() > colon + 1) {
        let label = &words[..colon];
        let last = label.iter().position(|word| word.any(&["for", "of"])).unwrap_or(colon);
        let known = last > 0 && within(lexicon::ATTRIBUTES, &label[last - 1].lower);
        // "Status: the build passed" is a statement of its own.
        let states = words[colon + 1..].iter().any(|word| finite(&word.lower));
        if label.iter().all(|word| word.shape == Shape::Word) && known && !states && words.len() <= colon + 8 {
            let mut told = titled(label, owned);
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

/// A label with its article: "deadline" is "the deadline", "Atlas deadline" stays.
fn titled(label: &[Word], owned: bool) -> Vec<Word> {
    let named = label.first().is_some_and(|word| {
        word.capital() && !within(lexicon::EVENTS, &word.lower) && !within(lexicon::ATTRIBUTES, &word.lower)
    });
    if owned || named {
        return label.to_vec();
    }
    let mut all = say("the");
    all.extend(lowered(label));
    all
}
