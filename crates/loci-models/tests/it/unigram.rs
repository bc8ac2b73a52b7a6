//! A BERT encoder with a unigram tokenizer, as multilingual encoders have it.
//!
//! multilingual-e5-small and paraphrase-multilingual-MiniLM-L12-v2 are BERT encoders whose tokenizer is that of XLM-R:
//! unigram pieces with `▁` for a space, `<s>` and `</s>` as markers, and fewer pieces than the encoder has rows.

use std::path::Path;

use loci_models::{Detail, Embedder, Local};
use serde_json::json;

use crate::folder::write_bert;

/// The rows of the encoder: more than the tokenizer has pieces.
const ROWS: usize = 20;

/// A tokenizer of the shape that XLM-R's `tokenizer.json` has, its own padding and truncation included.
fn write_tokenizer(folder: &Path) {
    let special = |id: usize, content: &str| {
        json!({ "id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
                "normalized": false, "special": true })
    };
    let marker = |id: &str, number: usize| json!({ "id": id, "ids": [number], "tokens": [id] });
    let metaspace = json!({ "type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": true });
    let tokenizer = json!({
        "version": "1.0",
        "truncation": { "direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0 },
        "padding": { "strategy": { "Fixed": 12 }, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 1,
                     "pad_type_id": 0, "pad_token": "<pad>" },
        "added_tokens": [special(0, "<s>"), special(1, "<pad>"), special(2, "</s>"), special(3, "<unk>")],
        "normalizer": { "type": "NFKC" },
        "pre_tokenizer": metaspace,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [
                { "SpecialToken": { "id": "<s>", "type_id": 0 } },
                { "Sequence": { "id": "A", "type_id": 0 } },
                { "SpecialToken": { "id": "</s>", "type_id": 0 } },
            ],
            "pair": [{ "Sequence": { "id": "A", "type_id": 0 } }, { "Sequence": { "id": "B", "type_id": 0 } }],
            "special_tokens": { "<s>": marker("<s>", 0), "</s>": marker("</s>", 2) },
        },
        "decoder": metaspace,
        "model": {
            "type": "Unigram",
            "unk_id": 3,
            "vocab": [
                ["<s>", 0.0], ["<pad>", 0.0], ["</s>", 0.0], ["<unk>", 0.0], ["▁", -3.0], ["▁das", -4.0],
                ["▁Haus", -5.0], ["▁дом", -5.0], ["家", -5.0], ["tür", -6.0], ["s", -3.0],
            ],
        },
    });
    std::fs::write(folder.join("tokenizer.json"), tokenizer.to_string()).unwrap();
}

fn load(folder: &Path) -> Local {
    write_bert(folder, ROWS, |n| ((n * 7919 % 211) as f32 - 105.0) / 70.0);
    write_tokenizer(folder);
    Local::load(folder).unwrap()
}

#[tokio::test]
async fn texts_are_embedded_by_unigram_pieces() {
    let folder = tempfile::tempdir().unwrap();
    let local = load(folder.path());
    assert_eq!((local.model().dimensions, local.model().max_tokens), (4, 16));

    for (text, expected) in [
        ("das Haus", &[0, 5, 6, 2][..]),
        ("das Haustür", &[0, 5, 6, 9, 2]),
        ("дом 家", &[0, 7, 4, 8, 2]),
        ("ｄａｓ дом", &[0, 5, 7, 2]),
        ("", &[0, 2]),
        ("x", &[0, 4, 3, 2]),
    ] {
        assert_eq!(local.token_ids(text).unwrap(), expected, "{text:?}");
    }

    let texts = ["das Haustür", "дом 家", "", "das das das das das das das das das das das das das das das das das"];
    let texts = texts.map(String::from);
    let embeddings = local.embed(&texts, Detail::Tokens).await.unwrap();
    let pieces = |index: usize| embeddings[index].tokens.iter().map(|token| token.piece.as_str()).collect::<Vec<_>>();
    // Markers are no tokens of the text; neither the file's padding nor its truncation is used.
    assert_eq!(pieces(0), ["▁das", "▁Haus", "tür"]);
    assert_eq!(pieces(1), ["▁дом", "▁", "家"]);
    assert_eq!(pieces(2), [""; 0]);
    assert_eq!(pieces(3).len(), 14);
    for (embedding, text) in embeddings.iter().zip(&texts) {
        let length = embedding.vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        assert!((length - 1.0).abs() < 1e-5, "{text:?}: {length}");
    }
    assert_ne!(embeddings[0].vector, embeddings[1].vector);
}

#[tokio::test]
async fn the_same_files_give_the_same_vectors_and_name() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let [one, other] = folders.each_ref().map(|folder| load(folder.path()));
    let fingerprint = |local: &Local| local.model().name.split_once('@').map(|(_, print)| print.to_owned());
    assert_eq!(fingerprint(&one), fingerprint(&other));
    let texts = ["das Haus", "дом", "家s", ""].map(String::from);
    let embed = async |local: &Local| local.embed(&texts, Detail::Sentence).await.unwrap();
    assert_eq!(embed(&one).await, embed(&other).await);
}
