//! Does the embedded store keep its promises?

mod contract;
mod model;
mod sqlite;
mod ui;
