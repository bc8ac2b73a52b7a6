//! How good is a ranking?
//!
//! Binary relevance. Recall@k is the share of a question's evidence in the first k; nDCG@10 uses
//! a log2 discount; MRR looks at the first 20. Means are over questions that have evidence.

use std::collections::{BTreeMap, HashSet};
use std::fmt;

use serde_json::{Value, json};

use super::corpus::Question;

const NAMES: [&str; 5] = ["recall@5", "recall@10", "recall@20", "ndcg@10", "mrr"];

/// Sums by category.
#[derive(Default)]
pub(super) struct Measures {
    by_category: BTreeMap<String, (usize, [f64; 5])>,
    all: (usize, [f64; 5]),
}

impl Measures {
    /// Counts one ranking, if its question has evidence.
    pub(super) fn add(&mut self, question: &Question, ranked: &[String]) {
        if question.evidence.is_empty() {
            return;
        }
        let scores = score(&question.evidence, ranked);
        let category = question.category.clone().unwrap_or_else(|| "-".to_owned());
        for (count, sums) in [&mut self.all, self.by_category.entry(category).or_default()] {
            *count += 1;
            sums.iter_mut().zip(scores).for_each(|(sum, score)| *sum += score);
        }
    }

    /// The means as JSON, by category and over all.
    pub(super) fn table(&self) -> Value {
        let means = |(count, sums): &(usize, [f64; 5])| {
            let mut row = json!({ "n": count });
            for (name, sum) in NAMES.iter().zip(sums) {
                row[*name] = json!(sum / (*count).max(1) as f64);
            }
            row
        };
        let mut table: serde_json::Map<String, Value> =
            self.by_category.iter().map(|(category, sums)| (category.clone(), means(sums))).collect();
        table.insert("ALL".to_owned(), means(&self.all));
        Value::Object(table)
    }
}

impl fmt::Display for Measures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<26}{:>6}", "category", "n")?;
        NAMES.iter().try_for_each(|name| write!(f, "{name:>11}"))?;
        let rows = self.by_category.iter().map(|(name, sums)| (name.as_str(), sums)).chain([("ALL", &self.all)]);
        for (name, (count, sums)) in rows {
            write!(f, "\n{name:<26}{count:>6}")?;
            sums.iter().try_for_each(|sum| write!(f, "{:>11.4}", sum / (*count).max(1) as f64))?;
        }
        Ok(())
    }
}

fn score(evidence: &[String], ranked: &[String]) -> [f64; 5] {
    let evidence: HashSet<&String> = evidence.iter().collect();
    let places: Vec<usize> = (0..ranked.len().min(20)).filter(|place| evidence.contains(&ranked[*place])).collect();
    let recall = |k: usize| places.iter().filter(|place| **place < k).count() as f64 / evidence.len() as f64;
    let gain = |place: usize| 1.0 / (place as f64 + 2.0).log2();
    let ideal: f64 = (0..evidence.len().min(10)).map(gain).sum();
    let ndcg = places.iter().filter(|place| **place < 10).map(|place| gain(*place)).sum::<f64>() / ideal;
    let mrr = places.first().map_or(0.0, |place| 1.0 / (*place as f64 + 1.0));
    [recall(5), recall(10), recall(20), ndcg, mrr]
}

#[cfg(test)]
mod tests {
    use super::score;

    #[test]
    fn measures_of_a_ranking() {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let close = |a: [f64; 5], b: [f64; 5]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4);
        assert!(close(score(&words("a"), &words("a b c")), [1.0, 1.0, 1.0, 1.0, 1.0]));
        assert!(close(score(&words("a z"), &words("b a")), [0.5, 0.5, 0.5, 0.3869, 0.5]));
        assert!(close(score(&words("a"), &words("b c d e f a")), [0.0, 1.0, 1.0, 0.3562, 0.1667]));
        assert!(close(score(&words("a"), &[]), [0.0; 5]));
    }
}
