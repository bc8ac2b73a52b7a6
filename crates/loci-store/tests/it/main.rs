//! Does the embedded store keep its promises?

#![expect(clippy::unwrap_used, reason = "a test that cannot go on says where")]

mod contract;
mod formats;
mod model;
mod postgres;
mod sqlite;
mod tier;
mod ui;
