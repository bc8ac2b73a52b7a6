//! How is the house tested?
//!
//! Samples with a fixed clock, a plain model of a store, and the contract that every store must
//! keep. Only tests use it; the binary never does.

pub mod contract;
pub mod hand;
pub mod model;
pub mod qdrant;
pub mod samples;
pub mod vectors;
