//! The tier that several processes share.
//!
//! The server keeps its rate limits in it, the embedder a cache of vectors, and the engine working memory and the entries of
//! sessions. All of them continue without the tier when it is not available.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use loci_models::SharedCache;
use loci_server::{RateDecision, SharedHealth};
use loci_store::tier::{FallbackTier, ProcessTier, RedisTier, Tier, TierError, TierOptions};
use loci_types::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

use crate::secret::SecretSource;

/// Maximum number of bytes of each kind (working memory, sessions, embeddings) that this process holds while Redis is
/// unavailable, or where there is none.
const FALLBACK_BYTES: usize = 32 << 20;

/// The usual variable of the address of Redis.
const REDIS_URL: &str = "LOCI_REDIS_URL";

/// The tier for working memory, session entries, rate limits and cached vectors.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tiers {
    /// `process` or `redis`.
    pub kind: TierKind,
    /// The URL of Redis. Default: the value of the variable `url_env`.
    pub url: String,
    /// The environment variable that holds the address, with its password. The name begins with `LOCI_`.
    pub url_env: String,
    /// The file that holds the address instead; only its owner may be able to read it.
    pub url_file: Option<PathBuf>,
    /// The certificate authorities of Redis (PEM), instead of those of the system. They require `rediss://`.
    pub ca_file: Option<PathBuf>,
    /// The prefix of every key.
    pub prefix: String,
    /// Lifetime of a cached vector, in seconds.
    pub embedding_ttl_seconds: u64,
    /// Lifetime of a session after its last entry, in seconds.
    pub session_ttl_seconds: u64,
    /// Lifetime of working memory after its last use, in seconds.
    pub working_ttl_seconds: u64,
}

/// The kind of tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TierKind {
    /// The memory of the process.
    Process,
    /// Redis, shared by several processes.
    Redis,
}

impl Default for Tiers {
    fn default() -> Self {
        let options = TierOptions::default();
        Self {
            kind: TierKind::Process,
            url: String::new(),
            url_env: REDIS_URL.to_owned(),
            url_file: None,
            ca_file: None,
            prefix: options.prefix,
            embedding_ttl_seconds: options.embedding_life.as_secs(),
            session_ttl_seconds: options.session_idle.as_secs(),
            working_ttl_seconds: options.working_idle.as_secs(),
        }
    }
}

impl Tiers {
    /// The configured shared tier; `None` if the tier is the process. It connects later, so a Redis that is down does not
    /// prevent the start.
    pub fn open(&self) -> Result<Option<Arc<Common>>, Error> {
        self.validate()?;
        if self.kind == TierKind::Process {
            return Ok(None);
        }
        let url = match self.url.as_str() {
            "" => self.secret().read()?,
            url => Some(url.to_owned()),
        };
        let url = url.ok_or_else(|| {
            wrong("tiers.url", format!("tiers.kind is redis, but neither tiers.url nor {} is set", self.url_env))
                .hint("set it to an address such as redis://127.0.0.1:6379")
        })?;
        let refused = |error: TierError| {
            wrong("tiers.url", error.to_string())
                .hint("write redis://[user:password@]host[:port][/database], or rediss:// for TLS")
        };
        let authorities = crate::authorities::read("tiers.ca_file", self.ca_file.as_deref())?;
        let redis = RedisTier::with_authorities(&url, authorities, self.options()).map_err(refused)?;
        let fallback = ProcessTier::new(self.options(), FALLBACK_BYTES);
        Ok(Some(Arc::new(Common(Arc::new(FallbackTier::new(Arc::new(redis), fallback))))))
    }

    /// Where the address of Redis is, if it is not among the settings.
    pub fn secret(&self) -> SecretSource<'_> {
        SecretSource {
            variable_field: "tiers.url_env",
            file_field: "tiers.url_file",
            variable: &self.url_env,
            file: self.url_file.as_deref(),
            usual: REDIS_URL,
        }
    }

    /// A tier in the memory of this process, for the entries of sessions.
    pub fn alone(&self) -> Arc<dyn Tier> {
        Arc::new(ProcessTier::new(self.options(), FALLBACK_BYTES))
    }

    fn options(&self) -> TierOptions {
        TierOptions {
            prefix: self.prefix.clone(),
            embedding_life: Duration::from_secs(self.embedding_ttl_seconds),
            session_idle: Duration::from_secs(self.session_ttl_seconds),
            working_idle: Duration::from_secs(self.working_ttl_seconds),
            ..TierOptions::default()
        }
    }

    /// Validates the settings.
    pub fn validate(&self) -> Result<(), Error> {
        let year = 366 * 24 * 60 * 60;
        for (field, seconds) in [
            ("tiers.embedding_ttl_seconds", self.embedding_ttl_seconds),
            ("tiers.session_ttl_seconds", self.session_ttl_seconds),
            ("tiers.working_ttl_seconds", self.working_ttl_seconds),
        ] {
            if !(1..=year).contains(&seconds) {
                let message = format!("{field} is {seconds}, but must be between 1 and {year}");
                return Err(wrong(field, message).hint("leave it out for the default"));
            }
        }
        let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
        if self.prefix.is_empty() || !self.prefix.chars().all(plain) {
            return Err(wrong("tiers.prefix", format!("`{}` is not a valid prefix", self.prefix))
                .hint("use letters, digits, and any of - _ ."));
        }
        Ok(())
    }
}

fn wrong(field: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Configuration, message).at(field)
}

/// A tier that several processes share.
pub struct Common(Arc<FallbackTier>);

impl Common {
    /// The tier itself, for working memory and sessions.
    pub fn tier(&self) -> Arc<dyn Tier> {
        self.0.clone()
    }
}

impl fmt::Debug for Common {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0.name())
    }
}

#[async_trait]
impl loci_server::SharedLimiter for Common {
    async fn take(&self, key: &str, per_second: u32, burst: u32) -> Option<RateDecision> {
        let taken = self.0.take(key, per_second, burst).await.ok()?;
        let (retry_after, full_after) = (taken.retry_after, taken.full_after);
        Some(RateDecision { allowed: taken.allowed, left: taken.left, retry_after, full_after })
    }

    async fn health(&self) -> SharedHealth {
        match self.0.health().await {
            Ok(health) => SharedHealth {
                name: health.name.to_owned(),
                version: health.version,
                latency: health.latency,
                degraded: health.degraded,
            },
            Err(error) => SharedHealth {
                name: self.0.name().to_owned(),
                version: "unknown".to_owned(),
                latency: Duration::ZERO,
                degraded: Some(error.to_string()),
            },
        }
    }
}

#[async_trait]
impl SharedCache for Common {
    async fn get(&self, keys: &[String]) -> Option<Vec<Option<Vec<u8>>>> {
        self.0.embeddings(keys).await.ok()
    }

    async fn put(&self, entries: Vec<(String, Vec<u8>)>) {
        if let Err(error) = self.0.keep_embeddings(&entries).await {
            tracing::debug!(%error, "embeddings were not shared");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Settings;

    fn read(text: &str) -> Tiers {
        Settings::parse(&format!("[tiers]\n{text}")).unwrap().tiers
    }

    #[test]
    fn what_cannot_work_is_refused_by_its_name() {
        for (text, field) in [
            ("kind = \"redis\"\nurl_env = \"LOCI_TEST_NO_SUCH_VARIABLE\"", "tiers.url"),
            ("kind = \"redis\"\nurl = \"http://user:secret@host\"", "tiers.url"),
            ("prefix = \"\"", "tiers.prefix"),
            ("prefix = \"a:b\"", "tiers.prefix"),
            ("embedding_ttl_seconds = 0", "tiers.embedding_ttl_seconds"),
            ("session_ttl_seconds = 99999999999", "tiers.session_ttl_seconds"),
            ("working_ttl_seconds = 0", "tiers.working_ttl_seconds"),
        ] {
            let error = read(text).open().err().unwrap();
            assert_eq!(error.field(), Some(field), "{text}");
            assert!(!error.to_string().contains("secret"), "{error}");
        }
        assert!(Settings::parse("[tiers]\nkind = \"memcached\"").unwrap_err().contains("memcached"));
    }

    #[test]
    fn redis_is_dialled_when_it_is_needed() {
        assert!(read("").open().unwrap().is_none());
        for scheme in ["redis", "rediss"] {
            let settings = read(&format!("kind = \"redis\"\nurl = \"{scheme}://127.0.0.1:1\""));
            assert!(settings.open().unwrap().is_some(), "{scheme}");
        }
    }

    #[test]
    fn the_password_of_redis_is_not_printed() {
        let settings = Settings::parse("[tiers]\nurl = \"redis://user:p@ssword@host:6379/0\"").unwrap();
        assert_eq!(settings.public()["tiers"]["url"], "redis://[secret]@host:6379/0");
    }
}
