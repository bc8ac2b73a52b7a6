//! Lists facts whose confidence is low, so that they can be confirmed before they are archived.

use jiff::Timestamp;
use loci_store::AgeingRow;
use loci_types::{Class, Memory, MemoryId, Reach};
use serde::Serialize;

use crate::access::policy::Caller;
use crate::lifecycle::rules::state::{confidence, pruned_at};
use crate::{Engine, Result};

/// Number of memories that are read at once.
const MEMORIES_PER_READ: usize = 2_000;
/// Maximum number of memories that one call returns.
const MAX_LISTED: usize = 10_000;

/// A memory whose confidence is low.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct WeakMemory {
    /// The memory.
    pub memory: Memory,
    /// The confidence today, 0 to 1, after decay.
    pub confidence_now: f64,
    /// When it will be removed if it is neither used nor confirmed; null if never.
    #[cfg_attr(feature = "schema", schema(required))]
    pub gone_at: Option<Timestamp>,
}

impl Engine {
    /// The facts with a confidence below `below` (else the threshold that is set), weakest first.
    pub async fn weak_facts(&self, caller: &Caller, below: Option<f64>, limit: usize) -> Result<Vec<WeakMemory>> {
        crate::access::bounds::between("limit", limit, 1, MAX_LISTED)?;
        let below = below.map_or(Ok(self.config.lifecycle.decayed_below), |below| loci_types::unit("below", below))?;
        let (visible, now) = (self.visible(caller, None).await?, self.now());
        let spaces = match visible.reach() {
            Reach::Whole => self.store.spaces(&caller.tenant).await?,
            Reach::Scopes(_) => visible.spaces().into_iter().flatten().collect(),
        };
        let mut weak: Vec<(f64, Option<Timestamp>, MemoryId)> = Vec::new();
        for space in spaces {
            let mut after = 0;
            loop {
                let page = self.store.list_for_ageing(&visible, &space, after, MEMORIES_PER_READ).await?;
                weak.extend(page.iter().filter_map(|memory| self.weakness(memory, below, now)));
                match page.last() {
                    Some(last) if page.len() == MEMORIES_PER_READ => after = last.place,
                    _ => break,
                }
            }
        }
        weak.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.2.cmp(&b.2)));
        weak.truncate(limit);
        let ids: Vec<MemoryId> = weak.iter().map(|(_, _, id)| *id).collect();
        let memories = self.store.fetch(&visible, &ids).await?;
        let with_confidence = |memory: Memory| {
            let (confidence_now, gone_at, _) = *weak.iter().find(|(_, _, id)| *id == memory.id)?;
            Some(WeakMemory { memory, confidence_now, gone_at })
        };
        Ok(memories.into_iter().filter_map(with_confidence).collect())
    }

    fn weakness(&self, memory: &AgeingRow, below: f64, now: Timestamp) -> Option<(f64, Option<Timestamp>, MemoryId)> {
        let spec = self.kinds.spec(&loci_types::Kind::stored(memory.kind.clone()));
        if !memory.state.is_live() || memory.superseded || memory.pinned || spec.class == Class::Episodic {
            return None;
        }
        let sure = confidence(memory, spec, now);
        (sure < below).then(|| (sure, pruned_at(memory, spec, &self.config.lifecycle, now), memory.id))
    }
}
