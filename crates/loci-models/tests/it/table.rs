//! A static model embeds according to its table.

use std::path::Path;

use loci_models::{Detail, Embedder, Local};
use safetensors::Dtype;
use safetensors::tensor::TensorView;
use serde_json::json;

/// A tensor on its way to a file.
#[derive(Clone)]
pub(crate) struct Tensor {
    dtype: Dtype,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

impl Tensor {
    pub(crate) fn floats(shape: &[usize], numbers: &[f32]) -> Self {
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        Self { dtype: Dtype::F32, shape: shape.to_vec(), bytes }
    }

    pub(crate) fn whole(numbers: &[i64]) -> Self {
        let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
        Self { dtype: Dtype::I64, shape: vec![numbers.len()], bytes }
    }
}

/// Writes the weights of a folder.
pub(crate) fn save(folder: &Path, tensors: &[(String, Tensor)]) {
    let views = tensors.iter().map(|(name, tensor)| {
        (name.as_str(), TensorView::new(tensor.dtype, tensor.shape.clone(), &tensor.bytes).unwrap())
    });
    safetensors::serialize_to_file(views, None, &folder.join("model.safetensors")).unwrap();
}

/// A folder with five words and vectors of two dimensions.
pub(crate) fn small_table(folder: &Path, hidden_dim: usize, extra: &[(&str, Tensor)]) {
    let words = json!({ "[PAD]": 0, "[UNK]": 1, "north": 2, "east": 3, "south": 4 });
    let tokenizer = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": [],
        "normalizer": { "type": "Lowercase" },
        "pre_tokenizer": { "type": "Whitespace" },
        "post_processor": null,
        "decoder": null,
        "model": { "type": "WordLevel", "vocab": words, "unk_token": "[UNK]" },
    });
    let config = json!({ "model_type": "model2vec", "hidden_dim": hidden_dim, "normalize": true });
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
    let rows = [0.0, 0.0, 9.0, 9.0, 0.0, 2.0, 2.0, 0.0, 0.0, -2.0];
    let mut tensors = vec![("embeddings".to_owned(), Tensor::floats(&[5, 2], &rows))];
    tensors.extend(extra.iter().map(|(name, tensor)| ((*name).to_owned(), tensor.clone())));
    save(folder, &tensors);
}

async fn vectors(folder: &Path, texts: &[&str]) -> Vec<Vec<f32>> {
    let texts: Vec<_> = texts.iter().map(|text| (*text).to_owned()).collect();
    let embeddings = Local::load(folder).unwrap().embed(&texts, Detail::Sentence).await.unwrap();
    embeddings.into_iter().map(|embedding| embedding.vector).collect()
}

#[tokio::test]
async fn a_text_is_the_mean_of_its_words() {
    let folder = tempfile::tempdir().unwrap();
    small_table(folder.path(), 2, &[]);
    let half = 0.5_f32.sqrt();
    let found = vectors(folder.path(), &["North", "north east", "north unheard east", "", "north south"]).await;
    let expected = [[0.0, 1.0], [half, half], [half, half], [0.0, 0.0], [0.0, 0.0]];
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-6), "{found:?} {expected:?}");
    }
}

#[tokio::test]
async fn weights_and_shared_rows_are_honoured() {
    let folder = tempfile::tempdir().unwrap();
    let weights = Tensor::floats(&[5], &[0.0, 0.0, 1.0, 0.0, 1.0]);
    let mapping = Tensor::whole(&[0, 1, 2, 3, 2]);
    small_table(folder.path(), 2, &[("weights", weights), ("mapping", mapping)]);
    assert_eq!(vectors(folder.path(), &["north east south"]).await, [[0.0, 1.0]]);
}

#[tokio::test]
async fn tokens_have_their_rows() {
    let folder = tempfile::tempdir().unwrap();
    small_table(folder.path(), 2, &[]);
    let local = Local::load(folder.path()).unwrap();
    let embeddings = local.embed(&["east north".to_owned()], Detail::Tokens).await.unwrap();
    let tokens: Vec<_> = embeddings[0].tokens.iter().map(|token| (token.piece.as_str(), token.state.clone())).collect();
    assert_eq!(tokens, [("east", vec![1.0, 0.0]), ("north", vec![0.0, 1.0])]);
}

// Coverage: S0-7.2.
#[test]
fn other_content_is_another_model_and_another_place_is_not() {
    let scratch = tempfile::tempdir().unwrap();
    let name = |place: &str, extra: &[(&str, Tensor)]| {
        let folder = scratch.path().join(place).join("model");
        std::fs::create_dir_all(&folder).unwrap();
        small_table(&folder, 2, extra);
        Local::load(&folder).unwrap().model().name.clone()
    };
    let weights = Tensor::floats(&[5], &[1.0; 5]);
    let (first, moved, other) = (name("a", &[]), name("b", &[]), name("c", &[("weights", weights)]));
    assert!(first.starts_with("model@"), "{first}");
    assert_eq!(first, moved);
    assert_ne!(first, other);
}
