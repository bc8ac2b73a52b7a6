//! Reads and writes the row of a memory. Every statement is built from one list of columns.

use std::sync::LazyLock;

use super::value::Get;
use super::{Connection, Row, Value, params};
use crate::sql;
use loci_types::{
    Addition, ContentHash, Event, Identifiers, Kind, KnowledgePointer, LedgerEntry, Memory, MemoryId, Source,
    identifier_values,
};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The columns that [`read`] expects, in its order.
pub(crate) const COLUMNS: &str = "m.id, m.version, m.layer, m.agent_id, m.user_id, m.session_id, m.project_id, \
    m.team_id, m.org_id, m.company_id, m.pool_id, m.thread_id, m.run_id, m.actor_id, m.role, m.kind, m.category, \
    m.content, m.content_hash, m.tokens, m.tags, m.metadata, m.source_type, m.source_role, m.source_reference, \
    m.knowledge_pointer, m.access_policy, m.importance, m.confidence, m.decay_rate, m.pinned, m.access_count, \
    m.last_accessed_at, m.relevance, m.event_time, m.created_at, m.updated_at, m.valid_from, m.valid_until, \
    m.expires_at, m.purge_at, m.supersedes_id, m.superseded_by_id, m.state, m.said_at, m.imported_at";

/// Reads a memory from a row of [`COLUMNS`].
pub(crate) fn read(row: &dyn Row) -> sql::SqlResult<Memory> {
    let mut column = RowReader { row, next: 0 };
    Ok(Memory {
        id: column.take()?,
        version: column.take()?,
        layer: column.word()?,
        identifiers: Identifiers {
            agent_id: column.take()?,
            user_id: column.take()?,
            session_id: column.take()?,
            project_id: column.take()?,
            team_id: column.take()?,
            org_id: column.take()?,
            company_id: column.take()?,
            pool_id: column.take()?,
        },
        thread_id: column.take()?,
        run_id: column.take()?,
        actor_id: column.take()?,
        role: column.take()?,
        kind: Kind::stored(column.take::<String>()?),
        category: column.take()?,
        content: column.take()?,
        content_hash: ContentHash(column.take()?),
        tokens: column.take()?,
        tags: column.json()?.unwrap_or_default(),
        metadata: column.json()?.unwrap_or_default(),
        source: column.source()?,
        knowledge_pointer: column.json::<KnowledgePointer>()?,
        access_policy: column.word()?,
        importance: column.take()?,
        confidence: column.take()?,
        decay_rate: column.take()?,
        pinned: column.take()?,
        access_count: column.take()?,
        last_accessed_at: column.take()?,
        relevance: column.take()?,
        event_time: column.take()?,
        created_at: column.take()?,
        updated_at: column.take()?,
        valid_from: column.take()?,
        valid_until: column.take()?,
        expires_at: column.take()?,
        purge_at: column.take()?,
        supersedes_id: column.take()?,
        superseded_by_id: column.take()?,
        state: column.word()?,
        said_at: column.take()?,
        imported_at: column.take()?,
    })
}

/// Reads the columns of a row one after the other.
struct RowReader<'a> {
    row: &'a dyn Row,
    next: usize,
}

impl RowReader<'_> {
    fn take<T: Get>(&mut self) -> sql::SqlResult<T> {
        let value = self.row.get(self.next)?;
        self.next += 1;
        Ok(value)
    }

    fn word<T: std::str::FromStr<Err = loci_types::Error>>(&mut self) -> sql::SqlResult<T> {
        let text: String = self.take()?;
        text.parse().map_err(sql::SqlError::unreadable)
    }

    fn json<T: DeserializeOwned>(&mut self) -> sql::SqlResult<Option<T>> {
        let text: Option<String> = self.take()?;
        text.map(|text| serde_json::from_str(&text).map_err(sql::SqlError::unreadable)).transpose()
    }

    fn source(&mut self) -> sql::SqlResult<Option<Source>> {
        let kind: Option<String> = self.take()?;
        let (role, reference) = (self.take()?, self.take()?);
        Ok(kind.map(|kind| Source { kind, role, reference }))
    }
}

/// The names in [`COLUMNS`], from which every statement that writes a memory is built.
fn columns() -> impl Iterator<Item = &'static str> {
    COLUMNS.split(", ").map(|column| column.trim_start_matches("m."))
}

/// The columns that a change of a memory never writes: its identity, its scope, its speaker, and the access counts,
/// which are updated separately. Only an import that replaces the whole record writes them.
const FIXED: [&str; 19] = [
    "id",
    "layer",
    "agent_id",
    "user_id",
    "session_id",
    "project_id",
    "team_id",
    "org_id",
    "company_id",
    "pool_id",
    "thread_id",
    "run_id",
    "actor_id",
    "role",
    "access_count",
    "last_accessed_at",
    "created_at",
    "said_at",
    "imported_at",
];

/// The values of a memory, in the order of [`COLUMNS`].
fn values(memory: &Memory) -> Vec<Value> {
    let [agent, user, session, project, team, org, company, pool] = identifier_values(&memory.identifiers);
    let source = memory.source.as_ref();
    params![
        memory.id,
        memory.version,
        memory.layer.name(),
        agent,
        user,
        session,
        project,
        team,
        org,
        company,
        pool,
        &memory.thread_id,
        &memory.run_id,
        &memory.actor_id,
        &memory.role,
        memory.kind.name(),
        &memory.category,
        &memory.content,
        memory.content_hash.0,
        memory.tokens,
        list(&memory.tags),
        (!memory.metadata.is_empty()).then(|| json(&memory.metadata)),
        source.map(|source| &source.kind),
        source.and_then(|source| source.role.as_ref()),
        source.and_then(|source| source.reference.as_ref()),
        memory.knowledge_pointer.as_ref().map(json),
        memory.access_policy.name(),
        memory.importance,
        memory.confidence,
        memory.decay_rate,
        memory.pinned,
        memory.access_count,
        memory.last_accessed_at,
        memory.relevance,
        memory.event_time,
        memory.created_at,
        memory.updated_at,
        memory.valid_from,
        memory.valid_until,
        memory.expires_at,
        memory.purge_at,
        memory.supersedes_id.as_ref().map(MemoryId::as_bytes),
        memory.superseded_by_id.as_ref().map(MemoryId::as_bytes),
        memory.state.name(),
        memory.said_at,
        memory.imported_at,
    ]
}

/// Inserts a row and returns its number.
pub(crate) fn insert(
    connection: &dyn Connection,
    scope: i64,
    memory: &Memory,
    unless: Option<ContentHash>,
    claim: Option<ContentHash>,
) -> sql::SqlResult<i64> {
    static INSERT: LazyLock<String> = LazyLock::new(|| {
        let names: Vec<&str> = columns().chain(["scope", "unless", "claim"]).collect();
        let places = vec!["?"; names.len()].join(", ");
        format!("INSERT INTO memories ({}) VALUES ({places}) RETURNING row", names.join(", "))
    });
    let mut values = values(memory);
    values.extend(params![scope, unless.map(|hash| hash.0), claim.map(|hash| hash.0)]);
    let row = connection.query_row(&INSERT, values, |row| row.get(0))?;
    insert_tags(connection, row, &memory.tags)?;
    Ok(row)
}

/// Updates all columns of a row except [`FIXED`].
pub(crate) fn update(connection: &dyn Connection, row: i64, memory: &Memory) -> sql::SqlResult<()> {
    static UPDATE: LazyLock<String> = LazyLock::new(|| {
        let set: Vec<String> =
            columns().filter(|name| !FIXED.contains(name)).map(|name| format!("{name} = ?")).collect();
        format!("UPDATE memories SET {} WHERE row = ?", set.join(", "))
    });
    let touched = columns().zip(values(memory)).filter(|(name, _)| !FIXED.contains(name));
    let values: Vec<Value> = touched.map(|(_, value)| value).chain(params![row]).collect();
    connection.execute(&UPDATE, values)?;
    renew_tags(connection, row, &memory.tags)
}

/// Overwrites all columns of a row except the id, which comes first, and the scope.
pub(crate) fn replace(connection: &dyn Connection, row: i64, addition: &Addition) -> sql::SqlResult<()> {
    static REPLACE: LazyLock<String> = LazyLock::new(|| {
        let names = columns().skip(1).chain(["unless", "claim", "aged_at"]);
        let set: Vec<String> = names.map(|name| format!("{name} = ?")).collect();
        format!("UPDATE memories SET {} WHERE row = ?", set.join(", "))
    });
    let mut values: Vec<Value> = values(&addition.memory).into_iter().skip(1).collect();
    values.extend(params![
        addition.unless.map(|hash| hash.0),
        addition.claim.map(|hash| hash.0),
        addition.aged_at,
        row
    ]);
    connection.execute(&REPLACE, values)?;
    renew_tags(connection, row, &addition.memory.tags)
}

fn renew_tags(connection: &dyn Connection, row: i64, tags: &[String]) -> sql::SqlResult<()> {
    connection.execute("DELETE FROM tags WHERE memory = ?1", params![row])?;
    insert_tags(connection, row, tags)
}

fn insert_tags(connection: &dyn Connection, row: i64, tags: &[String]) -> sql::SqlResult<()> {
    for tag in tags {
        connection
            .run_later("INSERT INTO tags (tag, memory) VALUES (?1, ?2) ON CONFLICT DO NOTHING", params![tag, row])?;
    }
    Ok(())
}

fn list(values: &[String]) -> Option<String> {
    (!values.is_empty()).then(|| json(&values))
}

/// The JSON text of a value. Serialisation of the store's own types does not fail.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// Reads a ledger entry from the columns
/// `sequence, at, event, memory_id, version, old, new, actor, node, reason, thread_id, request_id`.
pub(crate) fn read_entry(space: &str, row: &dyn Row) -> sql::SqlResult<LedgerEntry> {
    let mut column = RowReader { row, next: 0 };
    Ok(LedgerEntry {
        space: space.to_owned(),
        sequence: column.take()?,
        at: column.take()?,
        event: column.word::<Event>()?.name().to_uppercase(),
        memory_id: column.take()?,
        version: column.take()?,
        old: column.json()?,
        new: column.json()?,
        actor: column.take()?,
        node: column.take()?,
        reason: column.take()?,
        thread_id: column.take()?,
        request_id: column.take()?,
    })
}
