//! Construction of the engine from the settings.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loci_engine::llm::LlmClient;
use loci_engine::{Clock, Engine};
use loci_models::local::{Hub, Lazy, ModelLocations};
use loci_models::{
    Cached, ChatConfig, Embedder, EmbeddingsApi, Local, Remote, RemoteChat, RemoteConfig, RemoteReranker, RerankConfig,
    Secret, SharedCache,
};

use crate::secret::SecretSource;
use crate::settings::{Provider, Settings};

/// An engine on the data folder, with the embedder that is set.
pub async fn engine(
    settings: &Settings,
    data: &Path,
    embedder: Option<Arc<dyn Embedder>>,
    clock: Arc<dyn Clock>,
) -> Result<Engine, loci_engine::Error> {
    // A service that is away has not given its dimensions yet.
    let known = embedder.as_ref().map(|embedder| embedder.model().dimensions);
    let dimensions = known.filter(|dimensions| *dimensions > 0);
    let store = crate::store::open(settings, data, dimensions).await?;
    let store = crate::vectors::beside(settings, store, clock.clone())?;
    let with_model = embedder.is_some();
    let mut engine = Engine::new(store, embedder, clock, settings.engine())?;
    if let Some(languages) = languages(settings).filter(|_| with_model) {
        engine = engine.with_languages(languages);
    }
    if settings.embeddings.provider == Provider::None {
        engine = engine.without_vectors();
    }
    let engine = match mind(settings)? {
        Some(mind) => engine.with_llm(mind),
        None => engine,
    };
    let wanted = &settings.rerank;
    if wanted.base_url.is_empty() {
        return Ok(engine);
    }
    let mut config = RerankConfig::new(&wanted.base_url);
    config.model.clone_from(&wanted.model);
    config.authorities = crate::authorities::read("rerank.ca_file", wanted.ca_file.as_deref())?;
    config.deadline = Duration::from_millis(wanted.deadline_ms);
    config.api_key = api_key(&wanted.secret())?;
    Ok(engine.with_reranker(Arc::new(RemoteReranker::new(config)?)))
}

/// The key of an endpoint, if there is one.
fn api_key(source: &SecretSource<'_>) -> Result<Option<Secret>, loci_models::Error> {
    let refused = |error: loci_types::Error| {
        let field = if source.file.is_some() { source.file_field } else { source.variable_field };
        loci_models::Error::Setting { field, problem: error.to_string() }
    };
    source.read().map(|key| key.map(Secret::new)).map_err(refused)
}

/// The configured language model. Without one, rules do its work.
fn mind(settings: &Settings) -> Result<Option<LlmClient>, loci_engine::Error> {
    let wanted = &settings.llm;
    if wanted.base_url.is_empty() {
        return Ok(None);
    }
    let mut config = ChatConfig::new(&wanted.base_url, &wanted.model);
    config.authorities = crate::authorities::read("llm.ca_file", wanted.ca_file.as_deref())?;
    config.timeout = Duration::from_secs(wanted.timeout_seconds);
    config.retries = settings.retry.of_language_models();
    config.api_key = api_key(&wanted.secret())?;
    config.price_in_per_million = wanted.price_in_per_million;
    config.price_out_per_million = wanted.price_out_per_million;
    Ok(Some(LlmClient::new(Arc::new(RemoteChat::new(config)?))))
}

/// The embedder that is set, with what others have embedded; none if it is switched off.
pub async fn embedder(
    settings: &Settings,
    shared: Option<Arc<dyn SharedCache>>,
) -> Result<Option<Arc<dyn Embedder>>, loci_models::Error> {
    let wanted = &settings.embeddings;
    match wanted.provider {
        Provider::None => Ok(None),
        Provider::Local => {
            let places = places(settings);
            let folder = find(&places).await?;
            // Reading 90 MB of weights is work for a thread that may block.
            let precision = wanted.precision;
            let loaded = tokio::task::spawn_blocking(move || Local::load_with(&folder, precision)).await;
            let local = loaded.map_err(|_| loci_models::Error::ModelMissing { looked: Vec::new() })??;
            Ok(Some(cached(local, shared)))
        }
        Provider::Openai | Provider::Cohere => {
            let mut config = RemoteConfig::new(&wanted.base_url, &wanted.model);
            if wanted.provider == Provider::Cohere {
                config.api = EmbeddingsApi::Cohere;
            }
            config.authorities = authorities(wanted.ca_file.as_deref())?;
            config.dimensions = wanted.dimensions;
            config.batch_size = wanted.batch_size;
            config.deadline = Duration::from_millis(wanted.deadline_ms);
            config.retries = settings.retry.of_embeddings();
            config.api_key = api_key(&wanted.secret())?;
            Ok(Some(cached(Remote::connect(config).await?, shared)))
        }
    }
}

/// The authorities of the embedding service.
fn authorities(file: Option<&Path>) -> Result<Option<Vec<u8>>, loci_models::Error> {
    let read = crate::authorities::read("embeddings.ca_file", file);
    read.map_err(|error| loci_models::Error::Setting { field: "ca_file", problem: error.to_string() })
}

/// The model for texts that the local one cannot read; none if it is not on this machine, or not wanted.
fn languages(settings: &Settings) -> Option<Arc<dyn Embedder>> {
    let wanted = &settings.embeddings;
    if wanted.provider != Provider::Local || !wanted.languages {
        return None;
    }
    let folder = loci_models::local::look_multilingual(&places(settings))?;
    Some(cached(Lazy::multilingual(folder, wanted.precision), None))
}

fn cached(embedder: impl Embedder + 'static, shared: Option<Arc<dyn SharedCache>>) -> Arc<dyn Embedder> {
    let cached = Cached::new(embedder);
    Arc::new(match shared {
        Some(shared) => cached.sharing(shared),
        None => cached,
    })
}

/// The folder of the model, fetched with a progress bar if it is not on this machine.
async fn find(places: &ModelLocations) -> Result<PathBuf, loci_models::Error> {
    if let Ok(folder) = loci_models::local::look(places) {
        return Ok(folder);
    }
    let bar = crate::output::byte_progress(None, "fetching the embedding model");
    let shown = bar.clone();
    let found = loci_models::local::find(places, &Hub::default(), &move |bytes, whole| {
        if let Some(whole) = whole {
            shown.set_length(whole);
        }
        shown.set_position(bytes);
    })
    .await;
    bar.finish_and_clear();
    found
}

/// Where a local model may lie.
pub fn places(settings: &Settings) -> ModelLocations {
    ModelLocations { explicit: settings.embeddings.folder.clone(), cache: cache_folder(), hub: settings.embeddings.hub }
}

fn cache_folder() -> PathBuf {
    directories::BaseDirs::new()
        .map_or_else(|| PathBuf::from(".cache"), |base| base.cache_dir().to_owned())
        .join("loci")
}
