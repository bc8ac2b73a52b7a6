//! The tables and columns that a dump holds, parents before children.
//!
//! Reading, writing and comparing share one list of columns per table. Every table of a space is read in the order of
//! one integer column, its lead: both databases order integers alike, which is not true of text. Rows with the same
//! lead are never split over two pages, so the greatest lead of a target shows how far a migration has come.

use crate::sql::{Dialect, Value};

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnType {
    /// An integer, a time in microseconds or a truth value.
    Integer,
    Real,
    /// Text or JSON.
    Text,
    /// Bytes or an id.
    Bytes,
    Vector,
}

/// The name and the type of a column.
pub(super) type Column = (&'static str, ColumnType);

/// How a row is written to the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Load {
    /// By a plain INSERT.
    Insert,
    /// By the vector statement of the dialect.
    Vector,
    /// By an update of an entity, once both entities are there.
    Union,
    /// Terms are extracted from the memory again instead of being copied, because each database stores them in its own
    /// way.
    Terms,
}

/// Which end of a migration is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MigrationSide {
    Source,
    Target,
}

/// A table of a space or of the catalogue.
#[derive(Debug)]
pub(super) struct TableSpec {
    /// Its name in reports and in backups.
    pub(super) name: &'static str,
    /// The column that it is read by: the lead, or the tenant in the catalogue.
    pub(super) lead: &'static str,
    /// The columns; the key comes first.
    pub(super) columns: &'static [Column],
    /// Number of columns in the key.
    pub(super) key: usize,
    pub(super) load: Load,
}

impl TableSpec {
    /// A table whose rows are inserted as they are.
    pub(super) const fn plain(name: &'static str, lead: &'static str, key: usize, columns: &'static [Column]) -> Self {
        Self { name, lead, columns, key, load: Load::Insert }
    }

    /// What its rows are selected from.
    pub(super) fn source(&self, end: MigrationSide, dialect: &Dialect) -> String {
        match (self.load, end) {
            (Load::Union, _) => "(SELECT entity, united_with FROM entities WHERE united_with IS NOT NULL) t".to_owned(),
            (Load::Terms, MigrationSide::Source) => "memories".to_owned(),
            (Load::Terms, MigrationSide::Target) => format!("(SELECT memory AS row FROM {}) t", dialect.terms_table),
            (Load::Insert | Load::Vector, _) => self.name.to_owned(),
        }
    }

    /// The value of a column in one of its rows.
    pub(super) fn value<'v>(&self, row: &'v [Value], column: &str) -> Option<&'v Value> {
        row.get(self.columns.iter().position(|(name, _)| *name == column)?)
    }

    /// The value of a column in one of its rows, to be changed.
    pub(super) fn value_mut<'v>(&self, row: &'v mut [Value], column: &str) -> Option<&'v mut Value> {
        row.get_mut(self.columns.iter().position(|(name, _)| *name == column)?)
    }

    /// The text of a column in one of its rows.
    pub(super) fn text<'v>(&self, row: &'v [Value], column: &str) -> Option<&'v str> {
        match self.value(row, column) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// The names of its columns, as a statement lists them.
    pub(super) fn column_list(&self) -> String {
        self.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }

    /// The statement that inserts a number of rows.
    pub(super) fn insert(&self, rows: usize) -> String {
        let row = format!("({})", vec!["?"; self.columns.len()].join(", "));
        format!("INSERT INTO {} ({}) VALUES {}", self.name, self.column_list(), vec![row; rows].join(", "))
    }

    /// The columns by which its rows belong to memories and are removed with them.
    pub(super) fn memory_columns(&self) -> Option<&'static [&'static str]> {
        match self.name {
            "memories" => Some(&["row"]),
            "tags" | "vectors" => Some(&["memory"]),
            "edges" => Some(&["source", "target"]),
            _ => None,
        }
    }

    /// Whether an increment holds all of its rows, which replace what the base had.
    pub(super) fn is_replaced_by_increment(&self) -> bool {
        self.memory_columns().is_none() && !matches!(self.name, "scopes" | "models" | "ledger")
    }
}

/// A table of a space that backups hold, by its name.
pub(super) fn by_name(name: &str) -> Option<&'static TableSpec> {
    TABLES.iter().find(|table| table.name == name && table.load != Load::Terms)
}

/// Lists columns by runs of the same type.
macro_rules! columns {
    ($($kind:ident $($name:ident)+),+ $(,)?) => {
        &[$($((stringify!($name), $crate::sql::stream::table::ColumnType::$kind)),+),+]
    };
}
pub(super) use columns;

/// Everything in a space, in the order of its references.
pub(super) static TABLES: &[TableSpec] = &[
    TableSpec::plain("scopes", "scope", 1, columns! { Integer scope, Text key layer }),
    TableSpec::plain("models", "model", 1, columns! { Integer model, Text name, Integer dimensions }),
    TableSpec::plain("memories", "row", 1, MEMORIES),
    TableSpec::plain("tags", "memory", 2, columns! { Integer memory, Text tag }),
    TableSpec {
        load: Load::Vector,
        ..TableSpec::plain("vectors", "memory", 2, columns! { Integer memory model, Vector vector, Bytes token_states })
    },
    TableSpec::plain("edges", "source", 2, EDGES),
    // Before the ledger, so that a concurrent reader of the target has the terms of every entry it sees.
    TableSpec { load: Load::Terms, ..TableSpec::plain("words", "row", 1, columns! { Integer row }) },
    TableSpec::plain("entities", "entity", 1, ENTITIES),
    TableSpec { load: Load::Union, ..TableSpec::plain("unions", "entity", 1, columns! { Integer entity united_with }) },
    TableSpec::plain("mentions", "memory", 2, columns! { Integer memory entity }),
    TableSpec::plain("names", "entity", 2, columns! { Integer entity, Text name }),
    TableSpec::plain("ledger", "sequence", 1, LEDGER),
    TableSpec::plain("jobs", "id", 1, JOBS),
    TableSpec::plain("sessions", "scope", 2, SESSIONS),
    TableSpec::plain("notes", "scope", 2, columns! { Integer scope, Text key value, Integer until }),
    TableSpec::plain("facts", "fact", 1, FACTS),
    TableSpec::plain("fact_sources", "fact", 2, columns! { Integer fact memory }),
    TableSpec::plain("checkpoints", "checkpoint", 1, CHECKPOINTS),
    TableSpec::plain("checkpoint_writes", "checkpoint", 3, CHECKPOINT_WRITES),
];

const MEMORIES: &[Column] = columns! {
    Integer row, Bytes id, Integer scope version,
    Text layer agent_id user_id session_id project_id team_id org_id company_id pool_id thread_id run_id actor_id role,
    Text kind category content, Bytes content_hash unless, Integer tokens,
    Text tags metadata source_type source_role source_reference knowledge_pointer access_policy,
    Real importance confidence decay_rate, Integer pinned access_count last_accessed_at, Real relevance,
    Integer event_time said_at imported_at created_at updated_at valid_from valid_until expires_at purge_at,
    Bytes supersedes_id superseded_by_id, Text state, Bytes claim, Integer aged_at,
};
const EDGES: &[Column] = columns! {
    Integer source, Bytes id, Integer target, Text relation predicate, Real strength confidence,
    Integer valid_from valid_until, Text evidence, Integer created_at,
};
const ENTITIES: &[Column] = columns! {
    Integer entity, Bytes id, Text canonical_name entity_type aliases summary, Integer first_seen last_updated mention_count,
    Text attributes, Integer scope,
};
const LEDGER: &[Column] = columns! {
    Integer sequence at, Text event, Integer memory, Bytes memory_id, Integer scope version,
    Text old new actor node reason thread_id request_id,
};
const JOBS: &[Column] = columns! {
    Integer id, Text kind payload unique_key state, Integer run_after lease_until attempts, Text last_error,
    Integer created_at,
};
const SESSIONS: &[Column] = columns! {
    Integer scope, Text name thread_id, Integer started_at last_at ended_at consolidated_at, Bytes consolidated_through,
    Integer through_row,
};
const FACTS: &[Column] = columns! {
    Integer fact, Bytes id, Integer scope, Text fact_type subject predicate object, Real confidence, Text metadata,
    Integer created_at updated_at,
};
const CHECKPOINTS: &[Column] = columns! {
    Integer checkpoint scope, Text thread_id namespace id parent_id format, Bytes data, Text metadata, Integer created_at,
};
const CHECKPOINT_WRITES: &[Column] = columns! {
    Integer checkpoint, Text task_id, Integer position, Text task_path channel format, Bytes data, Integer created_at,
};
