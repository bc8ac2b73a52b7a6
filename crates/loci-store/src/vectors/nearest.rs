//! Search for the nearest vectors.
//!
//! A short array is scanned by its codes. A long one is scanned by its sketches, an eighth of the memory, and the codes
//! of the best few hundred decide. The filter is applied inside the scan, only to candidates that would enter the
//! result, so a rejected candidate displaces no other.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::arrays::{Arrays, place};
use super::block::{Block, ROWS};
use super::code::{self, SILENT};
use super::kernel::{self, LANES};
use super::query::{Coded, Query};

/// Maximum number of slots whose codes are scanned directly, which is exact up to rounding.
pub(super) const DIRECT: usize = 12_000;

/// Minimum length of the shortlist that the sketches select for the codes.
const SHORTLIST: usize = 500;

/// The shortlist grows by one for this number of slots, because a longer array has more near candidates.
const SLOTS_PER_SHORTLISTED: usize = 2_000;

/// Minimum length of the shortlist per wanted result.
const SHORTLISTED_PER_WANTED: usize = 12;

/// Number of distances that are tested together before single ones.
const STRIDE: usize = 32;

/// A key and its estimated cosine with the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// The key of the vector.
    pub key: i64,
    /// The cosine estimated from codes, in [-1, 1], with an error of about 0.001.
    pub similarity: f32,
}

/// The result of a search over several arrays.
#[derive(Debug, Default)]
pub struct Candidates {
    /// Candidates whose codes were compared, best first.
    pub ranked: Vec<Candidate>,
    /// The shortlist of arrays without codes, in no order; only exact vectors can rank them.
    pub undecided: Vec<i64>,
}

impl Arrays {
    /// The `want` nearest by estimated cosine, best first; ties are ordered by key. `keep` is called only for
    /// candidates that would enter the result. A query of another length or without direction finds nothing. Only for
    /// arrays with codes.
    pub fn nearest(&self, query: &Query, want: usize, keep: &dyn Fn(i64) -> bool) -> Vec<Candidate> {
        self.search(query, want, &|_, key| keep(key)).ranked
    }

    /// The `want` nearest among `keys`, which may contain unknown and repeated keys. If there are few, only these are
    /// compared. Only for arrays with codes.
    pub fn nearest_among(&self, query: &Query, want: usize, keys: &[i64]) -> Vec<Candidate> {
        self.search_among(query, want, keys).ranked
    }

    fn search_among(&self, query: &Query, want: usize, keys: &[i64]) -> Candidates {
        let mut slots: Vec<u32> = keys.iter().filter_map(|&key| self.find(key)).collect();
        slots.sort_unstable();
        slots.dedup();
        if slots.len() <= DIRECT && self.layout.codes {
            let mut best = Best::new(want);
            if self.answers(query, want) {
                let coded = query.coded(&self.mean);
                slots.into_iter().for_each(|slot| best.offer(self.candidate(&coded, slot)));
            }
            return Candidates { ranked: best.into_sorted(), undecided: Vec::new() };
        }
        let mut among = vec![0_u64; code::words(self.slots())];
        for slot in slots {
            among[slot as usize / 64] |= 1 << (slot % 64);
        }
        self.search(query, want, &|slot, _| among[slot as usize / 64] >> (slot % 64) & 1 == 1)
    }

    fn search(&self, query: &Query, want: usize, keep: &dyn Fn(u32, i64) -> bool) -> Candidates {
        if self.slots() > DIRECT || !self.layout.codes {
            return nearest_by_sketch(&[self], query, want, keep);
        }
        if !self.answers(query, want) {
            return Candidates::default();
        }
        let coded = query.coded(&self.mean);
        let ranked = if self.layout.centred {
            self.scan(&coded, want, keep, |block, row| coded.offset + block.biases[row])
        } else {
            self.scan(&coded, want, keep, |_, _| 0.0)
        };
        Candidates { ranked, undecided: Vec::new() }
    }

    fn answers(&self, query: &Query, want: usize) -> bool {
        want > 0 && query.suits(self.layout.dimensions)
    }

    /// Scans all codes. `bias` returns the part of a row's estimate that does not come from its code.
    fn scan(
        &self,
        query: &Coded,
        want: usize,
        keep: &dyn Fn(u32, i64) -> bool,
        bias: impl Fn(&Block, usize) -> f32,
    ) -> Vec<Candidate> {
        let mut best = Best::new(want);
        let mut products = vec![0; self.slots().min(ROWS)];
        for (number, block) in self.blocks.iter().enumerate() {
            kernel::products(&query.codes, &block.codes, &mut products);
            for (row, ((&key, &scale), &product)) in block.keys.iter().zip(&block.scales).zip(&products).enumerate() {
                let candidate = Candidate { key, similarity: similarity(product, scale, query, bias(block, row)) };
                if candidate.similarity < best.floor {
                    continue;
                }
                if scale != SILENT && best.would_take(&candidate) && keep((number * ROWS + row) as u32, key) {
                    best.take(candidate);
                }
            }
        }
        best.into_sorted()
    }

    /// The candidate of a slot; none if it has no direction.
    fn candidate(&self, query: &Coded, slot: u32) -> Option<Candidate> {
        let (block, row) = place(slot);
        let block = &self.blocks[block];
        let mut product = [0];
        kernel::products(&query.codes, block.code(row, self.layout.dimensions), &mut product);
        let bias = block.biases.get(row).map_or(0.0, |bias| bias + query.offset);
        let similarity = similarity(product[0], block.scales[row], query, bias);
        (block.scales[row] != SILENT).then_some(Candidate { key: block.keys[row], similarity })
    }

    /// Calls `found` with the distance and slot of every sketch within the current limit, in no order.
    fn near_sketches(
        &self,
        query: &Coded,
        bar: &mut SketchLimit,
        keep: &dyn Fn(u32, i64) -> bool,
        mut found: impl FnMut(u16, u32),
    ) {
        let mut distances = vec![0; ROWS];
        for (number, block) in self.blocks.iter().enumerate() {
            let rows = block.keys.len();
            let padded = &mut distances[..rows.next_multiple_of(LANES)];
            kernel::distances(&query.signs, &query.heavy, &block.sketches, padded);
            for (stride, distances) in distances[..rows].chunks(STRIDE).enumerate() {
                // Nearly all strides contain no row within the limit; this test has no branch per row.
                if distances.iter().fold(u16::MAX, |least, &distance| least.min(distance)) >= bar.height {
                    continue;
                }
                for (place, &distance) in distances.iter().enumerate() {
                    let row = stride * STRIDE + place;
                    let slot = (number * ROWS + row) as u32;
                    if distance < bar.height && block.scales[row] != SILENT && keep(slot, block.keys[row]) {
                        found(distance, slot);
                        bar.passed(distance);
                    }
                }
            }
        }
    }
}

/// The `want` nearest over several arrays as if they were one: their total size decides whether sketches are used, so
/// that a thousand small scopes cost no more than one large one. With `among`, only these keys are searched.
pub fn nearest_of(all: &[&Arrays], query: &Query, want: usize, among: Option<&[i64]>) -> Candidates {
    let mut found = Candidates::default();
    let mut best = Best::new(want);
    let mut add = |more: Candidates| {
        found.undecided.extend(more.undecided);
        more.ranked.into_iter().for_each(|candidate| best.offer(Some(candidate)));
    };
    if let Some(keys) = among {
        all.iter().for_each(|arrays| add(arrays.search_among(query, want, keys)));
    } else if all.iter().map(|arrays| arrays.slots()).sum::<usize>() > DIRECT {
        add(nearest_by_sketch(all, query, want, &|_, _| true));
    } else {
        all.iter().for_each(|arrays| add(arrays.search(query, want, &|_, _| true)));
    }
    found.ranked = best.into_sorted();
    found
}

/// Selects a shortlist by sketches and ranks it by codes. Arrays without a mean share one shortlist; each centred array
/// has its own, because distances relative to different means are not comparable.
fn nearest_by_sketch(all: &[&Arrays], query: &Query, want: usize, keep: &dyn Fn(u32, i64) -> bool) -> Candidates {
    let (centred, plain): (Vec<&Arrays>, Vec<&Arrays>) =
        all.iter().filter(|arrays| arrays.answers(query, want)).partition(|arrays| arrays.layout.centred);
    let (mut best, mut undecided) = (Best::new(want), Vec::new());
    for group in std::iter::once(&plain[..]).chain(centred.chunks(1)) {
        let Some(first) = group.first() else { continue };
        let coded = query.coded(&first.mean);
        let slots: usize = group.iter().map(|arrays| arrays.slots()).sum();
        let many = SHORTLIST + slots / SLOTS_PER_SHORTLISTED;
        let many = many.max(want.saturating_mul(SHORTLISTED_PER_WANTED)).min(slots);
        let mut bar = SketchLimit::new(many, query.dimensions());
        let mut found: Vec<(u16, &Arrays, u32)> = Vec::with_capacity(many * 4);
        for arrays in group {
            arrays.near_sketches(&coded, &mut bar, keep, |distance, slot| found.push((distance, arrays, slot)));
        }
        for (_, arrays, slot) in found.into_iter().filter(|(distance, ..)| *distance <= bar.limit) {
            if arrays.layout.codes {
                best.offer(arrays.candidate(&coded, slot));
            } else {
                undecided.push(arrays.key(slot));
            }
        }
    }
    Candidates { ranked: best.into_sorted(), undecided }
}

fn similarity(product: i32, scale: f32, query: &Coded, bias: f32) -> f32 {
    (product as f32 * scale * query.scale + bias).clamp(-1.0, 1.0)
}

/// The distance limit for entering the shortlist. It counts sketches by distance and decreases as nearer ones are
/// found, like a heap of the best but cheaper.
struct SketchLimit {
    want: usize,
    counts: Vec<usize>,
    /// Number of sketches found within the limit.
    within: usize,
    /// The smallest distance within which at least `want` sketches were found; the maximum until then.
    limit: u16,
    /// Only smaller distances may still enter; one above the limit until `want` were found.
    height: u16,
}

impl SketchLimit {
    fn new(want: usize, dimensions: usize) -> Self {
        // The maximum: every dimension differs and is heavy.
        let limit = (3 * dimensions).min(usize::from(u16::MAX) - 1) as u16;
        Self { want, counts: vec![0; usize::from(limit) + 1], within: 0, limit, height: limit + 1 }
    }

    fn passed(&mut self, distance: u16) {
        self.counts[usize::from(distance)] += 1;
        self.within += 1;
        while self.limit > 0 && self.within - self.counts[usize::from(self.limit)] >= self.want {
            self.within -= self.counts[usize::from(self.limit)];
            self.limit -= 1;
        }
        self.height = if self.within >= self.want { self.limit } else { self.limit + 1 };
    }
}

/// The best candidates so far, at most `want`, in a heap with the worst on top.
struct Best {
    want: usize,
    heap: BinaryHeap<Worst>,
    /// Candidates below this similarity cannot enter.
    floor: f32,
}

impl Best {
    fn new(want: usize) -> Self {
        Self { want, heap: BinaryHeap::new(), floor: f32::NEG_INFINITY }
    }

    fn would_take(&self, candidate: &Candidate) -> bool {
        self.heap.len() < self.want || self.heap.peek().is_some_and(|worst| rank(candidate, &worst.0).is_lt())
    }

    fn offer(&mut self, candidate: Option<Candidate>) {
        if let Some(candidate) = candidate.filter(|candidate| self.would_take(candidate)) {
            self.take(candidate);
        }
    }

    fn take(&mut self, candidate: Candidate) {
        if self.heap.len() == self.want {
            self.heap.pop();
        }
        self.heap.push(Worst(candidate));
        if let Some(worst) = self.heap.peek().filter(|_| self.heap.len() == self.want) {
            self.floor = worst.0.similarity;
        }
    }

    fn into_sorted(self) -> Vec<Candidate> {
        self.heap.into_sorted_vec().into_iter().map(|worst| worst.0).collect()
    }
}

/// Orders the better candidate first: by similarity, then by key, so that results are deterministic.
fn rank(left: &Candidate, right: &Candidate) -> Ordering {
    right.similarity.total_cmp(&left.similarity).then(left.key.cmp(&right.key))
}

/// A candidate ordered so that the worst is the greatest.
struct Worst(Candidate);

impl Ord for Worst {
    fn cmp(&self, other: &Self) -> Ordering {
        rank(&self.0, &other.0)
    }
}

impl PartialOrd for Worst {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Worst {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Worst {}
