//! Runs the checks of the doctor on one space, and repairs what can be repaired.
//!
//! Each check is a statement that counts what is wrong. Each database brings its own; chains are checked alike in all.

use super::{Connection, chain_doctor, params, words};
use crate::text::Analyser;
use crate::{Finding, sql};

/// A question with the number of rows that are wrong, and how to mend them.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) count: &'static str,
    pub(crate) problem: &'static str,
    pub(crate) mend: Option<Repair>,
}

/// How something is mended.
pub(crate) enum Repair {
    /// By a statement.
    Rows(&'static str),
    /// By making the words of these memories anew.
    Words(&'static str),
}

/// Puts the questions to one space, and mends what can be mended if told to.
pub(crate) fn check_space(
    connection: &dyn Connection,
    file: &str,
    checks: &[Check],
    analyser: &Analyser,
    repair: bool,
) -> sql::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for check in checks {
        let wrong: i64 = connection.query_row(check.count, params![], |row| row.get(0))?;
        if wrong == 0 {
            continue;
        }
        match check.mend.as_ref().filter(|_| repair) {
            Some(Repair::Rows(mend)) => drop(connection.execute(mend, params![])?),
            Some(Repair::Words(lost)) => {
                for row in connection.prepare_cached(lost)?.query_map(params![], |row| row.get(0))? {
                    words::write(connection, analyser, row?)?;
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
    // After the checks, which repair pointers to memories that are gone.
    let damage = chain_doctor::examine(connection, repair)?;
    for (count, problem, done) in [
        (damage.forks, "chains have more than one head", "the newest stays head, the others are its history"),
        (damage.circles, "chains close in a circle", "the newest is the head again, the others are its history"),
    ] {
        if count > 0 {
            let problem = if repair { format!("{count} {problem}: {done}") } else { format!("{count} {problem}") };
            findings.push(Finding { file: file.to_owned(), check: "chains".to_owned(), problem, repaired: repair });
        }
    }
    Ok(findings)
}
