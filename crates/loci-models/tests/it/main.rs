//! Tests of embedders, rerankers and language models.

#![allow(clippy::unwrap_used, reason = "a test may stop at the first surprise, its helpers too")]

mod cache;
mod chat;
mod folder;
mod hub;
mod reference;
mod remote;
mod rerank;
mod table;
mod unigram;
mod use_multilingual;
