//! Applies the context modes of categories to the results of a recall.
//!
//! A category of mode `all` is added whole, newest first, after the results; one of mode `rag` contributes at most
//! its configured number. The choice is pure; only categories of mode `all` are read from the store, with one read
//! each.

use std::collections::{BTreeMap, HashSet};

use loci_store::Page;
use loci_types::{ContentHash, Filter, Memory, MemoryId, Visible};

use super::{Categories, ContextMode};
use crate::{Engine, RecallHit, Result};

/// Maximum number of memories that a category of mode `all` adds.
const MAX_WHOLE_CATEGORY: usize = 100;

impl Categories {
    /// Returns the number of results to ask for, so that enough are left when some categories contribute only a few.
    pub(crate) fn limit(&self, limit: usize, most: usize) -> usize {
        let short = self.iter().any(|spec| spec.rag_length.is_some_and(|length| length < limit));
        if short { limit.saturating_mul(3).min(most) } else { limit }
    }

    /// Keeps the best hits: no more of a category than its length, and no more than `limit`.
    pub(crate) fn keep(&self, hits: &mut Vec<RecallHit>, limit: usize) {
        let mut left: BTreeMap<&str, usize> =
            self.iter().filter_map(|spec| Some((spec.name.as_str(), spec.rag_length?))).collect();
        hits.retain(|hit| match hit.memory.category.as_deref().and_then(|name| left.get_mut(name)) {
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
            None => true,
        });
        hits.truncate(limit);
    }

    /// The categories of mode `all`, of those that were asked for (by default all) and that are visible.
    fn whole<'a>(&'a self, asked: &'a [String], visible: &'a Visible) -> impl Iterator<Item = &'a str> {
        let wanted = |name: &str| asked.is_empty() || asked.iter().any(|asked| asked == name);
        let seen = |name: &str| visible.categories().is_none_or(|allowed| allowed.contains(name));
        let all = self.iter().filter(|spec| spec.context == ContextMode::All).map(|spec| spec.name.as_str());
        all.filter(move |name| wanted(name) && seen(name))
    }

    /// Whether any comes whole.
    pub(crate) fn any_whole(&self) -> bool {
        self.iter().any(|spec| spec.context == ContextMode::All)
    }
}

impl Engine {
    /// Puts the categories that come whole behind the hits.
    pub(crate) async fn add_whole(&self, visible: &Visible, filter: &Filter, hits: &mut Vec<RecallHit>) -> Result<()> {
        for name in self.config.categories.whole(&filter.categories, visible) {
            let filter = Filter { categories: vec![name.to_owned()], ..filter.clone() };
            let page = Page { after: None, limit: MAX_WHOLE_CATEGORY };
            let memories = self.store.scan(visible, &filter, page).await?.memories;
            let more = unknown(hits, memories);
            hits.extend(more.into_iter().map(|memory| crate::recall::search::plain(0.0, memory)));
        }
        Ok(())
    }
}

/// Those that are no hit yet, say nothing that a hit says, and were not overridden by one.
fn unknown(hits: &[RecallHit], memories: Vec<Memory>) -> Vec<Memory> {
    let ids: HashSet<MemoryId> =
        hits.iter().flat_map(|hit| hit.explain.overrides.iter().copied().chain([hit.memory.id])).collect();
    let mut said: HashSet<ContentHash> = hits.iter().map(|hit| hit.memory.content_hash).collect();
    memories.into_iter().filter(|memory| !ids.contains(&memory.id) && said.insert(memory.content_hash)).collect()
}
