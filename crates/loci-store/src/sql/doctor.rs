//! Runs the integrity checks of one space and repairs what can be repaired.
//!
//! A check is a statement that counts the damaged rows. Each database has its own checks; chains are checked in common.

use super::{Connection, chain_doctor, params, words};
use crate::text::Analyser;
use crate::{Finding, sql};

/// A statement that counts damaged rows, and how they are repaired.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) count: &'static str,
    pub(crate) problem: &'static str,
    pub(crate) mend: Option<Repair>,
}

/// How damage is repaired.
pub(crate) enum Repair {
    /// Runs a statement.
    Rows(&'static str),
    /// Indexes the text of the memories that this query returns again.
    Words(&'static str),
}

/// Runs the checks on one space, and repairs what can be repaired if `repair` is set.
pub(crate) fn check_space(
    connection: &dyn Connection,
    file: &str,
    checks: &[Check],
    analyser: &Analyser,
    repair: bool,
) -> sql::SqlResult<Vec<Finding>> {
    let mut findings = Vec::new();
    for check in checks {
        let wrong: i64 = connection.query_row(check.count, params![], |row| row.get(0))?;
        if wrong == 0 {
            continue;
        }
        match check.mend.as_ref().filter(|_| repair) {
            Some(Repair::Rows(mend)) => drop(connection.execute(mend, params![])?),
            Some(Repair::Words(lost)) => {
                for row in connection.query_map(lost, params![], |row| row.get(0))? {
                    words::write(connection, analyser, row)?;
                }
            }
            None => {}
        }
        findings.push(Finding {
            file: file.to_owned(),
            check: check.name.to_owned(),
            problem: format!("{wrong} {}", check.problem),
            repaired: repair && check.mend.is_some(),
        });
    }
    // Chains come last, because the checks repair pointers to missing memories.
    let damage = chain_doctor::examine(connection, repair)?;
    for (count, problem, done) in [
        (damage.forks, "chains have more than one head", "the newest stays head, the others are its history"),
        (damage.circles, "chains contain a cycle", "the newest is the head again, the others are its history"),
    ] {
        if count > 0 {
            let problem = if repair { format!("{count} {problem}: {done}") } else { format!("{count} {problem}") };
            findings.push(Finding { file: file.to_owned(), check: "chains".to_owned(), problem, repaired: repair });
        }
    }
    Ok(findings)
}
