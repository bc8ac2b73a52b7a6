//! Measures of a ranking: hit, recall, nDCG, MRR, refusals.
//!
//! Binary relevance. Hit@k: all of a question's evidence is in the first k (at 1: one of it is first), and before what it
//! replaced. Recall@k is the share of the evidence in the first k; nDCG@10 uses a log2 discount; MRR looks at the first 20.
//! Means are over questions that have evidence, with the interval that 95 of 100 resamplings of the questions fall into.
//! For questions without evidence, the share that was refused is reported.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use serde_json::{Value, json};

use super::corpus::Question;

const NAMES: [&str; 7] = ["hit@1", "hit@5", "recall@5", "recall@10", "recall@20", "ndcg@10", "mrr"];

/// Number of bootstrap resamples, with a fixed seed.
const RESAMPLINGS: usize = 1_000;
const SEED: u64 = 7;

/// What was measured of each question, by category.
#[derive(Default)]
pub(super) struct Measures {
    by_category: BTreeMap<String, Vec<[f64; 7]>>,
    all: Vec<[f64; 7]>,
    /// Questions without evidence, and those of them that were refused.
    unanswerable: usize,
    refused: usize,
}

impl Measures {
    /// Counts one ranking.
    pub(super) fn add(&mut self, question: &Question, ranked: &[String]) {
        if question.evidence.is_empty() {
            self.unanswerable += 1;
            self.refused += usize::from(ranked.is_empty());
            return;
        }
        let scores = score(&question.evidence, &question.stale, ranked);
        let category = question.category.clone().unwrap_or_else(|| "-".to_owned());
        self.by_category.entry(category).or_default().push(scores);
        self.all.push(scores);
    }

    /// The mean of a measure over all questions that have evidence.
    pub(super) fn mean(&self, name: &str) -> f64 {
        mean(&self.all, place(name))
    }

    /// Between which values the mean lies, most likely.
    pub(super) fn interval(&self, name: &str) -> (f64, f64) {
        let (at, count) = (place(name), self.all.len());
        let mut random = SmallRng::seed_from_u64(SEED);
        let mut resample = || (0..count).map(|_| self.all[random.random_range(0..count)][at]).sum::<f64>();
        let mut means: Vec<f64> = (0..RESAMPLINGS).map(|_| resample() / count.max(1) as f64).collect();
        means.sort_by(f64::total_cmp);
        (means[RESAMPLINGS / 40], means[RESAMPLINGS - 1 - RESAMPLINGS / 40])
    }

    /// The share of questions without evidence that were refused, or `None` without such a question.
    pub(super) fn refused(&self) -> Option<f64> {
        (self.unanswerable > 0).then(|| self.refused as f64 / self.unanswerable as f64)
    }

    /// The number of questions that have evidence.
    pub(super) fn count(&self) -> usize {
        self.all.len()
    }

    /// The means as JSON, by category and over all.
    pub(super) fn table(&self) -> Value {
        let means = |rows: &[[f64; 7]]| {
            let mut row = json!({ "n": rows.len() });
            for (at, name) in NAMES.iter().enumerate() {
                row[*name] = json!(mean(rows, at));
            }
            row
        };
        let mut table: serde_json::Map<String, Value> =
            self.by_category.iter().map(|(category, rows)| (category.clone(), means(rows))).collect();
        let mut all = means(&self.all);
        if let Some(refused) = self.refused() {
            all["refused"] = json!(refused);
        }
        table.insert("ALL".to_owned(), all);
        Value::Object(table)
    }
}

impl fmt::Display for Measures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<26}{:>6}", "category", "n")?;
        NAMES.iter().try_for_each(|name| write!(f, "{name:>11}"))?;
        let rows = self.by_category.iter().map(|(name, rows)| (name.as_str(), rows)).chain([("ALL", &self.all)]);
        for (name, rows) in rows {
            write!(f, "\n{name:<26}{:>6}", rows.len())?;
            (0..NAMES.len()).try_for_each(|at| write!(f, "{:>11.4}", mean(rows, at)))?;
        }
        if !self.all.is_empty() {
            let intervals = ["hit@1", "hit@5", "recall@10"].map(|name| {
                let (low, high) = self.interval(name);
                format!("{name} {low:.3}–{high:.3}")
            });
            write!(f, "\n95 in 100 resamplings: {}", intervals.join(", "))?;
        }
        if let Some(refused) = self.refused() {
            write!(f, "\nnothing answers {}, refused {:.0} %", self.unanswerable, 100.0 * refused)?;
        }
        Ok(())
    }
}

fn place(name: &str) -> usize {
    NAMES.iter().position(|known| *known == name).unwrap_or_default()
}

fn mean(rows: &[[f64; 7]], at: usize) -> f64 {
    rows.iter().map(|row| row[at]).sum::<f64>() / rows.len().max(1) as f64
}

fn score(evidence: &[String], stale: &[String], ranked: &[String]) -> [f64; 7] {
    let evidence: HashSet<&String> = evidence.iter().collect();
    let places: Vec<usize> = (0..ranked.len().min(20)).filter(|place| evidence.contains(&ranked[*place])).collect();
    let outdated = ranked.iter().position(|id| stale.contains(id)).unwrap_or(usize::MAX);
    let current = places.first().is_some_and(|first| *first < outdated);
    let within = |k: usize| places.iter().filter(|place| **place < k).count();
    let hit = |holds: bool| f64::from(u8::from(holds && current));
    let recall = |k: usize| within(k) as f64 / evidence.len() as f64;
    let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
    let ideal: f64 = (0..evidence.len().min(10)).map(gain).sum();
    let ndcg = places.iter().filter(|place| **place < 10).map(|place| gain(*place)).sum::<f64>() / ideal;
    let mrr = places.first().map_or(0.0, |place| 1.0 / (*place as f64 + 1.0));
    [hit(within(1) == 1), hit(within(5) == evidence.len()), recall(5), recall(10), recall(20), ndcg, mrr]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    // Coverage: SPEC.4.
    #[test]
    fn measures_of_a_ranking() {
        let close = |a: [f64; 7], b: [f64; 7]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4);
        for (evidence, stale, ranked, expect) in [
            ("a", "", "a b c", [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
            ("a z", "", "b a", [0.0, 0.0, 0.5, 0.5, 0.5, 0.3869, 0.5]),
            ("a z", "", "a b z", [1.0, 1.0, 1.0, 1.0, 1.0, 0.9197, 1.0]),
            ("a", "", "b c d e f a", [0.0, 0.0, 0.0, 1.0, 1.0, 0.3562, 0.1667]),
            ("a", "b", "b a", [0.0, 0.0, 1.0, 1.0, 1.0, 0.6309, 0.5]),
            ("a", "b", "a b", [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]),
            ("a", "", "", [0.0; 7]),
        ] {
            let found = score(&words(evidence), &words(stale), &words(ranked));
            assert!(close(found, expect), "{evidence} in {ranked}: {found:?}");
        }
    }

    #[test]
    fn the_interval_lies_around_the_mean() {
        let mut measures = Measures::default();
        let question = |evidence: &str| Question {
            qid: String::new(),
            conv: String::new(),
            question: String::new(),
            category: None,
            evidence: words(evidence),
            stale: Vec::new(),
        };
        for number in 0..100 {
            measures.add(&question("a"), &words(if number % 4 == 0 { "b" } else { "a" }));
        }
        measures.add(&question(""), &[]);
        measures.add(&question(""), &words("a"));
        let (low, high) = measures.interval("hit@1");
        assert!(low < 0.75 && 0.75 < high && high - low < 0.2, "{low} {high}");
        assert_eq!((measures.mean("hit@1"), measures.refused(), measures.count()), (0.75, Some(0.5), 100));
    }
}
