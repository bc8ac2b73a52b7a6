//! Which agents have a memory of their own?

use loci_store::{Agent, CatalogueChange};
use loci_types::{Error, ErrorKind};
use serde_json::Value;

use crate::policy::{self, Caller};
use crate::{Engine, Result};

impl Engine {
    /// Registers an agent, or gives a known one its configuration; true if it is new.
    pub async fn create_agent(&self, caller: &Caller, slug: &str, config: Value) -> Result<bool> {
        policy::operator(caller, "looks after agents")?;
        if !config.is_object() {
            return Err(Error::invalid("config", "an agent's config must be a JSON object").into());
        }
        self.check_settings(&config)?;
        let agent = Agent { slug: slug.to_owned(), config, created_at: self.now() };
        Ok(self.store.change_catalogue(&caller.tenant, CatalogueChange::PutAgent(agent)).await? > 0)
    }

    /// The agents there are.
    pub async fn agents(&self, caller: &Caller) -> Result<Vec<Agent>> {
        policy::operator(caller, "looks after agents")?;
        Ok(self.store.agents(&caller.tenant, None).await?)
    }

    /// Removes an agent with everything that it knows.
    pub async fn drop_agent(&self, caller: &Caller, slug: &str) -> Result<()> {
        policy::operator(caller, "looks after agents")?;
        if self.store.change_catalogue(&caller.tenant, CatalogueChange::DropAgent(slug.to_owned())).await? > 0 {
            return Ok(());
        }
        Err(Error::new(ErrorKind::NotFound, format!("there is no agent `{slug}`"))
            .at("agentId")
            .hint("`loci agent list` shows them")
            .into())
    }
}
