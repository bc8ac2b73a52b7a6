//! Asks a language model for insights about a user that were not stated.

use loci_models::ChatQuestion;
use loci_types::Class;
use serde_json::Value;

use super::fence::{fence, quote};
use super::prompt::Purpose;
use super::{LlmClient, TokenUsage, importance, items, list, object, plain, question};
use crate::Result;
use crate::learn::writing_rules::validate;

/// Limits of the input and the output.
const ACTIVITY: usize = 5;
const FACTS: usize = 3;
const SNIPPET_CHARACTERS: usize = 1_000;
const INSIGHTS: usize = 3;
const TAGS: usize = 3;
const MAX_ANSWER_TOKENS: u32 = 220;

/// Something that shows of a person.
#[derive(Debug, Clone, PartialEq)]
pub struct InsightDraft {
    /// One sentence in the third person.
    pub summary: String,
    /// What it is about, in single words.
    pub tags: Vec<String>,
    /// How much it matters.
    pub importance: f64,
}

impl LlmClient {
    /// Insights into a person, from the latest activity, the latest facts and the end of the
    /// conversation; each of them with the newest last.
    pub async fn insights(
        &self,
        activity: &[String],
        facts: &[String],
        snippet: &str,
    ) -> Result<(Vec<InsightDraft>, TokenUsage)> {
        let mut spent = TokenUsage::default();
        let lines = lines(activity, facts, snippet);
        if lines.is_empty() {
            return Ok((Vec::new(), spent));
        }
        let answer = self.ask(&asked(&lines), &mut spent).await?;
        Ok((items(&answer, "insights").filter_map(draft).take(INSIGHTS).collect(), spent))
    }
}

/// The input, one line each: the newest of each kind.
fn lines(activity: &[String], facts: &[String], snippet: &str) -> Vec<String> {
    let last = |texts: &[String], most: usize| texts[texts.len().saturating_sub(most)..].to_vec();
    let skipped = snippet.chars().count().saturating_sub(SNIPPET_CHARACTERS);
    let snippet: String = snippet.chars().skip(skipped).collect();
    let marked = |mark: &'static str, texts: Vec<String>| {
        let texts = texts.into_iter().filter(|text| !text.trim().is_empty());
        texts.map(move |text| format!("[{mark}] {}", quote(&text)))
    };
    marked("activity", last(activity, ACTIVITY))
        .chain(marked("fact", last(facts, FACTS)))
        .chain(marked("conversation", vec![snippet]))
        .collect()
}

fn asked(lines: &[String]) -> ChatQuestion {
    let insight =
        object([("summary", plain("string")), ("tags", list(plain("string"))), ("importance", plain("integer"))]);
    question(Purpose::Insight, fence(lines), object([("insights", list(insight))]), MAX_ANSWER_TOKENS)
}

/// One that breaks the writing rules is left out: an insight is a luxury.
fn draft(item: &Value) -> Option<InsightDraft> {
    let summary = item["summary"].as_str().unwrap_or_default().trim().to_owned();
    if let Some(breach) = validate(&summary, Class::Opinion).first() {
        tracing::debug!(reason = breach.reason(), "an insight is left out");
        return None;
    }
    let tags = items(item, "tags").filter_map(Value::as_str).map(|tag| tag.trim().to_lowercase());
    let mut tags: Vec<String> = tags.filter(|tag| !tag.is_empty() && !tag.contains(char::is_whitespace)).collect();
    tags.truncate(TAGS);
    Some(InsightDraft { summary, tags, importance: importance(&item["importance"]).unwrap_or(0.25) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_newest_of_everything_is_looked_at() {
        let texts = |count: usize| (0..count).map(|n| n.to_string()).collect::<Vec<_>>();
        let snippet = format!("{}{}", "a".repeat(500), "б".repeat(900));
        let lines = lines(&texts(7), &texts(5), &snippet);
        let expect = ["[activity] \"2\"", "[activity] \"3\"", "[activity] \"4\"", "[activity] \"5\""];
        assert_eq!(lines[..4], expect);
        assert_eq!(lines[5..8], ["[fact] \"2\"", "[fact] \"3\"", "[fact] \"4\""]);
        assert_eq!(lines[8], format!("[conversation] \"{}{}\"", "a".repeat(100), "б".repeat(900)));
        assert!(super::lines(&[], &[" ".to_owned()], "").is_empty());
    }

    #[test]
    fn a_draft_keeps_the_rules_or_is_left_out() {
        let item =
            json!({ "summary": " User trusts plain words. ", "tags": ["Trust", " ", "two words"], "importance": 2 });
        let expect =
            InsightDraft { summary: "User trusts plain words.".into(), tags: vec!["trust".into()], importance: 0.25 };
        assert_eq!(draft(&item), Some(expect));
        for summary in ["", "She trusts plain words.", &"long ".repeat(60)] {
            assert_eq!(draft(&json!({ "summary": summary, "tags": [], "importance": 2 })), None, "{summary}");
        }
    }
}
