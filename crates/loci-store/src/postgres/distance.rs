//! The distance expressions of pgvector.
//!
//! PostgreSQL uses the HNSW index only if a query contains exactly the expression of the index; any other expression
//! compares vectors one by one.

use crate::sql::{self, Connection, params};

/// Vectors of one size and one precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Distance {
    /// Whether they are stored in half precision.
    pub(crate) half: bool,
    /// Number of dimensions.
    pub(crate) size: usize,
}

impl Distance {
    /// The type of the column.
    pub(crate) fn sort(self) -> &'static str {
        if self.half { "halfvec" } else { "vector" }
    }

    /// Whether pgvector can index vectors of this size: up to 2,000 dimensions, or 4,000 in half precision.
    pub(crate) fn has_graph(self) -> bool {
        (1..=if self.half { 4_000 } else { 2_000 }).contains(&self.size)
    }

    /// The definition of the HNSW index of a column.
    pub(crate) fn graph(self, column: &str) -> String {
        let Self { size, .. } = self;
        let sort = self.sort();
        format!("hnsw (({column}::{sort}({size})) {sort}_cosine_ops) WITH (m = 16, ef_construction = 128)")
    }

    /// The distance of a column from a value, as the expression of the index.
    pub(crate) fn by_graph(self, column: &str) -> String {
        let Self { size, .. } = self;
        let sort = self.sort();
        format!("({column}::{sort}({size})) <=> (?::vector)::{sort}({size})")
    }

    /// The distance as an expression that no index has.
    pub(crate) fn one_by_one(self, column: &str) -> String {
        format!("({column} <=> (?::vector)::{}) + 0", self.sort())
    }
}

/// Sets the breadth of HNSW searches in this transaction, and lets them continue until enough rows were found.
pub(crate) fn look_further(connection: &dyn Connection, want: usize) -> sql::SqlResult<()> {
    let breadth = want.clamp(100, 1_000);
    connection.run_later("SELECT set_config('hnsw.iterative_scan', 'strict_order', true)", Vec::new())?;
    connection.run_later("SELECT set_config('hnsw.ef_search', ?1::text, true)", params![breadth.to_string()])
}
