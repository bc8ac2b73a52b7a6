//! Reads conversations exported from Claude.
//!
//! `{uuid, name, created_at, chat_messages: [{uuid, sender, text, content, created_at}]}`, in order. Text blocks are
//! imported; tool calls, tool results and thinking are not.

use serde_json::Value;

use super::mem0::text;
use super::time::moment;
use super::{SourceConversation, SourceItem, SourceTurn};

/// One conversation.
pub(crate) fn entry(value: Value) -> Result<SourceItem, String> {
    let Value::Object(fields) = value else { return Err("a conversation is not an object".to_owned()) };
    let id = text(&fields, "uuid").ok_or("a conversation has no `uuid`")?;
    let Some(Value::Array(messages)) = fields.get("chat_messages") else {
        return Err(format!("conversation {id} has no `chat_messages`"));
    };
    let mut at = moment(fields.get("created_at"));
    let mut turns = Vec::new();
    for mut turn in messages.iter().filter_map(said) {
        at = turn.at.or(at);
        turn.at = at;
        turns.push(turn);
    }
    Ok(SourceItem::Conversation(SourceConversation { id, title: text(&fields, "name"), turns }))
}

fn said(message: &Value) -> Option<SourceTurn> {
    let fields = message.as_object()?;
    let role = match fields.get("sender")?.as_str()? {
        "human" | "user" => "user",
        "assistant" => "assistant",
        _ => return None,
    };
    let blocks = fields.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let words = blocks.iter().filter(|block| block.get("type").and_then(Value::as_str) == Some("text"));
    let words = words.filter_map(|block| block.get("text").and_then(Value::as_str));
    let joined = words.filter(|text| !text.trim().is_empty()).collect::<Vec<_>>().join("\n\n");
    let content = if joined.is_empty() { text(fields, "text")? } else { joined };
    let at = moment(fields.get("created_at"));
    Some(SourceTurn { reference: text(fields, "uuid"), role: role.to_owned(), content, at })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_become_turns_in_their_order() {
        let value = json!({ "uuid": "c", "name": "Tea", "created_at": "2024-05-01T10:00:00Z", "chat_messages": [
            { "uuid": "1", "sender": "human", "text": "old", "content": [{ "type": "text", "text": "Which tea?" }] },
            { "uuid": "2", "sender": "assistant", "text": "", "created_at": "2024-05-01T10:00:05Z", "content": [
                { "type": "thinking", "thinking": "hm" }, { "type": "text", "text": "Green." },
                { "type": "tool_use", "name": "search" }, { "type": "text", "text": "Or black." }] },
            { "uuid": "3", "sender": "human", "text": "Thanks" },
            { "uuid": "4", "sender": "assistant", "text": " ", "content": [] },
            { "uuid": "5", "sender": "robot", "text": "beep" },
            7,
        ]});
        let SourceItem::Conversation(talk) = entry(value).unwrap() else { unreachable!() };
        assert_eq!((talk.id.as_str(), talk.title.as_deref()), ("c", Some("Tea")));
        let turns: Vec<(&str, &str, i64)> = talk
            .turns
            .iter()
            .map(|turn| (turn.role.as_str(), turn.content.as_str(), turn.at.unwrap().as_second() % 60))
            .collect();
        assert_eq!(turns, [("user", "Which tea?", 0), ("assistant", "Green.\n\nOr black.", 5), ("user", "Thanks", 5)]);
    }

    #[test]
    fn an_invalid_conversation_is_refused() {
        for value in [json!("x"), json!({}), json!({ "uuid": "c" }), json!({ "uuid": "c", "chat_messages": {} })] {
            assert!(entry(value.clone()).is_err(), "{value}");
        }
    }
}
