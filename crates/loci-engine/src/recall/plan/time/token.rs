//! Splits a sentence into tokens: words and numbers with their positions.
//!
//! Tokens ascend, do not overlap and are on char boundaries. Code, a path or an address is one [`TokenKind::Other`],
//! so that no rule reads a date out of a part of it.

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};

use super::numeral::numeral;

/// A word, a number or a mark, and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Token {
    pub(crate) kind: TokenKind,
    pub(crate) at: Range<usize>,
    /// Written like a name: one capital, then small letters.
    pub(crate) title: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum TokenKind {
    /// In lower case, with "е" for "ё", without the English "'s".
    Word(String),
    /// A plain number, with its count of digits; an ordinal has a suffix: 7th, 7-го.
    Number {
        value: i32,
        digits: usize,
        ordinal: bool,
    },
    /// 7-9
    Days(i8, i8),
    /// 2023-05-07, 07.05.2023, 05/07/2023
    Day(Date),
    /// 2023-05
    Month(i16, i8),
    /// 2019-2021, 2022/23
    Years(i16, i16),
    /// 1990s
    Decade(i16),
    /// 2023-05-07T10:30
    Local(DateTime),
    /// 2023-05-07T10:30Z
    Instant(Timestamp),
    /// 10:30
    Clock(i8, i8),
    Mark(char),
    /// Something that names no time: a version, a price, a path.
    Other,
}

/// The tokens of a text.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut start = None;
    for (place, c) in text.char_indices().chain([(text.len(), ' ')]) {
        match (start, c.is_whitespace()) {
            (None, false) => start = Some(place),
            (Some(from), true) => {
                split(&text[from..place], from, &mut tokens);
                start = None;
            }
            _ => {}
        }
    }
    tokens
}

/// Cuts what stands between two spaces.
fn split(chunk: &str, base: usize, tokens: &mut Vec<Token>) {
    if is_code(chunk) {
        tokens.push(Token { kind: TokenKind::Other, at: base..base + chunk.len(), title: false });
        return;
    }
    let mut place = 0;
    let mut before = None;
    while let Some(c) = chunk[place..].chars().next() {
        let (kind, length, title) = if c.is_ascii_digit() {
            let (kind, length) = numeral(&chunk[place..], before);
            (kind, length, false)
        } else if c.is_alphabetic() {
            word(&chunk[place..])
        } else {
            (TokenKind::Mark(c), c.len_utf8(), false)
        };
        let at = base + place..base + place + length;
        place += length;
        before = chunk[..place].chars().next_back();
        // "mid-2023" is two words; "PROJ-2023" is one name.
        if kind == TokenKind::Mark('-')
            && tokens.last().is_some_and(|last| last.at.end == at.start && takes_hyphen(last))
        {
            before = None;
            continue;
        }
        if let TokenKind::Word(word) = &kind
            && chunk[place..].starts_with(['\'', '’'])
            && !word.is_empty()
        {
            place += possessive(&chunk[place..]);
        }
        tokens.push(Token { kind, at, title });
    }
}

fn takes_hyphen(token: &Token) -> bool {
    matches!(token.word(), "mid" | "early" | "late")
}

/// The length of an "'s" that does not belong to its word.
fn possessive(rest: &str) -> usize {
    let mut chars = rest.char_indices();
    let letter = chars.nth(1).filter(|(_, c)| matches!(c, 's' | 'S'));
    match (letter, chars.next()) {
        (Some((place, _)), next) if next.is_none_or(|(_, c)| !c.is_alphanumeric()) => place + 1,
        _ => 0,
    }
}

/// Reads a word. An apostrophe belongs to it where letters follow: "don't" but not "today's".
fn word(rest: &str) -> (TokenKind, usize, bool) {
    let mut folded = String::new();
    let mut end = rest.len();
    let (mut capitals, mut first) = (0, false);
    for (place, c) in rest.char_indices() {
        if c.is_alphanumeric() {
            if c.is_uppercase() {
                capitals += 1;
                first |= place == 0;
            }
            folded.extend(c.to_lowercase().map(|c| if c == 'ё' { 'е' } else { c }));
        } else if ('\u{300}'..='\u{36f}').contains(&c) {
            // A composed "й" in two parts is the same letter; other accents are only stress.
            if c == '\u{306}' && folded.ends_with('и') {
                folded.pop();
                folded.push('й');
            }
        } else if matches!(c, '\'' | '’')
            && possessive(&rest[place..]) == 0
            && rest[place + c.len_utf8()..].starts_with(char::is_alphabetic)
        {
            folded.push('\'');
        } else {
            end = place;
            break;
        }
    }
    (TokenKind::Word(folded), end, first && capitals == 1)
}

/// Whether a piece of text is a path, an address or a name in a program.
fn is_code(chunk: &str) -> bool {
    let bytes = chunk.as_bytes();
    let dotted = |w: &[u8]| w[0].is_ascii_alphanumeric() && w[1] == b'.' && w[2].is_ascii_lowercase();
    let slashes = bytes.iter().filter(|byte| **byte == b'/').count();
    chunk.contains(['_', '\\', '@', '=', '`', '{', '}', '#'])
        || chunk.contains("::")
        || chunk.contains("://")
        || chunk.starts_with("--")
        || chunk.starts_with('/')
        || bytes.windows(3).any(dotted)
        || (slashes > 1 && chunk.contains(char::is_alphabetic))
}

impl Token {
    /// The word, or nothing if it is none.
    pub(crate) fn word(&self) -> &str {
        match &self.kind {
            TokenKind::Word(word) => word,
            _ => "",
        }
    }
}
