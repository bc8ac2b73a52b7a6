//! What do people say of themselves that lasts?

mod life;
mod mood;
mod state;

use super::super::clause::{Clause, Mood, base};
use super::super::lexicon::{self, within};
use super::super::verbs::Form;
use super::super::word::Shape;
use super::{Setting, Verdict, done};
use life::{changed, lasting};
use mood::{able, duty, future, going_on};
use state::{being, having};

/// What a clause about "I" or "we" is kept as.
pub(super) fn judge(clause: &Clause, setting: Setting) -> Option<Verdict> {
    let lemma = clause.lemma.as_str();
    if clause.ended && !clause.rest().iter().any(|word| word.any(&["you", "this"])) {
        return Some(Verdict::new("change", kind_of_taste(lemma), 0.9));
    }
    match clause.mood {
        Mood::Formerly => Some(Verdict::new("self", kind_of_taste(lemma), 0.7)),
        Mood::Can => able(clause),
        Mood::Duty => duty(lemma, clause.rest(), setting),
        Mood::Future => future(clause, setting),
        Mood::Progressive => going_on(clause, setting),
        _ if lemma == "be" => being(clause, setting),
        _ if lemma == "have" => having(clause, setting),
        _ if lemma == "need" && clause.next(0) == "to" => duty(clause.next(1), &clause.rest()[1..], setting),
        _ => taste(clause)
            .or_else(|| chosen(clause))
            .or_else(|| changed(clause))
            .or_else(|| lasting(clause))
            .or_else(|| wanted(clause))
            .or_else(|| done(clause))
            .or_else(|| habit(clause)),
    }
}

fn kind_of_taste(lemma: &str) -> &'static str {
    if TASTES.contains(&lemma) { "preference" } else { "fact" }
}

const TASTES: &[&str] =
    &["like", "love", "enjoy", "adore", "hate", "dislike", "detest", "loathe", "prefer", "favour", "favor", "crave"];

/// Preferences.
fn taste(clause: &Clause) -> Option<Verdict> {
    if !TASTES.contains(&clause.lemma.as_str()) {
        return None;
    }
    let first = clause.rest().first()?;
    let passing = first.any(&[
        "it", "this", "that", "how", "you", "your", "when", "what", "where", "these", "those", "to", "them", "him",
        "her",
    ]);
    let to_do = first.is("to")
        && base(clause.next(1))
        && !matches!(clause.next(1), "know" | "see" | "think" | "ask" | "hear" | "say" | "be");
    let once = clause.form == Form::Past && clause.mood != Mood::Perfect;
    let offered = clause.rest().iter().any(|word| {
        word.any(&["one", "ones", "option", "former", "latter", "suggestion", "answer", "approach", "song", "photo"])
    });
    if (passing && !to_do) || once || offered || clause.mood == Mood::Unreal {
        return None;
    }
    let confidence = if clause.lemma == "prefer" { 0.95 } else { 0.9 };
    Some(Verdict::new("preference", "preference", confidence))
}

/// Decisions.
fn chosen(clause: &Clause) -> Option<Verdict> {
    let verdict = Some(Verdict::new("decision", "decision", 0.9));
    let past = clause.form == Form::Past;
    match (clause.lemma.as_str(), clause.next(0)) {
        (
            "decide" | "agree" | "opt" | "choose" | "pick" | "settle" | "resolve" | "standardise" | "standardize",
            next,
        ) if past && !clause.negated => {
            let on = matches!(next, "to" | "on" | "for" | "against" | "that" | "not" | "upon")
                || matches!(clause.lemma.as_str(), "choose" | "pick");
            if on && !clause.rest().is_empty() && clause.next(0) != "with" { verdict } else { None }
        }
        ("go", "with" | "for") if past => verdict,
        ("stick", "with" | "to") => verdict,
        _ => None,
    }
}

/// Goals and plans.
fn wanted(clause: &Clause) -> Option<Verdict> {
    let to = clause.next(0) == "to" && within(lexicon::GOALS, clause.next(1));
    match clause.lemma.as_str() {
        "want" if clause.habit && clause.rest().first().is_some_and(|word| word.any(&["a", "an", "the", "my"])) => {
            Some(Verdict::new("preference", "preference", 0.85))
        }
        "want" if to && !clause.negated && clause.form != Form::Past => Some(Verdict::new("goal", "fact", 0.7)),
        "hope" if to => Some(Verdict::new("goal", "fact", 0.65)),
        "plan" | "intend" | "aim" | "expect"
            if clause.next(0) == "to" && base(clause.next(1)) && clause.form != Form::Past =>
        {
            Some(Verdict::new("goal", "fact", 0.7))
        }
        _ => None,
    }
}

/// Any verb, if it is done again and again.
fn habit(clause: &Clause) -> Option<Verdict> {
    let no = matches!(
        clause.lemma.as_str(),
        "get"
            | "think"
            | "feel"
            | "see"
            | "know"
            | "want"
            | "forget"
            | "wonder"
            | "say"
            | "mean"
            | "mind"
            | "ask"
            | "try"
            | "tell"
            | "need"
            | "understand"
            | "realise"
            | "realize"
            | "notice"
            | "make"
            | "find"
            | "guess"
            | "thank"
            | "appreciate"
    );
    let again = clause.habit
        || clause.rest().windows(2).any(|two| two[0].any(&["every", "each"]) && two[1].shape == Shape::Word)
        || clause
            .rest()
            .windows(2)
            .any(|two| two[0].any(&["a", "per"]) && two[1].any(&["day", "week", "month", "year"]))
        || clause.rest().iter().any(|word| within(lexicon::CALENDAR, &word.lower) && word.lower.ends_with("days"));
    let about_talk =
        clause.rest().iter().any(|word| word.any(&["you", "your", "this", "error", "errors", "it", "that"]));
    let present = clause.form == Form::Base && matches!(clause.mood, Mood::Plain);
    (again && present && !no && !about_talk && !clause.rest().is_empty()).then(|| Verdict::new("habit", "fact", 0.75))
}
