//! How does what is held in memory keep abreast of the file?
//!
//! Some answers come from what was read once and is held by scope: vectors, words, the order of turns. Before each answer
//! it catches up with the ledger, so that it never misses what another process wrote; that is one look when nothing
//! was. What is held only proposes: rows are checked by the one clause.
//!
//! **Invariant.** A part knows every line of the ledger up to `sequence`, or more.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rusqlite::Connection;

/// Past so many changed rows it is cheaper to read a scope anew.
const CATCH_UP: usize = 20_000;

/// What is held of one scope.
pub(super) trait Part: Sized {
    /// Names a part.
    type Key: Copy + Eq + Hash;

    /// The scope of a part.
    fn scope(key: Self::Key) -> i64;

    /// Reads it from the file.
    fn load(connection: &Connection, key: Self::Key) -> rusqlite::Result<Self>;

    /// Looks again at the rows that changed.
    fn refresh(&mut self, connection: &Connection, key: Self::Key, changed: &[Changed]) -> rusqlite::Result<()>;

    /// How much memory it takes.
    fn bytes(&self) -> usize;
}

/// A row that the ledger has spoken of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Changed {
    pub(super) row: i64,
    /// The last line about it.
    pub(super) last: i64,
}

/// What is held of a space.
pub(super) struct Abreast<P: Part> {
    held: RwLock<Held<P>>,
    clock: AtomicU64,
    bytes: AtomicUsize,
}

/// The parts that are held, as of a line of the ledger.
pub(super) struct Held<P: Part> {
    sequence: i64,
    parts: HashMap<P::Key, (P, AtomicU64)>,
}

impl<P: Part> Default for Held<P> {
    fn default() -> Self {
        Self { sequence: 0, parts: HashMap::new() }
    }
}

impl<P: Part> Default for Abreast<P> {
    fn default() -> Self {
        Self { held: RwLock::default(), clock: AtomicU64::new(0), bytes: AtomicUsize::new(0) }
    }
}

impl<P: Part> Held<P> {
    /// A part that was asked for.
    pub(super) fn get(&self, key: P::Key) -> Option<&P> {
        self.parts.get(&key).map(|(part, _)| part)
    }
}

impl<P: Part> Abreast<P> {
    /// Forgets everything: the file behind it is another one.
    pub(super) fn clear(&self) {
        *self.held.write().unwrap_or_else(PoisonError::into_inner) = Held::default();
        self.bytes.store(0, Ordering::Relaxed);
    }

    /// How much memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Lets go of the part that was not asked for the longest time. False if there is none.
    pub(super) fn evict(&self) -> bool {
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        let oldest = held.parts.iter().min_by_key(|(_, (_, used))| used.load(Ordering::Relaxed)).map(|(key, _)| *key);
        let gone = oldest.and_then(|key| held.parts.remove(&key));
        self.weigh(&held);
        gone.is_some()
    }

    fn weigh(&self, held: &Held<P>) {
        self.bytes.store(held.parts.values().map(|(part, _)| part.bytes()).sum(), Ordering::Relaxed);
    }

    /// Brings what is held up to this snapshot, and reads the parts that are wanted and not there yet. While the answer
    /// is kept nothing is let go.
    pub(super) fn at(
        &self,
        connection: &Connection,
        wanted: &[P::Key],
    ) -> rusqlite::Result<RwLockReadGuard<'_, Held<P>>> {
        let sequence: i64 = connection
            .prepare_cached("SELECT coalesce(max(sequence), 0) FROM ledger")?
            .query_row([], |row| row.get(0))?;
        let now = self.clock.fetch_add(1, Ordering::Relaxed);
        let touch = |held: &Held<P>| {
            let known = wanted.iter().filter_map(|key| held.parts.get(key));
            known.for_each(|(_, used)| used.store(now, Ordering::Relaxed));
        };
        {
            let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
            if held.sequence >= sequence && wanted.iter().all(|key| held.parts.contains_key(key)) {
                touch(&held);
                return Ok(held);
            }
        }
        let mut loaded = HashMap::new();
        loop {
            // A large scope takes a while, and meanwhile the others are asked.
            for key in self.missing(wanted, &loaded) {
                loaded.insert(key, P::load(connection, key)?);
            }
            let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
            if held.sequence < sequence {
                if !held.parts.is_empty() {
                    refresh(connection, &mut held)?;
                }
                held.sequence = sequence;
            }
            for (key, part) in std::mem::take(&mut loaded) {
                if let Entry::Vacant(place) = held.parts.entry(key) {
                    place.insert((part, AtomicU64::new(now)));
                    // Others may be ahead of this snapshot; what came since must be looked at again.
                    held.sequence = held.sequence.min(sequence);
                }
            }
            self.weigh(&held);
            // Something may have been let go since it was looked for.
            if wanted.iter().all(|key| held.parts.contains_key(key)) {
                touch(&held);
                return Ok(RwLockWriteGuard::downgrade(held));
            }
        }
    }

    /// What is wanted and neither held nor loaded.
    fn missing(&self, wanted: &[P::Key], loaded: &HashMap<P::Key, P>) -> Vec<P::Key> {
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner);
        let here = |key: &&P::Key| !held.parts.contains_key(key) && !loaded.contains_key(key);
        wanted.iter().filter(here).copied().collect()
    }
}

/// What changed since a line of the ledger. Left to itself the planner walks the index of memories, and with it the
/// whole ledger, because that has the order of the groups.
const CHANGED: &str = "SELECT memory, max(sequence), max(scope) FROM ledger NOT INDEXED \
     WHERE sequence > ?1 AND memory IS NOT NULL AND scope IS NOT NULL GROUP BY memory";

/// Looks again at the rows that changed since the parts last looked.
fn refresh<P: Part>(connection: &Connection, held: &mut Held<P>) -> rusqlite::Result<()> {
    // What was restored from a backup has the numbers of other rows; vectors of a model may go all at once.
    let restored: bool = connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM ledger WHERE sequence > ?1 AND event IN ('restore', 'embed') AND memory IS NULL)",
        )?
        .query_row([held.sequence], |row| row.get(0))?;
    if restored {
        held.parts.clear();
        return Ok(());
    }
    let mut changed: HashMap<i64, Vec<Changed>> = HashMap::new();
    let mut count = 0;
    let mut statement = connection.prepare_cached(CHANGED)?;
    let mut lines = statement.query([held.sequence])?;
    while let Some(line) = lines.next()? {
        changed.entry(line.get(2)?).or_default().push(Changed { row: line.get(0)?, last: line.get(1)? });
        count += 1;
    }
    if count > CATCH_UP {
        let scopes: HashSet<i64> = changed.into_keys().collect();
        held.parts.retain(|key, _| !scopes.contains(&P::scope(*key)));
        return Ok(());
    }
    for (key, (part, _)) in &mut held.parts {
        if let Some(changed) = changed.get(&P::scope(*key)) {
            part.refresh(connection, *key, changed)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::schema;
    use super::*;

    /// Who catches up reads what is new, however long the ledger is.
    #[test]
    fn catching_up_reads_only_what_is_new() {
        let folder = tempfile::tempdir().unwrap();
        let file = schema::open(&folder.path().join("loci.db"), schema::SPACE).unwrap();
        let mut statement = file.prepare(&format!("EXPLAIN QUERY PLAN {CHANGED}")).unwrap();
        let plan: Vec<String> =
            statement.query_map([1], |row| row.get(3)).unwrap().collect::<rusqlite::Result<_>>().unwrap();
        assert!(plan.iter().any(|step| step.contains("INTEGER PRIMARY KEY (rowid>?)")), "{plan:?}");
    }
}
