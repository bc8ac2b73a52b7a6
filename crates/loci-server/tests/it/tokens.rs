//! Are the tokens of someone else believed exactly as far as they go?

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

#[tokio::test]
async fn a_token_opens_what_it_names_and_nothing_else() {
    let house = TestServer::with(believed(), Config::default()).await;
    // There is no key, but whoever shows nothing is not let in either.
    assert_eq!(house.get("/v1/stats").await.status, 401);
    let ask = async |token: &str, path: &str| answer(house.request_as(token, "GET", path)).await.status;
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
    let house = TestServer::open().await;
    let request = house.request("GET", "/openapi.json").header("Accept-Encoding", "gzip");
    let packed = answer(request).await;
    assert_eq!((packed.status, &packed.headers["content-encoding"]), (200, &"gzip".parse().unwrap()));
    for (origin, status) in [("https://evil.example", 403), ("http://localhost:5173", 200)] {
        let told = answer(house.request("GET", "/v1/stats").header("Origin", origin)).await;
        assert_eq!(told.status, status, "{origin}");
        // No page is told that it may read, not even one that may ask.
        assert!(!told.headers.contains_key("access-control-allow-origin"), "{origin}");
    }
}
