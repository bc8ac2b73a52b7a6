//! Tokenisation with a SentencePiece unigram model.
//!
//! The file `sp.model` is a protobuf message with the pieces, each with its log probability, and with the rules of
//! normalisation. A text is normalised (see [`Charsmap`]) and then split into the pieces with the greatest product of
//! probabilities, by the Viterbi algorithm.
//!
//! The `tokenizers` crate is not used here: it normalises grapheme by grapheme whereas SentencePiece takes the longest
//! prefix, it fuses runs of unknown characters, and its trie of hash maps takes more memory for 128,000 pieces than the
//! whole network. Here the pieces are one sorted list of three megabytes.

mod charsmap;
mod protobuf;

use std::path::Path;

use charsmap::Charsmap;
use protobuf::{Field, fields};

use super::text_encoder::Encoded;
use crate::error::Error;

/// The log probability of an unknown character is this much below that of the least likely piece.
const UNKNOWN_PENALTY: f64 = 10.0;

/// The types of pieces that never occur in a text: unknown, control and unused.
const NOT_IN_TEXTS: [u64; 3] = [2, 3, 5];

/// A unigram tokenizer.
#[derive(Debug)]
pub(super) struct SentencePiece {
    charsmap: Charsmap,
    pieces: Pieces,
    unknown: f64,
    max_tokens: usize,
    markers: Markers,
}

/// The ids of the special pieces.
#[derive(Debug, Clone, Copy)]
pub(super) struct Markers {
    pub(super) unknown: u32,
    pub(super) begin: u32,
    pub(super) end: u32,
}

impl SentencePiece {
    /// Reads the model at `path`, whose content is `bytes`, for a network with `rows` pieces.
    ///
    /// Texts are cut at `max_tokens`, including the special pieces at both ends.
    pub(super) fn load(path: &Path, bytes: &[u8], rows: usize, max_tokens: usize) -> Result<Self, Error> {
        let invalid = |field: &str, problem: String| Error::invalid(path, field, problem);
        let damaged = |field: &str| invalid(field, "is cut off or damaged; fetch the model again".to_owned());
        let (mut pieces, mut charsmap) = (Vec::new(), None);
        for field in fields(bytes) {
            match field.ok_or_else(|| damaged("protobuf"))? {
                (1, Field::Bytes(piece)) => pieces.push(Piece::parse(piece).ok_or_else(|| damaged("pieces"))?),
                (3, Field::Bytes(rules)) => charsmap = Some(rules),
                _ => {}
            }
        }
        if pieces.len() < 3 || pieces.len() > rows {
            let problem = format!("has {} pieces, but the network has {rows}", pieces.len());
            return Err(invalid("pieces", problem));
        }
        if let Some(piece) = pieces.iter().find(|piece| !piece.score.is_finite()) {
            return Err(invalid("pieces", format!("the score of `{}` is not a number", piece.text)));
        }
        let rules = charsmap.ok_or_else(|| invalid("normalizer_spec", "is missing".to_owned()))?;
        let charsmap = Charsmap::parse(rules).ok_or_else(|| damaged("normalizer_spec"))?;
        let least = pieces.iter().fold(f32::INFINITY, |least, piece| least.min(piece.score));
        let markers = Markers {
            unknown: marker(&pieces, "<unk>").ok_or_else(|| invalid("pieces", "`<unk>` is missing".to_owned()))?,
            begin: marker(&pieces, "<s>").ok_or_else(|| invalid("pieces", "`<s>` is missing".to_owned()))?,
            end: marker(&pieces, "</s>").ok_or_else(|| invalid("pieces", "`</s>` is missing".to_owned()))?,
        };
        let unknown = f64::from(least) - UNKNOWN_PENALTY;
        Ok(Self { charsmap, pieces: Pieces::new(&pieces), unknown, max_tokens, markers })
    }

    /// Returns the ids of the text between the special pieces for begin and end.
    ///
    /// An empty text, or one of spaces only, becomes one unknown piece, so that it has a vector too.
    pub(super) fn write(&self, text: &str) -> Encoded {
        // No piece is longer than `longest`, so text beyond this limit has no effect. This bounds the work.
        let normal = self.charsmap.normalise(text, self.max_tokens * self.pieces.longest);
        let mut ids = vec![self.markers.begin];
        if normal.is_empty() {
            ids.push(self.markers.unknown);
        }
        ids.extend(self.cut(&normal));
        ids.truncate(self.max_tokens - 1);
        ids.push(self.markers.end);
        Encoded { ids, ..Encoded::default() }
    }

    /// Returns the most likely pieces of a normalised text.
    fn cut(&self, text: &str) -> Vec<u32> {
        /// The best split of the text before a position.
        #[derive(Clone, Copy)]
        struct Best {
            score: f64,
            from: usize,
            piece: u32,
        }
        let nowhere = Best { score: f64::NEG_INFINITY, from: 0, piece: self.markers.unknown };
        let mut best = vec![nowhere; text.len() + 1];
        best[0].score = 0.0;
        for (start, letter) in text.char_indices() {
            let (before, letter_end) = (best[start].score, start + letter.len_utf8());
            let mut reach = |end: usize, score: f64, piece: u32| {
                // Only a greater score wins: among equal ones the piece that starts first is taken.
                if before + score > best[end].score {
                    best[end] = Best { score: before + score, from: start, piece };
                }
            };
            let mut known = false;
            self.pieces.beginning(&text.as_bytes()[start..], |length, score, piece| {
                known |= start + length == letter_end;
                reach(start + length, f64::from(score), piece);
            });
            if !known {
                reach(letter_end, self.unknown, self.markers.unknown);
            }
        }
        let (mut ids, mut end) = (Vec::new(), text.len());
        while end > 0 {
            ids.push(best[end].piece);
            end = best[end].from;
        }
        ids.reverse();
        ids
    }
}

fn marker(pieces: &[Piece<'_>], text: &str) -> Option<u32> {
    let at = pieces.iter().position(|piece| piece.text == text && NOT_IN_TEXTS.contains(&piece.sort))?;
    u32::try_from(at).ok()
}

/// A piece as stored in the file.
#[derive(Debug, Clone, Copy)]
struct Piece<'a> {
    text: &'a str,
    score: f32,
    sort: u64,
}

impl<'a> Piece<'a> {
    fn parse(message: &'a [u8]) -> Option<Self> {
        let mut piece = Self { text: "", score: 0.0, sort: 1 };
        for field in fields(message) {
            match field? {
                (1, Field::Bytes(text)) => piece.text = std::str::from_utf8(text).ok()?,
                (2, Field::Four(bytes)) => piece.score = f32::from_le_bytes(bytes),
                (3, Field::Number(sort)) => piece.sort = sort,
                _ => {}
            }
        }
        Some(piece)
    }
}

/// The pieces that may occur in a text, sorted by their bytes.
///
/// Pieces with a common prefix are adjacent, so the pieces that are prefixes of a text are found by narrowing a range
/// byte by byte.
#[derive(Debug)]
struct Pieces {
    /// The concatenated pieces.
    text: Vec<u8>,
    /// The offset of each piece in `text`, and the end of the last.
    starts: Vec<u32>,
    scores: Vec<f32>,
    ids: Vec<u32>,
    /// The length of the longest piece in bytes.
    longest: usize,
    /// The range of pieces for each first byte, which saves the longest step of the search.
    first: Vec<u32>,
}

impl Pieces {
    fn new(pieces: &[Piece<'_>]) -> Self {
        let allowed = |piece: &Piece<'_>| !piece.text.is_empty() && !NOT_IN_TEXTS.contains(&piece.sort);
        let mut order: Vec<usize> = (0..pieces.len()).filter(|&id| allowed(&pieces[id])).collect();
        order.sort_by_key(|&id| pieces[id].text);
        let (mut text, mut starts) = (Vec::new(), vec![0]);
        for &id in &order {
            text.extend_from_slice(pieces[id].text.as_bytes());
            starts.push(text.len() as u32);
        }
        let longest = order.iter().map(|&id| pieces[id].text.len()).max().unwrap_or(1);
        let first = (0..=256_usize)
            .map(|byte| order.partition_point(|&id| usize::from(pieces[id].text.as_bytes()[0]) < byte) as u32)
            .collect();
        let scores = order.iter().map(|&id| pieces[id].score).collect();
        Self { text, starts, scores, ids: order.iter().map(|&id| id as u32).collect(), longest, first }
    }

    fn piece(&self, index: usize) -> &[u8] {
        &self.text[self.starts[index] as usize..self.starts[index + 1] as usize]
    }

    /// Passes the length, the score and the id of each piece that is a prefix of `text`, the shortest first.
    fn beginning(&self, text: &[u8], mut give: impl FnMut(usize, f32, u32)) {
        let Some(&byte) = text.first() else { return };
        let byte = usize::from(byte);
        let (mut low, mut high) = (self.first[byte] as usize, self.first[byte + 1] as usize);
        for length in 1..=text.len() {
            // All pieces from `low` to `high` start with these `length` bytes. A piece that ends here is the first.
            if low < high && self.piece(low).len() == length {
                give(length, self.scores[low], self.ids[low]);
                low += 1;
            }
            let Some(next) = text.get(length) else { return };
            let (before, after) = (low, high);
            low = before + self.partition(before, after, |piece| piece.get(length) < Some(next));
            high = low + self.partition(low, after, |piece| piece.get(length) == Some(next));
            if low == high {
                return;
            }
        }
    }

    /// Returns the number of pieces from `low` on, before `high`, for which `holds` is true.
    fn partition(&self, low: usize, high: usize, holds: impl Fn(&[u8]) -> bool) -> usize {
        let (mut least, mut most) = (low, high);
        while least < most {
            let middle = least.midpoint(most);
            if holds(self.piece(middle)) {
                least = middle + 1;
            } else {
                most = middle;
            }
        }
        least - low
    }
}

#[cfg(test)]
mod tests {
    use super::protobuf::tests::{bytes, float, number};
    use super::*;

    const PIECES: [(&str, f32); 9] = [
        ("\u{2581}", -3.0),
        ("a", -2.0),
        ("b", -2.0),
        ("ab", -3.0),
        ("\u{2581}ab", -4.5),
        ("abab", -7.0),
        ("é", -5.0),
        ("水", -5.0),
        ("...", -6.0),
    ];

    fn model(pieces: &[(&str, f32)], charsmap: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        for (text, sort) in [("<unk>", 2), ("<s>", 3), ("</s>", 3)] {
            file.extend(bytes(1, &[bytes(1, text.as_bytes()), float(2, 0.0), number(3, sort)].concat()));
        }
        for (text, score) in pieces {
            file.extend(bytes(1, &[bytes(1, text.as_bytes()), float(2, *score)].concat()));
        }
        file.extend(bytes(3, &[bytes(1, b"nmt_nfkc"), bytes(2, charsmap)].concat()));
        file
    }

    fn load(file: &[u8]) -> Result<SentencePiece, Error> {
        SentencePiece::load(Path::new("sp.model"), file, 100, 8)
    }

    #[test]
    fn texts_are_cut_into_the_most_likely_pieces() {
        let file = model(&PIECES, &[]);
        let model = load(&file).unwrap();
        for (text, expected) in [
            ("", &[1, 0, 2][..]),
            ("   ", &[1, 0, 2]),
            ("ab", &[1, 7, 2]),
            // Two of `ab` are likelier than `abab`, and `▁ab` is likelier than `▁` and `ab`.
            ("abab", &[1, 7, 6, 2]),
            ("a", &[1, 3, 4, 2]),
            ("  b   ab ", &[1, 3, 5, 7, 2]),
            ("é水", &[1, 3, 9, 10, 2]),
            // Each unknown character is one piece; two dots are no three.
            ("..", &[1, 3, 0, 0, 2]),
            ("...", &[1, 3, 11, 2]),
            ("🙂", &[1, 3, 0, 2]),
            // A marker's name in a text is not the marker.
            ("<s>", &[1, 3, 0, 0, 0, 2]),
            // Cut at eight, the markers included.
            ("bbbbbbbbbbbbbbbb", &[1, 3, 5, 5, 5, 5, 5, 2]),
        ] {
            assert_eq!(model.write(text).ids, expected, "{text:?}");
        }
    }

    #[test]
    fn of_equally_likely_ways_the_one_with_the_longer_last_piece_is_taken() {
        let file = model(&[("\u{2581}", -1.0), ("a", -1.0), ("aa", -2.0), ("aaa", -3.0)], &[]);
        assert_eq!(load(&file).unwrap().write("aaa").ids, [1, 3, 6, 2]);
    }

    #[test]
    fn models_that_cannot_be_used_are_refused() {
        let expect = |file: &[u8], words: &str| {
            let error = load(file).unwrap_err().to_string();
            assert!(error.starts_with("sp.model: ") && error.contains(words), "{error}");
        };
        expect(b"", "0 pieces");
        expect(&model(&[("a", f32::NAN)], &[]), "the score of `a` is not a number");
        expect(&model(&[("a", -1.0); 200], &[]), "203 pieces, but the network has 100");
        let piece = |text: &str| bytes(1, &bytes(1, text.as_bytes()));
        let rules = bytes(3, &bytes(1, b"nmt_nfkc"));
        expect(&[piece("a"), piece("b"), piece("c"), rules].concat(), "`<unk>` is missing");
        expect(&[piece("a"), piece("b"), piece("c")].concat(), "normalizer_spec: is missing");
        expect(&[bytes(1, &bytes(1, &[0xff])), piece("b")].concat(), "pieces: is cut off or damaged");
    }

    #[test]
    fn damaged_files_are_errors_or_other_models_and_never_a_panic() {
        let sound = model(&PIECES, &charsmap::tests::small());
        load(&sound).unwrap();
        for length in 0..sound.len() {
            let error = load(&sound[..length]).unwrap_err().to_string();
            assert!(error.starts_with("sp.model: "), "{length}: {error}");
        }
        for at in 0..sound.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = sound.clone();
                damaged[at] = value;
                if let Ok(model) = load(&damaged) {
                    model.write("  ab Å ＡB\u{0}ab ... é水🙂 ﬁ");
                }
            }
        }
    }
}
