//! Which other name does an aside give?
//!
//! "Антонина, для всех просто баба Тоня, живёт в Казани" is told as "Антонина (баба Тоня) живёт в
//! Казани", which says the same and can be read as one statement.

use super::super::names::cyrillic::nickname;
use super::super::word::{Shape, Word};

/// The words with each aside that gives another name in brackets behind the name it belongs to.
pub(super) fn bracketed(words: Vec<Word>) -> Vec<Word> {
    let mut told: Vec<Word> = Vec::with_capacity(words.len());
    let mut place = 0;
    while place < words.len() {
        let close = match words[place].text.as_str() {
            "," | "—" | "–" => words[place + 1..]
                .iter()
                .take(9)
                .position(|word| word.any(&[",", "—", "–", ".", "!"]))
                .or(Some(words.len() - place - 1)),
            "(" => words[place + 1..].iter().take(9).position(|word| word.is(")")),
            _ => None,
        };
        let close = close.map(|length| place + 1 + length);
        let named = told.last().is_some_and(Word::capital);
        let name = close.filter(|_| named).and_then(|close| nickname(&words[place + 1..close]));
        match (name, close) {
            (Some(name), Some(close)) => {
                told.extend(in_brackets(name));
                // A stop stays, the mark that closes the aside goes.
                place = if words.get(close).is_some_and(|word| word.any(&[".", "!"])) { close } else { close + 1 };
            }
            _ => {
                told.push(words[place].clone());
                place += 1;
            }
        }
    }
    told
}

fn in_brackets(name: &[Word]) -> Vec<Word> {
    let mark = |text: &str, of: &Word, glued: bool| Word { shape: Shape::Mark, glued, ..of.instead(text) };
    let mut told = name.to_vec();
    if let (Some(first), Some(last)) = (name.first(), name.last()) {
        told[0].glued = true;
        told.insert(0, mark("(", first, false));
        told.push(mark(")", last, true));
    }
    told
}
