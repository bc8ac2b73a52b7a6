//! The states of a memory and the transitions between them.
//!
//! [`State::may_become`] is the only table of transitions. A store refuses any other.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::memory::words;

words!(
    /// The state of a memory in its life cycle.
    State, "state", {
        /// In use.
        Active = "active",
        /// Its confidence is below the threshold: it ranks lower and is listed for confirmation.
        Decayed = "decayed",
        /// Not in default recall.
        Archived = "archived",
        /// Invisible, and restorable until `purge_at`.
        SoftDeleted = "soft_deleted",
        /// Waits for the user's consent, and lapses at `purge_at` if that is set.
        Proposed = "proposed",
    }
);

impl State {
    /// Returns true if a memory in this state may change to `next`. Staying in the same state is always allowed.
    ///
    /// | from | to |
    /// |---|---|
    /// | proposed | active (accepted), soft-deleted (rejected, lapsed) |
    /// | active | decayed, archived, soft-deleted |
    /// | decayed | active (used or confirmed again), archived, soft-deleted |
    /// | archived | active (restored), soft-deleted |
    /// | soft-deleted | active (restored); removed after `purge_at` |
    ///
    /// No transition leads to `proposed`: a proposal is added in this state.
    pub fn may_become(self, next: State) -> bool {
        use State::{Active, Archived, Decayed, Proposed, SoftDeleted};
        self == next
            || matches!(
                (self, next),
                (Proposed | SoftDeleted, Active)
                    | (Proposed | Active | Decayed | Archived, SoftDeleted)
                    | (Active, Decayed | Archived)
                    | (Decayed, Active | Archived)
                    | (Archived, Active)
            )
    }

    /// Returns true if default recall includes memories in this state.
    pub fn is_live(self) -> bool {
        matches!(self, State::Active | State::Decayed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Coverage: S2.14.
    #[test]
    fn every_transition_is_allowed_or_forbidden() {
        use State::*;
        // Rows: from. Columns: to, in the order of `State::ALL`.
        let table: [(State, [bool; 5]); 5] = [
            //          active, decayed, archived, soft_deleted, proposed
            (Active, [true, true, true, true, false]),
            (Decayed, [true, true, true, true, false]),
            (Archived, [true, false, true, true, false]),
            (SoftDeleted, [true, false, false, true, false]),
            (Proposed, [true, false, false, true, true]),
        ];
        assert_eq!(State::ALL, [Active, Decayed, Archived, SoftDeleted, Proposed]);
        for (from, allowed) in table {
            for (to, allowed) in State::ALL.iter().zip(allowed) {
                assert_eq!(from.may_become(*to), allowed, "{from} to {to}");
            }
        }
    }
}
