//! Operations on whole sets of data: export, import, backup, erasure and re-embedding.

pub(crate) mod backup;
pub(crate) mod erase;
pub(crate) mod import_record;
pub mod importers;
pub mod json_lines;
pub(crate) mod reembed;
pub(crate) mod vector_index;
