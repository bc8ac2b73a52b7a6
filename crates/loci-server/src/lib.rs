//! Who may ask, and in what tongue?
//!
//! The door of the house: it speaks HTTP and knows the engine, never a store and no rule of
//! memory. There are no keys yet, so it opens on the machine's own address alone.

mod door;
mod error;
mod health;
mod schedule;
mod worker;

pub use door::Door;
pub use error::Error;
pub use schedule::Schedule;
