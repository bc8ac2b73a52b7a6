//! Asks a language model whether two memories state the same fact.

use loci_models::ChatQuestion;
use serde_json::Value;

use super::fence::{fence, numbered_pairs, place};
use super::prompt::Purpose;
use super::{LlmClient, PAIRS, TokenUsage, items, list, object, one_of, plain, question};
use crate::Result;

/// One of the two memories of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PairSide {
    /// The first.
    First,
    /// The second.
    Second,
}

/// What is judged of a pair of memories.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Both say the same of the same thing.
    Same {
        /// The one that tells the later state of the world, where the words show it.
        newer: Option<PairSide>,
    },
    /// Both cannot hold at the same time.
    Contradicts {
        /// The one that tells the later state of the world, where the words show it.
        newer: Option<PairSide>,
    },
    /// Both are needed.
    Different,
    /// Nothing was said of this pair; both stay, and it may be asked again.
    Unanswered,
    /// The model failed a pair whose verdict is beyond doubt, so that nothing it said of this batch counts.
    Void,
}

impl LlmClient {
    /// Judges pairs of memories; as many verdicts as pairs, in their order.
    pub async fn same_fact(&self, pairs: &[(String, String)]) -> Result<(Vec<Verdict>, TokenUsage)> {
        let mut spent = TokenUsage::default();
        let mut verdicts = Vec::with_capacity(pairs.len());
        for chunk in pairs.chunks(PAIRS - CANARIES.len()) {
            // Two control pairs with known verdicts are among the others. If the model fails them, all its verdicts
            // are discarded.
            let canary = |(a, b): (&str, &str)| (a.to_owned(), b.to_owned());
            let mut shown: Vec<(String, String)> = chunk.to_vec();
            let middle = chunk.len().div_ceil(2);
            shown.insert(middle, canary(CANARIES[1]));
            shown.insert(0, canary(CANARIES[0]));
            let answer = self.ask(&asked(&shown), &mut spent).await?;
            let mut judged = read(&answer, shown.len());
            let first = judged.remove(0);
            let second = judged.remove(middle);
            let sound = matches!(first, Verdict::Same { .. }) && second == Verdict::Different;
            verdicts.extend(if sound { judged } else { vec![Verdict::Void; chunk.len()] });
        }
        Ok((verdicts, spent))
    }
}

/// A pair that says the same, and one that does not.
const CANARIES: [(&str, &str); 2] = [
    ("Rita has a grey cat called Mo.", "Rita's grey cat is called Mo."),
    ("Rita has a grey cat called Mo.", "The office in Graz closes at six."),
];

fn asked(pairs: &[(String, String)]) -> ChatQuestion {
    let verdict = object([
        ("pair", plain("integer")),
        ("verdict", one_of(&["same", "contradicts", "different"])),
        ("newer", one_of(&["a", "b", "neither"])),
    ]);
    let schema = object([("verdicts", list(verdict))]);
    question(Purpose::SameFact, fence(&numbered_pairs(pairs, ["a", "b"])), schema, 400)
}

/// The verdicts of an answer. A number that no pair has is passed over, and so is a second verdict.
fn read(answer: &Value, count: usize) -> Vec<Verdict> {
    let mut verdicts = vec![Verdict::Unanswered; count];
    for item in items(answer, "verdicts") {
        let Some(place) = place(&item["pair"], count) else { continue };
        if verdicts[place] == Verdict::Unanswered {
            verdicts[place] = verdict(item);
        }
    }
    verdicts
}

fn verdict(item: &Value) -> Verdict {
    let newer = match item["newer"].as_str() {
        Some("a") => Some(PairSide::First),
        Some("b") => Some(PairSide::Second),
        _ => None,
    };
    match item["verdict"].as_str() {
        Some("same") => Verdict::Same { newer },
        Some("contradicts") => Verdict::Contradicts { newer },
        Some("different") => Verdict::Different,
        _ => Verdict::Unanswered,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_pairs_that_were_given_are_judged_and_each_once() {
        let item = |pair: i64, verdict: &str, newer: &str| json!({ "pair": pair, "verdict": verdict, "newer": newer });
        let answer = json!({ "verdicts": [
            item(3, "contradicts", "b"),
            item(1, "same", "neither"),
            item(9, "same", "a"),
            item(0, "same", "a"),
            item(1, "different", "a"),
        ] });
        let expect = [
            Verdict::Same { newer: None },
            Verdict::Unanswered,
            Verdict::Contradicts { newer: Some(PairSide::Second) },
        ];
        assert_eq!(read(&answer, 3), expect);
        assert_eq!(read(&json!({}), 1), [Verdict::Unanswered]);
    }
}
