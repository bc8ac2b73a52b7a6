//! loci-engine
