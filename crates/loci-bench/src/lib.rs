//! Measurements of Loci: the quality of recall, learning and reconciling ([`eval`]), and the cost of operations ([`mod@bench`]).
//!
//! They run through the same settings and wiring as the binary, as `loci dev eval` and `loci dev bench`.

pub mod bench;
pub mod eval;
