//! How does a BERT sentence model embed?
//!
//! Texts are packed, not padded: the tokens of all texts of a pack stand one below the other in
//! one matrix, which the dense layers treat row by row. Only attention must know where a text
//! begins and ends, and runs once per text. So no text costs more for standing beside a longer
//! one, there is no mask to get wrong, and a text's vector does not depend on its company.

use candle_core::safetensors::SliceSafetensors;
use candle_core::{DType, Device, Tensor};
use candle_nn::ops::{layer_norm, softmax_last_dim};

use super::folder::{BertConfig, Folder};
use super::words::Written;
use crate::embedder::{Detail, Embedding, Token, normalise};
use crate::error::Error;

/// A BERT encoder with mean pooling.
#[derive(Debug)]
pub(super) struct Bert {
    pieces: Tensor,
    /// Positions, with the one segment that Loci uses already added.
    positions: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
    size: usize,
}

/// One layer: attention, then two dense steps, each followed by a norm over itself and its input.
#[derive(Debug)]
struct Layer {
    attention: Dense,
    attended: Dense,
    attended_norm: Norm,
    up: Dense,
    down: Dense,
    norm: Norm,
    heads: usize,
}

#[derive(Debug)]
struct Dense {
    /// Transposed: one column per output.
    weight: Tensor,
    bias: Tensor,
}

#[derive(Debug)]
struct Norm {
    weight: Tensor,
    bias: Tensor,
    epsilon: f32,
}

impl Bert {
    /// The network of `folder`.
    pub(super) fn load(folder: &Folder, config: &BertConfig) -> Result<Self, Error> {
        let file = File::open(folder, config)?;
        let size = config.hidden_size;
        let positions =
            file.tensor("embeddings.position_embeddings.weight", &[config.max_position_embeddings, size])?;
        // Every text is the first segment, so the segment's vector is part of each position.
        let segments = file.tensor("embeddings.token_type_embeddings.weight", &[2, size])?;
        let layers = (0..config.num_hidden_layers).map(|layer| Layer::load(&file, layer)).collect::<Result<_, _>>()?;
        Ok(Self {
            pieces: file.tensor("embeddings.word_embeddings.weight", &[config.vocab_size, size])?,
            positions: positions.broadcast_add(&segments.narrow(0, 0, 1)?)?,
            norm: file.norm("embeddings.LayerNorm")?,
            layers,
            size,
        })
    }

    /// One embedding per text of the pack.
    pub(super) fn embed(&self, pack: &[Written], detail: Detail) -> Result<Vec<Embedding>, Error> {
        let lengths: Vec<usize> = pack.iter().map(|text| text.ids.len()).collect();
        let states = self.states(pack, &lengths)?.flatten_all()?.to_vec1::<f32>()?;
        let mut rest = states.as_slice();
        let mut embeddings = Vec::with_capacity(pack.len());
        for text in pack {
            let (own, others) = rest.split_at(text.ids.len() * self.size);
            rest = others;
            embeddings.push(self.pool(text, own, detail));
        }
        Ok(embeddings)
    }

    /// The last hidden state of every token of the pack.
    fn states(&self, pack: &[Written], lengths: &[usize]) -> Result<Tensor, Error> {
        let ids: Vec<u32> = pack.iter().flat_map(|text| text.ids.iter().copied()).collect();
        let positions: Vec<u32> = lengths.iter().flat_map(|&length| 0..length as u32).collect();
        let ids = Tensor::new(ids, &Device::Cpu)?;
        let positions = Tensor::new(positions, &Device::Cpu)?;
        let sum = (self.pieces.index_select(&ids, 0)? + self.positions.index_select(&positions, 0)?)?;
        let mut states = self.norm.apply(&sum)?;
        for layer in &self.layers {
            states = layer.apply(&states, lengths)?;
        }
        Ok(states)
    }

    /// The mean of all states, markers included, as the model was trained.
    fn pool(&self, text: &Written, states: &[f32], detail: Detail) -> Embedding {
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

impl Layer {
    fn load(file: &File<'_>, layer: usize) -> Result<Self, Error> {
        let (size, wide) = (file.config.hidden_size, file.config.intermediate_size);
        let heads = file.config.num_attention_heads;
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        // Query, key and value are one matrix, so that one large product replaces three small
        // ones. The scale of the attention is part of the query.
        let scale = 1.0 / ((size / heads) as f64).sqrt();
        let query = file.dense(&name("attention.self.query"), size, size)?;
        let key = file.dense(&name("attention.self.key"), size, size)?;
        let value = file.dense(&name("attention.self.value"), size, size)?;
        let attention = Dense {
            weight: Tensor::cat(&[&(query.weight * scale)?, &key.weight, &value.weight], 1)?,
            bias: Tensor::cat(&[&(query.bias * scale)?, &key.bias, &value.bias], 0)?,
        };
        Ok(Self {
            attention,
            attended: file.dense(&name("attention.output.dense"), size, size)?,
            attended_norm: file.norm(&name("attention.output.LayerNorm"))?,
            up: file.dense(&name("intermediate.dense"), size, wide)?,
            down: file.dense(&name("output.dense"), wide, size)?,
            norm: file.norm(&name("output.LayerNorm"))?,
            heads,
        })
    }

    fn apply(&self, states: &Tensor, lengths: &[usize]) -> Result<Tensor, Error> {
        let mixed = self.attend(&self.attention.apply(states)?, lengths)?;
        let states = self.attended_norm.apply(&(self.attended.apply(&mixed)? + states)?)?;
        let wide = self.up.apply(&states)?.gelu_erf()?;
        self.norm.apply(&(self.down.apply(&wide)? + states)?)
    }

    /// Lets the tokens of each text look at each other.
    fn attend(&self, views: &Tensor, lengths: &[usize]) -> Result<Tensor, Error> {
        let width = views.dim(1)? / 3 / self.heads;
        let mut start = 0;
        let mut mixed = Vec::with_capacity(lengths.len());
        for &length in lengths {
            let own = views.narrow(0, start, length)?.reshape((length, 3, self.heads, width))?;
            let view = |index: usize| own.narrow(1, index, 1)?.squeeze(1)?.transpose(0, 1);
            let (query, key, value) = (view(0)?, view(1)?, view(2)?);
            let weights = softmax_last_dim(&query.matmul(&key.t()?)?)?;
            mixed.push(weights.matmul(&value)?.transpose(0, 1)?.reshape((length, self.heads * width))?);
            start += length;
        }
        Ok(Tensor::cat(&mixed, 0)?)
    }
}

impl Dense {
    fn apply(&self, input: &Tensor) -> Result<Tensor, Error> {
        Ok(input.matmul(&self.weight)?.broadcast_add(&self.bias)?)
    }
}

impl Norm {
    fn apply(&self, input: &Tensor) -> Result<Tensor, Error> {
        Ok(layer_norm(input, &self.weight, &self.bias, self.epsilon)?)
    }
}

/// The weights' file, which is asked for tensors of a given shape.
struct File<'a> {
    folder: &'a Folder,
    config: &'a BertConfig,
    tensors: SliceSafetensors<'a>,
    /// Some exports put the whole encoder below one name.
    prefix: &'static str,
}

impl<'a> File<'a> {
    fn open(folder: &'a Folder, config: &'a BertConfig) -> Result<Self, Error> {
        let tensors = SliceSafetensors::new(&folder.weights)
            .map_err(|error| Error::invalid(folder.weights_path(), "safetensors", error.to_string()))?;
        let prefixed = tensors.get("bert.embeddings.word_embeddings.weight").is_ok();
        Ok(Self { folder, config, tensors, prefix: if prefixed { "bert." } else { "" } })
    }

    /// The tensor `name` in full precision, if it has the shape that the config promises.
    fn tensor(&self, name: &str, shape: &[usize]) -> Result<Tensor, Error> {
        let path = self.folder.weights_path();
        let name = format!("{}{name}", self.prefix);
        let view = self.tensors.get(&name).map_err(|error| Error::invalid(&path, &name, error.to_string()))?;
        if view.shape() != shape {
            let problem = format!("has the shape {:?}, but config.json promises {shape:?}", view.shape());
            return Err(Error::invalid(path, name, format!("{problem} ({})", self.fields())));
        }
        Ok(self.tensors.load(&name, &Device::Cpu)?.to_dtype(DType::F32)?)
    }

    fn dense(&self, name: &str, from: usize, to: usize) -> Result<Dense, Error> {
        let weight = self.tensor(&format!("{name}.weight"), &[to, from])?;
        Ok(Dense { weight: weight.t()?.contiguous()?, bias: self.tensor(&format!("{name}.bias"), &[to])? })
    }

    fn norm(&self, name: &str) -> Result<Norm, Error> {
        let size = [self.config.hidden_size];
        let weight = self.tensor(&format!("{name}.weight"), &size)?;
        let bias = self.tensor(&format!("{name}.bias"), &size)?;
        Ok(Norm { weight, bias, epsilon: self.config.layer_norm_eps })
    }

    /// The fields of the config that shape the tensors, so that the wrong one can be found.
    fn fields(&self) -> String {
        let BertConfig { hidden_size, intermediate_size, vocab_size, max_position_embeddings, .. } = self.config;
        format!(
            "hidden_size {hidden_size}, intermediate_size {intermediate_size}, vocab_size {vocab_size}, \
             max_position_embeddings {max_position_embeddings}"
        )
    }
}
