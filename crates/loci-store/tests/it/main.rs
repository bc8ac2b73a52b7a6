//! Does the embedded store keep its promises?

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod contract;
mod copy;
mod formats;
mod model;
mod postgres;
mod sqlite;
mod ui;
