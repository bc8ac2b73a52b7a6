//! What every command is given: settings, data folder, scope, and the API on them.
//!
//! A model is loaded only for commands that need one. If it is missing, commands still run, but search by words only.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use loci_engine::{Caller, Clock, Engine, System};
use loci_models::{Embedder, SharedCache};
use loci_types::{Bounds, Error, ErrorKind, Identifier, Identifiers, Memory, RequestScope};
use serde_json::Value;

use crate::api::{Api, Call};
use crate::arguments::ScopeFlags;
use crate::command::serve;
use crate::fault::Reported;
use crate::local_key;
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
    /// The server to use instead of a data folder.
    pub(crate) server: Option<String>,
    /// The key for that server.
    pub(crate) key: Option<String>,
    /// Whether that key is bound to identifiers that do not include the default user.
    pub(crate) key_is_bound: bool,
    /// The certificate authorities of that server, from the command line or the environment.
    pub(crate) ca: Option<PathBuf>,
    /// The data folder from the command line.
    pub(crate) data: Option<PathBuf>,
    /// What is shared with other processes, once it was asked for.
    pub(crate) tier: OnceLock<Option<Arc<Common>>>,
}

/// The scope flags that name the scope of a memory.
fn flags_of(memory: &Memory) -> String {
    let flag = |which: Identifier| {
        let name = which.field().trim_end_matches("Id");
        memory.identifiers.get(which).map(|value| format!("--{name} {value}"))
    };
    Identifier::ALL.into_iter().filter_map(flag).collect::<Vec<_>>().join(" ")
}

/// Whether a command needs vectors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Model {
    /// The embedding model is loaded.
    Load,
    /// The command never needs a vector, or works without one.
    Skip,
}

impl Context {
    /// The data folder: from the flag, the environment, the file, or the platform.
    pub(crate) fn data(&self) -> Result<PathBuf> {
        if let Some(folder) = self.data.as_ref().or(self.settings.data.as_ref()) {
            return Ok(folder.clone());
        }
        let project = directories::ProjectDirs::from("", "", "loci").ok_or_else(|| {
            Error::new(ErrorKind::Configuration, "no home folder was found")
                .at("data")
                .hint("name a folder with --data or LOCI_DATA")
        })?;
        Ok(project.data_dir().to_owned())
    }

    /// Asks the server whether the key admits the default user. A server that does not answer is reported by the command.
    pub(crate) async fn read_bounds_of_key(&mut self) {
        let (true, Some(url), Some(user)) = (self.key.is_some(), &self.server, self.default_user()) else { return };
        let Ok(api) = self.remote(url) else { return };
        let Ok(answer) = api.call(Call::get(&["v1", "whoami"])).await else { return };
        let bounds: Bounds = serde_json::from_value(answer["bounds"].clone()).unwrap_or_default();
        self.key_is_bound = !bounds.admits(Identifier::User, &user);
    }

    /// The API of a server, with the key that was given or the one that it keeps for this machine.
    fn remote(&self, url: &str) -> Result<Api> {
        let ca = self.ca.as_deref().or(self.settings.ca_file.as_deref());
        let authorities = loci_host::authorities::read("ca", ca)?;
        let found = || self.data().ok().and_then(|data| local_key::for_server(url, &data));
        Api::remote(url, self.key.clone().or_else(found), authorities.as_deref())
    }

    /// The scope that the flags name: everyone, the given identifiers, or else the default scope. An agent or a session
    /// without a user is that of the default user, because neither opens a scope alone.
    pub(crate) fn scope(&self, flags: &ScopeFlags) -> RequestScope {
        let identifiers = flags.identifiers();
        let begun = Identifiers {
            agent_id: identifiers.agent_id.clone(),
            session_id: identifiers.session_id.clone(),
            ..Identifiers::default()
        };
        if flags.everyone || begun != identifiers {
            return RequestScope { identifiers, everyone: flags.everyone };
        }
        let user_id = self.default_user();
        // With both, what is written belongs to the user, and the project is read too.
        let project_id = self.settings.project.clone().filter(|_| user_id.is_some());
        Identifiers { user_id, project_id, ..identifiers }.into()
    }

    /// The scope of a command that writes something new, which belongs to one scope.
    pub(crate) fn scope_of_write(&self, flags: &ScopeFlags) -> Result<RequestScope> {
        if flags.everyone {
            return Err(Error::invalid(
                "everyone",
                "--everyone cannot be used here: what is written belongs to one scope",
            )
            .hint("name the scope, for example with --user NAME")
            .into());
        }
        Ok(self.scope(flags))
    }

    /// The user of commands without scope flags, or `None` if the key is bound to other identifiers, which the server then
    /// fills in.
    pub(crate) fn default_user(&self) -> Option<String> {
        let user = self.settings.user.clone().unwrap_or_else(|| "me".to_owned());
        (!self.key_is_bound).then_some(user)
    }

    /// The scope of a command that reads something by its id: the given identifiers, or else everything that the caller may
    /// see, because an id is found wherever it is.
    pub(crate) fn scope_of_id(&self, flags: &ScopeFlags) -> RequestScope {
        RequestScope { identifiers: flags.identifiers(), everyone: flags.everyone }
    }

    /// Sends a write that names a memory by its id. Without scope flags it reaches the default scope only: if the memory is
    /// in another one, the error says in which, so that nobody changes somebody else's memory by a mistyped id.
    pub(crate) async fn write_of_id(&self, api: &Api, id: &str, flags: &ScopeFlags, call: Call) -> Result<Value> {
        let scope = self.scope(flags);
        let failed = match api.call(call.scope(&scope)).await {
            Ok(answer) => return Ok(answer),
            Err(error) => error,
        };
        let reported = failed.downcast_ref::<Reported>();
        if scope.is_empty() || !flags.is_empty() || reported.is_none_or(|failed| !failed.is_not_found()) {
            return Err(failed);
        }
        let Ok(memory) = api.call(Call::get(&["v1", "memories", id])).await else { return Err(failed) };
        let memory: Memory = serde_json::from_value(memory)?;
        let owner = memory.scope().map_or_else(|_| memory.layer.to_string(), |scope| scope.to_string());
        let message = format!(
            "memory {} belongs to {owner}, and the default scope is user {}",
            memory.id.short(),
            scope.identifiers.user_id.unwrap_or_default()
        );
        Err(Error::new(ErrorKind::NotFound, message)
            .at("id")
            .hint(format!("add {} to change it", flags_of(&memory)))
            .into())
    }

    /// The caller for work on the engine itself.
    pub(crate) fn caller(&self, flags: &ScopeFlags) -> Result<Caller> {
        Ok(Caller::owner(self.scope(flags))?)
    }

    /// The API of the server, or of the data folder.
    pub(crate) async fn api(&self, model: Model) -> Result<Api> {
        if let Some(url) = &self.server {
            return self.remote(url);
        }
        let engine = self.engine_with_model(model == Model::Skip, &Caller::operator()).await?;
        Api::local(Arc::new(engine), serve::options(self)?)
    }

    /// The time of this machine, for ages that are shown.
    pub(crate) fn now(&self) -> jiff::Timestamp {
        System.now()
    }

    /// The model for a command with the flag `--no-embed`, which a server cannot follow: it computes vectors itself.
    pub(crate) fn model_unless(&self, no_embed: bool) -> Result<Model> {
        match (no_embed, &self.server) {
            (false, _) => Ok(Model::Load),
            (true, None) => Ok(Model::Skip),
            (true, Some(_)) => Err(Error::invalid("no-embed", "--no-embed cannot be used with a server")
                .hint("leave it out: the server computes vectors by its own settings")
                .into()),
        }
    }

    /// Refuses `--server` for a command that works on the data folder itself.
    pub(crate) fn require_local(&self, command: &str) -> Result<()> {
        match &self.server {
            None => Ok(()),
            Some(_) => {
                Err(Error::invalid("server", format!("`loci {command}` works on a data folder, not on a server"))
                    .hint("run it on the machine of the server, without --server and LOCI_SERVER")
                    .into())
            }
        }
    }

    /// Asks for confirmation before something is destroyed; `yes` (the flag `--yes`) answers it in advance.
    ///
    /// `what` completes the sentence "This …", for example "drops the pool `team` with 12 memories". On a terminal the question
    /// is on standard error; elsewhere nobody can answer it, so `--yes` is required.
    pub(crate) fn confirm(&self, what: &str, yes: bool) -> Result<()> {
        if yes {
            return Ok(());
        }
        let hint = "add --yes to confirm";
        let Some(answer) = output::ask(&format!("This {what}. Continue? [y/N] ")) else {
            return Err(Error::invalid("yes", format!("this {what}, which needs confirmation")).hint(hint).into());
        };
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => Ok(()),
            _ => Err(Error::invalid("yes", "not confirmed, so nothing was changed").hint(hint).into()),
        }
    }

    /// Prints an answer: as JSON if that was asked for, else by `human`.
    pub(crate) fn print(&self, answer: &Value, human: impl FnOnce(&Value)) {
        if self.json { output::json(answer) } else { human(answer) }
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

    /// What is shared with other processes, or `None`.
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
            Ok(embedder) => {
                self.warn_of_absent_model(embedder.as_deref());
                Ok(embedder)
            }
            Err(error) => {
                let unreachable = error.kind() != ErrorKind::Configuration
                    || matches!(error, loci_models::Error::ModelMissing { .. });
                let local = self.settings.embeddings.provider == Provider::Local;
                if named && local || !unreachable {
                    return Err(error.into());
                }
                let hint = if local {
                    "run `loci model fetch`, or set LOCI_MODEL_DIR to a folder that has a model; LOCI_EMBEDDINGS=none \
                     silences this"
                } else {
                    error.hint()
                };
                output::warn(
                    &format!("no embedding model, so the vector search is not available: {error}"),
                    Some(hint),
                );
                Ok(None)
            }
        }
    }
}

impl Context {
    /// Warns if the service of the embedding model was asked and did not answer.
    fn warn_of_absent_model(&self, embedder: Option<&dyn Embedder>) {
        let Some(embedder) = embedder.filter(|embedder| embedder.model().dimensions == 0) else { return };
        let (model, url) = (&embedder.model().name, self.settings.without_secrets().embeddings.base_url);
        output::warn(
            &format!(
                "the embedding model `{model}` at {url} does not answer; until it does, the vector search is not available"
            ),
            Some("vectors of new memories are computed when it is back"),
        );
    }
}

/// Vectors of different models are never compared, so old ones are dead until they are remade.
async fn warn_of_other_models(engine: &Engine, caller: &Caller) {
    let Some(model) = engine.model() else { return };
    // A store that cannot be read, or a caller who sees nothing, is reported by the command itself.
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
            Some("run `loci store reembed`, or go back to the earlier model"),
        );
    }
}
