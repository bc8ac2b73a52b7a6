//! The ageing of one memory: its confidence, its relevance and its next state.
//!
//! Pure: one memory and one instant give one outcome. **Invariant:** confidence is computed from the instant of the
//! last computation, so running twice, late or not for a year gives the same result. Pinned memories are always kept;
//! confirmed ones (`decay_rate` 0) do not decay, but can expire.

use std::fmt;

use jiff::{SignedDuration, Timestamp};
use loci_store::AgeingRow;
use loci_types::{Class, KindSpec, State};

use crate::config::Lifecycle;
use crate::lifecycle::curve::{Curve, age_days};

/// A score that differs by less is not worth a write.
const NOTABLE: f64 = 1e-3;

/// Why a memory changes its state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Cause {
    /// Its confidence fell below its threshold, or rose above it again.
    Confidence,
    /// Its confidence is used up.
    Pruned,
    /// Its relevance fell below its threshold.
    Relevance,
    /// It is older than its kind lasts.
    Faded,
    /// Its time is over.
    Expired,
    /// It was not used for long, and matters little.
    Unused,
    /// It was not used for as long as anything is kept.
    Retention,
    /// It was deleted long enough ago.
    Purged,
    /// Nobody decided on it.
    Lapsed,
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Confidence => "confidence below its threshold",
            Cause::Pruned => "confidence below the purge threshold",
            Cause::Relevance => "relevance below its threshold",
            Cause::Faded => "older than the retention of its kind, and not used recently",
            Cause::Expired => "expired",
            Cause::Unused => "not used for a long time, and of low importance",
            Cause::Retention => "not used within the retention period",
            Cause::Purged => "restore period over",
            Cause::Lapsed => "consent not given in time",
        })
    }
}

/// What becomes of a memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgeingOutcome {
    /// Its confidence now.
    pub confidence: f64,
    /// Its relevance now.
    pub relevance: f64,
    /// Where it goes, and why; `None` in place of a state: it is removed for good.
    pub step: Option<(Option<State>, Cause)>,
    /// Whether its scores are worth writing.
    pub aged: bool,
}

/// The outcome of ageing for a memory at an instant.
pub fn ageing_outcome(memory: &AgeingRow, spec: &KindSpec, rules: &Lifecycle, now: Timestamp) -> AgeingOutcome {
    let confidence = confidence(memory, spec, now);
    let relevance = relevance(memory, rules, now);
    let live = memory.state.is_live() && !memory.superseded;
    let notable = (confidence - memory.confidence).abs() >= NOTABLE || (relevance - memory.relevance).abs() >= NOTABLE;
    let step = step(memory, spec, rules, (confidence, relevance), now);
    let aged = live && notable && !matches!(step, Some((Some(State::SoftDeleted) | None, _)));
    AgeingOutcome { confidence, relevance, step, aged }
}

/// Confidence by Ebbinghaus, counted on from `aged_at`. Episodes do not fade so.
pub fn confidence(memory: &AgeingRow, spec: &KindSpec, now: Timestamp) -> f64 {
    if spec.class == Class::Episodic || memory.decay_rate <= 0.0 || memory.pinned {
        return memory.confidence;
    }
    let used = memory.last_accessed_at.or(memory.imported_at).unwrap_or(memory.created_at);
    let curve = Curve::Ebbinghaus { rate: memory.decay_rate };
    // What was counted before it was last used has been used up by that use.
    let counted = memory.aged_at.filter(|aged| *aged > used).map_or(1.0, |aged| curve.left(age_days(used, aged)));
    let left = curve.left(age_days(used, now));
    // A clock that jumped back takes nothing away and gives nothing back.
    if counted <= 0.0 { 0.0 } else { (memory.confidence * (left / counted).min(1.0)).clamp(0.0, 1.0) }
}

fn relevance(memory: &AgeingRow, rules: &Lifecycle, now: Timestamp) -> f64 {
    if rules.relevance_rate <= 0.0 || memory.pinned || rules.exempt_layers.contains(&memory.layer) {
        return memory.relevance;
    }
    let since = memory.aged_at.or(memory.imported_at).unwrap_or(memory.created_at);
    let left = Curve::DailyRate { rate: rules.relevance_rate }.left(age_days(since, now));
    (memory.relevance * left).clamp(0.0, 1.0)
}

fn step(
    memory: &AgeingRow,
    spec: &KindSpec,
    rules: &Lifecycle,
    (confidence, relevance): (f64, f64),
    now: Timestamp,
) -> Option<(Option<State>, Cause)> {
    let due = |at: Option<Timestamp>| at.is_some_and(|at| at <= now);
    let gone = |cause| Some((Some(State::SoftDeleted), cause));
    match memory.state {
        State::SoftDeleted => return due(memory.purge_at).then_some((None, Cause::Purged)),
        State::Proposed => return due(memory.purge_at).then_some((Some(State::SoftDeleted), Cause::Lapsed)),
        State::Active | State::Decayed | State::Archived => {}
    }
    // What was replaced is history, and goes only with its chain.
    if memory.superseded {
        return None;
    }
    let kept = memory.pinned || memory.decay_rate <= 0.0;
    if due(memory.expires_at) && !memory.pinned {
        return gone(Cause::Expired);
    }
    if kept {
        return (memory.state == State::Decayed).then_some((Some(State::Active), Cause::Confidence));
    }
    // What was imported begins to fade here when it comes in.
    let came = memory.imported_at.unwrap_or(memory.created_at).max(memory.created_at);
    let used = memory.last_accessed_at.unwrap_or(came).max(came);
    let unused = used < days_before(now, rules.ttl_days);
    if unused && memory.importance < rules.ttl_importance {
        return gone(Cause::Unused);
    }
    if rules.retention_days.is_some_and(|days| used < days_before(now, days)) {
        return gone(Cause::Retention);
    }
    let recency = Curve::HalfLife { days: spec.half_life_days }.left(age_days(came, now));
    if unused && recency < rules.recency_floor {
        return gone(Cause::Faded);
    }
    if memory.state == State::Archived {
        return None;
    }
    if spec.class != Class::Episodic && confidence < rules.prune_below {
        return gone(Cause::Pruned);
    }
    if rules.relevance_rate > 0.0 && !rules.exempt_layers.contains(&memory.layer) && relevance < rules.archive_below {
        return Some((Some(State::Archived), Cause::Relevance));
    }
    let wanted = if confidence < rules.decayed_below { State::Decayed } else { State::Active };
    (spec.class != Class::Episodic && wanted != memory.state).then_some((Some(wanted), Cause::Confidence))
}

/// When the confidence of a memory is used up, if nothing happens to it.
pub fn pruned_at(memory: &AgeingRow, spec: &KindSpec, rules: &Lifecycle, now: Timestamp) -> Option<Timestamp> {
    if spec.class == Class::Episodic || memory.decay_rate <= 0.0 || memory.pinned {
        return None;
    }
    let (mut soon, mut late) = (0_i64, 40_000_i64);
    let below = |days: i64| confidence(memory, spec, days_after(now, days)) < rules.prune_below;
    if !below(late) {
        return None;
    }
    while soon < late {
        let middle = i64::midpoint(soon, late);
        if below(middle) { late = middle } else { soon = middle + 1 }
    }
    Some(days_after(now, soon))
}

/// The rate at which the confidence of a kind is used up just when its recency is: then both curves
/// agree on how long a memory lasts.
pub fn rate_of(spec: &KindSpec, rules: &Lifecycle) -> f64 {
    let (floor, prune) = (rules.recency_floor.max(1e-9), rules.prune_below.max(1e-9));
    let lasts = spec.half_life_days * (1.0 / floor).log2();
    ((1.0 / prune).ln() / lasts.powf(0.8)).clamp(0.0, 10.0)
}

/// The instant this number of days before another.
pub(crate) fn days_before(now: Timestamp, days: u32) -> Timestamp {
    now.saturating_sub(SignedDuration::from_hours(24 * i64::from(days))).unwrap_or(Timestamp::MIN)
}

/// The instant this number of days after another.
pub(crate) fn days_after(now: Timestamp, days: i64) -> Timestamp {
    now.saturating_add(SignedDuration::from_hours(24 * days)).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use loci_types::{Kinds, Layer, MemoryId};
    use proptest::prelude::*;

    use super::*;

    fn start() -> Timestamp {
        "2026-01-01T00:00:00Z".parse().unwrap()
    }

    fn fact() -> AgeingRow {
        AgeingRow {
            id: MemoryId(uuid::Uuid::nil()),
            kind: "fact".into(),
            layer: Layer::User,
            state: State::Active,
            importance: 0.5,
            confidence: 1.0,
            relevance: 1.0,
            decay_rate: 0.1,
            pinned: false,
            access_count: 0,
            last_accessed_at: None,
            created_at: start(),
            updated_at: start(),
            imported_at: None,
            aged_at: None,
            expires_at: None,
            purge_at: None,
            superseded: false,
            user_id: Some("u".into()),
            agent_id: None,
            session_id: None,
            place: 1,
        }
    }

    fn spec(kind: &str) -> KindSpec {
        let kinds = Kinds::default();
        kinds.spec(&kinds.parse(kind).unwrap()).clone()
    }

    // Coverage: S0.2, S2.15, S3-7.2.
    #[test]
    fn every_way_to_go() {
        let rules = Lifecycle { relevance_rate: 0.01, exempt_layers: vec![Layer::Company], ..Lifecycle::default() };
        let gone = Some(State::SoftDeleted);
        let check = |name: &str, days: i64, memory: AgeingRow, expect: Option<(Option<State>, Cause)>| {
            let found = ageing_outcome(&memory, &spec(&memory.kind), &rules, days_after(start(), days)).step;
            assert_eq!(found, expect, "{name} after {days} days");
        };
        check("young", 1, fact(), None);
        check("weak", 23, fact(), Some((Some(State::Decayed), Cause::Confidence)));
        check("weak already", 23, AgeingRow { state: State::Decayed, ..fact() }, None);
        let used = Some(days_after(start(), 23));
        let back = AgeingRow { state: State::Decayed, last_accessed_at: used, ..fact() };
        check("used again", 23, back, Some((Some(State::Active), Cause::Confidence)));
        check("used up", 71, fact(), Some((gone, Cause::Pruned)));
        check("pinned", 71, AgeingRow { pinned: true, ..fact() }, None);
        check("confirmed", 71, AgeingRow { decay_rate: 0.0, ..fact() }, None);
        let decayed = |memory| AgeingRow { state: State::Decayed, ..memory };
        let sure = Some((Some(State::Active), Cause::Confidence));
        check("confirmed after it faded", 71, decayed(AgeingRow { decay_rate: 0.0, importance: 0.1, ..fact() }), sure);
        check("pinned after it faded", 71, decayed(AgeingRow { pinned: true, ..fact() }), sure);
        check("replaced", 71, AgeingRow { superseded: true, ..fact() }, None);
        check("little", 61, AgeingRow { importance: 0.4, ..fact() }, Some((gone, Cause::Unused)));
        let weak = Some((Some(State::Decayed), Cause::Confidence));
        check("little but used", 61, AgeingRow { importance: 0.4, last_accessed_at: used, ..fact() }, weak);
        let slow = || AgeingRow { decay_rate: 1e-6, layer: Layer::Company, ..fact() };
        let faded = Some((gone, Cause::Faded));
        check("an old task", 200, AgeingRow { kind: "task".into(), ..slow() }, faded);
        check(
            "an old task in use",
            200,
            AgeingRow { kind: "task".into(), last_accessed_at: Some(days_after(start(), 190)), ..slow() },
            None,
        );
        let imported = Some(days_after(start(), 90));
        check("an imported episode", 150, AgeingRow { kind: "episodic".into(), imported_at: imported, ..slow() }, None);
        check(
            "an imported one, later",
            190,
            AgeingRow { kind: "episodic".into(), imported_at: imported, ..slow() },
            faded,
        );
        check("an old episode", 94, AgeingRow { kind: "episodic".into(), ..slow() }, faded);
        check(
            "an episode",
            80,
            AgeingRow { kind: "episodic".into(), decay_rate: 0.1, layer: Layer::Company, ..fact() },
            None,
        );
        let expires = |memory| AgeingRow { expires_at: Some(days_after(start(), 3)), ..memory };
        check("in time", 2, expires(fact()), None);
        check("over", 3, expires(fact()), Some((gone, Cause::Expired)));
        check("over but pinned", 3, expires(AgeingRow { pinned: true, ..fact() }), None);
        let stale = Some((Some(State::Archived), Cause::Relevance));
        check("stale", 240, AgeingRow { layer: Layer::User, ..slow() }, stale);
        check("stale in an exempt layer", 240, slow(), None);
        let deleted = AgeingRow { state: State::SoftDeleted, purge_at: Some(days_after(start(), 30)), ..fact() };
        check("deleted", 29, deleted.clone(), None);
        check("deleted long ago", 30, deleted, Some((None, Cause::Purged)));
        let proposed = AgeingRow { state: State::Proposed, purge_at: Some(days_after(start(), 7)), ..fact() };
        check("proposed", 6, proposed.clone(), None);
        check("lapsed", 7, proposed, Some((gone, Cause::Lapsed)));
    }

    // Coverage: S4.4.
    #[test]
    fn what_is_kept_for_a_number_of_days_is_kept_while_it_is_used() {
        let rules = Lifecycle { retention_days: Some(90), ..Lifecycle::default() };
        let slow = || AgeingRow { decay_rate: 1e-6, importance: 0.9, ..fact() };
        let gone = Some((Some(State::SoftDeleted), Cause::Retention));
        let used = Some(days_after(start(), 50));
        for (name, days, memory, expect) in [
            ("in time", 90, slow(), None),
            ("over", 91, slow(), gone),
            ("used since", 91, AgeingRow { last_accessed_at: used, ..slow() }, None),
            ("used long ago", 141, AgeingRow { last_accessed_at: used, ..slow() }, gone),
            ("pinned", 900, AgeingRow { pinned: true, ..slow() }, None),
            ("confirmed", 900, AgeingRow { decay_rate: 0.0, ..slow() }, None),
        ] {
            let found = ageing_outcome(&memory, &spec("fact"), &rules, days_after(start(), days)).step;
            assert_eq!(found, expect, "{name}");
        }
    }

    #[test]
    fn kinds_last_as_long_by_confidence_as_by_recency() {
        let rules = Lifecycle::default();
        for (kind, days) in [("task", 199), ("project", 598), ("preference", 1196), ("fact", 2425)] {
            let memory = AgeingRow { decay_rate: rate_of(&spec(kind), &rules), kind: kind.into(), ..fact() };
            let end = pruned_at(&memory, &spec(kind), &rules, start()).unwrap();
            let found = age_days(start(), end).round() as i64;
            assert!((found - days).abs() <= 1, "{kind}: {found}");
        }
        assert_eq!(pruned_at(&AgeingRow { decay_rate: 0.0, ..fact() }, &spec("fact"), &rules, start()), None);
    }

    proptest! {
        // Coverage: S1.21.
        #[test]
        fn passes_compose(rate in 0.0..1.0, days in prop::collection::vec(0_i64..200, 1..6), used in prop::option::of(0_i64..100)) {
            let rules = Lifecycle { relevance_rate: 0.01, ..Lifecycle::default() };
            let mut days = days;
            days.sort_unstable();
            let used = used.filter(|used| *used <= days[0]).map(|used| days_after(start(), used));
            let memory = AgeingRow { decay_rate: rate, last_accessed_at: used, ..fact() };
            let last = days_after(start(), *days.last().unwrap());
            let once = ageing_outcome(&memory, &spec("fact"), &rules, last);
            let mut stepwise = memory;
            for day in days {
                let now = days_after(start(), day);
                let outcome = ageing_outcome(&stepwise, &spec("fact"), &rules, now);
                prop_assert!(outcome.confidence <= stepwise.confidence + 1e-12);
                (stepwise.confidence, stepwise.relevance, stepwise.aged_at) = (outcome.confidence, outcome.relevance, Some(now));
            }
            prop_assert!((stepwise.confidence - once.confidence).abs() < 1e-9);
            prop_assert!((stepwise.relevance - once.relevance).abs() < 1e-9);
        }

        #[test]
        fn a_clock_that_jumps_back_changes_nothing(back in 1_i64..1000) {
            let rules = Lifecycle { relevance_rate: 0.01, ..Lifecycle::default() };
            let now = days_after(start(), 10);
            let memory = AgeingRow { aged_at: Some(now), confidence: 0.4, relevance: 0.9, ..fact() };
            let found = ageing_outcome(&memory, &spec("fact"), &rules, days_after(now, -back));
            prop_assert_eq!((found.confidence, found.relevance), (0.4, 0.9));
        }
    }
}
