//! What does "X is Y" say?
//!
//! "Ana's favourite colour is green" is about Ana, "the API port is 8080" about the API; "Bob is
//! Ana's manager" and "Ana's manager is Bob" say the same of Ana.

use super::super::clause::{Clause, Mood};
use super::super::lexicon::{self, within};
use super::super::word::{Shape, Word};
use super::fold::{NAME_STOPS, NOUN_STOPS, duration, fold, until, weekdays};
use super::{Claim, Side, subject_of};

/// The claim of a clause with "is".
pub(super) fn claim(clause: &Clause, subject: String) -> Option<Claim> {
    let rest = clause.rest();
    let first = rest.first()?;
    let with = |subject: String, side: Side| {
        let Side { attribute, value, negated, single } = side.denied(clause.negated || clause.mood == Mood::Formerly);
        Some(Claim { subject, attribute, value, negated, single })
    };
    let attribute = clause.subject_words().last().is_some_and(|word| within(lexicon::ATTRIBUTES, &word.lower));
    if let Some(side) = plain(rest).filter(|side| !attribute || side.attribute != "age") {
        return with(subject, side);
    }
    if let Some((subject, side)) = told(clause.subject_words(), rest) {
        return with(subject, side);
    }
    if let Some((owner, role)) = related(rest) {
        let single =
            role.starts_with("favourite ") || within(lexicon::UNIQUE, role.rsplit(' ').next().unwrap_or_default());
        return with(owner, Side { attribute: role, value: subject, negated: false, single });
    }
    if let Some((owner, attribute)) = split(clause.subject_words(), rest) {
        let single = !matches!(
            attribute.as_str(),
            "allergy"
                | "goal"
                | "sister"
                | "brother"
                | "friend"
                | "son"
                | "daughter"
                | "kid"
                | "child"
                | "colleague"
                | "cousin"
                | "dog"
                | "cat"
                | "hobby"
        );
        let value = duration(rest).filter(|_| attribute == "retention").unwrap_or_else(|| value_of(first, rest));
        return with(owner, Side { attribute, value, negated: false, single });
    }
    let owned = clause.subject_words().iter().any(|word| word.owner() || word.any(&["my", "our"]));
    // "My laptop is a ThinkPad": there is one that is meant.
    let model = owned && first.any(&["a", "an"]) && rest.get(1).is_some_and(|word| word.capital() || word.digits());
    if model {
        return with(subject, Side::one("is", fold(until(&rest[1..], NOUN_STOPS)))?);
    }
    let side = role(rest).or_else(|| timed(rest)).or_else(|| Side::many("is", fold(until(rest, NOUN_STOPS))))?;
    with(subject, side)
}

fn value_of(first: &Word, rest: &[Word]) -> String {
    if matches!(first.lower.as_str(), "on" | "at" | "in" | "to") && rest.len() > 1 {
        fold(&rest[1..])
    } else {
        fold(rest)
    }
}

/// "At 10:00 every day", "on 3 June": when it is.
fn timed(rest: &[Word]) -> Option<Side> {
    let first = rest.get(1)?;
    match rest[0].lower.as_str() {
        "at" if first.lower.chars().all(|c| c.is_ascii_digit() || c == ':') => Side::one("time", first.lower.clone()),
        "on" if first.digits() && rest.get(2).is_some_and(|word| within(lexicon::CALENDAR, &word.lower)) => {
            Side::one("date", fold(until(&rest[1..], NOUN_STOPS)))
        }
        _ => None,
    }
}

/// What is told of something else than the subject: "the Heron codebase is in Rust", "Postgres is the
/// database behind Heron", "my pottery class is on Wednesdays".
fn told(words: &[Word], rest: &[Word]) -> Option<(String, Side)> {
    let last = words.last()?;
    let lower = |place: usize| rest.get(place).map_or("", |word| word.lower.as_str());
    if last.any(&["codebase", "code", "backend", "frontend"])
        && lower(0) == "in"
        && rest.get(1).is_some_and(|word| word.capital() || within(lexicon::TOOLS, &word.lower))
    {
        let owner: Vec<Word> =
            words[..words.len() - 1].iter().filter(|word| !word.any(&["whole", "entire", "all"])).cloned().collect();
        let owner = fold(&owner);
        let owner = owner.strip_suffix("'s").unwrap_or(&owner).to_owned();
        return Some((owner, Side::one("language", fold(until(&rest[1..], NAME_STOPS)))?));
    }
    if lower(0) == "the" && lower(1) == "database" && matches!(lower(2), "behind" | "of" | "for" | "under") {
        return Some((fold(until(&rest[3..], NAME_STOPS)), Side::one("database", fold(words))?));
    }
    let owner = words.iter().rposition(|word| word.owner() || word.any(&["my", "our"]))?;
    if lower(0) == "on"
        && let Some(days) = weekdays(rest)
    {
        let activity: Vec<Word> = words[owner + 1..]
            .iter()
            .filter(|word| !word.any(&["class", "classes", "lesson", "lessons", "course", "practice", "training"]))
            .cloned()
            .collect();
        let whose = fold(&words[..=owner]);
        return Some((
            whose.trim_end_matches("'s").to_owned(),
            Side::one(format!("days of {}", fold(&activity)), days)?,
        ));
    }
    None
}

/// What follows "is" and speaks for itself.
fn plain(rest: &[Word]) -> Option<Side> {
    let lower = |place: usize| rest.get(place).map_or("", |word| word.lower.as_str());
    let from = |place: usize| rest.get(place..).unwrap_or_default();
    let name = |place: usize| fold(until(from(place), NAME_STOPS));
    let noun = |place: usize| fold(until(from(place), NOUN_STOPS));
    match (lower(0), lower(1)) {
        ("called" | "named", _) => Side::one("name", name(1)),
        ("known", "as") => Side::one("name", name(2)),
        ("born", "in") if rest.get(2).is_some_and(|word| word.digits() || within(lexicon::CALENDAR, &word.lower)) => {
            Side::one("birthday", fold(from(2)))
        }
        ("born", "in") => Side::one("birthplace", name(2)),
        ("born", "on") => Side::one("birthday", fold(from(2))),
        ("based" | "located" | "living", "in") => Side::one("city", name(2)),
        ("allergic", "to") => Side::many("allergic to", noun(2)),
        ("married", "to") => Side::one("spouse", name(2)),
        ("engaged", "to") => Side::one("partner", name(2)),
        ("from", _) => Side::one("origin", name(1)),
        ("due", "on" | "by" | "in") => Side::one("deadline", fold(from(2))),
        ("due", _) if rest.len() > 1 => Side::one("deadline", fold(from(1))),
        ("responsible", "for") => Side::many("responsible for", noun(2)),
        ("fond", "of") | ("interested", "in") => Side::many("likes", noun(2)),
        ("into", _) => Side::many("likes", noun(1)),
        ("on" | "at", "version") if rest.len() > 2 => Side::one("version", lower(2).to_owned()),
        ("on", "port") if rest.len() > 2 => Side::one("port", lower(2).to_owned()),
        ("given" | "assigned", _) if rest.len() > 1 => Side::one("given", name(1)),
        ("renamed", "to") => Side::one("name", name(2)),
        ("promoted", "to") => Side::one("job", noun(2)),
        ("upgraded", "to") => Side::one("version", name(2)),
        ("written" | "built", "in" | "with") => Side::one("language", name(2)),
        ("hosted" | "deployed", "on") => Side::many(format!("{} on", lower(0)), name(2)),
        _ if rest.iter().take(5).any(|word| word.is("fan")) => {
            let of = rest.iter().position(|word| word.is("of"))?;
            Side::many("likes", noun(of + 1))
        }
        (number, behind)
            if number.parse::<u8>().is_ok_and(|age| age > 4)
                && (matches!(behind, "years" | "" | "year" | "." | "yo") || lower(1) == "and") =>
        {
            if behind == "years" || rest.len() < 2 || behind == "." {
                Side::one("age", number.to_owned())
            } else {
                None
            }
        }
        _ => None,
    }
}

/// "A nurse", "a senior engineer at Acme": a job.
fn role(rest: &[Word]) -> Option<Side> {
    let article = rest.first()?.any(&["a", "an", "the"]);
    let noun = until(rest, NAME_STOPS);
    let noun = &noun[..noun.iter().position(|word| word.any(&["of", "who", "that"])).unwrap_or(noun.len())];
    let job = noun.iter().any(|word| within(lexicon::ROLES, &word.lower) && !word.is("owner"));
    (article && job).then(|| Side::one("job", fold(noun)))?
}

/// "Ana's manager": whose, and what of them.
fn related(rest: &[Word]) -> Option<(String, String)> {
    let owner = rest.iter().take(3).position(|word| word.owner() || word.any(&["my", "our"]))?;
    let noun = until(&rest[owner + 1..], NAME_STOPS);
    let person = noun.iter().any(|word| {
        word.any(&["favourite", "favorite", "fave"])
            || within(lexicon::RELATIONS, &word.lower)
            || within(lexicon::ROLES, &word.lower)
    });
    if !person || noun.is_empty() {
        return None;
    }
    let whose = fold(&rest[..=owner]);
    Some((whose.trim_end_matches("'s").to_owned(), fold(noun)))
}

/// The owner and the attribute in a subject: "the API port", "Ana's favourite colour".
fn split(words: &[Word], rest: &[Word]) -> Option<(String, String)> {
    let mut words: Vec<Word> = words.iter().filter(|word| !word.any(&["new", "current", "main"])).cloned().collect();
    // "Log retention on our side".
    if words.len() > 3 && words[words.len() - 1].any(&["side", "end"]) && words[words.len() - 3].is("on") {
        words.truncate(words.len() - 3);
    }
    let words = words.as_slice();
    let last = words.last()?;
    let attribute = within(lexicon::ATTRIBUTES, &last.lower) || within(lexicon::EVENTS, &last.lower);
    let favourite = words.iter().position(|word| {
        word.any(&["favourite", "favorite", "fave", "preferred", "native", "primary", "go-to"])
            || word.is("first") && words.last().is_some_and(|last| last.is("language"))
    });
    let whose = |words: &[Word]| {
        let text = fold(words);
        text.strip_suffix("'s").map_or_else(|| text.clone(), str::to_owned)
    };
    // "The deadline for Project Atlas".
    let chosen = words.windows(2).position(|two| two[0].is("of") && two[1].is("choice"));
    if let Some(joint) = words.iter().position(|word| word.any(&["for", "of"])).filter(|_| chosen.is_none()) {
        let head = &words[..joint];
        let known = head
            .last()
            .is_some_and(|word| within(lexicon::ATTRIBUTES, &word.lower) || within(lexicon::EVENTS, &word.lower));
        return known.then(|| (whose(&words[joint + 1..]), fold(&head[head.len() - 1..])));
    }
    let owner = words.iter().rposition(|word| word.owner() || word.any(&["my", "our"]));
    if let Some(favourite) = favourite {
        let whose = owner.map_or_else(|| "user".to_owned(), |owner| whose(&words[..=owner]));
        let named =
            fold(&words[favourite..]).replace("go-to ", "favourite ").replace("first language", "native language");
        let named = named.replace("primary language", "language");
        return Some((whose, if named == "preferred name" { "name".to_owned() } else { named }));
    }
    if let (Some(chosen), Some(owner)) = (chosen, owner) {
        return Some((whose(&words[..=owner]), format!("favourite {}", fold(&words[owner + 1..chosen]))));
    }
    match owner {
        Some(owner) if words.len() == owner + 3 && words[owner + 1].is("phone") => {
            Some((whose(&words[..=owner]), "phone number".to_owned()))
        }
        Some(owner) if attribute => {
            let middle = &words[owner + 1..words.len() - 1];
            let named = fold(std::slice::from_ref(last));
            if middle.is_empty() {
                Some((whose(&words[..=owner]), named))
            } else {
                Some((fold(&words[..words.len() - 1]), named))
            }
        }
        Some(owner) if owner + 1 < words.len() => {
            let role = fold(&words[owner + 1..]);
            let person = words[owner + 1..]
                .iter()
                .any(|word| within(lexicon::RELATIONS, &word.lower) || within(lexicon::ROLES, &word.lower));
            let named = rest.first().is_some_and(|word| word.capital() && word.shape == Shape::Word);
            (person && named).then(|| (whose(&words[..=owner]), role))
        }
        None if attribute && words.iter().filter(|word| !word.any(&["the", "a"])).count() > 1 => {
            Some((subject_of(&words[..words.len() - 1]), fold(std::slice::from_ref(last))))
        }
        None if attribute => {
            let named = fold(std::slice::from_ref(last));
            let own = matches!(
                named.as_str(),
                "name"
                    | "email"
                    | "birthday"
                    | "age"
                    | "pronouns"
                    | "timezone"
                    | "address"
                    | "phone"
                    | "job"
                    | "employer"
            ) && !words[0].is("the");
            Some((if own { "user".to_owned() } else { named.clone() }, if own { named } else { "is".to_owned() }))
        }
        _ => None,
    }
}
