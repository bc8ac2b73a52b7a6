//! Settings, and the source of each.
//!
//! The sources, of which a later one wins: the configuration file of the user, harmless keys of a project file, `LOCI_*` in
//! the environment, flags. An unknown key or a wrong value is refused by name before anything runs. **Invariant:** the
//! working directory is never where the configuration comes from; see `project_file.rs`.

use std::path::{Path, PathBuf};

use loci_engine::Config;
use loci_models::local::Precision;
use loci_types::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

use crate::categories_file::read_categories;
use crate::project_file;
use crate::secret::SecretSource;
pub use crate::sources::Sources;
use crate::store::StoreKind;
use crate::tier::TierKind;

/// The usual variable of the key of the embedding endpoint.
const EMBEDDINGS_KEY: &str = "LOCI_EMBEDDINGS_KEY";
/// The usual variable of the key of the reranker.
const RERANK_KEY: &str = "LOCI_RERANK_KEY";
/// The usual variable of the key of the language model.
const LLM_KEY: &str = "LOCI_LLM_KEY";

/// The endpoint of OpenAI and its model.
const OPENAI: (&str, &str) = ("https://api.openai.com/v1", "text-embedding-3-small");
/// The endpoint of Cohere and its model.
const COHERE: (&str, &str) = ("https://api.cohere.com/v2", "embed-v4.0");

/// Everything that can be set.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// The data folder.
    pub data: Option<PathBuf>,
    /// The user of commands without identifiers.
    pub user: Option<String>,
    /// The project of commands without identifiers: they read its memories too. What they write belongs to the user.
    pub project: Option<String>,
    /// The certificate authorities of the server that `--server` names (PEM), instead of those of the system.
    pub ca_file: Option<PathBuf>,
    /// The file with the categories and their allowlists, relative to this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub categories_file: Option<PathBuf>,
    /// The contents of the categories file.
    #[serde(skip)]
    pub categories: loci_engine::Categories,
    /// The embedding model.
    pub embeddings: Embeddings,
    /// The reranker.
    pub rerank: Rerank,
    /// The language model for learning and summaries.
    pub llm: Llm,
    /// The store, and the resources of the embedded one.
    pub store: crate::store::StoreSettings,
    /// Encryption of the embedded store and of backups.
    pub encryption: crate::encryption::Encryption,
    /// How backups are stored.
    pub backup: crate::encryption::BackupSettings,
    /// PostgreSQL, if it is the store.
    pub postgres: crate::store::Postgres,
    /// The tier for working memory, session entries, rate limits and cached vectors.
    pub tiers: crate::tier::Tiers,
    /// The vector index.
    pub vectors: crate::vectors::VectorSettings,
    /// Repeated calls of models.
    pub retry: crate::retry::CallRetries,
    /// The HTTP server.
    pub server: loci_server::ServerOptions,
    /// Credentials besides the keys of Loci.
    pub auth: loci_server::AuthOptions,
    /// Delivery of webhooks.
    pub webhooks: loci_server::WebhookOptions,
    /// MCP.
    pub mcp: loci_server::McpOptions,
    /// Limits of sizes and counts.
    pub limits: loci_engine::Limits,
    /// Ranking of recall.
    pub retrieval: loci_engine::Retrieval,
    /// Ageing and maintenance.
    pub lifecycle: loci_engine::Lifecycle,
    /// Similarity thresholds of reconciling.
    pub bands: loci_engine::Bands,
    /// Where the nightly work compares what is stored.
    pub consolidation: loci_engine::Consolidation,
    /// Limits of learning.
    pub learning: loci_engine::LearningLimits,
    /// Memories that need consent.
    pub consent: loci_engine::Consent,
    /// Ending and learning of sessions.
    pub sessions: loci_engine::Sessions,
    /// Summaries of conversations.
    #[serde(alias = "summarisation")]
    pub summarization: loci_engine::Summarization,
    /// Sizes of working memory.
    pub working: loci_engine::Working,
    /// Buffered writes.
    pub batch: loci_engine::Batching,
    /// Masking and refusal of secrets.
    pub redaction: loci_engine::Redaction,
    /// Kinds besides the built-in ones.
    pub kinds: Vec<loci_types::KindSpec>,
}

/// The embedding model.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Embeddings {
    /// `local`, `openai` (any compatible endpoint), `cohere` or `none`.
    pub provider: Provider,
    /// The folder of a local model.
    pub folder: Option<PathBuf>,
    /// The precision of a local model: `eight` bits, or `full`, which is slower.
    pub precision: Precision,
    /// Whether texts in other languages than English use the multilingual model, if it is installed.
    pub languages: bool,
    /// Whether a missing local model may be fetched from the hub.
    pub hub: bool,
    /// The URL of the endpoint, including `/v1`. Default with the provider `cohere`: `https://api.cohere.com/v2`.
    pub base_url: String,
    /// The endpoint's model. Default with the provider `cohere`: `embed-v4.0`.
    pub model: String,
    /// The size of its vectors. Default: that of the first answer.
    pub dimensions: Option<usize>,
    /// Number of texts in one request. Cohere takes at most 96.
    pub batch_size: usize,
    /// Deadline in milliseconds of a call that a request waits for; after it, search is by words and the vector of a new
    /// memory is computed later. Each further text adds 50 ms.
    pub deadline_ms: u64,
    /// The environment variable that holds the API key. Its name begins with `LOCI_`.
    pub api_key_env: String,
    /// The file that holds the API key instead; only its owner may be able to read it.
    pub api_key_file: Option<PathBuf>,
    /// The certificate authorities of the endpoint (PEM), instead of those of the system.
    pub ca_file: Option<PathBuf>,
}

impl Default for Embeddings {
    fn default() -> Self {
        Self {
            provider: Provider::Local,
            folder: None,
            precision: Precision::default(),
            languages: true,
            hub: true,
            base_url: OPENAI.0.to_owned(),
            model: OPENAI.1.to_owned(),
            dimensions: None,
            batch_size: 100,
            deadline_ms: 1_000,
            api_key_env: EMBEDDINGS_KEY.to_owned(),
            api_key_file: None,
            ca_file: None,
        }
    }
}

/// The reranker; off unless an endpoint is set.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rerank {
    /// The URL of the endpoint without `/rerank`. Default: empty, which turns the reranker off.
    pub base_url: String,
    /// The endpoint's model. Default: the only one it has, as with text-embeddings-inference.
    pub model: Option<String>,
    /// Timeout in milliseconds; after it the order stays as it is.
    pub deadline_ms: u64,
    /// The environment variable that holds the API key. Its name begins with `LOCI_`.
    pub api_key_env: String,
    /// The file that holds the API key instead; only its owner may be able to read it.
    pub api_key_file: Option<PathBuf>,
    /// The certificate authorities of the endpoint (PEM), instead of those of the system.
    pub ca_file: Option<PathBuf>,
}

impl Default for Rerank {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            model: None,
            deadline_ms: 300,
            api_key_env: RERANK_KEY.to_owned(),
            api_key_file: None,
            ca_file: None,
        }
    }
}

/// The language model; off unless an endpoint is set. Without one, rules learn from conversations.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Llm {
    /// The URL of the endpoint, including `/v1`. Default: empty, which turns the language model off.
    pub base_url: String,
    /// The endpoint's model.
    pub model: String,
    /// Timeout in seconds of a call with an answer of up to 400 tokens; longer answers have a longer one.
    pub timeout_seconds: u64,
    /// The environment variable that holds the API key. Its name begins with `LOCI_`.
    pub api_key_env: String,
    /// The file that holds the API key instead; only its owner may be able to read it.
    pub api_key_file: Option<PathBuf>,
    /// The certificate authorities of the endpoint (PEM), instead of those of the system.
    pub ca_file: Option<PathBuf>,
    /// The price of a million input tokens, for the log.
    pub price_in_per_million: f64,
    /// The price of a million output tokens, for the log.
    pub price_out_per_million: f64,
}

impl Default for Llm {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            model: "gpt-4o-mini".to_owned(),
            timeout_seconds: 60,
            api_key_env: LLM_KEY.to_owned(),
            api_key_file: None,
            ca_file: None,
            price_in_per_million: 0.0,
            price_out_per_million: 0.0,
        }
    }
}

/// The kind of embedding model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// A model in this process.
    Local,
    /// A model behind an OpenAI-compatible endpoint.
    Openai,
    /// A model of Cohere.
    Cohere,
    /// No model: search by words only.
    None,
}

impl Provider {
    /// Whether the model is behind an endpoint.
    pub fn is_remote(self) -> bool {
        matches!(self, Self::Openai | Self::Cohere)
    }
}

impl Embeddings {
    /// Gives the provider its own endpoint and model where none was named.
    fn complete(&mut self) {
        if self.provider == Provider::Cohere {
            let own = |set: &mut String, usual: &str, own: &str| {
                if set == usual {
                    own.clone_into(set);
                }
            };
            own(&mut self.base_url, OPENAI.0, COHERE.0);
            own(&mut self.model, OPENAI.1, COHERE.1);
        }
    }

    /// Where the API key is.
    pub fn secret(&self) -> SecretSource<'_> {
        SecretSource {
            variable_field: "embeddings.api_key_env",
            file_field: "embeddings.api_key_file",
            variable: &self.api_key_env,
            file: self.api_key_file.as_deref(),
            usual: EMBEDDINGS_KEY,
        }
    }
}

impl Rerank {
    /// Where the API key is.
    pub fn secret(&self) -> SecretSource<'_> {
        SecretSource {
            variable_field: "rerank.api_key_env",
            file_field: "rerank.api_key_file",
            variable: &self.api_key_env,
            file: self.api_key_file.as_deref(),
            usual: RERANK_KEY,
        }
    }
}

impl Llm {
    /// Where the API key is.
    pub fn secret(&self) -> SecretSource<'_> {
        SecretSource {
            variable_field: "llm.api_key_env",
            file_field: "llm.api_key_file",
            variable: &self.api_key_env,
            file: self.api_key_file.as_deref(),
            usual: LLM_KEY,
        }
    }
}

impl Settings {
    /// Reads the files, applies the environment, and validates the result.
    pub fn load(named: Option<&Path>) -> Result<(Self, Sources), Error> {
        let from_environment = variable("LOCI_CONFIG").map(PathBuf::from);
        let named = named.or(from_environment.as_deref());
        let own = user_file();
        let (mut settings, mut sources) = match (named, &own) {
            (Some(path), _) => Self::read(path)?,
            (None, Some(path)) if path.exists() => Self::read(path)?,
            _ => Default::default(),
        };
        // A configuration that was named is the whole configuration.
        if named.is_none()
            && let Ok(folder) = std::env::current_dir()
        {
            sources.note = project_file::apply(&mut settings, &mut sources, &folder, own.as_deref());
        }
        settings.overlay(&mut sources)?;
        settings.embeddings.complete();
        settings.validate()?;
        Ok((settings, sources))
    }

    /// Reads a configuration file.
    pub(crate) fn read(path: &Path) -> Result<(Self, Sources), Error> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| wrong(format!("{} cannot be read: {error}", path.display())))?;
        let mut settings = Self::parse(&text).map_err(|message| {
            wrong(format!("{}: {message}", path.display())).hint("`loci config check` prints every key with its value")
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        if let Some(named) = &settings.categories_file {
            settings.categories = read_categories(&folder.join(named))?;
        }
        settings.place_files(folder);
        let mut sources = Sources::default();
        sources.set_all(&toml::from_str(&text).unwrap_or_default(), &path.display().to_string());
        Ok((settings, sources))
    }

    /// Applies the environment.
    fn overlay(&mut self, sources: &mut Sources) -> Result<(), Error> {
        if let Some(folder) = variable("LOCI_DATA") {
            self.data = Some(folder.into());
            sources.set("data", "LOCI_DATA");
        }
        if let Some(user) = variable("LOCI_USER") {
            self.user = Some(user);
            sources.set("user", "LOCI_USER");
        }
        if let Some(project) = variable("LOCI_PROJECT") {
            self.project = Some(project);
            sources.set("project", "LOCI_PROJECT");
        }
        if let Some(provider) = variable("LOCI_EMBEDDINGS") {
            self.embeddings.provider = match provider.as_str() {
                "local" => Provider::Local,
                "openai" => Provider::Openai,
                "cohere" => Provider::Cohere,
                "none" => Provider::None,
                other => {
                    return Err(wrong(format!("LOCI_EMBEDDINGS is `{other}`, which is not an embedder"))
                        .at("embeddings.provider")
                        .hint("use one of local, openai, cohere, none"));
                }
            };
            sources.set("embeddings.provider", "LOCI_EMBEDDINGS");
        }
        if let Some(folder) = variable("LOCI_MODEL_DIR") {
            self.embeddings.folder = Some(folder.into());
            sources.set("embeddings.folder", "LOCI_MODEL_DIR");
        }
        if let Some(url) = variable("LOCI_LLM_URL") {
            self.llm.base_url = url;
            sources.set("llm.base_url", "LOCI_LLM_URL");
        }
        if let Some(model) = variable("LOCI_LLM_MODEL") {
            self.llm.model = model;
            sources.set("llm.model", "LOCI_LLM_MODEL");
        }
        if let Some(kind) = variable("LOCI_STORE") {
            self.store.kind = match kind.as_str() {
                "sqlite" => StoreKind::Sqlite,
                "postgres" => StoreKind::Postgres,
                other => {
                    return Err(wrong(format!("LOCI_STORE is `{other}`"))
                        .at("store.kind")
                        .hint("use sqlite or postgres"));
                }
            };
            sources.set("store.kind", "LOCI_STORE");
        }
        if let Some(kind) = variable("LOCI_TIERS") {
            self.tiers.kind = match kind.as_str() {
                "process" => TierKind::Process,
                "redis" => TierKind::Redis,
                other => {
                    return Err(wrong(format!("LOCI_TIERS is `{other}`"))
                        .at("tiers.kind")
                        .hint("use process or redis"));
                }
            };
            sources.set("tiers.kind", "LOCI_TIERS");
        }
        if let Some(url) = variable("LOCI_QDRANT_URL") {
            self.vectors.kind = crate::vectors::VectorKind::Qdrant;
            self.vectors.url = url;
            sources.set("vectors.kind", "LOCI_QDRANT_URL");
            sources.set("vectors.url", "LOCI_QDRANT_URL");
        }
        if let Some(format) = variable("LOCI_LOG_FORMAT") {
            self.server.log = match format.as_str() {
                "text" => loci_server::LogFormat::Text,
                "json" => loci_server::LogFormat::Json,
                other => {
                    return Err(wrong(format!("LOCI_LOG_FORMAT is `{other}`"))
                        .at("server.log")
                        .hint("use text or json"));
                }
            };
            sources.set("server.log", "LOCI_LOG_FORMAT");
        }
        if let Some(listen) = variable("LOCI_LISTEN") {
            self.server.listen = listen;
            sources.set("server.listen", "LOCI_LISTEN");
        }
        Ok(())
    }

    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
    }

    /// The settings as admins may see them over HTTP: addresses without credentials. Secrets are not settings; only the
    /// names of their variables are.
    pub fn public(&self) -> serde_json::Value {
        serde_json::to_value(self.without_secrets()).unwrap_or_default()
    }

    /// The settings with credentials removed from addresses.
    pub fn without_secrets(&self) -> Self {
        let mut public = self.clone();
        let addresses = [
            &mut public.embeddings.base_url,
            &mut public.rerank.base_url,
            &mut public.llm.base_url,
            &mut public.tiers.url,
            &mut public.postgres.url,
            &mut public.vectors.url,
        ];
        for url in addresses {
            *url = address_without_secrets(url);
        }
        public
    }

    /// The MCP options of a server; callers without identifiers are the user of the settings.
    pub fn mcp_for_server(&self) -> loci_server::McpOptions {
        loci_server::McpOptions { user: self.mcp.user.clone().or_else(|| self.user.clone()), ..self.mcp.clone() }
    }

    /// The rules of memory among the settings.
    pub fn engine(&self) -> Config {
        let mut retrieval = self.retrieval.clone();
        if retrieval.time_zone.is_empty() {
            let here = jiff::tz::TimeZone::system();
            retrieval.time_zone = here.iana_name().unwrap_or("UTC").to_owned();
        }
        Config {
            limits: self.limits.clone(),
            retrieval,
            lifecycle: self.lifecycle.clone(),
            bands: self.bands,
            consolidation: self.consolidation.clone(),
            learning: self.learning.clone(),
            consent: self.consent.clone(),
            sessions: self.sessions.clone(),
            summarization: self.summarization.clone(),
            working: self.working.clone(),
            batch: self.batch.clone(),
            redaction: self.redaction.clone(),
            categories: self.categories.clone(),
            kinds: self.kinds.clone(),
        }
    }
}

/// The configuration file of the user: `loci.toml` in the platform's configuration folder, such as `~/.config/loci`.
/// `None` if there is no home folder.
pub fn user_file() -> Option<PathBuf> {
    let folders = directories::ProjectDirs::from("", "", "loci")?;
    Some(folders.config_dir().join(project_file::NAME))
}

pub(crate) fn wrong(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message).at("config")
}

/// A variable of the environment; empty counts as absent.
#[expect(clippy::disallowed_methods, reason = "the command line is where the environment is read")]
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// An address without credentials.
fn address_without_secrets(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        // Pairs of `key=value`, as PostgreSQL also takes them.
        return if url.contains("password") { "[secret]".to_owned() } else { url.to_owned() };
    };
    if rest.contains("password=") {
        return format!("{scheme}://[secret]");
    }
    // The last `@`: a password may hold one that was not encoded.
    match rest.rsplit_once('@') {
        Some((_, host)) => format!("{scheme}://[secret]@{host}"),
        None => url.to_owned(),
    }
}
