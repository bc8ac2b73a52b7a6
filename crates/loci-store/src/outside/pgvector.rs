//! A vector index in PostgreSQL with pgvector, for a store that is elsewhere.
//!
//! The index has a schema of its own: `collections` holds the mark of each collection, and one table per vector size
//! holds the points. Removing a collection removes its points. Whatever is missing, up to the whole schema, is created
//! and filled again. No text of a memory is stored there.
//!
//! A small number of points is compared exactly, a large number through the HNSW graph. If the graph returns too few
//! results under a narrow filter, the search falls back to exact comparison.

mod tables;

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use loci_types::MemoryId;
use tokio_postgres::error::SqlState;
use uuid::Uuid;

use self::tables::Tables;
use super::index::{Collection, Mark, PointFilter, VectorIndex};
use super::point::VectorPoint;
use super::qdrant::naming;
use crate::postgres::{Address, ConnectionOptions, Distance, READ, Sessions};
use crate::sql::{self, Connection, OptionalExtension, blocking, params};
use crate::{Error, Result};

/// The name of the index.
const PART: &str = "pgvector";

/// The address of the server and its settings.
#[derive(Clone)]
pub struct PgvectorConfig {
    /// The address, as a URL or `key=value` pairs.
    pub url: String,
    /// The schema that holds all tables; created on first use. Default: `loci_vectors`.
    pub schema: String,
    /// Prefix of all collection names. Default: empty.
    pub prefix: String,
    /// Maximum number of connections of this process, at least 2. Default: 8.
    pub connections: usize,
    /// Timeout of a statement and of connecting. Default: 2 s.
    pub timeout: Duration,
    /// Whether vectors are stored in half precision. Default: false.
    pub halfvec: bool,
    /// Scopes with more vectors than this are searched through the HNSW graph. Default: 10,000.
    pub exact_up_to: usize,
}

impl PgvectorConfig {
    /// A server at this address, with default settings.
    pub fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            schema: "loci_vectors".to_owned(),
            prefix: String::new(),
            connections: 8,
            timeout: Duration::from_secs(2),
            halfvec: false,
            exact_up_to: 10_000,
        }
    }
}

impl fmt::Debug for PgvectorConfig {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address may contain a password and is never printed.
        formatter.debug_struct("PgvectorConfig").field("schema", &self.schema).finish_non_exhaustive()
    }
}

/// A vector index in a PostgreSQL server outside the store.
pub struct PgvectorIndex {
    sessions: Sessions,
    schema: String,
    prefix: String,
    half: bool,
    exact_up_to: usize,
}

impl PgvectorIndex {
    /// Creates a client without connecting, so it succeeds while the server is down. Must be called within a Tokio
    /// runtime.
    pub fn new(config: PgvectorConfig) -> Result<Self> {
        let PgvectorConfig { url, schema, prefix, connections, timeout, halfvec, exact_up_to } = config;
        naming::check(&prefix)?;
        let options = ConnectionOptions { role: None, schema: &schema, connections: connections.max(2), timeout };
        let sessions = Sessions::new(&Address::read(&url, timeout)?, &options)?;
        Ok(Self { sessions, schema, prefix, half: halfvec, exact_up_to })
    }

    fn tables(&self, collection: &Collection) -> Tables {
        Tables {
            schema: self.schema.clone(),
            name: self.collection_name(collection),
            distance: Distance { half: self.half, size: collection.dimensions },
        }
    }

    /// Runs `work` in a transaction of its own. Returns none if a table that it uses does not exist.
    async fn within<T: Send + 'static>(
        &self,
        how: &'static str,
        work: impl FnOnce(&dyn Connection) -> sql::SqlResult<T> + Send + 'static,
    ) -> Result<Option<T>> {
        let sessions = self.sessions.clone();
        blocking(move || match sessions.within(how, None, |session| work(session)) {
            Ok(value) => Ok(Some(value)),
            Err(sql::SqlError::Postgres(error)) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => Ok(None),
            // No error of the index is an error of the store; the call may be repeated later.
            Err(error) => Err(unavailable(error.to_string())),
        })
        .await
    }

    /// Changes a collection that must exist; `work` returns whether it does.
    async fn change(
        &self,
        tables: Tables,
        work: impl FnOnce(&dyn Connection, &Tables) -> sql::SqlResult<bool> + Send + 'static,
    ) -> Result<()> {
        let name = tables.name.clone();
        match self.within("", move |connection| work(connection, &tables)).await? {
            Some(true) => Ok(()),
            Some(false) | None => Err(unavailable(format!("collection `{name}` does not exist"))),
        }
    }
}

fn unavailable(problem: String) -> Error {
    Error::Unavailable { part: PART.to_owned(), problem }
}

#[async_trait]
impl VectorIndex for PgvectorIndex {
    fn name(&self) -> &'static str {
        PART
    }

    fn shared(&self) -> bool {
        true
    }

    fn collection_name(&self, collection: &Collection) -> String {
        naming::name(&self.prefix, None, collection)
    }

    async fn version(&self) -> Result<String> {
        let sql = "SELECT coalesce(installed_version, default_version) || ' on PostgreSQL ' || \
                   split_part(current_setting('server_version'), ' ', 1) \
                   FROM pg_available_extensions WHERE name = 'vector'";
        let read = move |connection: &dyn Connection| connection.query_row(sql, [], |row| row.get(0)).optional();
        self.within(READ, read)
            .await?
            .flatten()
            .ok_or_else(|| unavailable("the server has no extension `vector`; install pgvector there".to_owned()))
    }

    async fn health(&self) -> Result<()> {
        self.version().await.map(drop)
    }

    async fn position(&self, collection: &Collection) -> Result<Option<Mark>> {
        let tables = self.tables(collection);
        Ok(self.within(READ, move |connection| tables.mark(connection)).await?.flatten())
    }

    async fn prepare(&self, collection: &Collection) -> Result<()> {
        let tables = self.tables(collection);
        self.change(tables, |connection, tables| {
            tables.make(connection)?;
            tables.begin(connection)?;
            Ok(true)
        })
        .await
    }

    async fn upsert(&self, collection: &Collection, points: &[VectorPoint]) -> Result<()> {
        let points = points.to_vec();
        self.change(self.tables(collection), move |connection, tables| tables.put(connection, &points)).await
    }

    async fn delete(&self, collection: &Collection, ids: &[MemoryId]) -> Result<()> {
        let ids: Vec<[u8; 16]> = ids.iter().map(|id| id.0.into_bytes()).collect();
        self.change(self.tables(collection), move |connection, tables| {
            tables.take(connection, ids)?;
            Ok(true)
        })
        .await
    }

    async fn advance(&self, collection: &Collection, mark: Mark) -> Result<()> {
        self.change(self.tables(collection), move |connection, tables| {
            let sql = "UPDATE collections SET sequence = ?2, at = ?3 WHERE name = ?1";
            Ok(connection.execute(sql, params![&tables.name, mark.sequence, mark.at])? > 0)
        })
        .await
    }

    async fn search(
        &self,
        collection: &Collection,
        wanted: &PointFilter,
        query: &[f32],
        limit: usize,
    ) -> Result<Option<Vec<(MemoryId, f32)>>> {
        let (tables, wanted, query) = (self.tables(collection), wanted.clone(), query.to_vec());
        let most = self.exact_up_to;
        let found = self.within(READ, move |connection| tables.search(connection, &wanted, query, limit, most));
        Ok(found.await?.flatten())
    }

    async fn count(&self, collection: &Collection) -> Result<Option<u64>> {
        let tables = self.tables(collection);
        Ok(self.within(READ, move |connection| tables.count(connection)).await?.flatten())
    }

    async fn ids(
        &self,
        collection: &Collection,
        after: Option<MemoryId>,
        limit: usize,
    ) -> Result<Vec<(MemoryId, Option<u64>)>> {
        let tables = self.tables(collection);
        // No memory has the nil id.
        let after = after.map_or(Uuid::nil(), |id| id.0);
        Ok(self.within(READ, move |connection| tables.ids(connection, after, limit)).await?.unwrap_or_default())
    }

    async fn remove(&self, collection: &Collection) -> Result<()> {
        let name = self.collection_name(collection);
        let sql = "DELETE FROM collections WHERE name = ?1";
        self.within("", move |connection| connection.execute(sql, params![name])).await.map(drop)
    }
}
