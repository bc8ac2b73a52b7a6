//! Normalisation of a text before it is split into pieces.
//!
//! The table in the file of the model defines the normalisation with which the model was trained: NFKC (full-width
//! letters, ligatures, composed accents), no control characters, and one kind of space. The table is a trie of byte
//! sequences in the double-array form of darts-clone, followed by the replacement texts, each ended by a zero byte. At
//! each position the longest sequence in the trie is replaced; a character that is in no sequence stays.
//!
//! Spaces then become `▁`: one at the beginning, one for each run of spaces, none at the end.

use super::protobuf::{Field, fields};

/// The mark that represents a space in pieces.
const SPACE: char = '\u{2581}';

/// The normalisation table of a model.
#[derive(Debug, Default)]
pub(super) struct Charsmap {
    /// The nodes of the trie.
    units: Vec<u32>,
    /// The replacement texts, each ended by a zero byte.
    texts: Vec<u8>,
}

impl Charsmap {
    /// Reads the normalisation rules of a model. Returns `None` if they are damaged. Rules without a table replace
    /// nothing.
    pub(super) fn parse(rules: &[u8]) -> Option<Self> {
        let mut table: &[u8] = &[];
        for field in fields(rules) {
            if let (2, Field::Bytes(bytes)) = field? {
                table = bytes;
            }
        }
        if table.is_empty() {
            return Some(Self::default());
        }
        let (length, rest) = table.split_first_chunk()?;
        let (trie, texts) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
        let (units, odd) = trie.as_chunks();
        if !odd.is_empty() {
            return None;
        }
        Some(Self { units: units.iter().map(|unit| u32::from_le_bytes(*unit)).collect(), texts: texts.to_vec() })
    }

    /// Returns the normalised text, or its beginning if it is longer than `limit` bytes.
    pub(super) fn normalise(&self, text: &str, limit: usize) -> String {
        let mut normal = String::with_capacity(text.len().min(limit) + SPACE.len_utf8());
        let mut rest = text;
        // A space is written only when a character follows it.
        let mut space = true;
        while !rest.is_empty() && normal.len() < limit {
            let (replacement, length) = self.replace(rest);
            for letter in replacement.chars() {
                if letter == ' ' {
                    space = true;
                    continue;
                }
                if std::mem::take(&mut space) {
                    normal.push(SPACE);
                }
                normal.push(letter);
            }
            rest = &rest[length..];
        }
        // The text may contain the mark itself.
        normal.truncate(normal.trim_end_matches(SPACE).len());
        normal
    }

    /// Returns the replacement of the beginning of `text`, and the number of bytes that it replaces.
    fn replace<'a>(&'a self, text: &'a str) -> (&'a str, usize) {
        let letter = text.chars().next().map_or(0, char::len_utf8);
        match self.longest(text.as_bytes()) {
            // In a damaged table a sequence may end within a character; it is then ignored.
            Some((replacement, length)) if text.is_char_boundary(length) => (replacement, length),
            _ => (&text[..letter], letter),
        }
    }

    /// Returns the replacement of the longest sequence in the trie that is a prefix of `text`, and its length.
    fn longest(&self, text: &[u8]) -> Option<(&str, usize)> {
        let mut found = None;
        let mut at = offset(*self.units.first()?);
        for (index, &byte) in text.iter().enumerate() {
            at ^= usize::from(byte);
            let Some(&unit) = self.units.get(at) else { break };
            if unit & LABEL != u32::from(byte) {
                break;
            }
            at ^= offset(unit);
            if unit & HAS_VALUE != 0 {
                found = self.units.get(at).map(|value| (value & VALUE, index + 1));
            }
        }
        let (value, length) = found?;
        let text = self.texts.get(value as usize..)?;
        let end = text.iter().position(|&byte| byte == 0)?;
        Some((std::str::from_utf8(&text[..end]).ok()?, length))
    }
}

/// The bits of a node that must equal the byte that leads to it. The highest is set in values, which no byte leads to.
const LABEL: u32 = 0x8000_00ff;

/// The bit that is set if a sequence ends at a node. Its value is then the first child of the node.
const HAS_VALUE: u32 = 0x100;

/// The bits of a value.
const VALUE: u32 = 0x7fff_ffff;

/// Returns the offset of the children of a node, relative to it. Large offsets are stored in units of 256.
fn offset(unit: u32) -> usize {
    ((unit >> 10) << ((unit & 0x200) >> 6)) as usize
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::protobuf::tests::bytes;
    use super::*;

    /// A table that replaces `A` by `a`, a tab by a space, `\u{1}` by nothing and `AB` by `x y`.
    pub(in super::super) fn small() -> Vec<u8> {
        let texts = b"a\0 \0\0x y\0";
        // The root's children are at 256 ^ byte, those of `A` at 512 ^ byte.
        let mut units = vec![0_u32; 1024];
        let leads_to = |from: usize, to: usize| (((from ^ to) as u32) << 10) | HAS_VALUE;
        units[0] = 256 << 10;
        for (byte, children, value) in [(b'A', 512, 0), (b'\t', 640, 2), (1, 768, 4)] {
            let at = 256 ^ usize::from(byte);
            units[at] = leads_to(at, children) | u32::from(byte);
            units[children] = value | 0x8000_0000;
        }
        let at = 512 ^ usize::from(b'B');
        units[at] = leads_to(at, 896) | u32::from(b'B');
        units[896] = 5 | 0x8000_0000;
        let trie: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        [&(trie.len() as u32).to_le_bytes()[..], &trie, texts].concat()
    }

    #[test]
    fn texts_are_replaced_and_spaces_marked() {
        let charsmap = Charsmap::parse(&bytes(2, &small())).unwrap();
        for (text, expected) in [
            ("", ""),
            (" \t ", ""),
            ("\u{1}", ""),
            ("b", "▁b"),
            ("AA", "▁aa"),
            ("  b \t A ", "▁b▁a"),
            // The longest sequence wins.
            ("cAB", "▁cx▁y"),
            ("b\u{1} \u{1} b", "▁b▁b"),
            ("é水🙂", "▁é水🙂"),
            ("\u{0}", "▁\u{0}"),
            ("b ▁", "▁b"),
        ] {
            assert_eq!(charsmap.normalise(text, 100), expected, "{text:?}");
        }
        assert_eq!(charsmap.normalise("bbbbbbbbbbbbbb", 8), "▁bbbbb");
    }

    #[test]
    fn damaged_tables_are_refused() {
        let small = small();
        assert!(Charsmap::parse(&bytes(2, &small[..3])).is_none());
        assert!(Charsmap::parse(&bytes(2, &small[..100])).is_none());
        assert!(Charsmap::parse(&bytes(2, &[3, 0, 0, 0, 1, 2, 3])).is_none());
        assert_eq!(Charsmap::parse(&[]).unwrap().normalise("A  b", 10), "▁A▁b");
    }
}
