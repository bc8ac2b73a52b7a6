//! Export and import of all data that a caller sees, as one file of JSON lines.
//!
//! A header is followed by typed lines, in an order that can be imported while it is read. **Invariant:** two exports
//! of the same store are equal except for the time in the header, and so is an export of an import. History is exported on
//! request, and an import ignores it; jobs and keys are not: a backup contains them.

mod export;
mod import;
mod line;
mod records;

pub use export::{Export, ExportRequest};
pub use line::{
    EntityLine, ExportHeader, ExportLine, FORMAT, MemoryLine, MentionsLine, ParsedLine, RecordOwner, SessionLine,
    UnionLine, VectorLine, read_line,
};
pub use records::ImportOptions;
pub(crate) use records::IncomingRecord;

use crate::Error;

/// The outcome of importing one line or record.
#[derive(Debug)]
pub enum ImportOutcome {
    /// It was added.
    Imported,
    /// It replaced an existing one.
    Replaced,
    /// It existed already.
    Skipped,
    /// A different one with the same id exists and was kept.
    Conflict(String),
    /// It was refused, with the reason.
    Refused(Error),
}
