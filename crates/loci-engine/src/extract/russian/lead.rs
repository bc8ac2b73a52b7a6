//! What stands before the verb of a Russian clause?
//!
//! The order of words is free: "кофе больше не пью", "по субботам хожу на плавание". Times and
//! adverbs stay before the verb, everything else goes behind it.

use super::super::word::{Shape, Word};
use super::forms;

/// The words before a verb, sorted.
#[derive(Debug, Default)]
pub(super) struct Lead {
    /// When or how often.
    pub(super) times: Vec<Word>,
    /// Adverbs that matter, "не" among them.
    pub(super) adverbs: Vec<String>,
    /// What the verb is about.
    pub(super) objects: Vec<Word>,
    /// It is so from now on.
    pub(super) now: bool,
}

const KEPT: &[&str] = &[
    "не",
    "больше",
    "очень",
    "всегда",
    "обычно",
    "часто",
    "никогда",
    "редко",
    "иногда",
    "давно",
    "терпеть",
    "совсем",
    "почти",
];
const DROPPED: &[&str] = &[
    "уже",
    "сейчас",
    "еще",
    "тоже",
    "также",
    "недавно",
    "просто",
    "реально",
    "вообще",
    "ваще",
    "прям",
    "прямо",
    "снова",
    "опять",
    "лично",
    "кстати",
    "и",
    "только",
    "вот",
    "же",
    "ж",
    "наконец",
    "правда",
    "вчера",
    "сегодня",
];

impl Lead {
    /// Sorts words; none if there are some that have no place before a verb of the speaker.
    pub(super) fn of(words: &[Word]) -> Option<Self> {
        let mut lead = Self::default();
        let mut place = 0;
        while let Some(word) = words.get(place) {
            let length = time_length(&words[place..]);
            match word.lower.as_str() {
                _ if length > 0 => lead.times.extend_from_slice(&words[place..place + length]),
                "теперь" | "отныне" => lead.now = true,
                lower if KEPT.contains(&lower) => lead.adverbs.push(word.text.to_lowercase()),
                lower if DROPPED.contains(&lower) => {}
                lower if !fits(word, lower) => return None,
                _ => lead.objects.push(word.clone()),
            }
            place += length.max(1);
        }
        (lead.objects.len() <= 4).then_some(lead)
    }

    pub(super) fn negated(&self) -> bool {
        self.adverbs.iter().any(|adverb| adverb == "не")
    }

    /// It is so no longer.
    pub(super) fn ended(&self) -> bool {
        self.negated() && self.adverbs.iter().any(|adverb| adverb == "больше")
    }

    /// Whether only a time or a place stands before the verb, nobody who could be its subject.
    pub(super) fn nobody(&self) -> bool {
        self.objects.first().is_none_or(|word| word.any(&["в", "во", "на", "к", "с", "со", "из", "после", "до"]))
    }
}

/// Whether a word may be what a verb of the speaker is about.
fn fits(word: &Word, lower: &str) -> bool {
    const ASKS: &[&str] = &[
        "что",
        "как",
        "где",
        "когда",
        "почему",
        "зачем",
        "кто",
        "куда",
        "чтобы",
        "пока",
        "чего",
        "сколько",
        "какой",
        "какая",
    ];
    word.shape != Shape::Mark && !forms::is_pronoun(lower) && !ASKS.contains(&lower) && !forms::is_third(lower)
}

/// How many words from here on say when or how often.
pub(super) fn time_length(words: &[Word]) -> usize {
    let lower = |place: usize| words.get(place).map_or("", |word| word.lower.as_str());
    let counted = |place: usize| {
        words.get(place).is_some_and(|word| word.shape == Shape::Number) || forms::numeral(lower(place)).is_some()
    };
    let many = |place: usize| {
        (lower(place).ends_with("ам") || lower(place).ends_with("ям") || lower(place) == "выходным")
            && lower(place).chars().count() > 4
    };
    match lower(0) {
        "каждый" | "каждую" | "каждое" | "каждые" => {
            2 + usize::from(counted(1) || lower(1).ends_with("ой") || lower(1).ends_with("ый"))
        }
        "по" if many(1) => {
            let mut length = 2;
            while matches!(lower(length), "и" | ",") && many(length + 1) {
                length += 2;
            }
            length
        }
        "с" | "со" if counted(1) && matches!(lower(2), "лет" | "года" | "годов" | "утра" | "вечера") => {
            3
        }
        "с" | "со" if matches!(lower(1), "детства" | "юности" | "рождения" | "школы") => 2,
        "раз" | "дважды" | "трижды" if matches!(lower(1), "в" | "на") => 3,
        "утром"
        | "вечером"
        | "днем"
        | "ночью"
        | "летом"
        | "зимой"
        | "весной"
        | "осенью"
        | "ежедневно"
        | "еженедельно" => 1,
        _ => 0,
    }
}
