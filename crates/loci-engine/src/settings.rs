//! What has an agent set for itself?
//!
//! An agent's configuration may change the weights of the score, the number of hits, the threshold
//! and the categories that it sees. It can only narrow what is visible, never widen it.

use std::collections::BTreeSet;

use loci_types::{Error, Layer, Visible};
use serde::Deserialize;
use serde_json::Value;

use crate::config::Weights;
use crate::policy::{self, Caller};
use crate::{Engine, Result};

/// What an agent has set.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub(crate) struct AgentSettings {
    /// The weights of the score.
    pub(crate) weights: Option<Weights>,
    /// Hits when the caller gives no number.
    pub(crate) limit: Option<usize>,
    /// Cosine below which the vector lane does not count.
    pub(crate) threshold: Option<f64>,
    /// The categories it may see; none: all.
    pub(crate) categories: Option<BTreeSet<String>>,
}

impl AgentSettings {
    /// Reads and checks a configuration. An unknown name is refused: a slip in the name of a wall must
    /// not leave the door open.
    pub(crate) fn read(config: &Value) -> Result<Self, Error> {
        let wrong = |error: serde_json::Error| {
            Error::invalid("config", format!("the agent's config cannot be read: {error}"))
                .hint(r#"for example {"weights":{"similarity":0.5,"recency":0.3,"utility":0.2},"limit":10,"threshold":0.3,"categories":["tasks"]}"#)
        };
        let settings: Self = serde_json::from_value(config.clone()).map_err(wrong)?;
        if let Some(weights) = &settings.weights {
            weights.validate().map_err(|error| Error::invalid("weights", error.to_string()))?;
        }
        if let Some(threshold) = settings.threshold {
            loci_types::unit("threshold", threshold)?;
        }
        Ok(settings)
    }
}

impl Engine {
    /// What this caller sees, as far as its agent's settings let it.
    pub(crate) async fn visible(&self, caller: &Caller, layers: Option<&[Layer]>) -> Result<Visible> {
        let settings = self.settings_of(caller).await?;
        Ok(policy::visible_in(caller, layers, settings.categories)?)
    }

    /// Refuses settings that no question of this engine could keep to.
    pub(crate) fn check_settings(&self, config: &Value) -> Result<()> {
        let (settings, most) = (AgentSettings::read(config)?, self.config.retrieval.max_limit);
        match settings.limit {
            Some(limit) if limit == 0 || limit > most => {
                Err(Error::invalid("limit", format!("limit is {limit}, but must lie between 1 and {most}")).into())
            }
            _ => Ok(()),
        }
    }

    /// The settings of the agent that asks; none are set if it is not registered.
    pub(crate) async fn settings_of(&self, caller: &Caller) -> Result<AgentSettings> {
        let Some(slug) = &caller.identifiers.agent_id else { return Ok(AgentSettings::default()) };
        match self.store.agent(&caller.tenant, slug).await? {
            Some(agent) => Ok(AgentSettings::read(&agent.config)?),
            None => Ok(AgentSettings::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_are_read_and_checked() {
        let good = AgentSettings::read(&json!({ "limit": 3, "categories": ["tasks"] })).unwrap();
        assert_eq!((good.limit, good.categories.unwrap().len()), (Some(3), 1));
        for (config, field) in [
            (json!({ "weights": { "similarity": 0.9, "recency": 0.3, "utility": 0.2 } }), "weights"),
            (json!({ "threshold": 7 }), "threshold"),
            (json!({ "categorys": ["tasks"] }), "config"),
            (json!({ "limit": "many" }), "config"),
        ] {
            assert_eq!(AgentSettings::read(&config).unwrap_err().field(), Some(field), "{config}");
        }
    }
}
