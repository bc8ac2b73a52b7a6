//! The rules of the floor, once for every database that speaks SQL.
//!
//! What a change does to the rows, who may see which, and how they are read stands here and nowhere
//! else; [`crate::sqlite`] and [`crate::postgres`] only say where a space lies, how a transaction
//! begins and ends, and how words and vectors are found there.

pub(crate) mod apply;
pub(crate) mod archive;
pub(crate) mod around;
mod carry;
pub(crate) mod catalogue;
mod chain;
mod checkpoints;
pub(crate) mod clause;
mod connection;
pub(crate) mod copy;
pub(crate) mod dialect;
pub(crate) mod doctor;
mod doors;
pub(crate) mod entities;
pub(crate) mod erase;
mod error;
mod facts;
pub(crate) mod feed;
pub(crate) mod floor;
pub(crate) mod gather;
mod graph;
pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod life;
pub(crate) mod notes;
pub(crate) mod outside;
mod pools;
pub(crate) mod read;
pub(crate) mod row;
pub(crate) mod sessions;
mod standing;
pub(crate) mod tally;
mod things;
mod value;
mod ways;
pub(crate) mod words;
pub(crate) mod writer;

pub(crate) use connection::{Connection, OptionalExtension, Row};
pub(crate) use error::{Error, Result};
pub(crate) use floor::{Floor, blocking};
pub use standing::standing;
pub(crate) use value::{Floats, Value, params, params_from_iter, vector_values};
pub(crate) use ways::Ways;
