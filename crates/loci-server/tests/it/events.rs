//! The event stream: every event is sent to those who may see it, once and in order.

use std::time::{Duration, Instant};

use loci_engine::{Caller, Config, NewKey, NewMemory, Update};
use loci_server::Options;
use loci_types::{Grant, Identifiers, MemoryId, Role, Tenant};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::server::{TestServer, answer};
use crate::sse::Stream;

fn user(name: &str) -> Caller {
    Caller::new(Identifiers { user_id: Some(name.to_owned()), ..Identifiers::default() })
}

async fn remember(server: &TestServer, name: &str, content: &str) -> MemoryId {
    let new = NewMemory { content: content.to_owned(), kind: Some("fact".into()), ..NewMemory::default() };
    server.engine.remember(&user(name), new).await.unwrap().id
}

fn quick() -> Options {
    let mut options = Options::default();
    options.server.heartbeat_seconds = 1;
    options.server.stalled_seconds = 1;
    options
}

#[tokio::test]
async fn events_are_sent_as_they_happen() {
    let server = TestServer::open().await;
    remember(&server, "ann", "Ann was here before").await;
    let request = server.request("GET", "/v1/events?userId=ann").header("accept-encoding", "gzip");
    let mut stream = Stream::open(request).await;
    let id = remember(&server, "ann", "Ann plays the cello").await;
    remember(&server, "ben", "Ben plays chess").await;
    let update = Update { importance: Some(0.9), ..Update::default() };
    server.engine.update(&user("ann"), id, update).await.unwrap();
    server.engine.forget(&user("ann"), id, None, None).await.unwrap();
    server.engine.restore(&user("ann"), id).await.unwrap();
    let sent = stream.events(4, |data| &data["memoryId"]).await;
    let names: Vec<&str> = sent.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["ADD", "UPDATE", "DELETE", "RESTORE"]);
    assert!(sent.iter().all(|(_, about)| *about == id.to_string()), "{sent:?}");
    server.close().await;
}

// Coverage: SPEC-8.9.
#[tokio::test]
async fn who_comes_back_gets_the_rest_and_nothing_twice() {
    let server = TestServer::open().await;
    let mut all = Vec::new();
    for number in 0..30 {
        all.push(
            remember(&server, "ann", &format!("Ann's box {number} holds number {number}{number}")).await.to_string(),
        );
    }
    let mut stream = Stream::open(server.request("GET", "/v1/events?userId=ann&after=all&event=ADD")).await;
    let (mut sent, mut last) = (Vec::new(), None);
    for _ in 0..11 {
        let frame = stream.event().await.unwrap();
        sent.push(frame.data["memoryId"].as_str().unwrap().to_owned());
        last = frame.id;
    }
    drop(stream);
    // The header wins over the address that the reader first came with.
    let again = server.request("GET", "/v1/events?userId=ann&after=all&event=ADD");
    let mut stream = Stream::open(again.header("Last-Event-ID", last.unwrap())).await;
    for _ in 11..30 {
        sent.push(stream.event().await.unwrap().data["memoryId"].as_str().unwrap().to_owned());
    }
    assert_eq!(sent, all);
    // A reader that saw no event yet has a place too.
    let mut stream = Stream::open(server.request("GET", "/v1/events?userId=ann")).await;
    let place = stream.frame().await.unwrap().id.unwrap();
    drop(stream);
    let missed = remember(&server, "ann", "Ann's cat is called Tom").await;
    let mut stream = Stream::open(server.request("GET", &format!("/v1/events?userId=ann&after={place}"))).await;
    assert_eq!(stream.event().await.unwrap().data["memoryId"], missed.to_string());
    server.close().await;
}

#[tokio::test]
async fn the_ledger_is_listed_in_pages() {
    let server = TestServer::open().await;
    for number in 0..5 {
        remember(&server, "ann", &format!("Ann's box {number} holds number {number}{number}")).await;
    }
    remember(&server, "ben", "Ben plays chess").await;
    let all = server.get("/v1/ledger?userId=ann&event=ADD").await.expect(200);
    let all = all["data"].as_array().unwrap();
    assert_eq!(all.len(), 5);
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = server.get(&format!("/v1/ledger?userId=ann&event=ADD&limit=2{cursor}")).await.expect(200);
        seen.extend(page["data"].as_array().unwrap().clone());
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(&seen, all);
    // The place of each entry is after it, for the list and for the stream.
    for (place, entry) in all.iter().enumerate().take(4) {
        let after = entry["cursor"].as_str().unwrap();
        let rest = server.get(&format!("/v1/ledger?userId=ann&event=ADD&after={after}")).await.expect(200);
        assert_eq!(rest["data"].as_array().unwrap(), &all[place + 1..]);
        let mut stream = Stream::open(server.request("GET", &format!("/v1/events?userId=ann&after={after}"))).await;
        assert_eq!(stream.event().await.unwrap().data["memoryId"], all[place + 1]["memoryId"]);
    }
    assert_eq!(server.get("/v1/ledger?userId=ann&after=now").await.expect(200)["data"], json!([]));
    for (query, field) in [("after=nowhere", "after"), ("cursor=nowhere", "cursor"), ("limit=0", "limit")] {
        server.get(&format!("/v1/ledger?{query}")).await.refused(400, field);
    }
    server.close().await;
}

#[tokio::test]
async fn events_are_chosen_by_what_they_are_about() {
    let server = TestServer::open().await;
    let id = remember(&server, "ann", "Ann plays the cello").await;
    remember(&server, "ann", "Ann's flat has 3 rooms").await;
    server.engine.forget(&user("ann"), id, None, None).await.unwrap();
    let check = async |query: &str, expect: &[&str]| {
        let mut stream = Stream::open(server.request("GET", &format!("/v1/events?after=all&{query}"))).await;
        let sent = stream.events(expect.len(), |data| &data["event"]).await;
        assert_eq!(sent.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), expect, "{query}");
        assert!(sent.iter().all(|(name, event)| name == event), "the name is the same in both places: {sent:?}");
    };
    check("userId=ann&event=DELETE", &["DELETE"]).await;
    check("userId=ann&event=ADD,DELETE", &["ADD", "ADD", "DELETE"]).await;
    check(&format!("everyone=true&memoryId={id}&event=ADD,DELETE"), &["ADD", "DELETE"]).await;
    check("everyone=true&layer=user&event=ADD&kind=fact", &["ADD", "ADD"]).await;
    for (query, field) in [
        ("event=created", "event"),
        ("layer=galaxy", "layer"),
        ("userId=ann&kind=nonsense", "kind"),
        ("userId=ann&after=nowhere", "after"),
        ("userId=ann&memoryId=7", "memoryId"),
        ("color=red", "color"),
        ("userId=", "userId"),
    ] {
        server.get(&format!("/v1/events?{query}")).await.refused(400, field);
    }
    let request = server.request("GET", "/v1/events?everyone=true").header("Last-Event-ID", "shared.x");
    answer(request).await.refused(400, "Last-Event-ID");
    server.close().await;
}

#[tokio::test]
async fn a_credential_gets_its_own_events_and_only_while_it_is_valid() {
    let server = TestServer::with(quick(), Config::default()).await;
    let grant = Grant {
        role: Role::Reader,
        bounds: serde_json::from_value(json!({ "users": ["ann"] })).unwrap(),
        ..Grant::whole(Tenant::default())
    };
    let new = NewKey { name: "ann".into(), grant, expires_at: None };
    let made = server.engine.create_key(&Caller::operator(), new).await.unwrap();
    let mut stream = Stream::open(server.request_as(&made.secret, "GET", "/v1/events")).await;
    remember(&server, "ben", "Ben plays chess").await;
    let id = remember(&server, "ann", "Ann plays the cello").await;
    assert_eq!(stream.event().await.unwrap().data["memoryId"], id.to_string());
    let other = answer(server.request_as(&made.secret, "GET", "/v1/events?userId=ben")).await;
    assert_eq!(other.status, 403);
    // Signs of life come, until the key is revoked.
    assert!(stream.frame().await.unwrap().id.is_some());
    server.engine.revoke_key(&Caller::operator(), &made.key.id).await.unwrap();
    let started = Instant::now();
    while stream.frame().await.is_some() {
        assert!(started.elapsed() < Duration::from_secs(10), "the stream goes on");
    }
    server.close().await;
}

#[tokio::test]
async fn only_so_many_streams_are_open_at_once() {
    let server = TestServer::guarded().await;
    let key = server.bounded(Role::Reader, json!({ "users": ["ann"] })).await;
    let mut streams = Vec::new();
    for _ in 0..16 {
        streams.push(Stream::open(server.request_as(&key, "GET", "/v1/events")).await);
    }
    let refused = answer(server.request_as(&key, "GET", "/v1/events")).await;
    assert_eq!((refused.status, refused.headers.contains_key("retry-after")), (429, true));
    assert_eq!(refused.body["code"], "RATE_LIMITED");
    // Others are not kept out by it, and a seat that is left is free again.
    streams.push(Stream::open(server.request("GET", "/v1/events?everyone=true")).await);
    drop(streams);
    let started = Instant::now();
    while answer(server.request_as(&key, "GET", "/v1/operations")).await.status == 200 {
        let again = server.request_as(&key, "GET", "/v1/events").send().await.unwrap();
        if again.status() == 200 {
            break;
        }
        assert!(started.elapsed() < Duration::from_secs(10), "no seat is given back");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    server.close().await;
}

#[tokio::test]
async fn streams_end_when_the_house_closes() {
    let server = TestServer::open().await;
    let mut stream = Stream::open(server.request("GET", "/v1/events?everyone=true")).await;
    stream.frame().await.unwrap();
    let started = Instant::now();
    server.close().await;
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
    assert_eq!(stream.event().await, None);
}

// Coverage: SPEC-8.9.
#[tokio::test]
async fn a_reader_that_takes_nothing_is_cut() {
    let server = TestServer::with(quick(), Config::default()).await;
    // Each line tells the memory as it is now, so a few lines are many bytes.
    let wall = format!("wall {}", "\u{1}".repeat(8_000));
    let id = remember(&server, "ann", &wall).await;
    for number in 0..250 {
        let update = Update { importance: Some(f64::from(number) / 250.0), ..Update::default() };
        server.engine.update(&user("ann"), id, update).await.unwrap();
    }
    let full = 250 * 8_000 * 6;
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(8_192).unwrap();
    let address = server.address.trim_start_matches("http://").to_owned();
    let mut stream = socket.connect(address.parse().unwrap()).await.unwrap();
    let head = format!("GET /v1/events?everyone=true&after=all HTTP/1.1\r\nHost: {address}\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_secs(4)).await;
    // Now it reads, and finds that the other side has gone after what lay in the buffers.
    let (mut taken, mut buffer) = (0, vec![0; 1 << 16]);
    let reading = async {
        while let Ok(bytes @ 1..) = stream.read(&mut buffer).await {
            taken += bytes;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), reading).await.expect("it was not cut");
    assert!(taken < full, "{taken} of {full} bytes were waiting for it");
    server.close().await;
}

// Coverage: S3-14.2.
#[tokio::test]
async fn what_was_done_is_counted() {
    let server = TestServer::open().await;
    let id = remember(&server, "ann", "Ann plays the cello").await;
    remember(&server, "ann", "Ann's flat has 3 rooms").await;
    remember(&server, "ben", "Ben plays chess").await;
    server.engine.forget(&user("ann"), id, None, None).await.unwrap();
    let counted = server.get("/v1/operations?userId=ann&bucket=whole&event=ADD,DELETE").await.expect(200);
    let rows: Vec<_> = counted["data"].as_array().unwrap().iter().collect();
    let count = |op: &str| rows.iter().filter(|row| row["event"] == op).map(|row| row["count"].as_u64().unwrap()).sum();
    let (added, deleted): (u64, u64) = (count("ADD"), count("DELETE"));
    assert_eq!((added, deleted, rows.len()), (2, 1, 2), "{counted}");
    let nobody = server.get("/v1/operations?userId=ann&node=worker,operator").await.expect(200);
    assert_eq!(nobody["data"], json!([]));
    assert_eq!(nobody["bucket"], "day");
    for (query, field) in [
        ("bucket=month", "bucket"),
        ("event=add", "event"),
        ("after=yesterday", "after"),
        ("after=2020-01-01&bucket=hour", "bucket"),
        ("after=2026-01-02&before=2026-01-01T00:00:00Z", "after"),
        ("since=now", "since"),
    ] {
        server.get(&format!("/v1/operations?everyone=true&{query}")).await.refused(400, field);
    }
    server.close().await;
}
