//! Turns selected sentences into quotations that can be understood alone.
//!
//! A quotation is one sentence, or a few that depend on each other, in the original words. If the first one depends
//! on what someone else said before ("it", "no, Tuesday"), that sentence is added as context. A quotation with its
//! speaker, date and context has at most 280 characters; what someone asks to be remembered may have 2,000.

use std::collections::{HashMap, HashSet};

use jiff::Zoned;
use loci_types::MemoryId;

use super::claim::{Claim, claims};
use super::consent::{field, is_private};
use super::dates::dates;
use super::kind::{importance, kind};
use super::names::{PresentNames, names};
use super::request::{Request, declines, request};
use super::select::{body, enough, leans, refers_back, worth};
use super::{
    ExtractionContext, LearningCandidate, MAX_CANDIDATES, Mention, Speaker, SpeakerIdentity, Utterance, claims_of,
};
use crate::learn::language::sentence::{Sentence, sentences};
use crate::learn::language::word::{Shape, Word, words};
use crate::learn::language::{Language, form, language_of};
use crate::text::normalise;

/// Characters of a quotation with everything around it.
const MAX_QUOTATION_CHARACTERS: usize = 280;
/// Characters of what stands around the words: a name, a date, quotation marks.
const AROUND: usize = 40;
/// Characters of the context.
const CONTEXT: usize = 90;
/// Characters of something that was asked for.
const REQUESTED: usize = 2_000;
/// A sentence with so few words is kept with its neighbour.
const SHORT: usize = 5;
/// What a sentence must be worth to be kept beside another.
const SOME: f64 = 0.3;
/// What a sentence must be worth to stand alone where another stands beside it.
const ALONE: f64 = 1.2;
/// A sentence that is worth less may need what was said before it.
const WEAK: f64 = 1.8;
/// What a sentence counts beside another.
const BESIDE: f64 = 0.25;

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

/// A sentence with what was read from it.
struct AnalysedSentence<'a> {
    sentence: Sentence<'a>,
    words: Vec<Word>,
    request: Option<Request>,
    claims: Vec<Claim>,
    worth: Option<f64>,
    /// It asks that something is not kept.
    declines: bool,
}

/// Sentences of a turn that are kept together.
struct Passage {
    first: usize,
    last: usize,
    text: String,
    worth: f64,
    requested: bool,
    reminder: bool,
    /// It is about what was said before the turn.
    leans: bool,
}

/// What can be learned from turns, in their order.
pub fn extract(turns: &[Utterance<'_>], surroundings: &ExtractionContext) -> Extraction {
    let mut found = Extraction::default();
    let people: HashSet<&str> = turns.iter().filter_map(|turn| turn.speaker.name()).collect();
    let present = PresentNames(people.iter().flat_map(|name| name.split(' ').map(str::to_lowercase)).collect());
    // Among people alone "remember to …" is said to each other, and nobody is asked to keep it.
    let listens = people.len() < 2 || turns.iter().any(|turn| turn.speaker == Speaker::Assistant);
    let enough = enough(!listens);
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
        let reads = read(
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
            let context = context.map(|context| shortened(context.text, CONTEXT));
            let candidate = candidate(turn, &reads, &passage, context, &said, language, &voice);
            keep(&mut found.candidates, candidate);
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

/// What matters of those who hear a turn.
pub(crate) struct Audience<'a> {
    /// The one before asked something.
    asked: bool,
    /// Someone is there who can be asked to remember.
    pub(crate) listens: bool,
    /// Who is there, by the words of their names.
    pub(crate) present: &'a PresentNames,
}

fn read<'a>(
    turn: &Utterance<'a>,
    language: Option<&Language>,
    voice: &SpeakerIdentity,
    hearing: &Audience<'_>,
) -> Vec<AnalysedSentence<'a>> {
    let one = |(place, sentence): (usize, Sentence<'a>)| {
        let words = words(sentence.text, language);
        let declined = declines(&words);
        let request = request(sentence.text, sentence.asks, &words, language).filter(|_| hearing.listens && !declined);
        // "No, Tuesday" answers whatever was said before.
        let lead = words.iter().take_while(|word| word.is(form::NEGATION | form::CONFIRMS)).count();
        let denies = lead > 0 && words.get(lead).is_some_and(|word| word.shape == Shape::Mark);
        let claims = claims(&words, language, voice);
        let worth = language
            .filter(|_| !declined)
            .and_then(|_| worth(&sentence, &words, &claims, (hearing.asked || denies) && place == 0, hearing));
        AnalysedSentence { claims, sentence, words, request, worth, declines: declined }
    };
    sentences(turn.text).into_iter().enumerate().map(one).collect()
}

/// The passages of a turn that are kept, and the sentences that ask for something that is not there.
fn passages(reads: &[AnalysedSentence<'_>], enough: f64, answers: bool) -> (Vec<Passage>, Vec<usize>) {
    let mut used = vec![false; reads.len()];
    let mut found = Vec::new();
    let mut missed = Vec::new();
    for place in 0..reads.len() {
        if let Some(request) = &reads[place].request
            && !used[place]
        {
            match requested(reads, place, request, &used, answers) {
                Some(passage) => {
                    used[passage.first..=passage.last].fill(true);
                    used[place] = true;
                    found.push(passage);
                }
                None => missed.push(place),
            }
        }
    }
    let asked = found.len();
    let mut open: Option<Passage> = None;
    for place in 0..reads.len() {
        let worth = reads[place].worth.filter(|worth| *worth >= SOME && !used[place] && !is_taken_back(reads, place));
        let Some(worth) = worth else {
            found.extend(open.take());
            continue;
        };
        if let Some(passage) = &mut open
            && (worth < ALONE || passage.worth < ALONE || joins(&reads[place - 1], &reads[place]))
            && (reads[place].sentence.list == reads[place - 1].sentence.list)
            && let Some(text) = joined(reads, passage.first, place)
        {
            let worth = passage.worth.max(worth) + BESIDE * passage.worth.min(worth);
            *passage = Passage { last: place, text, worth, ..*passage };
            continue;
        }
        found.extend(open.take());
        let text = joined(reads, place, place)
            .unwrap_or_else(|| shortened(reads[place].sentence.text, MAX_QUOTATION_CHARACTERS - AROUND));
        open =
            Some(Passage { first: place, last: place, text, worth, requested: false, reminder: false, leans: false });
    }
    found.extend(open.take());
    let mut place = 0;
    found.retain(|passage| {
        place += 1;
        place <= asked || passage.worth >= enough
    });
    // The best of what was not asked for, in the order in which it was said.
    let room = MAX_CANDIDATES.saturating_sub(asked);
    let mut best: Vec<usize> = (asked..found.len()).collect();
    best.sort_by(|a, b| found[*b].worth.total_cmp(&found[*a].worth));
    best.truncate(room);
    let mut place = 0;
    found.retain(|_| {
        place += 1;
        place <= asked || best.contains(&(place - 1))
    });
    found.sort_by_key(|passage| passage.first);
    for place in 0..found.len() {
        widen(&mut found, place, reads);
    }
    (found, missed)
}

/// Quotes the few words right before and behind a passage with it: "Done. 30 crates."
fn widen(found: &mut [Passage], place: usize, reads: &[AnalysedSentence<'_>]) {
    let taken = |sentence: usize| found.iter().any(|other| (other.first..=other.last).contains(&sentence));
    let free = |sentence: &usize| reads.get(*sentence).is_some_and(adds) && !taken(*sentence);
    let passage = &found[place];
    if passage.requested || reads[passage.first].sentence.list.is_some() {
        return;
    }
    let (before, after) = (passage.first.checked_sub(1).filter(free), Some(passage.last + 1).filter(free));
    let (first, last) = (before.unwrap_or(passage.first), after.unwrap_or(passage.last));
    if let Some(text) = joined(reads, first, last) {
        found[place] = Passage { first, last, text, ..found[place] };
    }
}

/// Whether a sentence of a few words states something, though not enough to be kept alone.
fn adds(read: &AnalysedSentence<'_>) -> bool {
    const TALK: u64 = form::GREETING
        | form::REACTION
        | form::SECOND
        | form::UNREAL
        | form::JOKE
        | form::HELP
        | form::SHOWS
        | form::FEELING
        | form::ORDER
        | form::ASKS;
    let spoken = || read.words.iter().filter(|word| word.shape != Shape::Mark);
    spoken().count() <= SHORT
        && spoken().any(Word::tells)
        && !spoken().any(|word| word.is(TALK))
        && !read.sentence.asks
        && !read.declines
        && !read.sentence.text.ends_with([':', '!'])
        && read.request.is_none()
        && read.sentence.list.is_none()
}

/// Whether the next sentence says that this one was a joke, or is not to be kept.
fn is_taken_back(reads: &[AnalysedSentence<'_>], place: usize) -> bool {
    let next = reads.get(place + 1);
    next.is_some_and(|next| {
        let takes_back = next.declines || next.words.iter().any(|word| word.is(form::JOKE));
        takes_back && next.words.iter().filter(|word| word.tells()).count() < 3
    })
}

/// Whether a sentence belongs to the one before it.
fn joins(before: &AnalysedSentence<'_>, one: &AnalysedSentence<'_>) -> bool {
    let list = one.sentence.list.is_some() && one.sentence.list == before.sentence.list;
    let short =
        |read: &AnalysedSentence<'_>| read.words.iter().filter(|word| word.shape != Shape::Mark).count() <= SHORT;
    list || one.sentence.list.is_none() && (leans(&one.words) || short(one) || short(before))
}

/// Sentences in one text, if that is short enough.
fn joined(reads: &[AnalysedSentence<'_>], first: usize, last: usize) -> Option<String> {
    let mut text = String::new();
    for (place, read) in reads[first..=last].iter().enumerate() {
        let sentence = &read.sentence;
        let part = if place == 0 { trimmed(sentence.text, &read.words) } else { sentence.text };
        match (place, sentence.list, sentence.heading) {
            (0, Some(_), Some(heading)) => text.push_str(&format!("{heading}: ")),
            (0, ..) => {}
            (_, Some(_), _) => text.push_str("; "),
            _ => text.push(' '),
        }
        text.push_str(part);
    }
    (text.chars().count() <= MAX_QUOTATION_CHARACTERS - AROUND).then_some(text)
}

/// A sentence without the openers before it.
fn trimmed<'a>(text: &'a str, words: &[Word]) -> &'a str {
    let mut start = 0;
    let mut place = 0;
    while place < words.len() {
        let word = &words[place];
        let marked = words.get(place + 1).is_some_and(|next| next.shape == Shape::Mark && !next.mark("'\"“«("));
        let filler = word.is(form::OPENER | form::GREETING) && !word.is(form::NEGATION | form::CORRECTION);
        // "Sure, and I'll take up fencing" is ironic; "so much has happened" begins with its content.
        let ironic = word.is(form::CONFIRMS) && words.get(place + 2).is_some_and(|next| next.is(form::AND));
        let clause = word.text != "so"
            || words
                .get(place + 1)
                .is_some_and(|next| next.capital || next.is(form::FIRST | form::MINE | form::PRONOUN));
        if !(filler
            && (marked || clause && word.is(form::EMPTY | form::AND | form::FILLER))
            && !ironic
            && words[place + 1..].iter().any(Word::tells))
        {
            break;
        }
        place += 1;
        while words.get(place).is_some_and(|word| word.shape == Shape::Mark) {
            place += 1;
        }
        start = words.get(place).map_or(text.len(), |word| word.at.start);
    }
    if start < text.len() { &text[start..] } else { text }
}

/// What a request asks for: its own words, the list behind it, or the sentence beside it.
fn requested(
    reads: &[AnalysedSentence<'_>],
    place: usize,
    request: &Request,
    used: &[bool],
    answers: bool,
) -> Option<Passage> {
    let passage = |first: usize, last: usize, text: String| {
        let text = if text.chars().count() > REQUESTED { shortened(&text, REQUESTED) } else { text };
        Passage { first, last, text, worth: 9.0, requested: true, reminder: request.reminder, leans: false }
    };
    let listed = (place + 1..reads.len()).take_while(|next| reads[*next].sentence.list.is_some()).last();
    let texts = |first: usize, last: usize| -> Vec<String> {
        let one = |read: &AnalysedSentence<'_>| match read.sentence.step {
            Some(step) => format!("{step}. {}", read.sentence.text),
            None => read.sentence.text.to_owned(),
        };
        reads[first..=last].iter().map(one).collect()
    };
    let own = request.what.clone().map(|what| reads[place].sentence.text[what].trim_end_matches('?').to_owned());
    match (own, listed) {
        (Some(own), Some(last)) => Some(passage(place, last, format!("{own} {}", texts(place + 1, last).join(" ")))),
        (Some(own), None) => Some(passage(place, place, own)),
        (None, Some(last)) => Some(passage(place, last, texts(place + 1, last).join(" "))),
        (None, None) => {
            let content_words = |other: &usize| reads[*other].words.iter().filter(|word| word.tells()).count();
            let free = |other: &usize| !used[*other] && reads[*other].request.is_none();
            let states = |other: &usize| free(other) && !reads[*other].sentence.asks && content_words(other) > 0;
            // "Remember this: …" points ahead, "…. Remember that." back.
            let ahead = reads[place].sentence.text.ends_with([':', '：']);
            let (after, before) = (Some(place + 1).filter(|next| *next < reads.len()), place.checked_sub(1));
            let order = if ahead { [after, before] } else { [before, after] };
            let other = order.into_iter().flatten().find(states);
            let other = other.or_else(|| before.filter(|before| free(before) && content_words(before) > 1));
            let strong = |other: &usize| reads[*other].worth.is_some_and(|worth| worth >= SOME) || !answers;
            match other {
                Some(other) if other > place || strong(&other) => {
                    Some(passage(other, other, reads[other].sentence.text.to_owned()))
                }
                // "Perfect. Remember this": it may be what someone else just said, which is kept with it.
                _ if answers => {
                    let first = place.saturating_sub(1);
                    let text = joined(reads, first, place).unwrap_or_else(|| reads[place].sentence.text.to_owned());
                    Some(Passage { leans: true, ..passage(first, place, text) })
                }
                Some(other) => Some(passage(other, other, reads[other].sentence.text.to_owned())),
                None => None,
            }
        }
    }
}

/// Whether a turn cannot be understood without what was said to its speaker before: a question, or a statement that it
/// takes up.
fn needs_context(read: &AnalysedSentence<'_>, context: &Sentence<'_>, language: Option<&Language>) -> bool {
    let content_words = words(context.text, language).iter().filter(|word| word.tells()).count();
    let weak = leans(&read.words) || read.worth.is_none_or(|worth| worth < WEAK);
    let first = read.words.iter().find(|word| word.shape != Shape::Mark);
    let takes_up = first.is_some_and(|word| word.is(form::CONFIRMS | form::NEGATION | form::PRONOUN));
    weak && (context.asks || content_words >= 3 && (takes_up || read.words.len() <= SHORT || refers_back(&read.words)))
}

/// The speaker's own sentence before a passage that begins with a pronoun.
fn own_context<'a>(reads: &[AnalysedSentence<'a>], passage: &Passage) -> Option<Sentence<'a>> {
    let before = &reads[passage.first.checked_sub(1)?];
    let refers = refers_back(&reads[passage.first].words) && !passage.requested;
    let tells = before.words.iter().filter(|word| word.tells()).count() > 1;
    (refers && tells && !before.sentence.asks).then_some(before.sentence)
}

fn candidate(
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
        field: used.iter().find_map(|read| field(&read.words, &read.claims, language, &voice.key)),
        quoted: true,
        kind: if steps > 1 {
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

/// Adds what was not said before in the same words; else its turn is one more source.
fn keep(candidates: &mut Vec<LearningCandidate>, candidate: LearningCandidate) {
    let words = normalise(&candidate.content);
    let same =
        |known: &&mut LearningCandidate| known.speaker == candidate.speaker && normalise(&known.content) == words;
    match candidates.iter_mut().find(same) {
        Some(known) => known.from.extend(candidate.from),
        None => candidates.push(candidate),
    }
}

/// The things that a text names which someone wrote down on purpose.
pub(crate) fn mentioned(text: &str, voice: &SpeakerIdentity) -> Vec<Mention> {
    let language = language_of(text);
    let nobody = PresentNames::default();
    let named = sentences(text).into_iter().flat_map(|sentence| {
        let words = words(sentence.text, language);
        names(&sentence, &words, language, &claims(&words, language, voice), &nobody)
    });
    once_each(named)
}

fn mentions(reads: &[AnalysedSentence<'_>], language: Option<&Language>, present: &PresentNames) -> Vec<Mention> {
    once_each(reads.iter().flat_map(|read| names(&read.sentence, &read.words, language, &read.claims, present)))
}

/// Each thing once, with all its other names.
fn once_each(named: impl Iterator<Item = Mention>) -> Vec<Mention> {
    let mut found: Vec<Mention> = Vec::new();
    for mention in named {
        match found.iter_mut().find(|known| known.name == mention.name) {
            Some(known) => known.aliases.extend(mention.aliases),
            None => found.push(mention),
        }
    }
    found
}

/// A capital at the beginning of a sentence is a name only if that name is known from elsewhere.
fn add_first_words(turns: &[Utterance<'_>], known: &HashSet<String>, mentions: &mut Vec<(MemoryId, Vec<Mention>)>) {
    for turn in turns.iter().filter(|turn| turn.speaker.teaches()) {
        for sentence in sentences(turn.text) {
            let Some(first) = sentence.text.split(|c: char| !c.is_alphanumeric()).next() else { continue };
            if !first.starts_with(char::is_uppercase) || !known.contains(&first.to_lowercase()) {
                continue;
            }
            let at = mentions.iter().position(|(id, _)| *id == turn.id).unwrap_or_else(|| {
                mentions.push((turn.id, Vec::new()));
                mentions.len() - 1
            });
            if mentions[at].1.iter().all(|one| one.name != first) {
                let entity_type = loci_types::EntityType::Concept;
                mentions[at].1.push(Mention { name: first.to_owned(), entity_type, aliases: Vec::new() });
            }
        }
    }
}

/// A text cut at a word, with a mark that something is missing.
fn shortened(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let cut: String = text.chars().take(most.saturating_sub(1)).collect();
    let end = cut.rfind(char::is_whitespace).filter(|end| *end > cut.len() / 2).unwrap_or(cut.len());
    format!("{}…", cut[..end].trim_end_matches([',', ';', ':', ' ', '-']))
}
