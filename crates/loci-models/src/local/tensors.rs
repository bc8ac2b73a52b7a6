//! What numbers does the file of weights hold?
//!
//! A safetensors file names its tensors and says how each number is written. Whatever it is on disk, the networks
//! get 32-bit floats, of the shape they expect or not at all.

use half::{bf16, f16};
use safetensors::tensor::TensorView;
use safetensors::{Dtype, SafeTensors};

use super::folder::Folder;
use crate::error::Error;

/// The tensors of a model folder.
pub(super) struct Tensors<'a> {
    folder: &'a Folder,
    file: SafeTensors<'a>,
}

impl<'a> Tensors<'a> {
    /// The file of `folder`, whose head is read and checked here.
    pub(super) fn open(folder: &'a Folder) -> Result<Self, Error> {
        let file = SafeTensors::deserialize(&folder.weights)
            .map_err(|error| Error::invalid(&folder.weights_path, "safetensors", error.to_string()))?;
        Ok(Self { folder, file })
    }

    /// Whether there is a tensor of that name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.file.tensor(name).is_ok()
    }

    /// The shape and the numbers of a tensor.
    pub(super) fn floats(&self, name: &str) -> Result<(Vec<usize>, Vec<f32>), Error> {
        let view = self.view(name)?;
        let numbers: Vec<f32> = match view.dtype() {
            Dtype::F32 => each(view.data(), f32::from_le_bytes),
            Dtype::F64 => each(view.data(), |bytes| f64::from_le_bytes(bytes) as f32),
            Dtype::F16 => each(view.data(), |bytes| f16::from_le_bytes(bytes).to_f32()),
            Dtype::BF16 => each(view.data(), |bytes| bf16::from_le_bytes(bytes).to_f32()),
            other => return Err(self.invalid(name, format!("holds {other:?}, but floats are needed"))),
        };
        // Rounded to whole numbers, they would become plausible vectors of no use.
        if numbers.iter().any(|x| !x.is_finite()) {
            return Err(
                self.invalid(name, "holds numbers that are none (NaN or infinite); fetch the model again".into())
            );
        }
        Ok((view.shape().to_vec(), numbers))
    }

    /// The whole numbers of a tensor, which must not be negative.
    pub(super) fn indices(&self, name: &str) -> Result<Vec<usize>, Error> {
        let view = self.view(name)?;
        let numbers: Vec<i64> = match view.dtype() {
            Dtype::I64 => each(view.data(), i64::from_le_bytes),
            Dtype::I32 => each(view.data(), |bytes| i32::from_le_bytes(bytes).into()),
            Dtype::U32 => each(view.data(), |bytes| u32::from_le_bytes(bytes).into()),
            other => return Err(self.invalid(name, format!("holds {other:?}, but whole numbers are needed"))),
        };
        let negative = |number: i64| self.invalid(name, format!("points at row {number}, but there is none"));
        numbers.into_iter().map(|number| usize::try_from(number).map_err(|_| negative(number))).collect()
    }

    /// A complaint about the tensor `name`.
    pub(super) fn invalid(&self, name: &str, problem: String) -> Error {
        Error::invalid(&self.folder.weights_path, name, problem)
    }

    fn view(&self, name: &str) -> Result<TensorView<'a>, Error> {
        self.file.tensor(name).map_err(|error| self.invalid(name, error.to_string()))
    }
}

fn each<const BYTES: usize, T>(data: &[u8], read: impl Fn([u8; BYTES]) -> T) -> Vec<T> {
    data.as_chunks::<BYTES>().0.iter().map(|bytes| read(*bytes)).collect()
}
