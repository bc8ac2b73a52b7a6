//! Finds email addresses and telephone numbers.
//!
//! Dates, versions, order numbers and plain numbers resemble telephone numbers, so only forms that nothing else has
//! are matched.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

static ADDRESS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"[\p{L}\p{N}._%+-]*[\p{L}\p{N}_%+-]@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*\.\p{L}{2,}").ok()
});
/// Nine digits or more with at most two signs between any of them.
static NUMBER: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"\+?\(?[0-9](?:[ .()/\u{a0}-]{0,2}[0-9]){7,}").ok());

/// Files that are named like an address: `logo@2x.png`.
const FILES: &[&str] = &["png", "jpg", "jpeg", "gif", "svg", "webp", "css", "js"];
/// Words before a number that say it is another one.
const OTHERS: &[&str] =
    &["order", "invoice", "ticket", "isbn", "id", "number", "no", "article", "sku", "part", "заказ"];

/// Where addresses of electronic mail stand.
pub(super) fn emails(text: &str) -> Vec<Range<usize>> {
    let Some(address) = ADDRESS.as_ref().filter(|_| text.contains('@')) else { return Vec::new() };
    let file = |address: &str| address.rsplit('.').next().is_some_and(|end| FILES.contains(&end));
    address.find_iter(text).filter(|found| !file(found.as_str())).map(|found| found.range()).collect()
}

/// Where numbers of telephones stand.
pub(super) fn phones(text: &str) -> Vec<Range<usize>> {
    let Some(number) = NUMBER.as_ref() else { return Vec::new() };
    number.find_iter(text).filter_map(|run| phone_in(text, run.range())).collect()
}

fn phone_in(text: &str, run: Range<usize>) -> Option<Range<usize>> {
    let (before, after) = (&text[..run.start], &text[run.end..]);
    let joined = |c: char| c.is_alphanumeric() || matches!(c, '_' | '#' | '№');
    // What goes on behind a sign is a time, a version or a part of an identifier.
    let goes_on =
        |rest: &str| rest.starts_with([':', '-', '_', '.', ',']) && rest[1..].starts_with(char::is_alphanumeric);
    let tied = before.strip_suffix(['-', '/', '.', ',']).is_some_and(|rest| rest.ends_with(char::is_alphanumeric));
    if before.ends_with(joined) || tied || after.starts_with(char::is_alphanumeric) || goes_on(after) {
        return None;
    }
    let phone = &text[run.clone()];
    let digits = phone.chars().filter(char::is_ascii_digit).count();
    if let Some(abroad) = phone.strip_prefix('+') {
        let from = run.start;
        return abroad.trim_start_matches('(').starts_with(|c: char| c != '0').then(|| from..from + until(phone, 15));
    }
    let other = before.trim_end_matches([' ', ':', '.']).rsplit(|c: char| !c.is_alphabetic()).next();
    if other.is_some_and(|word| OTHERS.contains(&word.to_lowercase().as_str())) {
        return None;
    }
    let groups: Vec<&str> = phone.split(|c: char| !c.is_ascii_digit()).filter(|group| !group.is_empty()).collect();
    national(phone, &groups, digits).then_some(run)
}

/// The end of the group with which a number has no more than `most` digits.
fn until(phone: &str, most: usize) -> usize {
    let mut digits = 0;
    let mut end = 0;
    for (at, c) in phone.char_indices() {
        digits += usize::from(c.is_ascii_digit());
        let whole = !phone[at + c.len_utf8()..].starts_with(|next: char| next.is_ascii_digit());
        if digits > most && end > 0 {
            break;
        }
        if c.is_ascii_digit() && whole {
            end = at + 1;
        }
    }
    end
}

/// Whether digits are grouped as a number within one country: with an area in brackets, after the
/// zero or the eight that calls out of town, or as in North America.
fn national(phone: &str, groups: &[&str], digits: usize) -> bool {
    let sizes: Vec<usize> = groups.iter().map(|group| group.len()).collect();
    let (Some(first), false) = (groups.first(), groups.windows(3).any(is_date)) else { return false };
    if sizes.len() < 2 || !(9..=14).contains(&digits) {
        return false;
    }
    let area = phone.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let bracketed = area.is_some_and(|(area, _)| (2..=5).contains(&area.len()));
    let abroad = first.starts_with("00") && digits >= 11;
    let town = first.starts_with('0') && !first.starts_with("00") && (2..=6).contains(&first.len()) && digits <= 12;
    let america = |sizes: &[usize], area: &str| sizes == [3, 3, 4] && !area.starts_with(['0', '1']);
    let russia = *first == "8" && matches!(sizes[1..], [3, 3, 2, 2] | [3, 3, 4] | [3, 2, 2, 3]);
    let called = america(&sizes, first) || *first == "1" && america(&sizes[1..], groups[1]);
    bracketed && digits <= 12 || abroad || town || russia || called
}

/// Whether three groups are a day, a month and a year, in either order.
fn is_date(three: &[&str]) -> bool {
    let number = |at: usize| three[at].parse::<u32>().unwrap_or(u32::MAX);
    let year = |at: usize| (1900..=2199).contains(&number(at));
    match [three[0].len(), three[1].len(), three[2].len()] {
        [1 | 2, 1 | 2, 4] => number(0) <= 31 && number(1) <= 31 && year(2),
        [4, 1 | 2, 1 | 2] => year(0) && number(1) <= 12 && number(2) <= 31,
        _ => false,
    }
}
