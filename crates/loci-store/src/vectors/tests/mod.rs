//! Properties and recall of the scan, compared with plain implementations.

mod laws;
mod recall;
pub(crate) mod seeded;
