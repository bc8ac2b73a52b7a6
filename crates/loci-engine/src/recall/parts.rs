//! Splits a long note into parts.
//!
//! A note is split at the ends of its sentences. Each part has its own vector and token states, stored together in
//! the bytes that otherwise hold the states of the whole text: the length of those is always a multiple of the size
//! of a state, and that of parts never is.

use std::ops::Range;

use loci_models::projection::PACKED;

use super::features::VectorCodes;
use crate::prompt::pack::shorten::split;

/// Shorter notes are read whole.
const LONG: usize = 600;

/// Maximum number of characters of a part, unless a sentence is longer.
const PART: usize = 400;

/// The first byte of parts, in case they are ever kept otherwise.
const VERSION: u8 = 1;

/// A part of a note.
#[derive(Debug)]
pub(crate) struct NotePart {
    /// Its byte range in the note.
    pub(crate) range: Range<usize>,
    pub(crate) codes: VectorCodes,
    pub(crate) states: Vec<u8>,
}

impl NotePart {
    pub(crate) fn new(range: Range<usize>, vector: &[f32], states: Vec<u8>) -> Self {
        Self { range, codes: VectorCodes::new(vector), states }
    }
}

/// The parts of a note; none if it is short, or no note.
pub(crate) fn parts_of(text: &str, note: bool) -> Vec<Range<usize>> {
    if !note || text.len() <= LONG || text.chars().count() <= LONG {
        return Vec::new();
    }
    let mut parts: Vec<Range<usize>> = Vec::new();
    for sentence in split(text) {
        let start = sentence.as_ptr() as usize - text.as_ptr() as usize;
        let end = start + sentence.len();
        match parts.last_mut() {
            Some(last) if text[last.start..end].chars().count() <= PART => last.end = end,
            _ => parts.push(start..end),
        }
    }
    if parts.len() < 2 { Vec::new() } else { parts }
}

/// Parts as bytes.
pub(crate) fn pack_parts(parts: &[NotePart]) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX).to_le_bytes();
    bytes.extend(number(parts.len()));
    for part in parts {
        let (scale, codes) = part.codes.parts();
        for one in [part.range.start, part.range.end, codes.len(), part.states.len()] {
            bytes.extend(number(one));
        }
        bytes.extend(scale.to_le_bytes());
        bytes.extend(codes.iter().map(|code| code.to_le_bytes()[0]));
        bytes.extend(&part.states);
    }
    while bytes.len() % PACKED != 1 {
        bytes.push(0);
    }
    bytes
}

/// The parts that were packed; none if these are the states of a text that was read whole, or are damaged.
pub(crate) fn unpack_parts(bytes: &[u8]) -> Option<Vec<NotePart>> {
    if bytes.len() % PACKED != 1 || bytes.first() != Some(&VERSION) {
        return None;
    }
    let mut rest = &bytes[1..];
    let mut take = |length: usize| -> Option<&[u8]> {
        let (taken, left) = rest.split_at_checked(length)?;
        rest = left;
        Some(taken)
    };
    let mut parts = Vec::new();
    let count = number(take(4)?)?;
    for _ in 0..count {
        let (start, end) = (number(take(4)?)?, number(take(4)?)?);
        let (codes, states) = (number(take(4)?)?, number(take(4)?)?);
        let scale = f32::from_le_bytes(take(4)?.try_into().ok()?);
        let codes = take(codes)?.iter().map(|byte| i8::from_le_bytes([*byte])).collect();
        let states = take(states)?.to_vec();
        parts.push(NotePart { range: start..end, codes: VectorCodes::from_parts(scale, codes), states });
    }
    Some(parts)
}

fn number(bytes: &[u8]) -> Option<usize> {
    Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_note_falls_into_parts_at_the_ends_of_sentences() {
        let sentence = "The lantern in the hall is lit every evening by whoever comes home first. ";
        assert_eq!(parts_of(&sentence.repeat(8), true), Vec::<Range<usize>>::new());
        let note = sentence.repeat(12);
        let parts = parts_of(&note, true);
        assert!(parts.len() >= 2 && parts[0].start == 0, "{parts:?}");
        for part in &parts {
            let text = &note[part.clone()];
            assert!(text.chars().count() <= PART && text.trim_end().ends_with('.'), "{text}");
        }
        assert!(parts_of(&note, false).is_empty());
        assert!(parts_of(&"x".repeat(5_000), true).is_empty(), "a text without sentences is not split");
    }

    #[test]
    fn parts_are_read_back_and_damage_is_none() {
        let unit = |at: usize| (0..384).map(|n| if n == at { 1.0 } else { 0.0 }).collect::<Vec<f32>>();
        let parts =
            [NotePart::new(0..40, &unit(3), vec![7; 2 * PACKED]), NotePart::new(41..90, &unit(5), vec![9; PACKED])];
        let bytes = pack_parts(&parts);
        let read = unpack_parts(&bytes).unwrap();
        assert_eq!(read.len(), 2);
        assert_eq!((read[1].range.clone(), read[1].states.len()), (41..90, PACKED));
        assert!((read[1].codes.cosine(&unit(5)).unwrap() - 1.0).abs() < 0.01);
        assert!(unpack_parts(&[1; 3 * PACKED]).is_none(), "states of a whole text");
        for length in 0..bytes.len() {
            let cut = &bytes[..length];
            assert!(unpack_parts(cut).is_none_or(|parts| parts.len() == 2 && length % PACKED == 1), "{length}");
        }
    }
}
