//! Checks the files of a store for damage.
//!
//! Each check counts the damaged rows of one file. What can be derived from the records (terms, orphans, pointers) is
//! repaired on request; damaged pages are only reported, because their content cannot be derived.

use std::path::Path;

use loci_types::Visible;
use rusqlite::Connection;

use super::cipher::Cipher;
use super::{SqliteBackend, schema};
use crate::sql::doctor::{self, Check, Repair};
use crate::sql::{catalogue, spaces_of};
use crate::text::Analyser;
use crate::{Error, Finding, Result};

impl SqliteBackend {
    /// Checks the catalogue and the file of every visible space.
    pub(super) fn examine(&self, visible: &Visible, repair: bool) -> Result<Vec<Finding>> {
        let mut findings = Vec::new();
        let damage = match self.inner.catalogue.damage() {
            Err(Error::Damaged { problem, .. }) => Some(problem),
            outcome => outcome?,
        };
        if let Some(problem) = damage {
            let file = self.inner.folder.join("catalogue.db").display().to_string();
            findings.push(Finding { file, check: "pages".into(), problem, repaired: false });
        }
        let tenant = visible.tenant();
        for space in spaces_of(self, visible)? {
            let written =
                self.inner.catalogue.read_catalogue(|asked| catalogue::was_written(asked, tenant, &space.space))?;
            if written && space.is_blank()? {
                let file = space.path.display().to_string();
                let problem = "data was lost: the space was written to, but its file is missing or empty".to_owned();
                findings.push(Finding { file, check: "file".into(), problem, repaired: false });
            } else if space.path.exists() {
                findings.extend(examine(&space.path, &self.inner.cipher, &self.inner.analyser, repair)?);
            }
        }
        Ok(findings)
    }
}

const CHECKS: &[Check] = &[
    Check {
        name: "lexicon",
        count: "SELECT count(*) FROM memories WHERE row NOT IN (SELECT memory FROM words)",
        problem: "memories have no search terms",
        mend: Some(Repair::Words("SELECT row FROM memories WHERE row NOT IN (SELECT memory FROM words)")),
    },
    Check {
        name: "lexicon",
        count: "SELECT count(*) FROM words WHERE memory NOT IN (SELECT row FROM memories)",
        problem: "search terms belong to missing memories",
        mend: Some(Repair::Rows("DELETE FROM words WHERE memory NOT IN (SELECT row FROM memories)")),
    },
    Check {
        name: "vectors",
        count: "SELECT count(*) FROM vectors v JOIN models o ON o.model = v.model WHERE length(v.vector) != 4 * o.dimensions",
        problem: "vectors have the wrong size",
        mend: Some(Repair::Rows(
            "DELETE FROM vectors WHERE rowid IN (SELECT v.rowid FROM vectors v JOIN models o ON o.model = v.model WHERE length(v.vector) != 4 * o.dimensions)",
        )),
    },
    Check {
        name: "chains",
        count: "SELECT count(*) FROM memories WHERE superseded_by_id IS NOT NULL AND superseded_by_id NOT IN (SELECT id FROM memories)",
        problem: "memories are superseded by missing ones",
        mend: Some(Repair::Rows(
            "UPDATE memories SET superseded_by_id = NULL WHERE superseded_by_id IS NOT NULL AND superseded_by_id NOT IN (SELECT id FROM memories)",
        )),
    },
    Check {
        name: "ledger",
        count: "SELECT count(*) FROM memories WHERE row NOT IN (SELECT memory FROM ledger WHERE memory IS NOT NULL AND event = 'add')",
        problem: "memories have no entry in the ledger",
        mend: None,
    },
    Check {
        name: "tags",
        count: "SELECT count(*) FROM memories m WHERE coalesce(json_array_length(m.tags), 0) < (SELECT count(*) FROM tags t WHERE t.memory = m.row)",
        problem: "memories have tags they do not list",
        mend: Some(Repair::Rows(
            "DELETE FROM tags WHERE NOT EXISTS (SELECT 1 FROM memories m, json_each(m.tags) j WHERE m.row = tags.memory AND j.value = tags.tag)",
        )),
    },
];

/// Adds the ledger entry of a repair.
const RECORD_REPAIR: &str = "INSERT INTO ledger (at, event, node, reason) \
     VALUES (CAST(unixepoch('subsec') * 1000000 AS INTEGER), 'restore', 'operator', 'repaired by the doctor')";

/// Checks one file. A file that cannot be opened is a finding, not an error, so that the others are checked too.
pub(super) fn examine(path: &Path, cipher: &Cipher, analyser: &Analyser, repair: bool) -> Result<Vec<Finding>> {
    let outcome = if repair {
        schema::open(path, schema::SPACE, cipher).and_then(|mut connection| {
            let failed = |error| Error::sqlite(path, error);
            let immediate = rusqlite::TransactionBehavior::Immediate;
            let transaction = connection.transaction_with_behavior(immediate).map_err(failed)?;
            let findings = check(&transaction, path, analyser, true)?;
            if findings.iter().any(|finding| finding.repaired) {
                // This ledger entry makes the caches of every process load the file again.
                transaction.execute(RECORD_REPAIR, []).map_err(failed)?;
            }
            transaction.commit().map_err(failed)?;
            Ok(findings)
        })
    } else {
        schema::open_reader(path, cipher).and_then(|connection| {
            let found = schema::format(&connection, path, schema::SPACE)?;
            // A file of an older format is checked only after it was migrated.
            if found < schema::SPACE.len() as i64 {
                return Ok(Vec::new());
            }
            check(&connection, path, analyser, false)
        })
    };
    match outcome {
        Err(Error::Damaged { path, problem }) => {
            Ok(vec![Finding { file: path.display().to_string(), check: "pages".into(), problem, repaired: false }])
        }
        Err(error @ (Error::Newer { .. } | Error::ReadOnly { .. })) => {
            let file = path.display().to_string();
            Ok(vec![Finding { file, check: "open".into(), problem: error.to_string(), repaired: false }])
        }
        outcome => outcome,
    }
}

/// Runs the checks on one connection.
fn check(connection: &Connection, path: &Path, analyser: &Analyser, repair: bool) -> Result<Vec<Finding>> {
    let failed = |error| Error::sqlite(path, error);
    let finding = |check: &str, problem: String, repaired: bool| Finding {
        file: path.display().to_string(),
        check: check.to_owned(),
        problem,
        repaired,
    };
    let mut findings = Vec::new();
    let mut statement = connection.prepare("PRAGMA integrity_check(20)").map_err(failed)?;
    let lines = statement.query_map([], |row| row.get::<_, String>(0)).map_err(failed)?;
    for line in lines {
        let line = line.map_err(failed)?;
        if line != "ok" {
            findings.push(finding("pages", line, false));
        }
    }
    if !findings.is_empty() {
        // The other checks would read the damaged pages.
        return Ok(findings);
    }
    let asked = doctor::check_space(connection, &path.display().to_string(), CHECKS, analyser, repair);
    findings.extend(asked.map_err(|error| Error::sql(path, error))?);
    // This comes last, because the other checks repair some of the orphans.
    let orphans: i64 =
        connection.query_row("SELECT count(*) FROM pragma_foreign_key_check", [], |row| row.get(0)).map_err(failed)?;
    if orphans > 0 {
        findings.push(finding("links", format!("{orphans} rows refer to missing rows"), false));
    }
    Ok(findings)
}
