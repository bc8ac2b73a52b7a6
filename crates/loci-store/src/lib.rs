//! loci-store

pub mod vectors;
