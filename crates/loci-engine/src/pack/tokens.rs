//! How many tokens does a text cost?
//!
//! Counted, not guessed: byte-pair encoding with the vocabulary `o200k_base`, as current models of
//! OpenAI read text; others differ by a few per cent. The vocabulary lies in the binary, so counting
//! works offline, and is indexed in a few milliseconds by the first call. A count takes
//! `O(n log n)` steps whatever the text: no run of letters or blanks makes it slow.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::LazyLock;

use regex::Regex;

/// How many tokens `text` has.
///
/// Special tokens such as `<|endoftext|>` are counted as the ordinary text that they are in a memory.
pub fn count_tokens(text: &str) -> usize {
    static COUNTER: LazyLock<Counter> = LazyLock::new(Counter::new);
    COUNTER.count(text)
}

/// The tokens in order of rank: one byte of length for each, then their bytes, end to end.
///
/// Made from OpenAI's `o200k_base.tiktoken` (MIT licence, sha256
/// `446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d`), whose lines are in that order.
static VOCABULARY: &[u8] = include_bytes!("o200k_base.tokens");
/// How many tokens it has.
const TOKENS: usize = 199_998;
/// The longest of them.
pub(crate) const LONGEST: usize = 128;
/// Twice as many slots as tokens and more, so that most searches end where they begin.
const SLOTS: usize = 1 << 19;
/// A slot holds a rank in its low bits and a part of the hash above them.
const RANK_BITS: u32 = 18;

/// Pieces that are encoded one by one, as `o200k_base` has them. Its negative look-ahead
/// `\s+(?!\S)` is left to [`Counter::count`], which spares an engine that can go back.
const PIECES: &str = concat!(
    r"^(?:[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"|\s*[\r\n]+",
    r"|\s+)",
);

struct Counter {
    pieces: Regex,
    /// Where each token begins in the vocabulary, and where the last one ends.
    starts: Vec<u32>,
    /// An open hash table of ranks, by the bytes of the token.
    slots: Vec<u32>,
}

impl Counter {
    fn new() -> Self {
        #[expect(clippy::unwrap_used, reason = "the pattern is a constant, and every test compiles it")]
        let pieces = Regex::new(PIECES).unwrap();
        let mut starts = Vec::with_capacity(TOKENS + 1);
        let mut place = TOKENS as u32;
        for length in &VOCABULARY[..TOKENS] {
            starts.push(place);
            place += u32::from(*length);
        }
        starts.push(place);
        let mut slots = vec![u32::MAX; SLOTS];
        for (rank, ends) in starts.windows(2).enumerate() {
            let (tag, mut slot) = hash(&VOCABULARY[ends[0] as usize..ends[1] as usize]);
            while slots[slot] != u32::MAX {
                slot = (slot + 1) % SLOTS;
            }
            slots[slot] = tag | rank as u32;
        }
        Self { pieces, starts, slots }
    }

    fn count(&self, text: &str) -> usize {
        let mut rest = text;
        let mut count = 0;
        // Every character begins a piece, so the search only ends with the text.
        while let Some(found) = self.pieces.find(rest) {
            let mut end = found.end();
            let piece = found.as_str();
            // Of blanks before a word, the last belongs to the word.
            if end < rest.len()
                && let Some((last, blank)) = piece.char_indices().next_back()
                && last > 0
                && blank.is_whitespace()
                && !matches!(blank, '\r' | '\n')
            {
                end = last;
            }
            count += self.encode(&rest.as_bytes()[..end]);
            rest = &rest[end..];
        }
        count
    }

    /// How many tokens are left of one piece when the pair of the lowest rank has been joined as
    /// long as there is one, the leftmost first.
    fn encode(&self, piece: &[u8]) -> usize {
        if piece.len() < 2 || self.rank(piece).is_some() {
            return piece.len().min(1);
        }
        let length = piece.len();
        // A part is known by where it begins; these say where its neighbours begin.
        let mut next: Vec<usize> = (1..=length).collect();
        let mut previous: Vec<usize> = (0..length).map(|start| start.saturating_sub(1)).collect();
        let mut alive = vec![true; length];
        let mut pairs = BinaryHeap::with_capacity(length);
        let pair = |start: usize, end: usize| self.rank(&piece[start..end]).map(|rank| Reverse((rank, start, end)));
        pairs.extend((0..length - 1).filter_map(|start| pair(start, start + 2)));
        let mut parts = length;
        while let Some(Reverse((_, start, end))) = pairs.pop() {
            let middle = next[start];
            // A pair whose parts have been joined with others since is passed over.
            if !alive[start] || middle >= length || next[middle] != end {
                continue;
            }
            alive[middle] = false;
            next[start] = end;
            parts -= 1;
            if end < length {
                previous[end] = start;
                pairs.extend(pair(start, next[end]));
            }
            if start > 0 {
                pairs.extend(pair(previous[start], end));
            }
        }
        parts
    }

    fn rank(&self, bytes: &[u8]) -> Option<u32> {
        if bytes.len() > LONGEST {
            return None;
        }
        let (tag, mut slot) = hash(bytes);
        loop {
            let entry = self.slots[slot];
            if entry == u32::MAX {
                return None;
            }
            let rank = entry & ((1 << RANK_BITS) - 1);
            if entry - rank == tag {
                let token = self.starts[rank as usize] as usize..self.starts[rank as usize + 1] as usize;
                if &VOCABULARY[token] == bytes {
                    return Some(rank);
                }
            }
            slot = (slot + 1) % SLOTS;
        }
    }
}

/// The tag and the slot of a token. The bytes are our own vocabulary or are compared with it, so
/// the hash need not be safe, only quick.
fn hash(bytes: &[u8]) -> (u32, usize) {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut state = bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        state = (state.rotate_left(23) ^ u64::from_le_bytes(word)).wrapping_mul(FACTOR);
    }
    state ^= state >> 29;
    state = state.wrapping_mul(FACTOR);
    (((state >> 50) as u32) << RANK_BITS, (state >> 20) as usize % SLOTS)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn counts_are_those_of_o200k_base() {
        // Expected values from OpenAI's own encoder.
        for (text, expect) in [
            ("", 0),
            ("hello world", 2),
            ("The quick brown fox jumps over the lazy dog.", 10),
            ("Привет, как дела?", 6),
            ("我喜欢喝茶", 4),
            ("👩\u{200d}👩\u{200d}👧", 8),
            ("she'll  say:\n\n  \"it's 12345.67\"\t\r\n", 15),
            ("0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50", 32),
            ("<|endoftext|>", 7),
            ("a/b/c.\n/d \u{301}x\u{0}", 9),
            ("   ", 1),
            ("  x  ", 3),
            ("\u{a0}\u{a0}naïve\u{2028}Ǆ'S", 9),
        ] {
            assert_eq!(count_tokens(text), expect, "{text:?}");
        }
    }

    #[test]
    fn no_text_is_slow() {
        for (unit, times) in
            [("a", 100_000), (" ", 100_000), ("\n ", 50_000), ("A", 50_000), ("!/", 50_000), ("\u{301}", 50_000)]
        {
            let text = unit.repeat(times);
            let start = Instant::now();
            assert!(count_tokens(&text) > 0);
            // A quadratic count of this length takes minutes; a busy machine may take a while too.
            assert!(start.elapsed() < Duration::from_secs(5), "{unit:?} took {:?}", start.elapsed());
        }
    }

    #[test]
    fn the_vocabulary_is_whole() {
        let counter = Counter::new();
        assert_eq!(*counter.starts.last().unwrap() as usize, VOCABULARY.len());
        assert!((0..=u8::MAX).all(|byte| counter.rank(&[byte]).is_some()));
        assert!(VOCABULARY[..TOKENS].iter().all(|length| (1..=LONGEST as u8).contains(length)));
    }
}
