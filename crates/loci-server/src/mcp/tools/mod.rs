//! Which tools are there?
//!
//! The table, in parts: each file holds the tools about one sort of thing. Arguments are read
//! strictly and named in snake case; answers have the names that HTTP has.

pub(super) mod changes;
mod consent;
mod entities;
mod facts;
pub(super) mod graph;
mod query;
mod record;
mod records;
mod search;
pub(super) mod stats;
mod talk;

use super::tool::Tool;

/// What most agents need.
pub(super) const DEFAULT: &[&[Tool]] = &[search::TOOLS, query::TOOLS, facts::TOOLS, entities::PROFILE, stats::TOOLS];

/// Everything that an agent may do with memories.
pub(super) const FULL: &[&[Tool]] = &[
    search::TOOLS,
    query::TOOLS,
    facts::TOOLS,
    entities::PROFILE,
    stats::TOOLS,
    query::CONTEXT,
    records::TOOLS,
    talk::TOOLS,
    entities::LIST,
    consent::TOOLS,
    changes::TOOLS,
];

/// The tools of the official memory server.
pub(super) const GRAPH: &[&[Tool]] = &[graph::TOOLS];
