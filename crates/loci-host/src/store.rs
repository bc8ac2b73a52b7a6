//! The store that the settings choose: files or PostgreSQL.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loci_store::prelude::Catalogue as _;
use loci_store::{
    Administration, Backup, BackupPlan, BackupProgress, MigrateOptions, MigrateStep, MigrationReport, PostgresOptions,
    PostgresStore, RestoreOutcome, RestorePlan, SqliteOptions, SqliteStore, VectorSource, create_backup_file, migrate,
};
use loci_types::{Error, ErrorKind, Tenant};
use serde::{Deserialize, Serialize};

use crate::secret::SecretSource;
use crate::settings::Settings;

/// Timeout of a statement of a backup.
const PATIENCE: Duration = Duration::from_secs(300);

/// The store, and the resources of the embedded one.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StoreSettings {
    /// `sqlite` (files in the data folder) or `postgres` (a server that several processes share).
    pub kind: StoreKind,
    /// Number of threads that write to files.
    pub writers: usize,
    /// Maximum bytes of vectors, terms and turn order cached from files.
    pub vector_bytes: usize,
}

/// The kind of store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StoreKind {
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

/// The usual variable of the address of PostgreSQL.
const POSTGRES_URL: &str = "LOCI_POSTGRES_URL";
/// The usual variable of the address of PostgreSQL itself behind a pooler.
const POSTGRES_DIRECT_URL: &str = "LOCI_POSTGRES_DIRECT_URL";

/// Connection to PostgreSQL and its use.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Postgres {
    /// The URL. Default: the value of the variable `url_env`. Other name: `connection_string`.
    #[serde(alias = "connection_string")]
    pub url: String,
    /// The environment variable that holds the address, with its password. The name begins with `LOCI_`.
    pub url_env: String,
    /// The file that holds the address instead; only its owner may be able to read it.
    pub url_file: Option<PathBuf>,
    /// The URL of the server itself, if `url` is that of a pooler such as PgBouncer. Default: the value of the variable
    /// `direct_url_env`, or else `url`.
    pub direct_url: String,
    /// The environment variable that holds the address of the server itself. The name begins with `LOCI_`.
    pub direct_url_env: String,
    /// The file that holds the address of the server itself instead; only its owner may be able to read it.
    pub direct_url_file: Option<PathBuf>,
    /// The schema that holds everything.
    pub schema: String,
    /// The role for queries; it must not bypass row-level security.
    pub role: String,
    /// Maximum number of connections of this process. Other name: `pool_size`.
    #[serde(alias = "pool_size")]
    pub connections: usize,
    /// Number of threads that write.
    pub writers: usize,
    /// Timeout of a statement and of a connection, in milliseconds.
    pub timeout_ms: u64,
    /// Number of partitions by tenant; used when the schema is created.
    pub partitions: usize,
    /// Whether vectors are stored in half precision; used when the schema is created.
    pub halfvec: bool,
    /// Whether large scopes have an HNSW index. It makes every write slower.
    pub graph: bool,
    /// Scopes with more vectors than this use the HNSW index; smaller ones are scanned.
    pub exact_up_to: usize,
}

impl Default for Postgres {
    fn default() -> Self {
        let options = PostgresOptions::default();
        Self {
            url: String::new(),
            url_env: POSTGRES_URL.to_owned(),
            url_file: None,
            direct_url: String::new(),
            direct_url_env: POSTGRES_DIRECT_URL.to_owned(),
            direct_url_file: None,
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
    fn options(&self, dimensions: Option<usize>) -> Result<PostgresOptions, Error> {
        let standard = PostgresOptions::default();
        let direct = match self.direct_url.as_str() {
            "" => self.direct_secret().read()?,
            url => Some(url.to_owned()),
        };
        Ok(PostgresOptions {
            direct,
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
        })
    }

    /// Where the URL of the server is, if it is not among the settings.
    pub fn secret(&self) -> SecretSource<'_> {
        SecretSource {
            variable_field: "postgres.url_env",
            file_field: "postgres.url_file",
            variable: &self.url_env,
            file: self.url_file.as_deref(),
            usual: POSTGRES_URL,
        }
    }

    /// Where the URL of the server behind a pooler is, if it is not among the settings.
    pub fn direct_secret(&self) -> SecretSource<'_> {
        SecretSource {
            variable_field: "postgres.direct_url_env",
            file_field: "postgres.direct_url_file",
            variable: &self.direct_url_env,
            file: self.direct_url_file.as_deref(),
            usual: POSTGRES_DIRECT_URL,
        }
    }

    /// The URL of the server.
    pub fn address(&self) -> Result<String, Error> {
        let url = match self.url.as_str() {
            "" => self.secret().read()?,
            url => Some(url.to_owned()),
        };
        url.ok_or_else(|| {
            wrong("postgres.url", format!("PostgreSQL is needed, but neither postgres.url nor {} is set", self.url_env))
                .hint("set it to an address such as postgres://user:password@host:5432/database")
        })
    }

    /// Checks that the address, or that of the server behind a pooler, can be parsed.
    pub fn check_address(&self) -> Result<(), Error> {
        // The address is not repeated, because it may hold a password.
        let check = |field, url: &str| match url.contains("://") || url.contains('=') {
            true => Ok(()),
            false => Err(wrong(field, format!("{field} is not an address of PostgreSQL"))
                .hint("set it to an address such as postgres://user:password@host:5432/database")),
        };
        check("postgres.url", &self.address()?)?;
        match self.options(None)?.direct {
            Some(url) => check("postgres.direct_url", &url),
            None => Ok(()),
        }
    }

    /// Validates the settings.
    pub fn validate(&self) -> Result<(), Error> {
        let plain = |name: &str| {
            !name.is_empty()
                && name.len() < 64
                && name.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
        };
        for (field, name) in [("postgres.schema", &self.schema), ("postgres.role", &self.role)] {
            if !plain(name) || name.starts_with("pg_") {
                return Err(wrong(field, format!("`{name}` is not a valid name"))
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
                return Err(wrong(field, format!("{field} is {value}, but must be between 1 and {most}"))
                    .hint("leave it out for the default"));
            }
        }
        Ok(())
    }
}

/// A store of either kind, for work outside of the engine: backups and migrations.
pub enum AnyStore {
    /// Files in a data folder.
    Sqlite(SqliteStore),
    /// A PostgreSQL server.
    Postgres(PostgresStore),
}

impl AnyStore {
    /// Opens the configured store, with the long timeout of backups.
    pub async fn open(settings: &Settings, data: &Path) -> Result<Self, loci_engine::Error> {
        Ok(match settings.store.kind {
            StoreKind::Sqlite => Self::Sqlite(SqliteStore::open(data, sqlite_options(settings)?)?),
            StoreKind::Postgres => {
                let options = PostgresOptions { timeout: PATIENCE, ..settings.postgres.options(None)? };
                Self::Postgres(PostgresStore::open(&settings.postgres.address()?, options).await?)
            }
        })
    }

    /// The store as its administrative trait.
    fn administration(&self) -> &dyn Administration {
        match self {
            Self::Sqlite(store) => store,
            Self::Postgres(store) => store,
        }
    }

    /// The tenants that the store holds.
    pub async fn tenants(&self) -> loci_store::Result<Vec<Tenant>> {
        match self {
            Self::Sqlite(store) => store.tenants().await,
            Self::Postgres(store) => store.tenants().await,
        }
    }

    /// Writes a backup to a file.
    pub async fn create_backup_file(
        &self,
        plan: BackupPlan,
        path: &Path,
        progress: BackupProgress,
    ) -> loci_store::Result<Backup> {
        create_backup_file(self.administration(), plan, path, progress, Arc::new(|| false)).await
    }

    /// Restores a backup.
    pub async fn restore_backup(&self, plan: RestorePlan) -> loci_store::Result<Vec<RestoreOutcome>> {
        self.administration().restore_backup(plan).await
    }

    /// Copies everything to another store.
    pub async fn migrate_to(
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

/// Opens the configured store. Files are in `data`; vectors have this number of dimensions, if it is known.
pub async fn open(
    settings: &Settings,
    data: &Path,
    dimensions: Option<usize>,
) -> Result<Arc<dyn VectorSource>, loci_engine::Error> {
    Ok(match settings.store.kind {
        StoreKind::Sqlite => Arc::new(SqliteStore::open(data, sqlite_options(settings)?)?),
        StoreKind::Postgres => {
            let address = settings.postgres.address()?;
            Arc::new(PostgresStore::open(&address, settings.postgres.options(dimensions)?).await?)
        }
    })
}

/// The options of the embedded store.
fn sqlite_options(settings: &Settings) -> Result<SqliteOptions, Error> {
    let store = &settings.store;
    Ok(SqliteOptions { writers: store.writers, cache_bytes: store.vector_bytes, key: settings.store_key()? })
}

fn wrong(field: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Configuration, message).at(field)
}
