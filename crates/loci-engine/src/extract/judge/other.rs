//! What is said of others and of things that lasts?

use super::super::clause::{Clause, Mood, Who};
use super::super::focus::is_person;
use super::super::lexicon::{self, within};
use super::super::verbs::Form;
use super::super::word::{Shape, Word};
use super::{Setting, Verdict, head};

/// How surely a subject means one thing.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Hold {
    Weak,
    Fair,
    Strong,
}

/// What a clause about someone or something else is kept as.
pub(super) fn judge(clause: &Clause, setting: Setting) -> Option<Verdict> {
    let hold = hold(clause)?;
    let kind = kind(clause);
    let pattern = match kind {
        "person" => "person",
        "project" => "project",
        _ if hold == Hold::Strong => "environment",
        _ => "statement",
    };
    let sure = match hold {
        Hold::Strong => 0.0,
        Hold::Fair => -0.1,
        Hold::Weak => -0.25,
    };
    let confidence = match clause.lemma.as_str() {
        "be" if clause.mood == Mood::Progressive => going_on(clause, setting)?,
        _ if clause.mood == Mood::Progressive => going_on(clause, setting)?,
        "be" => being(clause, hold, setting)?,
        "have" if clause.mood != Mood::Duty => having(clause, hold)?,
        lemma => doing(clause, lemma, hold, setting)?,
    };
    let subject = |words: &[&str]| clause.subject_words().iter().any(|word| word.any(words));
    let mine = clause.subject_words().first().is_some_and(|word| word.any(&["my", "our"]));
    let (pattern, kind) = match () {
        () if subject(&["favourite", "favorite", "fave", "go-to"])
            || clause.lemma == "be" && matches!(clause.next(1), "favourite" | "favorite" | "fave") =>
        {
            ("preference", "preference")
        }
        () if mine && subject(&["name", "nickname"]) && clause.subject.len() <= 3 => ("name", kind),
        () if mine && subject(&["birthday", "anniversary", "wedding", "exam", "flight", "appointment", "bday"]) => {
            ("date", kind)
        }
        () if mine && kind == "fact" && clause.words[0].is("my") => ("self", kind),
        () => (pattern, kind),
    };
    let (pattern, kind) =
        if TASTES.contains(&clause.lemma.as_str()) { ("preference", "preference") } else { (pattern, kind) };
    let confidence: f64 = confidence + sure;
    (confidence >= 0.45 || setting.asked).then(|| Verdict::new(pattern, kind, confidence.clamp(0.3, 0.95)))
}

const TASTES: &[&str] = &["like", "love", "hate", "prefer", "enjoy", "dislike", "detest", "adore"];

fn hold(clause: &Clause) -> Option<Hold> {
    if clause.who == Who::There {
        let own = clause.rest().iter().any(|word| word.any(&["my", "our", "every"]));
        return own.then_some(Hold::Fair);
    }
    if clause.who == Who::Pronoun {
        // "It's Friday", "it's my birthday" are about nothing that was named.
        let mine = matches!(clause.next(0), "my" | "our")
            && (clause.rest().len() < 3
                || clause.rest().iter().any(|word| {
                    within(lexicon::EVENTS, &word.lower)
                        || word.any(&["turn", "fault", "first", "last", "bad", "mistake", "problem", "day"])
                }));
        let empty = clause.words[0].is("it")
            && clause.lemma == "be"
            && (mine
                || matches!(clause.next(0), "in" | "on" | "at" | "for" | "not")
                || within(lexicon::CALENDAR, clause.next(0))
                || clause.mood == Mood::Progressive);
        return (!empty).then_some(Hold::Strong);
    }
    let words = clause.subject_words();
    let first = words.first()?;
    // What everyone knows of a city or a language need not be kept.
    let world = words.len() == 1
        && (within(lexicon::TOOLS, &first.lower) || within(lexicon::PLACES, &first.lower))
        && clause.lemma == "be"
        && matches!(clause.next(0), "a" | "an" | "the");
    if world {
        return None;
    }
    // "The printer and I" is banter.
    if words.len() > 1 && words.last().is_some_and(|word| word.is("i")) {
        return None;
    }
    let talk = |word: &Word| within(lexicon::TALK, &word.lower);
    let owned = words.iter().any(|word| word.any(&["my", "our", "his", "her", "their", "its"]));
    if first.any(&[
        "a",
        "an",
        "any",
        "some",
        "no",
        "each",
        "what",
        "who",
        "how",
        "why",
        "where",
        "when",
        "which",
        "this",
        "that",
        "one",
        "everything",
        "nothing",
        "something",
        "someone",
        "anyone",
        "people",
        "all",
        "both",
        "most",
        "many",
        "your",
    ]) {
        return None;
    }
    if head(words).is_some_and(talk) && !owned {
        return None;
    }
    let named = words.iter().skip(1).any(|word| word.capital() || word.shape == Shape::Code || word.digits())
        || first.owner()
        || (first.capital()
            && (words.len() == 1 || words.len() > 2 && words[1].any(&["from", "in", "on"]))
            && proper(first));
    match () {
        () if owned || named => Some(Hold::Strong),
        () if first.any(&["the", "every"]) => Some(Hold::Fair),
        () => Some(Hold::Weak),
    }
}

/// A capital at the start of a sentence that may well be a name.
fn proper(word: &Word) -> bool {
    let plural = word.lower.ends_with('s') && word.lower.len() > 6;
    let common = within(lexicon::CALENDAR, &word.lower) || within(lexicon::GREETINGS, &word.lower);
    !plural && !common && !word.lower.ends_with("ing")
}

/// The kind by what it is about.
pub(super) fn kind(clause: &Clause) -> &'static str {
    let words = clause.subject_words();
    let says = |words: &[Word], list: &[&str]| words.iter().any(|word| word.any(list));
    let event = words.last().is_some_and(|word| within(lexicon::EVENTS, &word.lower));
    let kin = |word: &Word| word.lower.strip_suffix("'s").is_some_and(|owner| within(lexicon::RELATIONS, owner));
    let person = !event && (is_person(words) || words.iter().any(kin))
        || is_relation(clause)
        || clause.who == Who::Pronoun && !clause.words[0].is("it");
    let project = says(
        words,
        &[
            "project",
            "repo",
            "repository",
            "deadline",
            "stack",
            "sprint",
            "milestone",
            "codebase",
            "launch",
            "release",
            "roadmap",
            "backlog",
            "codename",
            "mvp",
            "beta",
        ],
    );
    match () {
        () if project => "project",
        () if person => "person",
        () if is_name(words)
            && matches!(
                clause.lemma.as_str(),
                "work"
                    | "live"
                    | "manage"
                    | "lead"
                    | "approve"
                    | "join"
                    | "report"
                    | "teach"
                    | "study"
                    | "speak"
                    | "own"
                    | "marry"
                    | "handle"
                    | "know"
                    | "leave"
                    | "retire"
                    | "get"
                    | "like"
                    | "love"
                    | "prefer"
                    | "move"
                    | "quit"
                    | "drive"
                    | "play"
            )
            && !within(lexicon::TOOLS, &words[0].lower) =>
        {
            "person"
        }
        () if is_name(words)
            && clause.lemma == "be"
            && clause.rest().iter().take(6).any(|word| within(lexicon::ROLES, &word.lower)) =>
        {
            "person"
        }
        () => "fact",
    }
}

fn is_name(words: &[Word]) -> bool {
    !words.is_empty()
        && (words.len() <= 2 || words[1].any(&["from", "in"]))
        && words
            .iter()
            .take(1)
            .chain(words.iter().skip(1).filter(|_| words.len() == 2))
            .all(|word| word.capital() && !word.owner())
}

/// "Bob is our SRE", "Marta is my sister".
fn is_relation(clause: &Clause) -> bool {
    let owned = matches!(clause.next(0), "my" | "our");
    clause.lemma == "be"
        && owned
        && clause.rest().iter().skip(1).take(4).any(|word| {
            within(lexicon::RELATIONS, &word.lower)
                || within(lexicon::ROLES, &word.lower)
                || word.lower.ends_with("ologist")
        })
}

fn being(clause: &Clause, hold: Hold, setting: Setting) -> Option<f64> {
    let rest = clause.rest();
    let first = rest.first()?;
    let attribute =
        clause.subject_words().last().is_some_and(|word| within(lexicon::ATTRIBUTES, &word.lower) || word.any(&["is"]));
    let favourite = clause.subject_words().iter().any(|word| word.any(&["favourite", "favorite", "fave", "preferred"]));
    let was = clause.form == Form::Past && clause.mood != Mood::Perfect;
    let telling = rest.iter().any(|word| {
        word.digits() || word.capital() || matches!(word.shape, Shape::Code | Shape::Quote | Shape::Number)
    });
    match first.lower.as_str() {
        "it" | "that" | "this" | "you" | "your" | "what" | "how" | "why" | "me" | "whether" | "if" | "like" => None,
        "not" => None,
        "born" | "renamed" | "upgraded" | "promoted" | "founded" | "hired" | "diagnosed" | "moved" | "migrated"
        | "deprecated" | "replaced" => Some(0.85),
        _ if was => {
            (setting.dated && telling && hold == Hold::Strong && !within(lexicon::PRAISE, &first.lower)).then_some(0.6)
        }
        "called" | "named" | "based" | "located" | "written" | "hosted" | "deployed" | "stored" | "due" | "married"
        | "allergic" | "managed" | "owned" | "scheduled" | "closed" | "open" | "encrypted" | "backed"
        | "responsible" | "built" | "kept" | "pinned" | "limited" | "capped" | "required" | "signed" => Some(0.85),
        _ if favourite => Some(0.9),
        _ if attribute && !within(lexicon::PRAISE, &first.lower) => Some(0.85),
        "my" | "our" => Some(0.9),
        lower if within(lexicon::PRAISE, lower) => None,
        "a" | "an" | "the"
            if !rest.iter().take(4).any(|word| {
                within(lexicon::PRAISE, &word.lower) || within(lexicon::PASSING, &word.lower) && !word.is("one")
            }) =>
        {
            match hold {
                Hold::Strong => Some(0.8),
                Hold::Fair => telling.then_some(0.7),
                Hold::Weak => None,
            }
        }
        "at" | "on" | "in" | "from" | "behind" | "under" | "for" | "every"
            if telling || hold == Hold::Strong || rest.iter().any(|word| word.any(&["every", "noon", "midnight"])) =>
        {
            Some(0.75)
        }
        lower if within(lexicon::TRAITS, lower) => Some(0.85),
        "getting" | "going" => None,
        _ if within(lexicon::FEELINGS, &first.lower) => None,
        _ if telling => Some(0.75),
        _ if hold == Hold::Strong
            && first.shape == Shape::Word
            && rest.len() <= 6
            && clause.subject_words().iter().any(|word| word.any(&["my", "our"])) =>
        {
            Some(0.65)
        }
        _ => None,
    }
}

fn having(clause: &Clause, hold: Hold) -> Option<f64> {
    let rest = clause.rest();
    let first = rest.first()?;
    let passing = rest.iter().take(4).any(|word| within(lexicon::PASSING, &word.lower) && !word.any(&["one", "two"]));
    if passing
        || first.any(&["it", "this", "that", "to", "some", "you", "your"])
        || clause.form == Form::Past && clause.mood == Mood::Plain
    {
        return None;
    }
    let counted = first.digits() || within(lexicon::NUMBERS, &first.lower);
    match hold {
        _ if counted => Some(0.85),
        Hold::Strong => Some(0.75),
        Hold::Fair => first.any(&["a", "an", "no"]).then_some(0.65),
        Hold::Weak => None,
    }
}

fn going_on(clause: &Clause, setting: Setting) -> Option<f64> {
    let lasting = matches!(
        (clause.lemma.as_str(), clause.next(0)),
        ("work", "at" | "on" | "for" | "as")
            | ("live", "in")
            | ("move", "to")
            | ("get", "married" | "divorced")
            | ("study" | "learn" | "use" | "switch" | "migrate" | "run" | "retire" | "start" | "join" | "leave", _)
    );
    let was = clause.lower(clause.subject.end).starts_with('w');
    match () {
        () if was => None,
        () if lasting && !clause.rest().is_empty() => Some(0.75),
        () if setting.dated && !clause.rest().is_empty() => Some(0.65),
        () => None,
    }
}

const LASTING: &[&str] = &[
    "work",
    "live",
    "like",
    "love",
    "hate",
    "prefer",
    "enjoy",
    "dislike",
    "use",
    "run",
    "own",
    "manage",
    "lead",
    "teach",
    "study",
    "play",
    "speak",
    "handle",
    "maintain",
    "approve",
    "host",
    "store",
    "contain",
    "require",
    "support",
    "deploy",
    "depend",
    "listen",
    "expire",
    "renew",
    "start",
    "end",
    "open",
    "close",
    "take",
    "cost",
    "go",
    "ship",
    "release",
    "belong",
    "report",
    "meet",
    "happen",
    "last",
    "need",
    "know",
    "want",
    "serve",
    "consist",
    "include",
    "cover",
    "follow",
    "keep",
    "hold",
    "review",
    "write",
    "read",
    "eat",
    "drink",
    "drive",
    "sign",
    "pay",
    "charge",
    "send",
    "receive",
    "lie",
    "sit",
    "expose",
    "monitor",
    "track",
    "target",
    "log",
    "sync",
    "rotate",
    "restart",
    "back",
    "weigh",
    "offer",
    "provide",
    "connect",
    "point",
    "build",
    "test",
    "train",
    "coach",
    "volunteer",
    "collect",
    "suffer",
    "smoke",
    "avoid",
    "come",
    "sleep",
    "wear",
    "commute",
    "limit",
    "allow",
    "accept",
    "process",
    "integrate",
    "forward",
    "total",
    "launch",
    "boost",
    "occur",
    "bill",
    "supply",
    "call",
    "let",
];
const TURNS: &[&str] = &[
    "move", "join", "leave", "switch", "rename", "migrate", "change", "marry", "graduate", "die", "retire", "start",
    "quit", "buy", "promote", "adopt", "deploy", "fix", "approve", "launch", "ship", "release", "upgrade", "replace",
    "stop", "open", "close", "sell", "divorce", "relocate", "merge", "grow", "get", "give", "win", "expire", "end",
    "drop", "choose", "decide", "go", "turn", "pass", "acquire", "hire", "agree",
];

fn doing(clause: &Clause, lemma: &str, hold: Hold, setting: Setting) -> Option<f64> {
    let rest = clause.rest();
    let next = clause.next(0);
    let says = |words: &[&str]| rest.iter().any(|word| word.any(words));
    if says(&["you", "your"]) && rest.len() < 4 {
        return None;
    }
    match clause.mood {
        Mood::Duty | Mood::Can | Mood::Formerly if lemma != "stand" => {
            return ((hold == Hold::Strong && (setting.dated || clause.mood == Mood::Formerly))
                || hold == Hold::Fair && setting.dated && clause.mood == Mood::Duty)
                .then_some(0.75);
        }
        Mood::Future => {
            return (hold >= Hold::Fair && (setting.dated || hold == Hold::Strong) && !rest.is_empty()).then_some(0.7);
        }
        _ => {}
    }
    if clause.ended {
        return Some(0.85);
    }
    let past = clause.form == Form::Past;
    match lemma {
        "move" if rest.iter().all(|word| !word.speaks() || word.any(&["again", "twice", "too", "once", "more"])) => {
            None
        }
        "come" if next == "home" => None,
        "work"
            if !matches!(
                next,
                "at" | "for" | "in" | "as" | "on" | "with" | "from" | "remotely" | "nights" | "part-time"
            ) =>
        {
            None
        }
        "work" if says(&["me"]) && next == "for" => None,
        "let" | "take" | "come" | "go" | "keep" | "need" | "want" | "get" | "give" | "back" | "call"
            if rest.is_empty() || says(&["sense", "ahead"]) =>
        {
            None
        }
        "get" if past && !matches!(next, "married" | "divorced" | "promoted" | "engaged" | "hired" | "fired") => None,
        "give" if past && !(next == "birth" || next == "up") => None,
        "go" if past && !matches!(next, "live" | "public" | "bankrupt" | "vegan") => None,
        // A laptop that died will be mended.
        "die" | "break" if !is_person(clause.subject_words()) => None,
        "turn" if !past && rest.first().is_some_and(Word::digits) => Some(0.75),
        "turn" if past && !rest.first().is_some_and(|word| word.shape == Shape::Number) => None,
        "stand" if clause.negated => Some(0.85),
        _ if past && clause.mood != Mood::Perfect || clause.mood == Mood::Perfect => {
            (TURNS.contains(&lemma) && hold == Hold::Strong && !clause.negated).then_some(0.8)
        }
        _ if LASTING.contains(&lemma) => {
            let steady = rest
                .iter()
                .any(|word| word.digits() || word.any(&["every", "daily", "weekly", "nightly", "noon", "midnight"]));
            match hold {
                Hold::Strong => Some(0.8),
                Hold::Fair => Some(if rest.is_empty() { 0.3 } else { 0.75 }),
                Hold::Weak => {
                    (steady || rest.iter().any(|word| word.capital() || word.shape == Shape::Code)).then_some(0.75)
                }
            }
        }
        _ if hold >= Hold::Fair
            && clause.form == Form::Third
            && rest.iter().any(|word| word.any(&["every", "daily", "weekly", "monthly", "nightly", "yearly"])) =>
        {
            Some(0.75)
        }
        _ => None,
    }
}
