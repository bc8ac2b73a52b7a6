//! The clock, which is passed to the engine so that every rule of time can be tested.

use jiff::Timestamp;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Now.
    fn now(&self) -> Timestamp;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct System;

impl Clock for System {
    #[expect(clippy::disallowed_methods, reason = "this is the one place where the machine's clock is read")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// A clock that stands still.
#[derive(Debug, Clone, Copy)]
pub struct Fixed(pub Timestamp);

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        self.0
    }
}
