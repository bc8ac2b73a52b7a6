//! Finds the texts of a scope that contain the terms of a query, and scores them by BM25.
//!
//! The terms of all texts are stored as numbers in one array, text after text, and a query scans it. A term is four
//! bytes, so that the texts of 10,000 memories take less than a megabyte and are scanned in a fraction of a
//! millisecond. No index is built: an insert is an append, a removal a tombstone.
//!
//! Pure: no I/O. The number of a term is a 32-bit fingerprint. With 10,000 distinct terms in a scope the chance that a
//! query term shares its fingerprint with another one is about 1 in 430,000; a collision only adds a false candidate.
//!
//! **Invariant.** A key occurs once. A removed text is neither found nor counted.

use multiversion::multiversion;

use crate::vectors::Keys;

/// The key of a removed text.
const GONE: i64 = i64::MIN;

/// Number of terms compared as one block: this takes a few vector instructions, and most blocks contain no match.
const BLOCK: usize = 64;

/// Minimum number of removed terms or texts before the arrays are compacted.
const CLUTTER: usize = 1 << 14;

/// If fewer than one text in this number matches, scores are collected for the matching texts only; an array over all
/// texts would cost each query eight bytes per text.
const FEW: usize = 16;

/// The fingerprint of a term: 64-bit FNV-1a, folded to 32 bits. It is part of the file format.
pub(crate) fn fingerprint(term: &str) -> u32 {
    let hash = loci_types::fnv1a(term.as_bytes());
    (hash ^ (hash >> 32)) as u32
}

/// Terms as a file stores them: their fingerprints, little-endian.
pub(crate) fn encode(terms: &[String]) -> Vec<u8> {
    terms.iter().flat_map(|term| fingerprint(term).to_le_bytes()).collect()
}

/// The fingerprints that [`encode`] wrote.
pub(crate) fn decode(bytes: &[u8]) -> impl Iterator<Item = u32> + Clone {
    bytes.chunks_exact(4).map(|four| u32::from_le_bytes([four[0], four[1], four[2], four[3]]))
}

/// The terms of the texts of one scope.
#[derive(Debug, Default)]
pub(crate) struct TermScan {
    keys: Vec<i64>,
    /// Where the terms of each text end.
    ends: Vec<u32>,
    terms: Vec<u32>,
    /// The place of each key.
    places: Keys,
    /// Number of terms in all texts that were not removed.
    length: usize,
}

/// One occurrence of a query term: the place of its text, and the number of the term in the query.
struct Match {
    place: u32,
    term: u32,
}

/// The occurrences of the query terms in one scope.
pub(crate) struct Matches<'d> {
    texts: &'d TermScan,
    matches: Vec<Match>,
    /// Number of texts that contain each term.
    pub(crate) document_frequency: Vec<u64>,
}

impl TermScan {
    /// Reserves memory for this number of texts and terms, because growing arrays fragment the heap.
    pub(crate) fn with_capacity(texts: usize, terms: usize) -> Self {
        let (keys, ends, terms) = (Vec::with_capacity(texts), Vec::with_capacity(texts), Vec::with_capacity(terms));
        Self { keys, ends, terms, ..Self::default() }
    }

    /// Inserts a text, replacing an older one with the same key.
    pub(crate) fn insert(&mut self, key: i64, terms: impl Iterator<Item = u32> + Clone) {
        if let Some(place) = self.places.find(key, |place| self.keys[place as usize]) {
            // Most changes of a memory leave its terms as they are.
            if self.terms[self.span(place as usize)].iter().copied().eq(terms.clone()) {
                return;
            }
            self.remove(key);
        }
        let (before, place) = (self.terms.len(), self.keys.len() as u32);
        self.terms.extend(terms);
        self.keys.push(key);
        self.ends.push(self.terms.len() as u32);
        self.places.insert(key, place, |place| self.keys[place as usize]);
        self.length += self.terms.len() - before;
    }

    /// Removes a text.
    pub(crate) fn remove(&mut self, key: i64) {
        let Some(place) = self.places.remove(key, |place| self.keys[place as usize]) else { return };
        let place = place as usize;
        self.keys[place] = GONE;
        self.length -= self.span(place).len();
        let (terms, keys) = (self.terms.len() - self.length, self.keys.len() - self.len());
        if terms > self.length.max(CLUTTER) || keys > self.len().max(CLUTTER) {
            self.compact();
        }
    }

    /// Rebuilds the arrays without the removed texts.
    fn compact(&mut self) {
        let old = std::mem::take(self);
        for (place, key) in old.keys.iter().enumerate().filter(|(_, key)| **key != GONE) {
            self.insert(*key, old.terms[old.span(place)].iter().copied());
        }
    }

    fn span(&self, place: usize) -> std::ops::Range<usize> {
        let start = if place == 0 { 0 } else { self.ends[place - 1] as usize };
        start..self.ends[place] as usize
    }

    /// Number of texts.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Number of terms in all texts.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Allocated bytes.
    pub(crate) fn bytes(&self) -> usize {
        8 * self.keys.capacity() + 4 * self.ends.capacity() + 4 * self.terms.capacity() + self.places.bytes()
    }

    /// Finds the terms of a query, which must be distinct.
    pub(crate) fn find(&self, asked: &[u32]) -> Matches<'_> {
        let mut places = Vec::new();
        scan(&self.terms, asked, &mut places);
        let mut matches = Vec::with_capacity(places.len());
        let mut document_frequency = vec![0; asked.len()];
        let mut last = vec![u32::MAX; asked.len()];
        let mut first = 0;
        for (at, term) in places {
            // Within a block matches are in the order of the query terms, not of the texts.
            let start = at - at % BLOCK as u32;
            first += self.ends[first..].iter().take_while(|end| **end <= start).count();
            let place = first + self.ends[first..].iter().take_while(|end| **end <= at).count();
            if self.keys[place] == GONE {
                continue;
            }
            let found = Match { place: place as u32, term };
            if last[term as usize] != found.place {
                last[term as usize] = found.place;
                document_frequency[term as usize] += 1;
            }
            matches.push(found);
        }
        Matches { texts: self, matches, document_frequency }
    }
}

/// The positions of the query terms, block by block.
#[multiversion(targets = "simd")]
fn scan(terms: &[u32], asked: &[u32], places: &mut Vec<(u32, u32)>) {
    for (number, block) in terms.chunks(BLOCK).enumerate() {
        for (term, wanted) in asked.iter().enumerate() {
            if !block.iter().fold(false, |held, term| held | (term == wanted)) {
                continue;
            }
            // One bit per position, because a branch per position is slow for common terms.
            let bits =
                block.iter().enumerate().fold(0_u64, |bits, (bit, held)| bits | (u64::from(held == wanted) << bit));
            let mut left = bits;
            while left != 0 {
                places.push(((number * BLOCK) as u32 + left.trailing_zeros(), term as u32));
                left &= left - 1;
            }
        }
    }
}

/// Number and average length of the texts in all scopes of a query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CorpusStats {
    pub(crate) documents: f64,
    pub(crate) average_length: f64,
}

impl CorpusStats {
    /// The statistics of this number of texts with this number of terms.
    pub(crate) fn of(documents: usize, terms: usize) -> Self {
        let average = terms as f64 / documents.max(1) as f64;
        Self { documents: documents as f64, average_length: average.max(1.0) }
    }
}

impl Matches<'_> {
    /// The matching texts with their BM25 scores (k1 = 1.2, b = 0.75), in no order.
    pub(crate) fn scores(&self, stats: CorpusStats) -> Vec<(i64, f64)> {
        let weights: Vec<f64> =
            self.document_frequency.iter().map(|frequency| weight(stats.documents, *frequency as f64)).collect();
        let keys = &self.texts.keys;
        // Few matches are collected and sorted; many are summed in an array as long as the scope.
        let few = self.matches.len() < keys.len() / FEW;
        let mut sorted: Vec<(u32, f64)> = Vec::new();
        let mut dense = vec![0.0; if few { 0 } else { keys.len() }];
        // The matches of each term are in the order of the texts, so a count is complete when the next text begins.
        let mut runs: Vec<(u32, f64)> = vec![(u32::MAX, 0.0); weights.len()];
        let mut add = |(place, times): (u32, f64), term: usize| {
            if times > 0.0 {
                let length = self.texts.span(place as usize).len() as f64;
                let dampened = times + 1.2 * (0.25 + 0.75 * length / stats.average_length);
                let score = weights[term] * times * 2.2 / dampened;
                if few { sorted.push((place, score)) } else { dense[place as usize] += score }
            }
        };
        for Match { place, term } in &self.matches {
            let run = &mut runs[*term as usize];
            if run.0 != *place {
                add(std::mem::replace(run, (*place, 0.0)), *term as usize);
            }
            run.1 += 1.0;
        }
        runs.into_iter().enumerate().for_each(|(term, run)| add(run, term));
        if few {
            sorted.sort_by_key(|(place, _)| *place);
            sorted.dedup_by(|next, kept| {
                let same = next.0 == kept.0;
                kept.1 += if same { next.1 } else { 0.0 };
                same
            });
            return sorted.into_iter().map(|(place, score)| (keys[place as usize], score)).collect();
        }
        let scored = keys.iter().zip(dense);
        scored.filter(|(_, score)| *score > 0.0).map(|(key, score)| (*key, score)).collect()
    }
}

/// The weight of a term by its document frequency.
fn weight(documents: f64, frequency: f64) -> f64 {
    ((documents.max(frequency) - frequency + 0.5) / (frequency + 0.5)).ln().max(1e-6)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_fingerprint_is_part_of_the_file_format() {
        assert_eq!(["", "lantern", "кошк"].map(fingerprint), [0x4fd0_bfc1, 0xc648_aed3, 0xa6b2_cb30]);
    }

    /// BM25 by its definition, text by text.
    fn by_definition(texts: &BTreeMap<i64, Vec<u32>>, asked: &[u32], stats: CorpusStats) -> BTreeMap<i64, f64> {
        let mut scores = BTreeMap::new();
        for (key, terms) in texts {
            let mut score = 0.0;
            for wanted in asked {
                let times = terms.iter().filter(|term| *term == wanted).count() as f64;
                let frequency = texts.values().filter(|terms| terms.contains(wanted)).count() as f64;
                let dampened = times + 1.2 * (0.25 + 0.75 * terms.len() as f64 / stats.average_length);
                score += weight(stats.documents, frequency) * times * 2.2 / dampened;
            }
            if score > 0.0 {
                scores.insert(*key, score);
            }
        }
        scores
    }

    proptest! {
        /// After any inserts and removals a scan scores as the definition does.
        #[test]
        fn a_scan_scores_as_the_definition_does(
            steps in prop::collection::vec((0..40i64, prop::option::of(prop::collection::vec(0..12u32, 0..90))), 0..120),
            asked in prop::collection::btree_set(0..14u32, 0..6),
        ) {
            let (mut scan, mut texts) = (TermScan::default(), BTreeMap::new());
            for (key, text) in steps {
                match text {
                    Some(terms) => {
                        scan.insert(key, terms.iter().copied());
                        texts.insert(key, terms);
                    }
                    None => {
                        scan.remove(key);
                        texts.remove(&key);
                    }
                }
            }
            let length: usize = texts.values().map(Vec::len).sum();
            prop_assert_eq!((scan.len(), scan.length()), (texts.len(), length));
            let asked: Vec<u32> = asked.into_iter().collect();
            let stats = CorpusStats::of(texts.len(), length);
            let found: BTreeMap<i64, f64> = scan.find(&asked).scores(stats).into_iter().collect();
            let expected = by_definition(&texts, &asked, stats);
            prop_assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
            for (key, score) in expected {
                prop_assert!((found[&key] - score).abs() < 1e-9);
            }
        }
    }

    /// Scores few matches among many texts, which are collected sparsely.
    #[test]
    fn few_matches_score_as_the_definition_does() {
        let (mut scan, mut texts) = (TermScan::default(), BTreeMap::new());
        for key in 0..2_000 {
            let terms = [key % 97, key % 89 + 100, key % 83 + 200, key % 97].map(|term| term as u32);
            scan.insert(key, terms.iter().copied());
            texts.insert(key, terms.to_vec());
        }
        let (asked, stats) = ([3, 103, 203], CorpusStats::of(2_000, 8_000));
        let matches = scan.find(&asked);
        assert!(matches.matches.len() < 2_000 / FEW);
        let found = matches.scores(stats);
        let expected = by_definition(&texts, &asked, stats);
        assert_eq!(found.iter().map(|(key, _)| key).collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
        assert!(found.iter().all(|(key, score)| (expected[key] - score).abs() < 1e-9));
    }

    /// The memory of removed texts is used again, and no other text is lost.
    #[test]
    fn removed_texts_are_compacted_away() {
        let mut scan = TermScan::default();
        for round in 0..50 {
            for key in 0..200 {
                scan.insert(key, [round, key as u32 + 1_000].into_iter().cycle().take(20));
            }
        }
        assert!(scan.bytes() < 4 * 200 * 20 * 50 / 2, "{}", scan.bytes());
        let stats = CorpusStats::of(200, 200 * 20);
        assert_eq!(scan.find(&[49]).document_frequency, [200]);
        assert_eq!(scan.find(&[48]).document_frequency, [0]);
        let only: Vec<i64> = scan.find(&[1_007]).scores(stats).into_iter().map(|(key, _)| key).collect();
        assert_eq!(only, [7]);
    }
}
