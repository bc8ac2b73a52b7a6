//! The door, from outside: a real port, a real client.

mod guard;
mod house;
