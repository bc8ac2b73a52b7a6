//! Where the value of each setting came from.

use std::collections::BTreeMap;

use serde_json::Value;

/// The source of every setting that is not the default, by its path, such as `embeddings.provider`.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    by_path: BTreeMap<String, String>,
    /// What was done with a project file, for standard error.
    pub note: Option<String>,
}

impl Sources {
    /// The source of a setting, in words: that of the setting itself, or of the section that holds it.
    pub fn of(&self, key: &str) -> &str {
        let mut path = key;
        loop {
            if let Some(source) = self.by_path.get(path) {
                return source;
            }
            match path.rsplit_once('.') {
                Some((section, _)) => path = section,
                None => return "default",
            }
        }
    }

    /// Every setting among `settings` with its source, in order.
    pub fn every(&self, settings: &Value) -> Vec<(String, String)> {
        let mut paths = Vec::new();
        leaves("", settings, &mut paths);
        // Settings without a value are not always written.
        let written = |path: &String| !paths.contains(path);
        let further: Vec<String> = self.by_path.keys().filter(|path| written(path)).cloned().collect();
        paths
            .extend(further.into_iter().filter(|path| !settings.pointer(&pointer(path)).is_some_and(Value::is_object)));
        paths.sort();
        paths.into_iter().map(|path| (path.clone(), self.of(&path).to_owned())).collect()
    }

    /// The settings among `settings` that have no value, in order. Formats such as TOML cannot write them.
    pub fn unset(settings: &Value) -> Vec<String> {
        let mut paths = Vec::new();
        leaves("", settings, &mut paths);
        paths.retain(|path| settings.pointer(&pointer(path)).is_some_and(Value::is_null));
        paths.sort();
        paths
    }

    /// Records the source of one setting; it replaces an earlier one, as the value does.
    pub(crate) fn set(&mut self, key: &str, source: &str) {
        self.by_path.insert(key.to_owned(), source.to_owned());
    }

    /// Records the source of everything that a file sets.
    pub(crate) fn set_all(&mut self, table: &toml::Table, source: &str) {
        let mut paths = Vec::new();
        leaves("", &serde_json::to_value(table).unwrap_or_default(), &mut paths);
        for path in paths {
            self.set(&own_name(path), source);
        }
    }
}

/// The path of a setting that was given by another of its names.
fn own_name(path: String) -> String {
    match path.as_str() {
        "postgres.connection_string" => "postgres.url".to_owned(),
        "postgres.pool_size" => "postgres.connections".to_owned(),
        "retrieval.reading_bytes" => "retrieval.feature_cache_bytes".to_owned(),
        _ => match path.strip_prefix("summarisation") {
            Some(rest) => format!("summarization{rest}"),
            None => path,
        },
    }
}

/// The paths of all values that are not sections.
fn leaves(path: &str, value: &Value, paths: &mut Vec<String>) {
    match value {
        Value::Object(fields) if !fields.is_empty() => {
            for (name, value) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                leaves(&path, value, paths);
            }
        }
        _ if path.is_empty() => {}
        _ => paths.push(path.to_owned()),
    }
}

fn pointer(path: &str) -> String {
    format!("/{}", path.replace('.', "/"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_setting_has_a_source_also_if_nobody_set_it() {
        let mut sources = Sources::default();
        let table = "user = \"ann\"\n[llm]\nmodel = \"m\"\n[summarisation]\nenabled = true\n\
                     [postgres]\npool_size = 10\n"
            .parse()
            .unwrap();
        sources.set_all(&table, "loci.toml");
        sources.set("llm.base_url", "LOCI_LLM_URL");
        let settings = json!({ "data": null, "postgres": { "connections": 10 }, "llm": { "base_url": "x", "model": "m", "seconds": 3 }, "kinds": [],
                               "summarization": { "enabled": true } });
        let every = sources.every(&settings);
        let expect = [
            ("data", "default"),
            ("kinds", "default"),
            ("llm.base_url", "LOCI_LLM_URL"),
            ("llm.model", "loci.toml"),
            ("llm.seconds", "default"),
            ("postgres.connections", "loci.toml"),
            ("summarization.enabled", "loci.toml"),
            ("user", "loci.toml"),
        ];
        let every: Vec<(&str, &str)> = every.iter().map(|(key, source)| (key.as_str(), source.as_str())).collect();
        assert_eq!(every, expect);
        assert_eq!(Sources::unset(&settings), ["data"]);
    }
}
