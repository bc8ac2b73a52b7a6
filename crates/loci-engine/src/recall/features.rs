//! The features of a memory that ranking uses.
//!
//! They are computed once from the stored text and cached while the memory does not change: its terms as numbers, the
//! first characters folded, its vector in 8 bits per dimension and its token states. They are only in this process's
//! memory, and are dropped when the memory is forgotten in this process.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use jiff::Timestamp;
use loci_models::projection::PACKED;
use loci_store::text::{self, Analyser};
use loci_types::{Memory, MemoryId, Vector};
use multiversion::multiversion;

use super::parts::{NotePart, unpack_parts};
use super::readable::readable;
use crate::recall::plan::intent::{tells_number, tells_time};

/// Maximum number of characters that are searched for parts of words.
const FOLDED: usize = 1_500;

/// A memory as it is weighed.
#[derive(Debug)]
pub(crate) struct MemoryFeatures {
    pub(crate) id: MemoryId,
    pub(crate) said_at: Timestamp,
    pub(crate) event_time: Option<Timestamp>,
    pub(crate) speaker: TurnSpeaker,
    /// Whether the memory is a fact or a note and not a turn.
    pub(crate) lasting: bool,
    /// Whether the model can read it.
    pub(crate) readable: bool,
    /// The terms in order, as numbers.
    pub(crate) terms: Box<[u32]>,
    /// Lower case, everything else a single space.
    pub(crate) folded: Box<str>,
    /// Whether the text ends with a question.
    pub(crate) asks: bool,
    /// Whether the text contains a time, computed on first use.
    tells_time: OnceLock<bool>,
    tells_number: OnceLock<bool>,
    /// The vector of the model, if it has read it.
    pub(crate) vector: Option<VectorCodes>,
    /// The vector of the model for other languages, if that has read it.
    pub(crate) in_languages: OnceLock<VectorCodes>,
    /// Packed states of its content tokens, one after the other.
    pub(crate) states: Box<[u8]>,
    /// Its byte range in the memory, if it is a part of a note.
    pub(crate) part: Option<Range<usize>>,
    /// The parts of a long note: they are weighed in its place.
    pub(crate) parts: Vec<Arc<MemoryFeatures>>,
}

/// The speaker of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum TurnSpeaker {
    /// The user of an assistant.
    User,
    /// The assistant.
    Assistant,
    /// Someone by name, in lower case.
    Named(Box<str>),
    /// Not a turn, or the speaker is unknown.
    Nobody,
}

impl MemoryFeatures {
    /// Reads a memory; `episode` if its kind tells what happened, `model` reads English. Who wrote a fact down is not who speaks in it.
    pub(crate) fn new(
        analyser: &Analyser,
        memory: &Memory,
        episode: bool,
        model: &str,
        vector: Option<Vector>,
    ) -> Self {
        let lasting = !(episode && (memory.role.is_some() || memory.actor_id.is_some()));
        let speaker = match (memory.role.as_deref(), memory.actor_id.as_deref()) {
            _ if lasting => TurnSpeaker::Nobody,
            (Some("user"), _) => TurnSpeaker::User,
            (Some("assistant"), _) => TurnSpeaker::Assistant,
            (None, Some(actor)) => TurnSpeaker::Named(actor.to_lowercase().into()),
            _ => TurnSpeaker::Nobody,
        };
        let mut features = Self {
            id: memory.id,
            said_at: memory.when_said(),
            event_time: memory.event_time,
            speaker,
            lasting,
            readable: readable(&memory.content),
            terms: Box::default(),
            folded: Box::default(),
            asks: text::asks(&memory.content),
            tells_time: OnceLock::new(),
            tells_number: OnceLock::new(),
            vector: None,
            in_languages: OnceLock::new(),
            states: Box::default(),
            part: None,
            parts: Vec::new(),
        };
        features.parts = features.read_parts(analyser, memory, vector.as_ref());
        if features.parts.is_empty() {
            features.read(analyser, &memory.content);
        }
        match vector {
            Some(vector) if vector.model == model => {
                features.vector = Some(VectorCodes::new(&vector.values));
                features.states = vector.token_states.filter(|_| features.parts.is_empty()).unwrap_or_default().into();
            }
            Some(vector) => features.in_languages = OnceLock::from(VectorCodes::new(&vector.values)),
            None => {}
        }
        features
    }

    fn read(&mut self, analyser: &Analyser, text: &str) {
        self.terms = analyser.terms(text).iter().map(|term| key(term)).collect();
        self.folded = fold(text).into();
    }

    /// The parts of a long note, each with its own words and vector.
    fn read_parts(&self, analyser: &Analyser, memory: &Memory, vector: Option<&Vector>) -> Vec<Arc<MemoryFeatures>> {
        let states = vector.and_then(|vector| vector.token_states.as_deref()).unwrap_or_default();
        let part = |part: NotePart| {
            let text = memory.content.get(part.range.clone())?;
            let mut features = Self {
                speaker: self.speaker.clone(),
                terms: Box::default(),
                folded: Box::default(),
                tells_time: OnceLock::new(),
                tells_number: OnceLock::new(),
                vector: Some(part.codes),
                in_languages: OnceLock::new(),
                states: part.states.into(),
                part: Some(part.range),
                parts: Vec::new(),
                ..*self
            };
            features.read(analyser, text);
            Some(Arc::new(features))
        };
        unpack_parts(states).unwrap_or_default().into_iter().filter_map(part).collect()
    }

    /// Whether the text contains a time.
    pub(crate) fn tells_time(&self) -> bool {
        *self.tells_time.get_or_init(|| tells_time(&self.folded))
    }

    /// Whether the text contains a number.
    pub(crate) fn tells_number(&self) -> bool {
        *self.tells_number.get_or_init(|| tells_number(&self.folded))
    }

    /// The packed states.
    pub(crate) fn states(&self) -> &[[u8; PACKED]] {
        self.states.as_chunks::<PACKED>().0
    }

    /// Its size in bytes.
    pub(crate) fn bytes(&self) -> usize {
        size_of::<Self>()
            + 4 * self.terms.len()
            + self.folded.len()
            + self.vector.as_ref().map_or(0, |codes| codes.codes.len())
            + self.states.len()
            + self.parts.iter().map(|part| part.bytes()).sum::<usize>()
    }
}

/// A term as a number; two different ones share a number once in four thousand million times.
pub(crate) fn key(term: &str) -> u32 {
    // FNV-1a: the same in every process, and quick for short words.
    term.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Letters and digits in lower case, with one space between words and around all.
pub(crate) fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len().min(FOLDED) + 2);
    folded.push(' ');
    for c in text.chars().take(FOLDED) {
        if c.is_alphanumeric() {
            folded.extend(c.to_lowercase());
        } else if !folded.ends_with(' ') {
            folded.push(' ');
        }
    }
    if !folded.ends_with(' ') {
        folded.push(' ');
    }
    folded
}

/// A unit vector in a byte each: near enough for evidence that is weighed with much other.
#[derive(Debug, Clone)]
pub(crate) struct VectorCodes {
    codes: Box<[i8]>,
    scale: f32,
}

impl VectorCodes {
    pub(crate) fn new(values: &[f32]) -> Self {
        let loudest = values.iter().fold(f32::MIN_POSITIVE, |most, x| most.max(x.abs()));
        let codes = values.iter().map(|x| (x / loudest * 127.0).round() as i8).collect();
        Self { codes, scale: loudest / 127.0 }
    }

    /// Builds it from its stored form.
    pub(crate) fn from_parts(scale: f32, codes: Box<[i8]>) -> Self {
        Self { codes, scale }
    }

    /// Its stored form.
    pub(crate) fn parts(&self) -> (f32, &[i8]) {
        (self.scale, &self.codes)
    }

    /// The cosine to a unit vector; none if it is of another length.
    pub(crate) fn cosine(&self, vector: &[f32]) -> Option<f64> {
        (vector.len() == self.codes.len()).then(|| f64::from(product(&self.codes, vector) * self.scale))
    }

    /// The cosine to another.
    pub(crate) fn cosine_to(&self, other: &Self) -> f64 {
        f64::from(product_of_codes(&self.codes, &other.codes) as f32 * self.scale * other.scale)
    }
}

/// The inner product of a code with a vector, compiled once per instruction set.
#[multiversion(targets = "simd")]
fn product(codes: &[i8], vector: &[f32]) -> f32 {
    // Sixteen sums side by side: a single one would have to keep their order.
    let mut sums = [0.0_f32; 16];
    let ((codes, codes_rest), (vector, vector_rest)) = (codes.as_chunks::<16>(), vector.as_chunks::<16>());
    for (code, value) in codes.iter().zip(vector) {
        for lane in 0..16 {
            sums[lane] += f32::from(code[lane]) * value[lane];
        }
    }
    let rest: f32 = codes_rest.iter().zip(vector_rest).map(|(a, b)| f32::from(*a) * b).sum();
    sums.iter().sum::<f32>() + rest
}

/// The inner product of two codes, compiled once per instruction set.
#[multiversion(targets = "simd")]
fn product_of_codes(left: &[i8], right: &[i8]) -> i32 {
    left.iter().zip(right).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_folded_to_letters_and_single_spaces() {
        for (text, expect) in
            [("Hello,  World!", " hello world "), ("", " "), ("…", " "), ("ЁЛКА-2", " ёлка 2 "), ("a\n\nb", " a b ")]
        {
            assert_eq!(fold(text), expect);
        }
        assert_eq!(fold(&"x".repeat(9_000)).len(), FOLDED + 2);
    }

    #[test]
    fn a_byte_each_keeps_the_cosine() {
        let vector: Vec<f32> = (0..384).map(|n| ((n * 37 % 101) as f32 - 50.0) / 570.0).collect();
        let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        let unit: Vec<f32> = vector.iter().map(|x| x / length).collect();
        let codes = VectorCodes::new(&unit);
        assert!((codes.cosine(&unit).unwrap() - 1.0).abs() < 0.01);
        assert!((codes.cosine_to(&codes) - 1.0).abs() < 0.01);
        assert_eq!(codes.cosine(&[1.0]), None);
    }
}
