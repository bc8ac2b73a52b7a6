//! Extraction: selects sentences of a conversation that are worth remembering.
//!
//! Pure. Turns go in, [`LearningCandidate`]s come out: sentences of persons in their own words, with speaker, time
//! and the days they name. Rules select and quote; they never rephrase. Only persons are learned from, never tools,
//! systems or assistants. `reconcile` decides what becomes of a candidate.

pub mod claim;
pub(crate) mod consent;
pub(crate) mod dates;
mod kind;
mod names;
mod quote;
mod request;
pub(crate) mod select;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use loci_types::{EntityType, MemoryId};

pub use claim::Claim;
pub(crate) use kind::kind_by_form;
pub(crate) use quote::mentioned;
pub use quote::{Extraction, UnresolvedRequest, extract};

/// The most that is learned from one turn.
pub const MAX_CANDIDATES: usize = 3;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker<'a> {
    /// The person whose memory it is, by name if one is known.
    User(Option<&'a str>),
    /// Someone else, by name.
    Named(&'a str),
    /// The agent.
    Assistant,
    /// A tool or the system.
    Tool,
}

impl<'a> Speaker<'a> {
    /// Whether what they say can be learned.
    pub fn teaches(self) -> bool {
        matches!(self, Speaker::User(_) | Speaker::Named(_))
    }

    /// Their name.
    pub fn name(self) -> Option<&'a str> {
        match self {
            Speaker::User(name) => name,
            Speaker::Named(name) => Some(name),
            Speaker::Assistant | Speaker::Tool => None,
        }
    }
}

/// Who "I" is, where texts are compared: the owner of the memories is always `user`, by whatever name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpeakerIdentity {
    /// The word that represents the speaker.
    pub key: String,
    owner: Option<String>,
}

impl SpeakerIdentity {
    /// The voice of a speaker among the memories of an owner.
    pub fn of(speaker: Option<&str>, owner: Option<&str>) -> Self {
        let owner = owner.map(str::to_lowercase);
        let speaker = speaker.map(str::to_lowercase).filter(|speaker| owner.as_ref() != Some(speaker));
        Self { key: speaker.unwrap_or_else(|| "user".to_owned()), owner }
    }

    /// Whether a word in lower case is the owner's name.
    pub(crate) fn is_owner(&self, word: &str) -> bool {
        self.owner.as_deref() == Some(word) || word == "user"
    }
}

/// A turn as the extractor reads it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Utterance<'a> {
    /// The memory that holds the turn.
    pub id: MemoryId,
    /// What was said.
    pub text: &'a str,
    /// By whom.
    pub speaker: Speaker<'a>,
    /// The speaker's id.
    pub actor: Option<&'a str>,
    /// When it was said. Relative dates count from here.
    pub at: Timestamp,
}

/// What the extractor knows beside the turns.
#[derive(Debug, Clone)]
pub struct ExtractionContext {
    /// The time zone in which days are counted.
    pub time_zone: TimeZone,
    /// Names that are known already, in lower case.
    pub known: HashSet<String>,
    /// Whose memories they become, by id.
    pub owner: Option<String>,
}

/// What a text states, where that is sure.
pub fn claims_of(text: &str, voice: &SpeakerIdentity) -> Vec<Claim> {
    let language = crate::learn::language::language_of(text);
    let sentences = crate::learn::language::sentence::sentences(text);
    sentences
        .iter()
        .flat_map(|sentence| {
            claim::claims(&crate::learn::language::word::words(sentence.text, language), language, voice)
        })
        .collect()
}

/// A thing that is spoken of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mention {
    /// The name it goes by.
    pub name: String,
    /// What sort of thing it is.
    pub entity_type: EntityType,
    /// Other names for it that the text gives.
    pub aliases: Vec<String>,
}

/// Something that may be worth remembering.
#[derive(Debug, Clone, PartialEq)]
pub struct LearningCandidate {
    /// The person's own words.
    pub content: String,
    /// The question or sentence before it, where the words lean on that.
    pub context: Option<String>,
    /// Who said it, by name.
    pub speaker: Option<String>,
    /// Who said it, by id.
    pub actor: Option<String>,
    /// The sensitive or benign side of the speaker that it tells, if any.
    pub field: Option<&'static str>,
    /// These are the speaker's own words, not a rewritten statement.
    pub quoted: bool,
    /// Its kind, by name.
    pub kind: &'static str,
    /// What it states, where that is sure.
    pub claims: Vec<Claim>,
    /// How sure we are that it is worth keeping.
    pub confidence: f64,
    /// How much it matters.
    pub importance: f64,
    /// When it was said.
    pub said_at: Timestamp,
    /// When what it tells happened, or will.
    pub event_time: Option<Timestamp>,
    /// Since when it holds, if the words say so.
    pub valid_from: Option<Timestamp>,
    /// The days that its words name and do not give in full.
    pub dates: Vec<String>,
    /// The speaker asked for it to be remembered.
    pub requested: bool,
    /// Why it was chosen, for the ledger.
    pub pattern: &'static str,
    /// The turns it was learned from.
    pub from: Vec<MemoryId>,
}
