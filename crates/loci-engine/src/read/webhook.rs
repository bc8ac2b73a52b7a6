//! Webhooks: registrations, and the position up to which each has received events.
//!
//! The registrations of a tenant are one note of its shared space; the delivery state of each webhook is a note of
//! its own, which only the holder of the webhook's lease writes. A webhook receives what its creator's key may see at
//! the time of each delivery, so revoking the key stops it. The server sends the requests.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use loci_store::KeyQuery;
use loci_types::{
    Action, Batch, Bookkeeping, Error, ErrorKind, Event, Identifiers, Layer, NoteValue, RequestScope, Space, Tenant,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::access::keys::random;
use crate::access::policy::{self, Caller};
use crate::{Engine, FeedCursor, FeedPage, FeedRequest, Result};

/// The note with the registrations of a tenant.
const LIST: &str = "webhooks";
/// Maximum number of webhooks of one tenant.
const MAX_WEBHOOKS: usize = 100;
/// Minimum and maximum length of a secret, in bytes.
const SECRET_BYTES: std::ops::RangeInclusive<usize> = 16..=256;
/// How long one change of the list may take.
const CHANGE: Duration = Duration::from_secs(10);
/// Number of attempts to lock the list, and the pause between two of them.
const MAX_LOCK_ATTEMPTS: usize = 50;
const PAUSE: Duration = Duration::from_millis(100);

/// A webhook to be registered. Empty lists match everything that its creator may see.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewWebhook {
    /// Where deliveries are sent.
    pub url: String,
    /// Any of these events.
    pub events: Vec<Event>,
    /// About memories in any of these layers.
    pub layers: Vec<Layer>,
    /// About memories of any of these kinds.
    pub kinds: Vec<String>,
    /// The secret that deliveries are signed with, 16 to 256 bytes. Default: one is made.
    pub secret: Option<String>,
}

/// A webhook, with its secret.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Webhook {
    /// Its id.
    pub id: String,
    /// Where deliveries are sent.
    pub url: String,
    /// Any of these events; empty for all.
    pub events: Vec<Event>,
    /// About memories in any of these layers; empty for all.
    pub layers: Vec<Layer>,
    /// About memories of any of these kinds; empty for all.
    pub kinds: Vec<String>,
    /// The scope that it follows.
    pub identifiers: Identifiers,
    /// The secret that deliveries are signed with.
    pub secret: String,
    /// The credential of its creator; none if the store had no keys.
    pub credential: Option<String>,
    /// When it was created.
    pub created_at: Timestamp,
    /// The position in the ledger from which events are delivered.
    pub begin: FeedCursor,
}

/// The delivery state of a webhook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct WebhookState {
    /// The position after the last successful delivery. Absent before the first.
    pub cursor: Option<FeedCursor>,
    /// When a delivery last succeeded.
    pub last_delivered_at: Option<Timestamp>,
    /// Why the last delivery failed; none if it succeeded.
    pub last_error: Option<String>,
    /// Number of failures since the last success.
    pub failures: u32,
    /// When the first of these failures was.
    pub failing_since: Option<Timestamp>,
    /// When the next delivery is tried after a failure.
    pub next_attempt_at: Option<Timestamp>,
    /// When deliveries were given up until someone resumes them.
    pub paused_at: Option<Timestamp>,
}

impl WebhookState {
    /// The same place after another failure. The wait doubles from `shortest` to `longest`; after failures for `patience`
    /// the webhook is paused.
    #[must_use]
    pub fn failed(
        mut self,
        now: Timestamp,
        error: String,
        (shortest, longest): (SignedDuration, SignedDuration),
        patience: SignedDuration,
    ) -> Self {
        let since = *self.failing_since.get_or_insert(now);
        let doubled = shortest.checked_mul(1_i32 << self.failures.min(20)).unwrap_or(longest);
        self.next_attempt_at = now.checked_add(doubled.min(longest)).ok();
        self.failures = self.failures.saturating_add(1);
        self.last_error = Some(error);
        if now.duration_since(since) >= patience {
            self.paused_at = Some(now);
        }
        self
    }
}

impl Engine {
    /// Registers a webhook for events from now on. A caller with a token is refused, because it has no key to check
    /// again at each delivery.
    pub async fn create_webhook(&self, caller: &Caller, new: NewWebhook) -> Result<Webhook> {
        policy::require_writer(caller)?;
        if caller.credential.as_ref().is_some_and(|credential| !credential.starts_with("key:")) {
            return Err(Error::new(ErrorKind::Unauthorized, "a webhook belongs to a key, and this request has none")
                .hint("create it with a key of `POST /v1/keys`")
                .into());
        }
        for kind in &new.kinds {
            self.kinds.parse(kind)?;
        }
        let secret = new.secret.map_or_else(|| random::<32>().map(|secret| format!("whsec_{secret}")), Ok)?;
        if !SECRET_BYTES.contains(&secret.len()) || !secret.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::invalid("secret", "a secret has 16 to 256 visible ASCII characters")
                .hint("leave it out to have one generated")
                .into());
        }
        let webhook = Webhook {
            id: random::<10>()?,
            url: new.url,
            events: new.events,
            layers: new.layers,
            kinds: new.kinds,
            identifiers: caller.identifiers.clone(),
            secret,
            credential: caller.credential.clone(),
            created_at: self.now(),
            begin: self.feed_now(caller).await?,
        };
        let added = webhook.clone();
        self.change_webhooks(&caller.tenant, move |list| {
            if list.len() >= MAX_WEBHOOKS {
                return Err(Error::new(ErrorKind::Conflict, format!("a tenant has at most {MAX_WEBHOOKS} webhooks"))
                    .hint("remove one that is not needed any more"));
            }
            list.push(added);
            Ok(())
        })
        .await?;
        Ok(webhook)
    }

    /// The webhooks of a tenant that the caller made, or all for its admins; oldest first.
    pub async fn webhooks(&self, caller: &Caller) -> Result<Vec<Webhook>> {
        let mut list = self.tenant_webhooks(&caller.tenant).await?;
        list.retain(|webhook| is_own(caller, webhook));
        Ok(list)
    }

    /// One of them.
    pub async fn webhook(&self, caller: &Caller, id: &str) -> Result<Webhook> {
        let found = self.webhooks(caller).await?.into_iter().find(|webhook| webhook.id == id);
        found.ok_or_else(|| unknown().into())
    }

    /// Removes a webhook. A delivery that is under way may still arrive.
    pub async fn remove_webhook(&self, caller: &Caller, id: &str) -> Result<()> {
        let webhook = self.webhook(caller, id).await?;
        let gone = webhook.id.clone();
        self.change_webhooks(&caller.tenant, move |list| {
            list.retain(|webhook| webhook.id != gone);
            Ok(())
        })
        .await?;
        // A note without a value is removed later.
        self.put_webhook_note(&caller.tenant, state_key(id), serde_json::Value::Null, Some(self.now())).await
    }

    /// Lets a webhook that was paused, or that waits after a failure, go on at once from where it was.
    pub async fn resume_webhook(&self, caller: &Caller, id: &str) -> Result<Webhook> {
        let webhook = self.webhook(caller, id).await?;
        let state = self.webhook_state(&caller.tenant, &webhook).await?;
        let resumed = WebhookState {
            cursor: state.cursor,
            last_delivered_at: state.last_delivered_at,
            last_error: state.last_error,
            ..WebhookState::default()
        };
        self.keep_webhook_state(&caller.tenant, &webhook, &resumed).await?;
        Ok(webhook)
    }

    /// All webhooks of a tenant, for the delivery loop.
    pub async fn tenant_webhooks(&self, tenant: &Tenant) -> Result<Vec<Webhook>> {
        Ok(self.webhook_note(tenant, LIST.to_owned()).await?.unwrap_or_default())
    }

    /// The delivery state of a webhook.
    pub async fn webhook_state(&self, tenant: &Tenant, webhook: &Webhook) -> Result<WebhookState> {
        Ok(self.webhook_note(tenant, state_key(&webhook.id)).await?.unwrap_or_default())
    }

    /// Stores the delivery state of a webhook. Only the holder of its lease may call this.
    pub async fn keep_webhook_state(&self, tenant: &Tenant, webhook: &Webhook, state: &WebhookState) -> Result<()> {
        let value = serde_json::to_value(state).unwrap_or_default();
        self.put_webhook_note(tenant, state_key(&webhook.id), value, None).await
    }

    /// Takes or renews the lease on delivering a webhook; returns false if another server has it.
    pub async fn lease_webhook(&self, tenant: &Tenant, id: &str, holder: &str, lease: Duration) -> Result<bool> {
        Ok(self.store.lease(tenant, &state_key(id), holder, self.now(), lease).await?)
    }

    /// The next events of a webhook that its creator may see now. Fails if the key of its creator was revoked.
    pub async fn webhook_page(
        &self,
        tenant: &Tenant,
        webhook: &Webhook,
        state: &WebhookState,
        limit: usize,
    ) -> Result<FeedPage> {
        let caller = self.webhook_caller(tenant, webhook).await?;
        let request = FeedRequest {
            cursor: state.cursor.clone().unwrap_or_else(|| webhook.begin.clone()),
            layers: (!webhook.layers.is_empty()).then(|| webhook.layers.clone()),
            events: webhook.events.clone(),
            kinds: webhook.kinds.clone(),
            limit: Some(limit),
            ..FeedRequest::default()
        };
        self.feed(&caller, &request).await
    }

    /// The caller that a webhook reads as: its creator, as their key stands now.
    async fn webhook_caller(&self, tenant: &Tenant, webhook: &Webhook) -> Result<Caller> {
        // Without identifiers it was created for everyone's events, by an admin.
        let identifiers = webhook.identifiers.clone();
        let asked = RequestScope { everyone: identifiers.is_empty(), identifiers };
        let Some(credential) = &webhook.credential else {
            // It was created when nobody had to show a key. From the first key on it reads for nobody.
            if self.has_keys().await? {
                return Err(Error::new(ErrorKind::Unauthorized, "the webhook was created before the store had keys")
                    .hint("create the webhook again with a key")
                    .into());
            }
            return Ok(Caller { tenant: tenant.clone(), ..Caller::owner(asked)? });
        };
        let id = credential.strip_prefix("key:").unwrap_or_default();
        let key = self.store.keys(KeyQuery::Id(id)).await?.pop();
        match key.filter(|key| key.holds(self.now()) && key.grant.tenant == *tenant) {
            Some(key) => Ok(Caller::admitted(&key.grant, credential, asked)?),
            None => Err(Error::new(ErrorKind::Unauthorized, "the key that created the webhook is revoked or expired")
                .hint("create the webhook again with another key")
                .into()),
        }
    }

    /// Changes the list of a tenant, one change at a time among all servers.
    async fn change_webhooks(
        &self,
        tenant: &Tenant,
        change: impl FnOnce(&mut Vec<Webhook>) -> Result<(), Error>,
    ) -> Result<()> {
        let holder = random::<8>()?;
        for attempt in 1.. {
            if self.store.lease(tenant, LIST, &holder, self.now(), CHANGE).await? {
                break;
            }
            if attempt == MAX_LOCK_ATTEMPTS {
                return Err(Error::new(ErrorKind::Conflict, "the webhooks are being changed by another request")
                    .hint("try again a little later")
                    .into());
            }
            tokio::time::sleep(PAUSE).await;
        }
        let done = async {
            let mut list = self.tenant_webhooks(tenant).await?;
            change(&mut list)?;
            let value = serde_json::to_value(&list).unwrap_or_default();
            self.put_webhook_note(tenant, LIST.to_owned(), value, None).await
        };
        let done = done.await;
        self.store.lease(tenant, LIST, &holder, self.now(), Duration::ZERO).await?;
        done
    }

    async fn webhook_note<T: DeserializeOwned>(&self, tenant: &Tenant, key: String) -> Result<Option<T>> {
        let notes = self.store.notes(&policy::visible_tenant(tenant), &Space::Shared, &[key], self.now()).await?;
        let Some((_, value)) = notes.into_iter().next().filter(|(_, value)| !value.is_null()) else { return Ok(None) };
        serde_json::from_value(value).map(Some).map_err(|error| {
            tracing::error!(%error, "a webhook cannot be read");
            Error::new(ErrorKind::Corrupt, "the webhooks of this tenant cannot be read").into()
        })
    }

    async fn put_webhook_note(
        &self,
        tenant: &Tenant,
        key: String,
        value: serde_json::Value,
        until: Option<Timestamp>,
    ) -> Result<()> {
        let note = Bookkeeping::Note { scope: None, key, value: NoteValue::Set(value), until };
        let operator = Caller { tenant: tenant.clone(), ..Caller::operator() };
        let changes = vec![self.change(&operator, "webhooks", "webhook", Action::Bookkeeping(note))];
        self.apply(Batch { tenant: tenant.clone(), space: Space::Shared, changes }).await?;
        Ok(())
    }
}

fn is_own(caller: &Caller, webhook: &Webhook) -> bool {
    caller.operator || webhook.credential == caller.credential
}

fn state_key(id: &str) -> String {
    format!("webhook {id}")
}

fn unknown() -> Error {
    Error::new(ErrorKind::NotFound, "unknown webhook").at("id").hint("list the webhooks to see their ids")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest_and_end_in_a_pause() {
        let waits = (SignedDuration::from_secs(1), SignedDuration::from_mins(5));
        let (mut now, mut state) = (Timestamp::UNIX_EPOCH, WebhookState::default());
        let mut seconds = Vec::new();
        for _ in 0..11 {
            state = state.failed(now, "no answer".to_owned(), waits, SignedDuration::from_hours(1));
            let next = state.next_attempt_at.unwrap();
            seconds.push(next.duration_since(now).as_secs());
            now = next;
        }
        assert_eq!(seconds, [1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300]);
        assert!(state.paused_at.is_none());
        let late = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(1);
        assert_eq!(state.failed(late, "x".to_owned(), waits, SignedDuration::from_hours(1)).paused_at, Some(late));
    }
}
