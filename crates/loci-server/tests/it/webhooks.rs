//! Webhooks over real HTTP: signed, filtered, retried, resumed, and only to where they may go.

use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use aws_lc_rs::hmac;
use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use loci_engine::{Caller, Config, Engine, NewMemory, System};
use loci_server::{Options, Server, WebhookOptions};
use loci_store::{SqliteOptions, SqliteStore};
use loci_types::{Grant, Identifiers, Role, Tenant};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::server::{TestServer, answer};

/// The receiver of a webhook.
struct Receiver {
    address: String,
    status: Arc<AtomicU16>,
    deliveries: mpsc::UnboundedReceiver<(HeaderMap, Bytes)>,
}

type ReceiverState = (Arc<AtomicU16>, mpsc::UnboundedSender<(HeaderMap, Bytes)>);

impl Receiver {
    async fn start() -> Self {
        let (sender, deliveries) = mpsc::unbounded_channel();
        let status = Arc::new(AtomicU16::new(200));
        let app = Router::new().fallback(receive).with_state((status.clone(), sender));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { address, status, deliveries }
    }

    fn answers(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }

    async fn next(&mut self) -> (HeaderMap, Bytes) {
        let next = tokio::time::timeout(Duration::from_secs(30), self.deliveries.recv());
        next.await.expect("nothing was delivered").unwrap()
    }

    async fn contents(&mut self) -> Vec<String> {
        let (_, body) = self.next().await;
        let body: Value = serde_json::from_slice(&body).unwrap();
        let events = body["events"].as_array().unwrap().iter();
        events.map(|event| event["content"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

async fn receive(State((status, sender)): State<ReceiverState>, headers: HeaderMap, body: Bytes) -> Response {
    let status = StatusCode::from_u16(status.load(Ordering::SeqCst)).unwrap();
    drop(sender.send((headers, body)));
    // A client that followed this redirect would send a second request.
    (status, [("location", "/again")]).into_response()
}

fn options(pause_after_hours: u64) -> Options {
    let webhooks = WebhookOptions { allow_private: true, pause_after_hours, ..WebhookOptions::default() };
    Options { webhooks, ..Options::default() }
}

async fn remember(server: &TestServer, user: &str, content: &str) {
    server.engine.remember(&user_of(user), new(content)).await.unwrap();
}

fn user_of(user: &str) -> Caller {
    Caller::new(Identifiers { user_id: Some(user.to_owned()), ..Identifiers::default() })
}

fn new(content: &str) -> NewMemory {
    NewMemory { content: content.to_owned(), ..NewMemory::default() }
}

/// The webhook once it stands like this.
async fn becomes(server: &TestServer, key: &str, id: &str, status: &str) -> Value {
    let begun = Instant::now();
    loop {
        let webhook = answer(server.request_as(key, "GET", &format!("/v1/webhooks/{id}"))).await.expect(200);
        if webhook["status"] == status {
            return webhook;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{webhook}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

// Coverage: SPEC-8.5.
#[tokio::test(flavor = "multi_thread")]
async fn deliveries_are_signed_filtered_and_tried_again() {
    let server = TestServer::with(options(72), Config::default()).await;
    let mut receiver = Receiver::start().await;
    let key = server.key(Grant::whole(Tenant::default())).await;
    remember(&server, "ann", "ann was here before").await;
    let body = json!({
        "identifiers": { "userId": "ann" }, "url": format!("{}/hook", receiver.address),
        "events": ["ADD"], "layer": ["user"],
    });
    let created = answer(server.request_as(&key, "POST", "/v1/webhooks").json(&body)).await;
    let place = created.headers["location"].to_str().unwrap().to_owned();
    let created = created.expect(201);
    let (id, secret) = (created["id"].as_str().unwrap().to_owned(), created["data"]["secret"].as_str().unwrap());
    assert_eq!(place, format!("/v1/webhooks/{id}"));
    assert_eq!((&created["event"], &created["data"]["status"]), (&json!("ADD"), &json!("active")));
    receiver.answers(503);
    remember(&server, "bo", "bo paints").await;
    remember(&server, "ann", "ann plays chess").await;
    let (headers, body) = receiver.next().await;
    let delivered: Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(delivered["events"].as_array().unwrap().len(), 1, "{delivered}");
    let event = &delivered["events"][0];
    assert_eq!((&event["event"], &event["content"]), (&json!("ADD"), &json!("ann plays chess")));
    assert_eq!(
        (delivered["webhookId"].as_str(), delivered["id"].as_str()),
        (Some(&*id), headers["loci-delivery"].to_str().ok())
    );
    // The receiver can prove who sent it.
    let signature = headers["loci-signature"].to_str().unwrap();
    let (time, mac) = signature.strip_prefix("t=").unwrap().split_once(",v1=").unwrap();
    let proof = hmac::Key::new(hmac::HMAC_SHA256, secret.as_bytes());
    let signed = [time.as_bytes(), b".", &body].concat();
    let mac = data_encoding::HEXLOWER.decode(mac.as_bytes()).unwrap();
    assert!(hmac::verify(&proof, &signed, &mac).is_ok());
    assert!((jiff_now() - time.parse::<i64>().unwrap()).abs() < 60);
    let failing = becomes(&server, &key, &id, "failing").await;
    assert!(
        failing["lastError"].as_str().unwrap().contains("503") && failing["lastDeliveredAt"].is_null(),
        "{failing}"
    );
    assert_eq!((&failing["pending"], &failing["secret"]), (&json!(1), &Value::Null));
    receiver.answers(204);
    let (again, body) = receiver.next().await;
    assert_eq!(
        (&again["loci-delivery"], serde_json::from_slice::<Value>(&body).unwrap()),
        (&headers["loci-delivery"], delivered)
    );
    let active = becomes(&server, &key, &id, "active").await;
    assert!(active["lastDeliveredAt"].is_string() && active["lastError"].is_null(), "{active}");
    assert_eq!(active["pending"], 0);
    answer(server.request_as(&key, "DELETE", &place)).await.expect(204);
    answer(server.request_as(&key, "GET", &place)).await.refused(404, "id");
    assert_eq!(answer(server.request_as(&key, "GET", "/v1/webhooks")).await.expect(200)["data"], json!([]));
    server.close().await;
}

fn jiff_now() -> i64 {
    use loci_engine::Clock as _;
    loci_engine::System.now().as_second()
}

// Coverage: SPEC-8.5.
#[tokio::test(flavor = "multi_thread")]
async fn what_happens_while_no_server_runs_is_delivered_by_the_next() {
    let server = TestServer::with(options(72), Config::default()).await;
    let mut receiver = Receiver::start().await;
    let body = json!({ "identifiers": { "userId": "ann" }, "url": receiver.address, "events": ["ADD"] });
    let created = server.post("/v1/webhooks", body).await.expect(201);
    remember(&server, "ann", "one").await;
    assert_eq!(receiver.contents().await, ["one"]);
    becomes_delivered(&server, created["id"].as_str().unwrap()).await;
    let (engine, _folder) = server.closed().await;
    for content in ["two", "three"] {
        engine.remember(&user_of("ann"), new(content)).await.unwrap();
    }
    let listening = Server::bind("127.0.0.1:0", false).await.unwrap();
    let (closing, closed) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(listening.serve(engine, options(72), None, async { drop(closed.await) }));
    let mut delivered = Vec::new();
    while delivered.len() < 2 {
        delivered.extend(receiver.contents().await);
    }
    assert_eq!(delivered, ["two", "three"], "each once, in their order, and nothing of before");
    drop(closing);
    serving.await.unwrap().unwrap();
}

// Coverage: SPEC-8.5.
#[tokio::test(flavor = "multi_thread")]
async fn of_two_servers_one_delivers() {
    let server = TestServer::with(options(72), Config::default()).await;
    let mut receiver = Receiver::start().await;
    let store = SqliteStore::open(server.folder(), SqliteOptions::default()).unwrap();
    let second = Engine::new(Arc::new(store), None, Arc::new(System), Config::default()).unwrap();
    let listening = Server::bind("127.0.0.1:0", false).await.unwrap();
    let (closing, closed) = tokio::sync::oneshot::channel::<()>();
    let serving = tokio::spawn(listening.serve(Arc::new(second), options(72), None, async { drop(closed.await) }));
    let body = json!({ "identifiers": { "userId": "ann" }, "url": receiver.address, "events": ["ADD"] });
    server.post("/v1/webhooks", body).await.expect(201);
    let expect: Vec<String> = (0..12).map(|number| format!("memory {number}")).collect();
    let mut delivered: Vec<String> = Vec::new();
    for content in &expect {
        remember(&server, "ann", content).await;
        // The test waits for each delivery, so that both servers poll in between. A delivery may come twice, but every one comes.
        while !delivered.contains(content) {
            delivered.extend(receiver.contents().await);
        }
    }
    let mut once = Vec::new();
    for content in &delivered {
        if !once.contains(content) {
            once.push(content.clone());
        }
    }
    assert_eq!(once, expect, "in their order");
    // When the first ends, the second goes on.
    let (engine, _folder) = server.closed().await;
    engine.remember(&user_of("ann"), new("one more")).await.unwrap();
    while !receiver.contents().await.iter().any(|content| content == "one more") {}
    drop(closing);
    serving.await.unwrap().unwrap();
}

async fn becomes_delivered(server: &TestServer, id: &str) {
    let begun = Instant::now();
    while server.get(&format!("/v1/webhooks/{id}")).await.expect(200)["lastDeliveredAt"].is_null() {
        assert!(begun.elapsed() < Duration::from_secs(30));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn failures_pause_and_someone_resumes() {
    let server = TestServer::with(options(0), Config::default()).await;
    let mut receiver = Receiver::start().await;
    let key = server.key(Grant::whole(Tenant::default())).await;
    let body = json!({ "url": receiver.address, "events": ["ADD"], "everyone": true });
    let created = answer(server.request_as(&key, "POST", "/v1/webhooks").json(&body)).await.expect(201);
    let id = created["id"].as_str().unwrap();
    // A redirection is a failure, and is not followed.
    receiver.answers(302);
    remember(&server, "ann", "one").await;
    assert_eq!(receiver.contents().await, ["one"]);
    let paused = becomes(&server, &key, id, "paused").await;
    assert!(paused["lastError"].as_str().unwrap().contains("302"), "{paused}");
    assert!(receiver.deliveries.try_recv().is_err());
    receiver.answers(200);
    let resume = format!("/v1/webhooks/{id}/resume");
    answer(server.request_as(&key, "POST", &resume)).await.expect(200);
    assert_eq!(receiver.contents().await, ["one"]);
    becomes(&server, &key, id, "active").await;
    let outsider = server.bounded(Role::Writer, json!({ "users": ["ann"] })).await;
    answer(server.request_as(&outsider, "POST", &resume)).await.refused(404, "id");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_sees_what_its_key_sees_and_no_longer_than_it_counts() {
    let server = TestServer::with(options(72), Config::default()).await;
    let mut receiver = Receiver::start().await;
    let admin = server.key(Grant::whole(Tenant::default())).await;
    let ann = server.bounded(Role::Writer, json!({ "users": ["ann"] })).await;
    let other = server.bounded(Role::Writer, json!({ "users": ["bo"] })).await;
    let create = |key: &str, body: Value| answer(server.request_as(key, "POST", "/v1/webhooks").json(&body));
    let created = create(&ann, json!({ "url": receiver.address, "events": ["ADD"] })).await.expect(201);
    let id = created["id"].as_str().unwrap();
    let bo = json!({ "url": receiver.address, "identifiers": { "userId": "bo" } });
    create(&ann, bo).await.refused(403, "userId");
    remember(&server, "bo", "bo has a secret").await;
    remember(&server, "ann", "ann knows").await;
    assert_eq!(receiver.contents().await, ["ann knows"]);
    // Others of the tenant do not see it; its admins do.
    let place = format!("/v1/webhooks/{id}");
    answer(server.request_as(&other, "GET", &place)).await.refused(404, "id");
    answer(server.request_as(&other, "DELETE", &place)).await.refused(404, "id");
    assert_eq!(answer(server.request_as(&other, "GET", "/v1/webhooks")).await.expect(200)["data"], json!([]));
    let all = answer(server.request_as(&admin, "GET", "/v1/webhooks")).await.expect(200);
    assert_eq!((&all["data"][0]["id"], &all["data"][0]["secret"]), (&json!(id), &Value::Null));
    let reader = server.bounded(Role::Reader, json!({ "users": ["ann"] })).await;
    assert_eq!(create(&reader, json!({ "url": receiver.address })).await.status, 403);
    assert_eq!(answer(server.anonymous("POST", "/v1/webhooks").json(&json!({ "url": "x" }))).await.status, 401);
    server.engine.revoke_key(&Caller::operator(), &ann).await.unwrap();
    remember(&server, "ann", "ann knows more").await;
    let paused = becomes(&server, &admin, id, "paused").await;
    assert!(paused["lastError"].as_str().unwrap().contains("is revoked or expired"), "{paused}");
    assert!(receiver.deliveries.try_recv().is_err(), "nothing is delivered for a revoked key");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_public_receivers_and_known_words_are_taken() {
    let server = TestServer::open().await;
    for url in [
        "",
        "x",
        "ftp://example.com/",
        "http://127.0.0.1:1/",
        "http://localhost:1/",
        "http://[::1]/",
        "http://10.0.0.1/",
        "http://169.254.169.254/latest",
        "http://0/",
        "http://ann:secret@example.com/",
    ] {
        server.post("/v1/webhooks", json!({ "url": url })).await.refused(400, "url");
    }
    let public = "http://93.184.216.34/hook";
    for (body, field) in [
        (json!({}), "url"),
        (json!({ "url": public, "events": ["add"] }), "events"),
        (json!({ "url": public, "events": ["BORN"] }), "events"),
        (json!({ "url": public, "layer": ["galaxy"] }), "layer[0]"),
        (json!({ "url": public, "kind": ["emotion"] }), "kind"),
        (json!({ "url": public, "secret": "short" }), "secret"),
        (json!({ "url": public, "colour": "red" }), "colour"),
    ] {
        server.post("/v1/webhooks", body).await.refused(400, field);
    }
    server.get("/v1/webhooks/unknown").await.refused(404, "id");
    assert_eq!(server.get("/v1/webhooks").await.expect(200)["data"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_of_an_open_server_ends_with_the_first_key() {
    let server = TestServer::with(options(72), Config::default()).await;
    let mut receiver = Receiver::start().await;
    let created = server.post("/v1/webhooks", json!({ "url": receiver.address, "everyone": true })).await.expect(201);
    remember(&server, "ann", "before the key").await;
    assert_eq!(receiver.contents().await, ["before the key"]);
    let admin = server.key(Grant::whole(Tenant::default())).await;
    remember(&server, "ann", "after the key").await;
    becomes(&server, &admin, created["id"].as_str().unwrap(), "paused").await;
    assert!(receiver.deliveries.try_recv().is_err(), "nothing is sent for a revoked key");
}
