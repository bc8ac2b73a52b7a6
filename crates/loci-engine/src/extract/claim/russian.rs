//! What does a Russian statement say about what?
//!
//! Values stand in many cases, so they are compared by their stems.

use std::sync::LazyLock;

use loci_store::text::Analyser;

use super::super::word::{Shape, Word, words};
use super::Claim;

mod habit;

static STEMS: LazyLock<Analyser> = LazyLock::new(Analyser::default);

/// The claim of a Russian sentence.
pub(super) fn claim(text: &str) -> Option<Claim> {
    let words: Vec<Word> = super::unbracketed(words(text)).into_iter().filter(|word| !word.any(&[".", "!"])).collect();
    relation(&words)
        .or_else(|| dative(&words))
        .or_else(|| having(&words))
        .or_else(|| dashed(&words))
        .or_else(|| verbal(&words))
}

/// The words by their stems, up to where something else begins.
fn value(words: &[Word]) -> String {
    let end = words
        .iter()
        .position(|word| {
            word.shape == Shape::Mark && !word.is("-")
                || word.any(&[
                    "и",
                    "а",
                    "но",
                    "с",
                    "со",
                    "потому",
                    "чтобы",
                    "на",
                    "в",
                    "во",
                    "по",
                    "из",
                    "как",
                    "каждый",
                    "каждую",
                    "каждое",
                    "к",
                ])
        })
        .filter(|end| *end > 0)
        .unwrap_or(words.len());
    stems(&words[..end])
}

fn stems(words: &[Word]) -> String {
    let stems: Vec<String> = words.iter().filter(|word| word.speaks()).map(stem).collect();
    stems.join(" ")
}

/// A Russian word by its stem, any other as it is.
fn stem(word: &Word) -> String {
    let russian = word.lower.starts_with(|c: char| ('а'..='я').contains(&c));
    if russian { STEMS.stem(&word.lower) } else { word.lower.clone() }
}

/// Who it is about: the words as they are, the user in any case as one.
fn subject(words: &[Word]) -> String {
    // "Сестра пользователя Марта" is known by her name, and is someone of the user's.
    let named = |last: &&Word| last.capital() && words.len() > 2 && !words[0].lower.starts_with("любим");
    let user = |word: &Word| word.lower.starts_with("пользовател");
    let whose = words.len().checked_sub(2).map(|at| &words[at]).filter(|word| word.capital() || user(word));
    if let (Some(last), Some(whose)) = (words.last().filter(named), whose) {
        let owner = if user(whose) { "пользователь" } else { whose.lower.as_str() };
        return format!("{owner}'s {}", last.lower);
    }
    if let [one] = words
        && one.capital()
        && !one.lower.starts_with("пользовател")
    {
        return one.lower.clone();
    }
    let named: Vec<String> = words
        .iter()
        .filter(|word| word.speaks())
        .map(|word| {
            if word.lower.starts_with("пользовател") || word.any(&["я", "меня", "мне", "мой", "моя"])
            {
                "пользователь".to_owned()
            } else {
                stem(word)
            }
        })
        .collect();
    named.join(" ")
}

fn make(subject: String, attribute: &str, value: String, negated: bool, single: bool) -> Option<Claim> {
    Some(Claim { subject, attribute: attribute.to_owned(), value, negated, single })
}

/// "Пользователя зовут Ана", "имя пользователя — Ана".
fn relation(words: &[Word]) -> Option<Claim> {
    let called = words.iter().position(|word| word.is("зовут"))?;
    make(subject(&words[..called]), "name", words.get(called + 1)?.lower.clone(), false, true)
}

/// "Пользователю 34 года", "пользователю нравится чай".
fn dative(words: &[Word]) -> Option<Claim> {
    let verb = words.iter().take(6).position(|word| word.any(&["нравится", "нравятся", "лет", "год", "года"]))?;
    let negated = words[..verb].iter().any(|word| word.is("не"));
    let end = words[..verb]
        .iter()
        .position(|word| word.any(&["не", "очень", "больше", "уже", "исполнилось"]) || word.shape == Shape::Number)
        .unwrap_or(verb);
    if words[verb].lower.starts_with("нрав") {
        return make(subject(&words[..end]), "likes", value(&words[verb + 1..]), negated, false);
    }
    let age = words.get(verb.checked_sub(1)?).filter(|word| word.shape == Shape::Number)?;
    make(subject(&words[..end]), "age", age.lower.clone(), negated, true)
}

/// "У пользователя есть кот", "у пользователя аллергия на орехи".
fn having(words: &[Word]) -> Option<Claim> {
    if !words.first()?.is("у") {
        return None;
    }
    let start = words.iter().position(|word| {
        word.any(&["есть", "нет", "аллергия"])
            || word.shape == Shape::Number
            || COUNTS.iter().any(|(count, _)| word.is(count))
    })?;
    let who = subject(&words[1..start]);
    if words[start].is("аллергия") {
        return make(who, "allergic to", value(words.get(start + 2..)?), false, false);
    }
    let negated = words[start].is("нет");
    let rest = if words[start].any(&["есть", "нет"]) { &words[start + 1..] } else { &words[start..] };
    let first = rest.first()?;
    let count = COUNTS
        .iter()
        .find(|(count, _)| first.is(count))
        .map(|(_, digit)| (*digit).to_owned())
        .or_else(|| (first.shape == Shape::Number).then(|| first.lower.clone()));
    match count {
        Some(count) => make(who, &format!("count of {}", stems(rest.get(1..2)?)), count, negated, true),
        None => make(who, "has", value(rest), negated, false),
    }
}

const COUNTS: &[(&str, &str)] = &[
    ("один", "1"),
    ("одна", "1"),
    ("два", "2"),
    ("две", "2"),
    ("двое", "2"),
    ("три", "3"),
    ("трое", "3"),
    ("четыре", "4"),
    ("пять", "5"),
    ("шесть", "6"),
    ("семь", "7"),
    ("восемь", "8"),
    ("девять", "9"),
    ("десять", "10"),
];

/// "Порт API — 8080", "любимый цвет пользователя — зелёный", "Боб — менеджер пользователя".
fn dashed(words: &[Word]) -> Option<Claim> {
    let dash = words.iter().position(|word| word.any(&["—", "–"]) || word.is("-") && !word.glued)?;
    let (left, right) = (&words[..dash], &words[dash + 1..]);
    let first = left.first()?;
    let named = |list: &[&str]| list.iter().any(|stem| first.lower.starts_with(stem));
    let rest = subject(left.get(1..)?);
    if first.lower.starts_with("любим") && left.len() > 1 {
        return make(subject(left.get(2..)?), &format!("favourite {}", stems(&left[1..2])), value(right), false, true);
    }
    if named(&["номер", "код", "пароль", "этаж", "размер", "пин"]) {
        let (of, owner) = match left.get(1) {
            Some(noun) if !noun.capital() && !noun.lower.starts_with("пользовател") => {
                (stem(noun), left.get(2..)?)
            }
            _ => (String::new(), left.get(1..)?),
        };
        let about = if owner.is_empty() { stems(left) } else { subject(owner) };
        let label = if named(&["номер"]) { "number".to_owned() } else { stem(first) };
        let attribute = format!("{label} of {of}");
        return make(about, attribute.trim_end_matches(" of "), stems(right), false, true);
    }
    if named(&[
        "порт",
        "дедлайн",
        "срок",
        "адрес",
        "имя",
        "почта",
        "версия",
        "статус",
        "язык",
        "день",
        "возраст",
        "телефон",
        "город",
        "цвет",
    ]) {
        let attribute = match () {
            () if named(&["порт"]) => "port",
            () if named(&["дедлайн", "срок"]) => "deadline",
            () if named(&["имя"]) => "name",
            () if named(&["почта"]) => "email",
            () if named(&["версия"]) => "version",
            () if named(&["статус"]) => "status",
            () if named(&["язык"]) => "language",
            () if named(&["день"]) => "birthday",
            () if named(&["возраст"]) => "age",
            () if named(&["город"]) => "city",
            () => "is",
        };
        let about = if attribute == "birthday" { subject(left.get(2..)?) } else { rest };
        let about = if about.is_empty() { subject(left) } else { about };
        return make(
            about,
            attribute,
            right.iter().map(|word| word.lower.as_str()).collect::<Vec<_>>().join(" "),
            false,
            true,
        );
    }
    make(subject(left), "is", value(right), right.first().is_some_and(|word| word.is("не")), false)
}

/// Verbs with the side that they speak of, and whether there is one value at a time.
const VERBS: &[(&str, &str, &str, bool)] = &[
    ("живет", "в", "city", true),
    ("переехал", "в", "city", true),
    ("переехала", "в", "city", true),
    ("переезжает", "в", "city", true),
    ("работает", "в", "employer", true),
    ("работает", "кем", "job", true),
    ("устроился", "в", "employer", true),
    ("устроилась", "в", "employer", true),
    ("любит", "", "likes", false),
    ("обожает", "", "likes", false),
    ("использует", "", "uses", false),
    ("говорит", "на", "speaks", false),
    ("знает", "", "knows", false),
    ("пьет", "", "drinks", false),
    ("ест", "", "eats", false),
    ("читает", "", "reads", false),
    ("слушает", "", "listens to", false),
    ("увлекается", "", "likes", false),
    ("изучает", "", "studies", false),
    ("ходит", "на", "goes to", false),
    ("ходит", "в", "goes to", false),
    ("занимается", "", "does", false),
    ("боится", "", "fears", false),
    ("бегает", "", "runs", false),
    ("учит", "", "studies", false),
    ("хочет", "", "goal", false),
    ("планирует", "", "goal", false),
    ("родом", "из", "origin", true),
    ("родился", "в", "birthplace", true),
    ("родилась", "в", "birthplace", true),
    ("играет", "в", "plays", false),
    ("играет", "на", "plays", false),
    ("перешла", "на", "uses", false),
    ("перешел", "на", "uses", false),
];

/// Words that say that someone cannot stand what follows, with "не" before them.
const LOATHES: &[&str] = &["переносит", "выносит", "терпит"];

fn verbal(words: &[Word]) -> Option<Claim> {
    const OTHER: &[&str] = &["ненавидит", "предпочитает", "курит", "имеет", "бросил", "бросила"];
    let loathes = |place: usize| {
        let denied = place.checked_sub(1).is_some_and(|before| words[before].is("не"));
        denied
            && (LOATHES.contains(&words[place].lower.as_str())
                || place > 1 && words[place].is("может") && words[place - 2].is("терпеть"))
    };
    let place = words.iter().take(12).enumerate().position(|(place, word)| {
        VERBS.iter().any(|(verb, ..)| word.is(verb)) || word.any(OTHER) || habit::tells(word) || loathes(place)
    })?;
    let before = &words[..place];
    let negated = before.iter().any(|word| word.is("не"));
    let end = before.iter().position(|word| word.any(BEHIND)).filter(|end| *end > 0).unwrap_or(place);
    let who = subject(&before[..end]);
    let verb = words[place].lower.as_str();
    let rest = &words[place + 1..];
    if loathes(place) {
        return make(who, "likes", value(rest), true, false);
    }
    if let Some((attribute, value)) = habit::claim(&before[end..], &words[place], rest) {
        return make(who, &attribute, value, negated, true);
    }
    match verb {
        "ненавидит" => return make(who, "likes", value(rest), !negated, false),
        "курит" => return make(who, "does", "кур".to_owned(), negated, false),
        "имеет" => {
            let count = rest.first().filter(|word| word.shape == Shape::Number)?;
            return make(who, &format!("count of {}", stems(rest.get(1..2)?)), count.lower.clone(), negated, true);
        }
        "бросил" | "бросила" => return make(who, "does", stem(rest.first()?), true, false),
        "работает" if rest.first().is_some_and(is_trade) => {
            return make(who, "job", value(rest), negated, true);
        }
        "перешла" | "перешел" => {
            let to = rest.iter().position(|word| word.is("на"))?;
            return make(who, "uses", value(rest.get(to + 1..)?), negated, false);
        }
        "предпочитает" => return make(who, "prefers", value(rest), negated, false),
        _ => {}
    }
    let leads = |preposition: &str| {
        preposition.is_empty()
            || rest.first().is_some_and(|word| word.is(preposition) || preposition == "в" && word.is("во"))
    };
    let (_, preposition, attribute, single) =
        VERBS.iter().find(|(known, preposition, ..)| *known == verb && leads(preposition))?;
    let rest = if preposition.is_empty() { rest } else { &rest[1..] };
    if *attribute == "birthplace" && !rest.first().is_some_and(Word::capital) {
        return None;
    }
    make(who, attribute, value(rest), negated, *single)
}

/// Words behind which nothing belongs to the subject any more.
const BEHIND: &[&str] = &[
    "не",
    "больше",
    "уже",
    "теперь",
    "очень",
    "сейчас",
    "каждый",
    "каждую",
    "каждое",
    "каждые",
    "по",
    "с",
    "со",
    "терпеть",
    "всегда",
    "обычно",
    "часто",
    "редко",
    "иногда",
    "никогда",
    "давно",
    "утром",
    "вечером",
    "днем",
    "ночью",
    "летом",
    "зимой",
    "раз",
    "почти",
    "совсем",
];

/// Whether a word says as what someone works: "хирургом".
fn is_trade(word: &Word) -> bool {
    ["ом", "ем", "ой", "ей"].iter().any(|end| word.lower.ends_with(end)) && word.lower.chars().count() > 4
}
