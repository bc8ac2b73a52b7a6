//! Reading of tensors from a safetensors file.
//!
//! Whatever the number format on disk is, the networks get 32-bit floats. Numbers that are not finite are refused.

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
    /// Opens the weights of `folder`, and reads and checks the header of the file.
    pub(super) fn open(folder: &'a Folder) -> Result<Self, Error> {
        let file = SafeTensors::deserialize(&folder.weights)
            .map_err(|error| Error::invalid(&folder.weights_path, "safetensors", error.to_string()))?;
        Ok(Self { folder, file })
    }

    /// Returns true if the file has a tensor of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.file.tensor(name).is_ok()
    }

    /// Returns the shape and the numbers of a tensor.
    pub(super) fn floats(&self, name: &str) -> Result<(Vec<usize>, Vec<f32>), Error> {
        let view = self.view(name)?;
        let numbers: Vec<f32> = match view.dtype() {
            Dtype::F32 => each(view.data(), f32::from_le_bytes),
            Dtype::F64 => each(view.data(), |bytes| f64::from_le_bytes(bytes) as f32),
            Dtype::F16 => each(view.data(), |bytes| f16::from_le_bytes(bytes).to_f32()),
            Dtype::BF16 => each(view.data(), |bytes| bf16::from_le_bytes(bytes).to_f32()),
            other => return Err(self.invalid(name, format!("holds {other:?}, but floats are needed"))),
        };
        // Quantised to integers, they would give plausible but useless vectors.
        if numbers.iter().any(|x| !x.is_finite()) {
            return Err(self.invalid(name, "holds numbers that are NaN or infinite; fetch the model again".into()));
        }
        Ok((view.shape().to_vec(), numbers))
    }

    /// Returns the integers of a tensor, which must not be negative.
    pub(super) fn indices(&self, name: &str) -> Result<Vec<usize>, Error> {
        let view = self.view(name)?;
        let numbers: Vec<i64> = match view.dtype() {
            Dtype::I64 => each(view.data(), i64::from_le_bytes),
            Dtype::I32 => each(view.data(), |bytes| i32::from_le_bytes(bytes).into()),
            Dtype::U32 => each(view.data(), |bytes| u32::from_le_bytes(bytes).into()),
            other => return Err(self.invalid(name, format!("holds {other:?}, but integers are needed"))),
        };
        let negative = |number: i64| self.invalid(name, format!("points at row {number}, which does not exist"));
        numbers.into_iter().map(|number| usize::try_from(number).map_err(|_| negative(number))).collect()
    }

    /// Makes the error for the tensor `name`.
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
