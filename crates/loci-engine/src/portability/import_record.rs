//! Validates imported records: everything that `remember` would refuse is refused.

use jiff::Timestamp;
use loci_types::{Error, ErrorKind, Memory, unit};

use crate::access::bounds;
use crate::access::policy::{self, Caller};
use crate::access::redact::Pass;
use crate::write::remember::check_validity;
use crate::{Engine, NewMemory, Result};

/// Largest count that every JSON reader represents exactly.
const MAX_EXACT_COUNT: u64 = 1 << 53;

/// The greatest rate of decay that the settings allow (`lifecycle.decay_rate`).
const MAX_DECAY_RATE: f64 = 10.0;

impl Engine {
    /// Computes the keys of a memory, for a store that rewinds its content.
    pub fn derived_keys(&self, memory: &Memory) -> loci_store::DerivedKeys {
        let hash = crate::text::content_hash(&memory.content);
        let whole = Memory { content_hash: hash, ..memory.clone() };
        let live = matches!(memory.state, loci_types::State::Active | loci_types::State::Decayed);
        loci_store::DerivedKeys { hash, unless: live.then(|| self.twin_key(&whole)), claim: self.claim_of(&whole) }
    }

    /// The record that `remember` would make of this, or would have made then, without keeping it.
    pub fn draft(&self, caller: &Caller, mut new: NewMemory, created_at: Option<Timestamp>) -> Result<Memory> {
        self.redact(&mut new)?;
        let scope = policy::scope_for(&caller.identifiers, new.layer)?;
        let mut memory = self.admit_into(caller, &scope, new, None)?.memory;
        if let Some(created_at) = created_at {
            (memory.created_at, memory.imported_at) = (created_at, Some(memory.created_at));
        }
        Ok(memory)
    }

    /// Refuses a record that could not have been made here.
    pub async fn check_record(&self, caller: &Caller, memory: &Memory) -> Result<()> {
        let scope = memory.scope()?;
        if !caller.operator && self.target(caller, Some(memory.layer)).await? != scope {
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
        if !(0.0..=MAX_DECAY_RATE).contains(&memory.decay_rate) {
            let message = format!("decayRate is {}, but must be between 0 and {MAX_DECAY_RATE}", memory.decay_rate);
            return Err(Error::invalid("decayRate", message).into());
        }
        let own = Some(memory.id);
        if memory.supersedes_id == own || memory.superseded_by_id == own {
            let field = if memory.supersedes_id == own { "supersedesId" } else { "supersededById" };
            return Err(Error::invalid(field, format!("memory {} supersedes itself", memory.id))
                .hint("leave the field out")
                .into());
        }
        if memory.supersedes_id.is_some() && memory.supersedes_id == memory.superseded_by_id {
            let message = format!("memory {} is both before and after the same memory in its chain", memory.id);
            return Err(Error::invalid("supersedesId", message).into());
        }
        if !(1..=MAX_EXACT_COUNT).contains(&memory.version) {
            return Err(Error::invalid(
                "version",
                format!("version is {}, which is more than a memory can have", memory.version),
            )
            .into());
        }
        if memory.access_count > MAX_EXACT_COUNT {
            let message = format!("accessCount is {}, which is more than a memory can have", memory.access_count);
            return Err(Error::invalid("accessCount", message).into());
        }
        check_validity(memory.valid_from, memory.valid_until)?;
        self.check_tags(&memory.tags)?;
        let names = [&memory.category, &memory.role, &memory.thread_id, &memory.run_id, &memory.actor_id];
        bounds::names(names.map(Option::as_deref))?;
        bounds::stored_source(memory.source.as_ref())?;
        bounds::stored_pointer(memory.knowledge_pointer.as_ref())?;
        self.check_metadata(&memory.metadata)
    }
}
