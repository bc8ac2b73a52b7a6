//! Authentication: which requests the guard admits.

use loci_types::Role;
use serde_json::json;

use crate::server::{TestServer, answer};

// Coverage: SPEC-4.4.
#[tokio::test]
async fn no_key_is_required_until_one_exists() {
    let server = TestServer::open().await;
    assert_eq!(server.get("/healthz").await.expect(200)["status"], "healthy");
    let missing = "/v1/memories/0192f1c2-7d3a-7cc1-9f5e-6b1d2c3e4f50";
    assert_eq!(server.get(missing).await.status, 404);
    let key = server.bounded(Role::Reader, json!({ "users": ["ann"] })).await;
    assert_eq!(server.get(missing).await.status, 401);
    assert_eq!(answer(server.request_as(&key, "GET", missing)).await.status, 404);
    assert_eq!(server.get("/healthz").await.status, 200);
    server.close().await;
}
