//! The names of collections in Qdrant and pgvector.
//!
//! An agent's collection of the default model in the default tenant is `agent_memory_SLUG`. Whatever differs is added
//! with separators that no slug contains, so that two collections never share a name: `TENANT~agent_memory_SLUG`,
//! `pool_SLUG`, `shared~~MODEL-HASH`. A name needs no escaping in a URL.

use loci_types::{Tenant, fnv1a};

use super::http::InvalidSetting;
use crate::outside::index::Collection;

/// The longest name that Qdrant accepts, in bytes.
const LONGEST: usize = 255;

/// The longest allowed prefix, in bytes.
const PREFIX: usize = 64;

/// Number of characters of a model's name that are kept; the hash distinguishes models.
const MODEL: usize = 24;

/// The name of a collection.
pub(in crate::outside) fn name(prefix: &str, usual_model: Option<&str>, collection: &Collection) -> String {
    let mut name = prefix.to_owned();
    if collection.tenant != Tenant::default() {
        name.push_str(collection.tenant.name());
        name.push('~');
    }
    name.push_str(&collection.space.name());
    if usual_model != Some(&collection.model) {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
        let short: String = collection.model.chars().take(MODEL).map(plain).collect();
        name.push_str(&format!("~~{short}-{:016x}", fnv1a(collection.model.as_bytes())));
    }
    if name.len() > LONGEST {
        let hash = fnv1a(name.as_bytes());
        name.truncate(LONGEST - 19);
        name.push_str(&format!("~~~{hash:016x}"));
    }
    name
}

/// Refuses a prefix that is too long or needs escaping in a URL.
pub(in crate::outside) fn check(prefix: &str) -> Result<(), InvalidSetting> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if prefix.len() <= PREFIX && prefix.chars().all(plain) {
        return Ok(());
    }
    let problem = format!("vectors.prefix must be up to {PREFIX} letters, digits, `-`, `_` or `.`");
    Err(InvalidSetting { field: "vectors.prefix", problem })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use loci_types::Space;

    use super::*;

    fn collection(tenant: &str, space: Space, model: &str) -> Collection {
        Collection { tenant: Tenant::new(tenant).unwrap(), space, model: model.to_owned(), dimensions: 3 }
    }

    #[test]
    fn names() {
        let agent = || Space::Agent("devops-agent".to_owned());
        for (made, expect) in [
            (collection("default", agent(), "mini"), "agent_memory_devops-agent"),
            (collection("acme", agent(), "mini"), "acme~agent_memory_devops-agent"),
            (collection("default", Space::Shared, "mini"), "shared"),
            (collection("default", Space::Pool("p".into()), "mini"), "pool_p"),
            (collection("default", Space::Shared, "Org/Big Model"), "shared~~org-big-model-4fe4a8d0b4ce1cb0"),
        ] {
            let found = name("", Some("mini"), &made);
            assert_eq!(found.split("~~").next(), expect.split("~~").next());
            assert_eq!(found.len(), expect.len(), "{found}");
        }
        assert_eq!(name("test-", Some("mini"), &collection("default", Space::Shared, "mini")), "test-shared");
    }

    #[test]
    fn no_two_share_a_name() {
        let long = "x".repeat(96);
        let mut seen = HashSet::new();
        for tenant in ["default", "shared", "a", &long] {
            for space in [Space::Shared, Space::Agent("a".into()), Space::Pool("a".into()), Space::Agent(long.clone())]
            {
                for model in ["usual", "a/b", "a-b", "A/b", &long, &format!("{long}y"), "shared", ""] {
                    let made = name("loci-", Some("usual"), &collection(tenant, space.clone(), model));
                    assert!(made.len() <= LONGEST, "{made}");
                    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~');
                    assert!(made.chars().all(plain), "{made}");
                    assert!(seen.insert(made.clone()), "{made}");
                }
            }
        }
    }

    #[test]
    fn a_prefix_stands_in_an_address() {
        for (prefix, good) in [("", true), ("team-a_1.", true), ("a/b", false), ("a~", false), ("ü", false)] {
            assert_eq!(check(prefix).is_ok(), good, "{prefix}");
        }
    }
}
