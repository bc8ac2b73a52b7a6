//! How is a space asked whether all is well?
//!
//! Each check is a question that has no rows as its good answer. What can be made again from the records is
//! mended on request. Which questions there are, each database knows for itself.

use super::{Connection, params, words};
use crate::text::Analyser;
use crate::{Finding, sql};

/// A question with the number of rows that are wrong, and how to mend them.
pub(crate) struct Check {
    pub(crate) name: &'static str,
    pub(crate) count: &'static str,
    pub(crate) problem: &'static str,
    pub(crate) mend: Option<Mend>,
}

/// How something is mended.
pub(crate) enum Mend {
    /// By a statement.
    Rows(&'static str),
    /// By making the words of these memories anew.
    Words(&'static str),
}

/// Puts the questions to one space, and mends what can be mended if told to.
pub(crate) fn ask(
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
            Some(Mend::Rows(mend)) => drop(connection.execute(mend, params![])?),
            Some(Mend::Words(lost)) => {
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
    Ok(findings)
}
