//! Do the tiers keep their promises, and what happens while one is away?

mod process;
mod shared;
mod shelter;
