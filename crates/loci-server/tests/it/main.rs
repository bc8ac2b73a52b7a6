//! The door, from outside: a real port, a real client.

mod events;
mod guard;
mod house;
mod idempotency;
mod openspec;
mod sse;
