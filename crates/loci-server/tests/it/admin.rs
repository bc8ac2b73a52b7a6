//! Administration over HTTP: tasks, erasures, backups, vectors, tenants.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use loci_engine::{BackupEncoding, BackupFolder, BackupPart, Caller, Config, Engine, System};
use loci_models::{Detail, Embedder, Embedding, Error, Model};
use loci_server::{Options, ServerOptions};
use loci_store::{SqliteOptions, SqliteStore};
use loci_types::{Grant, Role, Tenant};
use serde_json::{Value, json};

use crate::server::{Answer, TestServer, answer};
use crate::sse::Stream;

/// Someone with a key.
struct Admin<'h> {
    server: &'h TestServer,
    key: String,
}

impl<'h> Admin<'h> {
    async fn of(server: &'h TestServer, tenant: &str) -> Self {
        Self { server, key: server.key(Grant::whole(Tenant::new(tenant).unwrap())).await }
    }

    async fn get(&self, path: &str) -> Answer {
        answer(self.server.request_as(&self.key, "GET", path)).await
    }

    async fn delete(&self, path: &str) -> Answer {
        answer(self.server.request_as(&self.key, "DELETE", path)).await
    }

    async fn post(&self, path: &str, body: Value) -> Answer {
        answer(self.server.request_as(&self.key, "POST", path).json(&body)).await
    }

    async fn remember(&self, user: &str, content: &str) {
        self.post("/v1/memories", json!({ "identifiers": { "userId": user }, "content": content })).await.expect(201);
    }

    /// The task that an answer leads to, once it has ended.
    async fn ended(&self, accepted: Answer) -> Value {
        assert_eq!(accepted.status, 202, "{}", accepted.text);
        let place = accepted.headers["location"].to_str().unwrap().to_owned();
        assert_eq!(place, format!("/v1/admin/tasks/{}", accepted.body["id"].as_str().unwrap()));
        let begun = Instant::now();
        loop {
            let task = self.get(&place).await.expect(200);
            if task["status"] != "running" {
                assert!(task["endedAt"].is_string(), "{task}");
                return task;
            }
            assert!(begun.elapsed() < Duration::from_secs(60), "{task}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// What a task did that must succeed.
    async fn done(&self, accepted: Answer) -> Value {
        let task = self.ended(accepted).await;
        assert_eq!(task["status"], "succeeded", "{task}");
        task["result"].clone()
    }
}

async fn server() -> (TestServer, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let server = ServerOptions { backup_folder: Some(folder.path().join("backups")), ..ServerOptions::default() };
    (TestServer::with(Options { server, ..Options::default() }, Config::default()).await, folder)
}

async fn memories(server: &TestServer, tenant: &str) -> u64 {
    let operator = Caller { tenant: Tenant::new(tenant).unwrap(), ..Caller::operator() };
    server.engine.stats(&operator).await.unwrap().memories
}

// Coverage: SPEC-8.4.
#[tokio::test(flavor = "multi_thread")]
async fn a_user_is_counted_and_then_erased_by_a_task() {
    let (server, _folder) = server().await;
    let admin = Admin::of(&server, "default").await;
    for (user, content) in [("ann", "ann lives by the sea"), ("ann", "ann plays chess"), ("bo", "bo paints")] {
        admin.remember(user, content).await;
    }
    let path = "/v1/admin/erasures";
    let preview = admin.post(path, json!({ "userId": "ann" })).await.expect(200);
    assert_eq!((&preview["userId"], &preview["erased"]), (&json!("ann"), &json!(false)), "{preview}");
    assert_eq!((&preview["total"]["memories"], memories(&server, "default").await), (&json!(2), 3));
    let erased = admin.post(path, json!({ "userId": "ann", "dryRun": false, "scrub": true })).await;
    let erased = admin.done(erased).await;
    assert_eq!((&erased["erased"], &erased["scrubbed"]), (&json!(true), &json!(true)), "{erased}");
    assert!(erased["notReached"][0].as_str().unwrap().contains("backups"), "{erased}");
    assert_eq!(memories(&server, "default").await, 1);
    admin.post(path, json!({})).await.refused(400, "userId");
    admin.post(path, json!({ "userId": "" })).await.refused(400, "userId");
    admin.post(path, json!({ "userId": "ann", "force": true })).await.refused(400, "force");
    let writer = server.bounded(Role::Writer, json!({})).await;
    let refused =
        answer(server.request_as(&writer, "POST", path).json(&json!({ "userId": "bo", "dryRun": false }))).await;
    assert_eq!(refused.status, 403);
    assert_eq!(
        answer(server.anonymous("POST", path).json(&json!({ "userId": "bo", "dryRun": false }))).await.status,
        401
    );
    // Another tenant has another `bo`.
    let other = Admin::of(&server, "acme").await;
    assert_eq!(other.post(path, json!({ "userId": "bo" })).await.expect(200)["total"]["memories"], 0);
    assert_eq!(memories(&server, "default").await, 1);
    // An admin of `default` may name the tenant, and follows the task; other admins reach their own tenant only.
    other.remember("bo", "bo sings").await;
    let elsewhere = |tenant: &str| json!({ "userId": "bo", "tenant": tenant, "dryRun": false, "scrub": false });
    assert_eq!(other.post(path, elsewhere("default")).await.status, 403);
    admin.post(path, elsewhere("no tenant")).await.refused(400, "tenant");
    let erased = admin.post(path, elsewhere("acme")).await;
    assert_eq!(admin.done(erased).await["total"]["memories"], 1);
    assert_eq!((memories(&server, "default").await, memories(&server, "acme").await), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_are_listed_followed_and_no_business_of_others() {
    let (server, _folder) = server().await;
    let (admin, other) = (Admin::of(&server, "default").await, Admin::of(&server, "acme").await);
    let mut ids = Vec::new();
    for user in ["ann", "bo", "cy"] {
        let task = admin.post("/v1/admin/erasures", json!({ "userId": user, "dryRun": false, "scrub": false })).await;
        ids.push(admin.ended(task).await["id"].as_str().unwrap().to_owned());
    }
    let first = admin.get("/v1/admin/tasks?limit=2").await.expect(200);
    let listed: Vec<&str> = first["data"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap()).collect();
    assert_eq!(listed, [&ids[2], &ids[1]]);
    let cursor = first["nextCursor"].as_str().unwrap();
    let rest = admin.get(&format!("/v1/admin/tasks?limit=2&cursor={cursor}")).await.expect(200);
    assert_eq!((&rest["data"][0]["id"], &rest["nextCursor"]), (&json!(ids[0]), &Value::Null));
    let place = format!("/v1/admin/tasks/{}", ids[0]);
    let mut stream = Stream::open(server.request_as(&admin.key, "GET", &format!("{place}/events"))).await;
    let frame = stream.event().await.unwrap();
    assert_eq!((frame.event.as_deref(), &frame.data["status"]), (Some("task"), &json!("succeeded")));
    assert_eq!(stream.frame().await, None, "the stream ends with the task");
    admin.delete(&place).await.expect(202);
    assert_eq!(admin.get(&place).await.expect(200)["status"], "succeeded", "what has ended stays as it is");
    for path in [place.clone(), format!("{place}/events")] {
        other.get(&path).await.refused(404, "id");
    }
    other.delete(&place).await.refused(404, "id");
    assert_eq!(other.get("/v1/admin/tasks").await.expect(200)["data"], json!([]));
    admin.get("/v1/admin/tasks/unknown").await.refused(404, "id");
    let reader = server.bounded(Role::Reader, json!({})).await;
    assert_eq!(answer(server.request_as(&reader, "GET", "/v1/admin/tasks")).await.status, 403);
}

// Coverage: SPEC-8.4.
#[tokio::test(flavor = "multi_thread")]
async fn backups_are_made_listed_sent_verified_and_restored() {
    let (server, folder) = server().await;
    let admin = Admin::of(&server, "default").await;
    admin.remember("ann", "ann lives by the sea").await;
    assert_eq!(admin.get("/v1/admin/backups").await.expect(200)["data"], json!([]));
    let made = admin.post("/v1/admin/backups", json!({})).await;
    let made = admin.done(made).await;
    let name = made["name"].as_str().unwrap().to_owned();
    let listed = admin.get("/v1/admin/backups").await.expect(200);
    assert_eq!((&listed["data"][0], &made["tenant"]), (&made, &Value::Null));
    assert!(made["spaces"].as_array().unwrap().iter().any(|space| space["rows"].as_u64().unwrap() > 0), "{made}");
    let file = folder.path().join("backups/default").join(&name);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        for (path, mode) in [(&file, 0o600), (&file.parent().unwrap().to_owned(), 0o700)] {
            assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, mode);
        }
    }
    let place = format!("/v1/admin/backups/{name}");
    let sent = server.request_as(&admin.key, "GET", &place).send().await.unwrap();
    assert_eq!(sent.headers()["content-type"], "application/octet-stream");
    assert_eq!(sent.bytes().await.unwrap(), std::fs::read(&file).unwrap());
    let verified = admin.post(&format!("{place}/verify"), json!({})).await;
    assert!(admin.done(verified).await["rows"].as_u64().unwrap() > 0);
    admin.remember("ann", "ann moved to the hills").await;
    // What is there is only replaced if that is asked for.
    let refused = admin.post(&format!("{place}/restore"), json!({})).await;
    let refused = admin.ended(refused).await;
    assert_eq!((&refused["status"], &refused["error"]["code"]), (&json!("failed"), &json!("CONFLICT")), "{refused}");
    assert_eq!(memories(&server, "default").await, 2);
    let restored = admin.post(&format!("{place}/restore"), json!({ "replace": true })).await;
    let restored = admin.done(restored).await;
    assert_eq!(memories(&server, "default").await, 1, "{restored}");
    assert_eq!(admin.get("/v1/whoami").await.status, 200, "keys stay as they are");
    // A damaged backup is reported as such.
    let mut bytes = std::fs::read(&file).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let damaged = admin.post(&format!("{place}/verify"), json!({})).await;
    let damaged = admin.ended(damaged).await;
    assert_eq!(damaged["status"], "failed", "{damaged}");
    assert!(!damaged.to_string().contains(folder.path().to_str().unwrap()), "{damaged}");
    admin.post("/v1/admin/backups", json!({ "tenant": "nobody" })).await.refused(404, "tenant");
    admin.delete(&place).await.expect(204);
    admin.delete(&place).await.refused(404, "name");
    admin.get(&place).await.refused(404, "name");
    assert_eq!(std::fs::read_dir(file.parent().unwrap()).unwrap().count(), 0, "its summary is gone too");
    admin.post("/v1/admin/backups", json!({ "path": "/tmp/x" })).await.refused(400, "path");
    admin.post("/v1/admin/backups", json!({ "space": "../x" })).await.refused(400, "space");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_backup_leaves_nothing() {
    let (server, folder) = server().await;
    Admin::of(&server, "default").await.remember("ann", "ann lives by the sea").await;
    let (operator, part) = (Caller::operator(), BackupPart::default());
    let place = BackupFolder { path: folder.path().to_owned(), encoding: BackupEncoding::default() };
    let made = server.engine.create_backup(&operator, &place, part, |_| {}, Arc::new(|| true)).await;
    assert!(made.is_err(), "{made:?}");
    assert_eq!(std::fs::read_dir(folder.path().join("default")).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_name_leads_out_of_the_folder_of_the_tenant() {
    let (server, folder) = server().await;
    let (admin, other) = (Admin::of(&server, "default").await, Admin::of(&server, "acme").await);
    admin.remember("ann", "ann lives by the sea").await;
    other.remember("bo", "bo paints").await;
    let whole = admin.post("/v1/admin/backups", json!({})).await;
    let whole = admin.done(whole).await["name"].as_str().unwrap().to_owned();
    let own = other.post("/v1/admin/backups", json!({})).await;
    let own = other.done(own).await;
    assert_eq!((&own["tenant"], own.to_string().contains("default")), (&json!("acme"), false), "{own}");
    // An admin of a tenant reaches neither the operator's backups nor another tenant.
    assert_eq!(other.get("/v1/admin/backups").await.expect(200)["data"].as_array().unwrap().len(), 1);
    other.get(&format!("/v1/admin/backups/{whole}")).await.refused(404, "name");
    other.post(&format!("/v1/admin/backups/{whole}/restore"), json!({ "replace": true })).await.refused(404, "name");
    other.post("/v1/admin/backups", json!({ "tenant": "default" })).await.refused(403, "tenant");
    assert_eq!(admin.get("/v1/admin/backups").await.expect(200)["data"].as_array().unwrap().len(), 1);
    let outside = folder.path().join("loci-secret-full.backup");
    std::fs::write(&outside, b"secret").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(&outside, folder.path().join("backups/acme/loci-link-full.backup")).unwrap();
    for name in [
        "..%2f..%2floci-secret-full.backup",
        "%2e%2e%2f%2e%2e%2floci-secret-full.backup",
        "..%2fdefault%2f",
        &format!("..%2fdefault%2f{whole}"),
        &format!("loci-x%2f..%2f..%2fdefault%2f{whole}"),
        "..%5c..%5cloci-secret-full.backup",
        "loci-link-full.backup",
        "%2e%2e",
        "loci-%00-full.backup",
        &format!("{}.json", own["name"].as_str().unwrap()),
    ] {
        for (method, end) in [("GET", ""), ("DELETE", ""), ("POST", "/verify"), ("POST", "/restore")] {
            let refused =
                answer(server.request_as(&other.key, method, &format!("/v1/admin/backups/{name}{end}"))).await;
            assert!(matches!(refused.status, 400 | 404), "{method} {name}: {}", refused.text);
            assert!(!refused.text.contains("secret\n"), "{}", refused.text);
        }
    }
    assert_eq!(std::fs::read(&outside).unwrap(), b"secret");
    // A tenant's admin brings back that tenant alone.
    other.remember("bo", "bo sings").await;
    let name = own["name"].as_str().unwrap();
    let restored = other.post(&format!("/v1/admin/backups/{name}/restore"), json!({ "replace": true })).await;
    other.done(restored).await;
    assert_eq!((memories(&server, "acme").await, memories(&server, "default").await), (1, 1));
    let reader = server.bounded(Role::Writer, json!({})).await;
    assert_eq!(answer(server.request_as(&reader, "GET", &format!("/v1/admin/backups/{whole}"))).await.status, 403);
}

// Coverage: SPEC-8.4.
#[tokio::test(flavor = "multi_thread")]
async fn tenants_come_with_a_key_and_go_with_everything() {
    let (server, folder) = server().await;
    let admin = Admin::of(&server, "default").await;
    let created = admin.post("/v1/admin/tenants", json!({ "tenant": "acme", "keyName": "ops" })).await;
    assert_eq!(created.headers["location"], "/v1/admin/tenants/acme");
    let created = created.expect(201);
    assert_eq!((&created["id"], &created["event"]), (&json!("acme"), &json!("ADD")));
    let acme = Admin { server: &server, key: created["data"]["secret"].as_str().unwrap().to_owned() };
    let who = acme.get("/v1/whoami").await.expect(200);
    assert_eq!((&who["tenant"], &who["role"]), (&json!("acme"), &json!("admin")));
    acme.remember("ann", "ann lives by the sea").await;
    let backup = acme.post("/v1/admin/backups", json!({})).await;
    acme.done(backup).await;
    admin.post("/v1/admin/tenants", json!({ "tenant": "acme" })).await.refused(409, "tenant");
    admin.post("/v1/admin/tenants", json!({ "tenant": "../x" })).await.refused(400, "tenant");
    acme.post("/v1/admin/tenants", json!({ "tenant": "more" })).await.refused(403, "tenant");
    let names = |page: Value| -> Vec<String> {
        page["data"].as_array().unwrap().iter().map(|one| one["tenant"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(admin.get("/v1/admin/tenants").await.expect(200)), ["acme", "default"]);
    assert_eq!(names(acme.get("/v1/admin/tenants").await.expect(200)), ["acme"]);
    assert_eq!(names(admin.get("/v1/admin/usage").await.expect(200)), ["acme", "default"]);
    let own = acme.get("/v1/admin/usage").await.expect(200);
    assert_eq!(names(own.clone()), ["acme"]);
    let own = &own["data"][0];
    assert_eq!((&own["memories"], &own["keys"]), (&json!(1), &json!(1)), "{own}");
    assert!(own["requests"].as_u64().unwrap() >= 5 && own["bytes"].as_u64().unwrap() > 0, "{own}");
    assert_eq!(admin.get("/v1/admin/tenants/acme").await.expect(200)["memories"], 1);
    acme.get("/v1/admin/tenants/default").await.refused(404, "tenant");
    // It goes only if it is named twice, and only by who runs the store.
    admin.delete("/v1/admin/tenants/acme").await.refused(400, "confirm");
    admin.delete("/v1/admin/tenants/acme?confirm=default").await.refused(400, "confirm");
    acme.delete("/v1/admin/tenants/acme?confirm=acme").await.refused(403, "tenant");
    admin.delete("/v1/admin/tenants/default?confirm=default").await.refused(400, "tenant");
    admin.delete("/v1/admin/tenants/nobody?confirm=nobody").await.refused(404, "tenant");
    let gone = admin.delete("/v1/admin/tenants/acme?confirm=acme").await;
    let gone = admin.done(gone).await;
    assert!(gone["spaces"].as_u64().unwrap() > 0, "{gone}");
    assert_eq!(acme.get("/v1/whoami").await.status, 401, "its key is gone");
    assert_eq!(names(admin.get("/v1/admin/tenants").await.expect(200)), ["default"]);
    assert!(!folder.path().join("backups/acme").exists(), "the next tenant of that name finds nothing");
    let again = admin.post("/v1/admin/tenants", json!({ "tenant": "acme" })).await.expect(201);
    let again = Admin { server: &server, key: again["data"]["secret"].as_str().unwrap().to_owned() };
    assert_eq!((memories(&server, "acme").await, again.get("/v1/whoami").await.status), (0, 200));
    again.remember("ann", "ann is new here").await;
    assert_eq!(memories(&server, "acme").await, 1);
}

/// A model that answers once it is let.
struct Slow {
    model: Model,
    let_go: tokio::sync::watch::Receiver<bool>,
}

#[async_trait]
impl Embedder for Slow {
    fn model(&self) -> &Model {
        &self.model
    }

    async fn embed(&self, texts: &[String], _: Detail) -> Result<Vec<Embedding>, Error> {
        let mut let_go = self.let_go.clone();
        drop(let_go.wait_for(|let_go| *let_go).await);
        Ok(texts.iter().map(|_| Embedding { vector: vec![0.6, 0.8], tokens: Vec::new() }).collect())
    }
}

// Coverage: SPEC-8.4.
#[tokio::test(flavor = "multi_thread")]
async fn vectors_are_made_by_a_task_that_can_be_stopped() {
    let before = TestServer::open().await;
    let refused = before.post("/v1/admin/reembeddings", json!({})).await;
    assert_eq!((refused.status >= 400, &refused.body["details"]["field"]), (true, &json!("embeddings")));
    for number in 0..3 {
        let body = json!({ "identifiers": { "userId": "ann" }, "content": format!("ann has {number} cats") });
        before.post("/v1/memories", body).await.expect(201);
    }
    let (engine, folder) = before.closed().await;
    drop(engine);
    let (let_go, held) = tokio::sync::watch::channel(false);
    let model = Model { name: "slow".to_owned(), dimensions: 2, similarity_threshold: 0.5, max_tokens: 512 };
    let store = SqliteStore::open(folder.path(), SqliteOptions::default()).unwrap();
    let slow = Arc::new(Slow { model, let_go: held });
    let engine = Engine::new(Arc::new(store), Some(slow), Arc::new(System), Config::default()).unwrap();
    let server = TestServer::with_engine(engine, Options::default(), folder).await;
    let admin = Admin::of(&server, "default").await;
    let path = "/v1/admin/reembeddings";
    let estimate = admin.post(path, json!({ "dryRun": true })).await.expect(200);
    assert_eq!(
        estimate,
        json!({ "model": "slow", "estimate": {
        "memories": 3, "vectors": 3, "tokens": estimate["estimate"]["tokens"]
    } })
    );
    let begun = admin.post(path, json!({})).await;
    let place = begun.headers["location"].to_str().unwrap().to_owned();
    assert_eq!(admin.get(&place).await.expect(200)["status"], "running");
    let mut stream = Stream::open(server.request_as(&admin.key, "GET", &format!("{place}/events"))).await;
    assert_eq!(stream.event().await.unwrap().data["status"], "running");
    admin.delete(&place).await.expect(202);
    assert_eq!(admin.ended(begun).await["status"], "cancelled");
    assert_eq!(stream.event().await.unwrap().data["status"], "cancelled");
    assert_eq!(stream.frame().await, None);
    let_go.send_replace(true);
    let done = admin.post(path, json!({ "dropOthers": true })).await;
    let done = admin.done(done).await;
    assert_eq!((&done["model"], &done["seen"]), (&json!("slow"), &json!(3)), "{done}");
    let left = admin.post(path, json!({ "dryRun": true })).await.expect(200);
    assert_eq!(left["estimate"]["vectors"], 0);
    admin.post(path, json!({ "model": "other" })).await.refused(400, "model");
    server.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_closes_stops_what_can_stop() {
    let (let_go, held) = tokio::sync::watch::channel(false);
    let model = Model { name: "slow".to_owned(), dimensions: 2, similarity_threshold: 0.5, max_tokens: 512 };
    let slow: Arc<dyn Embedder> = Arc::new(Slow { model, let_go: held });
    let server = TestServer::with_models(Options::default(), Config::default(), Some(slow), None).await;
    server.post("/v1/admin/reembeddings", json!({})).await.expect(202);
    tokio::time::timeout(Duration::from_secs(30), server.close()).await.expect("it closes");
    drop(let_go);
}
