//! How does what is known leave whole, and come back whole elsewhere?
//!
//! One file of JSON lines: a header, then typed lines in an order that can be taken in as it is read. Two exports of
//! the same store are the same but for the time in the header, and so is an export of what an import has made.
//! What only happened (history), what waits (jobs) and who may ask (keys) are not carried: a backup has them.

mod export;
mod line;
mod parts;
mod records;

pub use export::{Export, ExportRequest};
pub use line::{
    EntityLine, ExportHeader, ExportLine, FORMAT, MemoryLine, MentionsLine, ParsedLine, RecordOwner, SessionLine,
    UnionLine, VectorLine, read_line,
};
pub use records::ImportOptions;
pub(crate) use records::IncomingRecord;

use crate::Error;

/// What became of something that was to come in.
#[derive(Debug)]
pub enum ImportOutcome {
    /// It is here now.
    Imported,
    /// It took the place of what was here.
    Replaced,
    /// It was here already.
    Skipped,
    /// Something else is here by its name, and stays.
    Conflict(String),
    /// It cannot be kept, and why.
    Refused(Error),
}
