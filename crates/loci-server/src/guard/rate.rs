//! The rate limit of each credential.
//!
//! Requests are counted by the limiter that servers share, or by this server alone if there is none or it fails.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use loci_types::ErrorKind;

use super::{Credential, Principal};
use crate::failure::Failure;
use crate::shared::{RateDecision, SharedLimiter};

type Limiter = RateLimiter<String, DashMapStateStore<String>, DefaultClock, StateInformationMiddleware>;

/// The rate limiter. Requests without a credential are not limited.
pub(crate) struct Rate {
    limiter: Option<Limiter>,
    shared: Option<Arc<dyn SharedLimiter>>,
    clock: DefaultClock,
    per_second: u32,
    burst: u32,
    /// The time in which a whole burst is replenished.
    refill: Duration,
}

/// What a credential may still send: the burst, the rest of it and the seconds until it is full again.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RateStatus {
    left: Option<(u32, u32, u64)>,
}

impl Rate {
    /// A limiter with this rate per second and this burst. A rate of 0 means no limit.
    pub(crate) fn new(per_second: u32, burst: u32, shared: Option<Arc<dyn SharedLimiter>>) -> Self {
        let quota = NonZeroU32::new(per_second)
            .map(|rate| Quota::per_second(rate).allow_burst(NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN)));
        let limiter = quota.map(|quota| RateLimiter::dashmap(quota).with_middleware());
        let refill = Duration::from_secs_f64(f64::from(burst) / f64::from(per_second.max(1)));
        Self { limiter, shared, clock: DefaultClock::default(), per_second, burst, refill }
    }

    /// Counts a request, or refuses it if the rate is exceeded.
    pub(crate) async fn count(&self, principal: &Principal) -> Result<RateStatus, (Failure, RateStatus)> {
        let (Some(limiter), Credential::Verified { id, .. }) = (&self.limiter, &principal.credential) else {
            return Ok(RateStatus::default());
        };
        if let Some(shared) = &self.shared
            && let Some(counted) = shared.take(id, self.per_second, self.burst).await
        {
            return self.apply_decision(counted);
        }
        match limiter.check_key(&id.to_string()) {
            Ok(left) => {
                let left = left.remaining_burst_capacity();
                let used = f64::from(self.burst.saturating_sub(left)) / f64::from(self.burst);
                let reset = (self.refill.as_secs_f64() * used).ceil() as u64;
                Ok(RateStatus { left: Some((self.burst, left, reset)) })
            }
            Err(not_until) => Err(self.refuse(not_until.wait_time_from(self.clock.now()))),
        }
    }

    /// Applies the decision of the shared limiter.
    fn apply_decision(&self, counted: RateDecision) -> Result<RateStatus, (Failure, RateStatus)> {
        if !counted.allowed {
            return Err(self.refuse(counted.retry_after));
        }
        Ok(RateStatus { left: Some((self.burst, counted.left, seconds(counted.full_after))) })
    }

    fn refuse(&self, wait: Duration) -> (Failure, RateStatus) {
        let wait = seconds(wait).max(1);
        let failure = Failure::new(ErrorKind::RateLimited, "too many requests with this credential", "request")
            .hint("wait for the seconds in Retry-After, and send requests more slowly")
            .after(wait);
        (failure, RateStatus { left: Some((self.burst, 0, wait)) })
    }

    /// Removes the states of inactive callers.
    pub(crate) fn sweep(&self) {
        if let Some(limiter) = &self.limiter {
            limiter.retain_recent();
        }
    }
}

/// Whole seconds, rounded up.
fn seconds(time: Duration) -> u64 {
    time.as_secs_f64().ceil() as u64
}

impl RateStatus {
    /// Writes the rate headers.
    pub(crate) fn write_to(self, headers: &mut HeaderMap) {
        let Some((burst, left, reset)) = self.left else { return };
        let mut set = |name: &'static str, value: u64| {
            headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
        };
        set("x-ratelimit-limit", u64::from(burst));
        set("x-ratelimit-remaining", u64::from(left));
        set("x-ratelimit-reset", reset);
        // The same under the names that OpenSpec uses.
        set("x-rate-limit-remaining", u64::from(left));
        set("x-rate-limit-reset", reset);
    }
}
