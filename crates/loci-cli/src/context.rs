//! What does a command need to run?
//!
//! The settings in force, where the data lie, who asks, and an engine on them. A model is loaded
//! only for commands that need one; a model that is simply not there takes a lane away and not
//! the command.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use loci_engine::{Caller, Engine, System};
use loci_models::{Embedder, SharedCache};
use loci_types::{Error, ErrorKind, Identifiers};

use crate::arguments::ScopeFlags;
use crate::output;
use crate::settings::{Provider, Settings, Sources};
use crate::tier::Common;
use crate::wiring;

/// What every command is given.
pub(crate) struct Context {
    /// The settings in force.
    pub(crate) settings: Settings,
    /// Where they came from.
    pub(crate) sources: Sources,
    /// Whether answers are JSON.
    pub(crate) json: bool,
    /// The data folder from the command line.
    pub(crate) data: Option<PathBuf>,
    /// What is shared with other processes, once it was asked for.
    pub(crate) tier: OnceLock<Option<Arc<Common>>>,
}

/// Who asks when nobody is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nobody {
    /// The user of this machine.
    User,
    /// The person who runs the store, who sees all of it.
    Operator,
}

impl Context {
    /// The data folder: from the flag, the environment, the file, or the platform.
    pub(crate) fn data(&self) -> Result<PathBuf> {
        if let Some(folder) = self.data.as_ref().or(self.settings.data.as_ref()) {
            return Ok(folder.clone());
        }
        let project = directories::ProjectDirs::from("", "", "loci").ok_or_else(|| {
            Error::new(ErrorKind::Configuration, "there is no home folder to keep data in")
                .at("data")
                .hint("name a folder with --data or LOCI_DATA")
        })?;
        Ok(project.data_dir().to_owned())
    }

    /// The caller that the flags name. As soon as anything is named, nothing is filled in.
    pub(crate) fn caller(&self, scope: &ScopeFlags, layered: bool, nobody: Nobody) -> Caller {
        let identifiers = scope.identifiers();
        if !identifiers.is_empty() || layered {
            return Caller::new(identifiers);
        }
        match nobody {
            Nobody::Operator => Caller::operator(),
            Nobody::User => {
                let user = self.settings.user.clone().unwrap_or_else(|| "me".to_owned());
                Caller::new(Identifiers { user_id: Some(user), ..Identifiers::default() })
            }
        }
    }

    /// An engine that finds by words alone.
    pub(crate) async fn engine(&self) -> Result<Engine> {
        self.tiered(wiring::engine(&self.settings, &self.data()?, None, Arc::new(System)).await?)
    }

    /// The engine with the tier that is set: one that outlives this process, or one of its own.
    fn tiered(&self, engine: Engine) -> Result<Engine> {
        Ok(match self.tier()? {
            Some(shared) => engine.with_tier(shared.tier()),
            None => engine.with_sessions(self.settings.tiers.alone()),
        })
    }

    /// An engine with the model that is set, unless it is switched off for this call.
    pub(crate) async fn engine_with_model(&self, switched_off: bool, caller: &Caller) -> Result<Engine> {
        if switched_off {
            return self.engine().await;
        }
        let embedder = self.embedder().await?;
        let engine = self.tiered(wiring::engine(&self.settings, &self.data()?, embedder, Arc::new(System)).await?)?;
        warn_of_other_models(&engine, caller).await;
        Ok(engine)
    }

    /// What is shared with other processes; none: nothing is.
    pub(crate) fn tier(&self) -> Result<Option<Arc<Common>>> {
        if let Some(tier) = self.tier.get() {
            return Ok(tier.clone());
        }
        let opened = self.settings.tiers.open()?;
        Ok(self.tier.get_or_init(|| opened).clone())
    }

    /// The embedder that is set. One that is not there, and that nobody named, is only missed.
    pub(crate) async fn embedder(&self) -> Result<Option<Arc<dyn Embedder>>> {
        let named = self.settings.embeddings.folder.is_some();
        let shared = self.tier()?.map(|tier| tier as Arc<dyn SharedCache>);
        match wiring::embedder(&self.settings, shared).await {
            Ok(embedder) => Ok(embedder),
            Err(error) => {
                let unreachable = error.kind() != ErrorKind::Configuration
                    || matches!(error, loci_models::Error::ModelMissing { .. });
                let local = self.settings.embeddings.provider == Provider::Local;
                if named && local || !unreachable {
                    return Err(error.into());
                }
                let hint = if local {
                    "run `make model`, or set LOCI_MODEL_DIR to a folder that has a model; LOCI_EMBEDDINGS=none \
                     silences this"
                } else {
                    error.hint()
                };
                output::warn(&format!("no embedding model, so only words are searched: {error}"), Some(hint));
                Ok(None)
            }
        }
    }
}

/// Vectors of different models are never compared, so old ones are dead until they are remade.
async fn warn_of_other_models(engine: &Engine, caller: &Caller) {
    let Some(model) = engine.model() else { return };
    // A store that cannot be read, or a caller who sees nothing, is told so by the command itself.
    let Ok(true) = engine.knows_other_models(caller).await else { return };
    let Ok(models) = engine.stats(caller).await else { return };
    let present = models.vectors.get(&model.name).copied().unwrap_or(0);
    // Vectors of two models may stand side by side while one takes the place of the other.
    for (other, count) in models.vectors.iter().filter(|(name, count)| **name != model.name && **count > present) {
        output::warn(
            &format!(
                "{count} memories have vectors of the model `{other}`, but the present model is `{}`; \
                 they are found by words only",
                model.name
            ),
            Some("run `loci reembed`, or go back to the earlier model"),
        );
    }
}
