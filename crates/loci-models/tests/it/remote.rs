//! The HTTP embedder over real HTTP.

use std::time::{Duration, Instant};

use loci_models::{Cached, Detail, Embedder, EmbeddingsApi, Error, Remote, RemoteConfig, Retries, Secret};
use serde_json::{Value, json};
use wiremock::matchers::{body_partial_json, header, method, path};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

const KEY: &str = "sk-very-secret";

fn config(server: &MockServer) -> RemoteConfig {
    RemoteConfig {
        dimensions: Some(2),
        api_key: Some(Secret::new(KEY)),
        timeout: Duration::from_millis(500),
        retries: Retries {
            attempts: 3,
            first_delay: Duration::from_millis(5),
            longest_delay: Duration::from_millis(2000),
            ..Retries::default()
        },
        ..RemoteConfig::new(format!("{}/v1", server.uri()), "scripted")
    }
}

fn texts(count: usize) -> Vec<String> {
    (1..=count).map(|n| n.to_string()).collect()
}

fn answer(vectors: &[Vec<f32>]) -> ResponseTemplate {
    let data: Vec<Value> = vectors.iter().map(|vector| json!({ "embedding": vector })).collect();
    ResponseTemplate::new(200).set_body_json(json!({ "data": data, "object": "list" }))
}

/// Answers a text that is a number `n` with the vector `[n, 1]`, last text first.
struct Counting;

impl Respond for Counting {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let body: Value = request.body_json().unwrap();
        let inputs = body["input"].as_array().unwrap();
        let item = |(index, text): (usize, &Value)| {
            let number: f32 = text.as_str().unwrap().trim().parse().unwrap_or(0.0);
            json!({ "index": index, "embedding": [number, 1.0] })
        };
        let data: Vec<Value> = inputs.iter().enumerate().map(item).rev().collect();
        ResponseTemplate::new(200).set_body_json(json!({ "data": data }))
    }
}

async fn counting() -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).and(path("/v1/embeddings")).respond_with(Counting).mount(&server).await;
    server
}

/// A server that answers with `first` the given number of times and with success afterwards.
async fn ill(first: ResponseTemplate, times: u64) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(first).up_to_n_times(times).mount(&server).await;
    Mock::given(method("POST")).respond_with(Counting).mount(&server).await;
    server
}

async fn requests(server: &MockServer) -> usize {
    server.received_requests().await.unwrap().len()
}

async fn ask(server: &MockServer, count: usize) -> Result<Vec<Vec<f32>>, Error> {
    let remote = Remote::connect(config(server)).await?;
    let embeddings = remote.embed(&texts(count), Detail::Tokens).await?;
    Ok(embeddings.into_iter().map(|embedding| embedding.vector).collect())
}

// Coverage: S0.4, S4.8.
#[tokio::test]
async fn batches_keep_the_order_and_vectors_are_unit() {
    let server = counting().await;
    let remote = Remote::connect(RemoteConfig { batch_size: 3, ..config(&server) }).await.unwrap();
    assert_eq!(remote.model().name, "scripted@2");
    let embeddings = remote.embed(&texts(8), Detail::Tokens).await.unwrap();
    assert_eq!(requests(&server).await, 3);
    for (index, embedding) in embeddings.iter().enumerate() {
        let (x, y) = (embedding.vector[0], embedding.vector[1]);
        assert!((x / y - (index + 1) as f32).abs() < 1e-4, "{index}: {x} {y}");
        assert!((x * x + y * y - 1.0).abs() < 1e-5);
        assert!(embedding.tokens.is_empty());
    }
    assert!(remote.embed(&[], Detail::Sentence).await.unwrap().is_empty());
    assert_eq!(remote.embed(&[String::new()], Detail::Sentence).await.unwrap()[0].vector, [0.0, 1.0]);
}

// Coverage: S0-7.1.
#[tokio::test]
async fn the_key_the_model_and_the_dimensions_are_sent() {
    let server = MockServer::start().await;
    let expected = json!({ "model": "scripted", "input": ["1"], "dimensions": 2 });
    Mock::given(header("authorization", format!("Bearer {KEY}")))
        .and(body_partial_json(expected))
        .respond_with(Counting)
        .expect(1)
        .mount(&server)
        .await;
    ask(&server, 1).await.unwrap();
}

/// Answers as Cohere's `/v2/embed`: a text that is a number `n` has the vector `[n, 1]`, a question `[n, 2]`.
struct CohereScript;

impl Respond for CohereScript {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let body: Value = request.body_json().unwrap();
        let second = match body["input_type"].as_str() {
            Some("search_document") => 1.0,
            Some("search_query") => 2.0,
            _ => return ResponseTemplate::new(400).set_body_json(json!({ "message": "invalid input_type" })),
        };
        let texts = body["texts"].as_array().unwrap();
        if texts.len() > 96 {
            return ResponseTemplate::new(400).set_body_json(json!({ "message": "at most 96 texts" }));
        }
        let vector = |text: &Value| json!([text.as_str().unwrap().trim().parse().unwrap_or(0.0), second]);
        let vectors: Vec<Value> = texts.iter().map(vector).collect();
        ResponseTemplate::new(200).set_body_json(json!({
            "id": "da6e531f-54c5-4a73-bf92-f60566d8d753",
            "embeddings": { "float": vectors },
            "texts": texts,
            "meta": { "api_version": { "version": "2" }, "billed_units": { "input_tokens": 2 } },
        }))
    }
}

// Coverage: S4.3.
#[tokio::test]
async fn cohere_is_called_in_its_own_form_and_distinguishes_questions() {
    let server = MockServer::start().await;
    let expected = json!({
        "model": "embed-v4.0", "texts": ["1"], "input_type": "search_document", "embedding_types": ["float"],
        "output_dimension": 2, "truncate": "END",
    });
    Mock::given(method("POST"))
        .and(path("/v2/embed"))
        .and(header("authorization", format!("Bearer {KEY}")))
        .and(body_partial_json(expected))
        .respond_with(CohereScript)
        .expect(1)
        .mount(&server)
        .await;
    Mock::given(method("POST")).and(path("/v2/embed")).respond_with(CohereScript).mount(&server).await;
    let config = RemoteConfig {
        api: EmbeddingsApi::Cohere,
        base_url: format!("{}/v2", server.uri()),
        model: "embed-v4.0".to_owned(),
        ..config(&server)
    };
    let remote = Cached::new(Remote::connect(config).await.unwrap());
    let text = remote.embed(&texts(1), Detail::Sentence).await.unwrap().remove(0).vector;
    assert!((text[0] / text[1] - 1.0).abs() < 1e-4, "{text:?}");
    // The same words as a question have another vector, also from the cache.
    for _ in 0..2 {
        let question = remote.embed_questions(&texts(1), Detail::Sentence).await.unwrap().remove(0).vector;
        assert!((question[0] / question[1] - 0.5).abs() < 1e-4, "{question:?}");
    }
    assert_eq!(requests(&server).await, 2);
    // Cohere takes 96 texts at most; a batch of 100 is two calls.
    assert_eq!(remote.embed(&texts(100), Detail::Sentence).await.unwrap().len(), 100);
    assert_eq!(requests(&server).await, 4);
}

#[tokio::test]
async fn unknown_dimensions_are_learned_once_and_then_fixed() {
    let server = ill(answer(&[vec![1.0, 2.0, 3.0]]), 1).await;
    let remote = Remote::connect(RemoteConfig { dimensions: None, ..config(&server) }).await.unwrap();
    assert_eq!((remote.model().name.as_str(), remote.model().dimensions), ("scripted", 3));
    let error = remote.embed(&texts(1), Detail::Sentence).await.unwrap_err();
    assert!(matches!(error, Error::WrongDimensions { expected: 3, found: 2, .. }), "{error}");
}

// Coverage: S2.12.
#[tokio::test]
async fn what_may_pass_is_tried_again() {
    let slow = answer(&[vec![1.0, 1.0]]).set_delay(Duration::from_secs(5));
    for (illness, times) in
        [(ResponseTemplate::new(500), 2), (ResponseTemplate::new(503), 1), (ResponseTemplate::new(429), 2), (slow, 1)]
    {
        let server = ill(illness, times).await;
        assert_eq!(ask(&server, 1).await.unwrap().len(), 1);
        assert_eq!(requests(&server).await as u64, times + 1);
    }
}

#[tokio::test]
async fn there_are_three_attempts_and_no_more() {
    let server = ill(ResponseTemplate::new(502).set_body_string("bad gateway"), 9).await;
    let error = ask(&server, 1).await.unwrap_err();
    assert!(matches!(&error, Error::Http { status: 502, message, .. } if message == "bad gateway"), "{error}");
    assert_eq!(requests(&server).await, 3);
}

// Coverage: S2.12.
#[tokio::test]
async fn a_wish_to_wait_is_honoured() {
    let server = ill(ResponseTemplate::new(429).insert_header("retry-after", "0.4"), 1).await;
    let start = Instant::now();
    ask(&server, 1).await.unwrap();
    assert!(start.elapsed() >= Duration::from_millis(400), "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_wish_to_wait_too_long_is_handed_on() {
    let server = ill(ResponseTemplate::new(429).insert_header("retry-after", "3600"), 9).await;
    let error = ask(&server, 1).await.unwrap_err();
    let hour = Some(Duration::from_secs(3600));
    assert!(matches!(error, Error::RateLimited { retry_after, .. } if retry_after == hour), "{error}");
    assert_eq!(requests(&server).await, 1);
}

#[tokio::test]
async fn what_will_not_pass_is_not_tried_again() {
    for status in [400, 401, 403, 404, 413, 422] {
        let server = ill(ResponseTemplate::new(status), 9).await;
        let error = ask(&server, 1).await.unwrap_err();
        assert!(matches!(error, Error::Http { status: found, .. } if found == status), "{error}");
        assert_eq!(requests(&server).await, 1, "{status}");
    }
}

#[tokio::test]
async fn malformed_answers_are_distinguished() {
    for (nonsense, expected) in [
        (answer(&[vec![1.0, 1.0]]), "1 vectors for 2 texts"),
        (answer(&[]), "0 vectors for 2 texts"),
        (answer(&[vec![1.0, 1.0], vec![1.0]]), "vectors of 1 dimensions, but 2 are expected"),
        (ResponseTemplate::new(200).set_body_string("<html>"), "sent an invalid answer"),
        (ResponseTemplate::new(200).set_body_json(json!({ "ok": true })), "missing field `data`"),
    ] {
        let server = ill(nonsense, 9).await;
        let error = ask(&server, 2).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(requests(&server).await, 1, "{expected}");
    }
}

#[tokio::test]
async fn the_key_is_in_no_error_and_no_print() {
    let body = json!({ "error": { "message": format!("Incorrect API key: {KEY}.") } });
    let server = ill(ResponseTemplate::new(401).set_body_json(body), 9).await;
    let remote = Remote::connect(config(&server)).await.unwrap();
    let error = remote.embed(&texts(1), Detail::Sentence).await.unwrap_err();
    assert!(error.to_string().contains("Incorrect API key: ***."), "{error}");
    for shown in [format!("{error:?}"), format!("{remote:?}"), format!("{:?}", config(&server))] {
        assert!(!shown.contains(KEY), "{shown}");
    }
}

#[tokio::test]
async fn silence_is_a_timeout_and_a_closed_door_is_unreachable() {
    let server = ill(answer(&[]).set_delay(Duration::from_secs(5)), 9).await;
    let mut config = RemoteConfig { timeout: Duration::from_millis(100), ..config(&server) };
    config.retries.attempts = 1;
    let remote = Remote::connect(config.clone()).await.unwrap();
    let error = remote.embed(&texts(1), Detail::Sentence).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");

    // A port that was just given back has no one behind it.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    config.base_url = format!("http://{free}/v1");
    let remote = Remote::connect(config).await.unwrap();
    let error = remote.embed(&texts(1), Detail::Sentence).await.unwrap_err();
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
}

#[tokio::test]
async fn senseless_settings_are_refused_by_name() {
    let good = RemoteConfig { dimensions: Some(2), ..RemoteConfig::new("http://localhost", "m") };
    for (config, field) in [
        (RemoteConfig { base_url: "nowhere".into(), ..good.clone() }, "base_url"),
        (RemoteConfig { model: " ".into(), ..good.clone() }, "model"),
        (RemoteConfig { batch_size: 0, ..good.clone() }, "batch_size"),
        (RemoteConfig { dimensions: Some(0), ..good.clone() }, "dimensions"),
        (RemoteConfig { api_key: Some(Secret::new("a\nb")), ..good.clone() }, "api_key"),
    ] {
        let error = Remote::connect(config).await.unwrap_err();
        assert!(error.to_string().starts_with(field), "{error}");
    }
}

// attack B1.
#[tokio::test]
async fn a_request_waits_once_for_a_silent_service_and_then_not_at_all() {
    let server = ill(answer(&[]).set_delay(Duration::from_secs(60)), 1_000).await;
    let config = RemoteConfig { deadline: Duration::from_millis(200), ..config(&server) };
    let remote = Remote::connect(config).await.unwrap();
    let error = remote.embed_soon(&texts(1), Detail::Sentence).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    for _ in 0..100 {
        let error = remote.embed_soon(&texts(1), Detail::Sentence).await.unwrap_err();
        assert!(matches!(error, Error::Away { .. }), "{error}");
    }
    assert!(remote.health().await.is_err());
    assert!(requests(&server).await <= 3, "one call and perhaps a probe");
}

// attack B6.
#[tokio::test]
async fn a_service_that_is_away_at_the_start_is_no_error_and_one_that_refuses_the_key_is() {
    for (status, good) in [(500, true), (503, true), (429, true), (401, false), (404, false)] {
        let server = ill(ResponseTemplate::new(status), 1_000).await;
        let connected = Remote::connect(RemoteConfig { dimensions: None, ..config(&server) }).await;
        assert_eq!(connected.is_ok(), good, "{status}");
    }
}

#[tokio::test]
async fn a_service_that_is_too_slow_for_requests_still_does_background_work() {
    let server = ill(answer(&[vec![1.0, 1.0]]).set_delay(Duration::from_millis(200)), 1_000).await;
    let deadline = Duration::from_millis(20);
    let config = RemoteConfig { deadline, timeout: Duration::from_secs(30), ..config(&server) };
    let remote = Remote::connect(config).await.unwrap();
    let error = remote.embed_soon(&texts(1), Detail::Sentence).await.unwrap_err();
    assert!(matches!(error, Error::Timeout { .. }), "{error}");
    // Refused until the first pause is over, which is short.
    while let Err(error) = remote.embed(&texts(1), Detail::Sentence).await {
        assert!(matches!(error, Error::Away { .. }), "{error}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    for _ in 0..3 {
        remote.embed(&texts(1), Detail::Sentence).await.unwrap();
        let error = remote.embed_soon(&texts(1), Detail::Sentence).await.unwrap_err();
        assert!(matches!(error, Error::Away { .. }), "requests do not wait for it again: {error}");
    }
    assert!(remote.health().await.is_err());
}
