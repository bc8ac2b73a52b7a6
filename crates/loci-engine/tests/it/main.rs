//! The engine on a real store, with a fixed clock and a stand-in for the model.

mod house;
mod laws;
mod learn;
mod rank;
