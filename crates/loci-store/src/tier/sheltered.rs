//! What happens while the shared tier is away?
//!
//! Every call goes to the first tier; if it fails, the same call is answered by a tier of this process,
//! and so are all that follow, until a back-off has passed and one caller tries again. So a caller waits
//! for a dead tier once, not each time. Two things keep the change of tiers harmless: the shelter starts
//! each outage empty, so nothing of an earlier one comes back; and what was cleared during the outage is
//! cleared in the first tier before it is believed again.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio::time::Instant;

use super::{Conversation, Desk, Jotting, ProcessTier, SessionEntry, Taken, Tier, TierHealth, TierResult};

/// The first pause before the tier is tried again; each failure doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long one caller spends on clearing what is owed; the next one goes on with it.
const CLEARING: Duration = Duration::from_millis(250);

/// How many clearings are remembered; beyond that, entries go by their time to live.
const MOST_OWED: usize = 10_000;

/// A tier with another to fall back on.
pub struct Sheltered {
    first: Arc<dyn Tier>,
    shelter: ProcessTier,
    outage: Mutex<Option<Outage>>,
}

/// The first tier is away.
struct Outage {
    problem: String,
    pause: Duration,
    /// When somebody may try again.
    next: Instant,
    owed: HashSet<Owed>,
}

/// Which tier answers a call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Road {
    First,
    /// The first, to see whether it is back.
    Trial,
    Shelter,
}

/// What must be cleared before the first tier is believed again.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Owed {
    Desk(Desk),
    Conversation(Conversation),
    User(String, String, Timestamp),
}

impl Sheltered {
    /// Uses `first`, and `shelter` while `first` is away.
    pub fn new(first: Arc<dyn Tier>, shelter: ProcessTier) -> Self {
        Self { first, shelter, outage: Mutex::new(None) }
    }

    fn outage(&self) -> MutexGuard<'_, Option<Outage>> {
        self.outage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the first tier is asked now. Of those who come when a pause has passed, one tries; the
    /// others go on as before.
    async fn road(&self) -> Road {
        let owed = {
            let mut outage = self.outage();
            let Some(outage) = &mut *outage else { return Road::First };
            if Instant::now() < outage.next {
                return Road::Shelter;
            }
            outage.next = Instant::now() + outage.pause;
            outage.owed.clone()
        };
        let started = Instant::now();
        for owed in &owed {
            if started.elapsed() > CLEARING {
                if let Some(outage) = &mut *self.outage() {
                    outage.next = Instant::now();
                }
                return Road::Shelter;
            }
            let cleared = match owed {
                Owed::Desk(desk) => self.first.clear(desk).await,
                Owed::Conversation(conversation) => self.first.end(conversation).await,
                Owed::User(tenant, user, at) => self.first.erase_user(tenant, user, *at).await.map(drop),
            };
            if let Err(error) = cleared {
                self.failed(Road::Trial, &error.to_string());
                return Road::Shelter;
            }
            if let Some(outage) = &mut *self.outage() {
                outage.owed.remove(owed);
            }
        }
        Road::Trial
    }

    fn failed(&self, road: Road, problem: &str) {
        let mut outage = self.outage();
        let now = Instant::now();
        match &mut *outage {
            Some(outage) => {
                problem.clone_into(&mut outage.problem);
                // Several calls may have been under way when it went: only a trial makes the pause longer.
                if road == Road::Trial {
                    outage.pause = (outage.pause * 2).min(LONGEST_PAUSE);
                    outage.next = now + outage.pause;
                }
            }
            None => {
                let tier = self.first.name();
                tracing::warn!(tier, problem, "the shared tier is away: this process stands in for it");
                self.shelter.empty();
                let (pause, owed) = (FIRST_PAUSE, HashSet::new());
                *outage = Some(Outage { problem: problem.to_owned(), pause, next: now + pause, owed });
            }
        }
    }

    /// A trial went well: the first tier is believed again, unless something was cleared meanwhile.
    fn recovered(&self) {
        let mut outage = self.outage();
        match &mut *outage {
            Some(outage) if !outage.owed.is_empty() => outage.next = Instant::now(),
            Some(_) => {
                tracing::info!(tier = self.first.name(), "the shared tier is back");
                *outage = None;
            }
            None => {}
        }
    }

    /// Asks the first tier or the shelter. Both are given as futures, of which one may never run.
    async fn either<T>(
        &self,
        first: impl Future<Output = TierResult<T>>,
        shelter: impl Future<Output = TierResult<T>>,
    ) -> TierResult<T> {
        let road = self.road().await;
        if road == Road::Shelter {
            return shelter.await;
        }
        match first.await {
            Ok(answer) => {
                if road == Road::Trial {
                    self.recovered();
                }
                Ok(answer)
            }
            Err(error) => {
                self.failed(road, &error.to_string());
                shelter.await
            }
        }
    }

    /// Remembers a clearing. False if the outage is over, so that nobody would ask for it.
    fn owe(&self, owed: Owed) -> bool {
        let mut outage = self.outage();
        let Some(outage) = &mut *outage else { return false };
        if outage.owed.len() < MOST_OWED {
            outage.owed.insert(owed);
        }
        true
    }
}

#[async_trait]
impl Tier for Sheltered {
    fn name(&self) -> &'static str {
        self.first.name()
    }

    fn trouble(&self) -> Option<String> {
        self.outage().as_ref().map(|outage| outage.problem.clone())
    }

    async fn health(&self) -> TierResult<TierHealth> {
        let health = self.either(self.first.health(), self.shelter.health()).await?;
        Ok(TierHealth { name: self.first.name(), degraded: self.trouble(), ..health })
    }

    async fn append(&self, desk: &Desk, jottings: &[Jotting]) -> TierResult<usize> {
        self.either(self.first.append(desk, jottings), self.shelter.append(desk, jottings)).await
    }

    async fn read(&self, desk: &Desk) -> TierResult<Vec<Jotting>> {
        self.either(self.first.read(desk), self.shelter.read(desk)).await
    }

    async fn trim(&self, desk: &Desk, tokens: u64) -> TierResult<usize> {
        self.either(self.first.trim(desk, tokens), self.shelter.trim(desk, tokens)).await
    }

    async fn remove(&self, desk: &Desk, jottings: &[Jotting]) -> TierResult<usize> {
        self.either(self.first.remove(desk, jottings), self.shelter.remove(desk, jottings)).await
    }

    async fn clear(&self, desk: &Desk) -> TierResult<()> {
        let shelter = async {
            if self.owe(Owed::Desk(desk.clone())) {
                self.shelter.clear(desk).await
            } else {
                self.first.clear(desk).await
            }
        };
        self.either(self.first.clear(desk), shelter).await
    }

    async fn put(&self, conversation: &Conversation, entry: &SessionEntry, life: Option<Duration>) -> TierResult<()> {
        self.either(self.first.put(conversation, entry, life), self.shelter.put(conversation, entry, life)).await
    }

    async fn latest(&self, conversation: &Conversation, limit: usize) -> TierResult<Vec<SessionEntry>> {
        self.either(self.first.latest(conversation, limit), self.shelter.latest(conversation, limit)).await
    }

    async fn end(&self, conversation: &Conversation) -> TierResult<()> {
        let shelter = async {
            if self.owe(Owed::Conversation(conversation.clone())) {
                self.shelter.end(conversation).await
            } else {
                self.first.end(conversation).await
            }
        };
        self.either(self.first.end(conversation), shelter).await
    }

    async fn erase_user(&self, tenant: &str, user: &str, at: Timestamp) -> TierResult<usize> {
        let shelter = async {
            if self.owe(Owed::User(tenant.to_owned(), user.to_owned(), at)) {
                self.shelter.erase_user(tenant, user, at).await
            } else {
                self.first.erase_user(tenant, user, at).await
            }
        };
        self.either(self.first.erase_user(tenant, user, at), shelter).await
    }

    async fn erased(&self, tenant: &str, user: &str) -> TierResult<Option<Timestamp>> {
        self.either(self.first.erased(tenant, user), self.shelter.erased(tenant, user)).await
    }

    async fn embeddings(&self, keys: &[String]) -> TierResult<Vec<Option<Vec<u8>>>> {
        self.either(self.first.embeddings(keys), self.shelter.embeddings(keys)).await
    }

    async fn keep_embeddings(&self, entries: &[(String, Vec<u8>)]) -> TierResult<()> {
        self.either(self.first.keep_embeddings(entries), self.shelter.keep_embeddings(entries)).await
    }

    async fn take(&self, key: &str, per_second: u32, burst: u32) -> TierResult<Taken> {
        self.either(self.first.take(key, per_second, burst), self.shelter.take(key, per_second, burst)).await
    }
}
