//! Finds card numbers (Luhn) and account numbers (IBAN).
//!
//! The form selects candidates, the checksum decides.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// Thirteen digits and more, one sign between them at most.
static DIGITS: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"[0-9](?:[ .\u{a0}-]?[0-9]){12,}").ok());
/// Country, check digits and the first group.
static ACCOUNT: LazyLock<Option<Regex>> = LazyLock::new(|| Regex::new(r"(?i)[A-Z]{2}[0-9]{2} ?[A-Z0-9]{4}").ok());

/// How long an account number is in each country that has them.
const LENGTHS: &str = "AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DK18 DO28 EE20 \
    EG29 ES24 FI18 FO18 FR27 GB22 GE22 GI23 GL18 GR27 GT28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 \
    LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ME22 MK19 MR27 MT31 MU30 NL18 NO15 PK24 PL28 PS29 PT25 QA29 RO24 RS22 \
    SA24 SC31 SD18 SE24 SI19 SK24 SM27 ST25 SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20";

/// Digits without a sign between them, as they stand in a longer run.
struct Group {
    range: Range<usize>,
    /// The separator before it. `None` for the first group.
    sign: Option<char>,
}

/// The most groups that a card's digits stand in.
const GROUPS: usize = 6;

/// Where numbers of payment cards stand.
pub(super) fn cards(text: &str) -> Vec<Range<usize>> {
    let Some(digits) = DIGITS.as_ref() else { return Vec::new() };
    digits.find_iter(text).flat_map(|run| cards_in(text, run.range())).collect()
}

fn cards_in(text: &str, run: Range<usize>) -> Vec<Range<usize>> {
    let groups = groups(text, run.clone());
    let mut found = Vec::new();
    let mut first = 0;
    while first < groups.len() {
        // The longest first: nineteen digits may begin with sixteen that pass by chance.
        // A card has five groups at most; without a bound a long list of numbers would never end.
        let end = groups.len().min(first + GROUPS);
        let last = (first..end).rev().find(|last| is_card(text, &groups, first, *last));
        if let Some(last) = last {
            let range = groups[first].range.start..groups[last].range.end;
            if stands_alone(text, &range) {
                found.push(range);
            }
        }
        first = last.unwrap_or(first) + 1;
    }
    found
}

fn groups(text: &str, run: Range<usize>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    let mut sign = None;
    for (at, c) in text[run.clone()].char_indices() {
        let at = run.start + at;
        match groups.last_mut() {
            Some(group) if c.is_ascii_digit() && group.range.end == at => group.range.end += 1,
            _ if c.is_ascii_digit() => groups.push(Group { range: at..at + 1, sign: sign.take() }),
            _ => sign = Some(c),
        }
    }
    groups
}

fn is_card(text: &str, groups: &[Group], first: usize, last: usize) -> bool {
    let part = &groups[first..=last];
    let digits: Vec<u8> =
        part.iter().flat_map(|group| text[group.range.clone()].bytes()).map(|digit| digit - b'0').collect();
    (13..=19).contains(&digits.len())
        && grouped(part)
        && !decimal(groups, first, last)
        && issued(&digits)
        && luhn(&digits)
}

/// Whether digits are grouped as on a card: not at all, in fours, or as four, six and the rest.
fn grouped(part: &[Group]) -> bool {
    let sizes: Vec<usize> = part.iter().map(|group| group.range.len()).collect();
    let (Some(last), signs) = (sizes.last(), part.iter().skip(1).map(|group| group.sign)) else { return false };
    let alike = signs.clone().all(|sign| Some(sign) == signs.clone().next());
    let fours = sizes[..sizes.len() - 1].iter().all(|size| *size == 4) && (1..=4).contains(last);
    sizes.len() == 1 || alike && (fours || matches!(sizes[..], [4, 6, 4 | 5]))
}

/// Whether the digits are a part of a decimal number.
fn decimal(groups: &[Group], first: usize, last: usize) -> bool {
    let after = groups.get(last + 1).is_some_and(|group| group.sign == Some('.'));
    first == last && (groups[first].sign == Some('.') || after)
}

/// Whether anyone issues cards that begin so.
fn issued(digits: &[u8]) -> bool {
    let start = digits.iter().take(4).fold(0, |sum, digit| sum * 10 + u32::from(*digit));
    matches!(start, 2200..=2204 | 2221..=2720 | 3000..=3099 | 3400..=3999 | 4000..=6999)
}

fn luhn(digits: &[u8]) -> bool {
    let doubled = |(place, digit): (usize, &u8)| match (place % 2, u32::from(*digit) * 2) {
        (0, _) => u32::from(*digit),
        (_, twice) if twice > 9 => twice - 9,
        (_, twice) => twice,
    };
    let zeros = digits.iter().all(|digit| *digit == digits[0]);
    !zeros && digits.iter().rev().enumerate().map(doubled).sum::<u32>() % 10 == 0
}

/// Whether the text does not continue before or after the digits: a part of an identifier is not a number.
fn stands_alone(text: &str, range: &Range<usize>) -> bool {
    let joined = |c: char| c.is_ascii_alphanumeric() || c == '_';
    !text[..range.start].ends_with(joined) && !text[range.end..].starts_with(joined)
}

/// Where international account numbers stand.
pub(super) fn ibans(text: &str) -> Vec<Range<usize>> {
    let Some(account) = ACCOUNT.as_ref() else { return Vec::new() };
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut from = 0;
    while let Some(start) = account.find_at(text, from) {
        let whole = iban_at(text, start.start());
        from = whole.as_ref().map_or(start.start() + 1, |range| range.end);
        found.extend(whole);
    }
    found
}

fn iban_at(text: &str, start: usize) -> Option<Range<usize>> {
    let country = text.get(start..start + 2)?.to_ascii_uppercase();
    let length: usize = LENGTHS.split(' ').find_map(|known| known.strip_prefix(&country))?.parse().ok()?;
    let mut letters = Vec::with_capacity(length);
    let mut end = start;
    for (at, c) in text[start..].char_indices() {
        match c {
            _ if letters.len() == length => break,
            ' ' if end == start + at => {}
            _ if c.is_ascii_alphanumeric() => {
                letters.push(c.to_ascii_uppercase());
                end = start + at + 1;
            }
            _ => return None,
        }
    }
    let range = start..end;
    (letters.len() == length && stands_alone(text, &range) && remainder(&letters) == 1).then_some(range)
}

/// The number modulo 97, with the first four signs at its end and letters counted from ten.
fn remainder(letters: &[char]) -> u32 {
    let (first, rest) = letters.split_at(4);
    rest.iter().chain(first).filter_map(|c| c.to_digit(36)).fold(0, |sum, digit| match digit {
        0..=9 => (sum * 10 + digit) % 97,
        _ => (sum * 100 + digit) % 97,
    })
}
