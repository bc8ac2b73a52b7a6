//! How do the two databases spell the same thing?
//!
//! Statements keep to what both understand; where a phrase differs, the dialect of the connection is asked for it. Each
//! backend states its dialect once.

/// The phrases of one database.
#[derive(Debug)]
pub(crate) struct Dialect {
    /// A table `j` of numbers with one column `value`, from one [`super::Value::Integers`].
    pub(crate) integers: &'static str,
    /// A table `j` of ids with one column `value`, from one [`super::Value::Ids`].
    pub(crate) ids: &'static str,
    /// The texts of one [`super::Value::Texts`], to be behind `IN`.
    pub(crate) texts: &'static str,
    /// That a field of a memory's metadata has a value: its name and its JSON follow.
    pub(crate) metadata: &'static str,
    /// Puts a vector into its row: the memory, the model, the vector and the token states follow.
    pub(crate) put_vector: &'static str,
    /// The same by the name and the dimensions of the model: the memory, the name, the vector, the token states and the
    /// dimensions follow. Puts nothing if the space does not know such a model.
    pub(crate) put_vector_by_name: &'static str,
    /// What follows a query for rows that are to be changed, and that others may be changing too.
    pub(crate) skip_locked: &'static str,
    /// A join whose tables are read in the order they are written. PostgreSQL chooses the order itself.
    pub(crate) ordered_join: &'static str,
    /// Orders texts by their bytes.
    pub(crate) byte_order: &'static str,
    /// The columns that every key of a space's table begins with.
    pub(crate) key_prefix: &'static str,
    /// The table with one row for each memory whose terms are stored.
    pub(crate) terms_table: &'static str,
    /// The clock of the database, in microseconds.
    pub(crate) now: &'static str,
    /// Whether a list is one value (`= ANY(?)`), so that a statement is planned once and not once per length.
    pub(crate) lists_are_values: bool,
    /// Whether a subquery may depend on the rows of another table of the same query (`LATERAL`), so that several questions
    /// become one.
    pub(crate) lateral: bool,
    /// Whether a query may name the index it uses. PostgreSQL knows no such hints.
    pub(crate) index_hints: bool,
}

impl Dialect {
    /// Names the index that a query must use, where the planner would choose a worse one.
    pub(crate) fn indexed_by(&self, index: &str) -> String {
        if self.index_hints { format!("INDEXED BY {index}") } else { String::new() }
    }

    /// The head of a conflict clause on the key of a space's table.
    pub(crate) fn on_conflict(&self, key: &str) -> String {
        format!("ON CONFLICT ({}{key})", self.key_prefix)
    }
}
