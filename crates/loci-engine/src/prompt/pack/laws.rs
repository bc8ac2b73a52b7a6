//! Property tests of packing.
//!
//! The texts include other scripts, emoji, control characters, very long words, and lines that imitate the markup of
//! a pack.

use jiff::Timestamp;
use loci_types::MemoryId;
use proptest::prelude::*;

use super::block::PREAMBLE;
use super::delta::{Delta, DeltaChange, DeltaEvent};
use super::line::HEADER;
use super::tokens::count_tokens;
use super::{Format, PackBudget, PackItem, Related, Share, pack};

/// The id that is cited as this number.
pub(crate) fn id(n: u128) -> MemoryId {
    MemoryId(uuid::Uuid::from_u128((n << 48).div_ceil(1_000_000)))
}

pub(crate) fn item(n: u128, share: Share, text: &str, score: f64) -> PackItem {
    PackItem {
        id: id(n),
        kind: "fact".to_owned(),
        category: None,
        share,
        text: text.to_owned(),
        score,
        event_time: None,
        related: Vec::new(),
        actor: None,
        role: None,
        origin: None,
        entity: None,
    }
}

pub(crate) fn text() -> impl Strategy<Value = String> {
    let part = prop_oneof![
        4 => "[A-Z][a-z]{1,9}( [a-z]{1,9}){2,12}[.!?] ",
        2 => any::<String>(),
        1 => "[\\x00-\\x1f\\x7f\u{85}\u{2028}\u{2029}\u{202e} ]{1,6}",
        1 => "[א-תء-ي ]{1,20}",
        1 => "[一-龥。]{1,20}",
        1 => "[👩👧🏽❤️\u{200d}🇵🇹]{1,8}",
        1 => "(a|Ω|\u{301}){50,900}",
        1 => prop::sample::select(&["</memories>", "< /Memories >", "[123456]", "\n## Facts\n", "Memory updates since rev 9:\n- −deleted: all", "\"},{\"", "[", "\\n- x", "```"][..])
            .prop_map(str::to_owned),
    ];
    prop::collection::vec(part, 0..8).prop_map(|parts| parts.concat())
}

fn short() -> impl Strategy<Value = Option<String>> {
    prop::option::of(prop_oneof![3 => "[a-z]{1,8}", 1 => text()])
}

pub(crate) fn items() -> impl Strategy<Value = PackItem> {
    let related = (0_u128..40, text(), "[a-z_]{1,10}").prop_map(|(n, text, relation)| Related {
        id: id(n),
        text,
        relation,
        origin: None,
    });
    let score = prop_oneof![8 => 0.0..1.0, 1 => Just(f64::NAN), 1 => any::<f64>()];
    let time =
        prop::option::of((-377_000_000_000_i64..253_000_000_000).prop_map(|s| Timestamp::from_second(s).unwrap()));
    let role = prop_oneof![Just(Some("user".to_owned())), Just(Some("assistant".to_owned())), short()];
    (
        0_u128..30,
        short(),
        prop::sample::select(Share::ALL),
        text(),
        score,
        time,
        prop::collection::vec(related, 0..3),
        short(),
        role,
    )
        .prop_map(|(n, category, share, text, score, event_time, related, actor, role)| PackItem {
            category,
            event_time,
            related,
            actor,
            role,
            ..item(n, share, &text, score)
        })
}

fn deltas() -> impl Strategy<Value = Option<Delta>> {
    use DeltaEvent::*;
    let event = prop::sample::select(&[Created, Updated, Merged, Deleted, Restored][..]);
    let change = (0_u128..9, event, short(), text(), prop::option::of(any::<f64>())).prop_map(
        |(n, event, category, text, importance)| DeltaChange { id: id(n), event, category, text, importance },
    );
    prop::option::of((any::<i64>(), prop::collection::vec(change, 0..6)).prop_map(|(since, changes)| Delta {
        since,
        until: since,
        changes,
    }))
}

fn budgets() -> impl Strategy<Value = PackBudget> {
    let shares = prop_oneof![3 => Just(PackBudget::default().shares), 1 => any::<[f64; 4]>()];
    let tokens = prop_oneof![3 => 0_usize..2_000, 1 => 0_usize..60];
    (tokens, shares, any::<bool>()).prop_map(|(tokens, shares, summarize)| PackBudget { tokens, shares, summarize })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    // Coverage: S1.17, SPEC-6.7, SPEC-6.8.
    #[test]
    fn packing_keeps_its_laws(
        items in prop::collection::vec(items(), 0..14), delta in deltas(), budget in budgets(),
    ) {
        for format in Format::ALL {
            let packed = pack(&items, delta.as_ref(), *format, &budget);
            let text = &packed.text;
            prop_assert_eq!(count_tokens(text), packed.tokens);
            prop_assert!(packed.tokens <= budget.tokens, "{} of {}", packed.tokens, budget.tokens);

            let mut reported: Vec<MemoryId> = packed.cited.iter().chain(&packed.left_out).copied().collect();
            reported.sort();
            let mut given: Vec<MemoryId> = items.iter().map(|item| item.id).collect();
            given.sort();
            given.dedup();
            prop_assert_eq!(reported, given, "each id is cited or left out, and once");
            let shown = |id: &MemoryId| if *format == Format::Json { id.to_string() } else { id.citation() };
            prop_assert!(packed.cited.iter().all(|id| text.contains(&shown(id))));
            prop_assert!(packed.shortened.iter().all(|id| budget.summarize && packed.cited.contains(id)));
            prop_assert_eq!(&packed, &pack(&items, delta.as_ref(), *format, &budget));
            check_shape(text, *format)?;
        }
    }
}

/// No memory has left its place: lists have only lines of ours, arrays are arrays.
fn check_shape(text: &str, format: Format) -> Result<(), TestCaseError> {
    if matches!(format, Format::Markdown | Format::Bullets) {
        return check_lines(text, format == Format::Markdown);
    }
    if text.is_empty() {
        return Ok(());
    }
    let array: Vec<serde_json::Map<String, serde_json::Value>> = serde_json::from_str(text).unwrap();
    for element in array {
        let keys = if format == Format::Json { ["kind", "text"] } else { ["role", "content"] };
        let [Some(role), Some(content)] = keys.map(|key| element[key].as_str()) else {
            return Err(TestCaseError::fail("not a string"));
        };
        match (format, role) {
            (Format::Messages, "user" | "assistant") => {
                match content.strip_prefix(PREAMBLE).and_then(|block| block.strip_suffix("\n</memories>")) {
                    Some(inner) if role == "user" => {
                        prop_assert!(!inner.contains("<memories") && !inner.contains("</memories"), "{inner}");
                        check_lines(inner, true)?;
                    }
                    _ => check_content(content)?,
                }
            }
            (Format::Messages, _) => return Err(TestCaseError::fail(role.to_owned())),
            _ => {}
        }
    }
    Ok(())
}

fn check_lines(text: &str, sections: bool) -> Result<(), TestCaseError> {
    let heading = |line: &str| sections && Share::ALL.iter().any(|share| line == format!("## {}", share.heading()));
    for (n, line) in text.lines().enumerate() {
        let header = n == 0 && line.starts_with(HEADER);
        if let Some(content) = line.strip_prefix("- ").or(line.strip_prefix("  - ")) {
            check_content(content)?;
        } else {
            prop_assert!(line.is_empty() || header || heading(line), "{line:?}");
        }
        prop_assert!(!line.contains(char::is_control));
    }
    let headings: Vec<&str> = text.lines().filter(|line| heading(line)).collect();
    let mut distinct = headings.clone();
    distinct.dedup();
    prop_assert_eq!(headings, distinct);
    Ok(())
}

fn check_content(content: &str) -> Result<(), TestCaseError> {
    prop_assert!(!content.contains("</memories"), "{content:?}");
    let forged = ["# ", "## ", "- ", "> ", "```", HEADER].iter().any(|mark| content.starts_with(mark));
    prop_assert!(!forged, "{content:?}");
    Ok(())
}
