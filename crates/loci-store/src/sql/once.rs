//! Idempotency: claims of requests, and batches that are applied at most once.
//!
//! Both are notes, whose keys begin with `answer `. **Invariant:** the results of a batch under a key are recorded in the
//! transaction that applies it, so there is never one without the other.

use jiff::Timestamp;
use loci_types::{Action, Bookkeeping, Change, MemoryId, NoteValue, Outcome, RequestClaim};
use serde_json::{Value, json};
use uuid::Uuid;

use super::apply::{Applier, nothing};
use super::{OptionalExtension, params};
use crate::{Applied, Result};

impl Applier<'_> {
    /// Applies the changes with `apply`. If the first is [`Bookkeeping::Once`] and its key has recorded results, those
    /// are returned and nothing is applied.
    pub(crate) fn apply_once(
        &self,
        changes: &[Change],
        apply: impl Fn(&Change) -> Result<Applied>,
    ) -> Result<Vec<Applied>> {
        let Some((first, rest)) = changes.split_first() else { return Ok(Vec::new()) };
        let Action::Bookkeeping(Bookkeeping::Once { key, until }) = &first.action else {
            return changes.iter().map(apply).collect();
        };
        if let Some(recorded) = self.value_of(key, 0, first.at)?.as_deref().and_then(read_results) {
            return Ok(std::iter::once(nothing(Outcome::None)).chain(recorded).collect());
        }
        let applied = rest.iter().map(apply).collect::<Result<Vec<_>>>()?;
        self.note(first, None, key, &NoteValue::Set(write_results(&applied)), Some(*until))?;
        Ok(std::iter::once(nothing(Outcome::Created)).chain(applied).collect())
    }

    /// Claims a key, unless a claim of another execution holds or the request has been answered.
    pub(super) fn claim(&self, change: &Change, claim: &RequestClaim) -> Result<Applied> {
        let scope = claim.scope.as_ref().map_or(Ok(0), |scope| self.scope(scope))?;
        let held = self.value_of(&claim.key, scope, change.at)?;
        let outcome = match held.as_deref().map(serde_json::from_str::<Value>) {
            // A note that cannot be parsed was written by a later version and is replaced.
            None | Some(Err(_)) => Outcome::Created,
            Some(Ok(held)) if may_replace(&held, claim, change.at) => Outcome::Updated,
            Some(Ok(_)) => return Ok(nothing(Outcome::None)),
        };
        let value = json!({
            "fingerprint": claim.fingerprint, "owner": claim.owner, "lease": claim.lease.as_microsecond(),
        });
        self.note(change, claim.scope.as_ref(), &claim.key, &NoteValue::Set(value), Some(claim.until))?;
        Ok(nothing(outcome))
    }

    /// The unexpired note of this key and scope number.
    fn value_of(&self, key: &str, scope: i64, now: Timestamp) -> Result<Option<String>> {
        let found = self.connection.query_row(
            "SELECT value FROM notes WHERE key = ?1 AND scope = ?2 AND (until IS NULL OR until > ?3)",
            params![key, scope, now],
            |row| row.get(0),
        );
        self.sql(found.optional())
    }
}

/// Whether a claim may replace this note: it is the claim's own, or a lapsed one of the same request. An answer has no
/// lease and is never replaced.
fn may_replace(held: &Value, claim: &RequestClaim, now: Timestamp) -> bool {
    let Some(lease) = held["lease"].as_i64() else { return false };
    held["fingerprint"] == claim.fingerprint.as_str()
        && (held["owner"] == claim.owner.as_str() || lease <= now.as_microsecond())
}

/// The results as they are stored: ids, outcomes and numbers, no text of a memory.
fn write_results(applied: &[Applied]) -> Value {
    applied.iter().map(|one| json!([one.id, one.outcome, one.version, one.sequence])).collect()
}

fn read_results(value: &str) -> Option<Vec<Applied>> {
    let rows: Vec<(Option<Uuid>, Outcome, u64, Option<i64>)> = serde_json::from_str(value).ok()?;
    let read = |(id, outcome, version, sequence): (Option<Uuid>, _, _, _)| Applied {
        id: id.map(MemoryId),
        outcome,
        version,
        sequence,
    };
    Some(rows.into_iter().map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_read_as_they_were_written() {
        let results = vec![
            Applied {
                id: Some(MemoryId(Uuid::from_u128(7))),
                outcome: Outcome::Created,
                version: 1,
                sequence: Some(4),
            },
            nothing(Outcome::None),
        ];
        assert_eq!(read_results(&write_results(&results).to_string()), Some(results));
        assert_eq!(read_results("{}"), None);
    }

    #[test]
    fn a_claim_replaces_only_its_own_and_lapsed_ones_of_the_same_request() {
        let at = |micros| Timestamp::from_microsecond(micros).unwrap();
        let claim = RequestClaim {
            scope: None,
            key: "answer x".to_owned(),
            fingerprint: "f".to_owned(),
            owner: "me".to_owned(),
            lease: at(9),
            until: at(99),
        };
        for (held, expect) in [
            (json!({ "fingerprint": "f", "owner": "me", "lease": 9 }), true),
            (json!({ "fingerprint": "f", "owner": "other", "lease": 6 }), false),
            (json!({ "fingerprint": "f", "owner": "other", "lease": 5 }), true),
            (json!({ "fingerprint": "g", "owner": "me", "lease": 5 }), false),
            (json!({ "fingerprint": "f", "status": 200 }), false),
        ] {
            assert_eq!(may_replace(&held, &claim, at(5)), expect, "{held}");
        }
    }
}
