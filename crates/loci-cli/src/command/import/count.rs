//! What became of what was read?
//!
//! Everything that was read is counted once. Of what cannot be kept the first few are told with their reasons, however
//! many there are.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use loci_engine::importers::{ImportedItem, SourceFormat};
use loci_engine::json_lines::ImportOutcome;
use serde_json::{Value, json};

use crate::output;

/// So many reasons are told.
const TOLD: usize = 20;
/// So many samples are shown.
const SHOWN: usize = 5;
/// So many conversations are told apart when they are counted.
const APART: usize = 100_000;

/// What became of what was read.
#[derive(Debug)]
pub(super) struct Count {
    pub(super) format: SourceFormat,
    pub(super) dry_run: bool,
    pub(super) imported: u64,
    pub(super) replaced: u64,
    pub(super) skipped: u64,
    pub(super) refused: u64,
    pub(super) conflicts: u64,
    kinds: BTreeMap<String, u64>,
    owners: BTreeMap<String, u64>,
    threads: BTreeSet<String>,
    samples: Vec<Value>,
    problems: Vec<String>,
}

impl Count {
    pub(super) fn new(format: SourceFormat, dry_run: bool) -> Self {
        Self {
            format,
            dry_run,
            imported: 0,
            replaced: 0,
            skipped: 0,
            refused: 0,
            conflicts: 0,
            kinds: BTreeMap::new(),
            owners: BTreeMap::new(),
            threads: BTreeSet::new(),
            samples: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Counts what became of something, and what it is if it came in.
    pub(super) fn add(&mut self, place: &str, kind: &str, outcome: &ImportOutcome) {
        match outcome {
            ImportOutcome::Imported => self.imported += 1,
            ImportOutcome::Replaced => self.replaced += 1,
            ImportOutcome::Skipped => self.skipped += 1,
            ImportOutcome::Conflict(reason) => {
                self.conflicts += 1;
                self.tell(place, reason);
            }
            ImportOutcome::Refused(error) => self.refuse(place, &error.to_string()),
        }
        if matches!(outcome, ImportOutcome::Imported | ImportOutcome::Replaced) {
            *self.kinds.entry(kind.to_owned()).or_default() += 1;
        }
    }

    /// Counts a memory that another system knew.
    pub(super) fn add_taken(&mut self, taken: &ImportedItem) {
        let place = if taken.text.is_empty() { String::new() } else { format!("\u{201c}{}\u{201d}", taken.text) };
        self.add(&place, &taken.kind, &taken.outcome);
        if !matches!(taken.outcome, ImportOutcome::Imported | ImportOutcome::Replaced) {
            return;
        }
        *self.owners.entry(taken.whose.clone()).or_default() += 1;
        if self.threads.len() < APART {
            self.threads.extend(taken.thread.clone());
        }
        if self.samples.len() < SHOWN {
            self.samples.push(json!({ "kind": taken.kind, "whose": taken.whose, "content": taken.text }));
        }
    }

    pub(super) fn refuse(&mut self, place: &str, reason: &str) {
        self.refused += 1;
        self.tell(place, reason);
    }

    fn tell(&mut self, place: &str, reason: &str) {
        if self.problems.len() < TOLD {
            let place = if place.is_empty() { String::new() } else { format!("{place}: ") };
            self.problems.push(format!("{place}{reason}"));
        }
    }

    /// All of it; an import that was stopped has refused one more.
    pub(super) fn json(&self, stopped: bool) -> Value {
        let mut told = json!({
            "format": self.format.name(),
            "imported": self.imported,
            "replaced": self.replaced,
            "skipped": self.skipped,
            "refused": self.refused + u64::from(stopped && self.refused == 0),
            "conflicts": self.conflicts,
            "kinds": self.kinds,
        });
        if self.dry_run {
            told["dryRun"] = json!(true);
            told["samples"] = json!(self.samples);
        }
        if !self.owners.is_empty() {
            told["owners"] = json!(self.owners);
            told["conversations"] = json!(self.threads.len());
        }
        if !self.problems.is_empty() {
            told["problems"] = json!(self.problems);
        }
        told
    }

    pub(super) fn print(&self, elapsed: Duration) {
        for problem in &self.problems {
            output::warn(problem, None);
        }
        let more = (self.refused + self.conflicts).saturating_sub(self.problems.len() as u64);
        if more > 0 {
            output::note(&format!("… and {more} more"));
        }
        if self.dry_run {
            self.foretell();
        }
        let would = if self.dry_run { "would be " } else { "" };
        let mut parts = vec![format!("{} {would}imported", self.imported), format!("{} already here", self.skipped)];
        for (count, name) in [(self.replaced, "replaced"), (self.refused, "refused"), (self.conflicts, "in conflict")] {
            if count > 0 {
                parts.push(format!("{count} {name}"));
            }
        }
        output::line(&parts.join(", "));
        let done = self.imported + self.replaced + self.skipped;
        if done >= 1_000 {
            let (seconds, rate) = (elapsed.as_secs_f64(), done as f64 / elapsed.as_secs_f64().max(0.001));
            output::note(&format!("in {seconds:.1} s, {rate:.0} a second"));
        }
    }

    fn foretell(&self) {
        for (names, what) in [(&self.kinds, "kind"), (&self.owners, "owner")] {
            for (name, count) in names {
                output::line(&format!("  {what} {name}: {count}"));
            }
        }
        if !self.threads.is_empty() {
            output::line(&format!("  conversations: {}", self.threads.len()));
        }
        for sample in &self.samples {
            output::line(&format!("  for example: {}", sample["content"].as_str().unwrap_or_default()));
        }
    }
}
