//! Do the tiers keep their promises, and what happens while one is away?

mod fallback;
mod process;
mod redis;
