//! What does a question want?
//!
//! Pure: a sentence and the clock come in; intent, complexity and times come out.

pub(crate) mod intent;
pub(crate) mod time;
