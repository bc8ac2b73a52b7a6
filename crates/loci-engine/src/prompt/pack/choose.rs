//! Chooses the memories that are packed.
//!
//! Each share first fills its own part with its best memories; unused room goes to the best of the others.
//! **Invariant:** the chosen entries cost, by the sum of their parts, no more than the room.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashSet;

use loci_types::MemoryId;

use super::format::{Format, PackEntry};
use super::shorten::whole_sentences;
use super::tokens::{MAX_TOKEN_BYTES, count_tokens};
use super::{PackBudget, PackItem, Share, by_score};

/// The most related texts under one memory.
const RELATED: usize = 2;
/// Minimum number of tokens of a shortened memory: with fewer, nothing but its id fits.
const MIN_SHORTENED_TOKENS: usize = 96;
/// Maximum number of times that a text which is still too long is shortened again.
const MAX_SHORTENINGS: usize = 3;

/// What was chosen, the first choice first, so that the last can be given up first.
pub(crate) struct Choice<'a> {
    format: Format,
    chosen: Vec<(PackEntry<'a>, usize)>,
    opened: [bool; 4],
    /// The tokens still free.
    left: usize,
}

impl<'a> Choice<'a> {
    /// Chooses among `items`, which come best first and each once, for `room` tokens.
    pub(crate) fn new(items: &[&'a PackItem], room: usize, format: Format, budget: &PackBudget) -> Self {
        let mut choice = Self { format, chosen: Vec::new(), opened: [false; 4], left: room };
        let entries = || items.iter().enumerate().map(|(place, item)| PackEntry::whole(place, item));
        let mut waiting = Vec::new();
        for share in Share::ALL {
            let mut part = ((room as f64 * budget.part(*share)) as usize).min(choice.left);
            let mut full = false;
            for entry in entries().filter(|entry| entry.item.share == *share) {
                // What did not match the question waits until all that did has found its room.
                let cost = if full || entry.item.score == 0.0 { None } else { choice.cost(&entry, part) };
                match cost {
                    Some(cost) => {
                        part -= cost.sum();
                        choice.take(entry, cost);
                    }
                    None => {
                        // Where a long one can be shortened, a worse one must not take its place.
                        full = budget.summarize;
                        waiting.push(entry);
                    }
                }
            }
        }
        waiting.sort_by(|a, b| by_score(a.item, b.item).then(a.place.cmp(&b.place)));
        choice.flow(waiting, budget.summarize);
        choice.relate(items);
        choice
    }

    /// The entries in the order in which they are read.
    pub(crate) fn entries(&self) -> Vec<&PackEntry<'a>> {
        let mut entries: Vec<&PackEntry<'a>> = self.chosen.iter().map(|(entry, _)| entry).collect();
        entries.sort_by(|a, b| {
            // Turns are messages of their own, after the message with the other memories.
            let own = |entry: &PackEntry<'_>| self.format == Format::Messages && entry.is_turn();
            let sections = (own(a), a.item.share).cmp(&(own(b), b.item.share));
            sections.then_with(|| reading_order(a.item, b.item)).then(a.place.cmp(&b.place))
        });
        entries
    }

    /// Gives up the last choices until about `tokens` are free: first what is merely related.
    /// False when nothing was left to give up.
    pub(crate) fn give_up(&mut self, tokens: usize) -> bool {
        let mut freed = 0;
        while freed < tokens.max(1) {
            if let Some((entry, cost)) = self.chosen.iter_mut().rev().find(|(entry, _)| !entry.related.is_empty()) {
                entry.related.pop();
                let now = count_tokens(&self.format.block(entry));
                freed += cost.saturating_sub(now);
                *cost = now;
            } else if let Some((_, cost)) = self.chosen.pop() {
                freed += cost;
            } else {
                return freed > 0;
            }
        }
        true
    }

    /// The cost of an entry, if it is at most `room`.
    fn cost(&self, entry: &PackEntry<'_>, room: usize) -> Option<EntryCost> {
        let block = self.format.block(entry);
        // One that is surely too large need not be counted.
        if block.len() / MAX_TOKEN_BYTES > room {
            return None;
        }
        let opened = self.opened[entry.item.share as usize];
        let heading = if opened { 0 } else { count_tokens(&self.format.heading(entry)) };
        let cost = EntryCost { block: count_tokens(&block), heading };
        (cost.sum() <= room).then_some(cost)
    }

    fn take(&mut self, entry: PackEntry<'a>, cost: EntryCost) {
        self.left -= cost.sum();
        self.opened[entry.item.share as usize] |= cost.heading > 0;
        self.chosen.push((entry, cost.block));
    }

    /// Gives what the shares left to the best of those that wait.
    fn flow(&mut self, waiting: Vec<PackEntry<'a>>, summarize: bool) {
        let last = waiting.len().saturating_sub(1);
        for (n, entry) in waiting.into_iter().enumerate() {
            if let Some(cost) = self.cost(&entry, self.left) {
                self.take(entry, cost);
            } else if summarize {
                // Half of what is left at most, so that one long memory leaves room for others;
                // but not so little that none of them can say anything.
                let half = if n == last { self.left } else { self.left / 2 };
                let room = half.max(MIN_SHORTENED_TOKENS.min(self.left));
                if let Some((entry, cost)) = self.shorter(&entry, room) {
                    self.take(entry, cost);
                }
            }
        }
    }

    /// The entry, shortened so that it fits into `room`.
    fn shorter(&self, entry: &PackEntry<'a>, room: usize) -> Option<(PackEntry<'a>, EntryCost)> {
        let with = |text: String| PackEntry { text: Cow::Owned(text), ..entry.clone() };
        let mut tokens = room - self.cost(&with(String::new()), room)?.sum();
        for _ in 0..MAX_SHORTENINGS {
            let short = with(whole_sentences(&entry.item.text, tokens)?);
            if let Some(cost) = self.cost(&short, room) {
                return Some((short, cost));
            }
            // Quotation marks and line breaks cost more inside JSON than by themselves.
            tokens -= tokens / 8 + 1;
        }
        None
    }

    /// Shows, where there is still room, what is related to the chosen and not an item itself.
    fn relate(&mut self, items: &[&'a PackItem]) {
        let mut shown: HashSet<MemoryId> = items.iter().map(|item| item.id).collect();
        for (entry, cost) in &mut self.chosen {
            for related in &entry.item.related {
                if entry.related.len() == RELATED || !shown.insert(related.id) {
                    continue;
                }
                entry.related.push(related);
                let more = count_tokens(&self.format.block(entry)).saturating_sub(*cost);
                if more <= self.left {
                    self.left -= more;
                    *cost += more;
                } else {
                    entry.related.pop();
                    shown.remove(&related.id);
                }
            }
        }
    }
}

/// The tokens that an entry takes, and those of the heading if it is the first of its section.
struct EntryCost {
    block: usize,
    heading: usize,
}

impl EntryCost {
    fn sum(&self) -> usize {
        self.block + self.heading
    }
}

/// The better first; but a story is read from its beginning, and what has no date comes after it.
fn reading_order(a: &PackItem, b: &PackItem) -> Ordering {
    let time = |item: &PackItem| match item.share {
        Share::Temporal => (item.event_time.is_none(), item.event_time),
        _ => (false, None),
    };
    time(a).cmp(&time(b)).then_with(|| by_score(a, b))
}
