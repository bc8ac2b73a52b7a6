//! The contract of every tier, on the tier of one process, within its byte limit.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use loci_store::tier::{ProcessTier, SessionEntry, SessionKey, Tier, TierOptions, WorkingEntry, WorkingKey};
use loci_testkit::contract::tier::Subject;

const BYTES: usize = 20_000;

/// A tier whose clock the test advances.
struct Paused {
    tier: ProcessTier,
    now: Arc<Mutex<Instant>>,
}

impl Paused {
    fn new(options: TierOptions, bytes: usize) -> Self {
        let now = Arc::new(Mutex::new(Instant::now()));
        let clock = Arc::clone(&now);
        Self { tier: ProcessTier::with_clock(options, bytes, move || *clock.lock().unwrap()), now }
    }
}

impl Subject for Paused {
    fn tier(&self) -> &dyn Tier {
        &self.tier
    }

    async fn pass(&self, time: Duration) {
        *self.now.lock().unwrap() += time;
    }
}

async fn fresh(options: TierOptions) -> Option<Paused> {
    Some(Paused::new(options, 1 << 20))
}

loci_testkit::tier_contract!(fresh);

fn key(number: usize) -> String {
    format!("key {number}")
}

// Coverage: S2.25.
#[tokio::test]
async fn what_was_not_used_for_longest_goes_first() {
    let tier = ProcessTier::new(TierOptions::default(), BYTES);
    for number in 0..1_000 {
        tier.keep_embeddings(&[(key(number), vec![0; 100])]).await.unwrap();
        assert!(tier.embeddings(&[key(0)]).await.unwrap()[0].is_some(), "it is used all the time, at {number}");
        assert!(tier.bytes() <= BYTES as u64, "{} at {number}", tier.bytes());
    }
    let found = tier.embeddings(&[key(1), key(998), key(999)]).await.unwrap();
    assert_eq!(found.iter().map(Option::is_some).collect::<Vec<_>>(), [false, true, true]);
}

#[tokio::test]
async fn bytes_are_counted_for_every_sort_and_given_back() {
    let tier =
        ProcessTier::new(TierOptions { working_entries: 3, session_entries: 3, ..TierOptions::default() }, BYTES);
    let key = WorkingKey { tenant: "t".into(), agent: "a".into(), user: "u".into(), session: None };
    let session = SessionKey { tenant: "t".into(), agent: "a".into(), user: "u".into(), session: "s".into() };
    let entry = WorkingEntry { tokens: 1, value: "x".repeat(50).into() };
    for number in 0..10 {
        tier.append(&key, &[entry.clone(), entry.clone()]).await.unwrap();
        let at = jiff::Timestamp::from_second(number).unwrap();
        let entry = SessionEntry { id: format!("{}", number % 4), at, importance: 0.5, value: "y".repeat(50).into() };
        tier.put(&session, &entry, None).await.unwrap();
        tier.read(&key).await.unwrap();
        assert!((200..2_000).contains(&tier.bytes()), "{}", tier.bytes());
    }
    tier.trim(&key, 1).await.unwrap();
    tier.clear(&key).await.unwrap();
    tier.end(&session).await.unwrap();
    assert_eq!(tier.bytes(), 0);
}

#[tokio::test]
async fn a_flood_of_entries_forgets_no_rate() {
    let tier = ProcessTier::new(TierOptions::default(), BYTES);
    while tier.take("a", 1, 1).await.unwrap().allowed {}
    for number in 0..1_000 {
        tier.keep_embeddings(&[(key(number), vec![0; 1_000])]).await.unwrap();
    }
    assert!(!tier.take("a", 1, 1).await.unwrap().allowed);
}

#[tokio::test]
async fn callers_that_are_quiet_are_forgotten() {
    let subject = Paused::new(TierOptions::default(), BYTES);
    for number in 0..100_000 {
        assert!(subject.tier.take(&number.to_string(), 1, 1).await.unwrap().allowed);
        subject.pass(Duration::from_millis(10)).await;
        assert!(subject.tier.rates() < 3_000, "{} at {number}", subject.tier.rates());
    }
}
