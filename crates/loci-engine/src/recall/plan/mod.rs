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

/// What a question wants.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The question.
    pub text: String,
    /// What it is after.
    pub intent: Intent,
    /// Whether it has several parts.
    pub complexity: Complexity,
    /// What it asks for beside that.
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
