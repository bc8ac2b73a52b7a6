//! What is set, and where was it set?
//!
//! Three places in rising order: `loci.toml`, `LOCI_*` in the environment, flags. An unknown key
//! or a wrong value is refused by its name before anything runs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use loci_engine::Config;
use loci_models::local::Precision;
use loci_types::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

use crate::floor::StoreKind;
use crate::tier::TierKind;

/// Everything that can be set.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// Where the data lie.
    pub(crate) data: Option<PathBuf>,
    /// Who is meant when no identifier is given.
    pub(crate) user: Option<String>,
    /// Where the categories and their allowlists stand, beside this file unless the path is absolute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) categories_file: Option<PathBuf>,
    /// What stands there.
    #[serde(skip)]
    pub(crate) categories: loci_engine::Categories,
    /// Who embeds.
    pub(crate) embeddings: Embeddings,
    /// Who reads the best hits once more.
    pub(crate) rerank: Rerank,
    /// Who reads conversations and writes down what they teach.
    pub(crate) llm: Llm,
    /// Which store it is, and how the embedded one uses the machine.
    pub(crate) store: crate::floor::StoreSettings,
    /// How PostgreSQL is reached and used, if the store is there.
    pub(crate) postgres: crate::floor::Postgres,
    /// What is fast and may be lost, and who keeps it.
    pub(crate) tiers: crate::tier::Tiers,
    /// Who proposes the nearest vectors.
    pub(crate) vectors: crate::vectors::VectorSettings,
    /// Where and how `loci serve` listens.
    pub(crate) server: loci_server::ServerOptions,
    /// Who is believed beside the keys that Loci makes.
    pub(crate) auth: loci_server::AuthOptions,
    /// How webhooks are delivered.
    pub(crate) webhooks: loci_server::WebhookOptions,
    /// How MCP clients are served.
    pub(crate) mcp: loci_server::McpOptions,
    /// How large things may be.
    pub(crate) limits: loci_engine::Limits,
    /// How recall ranks.
    pub(crate) retrieval: loci_engine::Retrieval,
    /// How memories age and go.
    pub(crate) lifecycle: loci_engine::Lifecycle,
    /// When what is new meets what is known.
    pub(crate) bands: loci_engine::Bands,
    /// How much may be learned.
    pub(crate) learning: loci_engine::LearningLimits,
    /// What needs consent before it is known.
    pub(crate) consent: loci_engine::Consent,
    /// What becomes of a session that is over.
    pub(crate) sessions: loci_engine::Sessions,
    /// When long conversations are made shorter.
    #[serde(alias = "summarisation")]
    pub(crate) summarization: loci_engine::Summarization,
    /// How much an agent has before it.
    pub(crate) working: loci_engine::Working,
    /// When what may wait is written.
    pub(crate) batch: loci_engine::Batching,
    /// What is masked or refused before it is kept.
    pub(crate) redaction: loci_engine::Redaction,
    /// Kinds beside the built-in ones.
    pub(crate) kinds: Vec<loci_types::KindSpec>,
}

/// Who embeds.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Embeddings {
    /// `local`, `openai` (any compatible endpoint) or `none`.
    pub(crate) provider: Provider,
    /// The folder of a local model.
    pub(crate) folder: Option<PathBuf>,
    /// How exactly a local model multiplies: `eight` bits, or `full`, which is slower.
    pub(crate) precision: Precision,
    /// Whether texts that a local model cannot read are left to the multilingual one beside it, where that is there.
    pub(crate) languages: bool,
    /// Whether a missing local model may be fetched from the hub.
    pub(crate) hub: bool,
    /// The endpoint, up to and with `/v1`.
    pub(crate) base_url: String,
    /// The endpoint's model.
    pub(crate) model: String,
    /// The size of its vectors; none: asked once at the start.
    pub(crate) dimensions: Option<usize>,
    /// Texts in one request.
    pub(crate) batch_size: usize,
    /// The environment variable that holds the API key.
    pub(crate) api_key_env: String,
}

impl Default for Embeddings {
    fn default() -> Self {
        Self {
            provider: Provider::Local,
            folder: None,
            precision: Precision::default(),
            languages: true,
            hub: true,
            base_url: "https://api.openai.com/v1".to_owned(),
            model: "text-embedding-3-small".to_owned(),
            dimensions: None,
            batch_size: 100,
            api_key_env: "OPENAI_API_KEY".to_owned(),
        }
    }
}

/// Who reads the best hits once more; nobody unless an endpoint is set.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Rerank {
    /// The endpoint, up to but without `/rerank`; empty: nobody.
    pub(crate) base_url: String,
    /// The endpoint's model; none: it has only one, as text-embeddings-inference does.
    pub(crate) model: Option<String>,
    /// Milliseconds after which the order stays as it is.
    pub(crate) deadline_ms: u64,
    /// The environment variable that holds the API key.
    pub(crate) api_key_env: String,
}

impl Default for Rerank {
    fn default() -> Self {
        Self { base_url: String::new(), model: None, deadline_ms: 300, api_key_env: "LOCI_RERANK_KEY".to_owned() }
    }
}

/// Who reads conversations; nobody unless an endpoint is set: then rules do.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Llm {
    /// The endpoint, up to and with `/v1`; empty: nobody.
    pub(crate) base_url: String,
    /// The endpoint's model.
    pub(crate) model: String,
    /// Seconds after which a call is given up that is answered in up to 400 tokens; longer answers get longer.
    pub(crate) timeout_seconds: u64,
    /// The environment variable that holds the API key.
    pub(crate) api_key_env: String,
    /// What a million tokens cost that are read, for the log.
    pub(crate) price_in_per_million: f64,
    /// What a million tokens cost that are written, for the log.
    pub(crate) price_out_per_million: f64,
}

impl Default for Llm {
    fn default() -> Self {
        Self {
            base_url: String::new(),
            model: "gpt-4o-mini".to_owned(),
            timeout_seconds: 60,
            api_key_env: "LOCI_LLM_KEY".to_owned(),
            price_in_per_million: 0.0,
            price_out_per_million: 0.0,
        }
    }
}

/// The sort of embedder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Provider {
    /// A model in this process.
    Local,
    /// A model behind an OpenAI-compatible endpoint.
    Openai,
    /// None: words alone.
    None,
}

/// Where each top-level setting came from; those that are absent have their default.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources(BTreeMap<String, String>);

impl Sources {
    /// Where this setting came from, in words.
    pub(crate) fn of(&self, key: &str) -> &str {
        self.0.get(key).map_or("default", String::as_str)
    }

    fn add(&mut self, key: &str, source: String) {
        let told = self.0.entry(key.to_owned()).or_default();
        if !told.is_empty() {
            told.push_str(", ");
        }
        told.push_str(&source);
    }
}

impl Settings {
    /// Reads the file, then the environment over it, and refuses what cannot work.
    pub(crate) fn load(named: Option<&Path>) -> Result<(Self, Sources), Error> {
        let (mut settings, mut sources) = Self::read(named)?;
        settings.overlay(&mut sources)?;
        settings.engine().validate()?;
        settings.vectors.validate()?;
        settings.server.validate()?;
        settings.webhooks.validate()?;
        settings.tiers.validate()?;
        settings.postgres.validate()?;
        Ok((settings, sources))
    }

    /// Reads a file; one that was named must be there.
    fn read(named: Option<&Path>) -> Result<(Self, Sources), Error> {
        let from_environment = variable("LOCI_CONFIG").map(PathBuf::from);
        let named = named.or(from_environment.as_deref());
        let path = named.map_or_else(|| PathBuf::from("loci.toml"), Path::to_owned);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(wrong(format!("{} cannot be read: {error}", path.display()))),
        };
        let mut settings = Self::parse(&text).map_err(|message| {
            wrong(format!("{}: {message}", path.display())).hint("`loci config check` prints every key with its value")
        })?;
        settings.read_categories(&path)?;
        let mut sources = Sources::default();
        for key in toml::from_str::<toml::Table>(&text).unwrap_or_default().keys() {
            sources.add(key, path.display().to_string());
        }
        Ok((settings, sources))
    }

    /// Reads the categories file, if one is named in the configuration at `path`.
    fn read_categories(&mut self, path: &Path) -> Result<(), Error> {
        let Some(named) = &self.categories_file else { return Ok(()) };
        let file = path.parent().unwrap_or(Path::new("")).join(named);
        let refused = |message: String| wrong(format!("{}: {message}", file.display())).at("categories_file");
        let text = std::fs::read_to_string(&file).map_err(|error| refused(format!("it cannot be read: {error}")))?;
        self.categories = categories(&text).map_err(|error| {
            let told = refused(error.to_string());
            error.advice().map_or(told.clone(), |hint| told.clone().hint(hint))
        })?;
        Ok(())
    }

    /// Lays the environment over what the file says.
    fn overlay(&mut self, sources: &mut Sources) -> Result<(), Error> {
        if let Some(folder) = variable("LOCI_DATA") {
            self.data = Some(folder.into());
            sources.add("data", "LOCI_DATA".to_owned());
        }
        if let Some(user) = variable("LOCI_USER") {
            self.user = Some(user);
            sources.add("user", "LOCI_USER".to_owned());
        }
        if let Some(provider) = variable("LOCI_EMBEDDINGS") {
            self.embeddings.provider = match provider.as_str() {
                "local" => Provider::Local,
                "openai" => Provider::Openai,
                "none" => Provider::None,
                other => {
                    return Err(wrong(format!("LOCI_EMBEDDINGS is `{other}`, which is no embedder"))
                        .at("embeddings.provider")
                        .hint("use one of local, openai, none"));
                }
            };
            sources.add("embeddings", "LOCI_EMBEDDINGS".to_owned());
        }
        if let Some(folder) = variable("LOCI_MODEL_DIR") {
            self.embeddings.folder = Some(folder.into());
            sources.add("embeddings", "LOCI_MODEL_DIR".to_owned());
        }
        if let Some(url) = variable("LOCI_LLM_URL") {
            self.llm.base_url = url;
            sources.add("llm", "LOCI_LLM_URL".to_owned());
        }
        if let Some(model) = variable("LOCI_LLM_MODEL") {
            self.llm.model = model;
            sources.add("llm", "LOCI_LLM_MODEL".to_owned());
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
            sources.add("store", "LOCI_STORE".to_owned());
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
            sources.add("tiers", "LOCI_TIERS".to_owned());
        }
        if let Some(url) = variable("LOCI_QDRANT_URL") {
            self.vectors.kind = crate::vectors::VectorKind::Qdrant;
            self.vectors.url = url;
            sources.add("vectors", "LOCI_QDRANT_URL".to_owned());
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
            sources.add("server", "LOCI_LOG_FORMAT".to_owned());
        }
        if let Some(listen) = variable("LOCI_LISTEN") {
            self.server.listen = listen;
            sources.add("server", "LOCI_LISTEN".to_owned());
        }
        Ok(())
    }

    /// Reads the text of a file.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
    }

    /// The settings as those may see them who look after the store from afar: addresses without what
    /// may stand in them before the `@`. Secrets are never settings, only the names of variables are.
    pub(crate) fn public(&self) -> serde_json::Value {
        serde_json::to_value(self.without_secrets()).unwrap_or_default()
    }

    /// The settings without what may stand in addresses before the `@`, or as a password behind it.
    pub(crate) fn without_secrets(&self) -> Self {
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

    /// How tools are served to those who do not say whose memories they mean: as this machine's user.
    pub(crate) fn mcp_for_server(&self) -> loci_server::McpOptions {
        loci_server::McpOptions { user: self.mcp.user.clone().or_else(|| self.user.clone()), ..self.mcp.clone() }
    }

    /// The rules of memory among the settings.
    pub(crate) fn engine(&self) -> Config {
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

/// Reads and checks the text of a categories file.
fn categories(text: &str) -> Result<loci_engine::Categories, Error> {
    let wrong = |error: String| {
        wrong(error.trim_end().to_owned()).hint("it has `categories` with `system` and `custom`, and `allowlists`")
    };
    if text.trim().is_empty() {
        return Ok(loci_engine::Categories::default());
    }
    let made: loci_engine::Categories = serde_saphyr::from_str(text).map_err(|error| wrong(error.to_string()))?;
    made.validate().map(|()| made)
}

fn wrong(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message).at("config")
}

/// A variable of the environment; empty counts as absent.
#[expect(clippy::disallowed_methods, reason = "the command line is where the environment is read")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// An address as it may be shown.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// As the specification of categories writes it.
    const WRITTEN: &str = "
categories:
  system:
    - name: profile
      context: all
    - name: event
      context: rag
      rag_length: 30
    - name: activity
      context: rag
      rag_length: 50
  custom: []
allowlists:
  supervisor: [profile, goals, preferences, event, activity, relationships, tasks]
  planner:    [goals, tasks, projects]
  stylist:    [preferences, tone, style]
  researcher: [knowledge, interests, history]
  executor:   [tasks, recent_activity, constraints]
";

    #[test]
    fn a_categories_file_is_read_and_a_wrong_one_is_told_by_its_key() {
        let made = categories(WRITTEN).unwrap();
        assert_eq!((made.iter().count(), made.allowlists.len()), (3, 5));
        assert_eq!((made.system[0].rag_length, made.system[2].rag_length), (None, Some(50)));
        assert!(made.allowlists["planner"].contains("projects"));
        assert_eq!(categories("\n").unwrap(), loci_engine::Categories::default());
        for (text, told) in [
            ("categories:\n  systems: []\n", "systems"),
            ("allowlists:\n  planner: [gaols]\n", "gaols"),
            ("allowlists:\n  a: [goals]\n  a: [tasks]\n", "a"),
            ("categories:\n  custom:\n    - {name: a, context: all, rag_length: 3}\n", "rag_length"),
            ("categories:\n  custom:\n    - {name: a, context: most}\n", "most"),
            ("categories: [\n", ""),
        ] {
            let error = categories(text).unwrap_err();
            assert!(error.to_string().contains(told), "{text}: {error}");
        }
    }

    #[test]
    fn the_categories_file_lies_beside_the_configuration() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("rules")).unwrap();
        std::fs::write(folder.path().join("rules/own.yaml"), WRITTEN).unwrap();
        let config = folder.path().join("loci.toml");
        std::fs::write(&config, "categories_file = \"rules/own.yaml\"\n[redaction]\nrefuse = [\"iban\"]\n").unwrap();
        let (settings, _) = Settings::read(Some(&config)).unwrap();
        let engine = settings.engine();
        assert_eq!((engine.categories.system.len(), engine.redaction.refuse.len()), (3, 1));
        assert!(toml::to_string(&settings).unwrap().contains("rules/own.yaml"));
        std::fs::write(&config, "categories_file = \"none.yaml\"\n").unwrap();
        let error = Settings::read(Some(&config)).unwrap_err();
        assert_eq!(error.field(), Some("categories_file"));
        assert!(error.to_string().contains("none.yaml"), "{error}");
    }
}
