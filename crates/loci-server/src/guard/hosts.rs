//! Checks the headers `Host` and `Origin`, as a protection against DNS rebinding and foreign web pages.
//!
//! A web page can resolve a name of its own to a loopback address and so make a browser call a local server. A server on a
//! loopback address therefore accepts its own names only, and requests of other origins are refused unless they are allowed.

use std::net::SocketAddr;

use axum::http::header::ORIGIN;
use axum::http::{HeaderMap, Method, Version};
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

    /// Refuses a request of a web page of another origin. A page of this server has the scheme, the host and the port of the
    /// request itself: another port of the same machine is another origin.
    pub(crate) fn admit_origin(&self, method: &Method, headers: &HeaderMap, host: Option<&str>) -> Result<(), Failure> {
        let mut origins = headers.get_all(ORIGIN).iter();
        let origin = origins.next().map(|origin| origin.to_str().unwrap_or_default().to_ascii_lowercase());
        if let Some(origin) = &origin {
            if self.origins.contains(origin) && origins.next().is_none() {
                return Ok(());
            }
            if !host.is_some_and(|host| is_same_origin(origin, host)) || origins.next().is_some() {
                return Err(refused("origin not allowed", "Origin")
                    .hint("add the origin to server.cors_origins in the settings of the server"));
            }
        }
        let site = headers.get("sec-fetch-site").map(|site| site.to_str().unwrap_or_default().to_ascii_lowercase());
        let foreign = matches!(site.as_deref(), Some("cross-site" | "same-site"));
        if foreign && !method.is_safe() {
            return Err(refused("a web page of another site may not write", "Sec-Fetch-Site")
                .hint("add its origin to server.cors_origins in the settings of the server"));
        }
        Ok(())
    }
}

/// Refuses a request that shows that it came through a proxy: by a header, or by HTTP/1.0, which proxies send by default and
/// clients of today do not. A server that asks for no credential takes whoever reaches it for its owner, and a proxy lets
/// others reach it. A proxy that shows nothing of itself looks like a client.
pub(super) fn refuse_proxied(version: Version, headers: &HeaderMap) -> Result<(), Failure> {
    if version < Version::HTTP_11 {
        return Err(refused("this server has no key, and takes no HTTP/1.0, which proxies use", "version").hint(
            "create a key with `loci key create --name ops --role admin`, or start with `loci serve --with-key`",
        ));
    }
    let proxied = |name: &str| matches!(name, "forwarded" | "via" | "x-real-ip") || name.starts_with("x-forwarded-");
    let Some(name) = headers.keys().find(|name| proxied(name.as_str())) else { return Ok(()) };
    let message = format!(
        "the request came through a proxy (header `{name}`), and this server has no key: everyone whom the proxy lets in \
         would be an admin"
    );
    Err(refused(&message, name.as_str()).hint(
        "create a key with `loci key create --name ops --role admin` and send it, or start with `loci serve --with-key`",
    ))
}

/// Whether an origin has the host and the port of a request, in either scheme of the web.
fn is_same_origin(origin: &str, host: &str) -> bool {
    let Some((scheme, place)) = origin.split_once("://") else { return false };
    let port = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return false,
    };
    let whole = |place: &str| if without_port(place) == place { format!("{place}{port}") } else { place.to_owned() };
    whole(place) == whole(&host.to_ascii_lowercase())
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

    // Coverage: SPEC-4.4.
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
    }

    /// doors H8: any port of this machine was taken for a page of the server.
    #[test]
    fn a_page_is_ours_by_its_whole_origin() {
        let hosts = Hosts::new("127.0.0.1:7077".parse().unwrap(), &[], &["https://app.example.com".to_owned()]);
        let check = |given: &[(&'static str, &'static str)], host: &str, reads: bool, writes: bool| {
            let mut headers = HeaderMap::new();
            for (name, value) in given {
                headers.append(*name, value.parse().unwrap());
            }
            let admits = |method| hosts.admit_origin(&method, &headers, Some(host)).is_ok();
            assert_eq!((admits(Method::GET), admits(Method::POST)), (reads, writes), "{given:?} {host}");
        };
        let own = "127.0.0.1:7077";
        check(&[], own, true, true);
        for good in ["http://127.0.0.1:7077", "https://127.0.0.1:7077", "https://app.example.com"] {
            check(&[("origin", good)], own, true, true);
        }
        check(&[("origin", "https://loci.example")], "loci.example", true, true);
        check(&[("origin", "https://loci.example")], "LOCI.example:443", true, true);
        check(&[("origin", "http://loci.example")], "loci.example:443", false, false);
        for bad in [
            "http://localhost:5173",
            "http://127.0.0.1:3000",
            "http://127.0.0.1",
            "http://localhost:7077",
            "https://evil.example",
            "https://app.example.com.evil.example",
            "file://127.0.0.1:7077",
            "null",
            "",
        ] {
            check(&[("origin", bad)], own, false, false);
        }
        check(&[("origin", "http://127.0.0.1:7077"), ("origin", "https://evil.example")], own, false, false);
        for (site, writes) in [("cross-site", false), ("same-site", false), ("same-origin", true), ("none", true)] {
            check(&[("sec-fetch-site", site)], own, true, writes);
        }
        check(&[("origin", "https://app.example.com"), ("sec-fetch-site", "cross-site")], own, true, true);
    }

    /// doors H2: behind a proxy, everyone was the owner of a server without keys.
    #[test]
    fn proxies_are_known_by_what_they_add() {
        for name in ["Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via"] {
            let headers = HeaderMap::from_iter([(name.parse().unwrap(), "a".parse().unwrap())]);
            assert!(refuse_proxied(Version::HTTP_11, &headers).is_err(), "{name}");
        }
        let headers = HeaderMap::from_iter([("x-request-id".parse().unwrap(), "a".parse().unwrap())]);
        assert!(refuse_proxied(Version::HTTP_11, &headers).is_ok());
    }
}
