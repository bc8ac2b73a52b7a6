//! Resolves the short form of a memory id.

use loci_types::{Error, ErrorKind, MemoryId, MemoryRef};

use crate::access::policy::Caller;
use crate::{Engine, Result};

/// Maximum number of candidates that an error lists.
const CANDIDATES: usize = 5;

impl Engine {
    /// Returns the id of a reference. A whole id is returned as it is, without a read; a short form must match
    /// exactly one memory that the caller may see, in any state.
    pub async fn resolve_id(&self, caller: &Caller, given: &MemoryRef) -> Result<MemoryId> {
        if let Some(id) = given.whole() {
            return Ok(id);
        }
        let visible = self.visible_by_id(caller).await?;
        let found = self.store.ids_within(&visible, &given.ranges(), CANDIDATES + 1).await?;
        match found[..] {
            [id] => Ok(id),
            [] => Err(Error::new(ErrorKind::NotFound, format!("no memory {given} is visible here"))
                .at("id")
                .hint("`loci list` shows what is visible with these identifiers")
                .into()),
            _ => {
                let listed: Vec<String> = found.iter().take(CANDIDATES).map(MemoryId::to_string).collect();
                let more = if found.len() > CANDIDATES { ", and more" } else { "" };
                let message = format!("{given} could be any of {}{more}", listed.join(", "));
                Err(Error::invalid("id", message).hint("give more digits, or the whole id").into())
            }
        }
    }

    /// Resolves several references, in their order.
    pub async fn resolve_ids(&self, caller: &Caller, given: &[MemoryRef]) -> Result<Vec<MemoryId>> {
        let mut ids = Vec::with_capacity(given.len());
        for one in given {
            ids.push(self.resolve_id(caller, one).await?);
        }
        Ok(ids)
    }

    /// Returns the ids of a filter. A short id that names nothing becomes an id that matches nothing, as a whole id
    /// that names nothing does; one that names several memories is an error.
    pub async fn resolve_filter_ids(&self, caller: &Caller, given: &[MemoryRef]) -> Result<Vec<MemoryId>> {
        let mut ids = Vec::with_capacity(given.len());
        for one in given {
            ids.push(match self.resolve_id(caller, one).await {
                Err(error) if error.kind() == ErrorKind::NotFound => MemoryId(uuid::Uuid::nil()),
                resolved => resolved?,
            });
        }
        Ok(ids)
    }
}
