//! Which connections are open, by the address of their peer.
//!
//! The total is bounded, and so is the share of one address, so that one client cannot hold all connections. A connection
//! without a request in progress is idle: it has sent nothing, a part of a head, or waits for its next request. When a new
//! connection finds no place, the one that has been idle for longest gives way: of the same address if that has used up its
//! share, otherwise of the address with the most connections. Connections with a request in progress are never closed for
//! another one.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use crate::peer::address_group;

/// The bounds of open connections.
#[derive(Debug, Clone)]
pub(super) struct SeatLimits {
    /// Of all addresses.
    pub(super) total: usize,
    /// Of one address, or of one /64 network of IPv6.
    pub(super) per_address: usize,
    /// Addresses with no bound of their own, such as a reverse proxy.
    pub(super) exempt: Vec<IpAddr>,
}

/// All open connections.
#[derive(Debug)]
pub(super) struct Seats {
    limits: SeatLimits,
    open: Mutex<HashMap<IpAddr, Vec<Arc<Activity>>>>,
    /// Notified when a connection was closed, or has become idle.
    freed: Notify,
}

/// What one connection is doing.
#[derive(Debug)]
struct Activity {
    state: Mutex<State>,
    /// Notified when the connection must give way.
    evicted: Notify,
}

#[derive(Debug)]
struct State {
    requests: usize,
    idle_since: Instant,
    evicted: bool,
}

/// An open connection. It is counted until this is dropped.
#[derive(Debug)]
pub(super) struct Seat {
    seats: Arc<Seats>,
    address: IpAddr,
    activity: Arc<Activity>,
}

/// A request in progress on a connection.
#[derive(Debug)]
pub(super) struct RequestInProgress {
    seats: Arc<Seats>,
    activity: Arc<Activity>,
}

impl Activity {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Since when it has been idle, or `None` if it has a request in progress or is being closed already.
    fn idle_since(&self) -> Option<Instant> {
        let state = self.state();
        (state.requests == 0 && !state.evicted).then_some(state.idle_since)
    }

    /// Tells the connection to close, unless a request has begun since.
    fn evict(&self) -> bool {
        let mut state = self.state();
        let evicted = state.requests == 0 && !state.evicted;
        if evicted {
            state.evicted = true;
            self.evicted.notify_one();
        }
        evicted
    }
}

impl Seats {
    pub(super) fn new(limits: SeatLimits) -> Arc<Self> {
        Arc::new(Self { limits, open: Mutex::default(), freed: Notify::new() })
    }

    /// Waits until a further connection may be accepted: at once if there is a free place or an idle connection can give way,
    /// otherwise when a connection is closed or becomes idle.
    pub(super) async fn wait_for_room(&self) {
        loop {
            let freed = self.freed.notified();
            if self.make_room() {
                return;
            }
            freed.await;
        }
    }

    /// Whether a further connection may be open. If all places are taken, an idle connection of the address with the most
    /// connections gives way.
    fn make_room(&self) -> bool {
        let open = self.open();
        if open.values().map(Vec::len).sum::<usize>() < self.limits.total {
            return true;
        }
        let mut addresses: Vec<&Vec<Arc<Activity>>> = open.values().collect();
        addresses.sort_by_key(|connections| std::cmp::Reverse(connections.len()));
        // The place is free when the connection has ended, so the caller waits for that.
        let already = addresses.iter().any(|connections| connections.iter().any(|one| one.state().evicted));
        if !already {
            addresses.into_iter().any(|connections| evict_longest_idle(connections));
        }
        false
    }

    /// Counts a connection of this address. Returns `None` if the address has used up its share and all its connections have
    /// requests in progress.
    pub(super) fn take(self: &Arc<Self>, address: IpAddr) -> Option<Seat> {
        let group = address_group(address);
        let mut open = self.open();
        let connections = open.entry(group).or_default();
        let exempt = self.limits.exempt.contains(&address.to_canonical());
        let staying = connections.iter().filter(|one| !one.state().evicted).count();
        if !exempt && staying >= self.limits.per_address && !evict_longest_idle(connections) {
            return None;
        }
        let state = State { requests: 0, idle_since: Instant::now(), evicted: false };
        let activity = Arc::new(Activity { state: Mutex::new(state), evicted: Notify::new() });
        connections.push(activity.clone());
        Some(Seat { seats: self.clone(), address: group, activity })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<IpAddr, Vec<Arc<Activity>>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells the connection that has been idle for longest to close. Returns false if none is idle.
fn evict_longest_idle(connections: &[Arc<Activity>]) -> bool {
    let mut idle: Vec<_> = connections.iter().filter_map(|one| Some((one.idle_since()?, one))).collect();
    idle.sort_by_key(|(since, _)| *since);
    idle.into_iter().any(|(_, one)| one.evict())
}

impl Seat {
    /// Counts a request in progress until the returned value is dropped.
    pub(super) fn begin_request(&self) -> RequestInProgress {
        self.activity.state().requests += 1;
        RequestInProgress { seats: self.seats.clone(), activity: self.activity.clone() }
    }

    /// Completes when the connection must be closed: for another one, or because it has been idle for this long.
    pub(super) async fn must_close(&self, longest_idle: Duration) {
        loop {
            let idle_until = self.activity.idle_since().map(|since| since + longest_idle);
            let now = Instant::now();
            if idle_until.is_some_and(|until| until <= now) && self.activity.evict() {
                return;
            }
            tokio::select! {
                () = self.activity.evicted.notified() => return,
                () = tokio::time::sleep_until(idle_until.unwrap_or(now + longest_idle)) => {}
            }
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut open = self.seats.open();
        if let Some(connections) = open.get_mut(&self.address) {
            connections.retain(|one| !Arc::ptr_eq(one, &self.activity));
            if connections.is_empty() {
                open.remove(&self.address);
            }
        }
        drop(open);
        self.seats.freed.notify_one();
    }
}

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        let mut state = self.activity.state();
        state.requests -= 1;
        state.idle_since = Instant::now();
        let idle = state.requests == 0;
        drop(state);
        if idle {
            self.seats.freed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats(total: usize, per_address: usize, exempt: &[&str]) -> Arc<Seats> {
        let exempt = exempt.iter().map(|address| address.parse().unwrap()).collect();
        Seats::new(SeatLimits { total, per_address, exempt })
    }

    fn address(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    async fn must_close(seat: &Seat) -> bool {
        tokio::time::timeout(Duration::ZERO, seat.must_close(Duration::from_secs(60))).await.is_ok()
    }

    #[tokio::test]
    async fn the_longest_idle_connection_of_an_address_gives_way() {
        let seats = seats(10, 2, &[]);
        let first = seats.take(address("192.0.2.1")).unwrap();
        let second = seats.take(address("192.0.2.1")).unwrap();
        // A request has ended on the first since, so the second has been idle for longer.
        drop(first.begin_request());
        let third = seats.take(address("192.0.2.1")).unwrap();
        assert_eq!(
            [must_close(&first).await, must_close(&second).await, must_close(&third).await],
            [false, true, false]
        );
    }

    #[tokio::test]
    async fn an_address_whose_connections_all_work_gets_no_further_one() {
        let seats = seats(10, 1, &["192.0.2.9"]);
        let first = seats.take(address("192.0.2.1")).unwrap();
        let working = first.begin_request();
        assert!(seats.take(address("192.0.2.1")).is_none());
        assert!(seats.take(address("192.0.2.2")).is_some(), "another address has its own share");
        drop(working);
        assert!(seats.take(address("192.0.2.1")).is_some());
        // An exempt address has no share of its own.
        let proxied: Vec<_> = (0..5).map(|_| seats.take(address("192.0.2.9")).unwrap()).collect();
        assert!(!must_close(&proxied[0]).await);
    }

    #[tokio::test]
    async fn a_network_of_ipv6_is_one_address() {
        let seats = seats(10, 1, &[]);
        let first = seats.take(address("2001:db8::1")).unwrap();
        let _working = first.begin_request();
        assert!(seats.take(address("2001:db8::2")).is_none());
        assert!(seats.take(address("2001:db8:0:1::2")).is_some());
    }

    #[tokio::test]
    async fn a_full_server_closes_an_idle_connection_of_who_has_most() {
        let seats = seats(3, 3, &[]);
        let many = [(); 2].map(|()| seats.take(address("192.0.2.1")).unwrap());
        let _single = seats.take(address("192.0.2.2")).unwrap();
        let waiting = tokio::spawn({
            let seats = seats.clone();
            async move { seats.wait_for_room().await }
        });
        tokio::task::yield_now().await;
        let [first, second] = many;
        assert!(must_close(&first).await && !must_close(&second).await);
        drop(first);
        waiting.await.unwrap();
    }

    #[tokio::test]
    async fn a_connection_does_not_stay_idle_for_ever() {
        let seats = seats(3, 3, &[]);
        let seat = seats.take(address("192.0.2.1")).unwrap();
        let started = Instant::now();
        seat.must_close(Duration::from_millis(20)).await;
        assert!(started.elapsed() >= Duration::from_millis(20));
    }
}
