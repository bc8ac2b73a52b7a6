//! How do memories that were made elsewhere come in?
//!
//! A record comes in as it is: with its id, times, scores and state, but never with a hash that
//! its text does not have. Many share one transaction, and what is already here is passed over,
//! so that an import that was cut short can simply be run again.

use std::collections::{BTreeMap, HashSet};

use loci_types::{
    Action, Addition, Batch, Error, ErrorKind, Layer, Memory, MemoryId, Outcome, Space, State, Vector, unit,
};

use crate::bounds;
use crate::policy::{self, Caller};
use crate::redact::Pass;
use crate::remember::check_validity;
use crate::settings::within;
use crate::text::{content_hash, embedding_text, estimate_tokens};
use crate::{Engine, NewMemory, Result};

/// The largest count that every JSON reader takes exactly.
const MOST: u64 = 1 << 53;

impl Engine {
    /// What follows from the words of a memory, for a store that goes back to earlier ones.
    pub fn derived(&self, memory: &Memory) -> loci_store::Derived {
        let hash = crate::text::content_hash(&memory.content);
        let whole = Memory { content_hash: hash, ..memory.clone() };
        let live = matches!(memory.state, State::Active | State::Decayed);
        loci_store::Derived { hash, unless: live.then(|| self.twin_key(&whole)), claim: self.claim_of(&whole) }
    }

    /// The record that `remember` would make of this, without keeping it.
    pub fn draft(&self, caller: &Caller, mut new: NewMemory) -> Result<Memory> {
        self.redact(&mut new)?;
        Ok(self.admit(caller, new, None)?.1.memory)
    }

    /// Refuses a record that could not have been made here.
    pub fn check_record(&self, caller: &Caller, memory: &Memory) -> Result<()> {
        let scope = memory.scope()?;
        if !caller.operator && policy::target(caller, Some(memory.layer))? != scope {
            return Err(Error::new(ErrorKind::Unauthorized, format!("{scope} is not a scope of this caller"))
                .at("identifiers")
                .into());
        }
        if !self.config.redaction.refuse.is_empty() {
            Pass::strict(&self.redactor).record(&mut memory.clone())?;
        }
        self.check_content(&memory.content)?;
        self.kinds.parse(memory.kind.name())?;
        let scores =
            [("importance", memory.importance), ("confidence", memory.confidence), ("relevance", memory.relevance)];
        for (field, value) in scores {
            unit(field, value)?;
        }
        if !(memory.decay_rate.is_finite() && memory.decay_rate >= 0.0) {
            return Err(
                Error::invalid("decayRate", format!("decayRate is {}, which is no rate", memory.decay_rate)).into()
            );
        }
        if !(1..=MOST).contains(&memory.version) {
            return Err(
                Error::invalid("version", format!("version is {}, which no memory reaches", memory.version)).into()
            );
        }
        if memory.access_count > MOST {
            let message = format!("accessCount is {}, which no memory reaches", memory.access_count);
            return Err(Error::invalid("accessCount", message).into());
        }
        check_validity(memory.valid_from, memory.valid_until)?;
        self.check_tags(&memory.tags)?;
        let names = [&memory.category, &memory.role, &memory.thread_id, &memory.run_id, &memory.actor_id];
        bounds::names(names.map(Option::as_deref))?;
        bounds::source(memory.source.as_ref())?;
        bounds::pointer(memory.knowledge_pointer.as_ref())?;
        self.check_metadata(&memory.metadata)
    }

    /// Keeps records as they are, many per transaction. One outcome each, in order: created, or
    /// none for a record whose id or text its scope already has.
    pub async fn import_many(&self, caller: &Caller, mut memories: Vec<Memory>) -> Result<Vec<Outcome>> {
        policy::writer(caller)?;
        let allowed = self.categories_of(caller).await?;
        for memory in &mut memories {
            let mut pass = Pass::strict(&self.redactor);
            pass.record(memory)?;
            if !pass.found().is_empty() {
                memory.tokens = estimate_tokens(&memory.content);
            }
            self.check_record(caller, memory)?;
            within(allowed.as_ref(), memory.category.as_slice())?;
        }
        let here = self.already_here(caller, &memories).await?;
        let mut outcomes = vec![Outcome::None; memories.len()];
        let mut seen: HashSet<MemoryId> = HashSet::new();
        let wanted: Vec<(usize, Memory)> = memories
            .into_iter()
            .enumerate()
            .filter(|(_, memory)| !here.contains(&memory.id) && seen.insert(memory.id))
            .collect();
        let vectors = self.embed_many(wanted.iter().map(|(_, memory)| memory)).await;
        let mut by_space: BTreeMap<Space, (Vec<usize>, Vec<loci_types::Change>)> = BTreeMap::new();
        for ((place, memory), vector) in wanted.into_iter().zip(vectors) {
            let space = memory.scope()?.space();
            let change = self.change(caller, "operator", "imported", Action::Add(Box::new(self.whole(memory, vector))));
            let (places, changes) = by_space.entry(space).or_default();
            places.push(place);
            changes.push(change);
        }
        for (space, (places, changes)) in by_space {
            let batch = Batch { tenant: caller.tenant.clone(), space, changes };
            for (place, outcome) in places.into_iter().zip(self.apply_or_skip(batch).await?) {
                outcomes[place] = outcome;
            }
        }
        Ok(outcomes)
    }

    /// Another process may bring in the same record at the same moment; then each goes alone, and
    /// the ones that lost are passed over.
    async fn apply_or_skip(&self, batch: Batch) -> Result<Vec<Outcome>> {
        match self.store.apply(batch.clone()).await {
            Ok(applied) => return Ok(applied.into_iter().map(|applied| applied.outcome).collect()),
            Err(loci_store::Error::Taken(_)) => {}
            Err(error) => return Err(error.into()),
        }
        let mut outcomes = Vec::with_capacity(batch.changes.len());
        for change in batch.changes {
            let alone = Batch { tenant: batch.tenant.clone(), space: batch.space.clone(), changes: vec![change] };
            outcomes.push(match self.store.apply(alone).await {
                Ok(applied) => applied.first().map_or(Outcome::None, |applied| applied.outcome),
                Err(loci_store::Error::Taken(_)) => Outcome::None,
                Err(error) => return Err(error.into()),
            });
        }
        Ok(outcomes)
    }

    async fn already_here(&self, caller: &Caller, memories: &[Memory]) -> Result<HashSet<MemoryId>> {
        let layers: Vec<Layer> =
            memories.iter().map(|memory| memory.layer).collect::<HashSet<_>>().into_iter().collect();
        let visible = policy::visible(caller, if caller.operator { None } else { Some(&layers) })?;
        let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
        Ok(self.store.fetch(&visible, &ids).await?.into_iter().map(|memory| memory.id).collect())
    }

    fn whole(&self, mut memory: Memory, vector: Option<Vector>) -> Addition {
        memory.content_hash = content_hash(&memory.content);
        // Only what holds now may stand in for another: a forgotten or replaced record is history.
        let live = matches!(memory.state, State::Active | State::Decayed) && memory.superseded_by_id.is_none();
        let unless = live.then(|| self.twin_key(&memory));
        let claim = self.claim_of(&memory);
        let jobs = if vector.is_none() && live { vec![self.embed_job(memory.id, self.now())] } else { Vec::new() };
        Addition { unless, claim, vector, jobs, ..Addition::new(memory) }
    }

    /// A vector for each, or none for any of them when no model can be asked.
    async fn embed_many<'a>(&self, memories: impl ExactSizeIterator<Item = &'a Memory>) -> Vec<Option<Vector>> {
        let texts: Vec<String> = memories.map(embedding_text).collect();
        match self.embed_or_wait(&texts).await {
            Some(vectors) => vectors.into_iter().map(Some).collect(),
            None => vec![None; texts.len()],
        }
    }
}
