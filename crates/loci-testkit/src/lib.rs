//! How is the house tested?
//!
//! Samples with a fixed clock, a plain model of a store, the contract that every store must keep,
//! and access to real servers: where they are, and how to make them slow or take them away. Only tests use it; the binary never does.

pub mod contract;
pub mod driver;
pub mod model;
pub mod proxy;
pub mod qdrant;
pub mod samples;
pub mod servers;
pub mod vectors;
