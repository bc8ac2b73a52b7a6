//! How is a key kept out of sight?
//!
//! A [`Secret`] can be sent but not printed: its `Debug` is `***`, it has no `Display` and is
//! never serialised. Only this crate can read what is inside.

use std::fmt;

/// A key or password that never shows in logs, errors or `Debug` prints.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a key. White space around it, such as the newline of a key file, is dropped.
    pub fn new(value: impl AsRef<str>) -> Self {
        Self(value.as_ref().trim().to_owned())
    }

    /// The key itself, for the one header it belongs in.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }

    /// `text` without the key: servers like to quote the key they have just refused.
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
