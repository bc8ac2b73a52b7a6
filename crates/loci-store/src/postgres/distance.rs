//! How far apart are two vectors, in the words of pgvector?
//!
//! The graph is used only where a distance is asked for in exactly the words it was built with; in any other words
//! vectors are compared one by one.

use crate::sql::{self, Connection, params};

/// Vectors of one size and one precision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Distance {
    /// Whether they are kept in half precision.
    pub(crate) half: bool,
    /// How many dimensions they have.
    pub(crate) size: usize,
}

impl Distance {
    /// The type of such a column.
    pub(crate) fn sort(self) -> &'static str {
        if self.half { "halfvec" } else { "vector" }
    }

    /// Whether pgvector keeps a graph of vectors of this size; larger ones are always compared one by one.
    pub(crate) fn has_graph(self) -> bool {
        (1..=if self.half { 4_000 } else { 2_000 }).contains(&self.size)
    }

    /// What the graph of a column is built of.
    pub(crate) fn graph(self, column: &str) -> String {
        let Self { size, .. } = self;
        let sort = self.sort();
        format!("hnsw (({column}::{sort}({size})) {sort}_cosine_ops) WITH (m = 16, ef_construction = 128)")
    }

    /// The distance of a column from a value in the words of the graph, so that it is used.
    pub(crate) fn by_graph(self, column: &str) -> String {
        let Self { size, .. } = self;
        let sort = self.sort();
        format!("({column}::{sort}({size})) <=> (?::vector)::{sort}({size})")
    }

    /// The distance in words that no index knows.
    pub(crate) fn one_by_one(self, column: &str) -> String {
        format!("({column} <=> (?::vector)::{}) + 0", self.sort())
    }
}

/// From now on in this transaction a graph is searched for so many, and goes on looking until enough were found.
pub(crate) fn look_further(connection: &dyn Connection, want: usize) -> sql::Result<()> {
    let breadth = want.clamp(100, 1_000);
    connection.run_later("SELECT set_config('hnsw.iterative_scan', 'strict_order', true)", Vec::new())?;
    connection.run_later("SELECT set_config('hnsw.ef_search', ?1::text, true)", params![breadth.to_string()])
}
