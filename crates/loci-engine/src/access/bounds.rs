//! The bounds of everything that callers give.
//!
//! Numbers lie between two others, texts have a maximum length, and no text contains the NUL character: PostgreSQL
//! cannot store it, so it is refused here and nowhere escaped. An error names the field.

use loci_types::{Error, KnowledgePointer, Layer, Source};

/// The longest label: a category, a role, a type.
pub(crate) const LABEL: usize = 256;
/// The longest reference: a thread, a message, a reason.
pub(crate) const REFERENCE: usize = 1_024;

/// The longest name of something that is found by its name.
pub(crate) const NAME: usize = 512;
/// The bytes of all names by which one thing is found.
pub(crate) const KEY: usize = 2_048;

/// Refuses a number that does not lie between two others.
pub(crate) fn between(field: &'static str, value: usize, least: usize, most: usize) -> Result<(), Error> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::invalid(field, format!("{field} is {value}, but must be between {least} and {most}")))
}

/// Refuses a list of layers that names none.
pub(crate) fn some_layers(layers: Option<&[Layer]>) -> Result<(), Error> {
    match layers {
        Some([]) => {
            Err(Error::invalid("layers", "layers is empty").hint("leave it out for all that the identifiers open"))
        }
        _ => Ok(()),
    }
}

/// Refuses a text with more than this number of characters, or with NUL.
pub(crate) fn short(field: &'static str, text: Option<&str>, most: usize) -> Result<(), Error> {
    let Some(text) = text else { return Ok(()) };
    let length = text.chars().count();
    if length > most {
        return Err(Error::invalid(field, format!("{field} has {length} characters, more than {most}")));
    }
    if text.contains('\0') {
        return Err(Error::nul(field));
    }
    Ok(())
}

/// Refuses texts by which something is found, if one is too long or all of them together are: databases keep them in
/// an index, whose entries have a bound.
pub(crate) fn key(texts: &[(&'static str, &str)]) -> Result<(), Error> {
    for (field, text) in texts {
        short(field, Some(text), NAME)?;
    }
    let bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
    match texts.iter().max_by_key(|(_, text)| text.len()) {
        Some((field, _)) if bytes > KEY => {
            let names = texts.iter().map(|(field, _)| *field).collect::<Vec<_>>().join(", ");
            Err(Error::invalid(field, format!("{names} have {bytes} bytes together, more than {KEY}")))
        }
        _ => Ok(()),
    }
}

/// Refuses the category, the role, the thread, the run or the actor of a memory, if one is too long.
pub(crate) fn names([category, role, thread, run, actor]: [Option<&str>; 5]) -> Result<(), Error> {
    short("category", category, LABEL)?;
    short("role", role, LABEL)?;
    short("threadId", thread, REFERENCE)?;
    short("runId", run, REFERENCE)?;
    short("actorId", actor, REFERENCE)
}

/// The types of sources: those of the memory system specification, then those that Loci and its imports write.
pub(crate) const SOURCE_TYPES: [&str; 18] = [
    "conversation",
    "tool_result",
    "knowledge_sync",
    "manual",
    "import",
    "reflection",
    "distillation",
    "extraction",
    "consolidation",
    "correction",
    "document",
    "file",
    "web",
    "tool",
    "session",
    "pool",
    "agent",
    "user",
];
/// The types of knowledge items.
pub(crate) const ITEM_TYPES: [&str; 4] = ["adr", "policy", "pattern", "spec"];

/// Refuses a word that is not one of these.
fn one_of(field: &'static str, word: &str, known: &[&str]) -> Result<(), Error> {
    if known.contains(&word) {
        return Ok(());
    }
    Err(Error::invalid(field, format!("unknown {field} `{word}`")).hint(format!("use one of {}", known.join(", "))))
}

/// Refuses a source of an unknown type, or whose words are too long.
pub(crate) fn source(given: Option<&Source>) -> Result<(), Error> {
    stored_source(given)?;
    given.map_or(Ok(()), |source| one_of("source.type", &source.kind, &SOURCE_TYPES))
}

/// Refuses a knowledge pointer to an unknown type of item, or whose words are too long.
pub(crate) fn pointer(given: Option<&KnowledgePointer>) -> Result<(), Error> {
    stored_pointer(given)?;
    given.map_or(Ok(()), |pointer| one_of("knowledgePointer.sourceType", &pointer.source_type, &ITEM_TYPES))
}

/// Refuses a source of a record from elsewhere whose words are too long. Its type may be one of an earlier version.
pub(crate) fn stored_source(given: Option<&Source>) -> Result<(), Error> {
    let Some(source) = given else { return Ok(()) };
    short("source.type", Some(&source.kind), LABEL)?;
    short("source.role", source.role.as_deref(), LABEL)?;
    short("source.reference", source.reference.as_deref(), REFERENCE)
}

/// Refuses a pointer of a record from elsewhere whose words are too long.
pub(crate) fn stored_pointer(given: Option<&KnowledgePointer>) -> Result<(), Error> {
    let Some(pointer) = given else { return Ok(()) };
    short("knowledgePointer.sourceType", Some(&pointer.source_type), LABEL)?;
    short("knowledgePointer.sourceId", Some(&pointer.source_id), REFERENCE)?;
    short("knowledgePointer.contentHash", Some(&pointer.content_hash), REFERENCE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_large_or_too_odd_is_named() {
        for (value, good) in [(0, false), (1, true), (4, true), (5, false), (usize::MAX, false)] {
            assert_eq!(between("depth", value, 1, 4).is_ok(), good, "{value}");
        }
        for (text, good) in [("", true), ("ключ", true), ("five5", false), ("a\0", false)] {
            assert_eq!(short("role", Some(text), 4).is_ok(), good, "{text:?}");
        }
        assert_eq!(short("role", Some("a\0"), 4).unwrap_err().field(), Some("role"));
    }
}
