//! Reading memories and what happened to them, without ranking.

pub(crate) mod activity;
pub(crate) mod browse;
pub(crate) mod feed;
pub(crate) mod neighbourhood;
pub(crate) mod provenance;
pub(crate) mod recent;
pub(crate) mod resolve_id;
pub(crate) mod webhook;
