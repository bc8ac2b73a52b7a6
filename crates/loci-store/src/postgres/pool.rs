//! The address of the server and the pool of connections to it.

use std::pin::Pin;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use deadpool_postgres::{
    Connect, Hook, HookError, Manager, ManagerConfig, Pool, PoolConfig, RecyclingMethod, Runtime, Timeouts,
};
use tokio::runtime::Handle;
use tokio::task::JoinHandle;
use tokio_postgres::{Client, Config, Connection, Socket};

use super::tls::{Encrypted, Tls};
use super::{PostgresOptions, pg_connection, schema, sql_error};
use crate::{Error, Result};

/// Time without traffic after which TCP keep-alive checks a connection.
const SILENCE: Duration = Duration::from_secs(30);

/// Number of threads that run the I/O of a pool's connections.
const DRIVERS: usize = 2;

/// Maximum age of a connection that is used again. It bounds the memory that the server uses for a connection.
const OLDEST: Duration = Duration::from_secs(30 * 60);

/// The address of a server and its TLS settings.
#[derive(Clone)]
pub(crate) struct Address {
    config: Config,
    tls: Tls,
}

impl Address {
    /// Parses a URL or `key=value` pairs.
    pub(crate) fn read(text: &str, timeout: Duration) -> Result<Self> {
        let (text, tls) = Tls::read(text)?;
        let mut config = Config::from_str(&text).map_err(|error| {
            Error::from(loci_types::Error::invalid("postgres.url", format!("invalid address of PostgreSQL: {error}")))
        })?;
        config.connect_timeout(timeout).application_name("loci").ssl_mode(tls.mode);
        if config.get_keepalives_idle() > SILENCE {
            config.keepalives_idle(SILENCE);
        }
        Ok(Self { config, tls })
    }

    /// Opens a connection outside any pool, as the user of the address. The caller must poll the returned connection.
    pub(super) async fn connect(&self) -> Result<(Client, Connection<Socket, Encrypted>), tokio_postgres::Error> {
        let connector = self.tls.connector();
        let connected = self.config.connect(connector.clone()).await?;
        self.tls.note(&connector);
        Ok(connected)
    }

    /// The same, with a task that polls the connection. An error of the task is reported by the next call.
    pub(super) async fn driven(&self) -> Result<(Client, JoinHandle<()>)> {
        // The connect timeout of the driver ends when TCP is connected; this one includes the handshake.
        let patience = self.config.get_connect_timeout().copied().unwrap_or(SILENCE);
        let connected = tokio::time::timeout(patience, self.connect()).await.map_err(|_| Error::Unavailable {
            part: "postgres".to_owned(),
            problem: format!("no connection within {} ms", patience.as_millis()),
        })?;
        let (client, connection) = connected.map_err(|error| sql_error(error.into()))?;
        Ok((client, tokio::spawn(async move { drop(connection.await) })))
    }
}

/// Opens connections for the pool in the same way.
impl Connect for Address {
    fn connect(&self, _: &Config) -> Connecting<'_> {
        Box::pin(async move {
            let (client, connection) = Address::connect(self).await?;
            Ok((client, tokio::spawn(async move { drop(connection.await) })))
        })
    }
}

type Connecting<'a> =
    Pin<Box<dyn Future<Output = Result<(Client, JoinHandle<()>), tokio_postgres::Error>> + Send + 'a>>;

/// The settings of a pool and of its connections.
pub(crate) struct ConnectionOptions<'m> {
    /// The role of every transaction. Default: the user of the address.
    pub(crate) role: Option<&'m str>,
    /// The first schema of the search path.
    pub(crate) schema: &'m str,
    /// Maximum number of connections.
    pub(crate) connections: usize,
    /// Timeout of a statement and of opening a connection.
    pub(crate) timeout: Duration,
}

/// The threads that run the I/O of a pool's connections. They are separate from the caller's runtime, where a query
/// computes for milliseconds: a write with a dozen round trips would wait for that each time.
struct Driver(Option<tokio::runtime::Runtime>);

impl Driver {
    fn start() -> Result<Self> {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(DRIVERS)
            .thread_name("loci-postgres")
            .enable_all()
            .build()
            .map(|runtime| Self(Some(runtime)))
            .map_err(|error| Error::Unavailable { part: "threads".to_owned(), problem: error.to_string() })
    }
}

impl Drop for Driver {
    /// Does not block, because the last handle may be dropped on an async thread.
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// The connection pool.
#[derive(Clone)]
pub(crate) struct Sessions {
    pub(super) pool: Pool,
    /// The runtime for tasks that wait for a connection of the pool.
    pub(super) handle: Handle,
    _driver: Arc<Driver>,
    pub(super) timeout: Duration,
    /// The settings of every transaction, as statements after `BEGIN`.
    pub(super) settings: Arc<str>,
    /// Number of round trips to the server.
    pub(super) round_trips: Arc<AtomicU64>,
}

impl Sessions {
    /// Creates a pool. It connects on first use.
    pub(crate) fn new(address: &Address, options: &ConnectionOptions<'_>) -> Result<Self> {
        let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
        let manager = Manager::from_connect(address.config.clone(), address.clone(), recycling);
        let role = options.role.map(|role| format!("SET LOCAL ROLE {}; ", schema::quoted(role))).unwrap_or_default();
        let (timeout, patience) = (options.timeout, options.timeout.as_millis());
        let settings = format!(
            "{role}SET LOCAL search_path = {}, public; SET LOCAL statement_timeout = {patience}; \
             SET LOCAL lock_timeout = {patience}; SET LOCAL idle_in_transaction_session_timeout = {}; \
             SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL jit = off; ",
            schema::quoted(options.schema),
            6 * patience,
        );
        let young = Hook::sync_fn(|_, metrics| match metrics.age() < OLDEST {
            true => Ok(()),
            false => Err(HookError::message("the connection is old")),
        });
        let wait = Some(timeout);
        let pool = Pool::builder(manager)
            .config(PoolConfig {
                max_size: options.connections,
                timeouts: Timeouts { wait, create: wait, recycle: wait },
                ..PoolConfig::default()
            })
            .runtime(Runtime::Tokio1)
            .pre_recycle(young)
            .build()
            .map_err(|error| Error::Unavailable { part: "postgres".to_owned(), problem: error.to_string() })?;
        let driver = Driver::start()?;
        let handle = driver.0.as_ref().map_or_else(Handle::current, |runtime| runtime.handle().clone());
        let (settings, round_trips) = (settings.into(), Arc::default());
        Ok(Self { pool, handle, _driver: Arc::new(driver), timeout, settings, round_trips })
    }

    /// Fails if the role bypasses row-level security, since then it could read all tenants.
    pub(super) async fn refuse_to_bypass(&self, options: &PostgresOptions) -> Result<()> {
        let pool = self.pool.clone();
        let client = self.handle.spawn(async move { pool.get().await });
        let mut client = client.await.map_err(|_| Error::Closed)?.map_err(pg_connection::refused)?;
        let sql = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user";
        let bypasses = async {
            let transaction = client.transaction().await?;
            transaction.batch_execute(&self.settings).await?;
            let row = transaction.query_one(sql, &[]).await?;
            transaction.rollback().await?;
            Ok::<_, tokio_postgres::Error>(row.get::<_, bool>(0))
        };
        if bypasses.await.map_err(|error| sql_error(error.into()))? {
            return Err(Error::from(loci_types::Error::invalid(
                "postgres.role",
                format!(
                    "the role {} bypasses row-level security; remove BYPASSRLS and SUPERUSER from it",
                    options.role
                ),
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        for (text, expected) in [
            ("postgres://loci@host:5432/memories", None),
            ("host=host user=loci sslmode=prefer", None),
            ("host=host user=loci sslmode=disable", None),
            ("postgres://loci@host/memories?sslmode=require", None),
            ("postgres://loci@host/memories?sslmode=sometimes", Some("verify-full")),
            ("nowhere", Some("invalid address")),
        ] {
            let found = Address::read(text, SILENCE).err().map(|error| error.to_string());
            match (&found, expected) {
                (None, None) => {}
                (Some(found), Some(expected)) if found.contains(expected) => {}
                _ => panic!("{text}: {found:?}"),
            }
        }
    }
}
