//! Who reads, and writes down what it read?
//!
//! A [`Chat`] answers one question with JSON of a given shape. It is optional everywhere: whoever
//! asks has rules that do the same work without it.

use async_trait::async_trait;
use serde_json::Value;

use crate::Error;

/// One question to a language model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatQuestion {
    /// What is asked, for the log and the budget: `extract`, `same_fact`, `summarise` …
    pub purpose: &'static str,
    /// The version of the prompt, so that a log line tells which words were sent.
    pub prompt_version: u32,
    /// What the model is told to do.
    pub system: String,
    /// What it works on.
    pub input: String,
    /// The JSON schema that the answer must have.
    pub schema: Value,
    /// The most tokens that it may write.
    pub max_tokens: u32,
}

/// What a language model answered.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatAnswer {
    /// The answer, of the shape that was asked for.
    pub value: Value,
    /// Tokens that were read, all attempts together.
    pub prompt_tokens: u64,
    /// Tokens that were written, all attempts together.
    pub completion_tokens: u64,
}

/// A language model that answers in JSON.
#[async_trait]
pub trait Chat: Send + Sync {
    /// The model's name.
    fn model(&self) -> &str;

    /// What a question will cost at most, in tokens read and written; for budgets.
    fn estimate(&self, question: &ChatQuestion) -> u64;

    /// The answer. One that is not of the shape asked for is sent back once for repair, then it is a
    /// loud failure.
    async fn ask(&self, question: &ChatQuestion) -> Result<ChatAnswer, Error>;
}
