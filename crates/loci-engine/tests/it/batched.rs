//! Tests of batched writes: by number, by time, bounded, and without loss at shutdown.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use loci_engine::{Batching, Caller, Config, Engine, NewMemory};
use loci_types::{Durability, ErrorKind, MemoryId};

use crate::house::{House, new, user};

/// Long enough that nothing is written because of the time.
const NEVER: u64 = 60_000;

struct Waiting {
    engine: Arc<Engine>,
    house: House,
}

/// A house, and an engine on it that others may share.
fn house(batch: Batching) -> Waiting {
    let house = House::with(Config { batch, ..Config::default() });
    Waiting { engine: Arc::new(house.neighbour()), house }
}

impl Waiting {
    async fn take(&self, content: &str) -> MemoryId {
        let receipt = self.engine.remember_batched(&user("ana"), new(content)).await.unwrap();
        assert_eq!(receipt.durability, Durability::Batched);
        receipt.id
    }

    /// What another process finds in the store.
    async fn stored(&self) -> Vec<String> {
        self.house.known(&user("ana")).await.into_iter().map(|memory| memory.content).collect()
    }

    /// Waits until nobody waits any more.
    async fn settled(&self) {
        let begun = Instant::now();
        while self.engine.batched() > 0 {
            assert!(begun.elapsed() < Duration::from_secs(20), "{} still wait", self.engine.batched());
            tokio::task::yield_now().await;
        }
    }
}

fn fact(number: usize) -> String {
    format!("Shelf{number} holds the book{number}")
}

// Coverage: S4.22.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn as_many_as_a_batch_are_written_at_once() {
    let waiting = house(Batching { size: 5, milliseconds: NEVER, waiting: 100 });
    let mut ids = Vec::new();
    for number in 0..4 {
        ids.push(waiting.take(&fact(number)).await);
    }
    assert_eq!((waiting.stored().await.len(), waiting.engine.batched()), (0, 4), "they wait");
    ids.push(waiting.take(&fact(4)).await);
    waiting.settled().await;
    waiting.engine.flush_batched(&user("ana")).await.unwrap();
    for id in ids {
        let found = waiting.engine.get(&user("ana"), id).await.unwrap();
        assert_eq!(found.id, id, "it has the id of the receipt");
    }
}

// Coverage: S4.22.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_waits_no_longer_than_is_set() {
    let waiting = house(Batching { size: 100, milliseconds: 150, waiting: 100 });
    waiting.house.remember(&user("bo"), "The store is there").await;
    let begun = Instant::now();
    waiting.take(&fact(1)).await;
    waiting.settled().await;
    let waited = begun.elapsed();
    assert!(waited >= Duration::from_millis(150), "it was written after {waited:?}");
    while waiting.stored().await.is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20));
    }
}

// Coverage: S4.22.
#[tokio::test]
async fn flush_returns_when_everything_before_it_is_durable() {
    let waiting = house(Batching { size: 100, milliseconds: NEVER, waiting: 1_000 });
    for number in 0..250 {
        let new_memory = NewMemory { as_is: number % 2 == 0, ..new(&fact(number)) };
        waiting.engine.remember_batched(&user("ana"), new_memory).await.unwrap();
    }
    waiting.engine.flush_batched(&user("ana")).await.unwrap();
    assert_eq!(waiting.engine.batched(), 0);
    let listed = waiting.house.engine.list(&user("ana"), loci_engine::ListRequest::default()).await.unwrap();
    assert_eq!(listed.total_count, 250);
}

#[tokio::test]
async fn what_changed_within_a_batch_ends_as_it_was_last() {
    let waiting = house(Batching { size: 100, milliseconds: NEVER, waiting: 100 });
    for content in ["The staging port is 8080", "The staging port is 8080", "The staging port is 9090"] {
        waiting.take(content).await;
    }
    waiting.engine.flush_batched(&user("ana")).await.unwrap();
    assert_eq!(waiting.stored().await, ["The staging port is 9090"]);
}

#[tokio::test]
async fn invalid_input_is_refused_at_once() {
    let waiting = house(Batching::default());
    let engine = &waiting.engine;
    let reader = Caller { role: loci_types::Role::Reader, ..user("ana") };
    for (caller, memory, kind) in [
        (user("ana"), new(" "), ErrorKind::InvalidInput),
        (user("ana"), NewMemory { importance: Some(2.0), ..new("x") }, ErrorKind::InvalidInput),
        (reader, new("x"), ErrorKind::Unauthorized),
        (Caller::operator(), new("x"), ErrorKind::MissingIdentifier),
    ] {
        assert_eq!(engine.remember_batched(&caller, memory).await.unwrap_err().kind(), kind);
    }
    assert_eq!(engine.batched(), 0);
    let key = format!("the key of the shed is AK{}", "IAIOSFODNN7EXAMPLE");
    let taken = engine.remember_batched(&user("ana"), new(&key)).await.unwrap();
    assert_eq!(taken.redacted, ["secret"]);
    engine.flush().await;
    let kept = engine.get(&user("ana"), taken.id).await.unwrap().content;
    assert_eq!(kept, "the key of the shed is [secret]");
}

// Coverage: S4.22.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_write_waits_while_the_buffer_is_full() {
    let waiting = house(Batching { size: 2, milliseconds: NEVER, waiting: 3 });
    // Mara is in the same shard as Ana.
    waiting.house.remember(&user("mara"), "The store is there").await;
    let file = waiting.house.file_of("ana");
    // Nobody can write while this is open.
    file.execute_batch("BEGIN IMMEDIATE").unwrap();
    let taken = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..8)
        .map(|number| {
            let (engine, taken) = (waiting.engine.clone(), taken.clone());
            tokio::spawn(async move {
                engine.remember_batched(&user("ana"), new(&fact(number))).await.unwrap();
                taken.fetch_add(1, Ordering::SeqCst);
            })
        })
        .collect();
    let begun = Instant::now();
    while taken.load(Ordering::SeqCst) < 3 {
        assert!(begun.elapsed() < Duration::from_secs(20));
        tokio::task::yield_now().await;
    }
    for _ in 0..1_000 {
        tokio::task::yield_now().await;
        assert_eq!(taken.load(Ordering::SeqCst), 3, "the queue is full");
    }
    file.execute_batch("COMMIT").unwrap();
    for task in tasks {
        task.await.unwrap();
    }
    waiting.engine.flush_batched(&user("ana")).await.unwrap();
    assert_eq!(waiting.stored().await.len(), 8);
}

// Coverage: S4.22.
#[tokio::test]
async fn the_end_writes_what_waits() {
    let waiting = house(Batching { size: 100, milliseconds: NEVER, waiting: 100 });
    for number in 0..7 {
        waiting.take(&fact(number)).await;
    }
    waiting.engine.close().await;
    assert_eq!(waiting.stored().await.len(), 7);
}

// Coverage: S4.22.
#[tokio::test]
async fn what_the_store_does_not_take_is_named_and_tried_again() {
    let waiting = house(Batching { size: 100, milliseconds: NEVER, waiting: 100 });
    waiting.house.remember(&user("mara"), "The store is there").await;
    waiting.house.break_at("poison");
    waiting.take(&fact(1)).await;
    let bad = waiting.take("The poison is in the shed").await;
    waiting.take(&fact(2)).await;
    let unwritten = waiting.engine.flush_batched(&user("ana")).await.unwrap_err();
    assert_eq!((unwritten.ids.as_slice(), unwritten.problem.code.as_str()), (&[bad][..], "PROVIDER_ERROR"));
    assert_eq!(waiting.stored().await, [fact(1)], "nobody overtakes");
    let other = Caller { credential: Some("another".into()), ..user("ana") };
    assert!(waiting.engine.flush_batched(&other).await.is_ok(), "it is none of their business");
    waiting.house.heal();
    waiting.engine.flush_batched(&user("ana")).await.unwrap();
    let mut stored = waiting.stored().await;
    stored.sort();
    assert_eq!(stored, [fact(1), fact(2), "The poison is in the shed".to_owned()]);
    assert_eq!(waiting.engine.batched(), 0);
}
