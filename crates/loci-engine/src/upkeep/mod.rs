//! What is done while nobody asks?

pub mod causal;
mod clause;
pub mod insight;
pub mod profile;
