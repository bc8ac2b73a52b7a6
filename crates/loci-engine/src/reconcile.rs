//! What becomes of something new, in the light of what is known?
//!
//! Pure. A new statement meets those that it may repeat or contradict, and one [`Decision`] comes
//! out with its reason. A similarity alone never decides: where numbers, names, dates or a negation
//! differ, only the same side of the same thing, or a step of its quantity, lets one replace the
//! other. Where that cannot be read, both stay. Nothing is ever deleted here.

use jiff::Timestamp;
use loci_types::{ContentHash, MemoryId};

use crate::config::Bands;
use crate::extract::Claim;
use crate::extract::differ::{differs, numeric_step};
use crate::text::normalise;

/// Something new.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Statement<'a> {
    /// What it says.
    pub content: &'a str,
    /// The hash of what it says.
    pub hash: ContentHash,
    /// What it says about what.
    pub claim: Option<&'a Claim>,
    /// It says that something said earlier was wrong.
    pub corrects: bool,
    /// Since when it holds.
    pub since: Timestamp,
    /// Until when it held; none: it holds now.
    pub until: Option<Timestamp>,
    /// When it is told.
    pub now: Timestamp,
}

/// Something known that may be about the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Neighbour {
    /// Which.
    pub id: MemoryId,
    /// What it says.
    pub content: String,
    /// The hash of what it says.
    pub hash: ContentHash,
    /// What it says about what.
    pub claim: Option<Claim>,
    /// The cosine of the two, where vectors are known.
    pub similarity: Option<f64>,
    /// Since when it holds.
    pub since: Timestamp,
    /// Whether its owner has confirmed or pinned it.
    pub confirmed: bool,
}

/// What becomes of the new statement.
#[derive(Debug, Clone, PartialEq)]
pub enum Decision {
    /// It is new.
    Add {
        /// Why.
        reason: String,
    },
    /// It is known.
    Skip {
        /// What says the same.
        of: MemoryId,
        /// Why.
        reason: String,
    },
    /// It says the same and more: the known one takes its words, and both are kept.
    Merge {
        /// The known one.
        into: MemoryId,
        /// Why.
        reason: String,
    },
    /// It tells what was so before a known one began to hold.
    Before {
        /// The known one.
        known: MemoryId,
        /// When that began to hold.
        until: Timestamp,
        /// Why.
        reason: String,
    },
    /// It takes the place of a known one, which stays in the chain.
    Supersede {
        /// The known one.
        old: MemoryId,
        /// Why.
        reason: String,
    },
}

impl Decision {
    /// Why.
    pub fn reason(&self) -> &str {
        match self {
            Decision::Add { reason }
            | Decision::Skip { reason, .. }
            | Decision::Before { reason, .. }
            | Decision::Merge { reason, .. }
            | Decision::Supersede { reason, .. } => reason,
        }
    }
}

/// What becomes of `new` beside `known`.
pub fn reconcile(new: &Statement<'_>, known: &[Neighbour], bands: &Bands) -> Decision {
    if let Some(twin) = known.iter().find(|known| known.hash == new.hash) {
        return Decision::Skip { of: twin.id, reason: "said before in the same words".to_owned() };
    }
    let mut decision = None;
    for one in known {
        let meeting = meet(new, one, bands);
        // The gravest meeting decides: what is repeated need not be replaced.
        if meeting.as_ref().is_some_and(|meeting| weight(meeting) > decision.as_ref().map_or(0, weight)) {
            decision = meeting;
        }
    }
    decision.unwrap_or_else(|| Decision::Add { reason: alone(known, bands) })
}

fn weight(decision: &Decision) -> u8 {
    match decision {
        Decision::Add { .. } => 0,
        Decision::Before { .. } => 1,
        Decision::Supersede { .. } => 2,
        Decision::Merge { .. } => 3,
        Decision::Skip { .. } => 4,
    }
}

fn alone(known: &[Neighbour], bands: &Bands) -> String {
    let nearest = known.iter().filter_map(|one| one.similarity).fold(0.0, f64::max);
    if nearest >= bands.check {
        return format!("like something known ({nearest:.2}), but not the same; both stay");
    }
    "new".to_owned()
}

/// What one known statement makes of the new one; `None` if they have nothing to do with each other.
fn meet(new: &Statement<'_>, known: &Neighbour, bands: &Bands) -> Option<Decision> {
    if let (Some(a), Some(b)) = (new.claim, &known.claim)
        && a.attribute == b.attribute
        && (same_subject(&a.subject, &b.subject)
            || related(new.content, a, &b.subject)
            || related(&known.content, b, &a.subject))
    {
        return by_claim(new, known, a, b);
    }
    let similarity = known.similarity.unwrap_or(0.0);
    let step = || numeric_step(&known.content, new.content);
    if similarity >= bands.merge {
        let alike = || said_again(new, known, &format!("says the same as something known ({similarity:.2})"));
        if differs(&known.content, new.content).is_empty()
            && let Some(decision) = alike()
        {
            return Some(decision);
        }
        return step().then(|| replace(known, "a step of the same quantity"));
    }
    if similarity >= bands.check {
        if step() {
            return Some(replace(known, "a step of the same quantity"));
        }
        // What corrects something by its claim is not taken for a correction of whatever is like it.
        let corrects = new.corrects && new.claim.is_none();
        return corrects.then(|| replace(known, "a correction of something like it"));
    }
    if known.similarity.is_none() {
        let alike = differs(&known.content, new.content).is_empty();
        return if let Some(decision) =
            alike.then(|| said_again(new, known, "says the same as something known, by its words")).flatten()
        {
            Some(decision)
        } else if step() {
            Some(replace(known, "a step of the same quantity"))
        } else {
            None
        };
    }
    None
}

/// Two statements about the same side of the same thing.
fn by_claim(new: &Statement<'_>, known: &Neighbour, a: &Claim, b: &Claim) -> Option<Decision> {
    let side = format!("{} of {}", a.attribute, a.subject);
    if a.value == b.value && a.negated == b.negated {
        // Of many values a statement may say more than its claim: what else it names must be the same.
        let apart = !a.single && !differs(&known.content, new.content).is_empty();
        return if apart { None } else { same(new, known, a.single, &format!("the {side} is known")) };
    }
    let other_value = a.value != b.value;
    if other_value && !(a.single && b.single) {
        return None;
    }
    // What is denied of another value says nothing of this one: "not in Porto" and "in Lisbon" both hold.
    if other_value && (a.negated || b.negated) {
        return (b.negated && !a.negated).then(|| replace(known, &format!("the {side} is told")));
    }
    if new.until.is_some_and(|until| until <= known.since) {
        return None;
    }
    // What will be so does not end what is so.
    if new.since > new.now {
        return None;
    }
    if new.since < known.since && !new.corrects {
        let reason = format!("the {side} as it was before");
        return Some(Decision::Before { known: known.id, until: known.since, reason });
    }
    let what = if other_value { format!("the {side} has changed") } else { format!("the {side} is told otherwise") };
    Some(replace(known, &what))
}

fn replace(known: &Neighbour, reason: &str) -> Decision {
    Decision::Supersede { old: known.id, reason: reason.to_owned() }
}

/// The same side of the same thing again: merged if it says more, skipped if it says no more. Of many
/// values one that says something else beside is new.
fn same(new: &Statement<'_>, known: &Neighbour, single: bool, reason: &str) -> Option<Decision> {
    said_again(new, known, reason)
        .or_else(|| single.then(|| Decision::Skip { of: known.id, reason: reason.to_owned() }))
}

/// The same words in the same order, or those and more. Other words, or another order, may be another
/// thing: who owes whom, before or after.
fn said_again(new: &Statement<'_>, known: &Neighbour, reason: &str) -> Option<Decision> {
    let (before, after) = (words(&known.content), words(new.content));
    if before == after || within(&after, &before) {
        return Some(Decision::Skip { of: known.id, reason: reason.to_owned() });
    }
    let more = within(&before, &after) && !known.confirmed;
    more.then(|| Decision::Merge { into: known.id, reason: format!("{reason}, and this says more") })
}

/// The words of a text as they are compared, without articles.
fn words(text: &str) -> Vec<String> {
    let lower = normalise(text).to_lowercase();
    let spoken = |word: &&str| !matches!(*word, "" | "a" | "an" | "the");
    lower
        .split(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_' | '.' | '/')))
        .filter(spoken)
        .map(str::to_owned)
        .collect()
}

/// Whether all of these words stand in the others, in their order.
fn within(few: &[String], many: &[String]) -> bool {
    let mut rest = many.iter();
    !few.is_empty() && few.iter().all(|word| rest.any(|other| other == word))
}

/// Whether two subjects are the same thing: "the cluster" is whoever's cluster was spoken of, but
/// Ana's is not Bob's.
fn same_subject(a: &str, b: &str) -> bool {
    a == b || bare(a) == b || a == bare(b) || ends_with(a, b) || ends_with(b, a)
}

/// Whether the last words of a subject are another: "the Kraków flight" is "the flight". Whose it is
/// must not be told by the first words alone.
fn ends_with(long: &str, short: &str) -> bool {
    !long.contains('\'') && long.strip_suffix(short).is_some_and(|before| before.ends_with(' '))
}

/// Whether a statement calls the one that its claim is about by a relation too: "Ana's sister Kat" is
/// both Kat and Ana's sister.
fn related(content: &str, claim: &Claim, relation: &str) -> bool {
    relation.contains("'s ") && content.to_lowercase().starts_with(&format!("{relation} {} ", claim.subject))
}

/// A subject without the one whose it is: `ana's cluster` is a `cluster`.
fn bare(subject: &str) -> &str {
    match subject.split_once("'s ") {
        Some((owner, thing)) if !owner.is_empty() && !thing.is_empty() => thing,
        _ => subject,
    }
}

/// The key under which statements about the same side of the same thing are found, whoever's it is.
pub fn claim_key(claim: &Claim) -> ContentHash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(bare(&claim.subject).as_bytes());
    hasher.update(&[0x1f]);
    hasher.update(claim.attribute.as_bytes());
    ContentHash(*hasher.finalize().as_bytes())
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;
    use crate::content_hash;
    use crate::extract::claim::claim_of;

    fn at(day: i64) -> Timestamp {
        Timestamp::from_second(day * 86_400).unwrap()
    }

    /// What becomes of `new` beside `old`, with this cosine.
    fn decide(old: &str, new: &str, similarity: Option<f64>) -> Decision {
        let claim = claim_of(new);
        let statement = Statement {
            content: new,
            hash: content_hash(new),
            claim: claim.as_ref(),
            corrects: false,
            since: at(2),
            until: None,
            now: at(2),
        };
        let known = Neighbour {
            id: MemoryId(Uuid::nil()),
            content: old.to_owned(),
            hash: content_hash(old),
            claim: claim_of(old),
            similarity,
            since: at(1),
            confirmed: false,
        };
        reconcile(&statement, &[known], &Bands::default())
    }

    fn name(decision: &Decision) -> &'static str {
        match decision {
            Decision::Add { .. } => "add",
            Decision::Before { .. } => "before",
            Decision::Skip { .. } => "skip",
            Decision::Merge { .. } => "merge",
            Decision::Supersede { .. } => "supersede",
        }
    }

    #[test]
    fn what_is_new_meets_what_is_known() {
        for (old, new, similarity, expect) in [
            (
                "User's cluster has 3 nodes",
                "User's cluster has 5 nodes (scaled from 3 in Feb 2026)",
                Some(0.8),
                "supersede",
            ),
            ("User's cluster has 3 nodes", "User's cluster has 5 nodes", None, "supersede"),
            ("Ana lives in Porto", "Ana lives in Lisbon", Some(0.9), "supersede"),
            ("Ana lives in Porto", "Ana lives in Lisbon", None, "supersede"),
            ("Ana lives in Porto", "Bob lives in Lisbon", Some(0.9), "add"),
            ("Ana's sister Mia lives in Graz", "Ana's sister lives in Linz", None, "supersede"),
            ("Ana's sister Mia lives in Graz", "Bob's sister lives in Linz", None, "add"),
            ("The flight leaves at 7:40", "The Oslo flight leaves at 6:55", None, "supersede"),
            (
                "The deadline for the Wren review is 3 May 2026",
                "The Wren review deadline is 9 May 2026",
                None,
                "supersede",
            ),
            ("Ana has a vet appointment on 3 June 2026", "The vet appointment is on 9 June 2026", None, "supersede"),
            ("The weekly sync is at 10:00 every day", "The weekly sync is at 11:30", None, "supersede"),
            ("Ana's manager is Lea", "Ana reports to Lea", None, "skip"),
            ("Ana's team keeps backups for 21 days", "Backup retention is three weeks", None, "skip"),
            ("Vim is Ana's favourite editor", "Helix is Ana's favourite editor", None, "supersede"),
            ("Ana's phone is a Pixel 6", "Ana's phone is a Fairphone 5", None, "supersede"),
            ("Ana eats fish every week", "Ana no longer eats fish", None, "supersede"),
            ("Wren is written in Go", "The whole Wren codebase is in Go", None, "skip"),
            (
                "Ana's team decided on Redis as the cache for Wren",
                "Ana's team decided on Valkey as the cache for Wren because Valkey is free",
                None,
                "supersede",
            ),
            ("Ana swims every Monday", "Ana goes swimming on Saturdays", None, "supersede"),
            ("Ana's cluster has 3 nodes", "The cluster has 5 nodes", Some(0.8), "supersede"),
            ("Ana's cluster has 3 nodes", "Bob's cluster has 5 nodes", Some(0.8), "add"),
            ("Ana lives in Porto", "ana lives in porto.", Some(1.0), "skip"),
            ("Ana likes tea", "Ana likes coffee", Some(0.9), "add"),
            ("Ana likes tea", "Ana does not like tea", Some(0.95), "supersede"),
            ("Ana likes tea", "Ana likes tea", None, "skip"),
            ("Ana is allergic to peanuts", "Ana is allergic to cashews", Some(0.88), "add"),
            ("The deploy of build 4021 failed", "The deploy of build 4022 failed", Some(0.97), "add"),
            ("The printer on floor 2 jams", "The printer on floor 2 often jams badly", Some(0.92), "merge"),
            ("The printer on floor 2 jams", "The printer on floor 3 jams", Some(0.97), "add"),
            ("The garden gate squeaks", "A garden gate squeaks!", Some(0.96), "skip"),
            ("The garden gate squeaks", "The gate of the garden squeaks", Some(0.96), "add"),
            ("Ana owes Bo 50 euros", "Bo owes Ana 50 euros", Some(0.98), "add"),
            ("Ana wants the report before the meeting", "Ana wants the report after the meeting", Some(0.97), "add"),
            ("Ana increased the dose", "Ana decreased the dose", Some(0.93), "add"),
            ("The garden gate squeaks", "The garden gate squeaks", Some(0.2), "skip"),
            ("The garden gate squeaks", "The roof leaks", Some(0.3), "add"),
            ("The deploy was stopped because of OPS-1", "The deploy was stopped because of OPS-2", Some(0.97), "add"),
        ] {
            let decision = decide(old, new, similarity);
            assert_eq!(name(&decision), expect, "{old} / {new}: {decision:?}");
            assert!(!decision.reason().is_empty());
        }
    }

    #[test]
    fn the_past_does_not_replace_the_present() {
        let (old, new) = ("Ana lives in Lisbon", "Ana lives in Porto");
        let (claim, known_claim) = (claim_of(new), claim_of(old));
        let known = Neighbour {
            id: MemoryId(Uuid::nil()),
            content: old.to_owned(),
            hash: content_hash(old),
            claim: known_claim,
            similarity: Some(0.9),
            since: at(100),
            confirmed: false,
        };
        let statement = |since, until, corrects| Statement {
            content: new,
            hash: content_hash(new),
            claim: claim.as_ref(),
            corrects,
            since,
            until,
            now: at(200),
        };
        let decide = |statement| reconcile(&statement, std::slice::from_ref(&known), &Bands::default());
        assert_eq!(name(&decide(statement(at(10), Some(at(50)), false))), "add", "intervals that do not overlap");
        assert_eq!(name(&decide(statement(at(10), None, false))), "before", "told of an earlier time");
        assert_eq!(
            name(&decide(statement(at(10), None, true))),
            "supersede",
            "a correction counts from where it was wrong"
        );
        assert_eq!(name(&decide(statement(at(200), None, false))), "supersede");
        assert_eq!(name(&decide(statement(at(201), None, false))), "add", "what will be so does not end what is so");
    }
}
