//! Analysis of a query.
//!
//! Pure: a sentence and the time go in; intent, complexity and the times it names come out.

pub mod complexity;
pub(crate) mod exemplars;
pub mod intent;
pub mod time;

use jiff::Zoned;

use self::complexity::{Complexity, complexity_of};
use self::intent::{Intent, QuestionFlags, asks, keyword_intent};
use self::time::{TimePhrase, time_phrases};

/// The analysis of a question.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The question.
    pub text: String,
    /// The kind of answer that it asks for.
    pub intent: Intent,
    /// The number of memories that it needs.
    pub complexity: Complexity,
    /// Further properties.
    pub asks: QuestionFlags,
    /// The times it names.
    pub times: Vec<TimePhrase>,
}

impl Plan {
    /// The plan for a question, by its words alone.
    pub fn of(text: &str, now: &Zoned) -> Self {
        let (asks, times) = (asks(text), time_phrases(text, now));
        Self {
            text: text.to_owned(),
            intent: keyword_intent(text),
            complexity: complexity_of(text, &asks, times.len()),
            asks,
            times,
        }
    }
}
