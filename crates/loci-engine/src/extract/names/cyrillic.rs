//! Which names are written in Cyrillic?
//!
//! Cases of the common shapes are folded to the first one, as far as the ending tells: "Марии" and
//! "Марию" are "Мария", after a preposition "Порту" stays. A name in another case that does not
//! tell is kept as it is written.

use loci_types::EntityType;

use super::super::word::{Shape, Word};

mod alias;

pub(super) use alias::join;
pub(in super::super) use alias::nickname;

/// What is named at a place in Cyrillic, and how many words it takes.
pub(super) fn at(words: &[Word], place: usize) -> (usize, Option<(String, EntityType)>) {
    let word = &words[place];
    if !word.capital() || COMMON.contains(&word.lower.as_str()) {
        return (1, None);
    }
    let lower = |at: usize| words.get(at).map_or("", |word| word.lower.as_str());
    let before = place.checked_sub(1).map_or("", lower);
    let two_before = place.checked_sub(2).map_or("", lower);
    let after = lower(place + 1);
    let kin = |lower: &str| RELATIONS.iter().any(|relation| lower.starts_with(relation));
    let more = words[place + 1..]
        .iter()
        .take(2)
        .take_while(|next| next.capital() && is_cyrillic(next) && !COMMON.contains(&next.lower.as_str()))
        .count();
    // "Сестра Аны Марта" begins with what she is, not with a name.
    if kin(&word.lower) && (place == 0 || words[place - 1].any(&[".", "!", "?"])) {
        return (1, None);
    }
    // "Бабушка Аны Антонина": the first is whose she is.
    let owner = more > 0 && kin(before) && nominative(&word.text) != word.text;
    let length = if owner { 1 } else { 1 + more };
    let starts = place == 0 || words[..place].iter().all(|word| word.shape == Shape::Mark);
    let owned = kin(two_before)
        && place.checked_sub(1).is_some_and(|at| words[at].capital() || before.starts_with("пользовател"));
    let related = kin(before) || owned;
    let called = before == "—"
        && words[..place]
            .iter()
            .take(3)
            .any(|word| word.is("имя") || RELATIONS.iter().any(|relation| word.lower.starts_with(relation)));
    let acts =
        called || PERSON_VERBS.contains(&after) || PERSON_VERBS.contains(&before) || after == "—" || before == "зовут";
    let text = |fold: bool| {
        let parts: Vec<String> = words[place..place + length]
            .iter()
            .map(|word| if fold { nominative(&word.text) } else { word.text.clone() })
            .collect();
        parts.join(" ")
    };
    let entity_type = match () {
        () if before == "проект" || before == "проекта" || before == "проекте" => {
            EntityType::Project
        }
        () if word.is("проект") && length > 1 => EntityType::Project,
        () if related || acts => EntityType::Person,
        () if starts => return (length, None),
        () if matches!(before, "в" | "во" | "из") && two_before.starts_with("работа") => {
            EntityType::Organization
        }
        () if matches!(before, "в" | "во" | "из") => EntityType::Place,
        () if two_before.starts_with("использу")
            || before.starts_with("использу")
            || before == "на" && two_before.starts_with("перешл") =>
        {
            EntityType::Tool
        }
        () if matches!(before, "с" | "со" | "у" | "от" | "для" | "к") => EntityType::Person,
        () => EntityType::Concept,
    };
    // Where a name stands first or after its relation it is in the first case already.
    let folded = entity_type == EntityType::Person && !starts;
    (length, Some((text(folded), entity_type)))
}

fn is_cyrillic(word: &Word) -> bool {
    word.shape == Shape::Word && word.lower.starts_with(|c: char| ('а'..='я').contains(&c))
}

/// The first case of a name, if its ending tells.
fn nominative(name: &str) -> String {
    for (ending, first) in [("ии", "ия"), ("ию", "ия"), ("ией", "ия"), ("иею", "ия")] {
        if let Some(stem) = name.strip_suffix(ending) {
            return format!("{stem}{first}");
        }
    }
    for ending in ["ой", "ою", "у", "ы"] {
        if let Some(stem) = name.strip_suffix(ending)
            && stem.chars().count() >= 2
            && stem.chars().next_back().is_some_and(|last| !"аеиоуыэюя".contains(last))
        {
            return format!("{stem}а");
        }
    }
    for ending in ["ом", "ем"] {
        if let Some(stem) = name.strip_suffix(ending)
            && stem.chars().count() >= 3
        {
            return if ending == "ом" { stem.to_owned() } else { format!("{stem}й") };
        }
    }
    name.to_owned()
}

const RELATIONS: &[&str] = &[
    "сестр",
    "брат",
    "мам",
    "пап",
    "муж",
    "жен",
    "сын",
    "доч",
    "друг",
    "подруг",
    "коллег",
    "начальни",
    "менеджер",
    "партнер",
    "тет",
    "дяд",
    "бабушк",
    "дедушк",
    "сосед",
    "врач",
    "кошк",
    "собак",
    "кот",
    "пес",
    "племянни",
    "внук",
    "внучк",
    "приятел",
    "тренер",
    "дед",
];
const PERSON_VERBS: &[&str] = &[
    "работает",
    "живет",
    "любит",
    "предпочитает",
    "сказал",
    "сказала",
    "говорит",
    "переехал",
    "переехала",
    "ведет",
    "отвечает",
    "зовут",
    "учится",
    "учит",
    "женился",
    "вышла",
    "знает",
    "родился",
    "родилась",
    "ненавидит",
    "хочет",
    "пришел",
    "пришла",
    "уволился",
    "уволилась",
    "приедет",
    "приезжает",
    "прилетает",
    "прилетит",
    "играет",
    "ходит",
];
const COMMON: &[&str] = &[
    "я",
    "мы",
    "ты",
    "вы",
    "он",
    "она",
    "они",
    "это",
    "мой",
    "моя",
    "мое",
    "мои",
    "наш",
    "наша",
    "наше",
    "наши",
    "у",
    "в",
    "на",
    "с",
    "и",
    "а",
    "но",
    "что",
    "как",
    "где",
    "когда",
    "кто",
    "почему",
    "привет",
    "спасибо",
    "да",
    "нет",
    "завтра",
    "вчера",
    "сегодня",
    "меня",
    "мне",
    "нам",
    "нас",
    "кстати",
    "запомни",
    "пользователь",
    "команда",
    "решили",
    "также",
    "еще",
    "теперь",
    "если",
    "дедлайн",
    "порт",
    "сервер",
    "кластер",
    "для",
    "по",
    "из",
    "за",
    "от",
    "до",
];
