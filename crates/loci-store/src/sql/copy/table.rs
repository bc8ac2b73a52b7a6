//! What is copied, and in which order?
//!
//! One list of columns per table, shared by reading, writing and comparing, parents before children.
//! Every table is walked along one number, its lead: both databases order numbers alike, which they do
//! not do with text. Rows with the same lead are never parted, so that the greatest lead of a target
//! tells how far a copy has come.

use crate::sql::{Dialect, Value};

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sql) enum Sort {
    /// A number, an instant or a truth.
    Number,
    /// A real number.
    Real,
    /// Text or JSON.
    Text,
    /// Bytes or an id.
    Bytes,
    /// A vector.
    Vector,
}

use Sort::{Bytes, Number, Real, Text, Vector};

/// How a row comes into the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sql) enum Put {
    /// As it is.
    Row,
    /// With what the other database keeps beside it.
    Vector,
    /// Two entities are united once both are there.
    Union,
    /// Words are not copied but made anew of the memory: each database keeps them in its own way.
    Words,
}

/// Which end of the copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sql) enum End {
    From,
    To,
}

/// A table that is copied.
#[derive(Debug)]
pub(in crate::sql) struct Table {
    /// How it is called in reports.
    pub(in crate::sql) name: &'static str,
    /// The number that it is walked along.
    pub(in crate::sql) lead: &'static str,
    /// The columns; the first ones name a row.
    pub(in crate::sql) columns: &'static [(&'static str, Sort)],
    /// How many name a row.
    pub(in crate::sql) key: usize,
    /// How its rows come in.
    pub(in crate::sql) put: Put,
}

impl Table {
    /// Where the rows are read from.
    pub(in crate::sql) fn rows(&self, end: End, dialect: &Dialect) -> String {
        match (self.put, end) {
            (Put::Union, _) => "(SELECT entity, united_with FROM entities WHERE united_with IS NOT NULL) t".to_owned(),
            (Put::Words, End::From) => "memories".to_owned(),
            (Put::Words, End::To) => format!("(SELECT memory AS row FROM {}) t", dialect.terms_table),
            (Put::Row | Put::Vector, _) => self.name.to_owned(),
        }
    }

    /// The value of a column in one of its rows.
    pub(in crate::sql) fn value<'v>(&self, row: &'v [Value], column: &str) -> Option<&'v Value> {
        self.columns.iter().position(|(name, _)| *name == column).and_then(|place| row.get(place))
    }

    /// The same, to be changed.
    pub(in crate::sql) fn value_mut<'v>(&self, row: &'v mut [Value], column: &str) -> Option<&'v mut Value> {
        self.columns.iter().position(|(name, _)| *name == column).and_then(|place| row.get_mut(place))
    }

    /// The names of its columns, as a statement lists them.
    pub(in crate::sql) fn names(&self) -> String {
        self.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }
}

const fn row(name: &'static str, lead: &'static str, key: usize, columns: &'static [(&'static str, Sort)]) -> Table {
    Table { name, lead, columns, key, put: Put::Row }
}

/// A table by its name.
pub(in crate::sql) fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name && table.put != Put::Words)
}

/// The columns by which the rows of a table belong to memories and come and go with them.
pub(in crate::sql) fn by_memory(table: &str) -> Option<&'static [&'static str]> {
    match table {
        "memories" => Some(&["row"]),
        "tags" | "vectors" => Some(&["memory"]),
        "edges" => Some(&["source", "target"]),
        _ => None,
    }
}

/// Whether an increment holds all rows of a table, in place of what was there.
pub(in crate::sql) fn comes_whole(table: &str) -> bool {
    by_memory(table).is_none() && !matches!(table, "scopes" | "models" | "ledger")
}

/// Everything in a space, in the order of its references.
pub(in crate::sql) const TABLES: &[Table] = &[
    row("scopes", "scope", 1, &[("scope", Number), ("key", Text), ("layer", Text)]),
    row("models", "model", 1, &[("model", Number), ("name", Text), ("dimensions", Number)]),
    row("memories", "row", 1, MEMORIES),
    row("tags", "memory", 2, &[("memory", Number), ("tag", Text)]),
    Table {
        name: "vectors",
        lead: "memory",
        columns: &[("memory", Number), ("model", Number), ("vector", Vector), ("token_states", Bytes)],
        key: 2,
        put: Put::Vector,
    },
    row("edges", "source", 2, EDGES),
    // Before the ledger: whoever reads the target meanwhile holds words as of its last line.
    Table { name: "words", lead: "row", columns: &[("row", Number)], key: 1, put: Put::Words },
    row("entities", "entity", 1, ENTITIES),
    Table {
        name: "unions",
        lead: "entity",
        columns: &[("entity", Number), ("united_with", Number)],
        key: 1,
        put: Put::Union,
    },
    row("mentions", "memory", 2, &[("memory", Number), ("entity", Number)]),
    row("names", "entity", 2, &[("entity", Number), ("name", Text)]),
    row("ledger", "sequence", 1, LEDGER),
    row("jobs", "id", 1, JOBS),
    row("sessions", "scope", 2, SESSIONS),
    row("notes", "scope", 2, &[("scope", Number), ("key", Text), ("value", Text), ("until", Number)]),
    row("facts", "fact", 1, FACTS),
    row("fact_sources", "fact", 2, &[("fact", Number), ("memory", Number)]),
    row("checkpoints", "checkpoint", 1, CHECKPOINTS),
    row("checkpoint_writes", "checkpoint", 3, CHECKPOINT_WRITES),
];

const MEMORIES: &[(&str, Sort)] = &[
    ("row", Number),
    ("id", Bytes),
    ("scope", Number),
    ("version", Number),
    ("layer", Text),
    ("agent_id", Text),
    ("user_id", Text),
    ("session_id", Text),
    ("project_id", Text),
    ("team_id", Text),
    ("org_id", Text),
    ("company_id", Text),
    ("pool_id", Text),
    ("thread_id", Text),
    ("run_id", Text),
    ("actor_id", Text),
    ("role", Text),
    ("kind", Text),
    ("category", Text),
    ("content", Text),
    ("content_hash", Bytes),
    ("unless", Bytes),
    ("tokens", Number),
    ("tags", Text),
    ("metadata", Text),
    ("source_type", Text),
    ("source_role", Text),
    ("source_reference", Text),
    ("knowledge_pointer", Text),
    ("access_policy", Text),
    ("importance", Real),
    ("confidence", Real),
    ("decay_rate", Real),
    ("pinned", Number),
    ("access_count", Number),
    ("last_accessed_at", Number),
    ("relevance", Real),
    ("event_time", Number),
    ("said_at", Number),
    ("imported_at", Number),
    ("created_at", Number),
    ("updated_at", Number),
    ("valid_from", Number),
    ("valid_until", Number),
    ("expires_at", Number),
    ("purge_at", Number),
    ("supersedes_id", Bytes),
    ("superseded_by_id", Bytes),
    ("state", Text),
    ("claim", Bytes),
    ("aged_at", Number),
];

const EDGES: &[(&str, Sort)] = &[
    ("source", Number),
    ("id", Bytes),
    ("target", Number),
    ("relation", Text),
    ("predicate", Text),
    ("strength", Real),
    ("confidence", Real),
    ("valid_from", Number),
    ("valid_until", Number),
    ("evidence", Text),
    ("created_at", Number),
];

const ENTITIES: &[(&str, Sort)] = &[
    ("entity", Number),
    ("id", Bytes),
    ("canonical_name", Text),
    ("entity_type", Text),
    ("aliases", Text),
    ("summary", Text),
    ("first_seen", Number),
    ("last_updated", Number),
    ("mention_count", Number),
    ("attributes", Text),
    ("scope", Number),
];

const LEDGER: &[(&str, Sort)] = &[
    ("sequence", Number),
    ("at", Number),
    ("event", Text),
    ("memory", Number),
    ("memory_id", Bytes),
    ("scope", Number),
    ("version", Number),
    ("old", Text),
    ("new", Text),
    ("actor", Text),
    ("node", Text),
    ("reason", Text),
    ("thread_id", Text),
    ("request_id", Text),
];

const JOBS: &[(&str, Sort)] = &[
    ("id", Number),
    ("kind", Text),
    ("payload", Text),
    ("unique_key", Text),
    ("state", Text),
    ("run_after", Number),
    ("lease_until", Number),
    ("attempts", Number),
    ("last_error", Text),
    ("created_at", Number),
];

const SESSIONS: &[(&str, Sort)] = &[
    ("scope", Number),
    ("name", Text),
    ("thread_id", Text),
    ("started_at", Number),
    ("last_at", Number),
    ("ended_at", Number),
    ("consolidated_at", Number),
    ("consolidated_through", Bytes),
    ("through_row", Number),
];

const FACTS: &[(&str, Sort)] = &[
    ("fact", Number),
    ("id", Bytes),
    ("scope", Number),
    ("fact_type", Text),
    ("subject", Text),
    ("predicate", Text),
    ("object", Text),
    ("confidence", Real),
    ("metadata", Text),
    ("created_at", Number),
    ("updated_at", Number),
];

const CHECKPOINTS: &[(&str, Sort)] = &[
    ("checkpoint", Number),
    ("scope", Number),
    ("thread_id", Text),
    ("namespace", Text),
    ("id", Text),
    ("parent_id", Text),
    ("format", Text),
    ("data", Bytes),
    ("metadata", Text),
    ("created_at", Number),
];

const CHECKPOINT_WRITES: &[(&str, Sort)] = &[
    ("checkpoint", Number),
    ("task_id", Text),
    ("position", Number),
    ("task_path", Text),
    ("channel", Text),
    ("format", Text),
    ("data", Bytes),
    ("created_at", Number),
];
