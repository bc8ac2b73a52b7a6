//! Files and folders that a configuration names. **Invariant:** a relative path is relative to the configuration file, so that it
//! means the same in every working directory.

use std::path::Path;

use crate::settings::Settings;

impl Settings {
    /// Makes relative paths absolute to `folder`, where the configuration is. `categories_file` stays as it is named: its
    /// contents are read with the configuration.
    pub(crate) fn place_files(&mut self, folder: &Path) {
        let mut files = vec![
            &mut self.data,
            &mut self.ca_file,
            &mut self.embeddings.folder,
            &mut self.embeddings.api_key_file,
            &mut self.embeddings.ca_file,
            &mut self.rerank.api_key_file,
            &mut self.rerank.ca_file,
            &mut self.llm.api_key_file,
            &mut self.llm.ca_file,
            &mut self.vectors.api_key_file,
            &mut self.vectors.ca_file,
            &mut self.tiers.url_file,
            &mut self.tiers.ca_file,
            &mut self.postgres.url_file,
            &mut self.postgres.direct_url_file,
            &mut self.encryption.key_file,
            &mut self.server.backup_folder,
            &mut self.server.tls_cert,
            &mut self.server.tls_key,
        ];
        if let Some(jwt) = &mut self.auth.jwt {
            files.extend([&mut jwt.secret_file, &mut jwt.jwks_file]);
        }
        for file in files {
            if let Some(path) = file.as_ref().filter(|path| path.is_relative()) {
                *file = Some(folder.join(path));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use toml::{Table, Value};

    use super::*;

    /// Keys with paths, by the names in the configuration.
    fn paths(table: &Table, above: &str, found: &mut Vec<(String, String)>) {
        for (key, value) in table {
            match value {
                Value::Table(inner) => paths(inner, &format!("{above}{key}."), found),
                Value::String(text) => found.push((format!("{above}{key}"), text.clone())),
                _ => {}
            }
        }
    }

    #[test]
    fn relative_paths_lie_beside_the_configuration() {
        let text = r#"
            data = "d"
            ca_file = "d"
            embeddings = { folder = "d", api_key_file = "d", ca_file = "d" }
            rerank = { api_key_file = "d", ca_file = "d" }
            llm = { api_key_file = "d", ca_file = "d" }
            vectors = { api_key_file = "d", ca_file = "d" }
            tiers = { url_file = "d", ca_file = "d" }
            postgres = { url_file = "d", direct_url_file = "d" }
            encryption = { key_file = "d" }
            server = { backup_folder = "d", tls_cert = "d", tls_key = "d" }
            auth = { jwt = { audience = "a", secret_file = "d", jwks_file = "d" } }
        "#;
        for (written, expect) in [("d", "/etc/loci/d"), ("/run/d", "/run/d")] {
            let mut settings = Settings::parse(&text.replace("\"d\"", &format!("{written:?}"))).unwrap();
            settings.place_files(Path::new("/etc/loci"));
            let mut found = Vec::new();
            paths(&Table::try_from(&settings).unwrap(), "", &mut found);
            let placed = found.iter().filter(|(_, text)| text == expect).count();
            assert_eq!(placed, text.matches("\"d\"").count(), "{found:#?}");
        }
    }

    /// A setting whose name says that it is a path is placed: a new one cannot be forgotten.
    #[test]
    fn every_setting_that_is_a_path_is_placed() {
        let source = [
            include_str!("settings.rs"),
            include_str!("store.rs"),
            include_str!("tier.rs"),
            include_str!("vectors.rs"),
        ]
        .concat()
            + include_str!("encryption.rs");
        let here = include_str!("files.rs").split("mod tests").next().unwrap();
        let named = |line: &str| {
            line.trim().strip_prefix("pub ")?.split_once(": Option<PathBuf>").map(|(name, _)| name.to_owned())
        };
        let names: Vec<String> = source.lines().filter_map(named).filter(|name| name != "categories_file").collect();
        assert!(names.len() > 10);
        for name in names {
            assert!(here.contains(&format!("{name},")), "{name} is not placed");
        }
    }
}
