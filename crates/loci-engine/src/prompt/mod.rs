//! Memories as text for a prompt, within a token budget.

mod changes;
pub(crate) mod context;
mod items;
pub mod pack;
pub(crate) mod query;
pub(crate) mod render;
