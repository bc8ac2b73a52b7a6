//! Categories of memories: which exist, which agents may see them, and how they are added to a context.
//!
//! The context mode of a category says whether all its memories are added (`all`) or those that match the query
//! (`rag`). An allowlist restricts what an agent sees and writes; an agent without one is not restricted further. The
//! categories file has `categories` with `system` and `custom`, and `allowlists` by agent.

mod modes;

use std::collections::{BTreeMap, BTreeSet};

use loci_types::{Error, ErrorKind, IDENTIFIER_BYTES};
use serde::{Deserialize, Serialize};

/// Names that an allowlist may use although the file does not define them: those that agents are
/// usually given, and those that Loci itself writes.
const USUAL: [&str; 18] = [
    "activity",
    "constraints",
    "event",
    "goals",
    "history",
    "interests",
    "knowledge",
    "preferences",
    "procedural",
    "profile",
    "projects",
    "recent_activity",
    "relationship_dynamic",
    "relationships",
    "style",
    "summary",
    "tasks",
    "tone",
];

/// The categories, and who may see them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "File", into = "File")]
pub struct Categories {
    /// Those that every installation has.
    pub system: Vec<CategorySpec>,
    /// Those of this one.
    pub custom: Vec<CategorySpec>,
    /// The categories that an agent may see, by its slug. An agent that is absent here may see all.
    pub allowlists: BTreeMap<String, BTreeSet<String>>,
}

/// One category.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CategorySpec {
    /// Its name.
    pub name: String,
    /// How it comes into a context.
    #[serde(default)]
    pub context: ContextMode,
    /// Maximum number of results that the category contributes to a context. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rag_length: Option<usize>,
}

/// How a category comes into a context.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContextMode {
    /// All of it, whatever the question.
    All,
    /// What matches the question.
    #[default]
    Rag,
}

/// The shape of the categories file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct File {
    categories: Lists,
    allowlists: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Lists {
    system: Vec<CategorySpec>,
    custom: Vec<CategorySpec>,
}

impl From<File> for Categories {
    fn from(file: File) -> Self {
        let File { categories: Lists { system, custom }, allowlists } = file;
        Self { system, custom, allowlists }
    }
}

impl From<Categories> for File {
    fn from(categories: Categories) -> Self {
        let Categories { system, custom, allowlists } = categories;
        Self { categories: Lists { system, custom }, allowlists }
    }
}

impl Categories {
    /// All that are defined, those of the system first.
    pub fn iter(&self) -> impl Iterator<Item = &CategorySpec> {
        self.system.iter().chain(&self.custom)
    }

    /// Refuses what cannot work, by its key.
    pub fn validate(&self) -> Result<(), Error> {
        let mut names = BTreeSet::new();
        for spec in self.iter() {
            spec.validate()?;
            if !names.insert(spec.name.as_str()) {
                return Err(wrong("categories", format!("the category `{}` is defined twice", spec.name)));
            }
        }
        for (agent, allowed) in &self.allowlists {
            loci_types::slug("allowlists", agent).map_err(|error| {
                wrong("allowlists", error.to_string()).hint("an allowlist is named after the slug of its agent")
            })?;
            let known = |name: &&String| names.contains(name.as_str()) || USUAL.contains(&name.as_str());
            if let Some(name) = allowed.iter().find(|name| !known(name)) {
                let message = format!("the allowlist of `{agent}` names the unknown category `{name}`");
                return Err(wrong("allowlists", message).hint("define it under categories.custom, or correct its name"));
            }
        }
        Ok(())
    }

    /// The categories of `set` that this agent may see. `None` if it may see all.
    pub(crate) fn narrow(&self, agent: &str, set: Option<BTreeSet<String>>) -> Option<BTreeSet<String>> {
        match (self.allowlists.get(agent), set) {
            (Some(allowed), Some(set)) => Some(set.intersection(allowed).cloned().collect()),
            (Some(allowed), None) => Some(allowed.clone()),
            (None, set) => set,
        }
    }
}

impl CategorySpec {
    fn validate(&self) -> Result<(), Error> {
        let name = &self.name;
        if name.trim().is_empty() || name.len() > IDENTIFIER_BYTES || name.chars().any(char::is_control) {
            let message =
                format!("{name:?} is not a valid category name: it is empty, too long, or has control characters");
            return Err(wrong("categories.name", message));
        }
        match (self.context, self.rag_length) {
            (ContextMode::All, Some(_)) => {
                Err(wrong("rag_length", format!("the category `{name}` has a rag_length, but its context is all"))
                    .hint("leave rag_length out, or write context: rag"))
            }
            (ContextMode::Rag, Some(0)) => Err(wrong(
                "rag_length",
                format!("the rag_length of the category `{name}` is 0, but must be at least 1"),
            )),
            _ => Ok(()),
        }
    }
}

fn wrong(field: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Configuration, message).at(field)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(value: serde_json::Value) -> Result<Categories, Error> {
        let made: Categories =
            serde_json::from_value(value).map_err(|error| Error::new(ErrorKind::Configuration, error.to_string()))?;
        made.validate().map(|()| made)
    }

    #[test]
    fn a_file_is_read_and_written_alike() {
        let file = json!({
            "categories": {
                "system": [
                    { "name": "profile", "context": "all" },
                    { "name": "event", "context": "rag", "rag_length": 30 },
                ],
                "custom": [],
            },
            "allowlists": { "planner": ["goals", "tasks"] },
        });
        let made = read(file.clone()).unwrap();
        assert_eq!((made.system.len(), made.system[1].rag_length, made.allowlists.len()), (2, Some(30), 1));
        assert_eq!(json!(made), file);
        assert_eq!(read(json!({})).unwrap(), Categories::default());
    }

    #[test]
    fn wrong_files_are_refused_by_the_key() {
        let defined = |spec: serde_json::Value| json!({ "categories": { "custom": [spec] } });
        for (file, expected) in [
            (
                json!({ "categories": { "system": [{ "name": "a" }], "custom": [{ "name": "a" }] } }),
                "`a` is defined twice",
            ),
            (defined(json!({ "name": "a", "context": "all", "rag_length": 3 })), "rag_length, but its context is all"),
            (defined(json!({ "name": "a", "context": "rag", "rag_length": 0 })), "rag_length of the category `a` is 0"),
            (defined(json!({ "name": " " })), "not a valid category name"),
            (defined(json!({ "name": "a", "contxt": "all" })), "contxt"),
            (defined(json!({ "name": "a", "context": "some" })), "some"),
            (defined(json!({ "context": "all" })), "name"),
            (json!({ "allowlist": {} }), "allowlist"),
            (json!({ "categories": { "own": [] } }), "own"),
            (
                json!({ "allowlists": { "planner": ["gaols"] } }),
                "allowlist of `planner` names the unknown category `gaols`",
            ),
            (json!({ "allowlists": { "../up": ["goals"] } }), "not a slug"),
        ] {
            let error = read(file.clone()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration, "{file}");
            assert!(error.to_string().contains(expected), "{file}: {error}");
        }
    }

    #[test]
    fn an_allowlist_only_narrows() {
        let set = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>());
        let made = read(json!({ "allowlists": { "planner": ["goals", "tasks"], "mute": [] } })).unwrap();
        for (agent, given, expect) in [
            ("planner", None, set(&["goals", "tasks"])),
            ("planner", set(&["tasks", "tone"]), set(&["tasks"])),
            ("planner", set(&["tone"]), set(&[])),
            ("mute", None, set(&[])),
            ("other", None, None),
            ("other", set(&["tone"]), set(&["tone"])),
        ] {
            assert_eq!(made.narrow(agent, given.clone()), expect, "{agent} {given:?}");
        }
    }
}
