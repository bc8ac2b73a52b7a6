//! What has an agent set for itself?
//!
//! An agent's configuration may change the weights of the score, the number of hits, the threshold
//! and the categories that it sees. It can only narrow what is visible, never widen it.

use std::collections::BTreeSet;

use loci_types::Error;
use serde::Deserialize;
use serde_json::Value;

use crate::config::Weights;
use crate::policy::Caller;
use crate::{Engine, Result};

/// What an agent has set.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
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
    /// Reads and checks a configuration. What it does not know is left for others.
    pub(crate) fn read(config: &Value) -> Result<Self, Error> {
        let wrong = |error: serde_json::Error| {
            Error::invalid("config", format!("the agent's config cannot be read: {error}"))
                .hint(r#"for example {"weights":{"similarity":0.5,"recency":0.3,"utility":0.2},"limit":10,"threshold":0.3,"categories":["tasks"]}"#)
        };
        let settings: Self = serde_json::from_value(config.clone()).map_err(wrong)?;
        if let Some(weights) = &settings.weights {
            weights.validate()?;
        }
        if let Some(threshold) = settings.threshold {
            loci_types::unit("threshold", threshold)?;
        }
        if settings.limit == Some(0) {
            return Err(Error::invalid("limit", "limit is 0, but must be at least 1"));
        }
        Ok(settings)
    }
}

impl Engine {
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
        let good = AgentSettings::read(&json!({ "limit": 3, "categories": ["tasks"], "else": 1 })).unwrap();
        assert_eq!((good.limit, good.categories.unwrap().len()), (Some(3), 1));
        for (config, field) in [
            (json!({ "weights": { "similarity": 0.9, "recency": 0.3, "utility": 0.2 } }), "retrieval.weights"),
            (json!({ "threshold": 7 }), "threshold"),
            (json!({ "limit": 0 }), "limit"),
            (json!({ "limit": "many" }), "config"),
        ] {
            assert_eq!(AgentSettings::read(&config).unwrap_err().field(), Some(field), "{config}");
        }
    }
}
