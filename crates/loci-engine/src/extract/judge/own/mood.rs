//! What can, must and will people do?

use super::super::super::clause::{Clause, base};
use super::super::super::lexicon::{self, within};
use super::super::super::word::Word;
use super::super::{Setting, Verdict};

/// "I can't stand olives", "I can speak French".
pub(super) fn able(clause: &Clause) -> Option<Verdict> {
    let noun =
        clause.rest().first().is_some_and(|word| word.speaks() && !word.any(&["it", "this", "that", "you", "to"]));
    match clause.lemma.as_str() {
        "stand" | "bear" if clause.negated && noun => Some(Verdict::new("preference", "preference", 0.9)),
        "eat" | "drink" if noun => Some(Verdict::new("health", "fact", 0.85)),
        "have" if clause.negated && noun && !within(lexicon::DETERMINERS, clause.next(0)) => {
            Some(Verdict::new("health", "fact", 0.8))
        }
        "speak" | "play" | "cook" | "swim" | "ride" | "drive" | "ski" | "sing" | "code"
            if noun || clause.rest().is_empty() =>
        {
            Some(Verdict::new("self", "fact", 0.75))
        }
        _ => None,
    }
}

/// What has to be done.
pub(super) fn duty(lemma: &str, rest: &[Word], setting: Setting) -> Option<Verdict> {
    let object = rest.iter().skip_while(|word| word.is(lemma)).any(|word| {
        word.speaks()
            && !within(lexicon::PREPOSITIONS, &word.lower)
            && !within(lexicon::DETERMINERS, &word.lower)
            && !word.any(&["it", "you", "this", "that", "something", "now", "more", "up", "out"])
    });
    let known = base(lemma);
    let vague = within(lexicon::DUTY_NOT, lemma);
    let talk = rest.iter().any(|word| word.any(&["you", "your", "this"]));
    (known && object && !talk && (!vague || setting.dated))
        .then(|| Verdict::new("task", "task", if setting.dated { 0.85 } else { 0.7 }))
}

/// "I'll use Postgres", "we are going to move in May".
pub(super) fn future(clause: &Clause, setting: Setting) -> Option<Verdict> {
    let decision = Some(Verdict::new("decision", "decision", 0.85));
    let noun =
        clause.rest().first().is_some_and(|word| word.speaks() && !word.any(&["it", "this", "that", "you", "a"]));
    match (clause.lemma.as_str(), clause.next(0)) {
        ("go", "with" | "for") | ("stick" | "stay", "with" | "to") | ("switch", "to") | ("keep", "using") => decision,
        ("use" | "choose" | "pick" | "adopt" | "drop" | "skip" | "target", _) if noun => decision,
        ("take", "the") if clause.rest().iter().any(|word| word.any(&["job", "offer", "role", "position"])) => decision,
        ("move" | "relocate", "to") => Some(Verdict::new("plan", "fact", 0.8)),
        (
            "be" | "see" | "check" | "let" | "try" | "do" | "think" | "look" | "ask" | "tell" | "get" | "know" | "send"
            | "come" | "wait" | "have" | "need",
            next,
        ) => {
            let away = clause.lemma == "be"
                && matches!(next, "in" | "on" | "away" | "at" | "out" | "off")
                && clause.rest().len() > 1;
            (setting.dated && away).then(|| Verdict::new("plan", "fact", 0.7))
        }
        _ if setting.dated && !clause.rest().is_empty() => Some(Verdict::new("plan", "fact", 0.7)),
        _ => None,
    }
}

/// "I'm learning Spanish", "we're switching to Linear".
pub(super) fn going_on(clause: &Clause, setting: Setting) -> Option<Verdict> {
    let next = clause.next(0);
    let noun = clause
        .rest()
        .first()
        .is_some_and(|word| word.speaks() && !word.any(&["it", "this", "that", "you", "your", "with", "a"]));
    let says = |words: &[&str]| clause.rest().iter().any(|word| word.any(words));
    let own = |pattern, confidence| Some(Verdict::new(pattern, "fact", confidence));
    if clause.lower(clause.subject.end) == "was" || clause.lower(clause.subject.end) == "were" {
        return None;
    }
    match clause.lemma.as_str() {
        "work"
            if next == "on"
                && !matches!(clause.next(1), "it" | "that" | "this")
                && !says(&["bug", "problem", "issue", "fix", "question", "something"]) =>
        {
            Some(Verdict::new("self", "project", 0.8))
        }
        "work" if matches!(next, "at" | "for" | "as" | "from" | "in" | "with") => own("self", 0.9),
        "live" if matches!(next, "in" | "with" | "at" | "near") => own("self", 0.9),
        "go" if next == "with" || next == "for" && says(&["approach", "option"]) => {
            Some(Verdict::new("decision", "decision", 0.85))
        }
        "stick" if next == "with" => Some(Verdict::new("decision", "decision", 0.85)),
        "go" | "fly" | "travel" | "visit" | "leave" | "meet" | "start" | "come" | "present" | "speak" | "run"
        | "host" | "see"
            if setting.dated && !clause.rest().is_empty() =>
        {
            own("plan", 0.75)
        }
        "learn" | "study" | "use" | "build" | "develop" | "renovate" | "rent" | "teach" | "train" | "raise"
        | "migrate" | "switch" | "move" | "transition"
            if noun || next == "a" =>
        {
            own("self", 0.8)
        }
        "write" if says(&["book", "thesis", "novel", "paper", "blog"]) => own("self", 0.75),
        "get" if matches!(next, "married" | "divorced" | "engaged") => own("change", 0.85),
        "get"
            if setting.dated
                && says(&["puppy", "dog", "cat", "kitten", "house", "car", "job", "visa", "tattoo", "surgery"]) =>
        {
            own("plan", 0.75)
        }
        "plan" if matches!(next, "to" | "a" | "on") => own("goal", 0.75),
        "expect" if says(&["baby", "child", "twins"]) => own("change", 0.85),
        "have" if says(&["baby", "surgery"]) => own("change", 0.7),
        "leave" | "quit" | "retire"
            if clause.rest().first().is_some_and(Word::capital) || says(&["job", "company"]) =>
        {
            own("change", 0.8)
        }
        "take" if says(&["course", "medication", "antibiotics", "insulin", "class", "sabbatical", "leave", "off"]) => {
            own("self", 0.65)
        }
        "save" | "prepare" | "apply" if next == "for" => own("goal", 0.65),
        "look" if next == "for" && says(&["job", "apartment", "flat", "house", "role", "nanny", "roommate"]) => {
            own("goal", 0.65)
        }
        "play" | "practise" | "practice" | "manage" | "lead"
            if clause.lower(clause.verb.wrapping_sub(1)) == "been" || says(&["for", "since"]) =>
        {
            own("self", 0.75)
        }
        "stop" | "drop" | "deprecate" if noun => own("change", 0.75),
        "replace" if noun && says(&["with", "by"]) => own("change", 0.8),
        "give" | "take" | "attend" | "organise" | "organize" | "throw" | "get"
            if setting.dated && clause.rest().iter().any(|word| word.capital() || word.digits()) =>
        {
            own("plan", 0.7)
        }
        _ => None,
    }
}
