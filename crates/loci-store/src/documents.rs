//! Which texts share words with a question, without an index of words?
//!
//! Each scope holds the terms of its texts as numbers, one text behind the other, and a question is answered by walking
//! through them. A term is four bytes, so that the texts of 10,000 memories are less than a megabyte and are walked in
//! a fraction of a millisecond. There is nothing to build: an insert is an append, a delete a mark.
//!
//! Pure: no I/O. A number is a fingerprint of its term. Of 400,000 words that are
//! asked for, one shares its number by chance with another word among the 10,000 of a large scope; a memory is weighed
//! then that had no need to be.
//!
//! **Invariant.** A key is held once. What was let go is never found, and no longer counts for anything.

use multiversion::multiversion;

use crate::vectors::Keys;

/// The key of a place that is free.
const GONE: i64 = i64::MIN;

/// So many terms are looked at together: the processor compares them at once, and most hold nothing that is asked for.
const TOGETHER: usize = 64;

/// Below so many terms or texts that were let go nobody makes room.
const CLUTTER: usize = 1 << 14;

/// The number that stands for a term: FNV-1a of 64 bits, its halves laid over each other. It is written to files.
pub(crate) fn fingerprint(term: &str) -> u32 {
    let hash = loci_types::fnv1a(term.as_bytes());
    (hash ^ (hash >> 32)) as u32
}

/// The texts of one scope.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    keys: Vec<i64>,
    /// Where the terms of each text end.
    ends: Vec<u32>,
    terms: Vec<u32>,
    /// In which place lies the text of a key.
    places: Keys,
    /// How many terms the texts that are held have.
    length: usize,
}

/// Where the terms of a question occur: in which text, and which of them.
struct Match {
    place: u32,
    term: u32,
}

/// What the terms of a question found in one scope.
pub(crate) struct Found<'d> {
    documents: &'d Documents,
    matches: Vec<Match>,
    /// How many texts have each term.
    pub(crate) bearers: Vec<u64>,
}

impl Documents {
    /// Room for so many texts with so many terms together, taken at once: what grows leaves its old room to an allocator
    /// that keeps it.
    pub(crate) fn expecting(texts: usize, terms: usize) -> Self {
        let (keys, ends, terms) = (Vec::with_capacity(texts), Vec::with_capacity(texts), Vec::with_capacity(terms));
        Self { keys, ends, terms, ..Self::default() }
    }

    /// Holds a text under a key, in place of an older one.
    pub(crate) fn insert(&mut self, key: i64, terms: impl Iterator<Item = u32> + Clone) {
        if let Some(place) = self.places.find(key, |place| self.keys[place as usize]) {
            // Most of what is done to a memory leaves its words as they are.
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

    /// Lets go of a key.
    pub(crate) fn remove(&mut self, key: i64) {
        let Some(place) = self.places.remove(key, |place| self.keys[place as usize]) else { return };
        let place = place as usize;
        self.keys[place] = GONE;
        self.length -= self.span(place).len();
        let (terms, keys) = (self.terms.len() - self.length, self.keys.len() - self.len());
        if terms > self.length.max(CLUTTER) || keys > self.len().max(CLUTTER) {
            self.tidy();
        }
    }

    /// Takes the room of what was let go.
    fn tidy(&mut self) {
        let old = std::mem::take(self);
        for (place, key) in old.keys.iter().enumerate().filter(|(_, key)| **key != GONE) {
            self.insert(*key, old.terms[old.span(place)].iter().copied());
        }
    }

    fn span(&self, place: usize) -> std::ops::Range<usize> {
        let start = if place == 0 { 0 } else { self.ends[place - 1] as usize };
        start..self.ends[place] as usize
    }

    /// How many texts are held.
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// How many terms they have together.
    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Resident bytes.
    pub(crate) fn bytes(&self) -> usize {
        8 * self.keys.capacity() + 4 * self.ends.capacity() + 4 * self.terms.capacity() + self.places.bytes()
    }

    /// Looks for the terms of a question, each given once.
    pub(crate) fn find(&self, asked: &[u32]) -> Found<'_> {
        let mut places = Vec::new();
        scan(&self.terms, asked, &mut places);
        let mut matches = Vec::with_capacity(places.len());
        let mut bearers = vec![0; asked.len()];
        let mut last = vec![u32::MAX; asked.len()];
        let mut first = 0;
        for (at, term) in places {
            // What was found together is in order of the terms, not of the texts.
            let start = at - at % TOGETHER as u32;
            first += self.ends[first..].iter().take_while(|end| **end <= start).count();
            let place = first + self.ends[first..].iter().take_while(|end| **end <= at).count();
            if self.keys[place] == GONE {
                continue;
            }
            let found = Match { place: place as u32, term };
            if last[term as usize] != found.place {
                last[term as usize] = found.place;
                bearers[term as usize] += 1;
            }
            matches.push(found);
        }
        Found { documents: self, matches, bearers }
    }
}

/// Where which of the wanted terms stand, a stretch after the other.
#[multiversion(targets = "simd")]
fn scan(terms: &[u32], asked: &[u32], places: &mut Vec<(u32, u32)>) {
    for (number, stretch) in terms.chunks(TOGETHER).enumerate() {
        for (term, wanted) in asked.iter().enumerate() {
            if !stretch.iter().fold(false, |held, term| held | (term == wanted)) {
                continue;
            }
            // A bit for each place: who is common is found often, and a walk over all places would cost more than the rest.
            let bits =
                stretch.iter().enumerate().fold(0_u64, |bits, (bit, held)| bits | (u64::from(held == wanted) << bit));
            let mut left = bits;
            while left != 0 {
                places.push(((number * TOGETHER) as u32 + left.trailing_zeros(), term as u32));
                left &= left - 1;
            }
        }
    }
}

/// How many texts there are in all scopes that are asked, and how long they usually are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usual {
    pub(crate) documents: f64,
    pub(crate) length: f64,
}

impl Found<'_> {
    /// The texts with their scores, in no order: BM25 with the usual 1.2 and 0.75. How rare a word is counts within its scope.
    pub(crate) fn scores(&self, usual: Usual) -> Vec<(i64, f64)> {
        let weights: Vec<f64> = self.bearers.iter().map(|bearers| weight(usual.documents, *bearers as f64)).collect();
        let mut scores = vec![0.0; self.documents.keys.len()];
        // Texts come in order for each term, so that how often one has it is known when the next one comes.
        let mut runs: Vec<(u32, f64)> = vec![(u32::MAX, 0.0); weights.len()];
        let mut add = |(place, times): (u32, f64), term: usize| {
            if times > 0.0 {
                let length = self.documents.span(place as usize).len() as f64;
                let dampened = times + 1.2 * (0.25 + 0.75 * length / usual.length);
                scores[place as usize] += weights[term] * times * 2.2 / dampened;
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
        let scored = self.documents.keys.iter().zip(scores);
        scored.filter(|(_, score)| *score > 0.0).map(|(key, score)| (*key, score)).collect()
    }
}

fn weight(documents: f64, bearers: f64) -> f64 {
    ((documents.max(bearers) - bearers + 0.5) / (bearers + 0.5)).ln().max(1e-6)
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

    /// The same by the definition, one text after the other.
    fn by_hand(texts: &BTreeMap<i64, Vec<u32>>, asked: &[u32], usual: Usual) -> BTreeMap<i64, f64> {
        let mut scores = BTreeMap::new();
        for (key, terms) in texts {
            let mut score = 0.0;
            for wanted in asked {
                let times = terms.iter().filter(|term| *term == wanted).count() as f64;
                let bearers = texts.values().filter(|terms| terms.contains(wanted)).count() as f64;
                let dampened = times + 1.2 * (0.25 + 0.75 * terms.len() as f64 / usual.length);
                score += weight(usual.documents, bearers) * times * 2.2 / dampened;
            }
            if score > 0.0 {
                scores.insert(*key, score);
            }
        }
        scores
    }

    proptest! {
        /// Whatever comes and goes, a scan finds what a look at every text finds.
        #[test]
        fn a_scan_scores_as_the_definition_does(
            steps in prop::collection::vec((0..40i64, prop::option::of(prop::collection::vec(0..12u32, 0..90))), 0..120),
            asked in prop::collection::btree_set(0..14u32, 0..6),
        ) {
            let (mut documents, mut texts) = (Documents::default(), BTreeMap::new());
            for (key, text) in steps {
                match text {
                    Some(terms) => {
                        documents.insert(key, terms.iter().copied());
                        texts.insert(key, terms);
                    }
                    None => {
                        documents.remove(key);
                        texts.remove(&key);
                    }
                }
            }
            let length: usize = texts.values().map(Vec::len).sum();
            prop_assert_eq!((documents.len(), documents.length()), (texts.len(), length));
            let asked: Vec<u32> = asked.into_iter().collect();
            let usual = Usual {
                documents: texts.len() as f64,
                length: (length as f64 / texts.len().max(1) as f64).max(1.0),
            };
            let found: BTreeMap<i64, f64> = documents.find(&asked).scores(usual).into_iter().collect();
            let expected = by_hand(&texts, &asked, usual);
            prop_assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
            for (key, score) in expected {
                prop_assert!((found[&key] - score).abs() < 1e-9);
            }
        }
    }

    /// Room that was left is taken again, and nothing is lost by it.
    #[test]
    fn what_was_let_go_makes_room() {
        let mut documents = Documents::default();
        for round in 0..50 {
            for key in 0..200 {
                documents.insert(key, [round, key as u32 + 1_000].into_iter().cycle().take(20));
            }
        }
        assert!(documents.bytes() < 4 * 200 * 20 * 50 / 2, "{}", documents.bytes());
        let usual = Usual { documents: 200.0, length: 20.0 };
        assert_eq!(documents.find(&[49]).bearers, [200]);
        assert_eq!(documents.find(&[48]).bearers, [0]);
        let only: Vec<i64> = documents.find(&[1_007]).scores(usual).into_iter().map(|(key, _)| key).collect();
        assert_eq!(only, [7]);
    }
}
