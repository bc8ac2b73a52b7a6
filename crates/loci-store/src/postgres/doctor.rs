//! Is everything as it should be?
//!
//! Keys and references are the server's to keep; what is asked here is what only we know to be wrong.

use loci_types::Visible;

use super::PostgresStore;
use crate::sql::{Floor, catalogue, params, words};
use crate::{Finding, Result};

/// A question with the number of rows that are wrong, and how to mend them.
struct Check {
    name: &'static str,
    count: &'static str,
    problem: &'static str,
    mend: Option<&'static str>,
}

const CHECKS: &[Check] = &[
    Check {
        name: "lexicon",
        count: "SELECT count(*) FROM memories m WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.memory = m.row)",
        problem: "memories cannot be found by their words",
        mend: None,
    },
    Check {
        name: "lexicon",
        count: "SELECT count(*) FROM words w WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.memory = w.memory)",
        problem: "words of memories that are gone",
        mend: Some("DELETE FROM words w WHERE NOT EXISTS (SELECT 1 FROM documents d WHERE d.memory = w.memory)"),
    },
    Check {
        name: "vectors",
        count: "SELECT count(*) FROM vectors v JOIN models o ON o.model = v.model WHERE vector_dims(v.vector) != o.dimensions",
        problem: "vectors have the wrong size",
        mend: Some(
            "DELETE FROM vectors v USING models o WHERE o.model = v.model AND vector_dims(v.vector) != o.dimensions",
        ),
    },
    Check {
        name: "chains",
        count: "SELECT count(*) FROM memories m WHERE m.superseded_by_id IS NOT NULL \
                AND NOT EXISTS (SELECT 1 FROM memories n WHERE n.id = m.superseded_by_id)",
        problem: "memories are replaced by ones that are gone",
        mend: Some(
            "UPDATE memories m SET superseded_by_id = NULL WHERE m.superseded_by_id IS NOT NULL \
             AND NOT EXISTS (SELECT 1 FROM memories n WHERE n.id = m.superseded_by_id)",
        ),
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
        mend: Some(
            "DELETE FROM tags t WHERE NOT EXISTS (SELECT 1 FROM memories m, json_array_elements_text(m.tags) j \
             WHERE m.row = t.memory AND j.value = t.tag)",
        ),
    },
];

/// Looks through every visible space.
pub(super) fn examine(store: &PostgresStore, visible: &Visible, repair: bool) -> Result<Vec<Finding>> {
    let tenant = visible.tenant();
    let spaces = match visible.spaces() {
        Some(spaces) => spaces.into_iter().collect(),
        None => store.ask(|connection| catalogue::spaces(connection, tenant))?,
    };
    let mut findings = Vec::new();
    for space in spaces {
        let open = store.open(tenant, &space);
        let analyser = store.analyser().clone();
        let file = format!("postgres {}/{}", tenant.name(), space.name());
        let found = store.looking(&open, repair, |connection| {
            let mut found = Vec::new();
            for check in CHECKS {
                let wrong: i64 = connection.query_row(check.count, [], |row| row.get(0))?;
                if wrong == 0 {
                    continue;
                }
                let mut repaired = false;
                if repair && let Some(mend) = check.mend {
                    connection.execute(mend, [])?;
                    repaired = true;
                } else if repair && check.name == "lexicon" {
                    let lost = "SELECT m.row FROM memories m WHERE NOT EXISTS \
                                (SELECT 1 FROM documents d WHERE d.memory = m.row)";
                    for row in connection.prepare_cached(lost)?.query_map(params![], |row| row.get(0))? {
                        words::write(connection, &analyser, row?)?;
                    }
                    repaired = true;
                }
                let problem = format!("{wrong} {}", check.problem);
                found.push(Finding { file: file.clone(), check: check.name.into(), problem, repaired });
            }
            Ok(found)
        })?;
        findings.extend(found.unwrap_or_default());
    }
    Ok(findings)
}
