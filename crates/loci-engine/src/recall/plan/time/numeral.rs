//! Classifies a run of digits as a number, a date, a clock time, or none of them.
//!
//! Versions, prices, telephone and ticket numbers, ratios and addresses are [`TokenKind::Other`]: a numeral counts
//! only if nothing else is attached to it.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};

use super::token::TokenKind;

/// Characters that join digits into one numeral.
const JOINTS: [char; 6] = ['.', ',', '/', ':', '-', '–'];

/// Characters before and after a number that make it a price, a ticket number or a part of something else.
const BAD_BEFORE: [char; 17] = ['$', '€', '£', '¥', '₽', '№', '~', '^', '&', '%', '<', '>', '/', '.', '+', '-', '–'];
const BAD_AFTER: [char; 14] = ['$', '€', '£', '¥', '₽', '%', '°', '/', '+', '&', '^', '<', '>', '×'];

const ENGLISH_ORDINALS: [&str; 4] = ["st", "nd", "rd", "th"];
const RUSSIAN_ORDINALS: [&str; 9] = ["ого", "ому", "го", "му", "ом", "е", "й", "м", "х"];

/// Reads the numeral that a text starts with, and says how long it is.
pub(super) fn numeral(text: &str, before: Option<char>) -> (TokenKind, usize) {
    let length = extent(text);
    let (body, rest) = text.split_at(length);
    let clean = before.is_none_or(|c| !BAD_BEFORE.contains(&c));
    let (suffix, hyphen) = suffix(rest);
    let kind = match suffix {
        _ if !clean => TokenKind::Other,
        "" if ends_cleanly(rest) => plain(body),
        "" => TokenKind::Other,
        _ if hyphen && RUSSIAN_ORDINALS.contains(&suffix) => number(body, true),
        _ if !hyphen && ENGLISH_ORDINALS.contains(&suffix.to_ascii_lowercase().as_str()) => number(body, true),
        "s" if !hyphen => decade(body),
        _ => TokenKind::Other,
    };
    (kind, length + suffix.len() + usize::from(hyphen))
}

/// The length of the digits and the characters that join them, including the "T", zone and "Z" of an ISO instant.
fn extent(text: &str) -> usize {
    let mut end = 0;
    let mut instant = false;
    while let Some(c) = text[end..].chars().next() {
        let after = &text[end + c.len_utf8()..];
        let digits = after.bytes().take_while(u8::is_ascii_digit).count();
        let joins = match c {
            '0'..='9' => true,
            // "7,2023" is a day and a year; "1,000" and "7,5" are numbers.
            ',' => digits > 0 && digits != 4,
            '+' => instant && digits > 0,
            'T' | 't' if end == 10 && digits > 0 => {
                instant = true;
                true
            }
            'Z' | 'z' => instant && !after.starts_with(char::is_alphanumeric),
            _ => JOINTS.contains(&c) && digits > 0,
        };
        if !joins {
            break;
        }
        end += c.len_utf8();
    }
    end
}

/// The letters attached to a numeral, and whether by a hyphen.
fn suffix(rest: &str) -> (&str, bool) {
    let letters = |rest: &str| rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len());
    match rest.strip_prefix('-') {
        Some(after) if after.starts_with(char::is_alphabetic) => (&after[..letters(after)], true),
        _ => (&rest[..letters(rest)], false),
    }
}

fn ends_cleanly(rest: &str) -> bool {
    let mut chars = rest.chars();
    match (chars.next(), chars.next()) {
        (Some(first), _) if BAD_AFTER.contains(&first) => false,
        (Some('-' | '–'), Some(next)) => !next.is_alphanumeric(),
        _ => true,
    }
}

fn plain(body: &str) -> TokenKind {
    if body.contains(['T', 't']) {
        return instant(body);
    }
    let parts: Vec<&str> = body.split(JOINTS).collect();
    let joint = body.chars().find(|c| !c.is_ascii_digit());
    let same = joint.is_none_or(|joint| body.chars().all(|c| c.is_ascii_digit() || c == joint));
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let value = |place: usize| parts.get(place).and_then(|part| part.parse::<i16>().ok()).unwrap_or(-1);
    let date = |year: i16, month: i16, day: i16| {
        let fits = (1000..3000).contains(&year) && (0..100).contains(&month) && (0..100).contains(&day);
        fits.then(|| Date::new(year, month as i8, day as i8).ok()).flatten().map_or(TokenKind::Other, TokenKind::Day)
    };
    match (joint, lengths.as_slice()) {
        (None, _) => number(body, false),
        _ if !same => TokenKind::Other,
        (Some('-' | '/'), [4, 2, 2]) => date(value(0), value(1), value(2)),
        (Some('.'), [1 | 2, 1 | 2, 4]) => date(value(2), value(1), value(0)),
        // Month first, as in the United States, unless only day first makes a date.
        (Some('/'), [1 | 2, 1 | 2, 4]) if value(0) > 12 => date(value(2), value(1), value(0)),
        (Some('/'), [1 | 2, 1 | 2, 4]) => date(value(2), value(0), value(1)),
        (Some('-'), [4, 2]) if (1..=12).contains(&value(1)) => TokenKind::Month(value(0), value(1) as i8),
        (Some('-' | '/' | '–'), [4, 2]) if (value(0) + 1) % 100 == value(1) => {
            TokenKind::Years(value(0), value(0) + 1)
        }
        (Some('-' | '–'), [4, 4]) if is_year(value(0)) && is_year(value(1)) && value(0) < value(1) => {
            TokenKind::Years(value(0), value(1))
        }
        (Some('-' | '–'), [1 | 2, 1 | 2]) if 0 < value(0) && value(0) < value(1) && value(1) < 32 => {
            TokenKind::Days(value(0) as i8, value(1) as i8)
        }
        (Some(':'), [1 | 2, 2] | [1 | 2, 2, 2]) if value(0) < 24 && value(1) < 60 => {
            TokenKind::Clock(value(0) as i8, value(1) as i8)
        }
        _ => TokenKind::Other,
    }
}

/// A year that people remember, as against any number of four digits.
pub(super) fn is_year(value: i16) -> bool {
    (1900..2100).contains(&value)
}

fn number(body: &str, ordinal: bool) -> TokenKind {
    match body.parse() {
        Ok(value) if body.len() < 9 => TokenKind::Number { value, digits: body.len(), ordinal },
        _ => TokenKind::Other,
    }
}

fn decade(body: &str) -> TokenKind {
    match body.parse::<i16>() {
        Ok(year) if is_year(year) && year % 10 == 0 => TokenKind::Decade(year),
        _ => TokenKind::Other,
    }
}

fn instant(body: &str) -> TokenKind {
    let fixed = || body.parse::<Timestamp>().ok().map(TokenKind::Instant);
    let local = || body.parse::<DateTime>().ok().map(TokenKind::Local);
    fixed().or_else(local).unwrap_or(TokenKind::Other)
}
