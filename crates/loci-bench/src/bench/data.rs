//! Generated memories and vectors.
//!
//! Made-up memories, each a function of the seed and its number alone, so that any one of them can
//! be made again instead of being kept. Vectors lie in clusters of unequal spread, as those of
//! sentences do; words follow Zipf's law.

use jiff::Timestamp;
use loci_engine::{content_hash, estimate_tokens};
use loci_types::{AccessPolicy, Identifiers, Kind, Layer, Memory, MemoryId, Scope, State, Vector};
use uuid::Uuid;

/// The size of MiniLM's vectors.
pub(super) const DIMENSIONS: usize = 384;
/// Users that share the store.
pub(super) const USERS: usize = 100;
/// The model that made-up vectors claim to come from.
pub(super) const MODEL: &str = "made-up";

const CLUSTERS: u64 = 2_000;
const VOCABULARY: f64 = 20_000.0;
const FILLER: f64 = 50.0;
const TALK_VOCABULARY: f64 = 5_000.0;
const TALK_FILLER: f64 = 20.0;

/// SplitMix64: small, seedable, and the same everywhere.
#[derive(Clone)]
struct Random(u64);

impl Random {
    fn new(seed: u64, what: u64, number: u64) -> Self {
        Self(seed ^ what.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ number.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Roughly normal: the sum of the four 16-bit parts of one number.
    fn normal(&mut self) -> f32 {
        let bits = self.next();
        // Written out: in an unoptimised build the loop would cost more than what is measured with its numbers.
        let sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
        (sum as f32 / 65_535.0 - 2.0) * 1.732
    }
}

/// The vector of memory `number`, of unit length.
pub(super) fn vector(seed: u64, number: u64) -> Vec<f32> {
    let mut own = Random::new(seed, 1, number);
    let mut centre = Random::new(seed, 2, own.next() % CLUSTERS);
    let spread = 0.4 + own.unit() as f32 * 0.6;
    let mut values: Vec<f32> = (0..DIMENSIONS).map(|_| centre.normal() + spread * own.normal()).collect();
    let length = values.iter().map(|value| value * value).sum::<f32>().sqrt();
    values.iter_mut().for_each(|value| *value /= length);
    values
}

/// Made-up bytes of memory `number`.
pub(super) fn bytes(seed: u64, number: u64, length: usize) -> Vec<u8> {
    let mut random = Random::new(seed, 6, number);
    (0..length).map(|_| random.next() as u8).collect()
}

/// A question near memory `number`.
pub(super) fn question(seed: u64, number: u64) -> Vector {
    let mut noise = Random::new(seed, 3, number);
    let near = vector(seed, number);
    let values = near.iter().map(|value| value + 0.02 * noise.normal()).collect();
    Vector { model: MODEL.to_owned(), values, token_states: None }
}

/// The text of memory `number`: a dozen made-up words.
pub(super) fn text(seed: u64, number: u64) -> String {
    let mut random = Random::new(seed, 4, number);
    let words: Vec<String> = (0..12).map(|_| word(&mut random)).collect();
    format!("{} n{number}", words.join(" "))
}

/// The text of turn `number` in talk about the same things over and over: fourteen words of a few thousand.
pub(super) fn talk(seed: u64, number: u64) -> String {
    let mut random = Random::new(seed, 7, number);
    let words: Vec<String> = (0..14).map(|_| spelled(&mut random, TALK_FILLER, TALK_VOCABULARY)).collect();
    words.join(" ")
}

/// Three words of memory `number`, which a lexical question asks for.
pub(super) fn words(seed: u64, number: u64) -> String {
    text(seed, number).split(' ').take(3).collect::<Vec<_>>().join(" ")
}

fn word(random: &mut Random) -> String {
    spelled(random, FILLER, VOCABULARY)
}

fn spelled(random: &mut Random, filler: f64, vocabulary: f64) -> String {
    // Rank r comes up about 1/r of the time. The commonest are left out: in real text they are the
    // filler that is never searched for.
    let rank = (filler * (vocabulary / filler).powf(random.unit())) as u64;
    let mut spell = Random::new(11, 5, rank);
    (0..3).map(|_| format!("{}{}", letter(&mut spell, "bdfgklmnprstvz"), letter(&mut spell, "aeiou"))).collect()
}

fn letter(random: &mut Random, from: &str) -> char {
    let letters: Vec<char> = from.chars().collect();
    letters[(random.next() % letters.len() as u64) as usize]
}

/// The user of memory `number`.
pub(super) fn user(number: u64) -> String {
    format!("user{}", number % USERS as u64)
}

/// The scope of a user.
pub(super) fn scope(number: u64) -> Result<Scope, loci_types::Error> {
    Scope::new(Layer::Agent, &identifiers(number))
}

/// The identifiers of a user.
pub(super) fn identifiers(number: u64) -> Identifiers {
    Identifiers { agent_id: Some("bench".to_owned()), user_id: Some(user(number)), ..Identifiers::default() }
}

/// Memory `number`, whole.
pub(super) fn memory(seed: u64, number: u64, at: Timestamp) -> Memory {
    let content = text(seed, number);
    Memory {
        id: MemoryId(Uuid::from_u128(0x0192_0000_0000_7000_8000_0000_0000_0000 + u128::from(number))),
        version: 1,
        layer: Layer::Agent,
        identifiers: identifiers(number),
        thread_id: None,
        run_id: None,
        actor_id: None,
        role: None,
        kind: Kind::stored(Kind::FACT),
        category: None,
        content_hash: content_hash(&content),
        tokens: estimate_tokens(&content),
        content,
        tags: Vec::new(),
        metadata: serde_json::Map::new(),
        source: None,
        knowledge_pointer: None,
        access_policy: AccessPolicy::Shared,
        importance: 0.5,
        confidence: 1.0,
        decay_rate: 0.1,
        pinned: false,
        access_count: 0,
        last_accessed_at: None,
        relevance: 1.0,
        said_at: None,
        imported_at: None,
        event_time: None,
        created_at: at,
        updated_at: at,
        valid_from: None,
        valid_until: None,
        expires_at: None,
        purge_at: None,
        supersedes_id: None,
        superseded_by_id: None,
        state: State::Active,
    }
}
