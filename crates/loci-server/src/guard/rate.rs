//! How fast may one caller ask?
//!
//! Counted for all servers together where they share something that counts, else by this one alone.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::keyed::DashMapStateStore;
use governor::{Quota, RateLimiter};
use loci_types::ErrorKind;

use super::{Credential, Who};
use crate::failure::Failure;
use crate::shared::{Counted, Shared};

type Limiter = RateLimiter<String, DashMapStateStore<String>, DefaultClock, StateInformationMiddleware>;

/// The rate of each credential. Without credentials there is none.
pub(crate) struct Rate {
    limiter: Option<Limiter>,
    shared: Option<Arc<dyn Shared>>,
    clock: DefaultClock,
    per_second: u32,
    burst: u32,
    /// How long a whole burst takes to come back.
    refill: Duration,
}

/// What is left to a caller.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rated {
    left: Option<(u32, u32, u64)>,
}

impl Rate {
    /// So many requests a second, and so many at once; 0: as many as come.
    pub(crate) fn new(per_second: u32, burst: u32, shared: Option<Arc<dyn Shared>>) -> Self {
        let quota = NonZeroU32::new(per_second)
            .map(|rate| Quota::per_second(rate).allow_burst(NonZeroU32::new(burst).unwrap_or(NonZeroU32::MIN)));
        let limiter = quota.map(|quota| RateLimiter::dashmap(quota).with_middleware());
        let refill = Duration::from_secs_f64(f64::from(burst) / f64::from(per_second.max(1)));
        Self { limiter, shared, clock: DefaultClock::default(), per_second, burst, refill }
    }

    /// Counts a request, or refuses it until later.
    pub(crate) async fn count(&self, who: &Who) -> Result<Rated, (Failure, Rated)> {
        let (Some(limiter), Credential::Proved { id, .. }) = (&self.limiter, &who.credential) else {
            return Ok(Rated::default());
        };
        if let Some(shared) = &self.shared
            && let Some(counted) = shared.take(id, self.per_second, self.burst).await
        {
            return self.judge(counted);
        }
        match limiter.check_key(&id.to_string()) {
            Ok(left) => {
                let left = left.remaining_burst_capacity();
                let used = f64::from(self.burst.saturating_sub(left)) / f64::from(self.burst);
                let reset = (self.refill.as_secs_f64() * used).ceil() as u64;
                Ok(Rated { left: Some((self.burst, left, reset)) })
            }
            Err(not_until) => Err(self.refuse(not_until.wait_time_from(self.clock.now()))),
        }
    }

    /// What the count for all servers means for this request.
    fn judge(&self, counted: Counted) -> Result<Rated, (Failure, Rated)> {
        if !counted.allowed {
            return Err(self.refuse(counted.retry_after));
        }
        Ok(Rated { left: Some((self.burst, counted.left, seconds(counted.full_after))) })
    }

    fn refuse(&self, wait: Duration) -> (Failure, Rated) {
        let wait = seconds(wait).max(1);
        let failure = Failure::new(ErrorKind::RateLimited, "too many requests with this credential", "request")
            .hint("wait as long as Retry-After says, and ask more slowly")
            .after(wait);
        (failure, Rated { left: Some((self.burst, 0, wait)) })
    }

    /// Forgets callers that have been quiet.
    pub(crate) fn sweep(&self) {
        if let Some(limiter) = &self.limiter {
            limiter.retain_recent();
        }
    }
}

/// Whole seconds, rather too many than too few.
fn seconds(time: Duration) -> u64 {
    time.as_secs_f64().ceil() as u64
}

impl Rated {
    /// Says in the headers what is left.
    pub(crate) fn tell(self, headers: &mut HeaderMap) {
        let Some((burst, left, reset)) = self.left else { return };
        let mut say = |name: &'static str, value: u64| {
            headers.insert(HeaderName::from_static(name), HeaderValue::from(value));
        };
        say("x-ratelimit-limit", u64::from(burst));
        say("x-ratelimit-remaining", u64::from(left));
        say("x-ratelimit-reset", reset);
        // The same under the names that knowledge providers use.
        say("x-rate-limit-remaining", u64::from(left));
        say("x-rate-limit-reset", reset);
    }
}
