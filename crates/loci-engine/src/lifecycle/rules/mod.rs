//! What is done while nobody asks?

pub(crate) mod chain;
pub mod fate;
pub mod profile;
