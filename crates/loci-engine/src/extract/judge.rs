//! Is a clause worth keeping, and as what?
//!
//! Only what will still hold: who someone is, what they like, what was decided, what changed, what
//! has to be done. What is not listed here is talk. Each verdict names the pattern that found it.

use super::clause::{Clause, Mood, Who};
use super::lexicon::{self, within};
use super::word::{Shape, Word};

mod other;
mod own;

/// What a clause is kept as.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Verdict {
    pub(crate) pattern: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) confidence: f64,
    /// How much it matters at least; 0: judged by its words.
    pub(crate) importance: f64,
}

impl Verdict {
    pub(crate) fn new(pattern: &'static str, kind: &'static str, confidence: f64) -> Self {
        let importance = match pattern {
            "health" | "name" => 0.9,
            "correction" => 0.8,
            "self" | "preference" | "decision" | "change" | "person" | "rule" | "tone" => 0.7,
            "task" | "reminder" | "plan" | "date" => 0.6,
            _ => 0.0,
        };
        Self { pattern, kind, confidence, importance }
    }
}

/// What else is known of a clause.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    /// It names a time.
    pub(crate) dated: bool,
    /// It was asked to be remembered.
    pub(crate) asked: bool,
    /// The paraphrase that it came from.
    pub(crate) phrase: Option<&'static str>,
}

/// What a clause of a person is kept as; nothing: it is talk.
pub(crate) fn judge(clause: &Clause, setting: Setting) -> Option<Verdict> {
    if clause.mood == Mood::Unreal {
        return None;
    }
    let verdict = match (clause.who, setting.phrase) {
        (Who::Nobody, Some("rule")) => Some(Verdict::new("rule", "preference", 0.85)),
        (Who::I | Who::We, Some(phrase @ ("reminder" | "task")))
            if clause.lemma == "want" || clause.lemma == "need" =>
        {
            Some(Verdict::new(phrase, "task", 0.85))
        }
        (Who::I, Some("tone")) => Some(Verdict::new("tone", "preference", 0.85)),
        (Who::I | Who::We, Some("decision")) => Some(Verdict::new("decision", "decision", 0.9)),
        (Who::I | Who::We, _) => own::judge(clause, setting),
        (Who::Thing, Some("name")) => Some(Verdict::new("name", "fact", 0.95)),
        (Who::Thing, Some("change")) => Some(Verdict::new("change", other::kind(clause), 0.9)),
        (Who::Thing, Some("date")) => Some(Verdict::new("date", "fact", 0.85)),
        (Who::Thing, Some("labelled")) => Some(Verdict::new("environment", other::kind(clause), 0.8)),
        (Who::Thing | Who::Pronoun | Who::There, _) => other::judge(clause, setting),
        _ => None,
    };
    let verdict = verdict.or_else(|| asked(clause, setting)).or_else(|| marked(clause))?;
    Some(Verdict {
        confidence: (verdict.confidence - if clause.hedged { 0.2 } else { 0.0 }
            + if setting.asked { 0.1 } else { 0.0 })
        .min(0.98),
        importance: if setting.asked { verdict.importance.max(0.85) } else { verdict.importance },
        ..verdict
    })
}

/// Verbs of talking, thinking and feeling: what they take is no fact.
const TALKING: &[&str] = &[
    "think",
    "guess",
    "mean",
    "know",
    "say",
    "see",
    "hear",
    "feel",
    "hope",
    "wonder",
    "wish",
    "tell",
    "ask",
    "believe",
    "suppose",
    "look",
    "sound",
    "seem",
    "try",
    "thank",
    "forget",
    "remember",
    "understand",
    "bet",
    "swear",
    "promise",
    "joke",
    "kid",
    "wait",
    "let",
    "get",
    "want",
    "need",
    "hurt",
    "laugh",
];

/// A plain statement that carries a hard mark, a number, a time or a name, is worth something even if
/// no rule knows its verb.
fn marked(clause: &Clause) -> Option<Verdict> {
    let rest = clause.rest();
    let lemma = clause.lemma.as_str();
    let past = clause.form == super::verbs::Form::Past && clause.mood == Mood::Plain
        || clause.lower(clause.subject.end).starts_with('w');
    let plain = matches!(clause.mood, Mood::Plain | Mood::Perfect | Mood::Progressive) && !past && !clause.negated;
    let fed = lemma == "get" && clause.who == Who::Thing && rest.len() > 3;
    let says = |words: &[&str]| rest.iter().any(|word| word.any(words));
    let talk = TALKING.contains(&lemma) && !fed
        || says(&["you", "your", "that", "here", "these"])
        || rest.windows(2).any(|two| {
            two[0].is("this") && !two[1].any(&["term", "year", "month", "week", "season", "semester", "quarter"])
        });
    let first = rest.first()?;
    let felt = first.is("like")
        || lemma == "be"
            && (within(lexicon::FEELINGS, &first.lower) || within(lexicon::PRAISE, &first.lower) || first.is("the"));
    let about = match clause.who {
        Who::I | Who::We => true,
        Who::Thing => {
            let head = clause.subject_words().first()?;
            let talked = clause
                .subject_words()
                .iter()
                .any(|word| within(lexicon::TALK, &word.lower) || word.any(&["you", "your"]));
            (head.any(&["my", "our", "the"]) || head.owner() || head.capital() && clause.subject.len() <= 2) && !talked
        }
        _ => false,
    };
    let weekday = |word: &Word| {
        within(lexicon::CALENDAR, &word.lower)
            && !word.any(&["today", "tomorrow", "yesterday", "may", "spring", "fall", "sat", "sun", "mar"])
    };
    let clock = rest.windows(2).any(|two| two[0].is("past") && within(lexicon::NUMBERS, &two[1].lower));
    let hard = clock
        || rest
            .iter()
            .any(|word| word.digits() || word.shape == Shape::Code || word.capital() && !word.is("i") || weekday(word));
    let doing = rest.iter().filter(|word| word.speaks()).count() > 1;
    let identity = lemma == "be" && matches!(clause.who, Who::I | Who::We) && clause.mood == Mood::Plain;
    (plain && about && hard && doing && !talk && !felt && !identity && !clause.hedged)
        .then(|| Verdict::new("marked", "fact", 0.6))
}

/// What was asked to be remembered is kept if it can be retold.
fn asked(clause: &Clause, setting: Setting) -> Option<Verdict> {
    let states = matches!(clause.who, Who::I | Who::We | Who::Thing | Who::There) && !clause.rest().is_empty();
    (setting.asked && states).then(|| Verdict::new("asked", "fact", 0.8))
}

/// What someone at work or at home has done: a task, if it names what.
pub(crate) fn done(clause: &Clause) -> Option<Verdict> {
    const DONE: &[&str] = &[
        "fix",
        "deploy",
        "migrate",
        "release",
        "ship",
        "merge",
        "finish",
        "complete",
        "close",
        "resolve",
        "renew",
        "pay",
        "book",
        "submit",
        "install",
        "configure",
        "upgrade",
        "publish",
        "launch",
        "refactor",
        "rewrite",
        "implement",
        "update",
        "order",
        "cancel",
        "schedule",
        "rebuild",
        "restore",
        "revert",
        "file",
        "pass",
        "sign",
        "automate",
        "patch",
        "rotate",
        "archive",
        "downgrade",
        "provision",
        "enable",
        "disable",
        "register",
        "apply",
        "repair",
        "document",
        "add",
        "remove",
        "create",
        "run",
    ];
    let two_words = matches!(
        (clause.lemma.as_str(), clause.next(0)),
        ("set", "up") | ("roll", "out" | "back") | ("turn", "off" | "on")
    );
    let telling = clause.rest().iter().any(|word| {
        word.speaks()
            && !within(lexicon::PREPOSITIONS, &word.lower)
            && !within(lexicon::DETERMINERS, &word.lower)
            && !word.any(&[
                "it",
                "up",
                "out",
                "that",
                "this",
                "them",
                "now",
                "already",
                "everything",
                "something",
                "some",
                "one",
            ])
    });
    let past = clause.form == super::verbs::Form::Past
        && matches!(clause.mood, Mood::Plain | Mood::Perfect)
        && !clause.negated;
    // Everyone runs commands; a race or a migration is something else.
    let ran = clause.lemma != "run"
        || clause.rest().iter().any(|word| {
            word.any(&["migration", "migrations", "backfill", "marathon", "half-marathon", "race", "ultra", "backup"])
        });
    let vague = matches!(
        clause.lemma.as_str(),
        "add" | "remove" | "create" | "run" | "update" | "pass" | "sign" | "apply" | "file" | "close"
    );
    (past && telling && ran && (two_words || DONE.contains(&clause.lemma.as_str())))
        .then(|| Verdict::new("task", "task", if vague { 0.6 } else { 0.75 }))
}

/// The place of the noun that a phrase is about: its last word before a preposition.
pub(crate) fn head(words: &[Word]) -> Option<&Word> {
    let end = words
        .iter()
        .position(|word| within(lexicon::PREPOSITIONS, &word.lower) || word.shape == Shape::Mark)
        .filter(|end| *end > 0)
        .unwrap_or(words.len());
    words[..end].iter().rev().find(|word| word.shape != Shape::Mark)
}
