//! Filters the lines of an official memory server's file.
//!
//! The file is imported as a graph, all or nothing (`graph_import`); unreadable lines are removed here first, so that
//! they do not stop the others.

use super::UnreadableItem;
use crate::Engine;

/// The lines of a file, sifted.
#[derive(Debug, Default)]
pub struct GraphFileLines {
    /// Those that can be kept, one after the other.
    pub jsonl: String,
    /// How many there are.
    pub lines: u64,
    /// Those that cannot.
    pub refused: Vec<UnreadableItem>,
}

impl Engine {
    /// Sifts the file of an official memory server.
    pub fn filter_graph_lines(&self, jsonl: &str) -> GraphFileLines {
        let mut sifted = GraphFileLines::default();
        for (place, line) in jsonl.trim_start_matches('\u{feff}').lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            match self.graph_lines(line) {
                Ok(_) => {
                    sifted.jsonl.push_str(line);
                    sifted.jsonl.push('\n');
                    sifted.lines += 1;
                }
                Err(error) => {
                    let reason = error.to_string();
                    let reason = reason.strip_prefix("line 1: ").unwrap_or(&reason).to_owned();
                    sifted.refused.push(UnreadableItem { place: format!("line {}", place + 1), reason });
                }
            }
        }
        sifted
    }
}
