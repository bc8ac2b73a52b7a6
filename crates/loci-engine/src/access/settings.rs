//! Settings of an agent, which override those of the configuration.
//!
//! An agent may change the weights of the score, the number of results, the threshold and the categories that it
//! sees. It can only narrow what is visible, never widen it.

use std::collections::BTreeSet;

use loci_store::PoolFilter;
use loci_types::{Error, ErrorKind, Layer, Scope, Space, Visible};
use serde::Deserialize;
use serde_json::Value;

use crate::access::policy::{self, Caller, Membership};
use crate::config::Weights;
use crate::{Engine, Result};

/// What an agent has set.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct AgentSettings {
    /// The weights of the score.
    pub(crate) weights: Option<Weights>,
    /// Hits when the caller gives no number. Its other name is `retrievalLimit`.
    #[serde(alias = "retrievalLimit")]
    pub(crate) limit: Option<usize>,
    /// Cosine below which the vector lane does not count.
    pub(crate) threshold: Option<f64>,
    /// Score below which a hit is left out.
    pub(crate) score_threshold: Option<f64>,
    /// The categories that the agent may see. Default: all.
    pub(crate) categories: Option<BTreeSet<String>>,
}

impl AgentSettings {
    /// Reads and checks a configuration. An unknown name is refused: a slip in the name of a wall must
    /// not leave the door open.
    pub(crate) fn read(config: &Value) -> Result<Self, Error> {
        let wrong = |error: serde_json::Error| {
            Error::invalid("settings", format!("the agent's settings cannot be read: {error}"))
                .hint(r#"for example {"weights":{"similarity":0.5,"recency":0.3,"utility":0.2},"limit":10,"scoreThreshold":0.3,"categories":["tasks"]}"#)
        };
        // Agents that keep settings of other parts too have these under `memory`.
        let config = match config.as_object() {
            Some(parts) if parts.len() == 1 => parts.get("memory").unwrap_or(config),
            _ => config,
        };
        let settings: Self = serde_json::from_value(config.clone()).map_err(wrong)?;
        if let Some(weights) = &settings.weights {
            weights.validate().map_err(|error| Error::invalid("weights", error.to_string()))?;
        }
        for (field, threshold) in [("threshold", settings.threshold), ("scoreThreshold", settings.score_threshold)] {
            if let Some(threshold) = threshold {
                loci_types::unit(field, threshold)?;
            }
        }
        Ok(settings)
    }
}

impl Engine {
    /// What this caller sees, restricted by the settings of its agent.
    pub(crate) async fn visible(&self, caller: &Caller, layers: Option<&[Layer]>) -> Result<Visible> {
        let settings = self.settings_of(caller).await?;
        let membership = self.membership(caller).await?;
        Ok(policy::visible_in(caller, &membership, layers, settings.categories)?)
    }

    /// What this caller sees of things that they name by their ids, and of counts of the store: an operator who names no
    /// scope sees all of the tenant.
    pub(crate) async fn visible_by_id(&self, caller: &Caller) -> Result<Visible> {
        self.visible(&caller.by_id(), None).await
    }

    /// The scope that a new memory of this caller belongs to: in the layer given, or in the most
    /// specific one that the identifiers open.
    pub(crate) async fn target(&self, caller: &Caller, layer: Option<Layer>) -> Result<Scope> {
        let membership = self.membership(caller).await?;
        let scope = policy::target_in(caller, &membership, layer)?;
        // Every batch is checked; here it is before anything is embedded.
        self.check_agent_of(&caller.tenant, &scope.space()).await?;
        Ok(scope)
    }

    /// Refuses a caller who sees nothing at all.
    pub async fn sees_something(&self, caller: &Caller) -> Result<()> {
        self.visible(caller, None).await.map(drop)
    }

    /// The space where this caller's memories go.
    pub async fn space_of(&self, caller: &Caller) -> Result<Space> {
        Ok(self.target(caller, None).await?.space())
    }

    /// The pool that this caller names, if its agent is a member. An operator who names no agent is a member of every
    /// pool.
    #[expect(clippy::disallowed_methods, reason = "the store is asked here")]
    pub(crate) async fn membership(&self, caller: &Caller) -> Result<Membership> {
        caller.identifiers.validate()?;
        let Some(pool) = &caller.identifiers.pool_id else { return Ok(Membership::NONE) };
        let within = match &caller.identifiers.agent_id {
            Some(agent) => Some(PoolFilter::shared(pool, agent)),
            None => caller.operator.then(|| PoolFilter::named(pool)),
        };
        let within = match within {
            Some(filter) => !self.store.pools(&caller.tenant, &filter).await?.is_empty(),
            None => false,
        };
        Ok(if within { Membership::of(pool) } else { Membership::NONE })
    }

    /// Refuses settings that no question of this engine could keep to.
    pub(crate) fn check_settings(&self, config: &Value) -> Result<()> {
        let (settings, most) = (AgentSettings::read(config)?, self.config.retrieval.max_limit);
        match settings.limit {
            Some(limit) if limit == 0 || limit > most => {
                Err(Error::invalid("limit", format!("limit is {limit}, but must be between 1 and {most}")).into())
            }
            _ => Ok(()),
        }
    }

    /// The settings of the agent that asks; none are set if it is not registered. Its categories are
    /// those of its allowlist too, registered or not.
    pub(crate) async fn settings_of(&self, caller: &Caller) -> Result<AgentSettings> {
        if let Some(slug) = &caller.identifiers.agent_id {
            return self.settings_of_agent(caller, slug).await;
        }
        // No agent is named, but only some may ask with this credential: what all of them may see.
        let mut categories = None;
        for slug in &caller.agents {
            categories = policy::intersect_categories(
                categories,
                self.settings_of_agent(caller, slug).await?.categories.as_ref(),
            );
        }
        Ok(AgentSettings { categories, ..AgentSettings::default() })
    }

    async fn settings_of_agent(&self, caller: &Caller, slug: &str) -> Result<AgentSettings> {
        let mut settings = match self.store.agents(&caller.tenant, Some(slug)).await?.pop() {
            Some(agent) => AgentSettings::read(&agent.settings)?,
            None => AgentSettings::default(),
        };
        settings.categories = self.config.categories.narrow(slug, settings.categories);
        Ok(settings)
    }

    /// The categories that this caller may see and write, by its agent and its credential. `None` if all are allowed.
    pub(crate) async fn categories_of(&self, caller: &Caller) -> Result<Option<BTreeSet<String>>> {
        Ok(policy::intersect_categories(self.settings_of(caller).await?.categories, caller.categories.as_ref()))
    }

    /// Whether this caller sees every category, and so what has none.
    pub async fn sees_all_categories(&self, caller: &Caller) -> Result<bool> {
        Ok(self.categories_of(caller).await?.is_none())
    }

    /// Refuses to write a category that the caller could not see. No category at all is nobody's.
    pub(crate) async fn may_write(&self, caller: &Caller, category: Option<&str>) -> Result<()> {
        let Some(category) = category else { return Ok(()) };
        Ok(within(self.categories_of(caller).await?.as_ref(), &[category])?)
    }
}

/// Refuses categories outside of the allowed ones, by name. `None` allows all.
pub(crate) fn within<T: AsRef<str>>(allowed: Option<&BTreeSet<String>>, asked: &[T]) -> Result<(), Error> {
    let Some(allowed) = allowed else { return Ok(()) };
    match asked.iter().map(AsRef::as_ref).find(|category| !allowed.contains(*category)) {
        Some(refused) => {
            Err(Error::new(ErrorKind::Unauthorized, format!("this caller may not see the category `{refused}`"))
                .at("categories")
                .hint("the credential, the agent's settings and its allowlist say which it may see"))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    // Coverage: S0-4.4.
    #[test]
    fn settings_are_read_and_checked() {
        let good = AgentSettings::read(&json!({ "limit": 3, "categories": ["tasks"] })).unwrap();
        assert_eq!((good.limit, good.categories.unwrap().len()), (Some(3), 1));
        let memory = json!({
            "memory": {
                "weights": { "similarity": 0.5, "recency": 0.3, "utility": 0.2 },
                "retrievalLimit": 10,
                "scoreThreshold": 0.3
            }
        });
        let good = AgentSettings::read(&memory).unwrap();
        assert_eq!((good.weights, good.limit, good.score_threshold), (Some(Weights::default()), Some(10), Some(0.3)));
        for (config, field) in [
            (json!({ "scoreThreshold": -0.1 }), "scoreThreshold"),
            (json!({ "memory": { "limit": 3 }, "categories": ["tasks"] }), "settings"),
            (json!({ "weights": { "similarity": 0.9, "recency": 0.3, "utility": 0.2 } }), "weights"),
            (json!({ "threshold": 7 }), "threshold"),
            (json!({ "categorys": ["tasks"] }), "settings"),
            (json!({ "limit": "many" }), "settings"),
        ] {
            assert_eq!(AgentSettings::read(&config).unwrap_err().field(), Some(field), "{config}");
        }
    }
}
