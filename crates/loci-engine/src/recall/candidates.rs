//! The candidates of a recall: hits of all lanes and the turns around them in their sessions.
//!
//! Every candidate can win: a turn without any word of the query can still be its answer.

use std::collections::HashMap;
use std::sync::Arc;

use loci_store::{TurnRef, TurnRun};
use loci_types::{Class, Memory, MemoryId, Visible};

use super::features::{MemoryFeatures, TurnSpeaker};
use crate::{Engine, Result};

/// The memories that are weighed, with who stands beside whom.
#[derive(Debug, Default)]
pub(crate) struct CandidateSet {
    pub(crate) candidates: Vec<Candidate>,
    /// Number of sessions.
    pub(crate) sessions: usize,
}

/// A memory that is ranked.
#[derive(Debug)]
pub(crate) struct Candidate {
    pub(crate) features: Arc<MemoryFeatures>,
    /// Number of times that recall returned it.
    pub(crate) access_count: u64,
    /// The number of its session in this set.
    pub(crate) session: usize,
    /// The one right before it in its session.
    pub(crate) before: Option<usize>,
    /// The one right after it in its session.
    pub(crate) after: Option<usize>,
    /// The one before it, if that is a question which this one answers.
    pub(crate) question: Option<usize>,
}

impl Engine {
    /// Loads the candidates of these turn runs, from the cache or from the store.
    pub(crate) async fn load_candidates(&self, visible: &Visible, turn_runs: &[TurnRun]) -> Result<CandidateSet> {
        let places: Vec<TurnRef> = turn_runs.iter().flat_map(|run| run.places.iter().copied()).collect();
        let mut all_features = self.feature_cache.take(&places);
        let missing = places.iter().zip(&all_features).filter(|(_, features)| features.is_none());
        let missing: HashMap<MemoryId, u64> = missing.map(|(place, _)| (place.id, place.stamp)).collect();
        if !missing.is_empty() {
            let fresh = self.load_features(visible, missing).await?;
            for (place, features) in places.iter().zip(&mut all_features).filter(|(_, features)| features.is_none()) {
                *features = fresh.get(&place.id).cloned();
            }
        }
        let mut set = CandidateSet::default();
        let mut sessions: HashMap<u64, usize> = HashMap::new();
        let mut all_features = all_features.into_iter();
        for run in turn_runs {
            let next = sessions.len();
            let session = *sessions.entry(run.session).or_insert(next);
            let turns = run.places.iter().zip(&mut all_features);
            set.push(session, turns.filter_map(|(place, features)| Some((features?, place.access_count))).collect());
        }
        Ok(set)
    }

    /// Reads memories from the store and keeps what was read.
    async fn load_features(
        &self,
        visible: &Visible,
        stamps: HashMap<MemoryId, u64>,
    ) -> Result<HashMap<MemoryId, Arc<MemoryFeatures>>> {
        let ids: Vec<MemoryId> = stamps.keys().copied().collect();
        let memories = self.store.fetch(visible, &ids).await?;
        let mut vectors = self.present_vectors(visible, &ids).await?;
        let model = self.model().map_or("", |model| &model.name);
        let read = |memory: &Memory| {
            let vector = vectors.remove(&memory.id);
            let episode = self.kinds.spec(&memory.kind).class == Class::Episodic;
            (memory.id, Arc::new(MemoryFeatures::new(&self.analyser, memory, episode, model, vector)))
        };
        let fresh: HashMap<MemoryId, Arc<MemoryFeatures>> = memories.iter().map(read).collect();
        self.feature_cache.put(fresh.iter().map(|(id, features)| (stamps[id], features.clone())));
        Ok(fresh)
    }
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

    /// The candidates up to `reach` turns away, with their distance.
    pub(crate) fn neighbours_of(&self, at: usize, reach: usize) -> impl Iterator<Item = (usize, usize)> {
        let walk = move |step: fn(&Candidate) -> Option<usize>| {
            std::iter::successors(step(&self.candidates[at]), move |next| step(&self.candidates[*next])).take(reach)
        };
        let back = walk(|candidate| candidate.before).enumerate();
        let forth = walk(|candidate| candidate.after).enumerate();
        back.chain(forth).map(|(distance, candidate)| (distance + 1, candidate))
    }

    /// The names of those who speak.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self
            .candidates
            .iter()
            .filter_map(|candidate| match &candidate.features.speaker {
                TurnSpeaker::Named(name) => Some(&**name),
                _ => None,
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
