//! The data that an external index receives: points and the feed of changes.

use loci_types::{Memory, MemoryId};

/// A memory with its vector.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorPoint {
    /// The current record.
    pub memory: Memory,
    /// The key of its scope.
    pub scope: String,
    /// Its vector, as stored.
    pub values: Vec<f32>,
}

impl VectorPoint {
    /// The vector normalised to length 1; none if it is zero or not finite. Such a memory is never a search result.
    pub fn direction(&self) -> Option<Vec<f32>> {
        direction(&self.values)
    }

    /// A hash of everything that an index stores, by which a stale point is recognised.
    pub fn stamp(&self) -> u64 {
        let memory = &self.memory;
        let mut bytes: Vec<u8> = self.values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let user = memory.identifiers.user_id.as_deref().unwrap_or_default();
        for text in [&self.scope, memory.kind.name(), memory.state.name(), user] {
            bytes.extend_from_slice(text.as_bytes());
            bytes.push(0x1f);
        }
        if let Some(newer) = &memory.superseded_by_id {
            bytes.extend_from_slice(newer.as_bytes());
        }
        for tag in &memory.tags {
            bytes.extend_from_slice(tag.as_bytes());
            bytes.push(0x1f);
        }
        let expires = memory.expires_at.map_or(i64::MIN, jiff::Timestamp::as_microsecond);
        bytes.extend_from_slice(&expires.to_le_bytes());
        loci_types::fnv1a(&bytes)
    }
}

/// A vector normalised to length 1; none if it is zero or not finite.
pub(super) fn direction(values: &[f32]) -> Option<Vec<f32>> {
    // Computed in f64, because the square of a long or a short vector does not fit into f32.
    let length = values.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
    (length.is_finite() && length > 0.0)
        .then(|| values.iter().map(|&value| (f64::from(value) / length) as f32).collect())
}

/// The changes after an entry of a space's ledger, as an external index applies them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VectorFeed {
    /// The changed memories that exist and have a vector of the model, as they are now.
    pub points: Vec<VectorPoint>,
    /// The changed memories that were removed or have no such vector.
    pub gone: Vec<MemoryId>,
    /// Number of the last entry that was read.
    pub position: i64,
    /// Number of the last entry of the ledger.
    pub end: i64,
    /// When the entry before the first one was written, in microseconds; none if it is the first. A mark with
    /// another time belongs to another ledger.
    pub since: Option<i64>,
    /// When the entry at `position` was written, in microseconds.
    pub until: Option<i64>,
    /// Number of dimensions of the model; none if this space has no vectors of it.
    pub dimensions: Option<usize>,
}

impl VectorFeed {
    /// Whether the ledger has entries after `position`.
    pub fn behind(&self) -> bool {
        self.position < self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directions() {
        for (values, expect) in [
            (vec![3.0, 4.0], Some(vec![0.6, 0.8])),
            (vec![3e38, 0.0], Some(vec![1.0, 0.0])),
            (vec![0.0, -1e-40], Some(vec![0.0, -1.0])),
            (vec![0.0, 0.0], None),
            (vec![f32::NAN, 1.0], None),
            (vec![f32::INFINITY, 1.0], None),
            (vec![], None),
        ] {
            assert_eq!(direction(&values), expect, "{values:?}");
        }
    }
}
