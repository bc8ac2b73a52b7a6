//! The similarity of two sentences.
//!
//! It mixes the overlap of words, weighted by rarity, with the cosine of the vectors of their texts. A vector
//! represents a whole text: it finds paraphrases, but cannot distinguish the sentences of one text, so within a text
//! only words count.

use std::collections::HashMap;

use loci_models::dot;
use loci_store::text::Analyser;

/// What the vectors are worth beside the words.
const VECTORS: f32 = 0.5;
/// A word in more sentences than this joins everything with everything, and says nothing.
const COMMON: usize = 500;
/// Maximum number of sentences that are all compared with each other by vectors; above it only those that share a word are.
const MAX_ALL_PAIRS: usize = 3_000;

/// A sentence, and the text it stands in.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SourceSentence {
    /// Its words, on one line.
    pub(super) text: String,
    /// The place of its text.
    pub(super) item: usize,
    /// Which line of its text it stands in.
    pub(super) line: usize,
}

/// All sentences, ready to be compared.
pub(super) struct Likeness {
    /// The text of each sentence.
    items: Vec<usize>,
    /// The words of each sentence with their weights; the squares of the weights add up to 1.
    words: Vec<Vec<(usize, f32)>>,
    /// The sentences that have a word, with its weight there.
    places: Vec<Vec<(usize, f32)>>,
    /// The directions of the texts; none where a text has no vector.
    vectors: Vec<Option<Vec<f32>>>,
}

impl Likeness {
    pub(super) fn new(sentences: &[SourceSentence], vectors: Option<&[Vec<f32>]>) -> Self {
        let words = weighed(sentences);
        let all = words.iter().flatten().map(|(word, _)| word + 1).max().unwrap_or(0);
        let mut places = vec![Vec::new(); all];
        for (place, words) in words.iter().enumerate() {
            words.iter().for_each(|(word, weight)| places[*word].push((place, *weight)));
        }
        let items: Vec<usize> = sentences.iter().map(|sentence| sentence.item).collect();
        Self { items, words, places, vectors: vectors.unwrap_or_default().iter().map(|v| direction(v)).collect() }
    }

    /// How alike one sentence is to each, in `0..=1`; to itself not at all.
    pub(super) fn row(&self, sentence: usize) -> Vec<f32> {
        let mut row = vec![0.0; self.items.len()];
        for (word, weight) in &self.words[sentence] {
            let places = &self.places[*word];
            if places.len() <= COMMON {
                places.iter().for_each(|(place, there)| row[*place] += weight * there);
            }
        }
        let many = row.len() > MAX_ALL_PAIRS;
        for (other, alike) in row.iter_mut().enumerate().filter(|(_, alike)| !many || **alike > 0.0) {
            if let Some(cosine) = self.cosine(self.items[sentence], self.items[other]) {
                *alike = VECTORS * cosine + (1.0 - VECTORS) * *alike;
            }
        }
        row[sentence] = 0.0;
        row
    }

    /// How alike two texts are by their vectors, if both have one.
    fn cosine(&self, one: usize, other: usize) -> Option<f32> {
        if one == other {
            return None;
        }
        let (a, b) = (self.vectors.get(one)?.as_ref()?, self.vectors.get(other)?.as_ref()?);
        (a.len() == b.len()).then(|| dot(a, b).clamp(0.0, 1.0))
    }
}

/// The words of each sentence as numbers, with their weights.
fn weighed(sentences: &[SourceSentence]) -> Vec<Vec<(usize, f32)>> {
    let analyser = Analyser::default();
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut holding: Vec<f32> = Vec::new();
    let mut counted = Vec::with_capacity(sentences.len());
    for sentence in sentences {
        let mut words: Vec<usize> = Vec::new();
        for term in analyser.terms(&sentence.text) {
            let next = numbers.len();
            words.push(*numbers.entry(term).or_insert(next));
        }
        holding.resize(numbers.len(), 0.0);
        words.sort_unstable();
        let counts: Vec<(usize, f32)> = words.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as f32)).collect();
        counts.iter().for_each(|(word, _)| holding[*word] += 1.0);
        counted.push(counts);
    }
    let all = sentences.len() as f32;
    for counts in &mut counted {
        counts.iter_mut().for_each(|(word, count)| *count = (1.0 + count.ln()) * (1.0 + all / holding[*word]).ln());
        let length = counts.iter().map(|(_, weight)| weight * weight).sum::<f32>().sqrt();
        counts.iter_mut().for_each(|(_, weight)| *weight /= length);
    }
    counted
}

/// The vector at unit length. One of zeros, or of no numbers, has no direction.
fn direction(vector: &[f32]) -> Option<Vec<f32>> {
    let length = dot(vector, vector).sqrt();
    (length > 0.0 && length.is_finite()).then(|| vector.iter().map(|x| x / length).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(sentences: &[(&str, usize)], vectors: Option<&[Vec<f32>]>) -> Vec<f32> {
        let sentences: Vec<SourceSentence> = sentences
            .iter()
            .map(|(text, item)| SourceSentence { text: (*text).to_owned(), item: *item, line: 0 })
            .collect();
        Likeness::new(&sentences, vectors).row(0)
    }

    #[test]
    fn rare_words_in_common_make_alike() {
        let row = row(
            &[
                ("The deployment failed in Lisbon", 0),
                ("Deployments are failing in Lisbon", 1),
                ("The deployment went well", 2),
                ("The deployment of the parser", 3),
                ("Ana drinks tea", 4),
            ],
            None,
        );
        assert_eq!(row[0], 0.0, "to itself");
        assert!(row[1] > 0.99, "{row:?}");
        assert!(row[2] < 0.5 && row[2] > 0.0, "{row:?}");
        assert_eq!(row[4], 0.0);
    }

    #[test]
    fn vectors_find_what_is_said_in_other_words() {
        let sentences = [("Ana is fond of cats", 0), ("Felines delight the woman", 1), ("The bus was late", 2)];
        let vectors = [vec![2.0, 0.0], vec![3.0, 0.0], vec![0.0, 1.0]];
        assert_eq!(row(&sentences, None), [0.0, 0.0, 0.0]);
        assert_eq!(row(&sentences, Some(&vectors)), [0.0, 0.5, 0.0]);
        for bad in [vec![0.0, 0.0], vec![f32::NAN, 1.0], vec![], vec![1.0, 2.0, 3.0]] {
            let vectors = [vectors[0].clone(), bad, vectors[2].clone()];
            assert_eq!(row(&sentences, Some(&vectors)), [0.0, 0.0, 0.0]);
        }
    }

    #[test]
    fn within_a_text_only_the_words_decide() {
        let sentences = [("Ana likes green tea", 0), ("The bus was late", 0), ("Green tea is sold out", 0)];
        let row = row(&sentences, Some(&[vec![1.0, 0.0]]));
        assert_eq!(row[1], 0.0);
        assert!(row[2] > 0.3, "{row:?}");
    }
}
