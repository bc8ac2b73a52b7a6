//! Commands about single memories: [`read`] shows them, [`write`](mod@write) changes them.

pub(crate) mod read;
pub(crate) mod write;
