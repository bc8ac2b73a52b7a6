//! Stand-in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct TimePhrase { pub span: loci_types::TimeSpan, pub at: std::ops::Range<usize> }
pub(crate) fn time_phrases(_: &str, _: &jiff::Zoned) -> Vec<TimePhrase> { Vec::new() }
