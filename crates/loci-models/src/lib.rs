//! loci-models
