//! The models that Loci uses: embedders, rerankers and language models.
//!
//! An embedder turns texts into unit vectors, in this process or over HTTP. A reranker scores how well texts answer a
//! question. A language model answers in JSON that follows a given schema. Nothing in this crate knows memories, stores
//! or policy.
//!
//! **Invariant: vectors of different models are never mixed.** Every embedder has a [`Model`], and two embedders share
//! a model name only if their vectors are comparable. The name of a local model is derived from the content of its
//! files: moving or renaming a folder does not change it, replacing the weights does.
//!
//! This crate reads no environment variables and prints nothing. The caller passes folders and keys as values.

pub mod cache;
pub mod chat;
pub mod embedder;
pub mod error;
pub mod http;
pub mod local;
pub mod projection;
pub mod rerank;
pub mod secret;
pub mod shared;

pub use cache::Cached;
pub use chat::{Chat, ChatAnswer, ChatQuestion};
pub use embedder::{Detail, Embedder, Embedding, Model, Token, dot};
pub use error::Error;
pub use http::{
    ChatConfig, EmbeddingsApi, Remote, RemoteChat, RemoteConfig, RemoteReranker, RerankConfig, Retries, cause_of,
    client_builder,
};
pub use local::Local;
pub use rerank::Reranker;
pub use secret::Secret;
pub use shared::SharedCache;
