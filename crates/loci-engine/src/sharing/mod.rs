//! Agents, and pools that they share.

pub(crate) mod agent;
pub(crate) mod pool;
pub(crate) mod pool_sync;
