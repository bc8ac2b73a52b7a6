//! Which Russian verbs are known, and how does someone else say them?

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
pub(in super::super) fn third_of(lower: &str) -> Option<(&'static str, &'static str)> {
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
pub(in super::super) fn is_home(lower: &str) -> bool {
    matches!(lower, "живем" | "снимаем" | "ездим" | "ходим" | "отмечаем" | "празднуем" | "выращиваем")
}

/// The third person of what "мы" do.
pub(in super::super) fn third_of_we(lower: &str) -> Option<&'static str> {
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
pub(in super::super) fn past_of(lower: &str) -> Option<(&'static str, &'static str, f64)> {
    let past = ["л", "ла", "ли", "лся", "лась", "лись", "ел", "рос", "росла"].iter().any(|end| lower.ends_with(end));
    PAST.iter()
        .find(|(stem, ..)| past && lower.starts_with(stem))
        .map(|(_, pattern, kind, sure)| (*pattern, *kind, *sure))
}

/// The past of what "мы" did, told of one team: "решили" is "решила".
pub(in super::super) fn plural_past(lower: &str) -> Option<(String, &'static str, &'static str)> {
    let (pattern, kind, _) = past_of(lower)?;
    let told = match () {
        () if lower.ends_with("лись") => format!("{}лась", lower.strip_suffix("лись")?),
        () if lower.ends_with("ли") => format!("{}ла", lower.strip_suffix("ли")?),
        () => return None,
    };
    Some((told, pattern, kind))
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
pub(in super::super) fn is_past(lower: &str) -> bool {
    lower == "умер" || ["л", "ла", "лся", "лась", "ли", "лись"].iter().any(|end| lower.ends_with(end))
}

/// Whether a verb says that someone comes or goes.
pub(in super::super) fn is_coming(lower: &str) -> bool {
    COMING.contains(&lower)
}

/// Whether a word is a verb of the third person that says something lasting.
pub(in super::super) fn is_third(lower: &str) -> bool {
    THIRD.contains(&lower)
        || is_coming(lower)
        || VERBS.iter().any(|(_, third, _)| third.replace('ё', "е") == lower)
        || WE.iter().any(|(_, third)| third.replace('ё', "е") == lower)
}

/// Whether a verb tells of someone rather than of something.
pub(in super::super) fn is_personal(lower: &str) -> bool {
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

/// What "мы" or "я" do, as one would say what is to be done: "печём" is "печь".
pub(in super::super) fn infinitive(lower: &str) -> Option<String> {
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
