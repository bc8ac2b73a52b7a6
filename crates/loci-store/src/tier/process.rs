//! How does one process keep what may be lost?
//!
//! In maps, under one lock that is never held across a wait. Memory is bounded by bytes: what was not
//! used for longest goes first. Rates are counted apart, so that a flood of entries never forgets them.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use jiff::Timestamp;

use super::{Conversation, Desk, Jotting, SessionEntry, Taken, Tier, TierHealth, TierOptions, TierResult};

/// A tier in this process.
pub struct ProcessTier {
    options: TierOptions,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
    state: Mutex<State>,
}

/// What a thing is called.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Name {
    Desk(Desk),
    Conversation(Conversation),
    Embedding(String),
    /// A user who was erased.
    Erased(String, String),
}

impl Name {
    fn belongs_to(&self, whose: (&str, &str)) -> bool {
        match self {
            Name::Desk(desk) => (desk.tenant.as_str(), desk.user.as_str()) == whose,
            Name::Conversation(talk) => (talk.tenant.as_str(), talk.user.as_str()) == whose,
            Name::Embedding(_) | Name::Erased(..) => false,
        }
    }
}

enum Content {
    Jottings(VecDeque<Jotting>),
    Entries(Entries),
    Bytes(Vec<u8>),
    Time(Timestamp),
}

/// The entries of a session, by time in microseconds and by id.
#[derive(Default)]
struct Entries {
    by_time: BTreeMap<(i64, String), SessionEntry>,
    times: HashMap<String, i64>,
    bytes: usize,
}

impl Entries {
    fn put(&mut self, entry: &SessionEntry, most: usize) {
        let time = entry.at.as_microsecond();
        self.bytes += entry_weight(entry);
        if let Some(before) = self.times.insert(entry.id.clone(), time)
            && let Some(old) = self.by_time.remove(&(before, entry.id.clone()))
        {
            self.bytes -= entry_weight(&old);
        }
        self.by_time.insert((time, entry.id.clone()), entry.clone());
        while self.by_time.len() > most {
            let Some(((_, id), old)) = self.by_time.pop_first() else { return };
            self.times.remove(&id);
            self.bytes -= entry_weight(&old);
        }
    }
}

struct Slot {
    content: Content,
    bytes: usize,
    ends: Instant,
    /// Its place in the order of use.
    used: u64,
}

struct State {
    slots: HashMap<Name, Slot>,
    /// Names by the order of their last use.
    order: BTreeMap<u64, Name>,
    uses: u64,
    bytes: usize,
    most: usize,
    /// When the next request of a caller would be exactly on time.
    rates: HashMap<String, Instant>,
    sweep_at: usize,
}

impl ProcessTier {
    /// A tier that holds at most so many bytes.
    pub fn new(options: TierOptions, bytes: usize) -> Self {
        Self::with_clock(options, bytes, Instant::now)
    }

    /// The same, by this clock.
    pub fn with_clock(options: TierOptions, bytes: usize, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        let state = State {
            slots: HashMap::new(),
            order: BTreeMap::new(),
            uses: 0,
            bytes: 0,
            most: bytes,
            rates: HashMap::new(),
            sweep_at: 1_024,
        };
        Self { options, clock: Box::new(clock), state: Mutex::new(state) }
    }

    /// Forgets everything but the rates.
    pub fn empty(&self) {
        let mut state = self.state();
        state.slots.clear();
        state.order.clear();
        state.bytes = 0;
    }

    /// How many bytes it holds, near enough.
    pub fn bytes(&self) -> usize {
        self.state().bytes
    }

    /// How many callers' rates it remembers.
    pub fn rates(&self) -> usize {
        self.state().rates.len()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each step leaves the maps whole, so a panic elsewhere has not broken them.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// A slot that still lives, which is from now on the one used last.
    fn live(&mut self, name: &Name, now: Instant) -> Option<&Slot> {
        if self.slots.get(name)?.ends <= now {
            self.remove(name);
            return None;
        }
        self.uses += 1;
        let slot = self.slots.get_mut(name)?;
        self.order.remove(&slot.used);
        self.order.insert(self.uses, name.clone());
        slot.used = self.uses;
        Some(slot)
    }

    fn remove(&mut self, name: &Name) -> Option<Slot> {
        let slot = self.slots.remove(name)?;
        self.order.remove(&slot.used);
        self.bytes -= slot.bytes;
        Some(slot)
    }

    /// Puts a slot in as the one used last, and makes room.
    fn store(&mut self, name: Name, content: Content, bytes: usize, ends: Instant) {
        self.remove(&name);
        self.uses += 1;
        self.order.insert(self.uses, name.clone());
        self.bytes += bytes;
        self.slots.insert(name, Slot { content, bytes, ends, used: self.uses });
        while self.bytes > self.most {
            let Some((_, oldest)) = self.order.pop_first() else { return };
            self.remove(&oldest);
        }
    }

    /// Takes a slot out, to be changed and stored again.
    fn take(&mut self, name: &Name, now: Instant) -> Option<Slot> {
        self.live(name, now)?;
        self.remove(name)
    }

    fn jottings(&mut self, name: &Name, now: Instant) -> Option<(VecDeque<Jotting>, usize)> {
        match self.take(name, now)? {
            Slot { content: Content::Jottings(jottings), bytes, .. } => Some((jottings, bytes)),
            _ => None,
        }
    }
}

/// The bytes of a text with what it costs to keep it.
fn weight(text: &str) -> usize {
    text.len() + 64
}

fn jotting_weight(jotting: &Jotting) -> usize {
    weight(&jotting.value.to_string())
}

fn entry_weight(entry: &SessionEntry) -> usize {
    weight(&entry.value.to_string()) + 2 * weight(&entry.id)
}

#[async_trait]
impl Tier for ProcessTier {
    fn name(&self) -> &'static str {
        "process"
    }

    async fn health(&self) -> TierResult<TierHealth> {
        let version = env!("CARGO_PKG_VERSION").to_owned();
        Ok(TierHealth { name: self.name(), version, latency: Duration::ZERO, degraded: None })
    }

    async fn append(&self, desk: &Desk, added: &[Jotting]) -> TierResult<usize> {
        let (mut state, now) = (self.state(), (self.clock)());
        let name = Name::Desk(desk.clone());
        let (mut jottings, mut bytes) = state.jottings(&name, now).unwrap_or_default();
        for jotting in added {
            bytes += jotting_weight(jotting);
            jottings.push_back(jotting.clone());
        }
        while jottings.len() > self.options.working_entries {
            bytes -= jottings.pop_front().as_ref().map_or(0, jotting_weight);
        }
        let count = jottings.len();
        if count > 0 {
            state.store(name, Content::Jottings(jottings), bytes, now + self.options.working_idle);
        }
        Ok(count)
    }

    async fn read(&self, desk: &Desk) -> TierResult<Vec<Jotting>> {
        let (mut state, now) = (self.state(), (self.clock)());
        let name = Name::Desk(desk.clone());
        let Some((jottings, bytes)) = state.jottings(&name, now) else { return Ok(Vec::new()) };
        let told = jottings.iter().cloned().collect();
        state.store(name, Content::Jottings(jottings), bytes, now + self.options.working_idle);
        Ok(told)
    }

    async fn trim(&self, desk: &Desk, tokens: u64) -> TierResult<usize> {
        let (mut state, now) = (self.state(), (self.clock)());
        let name = Name::Desk(desk.clone());
        let Some((mut jottings, mut bytes)) = state.jottings(&name, now) else { return Ok(0) };
        let mut sum = 0_u64;
        let fits = |jotting: &&Jotting| {
            sum = sum.saturating_add(jotting.tokens);
            sum <= tokens
        };
        let gone = jottings.len() - jottings.iter().rev().take_while(fits).count();
        for jotting in jottings.drain(..gone) {
            bytes -= jotting_weight(&jotting);
        }
        if !jottings.is_empty() {
            state.store(name, Content::Jottings(jottings), bytes, now + self.options.working_idle);
        }
        Ok(gone)
    }

    async fn remove(&self, desk: &Desk, gone: &[Jotting]) -> TierResult<usize> {
        let (mut state, now) = (self.state(), (self.clock)());
        let name = Name::Desk(desk.clone());
        let Some((mut jottings, mut bytes)) = state.jottings(&name, now) else { return Ok(0) };
        let before = jottings.len();
        for jotting in gone {
            if let Some(place) = jottings.iter().position(|other| other == jotting) {
                jottings.remove(place);
                bytes -= jotting_weight(jotting);
            }
        }
        let count = before - jottings.len();
        if !jottings.is_empty() {
            state.store(name, Content::Jottings(jottings), bytes, now + self.options.working_idle);
        }
        Ok(count)
    }

    async fn clear(&self, desk: &Desk) -> TierResult<()> {
        self.state().remove(&Name::Desk(desk.clone()));
        Ok(())
    }

    async fn put(&self, conversation: &Conversation, entry: &SessionEntry, life: Option<Duration>) -> TierResult<()> {
        let (mut state, now) = (self.state(), (self.clock)());
        let name = Name::Conversation(conversation.clone());
        let (mut entries, promised) = match state.take(&name, now) {
            Some(Slot { content: Content::Entries(entries), ends, .. }) => (entries, ends),
            _ => (Entries::default(), now),
        };
        entries.put(entry, self.options.session_entries);
        let (bytes, ends) = (entries.bytes, now + life.unwrap_or(self.options.session_idle));
        state.store(name, Content::Entries(entries), bytes, ends.max(promised));
        Ok(())
    }

    async fn latest(&self, conversation: &Conversation, limit: usize) -> TierResult<Vec<SessionEntry>> {
        let (mut state, now) = (self.state(), (self.clock)());
        let slot = state.live(&Name::Conversation(conversation.clone()), now);
        let Some(Slot { content: Content::Entries(entries), .. }) = slot else { return Ok(Vec::new()) };
        Ok(entries.by_time.values().rev().take(limit).cloned().collect())
    }

    async fn end(&self, conversation: &Conversation) -> TierResult<()> {
        self.state().remove(&Name::Conversation(conversation.clone()));
        Ok(())
    }

    async fn erase_user(&self, tenant: &str, user: &str, at: Timestamp) -> TierResult<usize> {
        let (mut state, now) = (self.state(), (self.clock)());
        let gone: Vec<Name> = state.slots.keys().filter(|name| name.belongs_to((tenant, user))).cloned().collect();
        let living = |name: &&Name| state.slots.get(*name).is_some_and(|slot| slot.ends > now);
        let count = gone.iter().filter(living).count();
        for name in &gone {
            state.remove(name);
        }
        let (name, bytes) = (Name::Erased(tenant.to_owned(), user.to_owned()), 2 * weight(user));
        state.store(name, Content::Time(at), bytes, now + self.options.working_idle);
        Ok(count)
    }

    async fn erased(&self, tenant: &str, user: &str) -> TierResult<Option<Timestamp>> {
        let (mut state, now) = (self.state(), (self.clock)());
        let name = Name::Erased(tenant.to_owned(), user.to_owned());
        Ok(state.live(&name, now).and_then(|slot| match &slot.content {
            Content::Time(at) => Some(*at),
            _ => None,
        }))
    }

    async fn embeddings(&self, keys: &[String]) -> TierResult<Vec<Option<Vec<u8>>>> {
        let (mut state, now) = (self.state(), (self.clock)());
        let mut bytes_of = |key: &String| match state.live(&Name::Embedding(key.clone()), now)? {
            Slot { content: Content::Bytes(bytes), .. } => Some(bytes.clone()),
            _ => None,
        };
        Ok(keys.iter().map(&mut bytes_of).collect())
    }

    async fn keep_embeddings(&self, entries: &[(String, Vec<u8>)]) -> TierResult<()> {
        let (mut state, now) = (self.state(), (self.clock)());
        let ends = now + self.options.embedding_life;
        for (key, bytes) in entries {
            let size = bytes.len() + 2 * weight(key);
            state.store(Name::Embedding(key.clone()), Content::Bytes(bytes.clone()), size, ends);
        }
        Ok(())
    }

    async fn take(&self, key: &str, per_second: u32, burst: u32) -> TierResult<Taken> {
        let (mut state, now) = (self.state(), (self.clock)());
        if state.rates.len() >= state.sweep_at {
            state.rates.retain(|_, due| *due > now);
            state.sweep_at = 1_024.max(state.rates.len() * 2);
        }
        let (gap, burst) = (Duration::from_secs(1) / per_second.max(1), burst.max(1));
        let full = gap * burst;
        let ahead = state.rates.get(key).map_or(Duration::ZERO, |due| due.saturating_duration_since(now));
        if ahead + gap > full {
            return Ok(Taken { allowed: false, left: 0, retry_after: ahead + gap - full, full_after: ahead });
        }
        state.rates.insert(key.to_owned(), now + ahead + gap);
        let room = full - ahead - gap;
        let left = u32::try_from(room.as_nanos() / gap.as_nanos().max(1)).unwrap_or(u32::MAX);
        let retry_after = gap.saturating_sub(room);
        Ok(Taken { allowed: true, left, retry_after, full_after: ahead + gap })
    }
}
