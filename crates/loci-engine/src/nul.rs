//! Can a text be kept as it is?
//!
//! A NUL character ends a text in some stores and not in others, so none takes it.

use loci_types::{Error, KnowledgePointer, Memory, Source};
use serde_json::{Map, Value};

use crate::NewMemory;

/// Refuses text with a NUL character, by the name of its field.
pub(crate) fn without(field: &'static str, text: &str) -> Result<(), Error> {
    if text.contains('\0') {
        return Err(Error::invalid(field, format!("{field} contains a NUL character")).hint("take it out"));
    }
    Ok(())
}

/// The same for metadata, with its keys.
pub(crate) fn without_in(metadata: &Map<String, Value>) -> Result<(), Error> {
    metadata.iter().try_for_each(|(key, value)| without("metadata", key).and_then(|()| without_value(value)))
}

fn without_value(value: &Value) -> Result<(), Error> {
    match value {
        Value::String(text) => without("metadata", text),
        Value::Array(values) => values.iter().try_for_each(without_value),
        Value::Object(fields) => without_in(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) => Ok(()),
    }
}

/// The short texts of something to remember.
pub(crate) fn without_names(new: &NewMemory) -> Result<(), Error> {
    named(&new.category, [&new.thread_id, &new.run_id, &new.actor_id, &new.role])?;
    origin(new.source.as_ref(), new.knowledge_pointer.as_ref())
}

/// The same of a whole record.
pub(crate) fn without_record(memory: &Memory) -> Result<(), Error> {
    named(&memory.category, [&memory.thread_id, &memory.run_id, &memory.actor_id, &memory.role])?;
    origin(memory.source.as_ref(), memory.knowledge_pointer.as_ref())
}

fn named(category: &Option<String>, names: [&Option<String>; 4]) -> Result<(), Error> {
    let fields = ["threadId", "runId", "actorId", "role"].into_iter().zip(names);
    let texts = fields.chain([("category", category)]);
    texts.filter_map(|(field, text)| Some((field, text.as_deref()?))).try_for_each(|(field, text)| without(field, text))
}

/// Where something came from.
pub(crate) fn origin(source: Option<&Source>, pointer: Option<&KnowledgePointer>) -> Result<(), Error> {
    if let Some(source) = source {
        without("source.type", &source.kind)?;
        without("source.role", source.role.as_deref().unwrap_or_default())?;
        without("source.reference", source.reference.as_deref().unwrap_or_default())?;
    }
    if let Some(pointer) = pointer {
        for text in [&pointer.source_type, &pointer.source_id, &pointer.content_hash] {
            without("knowledgePointer", text)?;
        }
    }
    Ok(())
}
