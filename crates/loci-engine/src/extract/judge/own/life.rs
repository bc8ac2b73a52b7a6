//! What do people do for long, and what changes?

use super::super::super::clause::{Clause, Mood, Who};
use super::super::super::lexicon::{self, within};
use super::super::super::verbs::{Form, verb};
use super::super::super::word::{Shape, Word};
use super::super::Verdict;

/// Changes in someone's life or work.
pub(super) fn changed(clause: &Clause) -> Option<Verdict> {
    let says = |words: &[&str]| clause.rest().iter().any(|word| word.any(words));
    let past = clause.form == Form::Past && !clause.negated;
    let verdict = |confidence| Some(Verdict::new("change", "fact", confidence));
    let next = clause.next(0);
    let ing = verb(next).is_some_and(|(_, form)| form == Form::Ing);
    match clause.lemma.as_str() {
        "move" | "relocate" if past && says(&["to"]) => verdict(0.95),
        "move" if past && matches!(next, "in" | "out" | "back") && clause.rest().len() > 1 => verdict(0.75),
        "switch" | "migrate" | "convert" | "transition" | "upgrade" | "downgrade"
            if past && says(&["to", "from", "jobs"]) =>
        {
            verdict(0.9)
        }
        "change" if past && says(&["to", "jobs", "careers"]) => verdict(0.8),
        "rename" | "replace" | "drop" | "scrap" | "deprecate" | "retire"
            if past
                && (clause.rest().len() > 1
                    || clause
                        .rest()
                        .first()
                        .is_some_and(|word| word.capital() || within(lexicon::TOOLS, &word.lower))) =>
        {
            verdict(0.85)
        }
        "retire" if past => verdict(0.85),
        "stop" | "quit"
            if past
                && (ing
                    || matches!(next, "my" | "the" | "our")
                    || clause.rest().first().is_some_and(Word::capital)
                    || clause.lemma == "quit" && !next.is_empty()) =>
        {
            verdict(0.9)
        }
        "give" if past && next == "up" && clause.rest().len() > 1 && !says(&["it", "on"]) => verdict(0.85),
        "start"
            if past
                && ing
                && !matches!(next, "thinking" | "feeling" | "getting" | "seeing" | "wondering" | "having") =>
        {
            verdict(0.8)
        }
        "start"
            if says(&[
                "job",
                "school",
                "university",
                "course",
                "company",
                "business",
                "at",
                "as",
                "role",
                "position",
            ]) =>
        {
            verdict(0.85)
        }
        "leave"
            if past
                && (clause.rest().first().is_some_and(Word::capital)
                    || says(&["company", "job", "team", "band", "university", "church"])) =>
        {
            verdict(0.85)
        }
        "join" if past && !says(&["call", "meeting", "channel"]) && !clause.rest().is_empty() => verdict(0.85),
        "buy" | "sell" | "adopt" | "rent" | "lease" | "purchase" | "inherit"
            if past && matches!(next, "a" | "an" | "my" | "our" | "the") =>
        {
            verdict(0.75)
        }
        "get" if past => got(clause),
        "marry" | "divorce" | "graduate" | "break" if past && clause.lemma != "break" => verdict(0.85),
        "break" if past && next == "my" => verdict(0.75),
        "go" if past && matches!(next, "vegan" | "vegetarian" | "freelance" | "part-time" | "remote") => verdict(0.85),
        "lose" | "turn"
            if past
                && (says(&["job", "weight"])
                    || clause.rest().first().is_some_and(|word| word.shape == Shape::Number)) =>
        {
            verdict(0.75)
        }
        _ => None,
    }
}

fn got(clause: &Clause) -> Option<Verdict> {
    const STATES: &[&str] = &[
        "married",
        "engaged",
        "promoted",
        "divorced",
        "hired",
        "fired",
        "laid",
        "diagnosed",
        "accepted",
        "pregnant",
        "certified",
    ];
    const THINGS: &[&str] = &[
        "job",
        "dog",
        "cat",
        "puppy",
        "kitten",
        "car",
        "bike",
        "raise",
        "promotion",
        "tattoo",
        "degree",
        "divorce",
        "house",
        "flat",
        "apartment",
        "laptop",
        "phone",
        "visa",
        "licence",
        "license",
        "baby",
        "offer",
        "role",
        "diagnosis",
    ];
    let state = STATES.contains(&clause.next(0));
    let thing = matches!(clause.next(0), "a" | "an" | "my" | "our")
        && clause.rest().iter().take(5).any(|word| word.any(THINGS));
    match () {
        () if state => Some(Verdict::new("change", "fact", 0.9)),
        () if thing => Some(Verdict::new("change", "fact", 0.8)),
        () => None,
    }
}

/// What someone is and does for long.
pub(super) fn lasting(clause: &Clause) -> Option<Verdict> {
    let next = clause.next(0);
    let first = clause.rest().first();
    let past = clause.form == Form::Past && clause.mood != Mood::Perfect;
    let own = |confidence| Some(Verdict::new("self", "fact", confidence));
    let noun = first
        .is_some_and(|word| word.speaks() && !word.any(&["it", "this", "that", "on", "into", "up", "out", "like"]));
    match clause.lemma.as_str() {
        "weigh" if !past && first.is_some_and(Word::digits) => own(0.75),
        "bike" | "walk" | "cycle" | "drive" | "run"
            if !past && next == "to" && matches!(clause.next(1), "work" | "school") =>
        {
            own(0.75)
        }
        "rent" | "lease" if !past && matches!(next, "a" | "an" | "the") => own(0.8),
        "live" | "reside"
            if matches!(
                next,
                "in" | "near" | "with" | "at" | "alone" | "on" | "outside" | "between" | "by" | "close"
            ) =>
        {
            own(if past { 0.7 } else { 0.95 })
        }
        "work"
            if matches!(
                next,
                "at" | "for"
                    | "in"
                    | "as"
                    | "from"
                    | "with"
                    | "on"
                    | "remotely"
                    | "nights"
                    | "part-time"
                    | "full-time"
                    | "mostly"
                    | "weekends"
                    | "shifts"
                    | "mainly"
            ) =>
        {
            let on_it = next == "on" && matches!(clause.next(1), "it" | "that" | "this");
            if on_it { None } else { own(if past { 0.7 } else { 0.95 }) }
        }
        "grow" if next == "up" && past => own(0.9),
        "come" if next == "from" => own(0.9),
        "go" if next == "by" && first.is_some() && clause.rest().get(1).is_some_and(Word::capital) => {
            Some(Verdict::new("name", "fact", 0.9))
        }
        "study" | "major" | "specialise" | "specialize" | "graduate" => {
            if noun || next == "in" || next == "from" {
                own(0.85)
            } else {
                None
            }
        }
        "suffer" if next == "from" => Some(Verdict::new("health", "fact", 0.9)),
        "report" if next == "to" => own(0.85),
        "belong" if next == "to" => own(0.75),
        "speak" | "own" | "teach" | "coach" | "maintain" | "manage" | "lead" | "mentor" | "supervise" | "host"
        | "collect" | "volunteer" | "commute"
            if !past =>
        {
            if noun || next == "for" || next == "at" {
                own(0.85)
            } else {
                None
            }
        }
        "run"
            if !past
                && (matches!(next, "a" | "the" | "my" | "our" | "marathons")
                    || clause.who == Who::We && next == "on") =>
        {
            if clause.rest().iter().any(|word| word.any(&["command", "code", "script", "test", "tests", "query"]))
                && clause.who == Who::I
            {
                None
            } else {
                own(0.75)
            }
        }
        "know"
            if !past
                && !clause.negated
                && (first.is_some_and(|word| word.capital() || within(lexicon::TOOLS, &word.lower))
                    || clause.goes_on("how to")) =>
        {
            own(0.75)
        }
        "use" if !past && noun => own(0.85),
        "play" | "drive" | "ride" | "cook" | "bake" | "paint" | "draw" | "swim" | "sing" | "dance" | "hike"
        | "climb" | "ski" | "surf" | "garden" | "cycle" | "knit" | "meditate" | "exercise" | "freelance" | "jog"
        | "fish" | "wear" | "celebrate" | "breed" | "sail" | "kayak"
            if !past =>
        {
            own(0.7)
        }
        "eat" | "drink" | "smoke" | "avoid" | "watch" | "take" | "follow" if !past => eats(clause),
        "depend" | "rely" if next == "on" => own(0.7),
        "deploy" | "ship" | "release" | "store" | "keep" | "test" | "build" | "meet" | "hold" | "charge" | "pay"
        | "rotate" | "back" | "monitor" | "track" | "require" | "support" | "follow" | "hire" | "sell" | "offer"
        | "target" | "version" | "publish" | "do" | "review" | "log" | "rent" | "measure" | "name" | "cache"
        | "expose" | "close" | "open" | "bill" | "serve"
            if !past
                && clause.who == Who::We
                && noun | matches!(next, "on" | "to" | "in" | "from" | "with" | "up" | "at" | "every") =>
        {
            Some(Verdict::new("environment", "fact", 0.75))
        }
        "do" if !past
            && clause.who == Who::I
            && (next.ends_with("ing")
                || clause
                    .rest()
                    .first()
                    .is_some_and(|word| word.any(&["yoga", "pilates", "judo", "karate", "freelance"]))) =>
        {
            own(0.65)
        }
        // "I do all of my cooking over gas."
        "do" if !past
            && clause.rest().iter().take(4).any(|word| word.any(&["my", "our"]))
            && clause.rest().iter().skip(2).any(|word| word.any(&["on", "over", "with", "in", "at"])) =>
        {
            own(0.75)
        }
        "spend" | "earn" | "pay" | "make" if !past && clause.rest().iter().any(Word::digits) => own(0.6),
        "sleep" | "wake" | "get"
            if !past && clause.rest().iter().any(Word::digits) && clause.rest().iter().any(|word| word.is("at")) =>
        {
            own(0.65)
        }
        "report" | "consult" if !past && noun => own(0.7),
        _ => None,
    }
}

fn eats(clause: &Clause) -> Option<Verdict> {
    let firm = clause.negated
        || clause.habit
        || clause.lower(clause.verb - 1) == "only"
        || clause.rest().iter().any(|word| word.any(&["every", "only", "daily"]));
    let food = matches!(clause.lemma.as_str(), "eat" | "drink" | "smoke" | "avoid");
    let noun = clause.rest().first().is_some_and(|word| {
        word.speaks() && !word.any(&["it", "this", "that", "a", "care", "note", "look", "you", "up", "place"])
    });
    let taken = clause.lemma == "take"
        && clause
            .rest()
            .iter()
            .any(|word| word.any(&["mg", "daily", "pills", "insulin", "medication", "supplements", "every"]));
    match () {
        () if food && (firm || noun) => Some(Verdict::new("self", "fact", if firm { 0.9 } else { 0.7 })),
        () if taken => Some(Verdict::new("health", "fact", 0.8)),
        () if firm && noun && !clause.rest().iter().any(|word| word.any(&["you", "your"])) => {
            Some(Verdict::new("habit", "fact", 0.7))
        }
        () => None,
    }
}
