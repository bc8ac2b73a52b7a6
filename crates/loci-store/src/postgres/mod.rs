//! The shared store: PostgreSQL with pgvector, for any number of servers.
//!
//! The rules are those of [`crate::sql`]; here stands how a transaction speaks for one space, how
//! words and vectors are found, and who has the work that only one may do. Servers keep nothing:
//! whatever one of them acknowledged, the others see.

mod doctor;
mod floor;
mod lease;
mod near;
mod pen;
mod schema;
mod session;
mod words;

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use deadpool_postgres::{
    Hook, HookError, Manager, ManagerConfig, Pool, PoolConfig, RecyclingMethod, Runtime, Timeouts,
};
use loci_types::{Space, Tenant};
use tokio::runtime::Handle;
use tokio_postgres::error::SqlState;
use tokio_postgres::{Config, NoTls};

use self::floor::Numbered;
use self::lease::Leases;
use self::pen::{Target, Transactions};
pub(crate) use self::session::Session;
pub(crate) use self::words::put_words;
use crate::sql::writer::Writers;
use crate::text::Analyser;
use crate::{Error, Result};

/// How the shared store is reached and used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PostgresOptions {
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

impl PostgresOptions {
    /// How the store is named in errors.
    fn place(&self) -> PathBuf {
        PathBuf::from("postgres")
    }
}

/// The shared store.
#[derive(Clone)]
pub struct PostgresStore {
    inner: Arc<Inner>,
}

struct Inner {
    sessions: Sessions,
    options: PostgresOptions,
    writers: Writers<Target>,
    analyser: Arc<Analyser>,
    leases: Leases,
    /// The numbers of the spaces that were asked for.
    known: Mutex<HashMap<(Tenant, Space), Target>>,
    opened: Mutex<HashMap<(Tenant, Space), Arc<Numbered>>>,
    written: Mutex<HashSet<Target>>,
}

/// Where sessions come from.
#[derive(Clone)]
struct Sessions {
    pool: Pool,
    handle: Handle,
    timeout: Duration,
}

impl PostgresStore {
    /// Connects, and makes or renews the schema. The address is a URL or `key=value` pairs.
    pub async fn open(address: &str, options: PostgresOptions) -> Result<Self> {
        let mut config = Config::from_str(address).map_err(|error| {
            Error::from(loci_types::Error::invalid(
                "postgres.url",
                format!("this is no address of PostgreSQL: {error}"),
            ))
        })?;
        config.connect_timeout(options.timeout).application_name("loci");
        if config.get_keepalives_idle() > Duration::from_secs(30) {
            config.keepalives_idle(Duration::from_secs(30));
        }
        let said = |error| meant(&options.place(), error);
        // The schema is changed by whoever the address names; memories are served by a role that owns nothing.
        // The timeout above ends when the port answers; a server that says nothing more is given up here.
        let connected = tokio::time::timeout(options.timeout, config.connect(NoTls)).await;
        let (mut client, connection) = connected
            .map_err(|_| Error::Unavailable {
                part: "postgres".to_owned(),
                problem: format!("no connection within {} ms", options.timeout.as_millis()),
            })?
            .map_err(said)?;
        let driven = tokio::spawn(connection);
        let made = schema::migrate(&mut client, &options).await;
        drop(client);
        drop(driven.await);
        made?;
        let sessions = Sessions::new(config, &options)?;
        sessions.refuse_to_bypass(&options).await?;
        let pen = sessions.clone();
        let inner = Inner {
            writers: Writers::start(options.writers.max(1), || Transactions::new(pen.clone()))?,
            leases: Leases::new(sessions.clone()),
            analyser: Arc::default(),
            known: Mutex::default(),
            opened: Mutex::default(),
            written: Mutex::default(),
            sessions,
            options,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// How many transactions this store has committed.
    pub fn commits(&self) -> u64 {
        self.inner.writers.commits()
    }
}

impl Sessions {
    fn new(config: Config, options: &PostgresOptions) -> Result<Self> {
        let manager = Manager::from_config(config, NoTls, ManagerConfig { recycling_method: RecyclingMethod::Fast });
        let begin = format!(
            "SET ROLE {}; SET search_path = {}, public; SET statement_timeout = {}; SET lock_timeout = {}; \
             SET idle_in_transaction_session_timeout = {}; SET plan_cache_mode = force_generic_plan; SET jit = off",
            schema::quoted(&options.role),
            schema::quoted(&options.schema),
            options.timeout.as_millis(),
            options.timeout.as_millis(),
            6 * options.timeout.as_millis(),
        );
        let patience = options.timeout;
        let hook = Hook::async_fn(move |client, _| {
            let begin = begin.clone();
            Box::pin(async move {
                // The pool's own timeouts do not cover this.
                match tokio::time::timeout(patience, client.batch_execute(&begin)).await {
                    Ok(answer) => answer.map_err(HookError::Backend),
                    Err(_) => Err(HookError::message("the new connection does not answer")),
                }
            })
        });
        let wait = Some(options.timeout);
        let pool = Pool::builder(manager)
            .config(PoolConfig {
                max_size: options.connections.max(options.writers + 2),
                timeouts: Timeouts { wait, create: wait, recycle: wait },
                ..PoolConfig::default()
            })
            .runtime(Runtime::Tokio1)
            .post_create(hook)
            .build()
            .map_err(|error| Error::Unavailable { part: "postgres".to_owned(), problem: error.to_string() })?;
        Ok(Self { pool, handle: Handle::current(), timeout: options.timeout })
    }

    /// A role that passes by the policies would make one tenant of all.
    async fn refuse_to_bypass(&self, options: &PostgresOptions) -> Result<()> {
        let client = self.pool.get().await.map_err(session::refused)?;
        let sql = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user";
        let row = client.query_one(sql, &[]).await.map_err(|error| meant(&options.place(), error))?;
        if row.get::<_, bool>(0) {
            return Err(Error::from(loci_types::Error::invalid(
                "postgres.role",
                format!("the role {} passes by row-level security; take it BYPASSRLS and SUPERUSER", options.role),
            )));
        }
        Ok(())
    }
}

/// Reads what PostgreSQL meant.
pub(crate) fn meant(path: &Path, error: tokio_postgres::Error) -> Error {
    let problem = crate::sql::Error::from(error).to_string();
    let unavailable = |problem| Error::Unavailable { part: "postgres".to_owned(), problem };
    let path = path.to_owned();
    // The error was moved into its words; its code stands at their end.
    let code = problem.strip_suffix(')').and_then(|text| text.rsplit_once('(')).map(|(_, code)| code);
    match code.map(SqlState::from_code) {
        Some(SqlState::DISK_FULL) => Error::DiskFull { path },
        Some(SqlState::LOCK_NOT_AVAILABLE | SqlState::QUERY_CANCELED) => Error::Busy { path },
        // While a standby takes over it can be read and not written.
        Some(SqlState::READ_ONLY_SQL_TRANSACTION) => unavailable(problem),
        Some(state) if state.code().starts_with("08") || state.code().starts_with("57P") => unavailable(problem),
        Some(state) if ["53", "58"].iter().any(|class| state.code().starts_with(class)) => unavailable(problem),
        Some(state) if state.code().starts_with("XX") => Error::Damaged { path, problem },
        Some(_) => Error::Database { path, problem },
        None => unavailable(problem),
    }
}
