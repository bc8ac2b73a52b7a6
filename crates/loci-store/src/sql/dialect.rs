//! Differences in syntax between SQLite and PostgreSQL.
//!
//! Statements use the common subset; where the syntax differs they take the phrase from the dialect of the connection.

/// The phrases of one database.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// A table `j` of numbers with one column `value`, from one [`super::Value::Integers`].
    pub(crate) integers: &'static str,
    /// A table `j` of ids with one column `value`, from one [`super::Value::Ids`].
    pub(crate) ids: &'static str,
    /// The last six bytes of the id of a memory `m`.
    pub(crate) last_block: &'static str,
    /// The texts of one [`super::Value::Texts`], for use after `IN`.
    pub(crate) texts: &'static str,
    /// The condition that a metadata field of `m` has a value. Parameters: the name and the JSON value.
    pub(crate) metadata: &'static str,
    /// Inserts or replaces a vector. Parameters: memory, model, vector and token states.
    pub(crate) put_vector: &'static str,
    /// The same by the name of the model. Parameters: memory, model name, vector, token states and dimensions. Changes
    /// no row if the space has no model with this name and these dimensions.
    pub(crate) put_vector_by_name: &'static str,
    /// Locks the selected rows and skips those that another transaction has locked. Empty on SQLite.
    pub(crate) skip_locked: &'static str,
    /// A join whose tables are read in the order they are written. PostgreSQL chooses the order itself.
    pub(crate) ordered_join: &'static str,
    /// A collation that orders texts by their bytes.
    pub(crate) byte_order: &'static str,
    /// The columns that begin every key of a space's table.
    pub(crate) key_prefix: &'static str,
    /// The table with one row for each memory whose terms are stored.
    pub(crate) terms_table: &'static str,
    /// The current time of the database, in microseconds.
    pub(crate) now: &'static str,
    /// Whether a list is one value (`= ANY(?)`), so that a statement is planned once and not once per length.
    pub(crate) lists_are_values: bool,
    /// Whether the database supports `LATERAL`, so that one statement can query several scopes.
    pub(crate) lateral: bool,
    /// Whether a query may name the index it uses (`INDEXED BY`).
    pub(crate) index_hints: bool,
}

impl Dialect {
    /// The hint that names the index of a query, where the planner would choose a worse one.
    pub(crate) fn indexed_by(&self, index: &str) -> String {
        if self.index_hints { format!("INDEXED BY {index}") } else { String::new() }
    }

    /// The beginning of a conflict clause on the key of a space's table.
    pub(crate) fn on_conflict(&self, key: &str) -> String {
        format!("ON CONFLICT ({}{key})", self.key_prefix)
    }
}
