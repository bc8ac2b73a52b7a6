//! What does a statement say about what?
//!
//! A [`Claim`] is a statement taken apart: subject, attribute, value. Two claims about the same
//! subject and attribute can contradict each other; any others cannot.

/// A statement taken apart. All texts are folded: lower case, no articles, single spaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// What it is about: `ana`, `ana's cluster`, `project atlas`.
    pub subject: String,
    /// Which side of it: `city`, `employer`, `likes`, `count of node`, `port`.
    pub attribute: String,
    /// What is said of that side: `lisbon`, `tea`, `5`.
    pub value: String,
    /// It says that this is not so, or no longer.
    pub negated: bool,
    /// There can be only one value at a time: a second one replaces the first.
    pub single: bool,
}
