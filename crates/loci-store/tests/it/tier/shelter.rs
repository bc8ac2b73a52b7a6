//! Does everything go on while Redis is down, slow, or back without its memory?

use std::sync::Arc;
use std::time::{Duration, Instant};

use loci_store::tier::{Desk, Jotting, ProcessTier, RedisTier, Sheltered, Tier, TierOptions};
use loci_testkit::proxy::Proxy;
use loci_testkit::servers::PrivateRedis;

fn sheltered(url: &str) -> Sheltered {
    let first = RedisTier::new(url, TierOptions::default()).unwrap();
    Sheltered::new(Arc::new(first), ProcessTier::new(TierOptions::default(), 1 << 20))
}

async fn behind(proxy: &Proxy) -> Sheltered {
    let tier = sheltered(&format!("redis://{}", proxy.address()));
    assert_eq!(degraded(&tier).await, None);
    tier
}

fn desk() -> Desk {
    Desk { tenant: "t".into(), agent: "a".into(), user: "u".into(), session: None }
}

async fn note(tier: &Sheltered, value: &str) -> usize {
    tier.append(&desk(), &[Jotting { tokens: 1, value: value.into() }]).await.unwrap()
}

async fn noted(tier: &Sheltered) -> Vec<String> {
    let jottings = tier.read(&desk()).await.unwrap();
    jottings.iter().map(|jotting| jotting.value.as_str().unwrap().to_owned()).collect()
}

async fn degraded(tier: &Sheltered) -> Option<String> {
    tier.health().await.unwrap().degraded
}

/// Asks until the shared tier is back by itself.
async fn recovered(tier: &Sheltered) {
    let started = Instant::now();
    while let Some(problem) = degraded(tier).await {
        assert!(started.elapsed() < Duration::from_secs(20), "still away: {problem}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn redis_may_be_down_at_the_start() {
    let Some(mut redis) = PrivateRedis::stopped() else { return };
    let tier = sheltered(&redis.url());
    assert_eq!(note(&tier, "x").await, 1);
    assert_eq!(noted(&tier).await, ["x"]);
    assert!(tier.take("a", 1, 1).await.unwrap().allowed);
    assert!(!tier.take("a", 1, 1).await.unwrap().allowed, "it counts in this process");
    assert!(degraded(&tier).await.unwrap().starts_with("redis failed"));
    redis.restart();
    recovered(&tier).await;
    assert_eq!(note(&tier, "y").await, 1);
    assert_eq!(noted(&tier).await, ["y"]);
}

#[tokio::test]
async fn redis_may_be_killed_and_come_back_empty() {
    let Some(mut redis) = PrivateRedis::start() else { return };
    let tier = sheltered(&redis.url());
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
    assert_eq!(tier.trim(&desk(), 0).await, Ok(0));
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
    tier.clear(&desk()).await.unwrap();
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
