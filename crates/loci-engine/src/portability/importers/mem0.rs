//! Reads memories exported from mem0.
//!
//! `{id, memory, metadata, created_at, updated_at, user_id, agent_id, run_id, actor_id, role, categories}`; hash and
//! score are ignored. An entry without text is refused.

use loci_types::{Identifiers, Source};
use serde_json::{Map, Value};

use super::time::moment;
use super::{SourceItem, SourceMemory};
use crate::NewMemory;

/// One entry.
pub(crate) fn entry(value: Value) -> Result<SourceItem, String> {
    let Value::Object(fields) = value else { return Err("an entry is not an object".to_owned()) };
    let word = |name: &str| text(&fields, name);
    let content = ["memory", "text", "data"].into_iter().find_map(word).ok_or("an entry has no `memory`")?;
    let mut metadata = match fields.get("metadata") {
        Some(Value::Object(metadata)) => metadata.clone(),
        _ => Map::new(),
    };
    let identifiers = owner_identifiers(word("user_id"), word("agent_id"), &mut metadata);
    let tags = match fields.get("categories") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let reference = word("id");
    let source = Source { kind: "import".to_owned(), role: word("role"), reference: reference.clone() };
    let new = NewMemory {
        content,
        tags,
        metadata,
        source: Some(source),
        run_id: word("run_id"),
        actor_id: word("actor_id"),
        role: word("role"),
        expires_at: moment(fields.get("expiration_date")),
        ..NewMemory::default()
    };
    let (created_at, updated_at) = (moment(fields.get("created_at")), moment(fields.get("updated_at")));
    Ok(SourceItem::Memory(Box::new(SourceMemory { new, identifiers, created_at, updated_at, reference })))
}

/// A text field, or a number in place of a text.
pub(crate) fn text(fields: &Map<String, Value>, name: &str) -> Option<String> {
    match fields.get(name)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// The identifiers of the owner. An agent name that Loci does not accept is put into the metadata.
pub(crate) fn owner_identifiers(
    user: Option<String>,
    agent: Option<String>,
    metadata: &mut Map<String, Value>,
) -> Identifiers {
    let agent_id = match agent {
        Some(agent) if loci_types::slug("agentId", &agent).is_err() => {
            metadata.insert("agentId".to_owned(), agent.into());
            None
        }
        agent => agent,
    };
    Identifiers { user_id: user, agent_id, ..Identifiers::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn draft(value: Value) -> Result<SourceMemory, String> {
        entry(value).map(|brought| match brought {
            SourceItem::Memory(draft) => *draft,
            SourceItem::Conversation(_) => unreachable!(),
        })
    }

    #[test]
    fn an_entry_becomes_a_draft() {
        let read = draft(json!({
            "id": "892db2ae-06d9-49e5-8b3e-585ef9b85b8e", "memory": "Name is Alex", "hash": "x", "score": 0.4,
            "metadata": { "app": "chat" }, "categories": ["personal"], "created_at": "2024-07-20T01:30:36-07:00",
            "updated_at": null, "user_id": "alex", "agent_id": "a b", "run_id": "r", "actor_id": "alex", "role": "user",
        }))
        .unwrap();
        assert_eq!(
            (read.new.content.as_str(), read.new.tags.as_slice()),
            ("Name is Alex", &["personal".to_owned()][..])
        );
        assert_eq!(read.new.metadata, json!({ "app": "chat", "agentId": "a b" }).as_object().unwrap().clone());
        assert_eq!((read.identifiers.user_id.as_deref(), read.identifiers.agent_id), (Some("alex"), None));
        assert_eq!(read.created_at, Some("2024-07-20T08:30:36Z".parse().unwrap()));
        assert_eq!((read.updated_at, read.new.run_id.as_deref()), (None, Some("r")));
        assert_eq!(read.reference.as_deref(), Some("892db2ae-06d9-49e5-8b3e-585ef9b85b8e"));
    }

    #[test]
    fn what_has_no_text_is_no_memory() {
        for value in [json!(7), json!({}), json!({ "memory": "" }), json!({ "memory": ["x"] }), json!({ "id": "1" })] {
            assert!(draft(value.clone()).is_err(), "{value}");
        }
    }
}
