//! Refuses settings that cannot work, by their names.
//!
//! `validate` runs before every command and needs the settings alone. `check` also reads what the settings name (secrets,
//! files, addresses), for `loci config check`; it connects to nothing.

use std::path::Path;

use loci_engine::Strategy;
use loci_server::Schedule;
use loci_types::{Error, ErrorKind, Identifiers};
use reqwest::Url;

use crate::settings::{Provider, Settings};
use crate::store::StoreKind;
use crate::vectors::VectorKind;

/// The sizes of vectors that well-known models can make at most, and whether they make shorter ones too.
const KNOWN_MODELS: [(&str, usize, bool); 6] = [
    ("text-embedding-3-small", 1_536, true),
    ("text-embedding-3-large", 3_072, true),
    ("text-embedding-ada-002", 1_536, false),
    ("embed-v4.0", 1_536, true),
    ("embed-english-v3.0", 1_024, false),
    ("embed-multilingual-v3.0", 1_024, false),
];
/// Maximum size of a vector.
const MAX_DIMENSIONS: usize = 16_384;

impl Settings {
    /// Refuses settings that cannot work, as far as they show it by themselves.
    pub fn validate(&self) -> Result<(), Error> {
        let engine = self.engine();
        engine.validate()?;
        self.vectors.validate()?;
        self.retry.validate()?;
        self.server.validate()?;
        self.webhooks.validate()?;
        self.mcp.validate()?;
        self.tiers.validate()?;
        self.postgres.validate()?;
        self.encryption.validate()?;
        for (_, source) in self.secrets() {
            source.validate()?;
        }
        let zone = engine.retrieval.time_zone()?;
        Schedule::read(&self.lifecycle.schedule, zone).map_err(|error| {
            wrong("lifecycle.schedule", error.to_string()).hint(
                "write minute, hour, day of month, month and day of week, such as \"0 3 * * *\", or \"\" for never",
            )
        })?;
        self.validate_names()?;
        self.validate_models()?;
        self.validate_addresses()?;
        for (field, value, most) in [
            ("store.writers", self.store.writers as u64, 64),
            ("embeddings.batch_size", self.embeddings.batch_size as u64, 10_000),
            ("rerank.deadline_ms", self.rerank.deadline_ms, 600_000),
            ("llm.timeout_seconds", self.llm.timeout_seconds, 3_600),
        ] {
            if !(1..=most).contains(&value) {
                return Err(wrong(field, format!("{field} is {value}, but must be between 1 and {most}"))
                    .hint("leave it out for the default"));
            }
        }
        for (field, price) in [
            ("llm.price_in_per_million", self.llm.price_in_per_million),
            ("llm.price_out_per_million", self.llm.price_out_per_million),
        ] {
            if !(0.0..=1e9).contains(&price) {
                return Err(wrong(field, format!("{field} is {price}, but must be a price of 0 or more")));
            }
        }
        Ok(())
    }

    /// The names of the user and of the project.
    fn validate_names(&self) -> Result<(), Error> {
        let user = |name: &Option<String>| Identifiers { user_id: name.clone(), ..Identifiers::default() };
        let project = Identifiers { project_id: self.project.clone(), ..Identifiers::default() };
        for (field, identifiers) in
            [("user", user(&self.user)), ("mcp.user", user(&self.mcp.user)), ("project", project)]
        {
            identifiers.validate().map_err(|error| wrong(field, format!("{field}: {error}")))?;
        }
        Ok(())
    }

    /// The models, and the sizes of their vectors.
    fn validate_models(&self) -> Result<(), Error> {
        let embeddings = &self.embeddings;
        if embeddings.provider.is_remote() && embeddings.model.trim().is_empty() {
            return Err(wrong("embeddings.model", "embeddings.model is empty".to_owned())
                .hint("name a model of the endpoint, such as text-embedding-3-small"));
        }
        if !self.llm.base_url.is_empty() && self.llm.model.trim().is_empty() {
            return Err(wrong("llm.model", "llm.model is empty".to_owned()).hint("name a model of the endpoint"));
        }
        if embeddings.provider == Provider::None && self.retrieval.strategy == Strategy::Semantic {
            let message = "retrieval.strategy is semantic, but embeddings.provider is none";
            return Err(wrong("retrieval.strategy", message.to_owned())
                .hint("use hybrid, which also searches by words, or configure an embedding model"));
        }
        let Some(size) = embeddings.dimensions else { return Ok(()) };
        let field = "embeddings.dimensions";
        let refused = |problem: String| Err(wrong(field, problem).hint("leave it out for the size of the model"));
        if !(1..=MAX_DIMENSIONS).contains(&size) {
            return refused(format!("{field} is {size}, but must be between 1 and {MAX_DIMENSIONS}"));
        }
        match KNOWN_MODELS.iter().find(|(name, ..)| embeddings.provider.is_remote() && *name == embeddings.model) {
            Some((name, most, _)) if size > *most => {
                refused(format!("{field} is {size}, but {name} makes vectors of at most {most} dimensions"))
            }
            Some((name, only, false)) if size != *only => {
                refused(format!("{field} is {size}, but {name} makes vectors of {only} dimensions only"))
            }
            _ => Ok(()),
        }
    }

    /// The addresses of services, and the one to listen on.
    fn validate_addresses(&self) -> Result<(), Error> {
        let qdrant = if self.vectors.kind == VectorKind::Qdrant { self.vectors.url.as_str() } else { "" };
        let remote = self.embeddings.provider.is_remote();
        let endpoint = if remote { self.embeddings.base_url.as_str() } else { "" };
        if remote && endpoint.is_empty() {
            return Err(wrong("embeddings.base_url", "embeddings.base_url is empty".to_owned()));
        }
        for (field, url) in [
            ("embeddings.base_url", endpoint),
            ("rerank.base_url", &self.rerank.base_url),
            ("llm.base_url", &self.llm.base_url),
            ("vectors.url", qdrant),
        ] {
            if url.is_empty() {
                continue;
            }
            // The value is not repeated, because an address may hold a password.
            let parsed =
                Url::parse(url.trim()).map_err(|error| wrong(field, format!("{field} is not a URL: {error}")))?;
            if !matches!(parsed.scheme(), "http" | "https") || parsed.host_str().is_none_or(str::is_empty) {
                return Err(wrong(field, format!("{field} must begin with http:// or https:// and a host")));
            }
        }
        let listen = &self.server.listen;
        let port = listen.rsplit_once(':').filter(|(host, _)| !host.is_empty()).map(|(_, port)| port.parse::<u16>());
        match port {
            Some(Ok(_)) => Ok(()),
            _ => {
                Err(wrong("server.listen", format!("server.listen is `{listen}`, which is not an address and a port"))
                    .hint("write it as 127.0.0.1:7077"))
            }
        }
    }

    /// Also checks what the settings name: secrets, files and addresses. It connects to nothing.
    pub fn check(&self) -> Result<(), Error> {
        self.validate()?;
        for (_, source) in self.secrets() {
            source.read()?;
        }
        self.encryption.key()?;
        self.tiers.open()?;
        if self.store.kind == StoreKind::Postgres || self.vectors.kind == VectorKind::Pgvector {
            self.postgres.check_address()?;
        }
        let files = [
            ("embeddings.folder", self.embeddings.folder.as_deref(), "folder"),
            ("auth.jwt.jwks_file", self.auth.jwt.as_ref().and_then(|jwt| jwt.jwks_file.as_deref()), "file"),
        ];
        for (field, path, what) in files {
            if let Some(path) = path.filter(|path| !exists(path, what)) {
                return Err(wrong(field, format!("{field}: there is no {what} {}", path.display())));
            }
        }
        Ok(())
    }
}

fn exists(path: &Path, what: &str) -> bool {
    if what == "folder" { path.is_dir() } else { path.is_file() }
}

fn wrong(field: &'static str, message: String) -> Error {
    Error::new(ErrorKind::Configuration, message).at(field)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_that_cannot_work_are_refused_by_their_name() {
        assert_eq!(Settings::default().check(), Ok(()));
        for (text, field) in [
            ("[lifecycle]\nschedule = \"every night\"", "lifecycle.schedule"),
            ("[lifecycle]\nschedule = \"61 3 * * *\"", "lifecycle.schedule"),
            ("[retrieval]\ntime_zone = \"Mars/Olympus\"", "retrieval.time_zone"),
            ("[embeddings]\nprovider = \"openai\"\nbase_url = \"not a url\"", "embeddings.base_url"),
            ("[embeddings]\nprovider = \"openai\"\nbase_url = \"\"", "embeddings.base_url"),
            ("[embeddings]\nprovider = \"cohere\"\nmodel = \"embed-v4.0\"\ndimensions = 2000", "embeddings.dimensions"),
            ("[embeddings]\nprovider = \"openai\"\nmodel = \"\"", "embeddings.model"),
            ("[embeddings]\nprovider = \"openai\"\ndimensions = 2000", "embeddings.dimensions"),
            (
                "[embeddings]\nprovider = \"openai\"\nmodel = \"text-embedding-ada-002\"\ndimensions = 512",
                "embeddings.dimensions",
            ),
            ("[embeddings]\ndimensions = 0", "embeddings.dimensions"),
            ("[embeddings]\nbatch_size = 0", "embeddings.batch_size"),
            ("[llm]\nbase_url = \"ftp://host/v1\"", "llm.base_url"),
            ("[llm]\nbase_url = \"http://host/v1\"\nmodel = \"\"", "llm.model"),
            ("[llm]\ntimeout_seconds = 0", "llm.timeout_seconds"),
            ("[llm]\nprice_in_per_million = -1.0", "llm.price_in_per_million"),
            ("[rerank]\nbase_url = \"http://\"", "rerank.base_url"),
            ("[rerank]\ndeadline_ms = 0", "rerank.deadline_ms"),
            ("[vectors]\nkind = \"qdrant\"\nurl = \"qdrant:6333\"", "vectors.url"),
            ("[server]\nlisten = \"7077\"", "server.listen"),
            ("[server]\nlisten = \"127.0.0.1:70777\"", "server.listen"),
            ("[retrieval]\nstrategy = \"semantic\"\n[embeddings]\nprovider = \"none\"", "retrieval.strategy"),
            ("[lifecycle]\nretention_days = 0", "lifecycle.retention_days"),
            ("[mcp]\nbudget_tokens = 1", "mcp.budget_tokens"),
            ("[store]\nwriters = 0", "store.writers"),
            ("user = \"\"", "user"),
            ("project = \"a\\u0007b\"", "project"),
        ] {
            let error = Settings::parse(text).unwrap().validate().unwrap_err();
            assert_eq!((error.field(), error.kind()), (Some(field), ErrorKind::Configuration), "{text}: {error}");
        }
    }

    #[test]
    fn what_the_settings_name_is_checked_too() {
        for (text, field) in [
            ("[tiers]\nkind = \"redis\"\nurl_env = \"LOCI_TEST_NO_SUCH_VARIABLE\"", "tiers.url"),
            ("[tiers]\nkind = \"redis\"\nurl = \"http://host\"", "tiers.url"),
            ("[store]\nkind = \"postgres\"\n[postgres]\nurl_env = \"LOCI_TEST_NO_SUCH_VARIABLE\"", "postgres.url"),
            ("[store]\nkind = \"postgres\"\n[postgres]\nurl = \"nowhere\"", "postgres.url"),
            ("[llm]\napi_key_file = \"/no/such/file\"", "llm.api_key_file"),
            ("[embeddings]\nfolder = \"/no/such/folder\"", "embeddings.folder"),
        ] {
            let settings = Settings::parse(text).unwrap();
            assert_eq!(settings.validate(), Ok(()), "{text}");
            let error = settings.check().unwrap_err();
            assert_eq!(error.field(), Some(field), "{text}: {error}");
        }
    }
}
