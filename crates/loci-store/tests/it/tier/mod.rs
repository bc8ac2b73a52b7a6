//! Tests of the tiers.

mod fallback;
mod process;
mod redis;
mod tls;
