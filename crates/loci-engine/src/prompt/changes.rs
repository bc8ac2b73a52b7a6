//! What changed since a revision, in all layers that a caller sees.
//!
//! A revision is the sum of the ledger positions of the caller's spaces, so every commit in one of them raises it. To go back
//! to an earlier sum, the entries of all spaces are taken back newest first. Where the caller has one space, the
//! revision is its ledger position.

use std::collections::BTreeMap;

use jiff::Timestamp;
use loci_store::LedgerQuery;
use loci_types::{Class, Layer, LedgerEntry, Memory, MemoryId, Space, State, Tenant, Visible};

use crate::access::policy::{self, Caller};
use crate::prompt::pack::delta::{Delta, DeltaChange, DeltaEvent};
use crate::prompt::pack::origin::{marked, origin};
use crate::prompt::render::reported;
use crate::{Engine, Result};

/// Maximum number of ledger entries of a space that are read for a delta header.
const MAX_DELTA_ENTRIES: usize = 500;
/// Maximum number of entries that are taken back one by one. Of more, all that lie within this distance count as new.
const MAX_TAKEN_BACK: i64 = 1_000;

/// The newest entries of a space, in their order: sequence number and time.
type Tail = Vec<(i64, Timestamp)>;

impl Engine {
    /// What changed since a revision in the spaces of the layers that this caller sees, and the revision now. Turns of the
    /// conversation itself are no news to who was there.
    pub(crate) async fn delta(
        &self,
        caller: &Caller,
        layers: Option<&[Layer]>,
        (since, thread): (Option<i64>, Option<&str>),
    ) -> Result<(i64, Option<Delta>)> {
        if caller.everyone || self.target(caller, None).await.is_err() {
            return Ok((0, None));
        }
        // The revision does not depend on the layers of the question.
        let heads = self.store.ledger_heads(&self.visible(caller, None).await?).await?;
        let revision = heads.values().sum();
        let Some(since) = since else { return Ok((revision, None)) };
        let visible = self.visible(caller, layers).await?;
        let mut entries = Vec::new();
        for (space, start) in self.positions_at(&caller.tenant, heads, revision - since).await? {
            let query = LedgerQuery::Changes { space, thread: thread.map(str::to_owned), since: start };
            entries.extend(self.store.ledger(&visible, &query, MAX_DELTA_ENTRIES).await?.entries);
        }
        entries.sort_by_key(|entry| entry.at);
        let changes = self.delta_changes(caller, &visible, &entries).await?;
        Ok((revision, Some(Delta { since, until: revision, changes })))
    }

    /// The positions of the spaces that have changed, when the sum of all was this much less.
    async fn positions_at(
        &self,
        tenant: &Tenant,
        heads: BTreeMap<Space, i64>,
        behind: i64,
    ) -> Result<BTreeMap<Space, i64>> {
        if behind <= 0 {
            return Ok(BTreeMap::new());
        }
        if heads.len() == 1 || behind > MAX_TAKEN_BACK {
            return Ok(heads.into_iter().map(|(space, head)| (space, head.saturating_sub(behind).max(0))).collect());
        }
        let mut tails: BTreeMap<Space, (i64, Tail)> = BTreeMap::new();
        for (space, head) in heads {
            let from = (head - behind).max(0);
            let query = LedgerQuery::After { space: space.clone(), sequence: from };
            let found = self.store.ledger(&policy::visible_tenant(tenant), &query, behind as usize).await?.entries;
            tails.insert(space, (head, found.iter().map(|entry| (entry.sequence, entry.at)).collect()));
        }
        Ok(taken_back(tails, behind))
    }

    async fn delta_changes(
        &self,
        caller: &Caller,
        visible: &Visible,
        entries: &[LedgerEntry],
    ) -> Result<Vec<DeltaChange>> {
        let mut ids: Vec<MemoryId> = entries.iter().filter_map(|entry| entry.memory_id).collect();
        ids.sort();
        ids.dedup();
        let memories: BTreeMap<MemoryId, Memory> =
            self.store.fetch(visible, &ids).await?.into_iter().map(|memory| (memory.id, memory)).collect();
        let reader = caller.identifiers.agent_id.as_deref();
        let change = |entry: &LedgerEntry| {
            let memory = memories.get(&entry.memory_id?)?;
            let lasting = self.kinds.spec(&memory.kind).class != Class::Episodic;
            // What took its place is listed, as updated or merged; a second bullet about the old text would be noise.
            let replaced = memory.superseded_by_id.is_some_and(|newer| memories.contains_key(&newer));
            (lasting && !replaced).then(|| delta_change(entry, memory, reader))
        };
        Ok(entries.iter().filter_map(change).collect())
    }
}

fn delta_change(entry: &LedgerEntry, memory: &Memory, reader: Option<&str>) -> DeltaChange {
    let forgotten = memory.state == State::SoftDeleted;
    let event = match event(&entry.event) {
        DeltaEvent::Created if memory.supersedes_id.is_some() => DeltaEvent::Updated,
        event => event,
    };
    let text = match (event, merged(entry)) {
        // A forgotten memory is listed without its text.
        _ if forgotten => format!("memory {}", memory.id.citation()),
        (DeltaEvent::Merged, Some(count)) => {
            marked(origin(memory, reader).as_deref(), format!("Combined {count} notes: {}", reported(memory)))
        }
        _ => marked(origin(memory, reader).as_deref(), reported(memory).into_owned()),
    };
    DeltaChange {
        id: memory.id,
        event,
        category: memory.category.clone(),
        text,
        importance: (!forgotten).then_some(memory.importance),
    }
}

/// How many memories a merge made one of.
fn merged(entry: &LedgerEntry) -> Option<usize> {
    Some(entry.new.as_ref()?.get("from")?.as_array()?.len() + 1)
}

/// A line of the ledger as the header tells it.
fn event(name: &str) -> DeltaEvent {
    match name.to_ascii_lowercase().as_str() {
        "add" => DeltaEvent::Created,
        "merge" => DeltaEvent::Merged,
        "delete" | "ttl" => DeltaEvent::Deleted,
        "consent" => DeltaEvent::Created,
        "restore" => DeltaEvent::Restored,
        _ => DeltaEvent::Updated,
    }
}

/// Takes back this many positions of all spaces together, newest entries first. An entry behind a gap takes the gap with it.
/// Spaces of which nothing is taken back are left out.
fn taken_back(mut tails: BTreeMap<Space, (i64, Tail)>, mut behind: i64) -> BTreeMap<Space, i64> {
    let mut starts = BTreeMap::new();
    while behind > 0 {
        let newest = tails.iter_mut().filter(|(_, (_, tail))| !tail.is_empty());
        let newest = newest.max_by_key(|(_, (_, tail))| tail.last().map(|(_, at)| *at));
        let Some((space, (position, tail))) = newest else { break };
        tail.pop();
        let before = tail.last().map_or(*position - 1, |(sequence, _)| *sequence);
        behind -= *position - before;
        *position = before;
        starts.insert(space.clone(), before.max(0));
    }
    starts
}

#[cfg(test)]
mod tests {
    use loci_types::Shard;

    use super::*;

    // Coverage: S3-1.1.
    #[test]
    fn the_newest_of_all_spaces_are_taken_back() {
        let user = Space::Users(Shard::of("ann"));
        let at = |second: i64| Timestamp::from_second(second).unwrap();
        let check = |shared: &[(i64, i64)], own: &[(i64, i64)], behind: i64, expect: &[(&Space, i64)]| {
            let tail = |entries: &[(i64, i64)]| -> (i64, Tail) {
                let head = entries.last().map_or(0, |(sequence, _)| *sequence);
                (head, entries.iter().map(|(sequence, time)| (*sequence, at(*time))).collect())
            };
            let tails = BTreeMap::from([(Space::Shared, tail(shared)), (user.clone(), tail(own))]);
            let expect: BTreeMap<Space, i64> = expect.iter().map(|(space, start)| ((*space).clone(), *start)).collect();
            assert_eq!(taken_back(tails, behind), expect, "{shared:?} {own:?} {behind}");
        };
        let (shared, own) = ([(7, 10), (8, 30)], [(3, 20), (4, 40)]);
        check(&shared, &own, 1, &[(&user, 3)]);
        check(&shared, &own, 2, &[(&user, 3), (&Space::Shared, 7)]);
        check(&shared, &own, 3, &[(&user, 2), (&Space::Shared, 7)]);
        // A gap in the numbers counts as what is missing.
        check(&[(7, 10), (9, 50)], &own, 2, &[(&Space::Shared, 7)]);
        check(&[], &own, 9, &[(&user, 2)]);
    }
}
