//! Learning from conversations: extraction, consent, entities, facts and background jobs.

pub(crate) mod consent;
pub(crate) mod consolidate;
pub(crate) mod entity;
pub(crate) mod entity_links;
pub mod extract;
pub(crate) mod fact;
pub(crate) mod insights;
pub(crate) mod jobs;
pub(crate) mod language;
pub mod llm;
pub(crate) mod session;
pub mod writing_rules;
