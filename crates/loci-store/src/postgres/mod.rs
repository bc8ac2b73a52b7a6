//! The PostgreSQL store, with pgvector, for any number of servers.
//!
//! The rules are those of [`crate::sql`]; this module has the transactions of a space, the search by words and vectors,
//! and the leases. Servers hold no state of their own: what one of them has acknowledged is visible to all.

mod backend;
mod commit;
mod connection;
mod distance;
mod doctor;
mod lease;
mod listen;
mod near;
mod pg_connection;
mod pool;
mod schema;
mod scrub;
mod split;
mod tables;
mod tls;
mod words;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use loci_types::{Space, Tenant};
use tokio_postgres::error::SqlState;

use self::commit::{SpaceIds, Transactions};
pub(crate) use self::distance::{Distance, look_further};
use self::lease::Leases;
use self::listen::Listener;
pub(crate) use self::pg_connection::{PgConnection, READ};
pub(crate) use self::pool::{Address, ConnectionOptions, Sessions};
pub(crate) use self::schema::{LOCK, quoted};
use crate::sql::SqlStore;
use crate::sql::writer::Writers;
use crate::text::Analyser;
use crate::{Error, Result};

/// The connection settings of the PostgreSQL store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    /// The address of the server itself, if the store uses a pooler in transaction mode: leases, notifications and
    /// migrations need a session of their own. Default: the same address.
    pub direct: Option<String>,
    /// The schema of all tables.
    pub schema: String,
    /// The role that executes requests. It is created if missing, and must not bypass row-level security.
    pub role: String,
    /// Maximum number of connections of this process.
    pub connections: usize,
    /// Number of writer threads; each space is assigned to one.
    pub writers: usize,
    /// Timeout of a statement and of opening a connection.
    pub timeout: Duration,
    /// Number of partitions by tenant. Used only when the schema is created.
    pub partitions: usize,
    /// Whether vectors are stored in half precision. Used only when the schema is created.
    pub halfvec: bool,
    /// The vector dimensions for which a graph index is created.
    pub dimensions: Vec<usize>,
    /// Scopes with more vectors than this are searched through the graph index, smaller ones exactly.
    pub exact_up_to: usize,
}

impl Default for PostgresOptions {
    fn default() -> Self {
        Self {
            direct: None,
            schema: "loci".to_owned(),
            role: "loci_serves".to_owned(),
            connections: 16,
            writers: 4,
            timeout: Duration::from_secs(10),
            partitions: 4,
            halfvec: false,
            dimensions: vec![384],
            exact_up_to: 10_000,
        }
    }
}

/// The name of the store in errors.
const PLACE: &str = "postgres";

/// The PostgreSQL store.
pub type PostgresStore = SqlStore<PostgresBackend>;

/// The PostgreSQL backend: one schema of a server.
#[derive(Clone)]
pub struct PostgresBackend {
    inner: Arc<PostgresInner>,
}

impl PostgresStore {
    /// Connects, and creates or migrates the schema. The address is a URL or `key=value` pairs.
    pub async fn open(address: &str, options: PostgresOptions) -> Result<Self> {
        PostgresBackend::open(address, options).await.map(Self::over)
    }

    /// Number of transactions this store has committed.
    pub fn commits(&self) -> u64 {
        self.backend.inner.writers.commits()
    }

    /// Number of round trips to the server. Connections for leases and notifications are not counted.
    pub fn round_trips(&self) -> u64 {
        self.backend.inner.sessions.round_trips.load(Ordering::Relaxed)
    }

    /// Whether a schema has tables of Loci. Creates nothing.
    pub async fn is_there(address: &str, options: &PostgresOptions) -> Result<bool> {
        PostgresBackend::is_there(address, options).await
    }
}

struct PostgresInner {
    /// The address for connections that bypass a pooler.
    address: Address,
    sessions: Sessions,
    options: PostgresOptions,
    writers: Writers<Transactions>,
    analyser: Arc<Analyser>,
    leases: Leases,
    listener: Listener,
    /// Which scopes are searched through the graph index.
    sizes: near::Sizes,
    /// The cached ids of spaces, with the time they were read, since another server may remove a space.
    known: Mutex<HashMap<(Tenant, Space), (SpaceIds, Instant)>>,
    written: Mutex<HashSet<SpaceIds>>,
    /// Whether the last write failed because the disk was full.
    full: AtomicBool,
    /// The lasting identity of the store.
    store_id: Option<String>,
}

impl PostgresBackend {
    async fn open(address: &str, options: PostgresOptions) -> Result<Self> {
        let pooled = Address::read(address, options.timeout)?;
        let address = match &options.direct {
            Some(direct) => Address::read(direct, options.timeout)?,
            None => pooled.clone(),
        };
        // The user of the address migrates the schema; requests run as a role that owns nothing.
        let (mut client, driven) = address.driven().await?;
        let made = schema::migrate(&mut client, &options).await;
        // Only a vector index outside of the store needs it. A role that does not own the tables, or a standby, cannot
        // write it, and can serve all the same.
        let store_id = match &made {
            Ok(()) => schema::store_id(&mut client, &options).await.ok(),
            Err(_) => None,
        };
        drop(client);
        drop(driven.await);
        made?;
        let manner = ConnectionOptions {
            role: Some(&options.role),
            schema: &options.schema,
            connections: options.connections.max(options.writers + 2),
            timeout: options.timeout,
        };
        let sessions = Sessions::new(&pooled, &manner)?;
        sessions.refuse_to_bypass(&options).await?;
        let inner = PostgresInner {
            writers: Writers::start(options.writers.max(1), Transactions::new(sessions.clone()))?,
            leases: Leases::new(address.clone(), &options.schema, sessions.handle.clone(), options.timeout),
            listener: Listener::new(address.clone(), &options.schema, options.timeout),
            analyser: Arc::default(),
            sizes: near::Sizes::default(),
            known: Mutex::default(),
            written: Mutex::default(),
            full: AtomicBool::new(false),
            store_id,
            address,
            sessions,
            options,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    async fn is_there(address: &str, options: &PostgresOptions) -> Result<bool> {
        let (client, driven) = Address::read(address, options.timeout)?.driven().await?;
        let name = format!("{}.format", schema::quoted(&options.schema));
        let found = client.query_one("SELECT to_regclass($1) IS NOT NULL", &[&name]).await;
        drop(client);
        drop(driven.await);
        Ok(found.map_err(|error| sql_error(error.into()))?.get(0))
    }
}

/// Converts the error of a statement.
fn sql_error(error: crate::sql::SqlError) -> Error {
    Error::sql(Path::new(PLACE), error)
}

/// Converts an error of the driver by its code.
pub(crate) fn driver_error(path: &Path, error: tokio_postgres::Error) -> Error {
    let code = error.code().cloned();
    let problem = crate::sql::SqlError::from(error).to_string();
    let unavailable = |problem| Error::Unavailable { part: PLACE.to_owned(), problem };
    let path = path.to_owned();
    // An error without a code does not come from the server: the connection failed or was lost.
    match code {
        Some(state) if state.code() == schema::SPACE_REMOVED => {
            Error::Overtaken("another server has removed this space; repeat the change to create it again".to_owned())
        }
        Some(SqlState::DISK_FULL) => Error::DiskFull { path },
        Some(SqlState::LOCK_NOT_AVAILABLE | SqlState::QUERY_CANCELED) => Error::Busy { path },
        // The engine refuses NUL in its input, but an old SQLite file that is copied may contain it.
        Some(SqlState::CHARACTER_NOT_IN_REPERTOIRE | SqlState::UNTRANSLATABLE_CHARACTER) => {
            Error::Refused("a text contains a NUL character, which PostgreSQL cannot store".to_owned())
        }
        // The transaction was rolled back because of a conflict with another.
        Some(state) if state.code().starts_with("40") => unavailable(problem),
        // During a failover a standby accepts reads but no writes.
        Some(SqlState::READ_ONLY_SQL_TRANSACTION) => unavailable(problem),
        Some(state) if state.code().starts_with("08") || state.code().starts_with("57P") => unavailable(problem),
        Some(state) if ["53", "58"].iter().any(|class| state.code().starts_with(class)) => unavailable(problem),
        Some(state) if state.code().starts_with("XX") => Error::Damaged { path, problem },
        Some(_) => Error::Database { path, problem },
        None => unavailable(problem),
    }
}
