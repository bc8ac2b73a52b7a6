//! Lines of Loci, one by one.

use loci_engine::Error as EngineError;
use loci_engine::json_lines::{ExportLine, ImportOutcome};
use loci_types::Error;

use super::body::Incoming;
use super::{Import, OPERATION};
use crate::failure::Failure;

/// The longest line, in bytes: far above what any record within its limits can have.
const LONGEST: usize = 16 << 20;

/// Reads all lines, and keeps them in batches. The first line that cannot be read ends it.
pub(super) async fn read(import: &mut Import, mut incoming: Incoming) -> Result<(), Failure> {
    let mut waiting: Vec<u8> = Vec::new();
    let mut reader = Lines { batch: Vec::new(), number: 0 };
    loop {
        let piece = match incoming.next().await {
            Ok(piece) => piece,
            Err(failure) => {
                reader.keep(import).await?;
                return Err(import.stopped(failure));
            }
        };
        let Some(piece) = piece else { break };
        let mut rest = &piece[..];
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            waiting.extend_from_slice(&rest[..end]);
            rest = &rest[end + 1..];
            reader.line(import, &std::mem::take(&mut waiting)).await?;
        }
        waiting.extend_from_slice(rest);
        if waiting.len() > LONGEST {
            reader.number += 1;
            let error = Error::invalid("body", format!("the line has more than {LONGEST} bytes")).into();
            return Err(reader.stop(import, &error).await);
        }
    }
    reader.line(import, &waiting).await?;
    reader.keep(import).await
}

/// Lines that wait to be kept together.
struct Lines {
    batch: Vec<(u64, ExportLine)>,
    /// The number of the line that was read last, from 1.
    number: u64,
}

impl Lines {
    async fn line(&mut self, import: &mut Import, bytes: &[u8]) -> Result<(), Failure> {
        self.number += 1;
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text,
            Err(_) => {
                return Err(self.stop(import, &Error::invalid("body", "the line is not valid UTF-8").into()).await);
            }
        };
        let text = if self.number == 1 { text.trim_start_matches('\u{feff}') } else { text };
        if text.trim().is_empty() {
            return Ok(());
        }
        match import.app.engine.read_import(&import.writer, &import.owner, text).await {
            Ok(Some(line)) => self.batch.push((self.number, line)),
            Ok(None) => {}
            Err(error) => return Err(self.stop(import, &error).await),
        }
        if self.batch.len() >= import.at_once() { self.keep(import).await } else { Ok(()) }
    }

    async fn keep(&mut self, import: &mut Import) -> Result<(), Failure> {
        if self.batch.is_empty() {
            return Ok(());
        }
        let (numbers, lines): (Vec<u64>, Vec<ExportLine>) = std::mem::take(&mut self.batch).into_iter().unzip();
        let types: Vec<&str> = lines.iter().map(ExportLine::name).collect();
        let engine = &import.app.engine;
        let outcomes =
            import.app.run_operation(OPERATION, engine.import_lines(&import.writer, lines, &mut import.how)).await?;
        for ((number, name), outcome) in numbers.into_iter().zip(types).zip(&outcomes) {
            let place = format!("line {number}");
            import.report.add(&place, name, outcome);
            if let ImportOutcome::Refused(error) = outcome
                && let Some(failure) = import.refusal(&place, error)
            {
                return Err(failure);
            }
        }
        Ok(())
    }

    /// Keeps what was read, and says which line ended the import.
    async fn stop(&mut self, import: &mut Import, error: &EngineError) -> Failure {
        if let Err(failure) = self.keep(import).await {
            return failure;
        }
        let mut problem = error.problem(OPERATION);
        problem.message = format!("line {}: {}", self.number, problem.message);
        import.stopped(Failure::of(problem).detail("line", self.number.into()))
    }
}
