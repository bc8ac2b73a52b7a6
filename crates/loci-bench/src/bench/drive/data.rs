//! The texts and vectors that the harness provides.
//!
//! The harness writes texts as JSON lines and vectors as bare little-endian numbers, row by row. They are read as
//! they are needed and never kept whole, so that they do not count as memory of the store.

use std::fs::File;
use std::io::{BufRead, BufReader, Lines, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::bench::data::DIMENSIONS;

const WIDTH: u64 = (DIMENSIONS * size_of::<f32>()) as u64;

/// The folder of the harness.
pub(super) struct Data {
    folder: PathBuf,
}

/// A memory or a question.
#[derive(Debug, Deserialize)]
pub(super) struct Row {
    pub(super) number: u64,
    pub(super) user: String,
    pub(super) text: String,
    #[serde(skip)]
    pub(super) vector: Vec<f32>,
}

/// Rows one after another.
pub(super) struct Rows {
    names: [&'static str; 2],
    lines: Lines<BufReader<File>>,
    vectors: BufReader<File>,
    left: u64,
}

impl Data {
    pub(super) fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// These memories, in order.
    pub(super) fn memories(&self, span: Range<u64>) -> Result<Rows> {
        Rows::open(&self.folder, ["memories.jsonl", "vectors.f32"], span)
    }

    /// These questions, in order.
    pub(super) fn queries(&self, span: Range<u64>) -> Result<Rows> {
        Rows::open(&self.folder, ["queries.jsonl", "queries.f32"], span)
    }

    /// All questions there are.
    pub(super) fn all_queries(&self) -> Result<Vec<Row>> {
        let bytes = std::fs::metadata(self.folder.join("queries.f32")).context("queries.f32 cannot be read")?.len();
        self.queries(0..bytes / WIDTH)?.collect()
    }
}

impl Rows {
    fn open(folder: &Path, names: [&'static str; 2], span: Range<u64>) -> Result<Self> {
        let file = |name: &str| File::open(folder.join(name)).with_context(|| format!("{name} cannot be read"));
        let mut lines = BufReader::new(file(names[0])?).lines();
        for _ in 0..span.start {
            lines.next().with_context(|| format!("{} ends before row {}", names[0], span.start))??;
        }
        let mut vectors = BufReader::new(file(names[1])?);
        vectors.seek(SeekFrom::Start(span.start * WIDTH))?;
        Ok(Self { names, lines, vectors, left: span.end.saturating_sub(span.start) })
    }

    fn read(&mut self) -> Result<Row> {
        let line = self.lines.next().with_context(|| format!("{} has too few rows", self.names[0]))??;
        let mut row: Row = serde_json::from_str(&line)?;
        let mut bytes = [0; WIDTH as usize];
        self.vectors.read_exact(&mut bytes).with_context(|| format!("{} has too few rows", self.names[1]))?;
        row.vector = bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
        Ok(row)
    }
}

impl Iterator for Rows {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        Some(self.read())
    }
}
