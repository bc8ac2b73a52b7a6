//! Access: who may do what, and validation of everything that callers send.

pub(crate) mod bounds;
pub(crate) mod categories;
pub(crate) mod idempotency;
pub(crate) mod keys;
pub mod policy;
pub(crate) mod redact;
pub(crate) mod settings;
pub(crate) mod slugs;
pub(crate) mod tenant;
