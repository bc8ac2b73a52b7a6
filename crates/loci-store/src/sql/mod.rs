//! The part of the store that is common to SQLite and PostgreSQL.
//!
//! Only this module decides how a change modifies rows, which rows a caller may see and how they are read.
//! [`crate::sqlite`] and [`crate::postgres`] locate a space, begin and end transactions, and search terms and vectors.

pub(crate) mod ageing;
pub(crate) mod apply;
pub(crate) mod backend;
mod bookkeeping;
pub(crate) mod catalogue;
mod chain;
mod chain_doctor;
mod checkpoints;
pub(crate) mod clause;
mod connection;
mod dialect;
pub(crate) mod doctor;
pub(crate) mod entities;
pub(crate) mod erase;
mod error;
mod facts;
pub(crate) mod feed;
mod graph;
mod import;
mod inline;
pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod merge_results;
pub(crate) mod notes;
pub(crate) mod once;
pub(crate) mod operation_counts;
pub(crate) mod outside;
mod pools;
pub(crate) mod read;
pub(crate) mod row;
pub(crate) mod sessions;
mod store;
pub(crate) mod stream;
pub(crate) mod turn_runs;
mod value;
pub(crate) mod words;
pub(crate) mod writer;

pub(crate) use backend::Backend;
pub(crate) use backend::blocking;
pub(crate) use connection::{Connection, OptionalExtension, Row};
pub(crate) use dialect::Dialect;
pub(crate) use error::{SqlError, SqlResult};
pub use inline::with_inline_reads;
pub use store::SqlStore;
pub(crate) use store::spaces_of;
pub(crate) use value::{Floats, Value, ValueRef, params, params_from_iter, vector_bytes, vector_values};
