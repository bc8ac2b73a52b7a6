//! Secrets that are never printed.
//!
//! The `Debug` output of a [`Secret`] is `***`. It has no `Display` and is never serialised. Only this crate can read
//! its value.

use std::fmt;

/// A key or password that never appears in logs, errors or `Debug` output.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key. Leading and trailing white space, such as the newline of a key file, is removed.
    pub fn new(value: impl AsRef<str>) -> Self {
        Self(value.as_ref().trim().to_owned())
    }

    /// Returns the key, for the authorisation header only.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// Returns `text` with the key masked, because servers may quote a key that they refuse.
    pub(crate) fn scrub(&self, text: &str) -> String {
        if self.0.is_empty() { text.to_owned() } else { text.replace(&self.0, "***") }
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("***")
    }
}

impl From<String> for Secret {
    fn from(value: String) -> Self {
        Self::new(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_never_shown() {
        let secret = Secret::new("  sk-123\n");
        assert_eq!(format!("{secret:?}"), "***");
        assert_eq!(secret.reveal(), "sk-123");
        assert_eq!(secret.scrub("bad key sk-123, sorry"), "bad key ***, sorry");
        assert_eq!(Secret::new("").scrub("unchanged"), "unchanged");
    }
}
