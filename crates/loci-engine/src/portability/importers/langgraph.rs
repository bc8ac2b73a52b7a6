//! Reads items of a LangGraph store.
//!
//! `{namespace, key, value, created_at, updated_at}`. The namespace gives the owner where it names a user or an agent
//! (`["users", "ann", …]`, `["agent:planner"]`); its other words become tags, and all of it is kept in the metadata.

use loci_types::Source;
use serde_json::{Map, Value, json};

use super::mem0::{owner_identifiers, text};
use super::time::moment;
use super::{SourceItem, SourceMemory};
use crate::NewMemory;

/// Words after which a user's name stands.
const USERS: [&str; 4] = ["user", "users", "user_id", "userid"];
/// Words after which an agent's name stands.
const AGENTS: [&str; 6] = ["agent", "agents", "agent_id", "agentid", "assistant", "assistants"];
/// Where the text of a value stands.
const TEXTS: [&str; 4] = ["text", "content", "memory", "data"];

/// One item.
pub(crate) fn entry(value: Value) -> Result<SourceItem, String> {
    let Value::Object(mut fields) = value else { return Err("an item is not an object".to_owned()) };
    let labels =
        labels(fields.get("namespace").or_else(|| fields.get("prefix"))).ok_or("an item has no `namespace`")?;
    let key = text(&fields, "key").ok_or("an item has no `key`")?;
    let said = fields.remove("value").ok_or("an item has no `value`")?;
    let (content, rest) = content(said).ok_or("an item's value is empty")?;
    let mut metadata = Map::from_iter([("namespace".to_owned(), json!(labels)), ("key".to_owned(), json!(key))]);
    if !rest.is_empty() {
        metadata.insert("value".to_owned(), Value::Object(rest));
    }
    let reference = format!("{}/{key}", labels.join("/"));
    let (user, agent, tags) = names(labels);
    let identifiers = owner_identifiers(user, agent, &mut metadata);
    let source = Source { kind: "import".to_owned(), role: None, reference: Some(reference.clone()) };
    let new = NewMemory { content, tags, metadata, source: Some(source), ..NewMemory::default() };
    let (created_at, updated_at) = (moment(fields.get("created_at")), moment(fields.get("updated_at")));
    Ok(SourceItem::Memory(Box::new(SourceMemory {
        new,
        identifiers,
        created_at,
        updated_at,
        reference: Some(reference),
    })))
}

/// The words of a namespace: a list, or one text with points between them.
fn labels(value: Option<&Value>) -> Option<Vec<String>> {
    match value? {
        Value::Array(labels) => labels.iter().map(|label| label.as_str().map(str::to_owned)).collect(),
        Value::String(text) => Some(text.split('.').filter(|label| !label.is_empty()).map(str::to_owned).collect()),
        _ => None,
    }
}

/// The user, the agent, and what is left.
fn names(labels: Vec<String>) -> (Option<String>, Option<String>, Vec<String>) {
    let (mut user, mut agent, mut rest) = (None, None, Vec::new());
    let mut labels = labels.into_iter();
    while let Some(label) = labels.next() {
        let (word, name) = match label.split_once([':', '=']) {
            Some((word, name)) if !name.is_empty() => (word.to_lowercase(), Some(name.to_owned())),
            _ => (label.to_lowercase(), None),
        };
        let slot = match word.as_str() {
            word if USERS.contains(&word) => &mut user,
            word if AGENTS.contains(&word) => &mut agent,
            _ => {
                rest.push(label);
                continue;
            }
        };
        match name.or_else(|| labels.next()) {
            Some(name) => *slot = Some(name),
            None => rest.push(label),
        }
    }
    (user, agent, rest)
}

/// The text of a value and its other fields. A value without a text of its own is kept as JSON.
fn content(value: Value) -> Option<(String, Map<String, Value>)> {
    match value {
        Value::String(text) => (!text.trim().is_empty()).then_some((text, Map::new())),
        Value::Object(mut fields) => {
            let name = TEXTS.into_iter().find(|name| text(&fields, name).is_some());
            if let Some(name) = name {
                let said = text(&fields, name)?;
                fields.remove(name);
                return Some((said, fields));
            }
            // Some wrap what they know once more.
            let wrapped = TEXTS.into_iter().find(|name| fields.get(*name).is_some_and(Value::is_object));
            if let Some(inner) = wrapped.and_then(|name| fields.remove(name))
                && let Some((said, rest)) = content(inner)
            {
                fields.extend(rest);
                return Some((said, fields));
            }
            (!fields.is_empty()).then(|| (Value::Object(fields).to_string(), Map::new()))
        }
        Value::Null => None,
        other => Some((other.to_string(), Map::new())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draft(namespace: Value, value: Value) -> Result<SourceMemory, String> {
        entry(json!({ "namespace": namespace, "key": "k", "value": value, "created_at": "2025-01-02T03:04:05+00:00" }))
            .map(|brought| match brought {
                SourceItem::Memory(draft) => *draft,
                SourceItem::Conversation(_) => unreachable!(),
            })
    }

    #[test]
    fn a_namespace_says_owner_identifiers_it_is() {
        for (namespace, user, agent, tags) in [
            (json!(["users", "ann", "memories"]), Some("ann"), None, vec!["memories"]),
            (json!(["memories", "user_id", "ann"]), Some("ann"), None, vec!["memories"]),
            (json!(["user:ann", "agent=planner"]), Some("ann"), Some("planner"), vec![]),
            (json!("agents.planner.notes"), None, Some("planner"), vec!["notes"]),
            (json!(["ann", "memories"]), None, None, vec!["ann", "memories"]),
            (json!(["memories", "users"]), None, None, vec!["memories", "users"]),
            (json!([]), None, None, vec![]),
        ] {
            let read = draft(namespace.clone(), json!("x")).unwrap();
            assert_eq!(read.identifiers.user_id.as_deref(), user, "{namespace}");
            assert_eq!(read.identifiers.agent_id.as_deref(), agent, "{namespace}");
            assert_eq!(read.new.tags, tags, "{namespace}");
        }
    }

    #[test]
    fn a_value_says_it_in_one_of_several_ways() {
        for (value, expect, rest) in [
            (json!("plain"), "plain", None),
            (json!({ "text": "a", "mood": "good" }), "a", Some(json!({ "mood": "good" }))),
            (json!({ "content": "b" }), "b", None),
            (json!({ "kind": "Memory", "content": { "content": "c" } }), "c", Some(json!({ "kind": "Memory" }))),
            (json!({ "likes": ["tea"] }), r#"{"likes":["tea"]}"#, None),
            (json!([1, 2]), "[1,2]", None),
        ] {
            let read = draft(json!(["x"]), value.clone()).unwrap();
            assert_eq!(read.new.content, expect, "{value}");
            assert_eq!(read.new.metadata.get("value"), rest.as_ref(), "{value}");
            assert_eq!(read.reference.as_deref(), Some("x/k"));
            assert_eq!(read.created_at, Some("2025-01-02T03:04:05Z".parse().unwrap()));
        }
        for value in [json!(null), json!(""), json!({})] {
            assert!(draft(json!(["x"]), value.clone()).is_err(), "{value}");
        }
        for item in
            [json!([]), json!({ "key": "k", "value": "v" }), json!({ "namespace": [1], "key": "k", "value": "v" })]
        {
            assert!(entry(item.clone()).is_err(), "{item}");
        }
    }
}
