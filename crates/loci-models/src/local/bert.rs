//! A BERT sentence model with mean pooling.
//!
//! Texts are packed, not padded: the tokens of all texts of a pack are the rows of one matrix, which the dense layers
//! process row by row. Only attention depends on where a text begins and ends, and it runs once per text. So a text
//! does not cost more beside a longer one, no mask is needed, and the vector of a text does not depend on other texts.

use rayon::prelude::*;

use super::dense::{Dense, Precision, Scratch};
use super::folder::{BertConfig, Folder};
use super::kernels::{Qkv, ResidualNorm, attend, bias_gelu, join_norm};
use super::tensors::Tensors;
use super::text_encoder::Encoded;
use crate::embedder::{Detail, Embedding, Token, normalise};
use crate::error::Error;

/// A BERT encoder with mean pooling.
#[derive(Debug)]
pub(super) struct Bert {
    /// The word embeddings, one row per token of the vocabulary.
    pieces: Vec<f32>,
    /// The position embeddings, one row per position, with the segment embedding already added.
    positions: Vec<f32>,
    join: ResidualNorm,
    layers: Vec<EncoderLayer>,
    /// The hidden size, which is also the number of dimensions of a vector.
    pub(super) size: usize,
}

/// One encoder layer: attention and a feed-forward block, each with a residual connection.
#[derive(Debug)]
struct EncoderLayer {
    /// Query, key and value weights as one matrix, so that one large product replaces three small ones.
    views: Dense,
    views_bias: Vec<f32>,
    mixed: Dense,
    mixed_join: ResidualNorm,
    up: Dense,
    up_bias: Vec<f32>,
    down: Dense,
    down_join: ResidualNorm,
    heads: usize,
}

/// Buffers that all layers of a pack reuse.
#[derive(Debug, Default)]
struct BertBuffers {
    scratch: Scratch,
    wide: Vec<f32>,
    mixed: Vec<f32>,
    joined: Vec<f32>,
}

impl Bert {
    /// Loads the network of `folder`.
    pub(super) fn load(folder: &Folder, config: &BertConfig, precision: Precision) -> Result<Self, Error> {
        let file = BertTensors::open(folder, config)?;
        let size = config.hidden_size;
        let mut positions =
            file.tensor("embeddings.position_embeddings.weight", &[config.max_position_embeddings, size])?;
        // Every text is the first segment, so its embedding is added to each position.
        let segments = file.tensor("embeddings.token_type_embeddings.weight", &[2, size])?;
        for position in positions.chunks_exact_mut(size) {
            for (x, segment) in position.iter_mut().zip(&segments) {
                *x += segment;
            }
        }
        let layers = (0..config.num_hidden_layers)
            .into_par_iter()
            .map(|layer| EncoderLayer::load(&file, layer, precision))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            pieces: file.tensor("embeddings.word_embeddings.weight", &[config.vocab_size, size])?,
            positions,
            join: file.join(vec![0.0; size], "embeddings.LayerNorm")?,
            layers,
            size,
        })
    }

    /// Returns one embedding per text of the pack.
    pub(super) fn embed(&self, pack: &[Encoded], detail: Detail) -> Result<Vec<Embedding>, Error> {
        let states = self.states(pack)?;
        let mut rest = states.as_slice();
        let mut embeddings = Vec::with_capacity(pack.len());
        for text in pack {
            let (own, others) = rest.split_at(text.ids.len() * self.size);
            rest = others;
            embeddings.push(self.pool(text, own, detail));
        }
        Ok(embeddings)
    }

    /// Returns the last hidden state of every token of the pack.
    fn states(&self, pack: &[Encoded]) -> Result<Vec<f32>, Error> {
        let lengths: Vec<usize> = pack.iter().map(|text| text.ids.len()).collect();
        let count: usize = lengths.iter().sum();
        let (mut states, mut places) = (Vec::with_capacity(count * self.size), Vec::with_capacity(count * self.size));
        for text in pack {
            for &id in &text.ids {
                states.extend_from_slice(&self.pieces[id as usize * self.size..][..self.size]);
            }
            places.extend_from_slice(&self.positions[..text.ids.len() * self.size]);
        }
        join_norm(&mut states, &places, &self.join);
        let mut buffers = BertBuffers::default();
        for layer in &self.layers {
            layer.apply(&mut states, &lengths, &mut buffers)?;
        }
        Ok(states)
    }

    /// Pools by the mean of all states, including special tokens, as in the training of the model.
    fn pool(&self, text: &Encoded, states: &[f32], detail: Detail) -> Embedding {
        let mut vector = vec![0.0; self.size];
        for state in states.chunks_exact(self.size) {
            for (sum, x) in vector.iter_mut().zip(state) {
                *sum += x;
            }
        }
        normalise(&mut vector);
        let mut tokens = Vec::new();
        if detail == Detail::Tokens {
            for (index, state) in states.chunks_exact(self.size).enumerate() {
                if !text.markers[index] {
                    let mut state = state.to_vec();
                    normalise(&mut state);
                    tokens.push(Token { id: text.ids[index], piece: text.pieces[index].clone(), state });
                }
            }
        }
        Embedding { vector, tokens }
    }
}

impl EncoderLayer {
    fn load(file: &BertTensors<'_>, layer: usize, precision: Precision) -> Result<Self, Error> {
        let (size, wide) = (file.config.hidden_size, file.config.intermediate_size);
        let heads = file.config.num_attention_heads;
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let (query, query_bias) = file.dense(&name("attention.self.query"), size, size)?;
        let (key, key_bias) = file.dense(&name("attention.self.key"), size, size)?;
        let (value, value_bias) = file.dense(&name("attention.self.value"), size, size)?;
        // The scale of the attention is folded into the query weights.
        let scale = 1.0 / ((size / heads) as f32).sqrt();
        let scaled = |numbers: Vec<f32>| numbers.into_iter().map(|x| x * scale).collect::<Vec<_>>();
        let (mixed, mixed_bias) = file.dense(&name("attention.output.dense"), size, size)?;
        let (up, up_bias) = file.dense(&name("intermediate.dense"), size, wide)?;
        let (down, down_bias) = file.dense(&name("output.dense"), wide, size)?;
        Ok(Self {
            views: Dense::new(&[scaled(query), key, value].concat(), size, precision),
            views_bias: [scaled(query_bias), key_bias, value_bias].concat(),
            mixed: Dense::new(&mixed, size, precision),
            mixed_join: file.join(mixed_bias, &name("attention.output.LayerNorm"))?,
            up: Dense::new(&up, size, precision),
            up_bias,
            down: Dense::new(&down, wide, precision),
            down_join: file.join(down_bias, &name("output.LayerNorm"))?,
            heads,
        })
    }

    fn apply(&self, states: &mut Vec<f32>, lengths: &[usize], buffers: &mut BertBuffers) -> Result<(), Error> {
        let BertBuffers { scratch, wide, mixed, joined } = buffers;
        self.views.multiply(states, scratch, wide)?;
        self.attention(wide, lengths, mixed);
        self.mixed.multiply(mixed, scratch, joined)?;
        join_norm(joined, states, &self.mixed_join);
        self.up.multiply(joined, scratch, wide)?;
        bias_gelu(wide, &self.up_bias);
        self.down.multiply(wide, scratch, states)?;
        join_norm(states, joined, &self.down_join);
        Ok(())
    }

    /// Computes self-attention for each text.
    fn attention(&self, views: &[f32], lengths: &[usize], mixed: &mut Vec<f32>) {
        let wide = self.views_bias.len();
        mixed.clear();
        mixed.resize(views.len() / 3, 0.0);
        let (mut views, mut rest) = (views, mixed.as_mut_slice());
        for &length in lengths.iter().filter(|&&length| length > 0) {
            let (rows, others) = views.split_at(length * wide);
            let (own, later) = std::mem::take(&mut rest).split_at_mut(length * wide / 3);
            (views, rest) = (others, later);
            attend(Qkv { rows, bias: &self.views_bias, heads: self.heads }, own);
        }
    }
}

/// The file of weights, from which tensors of a given shape are read.
struct BertTensors<'a> {
    config: &'a BertConfig,
    tensors: Tensors<'a>,
    /// The prefix of all tensor names, which some exports have.
    prefix: &'static str,
}

impl<'a> BertTensors<'a> {
    fn open(folder: &'a Folder, config: &'a BertConfig) -> Result<Self, Error> {
        let tensors = Tensors::open(folder)?;
        let prefixed = tensors.has("bert.embeddings.word_embeddings.weight");
        Ok(Self { config, tensors, prefix: if prefixed { "bert." } else { "" } })
    }

    /// Returns the numbers of the tensor `name`, or an error if its shape does not follow from the config.
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, Error> {
        let name = format!("{}{name}", self.prefix);
        let (found, numbers) = self.tensors.floats(&name)?;
        if found != shape {
            let problem = format!("has the shape {found:?}, but config.json requires {shape:?}");
            return Err(self.tensors.invalid(&name, format!("{problem} ({})", self.fields())));
        }
        Ok(numbers)
    }

    /// Returns the weights, one row per output, and the bias of a dense layer.
    fn dense(&self, name: &str, from: usize, to: usize) -> Result<(Vec<f32>, Vec<f32>), Error> {
        Ok((self.tensor(&format!("{name}.weight"), &[to, from])?, self.tensor(&format!("{name}.bias"), &[to])?))
    }

    /// Returns the layer norm `name` with the bias of the dense layer before it.
    fn join(&self, bias: Vec<f32>, name: &str) -> Result<ResidualNorm, Error> {
        let size = self.config.hidden_size;
        let weight = self.tensor(&format!("{name}.weight"), &[size])?;
        let shift = self.tensor(&format!("{name}.bias"), &[size])?;
        Ok(ResidualNorm { bias, weight, shift, epsilon: self.config.layer_norm_eps })
    }

    /// Returns the fields of the config that determine the shapes, for error messages.
    fn fields(&self) -> String {
        let BertConfig { hidden_size, intermediate_size, vocab_size, max_position_embeddings, .. } = self.config;
        format!(
            "hidden_size {hidden_size}, intermediate_size {intermediate_size}, vocab_size {vocab_size}, \
             max_position_embeddings {max_position_embeddings}"
        )
    }
}
