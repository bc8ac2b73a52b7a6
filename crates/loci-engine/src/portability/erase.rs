//! Erases all data of one user.
//!
//! The data is erased space by space, in steps of the store, and again where others wrote meanwhile; then freed
//! pages, indexes and logs are scrubbed. **Invariant:** an interrupted erasure is not reported as done; erasing again
//! completes it. The counts before and after come from the same query, so the report shows what was found, and what
//! an erasure left behind.
//!
//! It ends with what lies outside of the store: the points of a vector index, and keys that name the user. What of it could
//! not be reached is in the report.

use std::collections::BTreeMap;

use loci_store::{CatalogueChange, KeyQuery, UserData};
use loci_types::{Action, Batch, Error, ErrorKind, Identifiers, Space};
use serde::Serialize;

use crate::access::policy::{self, Caller};
use crate::{Engine, Result};

/// Maximum number of passes, because others may write for the user meanwhile.
const MAX_ERASE_ROUNDS: usize = 3;

/// What an erasure cannot reach; it is part of the report.
const ERASURE_LIMITS: [&str; 3] = [
    "earlier backups and exports still contain the data",
    "other servers that run may still hold messages and batched writes of this user in their memory: stop them first, or erase again",
    "webhooks that name the user, revoked keys, and triples that they stated in layers of others, stay",
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
        policy::require_erasure(caller, user)?;
        // The same rules as for any other name of a user.
        Identifiers { user_id: Some(user.to_owned()), ..Identifiers::default() }.validate()?;
        let found = self.store.user_data(&policy::visible_tenant(&caller.tenant), user).await?;
        Ok(erasure_report(user, found))
    }

    /// Erases all that a user left. `scrub` also cleans freed pages, words and logs, which takes long and holds
    /// writers up.
    pub async fn erase_user(&self, caller: &Caller, user: &str, scrub: bool) -> Result<Erasure> {
        let mut erasure = self.user_data(caller, user).await?;
        // Keys go first, so that their holders cannot write meanwhile.
        let keys = self.revoke_keys_of(caller, user).await?;
        // Rewriting files holds up writers of the whole tenant, so it is for its operators.
        let scrub = scrub && caller.operator;
        // First what lives fast: it may still become turns, which then go with the rest.
        let tiers = self.erase_working(caller, user).await?;
        erasure.working = (tiers.working + tiers.tier) as u64;
        let mut found = self.store.user_data(&policy::visible_tenant(&caller.tenant), user).await?;
        // The index may still have what an earlier erasure removed from the store while the index was away.
        let mut spaces: BTreeMap<Space, bool> =
            self.store.spaces(&caller.tenant).await?.into_iter().map(|space| (space, false)).collect();
        spaces.extend(found.iter().filter(|(_, left)| !left.is_empty()).map(|(space, _)| (space.clone(), scrub)));
        // Stored answers to earlier requests may be in the shared space even if the user has no memories there.
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
            let message = format!("another client keeps writing for user `{user}` in {space}");
            return Err(Error::new(ErrorKind::Conflict, message)
                .at("userId")
                .hint("stop the clients that write for this user, and erase again")
                .into());
        }
        self.feature_cache.clear();
        erasure.erased = true;
        erasure.left.extend(self.erase_points(caller, &spaces).await);
        erasure.left.extend(keys);
        if scrub {
            erasure.left.extend(self.store.scrub(&caller.tenant).await?);
            erasure.scrubbed = true;
        }
        Ok(erasure)
    }

    /// Removes the points of erased memories in these spaces from a vector index outside of the store. An index rewrites
    /// its files some time after points were deleted, so a space with `true` is filled again. Returns what is left.
    async fn erase_points(&self, caller: &Caller, spaces: &BTreeMap<Space, bool>) -> Vec<String> {
        let Some(indexed) = self.store.indexed() else { return Vec::new() };
        let mut left = Vec::new();
        for (space, refill) in spaces {
            if let Err(error) = indexed.catch_up_space(&caller.tenant, space, *refill).await {
                left.push(format!(
                    "the vector index may still have vectors, the user id, scope and tags in {space}: {error}; a running \
                     server removes them when it is back, or `loci store vectors verify`"
                ));
            }
        }
        left
    }

    /// Revokes the keys that act for the user. Returns which keys still name the user.
    async fn revoke_keys_of(&self, caller: &Caller, user: &str) -> Result<Vec<String>> {
        let keys = self.store.keys(KeyQuery::Tenant(&caller.tenant)).await?;
        let own: Vec<_> = keys.into_iter().filter(|key| key.grant.bounds.users.contains(user)).collect();
        // A key for other users as well goes on working for them.
        for key in own.iter().filter(|key| key.grant.bounds.users.len() == 1 && key.holds(self.now())) {
            let revoked = CatalogueChange::RevokeKey { id: key.id.clone(), at: self.now() };
            self.store.change_catalogue(&caller.tenant, revoked).await?;
        }
        let ids: Vec<&str> = own.iter().map(|key| key.id.as_str()).collect();
        Ok(match ids.as_slice() {
            [] => Vec::new(),
            ids => vec![format!("keys still name the user, those for this user alone are revoked: {}", ids.join(", "))],
        })
    }

    async fn erase_in(&self, caller: &Caller, user: &str, space: &Space) -> Result<()> {
        let mut change =
            self.change(caller, "operator", "erased on request", Action::EraseUser { user: user.to_owned() });
        // The ledger entry must not name the erased user.
        change.provenance.actor = change.provenance.actor.filter(|actor| actor != user);
        self.apply(Batch { tenant: caller.tenant.clone(), space: space.clone(), changes: vec![change] }).await?;
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
