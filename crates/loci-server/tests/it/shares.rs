//! Nobody starves the others: shares of connections, refused callers, bodies that cannot be read, and probes.

use std::time::{Duration, Instant};

use loci_engine::Config;
use loci_server::{Options, ServerOptions};
use loci_types::Role;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::{TestServer, answer};

async fn with(server: ServerOptions) -> TestServer {
    TestServer::with(Options { server, ..Options::default() }, Config::default()).await
}

fn address(server: &TestServer) -> &str {
    server.address.trim_start_matches("http://")
}

// attack B13: 64 idle connections or half heads made everybody wait for `server.header_seconds`.
#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_and_half_heads_keep_nobody_out() {
    for sent in ["", "GET /healthz HTTP/1.1\r\nHost: 127"] {
        let server = with(ServerOptions { connections: 64, header_seconds: 60, ..ServerOptions::default() }).await;
        let mut held = Vec::new();
        for _ in 0..80 {
            let mut stream = TcpStream::connect(address(&server)).await.unwrap();
            drop(stream.write_all(sent.as_bytes()).await);
            held.push(stream);
        }
        let started = Instant::now();
        assert_eq!(server.get("/healthz").await.status, 200);
        // Much less than `header_seconds`, also on a busy machine.
        assert!(started.elapsed() < Duration::from_secs(20), "{sent:?}: {:?}", started.elapsed());
        drop(held);
        server.close().await;
    }
}

// attack B13: requests in progress are not closed for others, and count in the share of their address.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn an_address_with_its_share_in_use_keeps_only_itself_out() {
    let options = ServerOptions { connections: 64, connections_per_address: Some(2), ..ServerOptions::default() };
    let server = with(options).await;
    let mut streams = Vec::new();
    for _ in 0..2 {
        let stream = server.request("GET", "/v1/events?everyone=true").send().await.unwrap();
        assert_eq!(stream.status(), 200);
        streams.push(stream);
    }
    assert!(server.request("GET", "/healthz").send().await.is_err(), "a third connection of this address");
    // Linux has the whole of 127.0.0.0/8 on loopback.
    let elsewhere =
        reqwest::Client::builder().no_proxy().local_address("127.0.0.2".parse::<std::net::IpAddr>().unwrap());
    let other = elsewhere.build().unwrap().get(format!("{}/healthz", server.address)).send().await.unwrap();
    assert_eq!(other.status(), 200);
    drop(streams);
    let started = Instant::now();
    while server.request("GET", "/healthz").send().await.is_err() {
        assert!(started.elapsed() < Duration::from_secs(10), "the share is not given back");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    server.close().await;
}

// doors H7: refused callers were not counted.
#[tokio::test(flavor = "multi_thread")]
async fn refused_callers_are_slowed_and_valid_ones_are_not() {
    let options = ServerOptions { refusals_per_second: 1, refusal_burst: 5, ..ServerOptions::default() };
    let server = TestServer::guarded_with(Options { server: options, ..Options::default() }).await;
    let valid = server.bounded(Role::Reader, json!({ "users": ["ann"] })).await;
    assert_eq!(answer(server.request_as(&valid, "GET", "/v1/memories?userId=ann")).await.status, 200);
    let mut statuses = Vec::new();
    for number in 0..20 {
        let refused = answer(server.request_as(&format!("wrong-{number}"), "GET", "/v1/memories")).await;
        if refused.status == 429 {
            assert!(refused.headers.contains_key("retry-after"), "{}", refused.text);
        }
        statuses.push(refused.status);
    }
    assert_eq!(&statuses[..5], [401; 5]);
    assert!(statuses[5..].iter().filter(|status| **status == 429).count() >= 10, "{statuses:?}");
    // Who was known before is verified and admitted, and public routes answer.
    assert_eq!(answer(server.request_as(&valid, "GET", "/v1/memories?userId=ann")).await.status, 200);
    assert_eq!(server.without_key().get("/healthz").await.status, 200);
    server.close().await;
}

// attack B18
#[tokio::test(flavor = "multi_thread")]
async fn a_body_is_refused_by_its_headers_before_it_comes() {
    let server = with(ServerOptions { body_bytes: 4_096, ..ServerOptions::default() }).await;
    let host = address(&server);
    for (head, status) in [
        ("Content-Length: 99999999999\r\nContent-Type: application/json\r\n", "413"),
        ("Content-Length: 99999999999\r\nContent-Type: application/json\r\nIdempotency-Key: a\r\n", "413"),
        ("Content-Length: 100\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\n", "415"),
    ] {
        let mut stream = TcpStream::connect(host).await.unwrap();
        let sent = format!("POST /v1/memories HTTP/1.1\r\nHost: {host}\r\n{head}\r\n");
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let read = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut answer)).await;
        drop(read.expect("an answer before the body"));
        let text = String::from_utf8_lossy(&answer).into_owned();
        assert_eq!(text.split(' ').nth(1), Some(status), "{head}: {text}");
    }
    let request = server.request("POST", "/v1/memories").header("content-encoding", "gzip").body("{}");
    answer(request).await.refused(415, "Content-Encoding");
    server.close().await;
}

// doors H11, attack B21
#[tokio::test(flavor = "multi_thread")]
async fn probes_answer_for_any_host_and_strangers_learn_no_names() {
    let server = TestServer::guarded().await;
    for path in ["/healthz", "/readyz"] {
        let probe = server.anonymous("GET", path).header("host", "10.1.2.3:7077");
        assert_eq!(answer(probe).await.status, 200, "{path}");
    }
    assert_eq!(server.request("GET", "/v1/whoami").header("host", "10.1.2.3").send().await.unwrap().status(), 403);
    let reader = server.bounded(Role::Reader, json!({ "users": ["ann"] })).await;
    for request in [
        server.anonymous("GET", "/readyz"),
        server.request_as(&reader, "GET", "/readyz"),
        server.request_as("wrong", "GET", "/readyz"),
    ] {
        let shown = answer(request).await.expect(200);
        let components = &shown["components"];
        assert_eq!(components["store"]["status"], "healthy");
        for (part, field) in [("store", "name"), ("store", "version"), ("vectors", "model"), ("vectors", "message")] {
            assert!(components[part][field].is_null(), "{shown}");
        }
    }
    let whole = server.get("/readyz").await.expect(200);
    assert_eq!(whole["components"]["store"]["name"], "sqlite", "{whole}");
    server.close().await;
}
