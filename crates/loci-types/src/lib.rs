//! What is a memory?
//!
//! The words of Loci: plain values that every room shares. Nothing here waits, reads a clock,
//! opens a file or knows another room.

mod error;

pub use error::{Error, ErrorKind, ErrorRow, Problem, TABLE as ERROR_TABLE};
