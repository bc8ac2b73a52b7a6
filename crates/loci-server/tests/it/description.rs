//! The published OpenAPI description: it is complete, committed and served.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use crate::server::TestServer;

// Coverage: SPEC-8.1.
#[test]
#[expect(clippy::disallowed_methods, reason = "`UPDATE` lets the test renew the file that it compares with")]
fn the_description_is_committed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/openapi.json");
    let now = loci_server::description();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(kept == now, "docs/openapi.json is not what the server says; `make openapi` renews it");
}

// Coverage: SPEC-8.1.
#[test]
fn every_operation_is_named_once_sorted_and_guarded() {
    let description: Value = serde_json::from_str(&loci_server::description()).unwrap();
    let mut names = BTreeSet::new();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            let here = format!("{method} {path}");
            let name = operation["operationId"].as_str().unwrap_or_else(|| panic!("{here} has no name"));
            assert!(names.insert(name.to_owned()), "{here}: {name} is taken");
            assert!(operation["summary"].is_string() && operation["tags"][0].is_string(), "{here}");
            assert!(operation["security"].is_array(), "{here} says nothing of who may call it");
            assert!(operation["responses"]["400"].is_object(), "{here}");
        }
    }
    assert!(names.len() > 40, "{}", names.len());
    let text = description.to_string();
    for schema in description["components"]["schemas"].as_object().unwrap().keys() {
        assert!(text.contains(&format!("schemas/{schema}\"")), "{schema} is used by nobody");
    }
}

// Coverage: SPEC-8.1.
#[tokio::test]
async fn the_page_and_the_description_are_open_to_all() {
    let server = TestServer::guarded().await;
    let open = server.without_key();
    let response = open.get("/openapi.json").await;
    assert!(response.body == serde_json::from_str::<Value>(&loci_server::description()).unwrap());
    let page = open.get("/docs").await;
    assert_eq!((page.status, page.headers["content-type"].to_str().unwrap()), (200, "text/html; charset=utf-8"));
    let policy = page.headers["content-security-policy"].to_str().unwrap();
    let nonce = policy.split("script-src 'nonce-").nth(1).unwrap().split('\'').next().unwrap();
    assert!(policy.starts_with("default-src 'none'") && page.text.contains(&format!("<script nonce=\"{nonce}\">")));
    assert_ne!(open.get("/docs").await.headers["content-security-policy"], page.headers["content-security-policy"]);
    // Nothing is loaded from elsewhere.
    for outside in ["http://", "https://", " src=", "@import", "<link"] {
        assert!(!page.text.contains(outside), "{outside}");
    }
}

/// Failures and common parameters are described once.
#[test]
fn what_operations_share_is_described_once() {
    let description: Value = serde_json::from_str(&loci_server::description()).unwrap();
    for (path, methods) in description["paths"].as_object().unwrap() {
        for operation in methods.as_object().unwrap().values() {
            let failures = operation["responses"]
                .as_object()
                .unwrap()
                .iter()
                .filter(|(status, _)| status.as_str() >= "400" && *status != "406");
            for (status, response) in failures {
                let place = response["$ref"].as_str().unwrap_or_else(|| panic!("{path} {status}"));
                assert!(description.pointer(&place[1..]).is_some_and(Value::is_object), "{place}");
            }
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                if let Some(place) = parameter["$ref"].as_str() {
                    assert!(description.pointer(&place[1..]).is_some_and(Value::is_object), "{place}");
                }
            }
        }
    }
    // The messages of working memory and those of a conversation are different types.
    let schemas = &description["components"]["schemas"];
    assert!(
        schemas["WorkingMessage"]["properties"]["id"].is_object() && schemas["Message"]["properties"]["id"].is_null()
    );
}
