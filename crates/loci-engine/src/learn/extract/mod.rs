//! Extraction: selects sentences of a conversation that are worth remembering.
//!
//! Pure. Turns go in, [`LearningCandidate`]s come out: sentences of persons in their own words, with speaker, time
//! and the days they name. Rules select and quote; they never rephrase. Only persons are learned from, never tools,
//! systems or assistants. `reconcile` decides what becomes of a candidate.

mod cause;
pub mod claim;
pub(crate) mod dates;
mod kind;
mod names;
mod passage;
pub(crate) mod procedure;
mod quote;
mod request;
pub(crate) mod select;
pub(crate) mod sensitive;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use jiff::tz::TimeZone;
use loci_types::{EntityType, MemoryId};

use self::names::{PresentNames, add_first_words, mentions};
use self::passage::{Passage, passages};
use self::quote::{MAX_CONTEXT_CHARACTERS, add_candidate, candidate, needs_context, own_context, shortened};
use self::select::{AnalysedSentence, Audience, analyse, body, min_worth};
use self::sensitive::is_private;
use crate::learn::language::sentence::{Sentence, sentences};
use crate::learn::language::word::{Shape, Word, words};
use crate::learn::language::{Language, form, language_of};

pub(crate) use cause::points_back;
pub use claim::Claim;
pub(crate) use kind::kind_by_form;
pub(crate) use names::{first_words, mentioned};

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
    /// The id of the user who owns the memories.
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

/// An entity that is mentioned.
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
    /// The question or sentence before it, if the quotation cannot be understood without it.
    pub context: Option<String>,
    /// Who said it, by name.
    pub speaker: Option<String>,
    /// Who said it, by id.
    pub actor: Option<String>,
    /// The attribute of the speaker that it states, if any, which may need consent.
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

/// What was found in turns.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Extraction {
    /// What may be worth remembering, in the order in which it was said.
    pub candidates: Vec<LearningCandidate>,
    /// What people asked to be remembered and nothing was found for.
    pub missed: Vec<UnresolvedRequest>,
    /// The things that people's turns name.
    pub mentions: Vec<(MemoryId, Vec<Mention>)>,
}

/// A request to remember something that says not what.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnresolvedRequest {
    /// The turn.
    pub turn: MemoryId,
    /// The sentence that asks.
    pub request: String,
}

/// What can be learned from turns, in their order.
pub fn extract(turns: &[Utterance<'_>], surroundings: &ExtractionContext) -> Extraction {
    let mut found = Extraction::default();
    let people: HashSet<&str> = turns.iter().filter_map(|turn| turn.speaker.name()).collect();
    let present = PresentNames(people.iter().flat_map(|name| name.split(' ').map(str::to_lowercase)).collect());
    // In a conversation between people "remember to …" addresses a person and is not a request to store something.
    let listens = people.len() < 2 || turns.iter().any(|turn| turn.speaker == Speaker::Assistant);
    let enough = min_worth(!listens);
    let mut spoken: HashMap<String, &'static Language> = HashMap::new();
    for (place, turn) in turns.iter().enumerate() {
        if !turn.speaker.teaches() {
            continue;
        }
        let voice = SpeakerIdentity::of(turn.speaker.name(), surroundings.owner.as_deref());
        let language = language_of(turn.text);
        let language = if is_short(turn.text) {
            spoken.get(&voice.key).copied().filter(|_| language.is_some()).or(language)
        } else {
            language
        };
        if let Some(language) = language {
            spoken.insert(voice.key.clone(), language);
        }
        let context = context(turns, place);
        let reads = analyse(
            turn,
            language,
            &voice,
            &Audience { asked: context.is_some_and(|context| context.asks), listens, present: &present },
        );
        let said = turn.at.to_zoned(surroundings.time_zone.clone());
        let (mut passages, missed) = passages(&reads, enough, context.is_some());
        if passages.is_empty() && context.is_some_and(|context| confirms(&reads, &context, language)) {
            passages.push(Passage {
                first: 0,
                last: reads.len() - 1,
                text: turn.text.trim().to_owned(),
                worth: enough,
                requested: false,
                reminder: false,
                leans: true,
            });
        }
        for sentence in missed {
            found.missed.push(UnresolvedRequest { turn: turn.id, request: reads[sentence].sentence.text.to_owned() });
        }
        for passage in passages {
            let needed = |context: &Sentence<'_>| {
                passage.leans || passage.first == 0 && needs_context(&reads[0], context, language)
            };
            let context = context.filter(needed).or_else(|| own_context(&reads, &passage));
            let context = context.map(|context| shortened(context.text, MAX_CONTEXT_CHARACTERS));
            let candidate = candidate(turn, &reads, &passage, context, &said, language, &voice);
            add_candidate(&mut found.candidates, candidate);
        }
        let mentioned = mentions(&reads, language, &present);
        if !mentioned.is_empty() {
            found.mentions.push((turn.id, mentioned));
        }
    }
    let known: HashSet<String> = surroundings
        .known
        .iter()
        .cloned()
        .chain(found.mentions.iter().flat_map(|(_, names)| names.iter().map(|one| one.name.to_lowercase())))
        .collect();
    add_first_words(turns, &known, &mut found.mentions);
    found
}

/// The last sentence that someone else said before a turn. What an assistant tells from a tool is a tool's word, and only its
/// question counts.
fn context<'a>(turns: &[Utterance<'a>], place: usize) -> Option<Sentence<'a>> {
    let before = turns[..place].iter().rposition(|other| other.speaker != Speaker::Tool)?;
    let relayed = turns[before].speaker == Speaker::Assistant
        && before.checked_sub(1).is_some_and(|before| turns[before].speaker == Speaker::Tool);
    let last = sentences(turns[before].text).last().copied();
    last.filter(|last| turns[before].speaker != turns[place].speaker && (last.asks || !relayed))
}

/// Whether a turn only says yes to something that is stated about its speaker: "So your blood type is A+, right?". What needs
/// consent is left to be said by themselves.
fn confirms(reads: &[AnalysedSentence<'_>], context: &Sentence<'_>, language: Option<&Language>) -> bool {
    const YES: u64 = form::CONFIRMS | form::OPENER | form::REACTION | form::EMPTY | form::COPULA;
    let Some(language) = language else { return false };
    let spoken: Vec<&Word> =
        reads.iter().flat_map(|read| &read.words).filter(|word| word.shape != Shape::Mark).collect();
    let yes = spoken.len() <= 3 && spoken.first().is_some_and(|word| word.is(form::CONFIRMS));
    if !yes || !spoken.iter().all(|word| word.is(YES)) {
        return false;
    }
    let words = words(context.text, Some(language));
    let said: Vec<&Word> = words.iter().filter(|word| word.shape != Shape::Mark).collect();
    let asks = form::AUXILIARY | form::ASKS | form::INVITES | form::UNREAL;
    let states = body(&said).first().is_some_and(|first| !first.is(asks));
    let about =
        said.iter().any(|word| word.is(form::SECOND)) && said.iter().any(|word| word.is(form::COPULA | form::LIFE));
    let texts: Vec<&str> = said.iter().map(|word| word.text.as_str()).collect();
    let private = |at: usize| {
        language.claim(&texts[at..]).is_some_and(|(attribute, _)| is_private(attribute))
            || language.noun(said[at].bare()).is_some_and(is_private)
    };
    let tells = said.iter().filter(|word| word.tells()).count() >= 2;
    states && about && tells && !(0..said.len()).any(private)
}

/// Too short to tell a language by.
fn is_short(text: &str) -> bool {
    text.split_whitespace().count() < 6
}
