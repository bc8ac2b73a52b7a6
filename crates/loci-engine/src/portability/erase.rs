//! Erases all data of one user.
//!
//! The data is erased space by space, in steps of the store, and again where others wrote meanwhile; then freed
//! pages, indexes and logs are scrubbed. **Invariant:** an interrupted erasure is not reported as done; erasing again
//! completes it. The counts before and after come from the same query, so the report shows what was found, and what
//! an erasure left behind.

use std::collections::BTreeMap;

use loci_store::UserData;
use loci_types::{Action, Batch, Error, ErrorKind, Identifiers, Space};
use serde::Serialize;

use crate::access::policy::{self, Caller};
use crate::{Engine, Result};

/// Maximum number of passes, because others may write for the user meanwhile.
const MAX_ERASE_ROUNDS: usize = 3;

/// What an erasure cannot reach; it is part of the report.
const ERASURE_LIMITS: [&str; 3] = [
    "backups and exports that were made before still hold it",
    "other servers that run may still hold messages and batched writes of this user in their memory: stop them first, or erase again",
    "keys and webhooks that name the user, and triples that they stated in layers of others, stay",
];

/// What was erased, or would be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Erasure {
    /// The user.
    pub user_id: String,
    /// Whether it is gone; otherwise this is what would go.
    pub erased: bool,
    /// What there was, by space.
    pub spaces: BTreeMap<String, UserData>,
    /// All of it together.
    pub total: UserData,
    /// Working memories and sessions in the tiers; counted when they go.
    pub working: u64,
    /// Whether freed pages, words and logs were cleaned too.
    pub scrubbed: bool,
    /// What may be left outside of what Loci can reach, and why.
    pub left: Vec<String>,
    /// What no erasure can reach.
    pub not_reached: Vec<String>,
}

impl Engine {
    /// What a user left, counted.
    pub async fn user_data(&self, caller: &Caller, user: &str) -> Result<Erasure> {
        policy::require_operator(caller, "erases what a user left")?;
        // The same rules as for any other name of a user.
        Identifiers { user_id: Some(user.to_owned()), ..Identifiers::default() }.validate()?;
        let found = self.store.user_data(&policy::visible_tenant(&caller.tenant), user).await?;
        Ok(erasure_report(user, found))
    }

    /// Erases all that a user left. `scrub` also cleans freed pages, words and logs, which takes long and holds
    /// writers up.
    pub async fn erase_user(&self, caller: &Caller, user: &str, scrub: bool) -> Result<Erasure> {
        let mut erasure = self.user_data(caller, user).await?;
        // First what lives fast: it may still become turns, which then go with the rest.
        let tiers = self.erase_working(caller, user).await?;
        erasure.working = (tiers.working + tiers.tier) as u64;
        let mut found = self.store.user_data(&policy::visible_tenant(&caller.tenant), user).await?;
        // Answers to earlier requests lie in the shared space, whether or not the user had something there.
        found.retain(|space, left| *space == Space::Shared || *left != UserData::default());
        for _ in 0..MAX_ERASE_ROUNDS {
            for space in found.keys() {
                self.erase_in(caller, user, space).await?;
            }
            found = self.store.user_data(&policy::visible_tenant(&caller.tenant), user).await?;
            found.retain(|_, left| !left.is_empty());
            if found.is_empty() {
                break;
            }
        }
        if let Some(space) = found.keys().next() {
            let message = format!("someone keeps writing for user `{user}` in {space}");
            return Err(Error::new(ErrorKind::Conflict, message)
                .at("userId")
                .hint("stop what writes for this user, and erase again")
                .into());
        }
        self.feature_cache.clear();
        erasure.erased = true;
        if scrub {
            erasure.left.extend(self.store.scrub(&caller.tenant).await?);
            erasure.scrubbed = true;
        }
        Ok(erasure)
    }

    async fn erase_in(&self, caller: &Caller, user: &str, space: &Space) -> Result<()> {
        let mut change =
            self.change(caller, "operator", "erased on request", Action::EraseUser { user: user.to_owned() });
        // The ledger entry must not name the erased user.
        change.provenance.actor = change.provenance.actor.filter(|actor| actor != user);
        self.store.apply(Batch { tenant: caller.tenant.clone(), space: space.clone(), changes: vec![change] }).await?;
        Ok(())
    }
}

fn erasure_report(user: &str, found: BTreeMap<Space, UserData>) -> Erasure {
    let total = found.values().fold(UserData::default(), |sum, more| sum.and(more));
    let spaces = found.into_iter().filter(|(_, of)| *of != UserData::default());
    Erasure {
        user_id: user.to_owned(),
        erased: false,
        spaces: spaces.map(|(space, of)| (space.name(), of)).collect(),
        total,
        working: 0,
        scrubbed: false,
        left: Vec::new(),
        not_reached: ERASURE_LIMITS.map(str::to_owned).to_vec(),
    }
}
