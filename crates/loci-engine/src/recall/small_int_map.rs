//! A small map from integers, for very frequent lookups.
//!
//! It holds a few dozen keys and is read hundreds of thousands of times per query, mostly without a match. The hash
//! of a general map would cost more than the whole query may.

/// A map from small integers to indices.
pub(crate) struct SmallIntMap {
    slots: Vec<Option<(u64, u32)>>,
    count: u32,
}

impl SmallIntMap {
    /// A map with room for this number of keys.
    pub(crate) fn for_most(numbers: usize) -> Self {
        Self { slots: vec![None; (numbers * 4).next_power_of_two().max(16)], count: 0 }
    }

    /// The place of a number, which is put behind the others if it is new.
    pub(crate) fn insert(&mut self, number: u64) -> usize {
        let mut at = self.start(number);
        loop {
            match self.slots[at] {
                Some((known, place)) if known == number => return place as usize,
                Some(_) => at = (at + 1) & (self.slots.len() - 1),
                None => {
                    let place = self.count;
                    self.slots[at] = Some((number, place));
                    self.count += 1;
                    return place as usize;
                }
            }
        }
    }

    /// The place of a number that was put in.
    pub(crate) fn find(&self, number: u64) -> Option<usize> {
        let mut at = self.start(number);
        while let Some((known, place)) = self.slots[at] {
            if known == number {
                return Some(place as usize);
            }
            at = (at + 1) & (self.slots.len() - 1);
        }
        None
    }

    /// Number of keys.
    pub(crate) fn len(&self) -> usize {
        self.count as usize
    }

    fn start(&self, number: u64) -> usize {
        // Fibonacci hashing: the high bits of the product are well mixed.
        (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as usize & (self.slots.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_places() {
        let mut lookup = SmallIntMap::for_most(100);
        for number in (0..100_u64).chain(0..100) {
            assert_eq!(lookup.insert(number.wrapping_mul(0x1_0000_0001)), number as usize);
        }
        assert_eq!(lookup.find(0x1_0000_0001 * 99), Some(99));
        assert_eq!(lookup.find(7_777), None);
    }
}
