//! Several servers share one rate limit, and count alone while the shared limiter is away.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use loci_engine::Config;
use loci_server::{Options, RateDecision, ServerOptions, SharedHealth, SharedLimiter};
use loci_store::tier::{FallbackTier, ProcessTier, RedisTier, Tier, TierOptions};
use loci_testkit::proxy::Proxy;
use loci_testkit::servers;

use crate::server::{TestServer, answer};
use crate::tokens;

/// A tier as a shared limiter, as the command line provides it.
struct TierLimiter(FallbackTier);

impl std::fmt::Debug for TierLimiter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("TierLimiter")
    }
}

#[async_trait]
impl SharedLimiter for TierLimiter {
    async fn take(&self, key: &str, per_second: u32, burst: u32) -> Option<RateDecision> {
        let taken = self.0.take(key, per_second, burst).await.unwrap();
        let (retry_after, full_after) = (taken.retry_after, taken.full_after);
        Some(RateDecision { allowed: taken.allowed, left: taken.left, retry_after, full_after })
    }

    async fn health(&self) -> SharedHealth {
        let health = self.0.health().await.unwrap();
        let (name, version) = (health.name.to_owned(), health.version);
        SharedHealth { name, version, latency: health.latency, degraded: health.degraded }
    }
}

/// A server that shares the Redis behind this address.
async fn server(url: &str, prefix: &str) -> TestServer {
    let options = TierOptions { prefix: prefix.to_owned(), ..TierOptions::default() };
    let redis = RedisTier::new(url, options.clone()).unwrap();
    let tier = FallbackTier::new(Arc::new(redis), ProcessTier::new(options, 1 << 20));
    let server = ServerOptions { requests_per_second: 1, burst: 10, ..ServerOptions::default() };
    let shared: Option<Arc<dyn SharedLimiter>> = Some(Arc::new(TierLimiter(tier)));
    let options = Options { server, shared, ..tokens::believed() };
    TestServer::with(options, Config::default()).await
}

/// Sends requests of one caller to these servers in turn and returns how many are admitted.
async fn passed(houses: &[TestServer], requests: usize) -> u64 {
    let token = tokens::token(|_| {});
    let mut passed = 0;
    for number in 0..requests {
        let server = &houses[number % houses.len()];
        let answer = answer(server.request_as(&token, "GET", "/v1/stats?userId=ann")).await;
        assert!(matches!(answer.status, 200 | 429), "{}", answer.text);
        assert_eq!(answer.headers["x-ratelimit-limit"], "10");
        assert_eq!(answer.headers.contains_key("retry-after"), answer.status == 429);
        passed += u64::from(answer.status == 200);
    }
    passed
}

// Coverage: S2.23.
#[tokio::test(flavor = "multi_thread")]
async fn two_servers_share_a_rate_and_count_alone_without_redis() {
    let Some(url) = servers::redis() else { return };
    let proxy = Proxy::to(url.trim_start_matches("redis://").trim_end_matches('/')).await;
    let url = format!("redis://{}", proxy.address());
    let prefix = format!("loci-test-{}", uuid::Uuid::new_v4());
    let houses = [server(&url, &prefix).await, server(&url, &prefix).await];
    let started = Instant::now();
    let together = passed(&houses, 40).await;
    assert!((10..=11 + started.elapsed().as_secs()).contains(&together), "{together}");

    for server in &houses {
        let ready = server.without_key().get("/readyz").await.expect(200);
        assert_eq!(ready["components"]["tier"]["status"], "healthy", "{ready}");
    }
    proxy.cut();
    let started = Instant::now();
    let alone = passed(&houses, 80).await;
    assert!((20..=22 + 2 * started.elapsed().as_secs()).contains(&alone), "each for itself: {alone}");
    for server in &houses {
        let started = Instant::now();
        while server.without_key().get("/readyz").await.expect(200)["components"]["tier"]["status"] != "degraded" {
            assert!(started.elapsed() < Duration::from_secs(10), "the outage is not seen");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
    proxy.heal();
    let started = Instant::now();
    for server in &houses {
        while server.without_key().get("/readyz").await.expect(200)["components"]["tier"]["status"] != "healthy" {
            assert!(started.elapsed() < Duration::from_secs(20), "it is still away");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}
