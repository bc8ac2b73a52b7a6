//! Checks the tables of a store for damage.
//!
//! The server enforces keys and references; these checks cover what only Loci knows.

use loci_types::Visible;

use super::PostgresBackend;
use crate::sql::doctor::{self, Check, Repair};
use crate::sql::{Backend, spaces_of};
use crate::{Finding, Result};

const CHECKS: &[Check] = &[
    Check {
        name: "lexicon",
        count: "SELECT count(*) FROM memories m WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.memory = m.row)",
        problem: "memories have no search terms",
        mend: Some(Repair::Words(
            "SELECT m.row FROM memories m WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.memory = m.row)",
        )),
    },
    Check {
        name: "lexicon",
        count: "SELECT count(*) FROM words w WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.memory = w.memory)",
        problem: "search terms belong to missing memories",
        mend: Some(Repair::Rows(
            "DELETE FROM words w WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.memory = w.memory)",
        )),
    },
    Check {
        name: "vectors",
        count: "SELECT count(*) FROM vectors v JOIN models o ON o.model = v.model WHERE vector_dims(v.vector) != o.dimensions",
        problem: "vectors have the wrong size",
        mend: Some(Repair::Rows(
            "DELETE FROM vectors v USING models o WHERE o.model = v.model AND vector_dims(v.vector) != o.dimensions",
        )),
    },
    Check {
        name: "chains",
        count: "SELECT count(*) FROM memories m WHERE m.superseded_by_id IS NOT NULL \
                AND NOT EXISTS (SELECT 1 FROM memories n WHERE n.id = m.superseded_by_id)",
        problem: "memories are superseded by missing ones",
        mend: Some(Repair::Rows(
            "UPDATE memories m SET superseded_by_id = NULL WHERE m.superseded_by_id IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM memories n WHERE n.id = m.superseded_by_id)",
        )),
    },
    Check {
        name: "ledger",
        count: "SELECT count(*) FROM memories m WHERE NOT EXISTS \
                (SELECT 1 FROM ledger l WHERE l.memory = m.row AND l.event = 'add')",
        problem: "memories have no entry in the ledger",
        mend: None,
    },
    Check {
        name: "tags",
        count: "SELECT count(*) FROM memories m WHERE coalesce(json_array_length(m.tags), 0) \
                < (SELECT count(*) FROM tags t WHERE t.memory = m.row)",
        problem: "memories have tags they do not list",
        mend: Some(Repair::Rows(
            "DELETE FROM tags t WHERE NOT EXISTS (SELECT 1 FROM memories m, json_array_elements_text(m.tags) j \
             WHERE m.row = t.memory AND j.value = t.tag)",
        )),
    },
];

/// Checks every visible space.
pub(super) fn examine(store: &PostgresBackend, visible: &Visible, repair: bool) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for open in spaces_of(store, visible)? {
        let place = format!("postgres {}", PostgresBackend::place_of(&open).display());
        let found = store.looking(&open, repair, |connection| {
            doctor::check_space(connection, &place, CHECKS, store.analyser(), repair)
        })?;
        findings.extend(found.unwrap_or_default());
    }
    Ok(findings)
}
