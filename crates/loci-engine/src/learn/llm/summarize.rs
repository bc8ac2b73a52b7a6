//! Asks a language model for a summary.

use super::fence::{fence, numbered};
use super::prompt::Purpose;
use super::{LlmClient, TokenUsage, object, plain, question};
use crate::Result;
use crate::prompt::pack::shorten::shorten;

/// Tokens that the JSON around a summary takes.
const WRAPPING: usize = 50;

impl LlmClient {
    /// What stays of `texts`, oldest first, in at most `max_tokens`. They go into one question: who has
    /// more than a model can read divides it before.
    pub async fn summary(&self, texts: &[String], max_tokens: usize) -> Result<(String, TokenUsage)> {
        let mut spent = TokenUsage::default();
        let input = format!("Length: {} words at most.\n{}", words(max_tokens), fence(&numbered(texts)));
        // The escapes of JSON take room too; a summary that is a little too long is shortened below.
        let room = u32::try_from(max_tokens + max_tokens / 4 + WRAPPING).unwrap_or(u32::MAX);
        let question = question(Purpose::Summarize, input, object([("summary", plain("string"))]), room);
        let answer = self.ask(&question, &mut spent).await?;
        match shorten(answer["summary"].as_str().unwrap_or_default().trim(), max_tokens) {
            Some(summary) => Ok((summary, spent)),
            None => Err(self.nothing("`summary` is empty", spent)),
        }
    }
}

/// Models cannot count their tokens, but nearly their words: two for every three tokens.
fn words(tokens: usize) -> usize {
    (tokens * 2 / 3).max(1)
}
