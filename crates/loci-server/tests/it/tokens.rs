//! JSON Web Tokens of an external issuer give exactly the rights of their grant.

use jsonwebtoken::{EncodingKey, Header, encode, get_current_timestamp};
use loci_engine::Config;
use loci_server::{AuthOptions, JwtOptions, Options};
use serde_json::{Value, json};

use crate::server::{TestServer, answer};

const SECRET: &str = "a secret of thirty-two bytes or more";

/// A token of Ann's, changed.
pub(crate) fn token(change: impl FnOnce(&mut Value)) -> String {
    let allows = json!({ "tenant": "default", "role": "reader", "bounds": { "users": ["ann"] } });
    let mut claims = json!({ "sub": "ann", "aud": "loci", "exp": get_current_timestamp() + 600, "loci": allows });
    change(&mut claims);
    encode(&Header::default(), &claims, &EncodingKey::from_secret(SECRET.as_bytes())).unwrap()
}

/// Options of a server that believes it.
pub(crate) fn believed() -> Options {
    let jwt =
        JwtOptions { secret_env: Some("SECRET".to_owned()), audience: "loci".to_owned(), ..JwtOptions::default() };
    Options { auth: AuthOptions { jwt: Some(jwt) }, jwt_secret: Some(SECRET.to_owned()), ..Options::default() }
}

// Coverage: SPEC-4.2.
#[tokio::test]
async fn a_token_opens_what_it_names_and_nothing_else() {
    let server = TestServer::with(believed(), Config::default()).await;
    // No key exists, but a request without a credential is refused as well.
    assert_eq!(server.get("/v1/stats").await.status, 401);
    let ask = async |token: &str, path: &str| answer(server.request_as(token, "GET", path)).await.status;
    let good = token(|_| {});
    assert_eq!(ask(&good, "/v1/stats?userId=ann").await, 200);
    assert_eq!(ask(&good, "/v1/stats?userId=bob").await, 403);
    assert_eq!(ask(&good, "/v1/jobs").await, 403, "a reader looks after nothing");
    let (head, rest) = good.split_once('.').unwrap();
    let (body, _) = rest.split_once('.').unwrap();
    let none = format!("eyJhbGciOiJub25lIn0.{body}.");
    let unsigned = format!("{head}.{body}.");
    let expired = token(|claims| claims["exp"] = (get_current_timestamp() - 3_600).into());
    let elsewhere = token(|claims| claims["aud"] = "another".into());
    for wrong in [none, unsigned, expired, elsewhere, "loci_a_b".to_owned()] {
        assert_eq!(ask(&wrong, "/v1/stats?userId=ann").await, 401, "{wrong}");
    }
}

#[tokio::test]
async fn answers_are_packed_and_pages_of_others_are_kept_out() {
    let server = TestServer::open().await;
    let request = server.request("GET", "/openapi.json").header("Accept-Encoding", "gzip");
    let packed = answer(request).await;
    assert_eq!((packed.status, &packed.headers["content-encoding"]), (200, &"gzip".parse().unwrap()));
    for (origin, status) in [("https://evil.example", 403), ("http://localhost:5173", 403)] {
        let response = answer(server.request("GET", "/v1/stats").header("Origin", origin)).await;
        assert_eq!(response.status, status, "{origin}");
        // No page may read the answer, not even one that may send the request.
        assert!(!response.headers.contains_key("access-control-allow-origin"), "{origin}");
    }
}
