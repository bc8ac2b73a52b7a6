//! Keys, and who one is taken for.

use serde_json::{Value, json};

use crate::server::{TestServer, answer};

// Coverage: SPEC-4.2.
#[tokio::test]
async fn keys_are_made_shown_once_rotated_and_revoked() {
    let server = TestServer::guarded().await;
    let body = json!({ "name": "planner", "role": "writer", "bounds": { "users": ["ann"] }, "categories": ["tasks"] });
    let made = server.post("/v1/keys", body).await;
    let place = made.headers["location"].to_str().unwrap().to_owned();
    let made = made.expect(201);
    let (id, secret) = (made["id"].as_str().unwrap(), made["data"]["secret"].as_str().unwrap());
    let mut shown = made["data"].clone();
    shown.as_object_mut().unwrap().remove("secret");
    assert_eq!(server.get(&place).await.expect(200), shown, "all but the secret can be read again");
    assert_eq!((&shown["role"], &shown["active"], &shown["expiresAt"]), (&json!("writer"), &json!(true), &Value::Null));
    let who = answer(server.request_as(secret, "GET", "/v1/whoami")).await.expect(200);
    assert_eq!(
        (&who["role"], &who["bounds"]["users"], &who["categories"], &who["open"]),
        (&json!("writer"), &json!(["ann"]), &json!(["tasks"]), &json!(false))
    );
    assert_eq!(who["credential"], format!("key:{id}"));
    let listed = server.get("/v1/keys").await;
    assert!(!listed.text.contains(secret) && !listed.text.contains("hash"));
    assert_eq!(listed.expect(200)["data"].as_array().unwrap().len(), 2);
    let page = server.get("/v1/keys?limit=1").await.expect(200);
    let rest =
        server.get(&format!("/v1/keys?limit=1&cursor={}", page["nextCursor"].as_str().unwrap())).await.expect(200);
    assert_eq!((&rest["data"][0]["id"], &rest["nextCursor"]), (&json!(id), &Value::Null));

    let rotated = server.post(&format!("/v1/keys/{id}/rotate"), json!({ "graceSeconds": 60 })).await.expect(201);
    let second = rotated["data"]["secret"].as_str().unwrap();
    for key in [secret, second] {
        assert_eq!(answer(server.request_as(key, "GET", "/v1/whoami")).await.status, 200);
    }
    let new = rotated["id"].as_str().unwrap();
    assert_eq!(server.delete(&format!("/v1/keys/{new}")).await.status, 204);
    assert_eq!(server.get(&format!("/v1/keys/{new}")).await.expect(200)["active"], false);
    assert_eq!(answer(server.request_as(second, "GET", "/v1/whoami")).await.status, 401);
    for (path, body, status, field) in [
        ("/v1/keys".to_owned(), json!({ "name": " ", "role": "reader" }), 400, "name"),
        ("/v1/keys".to_owned(), json!({ "name": "a", "role": "king" }), 400, "role"),
        ("/v1/keys".to_owned(), json!({ "name": "a", "role": "admin", "bounds": { "users": ["a"] } }), 400, "role"),
        (
            "/v1/keys".to_owned(),
            json!({ "name": "a", "role": "reader", "expiresAt": "2020-01-01T00:00:00Z" }),
            400,
            "expiresAt",
        ),
        ("/v1/keys".to_owned(), json!({ "name": "a", "role": "reader", "tenant": "other" }), 400, "tenant"),
        (format!("/v1/keys/{id}/rotate"), json!({ "graceSeconds": 99_999_999 }), 400, "graceSeconds"),
        ("/v1/keys/none/rotate".to_owned(), json!({}), 404, "id"),
    ] {
        server.post(&path, body).await.refused(status, field);
    }
    server.delete("/v1/keys/none").await.refused(404, "id");
    server.get("/v1/keys/none").await.refused(404, "id");
    let day = json!({ "name": "until a day", "role": "reader", "expiresAt": "2999-01-31" });
    assert_eq!(server.post("/v1/keys", day).await.expect(201)["data"]["expiresAt"], "2999-01-31T00:00:00Z");
}

#[tokio::test]
async fn without_keys_everyone_is_the_operator() {
    let server = TestServer::open().await;
    let who = server.get("/v1/whoami").await.expect(200);
    assert_eq!((&who["open"], &who["role"], &who["categories"]), (&json!(true), &json!("admin"), &Value::Null));
    let made = server.post("/v1/keys", json!({ "name": "first", "role": "admin" })).await.expect(201);
    assert_eq!(server.get("/v1/whoami").await.status, 401);
    let secret = made["data"]["secret"].as_str().unwrap();
    assert_eq!(answer(server.request_as(secret, "GET", "/v1/whoami")).await.expect(200)["role"], "admin");
}
