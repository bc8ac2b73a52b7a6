//! Turns selected sentences into quotations that can be understood alone.
//!
//! A quotation is one sentence, or a few that depend on each other, in the original words. If the first one depends
//! on what someone else said before ("it", "no, Tuesday"), that sentence is added as context. A quotation with its
//! speaker, date and context has at most 280 characters; what someone asks to be remembered may have 2,000.

use jiff::Zoned;

use super::claim::Claim;
use super::dates::dates;
use super::kind::{importance, kind};
use super::passage::{Passage, SHORT_WORDS};
use super::procedure::tells_steps;
use super::select::{AnalysedSentence, leans, refers_back};
use super::sensitive::field;
use super::{LearningCandidate, SpeakerIdentity, Utterance, claims_of};
use crate::learn::language::sentence::Sentence;
use crate::learn::language::word::{Shape, Word, words};
use crate::learn::language::{Language, form};
use crate::text::normalise;

/// Maximum number of characters of the context.
pub(super) const MAX_CONTEXT_CHARACTERS: usize = 90;
/// Score below which a sentence may need what was said before it.
const MIN_INDEPENDENT_WORTH: f64 = 1.8;

/// Whether a turn cannot be understood without what was said to its speaker before: a question, or a statement that it
/// takes up.
pub(super) fn needs_context(read: &AnalysedSentence<'_>, context: &Sentence<'_>, language: Option<&Language>) -> bool {
    let content_words = words(context.text, language).iter().filter(|word| word.tells()).count();
    let weak = leans(&read.words) || read.worth.is_none_or(|worth| worth < MIN_INDEPENDENT_WORTH);
    let first = read.words.iter().find(|word| word.shape != Shape::Mark);
    let takes_up = first.is_some_and(|word| word.is(form::CONFIRMS | form::NEGATION | form::PRONOUN));
    weak && (context.asks
        || content_words >= 3 && (takes_up || read.words.len() <= SHORT_WORDS || refers_back(&read.words)))
}

/// The speaker's own sentence before a passage that begins with a pronoun.
pub(super) fn own_context<'a>(reads: &[AnalysedSentence<'a>], passage: &Passage) -> Option<Sentence<'a>> {
    let before = &reads[passage.first.checked_sub(1)?];
    let refers = refers_back(&reads[passage.first].words) && !passage.requested;
    let tells = before.words.iter().filter(|word| word.tells()).count() > 1;
    (refers && tells && !before.sentence.asks).then_some(before.sentence)
}

pub(super) fn candidate(
    turn: &Utterance<'_>,
    reads: &[AnalysedSentence<'_>],
    passage: &Passage,
    context: Option<String>,
    said: &Zoned,
    language: Option<&Language>,
    voice: &SpeakerIdentity,
) -> LearningCandidate {
    let used = &reads[passage.first..=passage.last];
    let words: Vec<&Word> = used.iter().flat_map(|read| &read.words).collect();
    let mut when = super::dates::Dates::default();
    for read in used {
        let found = dates(read.sentence.text, &read.words, said);
        when.event = when.event.or(found.event);
        when.since = when.since.or(found.since);
        when.resolved.extend(found.resolved);
    }
    when.resolved.truncate(3);
    // What is asked for claims something; the asking does not.
    let claims: Vec<Claim> = if passage.requested {
        claims_of(&passage.text, voice)
    } else {
        used.iter().flat_map(|read| read.claims.clone()).collect()
    };
    let steps = used.iter().filter(|read| read.sentence.step.is_some()).count();
    LearningCandidate {
        content: passage.text.trim().to_owned(),
        context,
        speaker: turn.speaker.name().map(str::to_owned),
        actor: turn.actor.map(str::to_owned),
        field: used.iter().find_map(|read| field(&read.words, &read.claims, language, voice, turn.speaker.name())),
        quoted: true,
        // What is asked for may be only the list, without what it is a list of.
        kind: if steps > 1 || tells_steps(&passage.text) || passage.requested && tells_steps(turn.text) {
            "procedural"
        } else if passage.reminder {
            "task"
        } else {
            kind(&words)
        },
        confidence: if passage.requested {
            0.95
        } else if claims.is_empty() {
            0.8
        } else {
            0.9
        },
        importance: importance(&words, passage.requested, &claims),
        said_at: turn.at,
        event_time: when.event,
        valid_from: when.since,
        dates: when.resolved,
        requested: passage.requested,
        pattern: if passage.requested { "requested" } else { "stated" },
        from: vec![turn.id],
        claims,
    }
}

/// Adds what was not already stored with the same words; else its turn is one more source.
pub(super) fn add_candidate(candidates: &mut Vec<LearningCandidate>, candidate: LearningCandidate) {
    let words = normalise(&candidate.content);
    let same =
        |known: &&mut LearningCandidate| known.speaker == candidate.speaker && normalise(&known.content) == words;
    match candidates.iter_mut().find(same) {
        Some(known) => known.from.extend(candidate.from),
        None => candidates.push(candidate),
    }
}

/// A text cut at a word, with a mark that something is missing.
pub(super) fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most.saturating_sub(1)).collect();
    let end = cut.rfind(char::is_whitespace).filter(|end| *end > cut.len() / 2).unwrap_or(cut.len());
    format!("{}…", cut[..end].trim_end_matches([',', ';', ':', ' ', '-']))
}
