//! Do the outside minds keep their promises?

mod cache;
mod folder;
mod hub;
mod reference;
mod remote;
mod table;
