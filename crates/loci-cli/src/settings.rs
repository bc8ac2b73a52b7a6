//! What is set, and where was it set?
//!
//! Three places in rising order: `loci.toml`, `LOCI_*` in the environment, flags. An unknown key
//! or a wrong value is refused by its name before anything runs.

use std::path::{Path, PathBuf};

use loci_engine::Config;
use loci_types::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

/// Everything that can be set.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// Where the data lie.
    pub(crate) data: Option<PathBuf>,
    /// Who is meant when no identifier is given.
    pub(crate) user: Option<String>,
    /// Who embeds.
    pub(crate) embeddings: Embeddings,
    /// How the embedded store uses the machine.
    pub(crate) store: StoreSettings,
    /// Where `loci serve` listens.
    pub(crate) server: ServerSettings,
    /// How large things may be.
    pub(crate) limits: loci_engine::Limits,
    /// How recall ranks.
    pub(crate) retrieval: loci_engine::Retrieval,
    /// How memories age and go.
    pub(crate) lifecycle: loci_engine::Lifecycle,
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
            hub: true,
            base_url: "https://api.openai.com/v1".to_owned(),
            model: "text-embedding-3-small".to_owned(),
            dimensions: None,
            batch_size: 100,
            api_key_env: "OPENAI_API_KEY".to_owned(),
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

/// How the embedded store uses the machine.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct StoreSettings {
    /// Threads that write.
    pub(crate) writers: usize,
    /// Bytes of vectors kept in memory.
    pub(crate) vector_bytes: usize,
}

impl Default for StoreSettings {
    fn default() -> Self {
        let options = loci_store::SqliteOptions::default();
        Self { writers: options.writers, vector_bytes: options.vector_bytes }
    }
}

/// Where `loci serve` listens.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct ServerSettings {
    /// The address.
    pub(crate) listen: String,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self { listen: "127.0.0.1:7077".to_owned() }
    }
}

impl Settings {
    /// Reads a file; one that was named must be there.
    pub(crate) fn read(named: Option<&Path>) -> Result<Self, Error> {
        let path = named.map_or_else(|| PathBuf::from("loci.toml"), Path::to_owned);
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text).map_err(|message| {
                wrong(format!("{}: {message}", path.display())).hint("`loci config check` explains")
            }),
            Err(error) if named.is_none() && error.kind() == std::io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(wrong(format!("{} cannot be read: {error}", path.display()))),
        }
    }

    /// Reads the text of a file.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string().trim_end().to_owned())
    }

    /// The rules of memory among the settings.
    pub(crate) fn engine(&self) -> Config {
        Config {
            limits: self.limits.clone(),
            retrieval: self.retrieval.clone(),
            lifecycle: self.lifecycle.clone(),
            kinds: self.kinds.clone(),
        }
    }
}

fn wrong(message: String) -> Error {
    Error::new(ErrorKind::Configuration, message).at("config")
}

/// A variable of the environment; empty counts as absent.
#[expect(clippy::disallowed_methods, reason = "the command line is where the environment is read")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
