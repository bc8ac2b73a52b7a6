//! How does a BERT sentence model embed?
//!
//! Texts are packed, not padded: the tokens of all texts of a pack stand one below the other in
//! one matrix, which the dense layers treat row by row. Only attention must know where a text
//! begins and ends, and runs once per text. So no text costs more for standing beside a longer
//! one, there is no mask to get wrong, and a text's vector does not depend on its company.

use candle_core::safetensors::SliceSafetensors;
use candle_core::{DType, Device, Tensor};
use rayon::prelude::*;

use super::folder::{BertConfig, Folder};
use super::kernels::Join;
use super::steps::{Attend, Gelu, Norm};
use super::words::Written;
use crate::embedder::{Detail, Embedding, Token, normalise};
use crate::error::Error;

/// A BERT encoder with mean pooling.
#[derive(Debug)]
pub(super) struct Bert {
    pieces: Tensor,
    /// Positions, with the one segment that Loci uses already added.
    positions: Tensor,
    join: Join,
    layers: Vec<Layer>,
    size: usize,
}

/// One layer: attention, then two dense steps, each joined to its own input.
///
/// Weights have one column per output: laid out so, a product with few rows can read them as they
/// are, where the file's own layout would have to be turned round each time.
#[derive(Debug)]
struct Layer {
    views: Tensor,
    views_bias: Vec<f32>,
    mixed: Tensor,
    mixed_join: Join,
    up: Tensor,
    up_bias: Vec<f32>,
    down: Tensor,
    down_join: Join,
    heads: usize,
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
        let layers = (0..config.num_hidden_layers)
            .into_par_iter()
            .map(|layer| Layer::load(&file, layer))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            pieces: file.tensor("embeddings.word_embeddings.weight", &[config.vocab_size, size])?,
            positions: positions.broadcast_add(&segments.narrow(0, 0, 1)?)?,
            join: file.join(vec![0.0; size], "embeddings.LayerNorm")?,
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
        let mut states = self.pieces.index_select(&ids, 0)?;
        states.inplace_op2(&self.positions.index_select(&positions, 0)?, &Norm(&self.join))?;
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
        let (query, query_bias) = file.dense(&name("attention.self.query"), size, size)?;
        let (key, key_bias) = file.dense(&name("attention.self.key"), size, size)?;
        let (value, value_bias) = file.dense(&name("attention.self.value"), size, size)?;
        let query_bias: Vec<f32> = query_bias.into_iter().map(|x| x * scale as f32).collect();
        let (mixed, mixed_bias) = file.dense(&name("attention.output.dense"), size, size)?;
        let (up, up_bias) = file.dense(&name("intermediate.dense"), size, wide)?;
        let (down, down_bias) = file.dense(&name("output.dense"), wide, size)?;
        Ok(Self {
            views: Tensor::cat(&[&(query * scale)?, &key, &value], 1)?,
            views_bias: [query_bias, key_bias, value_bias].concat(),
            mixed,
            mixed_join: file.join(mixed_bias, &name("attention.output.LayerNorm"))?,
            up,
            up_bias,
            down,
            down_join: file.join(down_bias, &name("output.LayerNorm"))?,
            heads,
        })
    }

    fn apply(&self, states: &Tensor, lengths: &[usize]) -> Result<Tensor, Error> {
        let attend = Attend { bias: &self.views_bias, heads: self.heads, lengths };
        let mixed = states.matmul(&self.views)?.apply_op1_no_bwd(&attend)?.matmul(&self.mixed)?;
        mixed.inplace_op2(states, &Norm(&self.mixed_join))?;
        let wide = mixed.matmul(&self.up)?;
        wide.inplace_op1(&Gelu(&self.up_bias))?;
        let states = wide.matmul(&self.down)?;
        states.inplace_op2(&mixed, &Norm(&self.down_join))?;
        Ok(states)
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

    fn vector(&self, name: &str, length: usize) -> Result<Vec<f32>, Error> {
        Ok(self.tensor(name, &[length])?.to_vec1()?)
    }

    /// The weight, turned to one column per output, and the bias of a dense step.
    fn dense(&self, name: &str, from: usize, to: usize) -> Result<(Tensor, Vec<f32>), Error> {
        let weight = self.tensor(&format!("{name}.weight"), &[to, from])?.flatten_all()?.to_vec1::<f32>()?;
        let weight = Tensor::from_vec(turn(&weight, from), (from, to), &Device::Cpu)?;
        Ok((weight, self.vector(&format!("{name}.bias"), to)?))
    }

    /// The norm `name`, with the bias of the step before it.
    fn join(&self, bias: Vec<f32>, name: &str) -> Result<Join, Error> {
        let size = self.config.hidden_size;
        let weight = self.vector(&format!("{name}.weight"), size)?;
        let shift = self.vector(&format!("{name}.bias"), size)?;
        Ok(Join { bias, weight, shift, epsilon: self.config.layer_norm_eps })
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

/// Rows of the given length turned to columns, block by block, which the processor's cache likes.
fn turn(rows: &[f32], length: usize) -> Vec<f32> {
    const BLOCK: usize = 16;
    let count = rows.len() / length;
    let mut turned = vec![0.0; rows.len()];
    for top in (0..count).step_by(BLOCK) {
        for left in (0..length).step_by(BLOCK) {
            for column in left..length.min(left + BLOCK) {
                for row in top..count.min(top + BLOCK) {
                    turned[column * count + row] = rows[row * length + column];
                }
            }
        }
    }
    turned
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_turn_to_columns() {
        assert_eq!(turn(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 3), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
        let rows: Vec<f32> = (0..37 * 19).map(|n| n as f32).collect();
        assert_eq!(turn(&turn(&rows, 19), 37), rows);
    }
}
