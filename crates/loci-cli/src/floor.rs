//! On which store does this Loci stand?

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use loci_store::prelude::Catalogue as _;
use loci_store::{
    Administration, Backup, BackupPlan, BackupProgress, MigrateOptions, MigrateStep, MigrationReport, PostgresOptions,
    PostgresStore, RestoreOutcome, RestorePlan, SqliteOptions, SqliteStore, VectorSource, create_backup_file, migrate,
};
use loci_types::{Error, ErrorKind, Tenant};
use serde::{Deserialize, Serialize};

use crate::settings::{Settings, variable};

/// So long one statement of a backup may take.
const PATIENCE: Duration = Duration::from_secs(300);

/// Which store it is, and how the embedded one uses the machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct StoreSettings {
    /// `sqlite` (files in the data folder) or `postgres` (a server that several Loci share).
    pub(crate) kind: StoreKind,
    /// Threads that write to files.
    pub(crate) writers: usize,
    /// Maximum bytes of vectors, terms and turn order cached from files.
    pub(crate) vector_bytes: usize,
}

/// Which store it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum StoreKind {
    /// Files in the data folder.
    Sqlite,
    /// A server.
    Postgres,
}

impl Default for StoreSettings {
    fn default() -> Self {
        let options = SqliteOptions::default();
        Self { kind: StoreKind::Sqlite, writers: options.writers, vector_bytes: options.cache_bytes }
    }
}

/// How PostgreSQL is reached and used.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Postgres {
    /// Its address; empty: as the variable `url_env` says.
    pub(crate) url: String,
    /// The environment variable that holds the address, with its password.
    pub(crate) url_env: String,
    /// The address of the server itself, if `url` is that of a pooler such as PgBouncer; empty: as the variable
    /// `direct_url_env` says, or the same as `url`.
    pub(crate) direct_url: String,
    /// The environment variable that holds the address of the server itself.
    pub(crate) direct_url_env: String,
    /// The schema that holds everything.
    pub(crate) schema: String,
    /// The role that serves; it cannot pass by row-level security.
    pub(crate) role: String,
    /// The most connections of this server.
    pub(crate) connections: usize,
    /// Threads that write.
    pub(crate) writers: usize,
    /// Milliseconds that one statement, or a connection, may take.
    pub(crate) timeout_ms: u64,
    /// Partitions by tenant; counts when the schema is made.
    pub(crate) partitions: usize,
    /// Whether vectors are kept in half precision; counts when the schema is made.
    pub(crate) halfvec: bool,
    /// Whether a graph of vectors is kept for large scopes. It makes every write slower.
    pub(crate) graph: bool,
    /// Scopes with more vectors than this are searched by the graph, smaller ones one by one.
    pub(crate) exact_up_to: usize,
}

impl Default for Postgres {
    fn default() -> Self {
        let options = PostgresOptions::default();
        Self {
            url: String::new(),
            url_env: "LOCI_POSTGRES_URL".to_owned(),
            direct_url: String::new(),
            direct_url_env: "LOCI_POSTGRES_DIRECT_URL".to_owned(),
            schema: options.schema,
            role: options.role,
            connections: options.connections,
            writers: options.writers,
            timeout_ms: options.timeout.as_millis() as u64,
            partitions: options.partitions,
            halfvec: options.halfvec,
            graph: true,
            exact_up_to: options.exact_up_to,
        }
    }
}

impl Postgres {
    /// The options of the store, for vectors of this size.
    fn options(&self, dimensions: Option<usize>) -> PostgresOptions {
        let standard = PostgresOptions::default();
        let given = Some(self.direct_url.clone()).filter(|url| !url.is_empty());
        PostgresOptions {
            direct: given.or_else(|| variable(&self.direct_url_env)),
            schema: self.schema.clone(),
            role: self.role.clone(),
            connections: self.connections,
            writers: self.writers,
            timeout: Duration::from_millis(self.timeout_ms),
            partitions: self.partitions,
            halfvec: self.halfvec,
            dimensions: match (self.graph, dimensions) {
                (false, _) => Vec::new(),
                (true, Some(size)) => vec![size],
                (true, None) => standard.dimensions,
            },
            exact_up_to: self.exact_up_to,
        }
    }

    /// Where the server is.
    pub(crate) fn address(&self) -> Result<String, Error> {
        let url = Some(self.url.clone()).filter(|url| !url.is_empty()).or_else(|| variable(&self.url_env));
        url.ok_or_else(|| {
            wrong(
                "postgres.url",
                format!("PostgreSQL is needed, but neither postgres.url nor {} says where", self.url_env),
            )
            .hint("set it to an address such as postgres://user:password@host:5432/database")
        })
    }

    /// Refuses what cannot work.
    pub(crate) fn validate(&self) -> Result<(), Error> {
        let plain = |name: &str| {
            !name.is_empty()
                && name.len() < 64
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        };
        for (field, name) in [("postgres.schema", &self.schema), ("postgres.role", &self.role)] {
            if !plain(name) || name.starts_with("pg_") {
                return Err(wrong(field, format!("`{name}` is no name"))
                    .hint("use letters, digits and _, fewer than 64, not beginning with pg_"));
            }
        }
        for (field, value, most) in [
            ("postgres.connections", self.connections as u64, 1_000),
            ("postgres.writers", self.writers as u64, 64),
            ("postgres.timeout_ms", self.timeout_ms, 600_000),
            ("postgres.partitions", self.partitions as u64, 256),
        ] {
            if !(1..=most).contains(&value) {
                return Err(wrong(field, format!("{field} is {value}, but must lie between 1 and {most}"))
                    .hint("leave it out for the default"));
            }
        }
        Ok(())
    }
}

/// A store of whichever kind, for what is not part of the engine: backups and migrations.
pub(crate) enum AnyStore {
    Sqlite(SqliteStore),
    Postgres(PostgresStore),
}

impl AnyStore {
    /// Opens the configured store. A statement of a backup may take long, and nobody else waits for it.
    pub(crate) async fn open(settings: &Settings, data: &Path) -> Result<Self, loci_engine::Error> {
        let store = &settings.store;
        Ok(match store.kind {
            StoreKind::Sqlite => {
                let options = SqliteOptions { writers: store.writers, cache_bytes: store.vector_bytes };
                Self::Sqlite(SqliteStore::open(data, options)?)
            }
            StoreKind::Postgres => {
                let options = PostgresOptions { timeout: PATIENCE, ..settings.postgres.options(None) };
                Self::Postgres(PostgresStore::open(&settings.postgres.address()?, options).await?)
            }
        })
    }

    /// The store, for those who look after it.
    fn administration(&self) -> &dyn Administration {
        match self {
            Self::Sqlite(store) => store,
            Self::Postgres(store) => store,
        }
    }

    /// The tenants that the store holds.
    pub(crate) async fn tenants(&self) -> loci_store::Result<Vec<Tenant>> {
        match self {
            Self::Sqlite(store) => store.tenants().await,
            Self::Postgres(store) => store.tenants().await,
        }
    }

    pub(crate) async fn create_backup_file(
        &self,
        plan: BackupPlan,
        path: &Path,
        progress: BackupProgress,
    ) -> loci_store::Result<Backup> {
        create_backup_file(self.administration(), plan, path, progress, Arc::new(|| false)).await
    }

    pub(crate) async fn restore_backup(&self, plan: RestorePlan) -> loci_store::Result<Vec<RestoreOutcome>> {
        self.administration().restore_backup(plan).await
    }

    pub(crate) async fn migrate_to(
        &self,
        target: &Self,
        options: MigrateOptions,
        progress: &mut (dyn FnMut(&MigrateStep<'_>) -> loci_store::Result<()> + Send),
    ) -> loci_store::Result<MigrationReport> {
        match (self, target) {
            (Self::Sqlite(from), Self::Sqlite(to)) => migrate(from, to, options, progress).await,
            (Self::Sqlite(from), Self::Postgres(to)) => migrate(from, to, options, progress).await,
            (Self::Postgres(from), Self::Sqlite(to)) => migrate(from, to, options, progress).await,
            (Self::Postgres(from), Self::Postgres(to)) => migrate(from, to, options, progress).await,
        }
    }
}

/// The store that is set. Files lie in `data`; vectors have this size, as far as is known.
pub(crate) async fn open(
    settings: &Settings,
    data: &Path,
    dimensions: Option<usize>,
) -> Result<Arc<dyn VectorSource>, loci_engine::Error> {
    let store = &settings.store;
    Ok(match store.kind {
        StoreKind::Sqlite => {
            let options = SqliteOptions { writers: store.writers, cache_bytes: store.vector_bytes };
            Arc::new(SqliteStore::open(data, options)?)
        }
        StoreKind::Postgres => {
            let address = settings.postgres.address()?;
            Arc::new(PostgresStore::open(&address, settings.postgres.options(dimensions)).await?)
        }
    })
}

fn wrong(field: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Configuration, message).at(field)
}
