//! Clues: the features by which candidates are ranked, with their weights.
//!
//! The value of a clue depends only on the memory and the query, not on other candidates. Evidence is the weighted
//! sum of all clues. Its unit is the nat: a lead of one makes a memory about e times as likely.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

macro_rules! clues {
    ($($(#[doc = $doc:literal])* $variant:ident = $word:literal, $weight:literal $(, $short:literal)?);+ $(;)?) => {
        /// A ranking feature: one observation about a memory and a question.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Clue { $($(#[doc = $doc])* $variant),+ }

        impl Clue {
            /// All features.
            pub const ALL: &'static [Clue] = &[$(Clue::$variant),+];

            /// The word, as it is set and printed.
            pub fn name(self) -> &'static str {
                match self { $(Clue::$variant => $word),+ }
            }

            /// A description in one sentence.
            pub fn about(self) -> &'static str {
                match self { $(Clue::$variant => concat!($($doc),*).trim_ascii()),+ }
            }

            /// Its weight in a long question, and what is added to it divided by the number of tokens: a question of one
            /// word is read by its sentence, a long one by its tokens.
            pub fn weight(self) -> (f64, f64) {
                match self { $(Clue::$variant => ($weight, 0.0 $(+ $short)?)),+ }
            }
        }
    };
}

clues! {
    /// The cosine of the sentence vectors; that of the question is without the names of speakers.
    Meaning = "meaning", 7.0, 12.0;
    /// How well each token of the question is matched in the memory and, for a turn, in the turns around it.
    Tokens = "tokens", 15.5, -9.0;
    /// BM25 of the words of the question, as a share of the maximum.
    Words = "words", 1.0;
    /// The same for the question that the turn answers, as far as it adds to that.
    Asked = "asked", 5.0;
    /// Pairs of adjacent words that occur in both, up to three.
    Pairs = "pairs", 0.8;
    /// The question names a speaker: 1 for turns of that speaker, -1 for those of others.
    Speaker = "speaker", 0.9;
    /// 1 for turns of the user, -1 for those of the assistant; less if the question is about what the assistant said,
    /// 0 if it asks for a summary.
    Role = "role", 2.6;
    /// The memory is a fact or a note and not a turn.
    Lasting = "lasting", 2.0;
    /// The question names a time, and the memory happened then.
    Date = "date", 2.8;
    /// The question asks for a time and the memory names one or, with less weight, for a number.
    Tells = "tells", 1.5;
    /// The turn is itself a question.
    Asks = "asks", -0.7;
    /// The memory is linked to the hits: a cause, a next event, the same person.
    Graph = "graph", 2.0;
    /// The question asks for the newest or the most important, and this is it.
    Foremost = "foremost", 4.0;
}

/// The features of the text of a memory itself, without its neighbours.
pub(crate) const OWN: [Clue; 5] = [Clue::Meaning, Clue::Tokens, Clue::Words, Clue::Asked, Clue::Pairs];

/// The clues about one memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ClueValues([f64; Clue::ALL.len()]);

impl ClueValues {
    pub(crate) const NONE: Self = Self([0.0; Clue::ALL.len()]);

    pub(crate) fn get(&self, clue: Clue) -> f64 {
        self.0[clue as usize]
    }

    pub(crate) fn set(&mut self, clue: Clue, value: f64) {
        self.0[clue as usize] = value;
    }
}

/// The weight of each feature.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct WeightTable([f64; Clue::ALL.len()]);

impl WeightTable {
    /// The default weights for a query with this number of tokens, overridden by the configured ones.
    pub(crate) fn new(tokens: usize, set: &BTreeMap<Clue, f64>) -> Self {
        let mut weights = [0.0; Clue::ALL.len()];
        for clue in Clue::ALL {
            let (long, short) = clue.weight();
            let usual = long + short / tokens.max(1) as f64;
            weights[*clue as usize] = set.get(clue).copied().unwrap_or(usual);
        }
        Self(weights)
    }

    pub(crate) fn get(&self, clue: Clue) -> f64 {
        self.0[clue as usize]
    }

    /// The weighted sum, in the order of the clues.
    pub(crate) fn sum(&self, clues: &ClueValues) -> f64 {
        self.0.iter().zip(clues.0).map(|(weight, value)| weight * value).sum()
    }

    /// The weighted sum of the features of the text itself.
    pub(crate) fn own(&self, clues: &ClueValues) -> f64 {
        OWN.iter().map(|clue| self.get(*clue) * clues.get(*clue)).sum()
    }
}

impl fmt::Display for Clue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
