//! Formatting of values for people: tables, ages, sizes, shortened texts.
//!
//! Pure: text out of values, with the clock brought along.

use comfy_table::{ContentArrangement, LineStyle, Table, TableStyle};
use jiff::Timestamp;
use loci_types::Memory;
use serde_json::Value;

/// How long ago something was, in words.
pub(crate) fn age(then: Timestamp, now: Timestamp) -> String {
    let seconds = now.as_second() - then.as_second();
    let (number, unit) = match seconds.abs() {
        0..60 => return "just now".to_owned(),
        span @ 60..3_600 => (span / 60, "minute"),
        span @ 3_600..86_400 => (span / 3_600, "hour"),
        span @ 86_400..1_209_600 => (span / 86_400, "day"),
        span @ 1_209_600..5_184_000 => (span / 604_800, "week"),
        span @ 5_184_000..63_072_000 => (span / 2_592_000, "month"),
        span => (span / 31_536_000, "year"),
    };
    let plural = if number == 1 { "" } else { "s" };
    if seconds > 0 { format!("{number} {unit}{plural} ago") } else { format!("in {number} {unit}{plural}") }
}

/// When a memory happened, or else came in.
pub(crate) fn since(memory: &Memory) -> Timestamp {
    memory.event_time.unwrap_or(memory.created_at)
}

/// An instant, to the second.
pub(crate) fn instant(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// The first line of a text, shortened to `most` characters.
pub(crate) fn brief(text: &str, most: usize) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
        None => line,
    }
}

/// A size on disk.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_024 => format!("{bytes} B"),
        1_024..1_048_576 => format!("{:.1} KiB", bytes as f64 / 1_024.0),
        1_048_576..1_073_741_824 => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
        _ => format!("{:.2} GiB", bytes as f64 / 1_073_741_824.0),
    }
}

/// A number of things: `1 message`, `2 entities`.
pub(crate) fn count(number: u64, noun: &str) -> String {
    let noun = if noun == "edge" { "link" } else { noun };
    match noun.strip_suffix('y') {
        _ if number == 1 => format!("1 {noun}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {noun}s"),
    }
}

/// A JSON value as a person would write it: a string without its quotes.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A JSON value in a table; empty for null.
pub(crate) fn cell(value: &Value) -> String {
    if value.is_null() { String::new() } else { plain(value) }
}

/// An instant in JSON, to the second; a dash for null.
pub(crate) fn time(value: &Value) -> String {
    value.as_str().and_then(|text| text.parse().ok()).map_or_else(|| "–".to_owned(), instant)
}

/// A line under the head, and nothing else.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─'));

/// A table with a head and without noise.
pub(crate) fn table(head: &[&str], rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(crate::output::width());
    table.set_header(head.to_vec());
    for row in rows {
        table.add_row(row);
    }
    table.trim_fmt()
}

/// Names and values, one a line, aligned.
pub(crate) fn pairs(pairs: &[(String, String)]) -> String {
    let widest = pairs.iter().map(|(name, _)| name.chars().count()).max().unwrap_or(0);
    let line = |(name, value): &(String, String)| format!("{name:widest$}  {value}");
    pairs.iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_said_as_people_say_them() {
        let now: Timestamp = "2026-01-31T12:00:00Z".parse().unwrap();
        for (then, expect) in [
            ("2026-01-31T11:59:30Z", "just now"),
            ("2026-01-31T11:59:00Z", "1 minute ago"),
            ("2026-01-31T09:30:00Z", "2 hours ago"),
            ("2026-01-30T12:00:00Z", "1 day ago"),
            ("2026-01-10T12:00:00Z", "3 weeks ago"),
            ("2025-10-31T12:00:00Z", "3 months ago"),
            ("2022-01-31T12:00:00Z", "4 years ago"),
            ("2026-02-03T12:00:00Z", "in 3 days"),
        ] {
            assert_eq!(age(then.parse().unwrap(), now), expect, "{then}");
        }
    }

    #[test]
    fn long_texts_are_shortened_between_characters() {
        for (text, most, expect) in
            [("short", 10, "short"), ("two\nlines", 20, "two lines"), ("äöüäöü", 3, "äöü…"), ("", 3, "")]
        {
            assert_eq!(brief(text, most), expect);
        }
    }

    #[test]
    fn sizes_have_their_units() {
        for (bytes, expect) in [(0, "0 B"), (2_048, "2.0 KiB"), (5 << 20, "5.0 MiB"), (3 << 30, "3.00 GiB")] {
            assert_eq!(size(bytes), expect);
        }
    }
}
