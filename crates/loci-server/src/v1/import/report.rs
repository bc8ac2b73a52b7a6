//! What became of what was imported.

use std::collections::{BTreeMap, BTreeSet};

use loci_engine::importers::ImportedItem;
use loci_engine::json_lines::ImportOutcome;
use serde::Serialize;
use utoipa::ToSchema;

use super::ImportFormat;

/// Number of problems that are reported.
const MAX_PROBLEMS: usize = 20;
/// Number of samples of a dry run.
const MAX_SAMPLES: usize = 5;
/// Number of conversations that are counted. Beyond it the count stays.
const MAX_CONVERSATIONS: usize = 100_000;

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
    /// Number of records that differ from a stored record with the same id. The stored one stays.
    pub(super) conflicts: u64,
    /// Number of imported and replaced records by kind of memory or type of line.
    kinds: BTreeMap<String, u64>,
    /// Number of imported memories of another system by owner.
    owners: BTreeMap<String, u64>,
    /// Number of conversations that the imported memories of another system belong to.
    conversations: u64,
    /// The first five records of a dry run.
    samples: Vec<ImportSample>,
    /// The first 20 problems.
    problems: Vec<ImportProblem>,
    #[serde(skip)]
    threads: BTreeSet<String>,
}

/// A record that would be imported.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ImportSample {
    /// The kind of the memory.
    kind: String,
    /// The owner.
    owner: String,
    /// The beginning of the text.
    content: String,
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
            conversations: 0,
            samples: Vec::new(),
            problems: Vec::new(),
            threads: BTreeSet::new(),
        }
    }

    /// Counts what became of a record.
    pub(super) fn add(&mut self, place: &str, kind: &str, outcome: &ImportOutcome) {
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
        if matches!(outcome, ImportOutcome::Imported | ImportOutcome::Replaced) {
            *self.kinds.entry(kind.to_owned()).or_default() += 1;
        }
    }

    /// Counts imported records of a kind.
    pub(super) fn add_many(&mut self, kind: &str, count: u64) {
        self.imported += count;
        if count > 0 {
            *self.kinds.entry(kind.to_owned()).or_default() += count;
        }
    }

    /// Counts a memory of another system.
    pub(super) fn add_item(&mut self, item: &ImportedItem) {
        self.add(&item.text, &item.kind, &item.outcome);
        if !matches!(item.outcome, ImportOutcome::Imported | ImportOutcome::Replaced) {
            return;
        }
        *self.owners.entry(item.owner.clone()).or_default() += 1;
        if self.threads.len() < MAX_CONVERSATIONS {
            self.threads.extend(item.thread.clone());
            self.conversations = self.threads.len() as u64;
        }
        if self.dry_run && self.samples.len() < MAX_SAMPLES {
            self.samples.push(ImportSample {
                kind: item.kind.clone(),
                owner: item.owner.clone(),
                content: item.text.clone(),
            });
        }
    }

    /// Counts something that cannot be read or kept.
    pub(super) fn refuse(&mut self, place: &str, reason: &str) {
        self.refused += 1;
        self.report(place, reason);
    }

    fn report(&mut self, place: &str, reason: &str) {
        if self.problems.len() < MAX_PROBLEMS {
            let line = place.strip_prefix("line ").and_then(|number| number.parse().ok());
            self.problems.push(ImportProblem { line, place: place.to_owned(), message: reason.to_owned() });
        }
    }
}
