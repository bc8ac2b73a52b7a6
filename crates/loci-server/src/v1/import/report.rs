//! What became of what was imported.

use loci_engine::importers::ImportedItem;
use loci_engine::json_lines::ImportOutcome;
use serde::Serialize;
use utoipa::ToSchema;

use super::ImportFormat;

/// Number of problems that are reported.
const REPORTED: usize = 20;

/// What became of an import. Everything that was read is counted once.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ImportReport {
    /// The format in which the body was read.
    format: ImportFormat,
    /// Whether nothing was written.
    dry_run: bool,
    /// Number of records that are new here.
    pub(super) imported: u64,
    /// Number of records that replaced another one.
    pub(super) replaced: u64,
    /// Number of records that were known.
    pub(super) skipped: u64,
    /// Number of records that cannot be read or kept.
    pub(super) refused: u64,
    /// Number of records by whose id something else is here, which stays.
    pub(super) conflicts: u64,
    /// The first 20 problems.
    problems: Vec<ImportProblem>,
}

/// Why something was not imported.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ImportProblem {
    /// The line of the body, from 1; null if the body has no lines or the entry is known by its text only.
    #[schema(required)]
    line: Option<u64>,
    /// Where it is: `line 3`, `entry 7`, or the beginning of its text.
    place: String,
    /// Why.
    message: String,
}

impl ImportReport {
    pub(super) fn new(format: ImportFormat, dry_run: bool) -> Self {
        Self { format, dry_run, imported: 0, replaced: 0, skipped: 0, refused: 0, conflicts: 0, problems: Vec::new() }
    }

    /// Counts what became of a record.
    pub(super) fn add(&mut self, place: &str, outcome: &ImportOutcome) {
        match outcome {
            ImportOutcome::Imported => self.imported += 1,
            ImportOutcome::Replaced => self.replaced += 1,
            ImportOutcome::Skipped => self.skipped += 1,
            ImportOutcome::Conflict(reason) => {
                self.conflicts += 1;
                self.report(place, reason);
            }
            ImportOutcome::Refused(error) => self.refuse(place, &error.to_string()),
        }
    }

    /// Counts a memory of another system.
    pub(super) fn add_taken(&mut self, taken: &ImportedItem) {
        self.add(&taken.text, &taken.outcome);
    }

    /// Counts something that cannot be read or kept.
    pub(super) fn refuse(&mut self, place: &str, reason: &str) {
        self.refused += 1;
        self.report(place, reason);
    }

    fn report(&mut self, place: &str, reason: &str) {
        if self.problems.len() < REPORTED {
            let line = place.strip_prefix("line ").and_then(|number| number.parse().ok());
            self.problems.push(ImportProblem { line, place: place.to_owned(), message: reason.to_owned() });
        }
    }
}
