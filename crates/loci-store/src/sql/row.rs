//! How does a memory lie in a row?

use super::value::Get;
use super::{Connection, Row, params};
use crate::sql;
use jiff::Timestamp;
use loci_types::{
    ContentHash, Event, Identifiers, Kind, KnowledgePointer, LedgerEntry, Memory, MemoryId, Source, identifier_values,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

/// The columns that [`read`] expects, in its order.
pub(crate) const COLUMNS: &str = "m.id, m.version, m.layer, m.agent_id, m.user_id, m.session_id, m.project_id, \
    m.team_id, m.org_id, m.company_id, m.pool_id, m.thread_id, m.run_id, m.actor_id, m.role, m.kind, m.category, \
    m.content, m.content_hash, m.tokens, m.tags, m.metadata, m.source_type, m.source_role, m.source_reference, \
    m.knowledge_pointer, m.access_policy, m.importance, m.confidence, m.decay_rate, m.pinned, m.access_count, \
    m.last_accessed_at, m.relevance, m.event_time, m.created_at, m.updated_at, m.valid_from, m.valid_until, \
    m.expires_at, m.purge_at, m.supersedes_id, m.superseded_by_id, m.state, m.said_at, m.imported_at";

/// Reads a memory from a row of [`COLUMNS`].
pub(crate) fn read(row: &dyn Row) -> sql::Result<Memory> {
    let mut column = Column { row, next: 0 };
    Ok(Memory {
        id: MemoryId(column.uuid()?),
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
        last_accessed_at: column.time()?,
        relevance: column.take()?,
        event_time: column.time()?,
        created_at: column.time()?.unwrap_or_default(),
        updated_at: column.time()?.unwrap_or_default(),
        valid_from: column.time()?,
        valid_until: column.time()?,
        expires_at: column.time()?,
        purge_at: column.time()?,
        supersedes_id: column.id()?,
        superseded_by_id: column.id()?,
        state: column.word()?,
        said_at: column.time()?,
        imported_at: column.time()?,
    })
}

/// Walks the columns of a row, so that reading needs no numbers.
struct Column<'a> {
    row: &'a dyn Row,
    next: usize,
}

impl Column<'_> {
    fn take<T: Get>(&mut self) -> sql::Result<T> {
        let value = self.row.get(self.next)?;
        self.next += 1;
        Ok(value)
    }

    fn uuid(&mut self) -> sql::Result<Uuid> {
        self.take::<[u8; 16]>().map(Uuid::from_bytes)
    }

    fn id(&mut self) -> sql::Result<Option<MemoryId>> {
        Ok(self.take::<Option<[u8; 16]>>()?.map(|bytes| MemoryId(Uuid::from_bytes(bytes))))
    }

    fn time(&mut self) -> sql::Result<Option<Timestamp>> {
        self.take::<Option<i64>>()?.map(timestamp).transpose()
    }

    fn word<T: std::str::FromStr<Err = loci_types::Error>>(&mut self) -> sql::Result<T> {
        let text: String = self.take()?;
        text.parse().map_err(sql::Error::unreadable)
    }

    fn json<T: DeserializeOwned>(&mut self) -> sql::Result<Option<T>> {
        let text: Option<String> = self.take()?;
        text.map(|text| serde_json::from_str(&text).map_err(sql::Error::unreadable)).transpose()
    }

    fn source(&mut self) -> sql::Result<Option<Source>> {
        let kind: Option<String> = self.take()?;
        let (role, reference) = (self.take()?, self.take()?);
        Ok(kind.map(|kind| Source { kind, role, reference }))
    }
}

fn timestamp(micros: i64) -> sql::Result<Timestamp> {
    Timestamp::from_microsecond(micros).map_err(sql::Error::unreadable)
}

/// Writes a new row and returns its number.
pub(crate) fn insert(
    connection: &dyn Connection,
    scope: i64,
    memory: &Memory,
    unless: Option<ContentHash>,
    claim: Option<ContentHash>,
) -> sql::Result<i64> {
    let [agent, user, session, project, team, org, company, pool] = identifier_values(&memory.identifiers);
    let source = memory.source.as_ref();
    let row = connection
        .prepare_cached(
            "INSERT INTO memories (id, scope, version, layer, agent_id, user_id, session_id, project_id, team_id, \
             org_id, company_id, pool_id, thread_id, run_id, actor_id, role, kind, category, content, content_hash, \
             unless, tokens, tags, metadata, source_type, source_role, source_reference, knowledge_pointer, \
             access_policy, importance, confidence, decay_rate, pinned, access_count, last_accessed_at, relevance, \
             event_time, created_at, updated_at, valid_from, valid_until, expires_at, purge_at, supersedes_id, \
             superseded_by_id, state, claim, said_at, imported_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, \
             ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?25, ?26, ?27, ?28, ?29, ?30, ?31, ?32, ?33, ?34, ?35, ?36, ?37, \
             ?38, ?39, ?40, ?41, ?42, ?43, ?44, ?45, ?46, ?47, ?48, ?49) RETURNING row",
        )?
        .query_row(params![
            memory.id.as_bytes(),
            scope,
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
            unless.map(|hash| hash.0),
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
            memory.last_accessed_at.map(Timestamp::as_microsecond),
            memory.relevance,
            memory.event_time.map(Timestamp::as_microsecond),
            memory.created_at.as_microsecond(),
            memory.updated_at.as_microsecond(),
            memory.valid_from.map(Timestamp::as_microsecond),
            memory.valid_until.map(Timestamp::as_microsecond),
            memory.expires_at.map(Timestamp::as_microsecond),
            memory.purge_at.map(Timestamp::as_microsecond),
            memory.supersedes_id.as_ref().map(MemoryId::as_bytes),
            memory.superseded_by_id.as_ref().map(MemoryId::as_bytes),
            memory.state.name(),
            claim.map(|hash| hash.0),
            memory.said_at.map(Timestamp::as_microsecond),
            memory.imported_at.map(Timestamp::as_microsecond),
        ], |row| row.get(0))?;
    insert_tags(connection, row, &memory.tags)?;
    Ok(row)
}

/// Writes back everything of a row that a change may touch. Identity, scope and creation never do.
pub(crate) fn update(connection: &dyn Connection, row: i64, memory: &Memory) -> sql::Result<()> {
    let source = memory.source.as_ref();
    connection
        .prepare_cached(
            "UPDATE memories SET version = ?2, kind = ?3, category = ?4, content = ?5, content_hash = ?6, tokens = ?7, \
             tags = ?8, metadata = ?9, source_type = ?10, source_role = ?11, source_reference = ?12, \
             knowledge_pointer = ?13, access_policy = ?14, importance = ?15, confidence = ?16, decay_rate = ?17, \
             pinned = ?18, relevance = ?19, event_time = ?20, updated_at = ?21, valid_from = ?22, valid_until = ?23, \
             expires_at = ?24, purge_at = ?25, supersedes_id = ?26, superseded_by_id = ?27, state = ?28 WHERE row = ?1",
        )?
        .execute(params![
            row,
            memory.version,
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
            memory.relevance,
            memory.event_time.map(Timestamp::as_microsecond),
            memory.updated_at.as_microsecond(),
            memory.valid_from.map(Timestamp::as_microsecond),
            memory.valid_until.map(Timestamp::as_microsecond),
            memory.expires_at.map(Timestamp::as_microsecond),
            memory.purge_at.map(Timestamp::as_microsecond),
            memory.supersedes_id.as_ref().map(MemoryId::as_bytes),
            memory.superseded_by_id.as_ref().map(MemoryId::as_bytes),
            memory.state.name(),
        ])?;
    connection.prepare_cached("DELETE FROM tags WHERE memory = ?1")?.execute(params![row])?;
    insert_tags(connection, row, &memory.tags)
}

fn insert_tags(connection: &dyn Connection, row: i64, tags: &[String]) -> sql::Result<()> {
    for tag in tags {
        connection
            .run_later("INSERT INTO tags (tag, memory) VALUES (?1, ?2) ON CONFLICT DO NOTHING", params![tag, row])?;
    }
    Ok(())
}

fn list(values: &[String]) -> Option<String> {
    (!values.is_empty()).then(|| json(&values))
}

/// JSON text. Our own values always have one.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

/// Reads a ledger line from the columns
/// `sequence, at, event, memory_id, version, old, new, actor, node, reason, thread_id, request_id`.
pub(crate) fn read_entry(space: &str, row: &dyn Row) -> sql::Result<LedgerEntry> {
    let mut column = Column { row, next: 0 };
    Ok(LedgerEntry {
        space: space.to_owned(),
        sequence: column.take()?,
        at: column.time()?.unwrap_or_default(),
        event: column.word::<Event>()?.name().to_uppercase(),
        memory_id: column.id()?,
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
