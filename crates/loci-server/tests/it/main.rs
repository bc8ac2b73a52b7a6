//! The door, from outside: a real port, a real client.

mod bad;
mod description;
mod graph;
mod guard;
mod house;
mod keys;
mod life;
mod memories;
mod query;
mod recall;
mod sessions;
mod upkeep;
