//! What time does to memories: ageing, maintenance and summaries.

pub mod curve;
pub(crate) mod fading;
pub(crate) mod maintenance;
pub mod rules;
pub mod summarize;
pub(crate) mod summary;
