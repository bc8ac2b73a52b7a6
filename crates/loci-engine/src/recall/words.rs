//! How well do the words of a memory, and those around it, fit the question?
//!
//! BM25 over the turn with the question it answers, over windows of turns and over sessions, and
//! over parts of words. Terms are counted once; every variant is a sum of the same counts.

use loci_store::text::Analyser;

use super::clue::{Clue, Clues, Voices};
use super::lookup::Lookup;
use super::pool::{Member, Pool};
use super::question::Question;
use super::reading::Speaker;

/// Of a question that is answered, the last words among the first ones say what it asks.
const ASKED_FIRST: usize = 120;
const ASKED_LAST: usize = 40;

/// How often a term may count, and how much the length of a text takes away.
#[derive(Clone, Copy)]
struct Shape {
    k1: f64,
    b: f64,
}

const USUAL: Shape = Shape { k1: 1.2, b: 0.75 };
const BRIEF: Shape = Shape { k1: 1.2, b: 0.9 };
const SESSION: Shape = Shape { k1: 0.9, b: 0.4 };

/// How often each term of the question occurs in stretches of text, and how long those are: one row
/// for each, one after the other.
#[derive(Clone)]
struct Counts {
    of: Vec<f64>,
    terms: usize,
    lengths: Vec<f64>,
}

impl Counts {
    fn none(terms: usize, stretches: usize) -> Self {
        Self { of: vec![0.0; terms * stretches], terms, lengths: vec![0.0; stretches] }
    }

    fn row(&self, at: usize) -> &[f64] {
        &self.of[at * self.terms..][..self.terms]
    }

    /// Adds the terms of a text.
    fn count(&mut self, at: usize, places: &Lookup, terms: &[u32]) {
        let row = &mut self.of[at * self.terms..][..self.terms];
        for term in terms {
            if let Some(place) = places.find(u64::from(*term)) {
                row[place] += 1.0;
            }
        }
        self.lengths[at] += terms.len() as f64;
    }

    /// Adds a row of another.
    fn add(&mut self, at: usize, other: &Self, from: usize) {
        let row = &mut self.of[at * self.terms..][..self.terms];
        row.iter_mut().zip(other.row(from)).for_each(|(sum, count)| *sum += count);
        self.lengths[at] += other.lengths[from];
    }

    fn mean_length(&self) -> f64 {
        self.lengths.iter().sum::<f64>() / self.lengths.len().max(1) as f64
    }
}

/// Adds what the words say to the clues of every member.
pub(crate) fn weigh(question: &Question, analyser: &Analyser, pool: &Pool, voices: &Voices, clues: &mut [Clues]) {
    let mut places = Lookup::for_most(question.terms.len());
    // Two terms may share a number; then they share their count.
    let place_of: Vec<usize> = question.terms.iter().map(|term| places.insert(u64::from(term.key))).collect();
    let mut own = Counts::none(question.terms.len(), pool.members.len());
    for (at, member) in pool.members.iter().enumerate() {
        own.count(at, &places, &member.reading.terms);
    }
    let mut answers = own.clone();
    for (at, member) in pool.members.iter().enumerate() {
        if let Some(question) = member.question {
            let asked = &pool.members[question].reading.terms;
            let first = &asked[..asked.len().min(ASKED_FIRST)];
            answers.count(at, &places, &first[first.len().saturating_sub(ASKED_LAST)..]);
        }
    }
    let window = |reach: usize| -> Counts {
        let mut counts = own.clone();
        for at in 0..pool.members.len() {
            pool.beside(at, reach).for_each(|(_, other)| counts.add(at, &own, other));
        }
        counts
    };
    let scorer = Scorer { question, pool, place_of };
    for (clue, counts, shape) in
        [(Clue::Words, &answers, USUAL), (Clue::Own, &own, USUAL), (Clue::Brief, &answers, BRIEF)]
    {
        if voices.hears(clue) {
            scorer.shares(counts, shape, clue, clues);
        }
    }
    for (clue, reach) in [(Clue::Near, 1), (Clue::Wide, 3)] {
        if voices.hears(clue) {
            scorer.shares(&window(reach), USUAL, clue, clues);
        }
    }
    if voices.hears(Clue::Session) {
        scorer.sessions(&own, clues);
    }
    for ((at, member), clues) in pool.members.iter().enumerate().zip(&mut *clues) {
        clues.set(Clue::Coverage, scorer.coverage(member, own.row(at)));
        clues.set(Clue::Pairs, pairs(question, member));
    }
    if voices.hears(Clue::Spelling) {
        share_of_best(&spelling(question, analyser, pool), Clue::Spelling, clues);
    }
}

struct Scorer<'a> {
    question: &'a Question,
    pool: &'a Pool,
    /// The place of each term in the counts.
    place_of: Vec<usize>,
}

impl Scorer<'_> {
    fn shares(&self, counts: &Counts, shape: Shape, clue: Clue, clues: &mut [Clues]) {
        let mean = counts.mean_length();
        let score = |(at, member): (usize, &Member)| self.bm25(member, counts, at, mean, shape);
        let scores: Vec<f64> = self.pool.members.iter().enumerate().map(score).collect();
        share_of_best(&scores, clue, clues);
    }

    /// Whole sessions; each of its turns has the score of its session.
    fn sessions(&self, own: &Counts, clues: &mut [Clues]) {
        let mut sessions = Counts::none(self.question.terms.len(), self.pool.sessions);
        for (at, member) in self.pool.members.iter().enumerate() {
            sessions.add(member.session, own, at);
        }
        let mean = sessions.mean_length();
        let score = |member: &Member| self.bm25(member, &sessions, member.session, mean, SESSION);
        let scores: Vec<f64> = self.pool.members.iter().map(score).collect();
        share_of_best(&scores, Clue::Session, clues);
    }

    /// The terms that count for this member: among speakers, names tell nothing.
    fn telling(&self, member: &Member) -> impl Iterator<Item = (usize, &super::question::Term)> {
        let spoken = matches!(member.reading.speaker, Speaker::Named(_));
        self.question.terms.iter().enumerate().filter(move |(_, term)| !(spoken && term.name))
    }

    fn bm25(&self, member: &Member, counts: &Counts, at: usize, mean: f64, shape: Shape) -> f64 {
        let norm = shape.k1 * (1.0 - shape.b + shape.b * counts.lengths[at] / mean.max(1.0));
        let counts = counts.row(at);
        let term = |(at, term): (usize, &super::question::Term)| {
            let count = counts[self.place_of[at]];
            term.count * term.weight * count * (shape.k1 + 1.0) / (count + norm)
        };
        self.telling(member).map(term).sum()
    }

    fn coverage(&self, member: &Member, counts: &[f64]) -> f64 {
        let (mut held, mut all) = (0.0, 0.0);
        // A time that is named is looked for in the calendar and not in the words.
        for (at, _) in self.telling(member).filter(|(_, term)| !term.time) {
            all += 1.0;
            held += if counts[self.place_of[at]] > 0.0 { 1.0 } else { 0.0 };
        }
        if all > 0.0 { held / all } else { 0.0 }
    }
}

/// How many of the question's pairs stand together here, at most three.
fn pairs(question: &Question, member: &Member) -> f64 {
    let terms = &member.reading.terms;
    let found = question.pairs.iter().filter(|(a, b)| terms.windows(2).any(|pair| pair[0] == *a && pair[1] == *b));
    found.take(3).count() as f64
}

/// BM25 over runs of four letters. How rare a run is, is counted in the pool.
fn spelling(question: &Question, analyser: &Analyser, pool: &Pool) -> Vec<f64> {
    let folded = question.folded(analyser);
    let mut places = Lookup::for_most(folded.len());
    let mut asked: Vec<f64> = Vec::new();
    for gram in grams(&folded) {
        let at = places.insert(gram);
        asked.resize(asked.len().max(at + 1), 0.0);
        asked[at] += 1.0;
    }
    let mut found = vec![0.0_f64; asked.len()];
    let mut lengths = Vec::with_capacity(pool.members.len());
    let mut counts: Vec<Vec<(usize, f64)>> = Vec::with_capacity(pool.members.len());
    let mut here = vec![0.0_f64; asked.len()];
    for member in &pool.members {
        let mut length = 0.0;
        let mut touched: Vec<usize> = Vec::new();
        for gram in grams(&member.reading.folded) {
            length += 1.0;
            if let Some(at) = places.find(gram) {
                if here[at] == 0.0 {
                    touched.push(at);
                }
                here[at] += 1.0;
            }
        }
        touched.iter().for_each(|at| found[*at] += 1.0);
        counts.push(touched.into_iter().map(|at| (at, std::mem::take(&mut here[at]))).collect());
        lengths.push(length);
    }
    let all = pool.members.len() as f64;
    let mean = lengths.iter().sum::<f64>() / all.max(1.0);
    let score = |(counts, length): (Vec<(usize, f64)>, &f64)| {
        let norm = USUAL.k1 * (1.0 - USUAL.b + USUAL.b * length / mean.max(1.0));
        let gram = |(at, count): (usize, f64)| {
            let rarity = (1.0 + (all - found[at] + 0.5) / (found[at] + 0.5)).ln();
            asked[at] * rarity * count * (USUAL.k1 + 1.0) / (count + norm)
        };
        counts.into_iter().map(gram).sum()
    };
    counts.into_iter().zip(&lengths).map(score).collect()
}

/// Every run of four characters, as a number.
fn grams(text: &str) -> impl Iterator<Item = u64> {
    let mut run = 0_u64;
    text.chars().enumerate().filter_map(move |(at, c)| {
        // Sixteen bits each: characters beyond them are rare and may share a number.
        run = run << 16 | u64::from(c as u32 & 0xffff);
        (at >= 3).then_some(run)
    })
}

/// Writes each score as a share of the best one.
fn share_of_best(scores: &[f64], clue: Clue, clues: &mut [Clues]) {
    let best = scores.iter().copied().fold(0.0, f64::max);
    if best > 0.0 {
        clues.iter_mut().zip(scores).for_each(|(clues, score)| clues.set(clue, score / best));
    }
}
