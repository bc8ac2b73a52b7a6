//! The multilingual Universal Sentence Encoder.
//!
//! Each token gets a vector from a table. Three convolutions with windows of two, three and five tokens are applied
//! twice. The vector of the token and the outputs of the three convolutions are normalised, summed over the text and
//! divided by the square root of its length; a small network computes the vector of the text from the sum. Sixteen
//! languages share one vector space, so a question finds texts in other languages.
//!
//! As with BERT, the tokens of all texts of a pack are the rows of one matrix; only the convolutions depend on where a
//! text begins and ends. They read zeros beyond its ends, so the vector of a text does not depend on the other texts.
//!
//! The encoder has no token states that could be compared, so [`Embedding::tokens`] is empty.

use rayon::prelude::*;

use super::dense::{Dense, Precision, Scratch};
use super::folder::Folder;
use super::kernels::{ResidualNorm, bias_relu_add, join_norm};
use super::npz::Npz;
use super::text_encoder::Encoded;
use crate::embedder::{Embedding, normalise};
use crate::error::Error;

/// Dimensions of the vector of a text, and of the vector of a token.
pub(super) const DIMENSIONS: usize = 512;

/// Number of tokens with a vector.
pub(super) const PIECES: usize = PARTS * PART_ROWS;

/// The cosine below which two texts count as unrelated. Among our reference sentences, unrelated ones have a median of
/// 0.03 and a maximum of 0.26; translations of one sentence into fifteen languages have a minimum of 0.34.
pub(super) const SIMILARITY_THRESHOLD: f32 = 0.30;

/// Number of parts of the token table, each with its own scale. Token `n` is in part `n % PARTS`.
const PARTS: usize = 17;

/// Number of rows of a part.
const PART_ROWS: usize = 7530;

/// Size of a row in bytes, with 6 bits per number.
const ROW_BYTES: usize = DIMENSIONS / 4 * 3;

/// Number of channels of one convolution.
const VIEW: usize = 256;

/// The convolutions: the width of the window in tokens, and how many of them are before the token.
const WINDOWS: [(usize, usize); 3] = [(2, 0), (3, 1), (5, 2)];

/// Number of features of a token: its own vector and the outputs of the convolutions.
const FEATURES: usize = DIMENSIONS + WINDOWS.len() * VIEW;

/// Width of the bottleneck layers at the end.
const NARROW: usize = 320;

/// The network.
#[derive(Debug)]
pub(super) struct UseMultilingual {
    table: TokenTable,
    /// One matrix that computes the inputs of all three convolutions from the vector of a token.
    inputs: Dense,
    inputs_join: ResidualNorm,
    convolutions: Vec<Convolution>,
    features_join: ResidualNorm,
    head: Head,
}

/// A convolution of two layers over a window of tokens.
#[derive(Debug)]
struct Convolution {
    width: usize,
    before: usize,
    steps: [(Dense, Vec<f32>); 2],
}

/// The network that computes the vector of a text from the sum of its tokens.
#[derive(Debug)]
struct Head {
    sum: Dense,
    sum_bias: Vec<f32>,
    /// Two pairs of layers. The second layer of a pair adds a shortcut from the input of the first.
    first: Dense,
    second: Dense,
    second_shortcut: Dense,
    third: Dense,
    fourth: Dense,
    fourth_shortcut: Dense,
}

/// The token table, one row per token. Numbers have 6 bits, four in three bytes, which saves 16 of 64 megabytes.
#[derive(Debug)]
struct TokenTable {
    rows: Vec<u8>,
    scales: Vec<f32>,
    lows: Vec<f32>,
}

/// Buffers that all layers of a pack reuse.
#[derive(Debug, Default)]
struct UseBuffers {
    scratch: Scratch,
    windows: Vec<f32>,
    views: Vec<f32>,
    product: Vec<f32>,
}

impl UseMultilingual {
    /// Loads the network of `folder`.
    pub(super) fn load(folder: &Folder, precision: Precision) -> Result<Self, Error> {
        let file = UseTensors { npz: Npz::open(&folder.weights_path, &folder.weights)?, precision };
        let [epsilon] = file.npz.floats("eps", &[])?[..] else {
            return Err(file.npz.invalid("eps", "is not one number"));
        };
        let (mut weights, mut bias, mut scale, mut shift) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (width, _) in WINDOWS {
            weights.extend(file.rows(&format!("proj{width}"), DIMENSIONS, VIEW)?);
            bias.extend(file.npz.floats(&format!("proj_b{width}"), &[VIEW])?);
            scale.extend(file.npz.floats(&format!("ln_g{width}"), &[VIEW])?);
            shift.extend(file.npz.floats(&format!("ln_b{width}"), &[VIEW])?);
        }
        let convolutions = WINDOWS.iter().map(|&(width, before)| {
            let step = |step: usize| {
                let weights = file.dense(&format!("w{step}_{width}"), width * VIEW, VIEW)?;
                Ok::<_, Error>((weights, file.npz.floats(&format!("b{step}_{width}"), &[VIEW])?))
            };
            Ok(Convolution { width, before, steps: [step(1)?, step(2)?] })
        });
        Ok(Self {
            inputs: Dense::new(&weights, DIMENSIONS, precision),
            inputs_join: ResidualNorm { bias, weight: scale, shift, epsilon },
            convolutions: convolutions.collect::<Result<_, Error>>()?,
            features_join: ResidualNorm {
                bias: vec![0.0; FEATURES],
                weight: file.npz.floats("ln_g", &[FEATURES])?,
                shift: file.npz.floats("ln_b", &[FEATURES])?,
                epsilon,
            },
            head: Head {
                sum: file.exact("cnn_W", FEATURES, DIMENSIONS)?,
                sum_bias: file.npz.floats("cnn_b", &[DIMENSIONS])?,
                first: file.exact("d0", DIMENSIONS, NARROW)?,
                second: file.exact("d1", NARROW, NARROW)?,
                second_shortcut: file.exact("p1", DIMENSIONS, NARROW)?,
                third: file.exact("d2", NARROW, DIMENSIONS)?,
                fourth: file.exact("d3", DIMENSIONS, DIMENSIONS)?,
                fourth_shortcut: file.exact("p3", NARROW, DIMENSIONS)?,
            },
            table: TokenTable::load(&file.npz)?,
        })
    }

    /// Returns one embedding per text of the pack.
    pub(super) fn embed(&self, pack: &[Encoded]) -> Result<Vec<Embedding>, Error> {
        let mut buffers = UseBuffers::default();
        let features = self.features(pack, &mut buffers)?;
        let mut sums = Vec::with_capacity(pack.len() * FEATURES);
        let mut rest = features.as_slice();
        for text in pack {
            let (own, others) = rest.split_at(text.ids.len() * FEATURES);
            rest = others;
            let at = sums.len();
            sums.resize(at + FEATURES, 0.0_f32);
            for row in own.chunks_exact(FEATURES) {
                sums[at..].iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
            }
        }
        let vectors = self.head.apply(&sums, pack, &mut buffers.scratch)?;
        let embedding = |vector: &[f32]| {
            let mut vector = vector.to_vec();
            normalise(&mut vector);
            Embedding { vector, tokens: Vec::new() }
        };
        Ok(vectors.chunks_exact(DIMENSIONS).map(embedding).collect())
    }

    /// Returns the features of each token of the pack, one row per token.
    fn features(&self, pack: &[Encoded], buffers: &mut UseBuffers) -> Result<Vec<f32>, Error> {
        let count: usize = pack.iter().map(|text| text.ids.len()).sum();
        let ids = pack.iter().flat_map(|text| &text.ids);
        let mut own = vec![0.0; count * DIMENSIONS];
        own.chunks_exact_mut(DIMENSIONS).zip(ids).for_each(|(row, &id)| self.table.read(id, row));
        let UseBuffers { scratch, windows, views, product } = buffers;
        let mut inputs = Vec::new();
        self.inputs.multiply(&own, scratch, &mut inputs)?;
        // Both norms have no residual input, so they share one buffer of zeros.
        let nothing = vec![0.0; count * FEATURES];
        join_norm(&mut inputs, &nothing, &self.inputs_join);
        let mut features = vec![0.0; count * FEATURES];
        for (row, own) in features.chunks_exact_mut(FEATURES).zip(own.chunks_exact(DIMENSIONS)) {
            row[..DIMENSIONS].copy_from_slice(own);
        }
        for (index, convolution) in self.convolutions.iter().enumerate() {
            views.clear();
            for row in inputs.chunks_exact(WINDOWS.len() * VIEW) {
                views.extend_from_slice(&row[index * VIEW..][..VIEW]);
            }
            for (weights, bias) in &convolution.steps {
                convolution.gather(pack, views, windows);
                weights.multiply(windows, scratch, product)?;
                bias_relu_add(product, bias, views);
                std::mem::swap(product, views);
            }
            for (row, view) in features.chunks_exact_mut(FEATURES).zip(views.chunks_exact(VIEW)) {
                row[DIMENSIONS + index * VIEW..][..VIEW].copy_from_slice(view);
            }
        }
        join_norm(&mut features, &nothing, &self.features_join);
        Ok(features)
    }
}

impl Convolution {
    /// Copies, for each token, the rows of its window, with zeros beyond the ends of its text.
    fn gather(&self, pack: &[Encoded], views: &[f32], windows: &mut Vec<f32>) {
        let wide = self.width * VIEW;
        windows.clear();
        windows.resize(views.len() * self.width, 0.0);
        let (mut views, mut windows) = (views, windows.as_mut_slice());
        for text in pack {
            let length = text.ids.len();
            let (own, other_views) = views.split_at(length * VIEW);
            let (rows, other_windows) = std::mem::take(&mut windows).split_at_mut(length * wide);
            (views, windows) = (other_views, other_windows);
            for (token, row) in rows.chunks_exact_mut(wide).enumerate() {
                let (first, last) = (token.saturating_sub(self.before), (token + self.width - self.before).min(length));
                // The number of window positions before the beginning of the text.
                let skipped = self.before - (token - first);
                row[skipped * VIEW..][..(last - first) * VIEW].copy_from_slice(&own[first * VIEW..last * VIEW]);
            }
        }
    }
}

impl Head {
    /// Returns the vector of each text, not yet normalised, from the sum of its tokens.
    fn apply(&self, sums: &[f32], pack: &[Encoded], scratch: &mut Scratch) -> Result<Vec<f32>, Error> {
        let mut means = Vec::new();
        self.sum.multiply(sums, scratch, &mut means)?;
        for (mean, text) in means.chunks_exact_mut(DIMENSIONS).zip(pack) {
            let count = text.ids.len() as f32;
            mean.iter_mut().zip(&self.sum_bias).for_each(|(x, bias)| *x = (*x + count * bias) / count.sqrt());
        }
        let mut step = |weights: &Dense, from: &[f32]| {
            let mut product = Vec::new();
            weights.multiply(from, scratch, &mut product).map(|()| product)
        };
        let first = relu(step(&self.first, &means)?);
        let second = relu(add(step(&self.second, &first)?, &step(&self.second_shortcut, &means)?));
        let third = relu(step(&self.third, &second)?);
        let mut fourth = add(step(&self.fourth, &third)?, &step(&self.fourth_shortcut, &second)?);
        fourth.iter_mut().for_each(|x| *x = x.tanh());
        Ok(fourth)
    }
}

fn relu(mut numbers: Vec<f32>) -> Vec<f32> {
    numbers.iter_mut().for_each(|x| *x = x.max(0.0));
    numbers
}

fn add(mut numbers: Vec<f32>, others: &[f32]) -> Vec<f32> {
    numbers.iter_mut().zip(others).for_each(|(x, other)| *x += other);
    numbers
}

impl TokenTable {
    fn load(npz: &Npz<'_>) -> Result<Self, Error> {
        let mut rows = vec![0; PIECES * ROW_BYTES];
        // Each part is unpacked and packed separately, because all parts unpacked take more memory than the table.
        let mut places: Vec<Vec<&mut [u8]>> = (0..PARTS).map(|_| Vec::with_capacity(PART_ROWS)).collect();
        for (piece, row) in rows.chunks_exact_mut(ROW_BYTES).enumerate() {
            places[piece % PARTS].push(row);
        }
        places.into_par_iter().enumerate().try_for_each(|(part, places)| {
            let name = format!("q{}", part + 1);
            let numbers = npz.bytes(&name, &[PART_ROWS, DIMENSIONS])?;
            if let Some(large) = numbers.iter().find(|&&number| number > 63) {
                return Err(npz.invalid(&name, format!("holds {large}, but its numbers have 6 bits")));
            }
            places.into_iter().zip(numbers.chunks_exact(DIMENSIONS)).for_each(|(row, numbers)| pack(numbers, row));
            Ok(())
        })?;
        Ok(Self { rows, scales: npz.floats("scale", &[PARTS])?, lows: npz.floats("lo", &[PARTS])? })
    }

    /// Reads the vector of a token.
    fn read(&self, id: u32, vector: &mut [f32]) {
        let id = id as usize;
        let (scale, low) = (self.scales[id % PARTS], self.lows[id % PARTS]);
        let row = &self.rows[id * ROW_BYTES..][..ROW_BYTES];
        for (bytes, numbers) in row.as_chunks::<3>().0.iter().zip(vector.as_chunks_mut::<4>().0) {
            *numbers = unpack(*bytes).map(|number| f32::from(number) * scale + low);
        }
    }
}

/// Packs 6-bit numbers, four in three bytes.
fn pack(numbers: &[u8], row: &mut [u8]) {
    for ([a, b, c, d], bytes) in numbers.as_chunks::<4>().0.iter().zip(row.as_chunks_mut::<3>().0) {
        *bytes = [a | d << 6, b | (d << 4) & 0xc0, c | (d << 2) & 0xc0];
    }
}

/// Unpacks four 6-bit numbers from three bytes.
fn unpack([a, b, c]: [u8; 3]) -> [u8; 4] {
    [a & 63, b & 63, c & 63, a >> 6 | (b >> 6) << 2 | (c >> 6) << 4]
}

/// The file of weights. Its matrices have one row per input, whereas [`Dense`] needs one row per output.
struct UseTensors<'a> {
    npz: Npz<'a>,
    precision: Precision,
}

impl UseTensors<'_> {
    fn dense(&self, name: &str, from: usize, to: usize) -> Result<Dense, Error> {
        Ok(Dense::new(&self.rows(name, from, to)?, from, self.precision))
    }

    /// Loads a layer in floats, whatever the precision is. The layers at the end run once per text, not once per token,
    /// so they cost little, and quantising them would cause most of the error of a vector.
    fn exact(&self, name: &str, from: usize, to: usize) -> Result<Dense, Error> {
        Ok(Dense::new(&self.rows(name, from, to)?, from, Precision::Full))
    }

    fn rows(&self, name: &str, from: usize, to: usize) -> Result<Vec<f32>, Error> {
        let columns = self.npz.floats(name, &[from, to])?;
        Ok((0..to).flat_map(|output| columns[output..].iter().step_by(to)).copied().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_six_bits_are_packed_and_read_back() {
        let numbers: Vec<u8> = (0..=255).map(|n: u8| n.wrapping_mul(37) & 63).collect();
        let mut row = vec![0; 192];
        pack(&numbers, &mut row);
        let found: Vec<u8> = row.as_chunks::<3>().0.iter().flat_map(|bytes| unpack(*bytes)).collect();
        assert_eq!(found, numbers);
    }

    #[test]
    fn windows_end_with_their_text() {
        let zero = || Dense::new(&vec![0.0; VIEW], VIEW, Precision::Full);
        let texts = [3, 1, 2].map(|length| Encoded { ids: vec![0; length], ..Encoded::default() });
        // All channels of token n are n + 1.
        let views: Vec<f32> = (0..6).flat_map(|token| [token as f32 + 1.0; VIEW]).collect();
        for ((width, before), expected) in WINDOWS.into_iter().zip([
            [[1, 2], [2, 3], [3, 0], [4, 0], [5, 6], [6, 0]].concat(),
            [[0, 1, 2], [1, 2, 3], [2, 3, 0], [0, 4, 0], [0, 5, 6], [5, 6, 0]].concat(),
            [[0, 0, 1, 2, 3], [0, 1, 2, 3, 0], [1, 2, 3, 0, 0], [0, 0, 4, 0, 0], [0, 0, 5, 6, 0], [0, 5, 6, 0, 0]]
                .concat(),
        ]) {
            let convolution = Convolution { width, before, steps: [(zero(), Vec::new()), (zero(), Vec::new())] };
            let mut windows = vec![9.0; 5];
            convolution.gather(&texts, &views, &mut windows);
            let found: Vec<i32> = windows.chunks_exact(VIEW).map(|view| view[VIEW - 1] as i32).collect();
            assert_eq!(found, expected, "{width} wide");
        }
    }
}
