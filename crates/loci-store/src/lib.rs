//! loci-store
