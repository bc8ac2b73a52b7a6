//! What speaks for a memory, and how loudly?
//!
//! A clue is one observation about a memory and a question: how it compares with the others that are
//! weighed, or what can be seen of it by itself. Evidence is the weighted sum of all clues, and
//! nothing else.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! clues {
    ($($(#[doc = $doc:literal])* $variant:ident = $word:literal, $with:literal, $without:literal);+ $(;)?) => {
        /// One observation about a memory and a question.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Clue { $($(#[doc = $doc])* $variant),+ }

        impl Clue {
            /// All of them.
            pub const ALL: &'static [Clue] = &[$(Clue::$variant),+];

            /// The word, as it is set and printed.
            pub fn name(self) -> &'static str {
                match self { $(Clue::$variant => $word),+ }
            }

            /// What it says, in a sentence.
            pub fn about(self) -> &'static str {
                match self { $(Clue::$variant => concat!($($doc),*).trim_ascii()),+ }
            }

            /// Its weight where the states of tokens can be compared.
            pub fn weight_with_tokens(self) -> f64 {
                match self { $(Clue::$variant => $with),+ }
            }

            /// Its weight where words, and perhaps sentence vectors, are all there is.
            pub fn weight_without_tokens(self) -> f64 {
                match self { $(Clue::$variant => $without),+ }
            }
        }
    };
}

clues! {
    /// The words of the question, by BM25, in the turn and the question it answers; a share of the best.
    Words = "words", 1.0, 1.5;
    /// The words in the turn alone.
    Own = "own", 0.0, -2.0;
    /// The same as `words`, with long texts counting less.
    Brief = "brief", 0.0, 1.5;
    /// The words in the turn and its neighbours.
    Near = "near", 0.0, 0.5;
    /// The words in the turn and three on either side.
    Wide = "wide", 0.0, 2.0;
    /// The words in the whole session.
    Session = "session", 0.0, 1.2;
    /// Parts of words: other forms and small slips.
    Spelling = "spelling", 0.0, 2.0;
    /// The share of the question's words that the turn holds.
    Coverage = "coverage", 0.0, 0.0;
    /// Pairs of words that stand together in both, up to three.
    Pairs = "pairs", 0.5, 0.7;
    /// The cosine of the sentence vectors.
    Meaning = "meaning", 0.8, 1.5;
    /// The cosine to the turn together with the one before it.
    Context = "context", 0.3, 1.0;
    /// The cosines of the turn and half of its neighbours'.
    Around = "around", 0.5, 1.0;
    /// Each token of the question, found anywhere in the turn.
    Tokens = "tokens", 0.0, 0.0;
    /// The same, in the turn or the question it answers.
    Answer = "answer", 2.0, 0.0;
    /// The same, in the turn or beside it.
    TokensNear = "tokens_near", 1.5, 0.0;
    /// The same, up to three turns away.
    TokensWide = "tokens_wide", 1.5, 0.0;
    /// The same, anywhere in the session.
    TokensSession = "tokens_session", 1.0, 0.0;
    /// The question names one of the speakers: 1 for theirs, -1 for the others'.
    Speaker = "speaker", 0.4, 0.5;
    /// 1 for what the user said, -1 for what the assistant did.
    Role = "role", 1.5, 1.5;
    /// The question names a time, and it happened then.
    Date = "date", 2.2, 2.2;
    /// The question asks for a time, and the turn tells one.
    When = "when", 1.5, 2.0;
    /// The question asks for a number, and the turn tells one.
    Count = "count", 0.5, 0.4;
    /// The question is about what the assistant said: the role, once more.
    Addressed = "addressed", -0.9, -0.7;
    /// The question wants a summary: the role, once more.
    Summary = "summary", -2.0, -2.0;
    /// The question wants an order of events: the role, once more.
    Order = "order", 0.0, 0.3;
    /// How long the turn is, as a logarithm.
    Length = "length", 0.0, -0.2;
    /// The turn is a question itself.
    Asks = "asks", -0.4, -0.4;
    /// The turn comes after a question.
    Answers = "answers", 0.0, 0.5;
    /// It hangs together with what was found: a cause, a next event, the same person.
    Graph = "graph", 4.0, 5.0;
    /// The question asks for what is new, and this is: 1 for the newest.
    Newest = "newest", 4.0, 5.0;
    /// The question asks for what matters most, and this does: its importance.
    Important = "important", 4.0, 5.0;
}

/// The clues about one memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Clues([f64; Clue::ALL.len()]);

impl Clues {
    pub(crate) const NONE: Self = Self([0.0; Clue::ALL.len()]);

    pub(crate) fn get(&self, clue: Clue) -> f64 {
        self.0[clue as usize]
    }

    pub(crate) fn set(&mut self, clue: Clue, value: f64) {
        self.0[clue as usize] = value;
    }
}

/// How loudly each clue speaks.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Voices([f64; Clue::ALL.len()]);

impl Voices {
    /// The usual weights, or those that are set.
    pub(crate) fn new(with_tokens: bool, set: &BTreeMap<Clue, f64>) -> Self {
        let usual = |clue: Clue| if with_tokens { clue.weight_with_tokens() } else { clue.weight_without_tokens() };
        let mut weights = [0.0; Clue::ALL.len()];
        for clue in Clue::ALL {
            weights[*clue as usize] = set.get(clue).copied().unwrap_or_else(|| usual(*clue));
        }
        Self(weights)
    }

    pub(crate) fn get(&self, clue: Clue) -> f64 {
        self.0[clue as usize]
    }

    /// Whether a clue is heard at all.
    pub(crate) fn hears(&self, clue: Clue) -> bool {
        self.get(clue) != 0.0
    }

    /// The weighted sum, in the order of the clues.
    pub(crate) fn sum(&self, clues: &Clues) -> f64 {
        self.0.iter().zip(clues.0).map(|(weight, value)| weight * value).sum()
    }
}

impl fmt::Display for Clue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
