//! The address of the client that sent a request.
//!
//! It is the other end of the connection. If that is a trusted proxy, it is the last address in `X-Forwarded-For` that is not
//! a trusted proxy itself: earlier entries are written by the client and may be false.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::http::{Extensions, HeaderMap};

/// The other end of a connection, as an extension of each request on it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The address of the client, or `None` if the request was made in this process.
pub(crate) fn client_address(extensions: &Extensions, headers: &HeaderMap, proxies: &[IpAddr]) -> Option<IpAddr> {
    let Peer(peer) = *extensions.get::<Peer>()?;
    let peer = peer.to_canonical();
    if !proxies.contains(&peer) {
        return Some(peer);
    }
    let forwarded = headers.get_all("x-forwarded-for").iter().filter_map(|value| value.to_str().ok());
    let named: Vec<Option<IpAddr>> = forwarded.flat_map(|list| list.split(',')).map(read_address).collect();
    // An entry that cannot be read was written by the proxy before it; those to its left may be forged.
    let client = named.into_iter().rev().find(|address| address.is_none_or(|address| !proxies.contains(&address)));
    Some(client.flatten().unwrap_or(peer))
}

/// An address, with a port or without.
fn read_address(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let with_port = || text.parse::<SocketAddr>().map(|address| address.ip());
    bare.parse::<IpAddr>().or_else(|_| with_port()).ok().map(|address| address.to_canonical())
}

/// The unit in which clients are counted: an IPv4 address, or a /64 network of IPv6, of which one client has all addresses.
pub(crate) fn address_group(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [first, second, third, fourth, ..] = address.segments();
            Ipv6Addr::new(first, second, third, fourth, 0, 0, 0, 0).into()
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_is_who_connects_or_whom_a_trusted_proxy_names() {
        let check = |peer: &str, forwarded: &[&str], expect: &str| {
            let proxies = ["127.0.0.1".parse().unwrap(), "10.0.0.1".parse().unwrap()];
            let (mut extensions, mut headers) = (Extensions::new(), HeaderMap::new());
            extensions.insert(Peer(peer.parse().unwrap()));
            for value in forwarded {
                headers.append("x-forwarded-for", value.parse().unwrap());
            }
            let found = client_address(&extensions, &headers, &proxies);
            assert_eq!(found, Some(expect.parse().unwrap()), "{peer} {forwarded:?}");
        };
        check("192.0.2.1", &[], "192.0.2.1");
        // Who is not a trusted proxy names nobody else.
        check("192.0.2.1", &["198.51.100.7"], "192.0.2.1");
        check("127.0.0.1", &["198.51.100.7"], "198.51.100.7");
        check("::ffff:127.0.0.1", &["198.51.100.7"], "198.51.100.7");
        check("127.0.0.1", &["203.0.113.9, 198.51.100.7, 10.0.0.1"], "198.51.100.7");
        check("127.0.0.1", &["203.0.113.9", "198.51.100.7"], "198.51.100.7");
        check("127.0.0.1", &["nonsense"], "127.0.0.1");
        check("127.0.0.1", &["203.0.113.9, 198.51.100.7:5678"], "198.51.100.7");
        check("127.0.0.1", &["203.0.113.9, [2001:db8::1]:443"], "2001:db8::1");
        // The entry of the proxy cannot be read, so the one that the client wrote does not count either.
        check("127.0.0.1", &["203.0.113.9, unknown"], "127.0.0.1");
        check("127.0.0.1", &[], "127.0.0.1");
        assert_eq!(client_address(&Extensions::new(), &HeaderMap::new(), &[]), None);
    }
}
