//! How does the multilingual Universal Sentence Encoder embed?
//!
//! A text's tokens become vectors of a table. Three small convolutions look at each token together with its
//! neighbours, two, three and five tokens wide, twice. The token's own vector and the three views of it are
//! normalised, added up over the text and divided by the root of its length; a small network turns the sum into
//! the text's vector. Sixteen languages share one space, so a question finds a text in another language.
//!
//! As with BERT, the tokens of all texts of a pack stand one below the other in one matrix; only the convolutions must
//! know where a text begins and ends. Beyond its ends are zeros, so a text's vector does not depend on its company.
//!
//! The encoder has no states of tokens that could be compared: [`Embedding::tokens`] stays empty.

use rayon::prelude::*;

use super::dense::{Dense, Precision, Scratch};
use super::folder::Folder;
use super::kernels::{ResidualNorm, bias_relu_add, join_norm};
use super::npz::Npz;
use super::text_encoder::Encoded;
use crate::embedder::{Embedding, normalise};
use crate::error::Error;

/// The length of a vector, and of a token's own vector.
pub(super) const DIMENSIONS: usize = 512;

/// How many pieces have a vector.
pub(super) const PIECES: usize = PARTS * PART_ROWS;

/// The cosine below which two texts are as good as unrelated. Between the sentences of our reference, unrelated ones
/// have 0.03 in the median and 0.26 at most, and translations of one sentence into fifteen languages 0.34 at least.
pub(super) const SIMILARITY_THRESHOLD: f32 = 0.30;

/// The table of pieces comes in so many parts, each with its own scale. Piece `n` is in part `n % PARTS`.
const PARTS: usize = 17;

/// The rows of a part.
const PART_ROWS: usize = 7530;

/// The bytes of a row: 6 bits a number.
const ROW_BYTES: usize = DIMENSIONS / 4 * 3;

/// The length of a token's view in one convolution.
const VIEW: usize = 256;

/// The convolutions: how many tokens wide each is, and how many of them stand before the token.
const WINDOWS: [(usize, usize); 3] = [(2, 0), (3, 1), (5, 2)];

/// The length of all that is known of a token: its own vector and its views.
const FEATURES: usize = DIMENSIONS + WINDOWS.len() * VIEW;

/// The width of the narrow steps at the end.
const NARROW: usize = 320;

/// The network.
#[derive(Debug)]
pub(super) struct UseMultilingual {
    table: StaticModel,
    /// A token's own vector becomes the input of all three convolutions at once.
    inputs: Dense,
    inputs_join: ResidualNorm,
    convolutions: Vec<Convolution>,
    features_join: ResidualNorm,
    head: Head,
}

/// Two steps over a window of tokens.
#[derive(Debug)]
struct Convolution {
    width: usize,
    before: usize,
    steps: [(Dense, Vec<f32>); 2],
}

/// From the sum of a text's tokens to its vector.
#[derive(Debug)]
struct Head {
    sum: Dense,
    sum_bias: Vec<f32>,
    /// Two pairs of steps; the second of a pair takes the first's output and a shortcut around it.
    first: Dense,
    second: Dense,
    second_shortcut: Dense,
    third: Dense,
    fourth: Dense,
    fourth_shortcut: Dense,
}

/// One row per piece. Numbers have 6 bits, four in three bytes, which keeps 16 of 64 megabytes out of memory.
#[derive(Debug)]
struct StaticModel {
    rows: Vec<u8>,
    scales: Vec<f32>,
    lows: Vec<f32>,
}

/// What a pack needs on its way, used again by each step.
#[derive(Debug, Default)]
struct LayerBuffers {
    scratch: Scratch,
    windows: Vec<f32>,
    views: Vec<f32>,
    product: Vec<f32>,
}

impl UseMultilingual {
    /// The network of `folder`.
    pub(super) fn load(folder: &Folder, precision: Precision) -> Result<Self, Error> {
        let file = File { npz: Npz::open(&folder.weights_path, &folder.weights)?, precision };
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
            table: StaticModel::load(&file.npz)?,
        })
    }

    /// One embedding per text of the pack.
    pub(super) fn embed(&self, pack: &[Encoded]) -> Result<Vec<Embedding>, Error> {
        let mut buffers = LayerBuffers::default();
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

    /// All that is known of each token of the pack, one row per token.
    fn features(&self, pack: &[Encoded], buffers: &mut LayerBuffers) -> Result<Vec<f32>, Error> {
        let count: usize = pack.iter().map(|text| text.ids.len()).sum();
        let ids = pack.iter().flat_map(|text| &text.ids);
        let mut own = vec![0.0; count * DIMENSIONS];
        own.chunks_exact_mut(DIMENSIONS).zip(ids).for_each(|(row, &id)| self.table.read(id, row));
        let LayerBuffers { scratch, windows, views, product } = buffers;
        let mut inputs = Vec::new();
        self.inputs.multiply(&own, scratch, &mut inputs)?;
        // One buffer of zeros serves both norms: nothing is joined to what they normalise.
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
    /// For each token the views of its window, one after the other, with zeros beyond the ends of its text.
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
                // What the window lacks at its beginning because the text begins there.
                let skipped = self.before - (token - first);
                row[skipped * VIEW..][..(last - first) * VIEW].copy_from_slice(&own[first * VIEW..last * VIEW]);
            }
        }
    }
}

impl Head {
    /// The vector of each text, not yet of unit length, from the sum of its tokens.
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

impl StaticModel {
    fn load(npz: &Npz<'_>) -> Result<Self, Error> {
        let mut rows = vec![0; PIECES * ROW_BYTES];
        // Part by part, since unpacked they take more memory than the table.
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

    /// The vector of a piece.
    fn read(&self, id: u32, vector: &mut [f32]) {
        let id = id as usize;
        let (scale, low) = (self.scales[id % PARTS], self.lows[id % PARTS]);
        let row = &self.rows[id * ROW_BYTES..][..ROW_BYTES];
        for (bytes, numbers) in row.as_chunks::<3>().0.iter().zip(vector.as_chunks_mut::<4>().0) {
            *numbers = unpack(*bytes).map(|number| f32::from(number) * scale + low);
        }
    }
}

/// Writes numbers of 6 bits, four in three bytes.
fn pack(numbers: &[u8], row: &mut [u8]) {
    for ([a, b, c, d], bytes) in numbers.as_chunks::<4>().0.iter().zip(row.as_chunks_mut::<3>().0) {
        *bytes = [a | d << 6, b | (d << 4) & 0xc0, c | (d << 2) & 0xc0];
    }
}

/// Reads four numbers of 6 bits from three bytes.
fn unpack([a, b, c]: [u8; 3]) -> [u8; 4] {
    [a & 63, b & 63, c & 63, a >> 6 | (b >> 6) << 2 | (c >> 6) << 4]
}

/// The file of weights, which has one row per input where [`Dense`] wants one per output.
struct File<'a> {
    npz: Npz<'a>,
    precision: Precision,
}

impl File<'_> {
    fn dense(&self, name: &str, from: usize, to: usize) -> Result<Dense, Error> {
        Ok(Dense::new(&self.rows(name, from, to)?, from, self.precision))
    }

    /// The same in floats, whatever the precision. The steps at the end run once per text, not once per token, so
    /// they cost little, and most of what rounding would move a vector comes from them.
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
        // The views of token n are all n + 1.
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
