//! Pure rules of maintenance.

pub(crate) mod chain;
pub mod fate;
pub mod profile;
