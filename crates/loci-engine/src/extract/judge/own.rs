//! What do people say of themselves that lasts?

use super::super::clause::{Clause, Mood, Who, base};
use super::super::lexicon::{self, within};
use super::super::verbs::{Form, verb};
use super::super::word::{Shape, Word};
use super::{Setting, Verdict, done};

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
        && !matches!(clause.next(1), "know" | "see" | "think" | "ask" | "hear" | "say" | "be" | "know");
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

/// Changes in someone's life or work.
fn changed(clause: &Clause) -> Option<Verdict> {
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
fn lasting(clause: &Clause) -> Option<Verdict> {
    let next = clause.next(0);
    let first = clause.rest().first();
    let past = clause.form == Form::Past && clause.mood != Mood::Perfect;
    let own = |confidence| Some(Verdict::new("self", "fact", confidence));
    let noun = first
        .is_some_and(|word| word.speaks() && !word.any(&["it", "this", "that", "on", "into", "up", "out", "like"]));
    match clause.lemma.as_str() {
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

/// "I can't stand olives", "I can speak French".
fn able(clause: &Clause) -> Option<Verdict> {
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
fn duty(lemma: &str, rest: &[Word], setting: Setting) -> Option<Verdict> {
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
fn future(clause: &Clause, setting: Setting) -> Option<Verdict> {
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
fn going_on(clause: &Clause, setting: Setting) -> Option<Verdict> {
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

/// "I'm a nurse", "I'm 34", "I'm allergic to nuts".
fn being(clause: &Clause, setting: Setting) -> Option<Verdict> {
    let rest = clause.rest();
    let first = rest.first()?;
    let next = clause.next(1);
    let own = |confidence| Some(Verdict::new("self", "fact", confidence));
    let was =
        clause.lower(clause.subject.end).starts_with('w') && clause.form == Form::Past && clause.mood != Mood::Perfect;
    match first.lower.as_str() {
        "born" | "raised" => own(0.95),
        "promoted" | "diagnosed" | "hired" | "laid" | "fired" | "accepted" | "elected" => {
            Some(Verdict::new("change", "fact", 0.85))
        }
        _ if was => None,
        "allergic" | "intolerant" => Some(Verdict::new("health", "fact", 0.95)),
        "lactose" | "gluten" | "celiac" | "coeliac" | "diabetic" => Some(Verdict::new("health", "fact", 0.9)),
        "based" | "located" if matches!(next, "in" | "near" | "at" | "out") => own(0.95),
        "from" if rest.get(1).is_some_and(|word| word.capital() || within(lexicon::PLACES, &word.lower)) => own(0.9),
        "called" | "named" | "known" => Some(Verdict::new("name", "fact", 0.9)),
        "more" if clause.goes_on("more of a") => Some(Verdict::new("preference", "preference", 0.75)),
        "into" | "fond" if rest.len() > 1 => Some(Verdict::new("preference", "preference", 0.8)),
        "interested" if next == "in" && !rest.iter().any(|word| word.any(&["this", "that", "your", "knowing"])) => {
            Some(Verdict::new("preference", "preference", 0.7))
        }
        "afraid" | "scared" | "terrified" if next == "of" && !rest.iter().any(|word| word.any(&["that", "this"])) => {
            own(0.75)
        }
        "responsible" if next == "for" => own(0.85),
        "in" | "at" if setting.dated && rest.get(1).is_some_and(Word::capital) => {
            Some(Verdict::new("plan", "fact", 0.65))
        }
        "in" | "on"
            if matches!(clause.next(1), "charge")
                || rest.iter().any(|word| word.any(&["timezone", "utc", "cet", "est", "pst", "gmt"])) =>
        {
            own(0.85)
        }
        "part" if next == "of" => own(0.75),
        "on" if rest
            .iter()
            .any(|word| word.any(&["team", "squad", "diet", "medication", "board", "insulin", "keto"])) =>
        {
            own(0.75)
        }
        "good" | "bad" | "fluent" | "native" if matches!(next, "at" | "in" | "with") => own(0.65),
        "a" | "an" | "the" => identity(clause),
        _ if age(rest) => own(0.9),
        lower if within(lexicon::TRAITS, lower) => own(0.9),
        // "We are a team of five", "we are 12 people".
        _ if clause.who == Who::We && first.digits() && rest.len() > 1 => own(0.75),
        _ => None,
    }
}

/// "A nurse", "a big fan of jazz", "a morning person".
fn identity(clause: &Clause) -> Option<Verdict> {
    let rest = clause.rest();
    let says = |words: &[&str]| rest.iter().take(5).any(|word| word.any(words));
    if says(&["fan"]) && says(&["of"]) {
        return Some(Verdict::new("preference", "preference", 0.85));
    }
    let passing = says(&[
        "bit", "little", "lot", "idiot", "mess", "fool", "wreck", "loss", "moment", "minute", "way", "few", "good",
        "bad", "huge", "one", "same", "best", "worst", "problem", "rush", "hurry", "couple", "kind", "sort",
    ]);
    let role = rest.iter().take(7).any(|word| {
        within(lexicon::ROLES, &word.lower)
            || word.any(&[
                "person",
                "parent",
                "owner",
                "member",
                "citizen",
                "native",
                "owl",
                "vegetarian",
                "vegan",
                "runner",
                "gamer",
                "cyclist",
                "smoker",
                "twin",
                "team",
                "company",
                "startup",
                "mother",
                "father",
                "mom",
                "dad",
                "widow",
                "immigrant",
                "veteran",
                "speaker",
                "lefty",
                "beginner",
                "atheist",
                "feminist",
                "child",
            ])
    });
    match () {
        () if role && !(passing && rest.len() < 3) => Some(Verdict::new("self", "fact", 0.9)),
        () if passing || clause.next(0) == "the" => None,
        () if rest.len() >= 2
            && rest.iter().skip(1).take(3).any(|word| {
                ["er", "or", "ist", "ian", "eer", "ant"]
                    .iter()
                    .any(|end| word.lower.len() > 5 && word.lower.ends_with(end))
            }) =>
        {
            Some(Verdict::new("self", "fact", 0.75))
        }
        () => None,
    }
}

fn age(rest: &[Word]) -> bool {
    let number = rest.first().is_some_and(|word| word.text.parse::<u8>().is_ok_and(|years| (5..120).contains(&years)));
    let behind = rest.get(1).map_or("", |word| word.lower.as_str());
    number && matches!(behind, "" | "years" | "." | "," | "yo" | "y.o" | "now" | "!" | "and" | "btw" | "year" | ")")
}

/// "I have two kids", "we have 5 nodes".
fn having(clause: &Clause, setting: Setting) -> Option<Verdict> {
    let rest = clause.rest();
    let first = rest.first()?;
    if first.any(&["it", "this", "that", "to", "you", "been", "any", "some", "enough", "more", "your", "nothing"])
        && !clause.negated
    {
        return None;
    }
    let noun =
        rest.iter().take(6).take_while(|word| word.shape != Shape::Mark && !within(lexicon::PREPOSITIONS, &word.lower));
    let noun: Vec<&Word> = noun.filter(|word| !within(lexicon::DETERMINERS, &word.lower)).collect();
    let says =
        |list| noun.iter().any(|word| within(list, &word.lower) || within(list, &lexicon::singular(&word.lower)));
    let counted = first.shape == Shape::Number || within(lexicon::NUMBERS, &first.lower);
    let close = says(lexicon::RELATIONS)
        || says(lexicon::PETS)
        || noun.iter().any(|word| word.any(&["kids", "children", "siblings"]));
    let event = says(lexicon::EVENTS);
    let passing =
        noun.iter().skip(usize::from(counted)).any(|word| within(lexicon::PASSING, &word.lower)) || noun.is_empty();
    let had = clause.lower(clause.verb) == "had" || clause.form == Form::Past;
    match () {
        () if event && setting.dated && !clause.negated => Some(Verdict::new("date", "fact", 0.85)),
        () if passing || event => None,
        () if had => (noun.iter().any(|word| word.any(&["baby", "surgery", "son", "daughter", "stroke"]))
            && !clause.negated)
            .then(|| Verdict::new("change", "fact", 0.8)),
        () if close => Some(Verdict::new("self", "fact", 0.9)),
        () if counted => Some(Verdict::new("self", "fact", 0.85)),
        () if first.any(&["a", "an", "no", "my", "our"]) => Some(Verdict::new("self", "fact", 0.75)),
        () if clause.negated => Some(Verdict::new("self", "fact", 0.7)),
        () if first.shape == Shape::Word && rest.len() <= 4 && !first.any(&["the", "got"]) => {
            Some(Verdict::new("self", "fact", 0.7))
        }
        () => None,
    }
}
