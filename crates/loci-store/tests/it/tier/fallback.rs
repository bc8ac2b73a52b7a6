//! The tier with fallback, while Redis is down, slow, or back without its data.

use std::sync::Arc;
use std::time::{Duration, Instant};

use loci_store::tier::{FallbackTier, ProcessTier, RedisTier, Tier, TierError, TierOptions, WorkingEntry, WorkingKey};
use loci_testkit::proxy::Proxy;
use loci_testkit::servers::PrivateRedis;

fn with_fallback(url: &str) -> FallbackTier {
    let first = RedisTier::new(url, TierOptions::default()).unwrap();
    FallbackTier::new(Arc::new(first), ProcessTier::new(TierOptions::default(), 1 << 20))
}

async fn behind(proxy: &Proxy) -> FallbackTier {
    let tier = with_fallback(&format!("redis://{}", proxy.address()));
    assert_eq!(degraded(&tier).await, None);
    tier
}

fn key() -> WorkingKey {
    WorkingKey { tenant: "t".into(), agent: "a".into(), user: "u".into(), session: None }
}

async fn note(tier: &FallbackTier, value: &str) -> usize {
    tier.append(&key(), &[WorkingEntry { tokens: 1, value: value.into() }]).await.unwrap()
}

async fn noted(tier: &FallbackTier) -> Vec<String> {
    let entries = tier.read(&key()).await.unwrap();
    entries.iter().map(|entry| entry.value.as_str().unwrap().to_owned()).collect()
}

async fn degraded(tier: &FallbackTier) -> Option<String> {
    tier.health().await.unwrap().degraded
}

/// Asks until the shared tier is back by itself.
async fn recovered(tier: &FallbackTier) {
    let started = Instant::now();
    while let Some(problem) = degraded(tier).await {
        assert!(started.elapsed() < Duration::from_secs(20), "still away: {problem}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn redis_may_be_down_at_the_start() {
    let Some(mut redis) = PrivateRedis::stopped() else { return };
    let tier = with_fallback(&redis.url());
    assert_eq!(note(&tier, "x").await, 1);
    assert_eq!(noted(&tier).await, ["x"]);
    assert!(tier.take("a", 1, 1).await.unwrap().allowed);
    assert!(!tier.take("a", 1, 1).await.unwrap().allowed, "it counts in this process");
    assert!(degraded(&tier).await.unwrap().starts_with("redis cannot be reached"));
    redis.restart();
    recovered(&tier).await;
    assert_eq!(note(&tier, "y").await, 1);
    assert_eq!(noted(&tier).await, ["y"]);
}

#[tokio::test]
async fn redis_may_be_killed_and_come_back_empty() {
    let Some(mut redis) = PrivateRedis::start() else { return };
    let tier = with_fallback(&redis.url());
    assert_eq!(note(&tier, "before").await, 1);
    assert!(tier.take("a", 1, 1).await.unwrap().allowed);
    redis.kill();
    for count in 1..=3 {
        assert_eq!(note(&tier, "during").await, count);
    }
    assert_eq!(noted(&tier).await, ["during"; 3]);
    redis.restart();
    recovered(&tier).await;
    assert_eq!(noted(&tier).await, [] as [&str; 0]);
    // Scripts are known to nobody in an empty Redis.
    assert!(tier.take("a", 1, 1).await.unwrap().allowed);
    assert_eq!(tier.trim(&key(), 0).await, Ok(0));
    assert_eq!(note(&tier, "after").await, 1);
    assert_eq!(degraded(&tier).await, None);
}

#[tokio::test]
async fn a_redis_that_hangs_is_waited_for_once() {
    let Some(redis) = PrivateRedis::start() else { return };
    let proxy = Proxy::to(redis.address()).await;
    let tier = behind(&proxy).await;
    note(&tier, "before").await;
    proxy.delay(Duration::from_secs(3_600));
    let started = Instant::now();
    note(&tier, "during").await;
    let first = started.elapsed();
    assert!(first >= Duration::from_millis(200), "it was asked: {first:?}");
    let started = Instant::now();
    for _ in 0..1_000 {
        note(&tier, "during").await;
    }
    // A thousand calls and at most the odd trial between them.
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
    assert!(degraded(&tier).await.unwrap().contains("250 ms"));
    proxy.heal();
    recovered(&tier).await;
    // It kept what it had. What was under way when it hung may have come to it late; what followed did not.
    let noted = noted(&tier).await;
    assert!(noted == ["before"] || noted == ["before", "during"], "{noted:?}");
}

#[tokio::test]
async fn many_callers_of_a_redis_that_hangs_wait_together() {
    let Some(redis) = PrivateRedis::start() else { return };
    let proxy = Proxy::to(redis.address()).await;
    let tier = behind(&proxy).await;
    proxy.delay(Duration::from_secs(3_600));
    let started = Instant::now();
    let taken = futures::future::join_all((0..100).map(|_| tier.take("a", 1, 10))).await;
    assert!(started.elapsed() < Duration::from_secs(2), "{:?}", started.elapsed());
    let allowed = taken.into_iter().filter(|taken| taken.as_ref().unwrap().allowed).count();
    assert!((10..=12).contains(&allowed), "counted in this process: {allowed}");
}

#[tokio::test]
async fn what_was_cleared_meanwhile_stays_cleared() {
    let Some(redis) = PrivateRedis::start() else { return };
    let proxy = Proxy::to(redis.address()).await;
    let tier = behind(&proxy).await;
    note(&tier, "private").await;
    proxy.cut();
    tier.clear(&key()).await.unwrap();
    assert_eq!(noted(&tier).await, [] as [&str; 0]);
    proxy.heal();
    recovered(&tier).await;
    assert_eq!(noted(&tier).await, [] as [&str; 0]);
}

#[tokio::test]
async fn nothing_of_an_earlier_outage_comes_back() {
    let Some(redis) = PrivateRedis::start() else { return };
    let proxy = Proxy::to(redis.address()).await;
    let tier = behind(&proxy).await;
    proxy.cut();
    note(&tier, "during the first").await;
    proxy.heal();
    recovered(&tier).await;
    proxy.cut();
    assert_eq!(noted(&tier).await, [] as [&str; 0]);
}

async fn connection(redis: &PrivateRedis) -> redis::aio::MultiplexedConnection {
    redis::Client::open(redis.url()).unwrap().get_multiplexed_async_connection().await.unwrap()
}

#[tokio::test]
async fn reading_a_large_working_memory_is_no_outage() {
    let Some(redis) = PrivateRedis::start() else { return };
    let many: Vec<_> = (0..10_000).map(|number| WorkingEntry { tokens: 1, value: vec![number; 40].into() }).collect();
    RedisTier::new(&redis.url(), TierOptions::default()).unwrap().append(&key(), &many).await.unwrap();
    let proxy = Proxy::to(redis.address()).await;
    let tier = behind(&proxy).await;
    // The answer comes in more than a hundred pieces, each of which takes this long.
    proxy.delay(Duration::from_millis(10));
    let others = async {
        for _ in 0..10 {
            tier.take("a", 100, 100).await.unwrap();
            assert_eq!(tier.trouble(), None);
        }
    };
    let started = Instant::now();
    let key = key();
    let (read, ()) = tokio::join!(tier.read(&key), others);
    assert!(started.elapsed() > TierOptions::default().deadline, "{:?} proves nothing", started.elapsed());
    assert!(read.unwrap() == many, "all of it came from Redis");
    assert_eq!(degraded(&tier).await, None);
}

#[tokio::test]
async fn a_call_that_fails_alone_is_no_outage() {
    let Some(redis) = PrivateRedis::start() else { return };
    let tier = with_fallback(&redis.url());
    note(&tier, "before").await;
    let mut connection = connection(&redis).await;
    let odd = WorkingKey { agent: "odd".into(), ..key() };
    redis::cmd("SET").arg("loci:t:working:odd:u").arg("no list").exec_async(&mut connection).await.unwrap();
    let refused = tier.read(&odd).await.unwrap_err();
    assert!(matches!(&refused, TierError::Failed { problem, .. } if problem.contains("WRONGTYPE")), "{refused}");
    redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg(1).exec_async(&mut connection).await.unwrap();
    let refused = tier.append(&key(), &[WorkingEntry { tokens: 1, value: "x".into() }]).await.unwrap_err();
    assert!(matches!(&refused, TierError::Failed { problem, .. } if problem.contains("maxmemory")), "{refused}");
    assert_eq!(tier.trouble(), None);
    redis::cmd("CONFIG").arg("SET").arg("maxmemory").arg(0).exec_async(&mut connection).await.unwrap();
    assert_eq!(noted(&tier).await, ["before"], "nobody was moved to the fallback");
    assert_eq!(note(&tier, "after").await, 2);
}

#[tokio::test]
async fn deletions_of_an_outage_are_made_up_for_every_kind() {
    let Some(redis) = PrivateRedis::start() else { return };
    let proxy = Proxy::to(redis.address()).await;
    let tier = behind(&proxy).await;
    note(&tier, "private").await;
    proxy.cut();
    let at = jiff::Timestamp::UNIX_EPOCH;
    tier.erase_user("t", "u", at).await.unwrap();
    proxy.heal();
    recovered(&tier).await;
    assert_eq!(noted(&tier).await, [] as [&str; 0]);
    assert_eq!(tier.erased("t", "u").await, Ok(Some(at)));
}

// attack B1: the pauses count outages and not callers.
#[tokio::test(flavor = "multi_thread")]
async fn redis_is_used_again_soon_after_it_is_back_whoever_asks() {
    for callers in [1, 64] {
        let Some(redis) = PrivateRedis::start() else { return };
        let proxy = Proxy::to(redis.address()).await;
        let tier = behind(&proxy).await;
        for hangs in [true, false] {
            if hangs {
                proxy.delay(Duration::from_secs(3_600))
            } else {
                proxy.cut()
            }
            let away = Instant::now();
            while away.elapsed() < Duration::from_secs(2) {
                let taken = futures::future::join_all((0..callers).map(|_| tier.take("a", 1_000_000, 1_000_000))).await;
                assert!(taken.iter().all(Result::is_ok));
            }
            proxy.heal();
            let back = Instant::now();
            while degraded(&tier).await.is_some() {
                assert!(back.elapsed() < Duration::from_secs(5), "{callers} callers: still away");
                futures::future::join_all((0..callers).map(|_| tier.take("a", 1_000_000, 1_000_000))).await;
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
}
