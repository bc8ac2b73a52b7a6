//! Computes the projection matrix of a model: the few directions that preserve most of its token states.
//!
//! `cargo run --release -p loci-models --example projection -- MODEL_FOLDER OUT` writes the matrix
//! that `projection.rs` reads. The states come from sentences of words drawn from the model's own
//! vocabulary with a fixed seed, so the result depends on the model and on nothing else.

use std::path::Path;

use loci_models::projection::DIMENSIONS;
use loci_models::{Detail, Local};

const SENTENCES: usize = 6_000;
const WORDS: usize = 12;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, folder, out] = arguments.as_slice() else { return Err("give MODEL_FOLDER and OUT".into()) };
    let words = vocabulary(Path::new(folder))?;
    let model = Local::load(Path::new(folder))?;
    let mut draw = Draw(0x10C1);
    let mut moments: Vec<f64> = Vec::new();
    for _ in 0..SENTENCES / 60 {
        let texts: Vec<String> = (0..60)
            .map(|_| (0..WORDS).map(|_| words[draw.below(words.len())].as_str()).collect::<Vec<_>>().join(" "))
            .collect();
        for embedding in model.embed_blocking(&texts, Detail::Tokens)? {
            for token in &embedding.tokens {
                let width = token.state.len();
                moments.resize(width * width, 0.0);
                for (row, a) in token.state.iter().enumerate() {
                    for (sum, b) in moments[row * width..][..width].iter_mut().zip(&token.state) {
                        *sum += f64::from(a * b);
                    }
                }
            }
        }
    }
    let width = moments.len().isqrt();
    let directions = turned(principal(&moments, width, &mut draw), width, &mut draw);
    let bytes: Vec<u8> = directions
        .chunks_exact(width)
        .flat_map(|row| {
            let loudest = row.iter().fold(0.0_f64, |most, x| most.max(x.abs()));
            row.iter().map(move |x| ((x / loudest * 127.0).round() as i8).cast_unsigned())
        })
        .collect();
    std::fs::write(out, bytes)?;
    Ok(())
}

/// Whole words of the vocabulary, in its order.
fn vocabulary(folder: &Path) -> Result<Vec<String>, Box<dyn std::error::Error>> {
    let file: serde_json::Value = serde_json::from_slice(&std::fs::read(folder.join("tokenizer.json"))?)?;
    let vocabulary = file["model"]["vocab"].as_object().ok_or("the tokenizer has no vocabulary")?;
    let mut words: Vec<(u64, String)> = vocabulary
        .iter()
        .filter(|(word, _)| word.len() > 1 && word.chars().all(|c| c.is_ascii_lowercase()))
        .map(|(word, id)| (id.as_u64().unwrap_or(0), word.clone()))
        .collect();
    words.sort();
    Ok(words.into_iter().map(|(_, word)| word).collect())
}

/// The directions in which the states vary most, by repeated multiplication.
fn principal(moments: &[f64], width: usize, draw: &mut Draw) -> Vec<f64> {
    let mut directions: Vec<f64> = (0..DIMENSIONS * width).map(|_| draw.number()).collect();
    for _ in 0..200 {
        let mut next = vec![0.0; directions.len()];
        for (to, from) in next.chunks_exact_mut(width).zip(directions.chunks_exact(width)) {
            for (weight, row) in from.iter().zip(moments.chunks_exact(width)) {
                to.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight * x);
            }
        }
        directions = next;
        orthonormal(&mut directions, width);
    }
    directions
}

/// The same space, seen along directions of which none is louder than another.
fn turned(directions: Vec<f64>, width: usize, draw: &mut Draw) -> Vec<f64> {
    let mut turn: Vec<f64> = (0..DIMENSIONS * DIMENSIONS).map(|_| draw.number()).collect();
    orthonormal(&mut turn, DIMENSIONS);
    let mut result = vec![0.0; directions.len()];
    for (to, weights) in result.chunks_exact_mut(width).zip(turn.chunks_exact(DIMENSIONS)) {
        for (weight, row) in weights.iter().zip(directions.chunks_exact(width)) {
            to.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight * x);
        }
    }
    result
}

/// Makes the rows orthonormal, one after the other.
fn orthonormal(rows: &mut [f64], width: usize) {
    for at in 0..rows.len() / width {
        let (done, rest) = rows.split_at_mut(at * width);
        let row = &mut rest[..width];
        for _ in 0..2 {
            for other in done.chunks_exact(width) {
                let along: f64 = row.iter().zip(other).map(|(a, b)| a * b).sum();
                row.iter_mut().zip(other).for_each(|(x, y)| *x -= along * y);
            }
        }
        let length = row.iter().map(|x| x * x).sum::<f64>().sqrt();
        row.iter_mut().for_each(|x| *x /= length);
    }
}

/// Numbers that are the same on every machine.
struct Draw(u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, most: usize) -> usize {
        (self.next() % most as u64) as usize
    }

    /// Roughly normal.
    fn number(&mut self) -> f64 {
        (0..12).map(|_| self.next() as f64 / (1_u64 << 31) as f64).sum::<f64>() - 6.0
    }
}
