//! The real binary, driven as a person or a script would drive it.

mod bad;
mod crash;
mod files;
mod model;
mod processes;
mod run;
mod serve;
mod verbs;
