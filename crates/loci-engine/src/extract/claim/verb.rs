//! What does "X does Y" say?

use super::super::clause::{Clause, Mood, base};
use super::super::lexicon::{self, singular, within};
use super::super::verbs::{Form, third, verb};
use super::super::word::{Shape, Word};
use super::Side;
use super::fold::{NAME_STOPS, NOUN_STOPS, digits, duration, fold, until, weekdays};

/// What a clause says, and of what else if not of its subject.
pub(super) fn side(clause: &Clause) -> Option<(Side, Option<String>)> {
    if clause.mood == Mood::Duty {
        // "The papers must be marked by 9 June."
        if let Some(by) =
            clause.rest().iter().position(|word| word.is("by")).filter(|by| *by > 0 && clause.lemma == "be")
        {
            return Some((Side::one(format!("{} by", fold(&clause.rest()[..by])), fold(from(clause, by + 1)))?, None));
        }
        return Some((Side::many("needs to", fold(&clause.words[clause.verb..]))?, None));
    }
    if let Some(renamed) = renamed(clause) {
        return Some(renamed);
    }
    if let Some(found) =
        appointed(clause).or_else(|| limited(clause)).or_else(|| kept(clause)).or_else(|| chosen(clause))
    {
        return Some(found);
    }
    place(clause)
        .or_else(|| weekly(clause))
        .or_else(|| taste(clause))
        .or_else(|| owned(clause))
        .or_else(|| used(clause))
        .or_else(|| other(clause))
        .map(|side| (side, None))
}

fn from(clause: &Clause, place: usize) -> &[Word] {
    clause.rest().get(place..).unwrap_or_default()
}

/// "Has a dentist appointment on 3 June": the day of it.
fn appointed(clause: &Clause) -> Option<(Side, Option<String>)> {
    let rest = clause.rest();
    let event = rest.iter().position(|word| within(lexicon::EVENTS, &word.lower)).filter(|event| *event > 1)?;
    let on = rest.get(event + 1).is_some_and(|word| word.any(&["on", "at"])) && rest.get(event + 2).is_some();
    let has = matches!(clause.lemma.as_str(), "have" | "get") && rest[0].any(&["a", "an"]);
    (has && on).then(|| {
        Some((Side::one(rest[event].lower.clone(), fold(from(clause, event + 2)))?, Some(fold(&rest[1..event]))))
    })?
}

/// "The pod has a memory limit of 512 MB": the pod's memory limit is that.
fn limited(clause: &Clause) -> Option<(Side, Option<String>)> {
    let rest = clause.rest();
    let of = rest
        .iter()
        .position(|word| word.is("of"))
        .filter(|of| *of > 2 && clause.lemma == "have" && rest[0].any(&["a", "an"]))?;
    let attribute = Some(&rest[of - 1])
        .filter(|word| within(lexicon::ATTRIBUTES, &word.lower) && rest.get(of + 1).is_some_and(Word::digits))?;
    let subject = format!("{}'s {}", fold(clause.subject_words()), fold(&rest[1..of - 1]));
    Some((Side::one(attribute.lower.clone(), fold(&rest[of + 1..]))?, Some(subject)))
}

/// "Keeps logs for 14 days", "keeps its data in Postgres".
fn kept(clause: &Clause) -> Option<(Side, Option<String>)> {
    if !matches!(clause.lemma.as_str(), "keep" | "retain" | "store") {
        return None;
    }
    let rest = clause.rest();
    let data = rest
        .iter()
        .take(3)
        .position(|word| word.is("data"))
        .filter(|place| rest.get(place + 1).is_some_and(|word| word.is("in")));
    if let Some(data) = data {
        return Some((Side::one("database", fold(until(&rest[data + 2..], NAME_STOPS)))?, None));
    }
    let joint = rest.iter().position(|word| word.is("for")).filter(|joint| *joint > 0)?;
    let what = singular(&rest[joint - 1].lower);
    Some((Side::one("retention", duration(&rest[joint + 1..])?)?, Some(what)))
}

/// "Decided on NATS as the event queue for Magpie": what the queue is.
fn chosen(clause: &Clause) -> Option<(Side, Option<String>)> {
    let skip = match (clause.lemma.as_str(), clause.next(0)) {
        ("decide" | "settle", "on") | ("go", "with") | ("opt", "for") => 1,
        ("choose" | "pick" | "select", _) => 0,
        _ => return None,
    };
    let rest = from(clause, skip);
    let joint =
        rest.iter().position(|word| word.any(&["as", "for"])).filter(|joint| *joint > 0 && joint + 1 < rest.len())?;
    let role = until(&rest[joint + 1..], &["because", "since", "over", "instead"]);
    Some((Side::one("choice", fold(&rest[..joint]))?, Some(fold(role))))
}

/// "Runs 5 km every Tuesday and Friday", "does pottery on Wednesday evenings": on which days.
fn weekly(clause: &Clause) -> Option<Side> {
    let rest = clause.rest();
    let days = weekdays(rest)?;
    let again = rest.iter().any(|word| {
        word.any(&["every", "each", "evenings", "mornings", "nights", "afternoons"]) || word.lower.ends_with("days")
    });
    if !again || clause.negated || clause.form == Form::Past {
        return None;
    }
    let next = rest.first()?;
    let activity = match clause.lemma.as_str() {
        "go" => verb(&next.lower)
            .filter(|(_, form)| *form == Form::Ing)
            .map_or_else(|| next.lower.clone(), |(lemma, _)| lemma.to_owned()),
        "do" | "have" | "play" | "attend" => fold(until(rest, &["on", "every", "each"])),
        "run" | "swim" | "cycle" | "jog" | "climb" | "dance" | "train" => clause.lemma.clone(),
        _ => return None,
    };
    Side::one(format!("days of {activity}"), days)
}

fn after<'a>(clause: &'a Clause, words: &[&str]) -> Option<&'a [Word]> {
    let place = clause.rest().iter().position(|word| word.any(words))?;
    Some(from(clause, place + 1)).filter(|rest| !rest.is_empty())
}

/// Where someone lives and works.
fn place(clause: &Clause) -> Option<Side> {
    let name = |words: &[Word]| fold(until(words, NAME_STOPS));
    let past = clause.form == Form::Past && clause.mood == Mood::Plain;
    match (clause.lemma.as_str(), clause.next(0)) {
        ("live" | "reside", "in") if past => Side::many("lived in", name(from(clause, 1))),
        ("live" | "reside", "in") => Side::one("city", name(from(clause, 1))),
        ("live" | "reside", "with")
            if !past && clause.rest().windows(2).any(|two| two[0].is("in") && two[1].capital()) =>
        {
            let place = clause.rest().windows(2).rposition(|two| two[0].is("in") && two[1].capital())?;
            Side::one("city", name(from(clause, place + 1)))
        }
        ("move" | "relocate", _) if matches!(clause.mood, Mood::Future | Mood::Progressive) => {
            Side::many("moves to", name(after(clause, &["to"])?))
        }
        ("move" | "relocate", _) => {
            let to = after(clause, &["to"])?;
            let thing = to.iter().take(3).any(|word| within(lexicon::TOOLS, &word.lower))
                || clause.subject_words().last().is_some_and(|word| word.is("team"));
            // A service does not live in a city.
            let service = clause.subject_words().first().is_some_and(|word| word.any(&["the", "a", "an"]))
                || to[0].shape == Shape::Code;
            let dated = clause
                .subject_words()
                .last()
                .is_some_and(|word| within(lexicon::ATTRIBUTES, &word.lower) || within(lexicon::EVENTS, &word.lower));
            match () {
                () if dated => Side::one("is", fold(to)),
                () if thing => Side::many("uses", name(to)),
                () if service => Side::one("location", name(to)),
                () => Side::one("city", name(to)),
            }
        }
        ("work", "at" | "for") if past => Side::many("worked at", name(from(clause, 1))),
        ("work", "at" | "for") => Side::one("employer", name(from(clause, 1))),
        ("work", "as") => Side::one("job", fold(until(from(clause, 1), NAME_STOPS))),
        ("join", _) if clause.rest().first().is_some_and(Word::capital) => Side::one("employer", name(clause.rest())),
        ("start", _) if clause.rest().iter().any(|word| word.is("at")) && !clause.rest().iter().any(Word::digits) => {
            Side::one("employer", name(after(clause, &["at"])?))
        }
        ("get", _) if clause.rest().iter().any(|word| word.is("job")) => {
            Side::one("employer", name(after(clause, &["at", "with"])?))
        }
        ("get", "promoted") => Side::one("job", name(after(clause, &["to"])?)),
        ("get", "married") if clause.next(1) == "to" => Side::one("spouse", name(from(clause, 2))),
        ("marry", _) => Side::one("spouse", name(clause.rest())),
        ("leave" | "quit", _)
            if clause.mood != Mood::Progressive
                && clause.mood != Mood::Future
                && clause.rest().first().is_some_and(Word::capital) =>
        {
            Some(Side::one("employer", name(clause.rest()))?.denied(true))
        }
        ("go", "by") => Side::one("name", name(from(clause, 1))),
        ("come", "from") => Side::one("origin", name(from(clause, 1))),
        ("grow", "up") if clause.next(1) == "in" => Side::one("hometown", name(from(clause, 2))),
        _ => None,
    }
}

/// What someone likes and prefers.
fn taste(clause: &Clause) -> Option<Side> {
    let noun = |words: &[Word]| fold(until(words, NOUN_STOPS));
    let liked =
        |words: &[Word]| noun(if words.first().is_some_and(|word| word.is("to")) { &words[1..] } else { words });
    let tone =
        clause.rest().iter().any(|word| word.any(&["answers", "replies", "responses", "explanations", "summaries"]));
    match clause.lemma.as_str() {
        "like" | "love" if tone && !clause.negated => Side::one("tone", fold(clause.rest())),
        "like" | "love" | "enjoy" | "adore" | "crave" => Side::many("likes", liked(clause.rest())),
        "hate" | "dislike" | "detest" | "loathe" => Some(Side::many("likes", liked(clause.rest()))?.denied(true)),
        // The clause is negated already: "cannot stand" is a dislike.
        "stand" | "bear" if clause.mood == Mood::Can => Side::many("likes", liked(clause.rest())),
        "prefer" | "favour" | "favor" => prefer(clause),
        "want" if clause.goes_on("the assistant not to") => Side::many("tone", fold(from(clause, 2))),
        "want" if clause.goes_on("the assistant to") => reply(from(clause, 3)),
        "want" if clause.next(0) == "to" && base(clause.next(1)) => Side::many("goal", fold(from(clause, 1))),
        "plan" | "intend" | "aim" if clause.next(0) == "to" => Side::many("goal", fold(from(clause, 1))),
        _ => None,
    }
}

fn prefer(clause: &Clause) -> Option<Side> {
    let rest = clause.rest();
    let joint =
        rest.iter().position(|word| word.any(&["over", "to", "rather", "than", "instead"])).filter(|joint| *joint > 0);
    let tone =
        rest.iter().any(|word| word.any(&["answers", "replies", "responses", "explanations", "summaries", "messages"]));
    if tone {
        return Side::one("tone", fold(until(rest, &["over", "to", "rather", "than", "when"])));
    }
    if let Some(joint) = joint {
        let skip = if rest[joint].any(&["rather", "instead"]) { 2 } else { 1 };
        let (better, worse) =
            (fold(&rest[..joint]), fold(until(rest.get(joint + skip..)?, &["for", "in", "when", "on", "at"])));
        let mut both = [better.clone(), worse];
        both.sort();
        return Side::one(format!("prefers of {} and {}", both[0], both[1]), better);
    }
    if let Some(joint) = rest.iter().position(|word| word.is("for")).filter(|joint| *joint > 0) {
        return Side::one(format!("prefers for {}", fold(&rest[joint + 1..])), fold(&rest[..joint]));
    }
    Side::many("prefers", fold(until(rest, NOUN_STOPS)))
}

/// How the assistant is asked to answer.
fn reply(order: &[Word]) -> Option<Side> {
    let speaks = order.iter().any(|word| word.any(&["answer", "reply", "respond", "speak", "write"]));
    let tongue = order
        .iter()
        .position(|word| word.is("in"))
        .and_then(|place| order.get(place + 1))
        .filter(|word| word.capital());
    match tongue {
        Some(tongue) if speaks => Side::one("language", tongue.lower.clone()),
        _ => Side::many("tone", fold(order)),
    }
}

/// What someone has and how many.
fn owned(clause: &Clause) -> Option<Side> {
    let rest = clause.rest();
    match clause.lemma.as_str() {
        "have" if clause.mood != Mood::Can => {
            let first = rest.first()?;
            if let Some(count) = digits(first) {
                let noun: Vec<Word> = until(
                    &rest[1..],
                    &["in", "on", "with", "at", "for", "and", "of", "since", "per", "from", "called", "named", "each"],
                )
                .to_vec();
                let last = singular(&noun.last()?.lower);
                let mut parts: Vec<String> = noun.iter().take(noun.len() - 1).map(|word| word.lower.clone()).collect();
                parts.push(last);
                return Side::one(format!("count of {}", parts.join(" ")), count);
            }
            let none = first.is("no");
            Some(Side::many("has", fold(until(&rest[usize::from(none)..], NOUN_STOPS)))?.denied(none))
        }
        "own" => Side::many("owns", fold(until(rest, NOUN_STOPS))),
        "buy" | "adopt" => Side::many("has", fold(until(rest, NOUN_STOPS))),
        "sell" => Some(Side::many("has", fold(until(rest, NOUN_STOPS)))?.denied(true)),
        _ => None,
    }
}

/// What is used, and for what.
fn used(clause: &Clause) -> Option<Side> {
    let rest = clause.rest();
    let name = |words: &[Word]| fold(until(words, NAME_STOPS));
    match clause.lemma.as_str() {
        "use" => match rest.iter().position(|word| word.is("for")).filter(|place| *place > 0) {
            Some(place) => {
                Side::one(format!("uses for {}", fold(until(&rest[place + 1..], NOUN_STOPS))), fold(&rest[..place]))
            }
            None => Side::many("uses", fold(until(rest, NOUN_STOPS))),
        },
        "switch" | "migrate" | "transition" | "convert" if matches!(clause.mood, Mood::Plain | Mood::Perfect) => {
            Side::many("uses", name(after(clause, &["to"])?))
        }
        "replace" => Side::many("uses", name(after(clause, &["with"])?)),
        "drop" | "scrap" | "deprecate" | "ditch"
            if rest.first().is_some_and(|word| word.capital() || within(lexicon::TOOLS, &word.lower)) =>
        {
            Some(Side::many("uses", name(rest))?.denied(true))
        }
        "upgrade" if rest.first().is_some_and(|word| word.is("to")) => Side::one("version", name(&rest[1..])),
        "stop" | "quit" => {
            let first = rest.first()?;
            let (lemma, form) = verb(&first.lower)?;
            if form != Form::Ing {
                return None;
            }
            match lemma {
                "use" => Some(Side::many("uses", fold(until(&rest[1..], NOUN_STOPS)))?.denied(true)),
                _ if rest.len() == 1
                    || rest[1].shape == Shape::Mark
                    || within(lexicon::PREPOSITIONS, &rest[1].lower) =>
                {
                    Some(Side::many("does", lemma.to_owned())?.denied(true))
                }
                _ => Some(Side::many(third(lemma), fold(until(&rest[1..], NOUN_STOPS)))?.denied(true)),
            }
        }
        _ => None,
    }
}

/// "Renamed Atlas to Zephyr": Atlas is now called so. "Upgraded Postgres to 17".
fn renamed(clause: &Clause) -> Option<(Side, Option<String>)> {
    let attribute = match clause.lemma.as_str() {
        "rename" => "name",
        "upgrade" | "downgrade" => "version",
        _ => return None,
    };
    let rest = clause.rest();
    let to = rest.iter().position(|word| word.is("to")).filter(|to| *to > 0)?;
    let from = rest[..to].iter().position(|word| word.is("from")).unwrap_or(to);
    Some((Side::one(attribute, fold(until(&rest[to + 1..], NAME_STOPS)))?, Some(fold(&rest[..from]))))
}

/// "Does all of Ana's cooking over gas": how it is done.
fn done_with(clause: &Clause) -> Option<Side> {
    let rest = clause.rest();
    let owner = rest.iter().position(Word::owner)?;
    let joint = rest
        .iter()
        .position(|word| word.any(&["on", "over", "with", "in", "at"]))
        .filter(|joint| *joint > owner + 1)?;
    Side::one(format!("does {}", fold(&rest[owner + 1..joint])), fold(until(&rest[joint + 1..], NAME_STOPS)))
}

/// Whatever else is done.
fn other(clause: &Clause) -> Option<Side> {
    let rest = clause.rest();
    let does = third(&clause.lemma);
    let next = clause.next(0);
    let noun = |words: &[Word]| fold(until(words, NOUN_STOPS));
    if let Some(place) = rest
        .iter()
        .position(|word| word.is("port"))
        .filter(|_| matches!(clause.lemma.as_str(), "run" | "listen" | "serve"))
        && rest.get(place + 1).is_some_and(Word::digits)
    {
        return Side::one("port", rest[place + 1].lower.clone());
    }
    match clause.lemma.as_str() {
        "take" if next == "place" && matches!(clause.next(1), "on" | "at" | "in") => {
            Side::one("date", fold(until(from(clause, 2), &["instead"])))
        }
        "share" if rest.get(1).is_some_and(Word::digits) => Side::one(format!("shares {next}"), rest[1].lower.clone()),
        "do" if rest.iter().take(4).any(Word::owner) => done_with(clause),
        "leave" | "depart" | "arrive" | "land" | "close" | "open" | "start" | "end" | "begin"
            if matches!(next, "at" | "on") =>
        {
            Side::one(format!("{does} {next}"), fold(from(clause, 1)))
        }
        "report" if next == "to" => Side::one("manager", fold(until(from(clause, 1), NAME_STOPS))),
        "expire" if matches!(next, "on" | "in") => Side::one("expires", fold(from(clause, 1))),
        "cost" => Side::one("costs", fold(until(rest, NAME_STOPS))),
        "speak" | "know" | "play" | "study" | "teach" | "drive" | "manage" | "lead" | "maintain" | "wear"
            if !rest.is_empty() =>
        {
            Side::many(does, noun(rest))
        }
        "have" | "eat" | "drink" if clause.mood == Mood::Can => {
            Side::many("can have", fold(until(rest, &["on", "because", "at"])))
        }
        "eat" | "drink" if !rest.is_empty() => {
            Side::many(does, fold(until(rest, &["on", "every", "each", "at", "since", "because", "daily"])))
        }
        "want" | "decide" | "need" | "remind" if next == "a" && clause.next(1) == "reminder" => None,
        "decide" | "agree" if next == "to" => Side::many("decided to", fold(from(clause, 1))),
        _ if rest.is_empty() => Side::many("does", clause.lemma.clone()),
        _ if within(lexicon::PREPOSITIONS, next) && rest.len() > 1 => {
            Side::many(format!("{does} {next}"), noun(from(clause, 1)))
        }
        _ => Side::many(does, noun(rest)),
    }
}
