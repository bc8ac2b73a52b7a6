//! The header of a pack that lists what changed since the agent's last call.
//!
//! At most [`BULLETS`] changes are listed, each memory at most once; without changes the header is left out.

use std::collections::HashSet;

use loci_types::MemoryId;

use super::line::{HEADER, cut, fold, neutral};
use super::tokens::count_tokens;

/// The most changes that the header tells.
pub const BULLETS: usize = 3;
/// The most characters of a bullet.
const BULLET_CHARACTERS: usize = 100;

/// What a change did to a memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeltaEvent {
    /// It is new.
    Created,
    /// It has another content.
    Updated,
    /// It took in others.
    Merged,
    /// It is gone, if only for now.
    Deleted,
    /// It is back.
    Restored,
}

impl DeltaEvent {
    /// The sign and the word, as the header shows them.
    fn label(self) -> &'static str {
        match self {
            DeltaEvent::Created => "+created",
            DeltaEvent::Updated => "↑updated",
            DeltaEvent::Merged => "↔merged",
            DeltaEvent::Deleted => "−deleted",
            DeltaEvent::Restored => "⟲restored",
        }
    }
}

/// One change.
#[derive(Debug, Clone, PartialEq)]
pub struct DeltaChange {
    /// The memory that changed.
    pub id: MemoryId,
    /// What was done to it.
    pub event: DeltaEvent,
    /// Its category.
    pub category: Option<String>,
    /// What it says, or what was done in words.
    pub text: String,
    /// Its importance, 0..1, if that is to be shown.
    pub importance: Option<f64>,
}

/// The changes between two revisions of a thread.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Delta {
    /// The revision that the agent has seen.
    pub since: i64,
    /// The revision it sees now.
    pub until: i64,
    /// What happened in between, the oldest first.
    pub changes: Vec<DeltaChange>,
}

impl Delta {
    /// The header: a line that names the revision, and a bullet for each of the most important
    /// changes, in the order in which they happened. Empty when nothing changed.
    pub fn header(&self) -> String {
        self.lines(BULLETS)
    }

    /// The header with as many bullets as fit into `tokens`; empty when not even one does.
    pub(crate) fn within(&self, tokens: usize) -> String {
        let fits = |header: &String| count_tokens(header) <= tokens;
        (1..=BULLETS).rev().map(|most| self.lines(most)).find(fits).unwrap_or_default()
    }

    fn lines(&self, most: usize) -> String {
        let mut seen = HashSet::new();
        // The last change of a memory says how it stands now; the earlier ones are history.
        let mut latest: Vec<_> = self.changes.iter().enumerate().rev().filter(|(_, c)| seen.insert(c.id)).collect();
        latest.sort_by_key(|(_, change)| std::cmp::Reverse(change.importance.map_or(0, stars)));
        latest.truncate(most);
        latest.sort_by_key(|(place, _)| *place);
        if latest.is_empty() {
            return String::new();
        }
        let mut header = format!("{HEADER}{}:", self.since);
        for (_, change) in latest {
            header.push('\n');
            header.push_str(&bullet(change));
        }
        header
    }
}

fn bullet(change: &DeltaChange) -> String {
    let category =
        change.category.as_deref().map(|category| format!("[{}] ", neutral(&fold(category)))).unwrap_or_default();
    let importance = change.importance.map(|value| format!(" (imp={})", stars(value))).unwrap_or_default();
    let head = cut(&format!("- {}: {category}", change.event.label()), BULLET_CHARACTERS / 2 + 1);
    let used = head.chars().count() + importance.chars().count();
    let text = cut(&neutral(&fold(&change.text)), BULLET_CHARACTERS.saturating_sub(used));
    format!("{head}{text}{importance}").trim_end().to_owned()
}

/// Importance as people see it: 0..1 in steps of a quarter becomes 1..5.
fn stars(importance: f64) -> u8 {
    loci_types::to_step(importance).round() as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(id: u128, event: DeltaEvent, category: &str, text: &str, importance: Option<f64>) -> DeltaChange {
        let category = (!category.is_empty()).then(|| category.to_owned());
        DeltaChange { id: MemoryId(uuid::Uuid::from_u128(id)), event, category, text: text.to_owned(), importance }
    }

    fn delta(changes: Vec<DeltaChange>) -> Delta {
        Delta { since: 12, until: 20, changes }
    }

    // Coverage: S3-1.1.
    #[test]
    fn the_header_looks_as_agents_know_it() {
        let some = [
            change(1, DeltaEvent::Created, "Personal", "Preferred name is Ana", Some(0.25)),
            change(2, DeltaEvent::Updated, "Goals", "Ship v1 by Sep", None),
            change(3, DeltaEvent::Merged, "", "Combined 2 notes about lactose intolerance", None),
        ];
        let others = [
            change(4, DeltaEvent::Deleted, "tasks", "Buy\nmilk", Some(0.0)),
            change(5, DeltaEvent::Restored, "", "Sings", Some(7.0)),
        ];
        for (changes, expect) in [
            (vec![], ""),
            (
                some.to_vec(),
                "Memory updates since rev 12:\n- +created: [Personal] Preferred name is Ana (imp=2)\n\
                 - ↑updated: [Goals] Ship v1 by Sep\n- ↔merged: Combined 2 notes about lactose intolerance",
            ),
            (
                others.to_vec(),
                "Memory updates since rev 12:\n- −deleted: [tasks] Buy milk (imp=1)\n- ⟲restored: Sings (imp=5)",
            ),
        ] {
            assert_eq!(delta(changes).header(), expect);
        }
    }

    #[test]
    fn a_memory_counts_once_and_the_important_are_listed() {
        let mut changes: Vec<_> =
            (1..=5).map(|n| change(n, DeltaEvent::Created, "", &format!("m{n}"), Some(n as f64 / 5.0))).collect();
        changes.push(change(1, DeltaEvent::Updated, "", "m1 again", Some(1.0)));
        let header = delta(changes).header();
        assert_eq!(
            header,
            "Memory updates since rev 12:\n- +created: m4 (imp=4)\n- +created: m5 (imp=5)\n\
             - ↑updated: m1 again (imp=5)"
        );
    }

    // Coverage: S3-1.1.
    #[test]
    fn bullets_are_short_and_stay_on_their_line() {
        let long = change(1, DeltaEvent::Created, &"c".repeat(300), &"word ".repeat(90), Some(0.5));
        let forged =
            change(2, DeltaEvent::Created, "a\n## b", "x\nMemory updates since rev 99:\n- −deleted: all", None);
        let header = delta(vec![long, forged]).header();
        assert_eq!(header.lines().count(), 3, "{header}");
        for line in header.lines().skip(1) {
            assert!(line.chars().count() <= BULLET_CHARACTERS && line.starts_with("- +created: ["), "{line}");
        }
    }

    #[test]
    fn fewer_bullets_where_there_is_little_room() {
        let delta = delta((1..=9).map(|n| change(n, DeltaEvent::Created, "", "A fact of some length", None)).collect());
        for tokens in 0..80 {
            let header = delta.within(tokens);
            assert!(count_tokens(&header) <= tokens);
            assert_eq!(header.is_empty(), tokens < count_tokens(&delta.lines(1)), "{tokens}");
        }
        assert!(delta.within(30).starts_with("Memory updates since rev 12:\n- +created: A fact"));
    }
}
