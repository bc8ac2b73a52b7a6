//! What can be learned from what was said?
//!
//! Pure. Turns go in, [`Candidate`]s come out: statements in the third person that stand for
//! themselves, with what they are about and how sure we are. What becomes of a candidate is
//! decided by `reconcile`.

pub mod claim;
pub(crate) mod clause;
mod correct;
pub mod differ;
mod focus;
mod judge;
mod lead;
pub(crate) mod lexicon;
pub mod names;
mod opener;
mod paraphrase;
pub(crate) mod prose;
mod read;
mod retell;
mod russian;
mod split;
mod steps;
pub(crate) mod verbs;
mod when;
pub(crate) mod word;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use loci_types::{EntityType, MemoryId};

pub use claim::{Claim, claim_of, consent_field};
pub use differ::{Difference, differs, numeric_step};
pub use names::mentions;
pub use read::{MOST, extract};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Speaker<'a> {
    /// The person whose memory it is, by name if we know one; else "User".
    User(Option<&'a str>),
    /// The agent.
    Assistant,
    /// Someone else, by name.
    Named(&'a str),
    /// A tool or the system: nobody who states facts about themselves.
    Tool,
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
    /// When: relative dates count from here.
    pub at: Timestamp,
}

/// What the extractor knows beside the turns.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// In which days are counted.
    pub time_zone: TimeZone,
    /// Names that are known already, each with its aliases and what sort of thing it is.
    pub known: Vec<Mention>,
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
pub struct Candidate {
    /// A statement in the third person that stands for itself.
    pub content: String,
    /// Its kind, by name.
    pub kind: String,
    /// What it says about what, where that could be read.
    pub claim: Option<Claim>,
    /// How sure we are, by the pattern that found it.
    pub confidence: f64,
    /// How much it matters; none: judged by its words.
    pub importance: Option<f64>,
    /// The things it speaks of.
    pub entities: Vec<Mention>,
    /// When what it tells happened.
    pub event_time: Option<Timestamp>,
    /// Since when it holds, if the text says so.
    pub valid_from: Option<Timestamp>,
    /// When it stops to be of use: the day after a deadline.
    pub expires_at: Option<Timestamp>,
    /// It says that something said earlier was wrong.
    pub corrects: bool,
    /// The pattern that found it, for the reason in the ledger.
    pub pattern: String,
    /// The turns it was learned from.
    pub from: Vec<MemoryId>,
}
impl Candidate {
    /// Whether the speaker asked for it to be remembered.
    pub fn told_on_purpose(&self) -> bool {
        self.pattern.split(' ').any(|part| part == "asked")
    }
}

#[cfg(test)]
mod tests;
