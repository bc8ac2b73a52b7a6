//! What speaks for each memory of the pool?
//!
//! Pure: a question and a pool come in, clues go out. Clues that compare are brought to 0..1 over
//! the pool; clues that observe stand for themselves.

use loci_store::text::Analyser;

use super::clue::{Clue, Clues, Voices};
use super::late::Matches;
use super::pool::{Member, Pool};
use super::question::Question;
use super::reading::Speaker;
use super::{when, words};

/// What a neighbour's token counts.
const BESIDE: f32 = 0.9;

/// What the token of a turn two or three away counts.
const FARTHER: f32 = 0.85;

/// Cosines of sentences closer than this are as good as equal,
const CLOSE: f64 = 0.3;

/// and so are means over the best tokens, which differ less and say more.
const CLOSE_TOKENS: f64 = 0.02;

/// What late interaction observes, from the turn itself to its session.
const TOKENS: [Clue; 5] = [Clue::Tokens, Clue::Answer, Clue::TokensNear, Clue::TokensWide, Clue::TokensSession];

/// The clues about every member, in the order of the pool.
///
/// A clue without a voice is not looked for, unless it costs nothing.
pub(crate) fn gather(question: &Question, analyser: &Analyser, pool: &Pool, voices: &Voices) -> Vec<Clues> {
    let mut clues = vec![Clues::NONE; pool.members.len()];
    words::weigh(question, analyser, pool, voices, &mut clues);
    meaning(question, pool, &mut clues);
    if TOKENS.iter().any(|clue| voices.hears(*clue)) {
        tokens(question, pool, &mut clues);
    }
    for (member, clues) in pool.members.iter().zip(&mut clues) {
        observe(question, pool, member, clues);
    }
    clues
}

/// The cosines of the turn, of the turn with the one before it, and of its surroundings.
fn meaning(question: &Question, pool: &Pool, clues: &mut [Clues]) {
    let Some(asked) = &question.vector else { return };
    let cosine = |member: &Member| member.reading.vector.as_ref().and_then(|codes| codes.cosine(&asked.values));
    let own: Vec<Option<f64>> = pool.members.iter().map(cosine).collect();
    let near = |at: Option<usize>| at.and_then(|at| own[at]).unwrap_or(0.0);
    let mut context = Vec::with_capacity(own.len());
    let mut around = Vec::with_capacity(own.len());
    for (member, cosine) in pool.members.iter().zip(&own) {
        context.push(cosine.map(|cosine| with_before(pool, member, cosine, &own)));
        around.push(cosine.map(|cosine| cosine + 0.5 * near(member.before) + 0.5 * near(member.after)));
    }
    spread(&own, CLOSE, Clue::Meaning, clues);
    spread(&context, CLOSE, Clue::Context, clues);
    spread(&around, CLOSE, Clue::Around, clues);
}

/// The cosine to the turn and the one before it as if they were one text: both are means over
/// tokens, so their sum points where the mean of both would.
fn with_before(pool: &Pool, member: &Member, cosine: f64, own: &[Option<f64>]) -> f64 {
    let both = member.before.and_then(|before| {
        let (a, b) = (member.reading.vector.as_ref()?, pool.members[before].reading.vector.as_ref()?);
        Some((own[before]? + cosine) / (2.0 + 2.0 * a.cosine_to(b)).max(1e-6).sqrt())
    });
    both.unwrap_or(cosine)
}

/// Late interaction in the turn, with the question it answers, beside it and in its session.
fn tokens(question: &Question, pool: &Pool, clues: &mut [Clues]) {
    if question.tokens.is_empty() || pool.members.is_empty() {
        return;
    }
    let matches = Matches::new(question, pool);
    let width = question.tokens.len();
    let mut sessions = vec![vec![0.0_f32; width]; pool.sessions];
    for (at, member) in pool.members.iter().enumerate() {
        raise(&mut sessions[member.session], matches.of(at), 1.0);
    }
    let mut columns: [Vec<Option<f64>>; 5] = Default::default();
    for (at, member) in pool.members.iter().enumerate() {
        let sum = |row: &[f32]| mean(question, member, row);
        let mut row = matches.of(at).to_vec();
        columns[0].push(sum(&row));
        if let Some(asked) = member.question {
            raise(&mut row, matches.of(asked), 1.0);
        }
        columns[1].push(sum(&row));
        pool.beside(at, 1).for_each(|(_, other)| raise(&mut row, matches.of(other), BESIDE));
        columns[2].push(sum(&row));
        for (distance, other) in pool.beside(at, 3) {
            if distance > 1 {
                raise(&mut row, matches.of(other), FARTHER);
            }
        }
        columns[3].push(sum(&row));
        columns[4].push(sum(&sessions[member.session]));
    }
    for (clue, column) in TOKENS.into_iter().zip(&columns) {
        spread(column, CLOSE_TOKENS, clue, clues);
    }
}

fn raise(row: &mut [f32], other: &[f32], share: f32) {
    row.iter_mut().zip(other).for_each(|(best, other)| *best = best.max(share * other));
}

/// The weighted mean over the question's tokens; none where the member has no states.
fn mean(question: &Question, member: &Member, row: &[f32]) -> Option<f64> {
    if member.reading.states.is_empty() {
        return None;
    }
    let spoken = matches!(member.reading.speaker, Speaker::Named(_));
    let (mut sum, mut all) = (0.0, 0.0);
    for (token, best) in question.tokens.iter().zip(row) {
        // Among speakers names tell nothing, unless the question is nothing but names.
        let weight = if spoken && token.name { 1e-6 } else { token.weight };
        sum += weight * f64::from(*best);
        all += weight;
    }
    (all > 0.0).then(|| sum / all)
}

/// Writes where each value lies between the least and the greatest; what has none has nothing. Values
/// that hardly differ are not drawn apart.
fn spread(values: &[Option<f64>], close: f64, clue: Clue, clues: &mut [Clues]) {
    let known = || values.iter().flatten().copied();
    let (least, greatest) = (known().fold(f64::INFINITY, f64::min), known().fold(f64::NEG_INFINITY, f64::max));
    for (value, clues) in values.iter().zip(clues) {
        let Some(value) = value else { continue };
        clues.set(clue, (value - least) / (greatest - least).max(close));
    }
}

/// What can be seen of a memory by itself.
fn observe(question: &Question, pool: &Pool, member: &Member, clues: &mut Clues) {
    let reading = &member.reading;
    let mark = |holds: bool| f64::from(u8::from(holds));
    if let (Some(asked), Speaker::Named(name)) = (&question.speaker, &reading.speaker) {
        clues.set(Clue::Speaker, if **name == **asked { 1.0 } else { -1.0 });
    }
    let role = match reading.speaker {
        Speaker::User => 1.0,
        Speaker::Assistant => -1.0,
        _ => 0.0,
    };
    clues.set(Clue::Role, role);
    clues.set(Clue::Addressed, role * mark(question.plan.asks.assistant));
    clues.set(Clue::Summary, role * mark(question.plan.asks.summary));
    clues.set(Clue::Order, role * mark(question.plan.asks.order));
    clues.set(Clue::Date, when::fits(&question.spans, reading));
    clues.set(Clue::When, mark(question.plan.asks.time && reading.tells_time()));
    clues.set(Clue::Count, mark(question.plan.asks.count && reading.tells_number()));
    clues.set(Clue::Length, (1.0 + reading.characters as f64).ln());
    clues.set(Clue::Asks, mark(reading.asks));
    clues.set(Clue::Answers, mark(member.before.is_some_and(|before| pool.members[before].reading.asks)));
}
