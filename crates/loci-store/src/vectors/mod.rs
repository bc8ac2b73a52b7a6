//! Nearest-neighbour search by scanning compressed vectors.
//!
//! Each scope holds its vectors as contiguous codes, and a query scans them. A small scope scans int8 codes; a large
//! one scans one bit per dimension first and compares the codes of the best only. No graph is built, so a
//! filter costs no recall, an insert is an append and a removal a tombstone.
//!
//! Pure: no I/O, no clock, no randomness. The exact `f32` vectors stay in the database. Results are estimates: ask for
//! three or four times the wanted number and rank them by [`Query::exact`].
//!
//! **Invariant.** A vector without direction (zero, not finite, or of another length) is never returned, although its
//! key is stored and counted.

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
