//! Splits a sentence into words with their grammatical forms.
//!
//! Words ascend and do not overlap. Contractions are expanded ("I'm" is "i am"), numbers are separated from their
//! units, and a character of a script without spaces is a word. A phrase gives its form to each of its words.

use std::ops::Range;

use super::Language;

/// What a word is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Letters.
    Plain,
    /// A number, a time, an amount.
    Number,
    /// A code: letters with digits or signs, a path, a version.
    Code,
    /// Punctuation.
    Mark,
}

/// A word, a number or a mark.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Word {
    /// In lower case.
    pub(crate) text: String,
    /// The bytes of the sentence it stands on.
    pub(crate) at: Range<usize>,
    pub(crate) shape: Shape,
    /// Written with a capital.
    pub(crate) capital: bool,
    /// Written in capitals alone.
    pub(crate) capitals: bool,
    /// A number in letters: seven, zwölf.
    pub(crate) counts: bool,
    /// Its forms in the language of the sentence.
    pub(crate) form: u64,
}

impl Word {
    /// Whether it has one of these forms.
    pub(crate) fn is(&self, form: u64) -> bool {
        self.form & form != 0
    }

    /// Whether it is this mark.
    pub(crate) fn mark(&self, marks: &str) -> bool {
        self.shape == Shape::Mark && marks.contains(self.text.as_str())
    }

    /// The word without the English "'s" of an owner.
    pub(crate) fn bare(&self) -> &str {
        self.text.strip_suffix("'s").or_else(|| self.text.strip_suffix("s'")).unwrap_or(&self.text)
    }

    /// Whether it has content of its own.
    pub(crate) fn tells(&self) -> bool {
        use super::form::*;
        const SILENT: u64 = EMPTY
            | COPULA
            | ROLE
            | NEGATION
            | LIMIT
            | FIRST
            | MINE
            | SECOND
            | PRONOUN
            | ASKS
            | AUXILIARY
            | AND
            | BECAUSE
            | OPENER
            | FILLER
            | GREETING
            | REACTION
            | JOKE
            | CONFIRMS
            | VAGUE
            | TITLE;
        match self.shape {
            Shape::Mark => false,
            Shape::Number | Shape::Code => true,
            Shape::Plain => self.form & SILENT == 0 || self.form & (VITAL | RELATION | LIFE) != 0,
        }
    }
}

/// Units that may be glued to their number.
const UNITS: &str = "km m cm mm kg g mg t l ml h min s ms gb mb kb tb mib gib px am pm eur usd gbp";

/// The words of a text.
pub(crate) fn words(text: &str, language: Option<&Language>) -> Vec<Word> {
    let mut found = Vec::new();
    let mut rest = text.char_indices().peekable();
    while let Some((start, c)) = rest.next() {
        if c.is_whitespace() {
            continue;
        }
        if !c.is_alphanumeric() {
            push(&mut found, text, start..start + c.len_utf8(), Shape::Mark, language);
            continue;
        }
        let mut end = start + c.len_utf8();
        if !is_unspaced(c) {
            while let Some(&(at, next)) = rest.peek() {
                let more = next.is_alphanumeric() && !is_unspaced(next)
                    || joins(&text[start..at], next, &text[at + next.len_utf8()..]);
                if !more {
                    break;
                }
                end = at + next.len_utf8();
                rest.next();
            }
        }
        piece(&mut found, text, start..end, language);
    }
    if let Some(language) = language {
        split_is(&mut found, language);
        clear_may(&mut found);
        mark_phrases(&mut found, language);
    }
    found
}

/// "My name's Ana", "the call's been moved": the "'s" of these is a verb, that of "my mother's birthday" an owner's.
fn split_is(words: &mut Vec<Word>, language: &Language) {
    use super::form::{EMPTY, MINE, NEGATION};
    let mut place = 0;
    while place + 1 < words.len() {
        let (word, next) = (&words[place], &words[place + 1]);
        let verb = next.capital && !word.capital
            || next.is(EMPTY | MINE | NEGATION) && next.text != "own"
            || next.text.ends_with("ing") && next.text.len() > 5;
        if word.text.ends_with("'s") && next.shape != Shape::Mark && verb {
            let (bare, at) = (word.bare().to_owned(), word.at.end..word.at.end);
            words[place].form = language.form(&bare);
            words[place].text = bare;
            let is = Word {
                text: "is".into(),
                at,
                shape: Shape::Plain,
                capital: false,
                capitals: false,
                counts: false,
                form: language.form("is"),
            };
            words.insert(place + 1, is);
        }
        place += 1;
    }
}

/// "4 May" and "May 4" name a month, and nothing that may be.
fn clear_may(words: &mut [Word]) {
    let number = |word: Option<&Word>| word.is_some_and(|word| word.shape == Shape::Number);
    for place in 0..words.len() {
        let before = place.checked_sub(1).and_then(|before| words.get(before));
        if words[place].text == "may" && words[place].capital && (number(before) || number(words.get(place + 1))) {
            words[place].form = 0;
        }
    }
}

/// Whether a sign between letters or digits belongs to the word.
fn joins(before: &str, sign: char, after: &str) -> bool {
    let (last, next) = (before.chars().next_back(), after.chars().next());
    let (Some(last), Some(next)) = (last, next) else { return false };
    let digits = last.is_ascii_digit() && next.is_ascii_digit();
    match sign {
        '\'' | '’' | '-' | '_' | '@' | '\\' => next.is_alphanumeric(),
        '.' | '/' => next.is_alphanumeric() && !last.is_whitespace(),
        ':' | ',' | '–' => digits,
        _ => false,
    }
}

/// Scripts that put no spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c, '\u{e00}'..='\u{e7f}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{1780}'..='\u{17ff}')
}

/// One run of letters and digits: a number with its unit, or a word with its contraction.
fn piece(found: &mut Vec<Word>, text: &str, at: Range<usize>, language: Option<&Language>) {
    let run = &text[at.clone()];
    if run.starts_with(|c: char| c.is_ascii_digit()) {
        let digits = run.len()
            - run
                .trim_start_matches(|c: char| c.is_ascii_digit() || matches!(c, '.' | ',' | ':' | '-' | '–' | '/'))
                .len();
        let unit = run[digits..].to_lowercase();
        let whole = unit.is_empty() || ["st", "nd", "rd", "th", "k", "m", "bn"].contains(&unit.as_str()) && unit != "m";
        if whole {
            push(found, text, at, Shape::Number, language);
        } else if UNITS.split(' ').any(|known| known == unit) {
            let cut = at.start + digits;
            push(found, text, at.start..cut, Shape::Number, language);
            push(found, text, cut..at.end, Shape::Plain, language);
        } else {
            push(found, text, at, Shape::Code, language);
        }
        return;
    }
    let lower = lower(run);
    if let Some(expanded) = language.and_then(|language| language.expanded(&lower)) {
        for (place, part) in expanded.split(' ').enumerate() {
            let at = if place == 0 { at.clone() } else { at.end..at.end };
            let form = language.map_or(0, |language| language.form(part));
            found.push(Word {
                text: part.to_owned(),
                at,
                shape: Shape::Plain,
                capital: false,
                capitals: false,
                counts: false,
                form,
            });
        }
        return;
    }
    let code = run.chars().any(|c| c.is_ascii_digit() || matches!(c, '_' | '/' | '@' | '\\'))
        || run.chars().skip(1).any(|c| c == '.');
    push(found, text, at, if code { Shape::Code } else { Shape::Plain }, language);
}

fn push(found: &mut Vec<Word>, text: &str, at: Range<usize>, shape: Shape, language: Option<&Language>) {
    let run = &text[at.clone()];
    let word = match shape {
        // "1,340" and "1340" are the same amount; "8:30" and "3.5" are not touched.
        Shape::Number if thousands(run) => run.replace(',', ""),
        Shape::Mark => run.to_owned(),
        _ => lower(run),
    };
    let form = language.map_or(0, |language| {
        language.form(&word) | if word.ends_with("'s") { language.form(&word[..word.len() - 2]) } else { 0 }
    });
    let capital = run.starts_with(char::is_uppercase);
    let capitals = capital && run.chars().skip(1).all(|c| !c.is_lowercase());
    let counts = shape == Shape::Plain && language.is_some_and(|language| language.is_number(&word));
    found.push(Word { text: word, at, shape, capital, capitals, counts, form });
}

fn thousands(run: &str) -> bool {
    let mut groups = run.split(',');
    groups.next().is_some_and(|first| (1..=3).contains(&first.len()))
        && run.contains(',')
        && groups.all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Lower case, with one sort of apostrophe and "е" for "ё"; letters drawn out ("sooo") count as one.
fn lower(run: &str) -> String {
    if run.is_ascii() && run.as_bytes().windows(3).all(|three| three[0] != three[1] || three[1] != three[2]) {
        return run.to_ascii_lowercase();
    }
    let lower = run.to_lowercase().replace('’', "'").replace('ё', "е");
    let mut word = String::with_capacity(lower.len());
    let mut characters = lower.chars().peekable();
    while let Some(c) = characters.next() {
        let mut count = 1;
        while characters.next_if_eq(&c).is_some() {
            count += 1;
        }
        let kept = if count > 2 && c.is_alphabetic() && !is_unspaced(c) { 1 } else { count };
        word.extend(std::iter::repeat_n(c, kept));
    }
    word
}

fn mark_phrases(words: &mut [Word], language: &Language) {
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    let found: Vec<(usize, u64, usize)> = (0..texts.len())
        .flat_map(|place| language.phrases(&texts[place..]).map(move |(form, length)| (place, form, length)))
        .collect();
    for (place, form, length) in found {
        words[place..place + length].iter_mut().for_each(|word| word.form |= form);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{form, language_of};
    use super::*;

    #[test]
    fn words_are_cut_and_folded() {
        for (text, expect) in [
            ("I'm at Acme, 5 km away", vec!["i", "am", "at", "acme", ",", "5", "km", "away"]),
            ("850mg at 8:30, v2.3.1", vec!["850", "mg", "at", "8:30", ",", "v2.3.1"]),
            ("142,000 km and 72k", vec!["142000", "km", "and", "72k"]),
            ("don't use MAX_POOL_SIZE", vec!["do", "not", "use", "max_pool_size"]),
            ("端口是8081", vec!["端", "口", "是", "8081"]),
            ("sooo good", vec!["so", "good"]),
        ] {
            let found = words(text, language_of("I live in the house"));
            assert_eq!(found.iter().map(|word| word.text.as_str()).collect::<Vec<_>>(), expect, "{text}");
        }
    }

    #[test]
    fn a_phrase_gives_its_form_to_its_words() {
        let found = words("Vera no longer sails", language_of("she is not here"));
        assert!(found[1].is(form::CHANGE) && found[2].is(form::ENDS) && !found[3].is(form::CHANGE));
    }
}
