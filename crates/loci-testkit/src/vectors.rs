//! Vectors for tests, without a model.

use loci_types::fnv1a;

/// Computes a vector of unit length: the sum of one pseudo-random vector per word. Texts with common words are similar;
/// their meaning is ignored.
pub fn hashed_vector(text: &str, dimensions: usize) -> Vec<f32> {
    let mut sum = vec![0.0_f32; dimensions];
    for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let mut state = fnv1a(word.as_bytes());
        for value in &mut sum {
            state = mix(state);
            *value += (state >> 40) as f32 / (1_u64 << 23) as f32 - 1.0;
        }
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        sum.iter_mut().for_each(|value| *value /= length);
    }
    sum
}

/// Returns the next number of a pseudo-random sequence (SplitMix64).
pub(crate) fn mix(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cosine(a: &str, b: &str) -> f32 {
        hashed_vector(a, 64).iter().zip(hashed_vector(b, 64)).map(|(x, y)| x * y).sum()
    }

    #[test]
    fn shared_words_bring_texts_together() {
        assert!((cosine("a red boat", "A red boat!") - 1.0).abs() < 1e-5);
        assert!(cosine("a red boat", "the red boat") > cosine("a red boat", "seven quiet owls"));
        assert!(hashed_vector("", 8).iter().all(|value| *value == 0.0));
    }
}
