//! Who embeds, and who reads?
//!
//! The outside minds of Loci: models that turn text into vectors, in this process or behind an
//! HTTP door, models that judge how well texts answer a question, and models that read and answer in
//! JSON. Nothing here knows of memories, stores or policy; texts go in, and unit vectors, relevances
//! or values of the shape asked for come out.
//!
//! **Invariant: vectors of different models are never mixed.** Every embedder has a
//! [`Model`] whose name says which vectors it makes; two embedders share a name only if their
//! vectors may be compared. A local model's name comes from the content of its files, so that
//! moving or renaming a folder changes nothing and replacing its weights changes the name.
//!
//! This room reads no environment variables and prints nothing: folders and keys are values that
//! the caller brings.

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
pub use http::{ChatConfig, Remote, RemoteChat, RemoteConfig, RemoteReranker, RerankConfig, Retries};
pub use local::Local;
pub use rerank::Reranker;
pub use secret::Secret;
pub use shared::SharedCache;
