//! What is done while nobody asks?

pub mod causal;
pub(crate) mod chain;
mod clause;
pub mod fate;
pub mod insight;
pub mod profile;
