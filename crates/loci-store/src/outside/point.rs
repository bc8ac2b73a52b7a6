//! What must an outside index know of a memory?

use loci_types::{Memory, MemoryId};

/// A memory with its vector, as an outside index is told of it.
#[derive(Debug, Clone, PartialEq)]
pub struct VectorPoint {
    /// The record as it is now.
    pub memory: Memory,
    /// The key of its scope.
    pub scope: String,
    /// Its vector, as it lies in its row.
    pub values: Vec<f32>,
}

impl VectorPoint {
    /// The vector at length one; none if it has no direction, and so is nobody's neighbour.
    pub fn direction(&self) -> Option<Vec<f32>> {
        direction(&self.values)
    }

    /// Another number whenever something has changed that an index is told of, so that a stale point is known.
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

/// A vector at length one; none if it is zero or not finite.
pub(super) fn direction(values: &[f32]) -> Option<Vec<f32>> {
    // In f64, because the square of a long or a short vector does not fit into f32.
    let length = values.iter().map(|&value| f64::from(value) * f64::from(value)).sum::<f64>().sqrt();
    (length.is_finite() && length > 0.0)
        .then(|| values.iter().map(|&value| (f64::from(value) / length) as f32).collect())
}

/// What changed after a line of a space's ledger, as an outside index must hear it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VectorFeed {
    /// The memories that are there and have a vector of the model, as they are now.
    pub points: Vec<VectorPoint>,
    /// The others: gone, or without such a vector.
    pub gone: Vec<MemoryId>,
    /// The number of the last line that was looked at.
    pub position: i64,
    /// The number of the last line that there is.
    pub end: i64,
    /// When the line was written after which was looked, in microseconds; none if there is no such line. Whoever
    /// remembers another instant has read another ledger.
    pub since: Option<i64>,
    /// When the line at `position` was written.
    pub until: Option<i64>,
    /// How many dimensions the model has here; none: nothing here was ever embedded by it.
    pub dimensions: Option<usize>,
}

impl VectorFeed {
    /// Whether there are lines after those looked at.
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
