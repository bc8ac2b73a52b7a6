//! How much may a tool say?
//!
//! An answer is a value, and a text that is written from it, so that both always say the same.
//! Together they stay within a budget of tokens: first texts are shortened, then lists are cut, and
//! the answer says how much was left out and how to ask for less.

use loci_engine::pack::shorten::shorten;
use loci_engine::pack::tokens::count_tokens;
use loci_types::Problem;
use serde_json::{Map, Value, json};

/// Texts are shortened to so many tokens, one after the other, before anything is left out.
const TEXTS: [usize; 4] = [512, 256, 128, 64];
/// To so many when lists must be cut as well.
const LISTED: usize = 128;
/// Shorter than this no text is made, so that ids stay whole.
const LEAST: usize = 40;
/// Within a record, lists and objects are not longer than this once anything is cut.
const INNER: usize = 32;

/// What a tool says before it is measured.
pub(super) struct Answer {
    value: Value,
    write: fn(&Value) -> String,
    /// How to ask for less.
    less: &'static str,
    /// The texts, where they are measured already.
    texts: Option<Vec<String>>,
}

/// What leaves.
#[derive(Debug, PartialEq)]
pub(super) struct Told {
    /// For the model's eyes; the first block is the answer.
    pub(super) texts: Vec<String>,
    /// The same for programs.
    pub(super) value: Value,
    /// Whether it tells of a failure.
    pub(super) failed: bool,
}

impl Answer {
    /// This value, and what writes it.
    pub(super) fn new(value: Value, write: fn(&Value) -> String) -> Self {
        Self { value, write, less: "ask for fewer with `limit`", texts: None }
    }

    /// The same, with another way to ask for less.
    pub(super) fn less(self, less: &'static str) -> Self {
        Self { less, ..self }
    }

    /// This value with these texts, measured already: nothing of it is cut.
    pub(super) fn whole(value: Value, texts: Vec<String>) -> Self {
        Self { texts: Some(texts), ..Self::new(value, |_| String::new()) }
    }

    /// What fits into so many tokens.
    pub(super) fn within(self, budget: usize) -> Told {
        if let Some(texts) = self.texts {
            return Told { texts, value: self.value, failed: false };
        }
        let longest = lists(&self.value).map(|(_, list)| list.len()).max().unwrap_or(0);
        let whole = self.told(&Cut::default());
        if cost(&whole) <= budget {
            return whole;
        }
        for texts in TEXTS {
            let told = self.told(&Cut { texts: Some(texts), most: None });
            if cost(&told) <= budget {
                return told;
            }
        }
        for texts in [LISTED, LEAST] {
            // The most entries that fit, by halves: an answer only grows with its lists.
            let (mut fits, mut over) = (None, longest + 1);
            let mut least = 0;
            while least < over {
                let most = usize::midpoint(least, over);
                let told = self.told(&Cut { texts: Some(texts), most: Some(most) });
                if most <= longest && cost(&told) <= budget {
                    (fits, least) = (Some((most, told)), most + 1);
                } else {
                    over = most;
                }
            }
            if let Some((_, told)) = fits.filter(|(most, _)| *most > 0 || longest == 0) {
                return told;
            }
        }
        let note = format!("The answer has more than {budget} tokens and was left out: {}.", self.less);
        Told { value: json!({ "leftOut": { "answer": 1 }, "note": note }), texts: vec![note], failed: false }
    }

    fn told(&self, how: &Cut) -> Told {
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
            let told: Vec<String> = left.iter().map(|(name, count)| format!("{count} {name}")).collect();
            text = format!("{}\n({} left out for length: {}.)", text.trim_end(), told.join(", "), self.less);
        } else if shortened {
            text = format!("{}\n(Long texts are shortened.)", text.trim_end());
        }
        if let Value::Object(fields) = &mut value {
            if !left.is_empty() {
                fields.insert("leftOut".to_owned(), left.into());
            }
            if how.texts.is_some() {
                fields.insert("shortened".to_owned(), true.into());
            }
        }
        Told { texts: vec![text], value, failed: false }
    }
}

impl Told {
    /// A failure, with the fields that all doors share. Plain: only the sentence, as some clients
    /// expect it.
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

/// How many tokens an answer has, text and value together.
fn cost(told: &Told) -> usize {
    told.texts.iter().map(|text| count_tokens(text)).sum::<usize>() + count_tokens(&told.value.to_string())
}

/// The lists that an answer is made of.
fn lists(value: &Value) -> impl Iterator<Item = (&String, &Vec<Value>)> {
    let fields = value.as_object().into_iter().flatten();
    fields.filter_map(|(name, value)| value.as_array().map(|list| (name, list)))
}

/// How an answer is made shorter.
#[derive(Debug, Default)]
struct Cut {
    /// Texts to so many tokens.
    texts: Option<usize>,
    /// Lists to so many entries.
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

/// A text in at most so many tokens.
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
        let lines = value["memories"].as_array().into_iter().flatten();
        lines.map(|memory| format!("- {}\n", memory["content"].as_str().unwrap())).collect()
    }

    fn answer(count: usize, words: usize) -> Answer {
        let memory =
            |n: usize| json!({ "id": uuid::Uuid::from_u128(n as u128), "content": "tea and cake. ".repeat(words) });
        let memories: Vec<Value> = (0..count).map(memory).collect();
        Answer::new(json!({ "memories": memories, "total": count }), write)
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
            let told = answer(count, words).within(budget);
            assert!(cost(&told) <= budget, "{count} {words}: {} of {budget}", cost(&told));
            let kept = told.value["memories"].as_array().unwrap().len();
            let left = told.value["leftOut"]["memories"].as_u64().unwrap_or(0) as usize;
            assert_eq!(kept + left, count, "{count} {words}");
            assert_eq!(told.texts[0].contains("left out"), left > 0, "{}", told.texts[0]);
            assert!(kept > 0 || count == 0);
            if kept > 0 {
                assert_eq!(told.value["memories"][0]["id"], uuid::Uuid::nil().to_string(), "ids stay whole");
            }
        }
    }

    #[test]
    fn what_fits_is_untouched() {
        let told = answer(2, 2).within(4_000);
        assert_eq!(told.value, answer(2, 2).value);
        assert_eq!(told.texts, ["- tea and cake. tea and cake. \n- tea and cake. tea and cake. \n"]);
    }

    #[test]
    fn nothing_at_all_still_says_so() {
        let wide: Map<String, Value> = (0..2_000).map(|n| (format!("field{n}"), n.into())).collect();
        let told = Answer::new(wide.into(), |_| String::new()).within(256);
        assert!(cost(&told) <= 256);
        assert_eq!(told.value["leftOut"]["answer"], 1);
    }

    #[test]
    fn failures_are_told_in_full() {
        let problem = loci_types::Error::invalid("limit", "limit is 0").hint("use 5").problem("search");
        let told = Told::failed(&problem, false, 4_000);
        assert_eq!(told.texts, ["INVALID_INPUT: limit is 0\nHint: use 5"]);
        assert_eq!(
            told.value,
            json!({ "code": "INVALID_INPUT", "message": "limit is 0", "operation": "search",
                    "details": { "field": "limit" }, "retryable": false, "hint": "use 5" })
        );
        assert!(told.failed);
        assert_eq!(Told::failed(&problem, true, 4_000).texts, ["limit is 0"]);
    }
}
