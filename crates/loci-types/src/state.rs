//! Where does a memory stand in its life, and where may it go from there?
//!
//! [`State::may_become`] is the one table of transitions; a store refuses any other.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::memory::words;

words!(
    /// Where a memory stands in its life.
    State, "state", {
        /// In use.
        Active = "active",
        /// Below its threshold: ranked down, offered for confirmation.
        Decayed = "decayed",
        /// Out of default recall.
        Archived = "archived",
        /// Invisible, restorable until its purge date.
        SoftDeleted = "soft_deleted",
        /// Waits for the consent of the one it is about; lapses at its purge date.
        Proposed = "proposed",
    }
);

impl State {
    /// Whether a memory in this state may go on to `next`. Staying is always allowed.
    ///
    /// | from | to |
    /// |---|---|
    /// | proposed | active (accepted), soft-deleted (rejected, lapsed) |
    /// | active | decayed, archived, soft-deleted |
    /// | decayed | active (used or confirmed again), archived, soft-deleted |
    /// | archived | active (restored), soft-deleted |
    /// | soft-deleted | active (restored); then it is gone |
    ///
    /// Nothing becomes a proposal: one is born as such.
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

    /// Whether recall sees such a memory by default.
    pub fn is_live(self) -> bool {
        matches!(self, State::Active | State::Decayed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
