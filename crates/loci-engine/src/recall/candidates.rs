//! The candidates of a recall: hits of all lanes and the turns around them in their sessions.
//!
//! Every candidate can win: a turn without any word of the query can still be its answer.

use std::sync::Arc;

use super::features::{MemoryFeatures, TurnSpeaker};

/// The memories that are weighed, with who stands beside whom.
#[derive(Debug, Default)]
pub(crate) struct CandidateSet {
    pub(crate) candidates: Vec<Candidate>,
    /// How many sessions there are.
    pub(crate) sessions: usize,
}

/// A memory in the pool.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) features: Arc<MemoryFeatures>,
    /// How often recall returned it.
    pub(crate) access_count: u64,
    /// The number of its session in this pool.
    pub(crate) session: usize,
    /// The one right before it in its session.
    pub(crate) before: Option<usize>,
    /// The one right after it in its session.
    pub(crate) after: Option<usize>,
    /// The one before it, if that is a question which this one answers.
    pub(crate) question: Option<usize>,
}

impl Candidate {
    /// Whether nothing stands beside it.
    pub(crate) fn alone(&self) -> bool {
        self.before.is_none() && self.after.is_none()
    }
}

impl CandidateSet {
    /// Adds a run of memories that follow each other in one session.
    pub(crate) fn push(&mut self, session: usize, run: Vec<(Arc<MemoryFeatures>, u64)>) {
        self.sessions = self.sessions.max(session + 1);
        for (features, access_count) in &run {
            // A long note is represented by its parts, each of them a candidate.
            for part in &features.parts {
                let (features, access_count) = (part.clone(), *access_count);
                self.candidates.push(Candidate {
                    features,
                    access_count,
                    session,
                    before: None,
                    after: None,
                    question: None,
                });
            }
        }
        let run: Vec<_> = run.into_iter().filter(|(features, _)| features.parts.is_empty()).collect();
        let last = run.len().saturating_sub(1);
        for (place, (features, access_count)) in run.into_iter().enumerate() {
            let at = self.candidates.len();
            let before = (place > 0).then(|| at - 1);
            let question = before.filter(|before| {
                let before = &self.candidates[*before].features;
                before.asks && before.speaker != features.speaker
            });
            let after = (place < last).then_some(at + 1);
            self.candidates.push(Candidate { features, access_count, session, before, after, question });
        }
    }

    /// Those up to `reach` steps away, with their distance.
    pub(crate) fn neighbours_of(&self, at: usize, reach: usize) -> impl Iterator<Item = (usize, usize)> {
        let walk = move |step: fn(&Candidate) -> Option<usize>| {
            std::iter::successors(step(&self.candidates[at]), move |next| step(&self.candidates[*next])).take(reach)
        };
        let back = walk(|member| member.before).enumerate();
        let forth = walk(|member| member.after).enumerate();
        back.chain(forth).map(|(distance, member)| (distance + 1, member))
    }

    /// The names of those who speak.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .candidates
            .iter()
            .filter_map(|member| match &member.features.speaker {
                TurnSpeaker::Named(name) => Some(&**name),
                _ => None,
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
