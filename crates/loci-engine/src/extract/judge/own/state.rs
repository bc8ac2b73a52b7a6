//! What are people, and what do they have?

use super::super::super::clause::{Clause, Mood, Who};
use super::super::super::lexicon::{self, within};
use super::super::super::verbs::Form;
use super::super::super::word::{Shape, Word};
use super::super::{Setting, Verdict};

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
        "out" if setting.dated && clause.goes_on("out of office") => Some(Verdict::new("plan", "fact", 0.7)),
        "on" if setting.dated && rest.iter().any(|word| word.any(&["leave", "vacation", "holiday", "sabbatical"])) => {
            Some(Verdict::new("plan", "fact", 0.75))
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
