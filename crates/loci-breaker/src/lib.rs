//! A circuit breaker for a service outside of the process: an embedding model, a vector index, a cache server.
//!
//! The first failure opens it. While it is open, callers are refused at once instead of waiting for another timeout.
//! After a pause one caller gets the permit for a probe; the others are refused until the probe has ended. If it
//! succeeds, the breaker closes; if it fails, the next pause is longer.
//!
//! Some callers can wait for longer than others. A service that is too slow for those in a hurry still does background work:
//! patient callers ask [`Breaker::enter_patiently`], and while their calls succeed late, only the others are refused.
//!
//! **Invariant: the pauses count outages and not callers.** Calls that were made together and fail together open the
//! breaker once, and the outcome of a call that began before the breaker last opened or closed changes nothing.
//!
//! It does no I/O: whoever calls a service asks [`Breaker::enter`] before and tells the [`Permit`] the outcome.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The shortest time that [`Breaker::wait`] returns, so that a loop that waits for a probe of another caller rests.
const SHORTEST_WAIT: Duration = Duration::from_millis(5);

/// The pauses between two probes of a service that is away. The first is `first`, each further one longer by `factor`,
/// up to `longest`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pauses {
    /// The pause after the failure that opened the breaker. Default: 250 ms.
    pub first: Duration,
    /// The longest pause. Default: 2 s, so that a service is used again within 5 s after it is back.
    pub longest: Duration,
    /// The factor between one pause and the next; values below 1 count as 1. Default: 2.
    pub factor: f64,
}

impl Default for Pauses {
    fn default() -> Self {
        Self { first: Duration::from_millis(250), longest: Duration::from_secs(2), factor: 2.0 }
    }
}

impl Pauses {
    fn after(&self, pause: Duration) -> Duration {
        pause.mul_f64(self.factor.max(1.0)).min(self.longest)
    }
}

/// The breaker of one service. Clones are the same breaker.
#[derive(Debug, Clone)]
pub struct Breaker {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    service: String,
    pauses: Pauses,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Number of times that the breaker has opened or closed.
    changes: u64,
    outage: Option<Outage>,
}

#[derive(Debug)]
struct Outage {
    problem: String,
    pause: Duration,
    /// Callers are refused until this instant.
    until: Instant,
    /// Whether a caller has the permit for a probe.
    probing: bool,
    /// Whether the service answers those who can wait.
    slow: bool,
}

/// What a caller may do.
#[derive(Debug)]
pub enum Entry {
    /// Call the service.
    Call(Permit),
    /// The service is away and the pause is over: this caller may find out whether it is back.
    Probe(Permit),
    /// The service is away, with the last problem. It must not be called.
    Refused(String),
}

/// The permit for one call. If it is dropped without an outcome, the call counts as not made.
#[derive(Debug)]
pub struct Permit {
    shared: Arc<Shared>,
    changes: u64,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A call while the service is available.
    Call,
    /// The one call that finds out whether it is back.
    Probe,
    /// A call of a patient caller while those in a hurry are refused.
    Patient,
}

impl Breaker {
    /// A closed breaker of the service with this name, which is used in the log.
    pub fn new(service: impl Into<String>, pauses: Pauses) -> Self {
        let pauses = Pauses { first: pauses.first.min(pauses.longest), ..pauses };
        Self { shared: Arc::new(Shared { service: service.into(), pauses, state: Mutex::default() }) }
    }

    /// Asks for a permit to call the service now.
    pub fn enter(&self) -> Entry {
        let mut state = self.shared.state();
        let changes = state.changes;
        let permit = |kind| Permit { shared: self.shared.clone(), changes, kind };
        match &mut state.outage {
            None => Entry::Call(permit(Kind::Call)),
            Some(outage) if outage.probing || Instant::now() < outage.until => Entry::Refused(outage.problem.clone()),
            Some(outage) => {
                outage.probing = true;
                Entry::Probe(permit(Kind::Probe))
            }
        }
    }

    /// The same for a caller who can wait. It never holds the probe, which would keep it from the others for long: during an
    /// outage one patient caller is let in after each pause, and all while the service is only slow.
    pub fn enter_patiently(&self) -> Entry {
        let mut state = self.shared.state();
        let changes = state.changes;
        let permit = |kind| Permit { shared: self.shared.clone(), changes, kind };
        match &mut state.outage {
            None => Entry::Call(permit(Kind::Call)),
            Some(outage) if outage.slow => Entry::Call(permit(Kind::Patient)),
            Some(outage) if outage.probing || Instant::now() < outage.until => Entry::Refused(outage.problem.clone()),
            Some(outage) => {
                outage.until = Instant::now() + outage.pause;
                Entry::Call(permit(Kind::Patient))
            }
        }
    }

    /// The problem that the service has, until a probe succeeds.
    pub fn problem(&self) -> Option<String> {
        self.shared.state().outage.as_ref().map(|outage| outage.problem.clone())
    }

    /// The time until a probe is due; the first pause if the service is available.
    pub fn wait(&self) -> Duration {
        let until = self.shared.state().outage.as_ref().map(|outage| outage.until);
        until.map_or(self.shared.pauses.first, |until| {
            until.saturating_duration_since(Instant::now()).max(SHORTEST_WAIT)
        })
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self, state: &mut State) {
        if state.outage.take().is_some() {
            tracing::info!(service = self.service, "the service is available again");
            state.changes += 1;
        }
    }
}

impl Permit {
    /// Records the outcome of the call: success, or the problem of the service.
    pub fn record(mut self, outcome: Result<(), &str>) {
        let shared = self.shared.clone();
        let (service, mut state) = (&shared.service, shared.state());
        if state.changes != self.changes {
            return;
        }
        let kind = std::mem::replace(&mut self.kind, Kind::Call);
        let now = Instant::now();
        match (outcome, &mut state.outage) {
            (Ok(()), _) => shared.close(&mut state),
            (Err(problem), Some(outage)) => {
                problem.clone_into(&mut outage.problem);
                outage.slow = false;
                if kind == Kind::Probe {
                    outage.pause = shared.pauses.after(outage.pause);
                    outage.until = now + outage.pause;
                    outage.probing = false;
                }
            }
            (Err(problem), None) => {
                tracing::warn!(service, problem, "the service is unavailable; it is not called until it may be back");
                let pause = shared.pauses.first;
                let problem = problem.to_owned();
                state.outage = Some(Outage { problem, pause, until: now + pause, probing: false, slow: false });
                state.changes += 1;
            }
        }
    }

    /// Records that the service answered, but later than those in a hurry would have waited. It stays closed to them.
    pub fn record_late(self) {
        let mut state = self.shared.state();
        if state.changes == self.changes
            && let Some(outage) = &mut state.outage
        {
            outage.slow = true;
        }
        drop(state);
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        if self.kind != Kind::Probe {
            return;
        }
        let mut state = self.shared.state();
        if state.changes == self.changes
            && let Some(outage) = &mut state.outage
        {
            outage.probing = false;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn breaker(first: Duration) -> Breaker {
        Breaker::new("a service", Pauses { first, longest: 8 * first, factor: 2.0 })
    }

    fn call(breaker: &Breaker) -> Permit {
        match breaker.enter() {
            Entry::Call(permit) => permit,
            other => panic!("{other:?}"),
        }
    }

    fn probe(breaker: &Breaker) -> Permit {
        match breaker.enter() {
            Entry::Probe(permit) => permit,
            other => panic!("{other:?}"),
        }
    }

    fn pause(breaker: &Breaker) -> Option<Duration> {
        breaker.shared.state().outage.as_ref().map(|outage| outage.pause)
    }

    // attack B1, qdrant D5.
    #[test]
    fn failures_of_calls_that_were_made_together_count_once() {
        let minute = Duration::from_secs(60);
        for callers in [1, 12, 64] {
            let breaker = breaker(minute);
            let permits: Vec<Permit> = (0..callers).map(|_| call(&breaker)).collect();
            for permit in permits {
                permit.record(Err("refused"));
            }
            assert_eq!(pause(&breaker), Some(minute), "{callers} callers");
            assert!(matches!(breaker.enter(), Entry::Refused(problem) if problem == "refused"));
            assert!(breaker.wait() > minute / 2 && breaker.wait() <= minute);
        }
    }

    #[test]
    fn one_caller_probes_and_each_failed_probe_makes_the_pause_longer() {
        let breaker = breaker(Duration::from_nanos(1));
        call(&breaker).record(Err("refused"));
        for expect in [2, 4, 8, 8] {
            let first = probe(&breaker);
            assert!((0..63).all(|_| matches!(breaker.enter(), Entry::Refused(_))), "only one probes");
            first.record(Err("still refused"));
            assert_eq!(pause(&breaker), Some(Duration::from_nanos(expect)));
        }
        assert_eq!(breaker.problem().as_deref(), Some("still refused"));
        probe(&breaker).record(Ok(()));
        assert_eq!(breaker.problem(), None);
        call(&breaker).record(Err("refused"));
        assert_eq!(pause(&breaker), Some(Duration::from_nanos(1)), "another outage begins with the first pause");
    }

    #[test]
    fn what_began_before_says_nothing_of_now() {
        let breaker = breaker(Duration::from_nanos(1));
        let (early, late) = (call(&breaker), call(&breaker));
        call(&breaker).record(Err("refused"));
        early.record(Ok(()));
        assert!(breaker.problem().is_some(), "it answered before the outage");
        probe(&breaker).record(Ok(()));
        late.record(Err("refused"));
        assert_eq!(breaker.problem(), None, "it failed in an outage that is over");
    }

    #[test]
    fn a_probe_that_is_given_up_is_made_by_the_next_caller() {
        let breaker = breaker(Duration::from_nanos(1));
        call(&breaker).record(Err("refused"));
        drop(probe(&breaker));
        probe(&breaker).record(Ok(()));
        assert_eq!(breaker.problem(), None);
    }

    #[test]
    fn a_slow_service_serves_patient_callers_alone() {
        let patient = |breaker: &Breaker| match breaker.enter_patiently() {
            Entry::Call(permit) => permit,
            other => panic!("{other:?}"),
        };
        let breaker = breaker(Duration::from_nanos(1));
        call(&breaker).record(Err("timed out"));
        let first = patient(&breaker);
        probe(&breaker).record(Err("timed out again"));
        first.record_late();
        let (second, third) = (patient(&breaker), patient(&breaker));
        assert!(breaker.problem().is_some(), "it is too slow for the others");
        second.record_late();
        third.record(Err("gone"));
        assert_eq!(breaker.problem().as_deref(), Some("gone"));
        assert_eq!(pause(&breaker), Some(Duration::from_nanos(2)), "patient callers do not make the pause longer");
        patient(&breaker).record(Ok(()));
        assert_eq!(breaker.problem(), None, "it is quick again");
    }

    #[test]
    fn one_patient_caller_is_let_in_after_each_pause() {
        let minute = Duration::from_secs(60);
        let breaker = breaker(minute);
        call(&breaker).record(Err("refused"));
        assert!(matches!(breaker.enter_patiently(), Entry::Refused(_)), "not in the pause");
        breaker.shared.state().outage.as_mut().unwrap().until = Instant::now();
        assert!(matches!(breaker.enter_patiently(), Entry::Call(_)));
        assert!((0..63).all(|_| matches!(breaker.enter_patiently(), Entry::Refused(_))), "one at a time");
    }
}
