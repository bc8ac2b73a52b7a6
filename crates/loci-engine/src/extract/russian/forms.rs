//! Which form does a Russian word take when someone else tells it?

use super::super::lexicon::one_of;

/// A case of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Genitive,
    Dative,
}

/// A name in a case, as far as its ending tells.
pub(super) fn declined(name: &str, case: Case) -> String {
    if name == "Пользователь" {
        return if case == Case::Genitive {
            "пользователя".to_owned()
        } else {
            "пользователю".to_owned()
        };
    }
    let Some(last) = name.chars().next_back().filter(|last| ('а'..='я').contains(last)) else {
        return name.to_owned();
    };
    let stem = &name[..name.len() - last.len_utf8()];
    let hushed = stem.ends_with(['г', 'к', 'х', 'ж', 'ч', 'ш', 'щ']);
    match (last, case) {
        ('а', Case::Genitive) if hushed => format!("{stem}и"),
        ('а', Case::Genitive) => format!("{stem}ы"),
        ('а', Case::Dative) => format!("{stem}е"),
        ('я', Case::Genitive) => format!("{stem}и"),
        ('я', Case::Dative) if stem.ends_with('и') => format!("{stem}и"),
        ('я', Case::Dative) => format!("{stem}е"),
        ('й' | 'ь', Case::Genitive) => format!("{stem}я"),
        ('й' | 'ь', Case::Dative) => format!("{stem}ю"),
        ('о' | 'е' | 'у' | 'ы' | 'и' | 'э' | 'ю', _) => name.to_owned(),
        (_, Case::Genitive) => format!("{name}а"),
        (_, Case::Dative) => format!("{name}у"),
    }
}

/// First person, third person, and what the verb speaks of.
const VERBS: &[(&str, &str, &str)] = &[
    ("живу", "живёт", "self"),
    ("работаю", "работает", "self"),
    ("люблю", "любит", "preference"),
    ("обожаю", "обожает", "preference"),
    ("ненавижу", "ненавидит", "preference"),
    ("предпочитаю", "предпочитает", "preference"),
    ("использую", "использует", "self"),
    ("пользуюсь", "пользуется", "self"),
    ("учу", "учит", "self"),
    ("учусь", "учится", "self"),
    ("изучаю", "изучает", "self"),
    ("преподаю", "преподаёт", "self"),
    ("говорю", "говорит", "self"),
    ("курю", "курит", "self"),
    ("пью", "пьёт", "self"),
    ("ем", "ест", "self"),
    ("играю", "играет", "self"),
    ("занимаюсь", "занимается", "self"),
    ("бегаю", "бегает", "self"),
    ("плаваю", "плавает", "self"),
    ("веду", "ведёт", "self"),
    ("руковожу", "руководит", "self"),
    ("отвечаю", "отвечает", "self"),
    ("пишу", "пишет", "self"),
    ("программирую", "программирует", "self"),
    ("разрабатываю", "разрабатывает", "self"),
    ("езжу", "ездит", "self"),
    ("вожу", "водит", "self"),
    ("хожу", "ходит", "self"),
    ("снимаю", "снимает", "self"),
    ("планирую", "планирует", "goal"),
    ("собираюсь", "собирается", "goal"),
    ("хочу", "хочет", "goal"),
    ("мечтаю", "мечтает", "goal"),
    ("переезжаю", "переезжает", "change"),
    ("увольняюсь", "увольняется", "change"),
    ("женюсь", "женится", "change"),
    ("должен", "должен", "task"),
    ("должна", "должна", "task"),
    ("знаю", "знает", "self"),
    ("владею", "владеет", "self"),
    ("болею", "болеет", "self"),
    ("принимаю", "принимает", "self"),
    ("коллекционирую", "коллекционирует", "self"),
    ("готовлю", "готовит", "self"),
    ("служу", "служит", "self"),
    ("встаю", "встаёт", "self"),
    ("держу", "держит", "self"),
    ("терплю", "терпит", "preference"),
    ("переношу", "переносит", "self"),
];

/// The third person of a verb, and what it speaks of.
pub(super) fn third_of(lower: &str) -> Option<(&'static str, &'static str)> {
    VERBS.iter().find(|(first, ..)| *first == lower).map(|(_, third, pattern)| (*third, *pattern))
}

const WE: &[(&str, &str)] = &[
    ("используем", "использует"),
    ("работаем", "работает"),
    ("живем", "живёт"),
    ("деплоим", "деплоит"),
    ("храним", "хранит"),
    ("пишем", "пишет"),
    ("выпускаем", "выпускает"),
    ("тестируем", "тестирует"),
    ("разрабатываем", "разрабатывает"),
    ("делаем", "делает"),
    ("предпочитаем", "предпочитает"),
    ("планируем", "планирует"),
    ("собираем", "собирает"),
    ("релизим", "релизит"),
    ("встречаемся", "встречается"),
    ("созваниваемся", "созванивается"),
];

/// The third person of what "мы" do.
pub(super) fn third_of_we(lower: &str) -> Option<&'static str> {
    WE.iter().find(|(first, _)| *first == lower).map(|(_, third)| *third)
}

/// Stems of the past tense, with pattern, kind and confidence.
const PAST: &[(&str, &str, &str, f64)] = &[
    ("переехал", "change", "fact", 0.95),
    ("переш", "change", "fact", 0.9),
    ("решил", "decision", "decision", 0.9),
    ("выбрал", "decision", "decision", 0.85),
    ("договорил", "decision", "decision", 0.85),
    ("бросил", "change", "fact", 0.9),
    ("купил", "change", "fact", 0.75),
    ("устроил", "change", "fact", 0.85),
    ("уволил", "change", "fact", 0.85),
    ("женил", "change", "fact", 0.9),
    ("родил", "self", "fact", 0.95),
    ("вырос", "self", "fact", 0.9),
    ("сменил", "change", "fact", 0.85),
    ("закончил", "task", "task", 0.7),
    ("обновил", "task", "task", 0.75),
    ("починил", "task", "task", 0.75),
    ("исправил", "task", "task", 0.75),
    ("задеплоил", "task", "task", 0.8),
    ("выкатил", "task", "task", 0.8),
    ("запустил", "task", "task", 0.75),
    ("мигрировал", "change", "fact", 0.85),
    ("переименовал", "change", "fact", 0.85),
    ("завел", "change", "fact", 0.75),
    ("начал", "change", "fact", 0.75),
    ("оплатил", "task", "task", 0.75),
    ("отказал", "decision", "decision", 0.7),
    ("увеличил", "change", "fact", 0.8),
];

/// What a verb in the past tells: pattern, kind, confidence.
pub(super) fn past_of(lower: &str) -> Option<(&'static str, &'static str, f64)> {
    let past = ["л", "ла", "ли", "лся", "лась", "лись", "ел", "рос", "росла"].iter().any(|end| lower.ends_with(end));
    PAST.iter()
        .find(|(stem, ..)| past && lower.starts_with(stem))
        .map(|(_, pattern, kind, sure)| (*pattern, *kind, *sure))
}

/// The past of what "мы" did, told of one team: "решили" is "решила".
pub(super) fn plural_past(lower: &str) -> Option<(String, &'static str, &'static str)> {
    let (pattern, kind, _) = past_of(lower)?;
    let told = match () {
        () if lower.ends_with("лись") => format!("{}лась", lower.strip_suffix("лись")?),
        () if lower.ends_with("ли") => format!("{}ла", lower.strip_suffix("ли")?),
        () => return None,
    };
    Some((told, pattern, kind))
}

/// "Мой" in the mouth of another, where the one it belongs to is the subject.
pub(super) fn own(lower: &str) -> Option<&'static str> {
    Some(match lower {
        "мой" | "наш" => "свой",
        "моя" | "наша" => "своя",
        "мое" | "наше" => "своё",
        "мои" | "наши" => "свои",
        "моего" | "нашего" => "своего",
        "моей" | "нашей" => "своей",
        "моему" | "нашему" => "своему",
        "моим" | "нашим" => "своим",
        "моих" | "наших" => "своих",
        "мою" | "нашу" => "свою",
        "моем" | "нашем" => "своём",
        "моими" | "нашими" => "своими",
        _ => return None,
    })
}

const PRONOUNS: &str = "я меня мне мной мы нас нам нами ты тебя тебе тобой вы вас вам он его ему им ним него нему \
    она ее ей ней оно они их них ими ними это этого этому этом этот эта эти этой эту твой твоя ваш ваша здесь тут \
    там туда";

/// Whether a word stands for something that is not named.
pub(super) fn is_pronoun(lower: &str) -> bool {
    one_of(PRONOUNS, lower)
}

const THIRD: &str = "имеет запускается закрывается открывается стоит находится хранится называется зовут \
    принадлежит слушает начинается заканчивается длится весит болеет замужем женат поддерживает требует переехал \
    переехала уволился уволилась родился родилась умер умерла истекает проходит управляет проверяет одобряет \
    состоит занимает";

/// Whether a word is a verb of the third person that says something lasting.
pub(super) fn is_third(lower: &str) -> bool {
    one_of(THIRD, lower)
        || VERBS.iter().any(|(_, third, _)| third.replace('ё', "е") == lower)
        || WE.iter().any(|(_, third)| third.replace('ё', "е") == lower)
}

/// Whether a verb tells of someone rather than of something.
pub(super) fn is_personal(lower: &str) -> bool {
    VERBS.iter().any(|(_, third, _)| third.replace('ё', "е") == lower)
        || one_of("замужем женат уволился уволилась родился родилась умер умерла переехал переехала", lower)
}

/// Whether a word is a relation: "сестра", "начальник".
pub(super) fn is_relation(lower: &str) -> bool {
    [
        "сестр",
        "брат",
        "мам",
        "мать",
        "пап",
        "отец",
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
        "родител",
        "дети",
        "ребен",
        "племян",
    ]
    .iter()
    .any(|stem| lower.starts_with(stem))
}

/// Whether a word says what someone is.
pub(super) fn is_role(lower: &str) -> bool {
    [
        "программист",
        "разработчи",
        "инженер",
        "дизайнер",
        "врач",
        "медсестр",
        "учител",
        "юрист",
        "бухгалтер",
        "архитектор",
        "аналитик",
        "студент",
        "писател",
        "журналист",
        "художни",
        "музыкант",
        "повар",
        "пилот",
        "водител",
        "менеджер",
        "директор",
        "тестировщи",
        "веган",
        "вегетариан",
        "психолог",
        "переводчи",
        "преподавател",
        "фрилансер",
        "предпринимател",
        "физик",
        "биолог",
        "математик",
        "химик",
        "историк",
        "пенсионер",
        "левша",
        "девопс",
        "админ",
        "тимлид",
        "продакт",
        "маркетолог",
        "стоматолог",
        "ветеринар",
        "фотограф",
        "редактор",
    ]
    .iter()
    .any(|stem| lower.starts_with(stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_take_the_form_of_the_third_person() {
        for (name, genitive, dative) in [
            ("Пользователь", "пользователя", "пользователю"),
            ("Анна", "Анны", "Анне"),
            ("Мария", "Марии", "Марии"),
            ("Иван", "Ивана", "Ивану"),
            ("Ольга", "Ольги", "Ольге"),
            ("Андрей", "Андрея", "Андрею"),
            ("Ana", "Ana", "Ana"),
        ] {
            assert_eq!(declined(name, Case::Genitive), genitive);
            assert_eq!(declined(name, Case::Dative), dative);
        }
        assert_eq!(third_of("живу"), Some(("живёт", "self")));
        assert_eq!(third_of("бормочу"), None);
        assert_eq!(plural_past("решили").unwrap().0, "решила");
        assert_eq!(plural_past("договорились").unwrap().0, "договорилась");
        assert_eq!(plural_past("перешли").unwrap().0, "перешла");
    }
}
