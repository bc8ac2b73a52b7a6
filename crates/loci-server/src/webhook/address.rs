//! Where a webhook may be sent: public addresses only, unless the settings allow others.
//!
//! A receiver is someone else's choice. Without this, it could be the machine itself, its network, or the metadata
//! service of a cloud. Names are resolved through [`PublicOnly`] for each connection, so a name that changes its
//! address after it was checked leads nowhere either.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use loci_types::Error;
use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

/// The longest address, in bytes.
const LONGEST: usize = 2_048;

/// Refuses an address that deliveries cannot or may not be sent to.
pub(crate) async fn check(text: &str, allow_private: bool) -> Result<(), Error> {
    let wrong = |problem: &str| {
        Error::invalid("url", format!("url: {problem}")).hint("use an address such as https://example.com/hook")
    };
    if text.len() > LONGEST {
        return Err(wrong("it is longer than 2048 bytes"));
    }
    let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("only http and https are allowed"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(wrong("it must not contain a user name or a password; deliveries are signed"));
    }
    let host = url.host_str().unwrap_or_default();
    if host.is_empty() {
        return Err(wrong("it has no host"));
    }
    if allow_private {
        return Ok(());
    }
    let private =
        || wrong("private and loopback addresses are not allowed").hint("see the setting webhooks.allow_private");
    match literal(&url) {
        Some(address) if is_public(address) => Ok(()),
        Some(_) => Err(private()),
        None => match tokio::net::lookup_host((host, 0)).await {
            Ok(mut found) => match found.all(|address| is_public(address.ip())) {
                true => Ok(()),
                false => Err(private()),
            },
            // A name that is not known yet may be later; each delivery looks again.
            Err(_) => Ok(()),
        },
    }
}

/// The address that a URL names without a name.
pub(super) fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Resolves names to public addresses only.
#[derive(Debug, Clone, Copy)]
pub(super) struct PublicOnly {
    pub(super) allow_private: bool,
}

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let allow_private = self.allow_private;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> = found.filter(|address| allow_private || is_public(address.ip())).collect();
            if allowed.is_empty() {
                return Err("the name resolves to no public address".into());
            }
            Ok(Box::new(allowed.into_iter()) as Addrs)
        })
    }
}

/// Whether an address is one of the public Internet.
pub(super) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [first, second, third, _] = address.octets();
    let special = matches!(
        (first, second, third),
        (0 | 127 | 240..=255, ..)       // this network, loopback, reserved
            | (100, 64..=127, _)         // carrier-grade NAT
            | (192, 0, 0)                // protocol assignments
            | (192, 88, 99)              // 6to4 relay
            | (198, 18..=19, _) // benchmarks
    );
    !special
        && !address.is_private()
        && !address.is_link_local()
        && !address.is_documentation()
        && !address.is_multicast()
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let parts = address.segments();
    let tail = || Ipv4Addr::new((parts[6] >> 8) as u8, parts[6] as u8, (parts[7] >> 8) as u8, parts[7] as u8);
    let early = || Ipv4Addr::new((parts[1] >> 8) as u8, parts[1] as u8, (parts[2] >> 8) as u8, parts[2] as u8);
    match parts {
        // An IPv4 address within: mapped, compatible, translated, 6to4.
        [0, 0, 0, 0, 0, 0xffff, ..] => is_public_v4(tail()),
        [0, 0, 0, 0, 0, 0, ..] => false,
        [0x64, 0xff9b, 0, 0, 0, 0, ..] => is_public_v4(tail()),
        [0x2002, ..] => is_public_v4(early()),
        // Teredo, documentation.
        [0x2001, 0, ..] | [0x2001, 0xdb8, ..] => false,
        // Global unicast, and nothing else.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_public_addresses_are_allowed() {
        for wrong in [
            "",
            "example.com",
            "ftp://example.com/",
            "file:///etc/passwd",
            "http://",
            "http://ann:secret@203.0.114.1/",
            "http://127.0.0.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://[::1]:80/",
            "http://[::ffff:10.0.0.1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[fe80::1]/",
            "http://[fd00::1]/",
            "http://localhost:8080/",
            "http://0.0.0.0/",
            "http://10.1.2.3/",
            "http://169.254.169.254/latest/meta-data",
            "http://100.64.0.1/",
            "http://192.168.0.1/",
            "http://224.0.0.1/",
            "http://255.255.255.255/",
        ] {
            assert_eq!(check(wrong, false).await.unwrap_err().field(), Some("url"), "{wrong}");
        }
        for good in ["http://93.184.216.34/", "https://[2606:2800:220:1::1]/hook?x=1"] {
            assert!(check(good, false).await.is_ok(), "{good}");
        }
        assert!(check("http://127.0.0.1:9/", true).await.is_ok());
        assert!(check("ftp://127.0.0.1:9/", true).await.is_err());
    }

    #[tokio::test]
    async fn names_of_private_addresses_lead_nowhere() {
        let resolve = |allow_private| PublicOnly { allow_private }.resolve("localhost".parse().unwrap());
        assert!(resolve(false).await.is_err());
        assert!(resolve(true).await.unwrap().next().is_some());
    }
}
