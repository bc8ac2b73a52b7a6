//! Names: what a user, an agent or a tenant may be called, and when two spellings are one name.

use std::borrow::Cow;

use unicode_normalization::{UnicodeNormalization, is_nfc};

use crate::Error;

/// Maximum length of an identifier, in bytes.
pub const IDENTIFIER_BYTES: usize = 256;

pub(crate) fn identifier(field: &'static str, value: &str) -> Result<(), Error> {
    if value.trim().is_empty() {
        return Err(Error::invalid(field, format!("{field} is empty")).hint("leave it out, or give it a value"));
    }
    if value.len() > IDENTIFIER_BYTES {
        return Err(Error::invalid(field, format!("{field} has {} bytes, more than {IDENTIFIER_BYTES}", value.len())));
    }
    if value.chars().any(char::is_control) {
        return Err(Error::invalid(field, format!("{field} contains a control character")));
    }
    if value == crate::ANY {
        return Err(Error::invalid(field, format!("{field} is `*`, which stands for all and is the name of none"))
            .hint("name one; only the bounds of a credential may say `*`"));
    }
    Ok(())
}

/// The one spelling of a name: Unicode's canonical composition (NFC), so that `é` as one character and as two are the same
/// name.
pub fn normalise(name: &str) -> Cow<'_, str> {
    if is_nfc(name) { Cow::Borrowed(name) } else { Cow::Owned(name.nfc().collect()) }
}

/// Checks a name that becomes part of a folder and a URL.
pub fn slug(field: &'static str, value: &str) -> Result<(), Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let starts_well = value.chars().next().is_some_and(|c| c.is_ascii_alphanumeric());
    if starts_well && value.len() <= 96 && value.chars().all(plain) {
        return Ok(());
    }
    Err(Error::invalid(field, format!("{field} `{value}` is not a slug"))
        .hint("use 1 to 96 letters, digits, `-`, `_` or `.`, starting with a letter or digit"))
}

/// Names that Windows keeps for devices, with or without an extension.
const DEVICES: [&str; 22] = [
    "con", "prn", "aux", "nul", "com1", "com2", "com3", "com4", "com5", "com6", "com7", "com8", "com9", "lpt1", "lpt2",
    "lpt3", "lpt4", "lpt5", "lpt6", "lpt7", "lpt8", "lpt9",
];

/// Checks the name of a new tenant, agent or pool, beside those that are there. One that is there already is always right:
/// what an earlier version made stays usable.
///
/// On file systems that ignore case, `Ann` and `ann` are one folder, a dot at the end is dropped, and `nul` is a device.
pub fn check_new_slug<'k>(
    field: &'static str,
    value: &str,
    known: impl IntoIterator<Item = &'k str>,
) -> Result<(), Error> {
    slug(field, value)?;
    let mut alike = None;
    for other in known {
        if other == value {
            return Ok(());
        }
        if other.eq_ignore_ascii_case(value) {
            alike = Some(other);
        }
    }
    if let Some(other) = alike {
        return Err(Error::invalid(field, format!("{field} `{value}` differs from `{other}` by case only"))
            .hint(format!("write `{other}`, or choose another name")));
    }
    let stem = value.split('.').next().unwrap_or_default();
    if value.ends_with('.') || DEVICES.iter().any(|device| device.eq_ignore_ascii_case(stem)) {
        return Err(Error::invalid(field, format!("{field} `{value}` cannot be the name of a folder on every system"))
            .hint("choose a name that does not end in `.` and is not a device of Windows such as `con` or `nul`"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// attack B11, doors H3: names that differ by case only were two agents in one folder.
    #[test]
    fn new_slugs_are_folders_of_their_own_on_every_system() {
        let check = |value: &str, known: &[&str], good: bool| {
            let outcome = check_new_slug("agentId", value, known.iter().copied());
            assert_eq!(outcome.is_ok(), good, "{value} beside {known:?}: {outcome:?}");
        };
        check("coder", &[], true);
        check("coder", &["planner"], true);
        check("Coder", &["coder"], false);
        check("Coder", &["coder", "Coder"], true);
        check("coder.", &[], false);
        check("coder.", &["coder."], true);
        for device in ["con", "NUL", "aux.txt", "Lpt9"] {
            check(device, &[], false);
            check(device, &[device], true);
        }
        check("console", &[], true);
        check("a/b", &[], false);
    }
}
