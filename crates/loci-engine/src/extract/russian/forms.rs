//! Which form does a Russian word take when someone else tells it?

use super::super::word::Word;

/// A case of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Genitive,
    Dative,
    Instrumental,
}

/// A name in a case, as far as its ending tells.
pub(super) fn declined(name: &str, case: Case) -> String {
    if name == "Пользователь" {
        return match case {
            Case::Genitive => "пользователя".to_owned(),
            Case::Dative => "пользователю".to_owned(),
            Case::Instrumental => "пользователем".to_owned(),
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
        ('а', Case::Instrumental) => format!("{stem}ой"),
        ('я', Case::Instrumental) => format!("{stem}ей"),
        ('й' | 'ь', Case::Instrumental) => format!("{stem}ем"),
        ('я', Case::Genitive) => format!("{stem}и"),
        ('я', Case::Dative) if stem.ends_with('и') => format!("{stem}и"),
        ('я', Case::Dative) => format!("{stem}е"),
        ('й' | 'ь', Case::Genitive) => format!("{stem}я"),
        ('й' | 'ь', Case::Dative) => format!("{stem}ю"),
        ('о' | 'е' | 'у' | 'ы' | 'и' | 'э' | 'ю', _) => name.to_owned(),
        (_, Case::Genitive) => format!("{name}а"),
        (_, Case::Dative) => format!("{name}у"),
        (_, Case::Instrumental) => format!("{name}ом"),
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
    ("переношу", "переносит", "preference"),
    ("выношу", "выносит", "preference"),
    ("увлекаюсь", "увлекается", "preference"),
    ("боюсь", "боится", "self"),
    ("читаю", "читает", "habit"),
    ("смотрю", "смотрит", "habit"),
    ("слушаю", "слушает", "habit"),
    ("гуляю", "гуляет", "habit"),
    ("тренируюсь", "тренируется", "habit"),
    ("медитирую", "медитирует", "habit"),
    ("танцую", "танцует", "self"),
    ("рисую", "рисует", "self"),
    ("пою", "поёт", "self"),
    ("вяжу", "вяжет", "self"),
    ("шью", "шьёт", "self"),
    ("пеку", "печёт", "habit"),
    ("варю", "варит", "habit"),
    ("катаюсь", "катается", "habit"),
    ("ложусь", "ложится", "habit"),
    ("просыпаюсь", "просыпается", "habit"),
    ("завтракаю", "завтракает", "habit"),
    ("обедаю", "обедает", "habit"),
    ("ужинаю", "ужинает", "habit"),
    ("созваниваюсь", "созванивается", "habit"),
    ("помогаю", "помогает", "habit"),
    ("посещаю", "посещает", "self"),
    ("выращиваю", "выращивает", "self"),
    ("воспитываю", "воспитывает", "self"),
    ("ношу", "носит", "self"),
    ("зарабатываю", "зарабатывает", "self"),
    ("избегаю", "избегает", "self"),
    ("соблюдаю", "соблюдает", "self"),
    ("стажируюсь", "стажируется", "self"),
    ("дежурю", "дежурит", "self"),
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
    ("снимаем", "снимает"),
    ("ездим", "ездит"),
    ("ходим", "ходит"),
    ("отмечаем", "отмечает"),
    ("празднуем", "празднует"),
    ("выращиваем", "выращивает"),
];

/// Whether "мы" who do this are a family rather than a team.
pub(super) fn is_home(lower: &str) -> bool {
    matches!(lower, "живем" | "снимаем" | "ездим" | "ходим" | "отмечаем" | "празднуем" | "выращиваем")
}

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
    ("записал", "change", "fact", 0.75),
    ("поступил", "change", "fact", 0.85),
    ("завязал", "change", "fact", 0.8),
    ("развел", "change", "fact", 0.85),
    ("продал", "change", "fact", 0.75),
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

const PRONOUNS: &[&str] = &[
    "я",
    "меня",
    "мне",
    "мной",
    "мы",
    "нас",
    "нам",
    "нами",
    "ты",
    "тебя",
    "тебе",
    "тобой",
    "вы",
    "вас",
    "вам",
    "он",
    "его",
    "ему",
    "им",
    "ним",
    "него",
    "нему",
    "она",
    "ее",
    "ей",
    "ней",
    "оно",
    "они",
    "их",
    "них",
    "ими",
    "ними",
    "это",
    "этого",
    "этому",
    "этом",
    "этот",
    "эта",
    "эти",
    "этой",
    "эту",
    "твой",
    "твоя",
    "ваш",
    "ваша",
    "здесь",
    "тут",
    "там",
    "туда",
];

/// Whether a word stands for something that is not named.
pub(super) fn is_pronoun(lower: &str) -> bool {
    PRONOUNS.contains(&lower)
}

const THIRD: &[&str] = &[
    "имеет",
    "запускается",
    "закрывается",
    "открывается",
    "стоит",
    "находится",
    "хранится",
    "называется",
    "зовут",
    "принадлежит",
    "слушает",
    "начинается",
    "заканчивается",
    "длится",
    "весит",
    "болеет",
    "замужем",
    "женат",
    "поддерживает",
    "требует",
    "переехал",
    "переехала",
    "уволился",
    "уволилась",
    "родился",
    "родилась",
    "умер",
    "умерла",
    "истекает",
    "проходит",
    "управляет",
    "проверяет",
    "одобряет",
    "состоит",
    "занимает",
    "поступил",
    "поступила",
    "женился",
    "вышла",
    "развелся",
    "развелась",
    "устроился",
    "устроилась",
    "празднует",
];

/// Verbs of coming and going, which are worth a note with their day.
const COMING: &[&str] = &[
    "приедет",
    "приедут",
    "приезжает",
    "приезжают",
    "прилетит",
    "прилетят",
    "прилетает",
    "прилетают",
    "вернется",
    "возвращается",
    "уезжает",
    "уедет",
    "улетает",
    "улетит",
    "придет",
    "женится",
    "рожает",
    "выписывается",
];

/// Whether a verb of the third person tells what is over.
pub(super) fn is_past(lower: &str) -> bool {
    lower == "умер" || ["л", "ла", "лся", "лась", "ли", "лись"].iter().any(|end| lower.ends_with(end))
}

/// Whether a verb says that someone comes or goes.
pub(super) fn is_coming(lower: &str) -> bool {
    COMING.contains(&lower)
}

/// Whether a word is a verb of the third person that says something lasting.
pub(super) fn is_third(lower: &str) -> bool {
    THIRD.contains(&lower)
        || is_coming(lower)
        || VERBS.iter().any(|(_, third, _)| third.replace('ё', "е") == lower)
        || WE.iter().any(|(_, third)| third.replace('ё', "е") == lower)
}

/// Whether a verb tells of someone rather than of something.
pub(super) fn is_personal(lower: &str) -> bool {
    VERBS.iter().any(|(_, third, _)| third.replace('ё', "е") == lower)
        || matches!(
            lower,
            "замужем"
                | "женат"
                | "уволился"
                | "уволилась"
                | "родился"
                | "родилась"
                | "умер"
                | "умерла"
                | "переехал"
                | "переехала"
        )
}

/// Relations by blood, marriage and house.
const KIN: &[&str] = &[
    "сестра",
    "брат",
    "мама",
    "мать",
    "папа",
    "отец",
    "муж",
    "жена",
    "сын",
    "дочь",
    "дочка",
    "тетя",
    "дядя",
    "бабушка",
    "дедушка",
    "дед",
    "бабуля",
    "племянник",
    "племянница",
    "внук",
    "внучка",
    "свекровь",
    "свекор",
    "теща",
    "тесть",
    "невеста",
    "жених",
    "кузен",
    "кузина",
    "родители",
    "дети",
    "ребенок",
    "сестренка",
    "братик",
    "сестры",
    "братья",
    "кот",
    "кошка",
    "собака",
    "пес",
    "крестная",
    "крестный",
];

/// Other people one has.
const NEAR: &[&str] = &[
    "друг",
    "подруга",
    "подружка",
    "приятель",
    "приятельница",
    "коллега",
    "начальник",
    "начальница",
    "шеф",
    "босс",
    "менеджер",
    "партнер",
    "партнерша",
    "сосед",
    "соседка",
    "врач",
    "парень",
    "девушка",
    "однокурсник",
    "однокурсница",
    "одноклассник",
    "одноклассница",
    "няня",
    "учитель",
    "учительница",
    "тренер",
    "стоматолог",
    "парикмахер",
    "напарник",
    "напарница",
    "репетитор",
    "тимлид",
];

/// Whether a word is a relation: "сестра", "начальник".
pub(super) fn is_relation(lower: &str) -> bool {
    is_kin(lower) || NEAR.contains(&lower)
}

/// Whether a word is a relation that one has without saying whose.
pub(super) fn is_kin(lower: &str) -> bool {
    KIN.contains(&lower)
}

/// Whether a word looks like an adjective of the first case.
pub(super) fn is_adjective(lower: &str) -> bool {
    ["ый", "ий", "ой", "ая", "яя", "ое", "ее", "ые", "ие"].iter().any(|end| lower.ends_with(end)) && !is_pronoun(lower)
}

/// Whether a word says that something is the speaker's.
pub(super) fn is_mine(lower: &str) -> bool {
    own(lower).is_some()
}

/// The case in which a word names the speaker: "к нам", "у меня".
pub(super) fn speaker_case(lower: &str) -> Option<Case> {
    Some(match lower {
        "меня" | "нас" => Case::Genitive,
        "мне" | "нам" => Case::Dative,
        "мной" | "мною" | "нами" => Case::Instrumental,
        _ => return None,
    })
}

/// Whether a thing is one's own without saying so: "номер квартиры".
pub(super) fn is_home_thing(lower: &str) -> bool {
    [
        "квартир",
        "дом",
        "телефон",
        "паспорт",
        "полис",
        "подъезд",
        "домофон",
        "обув",
        "одежд",
        "счет",
        "карт",
        "машин",
        "этаж",
    ]
    .iter()
    .any(|stem| lower.starts_with(stem))
}

/// Numbers in words, in the cases that people use them in.
const NUMERALS: &[(&str, u8)] = &[
    ("один одна одного одной", 1),
    ("два две двое двух", 2),
    ("три трое трех", 3),
    ("четыре четверо четырех", 4),
    ("пять пятеро пяти", 5),
    ("шесть шести", 6),
    ("семь семи", 7),
    ("восемь восьми", 8),
    ("девять девяти", 9),
    ("десять десяти", 10),
    ("одиннадцать одиннадцати", 11),
    ("двенадцать двенадцати", 12),
    ("тринадцать тринадцати", 13),
    ("четырнадцать четырнадцати", 14),
    ("пятнадцать пятнадцати", 15),
    ("шестнадцать шестнадцати", 16),
    ("семнадцать семнадцати", 17),
    ("восемнадцать восемнадцати", 18),
    ("девятнадцать девятнадцати", 19),
    ("двадцать двадцати", 20),
    ("тридцать тридцати", 30),
    ("сорок сорока", 40),
    ("пятьдесят пятидесяти", 50),
    ("шестьдесят шестидесяти", 60),
    ("семьдесят семидесяти", 70),
    ("восемьдесят восьмидесяти", 80),
    ("девяносто девяноста", 90),
];

/// The number that a word names.
pub(super) fn numeral(lower: &str) -> Option<u8> {
    NUMERALS.iter().find(|(forms, _)| forms.split(' ').any(|form| form == lower)).map(|(_, number)| *number)
}

/// The number that words name from their start on: "шестьдесят три" is 63.
pub(super) fn number(words: &[Word]) -> Option<String> {
    let first = numeral(&words.first()?.lower)?;
    let second = words.get(1).and_then(|word| numeral(&word.lower)).filter(|second| first >= 20 && *second < 10);
    Some((first + second.unwrap_or(0)).to_string())
}

/// What "мы" or "я" do, as one would say what is to be done: "печём" is "печь".
pub(super) fn infinitive(lower: &str) -> Option<String> {
    const ODD: &[(&str, &str)] = &[
        ("печем", "печь"),
        ("пеку", "печь"),
        ("варим", "варить"),
        ("варю", "варить"),
        ("готовлю", "готовить"),
        ("пьем", "пить"),
        ("едим", "есть"),
        ("пишем", "писать"),
        ("выпускаем", "выпускать"),
        ("чистим", "чистить"),
        ("моем", "мыть"),
        ("жарю", "жарить"),
        ("солю", "солить"),
        ("завожу", "заводить"),
        ("завариваю", "заваривать"),
    ];
    if let Some((_, verb)) = ODD.iter().find(|(form, _)| *form == lower) {
        return Some((*verb).to_owned());
    }
    let endings = [
        ("уем", "овать"),
        ("ую", "овать"),
        ("аем", "ать"),
        ("аю", "ать"),
        ("яем", "ять"),
        ("яю", "ять"),
        ("еем", "еть"),
        ("им", "ить"),
    ];
    let (stem, ending) = endings.iter().find_map(|(end, verb)| Some((lower.strip_suffix(end)?, verb)))?;
    (stem.chars().count() >= 3).then(|| format!("{stem}{ending}"))
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
