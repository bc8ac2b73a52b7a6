//! A model folder that cannot be used is refused with a clear error.

use std::path::Path;

use loci_models::{Error, Local};
use loci_types::ErrorKind;
use serde_json::{Value, json};

use crate::table::{Tensor, save, small_table};

/// A BERT of one thin layer, whose weights are zeros, with the tokenizer of the small table.
fn small_bert(folder: &Path) {
    small_table(folder, 2, &[]);
    write_bert(folder, 5, |_| 0.0);
}

/// The config and the weights of a BERT of one thin layer for `pieces` pieces. `number` gives the weights by their count.
pub(crate) fn write_bert(folder: &Path, pieces: usize, number: impl Fn(usize) -> f32) {
    let config = json!({
        "model_type": "bert", "hidden_act": "gelu", "hidden_size": 4, "intermediate_size": 8,
        "num_attention_heads": 2, "num_hidden_layers": 1, "vocab_size": pieces, "max_position_embeddings": 16,
        "layer_norm_eps": 1e-12,
    });
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let layer = "encoder.layer.0";
    let mut shapes: Vec<(String, Vec<usize>)> = vec![
        ("embeddings.word_embeddings.weight".into(), vec![pieces, 4]),
        ("embeddings.position_embeddings.weight".into(), vec![16, 4]),
        ("embeddings.token_type_embeddings.weight".into(), vec![2, 4]),
        (format!("{layer}.intermediate.dense.weight"), vec![8, 4]),
        (format!("{layer}.intermediate.dense.bias"), vec![8]),
        (format!("{layer}.output.dense.weight"), vec![4, 8]),
        (format!("{layer}.output.dense.bias"), vec![4]),
    ];
    for part in ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"] {
        shapes.push((format!("{layer}.{part}.weight"), vec![4, 4]));
        shapes.push((format!("{layer}.{part}.bias"), vec![4]));
    }
    for norm in [
        "embeddings.LayerNorm".into(),
        format!("{layer}.attention.output.LayerNorm"),
        format!("{layer}.output.LayerNorm"),
    ] {
        shapes.push((format!("{norm}.weight"), vec![4]));
        shapes.push((format!("{norm}.bias"), vec![4]));
    }
    let mut count = 0;
    let mut tensor = |shape: Vec<usize>| {
        let size: usize = shape.iter().product();
        count += size;
        Tensor::floats(&shape, &(count - size..count).map(&number).collect::<Vec<_>>())
    };
    let tensors: Vec<_> = shapes.into_iter().map(|(name, shape)| (name, tensor(shape))).collect();
    save(folder, &tensors);
}

fn edit(path: &Path, change: impl Fn(&mut Value)) {
    let mut json: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    change(&mut json);
    std::fs::write(path, json.to_string()).unwrap();
}

/// Loads the small BERT with one thing changed and expects the words of the refusal.
fn refused(break_it: impl Fn(&Path), expected: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    small_bert(folder.path());
    Local::load(folder.path()).expect("the folder is sound before it is broken");
    break_it(folder.path());
    let error = Local::load(folder.path()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
    assert!(error.hint().contains("make model"), "{}", error.hint());
    for word in expected {
        assert!(error.to_string().contains(word), "`{word}` is not in: {error}");
    }
}

#[test]
fn wrong_dimensions_name_the_field() {
    let set = |field: &'static str, value: Value| {
        move |folder: &Path| edit(&folder.join("config.json"), |config| config[field] = value.clone())
    };
    refused(set("hidden_size", json!(6)), &["model.safetensors", "[16, 4]", "[16, 6]", "hidden_size 6"]);
    refused(set("vocab_size", json!(7)), &["word_embeddings", "vocab_size 7"]);
    refused(set("intermediate_size", json!(9)), &["intermediate.dense", "intermediate_size 9"]);
    refused(set("num_attention_heads", json!(3)), &["config.json", "num_attention_heads", "3 heads"]);
    refused(set("num_attention_heads", json!(0)), &["num_attention_heads"]);
    refused(set("num_hidden_layers", json!(2)), &["encoder.layer.1"]);
    refused(set("hidden_act", json!("relu")), &["config.json", "hidden_act", "relu"]);
    refused(set("model_type", json!("t5")), &["config.json", "model_type", "t5"]);
    refused(set("hidden_size", json!("wide")), &["config.json", "wide"]);
    refused(set("position_embedding_type", json!("relative_key")), &["position_embedding_type"]);
}

#[test]
fn broken_files_are_refused() {
    let write = |file: &'static str, text: &'static str| {
        move |folder: &Path| {
            let path = folder.join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
    };
    refused(write("config.json", "{"), &["config.json"]);
    refused(write("tokenizer.json", "{}"), &["tokenizer.json"]);
    refused(write("model.safetensors", "short"), &["model.safetensors"]);
    refused(write("1_Pooling/config.json", r#"{"pooling_mode_cls_token":true}"#), &["pooling_mode_mean_tokens"]);
    refused(write("sentence_bert_config.json", r#"{"max_seq_length":1}"#), &["max_seq_length"]);
    let more = |folder: &Path| {
        edit(&folder.join("tokenizer.json"), |tokenizer| tokenizer["model"]["vocab"]["west"] = json!(5));
    };
    refused(more, &["tokenizer.json", "vocab", "has 5 pieces"]);
    refused(|folder| std::fs::remove_file(folder.join("tokenizer.json")).unwrap(), &["no embedding model"]);
}

#[test]
fn a_table_of_another_width_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    small_table(folder.path(), 3, &[]);
    let error = Local::load(folder.path()).unwrap_err();
    assert!(matches!(error, Error::ModelInvalid { .. }));
    assert!(error.to_string().contains("hidden_dim 3, but the rows have 2"), "{error}");
}

#[test]
fn a_mapping_out_of_the_table_is_refused() {
    for row in [99_i64, -1] {
        let folder = tempfile::tempdir().unwrap();
        let mapping = Tensor::whole(&[0, 1, 2, 3, row]);
        small_table(folder.path(), 2, &[("mapping", mapping)]);
        let error = Local::load(folder.path()).unwrap_err();
        assert!(error.to_string().contains("mapping: points at row"), "{error}");
    }
}

#[test]
fn weights_that_are_no_numbers_are_refused() {
    for bad in [f32::NAN, f32::INFINITY] {
        let folder = tempfile::tempdir().unwrap();
        small_table(folder.path(), 2, &[("weights", Tensor::floats(&[5], &[1.0, 1.0, bad, 1.0, 1.0]))]);
        let error = Local::load(folder.path()).unwrap_err();
        assert!(error.to_string().contains("weights: holds numbers that are NaN or infinite"), "{error}");
    }
}
