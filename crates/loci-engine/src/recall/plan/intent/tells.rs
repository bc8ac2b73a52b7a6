//! Checks whether a stored text can answer a question for a time or a number.
//!
//! Cheap, because every ranked turn is checked: words are looked up, nothing is computed. In doubt the answer is yes.

use super::folded::{Folded, each};
use crate::recall::plan::time::token::{Token, TokenKind, tokens};
use crate::recall::plan::time::words::{self, Unit};

/// Words that make a time of a doubtful one behind them: "in May", "last fall".
const LEADS: &str = "in on since until till before after of from last next this early mid late by during the";

/// Words that make a time of a unit behind them: "that day", "every year".
const WHOLE: &str = "that same every each all whole тот ту той том весь всю каждый каждую каждое";

/// Whether a text names a time in passing.
pub fn tells_time(text: &str) -> bool {
    let tokens = tokens(text);
    (0..tokens.len()).any(|at| {
        let word = |at: usize| tokens.get(at).map_or("", Token::word);
        let before = at.checked_sub(1).map_or("", word);
        match &tokens[at].kind {
            TokenKind::Word(said) => tells(said, before, tokens.get(at + 1)),
            TokenKind::Number { value, digits: 4, .. } if (1900..2100).contains(value) => true,
            TokenKind::Number { .. } => is_counted(word(at + 1)),
            TokenKind::Mark(_) | TokenKind::Days(..) => false,
            // "10am" is a time, not a number.
            TokenKind::Other => is_hour(&text[tokens[at].at.clone()]),
            _ => true,
        }
    })
}

fn tells(word: &str, before: &str, next: Option<&Token>) -> bool {
    // Most words stop here; a plural weekday is in no list.
    if !words::known(word.strip_suffix('s').unwrap_or(word)) && !words::known(word) {
        return false;
    }
    let next_word = next.map_or("", Token::word);
    let doubtful = words::month(word).is_some() || words::season(word).is_some();
    let number_next = matches!(next.map(|next| &next.kind), Some(TokenKind::Number { .. }));
    let counts = matches!(word, "a" | "an" | "few" | "several" | "couple" | "несколько" | "пару" | "полгода")
        || words::cardinal(word).is_some();
    words::among(words::TIMES, word)
        || words::day(word).is_some()
        || words::sure_month(word).is_some()
        || words::sure_weekday(word).is_some()
        || word.strip_suffix('s').is_some_and(|one| words::sure_weekday(one).is_some())
        || (words::season(word).is_some() && !matches!(word, "fall" | "spring"))
        || (doubtful && (number_next || words::among(LEADS, before)))
        || matches!(words::unit(word), Some((Unit::Weekend, _)))
        || (words::unit(word).is_some() && words::among(WHOLE, before))
        || ((counts || words::which(word).is_some()) && words::unit(next_word).is_some())
}

fn is_counted(unit: &str) -> bool {
    words::unit(unit).is_some() || matches!(unit, "am" | "pm" | "числа") || words::month(unit).is_some()
}

fn is_hour(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let hour = text.strip_suffix("am").or_else(|| text.strip_suffix("pm"));
    hour.is_some_and(|hour| !hour.is_empty() && hour.chars().all(|c| c.is_ascii_digit() || c == ':'))
}

/// Words that are numbers, or speak of one.
const NUMBERS: &str = "\
    two, three, four, five, six, seven, eight, nine, ten, eleven, twelve, thirteen, fourteen, fifteen, sixteen, \
    seventeen, eighteen, nineteen, twenty, thirty, forty, fifty, sixty, seventy, eighty, ninety, hundred*, thousand*, \
    million*, billion*, dozen*, couple, half, once, twice, zero, один, одна, одно, одну, одного, одной, два, две, двух, \
    двумя, двое, три, трех, тремя, трое, четыре, четырех, четверо, пять, пяти, пятеро, шесть, шести, семь, семи, \
    восемь, восьми, девять, девяти, десять, десяти, десяток, одиннадцат*, двенадцат*, тринадцат*, четырнадцат*, \
    пятнадцат*, шестнадцат*, семнадцат*, восемнадцат*, девятнадцат*, двадцат*, тридцат*, сорок, пятьдесят, шестьдесят, \
    семьдесят, восемьдесят, девяносто, сто, двести, триста, тысяч*, миллион*, миллиард*, дюжин*, пара, пару, половин*, \
    полтора, полторы, дважды, трижды, ноль";

/// Words before "one" that make it refer to a thing.
const NO_NUMBER: &str = "no, the, this, that, which, any, every, each, another, some, last";

/// Whether a text names a number: a digit or a number word.
pub fn tells_number(text: &str) -> bool {
    if text.chars().any(|c| c.is_ascii_digit()) {
        return true;
    }
    let folded = Folded::new(text);
    let mut before = "";
    let one = folded.words().any(|word| {
        let counted = word == "one" && !each(NO_NUMBER).any(|other| other == before);
        before = word;
        counted
    });
    one || folded.says(NUMBERS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_tell_a_time() {
        for text in [
            "I went there yesterday.",
            "We met in May.",
            "It was May 7",
            "September was hard",
            "See you on Monday",
            "I run on Mondays.",
            "It took three weeks.",
            "About 3 days",
            "A week later she wrote.",
            "Long ago",
            "The train leaves at 10:30.",
            "At 10am sharp",
            "At 5 pm",
            "Five o'clock",
            "In 2022 I moved.",
            "Signed 2023-05-07",
            "We will move next month.",
            "last fall",
            "In the morning",
            "Over the weekend",
            "That day it rained.",
            "Я был там вчера.",
            "Встретились в мае",
            "7 мая",
            "В понедельник",
            "Это заняло три недели",
            "В прошлом году",
            "Два часа",
            "Год назад",
        ] {
            assert!(tells_time(text), "{text}");
        }
        for text in [
            "",
            "I like trains.",
            "You may go.",
            "They march on.",
            "Version 1.2.3 is out.",
            "I have 3 cats.",
            "Prices fall.",
            "Bring 20 apples",
            "The spam folder",
            "Мне нравятся поезда.",
            "У меня 3 кота",
        ] {
            assert!(!tells_time(text), "{text}");
        }
    }

    #[test]
    fn texts_tell_a_number() {
        for text in [
            "I have 3 cats",
            "I met him once",
            "I have one cat",
            "two of them",
            "A dozen eggs",
            "У меня три кота",
            "сто рублей",
        ] {
            assert!(tells_number(text), "{text}");
        }
        for text in ["", "I have cats", "No one came", "the last one", "Someone else", "У меня коты", "стол"]
        {
            assert!(!tells_number(text), "{text}");
        }
    }
}
