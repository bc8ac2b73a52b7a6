//! Who is nearest?
//!
//! Two ways to the same answer. A short array is scanned by its codes. A long one is scanned by its sketches, an
//! eighth of the memory, and the codes of the best few hundred decide. The filter is asked inside the scan, of those
//! who would enter only, so what it rejects takes nobody's place: the result never starves.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::arrays::{Arrays, place};
use super::block::{Block, ROWS};
use super::code::{self, SILENT};
use super::kernel::{self, LANES};
use super::query::{Coded, Query};

/// Up to this many slots the codes are scanned directly: it is exact up to rounding, and quick enough.
pub(super) const DIRECT: usize = 12_000;

/// How many the sketches hand to the codes: at least this many,
const SHORTLIST: usize = 500;

/// one more for so many slots, since a longer array has more that are nearly as near,
const SLOTS_PER_SHORTLISTED: usize = 2_000;

/// and no fewer than this many for each one wanted.
const SHORTLISTED_PER_WANTED: usize = 12;

/// Distances looked at together before any is looked at alone.
const STRIDE: usize = 32;

/// A key and its estimated cosine with the query.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// Whose vector it is.
    pub key: i64,
    /// The cosine, estimated from codes: in [-1, 1], off by about a thousandth.
    pub similarity: f32,
}

/// What a search over several arrays found.
#[derive(Debug, Default)]
pub struct Candidates {
    /// Those whose codes were compared, best first.
    pub ranked: Vec<Candidate>,
    /// The shortlist from arrays without codes, in no order: only exact vectors can decide.
    pub undecided: Vec<i64>,
}

impl Arrays {
    /// The `want` nearest by estimated cosine, best first; equals by key. `keep` is asked only of those who would
    /// enter the result. A query of another length, or without direction, finds nothing. For arrays with codes.
    pub fn nearest(&self, query: &Query, want: usize, keep: &dyn Fn(i64) -> bool) -> Vec<Candidate> {
        self.search(query, want, &|_, key| keep(key)).ranked
    }

    /// The `want` nearest among `keys`; keys that are not held, and repeats, do not matter. For a filter that leaves
    /// few, this looks at these few and at nothing else. For arrays with codes.
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

    /// Every code, in order. `bias` is what a row's estimate has beyond its code.
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

    /// What the code of a slot says; none if it has no direction.
    fn candidate(&self, query: &Coded, slot: u32) -> Option<Candidate> {
        let (block, row) = place(slot);
        let block = &self.blocks[block];
        let mut product = [0];
        kernel::products(&query.codes, block.code(row, self.layout.dimensions), &mut product);
        let bias = block.biases.get(row).map_or(0.0, |bias| bias + query.offset);
        let similarity = similarity(product[0], block.scales[row], query, bias);
        (block.scales[row] != SILENT).then_some(Candidate { key: block.keys[row], similarity })
    }

    /// The sketches that are near enough to matter still, with their distances, in no order.
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
                // Nearly all strides hold nobody near enough, and this says so without a branch per row.
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

/// The `want` nearest over several arrays, as if they were one: together they decide whether the sketches are worth
/// asking, so that a thousand small scopes cost no more than one large one. With `among`, only these keys are looked at.
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

/// A shortlist by sketches, of which the codes choose. Arrays without a mean share one shortlist; distances from
/// different means do not compare, so each centred array has its own.
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

/// How near must a sketch be to matter still? Counts by distance, and sinks as nearer ones are found: a heap's answer
/// at the price of an addition.
struct SketchLimit {
    want: usize,
    counts: Vec<usize>,
    /// How many have been found within the limit.
    within: usize,
    /// The distance within which at least `want` have been found, once they have.
    limit: u16,
    /// Only what is below may still enter: the limit itself, too, until that is full.
    height: u16,
}

impl SketchLimit {
    fn new(want: usize, dimensions: usize) -> Self {
        // Every dimension differs, and every one is heavy.
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

/// The best so far, never more than wanted; the worst of them on top.
struct Best {
    want: usize,
    heap: BinaryHeap<Worst>,
    /// Who is less similar need not ask.
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

/// Better first: by similarity, then by key, so that the same question has the same answer.
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
