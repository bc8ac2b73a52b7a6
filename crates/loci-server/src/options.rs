//! How is the door set?
//!
//! What `loci.toml` says under `[server]`, `[auth]` and `[mcp]`. The defaults are safe on one
//! machine: closed to other origins, bounded in every direction.

use std::path::PathBuf;

use loci_types::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

use crate::mcp::Profile;

/// Where and how the server listens.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerOptions {
    /// The address.
    pub listen: String,
    /// Names under which the server is reached beside its own address; on other addresses than the
    /// machine's own, none means any.
    pub allowed_hosts: Vec<String>,
    /// Web pages of these origins may call; none: no page may.
    pub cors_origins: Vec<String>,
    /// The largest body, in bytes.
    pub body_bytes: usize,
    /// The largest body of an import of another system's file, in bytes. Lines of Loci have no bound.
    pub import_bytes: u64,
    /// The folder of the backups that are made over HTTP; none: `backups` in the data folder.
    pub backup_folder: Option<PathBuf>,
    /// Seconds that a request may take.
    pub request_seconds: u64,
    /// Seconds in which the head of a request must have come.
    pub header_seconds: u64,
    /// Seconds after which a reader that takes nothing is cut.
    pub stalled_seconds: u64,
    /// Connections at once; further ones wait.
    pub connections: usize,
    /// Seconds between two signs of life on a stream of events.
    pub heartbeat_seconds: u64,
    /// Requests per second and credential once credentials count; 0: as many as come.
    pub requests_per_second: u32,
    /// Requests that may come at once before the rate counts.
    pub burst: u32,
    /// How the log is written: `text` or `json`.
    pub log: LogFormat,
}

/// How the log is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// For machines: one object per line.
    Json,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:7077".to_owned(),
            allowed_hosts: Vec::new(),
            cors_origins: Vec::new(),
            body_bytes: 4 << 20,
            import_bytes: 256 << 20,
            backup_folder: None,
            request_seconds: 60,
            header_seconds: 10,
            stalled_seconds: 30,
            connections: 4_096,
            heartbeat_seconds: 15,
            requests_per_second: 200,
            burst: 400,
            log: LogFormat::Text,
        }
    }
}

/// Who is believed beside the keys that Loci makes itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuthOptions {
    /// Tokens of someone else.
    pub jwt: Option<JwtOptions>,
}

/// Tokens of someone else, and how they are proved.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JwtOptions {
    /// The environment variable with the shared secret of HS256 tokens.
    pub secret_env: Option<String>,
    /// A file with the public keys of RS256 and EdDSA tokens, as a JSON Web Key Set.
    pub jwks_file: Option<PathBuf>,
    /// Who must have issued them.
    pub issuer: Option<String>,
    /// For whom they must be made.
    pub audience: String,
    /// The claim that holds what the token allows.
    pub claim: Option<String>,
}

/// How MCP clients are served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpOptions {
    /// The tools at `/mcp`: `default`, `full` or `graph`.
    pub profile: Profile,
    /// The most tokens of one answer.
    pub budget_tokens: usize,
    /// Whose memories are meant when neither credential nor address says; none: the user `me`.
    pub user: Option<String>,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self { profile: Profile::Default, budget_tokens: 4_000, user: None }
    }
}

impl McpOptions {
    /// Refuses a budget in which nothing could be said.
    pub fn validate(&self) -> Result<(), Error> {
        if (256..=1_000_000).contains(&self.budget_tokens) {
            return Ok(());
        }
        let message = format!("mcp.budget_tokens is {}, but must lie between 256 and 1000000", self.budget_tokens);
        Err(Error::new(ErrorKind::Configuration, message).at("mcp.budget_tokens").hint("leave it out for the default"))
    }
}

impl ServerOptions {
    /// Refuses bounds that would let nothing through.
    pub fn validate(&self) -> Result<(), Error> {
        let wrong = |field: &'static str, message: String| {
            Error::new(ErrorKind::Configuration, message).at(field).hint("leave it out for the default")
        };
        let bounds: [(&'static str, u64, u64, u64); 8] = [
            ("server.body_bytes", self.body_bytes as u64, 1_024, 1 << 30),
            ("server.import_bytes", self.import_bytes, 1_024, 1 << 40),
            ("server.request_seconds", self.request_seconds, 1, 3_600),
            ("server.header_seconds", self.header_seconds, 1, 600),
            ("server.stalled_seconds", self.stalled_seconds, 1, 3_600),
            ("server.connections", self.connections as u64, 1, 1_000_000),
            ("server.heartbeat_seconds", self.heartbeat_seconds, 1, 600),
            ("server.burst", u64::from(self.burst), 1, u64::from(u32::MAX)),
        ];
        for (field, value, least, most) in bounds {
            if !(least..=most).contains(&value) {
                return Err(wrong(field, format!("{field} is {value}, but must lie between {least} and {most}")));
            }
        }
        match self
            .cors_origins
            .iter()
            .find(|origin| !origin.contains("://") || origin.parse::<axum::http::HeaderValue>().is_err())
        {
            Some(origin) => Err(wrong("server.cors_origins", format!("`{origin}` is no origin"))
                .hint("write scheme and host, such as https://app.example.com")),
            None => Ok(()),
        }
    }
}
