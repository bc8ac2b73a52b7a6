//! Asks a language model which of two turns caused the other.

use loci_models::ChatQuestion;
use serde_json::Value;

use super::fence::{fence, numbered_pairs, place};
use super::prompt::Purpose;
use super::{LlmClient, PAIRS, TokenUsage, items, list, object, one_of, plain, question};
use crate::Result;

/// Which of two episodes is the cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The first brought about the second.
    Forward,
    /// The second tells the reason for the first.
    Backward,
}

impl LlmClient {
    /// Looks for causes in pairs of consecutive episodes; as many answers as pairs, in their order.
    pub async fn causes(&self, pairs: &[(String, String)]) -> Result<(Vec<Option<Direction>>, TokenUsage)> {
        let mut spent = TokenUsage::default();
        let mut causes = Vec::with_capacity(pairs.len());
        for chunk in pairs.chunks(PAIRS) {
            let answer = self.ask(&asked(chunk), &mut spent).await?;
            causes.extend(read(&answer, chunk.len()));
        }
        Ok((causes, spent))
    }
}

fn asked(pairs: &[(String, String)]) -> ChatQuestion {
    let cause = object([("pair", plain("integer")), ("cause", one_of(&["first", "second", "none"]))]);
    let schema = object([("causes", list(cause))]);
    question(Purpose::Causal, fence(&numbered_pairs(pairs, ["first", "second"])), schema, 300)
}

/// The causes of an answer. A number that no pair has is passed over; a pair that is judged in two
/// ways has no cause.
fn read(answer: &Value, count: usize) -> Vec<Option<Direction>> {
    let mut causes = vec![None; count];
    for item in items(answer, "causes") {
        let Some(place) = place(&item["pair"], count) else { continue };
        let cause = match item["cause"].as_str() {
            Some("first") => Some(Direction::Forward),
            Some("second") => Some(Direction::Backward),
            _ => None,
        };
        causes[place] = match causes[place] {
            Some(earlier) if earlier != cause => Some(None),
            _ => Some(cause),
        };
    }
    causes.into_iter().map(Option::flatten).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_pairs_that_were_given_have_causes() {
        let item = |pair: i64, cause: &str| json!({ "pair": pair, "cause": cause });
        let answer = json!({ "causes": [
            item(2, "second"),
            item(1, "first"),
            item(7, "first"),
            item(4, "first"),
            item(4, "second"),
            item(5, "none"),
        ] });
        let expect = [Some(Direction::Forward), Some(Direction::Backward), None, None, None];
        assert_eq!(read(&answer, 5), expect);
    }
}
