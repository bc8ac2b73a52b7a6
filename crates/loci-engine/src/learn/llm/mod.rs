//! Calls of a language model.
//!
//! An [`LlmClient`] sends plain values to a [`Chat`] and returns plain values; the callers decide what becomes of
//! them, by the same rules as without a model. The model is optional, is never called while a write or a query waits,
//! and is not trusted: it can only refer to what it was given by number, its texts must keep the writing rules, and
//! texts of users are fenced, as data and never as instructions.

mod budget;
mod causal;
mod entity_summary;
mod fence;
mod insight;
mod prompt;
pub(crate) mod quota;
mod rewrite;
mod same_fact;
mod summarize;

use std::sync::Arc;

use loci_models::{Chat, ChatQuestion};
use loci_types::ErrorKind;
use serde_json::{Map, Value, json};

use crate::{Error, Result};

use budget::Allowance;
use prompt::Purpose;

pub use budget::{LearningLimits, TokenBudget};
pub use causal::Direction;
pub use insight::InsightDraft;
pub use prompt::{Prompt, prompts};
pub use rewrite::RewriteResult;
pub use same_fact::{PairSide, Verdict};

/// Number of pairs in one call.
const PAIRS: usize = 10;

/// The cost of calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Number of tokens, of input and output.
    pub tokens: u64,
}

/// A client of a language model.
#[derive(Clone)]
pub struct LlmClient {
    chat: Arc<dyn Chat>,
    limits: LearningLimits,
    allowance: Option<Allowance>,
}

impl LlmClient {
    /// A client with the default limits, which does not count tokens.
    pub fn new(chat: Arc<dyn Chat>) -> Self {
        Self { chat, limits: LearningLimits::default(), allowance: None }
    }

    /// The same client with these limits.
    #[must_use]
    pub fn with_limits(self, limits: LearningLimits) -> Self {
        Self { limits, ..self }
    }

    /// The same client with a token limit, after which it refuses with [`ErrorKind::RateLimited`].
    /// Its clones share the limit.
    #[must_use]
    pub fn within(&self, tokens: u64) -> Self {
        Self { allowance: Some(Allowance::new(tokens)), ..self.clone() }
    }

    /// The number of tokens that are left. Failed calls cost tokens, too.
    pub fn left(&self) -> Option<u64> {
        self.allowance.as_ref().map(Allowance::left)
    }

    /// The model's name.
    pub fn model(&self) -> &str {
        self.chat.model()
    }

    /// Its limits.
    pub fn limits(&self) -> &LearningLimits {
        &self.limits
    }

    /// Calls the model and adds the cost. A failure carries the cost until then.
    async fn ask(&self, question: &ChatQuestion, spent: &mut TokenUsage) -> Result<Value> {
        let reserved = self.reserve(question)?;
        let outcome = self.chat.ask(question).await;
        let cost = match &outcome {
            Ok(answer) => answer.prompt_tokens + answer.completion_tokens,
            Err(error) => error.spent(),
        };
        if let Some(allowance) = &self.allowance {
            allowance.settle(reserved, cost);
        }
        spent.tokens += cost;
        outcome.map(|answer| answer.value).map_err(|error| billed(error, *spent))
    }

    /// Reserves the maximum cost of a call.
    fn reserve(&self, question: &ChatQuestion) -> Result<u64> {
        let Some(allowance) = &self.allowance else { return Ok(0) };
        let estimate = self.chat.estimate(question);
        if allowance.reserve(estimate) {
            return Ok(estimate);
        }
        let message =
            format!("`{}` needs up to {estimate} tokens of the language model, and too few are left", question.purpose);
        let hint = "the job continues with the tokens of the next day; raise learning.tokens_per_day to allow more";
        Err(loci_types::Error::new(ErrorKind::RateLimited, message).hint(hint).into())
    }

    /// The error for an answer with the right schema and no content.
    fn nothing(&self, problem: &str, spent: TokenUsage) -> Error {
        billed(
            loci_models::Error::BadAnswer { model: self.chat.model().to_owned(), problem: problem.to_owned() },
            spent,
        )
    }
}

/// An error with the tokens that were spent until it occurred.
fn billed(error: loci_models::Error, spent: TokenUsage) -> Error {
    let cause = match error {
        loci_models::Error::Chat { cause, .. } => cause,
        other => Box::new(other),
    };
    loci_models::Error::Chat { cause, spent: spent.tokens }.into()
}

/// The request for a purpose.
fn question(purpose: Purpose, input: String, schema: Value, max_tokens: u32) -> ChatQuestion {
    let prompt = purpose.prompt();
    let (purpose, prompt_version) = (prompt.name, prompt.version);
    ChatQuestion { purpose, prompt_version, system: prompt.text.to_owned(), input, schema, max_tokens }
}

/// The schema of an object with exactly these fields, as strict decoding requires.
fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> =
        fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone())).collect();
    json!({ "type": "object", "additionalProperties": false, "required": required, "properties": properties })
}

/// The schema of a list.
fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

/// The schema of a value of this type.
fn plain(name: &str) -> Value {
    json!({ "type": name })
}

/// The schema of one of these words.
fn one_of(words: &[&str]) -> Value {
    json!({ "type": "string", "enum": words })
}

/// The items of a list in an answer.
fn items<'a>(answer: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    answer[name].as_array().into_iter().flatten()
}

/// Converts a rating of 1 to 5 to the range 0 to 1.
fn importance(value: &Value) -> Option<f64> {
    value.as_f64().and_then(|level| loci_types::from_step("importance", level.clamp(1.0, 5.0)).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_become_shares() {
        for (level, expect) in [
            (json!(1), Some(0.0)),
            (json!(2), Some(0.25)),
            (json!(5), Some(1.0)),
            (json!(9), Some(1.0)),
            (json!(0), Some(0.0)),
            (json!("high"), None),
        ] {
            assert_eq!(importance(&level), expect, "{level}");
        }
    }

    #[test]
    fn schemas_are_strict() {
        let schema = object([("pair", plain("integer")), ("cause", one_of(&["first", "none"]))]);
        let expect = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["pair", "cause"],
            "properties": {
                "pair": { "type": "integer" },
                "cause": { "type": "string", "enum": ["first", "none"] },
            },
        });
        assert_eq!(schema, expect);
    }
}
