//! How do the kernels join the tensor runtime?
//!
//! Each step is an operation of the runtime on whole, contiguous matrices, and shares its rows
//! among the processor's cores when there are enough of them to be worth it.

use candle_core::{CpuStorage, CustomOp1, Error, InplaceOp1, InplaceOp2, Layout, Result, Shape};
use rayon::prelude::*;

use super::kernels::{Join, Views, attend, bias_gelu, join_norm};

/// How many rows one core takes at a time.
const ROWS: usize = 64;

/// Adds the bias and applies the error linear unit.
pub(super) struct Gelu<'a>(pub(super) &'a [f32]);

impl InplaceOp1 for Gelu<'_> {
    fn name(&self) -> &'static str {
        "bias-gelu"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout) -> Result<()> {
        let rows = matrix_mut(storage, layout)?;
        share(rows.chunks_mut(ROWS * self.0.len()).collect(), |rows| bias_gelu(rows, self.0));
        Ok(())
    }
}

/// Joins a product to what came before it and normalises.
pub(super) struct Norm<'a>(pub(super) &'a Join);

impl InplaceOp2 for Norm<'_> {
    fn name(&self) -> &'static str {
        "join-norm"
    }

    fn cpu_fwd(&self, storage: &mut CpuStorage, layout: &Layout, other: &CpuStorage, its: &Layout) -> Result<()> {
        let (rows, before) = (matrix_mut(storage, layout)?, matrix(other, its)?);
        let block = ROWS * self.0.bias.len();
        share(rows.chunks_mut(block).zip(before.chunks(block)).collect(), |(rows, before)| {
            join_norm(rows, before, self.0);
        });
        Ok(())
    }
}

/// Lets the tokens of each text look at each other.
pub(super) struct Attend<'a> {
    pub(super) bias: &'a [f32],
    pub(super) heads: usize,
    pub(super) lengths: &'a [usize],
}

impl CustomOp1 for Attend<'_> {
    fn name(&self) -> &'static str {
        "attend"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let mut rows = matrix(storage, layout)?;
        let size = self.bias.len() / 3;
        let count = rows.len() / self.bias.len();
        let mut mixed = vec![0.0; count * size];
        let mut rest = mixed.as_mut_slice();
        let mut blocks = Vec::new();
        for &length in self.lengths {
            let (own, others) = rows.split_at(length * self.bias.len());
            rows = others;
            let views = Views { rows: own, bias: self.bias, heads: self.heads };
            for first in (0..length).step_by(ROWS) {
                let (block, later) = std::mem::take(&mut rest).split_at_mut(ROWS.min(length - first) * size);
                rest = later;
                blocks.push((views, first, block));
            }
        }
        share(blocks, |(views, first, block)| attend(views, first, block));
        Ok((CpuStorage::F32(mixed), Shape::from((count, size))))
    }
}

/// Does the work on all cores, or at once when there is no more than one piece of it.
fn share<T: Send>(mut pieces: Vec<T>, work: impl Fn(T) + Send + Sync) {
    match pieces.pop() {
        Some(only) if pieces.is_empty() => work(only),
        Some(last) => {
            pieces.push(last);
            pieces.into_par_iter().for_each(work);
        }
        None => {}
    }
}

fn matrix<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(numbers), Some((start, end))) => Ok(&numbers[start..end]),
        _ => Err(Error::Msg("a layer's rows must be contiguous 32-bit numbers".to_owned())),
    }
}

fn matrix_mut<'a>(storage: &'a mut CpuStorage, layout: &Layout) -> Result<&'a mut [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(numbers), Some((start, end))) => Ok(&mut numbers[start..end]),
        _ => Err(Error::Msg("a layer's rows must be contiguous 32-bit numbers".to_owned())),
    }
}
