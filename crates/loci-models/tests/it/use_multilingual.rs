//! Tokens and vectors of the multilingual model equal those of the reference implementation.

use std::path::{Path, PathBuf};

use loci_models::local::{Precision, USE_MULTILINGUAL, look_multilingual, verify_multilingual};
use loci_models::{Detail, Embedder, Local};
use loci_types::ErrorKind;
use serde::Deserialize;

use crate::reference::{cosine, has_byte_products, places};

#[derive(Deserialize)]
struct Row {
    text: String,
    repeat: usize,
    ids: Vec<u32>,
    vector: Option<Vec<f32>>,
    sums: Option<Vec<f32>>,
}

fn reference() -> Vec<Row> {
    serde_json::from_str(include_str!("fixtures/use_reference.json")).unwrap()
}

fn texts(rows: &[Row]) -> Vec<String> {
    rows.iter().map(|row| row.text.repeat(row.repeat)).collect()
}

/// The folder that `make model` fetches. As with the main model, its absence is a failure.
fn model_folder() -> PathBuf {
    look_multilingual(&places()).expect("the multilingual model is missing; run `make model` to fetch it")
}

/// The 32 sums of a vector under the signs that `make_use_reference.py` uses.
fn sums(vector: &[f32]) -> Vec<f32> {
    let sign = |k: usize, n: usize| if (((n + 1) * (2 * k + 3) * 40503) >> 7) & 1 == 1 { -1.0 } else { 1.0 };
    (0..32).map(|k| vector.iter().enumerate().map(|(n, x)| sign(k, n) * x).sum()).collect()
}

/// The least cosine to the reference: of the vectors, and of the sums.
async fn beside_the_reference(precision: Precision) -> (f32, f32) {
    let local = Local::load_with(&model_folder(), precision).unwrap();
    let rows = reference();
    let embeddings = local.embed(&texts(&rows), Detail::Tokens).await.unwrap();
    let (mut vectors, mut of_sums) = (1.0_f32, 1.0_f32);
    for (row, embedding) in rows.iter().zip(&embeddings) {
        assert!(embedding.tokens.is_empty());
        let length = embedding.vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() < 1e-5, "{:?}: {length}", row.text);
        if let Some(expected) = &row.vector {
            vectors = vectors.min(cosine(expected, &embedding.vector));
        }
        if let Some(expected) = &row.sums {
            of_sums = of_sums.min(cosine(expected, &sums(&embedding.vector)));
        }
    }
    (vectors, of_sums)
}

#[test]
fn tokens_equal_the_reference() {
    let local = Local::load(&model_folder()).unwrap();
    let rows = reference();
    assert_eq!(rows.len(), 37);
    for (row, text) in rows.iter().zip(texts(&rows)) {
        assert_eq!(local.token_ids(&text).unwrap(), row.ids, "{:?}", row.text);
    }
}

// Coverage: S0-7.1.
#[tokio::test]
async fn vectors_equal_the_reference() {
    let (vectors, sums) = beside_the_reference(Precision::Full).await;
    println!("least cosine {vectors:.7}, of sums {sums:.7}");
    assert!(vectors >= 0.9999 && sums >= 0.9999, "{vectors} {sums}");
}

#[tokio::test]
async fn eight_bits_stay_near_the_reference() {
    let (vectors, sums) = beside_the_reference(Precision::Eight).await;
    println!("least cosine {vectors:.7}, of sums {sums:.7}");
    let near = if has_byte_products() { 0.999 } else { 0.997 };
    assert!(vectors >= near && sums >= near, "{vectors} {sums}");
}

#[test]
fn the_model_is_known_by_its_content() {
    let local = Local::load(&model_folder()).unwrap();
    let model = local.model();
    assert_eq!((model.name.as_str(), model.dimensions, model.max_tokens), (USE_MULTILINGUAL, 512, 512));
    verify_multilingual(&model_folder()).unwrap();
}

#[tokio::test]
async fn a_vector_does_not_depend_on_its_company() {
    let local = Local::load(&model_folder()).unwrap();
    let texts = texts(&reference());
    let together = local.embed(&texts, Detail::Sentence).await.unwrap();
    for (text, embedding) in texts.iter().zip(&together).step_by(5) {
        let alone = local.embed(std::slice::from_ref(text), Detail::Sentence).await.unwrap();
        assert!(cosine(&alone[0].vector, &embedding.vector) > 0.999_999, "{text:?}");
    }
    assert_eq!(local.embed(&[], Detail::Sentence).await.unwrap(), []);
}

#[tokio::test]
async fn a_text_is_nearer_to_its_translations_than_to_others() {
    let local = Local::load(&model_folder()).unwrap();
    let texts = [
        "Der Drucker im zweiten Stock hat kein Papier mehr.",
        "В принтере на втором этаже закончилась бумага.",
        "二楼的打印机没有纸了。",
        "The printer on the second floor is out of paper.",
        "Das Konzert beginnt um acht.",
        "Концерт начинается в восемь.",
    ];
    let vectors = local.embed(&texts.map(String::from), Detail::Sentence).await.unwrap();
    let near = |a: usize, b: usize| cosine(&vectors[a].vector, &vectors[b].vector);
    let threshold = local.model().similarity_threshold;
    for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (4, 5)] {
        assert!(near(a, b) > threshold, "{a} {b}: {}", near(a, b));
    }
    for (a, b) in [(0, 4), (0, 5), (1, 4), (2, 5), (3, 4), (3, 5)] {
        assert!(near(a, b) < threshold, "{a} {b}: {}", near(a, b));
    }
}

/// Loads files that are no model and expects the words of the refusal.
fn refused(weights: &[u8], pieces: &[u8], expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("weights.npz"), weights).unwrap();
    std::fs::write(folder.path().join("sp.model"), pieces).unwrap();
    let error = Local::load(folder.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
    for word in expected {
        assert!(error.to_string().contains(word), "`{word}` is not in: {error}");
    }
}

#[test]
fn damaged_files_are_refused_by_name() {
    let read = |file: &str| std::fs::read(Path::new(&model_folder()).join(file)).unwrap();
    let (weights, pieces) = (read("weights.npz"), read("sp.model"));
    refused(&weights, &[], &["sp.model", "0 pieces"]);
    refused(&weights, &pieces[..pieces.len() / 2], &["sp.model"]);
    refused(&[], &pieces, &["weights.npz", "cut off"]);
    refused(&weights[..weights.len() / 2], &pieces, &["weights.npz", "cut off"]);
    let mut other = weights;
    let middle = other.len() / 2;
    other[middle] ^= 0xff;
    refused(&other, &pieces, &["weights.npz"]);
}
