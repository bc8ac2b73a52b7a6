//! What is remembered about this, of that thing, from those days?
//!
//! Recall for those who also know whom it is about or when it was. What has a date of its own is judged by it, anything else
//! by the day on which it was said. Nothing is found here that recall would not find: a thing and a time only narrow.

use std::collections::HashSet;

use loci_types::{Filter, MemoryId, TimeRange};

use crate::policy::Caller;
use crate::{Engine, Recall, RecallRequest, Result};

/// So many memories that speak of a thing are looked at.
const SPOKEN_OF: usize = 10_000;

/// A question, and what else is known of its answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FindRequest {
    /// The question, its filters and its number of hits.
    pub recall: RecallRequest,
    /// Only what speaks of the thing that goes by this name or has this id.
    pub entity: Option<String>,
    /// Only what happened then; what has no date of its own, only if it was said then.
    pub when: TimeRange,
}

impl Engine {
    /// Finds what matters to a question, of one thing or from one time if they are named.
    pub async fn find(&self, caller: &Caller, request: FindRequest) -> Result<Recall> {
        let FindRequest { mut recall, entity, when } = request;
        let about = match &entity {
            Some(name) => Some(self.speaking_of(caller, name, &recall).await?),
            None => None,
        };
        let (_, limit, now) = self.read_request(&recall)?;
        let (uncounted, thread) = (recall.uncounted, recall.for_thread.take());
        recall.uncounted = true;
        if about.is_some() {
            recall.limit = Some(self.config.retrieval.max_limit);
        }
        if !when.is_open() {
            let filter = recall.filter.clone().unwrap_or_else(|| Filter::at(now));
            recall.filter = Some(Filter { happened: when, ..filter });
        }
        let mut found = self.recall(caller, recall).await?;
        found.hits.retain(|hit| about.as_ref().is_none_or(|ids| ids.contains(&hit.memory.id)));
        found.hits.truncate(limit);
        if !uncounted {
            self.count_access(caller, thread.as_deref(), &found.hits).await;
        }
        Ok(found)
    }

    /// The memories that speak of a thing.
    async fn speaking_of(&self, caller: &Caller, name: &str, recall: &RecallRequest) -> Result<HashSet<MemoryId>> {
        let visible = self.visible(caller, recall.layers.as_deref()).await?;
        let entity = self.entity_named(&visible, name).await?;
        let filter = recall.filter.clone().unwrap_or_else(|| Filter::at(self.now()));
        let hits = self.store.mentioning(&visible, &filter, &[entity.id], SPOKEN_OF).await?;
        Ok(hits.into_iter().map(|hit| hit.id).collect())
    }
}
