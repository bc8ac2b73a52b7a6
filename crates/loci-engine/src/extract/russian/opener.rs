//! Which words open a Russian sentence and are no part of what it states?
//!
//! People begin with "слушай", "ой нет, ошиблась" or "для курьера:". What such words do is kept: they
//! ask to remember, or they correct. The rest of the sentence is read without them.

use super::super::word::{Shape, Word};
use super::forms;

/// Words that open a sentence and are no part of it.
const FILLER: &[&str] = &[
    "кстати",
    "ну",
    "вот",
    "слушай",
    "слушайте",
    "привет",
    "да",
    "ага",
    "угу",
    "так",
    "короче",
    "вообще",
    "ваще",
    "и",
    "а",
    "но",
    "еще",
    "также",
    "ой",
    "ох",
    "эх",
    "ах",
    "блин",
    "в общем",
    "между прочим",
    "к слову",
    "честно говоря",
    "если что",
    "думаю",
    "я думаю",
    "теперь",
    "здравствуйте",
    "добрый день",
    "добрый вечер",
    "доброе утро",
    "ок",
    "окей",
    "хорошо",
    "понятно",
    "спасибо",
    "все",
    "ладно",
    "знаешь",
    "знаешь ли",
    "прикинь",
    "представляешь",
    "смотри",
    "смотрите",
    "ахах",
    "ахаха",
    "хаха",
    "точно",
    "конечно",
    "кста",
    "кроме того",
    "плюс",
    "а то",
    "просто",
    "собственно",
    "значит",
    "итак",
    "лично",
    "потом",
    "правда",
    "зато",
    "наконец",
];
const CORRECTS: &[&str] = &[
    "нет",
    "не так",
    "не то",
    "на самом деле",
    "вообще-то",
    "поправка",
    "поправлюсь",
    "я ошибся",
    "я ошиблась",
    "ошибся",
    "ошиблась",
    "ошибочка",
    "то есть",
    "точнее",
    "вернее",
    "извини",
    "прости",
    "стоп",
    "погоди",
    "я имел в виду",
    "я имела в виду",
    "забудь",
    "я перепутал",
    "я перепутала",
    "перепутал",
    "перепутала",
    "оговорился",
    "оговорилась",
    "я оговорился",
    "я оговорилась",
    "опечатка",
    "я соврал",
    "я соврала",
    "вру",
];
const ASKED: &[&str] = &[
    "запомни что",
    "запомни",
    "запиши что",
    "запиши",
    "имей в виду что",
    "имей в виду",
    "учти что",
    "учти",
    "не забудь что",
    "заметь что",
    "на будущее",
    "на заметку",
    "пожалуйста запомни что",
    "пожалуйста запомни",
    "для справки",
    "чтобы ты знал",
    "чтобы ты знала",
];

/// What the openers of a sentence do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Opening {
    /// They ask to remember.
    pub(super) asked: bool,
    /// They say that something was wrong.
    pub(super) corrects: bool,
}

/// Takes the openers off.
pub(super) fn strip(words: &mut Vec<Word>) -> Opening {
    let mut opening = Opening::default();
    for _ in 0..8 {
        let marks = words.iter().take_while(|word| word.shape == Shape::Mark && !word.is("(")).count();
        words.drain(..marks);
        let plain: Vec<&str> =
            words.iter().filter(|word| word.speaks()).take(4).map(|word| word.lower.as_str()).collect();
        let length = |list: &[&str]| longest(list, &plain);
        let (length, asks, corrects) = match (length(ASKED), length(CORRECTS), length(FILLER)) {
            (Some(length), ..) => (length, true, false),
            (_, Some(length), _) => (length, false, true),
            (.., Some(length)) => (length, false, false),
            _ => match lead(words) {
                Some(length) => (length, false, false),
                None => break,
            },
        };
        opening.asked |= asks;
        opening.corrects |= corrects;
        let mut left = length;
        while left > 0 && !words.is_empty() {
            left -= usize::from(words[0].speaks());
            words.remove(0);
        }
    }
    opening
}

fn longest(list: &[&str], plain: &[&str]) -> Option<usize> {
    let phrases = list.iter().map(|phrase| phrase.split(' ').collect::<Vec<_>>());
    phrases.filter(|parts| plain.starts_with(parts)).map(|parts| parts.len()).max()
}

/// "Для курьера: …", "решила: …": whom it is for or how it came to be, and then what is stated.
fn lead(words: &[Word]) -> Option<usize> {
    let colon = words.iter().take(5).position(|word| word.is(":")).filter(|colon| *colon > 0)?;
    let lead = &words[..colon];
    let addressed = lead[0].any(&["для", "по", "про", "насчет", "о", "об", "на"])
        && lead.iter().all(|word| word.speaks() && !word.capital());
    let resolved = lead.len() <= 2
        && lead
            .iter()
            .any(|word| word.any(&["решил", "решила", "решено", "новости", "новость", "итог", "факт", "важно"]));
    let states = lead.iter().any(|word| forms::third_of(&word.lower).is_some());
    ((addressed || resolved) && !states).then_some(colon)
}

/// Whether a sentence thinks up what might be.
pub(super) fn supposes(words: &[Word]) -> bool {
    words.iter().any(|word| word.any(&["если", "допустим", "представь", "представьте", "предположим", "якобы"]))
}

/// Whether a part of a sentence is a wish or a guess.
pub(super) fn unreal(words: &[Word]) -> bool {
    words.iter().enumerate().any(|(place, word)| {
        let denied = place > 0 && words[place - 1].is("не");
        word.any(&[
            "бы",
            "б",
            "вдруг",
            "возможно",
            "наверное",
            "наверно",
            "хотел",
            "хотела",
            "хотелось",
            "кажется",
            "вроде",
            "якобы",
        ]) || word.is("может") && !denied
    })
}

/// Whether the speaker says that this was told before.
pub(super) fn repeats(words: &[Word]) -> bool {
    words.iter().enumerate().any(|(place, word)| {
        let before = words[..place].iter().rev().take(3);
        word.any(&["говорил", "говорила", "рассказывал", "рассказывала", "писал", "писала"])
            && before.clone().any(|word| word.is("я"))
            && before.clone().any(|word| word.any(&["же", "ж", "уже", "как"]))
    })
}
