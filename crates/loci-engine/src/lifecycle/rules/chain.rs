//! Decides which versions of a long chain are superfluous.

use loci_types::{Memory, MemoryId};

/// The versions in the middle that go, oldest first, so that at most `most` are left: the first,
/// which tells how it began, and the latest. Versions that someone pinned stay.
pub(crate) fn superfluous(chain: &[Memory], most: usize) -> Vec<MemoryId> {
    let most = most.max(2);
    let Some(spare) = chain.len().checked_sub(most).filter(|spare| *spare > 0) else { return Vec::new() };
    let middle = &chain[1..chain.len() - 1];
    middle.iter().filter(|memory| !memory.pinned).take(spare).map(|memory| memory.id).collect()
}
