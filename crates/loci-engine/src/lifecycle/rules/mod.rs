//! Pure rules of maintenance.

pub mod ageing;
pub(crate) mod chain;
pub mod profile;
