//! Property tests of the parsers that read what strangers write: none panics, none takes long, and what is written is read
//! back the same.

use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use jiff::{Timestamp, Zoned};
use loci_engine::importers::{SourceFormat, guess, markdown, read};
use loci_engine::plan::time::time_phrases;
use loci_engine::{FeedCursor, parse_instant};
use proptest::prelude::*;

/// Much more than any of these inputs needs, also on a busy machine.
const LONG: Duration = Duration::from_secs(10);

fn now() -> Zoned {
    Zoned::new("2026-07-15T12:00:00Z".parse::<Timestamp>().unwrap(), TimeZone::UTC)
}

/// Sentences of words that stand in phrases of time, in any order, with numbers at and beyond the limits.
fn phrase_like() -> impl Strategy<Value = String> {
    let words = [
        "yesterday",
        "last",
        "next",
        "in",
        "ago",
        "days",
        "weeks",
        "months",
        "years",
        "since",
        "between",
        "and",
        "of",
        "the",
        "january",
        "february",
        "monday",
        "q1",
        "spring",
        "29",
        "30",
        "31",
        "0",
        "-1",
        "99999",
        "2147483648",
        "18446744073709551616",
        "1.5",
        "2026",
        "2026-02-30",
        "2026-13-01",
        "9999-12-31",
        "-9999-01-01",
        "23:59",
        "25:61",
        "noon",
        "half",
        "a",
        "an",
        "few",
        "early",
        "late",
        "вчера",
        "в",
        "прошлом",
        "году",
        "/",
        ",",
        "–",
        "",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..16).prop_map(|words| words.join(" "))
}

/// Text that is nearly a JSON document of another system: its names and signs in any order.
fn json_like() -> impl Strategy<Value = String> {
    let parts = [
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "\"",
        "null",
        "true",
        "1e999",
        "-0",
        "\\u0000",
        "\\ud800",
        "\"memory\"",
        "\"id\"",
        "\"created_at\"",
        "\"mapping\"",
        "\"message\"",
        "\"author\"",
        "\"role\"",
        "\"user\"",
        "\"content\"",
        "\"parts\"",
        "\"chat_messages\"",
        "\"sender\"",
        "\"text\"",
        "\"value\"",
        "\"namespace\"",
        "\"results\"",
        "\"type\"",
        "\"entity\"",
        "\"relation\"",
        "\"parent\"",
        "\"children\"",
        "\"a\"",
        " ",
        "\n",
        "9223372036854775808",
        "\"2026-01-01T00:00:00Z\"",
        "\u{feff}",
        "é",
        "\u{202e}",
    ];
    prop::collection::vec(prop::sample::select(parts.to_vec()), 0..60).prop_map(|parts| parts.concat())
}

fn read_all(bytes: &[u8]) {
    let started = Instant::now();
    for format in SourceFormat::ALL {
        let mut items = 0;
        let mut input = bytes;
        // A reader that returned the same place again and again would never end.
        drop(read(format, &mut input, &mut |_| {
            items += 1;
            items < 10_000
        }));
        assert!(items <= bytes.len() + 1, "{} items of {} bytes", items, bytes.len());
    }
    let text = String::from_utf8_lossy(bytes);
    drop(markdown::notes("notes.md", &text, None, 1_000));
    guess("file", bytes);
    assert!(started.elapsed() < LONG, "{:?}", started.elapsed());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn imports_of_any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        read_all(&bytes);
    }

    #[test]
    fn imports_of_nearly_valid_documents_end(text in json_like()) {
        read_all(text.as_bytes());
        read_all(format!("[{text}]").as_bytes());
    }

    #[test]
    fn phrases_of_time_are_within_the_text_and_go_forward(text in prop_oneof![phrase_like(), any::<String>()]) {
        let started = Instant::now();
        for phrase in time_phrases(&text, &now()) {
            prop_assert!(phrase.span.from < phrase.span.until, "{text}");
            prop_assert!(text.get(phrase.at.clone()).is_some_and(|named| !named.is_empty()), "{text}");
        }
        drop(parse_instant(&text));
        prop_assert!(started.elapsed() < LONG);
    }

    #[test]
    fn instants_are_read_back(second in -100_000_000_000_i64..250_000_000_000) {
        let at = Timestamp::from_second(second).unwrap();
        prop_assert_eq!(parse_instant(&at.to_string()).unwrap(), at);
    }

    #[test]
    fn cursors_of_the_feed_are_read_back_or_refused(
        text in prop_oneof![any::<String>(), "[a-z_~.0-9-]{0,60}", "(all~)?(shared|users_0[0-9a-f])\\.[0-9]{1,20}"],
    ) {
        if let Ok(cursor) = text.parse::<FeedCursor>() {
            prop_assert_eq!(cursor.to_string().parse::<FeedCursor>().unwrap(), cursor, "{}", text);
        }
    }
}

/// Nested input is bounded by depth, and long input by its own length.
#[test]
fn deep_and_long_input_ends() {
    for text in ["[".repeat(200_000), "{\"a\":".repeat(100_000), "\"".repeat(200_000), "1".repeat(200_000)] {
        read_all(text.as_bytes());
    }
    let started = Instant::now();
    for text in ["last ".repeat(20_000), "2026 ".repeat(20_000), "1/".repeat(50_000), "and ".repeat(20_000)] {
        time_phrases(&text, &now());
    }
    assert!(started.elapsed() < LONG, "{:?}", started.elapsed());
    assert!("shared.1~".repeat(100_000).parse::<FeedCursor>().is_err());
}
