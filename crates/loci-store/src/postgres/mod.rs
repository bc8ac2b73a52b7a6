//! The shared store: PostgreSQL with pgvector, for any number of servers.
//!
//! The rules are those of [`crate::sql`]; here stands how a transaction speaks for one space, how
//! words and vectors are found, and who has the work that only one may do. Servers keep nothing:
//! whatever one of them acknowledged, the others see.

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

/// How the shared store is reached and used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresOptions {
    /// The address of the server itself, where the store is reached through a pooler in transaction mode: leases, notifications
    /// and migrations need a session of their own. None: the same address.
    pub direct: Option<String>,
    /// The schema that holds everything.
    pub schema: String,
    /// The role that serves. It is made if it is not there; it cannot pass by row-level security.
    pub role: String,
    /// The most connections of this server.
    pub connections: usize,
    /// Threads that write; spaces are shared out among them.
    pub writers: usize,
    /// How long one statement, or a connection, may take.
    pub timeout: Duration,
    /// Partitions by tenant; counts when the schema is made.
    pub partitions: usize,
    /// Whether vectors are kept in half precision; counts when the schema is made.
    pub halfvec: bool,
    /// The sizes of vectors that large scopes are searched for by a graph.
    pub dimensions: Vec<usize>,
    /// Scopes with more vectors than this are searched by the graph, smaller ones one by one.
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

/// How the store is named in errors.
const PLACE: &str = "postgres";

/// The shared store.
pub type PostgresStore = SqlStore<PostgresBackend>;

/// A schema on a server.
#[derive(Clone)]
pub struct PostgresBackend {
    inner: Arc<Inner>,
}

impl PostgresStore {
    /// Connects, and makes or renews the schema. The address is a URL or `key=value` pairs.
    pub async fn open(address: &str, options: PostgresOptions) -> Result<Self> {
        PostgresBackend::open(address, options).await.map(Self::over)
    }

    /// How many transactions this store has committed.
    pub fn commits(&self) -> u64 {
        self.backend.inner.writers.commits()
    }

    /// How often a caller has waited for an answer of the server. Connections for leases and notifications do not count.
    pub fn round_trips(&self) -> u64 {
        self.backend.inner.sessions.round_trips.load(Ordering::Relaxed)
    }

    /// Whether there is something of Loci in a schema. Makes nothing.
    pub async fn is_there(address: &str, options: &PostgresOptions) -> Result<bool> {
        PostgresBackend::is_there(address, options).await
    }
}

struct Inner {
    /// Where the server itself is.
    address: Address,
    sessions: Sessions,
    options: PostgresOptions,
    writers: Writers<Transactions>,
    analyser: Arc<Analyser>,
    leases: Leases,
    listener: Listener,
    /// Which scopes are searched by the graph.
    sizes: near::Sizes,
    /// The numbers of the spaces that were asked for, and when: another server may take one away.
    known: Mutex<HashMap<(Tenant, Space), (SpaceIds, Instant)>>,
    written: Mutex<HashSet<SpaceIds>>,
    /// Whether the disk was full when something was last written.
    full: AtomicBool,
}

impl PostgresBackend {
    async fn open(address: &str, options: PostgresOptions) -> Result<Self> {
        let pooled = Address::read(address, options.timeout)?;
        let address = match &options.direct {
            Some(direct) => Address::read(direct, options.timeout)?,
            None => pooled.clone(),
        };
        // The schema is changed by whoever the address names; memories are served by a role that owns nothing.
        let (mut client, driven) = address.driven().await?;
        let made = schema::migrate(&mut client, &options).await;
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
        let inner = Inner {
            writers: Writers::start(options.writers.max(1), Transactions::new(sessions.clone()))?,
            leases: Leases::new(address.clone(), &options.schema, sessions.handle.clone(), options.timeout),
            listener: Listener::new(address.clone(), &options.schema, options.timeout),
            analyser: Arc::default(),
            sizes: near::Sizes::default(),
            known: Mutex::default(),
            written: Mutex::default(),
            full: AtomicBool::new(false),
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
fn sql_error(error: crate::sql::Error) -> Error {
    Error::sql(Path::new(PLACE), error)
}

/// Converts an error of the driver by its code.
pub(crate) fn driver_error(path: &Path, error: tokio_postgres::Error) -> Error {
    let code = error.code().cloned();
    let problem = crate::sql::Error::from(error).to_string();
    let unavailable = |problem| Error::Unavailable { part: PLACE.to_owned(), problem };
    let path = path.to_owned();
    // A failure without a code is not the server's: it was not reached, or went away.
    match code {
        Some(state) if state.code() == schema::SPACE_REMOVED => {
            Error::Overtaken("another server has removed this space; repeat the change to begin it anew".to_owned())
        }
        Some(SqlState::DISK_FULL) => Error::DiskFull { path },
        Some(SqlState::LOCK_NOT_AVAILABLE | SqlState::QUERY_CANCELED) => Error::Busy { path },
        // The engine refuses NUL in everything it is given; an old SQLite file that is copied may hold it.
        Some(SqlState::CHARACTER_NOT_IN_REPERTOIRE | SqlState::UNTRANSLATABLE_CHARACTER) => {
            Error::Refused("a text contains a NUL character, which PostgreSQL cannot store".to_owned())
        }
        // The transaction was undone for the sake of another.
        Some(state) if state.code().starts_with("40") => unavailable(problem),
        // While a standby takes over it can be read and not written.
        Some(SqlState::READ_ONLY_SQL_TRANSACTION) => unavailable(problem),
        Some(state) if state.code().starts_with("08") || state.code().starts_with("57P") => unavailable(problem),
        Some(state) if ["53", "58"].iter().any(|class| state.code().starts_with(class)) => unavailable(problem),
        Some(state) if state.code().starts_with("XX") => Error::Damaged { path, problem },
        Some(_) => Error::Database { path, problem },
        None => unavailable(problem),
    }
}
