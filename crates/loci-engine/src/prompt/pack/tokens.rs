//! Counts tokens by byte-pair encoding with the vocabulary `o200k_base` of current OpenAI models; other models differ
//! by a few per cent.
//!
//! The vocabulary is part of the binary, so counting works offline. Loading it takes a moment, once; [`prepare`]
//! loads it in advance.

/// How many tokens `text` has.
///
/// Special tokens such as `<|endoftext|>` are counted as the ordinary text that they are in a memory.
pub fn count_tokens(text: &str) -> usize {
    if text.is_empty() { 0 } else { tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len() }
}

/// Reads the vocabulary, so that the first count does not wait for it.
pub fn prepare() {
    tiktoken_rs::o200k_base_singleton();
}

/// No token is longer than this many bytes.
pub(crate) const MAX_TOKEN_BYTES: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    // Coverage: SPEC-6.7.
    #[test]
    fn counts_are_those_of_o200k_base() {
        for (text, expect) in [
            ("", 0),
            ("hello world", 2),
            ("The quick brown fox jumps over the lazy dog.", 10),
            ("Привет, как дела?", 6),
            ("我喜欢喝茶", 4),
            ("0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50", 32),
            ("<|endoftext|>", 7),
            ("   ", 1),
            ("  x  ", 3),
        ] {
            assert_eq!(count_tokens(text), expect, "{text:?}");
        }
    }
}
