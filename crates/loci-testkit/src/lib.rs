//! loci-testkit
