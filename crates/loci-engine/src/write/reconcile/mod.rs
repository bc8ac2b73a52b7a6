//! Reconciliation: decides what becomes of a new statement, given known ones.
//!
//! Pure. A new statement is compared with those that it may repeat or contradict, and one [`Decision`] with its
//! reason comes out. The table is the same for `remember`, for consolidation and for maintenance:
//!
//! | decision | only if |
//! |---|---|
//! | skip | the new text has no content word, number or name that the known one lacks |
//! | replace | both state the same attribute of the same subject with all its qualifiers, and the attribute has one value at a time, or they agree except for one value, or the new text says explicitly that the old one has ended; and the known text is a single statement that is neither pinned, confirmed nor stored as it is |
//! | add as history | the same, but the known statement was said later |
//! | add | anything else; similar texts about the same subject are linked as `may_contradict` |
//!
//! A similarity never decides. Nothing is ever deleted here.

mod analysis;
mod compare;
mod setting;
pub(crate) mod write;

use jiff::Timestamp;
use loci_types::{ContentHash, MemoryId};

use crate::config::Bands;
use crate::learn::extract::{self, Claim};
pub use analysis::{AnalysedText, claim_key};
use compare::{
    ValueDifference, changed_in_one_value, ends, one_value_apart, prefers_another, says_more_than, says_nothing_new,
    share_a_subject, takes_up,
};
pub(crate) use setting::{restates, sets_otherwise};

/// A new statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// The hash of its text.
    pub hash: ContentHash,
    /// Its analysed text.
    pub reading: AnalysedText,
    /// When it was said.
    pub said_at: Timestamp,
    /// Whether it was copied from a pool: then it never replaces a statement of its holder.
    pub copied: bool,
    /// Whether its owner has confirmed or pinned it.
    pub confirmed: bool,
}

/// A known statement that may be about the same.
#[derive(Debug, Clone, PartialEq)]
pub struct KnownStatement {
    /// Its id.
    pub id: MemoryId,
    /// The hash of its text.
    pub hash: ContentHash,
    /// Its analysed text.
    pub reading: AnalysedText,
    /// The cosine to the new statement, if both have vectors.
    pub similarity: Option<f64>,
    /// When it was said.
    pub said_at: Timestamp,
    /// Whether its owner has confirmed or pinned it.
    pub confirmed: bool,
    /// Whether it is stored as it is (`as_is`).
    pub as_is: bool,
    /// Whether it was copied from a pool.
    pub copied: bool,
}

/// The decision about a new statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// It is added.
    Add {
        /// The statements that it may contradict.
        contradicts: Vec<MemoryId>,
        /// The reason.
        reason: String,
    },
    /// It is skipped, because it is known.
    Skip {
        /// The statement that it repeats.
        of: MemoryId,
        /// The reason.
        reason: String,
    },
    /// It is added as history: a known statement was said later.
    AddAsHistory {
        /// The known statement.
        known: MemoryId,
        /// When the known statement was said.
        until: Timestamp,
        /// The reason.
        reason: String,
    },
    /// It replaces a known statement, which stays in the chain.
    Supersede {
        /// The known statement.
        old: MemoryId,
        /// Other statements that it may contradict.
        contradicts: Vec<MemoryId>,
        /// The reason.
        reason: String,
    },
}

impl Decision {
    /// The reason.
    pub fn reason(&self) -> &str {
        match self {
            Decision::Add { reason, .. }
            | Decision::Skip { reason, .. }
            | Decision::AddAsHistory { reason, .. }
            | Decision::Supersede { reason, .. } => reason,
        }
    }

    /// The statements that the new one may contradict.
    pub fn contradicts(&self) -> &[MemoryId] {
        match self {
            Decision::Add { contradicts, .. } | Decision::Supersede { contradicts, .. } => contradicts,
            Decision::Skip { .. } | Decision::AddAsHistory { .. } => &[],
        }
    }
}

/// The comparison of the new statement with one known statement.
enum Comparison {
    Same(&'static str),
    Replaces(String),
    MayContradict,
    Unrelated,
}

/// Maximum number of known statements that a new one is linked to as `may_contradict`.
const MAX_CONTRADICTION_LINKS: usize = 3;

/// Decides what becomes of `new`, given `known`.
pub fn reconcile(new: &Statement, known: &[KnownStatement], bands: &Bands) -> Decision {
    if let Some(twin) = known.iter().find(|known| known.hash == new.hash) {
        return Decision::Skip { of: twin.id, reason: "already stored with the same words".to_owned() };
    }
    let mut replaced: Option<(&KnownStatement, String)> = None;
    let mut linked: Vec<(&KnownStatement, f64)> = Vec::new();
    for one in known {
        match compare_statements(new, one, bands) {
            // What was said again after it had changed holds again.
            Comparison::Same(_) if known.iter().any(|later| is_between(new, one, later)) => {}
            Comparison::Same(reason) => return Decision::Skip { of: one.id, reason: reason.to_owned() },
            Comparison::Replaces(reason) => {
                let later = replaced.as_ref().is_none_or(|(other, _)| other.said_at < one.said_at);
                let other = if later { replaced.replace((one, reason)).map(|(other, _)| other) } else { Some(one) };
                linked.extend(other.map(|other| (other, 1.0)));
            }
            Comparison::MayContradict => linked.push((one, one.similarity.unwrap_or(0.0))),
            Comparison::Unrelated => {}
        }
    }
    linked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let contradicts: Vec<MemoryId> = linked.iter().take(MAX_CONTRADICTION_LINKS).map(|(one, _)| one.id).collect();
    match replaced {
        Some((old, reason)) if new.said_at < old.said_at => {
            Decision::AddAsHistory { known: old.id, until: old.said_at, reason: format!("stored as history: {reason}") }
        }
        Some((old, reason)) => {
            let reason = format!("replaced: {reason}");
            Decision::Supersede { old: old.id, contradicts, reason }
        }
        None if contradicts.is_empty() => Decision::Add { contradicts, reason: "new".to_owned() },
        None => Decision::Add {
            contradicts,
            reason: "new; it may contradict a stored memory, and both are kept".to_owned(),
        },
    }
}

/// Whether another statement was made after `known`, which `new` would revert by repeating `known`.
fn is_between(new: &Statement, known: &KnownStatement, later: &KnownStatement) -> bool {
    later.id != known.id
        && later.said_at > known.said_at
        && later.said_at <= new.said_at
        && replaces(&new.reading, &later.reading).is_some()
}

/// Compares the new statement with a known one.
fn compare_statements(new: &Statement, known: &KnownStatement, bands: &Bands) -> Comparison {
    let (a, b) = (&new.reading, &known.reading);
    if says_nothing_new(a, b) {
        return Comparison::Same("adds nothing to a stored memory");
    }
    let protected = known.as_is || known.confirmed && !new.confirmed || new.copied && !known.copied;
    if let Some(reason) = replaces(a, b) {
        return if protected || !b.is_single() { Comparison::MayContradict } else { Comparison::Replaces(reason) };
    }
    let near = known.similarity.is_none_or(|cosine| cosine >= bands.check);
    // What only says more contradicts nothing.
    let changed = a.changes && !b.is_within(a) && share_a_subject(a, b, if near { 0.33 } else { 0.5 });
    let denied = a.is_negated() != b.is_negated()
        && near
        && (a.is_within(b) || b.is_within(a))
        && (a.corrects() || a.items().count().abs_diff(b.items().count()) <= 3);
    // Names of two things of one sort: less alike than two ways to say one thing, and more than any two preferences.
    let akin = known.similarity.is_some_and(|cosine| cosine >= (bands.later + bands.check) / 2.0);
    let preferred = akin && prefers_another(a, b);
    let linked = changed || denied || preferred || disputed(a, b) || takes_up(a, b) && !b.is_within(a);
    if linked || one_value_apart(a, b).is_some() { Comparison::MayContradict } else { Comparison::Unrelated }
}

/// Whether an external verdict that `new` contradicts `known` may be applied: both are about the same subject,
/// `known` is a single statement that is not protected, and `new` says that something has changed or gives another
/// value.
pub fn may_replace(new: &Statement, known: &KnownStatement) -> bool {
    let (a, b) = (&new.reading, &known.reading);
    let protected = known.as_is || known.confirmed && !new.confirmed || new.copied && !known.copied;
    let same = share_a_subject(a, b, 0.4) && a.names() == b.names() && a.is_single() && b.is_single();
    !protected && new.said_at >= known.said_at && same && (a.changes || disputed(a, b))
}

/// The reason why `new` replaces `known`, if it does.
fn replaces(new: &AnalysedText, known: &AnalysedText) -> Option<String> {
    let claimed =
        new.claims.iter().find_map(|a| known.claims.iter().find(|b| other_value(a, b, new.changes)).map(|b| (a, b)));
    if let Some((a, b)) = claimed.filter(|(_, b)| !says_more_than(known, b, new)) {
        return Some(format!("same attribute ({} of {}), value {} → {}", a.attribute, a.about, b.said, a.said));
    }
    if one_value_apart(new, known) == Some(ValueDifference::Behind) || changed_in_one_value(new, known) {
        return Some("same statement with another value".to_owned());
    }
    ends(new, known).then(|| "the new statement says that the old one no longer holds".to_owned())
}

/// Whether both give different values of a single-valued attribute of the same subject. Where single-valuedness is
/// not certain, the new text must say that something has changed.
fn other_value(a: &Claim, b: &Claim, changes: bool) -> bool {
    let same = a.subject == b.subject && a.attribute == b.attribute;
    same && (a.single && b.single || changes && !a.many && !b.many)
        && comparable(a, b, changes)
        && !includes(&a.value, &b.value)
        && !a.bounded
        && !b.bounded
        && !a.negated
        && !b.negated
}

/// Whether two values are of the same type and dimension: "30" and "165 cm" are not, "1,450 euros" and "1,520" are.
fn comparable(a: &Claim, b: &Claim, changes: bool) -> bool {
    let unit = |claim: &Claim| -> Vec<String> {
        let words = claim.value.split(' ').filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()));
        words.map(str::to_owned).collect()
    };
    let (mine, theirs) = (unit(a), unit(b));
    let currency = |unit: &[String]| unit.iter().all(|word| ["eur", "usd", "gbp", "rub", "%"].contains(&word.as_str()));
    let bare = |one: &[String], other: &[String]| one.is_empty() && currency(other);
    let number = a.sort == extract::claim::ValueType::Number;
    a.sort == b.sort && (!number || changes || mine == theirs || bare(&mine, &theirs) || bare(&theirs, &mine))
}

/// Whether one value only extends the other: "Acme" and "Acme Corp".
fn includes(a: &str, b: &str) -> bool {
    let within = |few: &str, many: &str| few.split(' ').all(|word| many.split(' ').any(|other| other == word));
    within(a, b) || within(b, a)
}

/// Whether both state the same attribute of the same subject with another value or a negation, and it is open which
/// holds.
fn disputed(new: &AnalysedText, known: &AnalysedText) -> bool {
    // "Our rent" may be "the rent".
    let about =
        |claim: &Claim| claim.subject.split(' ').filter(|word| *word != "user").map(str::to_owned).collect::<Vec<_>>();
    let disputed = |a: &Claim, b: &Claim| {
        (a.subject == b.subject || !about(a).is_empty() && about(a) == about(b))
            && a.attribute == b.attribute
            && (!includes(&a.value, &b.value) && a.single && b.single && comparable(a, b, new.changes)
                || a.value == b.value && a.negated != b.negated)
    };
    new.claims.iter().any(|a| known.claims.iter().any(|b| disputed(a, b)))
}

#[cfg(test)]
mod tests;
