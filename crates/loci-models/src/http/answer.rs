//! Parsing of the answer to an embeddings call, as OpenAI and as Cohere give it.
//!
//! Services that are called compatible omit fields, add their own and encode vectors differently, so only the needed
//! fields are read. These are checked strictly: every text has exactly one vector, and every number is finite.

use serde::Deserialize;

/// The answer to an embeddings call.
#[derive(Debug, Deserialize)]
pub(super) struct Answer {
    data: Vec<Item>,
}

#[derive(Debug, Deserialize)]
struct Item {
    /// The index of the text. If it is missing, the order of the answer counts.
    #[serde(default)]
    index: Option<usize>,
    embedding: EncodedVector,
}

/// A vector, as JSON numbers or as base64 of little-endian 32-bit floats.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum EncodedVector {
    Plain(Vec<f32>),
    Base64(String),
}

impl Answer {
    /// Returns the vectors in the order of the `count` texts, or what is wrong with the answer.
    pub(super) fn vectors(self, count: usize) -> Result<Vec<Vec<f32>>, String> {
        if self.data.len() != count {
            return Err(format!("it has {} vectors for {count} texts", self.data.len()));
        }
        let mut vectors = vec![Vec::new(); count];
        for (position, item) in self.data.into_iter().enumerate() {
            let index = item.index.unwrap_or(position);
            let place = vectors.get_mut(index).ok_or_else(|| format!("data[{position}].index is {index}"))?;
            if !place.is_empty() {
                return Err(format!("data[{position}].index is {index}, which is repeated"));
            }
            let vector = item.embedding.read().map_err(|problem| format!("data[{position}].embedding {problem}"))?;
            *place = vector;
        }
        Ok(vectors)
    }
}

/// The answer of Cohere to an embed call.
#[derive(Debug, Deserialize)]
pub(super) struct CohereAnswer {
    embeddings: CohereVectors,
}

/// The vectors by their type, of which one was asked for.
#[derive(Debug, Deserialize)]
struct CohereVectors {
    float: Vec<Vec<f32>>,
}

impl CohereAnswer {
    /// Returns the vectors in the order of the `count` texts, or what is wrong with the answer.
    pub(super) fn vectors(self, count: usize) -> Result<Vec<Vec<f32>>, String> {
        let vectors = self.embeddings.float;
        if vectors.len() != count {
            return Err(format!("it has {} vectors for {count} texts", vectors.len()));
        }
        let checked = vectors.into_iter().enumerate().map(|(position, vector)| {
            let problem = |problem| format!("embeddings.float[{position}] {problem}");
            EncodedVector::Plain(vector).read().map_err(problem)
        });
        checked.collect()
    }
}

impl EncodedVector {
    fn read(self) -> Result<Vec<f32>, &'static str> {
        let vector = match self {
            Self::Plain(vector) => vector,
            Self::Base64(text) => {
                let bytes = data_encoding::BASE64.decode(text.as_bytes()).map_err(|_| "is not base64")?;
                let (numbers, rest) = bytes.as_chunks::<4>();
                if !rest.is_empty() {
                    return Err("is not made of 32-bit numbers");
                }
                numbers.iter().map(|&number| f32::from_le_bytes(number)).collect()
            }
        };
        if vector.is_empty() {
            return Err("is empty");
        }
        if vector.iter().any(|x| !x.is_finite()) {
            return Err("has a number that is not finite");
        }
        Ok(vector)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(count: usize, json: &str, expected: Result<Vec<Vec<f32>>, &str>) {
        let answer: Answer = serde_json::from_str(json).unwrap();
        assert_eq!(answer.vectors(count), expected.map_err(str::to_owned), "{json}");
    }

    #[test]
    fn answers_are_read_leniently_and_checked_strictly() {
        let two = Ok(vec![vec![1.0], vec![2.0]]);
        check(2, r#"{"data":[{"embedding":[1]},{"embedding":[2]}]}"#, two.clone());
        check(2, r#"{"data":[{"index":1,"embedding":[2]},{"index":0,"embedding":[1]}],"usage":null}"#, two.clone());
        check(2, r#"{"data":[{"index":null,"embedding":"AACAPw=="},{"embedding":"AAAAQA==","x":1}]}"#, two);
        check(0, r#"{"data":[]}"#, Ok(vec![]));
        check(2, r#"{"data":[{"embedding":[1]}]}"#, Err("it has 1 vectors for 2 texts"));
        check(1, r#"{"data":[{"index":5,"embedding":[1]}]}"#, Err("data[0].index is 5"));
        check(1, r#"{"data":[{"embedding":[]}]}"#, Err("data[0].embedding is empty"));
        check(1, r#"{"data":[{"embedding":"AACA"}]}"#, Err("data[0].embedding is not made of 32-bit numbers"));
        check(1, r#"{"data":[{"embedding":"?"}]}"#, Err("data[0].embedding is not base64"));
        check(1, r#"{"data":[{"embedding":"AADAfw=="}]}"#, Err("data[0].embedding has a number that is not finite"));
        check(
            2,
            r#"{"data":[{"index":0,"embedding":[1]},{"index":0,"embedding":[1]}]}"#,
            Err("data[1].index is 0, which is repeated"),
        );
    }
}
