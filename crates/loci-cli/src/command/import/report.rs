//! What an import says when it is done: the reports of its files, added up.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::output;

/// Number of problems and of samples that are kept of several files.
const MAX_PROBLEMS: usize = 20;
const MAX_SAMPLES: usize = 5;

/// `ImportReport` of the HTTP API.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ImportReport {
    pub(super) format: String,
    dry_run: bool,
    pub(super) imported: u64,
    replaced: u64,
    skipped: u64,
    refused: u64,
    conflicts: u64,
    kinds: BTreeMap<String, u64>,
    owners: BTreeMap<String, u64>,
    conversations: u64,
    samples: Vec<Value>,
    problems: Vec<ImportProblem>,
}

/// Why something was not imported.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ImportProblem {
    line: Option<u64>,
    place: String,
    message: String,
}

impl ImportReport {
    /// Adds the report of another file.
    pub(super) fn add(&mut self, other: Self) {
        self.format = other.format;
        self.dry_run |= other.dry_run;
        self.imported += other.imported;
        self.replaced += other.replaced;
        self.skipped += other.skipped;
        self.refused += other.refused;
        self.conflicts += other.conflicts;
        self.conversations += other.conversations;
        for (sum, counts) in [(&mut self.kinds, other.kinds), (&mut self.owners, other.owners)] {
            for (name, count) in counts {
                *sum.entry(name).or_default() += count;
            }
        }
        self.samples.extend(other.samples);
        self.samples.truncate(MAX_SAMPLES);
        self.problems.extend(other.problems);
        self.problems.truncate(MAX_PROBLEMS);
    }

    /// Counts a file that cannot be read.
    pub(super) fn refuse(&mut self, place: &str, message: String) {
        self.refused += 1;
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(ImportProblem { line: None, place: place.to_owned(), message });
        }
    }

    pub(super) fn print(&self, elapsed: Duration) {
        for problem in &self.problems {
            let place = if problem.place.is_empty() { String::new() } else { format!("{}: ", problem.place) };
            output::warn(&format!("{place}{}", problem.message), None);
        }
        let more = (self.refused + self.conflicts).saturating_sub(self.problems.len() as u64);
        if more > 0 {
            output::note(&format!("… and {more} more"));
        }
        if self.dry_run {
            self.print_preview();
        }
        let would = if self.dry_run { "would be " } else { "" };
        let mut parts = vec![format!("{} {would}imported", self.imported), format!("{} already known", self.skipped)];
        for (count, name) in [(self.replaced, "replaced"), (self.refused, "refused"), (self.conflicts, "in conflict")] {
            if count > 0 {
                parts.push(format!("{count} {name}"));
            }
        }
        output::line(&parts.join(", "));
        let done = self.imported + self.replaced + self.skipped;
        if done >= 1_000 {
            let (seconds, rate) = (elapsed.as_secs_f64(), done as f64 / elapsed.as_secs_f64().max(0.001));
            output::note(&format!("in {seconds:.1} s, {rate:.0} per second"));
        }
    }

    fn print_preview(&self) {
        for (names, what) in [(&self.kinds, "kind"), (&self.owners, "owner")] {
            for (name, count) in names {
                output::line(&format!("  {what} {name}: {count}"));
            }
        }
        if self.conversations > 0 {
            output::line(&format!("  conversations: {}", self.conversations));
        }
        for sample in &self.samples {
            output::line(&format!("  for example: {}", sample["content"].as_str().unwrap_or_default()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_of_several_files_add_up() {
        let read = |text: &str| serde_json::from_str::<ImportReport>(text).unwrap();
        let mut sum = read(r#"{"format":"markdown","imported":2,"kinds":{"fact":2},"problems":[]}"#);
        sum.add(read(
            r#"{"format":"markdown","imported":1,"refused":1,"kinds":{"fact":1},
                "problems":[{"line":3,"place":"line 3","message":"no"}]}"#,
        ));
        sum.refuse("a.md", "it cannot be read".to_owned());
        assert_eq!((sum.imported, sum.refused, sum.kinds["fact"], sum.problems.len()), (3, 2, 3, 2));
    }
}
