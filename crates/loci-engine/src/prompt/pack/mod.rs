//! Packs memories into a token budget.
//!
//! Pure. Memories, best first, become a text that never has more tokens than the budget, counted with a real
//! tokenizer, in shares for facts, profiles, events and evidence. Unused room of one share goes to the others. The
//! order is stable, and every memory is cited by its id, so that an agent can get, correct or forget it.

mod block;
mod choose;
pub mod context;
pub mod delta;
mod format;
#[cfg(test)]
mod laws;
pub(crate) mod line;
pub mod origin;
pub mod shorten;
pub mod tokens;

use std::cmp::Ordering;
use std::collections::HashSet;

use jiff::Timestamp;
use loci_types::MemoryId;

pub use self::block::{block_tokens, data_block};
use self::choose::Choice;
use self::delta::Delta;
pub use self::format::Format;
use self::tokens::count_tokens;
use crate::lifecycle::summarize::extractive;

/// Maximum number of tokens of the summary of memories that did not fit.
const MAX_SUMMARY_TOKENS: usize = 2_000;
/// Number of tokens that the summary takes on the page beside its words.
const SUMMARY_FRAME: usize = 12;

/// A memory that may be packed.
#[derive(Debug, Clone, PartialEq)]
pub struct PackItem {
    /// Its id.
    pub id: MemoryId,
    /// Its kind.
    pub kind: String,
    /// Its category.
    pub category: Option<String>,
    /// The share of the budget that it belongs to.
    pub share: Share,
    /// Its text.
    pub text: String,
    /// Its score; higher is better.
    pub score: f64,
    /// When it happened, if that is shown.
    pub event_time: Option<Timestamp>,
    /// Linked memories, the strongest first.
    pub related: Vec<Related>,
    /// The speaker, for turns only.
    pub actor: Option<String>,
    /// The role of the speaker, for turns only.
    pub role: Option<String>,
    /// Where it comes from, if that is not the user's own conversation: `tool web:example.org`, `import`, `agent scout`.
    pub origin: Option<String>,
    /// The name of the entity that it describes; then it is not a memory, its id is that of the entity, and it is cited by
    /// this name.
    pub entity: Option<String>,
}

/// A linked memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Related {
    /// Its id.
    pub id: MemoryId,
    /// Its text.
    pub text: String,
    /// The name of the relation.
    pub relation: String,
    /// Where it comes from, as of a [`PackItem`].
    pub origin: Option<String>,
}

/// A share of the budget, which is also a section of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Share {
    /// Facts.
    Facts,
    /// Descriptions of persons and things.
    Profiles,
    /// Events, in their order.
    Temporal,
    /// Original texts.
    Evidence,
}

impl Share {
    /// All shares, in the order in which they are shown.
    pub const ALL: &'static [Share] = &[Share::Facts, Share::Profiles, Share::Temporal, Share::Evidence];

    fn heading(self) -> &'static str {
        match self {
            Share::Facts => "Facts",
            Share::Profiles => "Profiles",
            Share::Temporal => "Timeline",
            Share::Evidence => "Evidence",
        }
    }
}

/// The budget of a pack.
#[derive(Debug, Clone, PartialEq)]
pub struct PackBudget {
    /// Maximum number of tokens.
    pub tokens: usize,
    /// The parts of [`Share::ALL`], in its order.
    pub shares: [f64; 4],
    /// Whether long memories are shortened to whole sentences, and those that still do not fit are summarized together.
    pub summarize: bool,
}

impl Default for PackBudget {
    fn default() -> Self {
        Self { tokens: 1_000, shares: [0.40, 0.25, 0.25, 0.10], summarize: false }
    }
}

impl PackBudget {
    /// A budget of this number of tokens in the default shares.
    pub fn of(tokens: usize) -> Self {
        Self { tokens, ..Self::default() }
    }

    /// The fraction of one share. Fractions that sum to more than 1 are scaled down.
    fn part(&self, share: Share) -> f64 {
        let sane = |part: f64| if part.is_finite() { part.max(0.0) } else { 0.0 };
        let sum: f64 = self.shares.into_iter().map(sane).sum();
        sane(self.shares[share as usize]) / sum.max(1.0)
    }
}

/// Memories packed as text.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct PackedText {
    /// The text.
    pub text: String,
    /// Number of tokens of the text.
    pub tokens: usize,
    /// The memories in the text, in its order.
    pub cited: Vec<MemoryId>,
    /// The memories that did not fit, best first. If a summary was asked for, the text ends with one of them.
    pub left_out: Vec<MemoryId>,
    /// The cited memories that were shortened.
    pub shortened: Vec<MemoryId>,
}

/// Packs `items`, best first, and the delta header into the budget.
///
/// A repeated id counts once. The header may take half of the budget; with less room it lists fewer changes.
pub fn pack(items: &[PackItem], delta: Option<&Delta>, format: Format, budget: &PackBudget) -> PackedText {
    let mut seen = HashSet::new();
    let items: Vec<&PackItem> = items.iter().filter(|item| seen.insert(item.id)).collect();
    let mut header = delta.map(|delta| delta.within(budget.tokens / 2)).unwrap_or_default();
    let room = budget.tokens.saturating_sub(format.frame_tokens(&header));
    let mut choice = Choice::new(&items, room, format, budget);
    let mut summary = String::new();
    if budget.summarize && choice.entries().len() < items.len() {
        // A fifth is kept for the summary; otherwise memories that fit just so would leave none.
        let part = (room / 5).min(MAX_SUMMARY_TOKENS);
        let narrower = Choice::new(&items, room - part, format, budget);
        summary = summary_of(&items, &narrower, part.saturating_sub(count_tokens(format::SUMMARY) + SUMMARY_FRAME));
        if !summary.is_empty() {
            choice = narrower;
        }
    }
    // Tokens of parts do not quite add up to those of the whole, so the whole has the last word.
    loop {
        let entries = choice.entries();
        let mut text = format.page(&header, &entries, &summary);
        let mut tokens = count_tokens(&text);
        if tokens > budget.tokens && entries.is_empty() && header.is_empty() && summary.is_empty() {
            (text, tokens) = (String::new(), 0);
        }
        if tokens <= budget.tokens {
            let memories = || entries.iter().filter(|entry| entry.item.entity.is_none());
            let cited: Vec<MemoryId> = memories().map(|entry| entry.item.id).collect();
            let shortened = memories().filter(|entry| entry.is_shortened()).map(|entry| entry.item.id).collect();
            let shown: HashSet<MemoryId> = cited.iter().copied().collect();
            let all = items.iter().filter(|item| item.entity.is_none()).map(|item| item.id);
            let left_out = all.filter(|id| !shown.contains(id)).collect();
            return PackedText { text, tokens, cited, left_out, shortened };
        }
        if !choice.give_up(tokens - budget.tokens) {
            if summary.is_empty() { header.clear() } else { summary.clear() }
        }
    }
}

/// What the memories that were not chosen say together, on one line of at most this number of tokens. What came from
/// elsewhere is left out, because a sentence of it would lose the mark of its origin.
fn summary_of(items: &[&PackItem], choice: &Choice<'_>, tokens: usize) -> String {
    let chosen: HashSet<MemoryId> = choice.entries().iter().map(|entry| entry.item.id).collect();
    let left = items.iter().enumerate().filter(|(_, item)| !chosen.contains(&item.id) && item.origin.is_none());
    let texts: Vec<String> = left.map(|(place, item)| format::PackEntry::whole(place, item).line()).collect();
    line::neutral(&line::fold(&extractive(&texts, None, tokens)))
}

/// Orders by descending score; NaN comes last.
fn by_score(a: &PackItem, b: &PackItem) -> Ordering {
    let key = |item: &PackItem| if item.score.is_nan() { f64::NEG_INFINITY } else { item.score };
    key(b).total_cmp(&key(a))
}

#[cfg(test)]
mod tests {
    use super::laws::{id, item};
    use super::*;

    /// Twenty-eight tokens as a line.
    fn fact(n: u128, share: Share) -> PackItem {
        let text = format!("Ana has seen the river number {n} and wrote down how wide and how deep it was on that day");
        item(n, share, &text, 1.0 - n as f64 / 100.0)
    }

    fn cited(items: &[PackItem], format: Format, budget: &PackBudget) -> Vec<u128> {
        pack(items, None, format, budget).cited.iter().filter_map(|id| id.citation().parse().ok()).collect()
    }

    // Coverage: S1.17.
    #[test]
    fn shares_are_kept_and_what_is_left_flows_on() {
        use Share::*;
        let of = |share: Share, range: std::ops::RangeInclusive<u128>| range.map(move |n| fact(n, share));
        let both = || of(Facts, 1..=9).chain(of(Profiles, 10..=19)).collect();
        let even = PackBudget { shares: [0.5, 0.5, 0.0, 0.0], ..PackBudget::of(180) };
        for (what, items, budget, expect) in [
            ("facts alone take all", of(Facts, 1..=9).collect(), PackBudget::of(180), vec![1, 2, 3, 4, 5, 6]),
            ("profiles keep their part", both(), PackBudget::of(180), vec![1, 2, 3, 4, 5, 10]),
            ("shares as they are given", both(), even, vec![1, 2, 3, 10, 11, 12]),
            ("the better, where no part is enough", both(), PackBudget::of(40), vec![1]),
            ("nothing fits", of(Facts, 1..=9).collect(), PackBudget::of(20), vec![]),
        ] {
            let items: Vec<PackItem> = items;
            assert_eq!(cited(&items, Format::Markdown, &budget), expect, "{what}");
        }
    }

    // Coverage: S1.17.
    #[test]
    fn sections_keep_their_order() {
        let at = |n, share, time: &str| PackItem { event_time: time.parse().ok(), ..fact(n, share) };
        let items = [
            fact(1, Share::Evidence),
            at(2, Share::Temporal, ""),
            at(3, Share::Temporal, "2024-01-02T00:00:00Z"),
            at(4, Share::Temporal, "2023-01-02T00:00:00Z"),
            fact(5, Share::Facts),
            fact(6, Share::Profiles),
            PackItem { score: f64::NAN, ..fact(7, Share::Facts) },
            PackItem { score: 2.0, ..fact(8, Share::Facts) },
        ];
        for format in Format::ALL {
            assert_eq!(cited(&items, *format, &PackBudget::of(2_000)), [8, 5, 7, 6, 4, 3, 2, 1], "{format}");
        }
    }

    // Coverage: S1.27.
    #[test]
    fn an_entity_is_packed_and_cited_by_its_name() {
        let named = |n| PackItem { entity: Some("Paul".to_owned()), ..fact(n, Share::Profiles) };
        let items = [fact(1, Share::Facts), named(2)];
        for (format, citation) in [
            (Format::Markdown, "[entity Paul]"),
            (Format::Bullets, "(entity Paul)"),
            (Format::Messages, "[entity Paul]"),
            (Format::Json, "\"entity\":\"Paul\""),
        ] {
            let packed = pack(&items, None, format, &PackBudget::of(400));
            assert_eq!((packed.cited, packed.left_out), (vec![id(1)], vec![]), "{format}");
            assert!(packed.text.contains(citation) && packed.text.contains("number 2"), "{format}: {}", packed.text);
            let alone = pack(&items[..1], None, format, &PackBudget::of(400)).tokens;
            let tight = pack(&items, None, format, &PackBudget::of(alone));
            assert_eq!(tight.cited.len() + tight.left_out.len(), 1, "{format}: an entity is in neither list");
        }
    }

    // Coverage: S4.11.
    #[test]
    fn what_is_too_long_is_shortened_when_asked() {
        let long =
            "Ana moved to Porto in 2021. Then this and that was there. The house costs 900 euros a month. ".repeat(9);
        let items = [item(1, Share::Facts, &long, 1.0), fact(2, Share::Facts)];
        for format in Format::ALL {
            let budget = PackBudget::of(150);
            assert_eq!(cited(&items, *format, &budget), [2], "{format}");
            let packed = pack(&items, None, *format, &PackBudget { summarize: true, ..budget });
            assert_eq!(packed.cited, [id(1), id(2)], "{format}");
            assert_eq!(packed.shortened, [id(1)], "{format}");
            assert!(packed.text.contains("Ana moved to Porto in 2021."), "{format}: {}", packed.text);
        }
    }

    // Coverage: S3-2.2.
    #[test]
    fn related_ones_are_shown_once_and_only_where_there_is_room() {
        let related =
            |n: u128| Related { id: id(n), text: format!("Related {n}"), relation: "causes".to_owned(), origin: None };
        let mut items = [fact(1, Share::Facts), fact(2, Share::Facts)];
        items[0].related = vec![related(2), related(20), related(21), related(22)];
        items[1].related = vec![related(20), related(22)];
        for (tokens, expect) in [(60, vec![]), (74, vec![20]), (400, vec![20, 21, 22])] {
            let packed = pack(&items, None, Format::Markdown, &PackBudget::of(tokens));
            let shown: Vec<u32> =
                (20..=22).filter(|n| packed.text.contains(&format!("  - causes: Related {n} ["))).collect();
            assert_eq!((packed.cited.len(), shown), (2, expect), "{tokens}");
        }
    }

    #[test]
    fn the_header_comes_first_and_takes_half_at_most() {
        let change = |n: u128| delta::DeltaChange {
            id: id(n),
            event: delta::DeltaEvent::Created,
            category: None,
            text: "Ana has seen another river, and it was a long one".to_owned(),
            importance: None,
        };
        let delta = Delta { since: 4, until: 9, changes: (1..=3).map(change).collect() };
        let items = [fact(1, Share::Facts)];
        for (tokens, bullets, facts) in [(20, 0, 0), (45, 0, 1), (90, 2, 1), (200, 3, 1)] {
            let packed = pack(&items, Some(&delta), Format::Markdown, &PackBudget::of(tokens));
            assert_eq!(packed.text.matches("- +created").count(), bullets, "{tokens}: {}", packed.text);
            assert_eq!(packed.text.starts_with("Memory updates since rev 4"), bullets > 0, "{tokens}");
            assert_eq!(packed.cited.len(), facts, "{tokens}");
        }
    }
}
