//! The daily token budget of language model calls.
//!
//! A [`TokenBudget`] is a pure rule: tokens per tenant and day. An [`Allowance`] is what is left of one during a
//! piece of work. **Invariant:** a call is made only if its maximum cost is left, so a budget is never exceeded;
//! unused tokens are returned.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use loci_types::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

/// How much may be learned, and what the language model may cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LearningLimits {
    /// Tokens read and written for a tenant on one day.
    pub tokens_per_day: u64,
    /// Memories that are learned for a user on one day.
    pub writes_per_user_per_day: u32,
    /// Memories that are learned from one turn.
    pub writes_per_turn: u32,
    /// Pairs of memories of a user that are compared on one day.
    pub pairs_per_user_per_day: u32,
    /// Pairs of episodes that are searched for causes in one night.
    pub causal_pairs_per_night: u32,
    /// Hours between two looks for insights into the same user.
    pub insight_hours: u32,
    /// Mentions of an entity before it is worth a portrait.
    pub mentions_for_summary: u32,
    /// The category of learned memories, by their kind. Callers with categories see what is learned in those.
    pub categories: BTreeMap<String, String>,
}

impl Default for LearningLimits {
    fn default() -> Self {
        Self {
            tokens_per_day: 200_000,
            writes_per_user_per_day: 200,
            writes_per_turn: 3,
            pairs_per_user_per_day: 50,
            causal_pairs_per_night: 50,
            insight_hours: 24,
            mentions_for_summary: 3,
            categories: categories(),
        }
    }
}

/// The categories that the kinds of learned memories have unless others are configured.
fn categories() -> BTreeMap<String, String> {
    let pairs = [
        ("fact", "knowledge"),
        ("preference", "preferences"),
        ("opinion", "interests"),
        ("person", "relationships"),
        ("project", "projects"),
        ("task", "tasks"),
        ("decision", "knowledge"),
        ("procedural", "procedural"),
        ("episodic", "activity"),
    ];
    pairs.into_iter().map(|(kind, category)| (kind.to_owned(), category.to_owned())).collect()
}

impl LearningLimits {
    /// Refuses what cannot work, by its name.
    pub fn validate(&self) -> Result<(), Error> {
        if self.categories.values().any(|name| name.trim().is_empty()) {
            let message = "learning.categories has an empty name".to_owned();
            return Err(Error::new(ErrorKind::Configuration, message).at("learning.categories"));
        }
        Ok(())
    }

    /// The tokens of a tenant and day.
    pub fn budget(&self) -> TokenBudget {
        TokenBudget { tokens_per_day: self.tokens_per_day }
    }
}

/// Tokens of a tenant and day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenBudget {
    /// Tokens read and written.
    pub tokens_per_day: u64,
}

impl TokenBudget {
    /// What is left of the day.
    pub fn left(&self, spent_today: u64) -> u64 {
        self.tokens_per_day.saturating_sub(spent_today)
    }

    /// Whether something that may cost `estimate` can still be asked today.
    pub fn admits(&self, spent_today: u64, estimate: u64) -> bool {
        estimate <= self.left(spent_today)
    }
}

/// Tokens that are left; clones share them.
#[derive(Debug, Clone)]
pub(super) struct Allowance(Arc<AtomicU64>);

impl Allowance {
    pub(super) fn new(tokens: u64) -> Self {
        Self(Arc::new(AtomicU64::new(tokens)))
    }

    /// What is left.
    pub(super) fn left(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Reserves tokens, if enough are left.
    pub(super) fn reserve(&self, tokens: u64) -> bool {
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(tokens)).is_ok()
    }

    /// Gives back what was set aside and not spent. What was spent beyond it is taken as well.
    pub(super) fn settle(&self, reserved: u64, spent: u64) {
        let settled = |left: u64| Some(left.saturating_add(reserved).saturating_sub(spent));
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, settled).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_admits_what_surely_fits() {
        let budget = LearningLimits::default().budget();
        for (spent, estimate, expect) in [
            (0, 200_000, true),
            (0, 200_001, false),
            (199_000, 1_000, true),
            (199_001, 1_000, false),
            (200_000, 0, true),
            (u64::MAX, 1, false),
            (1, u64::MAX, false),
        ] {
            assert_eq!(budget.admits(spent, estimate), expect, "{spent} {estimate}");
        }
        assert!(!TokenBudget { tokens_per_day: 0 }.admits(0, 1));
    }

    #[test]
    fn an_allowance_is_set_aside_and_settled() {
        let allowance = Allowance::new(100);
        let shared = allowance.clone();
        assert!(allowance.reserve(80));
        assert!(!shared.reserve(21), "what is set aside is gone for others");
        allowance.settle(80, 30);
        assert_eq!(shared.left(), 70);
        assert!(shared.reserve(70));
        shared.settle(70, 90);
        assert_eq!(allowance.left(), 0);
    }

    #[test]
    fn limits_have_defaults_and_wrong_ones_are_named() {
        let limits: LearningLimits = serde_json::from_str(r#"{"tokens_per_day": 5}"#).unwrap();
        assert_eq!(limits, LearningLimits { tokens_per_day: 5, ..LearningLimits::default() });
        assert_eq!(limits.validate(), Ok(()));
        assert!(serde_json::from_str::<LearningLimits>(r#"{"tokens": 5}"#).is_err());
        let none =
            LearningLimits { categories: [("fact".to_owned(), " ".to_owned())].into(), ..LearningLimits::default() };
        assert_eq!(none.validate().unwrap_err().field(), Some("learning.categories"));
    }
}
