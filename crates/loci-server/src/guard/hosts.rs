//! Checks the headers `Host` and `Origin`, as a protection against DNS rebinding and foreign web pages.
//!
//! A web page can resolve a name of its own to a loopback address and so make a browser call a local server. A server on a
//! loopback address therefore accepts its own names only, and requests of other origins are refused unless they are allowed.

use std::net::SocketAddr;

use axum::http::HeaderMap;
use axum::http::header::ORIGIN;
use loci_types::ErrorKind;

use crate::failure::Failure;

/// The accepted hosts and origins.
#[derive(Debug)]
pub(crate) struct Hosts {
    any: bool,
    names: Vec<String>,
    origins: Vec<String>,
}

impl Hosts {
    /// The names of a server at this address, and those that the settings allow.
    pub(crate) fn new(address: SocketAddr, allowed: &[String], origins: &[String]) -> Self {
        let own = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        let here = match address.ip() {
            std::net::IpAddr::V6(ip) => format!("[{ip}]"),
            ip => ip.to_string(),
        };
        let names = own.into_iter().chain([here]).chain(allowed.iter().map(|name| name.to_ascii_lowercase()));
        Self {
            any: !address.ip().is_loopback() && allowed.is_empty(),
            names: names.collect(),
            origins: origins.iter().map(|origin| origin.trim_end_matches('/').to_ascii_lowercase()).collect(),
        }
    }

    /// Refuses a request for an unknown host.
    pub(crate) fn admit(&self, host: Option<&str>) -> Result<(), Failure> {
        let known = host.is_some_and(|host| {
            let host = host.to_ascii_lowercase();
            self.names.iter().any(|name| *name == host || *name == without_port(&host))
        });
        if self.any || known {
            return Ok(());
        }
        Err(refused("unknown host in the header `Host`", "Host")
            .hint("use the address of the server, or add the name to server.allowed_hosts in its settings"))
    }

    /// Refuses a request of a web page of another origin.
    pub(crate) fn admit_origin(&self, headers: &HeaderMap) -> Result<(), Failure> {
        let Some(origin) = headers.get(ORIGIN) else { return Ok(()) };
        let origin = origin.to_str().unwrap_or_default().to_ascii_lowercase();
        let ours =
            origin.split_once("://").is_some_and(|(_, host)| self.names.iter().any(|name| name == without_port(host)));
        if ours || self.origins.contains(&origin) {
            return Ok(());
        }
        Err(refused("origin not allowed", "Origin")
            .hint("add the origin to server.cors_origins in the settings of the server"))
    }
}

fn refused(message: &str, field: &str) -> Failure {
    Failure::new(ErrorKind::Unauthorized, message, "request").field(field)
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.ends_with(':') => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_count_on_our_own_machine() {
        let hosts = |address: &str, allowed: &[&str]| {
            let allowed: Vec<String> = allowed.iter().map(|name| (*name).to_owned()).collect();
            Hosts::new(address.parse().unwrap(), &allowed, &["https://app.example.com".to_owned()])
        };
        let local = hosts("127.0.0.1:7077", &["loci.internal"]);
        for good in ["127.0.0.1:7077", "localhost", "LOCALHOST:1", "[::1]:7077", "[::1]", "loci.internal:80"] {
            assert!(local.admit(Some(good)).is_ok(), "{good}");
        }
        for bad in ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example:7077", "", "::1:"] {
            assert!(local.admit(Some(bad)).is_err(), "{bad}");
        }
        assert!(local.admit(None).is_err());
        assert!(hosts("0.0.0.0:80", &[]).admit(Some("anything")).is_ok());
        assert!(hosts("0.0.0.0:80", &["loci.example"]).admit(Some("anything")).is_err());
        let origin = |text: &'static str| HeaderMap::from_iter([(ORIGIN, text.parse().unwrap())]);
        for good in ["https://app.example.com", "http://localhost:5173", "http://127.0.0.1:7077"] {
            assert!(local.admit_origin(&origin(good)).is_ok(), "{good}");
        }
        for bad in ["https://evil.example", "null", "https://app.example.com.evil.example", ""] {
            assert!(local.admit_origin(&origin(bad)).is_err(), "{bad}");
        }
        assert!(local.admit_origin(&HeaderMap::new()).is_ok());
    }
}
