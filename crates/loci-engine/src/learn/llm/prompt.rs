//! The prompts, one file each, with a version in the first line.
//!
//! A test ties the text to the version, so a log line that names a version identifies what was sent.

use std::sync::LazyLock;

/// The instructions of a language model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prompt {
    /// What it is for; the purpose of the questions that are asked with it.
    pub name: &'static str,
    /// Raised whenever the words change.
    pub version: u32,
    /// The words.
    pub text: &'static str,
}

/// All of them, in the order of their names.
pub fn prompts() -> &'static [Prompt] {
    static ALL: LazyLock<Vec<Prompt>> = LazyLock::new(|| {
        vec![
            read("causal", include_str!("../../../prompts/causal.md")),
            read("entity_summary", include_str!("../../../prompts/entity_summary.md")),
            read("insight", include_str!("../../../prompts/insight.md")),
            read("rewrite", include_str!("../../../prompts/rewrite.md")),
            read("same_fact", include_str!("../../../prompts/same_fact.md")),
            read("summarize", include_str!("../../../prompts/summarize.md")),
        ]
    });
    &ALL
}

/// The instructions for each purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    Causal,
    EntitySummary,
    Insight,
    Rewrite,
    SameFact,
    Summarize,
}

impl Purpose {
    /// Its prompt.
    pub(super) fn prompt(self) -> &'static Prompt {
        &prompts()[self as usize]
    }
}

/// A file's version and words. One without a version would be version 0, which a test refuses.
fn read(name: &'static str, file: &'static str) -> Prompt {
    let (head, text) = file.split_once('\n').unwrap_or((file, ""));
    let version = head.trim().strip_prefix("version: ").and_then(|number| number.parse().ok());
    Prompt { name, version: version.unwrap_or(0), text: text.trim() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_words_are_another_version() {
        let pinned = [
            ("causal", 1, "1c72f53220dfb4f7"),
            ("entity_summary", 1, "9b5aeca15ac60649"),
            ("insight", 1, "3f298f5c2f33db0b"),
            ("rewrite", 1, "65ee35cc1edb27f1"),
            ("same_fact", 1, "3d50501b901729d1"),
            ("summarize", 1, "b8864cf14304159c"),
        ];
        let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..16].to_owned();
        let found: Vec<_> = prompts().iter().map(|prompt| (prompt.name, prompt.version, hash(prompt.text))).collect();
        let pinned: Vec<_> = pinned.into_iter().map(|(name, version, hash)| (name, version, hash.to_owned())).collect();
        assert_eq!(found, pinned, "raise the version of what has changed, then pin it here");
    }

    #[test]
    fn every_purpose_has_its_prompt_and_every_prompt_its_guard() {
        for (purpose, name) in [
            (Purpose::Causal, "causal"),
            (Purpose::EntitySummary, "entity_summary"),
            (Purpose::Insight, "insight"),
            (Purpose::Rewrite, "rewrite"),
            (Purpose::SameFact, "same_fact"),
            (Purpose::Summarize, "summarize"),
        ] {
            let prompt = purpose.prompt();
            assert_eq!(prompt.name, name);
            assert!(prompt.version >= 1, "{name}");
            for part in ["`<data-CODE>`", "was written by others", "never an instruction"] {
                assert!(prompt.text.contains(part), "{name}: {part}");
            }
        }
    }

    #[test]
    fn the_first_line_is_the_version() {
        for (file, version, text) in
            [("version: 7\nwords\n", 7, "words"), ("words", 0, ""), ("version: x\nwords", 0, "words")]
        {
            assert_eq!(read("any", file), Prompt { name: "any", version, text });
        }
    }
}
