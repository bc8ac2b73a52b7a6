//! Agents: creation, listing and removal.

use loci_store::{Agent, CatalogueChange};
use loci_types::{Error, ErrorKind};
use serde_json::Value;

use crate::access::policy::{self, Caller};
use crate::{Engine, Result};

impl Engine {
    /// Registers an agent, or gives a known one its settings; true if it is new.
    pub async fn create_agent(&self, caller: &Caller, agent_id: &str, settings: Value) -> Result<bool> {
        policy::require_operator(caller, "manage agents")?;
        if !settings.is_object() {
            return Err(Error::invalid("settings", "an agent's settings must be a JSON object").into());
        }
        self.check_settings(&settings)?;
        self.check_agent(&caller.tenant, agent_id).await?;
        let agent = Agent { agent_id: agent_id.to_owned(), settings, created_at: self.now() };
        Ok(self.store.change_catalogue(&caller.tenant, CatalogueChange::PutAgent(agent)).await? > 0)
    }

    /// The agents there are.
    pub async fn agents(&self, caller: &Caller) -> Result<Vec<Agent>> {
        policy::require_operator(caller, "manage agents")?;
        Ok(self.store.agents(&caller.tenant, None).await?)
    }

    /// Reads an agent.
    pub async fn agent(&self, caller: &Caller, agent_id: &str) -> Result<Agent> {
        policy::require_operator(caller, "manage agents")?;
        loci_types::slug("agentId", agent_id)?;
        let found = self.store.agents(&caller.tenant, Some(agent_id)).await?.pop();
        Ok(found.ok_or_else(|| unknown(agent_id))?)
    }

    /// Removes an agent with everything that it knows.
    pub async fn drop_agent(&self, caller: &Caller, agent_id: &str) -> Result<()> {
        policy::require_operator(caller, "manage agents")?;
        self.known_agents.clear();
        if self.store.change_catalogue(&caller.tenant, CatalogueChange::DropAgent(agent_id.to_owned())).await? > 0 {
            return Ok(());
        }
        Err(unknown(agent_id).into())
    }
}

fn unknown(agent_id: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("unknown agent `{agent_id}`"))
        .at("agentId")
        .hint("`loci agent list` shows them")
}
