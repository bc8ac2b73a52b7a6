//! Laws and recall of the scan, against plain models of both.

mod laws;
mod recall;
pub(crate) mod seeded;
