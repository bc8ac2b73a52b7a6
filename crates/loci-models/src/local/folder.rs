//! Reads and checks a model folder.
//!
//! A folder has either `config.json`, `tokenizer.json` and `model.safetensors`: the config says whether it is a BERT
//! encoder or a static model, and anything else is refused with the name of the field, before the weights are read. Or
//! it has `weights.npz` and `sp.model`: the multilingual Universal Sentence Encoder, which needs no config.
//!
//! A BERT encoder may have any tokenizer: multilingual-e5-small and paraphrase-multilingual-MiniLM-L12-v2 have that of
//! XLM-R and run too. Loci adds no prefixes to texts; e5 models expect `query: ` and `passage: ` and rank less well
//! without.
//!
//! The name of a model derives from its content: known weights have their known name, any other model has the name of
//! its folder and a fingerprint, so that two models in folders of the same name have different names.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;

/// The name of the model that Loci is tuned for.
pub const MINILM: &str = "all-MiniLM-L6-v2";

/// The name of the multilingual model, whose vectors are used for texts that [`MINILM`] does not support.
pub const USE_MULTILINGUAL: &str = "use-multilingual-v3";

/// The file with the weights.
pub(super) const WEIGHTS: &str = "model.safetensors";

/// The files of the multilingual Universal Sentence Encoder: weights and tokenizer.
pub const USE_FILES: [&str; 2] = ["weights.npz", "sp.model"];

/// The files of every other model: config, tokenizer and weights.
const USUAL_FILES: [&str; 3] = ["config.json", "tokenizer.json", WEIGHTS];

/// Maximum number of tokens of a static model, as in its reference implementation.
const TABLE_MAX_TOKENS: usize = 512;

/// Maximum number of tokens of sentence-transformers models without a setting of their own.
const USUAL_MAX_TOKENS: usize = 256;

/// Maximum number of tokens of the multilingual Universal Sentence Encoder. It has no limit of its own, but it sums its
/// tokens: a text much longer than a paragraph becomes an average, at a cost that grows with the length.
const USE_MAX_TOKENS: usize = 512;

/// Fingerprints of all-MiniLM-L6-v2: the original, and the same weights rounded to 16 bits, whose vectors agree with it
/// to five digits.
const MINILM_FINGERPRINTS: [&str; 2] = ["80e3e234e92d", "6b2e5c933798"];

/// The fingerprint of the multilingual Universal Sentence Encoder, version 3.
const USE_FINGERPRINT: &str = "9e5ae17bf758";

/// A folder with its files in memory and a valid config.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) sort: Architecture,
    pub(super) tokenizer: Vec<u8>,
    pub(super) tokenizer_path: PathBuf,
    pub(super) weights: Vec<u8>,
    pub(super) weights_path: PathBuf,
    max_tokens: usize,
}

/// The architectures that Loci can run.
#[derive(Debug)]
pub(super) enum Architecture {
    /// A BERT encoder whose token states are averaged.
    Bert(BertConfig),
    /// A table of token vectors, which are averaged.
    StaticModel {
        /// Number of dimensions, if the config has it.
        hidden_dim: Option<usize>,
    },
    /// The multilingual Universal Sentence Encoder.
    UseMultilingual,
}

/// The fields of a BERT `config.json` that define the network.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct BertConfig {
    pub(super) hidden_size: usize,
    pub(super) intermediate_size: usize,
    pub(super) num_attention_heads: usize,
    pub(super) num_hidden_layers: usize,
    pub(super) vocab_size: usize,
    pub(super) max_position_embeddings: usize,
    pub(super) layer_norm_eps: f32,
    hidden_act: String,
    #[serde(default)]
    position_embedding_type: Option<String>,
}

/// The fields of a model2vec `config.json` that Loci uses.
#[derive(Debug, Deserialize)]
struct StaticModelConfig {
    hidden_dim: Option<usize>,
}

/// The field of a `config.json` that names the architecture.
#[derive(Debug, Deserialize)]
struct ModelHeader {
    model_type: String,
}

impl Folder {
    /// Reads the files of `path` and checks the config.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        if is_use_multilingual(path) {
            let [weights, tokenizer] = USE_FILES.map(|file| path.join(file));
            return Ok(Self {
                sort: Architecture::UseMultilingual,
                tokenizer: read(&tokenizer)?,
                weights: read(&weights)?,
                tokenizer_path: tokenizer,
                weights_path: weights,
                max_tokens: USE_MAX_TOKENS,
                path: path.to_owned(),
            });
        }
        if !is_complete(path) {
            return Err(Error::ModelMissing { looked: vec![path.to_owned()] });
        }
        let config = path.join("config.json");
        let head: ModelHeader = parse(&config)?;
        let (sort, max_tokens) = match head.model_type.as_str() {
            "bert" => {
                let bert = BertConfig::read(&config)?;
                refuse_other_pooling(path)?;
                let max_tokens = max_tokens(path)?.min(bert.max_position_embeddings);
                (Architecture::Bert(bert), max_tokens)
            }
            "model2vec" => {
                let table: StaticModelConfig = parse(&config)?;
                (Architecture::StaticModel { hidden_dim: table.hidden_dim }, TABLE_MAX_TOKENS)
            }
            other => {
                let problem = format!("`{other}` cannot be run; Loci runs `bert` and `model2vec`");
                return Err(Error::invalid(config, "model_type", problem));
            }
        };
        let (tokenizer_path, weights_path) = (path.join("tokenizer.json"), path.join(WEIGHTS));
        let (tokenizer, weights) = (read(&tokenizer_path)?, read(&weights_path)?);
        Ok(Self { path: path.to_owned(), sort, tokenizer, tokenizer_path, weights, weights_path, max_tokens })
    }

    /// Maximum number of tokens, including special tokens; a longer text is truncated.
    pub(super) fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// The name that distinguishes the vectors of this model from those of all others.
    pub(super) fn model_name(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(blake3::hash(&self.weights).as_bytes());
        hasher.update(blake3::hash(&self.tokenizer).as_bytes());
        // A config can change the vectors without changing weights or tokenizer.
        hasher.update(format!("{} {}", self.sort.settings(), self.max_tokens).as_bytes());
        let fingerprint = &hasher.finalize().to_hex()[..12];
        if MINILM_FINGERPRINTS.contains(&fingerprint) {
            return MINILM.to_owned();
        }
        if fingerprint == USE_FINGERPRINT {
            return USE_MULTILINGUAL.to_owned();
        }
        let folder = self.path.file_name().map_or_else(|| "local".into(), |name| name.to_string_lossy());
        format!("{folder}@{fingerprint}")
    }
}

impl Architecture {
    /// The settings that affect the vectors, as text. The name of a model is a hash of this text, and vectors are found
    /// by the name of their model: another format would orphan the vectors of every custom model, so it never changes,
    /// even if fields are renamed. A new setting is added only where it differs from what all models had before.
    fn settings(&self) -> String {
        match self {
            Architecture::Bert(bert) => {
                let position = match &bert.position_embedding_type {
                    Some(position) => format!("Some(\"{position}\")"),
                    None => "None".to_owned(),
                };
                format!(
                    "Bert(BertConfig {{ hidden_size: {}, intermediate_size: {}, num_attention_heads: {}, \
                     num_hidden_layers: {}, vocab_size: {}, max_position_embeddings: {}, layer_norm_eps: {:?}, \
                     hidden_act: \"{}\", position_embedding_type: {position} }})",
                    bert.hidden_size,
                    bert.intermediate_size,
                    bert.num_attention_heads,
                    bert.num_hidden_layers,
                    bert.vocab_size,
                    bert.max_position_embeddings,
                    bert.layer_norm_eps,
                    bert.hidden_act,
                )
            }
            Architecture::StaticModel { hidden_dim: Some(size) } => {
                format!("Table {{ hidden_dim: Some({size}) }}")
            }
            Architecture::StaticModel { hidden_dim: None } => "Table { hidden_dim: None }".to_owned(),
            Architecture::UseMultilingual => "UseMultilingual".to_owned(),
        }
    }
}

/// Whether the folder has all files of a model of any architecture.
pub(super) fn is_complete(path: &Path) -> bool {
    has_all(path, &USUAL_FILES) || is_use_multilingual(path)
}

/// Whether the folder has the files of the multilingual Universal Sentence Encoder.
pub(super) fn is_use_multilingual(path: &Path) -> bool {
    has_all(path, &USE_FILES)
}

fn has_all(folder: &Path, files: &[&str]) -> bool {
    files.iter().all(|file| folder.join(file).is_file())
}

impl BertConfig {
    fn read(path: &Path) -> Result<Self, Error> {
        let config: Self = parse(path)?;
        let refuse = |field: &str, problem: String| Err(Error::invalid(path, field, problem));
        if config.hidden_act != "gelu" {
            return refuse("hidden_act", format!("`{}` cannot be run; Loci runs `gelu`", config.hidden_act));
        }
        if let Some(other) = config.position_embedding_type.as_deref().filter(|&name| name != "absolute") {
            return refuse("position_embedding_type", format!("`{other}` cannot be run; Loci runs `absolute`"));
        }
        if config.num_attention_heads == 0 || !config.hidden_size.is_multiple_of(config.num_attention_heads) {
            let (size, heads) = (config.hidden_size, config.num_attention_heads);
            return refuse("num_attention_heads", format!("hidden_size {size} does not divide into {heads} heads"));
        }
        if config.hidden_size == 0 || config.max_position_embeddings < 2 {
            return refuse("hidden_size", "the network accepts no tokens".into());
        }
        Ok(config)
    }
}

/// Refuses a model with another pooling than the mean, which would give plausible but useless vectors.
fn refuse_other_pooling(folder: &Path) -> Result<(), Error> {
    #[derive(Deserialize)]
    struct Pooling {
        #[serde(default = "yes")]
        pooling_mode_mean_tokens: bool,
        #[serde(default)]
        pooling_mode_cls_token: bool,
    }
    fn yes() -> bool {
        true
    }
    let path = folder.join("1_Pooling").join("config.json");
    if !path.is_file() {
        return Ok(());
    }
    let pooling: Pooling = parse(&path)?;
    if pooling.pooling_mode_cls_token || !pooling.pooling_mode_mean_tokens {
        let problem = "the model does not average its tokens; Loci runs models that do";
        return Err(Error::invalid(path, "pooling_mode_mean_tokens", problem));
    }
    Ok(())
}

fn max_tokens(folder: &Path) -> Result<usize, Error> {
    #[derive(Deserialize)]
    struct Sentences {
        max_seq_length: Option<usize>,
    }
    let path = folder.join("sentence_bert_config.json");
    if !path.is_file() {
        return Ok(USUAL_MAX_TOKENS);
    }
    match parse::<Sentences>(&path)?.max_seq_length {
        // Special tokens at both ends need two.
        Some(length) if length < 3 => {
            Err(Error::invalid(path, "max_seq_length", format!("{length} leaves no tokens for a text")))
        }
        length => Ok(length.unwrap_or(USUAL_MAX_TOKENS)),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| Error::file(path, error))
}

fn parse<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, Error> {
    let bytes = read(path)?;
    // The error of serde contains the field and the line.
    serde_json::from_slice(&bytes).map_err(|error| Error::invalid(path, "JSON", error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Users may have vectors under these names, which the first release has made. They must not change.
    #[test]
    fn names_of_custom_models_stay() {
        let bert = BertConfig {
            hidden_size: 384,
            intermediate_size: 1_536,
            num_attention_heads: 12,
            num_hidden_layers: 6,
            vocab_size: 30_522,
            max_position_embeddings: 512,
            layer_norm_eps: 1e-12,
            hidden_act: "gelu".to_owned(),
            position_embedding_type: Some("absolute".to_owned()),
        };
        let plain = BertConfig { position_embedding_type: None, layer_norm_eps: 0.001, ..bert.clone() };
        let sorts = [
            Architecture::Bert(bert),
            Architecture::Bert(plain),
            Architecture::StaticModel { hidden_dim: Some(256) },
            Architecture::StaticModel { hidden_dim: None },
            Architecture::UseMultilingual,
        ];
        let names = sorts.map(|sort| {
            let folder = Folder {
                path: "/models/own".into(),
                sort,
                tokenizer: b"words".to_vec(),
                tokenizer_path: PathBuf::new(),
                weights: b"weights".to_vec(),
                weights_path: PathBuf::new(),
                max_tokens: 256,
            };
            folder.model_name()
        });
        assert_eq!(
            names,
            ["own@40ec8bda139f", "own@17dd6ec50498", "own@2906613b705d", "own@6c6fa3d70f65", "own@bb2ce69f77cd"]
        );
    }
}
