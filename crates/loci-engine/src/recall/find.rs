//! Recall restricted to an entity, a time, or both.
//!
//! A memory with an event time is filtered by it, others by the day on which they were said. The restriction only
//! narrows what recall finds.

use loci_types::{Filter, TimeRange};

use crate::access::policy::Caller;
use crate::{Engine, Recall, RecallRequest, Result};

/// A question, and what else is known of its answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FindRequest {
    /// The question, its filters and its number of hits.
    pub recall: RecallRequest,
    /// Only memories that mention the entity with this name or id.
    pub entity: Option<String>,
    /// Only memories of events in this range. A memory without an event time is selected by the time of its statement.
    pub when: TimeRange,
}

impl Engine {
    /// Finds what matters to a question, of one thing or from one time if they are named.
    pub async fn find(&self, caller: &Caller, request: FindRequest) -> Result<Recall> {
        let FindRequest { mut recall, entity, when } = request;
        let (_, _, now) = self.read_request(&recall)?;
        if entity.is_some() || !when.is_open() {
            let mut filter = recall.filter.clone().unwrap_or_else(|| Filter::at(now));
            if let Some(name) = &entity {
                let visible = self.visible(caller, recall.layers.as_deref()).await?;
                filter.about = Some(self.entity_named(&visible, name).await?.id);
            }
            if !when.is_open() {
                filter.happened = when;
            }
            recall.filter = Some(filter);
        }
        self.recall(caller, recall).await
    }
}
