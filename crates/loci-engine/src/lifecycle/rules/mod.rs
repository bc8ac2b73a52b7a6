//! Pure rules of maintenance.

pub(crate) mod chain;
pub mod profile;
pub mod state;
