//! How do the lines of Loci come in?
//!
//! By the batch, in their order. A line that cannot be read stops the import; what hangs on something that is not here
//! is told and passed over.

use anyhow::Result;
use loci_engine::Caller;
use loci_engine::json_lines::{ExportLine, ImportOutcome};

use super::{Import, Input};
use crate::command::stream::next_line;
use crate::fault;

/// The longest line: far above what any record within its limits can have.
const LONGEST: usize = 16 << 20;

pub(super) async fn read(import: &mut Import<'_>, mut input: Input) -> Result<()> {
    let most = import.at_once();
    let mut batch: Vec<(u64, ExportLine)> = Vec::with_capacity(most);
    let mut number = 0;
    loop {
        number += 1;
        let line = match next_line(&mut input, LONGEST) {
            Ok(Some(line)) => line,
            Ok(None) => break,
            Err(error) => {
                keep(import, &mut batch).await?;
                return Err(error.context(fault::Line(number)));
            }
        };
        let line = if number == 1 { line.trim_start_matches('\u{feff}') } else { &line };
        if line.trim().is_empty() {
            continue;
        }
        match import.engine.read_import(&Caller::operator(), &import.whose, line).await {
            Ok(Some(line)) => batch.push((number, line)),
            Ok(None) => {}
            Err(error) => {
                keep(import, &mut batch).await?;
                return Err(anyhow::Error::from(error).context(fault::Line(number)));
            }
        }
        if batch.len() == most {
            keep(import, &mut batch).await?;
        }
    }
    keep(import, &mut batch).await
}

async fn keep(import: &mut Import<'_>, batch: &mut Vec<(u64, ExportLine)>) -> Result<()> {
    let (numbers, lines): (Vec<u64>, Vec<ExportLine>) = std::mem::take(batch).into_iter().unzip();
    let names: Vec<&'static str> = lines.iter().map(ExportLine::name).collect();
    let outcomes = import.engine.import_lines(&Caller::operator(), lines, &mut import.how).await?;
    for ((number, name), outcome) in numbers.into_iter().zip(names).zip(outcomes) {
        import.count.add(&format!("line {number}"), name, &outcome);
        if import.strict
            && let ImportOutcome::Refused(error) = outcome
        {
            return Err(anyhow::Error::from(error).context(fault::Line(number)));
        }
    }
    import.progress.set_message(format!("read, {} imported", import.count.imported));
    Ok(())
}
