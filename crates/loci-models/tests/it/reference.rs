//! The vectors of the local model equal those of the reference implementation.

use std::path::PathBuf;

use loci_models::local::{ModelLocations, Precision, Weights, look, verify};
use loci_models::{Detail, Embedder, Local};
use serde::Deserialize;

#[derive(Deserialize)]
struct Row {
    text: String,
    vector: Vec<f32>,
}

fn reference() -> Vec<Row> {
    serde_json::from_str(include_str!("fixtures/reference.json")).unwrap()
}

/// The places where `make model` puts what it fetches.
#[expect(clippy::disallowed_methods, reason = "a test must find the model that `make model` has fetched")]
pub(crate) fn places() -> ModelLocations {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let cache = variable("XDG_CACHE_HOME")
        .or_else(|| variable("HOME").map(|home| home.join(".cache")))
        .unwrap_or_default()
        .join("loci");
    ModelLocations { explicit: variable("LOCI_MODEL_DIR"), cache, hub: false }
}

/// The folder of the model that `make model` fetches. Its absence is a failure with a hint: a
/// test that passes without its model proves nothing.
pub(crate) fn model_folder() -> PathBuf {
    look(&places()).unwrap_or_else(|error| panic!("{error}; {}", error.hint()))
}

pub(crate) fn cosine(left: &[f32], right: &[f32]) -> f32 {
    assert_eq!(left.len(), right.len());
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f32>();
    dot(left, right) / (dot(left, left) * dot(right, right)).sqrt()
}

/// The cosines of the model's vectors to those of the reference, and how far the cosines of pairs of texts move.
async fn beside_the_reference(precision: Precision) -> (f32, f32) {
    let local = Local::load_with(&model_folder(), precision).unwrap();
    assert_eq!((local.model().name.as_str(), local.model().dimensions), ("all-MiniLM-L6-v2", 384));
    let rows = reference();
    assert_eq!(rows.len(), 50);
    let texts: Vec<_> = rows.iter().map(|row| row.text.clone()).collect();
    let embeddings = local.embed(&texts, Detail::Sentence).await.unwrap();
    let (mut least, mut moved) = (1.0_f32, 0.0_f32);
    for (n, (row, embedding)) in rows.iter().zip(&embeddings).enumerate() {
        assert!(embedding.tokens.is_empty());
        least = least.min(cosine(&row.vector, &embedding.vector));
        for (other, its) in rows.iter().zip(&embeddings).take(n) {
            let (expected, found) = (cosine(&row.vector, &other.vector), cosine(&embedding.vector, &its.vector));
            moved = moved.max((expected - found).abs());
        }
    }
    (least, moved)
}

// Coverage: S0-7.1.
#[tokio::test]
async fn vectors_equal_the_reference() {
    let (least, moved) = beside_the_reference(Precision::Full).await;
    println!("least cosine {least:.8}, pairs moved by at most {moved:.6}");
    assert!(least >= 0.9999 && moved < 0.001, "{least} {moved}");
}

/// Whether weights have all eight bits here. Processors without dot products of bytes have seven, because two products
/// are added in 16 bits.
pub(crate) fn has_byte_products() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512vnni");
    #[cfg(not(target_arch = "x86_64"))]
    true
}

#[tokio::test]
async fn eight_bits_stay_near_the_reference() {
    let (least, moved) = beside_the_reference(Precision::Eight).await;
    println!("least cosine {least:.8}, pairs moved by at most {moved:.6}");
    let (near, far) = if has_byte_products() { (0.99, 0.03) } else { (0.98, 0.05) };
    assert!(least >= near && moved < far, "{least} {moved}");
}

#[tokio::test]
async fn a_vector_does_not_depend_on_its_company() {
    let local = Local::load(&model_folder()).unwrap();
    let texts: Vec<_> = reference().into_iter().map(|row| row.text).collect();
    let together = local.embed(&texts, Detail::Sentence).await.unwrap();
    for (text, embedding) in texts.iter().zip(&together).step_by(7) {
        let alone = local.embed(std::slice::from_ref(text), Detail::Sentence).await.unwrap();
        assert!(cosine(&alone[0].vector, &embedding.vector) > 0.999_999, "{text:?}");
    }
    assert_eq!(local.embed(&[], Detail::Sentence).await.unwrap(), []);
}

// Coverage: SPEC-6.2.
#[tokio::test]
async fn tokens_are_the_words_without_markers() {
    let local = Local::load(&model_folder()).unwrap();
    let texts = ["The cellist, Zsófia", "", "[SEP] as a word"].map(String::from);
    let embeddings = local.embed(&texts, Detail::Tokens).await.unwrap();
    let pieces = |index: usize| {
        let tokens = &embeddings[index].tokens;
        tokens.iter().map(|token| token.piece.as_str()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(pieces(0), "the cell ##ist , z ##so ##fia");
    assert_eq!(pieces(1), "");
    assert_eq!(pieces(2), "[SEP] as a word");
    let lengths = |vector: &[f32]| vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    for embedding in &embeddings {
        assert!((lengths(&embedding.vector) - 1.0).abs() < 1e-5);
        for token in &embedding.tokens {
            assert_eq!(token.state.len(), 384);
            assert!((lengths(&token.state) - 1.0).abs() < 1e-5);
        }
    }
}

// Coverage: SPEC-6.3.
#[tokio::test]
async fn a_long_text_is_cut_at_the_limit() {
    let local = Local::load(&model_folder()).unwrap();
    let texts = ["word ".repeat(254), "word ".repeat(5000)];
    let embeddings = local.embed(&texts, Detail::Tokens).await.unwrap();
    assert_eq!(embeddings[0].tokens.len(), 254);
    assert_eq!(embeddings[0], embeddings[1]);
}

#[test]
fn the_fetched_weights_are_known() {
    let weights = verify(&model_folder()).unwrap();
    assert!(matches!(weights, Weights::Original | Weights::Half), "{weights:?}");
}
