//! Which vectors lie nearest, without an index?
//!
//! Each scope holds its vectors as contiguous codes, and a question is answered by scanning them. A small scope scans
//! int8 codes; a large one scans one bit per dimension first and looks at the codes of the best only. There is no
//! graph to build, so a filter costs nothing in recall, an insert is an append and a delete is a tombstone.
//!
//! Pure: no I/O, no clock, no chance. The true `f32` vectors stay in the database. What comes back from here is an
//! estimate: ask for three or four times what is wanted and let [`Query::exact`] have the last word.
//!
//! **Invariant.** A vector without direction (zero, not finite, or of another length) is nobody's neighbour: its key
//! is held and counted, and it is never returned.

mod arrays;
mod block;
mod code;
mod kernel;
mod keys;
mod nearest;
mod query;
#[cfg(test)]
pub(crate) mod tests;

pub use arrays::Arrays;
pub(crate) use keys::Keys;
pub use nearest::{Candidate, Candidates, nearest_of};
pub use query::Query;
