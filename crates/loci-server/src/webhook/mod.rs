//! Delivery of webhooks.
//!
//! One loop per webhook reads the ledger from the cursor of the last delivery, sends what is new, and stores the new
//! cursor once the receiver has answered. So nothing is lost: after a crash the last batch is sent again. Of several
//! servers the one that holds the webhook's lease delivers.

mod address;
mod delivery;

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use loci_engine::{Caller, FeedPage, Webhook, WebhookState};
use loci_types::{Error, ErrorKind, Tenant};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::Instant;

pub(crate) use self::address::check as check_address;
use self::delivery::Sender;
use crate::App;

/// How often the registrations are read again.
const LIST: Duration = Duration::from_secs(2);
/// How often the ledger is read when nothing has happened.
const IDLE: Duration = Duration::from_millis(500);
/// How often a webhook that waits, is paused, or is delivered by another server is looked at again.
const LOOK: Duration = Duration::from_secs(1);
/// How long a lease lasts; it is renewed after a third of that.
const LEASE: Duration = Duration::from_secs(60);
/// How often the cursor is stored while no event matches the filter of a webhook.
const KEEP: Duration = Duration::from_secs(30);
/// The most events of one delivery.
const BATCH: usize = 100;
/// The shortest and the longest wait after a failure.
const WAITS: (SignedDuration, SignedDuration) = (SignedDuration::from_secs(1), SignedDuration::from_mins(5));

/// How webhooks are delivered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookOptions {
    /// Whether deliveries may go to private, loopback and other addresses that are not public.
    pub allow_private: bool,
    /// Seconds that a receiver may take to answer.
    pub timeout_seconds: u64,
    /// Hours of failures after which a webhook is paused; 0: after the first failure.
    pub pause_after_hours: u64,
}

impl Default for WebhookOptions {
    fn default() -> Self {
        Self { allow_private: false, timeout_seconds: 10, pause_after_hours: 72 }
    }
}

impl WebhookOptions {
    /// Refuses bounds that cannot work.
    pub fn validate(&self) -> Result<(), Error> {
        let bounds = [
            ("webhooks.timeout_seconds", self.timeout_seconds, 1, 30),
            ("webhooks.pause_after_hours", self.pause_after_hours, 0, 8_760),
        ];
        for (field, value, least, most) in bounds {
            if !(least..=most).contains(&value) {
                let message = format!("{field} is {value}, but must be between {least} and {most}");
                return Err(Error::new(ErrorKind::Configuration, message)
                    .at(field)
                    .hint("leave it out for the default"));
            }
        }
        Ok(())
    }
}

/// Delivers until the server closes.
pub(crate) async fn run(app: Arc<App>) {
    let sender = match Sender::new(&app.options.webhooks) {
        Ok(sender) => Arc::new(sender),
        Err(error) => return tracing::error!(%error, "webhooks cannot be delivered"),
    };
    let holder = uuid::Uuid::new_v4().to_string();
    let (mut loops, mut closed) = (JoinSet::new(), app.closed.clone());
    let mut known: HashMap<(Tenant, String), AbortHandle> = HashMap::new();
    while !*closed.borrow() {
        if let Some(webhooks) = registered(&app).await {
            // One that was removed stops at once, and one that ended by a defect begins again.
            known.retain(|place, running| {
                let stays = webhooks.contains_key(place) && !running.is_finished();
                if !stays {
                    running.abort();
                }
                stays
            });
            for (place, webhook) in webhooks {
                known.entry(place.clone()).or_insert_with(|| {
                    let (app, sender, holder) = (app.clone(), sender.clone(), holder.clone());
                    loops.spawn(async move { DeliveryLoop::new(app, sender, holder, place.0, webhook).run().await })
                });
            }
        }
        while loops.try_join_next().is_some() {}
        tokio::select! {
            () = tokio::time::sleep(LIST) => {}
            () = app.webhooks_changed.notified() => {}
            _ = closed.wait_for(|closed| *closed) => {}
        }
    }
    loops.shutdown().await;
    for (tenant, id) in known.keys() {
        // Another server need not wait for the lease to end.
        drop(app.engine.lease_webhook(tenant, id, &holder, Duration::ZERO).await);
    }
}

/// All webhooks; none if they cannot be read now.
async fn registered(app: &App) -> Option<HashMap<(Tenant, String), Webhook>> {
    let found = async {
        let mut found = HashMap::new();
        for tenant in app.engine.tenants(&Caller::operator()).await? {
            for webhook in app.engine.tenant_webhooks(&tenant).await? {
                found.insert((tenant.clone(), webhook.id.clone()), webhook);
            }
        }
        Ok(found)
    };
    found.await.inspect_err(|error: &loci_engine::Error| tracing::warn!(%error, "the webhooks could not be read")).ok()
}

/// The delivery of one webhook.
struct DeliveryLoop {
    app: Arc<App>,
    sender: Arc<Sender>,
    holder: String,
    tenant: Tenant,
    webhook: Webhook,
    closed: watch::Receiver<bool>,
    moved: Option<watch::Receiver<u64>>,
    /// When the lease was last taken; none if another server has it.
    leased: Option<Instant>,
    /// When the place was last kept.
    kept: Instant,
}

impl DeliveryLoop {
    fn new(app: Arc<App>, sender: Arc<Sender>, holder: String, tenant: Tenant, webhook: Webhook) -> Self {
        let (closed, moved) = (app.closed.clone(), app.engine.store().change_signal());
        Self { app, sender, holder, tenant, webhook, closed, moved, leased: None, kept: Instant::now() }
    }

    async fn run(mut self) {
        let mut state = None;
        while !*self.closed.borrow() {
            let pause = match self.step(&mut state).await {
                Ok(pause) => pause,
                Err(error) => {
                    tracing::warn!(%error, webhook = self.webhook.id, "a webhook could not be served");
                    state = None;
                    Some(LOOK)
                }
            };
            if let Some(pause) = pause {
                self.rest(pause).await;
            }
        }
    }

    /// Sends what is next. Returns how long to wait before the next step.
    async fn step(&mut self, known: &mut Option<WebhookState>) -> loci_engine::Result<Option<Duration>> {
        if self.leased.is_none_or(|at| at.elapsed() > LEASE / 3) {
            let engine = &self.app.engine;
            let taken = engine.lease_webhook(&self.tenant, &self.webhook.id, &self.holder, LEASE).await?;
            if !taken {
                (self.leased, *known) = (None, None);
                return Ok(Some(LOOK));
            }
            if self.leased.replace(Instant::now()).is_none() {
                // Another server may have been here until now.
                *known = None;
            }
        }
        let state = match known.take() {
            Some(state) => state,
            None => self.app.engine.webhook_state(&self.tenant, &self.webhook).await?,
        };
        if state.paused_at.is_some() || state.next_attempt_at.is_some_and(|at| at > self.app.engine.now()) {
            // Read again each time: someone may have resumed it.
            return Ok(Some(LOOK));
        }
        let page = match self.app.engine.webhook_page(&self.tenant, &self.webhook, &state, BATCH).await {
            Ok(page) => page,
            // The creator has no rights any more: nothing is delivered until someone changes that.
            Err(error) if error.kind() == ErrorKind::Unauthorized => {
                self.keep(&self.failed(state, error.to_string(), SignedDuration::ZERO)).await?;
                return Ok(Some(LOOK));
            }
            Err(error) => return Err(error),
        };
        if page.entries.is_empty() {
            let next = WebhookState { cursor: Some(page.cursor), ..state };
            if self.kept.elapsed() >= KEEP {
                self.keep(&next).await?;
            }
            *known = Some(next);
            return Ok((!page.more).then_some(IDLE));
        }
        let next = self.deliver(state, page).await;
        self.keep(&next).await?;
        *known = Some(next);
        Ok(None)
    }

    /// Sends a batch, and says how the webhook stands then.
    async fn deliver(&self, state: WebhookState, page: FeedPage) -> WebhookState {
        let now = self.app.engine.now();
        let place = format!("{}\0{}\0{}", self.webhook.id, page.began, page.cursor);
        let id = blake3::hash(place.as_bytes()).to_hex()[..32].to_owned();
        match self.sender.send(&self.webhook, &id, &page.entries, now).await {
            Ok(()) => WebhookState {
                cursor: Some(page.cursor),
                last_delivered_at: Some(self.app.engine.now()),
                ..WebhookState::default()
            },
            Err(error) => {
                let hours = i64::try_from(self.app.options.webhooks.pause_after_hours).unwrap_or(i64::MAX);
                self.failed(state, error, SignedDuration::from_hours(hours))
            }
        }
    }

    fn failed(&self, state: WebhookState, error: String, patience: SignedDuration) -> WebhookState {
        tracing::warn!(webhook = self.webhook.id, error, "a webhook was not delivered");
        state.failed(self.app.engine.now(), error, WAITS, patience)
    }

    async fn keep(&mut self, state: &WebhookState) -> loci_engine::Result<()> {
        self.app.engine.keep_webhook_state(&self.tenant, &self.webhook, state).await?;
        self.kept = Instant::now();
        Ok(())
    }

    async fn rest(&mut self, pause: Duration) {
        let moved = async {
            match &mut self.moved {
                // Only who waits for events is woken by them.
                Some(moved) if pause == IDLE => drop(moved.changed().await),
                _ => std::future::pending().await,
            }
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = moved => {}
            _ = self.closed.wait_for(|closed| *closed) => {}
        }
    }
}
