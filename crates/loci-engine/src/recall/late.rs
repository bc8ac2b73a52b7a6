//! Which token of the memory answers each token of the question?
//!
//! Late interaction: every token of the question looks for its best match among the tokens of a
//! memory, by the cosine of their states in context. The states come from the pass that makes the
//! sentence vector; only tokens that say something are kept.

use loci_models::projection::{self, Projection, State};
use loci_models::{Embedding, Token};
use loci_store::text::says_nothing;

use super::pool::Pool;
use super::question::Question;

/// What is kept of a text's tokens, for a model whose states can be made small.
pub(crate) fn kept(model: &str, embedding: &Embedding) -> Option<Vec<u8>> {
    let projection = Projection::of(model)?;
    let mut states = Vec::new();
    for (_, token) in telling(&embedding.tokens) {
        states.extend(projection::pack(&projection.apply(&token.state)?));
    }
    Some(states)
}

/// The tokens whose words say something, each with its whole word.
pub(crate) fn telling(tokens: &[Token]) -> Vec<(String, &Token)> {
    let mut found = all(tokens);
    found.retain(|(word, _)| !says_nothing(word) && word.chars().any(char::is_alphanumeric));
    found
}

/// All tokens, each with its whole word: word pieces that go on with a word begin with `##`.
pub(crate) fn all(tokens: &[Token]) -> Vec<(String, &Token)> {
    let mut found = Vec::with_capacity(tokens.len());
    let mut rest = tokens;
    while let Some(first) = rest.first() {
        let length = 1 + rest[1..].iter().take_while(|token| token.piece.starts_with("##")).count();
        let (pieces, others) = rest.split_at(length);
        let mut word = first.piece.clone();
        pieces[1..].iter().for_each(|token| word.push_str(&token.piece[2..]));
        found.extend(pieces.iter().map(|token| (word.clone(), token)));
        rest = others;
    }
    found
}

/// For each member and each token of the question the best cosine in that member.
pub(crate) struct Matches {
    width: usize,
    best: Vec<f32>,
}

impl Matches {
    /// Compares every token of the question with every kept token of the pool.
    pub(crate) fn new(question: &Question, pool: &Pool) -> Self {
        let width = question.tokens.len();
        let mut best = vec![0.0_f32; width * pool.members.len()];
        if width > 0 {
            let asked: Vec<State> = question.tokens.iter().map(|token| projection::halves(&token.state)).collect();
            for (row, member) in best.chunks_exact_mut(width).zip(&pool.members) {
                projection::raise(&asked, member.reading.states(), row);
            }
        }
        Self { width, best }
    }

    /// The row of one member.
    pub(crate) fn of(&self, member: usize) -> &[f32] {
        &self.best[member * self.width..][..self.width]
    }
}
