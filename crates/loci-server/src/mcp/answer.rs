//! The answer of a tool, within a budget of tokens.
//!
//! An answer is a value and a text that is written from it, so that both say the same. If both together exceed the
//! budget, first texts are shortened, then lists are cut; the answer says how much was left out and how to ask for
//! less.

use loci_engine::pack::shorten::shorten;
use loci_engine::pack::tokens::count_tokens;
use loci_types::Problem;
use serde_json::{Map, Value, json};

/// Maximum tokens of each text of an answer, tried one after the other before anything is left out.
const TEXTS: [usize; 4] = [512, 256, 128, 64];
/// Maximum tokens of each text once lists are cut.
const LISTED: usize = 128;
/// Minimum tokens to which a text is shortened, so that ids stay whole.
const LEAST: usize = 40;
/// Maximum entries of the lists and objects within a record once anything is cut.
const INNER: usize = 32;

/// The answer of a tool before it is measured.
pub(super) struct ToolAnswer {
    value: Value,
    write: fn(&Value) -> String,
    /// How to ask for less.
    less: &'static str,
    /// The texts, if they have been measured already.
    texts: Option<Vec<String>>,
}

/// The result of a call as it is sent.
#[derive(Debug, PartialEq)]
pub(super) struct ToolOutput {
    /// The text blocks for the model; the first is the answer.
    pub(super) texts: Vec<String>,
    /// The structured content, which says the same.
    pub(super) value: Value,
    /// Whether the call failed.
    pub(super) failed: bool,
}

impl ToolAnswer {
    /// Makes an answer from a value and the function that writes it as text.
    pub(super) fn new(value: Value, write: fn(&Value) -> String) -> Self {
        Self { value, write, less: "ask for fewer with `limit`", texts: None }
    }

    /// Sets the advice for asking for less.
    pub(super) fn less(self, less: &'static str) -> Self {
        Self { less, ..self }
    }

    /// Makes an answer from a value and texts that have been measured already. Nothing of it is cut.
    pub(super) fn whole(value: Value, texts: Vec<String>) -> Self {
        Self { texts: Some(texts), ..Self::new(value, |_| String::new()) }
    }

    /// Returns what fits into the budget, in tokens.
    pub(super) fn within(self, budget: usize) -> ToolOutput {
        if let Some(texts) = self.texts {
            return ToolOutput { texts, value: self.value, failed: false };
        }
        let longest = lists(&self.value).map(|(_, list)| list.len()).max().unwrap_or(0);
        let whole = self.render(&Cut::default());
        if cost(&whole) <= budget {
            return whole;
        }
        for texts in TEXTS {
            let output = self.render(&Cut { texts: Some(texts), most: None });
            if cost(&output) <= budget {
                return output;
            }
        }
        for texts in [LISTED, LEAST] {
            // Binary search for the largest number of entries that fits: an answer only grows with its lists.
            let (mut fits, mut over) = (None, longest + 1);
            let mut least = 0;
            while least < over {
                let most = usize::midpoint(least, over);
                let output = self.render(&Cut { texts: Some(texts), most: Some(most) });
                if most <= longest && cost(&output) <= budget {
                    (fits, least) = (Some((most, output)), most + 1);
                } else {
                    over = most;
                }
            }
            if let Some((_, output)) = fits.filter(|(most, _)| *most > 0 || longest == 0) {
                return output;
            }
        }
        let note = format!("The answer has more than {budget} tokens and was left out: {}.", self.less);
        ToolOutput { value: json!({ "left_out": { "answer": 1 }, "note": note }), texts: vec![note], failed: false }
    }

    fn render(&self, how: &Cut) -> ToolOutput {
        let mut value = how.cut(&self.value);
        let mut left = Map::new();
        for ((name, before), (_, after)) in lists(&self.value).zip(lists(&value)) {
            if after.len() < before.len() {
                left.insert(name.clone(), (before.len() - after.len()).into());
            }
        }
        let mut text = (self.write)(&value);
        let shortened = how.texts.is_some() && left.is_empty();
        if !left.is_empty() {
            let counts: Vec<String> = left.iter().map(|(name, count)| format!("{count} {}", named(name))).collect();
            text = format!("{}\n({} left out for length: {}.)", text.trim_end(), counts.join(", "), self.less);
        } else if shortened {
            text = format!("{}\n(Long texts are shortened.)", text.trim_end());
        }
        if let Value::Object(fields) = &mut value {
            if !left.is_empty() {
                fields.insert("left_out".to_owned(), left.into());
            }
            if how.texts.is_some() {
                fields.insert("shortened".to_owned(), true.into());
            }
        }
        ToolOutput { texts: vec![text], value, failed: false }
    }
}

impl ToolOutput {
    /// Makes the output of a failure with the same fields as over HTTP. If `plainly`, the text is the message alone, as
    /// clients of the official memory server expect it.
    pub(super) fn failed(problem: &Problem, plainly: bool, budget: usize) -> Self {
        let how = Cut { texts: Some((budget / 4).max(LEAST)), most: None };
        let mut value = how.cut(&serde_json::to_value(problem).unwrap_or_default());
        if let Value::Object(fields) = &mut value {
            fields.entry("details").or_insert_with(|| Map::new().into());
        }
        let text = |name: &str| value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
        let mut said = text("message");
        if !plainly {
            said = format!("{}: {said}", text("code"));
            if let Some(hint) = value.get("hint").and_then(Value::as_str) {
                said.push_str(&format!("\nHint: {hint}"));
            }
            if problem.retryable {
                said.push_str("\nThe same call may succeed later.");
            }
        }
        Self { texts: vec![said], value, failed: true }
    }
}

/// Returns the tokens of text and value together.
fn cost(output: &ToolOutput) -> usize {
    output.texts.iter().map(|text| count_tokens(text)).sum::<usize>() + count_tokens(&output.value.to_string())
}

/// Returns the lists of an answer.
fn lists(value: &Value) -> impl Iterator<Item = (&String, &Vec<Value>)> {
    let fields = value.as_object().into_iter().flatten();
    fields.filter_map(|(name, value)| value.as_array().map(|list| (name, list)))
}

/// The entries of a list, as a text calls them.
fn named(list: &str) -> &str {
    if list == "data" { "results" } else { list }
}

/// How an answer is made shorter.
#[derive(Debug, Default)]
struct Cut {
    /// Maximum tokens of each text.
    texts: Option<usize>,
    /// Maximum entries of each list.
    most: Option<usize>,
}

impl Cut {
    fn cut(&self, value: &Value) -> Value {
        let Some(texts) = self.texts else { return value.clone() };
        let Value::Object(fields) = value else { return inner(value, texts) };
        let cut = |value: &Value| match value {
            Value::Array(list) => {
                list.iter().take(self.most.unwrap_or(usize::MAX)).map(|value| inner(value, texts)).collect()
            }
            other => inner(other, texts),
        };
        fields.iter().map(|(name, value)| (name.clone(), cut(value))).collect()
    }
}

fn inner(value: &Value, texts: usize) -> Value {
    match value {
        Value::String(text) => short(text, texts).into(),
        Value::Array(list) => list.iter().take(INNER).map(|value| inner(value, texts)).collect(),
        Value::Object(fields) => {
            fields.iter().take(INNER).map(|(name, value)| (name.clone(), inner(value, texts))).collect()
        }
        other => other.clone(),
    }
}

/// Shortens a text to this many tokens.
fn short(text: &str, tokens: usize) -> String {
    // No token is shorter than a byte.
    if text.len() <= tokens || count_tokens(text) <= tokens {
        return text.to_owned();
    }
    shorten(text, tokens).unwrap_or_else(|| {
        let end = text.floor_char_boundary(tokens.saturating_sub(4));
        format!("{} …", &text[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(value: &Value) -> String {
        let lines = value["data"].as_array().into_iter().flatten();
        lines.map(|memory| format!("- {}\n", memory["content"].as_str().unwrap())).collect()
    }

    fn answer(count: usize, words: usize) -> ToolAnswer {
        let memory =
            |n: usize| json!({ "id": uuid::Uuid::from_u128(n as u128), "content": "tea and cake. ".repeat(words) });
        let memories: Vec<Value> = (0..count).map(memory).collect();
        ToolAnswer::new(json!({ "data": memories, "total": count }), write)
    }

    #[test]
    fn answers_stay_within_their_budget_and_say_what_is_missing() {
        for (count, words, budget) in [
            (0, 0, 256),
            (1, 1, 256),
            (1, 10_000, 256),
            (3, 100, 512),
            (100, 5, 1_000),
            (100, 500, 4_000),
            (5_000, 3, 4_000),
        ] {
            let output = answer(count, words).within(budget);
            assert!(cost(&output) <= budget, "{count} {words}: {} of {budget}", cost(&output));
            let kept = output.value["data"].as_array().unwrap().len();
            let left = output.value["left_out"]["data"].as_u64().unwrap_or(0) as usize;
            assert_eq!(kept + left, count, "{count} {words}");
            assert_eq!(output.texts[0].contains("left out"), left > 0, "{}", output.texts[0]);
            assert!(kept > 0 || count == 0);
            if kept > 0 {
                assert_eq!(output.value["data"][0]["id"], uuid::Uuid::nil().to_string(), "ids stay whole");
            }
        }
    }

    #[test]
    fn what_fits_is_untouched() {
        let output = answer(2, 2).within(4_000);
        assert_eq!(output.value, answer(2, 2).value);
        assert_eq!(output.texts, ["- tea and cake. tea and cake. \n- tea and cake. tea and cake. \n"]);
    }

    #[test]
    fn nothing_at_all_still_says_so() {
        let wide: Map<String, Value> = (0..2_000).map(|n| (format!("field{n}"), n.into())).collect();
        let output = ToolAnswer::new(wide.into(), |_| String::new()).within(256);
        assert!(cost(&output) <= 256);
        assert_eq!(output.value["left_out"]["answer"], 1);
    }

    #[test]
    fn failures_are_reported_in_full() {
        let problem = loci_types::Error::invalid("limit", "limit is 0").hint("use 5").problem("search");
        let output = ToolOutput::failed(&problem, false, 4_000);
        assert_eq!(output.texts, ["INVALID_INPUT: limit is 0\nHint: use 5"]);
        assert_eq!(
            output.value,
            json!({ "code": "INVALID_INPUT", "message": "limit is 0", "operation": "search",
                    "details": { "field": "limit" }, "retryable": false, "hint": "use 5" })
        );
        assert!(output.failed);
        assert_eq!(ToolOutput::failed(&problem, true, 4_000).texts, ["limit is 0"]);
    }
}
