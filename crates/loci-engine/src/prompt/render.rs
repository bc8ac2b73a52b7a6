//! Renders a memory for people and prompts.
//!
//! A quotation from a conversation is rendered as reported speech: who said it, when, what it answers, and the days
//! it names. Other memories are rendered as they are.

use std::borrow::Cow;

use loci_types::Memory;
use serde_json::Value;

use crate::write::contradict::NewerStatement;
use crate::write::reconcile::write::CONTEXT;

/// Where a quotation says on which day it was said.
pub(crate) const SAID: &str = "said";
/// Where a quotation says which days it names.
pub(crate) const DATES: &str = "dates";

/// Whether a memory is someone's own words, learned from a conversation.
pub fn is_quotation(memory: &Memory) -> bool {
    memory.metadata.contains_key(SAID) && crate::learn::consolidate::is_learned(memory)
}

/// A memory as it is shown: `Ana, 2026-06-01: "we closed on the house" [2026-05-30]`.
pub fn reported(memory: &Memory) -> Cow<'_, str> {
    if !is_quotation(memory) {
        return Cow::Borrowed(&memory.content);
    }
    let text = |key: &str| memory.metadata.get(key).and_then(Value::as_str);
    let speaker = memory.actor_id.as_deref().and_then(as_name).unwrap_or_else(|| "User".to_owned());
    let context = text(CONTEXT).map(|context| format!(" (re: \"{context}\")")).unwrap_or_default();
    let dates: Vec<&str> =
        memory.metadata.get(DATES).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let dates = if dates.is_empty() { String::new() } else { format!(" [{}]", dates.join("; ")) };
    Cow::Owned(format!("{speaker}, {}{context}: \"{}\"{dates}", text(SAID).unwrap_or_default(), memory.content))
}

/// A memory as it is shown, with what was said later and may contradict it.
pub fn shown(memory: &Memory, newer: Option<&NewerStatement>) -> String {
    match newer {
        Some(newer) => format!("{} (newer: {})", reported(memory), newer.text),
        None => reported(memory).into_owned(),
    }
}

/// The name that an actor's id is, if it looks like one.
pub(crate) fn as_name(actor: &str) -> Option<String> {
    let plain = |c: char| c.is_alphabetic() || matches!(c, ' ' | '-' | '\'');
    let mut letters = actor.chars();
    let first = letters.next().filter(|c| c.is_alphabetic())?;
    let generic = ["user", "me", "human", "default", "admin", "test"].contains(&actor.to_lowercase().as_str());
    (actor.chars().count() <= 40 && actor.chars().all(plain) && !generic)
        .then(|| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_that_looks_like_a_name_is_one() {
        for (actor, expect) in [
            ("ana", Some("Ana")),
            ("Mary-Jane O'Neil", Some("Mary-Jane O'Neil")),
            ("мария", Some("Мария")),
            ("user", None),
            ("u-1029", None),
            ("ana@example.org", None),
            ("", None),
        ] {
            assert_eq!(as_name(actor).as_deref(), expect, "{actor}");
        }
    }
}
