//! Reads conversations exported from ChatGPT.
//!
//! A conversation is a tree of messages: an edited question or a regenerated answer starts a branch. The path from
//! the root to the current node is imported. Only texts of the user and the assistant are kept, not those of tools
//! and hidden messages.

use std::collections::HashSet;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::mem0::text;
use super::time::moment;
use super::{SourceConversation, SourceItem, SourceTurn};

/// One conversation.
pub(crate) fn entry(value: Value) -> Result<SourceItem, String> {
    let Value::Object(fields) = value else { return Err("a conversation is not an object".to_owned()) };
    let id = text(&fields, "conversation_id").or_else(|| text(&fields, "id")).ok_or("a conversation has no `id`")?;
    let Some(Value::Object(nodes)) = fields.get("mapping") else {
        return Err(format!("conversation {id} has no `mapping`"));
    };
    let shown = text(&fields, "current_node").filter(|node| nodes.contains_key(node)).or_else(|| latest(nodes));
    let mut at = moment(fields.get("create_time"));
    let mut turns = Vec::new();
    for node in path(nodes, shown) {
        if let Some(mut turn) = node.get("message").and_then(said) {
            // A message without a time was said right after the one before.
            at = turn.at.or(at);
            turn.at = at;
            turns.push(turn);
        }
    }
    Ok(SourceItem::Conversation(SourceConversation { id, title: text(&fields, "title"), turns }))
}

/// The nodes from the root to this one.
fn path(nodes: &Map<String, Value>, last: Option<String>) -> Vec<&Value> {
    let mut path = Vec::new();
    let mut seen = HashSet::new();
    let mut next = last.as_deref();
    while let Some((name, node)) = next.and_then(|name| nodes.get_key_value(name)) {
        // A damaged tree may run in a circle.
        if !seen.insert(name) {
            break;
        }
        path.push(node);
        next = node.get("parent").and_then(Value::as_str);
    }
    path.reverse();
    path
}

/// The message that came last, for a conversation that does not say which is shown.
fn latest(nodes: &Map<String, Value>) -> Option<String> {
    let time = |node: &Value| moment(node.get("message").and_then(|message| message.get("create_time")));
    let last = nodes.iter().filter_map(|(name, node)| Some((time(node)?, name)));
    last.max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(a.1))).map(|(_, name): (Timestamp, _)| name.clone())
}

/// What a message says, if it is one that was said.
fn said(message: &Value) -> Option<SourceTurn> {
    let role = message.get("author")?.get("role")?.as_str()?;
    let hidden = message.get("metadata").and_then(|metadata| metadata.get("is_visually_hidden_from_conversation"));
    if !matches!(role, "user" | "assistant") || hidden == Some(&Value::Bool(true)) {
        return None;
    }
    let parts = message.get("content")?.get("parts")?.as_array()?;
    let words = parts.iter().filter_map(|part| match part {
        Value::String(text) => Some(text.as_str()),
        // What was spoken aloud comes with its words; pictures and files do not.
        part => part.get("text").and_then(Value::as_str),
    });
    let content = words.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n\n");
    if content.is_empty() {
        return None;
    }
    let reference = message.get("id").and_then(Value::as_str).map(str::to_owned);
    Some(SourceTurn { reference, role: role.to_owned(), content, at: moment(message.get("create_time")) })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn node(parent: Option<&str>, role: &str, parts: Value, at: Option<f64>) -> Value {
        let message = json!({ "id": format!("m-{parts}"), "author": { "role": role }, "create_time": at,
            "content": { "content_type": "text", "parts": parts } });
        json!({ "parent": parent, "message": message })
    }

    fn talk(value: Value) -> SourceConversation {
        match entry(value).unwrap() {
            SourceItem::Conversation(talk) => talk,
            SourceItem::Memory(_) => unreachable!(),
        }
    }

    fn texts(talk: &SourceConversation) -> Vec<&str> {
        talk.turns.iter().map(|turn| turn.content.as_str()).collect()
    }

    #[test]
    fn the_branch_that_is_shown_is_what_was_said() {
        let mut tree = json!({ "id": "c", "title": "Tea", "create_time": 1_700_000_000.0, "current_node": "d", "mapping": {
            "root": { "parent": null, "message": null },
            "s": node(Some("root"), "system", json!(["be kind"]), None),
            "a": node(Some("s"), "user", json!(["first question"]), None),
            "b": node(Some("a"), "assistant", json!(["first answer"]), Some(1_700_000_010.0)),
            "x": node(Some("a"), "assistant", json!(["another answer"]), Some(1_700_000_020.0)),
            "t": node(Some("b"), "tool", json!(["looked it up"]), Some(1_700_000_025.0)),
            "d": node(Some("t"), "user", json!(["thanks", { "asset_pointer": "file" }, { "text": "aloud" }, ""]), Some(1_700_000_030.0)),
            "e": node(Some("d"), "assistant", json!([""]), Some(1_700_000_040.0)),
        }});
        let read = talk(tree.clone());
        assert_eq!((read.id.as_str(), read.title.as_deref()), ("c", Some("Tea")));
        assert_eq!(texts(&read), ["first question", "first answer", "thanks\n\naloud"]);
        let roles: Vec<&str> = read.turns.iter().map(|turn| turn.role.as_str()).collect();
        assert_eq!(roles, ["user", "assistant", "user"]);
        let times: Vec<i64> = read.turns.iter().map(|turn| turn.at.unwrap().as_second()).collect();
        assert_eq!(times, [1_700_000_000, 1_700_000_010, 1_700_000_030], "the first has the conversation's");
        tree["current_node"] = json!("x");
        assert_eq!(texts(&talk(tree.clone())), ["first question", "another answer"]);
        tree["current_node"] = json!("gone");
        assert_eq!(texts(&talk(tree.clone())), ["first question", "first answer", "thanks\n\naloud"]);
        tree["mapping"]["root"]["parent"] = json!("d");
        assert_eq!(talk(tree).turns.len(), 3, "a circle ends");
    }

    #[test]
    fn an_invalid_conversation_is_refused() {
        for value in [json!([]), json!({}), json!({ "id": "c" }), json!({ "id": "c", "mapping": [] })] {
            assert!(entry(value.clone()).is_err(), "{value}");
        }
        let odd = json!({ "id": "c", "mapping": { "a": 7, "b": { "message": { "author": {} } } } });
        assert_eq!(talk(odd).turns, []);
    }
}
