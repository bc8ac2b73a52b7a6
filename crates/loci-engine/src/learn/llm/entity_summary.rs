//! Asks a language model to describe an entity in a few sentences.

use super::fence::{fence, numbered, quote};
use super::prompt::Purpose;
use super::{LlmClient, TokenUsage, object, plain, question};
use crate::Result;
use crate::prompt::pack::shorten::shorten;
use crate::prompt::pack::tokens::count_tokens;

/// Maximum number of tokens of a summary: about 500 characters, with some room.
const MAX_SUMMARY_TOKENS: usize = 160;
/// Tokens of the notes that are read; the newest are.
const READ_TOKENS: usize = 3_000;

impl LlmClient {
    /// A portrait of what goes by `name`, from what is known of it, oldest first.
    pub async fn entity_summary(&self, name: &str, facts: &[String]) -> Result<(String, TokenUsage)> {
        let mut spent = TokenUsage::default();
        let mut lines = vec![format!("[name] {}", quote(name))];
        lines.extend(numbered(newest(facts, READ_TOKENS)));
        let schema = object([("summary", plain("string"))]);
        let question = question(Purpose::EntitySummary, fence(&lines), schema, 400);
        let answer = self.ask(&question, &mut spent).await?;
        match shorten(answer["summary"].as_str().unwrap_or_default().trim(), MAX_SUMMARY_TOKENS) {
            Some(summary) => Ok((summary, spent)),
            None => Err(self.nothing("`summary` is empty", spent)),
        }
    }
}

/// As many of the last texts as fit into this number of tokens, and at least one.
fn newest(texts: &[String], tokens: usize) -> &[String] {
    let mut total = 0;
    let fitting = texts.iter().rev().take_while(|text| {
        total += count_tokens(text);
        total <= tokens
    });
    let count = fitting.count().max(1).min(texts.len());
    &texts[texts.len() - count..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_notes_are_read() {
        let texts: Vec<String> = ["one", "two", "three"].map(str::to_owned).to_vec();
        for (tokens, expect) in [(99, 0), (2, 1), (1, 2), (0, 2)] {
            assert_eq!(newest(&texts, tokens), &texts[expect..], "{tokens}");
        }
        assert!(newest(&[], 5).is_empty());
    }
}
