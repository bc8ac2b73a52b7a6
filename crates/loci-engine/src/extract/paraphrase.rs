//! Which plain statement is meant by a turn of phrase?
//!
//! "Remind me to call Bob", "let's go with Postgres", "deploy by Friday", "port: 8080": each is put
//! into a plain clause first, so that reading, judging and retelling know one form of it. Words
//! that were not said stand on no bytes, so that no date is read out of them.

mod ask;

use super::clause::{base, finite};
use super::lexicon::{self, one_of, within};
use super::opener::Opening;
use super::verbs::{Form, verb};
use super::when::Dated;
use super::word::{Shape, Word, words};
use ask::{duty, named, reminder, standing};

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
    let firm = one_of(
        "use stick switch pick choose keep adopt drop deploy name call target host store postpone \
        skip standardise standardize settle",
        lower(words, place),
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
    longs && one_of("visit learn travel become move live own build run start", lower(words, 4))
}

/// "My wife and I live in Porto": I live in Porto with my wife.
fn together(words: &[Word]) -> Found {
    let i = words.iter().take(6).position(|word| word.is("i")).filter(|i| *i > 1)?;
    let own = words[0].any("my") || words[0].capital();
    let acts = words[i + 1..]
        .iter()
        .find(|word| !within(lexicon::ADVERBS, &word.lower))
        .map_or("", |word| word.lower.as_str());
    if !words[i - 1].is("and") || !own || verb(acts).is_none() {
        return None;
    }
    let mut told = words[i..].to_vec();
    while told.last().is_some_and(|word| word.shape == Shape::Mark) {
        told.pop();
    }
    if one_of("live work moved are got adopted bought", acts) {
        let wed = told.iter().any(|word| word.any("married engaged"));
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

/// "Decision: use Postgres", "decided on Postgres".
fn decided(words: &[Word]) -> Found {
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
const SCALES: &str = "scale grow shrink go expand increase reduce bump cut";

/// "We scaled to 5 nodes" says what there is now, and what it was.
fn scaled(words: &[Word]) -> Found {
    let start = words.iter().take(4).position(|word| {
        verb(&word.lower).is_some_and(|(lemma, form)| form == Form::Past && one_of(SCALES, lemma) || lemma == "scale")
    })?;
    if !words[..start].iter().all(|word| word.any("i we have just recently finally has also")) {
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
    let object: Vec<Word> =
        words[start + 1..from.unwrap_or(to)].iter().filter(|word| !word.any("up down out back")).cloned().collect();
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
fn set(words: &[Word]) -> Found {
    let start = words.iter().take(4).position(|word| {
        verb(&word.lower).is_some_and(|(lemma, form)| {
            form == Form::Past
                && one_of("change set bump raise lower increase reduce push move update upgrade extend", lemma)
        })
    })?;
    if let Some(told) = moved(words) {
        return Some((told, "change"));
    }
    if !words[..start].iter().all(|word| word.any("i we have just recently finally has")) {
        return None;
    }
    let to = words.iter().skip(start).position(|word| word.any("to until")).map(|place| place + start)?;
    let from = words[start..to].iter().position(|word| word.is("from")).map_or(to, |place| place + start);
    let object = &words[start + 1..from];
    let head = object.last()?;
    let fits = object.first().is_some_and(|word| word.any("the my our") || word.capital() || word.owner());
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
fn moved(words: &[Word]) -> Option<Vec<Word>> {
    let verb_at = words
        .iter()
        .take(7)
        .position(|word| word.any("moved changed slipped pushed was has got is"))
        .filter(|place| *place > 0)?;
    let subject = &words[..verb_at];
    let dated = subject
        .last()
        .is_some_and(|word| within(lexicon::ATTRIBUTES, &word.lower) || within(lexicon::EVENTS, &word.lower));
    let to = words[verb_at..].iter().take(4).position(|word| word.is("to")).map(|place| place + verb_at)?;
    let turned = words[verb_at..to].iter().any(|word| word.any("moved changed slipped pushed"));
    if !dated || !turned || words.len() <= to + 1 || subject.iter().any(|word| word.any("i we")) {
        return None;
    }
    let mut told = if subject.len() == 1 { titled(subject, false) } else { subject.to_vec() };
    let event = subject.last().is_some_and(|word| within(lexicon::EVENTS, &word.lower) && !word.is("deadline"));
    let day = within(lexicon::CALENDAR, &words[to + 1].lower) || words[to + 1].digits();
    told.extend(say(if event && day { "is on" } else { "is" }));
    told.extend_from_slice(&words[to + 1..]);
    Some(told)
}

/// "Deadline: March 1", "wedding on 12 June".
fn labelled(words: &[Word], dates: &[Dated]) -> Found {
    let owned = words.first()?.any("my our the");
    let colon = words.iter().take(5).position(|word| word.is(":"));
    if let Some(colon) = colon.filter(|colon| *colon > 0 && words.len() > colon + 1) {
        let label = &words[..colon];
        let last = label.iter().position(|word| word.any("for of")).unwrap_or(colon);
        let known = last > 0 && within(lexicon::ATTRIBUTES, &label[last - 1].lower);
        let states = words[colon + 1..].iter().any(|word| finite(&word.lower));
        if label.iter().all(|word| word.shape == Shape::Word) && known && words.len() <= colon + 8 && !states {
            let mut told = titled(label, owned);
            told.extend(say("is"));
            told.extend_from_slice(&words[colon + 1..]);
            return Some((told, "labelled"));
        }
    }
    let event = words.iter().take(5).position(|word| within(lexicon::EVENTS, &word.lower))?;
    let joint = words.get(event + 1)?;
    let behind = usize::from(joint.any("on : , - at"));
    let dated = dates.iter().any(|dated| {
        words.get(event + 1 + behind).is_some_and(|word| word.at.start == dated.at.start && word.at.end > 0)
    });
    let plain = words[..event].iter().all(|word| {
        word.shape == Shape::Word
            && verb(&word.lower).is_none_or(|(_, form)| form == Form::Base)
            && !word.any("i a an no every this that your any")
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
    let mut all = if owned || named { Vec::new() } else { say("the") };
    all.extend(if owned || named { label.to_vec() } else { lowered(label) });
    all
}

/// "Moved to Lisbon", "love pizza", "working at Acme", "allergic to nuts".
fn unsaid_subject(words: &[Word]) -> Found {
    let skip = words.iter().take(3).take_while(|word| word.any("just finally recently already also")).count();
    let words = &words[skip..];
    let first = words.first()?;
    let next = lower(words, 1);
    // "Mum lives in Leeds" is mine.
    if first.any("mum mom dad grandma grandpa mother father") && verb(next).is_some() {
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
        let head = if first.any("big huge") { "I am a" } else { "I am" };
        return Some((with(head, &lowered(words)), "unsaid"));
    }
    match verb(&first.lower)? {
        (lemma, Form::Past)
            if !one_of("be have do say mean put let set cut hit read bet give think hurt cost see", lemma) =>
        {
            let noun = words
                .get(1)
                .is_some_and(|word| verb(&word.lower).is_some_and(|(_, form)| form != Form::Ing) || word.any(", :"));
            if noun { None } else { i("unsaid") }
        }
        ("love" | "hate" | "prefer" | "enjoy" | "dislike" | "live" | "work", Form::Base)
            if words.len() > 1 && !one_of("it this that to you your how the ,", next) =>
        {
            i("unsaid")
        }
        ("work" | "live" | "learn" | "move" | "use" | "study" | "switch", Form::Ing)
            if words.len() > 2 && !words.iter().any(|word| word.any("is are was")) =>
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
