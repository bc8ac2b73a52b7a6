//! What lies in a model folder?
//!
//! Either `config.json`, `tokenizer.json` and `model.safetensors`: the config says whether that is a
//! BERT encoder or a static table, and anything else is refused here, by field, before a tensor is
//! touched. Or `weights.npz` and `sp.model`: the multilingual Universal Sentence Encoder, which has no
//! config, since there is only one of it.
//!
//! A BERT encoder may have any tokenizer: multilingual-e5-small and paraphrase-multilingual-MiniLM-L12-v2
//! have that of XLM-R and run too. Loci adds no prefixes to texts; e5 models want `query: ` and
//! `passage: ` before them and rank less well without.
//!
//! The model's name is made from the content: the known weights have their known name, any other
//! folder is called by its own name and a fingerprint, so that two models in folders of the same
//! name are still two models.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;

/// The name of the model that Loci is tuned for.
pub const MINILM: &str = "all-MiniLM-L6-v2";

/// The name of the multilingual model, whose vectors stand in for texts that [`MINILM`] cannot read.
pub const USE_MULTILINGUAL: &str = "use-multilingual-v3";

/// The file that holds the weights.
pub(super) const WEIGHTS: &str = "model.safetensors";

/// The files of the multilingual Universal Sentence Encoder: its weights and its pieces.
pub const USE_FILES: [&str; 2] = ["weights.npz", "sp.model"];

/// The files of every other model: its config, its pieces and its weights.
const USUAL_FILES: [&str; 3] = ["config.json", "tokenizer.json", WEIGHTS];

/// The longest text of a static model: its reference implementation cuts there.
const TABLE_MAX_TOKENS: usize = 512;

/// The longest text of sentence-transformers models that do not say otherwise.
const USUAL_MAX_TOKENS: usize = 256;

/// The longest text of the multilingual Universal Sentence Encoder. It has no limit of its own, but it adds up its
/// tokens: what is much longer than a paragraph becomes a mean of everything, at a cost that grows with the length.
const USE_MAX_TOKENS: usize = 512;

/// Fingerprints of weights and vocabulary that are all-MiniLM-L6-v2: the original, and the same
/// weights rounded to 16 bits, whose vectors agree with it to five digits.
const MINILM_FINGERPRINTS: [&str; 2] = ["80e3e234e92d", "6b2e5c933798"];

/// The fingerprint of weights and pieces that are the multilingual Universal Sentence Encoder, version 3.
const USE_FINGERPRINT: &str = "9e5ae17bf758";

/// A folder whose files are in memory and whose config makes sense.
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

/// The sorts of model that Loci can run.
#[derive(Debug)]
pub(super) enum Architecture {
    /// A BERT encoder whose token states are averaged.
    Bert(BertConfig),
    /// A table of token vectors, which are averaged.
    StaticModel {
        /// The length of the vectors, if the config says it.
        hidden_dim: Option<usize>,
    },
    /// The multilingual Universal Sentence Encoder.
    UseMultilingual,
}

/// The part of a BERT `config.json` that shapes the network.
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

/// The part of a model2vec `config.json` that matters here.
#[derive(Debug, Deserialize)]
struct StaticModelConfig {
    hidden_dim: Option<usize>,
}

/// What names the sort of model.
#[derive(Debug, Deserialize)]
struct ModelHeader {
    model_type: String,
}

impl Folder {
    /// Reads the files of `path` and checks what the config says.
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

    /// Tokens beyond this many are cut off, the model's own markers included.
    pub(super) fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// The name that tells this model's vectors from those of every other.
    pub(super) fn model_name(&self) -> String {
        let mut hasher = blake3::Hasher::new();
        hasher.update(blake3::hash(&self.weights).as_bytes());
        hasher.update(blake3::hash(&self.tokenizer).as_bytes());
        // A config can change the vectors without touching weights or words.
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
    /// The settings that shape the vectors, written out. The name of a model is a hash of this text, and vectors are found
    /// by the name of their model: another spelling would orphan the vectors of every custom model, so it never changes,
    /// whatever the fields here are called. A new setting is only added where it differs from what all models had before.
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

/// Whether the files that make a model of any sort are there.
pub(super) fn is_complete(path: &Path) -> bool {
    has_all(path, &USUAL_FILES) || is_use_multilingual(path)
}

/// Whether the files of the multilingual Universal Sentence Encoder are there.
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
            return refuse("hidden_size", "the network has no room for a text".into());
        }
        Ok(config)
    }
}

/// A wrong pooling would give plausible vectors of no use, so it is refused rather than ignored.
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
        // Two are taken by the markers at both ends.
        Some(length) if length < 3 => {
            Err(Error::invalid(path, "max_seq_length", format!("{length} leaves no room for a text")))
        }
        length => Ok(length.unwrap_or(USUAL_MAX_TOKENS)),
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|error| Error::file(path, error))
}

fn parse<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, Error> {
    let bytes = read(path)?;
    // serde names the field and the line, which is all a person needs to find it.
    serde_json::from_slice(&bytes).map_err(|error| Error::invalid(path, "JSON", error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of models that people may have vectors of. They were made by the first release and must stay.
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
