//! The settings of `loci.toml` under `[server]`, `[auth]` and `[mcp]`.
//!
//! The defaults are safe on one machine: other origins are refused, and every size and duration has a limit.

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use loci_types::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

use crate::mcp::Profile;

/// Address, limits and timeouts of the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerOptions {
    /// The address to listen on, as `host:port`.
    pub listen: String,
    /// Host names that requests may use besides the server's own address. If it is empty, a server on a loopback address
    /// accepts its own names only, and a server on any other address accepts all.
    pub allowed_hosts: Vec<String>,
    /// Origins whose web pages may call the server. Default: none.
    pub cors_origins: Vec<String>,
    /// Maximum size of a request body, in bytes.
    pub body_bytes: usize,
    /// Maximum size of an imported file of another system, in bytes. Imports in Loci's own format have no limit.
    pub import_bytes: u64,
    /// The folder for backups that are made over HTTP. Default: `backups` in the data folder.
    pub backup_folder: Option<PathBuf>,
    /// Maximum duration of a request, in seconds.
    pub request_seconds: u64,
    /// Maximum time until the head of a request has arrived, in seconds.
    pub header_seconds: u64,
    /// Time after which a connection is closed if the peer reads nothing, in seconds.
    pub stalled_seconds: u64,
    /// Maximum number of open connections. A further one closes a connection without a request in progress, or waits.
    pub connections: usize,
    /// Maximum number of open connections of one address, or of one /64 network of IPv6. Default: a quarter of
    /// `connections`.
    pub connections_per_address: Option<usize>,
    /// Addresses of reverse proxies. Their connections count only in `connections`, and the client is the last address in
    /// `X-Forwarded-For` that is not one of them. Default: none.
    pub trusted_proxies: Vec<IpAddr>,
    /// The certificate of the server as PEM, with its chain. With it and `tls_key`, the server speaks HTTPS only. Both files
    /// are read again when they change, and on SIGHUP.
    pub tls_cert: Option<PathBuf>,
    /// The private key of `tls_cert` as PEM. Other users of the machine must have no access to this file.
    pub tls_key: Option<PathBuf>,
    /// Maximum number of open event streams. A credential and a tenant may open fewer, and fewer still while few are free.
    pub event_streams: usize,
    /// Interval of heartbeats on event streams, in seconds.
    pub heartbeat_seconds: u64,
    /// Maximum number of requests per second and credential. 0 means unlimited.
    pub requests_per_second: u32,
    /// Number of requests of a credential that may arrive at once before the rate is enforced.
    pub burst: u32,
    /// Whether the server asks for a key from its start, and writes one for this machine to the data folder, where
    /// `loci --server` finds it. Default: false.
    pub local_key: bool,
    /// Maximum number of requests per second of one address that have no valid credential. 0 means unlimited.
    pub refusals_per_second: u32,
    /// Number of such requests that may arrive at once before their rate is enforced.
    pub refusal_burst: u32,
    /// Format of the log: `text` or `json`.
    pub log: LogFormat,
}

/// Format of the log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines of text.
    #[default]
    Text,
    /// One JSON object per line.
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
            connections_per_address: None,
            trusted_proxies: Vec::new(),
            tls_cert: None,
            tls_key: None,
            event_streams: 512,
            heartbeat_seconds: 15,
            requests_per_second: 200,
            burst: 400,
            local_key: false,
            refusals_per_second: 10,
            refusal_burst: 100,
            log: LogFormat::Text,
        }
    }
}

/// Credentials that are accepted besides the keys that Loci creates.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuthOptions {
    /// JSON Web Tokens of an external issuer.
    pub jwt: Option<JwtOptions>,
}

/// How JSON Web Tokens of an external issuer are verified.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JwtOptions {
    /// The environment variable with the shared secret of HS256 tokens. The name begins with `LOCI_`.
    pub secret_env: Option<String>,
    /// The file with the shared secret instead; only its owner may be able to read it.
    pub secret_file: Option<PathBuf>,
    /// The address of the public keys of RS256, ES256 and EdDSA tokens, a JSON Web Key Set: `https://`, or on this machine. It
    /// is asked again when a token names a key that is not known, and every hour.
    pub jwks_url: Option<String>,
    /// A file with the public keys of RS256, ES256 and EdDSA tokens, as a JSON Web Key Set.
    pub jwks_file: Option<PathBuf>,
    /// The required issuer (`iss`).
    pub issuer: Option<String>,
    /// The required audience (`aud`).
    pub audience: String,
    /// The claim that holds the grant. Default: `loci`.
    pub claim: Option<String>,
    /// Maximum lifetime of a token, in seconds. Default: 86400, a day.
    pub max_lifetime_seconds: Option<u64>,
}

/// How MCP clients are served.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct McpOptions {
    /// The tools at `/mcp`: `default`, `full` or `graph`.
    pub profile: Profile,
    /// Maximum number of tokens of an answer.
    pub budget_tokens: usize,
    /// The user whose memories are used if neither the credential nor the address names one. Default: `me`.
    pub user: Option<String>,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self { profile: Profile::Default, budget_tokens: 4_000, user: None }
    }
}

impl McpOptions {
    /// Checks that the budget is within its limits.
    pub fn validate(&self) -> Result<(), Error> {
        if (256..=1_000_000).contains(&self.budget_tokens) {
            return Ok(());
        }
        let message = format!("mcp.budget_tokens is {}, but must be between 256 and 1000000", self.budget_tokens);
        Err(Error::new(ErrorKind::Configuration, message).at("mcp.budget_tokens").hint("leave it out for the default"))
    }
}

impl ServerOptions {
    /// Maximum number of open connections of one address.
    pub fn connections_per_address(&self) -> usize {
        self.connections_per_address.unwrap_or((self.connections / 4).max(1))
    }

    /// The scheme of the server's address.
    pub fn scheme(&self) -> &'static str {
        if self.tls_cert.is_some() { "https" } else { "http" }
    }

    /// The files of the certificate and its key, if the server speaks HTTPS.
    pub(crate) fn tls_files(&self) -> Result<Option<(&Path, &Path)>, Error> {
        let missing = |field: &'static str, other: &str| {
            let message = format!("{field} is missing, but {other} is set");
            Err(Error::new(ErrorKind::Configuration, message).at(field).hint("set both for HTTPS, or neither for HTTP"))
        };
        match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Ok(Some((certificate, key))),
            (None, None) => Ok(None),
            (Some(_), None) => missing("server.tls_key", "server.tls_cert"),
            (None, Some(_)) => missing("server.tls_cert", "server.tls_key"),
        }
    }

    /// Checks that all limits are within their ranges and all origins are well-formed.
    pub fn validate(&self) -> Result<(), Error> {
        let wrong = |field: &'static str, message: String| {
            Error::new(ErrorKind::Configuration, message).at(field).hint("leave it out for the default")
        };
        let each = self.connections_per_address();
        let bounds: [(&'static str, u64, u64, u64); 11] = [
            ("server.body_bytes", self.body_bytes as u64, 1_024, 1 << 30),
            ("server.import_bytes", self.import_bytes, 1_024, 1 << 40),
            ("server.request_seconds", self.request_seconds, 1, 3_600),
            ("server.header_seconds", self.header_seconds, 1, 600),
            ("server.stalled_seconds", self.stalled_seconds, 1, 3_600),
            ("server.connections", self.connections as u64, 1, 1_000_000),
            ("server.connections_per_address", each as u64, 1, self.connections as u64),
            ("server.event_streams", self.event_streams as u64, 1, 1_000_000),
            ("server.refusal_burst", u64::from(self.refusal_burst), 1, u64::from(u32::MAX)),
            ("server.heartbeat_seconds", self.heartbeat_seconds, 1, 600),
            ("server.burst", u64::from(self.burst), 1, u64::from(u32::MAX)),
        ];
        self.tls_files()?;
        for (field, value, least, most) in bounds {
            if !(least..=most).contains(&value) {
                return Err(wrong(field, format!("{field} is {value}, but must be between {least} and {most}")));
            }
        }
        match self
            .cors_origins
            .iter()
            .find(|origin| !origin.contains("://") || origin.parse::<axum::http::HeaderValue>().is_err())
        {
            Some(origin) => Err(wrong("server.cors_origins", format!("invalid origin `{origin}`"))
                .hint("write scheme and host, such as https://app.example.com")),
            None => Ok(()),
        }
    }
}
