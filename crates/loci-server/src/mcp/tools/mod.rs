//! The table of tools, one file per subject.
//!
//! Arguments are read strictly. Arguments and answers are in snake case; a list of results is always `data`.

pub(super) mod changes;
mod consents;
mod entities;
mod facts;
pub(super) mod graph;
mod memories;
mod query;
mod record;
mod search;
mod sessions;
pub(super) mod stats;

use super::tool::Tool;

/// What most agents need.
pub(super) const DEFAULT: &[&[Tool]] = &[
    search::TOOLS,
    query::TOOLS,
    facts::TOOLS,
    memories::FORGET,
    facts::REVIEW,
    entities::PROFILE,
    stats::TOOLS,
    sessions::INGEST,
];

/// Everything that an agent may do with memories.
pub(super) const FULL: &[&[Tool]] = &[
    search::TOOLS,
    query::TOOLS,
    facts::TOOLS,
    memories::FORGET,
    facts::REVIEW,
    entities::PROFILE,
    stats::TOOLS,
    sessions::INGEST,
    query::CONTEXT,
    memories::TOOLS,
    sessions::END,
    entities::LIST,
    consents::TOOLS,
    changes::TOOLS,
];

/// The tools of the official memory server.
pub(super) const GRAPH: &[&[Tool]] = &[graph::TOOLS];
