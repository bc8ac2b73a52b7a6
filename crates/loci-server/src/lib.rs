//! loci-server
