//! The interface of language models.
//!
//! A [`Chat`] answers one question with JSON that follows a schema. It is optional everywhere: every caller has rules
//! that do the same work without it.

use async_trait::async_trait;
use serde_json::Value;

use crate::Error;

/// One question to a language model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatQuestion {
    /// The purpose of the question, for log and budget, for example `extract`, `same_fact` or `summarize`.
    pub purpose: &'static str,
    /// The version of the prompt, for the log.
    pub prompt_version: u32,
    /// The instructions, sent as the system message.
    pub system: String,
    /// The text to work on, sent as the user message.
    pub input: String,
    /// The JSON schema of the answer.
    pub schema: Value,
    /// Maximum number of tokens of the answer.
    pub max_tokens: u32,
}

/// The answer of a language model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatAnswer {
    /// The answer, valid under the schema.
    pub value: Value,
    /// Number of prompt tokens of all attempts.
    pub prompt_tokens: u64,
    /// Number of completion tokens of all attempts.
    pub completion_tokens: u64,
}

/// A language model that answers in JSON.
#[async_trait]
pub trait Chat: Send + Sync {
    /// Returns the name of the model.
    fn model(&self) -> &str;

    /// Estimates the maximum number of prompt and completion tokens of a question, for budgets.
    fn estimate(&self, question: &ChatQuestion) -> u64;

    /// Asks the model. An answer that does not match the schema is sent back once for repair; if the second one does
    /// not match either, an error is returned.
    async fn ask(&self, question: &ChatQuestion) -> Result<ChatAnswer, Error>;
}
