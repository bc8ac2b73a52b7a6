//! The cache entry of one scope: loads its parts and applies new ledger entries to them.
//!
//! **Invariant.** Every ledger entry up to `sequence` is applied to all loaded parts.

use std::collections::HashMap;

use rusqlite::Connection;

use super::map_bytes;
use super::tail::{Changed, Changes, read_changes};
use super::terms::ScopeTerms;
use super::turns::ScopeTurns;
use crate::vectors::Arrays;

/// A part of a cached scope. Parts are loaded when they are first needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CachePart {
    Terms,
    Turns,
    /// The vectors of a model.
    Vectors(i64),
}

/// The cached parts of one scope.
#[derive(Default)]
pub(super) struct CachedScope {
    /// The ledger position of all parts.
    sequence: i64,
    size: Option<ScopeSize>,
    pub(super) terms: Option<ScopeTerms>,
    pub(super) turns: Option<ScopeTurns>,
    pub(super) vectors: HashMap<i64, Arrays>,
}

/// The size of a scope, and which of its parts are cached.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScopeSize {
    pub(super) rows: usize,
    pub(super) term_bytes: usize,
    keep: KeptParts,
}

/// The parts of a scope that fit within the limit. Other parts are read from the file for each query.
#[derive(Debug, Clone, Copy, Default)]
struct KeptParts {
    sketches: bool,
    terms: bool,
    turns: bool,
    codes: bool,
}

impl ScopeSize {
    /// Measures a scope and selects the parts to cache, in the order of the reads they save per byte.
    fn measure(connection: &Connection, scope: i64, bound: usize) -> rusqlite::Result<Self> {
        let (rows, term_bytes) = connection
            .prepare_cached(
                "SELECT count(*), coalesce(sum(length(w.terms)), 0) FROM memories m INDEXED BY memories_by_scope \
                 LEFT JOIN words w ON w.memory = m.row WHERE m.scope = ?1",
            )?
            .query_row([scope], |row| Ok((row.get::<_, usize>(0)?, row.get::<_, usize>(1)?)))?;
        let dimensions: usize = connection
            .prepare_cached("SELECT coalesce(max(dimensions), 0) FROM models")?
            .query_row([], |row| row.get(0))?;
        let sketches = rows * Arrays::bytes_per_vector(dimensions, false);
        let codes = rows * Arrays::bytes_per_vector(dimensions, true) - sketches;
        let mut room = bound;
        let mut fits = |bytes: usize| {
            let fits = bytes <= room;
            room -= if fits { bytes } else { 0 };
            fits
        };
        let keep = KeptParts {
            sketches: fits(sketches),
            terms: fits(ScopeTerms::estimate(rows, term_bytes)),
            turns: fits(ScopeTurns::estimate(rows)),
            codes: fits(codes),
        };
        Ok(Self { rows, term_bytes, keep })
    }

    fn keeps(&self, part: CachePart) -> bool {
        match part {
            CachePart::Terms => self.keep.terms,
            CachePart::Turns => self.keep.turns,
            CachePart::Vectors(_) => self.keep.sketches,
        }
    }
}

/// Number of ledger entries that are read in the time of loading one row of a scope.
const LINES_PER_ROW: usize = 4;

impl CachedScope {
    /// Whether the part is loaded and every ledger entry up to `sequence` is applied.
    pub(super) fn is_ready(&self, part: CachePart, sequence: i64) -> bool {
        self.sequence >= sequence && self.has(part)
    }

    fn has(&self, part: CachePart) -> bool {
        match part {
            CachePart::Terms => self.terms.is_some(),
            CachePart::Turns => self.turns.is_some(),
            CachePart::Vectors(model) => self.vectors.contains_key(&model),
        }
    }

    fn is_empty(&self) -> bool {
        self.terms.is_none() && self.turns.is_none() && self.vectors.is_empty()
    }

    /// Applies the changes up to `sequence`, the last ledger entry that this connection sees. `recent` returns the
    /// changes after a position.
    pub(super) fn catch_up(
        &mut self,
        connection: &Connection,
        scope: i64,
        sequence: i64,
        recent: impl FnOnce(i64) -> rusqlite::Result<Changes>,
    ) -> rusqlite::Result<()> {
        if self.sequence >= sequence || self.is_empty() {
            return Ok(());
        }
        let behind = usize::try_from(sequence - self.sequence).unwrap_or(usize::MAX);
        let changes = match recent(self.sequence)? {
            // Reads the missing entries, unless loading the whole scope is cheaper.
            Changes::TooOld if behind < self.size.map_or(0, |size| size.rows) * LINES_PER_ROW => {
                read_changes(connection, scope, self.sequence, sequence)?
            }
            changes => changes,
        };
        match changes {
            Changes::Rows(rows) => self.refresh(connection, scope, &rows)?,
            Changes::Reset | Changes::TooOld => *self = Self::default(),
        }
        self.sequence = sequence;
        Ok(())
    }

    /// Reads the changed rows again.
    fn refresh(&mut self, connection: &Connection, scope: i64, changed: &[Changed]) -> rusqlite::Result<()> {
        if changed.is_empty() {
            return Ok(());
        }
        if let Some(terms) = &mut self.terms {
            terms.refresh(connection, scope, changed)?;
        }
        if let Some(turns) = &mut self.turns {
            turns.refresh(connection, changed)?;
        }
        for (model, arrays) in &mut self.vectors {
            super::vectors::refresh(arrays, connection, *model, changed)?;
        }
        // The mean of the vectors and the size were those of a much smaller scope, so both are computed again.
        if self.vectors.values().any(Arrays::has_outgrown_its_mean) {
            self.vectors = HashMap::new();
            self.size = None;
        }
        Ok(())
    }

    /// The bytes that a part needs; none if it is not cached.
    pub(super) fn plan(
        &mut self,
        connection: &Connection,
        scope: i64,
        part: CachePart,
        bound: usize,
    ) -> rusqlite::Result<Option<usize>> {
        let size = match self.size {
            Some(size) => size,
            None => *self.size.insert(ScopeSize::measure(connection, scope, bound)?),
        };
        if !size.keeps(part) {
            return Ok(None);
        }
        Ok(Some(match part {
            CachePart::Terms => ScopeTerms::estimate(size.rows, size.term_bytes),
            CachePart::Turns => ScopeTurns::estimate(size.rows),
            CachePart::Vectors(model) => {
                let dimensions = super::vectors::dimensions(connection, model)?;
                size.rows * Arrays::bytes_per_vector(dimensions, size.keep.codes)
            }
        }))
    }

    /// Loads a part that [`CachedScope::plan`] has admitted, from the snapshot of this connection, which ends at
    /// `sequence`.
    pub(super) fn load(
        &mut self,
        connection: &Connection,
        scope: i64,
        part: CachePart,
        sequence: i64,
    ) -> rusqlite::Result<()> {
        let Some(size) = self.size else { return Ok(()) };
        // The other parts may be ahead of this snapshot; then the later entries are applied to all parts once more.
        let position = if self.is_empty() { sequence } else { self.sequence.min(sequence) };
        match part {
            CachePart::Terms => self.terms = Some(ScopeTerms::load(connection, scope, size)?),
            CachePart::Turns => self.turns = Some(ScopeTurns::load(connection, scope)?),
            CachePart::Vectors(model) => {
                let arrays = super::vectors::load(connection, scope, model, size.rows, size.keep.codes)?;
                self.vectors.insert(model, arrays);
            }
        }
        self.sequence = position;
        Ok(())
    }

    /// Drops parts until the rest is within the limit, because a scope grows and estimates may be too low.
    pub(super) fn shrink(&mut self, bound: usize) {
        let Some(mut size) = self.size else { return };
        if self.bytes() > bound && size.keep.codes {
            size.keep.codes = false;
            self.vectors.values_mut().for_each(Arrays::drop_codes);
        }
        if self.bytes() > bound && size.keep.turns {
            size.keep.turns = false;
            self.turns = None;
        }
        if self.bytes() > bound && size.keep.terms {
            size.keep.terms = false;
            self.terms = None;
        }
        if self.bytes() > bound {
            size.keep.sketches = false;
            self.vectors = HashMap::new();
        }
        self.size = Some(size);
    }

    /// Allocated bytes of all parts.
    pub(super) fn bytes(&self) -> usize {
        self.terms.as_ref().map_or(0, ScopeTerms::bytes)
            + self.turns.as_ref().map_or(0, ScopeTurns::bytes)
            + map_bytes::<(i64, Arrays)>(self.vectors.capacity())
            + self.vectors.values().map(Arrays::bytes).sum::<usize>()
    }
}
