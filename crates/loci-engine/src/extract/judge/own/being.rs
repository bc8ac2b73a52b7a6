//! What is someone, has someone, or is someone doing?

use super::super::super::clause::{Clause, Mood, Who};
use super::super::super::lexicon::{self, within};
use super::super::super::verbs::Form;
use super::super::super::word::{Shape, Word};
use super::super::{Setting, Verdict};

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

/// "I'm a nurse", "I'm 34", "I'm allergic to nuts".
pub(super) fn being(clause: &Clause, setting: Setting) -> Option<Verdict> {
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
pub(super) fn identity(clause: &Clause) -> Option<Verdict> {
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

pub(super) fn age(rest: &[Word]) -> bool {
    let number = rest.first().is_some_and(|word| word.text.parse::<u8>().is_ok_and(|years| (5..120).contains(&years)));
    let behind = rest.get(1).map_or("", |word| word.lower.as_str());
    number && matches!(behind, "" | "years" | "." | "," | "yo" | "y.o" | "now" | "!" | "and" | "btw" | "year" | ")")
}

/// "I have two kids", "we have 5 nodes".
pub(super) fn having(clause: &Clause, setting: Setting) -> Option<Verdict> {
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
