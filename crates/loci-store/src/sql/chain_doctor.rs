//! Finds chains that fork or close in a circle, and repairs them.
//!
//! Earlier versions could create such chains, and so can an import of a part of a chain. In a repaired chain the newest
//! memory is the head, the other heads are its history, and every changed memory has a ledger entry.

use std::collections::{BTreeMap, BTreeSet};

use loci_types::{MemoryId, State};
use serde_json::json;

use super::chain::{ended_by_replacement, is_settled};
use super::{Connection, Row, entities, params, row};
use crate::sql;

/// Number of damaged chains, by the kind of damage.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Damage {
    pub(crate) forks: usize,
    pub(crate) circles: usize,
}

/// The part of a memory that matters for its chain. Times are in microseconds.
#[derive(Debug, Clone, PartialEq)]
struct ChainRecord {
    row: i64,
    scope: i64,
    version: u64,
    supersedes: Option<MemoryId>,
    superseded_by: Option<MemoryId>,
    state: State,
    created_at: i64,
    valid_until: Option<i64>,
}

impl ChainRecord {
    /// Sort key: deleted and proposed memories come first, then by creation time.
    fn newness(&self) -> (bool, i64) {
        (is_settled(self.state), self.created_at)
    }
}

type Links = BTreeMap<MemoryId, ChainRecord>;
type Pointer = fn(&mut ChainRecord) -> &mut Option<MemoryId>;

/// Checks the chains of a space and repairs them if `repair` is set.
pub(crate) fn examine(connection: &dyn Connection, repair: bool) -> sql::SqlResult<Damage> {
    let found = read(connection)?;
    let mut links = found.clone();
    let mut damage = Damage::default();
    for chain in chains(&found) {
        // A circle is opened so that nothing supersedes the newest memory and the oldest supersedes nothing.
        let is_cut = cut_circles(&mut links, &chain, |link| &mut link.superseded_by, ChainRecord::newness)
            | cut_circles(&mut links, &chain, |link| &mut link.supersedes, |link| (true, -link.created_at));
        damage.circles += usize::from(is_cut);
        let is_head = |id: &&MemoryId| links[id].superseded_by.is_none() && is_settled(links[id].state);
        let mut heads: Vec<MemoryId> = chain.iter().filter(is_head).copied().collect();
        heads.sort_by_key(|id| (links[id].created_at, *id));
        let Some(head) = heads.pop() else { continue };
        // Opening a circle creates a head, so a second head in this chain is not counted as a fork as well.
        damage.forks += usize::from(!heads.is_empty() && !is_cut);
        if heads.is_empty() {
            continue;
        }
        let since = holds_since(connection, head)?;
        for id in heads {
            if let Some(link) = links.get_mut(&id) {
                link.superseded_by = Some(head);
                link.valid_until = link.valid_until.or(Some(since));
            }
        }
    }
    if repair {
        for (id, link) in links {
            if link != found[&id] {
                write(connection, id, &found[&id], link)?;
            }
        }
    }
    Ok(damage)
}

/// Every memory that points to another or is pointed at.
fn read(connection: &dyn Connection) -> sql::SqlResult<Links> {
    let link = |row: &dyn Row| {
        let state: String = row.get(6)?;
        let link = ChainRecord {
            row: row.get(1)?,
            scope: row.get(2)?,
            version: row.get(3)?,
            supersedes: row.get(4)?,
            superseded_by: row.get(5)?,
            state: state.parse().map_err(sql::SqlError::unreadable)?,
            created_at: row.get(7)?,
            valid_until: row.get(8)?,
        };
        Ok((row.get(0)?, link))
    };
    connection
        .query_map(
            "SELECT m.id, m.row, m.scope, m.version, m.supersedes_id, m.superseded_by_id, m.state, m.created_at, \
             m.valid_until FROM memories m \
             WHERE m.supersedes_id IS NOT NULL OR m.superseded_by_id IS NOT NULL \
             OR m.id IN (SELECT o.supersedes_id FROM memories o WHERE o.supersedes_id IS NOT NULL) \
             OR m.id IN (SELECT o.superseded_by_id FROM memories o WHERE o.superseded_by_id IS NOT NULL)",
            params![],
            link,
        )
        .map(|links| links.into_iter().collect())
}

/// When a memory became valid, in microseconds.
fn holds_since(connection: &dyn Connection, id: MemoryId) -> sql::SqlResult<i64> {
    let sql = format!("SELECT {} FROM memories m WHERE m.id = ?1", row::COLUMNS);
    Ok(connection.query_row(&sql, params![id], row::read)?.holds_since().as_microsecond())
}

/// The chains: groups of memories connected by pointers in either direction.
fn chains(links: &Links) -> Vec<Vec<MemoryId>> {
    let mut joined: BTreeMap<MemoryId, Vec<MemoryId>> = BTreeMap::new();
    for (id, link) in links {
        for other in link.supersedes.iter().chain(&link.superseded_by).filter(|other| links.contains_key(other)) {
            joined.entry(*id).or_default().push(*other);
            joined.entry(*other).or_default().push(*id);
        }
    }
    let (mut chains, mut seen) = (Vec::new(), BTreeSet::new());
    for start in links.keys() {
        let (mut chain, mut waiting) = (Vec::new(), vec![*start]);
        while let Some(id) = waiting.pop() {
            if seen.insert(id) {
                chain.push(id);
                waiting.extend(joined.get(&id).into_iter().flatten());
            }
        }
        if chain.len() > 1 {
            chains.push(chain);
        }
    }
    chains
}

/// Opens every circle of one pointer at its memory with the greatest `rank`. Returns whether there was a circle.
fn cut_circles(links: &mut Links, chain: &[MemoryId], pointer: Pointer, rank: fn(&ChainRecord) -> (bool, i64)) -> bool {
    let mut done: BTreeSet<MemoryId> = BTreeSet::new();
    let mut is_cut = false;
    for start in chain {
        let mut line: Vec<MemoryId> = Vec::new();
        let mut next = Some(*start);
        while let Some(id) = next.filter(|id| !done.contains(id)) {
            let Some(link) = links.get_mut(&id) else { break };
            done.insert(id);
            line.push(id);
            next = *pointer(link);
        }
        let Some(from) = line.iter().position(|id| Some(*id) == next) else { continue };
        let cut = line[from..].iter().max_by_key(|id| links.get(id).map(|link| (rank(link), **id)));
        if let Some(link) = cut.and_then(|id| links.get_mut(id)) {
            *pointer(link) = None;
            is_cut = true;
        }
    }
    is_cut
}

fn write(
    connection: &dyn Connection,
    id: MemoryId,
    before: &ChainRecord,
    mut after: ChainRecord,
) -> sql::SqlResult<()> {
    if after.superseded_by.is_none() && before.superseded_by.is_some() && ended_by_replacement(connection, before.row)?
    {
        after.valid_until = None;
    }
    let now: i64 =
        connection.query_row(&format!("SELECT {}", connection.dialect().now), params![], |row| row.get(0))?;
    connection.execute(
        "UPDATE memories SET supersedes_id = ?2, superseded_by_id = ?3, valid_until = ?4, version = ?5, updated_at = ?6 \
         WHERE row = ?1",
        params![
            before.row,
            after.supersedes.as_ref().map(MemoryId::as_bytes),
            after.superseded_by.as_ref().map(MemoryId::as_bytes),
            after.valid_until,
            before.version + 1,
            now
        ],
    )?;
    entities::forget_summaries(connection, before.row)?;
    let event = match (before.superseded_by == after.superseded_by, after.superseded_by) {
        (true, _) => "update",
        (false, Some(_)) => "supersede",
        (false, None) => "restore",
    };
    let fields = |link: &ChainRecord, other: &ChainRecord| -> sql::SqlResult<String> {
        let mut fields = serde_json::Map::new();
        let until =
            link.valid_until.map(jiff::Timestamp::from_microsecond).transpose().map_err(sql::SqlError::unreadable)?;
        for (name, value, differs) in [
            ("supersedesId", json!(link.supersedes), link.supersedes != other.supersedes),
            ("supersededById", json!(link.superseded_by), link.superseded_by != other.superseded_by),
            ("validUntil", json!(until), link.valid_until != other.valid_until),
        ] {
            if differs && !value.is_null() {
                fields.insert(name.to_owned(), value);
            }
        }
        Ok(serde_json::Value::Object(fields).to_string())
    };
    connection.execute(
        "INSERT INTO ledger (at, event, memory, memory_id, scope, version, old, new, node, reason) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'operator', 'chain repaired by the doctor')",
        params![
            now,
            event,
            before.row,
            id,
            before.scope,
            before.version + 1,
            fields(before, &after)?,
            fields(&after, before)?
        ],
    )?;
    Ok(())
}
