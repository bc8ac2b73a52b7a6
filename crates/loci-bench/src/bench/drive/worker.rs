//! A worker of the driver: engine, store and data.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use loci_engine::{Caller, Engine, NewMemory, System};
use loci_models::Embedder;
use loci_store::Store;
use loci_types::{Identifiers, Kind};
use serde_json::{Value, json};

use super::data::{Data, Row};
use super::given::Given;
use super::text::{Metered, WithModel};
use crate::bench::data::DIMENSIONS;
use loci_host::settings::Settings;
use loci_host::{store, vectors, wiring};

/// The name in a memory's metadata under which the harness knows it.
pub(super) const NUMBER: &str = "number";

/// The settings in force, and what was opened.
pub(super) struct Worker {
    settings: Settings,
    opened: Option<Opened>,
    model: Option<Arc<Metered>>,
}

/// A store with its engines.
pub(super) struct Opened {
    pub(super) data: Data,
    pub(super) store: Arc<dyn Store>,
    /// Finds its vectors among those that were given.
    pub(super) engine: Arc<Engine>,
    pub(super) given: Arc<Given>,
    /// Makes no vectors, as if embedding were switched off.
    pub(super) wordy: Arc<Engine>,
}

impl Worker {
    pub(super) fn new(settings: Settings) -> Self {
        Self { settings, opened: None, model: None }
    }

    /// Opens or makes the store in a folder.
    pub(super) async fn open(&mut self, folder: &Path, data: PathBuf) -> Result<Value> {
        let start = Instant::now();
        self.opened = None;
        let store = store::open(&self.settings, folder, Some(DIMENSIONS)).await?;
        let store = vectors::beside(&self.settings, store, Arc::new(System))?;
        let given = Arc::new(Given::default());
        let engine = Arc::new(self.engine(&store, Some(given.clone()))?);
        let wordy = Arc::new(self.engine(&store, None)?.without_vectors());
        let ms = start.elapsed().as_secs_f64() * 1e3;
        self.opened = Some(Opened { data: Data::new(data), store, engine, given, wordy });
        Ok(json!({ "ms": ms }))
    }

    pub(super) fn opened(&self) -> Result<&Opened> {
        self.opened.as_ref().context("nothing is open; `open` names the folders")
    }

    /// The store with the real model, which is loaded when it is first asked for.
    pub(super) async fn with_model(&mut self) -> Result<WithModel<'_>> {
        let metered = match self.model.clone() {
            Some(metered) => metered,
            None => {
                let model = wiring::embedder(&self.settings, None).await?;
                let metered = Arc::new(Metered::new(model.context("embedding is switched off")?));
                self.model.insert(metered).clone()
            }
        };
        let opened = self.opened()?;
        let engine = Arc::new(self.engine(&opened.store, Some(metered.clone()))?);
        Ok(WithModel { opened, engine, metered })
    }

    fn engine(&self, store: &Arc<dyn Store>, embedder: Option<Arc<dyn Embedder>>) -> Result<Engine> {
        Ok(Engine::new(store.clone(), embedder, Arc::new(System), self.settings.engine())?)
    }

    /// Lets go of the store.
    pub(super) fn close(&mut self) {
        self.opened = None;
    }
}

/// One user of the agent that everything is measured with.
pub(super) fn caller(user: &str) -> Caller {
    Caller::new(identifiers(user))
}

pub(super) fn identifiers(user: &str) -> Identifiers {
    Identifiers { agent_id: Some("bench".to_owned()), user_id: Some(user.to_owned()), ..Identifiers::default() }
}

/// A row as something to remember: kept beside whatever it resembles, as the others keep it.
pub(super) fn new_memory(row: &Row) -> NewMemory {
    let mut metadata = serde_json::Map::new();
    metadata.insert(NUMBER.to_owned(), row.number.into());
    NewMemory {
        content: row.text.clone(),
        kind: Some(Kind::FACT.to_owned()),
        metadata,
        as_is: true,
        ..NewMemory::default()
    }
}
