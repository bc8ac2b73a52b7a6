//! Writing memories: from one call to one transaction.

pub(crate) mod batch;
pub(crate) mod contradict;
mod described;
pub(crate) mod forget;
pub(crate) mod importance;
pub(crate) mod ingest;
pub(crate) mod kinds;
pub(crate) mod many;
pub mod reconcile;
pub(crate) mod remember;
pub(crate) mod selection;
pub(crate) mod supersede;
pub(crate) mod undo;
pub(crate) mod update;
