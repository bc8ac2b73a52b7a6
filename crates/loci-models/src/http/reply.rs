//! Parsing of the answer to a chat call.
//!
//! Servers agree on little more than `choices[0].message.content`. Every other field may be missing, null or of an
//! unknown value, so it is read if present and never required.

use serde_json::Value;

/// One answer of a chat service.
#[derive(Debug, PartialEq)]
pub(super) struct Reply {
    /// The text of the answer. It may be empty.
    pub(super) text: String,
    /// Why the answer ended.
    pub(super) end: End,
    /// Prompt and completion tokens, if the service reports them.
    pub(super) usage: (Option<u64>, Option<u64>),
}

/// Why an answer ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// It is complete, or the reason is unknown.
    Said,
    /// It reached the token limit.
    CutShort,
    /// The model refused, or a content filter stopped it.
    Declined,
}

impl Reply {
    /// Reads the reply from the body of an answer, or returns what is wrong with it.
    pub(super) fn read(body: &Value) -> Result<Self, &'static str> {
        let Some(choice) = body["choices"].get(0) else {
            return Err(if body["error"].is_null() { "it has no choices" } else { "it reports an error" });
        };
        let message = &choice["message"];
        Ok(Self { text: text_of(&message["content"]), end: end_of(choice), usage: usage_of(&body["usage"]) })
    }
}

/// The content is a string, a list of parts or, on some servers, the JSON object itself.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(part_of).collect(),
        Value::Object(_) => content.to_string(),
        _ => String::new(),
    }
}

fn part_of(part: &Value) -> &str {
    let places = [part, &part["text"], &part["text"]["value"]];
    places.into_iter().find_map(Value::as_str).unwrap_or_default()
}

fn end_of(choice: &Value) -> End {
    let refused = choice["message"]["refusal"].as_str().is_some_and(|refusal| !refusal.trim().is_empty());
    match choice["finish_reason"].as_str() {
        _ if refused => End::Declined,
        Some("content_filter" | "refusal") => End::Declined,
        Some("length" | "max_tokens" | "model_length") => End::CutShort,
        _ => End::Said,
    }
}

fn usage_of(usage: &Value) -> (Option<u64>, Option<u64>) {
    let count = |names: [&str; 2]| names.into_iter().find_map(|name| usage[name].as_u64());
    (count(["prompt_tokens", "input_tokens"]), count(["completion_tokens", "output_tokens"]))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn content_is_read_in_every_common_shape() {
        for (content, expected) in [
            (json!("{}"), "{}"),
            (json!([{ "type": "text", "text": "{" }, { "type": "odd" }, { "text": "}" }]), "{}"),
            (json!(["{", "}"]), "{}"),
            (json!([{ "text": { "value": "{}" } }]), "{}"),
            (json!({ "a": 1 }), r#"{"a":1}"#),
            (Value::Null, ""),
            (json!(7), ""),
        ] {
            let reply = Reply::read(&json!({ "choices": [{ "message": { "content": content } }] })).unwrap();
            assert_eq!((reply.text.as_str(), reply.end), (expected, End::Said), "{content}");
        }
    }

    #[test]
    fn the_end_is_read_and_odd_words_say_nothing() {
        for (choice, expected) in [
            (json!({ "finish_reason": "stop" }), End::Said),
            (json!({ "finish_reason": "eos_token_or_whatever" }), End::Said),
            (json!({ "finish_reason": 7, "message": null }), End::Said),
            (json!({ "finish_reason": "length" }), End::CutShort),
            (json!({ "finish_reason": "content_filter" }), End::Declined),
            (json!({ "finish_reason": "stop", "message": { "refusal": "no" } }), End::Declined),
            (json!({ "finish_reason": "stop", "message": { "refusal": "" } }), End::Said),
        ] {
            assert_eq!(Reply::read(&json!({ "choices": [choice] })).unwrap().end, expected, "{choice}");
        }
    }

    #[test]
    fn usage_may_be_anything() {
        for (usage, expected) in [
            (json!({ "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10 }), (Some(7), Some(3))),
            (json!({ "input_tokens": 7, "output_tokens": 3 }), (Some(7), Some(3))),
            (json!({ "prompt_tokens": 7, "completion_tokens": null }), (Some(7), None)),
            (json!("many"), (None, None)),
            (Value::Null, (None, None)),
        ] {
            let reply = Reply::read(&json!({ "choices": [{}], "usage": usage })).unwrap();
            assert_eq!(reply.usage, expected, "{usage}");
        }
    }

    #[test]
    fn without_a_choice_there_is_no_reply() {
        for (body, expected) in [
            (json!({ "choices": [] }), "it has no choices"),
            (json!({ "choices": null }), "it has no choices"),
            (json!(7), "it has no choices"),
            (json!({ "error": { "message": "out of credit" } }), "it reports an error"),
        ] {
            assert_eq!(Reply::read(&body), Err(expected), "{body}");
        }
    }
}
