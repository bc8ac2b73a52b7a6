//! Imports memory records that were made elsewhere.
//!
//! A record keeps its id, times, scores and state; its hash is always computed from its text. Existing records are
//! skipped; a different record with the same id is kept unless it is to be replaced. Many records share one
//! transaction, and an invalid one does not stop the others.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::Timestamp;
use loci_store::{Applied, Page};
use loci_types::{
    Action, Addition, Batch, Change, Class, ContentHash, Filter, Layer, Memory, MemoryId, Outcome, Scope, Space, State,
    Vector,
};

use super::ImportOutcome;
use crate::access::policy::{self, Caller};
use crate::access::redact::Pass;
use crate::access::settings::within;
use crate::learn::consent::{self, PROPOSALS_PER_READ, proposed};
use crate::text::{content_hash, estimate_tokens};
use crate::{Engine, Result};

/// The options of an import.
#[derive(Debug, Default)]
pub struct ImportOptions {
    /// Whether a different record with the same id is replaced.
    pub replace: bool,
    /// Whether nothing is written and only the outcome is returned.
    pub dry_run: bool,
    /// Whether memories are proposed instead of imported: recall does not return them until they are accepted. A proposal of
    /// an import does not lapse. Nothing but memories is imported.
    pub quarantine: bool,
    /// The records that a dry run or a quarantined import has accepted so far, to detect repetitions.
    seen: HashSet<u64>,
    /// The scopes whose proposals a quarantined import has read into `seen`.
    scanned: HashSet<String>,
}

impl ImportOptions {
    /// Options without further state.
    pub fn new(replace: bool, dry_run: bool) -> Self {
        Self { replace, dry_run, quarantine: false, ..Self::default() }
    }
}

/// A record to import, with its vectors.
#[derive(Debug, Clone)]
pub(crate) struct IncomingRecord {
    pub(crate) memory: Memory,
    pub(crate) vectors: Vec<Vector>,
    pub(crate) aged_at: Option<Timestamp>,
    pub(crate) follows: Option<MemoryId>,
    /// Whether it was made by an importer: then only its text can be compared.
    pub(crate) foreign: bool,
}

impl IncomingRecord {
    /// A record without vectors.
    pub(crate) fn new(memory: Memory) -> Self {
        Self { memory, vectors: Vec::new(), aged_at: None, follows: None, foreign: false }
    }

    /// Whether the record exists already: equal except for what use and time change.
    fn is_here(&self, known: &Memory) -> bool {
        let timeless = |memory: &Memory| Memory {
            access_count: 0,
            last_accessed_at: None,
            confidence: 0.0,
            relevance: 0.0,
            tokens: 0,
            content_hash: content_hash(&memory.content),
            ..memory.clone()
        };
        match self.foreign {
            true => content_hash(&self.memory.content) == known.content_hash,
            false => timeless(&self.memory) == timeless(known),
        }
    }
}

/// A record to write: its index, the record, and whether it replaces an existing one.
type PendingRecord = (usize, IncomingRecord, bool);

impl Engine {
    /// Masks a record, and refuses one that `remember` would refuse.
    async fn fit(&self, caller: &Caller, memory: &mut Memory) -> Result<()> {
        let mut pass = Pass::strict(&self.redactor);
        pass.record(memory)?;
        // The count of a file is not believed: budgets are planned by it.
        memory.tokens = estimate_tokens(&memory.content);
        self.check_record(caller, memory).await
    }

    /// Imports records as they are, many per transaction. Returns one outcome each, in order: created, or none for a
    /// record whose id or text its scope already has. All are validated before the first is written.
    pub async fn import_many(&self, caller: &Caller, mut memories: Vec<Memory>) -> Result<Vec<Outcome>> {
        let allowed = self.categories_of(caller).await?;
        for memory in &mut memories {
            self.fit(caller, memory).await?;
            within(allowed.as_ref(), memory.category.as_slice())?;
        }
        let incoming = memories.into_iter().map(IncomingRecord::new).collect();
        let outcomes = self.import_records(caller, incoming, &mut ImportOptions::default()).await?;
        let outcome = |outcome: ImportOutcome| match outcome {
            ImportOutcome::Imported => Ok(Outcome::Created),
            ImportOutcome::Refused(error) => Err(error),
            _ => Ok(Outcome::None),
        };
        outcomes.into_iter().map(outcome).collect()
    }

    /// Imports records. Returns one outcome each, in order.
    pub(crate) async fn import_records(
        &self,
        caller: &Caller,
        incoming: Vec<IncomingRecord>,
        how: &mut ImportOptions,
    ) -> Result<Vec<ImportOutcome>> {
        policy::require_writer(caller)?;
        let allowed = self.categories_of(caller).await?;
        let mut outcomes: Vec<ImportOutcome> = incoming.iter().map(|_| ImportOutcome::Skipped).collect();
        let mut fitting = Vec::with_capacity(incoming.len());
        for (place, mut one) in incoming.into_iter().enumerate() {
            let fits = self.fit(caller, &mut one.memory).await;
            if how.quarantine {
                propose(&mut one.memory);
            }
            match fits.and_then(|()| Ok(within(allowed.as_ref(), one.memory.category.as_slice())?)) {
                Ok(()) => fitting.push((place, one)),
                Err(error) => outcomes[place] = ImportOutcome::Refused(error),
            }
        }
        let here = self.already_here(caller, &fitting).await?;
        let mut wanted: Vec<PendingRecord> = Vec::with_capacity(fitting.len());
        let mut met: HashSet<MemoryId> = HashSet::new();
        for (place, one) in fitting {
            match here.get(&one.memory.id) {
                _ if !met.insert(one.memory.id) => {}
                None => wanted.push((place, one, false)),
                Some(known) if one.is_here(known) => {}
                Some(_) if how.replace => wanted.push((place, one, true)),
                Some(known) => {
                    let message =
                        format!("memory {} already exists with different values (version {})", known.id, known.version);
                    outcomes[place] = ImportOutcome::Conflict(message);
                }
            }
        }
        if how.quarantine {
            wanted = self.without_known(caller, wanted, how).await?;
        }
        if how.dry_run {
            for (place, one, over) in wanted {
                outcomes[place] = self.plan_import(caller, one, over, how).await?;
            }
        } else {
            for (place, outcome) in self.write_records(caller, wanted).await? {
                outcomes[place] = outcome;
            }
        }
        Ok(outcomes)
    }

    /// The records of a quarantined import whose text is neither known nor proposed. The store does not compare proposals
    /// when they are written, because a proposal must not stand in for what someone remembers.
    async fn without_known(
        &self,
        caller: &Caller,
        wanted: Vec<PendingRecord>,
        how: &mut ImportOptions,
    ) -> Result<Vec<PendingRecord>> {
        let mut new = Vec::with_capacity(wanted.len());
        for (place, one, over) in wanted {
            if self.nameless(&one.memory) {
                new.push((place, one, over));
                continue;
            }
            let scope = one.memory.scope()?;
            self.read_proposals(caller, &scope, how).await?;
            let twin = self.twin_key(&one.memory);
            let filter = Filter { twin: Some(twin), ..Filter::at(self.now()) };
            let page = Page { after: None, limit: 1 };
            let known = self.store.scan(&policy::visible_scope(caller, &scope, None), &filter, page).await?;
            if known.memories.is_empty() && how.seen.insert(seen_key(&scope, twin)) {
                new.push((place, one, over));
            }
        }
        Ok(new)
    }

    /// Reads the proposals of a scope, once in an import.
    async fn read_proposals(&self, caller: &Caller, scope: &Scope, how: &mut ImportOptions) -> Result<()> {
        if !how.scanned.insert(scope.key()) {
            return Ok(());
        }
        let (visible, filter) = (policy::visible_scope(caller, scope, None), proposed(self.now()));
        let mut after = None;
        loop {
            let listing = self.store.scan(&visible, &filter, Page { after, limit: PROPOSALS_PER_READ }).await?;
            how.seen.extend(listing.memories.iter().map(|known| seen_key(scope, self.twin_key(known))));
            after = listing.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// The outcome that a record would have.
    async fn plan_import(
        &self,
        caller: &Caller,
        one: IncomingRecord,
        over: bool,
        how: &mut ImportOptions,
    ) -> Result<ImportOutcome> {
        if over {
            return Ok(ImportOutcome::Replaced);
        }
        let scope = one.memory.scope()?;
        let Some(twin) = self.whole(one, None).unless else { return Ok(ImportOutcome::Imported) };
        if !how.seen.insert(seen_key(&scope, twin)) {
            return Ok(ImportOutcome::Skipped);
        }
        let filter = Filter { twin: Some(twin), ..Filter::at(self.now()) };
        let seen = policy::visible_scope(caller, &scope, None);
        let known = self.store.scan(&seen, &filter, Page { after: None, limit: 1 }).await?;
        Ok(if known.memories.is_empty() { ImportOutcome::Imported } else { ImportOutcome::Skipped })
    }

    async fn write_records(
        &self,
        caller: &Caller,
        mut wanted: Vec<PendingRecord>,
    ) -> Result<Vec<(usize, ImportOutcome)>> {
        let mut vectors: Vec<Option<Vector>> = wanted.iter_mut().map(|(_, one, _)| self.own_vector(one)).collect();
        let without: Vec<usize> = (0..wanted.len()).filter(|place| vectors[*place].is_none()).collect();
        let memories: Vec<&Memory> = without.iter().map(|place| &wanted[*place].1.memory).collect();
        if let Some(made) = self.embed_or_wait(&memories).await {
            for (place, vector) in without.into_iter().zip(made) {
                vectors[place] = Some(vector);
            }
        }
        let mut by_space: BTreeMap<Space, Vec<(Option<usize>, Change)>> = BTreeMap::new();
        for ((place, one, over), vector) in wanted.into_iter().zip(vectors) {
            let changes = by_space.entry(one.memory.scope()?.space()).or_default();
            let others: Vec<Vector> = one.vectors.clone();
            let addition = Box::new(self.whole(one, vector));
            let (id, of) = (addition.memory.id, addition.memory.content_hash);
            let action = if over { Action::Replace(addition) } else { Action::Add(addition) };
            changes.push((Some(place), self.change(caller, "operator", "imported", action)));
            for vector in others {
                let action = Action::Embed { id, of, vector };
                changes.push((None, self.change(caller, "operator", "imported", action)));
            }
        }
        let mut outcomes = Vec::new();
        for (space, changes) in by_space {
            let (places, changes): (Vec<Option<usize>>, Vec<Change>) = changes.into_iter().unzip();
            let batch = Batch { tenant: caller.tenant.clone(), space, changes };
            for (place, outcome) in places.into_iter().zip(self.apply_each(batch).await?) {
                outcomes.extend(place.map(|place| (place, outcome)));
            }
        }
        Ok(outcomes)
    }

    /// Applies all changes at once or, if one fails, each alone: another process may import the same record at the
    /// same moment, and the loser is skipped.
    pub(crate) async fn apply_each(&self, batch: Batch) -> Result<Vec<ImportOutcome>> {
        use loci_store::Error::{Conflict, NotFound, Refused, Taken};
        let outcome = |applied: &Applied| match applied.outcome {
            Outcome::Created => ImportOutcome::Imported,
            Outcome::None => ImportOutcome::Skipped,
            _ => ImportOutcome::Replaced,
        };
        match self.apply(batch.clone()).await {
            Ok(applied) => return Ok(applied.iter().map(outcome).collect()),
            Err(Taken(_) | Refused(_) | NotFound(_) | Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        let mut outcomes: Vec<ImportOutcome> = Vec::with_capacity(batch.changes.len());
        for attempt in 0..2 {
            for (place, change) in batch.changes.iter().enumerate() {
                // A record is refused as long as another stands in its place, which a later record may change: those
                // that were refused are tried once more when all others are in.
                if attempt > 0 && !matches!(outcomes[place], ImportOutcome::Refused(_)) {
                    continue;
                }
                let changes = vec![change.clone()];
                let alone = Batch { tenant: batch.tenant.clone(), space: batch.space.clone(), changes };
                let met = match self.apply(alone).await {
                    Ok(applied) => applied.first().map_or(ImportOutcome::Skipped, outcome),
                    Err(Taken(_)) => ImportOutcome::Skipped,
                    Err(error @ (Refused(_) | NotFound(_) | Conflict { .. })) => ImportOutcome::Refused(error.into()),
                    Err(error) => return Err(error.into()),
                };
                match outcomes.get_mut(place) {
                    Some(before) => *before = met,
                    None => outcomes.push(met),
                }
            }
        }
        Ok(outcomes)
    }

    async fn already_here(
        &self,
        caller: &Caller,
        incoming: &[(usize, IncomingRecord)],
    ) -> Result<HashMap<MemoryId, Memory>> {
        let layers: HashSet<Layer> = incoming.iter().map(|(_, one)| one.memory.layer).collect();
        let layers: Vec<Layer> = layers.into_iter().collect();
        if layers.is_empty() {
            return Ok(HashMap::new());
        }
        let membership = self.membership(caller).await?;
        let layers = if caller.operator { None } else { Some(layers.as_slice()) };
        let visible = policy::visible_in(&caller.by_id(), &membership, layers, None)?;
        let ids: Vec<MemoryId> = incoming.iter().map(|(_, one)| one.memory.id).collect();
        let found = self.store.fetch(&visible, &ids).await?;
        Ok(found.into_iter().map(|memory| (memory.id, memory)).collect())
    }

    /// Takes the vector of the present model, which then need not be computed. Vectors of other models are dropped;
    /// without a model all are kept as they are.
    fn own_vector(&self, one: &mut IncomingRecord) -> Option<Vector> {
        let mut brought = std::mem::take(&mut one.vectors);
        let Some(model) = self.model() else {
            let first = (!brought.is_empty()).then(|| brought.remove(0));
            one.vectors = brought;
            return first;
        };
        brought.into_iter().find(|vector| vector.model == model.name && vector.values.len() == model.dimensions)
    }

    fn whole(&self, one: IncomingRecord, vector: Option<Vector>) -> Addition {
        let mut memory = one.memory;
        memory.content_hash = content_hash(&memory.content);
        // Only what holds now may stand in for another: a forgotten or replaced record is history.
        let live = matches!(memory.state, State::Active | State::Decayed) && memory.superseded_by_id.is_none();
        let unless = (live && !self.nameless(&memory)).then(|| self.twin_key(&memory));
        let claim = self.claim_of(&memory);
        let jobs = if vector.is_none() && (live || memory.state == State::Proposed) {
            self.embed_jobs(memory.id, self.now())
        } else {
            Vec::new()
        };
        let (follows, aged_at) = (one.follows, one.aged_at);
        Addition { unless, claim, vector, jobs, follows, aged_at, ..Addition::new(memory) }
    }

    /// Whether a turn has neither a reference nor an event time: someone may say "yes" twice, and both are kept.
    fn nameless(&self, memory: &Memory) -> bool {
        let source = memory.source.as_ref();
        self.kinds.spec(&memory.kind).class == Class::Episodic
            && memory.event_time.is_none()
            && source.is_some_and(|source| source.kind == "conversation" && source.reference.is_none())
    }
}

/// A record as `seen` holds it.
fn seen_key(scope: &Scope, twin: ContentHash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (scope.key(), twin).hash(&mut hasher);
    hasher.finish()
}

/// Makes a record a proposal without an end: whoever imports a file reviews it when there is time. What was deleted before
/// stays deleted.
fn propose(memory: &mut Memory) {
    if memory.state == State::SoftDeleted {
        return;
    }
    memory.state = State::Proposed;
    memory.purge_at = None;
    // A proposal takes no place in a chain of others before it was reviewed.
    memory.supersedes_id = None;
    memory.superseded_by_id = None;
    consent::ask(memory, "import");
}
