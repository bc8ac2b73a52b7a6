//! Tools for tests: samples with a fixed clock, certificates, an in-memory model of a store, the contract that every store must pass,
//! and access to real servers, with a proxy that delays and cuts connections. The binary never depends on this crate.

pub mod certificates;
pub mod contract;
pub mod driver;
pub mod model;
pub mod model_service;
pub mod proxy;
pub mod qdrant;
pub mod samples;
pub mod servers;
pub mod vectors;
