//! Normal forms, hashes and token estimates of texts.

use loci_types::{ContentHash, Memory};
use unicode_normalization::UnicodeNormalization;

/// The text as it is compared: composed, in lower case, with single spaces, without the full stop
/// or exclamation mark at its end.
pub fn normalise(text: &str) -> String {
    let composed: String = text.nfc().collect();
    let words: Vec<String> = composed.split_whitespace().map(fold).collect();
    words.join(" ").trim_end_matches(['.', '!', ' ']).to_owned()
}

/// A word in lower case, unless its case may mean something: "aBcD" is a token, "ABCD" only loud.
fn fold(word: &str) -> String {
    let inner_capital = word.chars().skip(1).any(char::is_uppercase);
    let telling = inner_capital && word.chars().any(char::is_lowercase);
    if telling || word.chars().any(|c| c.is_ascii_digit()) { word.to_owned() } else { word.to_lowercase() }
}

/// The hash of the normalised text.
pub fn content_hash(text: &str) -> ContentHash {
    ContentHash(*blake3::hash(normalise(text).as_bytes()).as_bytes())
}

/// The key under which the same event would be found again: its text, and when and where it was
/// said. Two people may say "thanks" twice; the same message may not come in twice.
pub(crate) fn event_key(text: &str, place: &[Option<&str>]) -> ContentHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(normalise(text).as_bytes());
    for part in place {
        hasher.update(&[0x1f]);
        hasher.update(part.unwrap_or_default().as_bytes());
    }
    ContentHash(*hasher.finalize().as_bytes())
}

/// The text that is embedded: a named speaker's words carry the name, because questions ask for it,
/// and so do observations of the knowledge graph.
pub(crate) fn embedding_text(memory: &Memory) -> String {
    if let Some(name) = crate::graph::subject(memory) {
        return format!("{name}: {}", memory.content);
    }
    if crate::prompt::render::is_quotation(memory) {
        let speaker =
            memory.actor_id.as_deref().and_then(crate::prompt::render::as_name).map(|name| format!("{name}: "));
        let context = memory.metadata.get(crate::write::reconcile::write::CONTEXT).and_then(serde_json::Value::as_str);
        let context = context.map(|context| format!("{context} ")).unwrap_or_default();
        return format!("{}{context}{}", speaker.unwrap_or_default(), memory.content);
    }
    match (&memory.actor_id, &memory.role) {
        (Some(actor), None) if is_utterance(memory) => format!("{actor}: {}", memory.content),
        _ => memory.content.clone(),
    }
}

/// Whether a memory is what someone said in a conversation. Who wrote a fact down is not who speaks in it.
pub(crate) fn is_utterance(memory: &Memory) -> bool {
    memory.thread_id.is_some() && (memory.role.is_some() || memory.actor_id.is_some())
}

/// About how many tokens a text has, for sizes and statistics: current tokenizers take four
/// characters of Latin text or two of others, and at least one token for each word.
pub fn estimate_tokens(text: &str) -> u32 {
    let estimate = |word: &str| {
        let wide = word.chars().filter(|c| !c.is_ascii()).count();
        let narrow = word.chars().count() - wide;
        (narrow.div_ceil(5) + wide.div_ceil(2)).max(1)
    };
    text.split_whitespace().map(estimate).sum::<usize>().min(u32::MAX as usize) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_differences_do_not_make_another_text() {
        for (a, b) in [("I like tea", "  i LIKE\n tea. "), ("Café", "Cafe\u{301}"), ("it works", "It works!")] {
            assert_eq!(content_hash(a), content_hash(b), "{a:?} {b:?}");
        }
        for (a, b) in [
            ("I like tea", "I like teas"),
            ("3 nodes", "5 nodes"),
            ("yes", "yes?"),
            ("the token is aBcD", "the token is AbCd"),
            ("10\u{b2} metres", "102 metres"),
        ] {
            assert_ne!(content_hash(a), content_hash(b), "{a:?} {b:?}");
        }
    }

    #[test]
    fn tokens_are_about_right() {
        for (text, expect) in [("", 0), ("hello", 1), ("hello world", 2), ("internationalisation", 4), ("Привет", 3)]
        {
            assert_eq!(estimate_tokens(text), expect, "{text}");
        }
    }
}
