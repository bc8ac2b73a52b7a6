//! Malformed and hostile input on the TCP connection: every connection ends with a clear answer or is closed.

use std::time::Duration;

use loci_engine::Config;
use loci_server::{Options, ServerOptions};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::TestServer;

/// A server with short timeouts and a small body limit.
async fn impatient() -> TestServer {
    let server = ServerOptions { header_seconds: 1, request_seconds: 1, body_bytes: 4_096, ..ServerOptions::default() };
    TestServer::with(Options { server, ..Options::default() }, Config::default()).await
}

/// Sends these bytes, and reads what comes until the other side hangs up.
async fn throw(server: &TestServer, bytes: &[u8], half_close: bool) -> String {
    let address = server.address.trim_start_matches("http://");
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    if half_close {
        stream.shutdown().await.unwrap();
    }
    let mut answer = Vec::new();
    // A connection that stays open fails the test here; a reset counts as closed.
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read_to_end(&mut answer)).await;
    drop(read.expect("the server hangs up"));
    String::from_utf8_lossy(&answer).into_owned()
}

// Coverage: SPEC-9.1.
#[tokio::test(flavor = "multi_thread")]
async fn arbitrary_requests_never_crash_the_server() {
    let server = impatient().await;
    let host = server.address.trim_start_matches("http://").to_owned();
    let post = |head: &str, body: &str| {
        format!("POST /v1/memories HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{head}\r\n{body}")
    };
    let flood: String = (0..300).map(|number| format!("X-Flood-{number}: a\r\n")).collect();
    let wide = format!("X-Wide: {}\r\n", "a".repeat(200_000));
    let get =
        |path: &str, more: &str| format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n");
    let check = async |sent: String, half_close: bool, expect: &[&str]| {
        let answer = throw(&server, sent.as_bytes(), half_close).await;
        let status = answer.split(' ').nth(1).unwrap_or_default().to_owned();
        assert!(expect.contains(&status.as_str()), "{}…: {answer}", &sent[..sent.len().min(80)]);
        assert_eq!(server.get("/healthz").await.status, 200, "it stands");
    };
    // Who says nothing, or not enough to tell what they speak, is not waited for without end.
    check(String::new(), false, &[""]).await;
    check("PRI * HT".to_owned(), false, &[""]).await;
    // Heads that never end, are too many, too wide, or no HTTP at all.
    check(format!("GET /healthz HTTP/1.1\r\nHost: {host}\r\n"), false, &["", "408"]).await;
    check(get("/healthz", &flood), false, &["431"]).await;
    check(get("/healthz", &wide), false, &["431", ""]).await;
    check("\u{0}\u{1}\u{2}\u{3} nonsense\r\n\r\n".to_owned(), true, &["400", ""]).await;
    check("GET /healthz HTTP/9.9\r\n\r\n".to_owned(), true, &["400", "505", ""]).await;
    // Bodies that never come, are too large, or end half way.
    check(post("Content-Length: 100\r\n", "{\"content\""), false, &["503"]).await;
    check(post("Content-Length: 100\r\n", "{\"content\""), true, &["400", "503", ""]).await;
    check(post("Content-Length: 5000\r\nConnection: close\r\n", &" ".repeat(5_000)), false, &["413"]).await;
    check(post("Content-Length: 99999999999999999999\r\n", ""), true, &["400"]).await;
    check(post("Transfer-Encoding: chunked\r\n", "zz\r\n"), true, &["400", ""]).await;
    let both = post("Content-Length: 2\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n", "2\r\n{}\r\n0\r\n\r\n");
    check(both, true, &["400", ""]).await;
    // Paths that try to leave, or are no text.
    for path in ["/v1/memories/%ff", "/v1/memories/..%2f..%2fetc", "/v1/entities/%00", "/v1/../../etc/passwd"] {
        check(get(path, ""), false, &["400", "404"]).await;
    }
    // No host, another host, two hosts.
    // attack B18: the first of two counted here, and perhaps the second to a proxy before.
    for second in ["evil.example", &host] {
        check(get("/healthz", &format!("Host: {second}\r\n")), false, &["400"]).await;
    }
    check("GET /v1/whoami HTTP/1.1\r\nConnection: close\r\n\r\n".to_owned(), false, &["400", "403"]).await;
    check("GET /v1/whoami HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n".to_owned(), false, &["403"])
        .await;
}
