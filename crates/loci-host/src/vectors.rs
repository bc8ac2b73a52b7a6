//! The vector index that the settings choose.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loci_engine::Clock;
use loci_models::local::MINILM;
use loci_store::{
    IndexedOptions, LocalIndex, Pauses, PgvectorConfig, PgvectorIndex, Qdrant, QdrantConfig, Retry, Store, VectorSource,
};
use loci_types::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

use crate::secret::SecretSource;
use crate::settings::{Provider, Settings};
use crate::store::StoreKind;

/// The usual variable of the key of Qdrant.
const QDRANT_KEY: &str = "LOCI_QDRANT_KEY";

/// The vector index.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VectorSettings {
    /// `auto` (the store's own), `local`, `pgvector` or `qdrant`.
    pub kind: VectorKind,
    /// The URL of Qdrant.
    pub url: String,
    /// The environment variable that holds its key. The name begins with `LOCI_`.
    pub api_key_env: String,
    /// The file that holds the key instead; only its owner may be able to read it.
    pub api_key_file: Option<PathBuf>,
    /// The certificate authorities of Qdrant (PEM), instead of those of the system.
    pub ca_file: Option<PathBuf>,
    /// The prefix of the names of its collections.
    pub prefix: String,
    /// The model whose collections have no model name. Default: the one of `embeddings`.
    pub model: String,
    /// Timeout of a query of the index, in milliseconds. A write may take twice as long.
    pub timeout_ms: u64,
    /// Retries of writes, and the first pause before an unavailable index is tried again; such pauses are at most 2 s.
    pub retry: RetrySettings,
}

impl Default for VectorSettings {
    fn default() -> Self {
        Self {
            kind: VectorKind::Auto,
            url: "http://127.0.0.1:6333".to_owned(),
            api_key_env: QDRANT_KEY.to_owned(),
            api_key_file: None,
            ca_file: None,
            prefix: String::new(),
            model: String::new(),
            timeout_ms: 1_000,
            retry: RetrySettings::default(),
        }
    }
}

/// The sort of index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum VectorKind {
    /// The store's own: arrays in this process beside files, pgvector in PostgreSQL.
    Auto,
    /// Arrays in this process.
    Local,
    /// PostgreSQL's own, or beside files the server that `postgres` names.
    Pgvector,
    /// A Qdrant server.
    Qdrant,
}

/// How patiently a failed call is repeated.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetrySettings {
    /// How many times a call is made at most.
    pub max_attempts: u32,
    /// Milliseconds after the first failure.
    pub initial_delay_ms: u64,
    /// The longest wait, in milliseconds.
    pub max_delay_ms: u64,
    /// Factor by which each pause is longer than the one before.
    pub multiplier: f64,
}

impl Default for RetrySettings {
    fn default() -> Self {
        let usual = Retry::default();
        Self {
            max_attempts: usual.max_attempts,
            initial_delay_ms: usual.initial_delay.as_millis() as u64,
            max_delay_ms: usual.max_delay.as_millis() as u64,
            multiplier: usual.multiplier,
        }
    }
}

impl VectorSettings {
    /// Refuses what cannot work.
    pub fn validate(&self) -> Result<(), Error> {
        let wrong = |field, message: &str| Err(Error::new(ErrorKind::Configuration, message.to_owned()).at(field));
        if self.timeout_ms == 0 {
            return wrong("vectors.timeout_ms", "vectors.timeout_ms is 0, so that every request would fail");
        }
        if self.retry.max_attempts == 0 {
            return wrong(
                "vectors.retry.max_attempts",
                "vectors.retry.max_attempts is 0, so that nothing would be written",
            );
        }
        if !(1.0..=10.0).contains(&self.retry.multiplier) {
            return wrong("vectors.retry.multiplier", "vectors.retry.multiplier must be between 1 and 10");
        }
        Ok(())
    }

    /// The pauses between two calls to an index that is away.
    fn pauses(&self) -> Pauses {
        let usual = Pauses::default();
        Pauses {
            first: Duration::from_millis(self.retry.initial_delay_ms).min(usual.first),
            longest: Duration::from_millis(self.retry.max_delay_ms).min(usual.longest),
            factor: self.retry.multiplier,
        }
    }

    /// Where the key of Qdrant is.
    pub fn secret(&self) -> SecretSource<'_> {
        SecretSource {
            variable_field: "vectors.api_key_env",
            file_field: "vectors.api_key_file",
            variable: &self.api_key_env,
            file: self.api_key_file.as_deref(),
            usual: QDRANT_KEY,
        }
    }

    fn retry(&self) -> Retry {
        Retry {
            max_attempts: self.retry.max_attempts,
            initial_delay: Duration::from_millis(self.retry.initial_delay_ms),
            max_delay: Duration::from_millis(self.retry.max_delay_ms),
            multiplier: self.retry.multiplier,
        }
    }
}

/// The store, with the index beside it that is set.
pub fn beside(
    settings: &Settings,
    store: Arc<dyn VectorSource>,
    clock: Arc<dyn Clock>,
) -> Result<Arc<dyn Store>, loci_engine::Error> {
    let wanted = &settings.vectors;
    match (wanted.kind, settings.store.kind) {
        (VectorKind::Auto, _)
        | (VectorKind::Local, StoreKind::Sqlite)
        | (VectorKind::Pgvector, StoreKind::Postgres) => Ok(store),
        (VectorKind::Local, StoreKind::Postgres) => {
            // Arrays in this process are filled from the ledger when they are first asked for.
            let options = IndexedOptions { patience: Duration::from_secs(60), ..IndexedOptions::default() };
            let index = Arc::new(LocalIndex::default());
            Ok(store.indexed_by(index, loci_engine::oversight(clock), options))
        }
        (VectorKind::Pgvector, StoreKind::Sqlite) => {
            let index = PgvectorIndex::new(pgvector(settings)?)?;
            let options = IndexedOptions { back_off: wanted.pauses(), ..IndexedOptions::default() };
            Ok(store.indexed_by(Arc::new(index), loci_engine::oversight(clock), options))
        }
        (VectorKind::Qdrant, _) => {
            let config = QdrantConfig {
                api_key: wanted.secret().read()?,
                authorities: crate::authorities::read("vectors.ca_file", wanted.ca_file.as_deref())?,
                prefix: wanted.prefix.clone(),
                usual_model: Some(usual_model(settings)),
                store: store.store_id()?,
                timeout: Duration::from_millis(wanted.timeout_ms),
                retry: wanted.retry(),
                ..QdrantConfig::new(&wanted.url)
            };
            let index = Qdrant::new(config)?;
            let options = IndexedOptions { back_off: wanted.pauses(), ..IndexedOptions::default() };
            Ok(store.indexed_by(Arc::new(index), loci_engine::oversight(clock), options))
        }
    }
}

/// The server of `[postgres]`, for vectors alone: they lie in a schema beside the one of a store.
fn pgvector(settings: &Settings) -> Result<PgvectorConfig, Error> {
    let (wanted, server) = (&settings.vectors, &settings.postgres);
    let schema = format!("{}_vectors", server.schema);
    Ok(PgvectorConfig {
        schema,
        prefix: wanted.prefix.clone(),
        connections: server.connections,
        timeout: Duration::from_millis(wanted.timeout_ms),
        halfvec: server.halfvec,
        exact_up_to: server.exact_up_to,
        ..PgvectorConfig::new(&server.address()?)
    })
}

/// The model whose collections have the plain names. It follows from the settings alone, because commands that load no
/// model must mean the same collections.
fn usual_model(settings: &Settings) -> String {
    let embeddings = &settings.embeddings;
    match (settings.vectors.model.as_str(), embeddings.provider, embeddings.dimensions) {
        ("", Provider::Openai | Provider::Cohere, Some(dimensions)) => format!("{}@{dimensions}", embeddings.model),
        ("", Provider::Openai | Provider::Cohere, None) => embeddings.model.clone(),
        ("", Provider::Local | Provider::None, _) => MINILM.to_owned(),
        (named, ..) => named.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_may_have_their_vectors_in_postgres() {
        let text = "[vectors]\nkind = \"pgvector\"\nprefix = \"a-\"\n[postgres]\nschema = \"team\"\nurl = \"postgres://h/d\"\n";
        let config = pgvector(&Settings::parse(text).unwrap()).unwrap();
        assert_eq!(
            (config.url.as_str(), config.schema.as_str(), config.prefix.as_str()),
            ("postgres://h/d", "team_vectors", "a-")
        );
        let nowhere = "[vectors]\nkind = \"pgvector\"\n[postgres]\nurl_env = \"LOCI_TEST_NO_SUCH_VARIABLE\"\n";
        let refused = pgvector(&Settings::parse(nowhere).unwrap()).unwrap_err();
        assert_eq!(refused.field(), Some("postgres.url"));
    }

    #[test]
    fn settings_are_read_and_wrong_ones_are_reported_by_their_key() {
        let settings = Settings::parse(
            "[vectors]\nkind = \"qdrant\"\nurl = \"http://q:6333\"\nprefix = \"a-\"\nretry = { max_attempts = 5 }\n",
        )
        .unwrap();
        assert_eq!((settings.vectors.kind, settings.vectors.retry.max_attempts), (VectorKind::Qdrant, 5));
        assert_eq!(settings.vectors.retry(), Retry { max_attempts: 5, ..Retry::default() });
        assert_eq!(usual_model(&settings), MINILM);
        for (text, field) in [
            ("timeout_ms = 0", "vectors.timeout_ms"),
            ("retry = { max_attempts = 0 }", "vectors.retry.max_attempts"),
            ("retry = { multiplier = 0.5 }", "vectors.retry.multiplier"),
        ] {
            let settings = Settings::parse(&format!("[vectors]\n{text}\n")).unwrap();
            assert_eq!(settings.vectors.validate().unwrap_err().field(), Some(field));
        }
        assert!(Settings::parse("[vectors]\nkind = \"faiss\"\n").is_err());
    }
}
