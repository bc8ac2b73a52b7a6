//! Refused callers, counted by address.
//!
//! Every refused credential takes a token from the bucket of the client's address. While a bucket is empty, requests of that
//! address are answered with 429 before their credential is verified, so that guessing costs the server little. A credential
//! that was valid before is verified all the same: a client with a wrong key does not keep out others behind the same address.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use loci_types::ErrorKind;

use crate::failure::Failure;
use crate::peer::address_group;

/// Maximum number of addresses that are remembered.
const MAX_ADDRESSES: usize = 10_000;
/// Maximum number of valid credentials that are remembered, as hashes.
const MAX_CREDENTIALS: usize = 10_000;

/// The refusals of all addresses.
#[derive(Debug)]
pub(crate) struct Refusals {
    per_second: f64,
    burst: f64,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    buckets: HashMap<IpAddr, Bucket>,
    valid: HashSet<[u8; 32]>,
}

/// Tokens of one address.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl Bucket {
    /// The bucket at a later time, filled at this rate up to `burst`.
    fn at(self, now: Instant, per_second: f64, burst: f64) -> Self {
        let gained = now.saturating_duration_since(self.at).as_secs_f64() * per_second;
        Self { tokens: (self.tokens + gained).min(burst), at: now }
    }

    /// The time until there is a token, or `None` if there is one.
    fn wait(self, per_second: f64) -> Option<Duration> {
        (self.tokens < 1.0).then(|| Duration::from_secs_f64((1.0 - self.tokens) / per_second))
    }
}

impl Refusals {
    /// Allows `burst` refusals of an address at once, and this number per second. A rate of 0 means no limit.
    pub(crate) fn new(per_second: u32, burst: u32) -> Self {
        Self { per_second: per_second.into(), burst: burst.max(1).into(), seen: Mutex::default() }
    }

    /// Fails if too many credentials of this address were refused, unless this one was valid before.
    pub(super) fn admit(&self, address: IpAddr, credential: Option<&str>, now: Instant) -> Result<(), Failure> {
        if self.per_second == 0.0 {
            return Ok(());
        }
        let seen = self.seen();
        let bucket = seen.buckets.get(&address_group(address));
        let wait = bucket.and_then(|bucket| bucket.at(now, self.per_second, self.burst).wait(self.per_second));
        let Some(wait) = wait else { return Ok(()) };
        if credential.is_some_and(|credential| seen.valid.contains(&fingerprint(credential))) {
            return Ok(());
        }
        let message = "too many requests of this address had no valid credential";
        Err(Failure::new(ErrorKind::RateLimited, message, "authenticate")
            .hint("wait for the seconds in Retry-After, and send a valid credential")
            .after(wait.as_secs_f64().ceil().max(1.0) as u64))
    }

    /// Counts a refused credential.
    pub(super) fn count(&self, address: IpAddr, now: Instant) {
        if self.per_second == 0.0 {
            return;
        }
        let mut seen = self.seen();
        let group = address_group(address);
        if seen.buckets.len() >= MAX_ADDRESSES && !seen.buckets.contains_key(&group) {
            seen.forget_filled(now, self.per_second, self.burst);
        }
        let bucket = seen.buckets.entry(group).or_insert(Bucket { tokens: self.burst, at: now });
        let filled = bucket.at(now, self.per_second, self.burst);
        *bucket = Bucket { tokens: (filled.tokens - 1.0).max(0.0), ..filled };
        if filled.tokens >= 1.0 && bucket.tokens < 1.0 {
            tracing::warn!(target: "loci::audit", %address, "too many refused credentials; the address is slowed down");
        }
    }

    /// Remembers a valid credential.
    pub(super) fn remember_valid(&self, credential: &str) {
        if self.per_second == 0.0 {
            return;
        }
        let fingerprint = fingerprint(credential);
        let mut seen = self.seen();
        if seen.valid.len() >= MAX_CREDENTIALS && !seen.valid.contains(&fingerprint) {
            seen.valid.clear();
        }
        seen.valid.insert(fingerprint);
    }

    /// Forgets a credential that is no longer valid.
    pub(super) fn forget(&self, credential: &str) {
        self.seen().valid.remove(&fingerprint(credential));
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    /// Forgets the addresses that have waited long enough; if there are none, those with the most tokens, which lose least.
    fn forget_filled(&mut self, now: Instant, per_second: f64, burst: f64) {
        self.buckets.retain(|_, bucket| bucket.at(now, per_second, burst).tokens < burst);
        if self.buckets.len() < MAX_ADDRESSES {
            return;
        }
        let mut tokens: Vec<f64> = self.buckets.values().map(|bucket| bucket.tokens).collect();
        tokens.sort_by(f64::total_cmp);
        let median = tokens[tokens.len() / 2];
        let mut room = MAX_ADDRESSES / 2;
        self.buckets.retain(|_, bucket| {
            let stays = bucket.tokens <= median && room > 0;
            room -= usize::from(stays);
            stays
        });
    }
}

fn fingerprint(credential: &str) -> [u8; 32] {
    *blake3::hash(credential.as_bytes()).as_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(last: u32) -> IpAddr {
        std::net::Ipv4Addr::from_bits(last).into()
    }

    #[test]
    fn an_address_is_slowed_after_its_burst_and_others_are_not() {
        let (refusals, now) = (Refusals::new(2, 3), Instant::now());
        for _ in 0..3 {
            refusals.admit(address(1), Some("wrong"), now).unwrap();
            refusals.count(address(1), now);
        }
        let refused = refusals.admit(address(1), Some("wrong"), now).unwrap_err();
        assert_eq!(refused.code().as_u16(), 429);
        assert!(refusals.admit(address(1), None, now).is_err());
        refusals.admit(address(2), Some("wrong"), now).unwrap();
        // Half a second later there is one token again.
        refusals.admit(address(1), Some("wrong"), now + Duration::from_millis(500)).unwrap();
    }

    #[test]
    fn a_credential_that_was_valid_is_still_verified() {
        let (refusals, now) = (Refusals::new(1, 1), Instant::now());
        refusals.remember_valid("right");
        refusals.count(address(1), now);
        refusals.admit(address(1), Some("right"), now).unwrap();
        assert!(refusals.admit(address(1), Some("wrong"), now).is_err());
    }

    #[test]
    fn the_number_of_remembered_addresses_and_credentials_is_bounded() {
        let (refusals, now) = (Refusals::new(1, 5), Instant::now());
        for number in 0..30_000 {
            refusals.count(address(number), now);
            refusals.remember_valid(&number.to_string());
        }
        let seen = refusals.seen();
        assert!(seen.buckets.len() <= MAX_ADDRESSES && seen.valid.len() <= MAX_CREDENTIALS);
        drop(seen);
        let unlimited = Refusals::new(0, 1);
        unlimited.count(address(1), now);
        unlimited.admit(address(1), None, now).unwrap();
    }
}
