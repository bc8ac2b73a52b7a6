//! The latest ledger entries that a caller may see, newest first.
//!
//! It may leave out entries; a caller that must not miss any reads the feed.

use loci_store::LedgerQuery;
use loci_types::{Event, Layer, LedgerEntry};

use crate::access::policy::Caller;
use crate::{Engine, FeedEntry, Result};

/// Number of ledger entries that are read for each one that is returned: some do not concern content.
const READ_FACTOR: usize = 8;

impl Engine {
    /// The latest changes to what memories say, newest first, in these layers or in all that the
    /// identifiers open.
    pub async fn recent_changes(
        &self,
        caller: &Caller,
        layers: Option<&[Layer]>,
        limit: usize,
    ) -> Result<Vec<FeedEntry>> {
        let visible = self.visible(caller, layers).await?;
        let mut lines = Vec::new();
        for (space, _) in self.store.ledger_heads(&visible).await? {
            let looked_at = limit.saturating_mul(READ_FACTOR);
            let changes = self
                .store
                .ledger(&visible, &LedgerQuery::Changes { space: space.clone(), thread: None, since: 0 }, looked_at)
                .await?;
            lines.extend(changes.entries.into_iter().filter(tells));
        }
        lines.sort_by(|a, b| b.at.cmp(&a.at).then(b.sequence.cmp(&a.sequence)));
        lines.truncate(limit);
        let memories = self.memories_of(&visible, lines.iter()).await?;
        let to_entry = |line: LedgerEntry| {
            let memory = line.memory_id.and_then(|id| memories.get(&id));
            crate::read::feed::entry(line, memory)
        };
        Ok(lines.into_iter().map(to_entry).collect())
    }
}

/// Whether a line says something about what is remembered, and not only how it is found.
fn tells(line: &LedgerEntry) -> bool {
    let quiet = [Event::Embed, Event::Entity, Event::Fact, Event::Link, Event::Unlink];
    line.memory_id.is_some() && !quiet.iter().any(|event| event.name().eq_ignore_ascii_case(&line.event))
}
