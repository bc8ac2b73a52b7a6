//! The HTTP reranker over real HTTP, with its deadline.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::{Duration, Instant};

use loci_models::{Error, RemoteReranker, RerankConfig, Reranker, Secret};
use loci_types::ErrorKind;
use serde_json::{Value, json};
use wiremock::matchers::{body_json, header, method, path};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

const KEY: &str = "sk-very-secret";
const QUERY: &str = "who keeps bees?";

/// Far longer than every deadline of these tests: a call that waits for it has missed its deadline.
const NEVER: Duration = Duration::from_secs(60);

fn config(server: &MockServer) -> RerankConfig {
    RerankConfig {
        api_key: Some(Secret::new(KEY)),
        deadline: Duration::from_secs(20),
        ..RerankConfig::new(server.uri())
    }
}

fn named(server: &MockServer) -> RerankConfig {
    RerankConfig { model: Some("scripted".into()), ..config(server) }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn json_answer(json: Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json)
}

/// A server that answers every call alike.
async fn always(answer: impl Respond + 'static) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).and(path("/rerank")).respond_with(answer).mount(&server).await;
    server
}

/// Scores a text that is a number `n` with `n`, last text first, in the dialect it is asked in.
struct Counting;

impl Respond for Counting {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let body: Value = request.body_json().unwrap();
        let named = body.get("model").is_some();
        let (list, score) = if named { ("documents", "relevance_score") } else { ("texts", "score") };
        let item = |(index, text): (usize, &Value)| {
            let number: f64 = text.as_str().unwrap().trim().parse().unwrap_or(0.0);
            json!({ "index": index, score: number })
        };
        let items: Vec<Value> = body[list].as_array().unwrap().iter().enumerate().map(item).rev().collect();
        json_answer(if named { json!({ "results": items }) } else { json!(items) })
    }
}

async fn requests(server: &MockServer) -> usize {
    server.received_requests().await.unwrap().len()
}

async fn ask(config: RerankConfig, list: &[&str]) -> Result<Vec<f64>, Error> {
    RemoteReranker::new(config)?.rerank(QUERY, &texts(list)).await
}

/// What happened to the reranker.
async fn failure(config: RerankConfig, list: &[&str]) -> Error {
    match ask(config, list).await.unwrap_err() {
        Error::Rerank { cause } => *cause,
        other => panic!("not an error of a reranker: {other}"),
    }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

#[tokio::test]
async fn without_a_model_the_call_is_that_of_text_embeddings_inference() {
    let server = MockServer::start().await;
    let expected = json!({ "query": QUERY, "texts": ["a", "b"], "truncate": true });
    let answer = json!([{ "index": 1, "score": 0.75 }, { "index": 0, "score": 0.125 }]);
    Mock::given(body_json(expected))
        .and(path("/rerank"))
        .and(header("authorization", format!("Bearer {KEY}")))
        .respond_with(json_answer(answer))
        .expect(1)
        .mount(&server)
        .await;
    let reranker = RemoteReranker::new(config(&server)).unwrap();
    assert_eq!(reranker.name(), format!("{}/rerank", server.uri()));
    assert_eq!(reranker.rerank(QUERY, &texts(&["a", "b"])).await.unwrap(), [0.125, 0.75]);
}

#[tokio::test]
async fn with_a_model_the_call_is_that_of_cohere() {
    for score in ["relevance_score", "score"] {
        let server = MockServer::start().await;
        let expected = json!({ "model": "scripted", "query": QUERY, "documents": ["a", "b"], "top_n": 2 });
        let results =
            [json!({ "index": 1, score: 0.75, "document": { "text": "b" } }), json!({ "index": 0, score: 0.125 })];
        Mock::given(body_json(expected))
            .and(path("/v1/rerank"))
            .and(header("authorization", format!("Bearer {KEY}")))
            .respond_with(json_answer(json!({ "id": null, "results": results, "meta": { "billed_units": 1 } })))
            .expect(1)
            .mount(&server)
            .await;
        let config = RerankConfig { base_url: format!("{}/v1/", server.uri()), ..named(&server) };
        let reranker = RemoteReranker::new(config).unwrap();
        assert_eq!(reranker.name(), "scripted");
        assert_eq!(reranker.rerank(QUERY, &texts(&["a", "b"])).await.unwrap(), [0.125, 0.75], "{score}");
    }
}

#[tokio::test]
async fn logits_become_relevances_across_batches() {
    let server = always(Counting).await;
    for (config, calls) in [(config(&server), 1), (named(&server), 1)] {
        let before = requests(&server).await;
        let relevances = ask(config, &["0.5", "-11", "7.5"]).await.unwrap();
        assert_eq!(relevances, [logistic(0.5), logistic(-11.0), logistic(7.5)]);
        assert_eq!(requests(&server).await - before, calls);
    }
    // The first batch alone could be probabilities; the second says that it is not.
    let batched = RerankConfig { batch_size: Some(2), ..config(&server) };
    let relevances = ask(batched, &["0.5", "0.25", "-3"]).await.unwrap();
    assert_eq!(relevances, [logistic(0.5), logistic(0.25), logistic(-3.0)]);
    // One that is known to send logits is believed even where they look like probabilities.
    let known = RerankConfig { logits: true, ..config(&server) };
    assert_eq!(ask(known, &["0.5"]).await.unwrap(), [logistic(0.5)]);
}

#[tokio::test]
async fn many_texts_go_in_batches_that_keep_the_order() {
    let server = always(Counting).await;
    let numbers: Vec<f64> = (0..101).map(|n| f64::from(n) / 128.0).collect();
    let many: Vec<String> = numbers.iter().map(f64::to_string).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    for (config, calls) in
        [(config(&server), 4), (named(&server), 2), (RerankConfig { batch_size: Some(50), ..config(&server) }, 3)]
    {
        let before = requests(&server).await;
        assert_eq!(ask(config, &many).await.unwrap(), numbers);
        assert_eq!(requests(&server).await - before, calls);
    }
}

#[tokio::test]
async fn no_text_needs_no_call_and_an_empty_one_is_sent_as_a_space() {
    let server = always(Counting).await;
    assert_eq!(ask(config(&server), &[]).await.unwrap(), Vec::<f64>::new());
    assert_eq!(requests(&server).await, 0);
    let reranker = RemoteReranker::new(config(&server)).unwrap();
    assert_eq!(reranker.rerank("", &texts(&["", "1"])).await.unwrap(), [0.0, 1.0]);
    let sent: Value = server.received_requests().await.unwrap()[0].body_json().unwrap();
    assert_eq!(sent, json!({ "query": " ", "texts": [" ", "1"], "truncate": true }));
}

#[tokio::test]
async fn a_refused_key_is_named_and_never_shown() {
    let body = json!({ "error": { "message": format!("Incorrect API key: {KEY}.") } });
    for status in [401, 403] {
        let server = always(ResponseTemplate::new(status).set_body_json(&body)).await;
        let reranker = RemoteReranker::new(named(&server)).unwrap();
        let error = reranker.rerank(QUERY, &texts(&["a"])).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("the reranker: {}/rerank answered {status}: it refuses the API key", server.uri())
        );
        assert_eq!((error.kind(), error.hint()), (ErrorKind::Configuration, "check the API key of the reranker"));
        let shown = [format!("{error:?}"), format!("{reranker:?}"), format!("{:?}", named(&server))];
        assert!(shown.iter().all(|shown| !shown.contains(KEY)), "{shown:?}");

        let error = ask(RerankConfig { api_key: None, ..named(&server) }, &["a"]).await.unwrap_err();
        assert!(error.to_string().ends_with("it requires an API key"), "{error}");
    }
}

#[tokio::test]
async fn a_failing_service_is_asked_once() {
    for status in [400, 404, 413, 422, 500, 503] {
        let server = always(ResponseTemplate::new(status)).await;
        let error = failure(config(&server), &["a"]).await;
        assert!(matches!(error, Error::Http { status: found, .. } if found == status), "{error}");
        assert_eq!(requests(&server).await, 1, "{status}");
    }
    let server = always(ResponseTemplate::new(429).insert_header("retry-after", "0")).await;
    let error = failure(config(&server), &["a"]).await;
    assert!(matches!(error, Error::RateLimited { .. }), "{error}");
    assert_eq!(requests(&server).await, 1);
}

#[tokio::test]
async fn a_failed_batch_fails_all() {
    let server = MockServer::start().await;
    Mock::given(method("POST")).respond_with(Counting).up_to_n_times(1).mount(&server).await;
    Mock::given(method("POST")).respond_with(ResponseTemplate::new(500)).mount(&server).await;
    let error = failure(RerankConfig { batch_size: Some(1), ..config(&server) }, &["0.5", "0.25"]).await;
    assert!(matches!(error, Error::Http { status: 500, .. }), "{error}");
}

#[tokio::test]
async fn malformed_answers_are_distinguished() {
    let text = |body: &str| ResponseTemplate::new(200).set_body_string(body);
    for (nonsense, expected) in [
        (text("<html>"), "expected value at line 1"),
        (text(r#"[{"index":0,"score":0.5},"#), "EOF while parsing"),
        (text(r#"[{"index":0,"score":NaN},{"index":1,"score":0.5}]"#), "expected value at line 1"),
        (text(r#"[{"index":0,"score":1e999},{"index":1,"score":0.5}]"#), "number out of range"),
        (text(r#"[{"index":0,"score":"NaN"},{"index":1,"score":0.5}]"#), "item 0: its score is not a finite number"),
        (text(r#"{"ok":true}"#), "no list of scores"),
        (text(r#"[{"score":0.5},{"score":0.25}]"#), "item 0: it has no index"),
        (text(r#"[{"index":1,"score":0.5}]"#), "text 0 has no score"),
        (text(r#"[{"index":0,"score":0.5},{"index":2,"score":0.5}]"#), "item 1: its index is 2, for 2 texts"),
        (text(r#"[{"index":1,"score":0.5},{"index":1,"score":0.5}]"#), "item 1: its index is 1, which is repeated"),
    ] {
        let server = always(nonsense).await;
        let error = failure(config(&server), &["a", "b"]).await;
        assert!(matches!(&error, Error::BadResponse { problem, .. } if problem.contains(expected)), "{error}");
        assert_eq!(requests(&server).await, 1, "{expected}");
    }
}

/// Sends the request back, as servers do that explain what they could not read in it.
struct Echo(u16);

impl Respond for Echo {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let body: Value = request.body_json().unwrap();
        let echoed = json!({ "detail": format!("input: {body}"), "results": body["texts"][0] });
        ResponseTemplate::new(self.0).set_body_json(echoed)
    }
}

#[tokio::test]
async fn no_error_quotes_the_question_or_the_texts() {
    for status in [200, 400, 422, 500] {
        let server = always(Echo(status)).await;
        let error = ask(config(&server), &["Vera keeps bees"]).await.unwrap_err();
        for shown in [error.to_string(), format!("{error:?}")] {
            assert!(!shown.contains("bees"), "{shown}");
        }
    }
}

/// Asks within a short deadline, and sees that it is kept.
async fn late(config: RerankConfig, list: &[&str]) {
    let deadline = config.deadline;
    let start = Instant::now();
    let error = ask(config, list).await.unwrap_err();
    let elapsed = start.elapsed();
    let Error::Rerank { cause } = &error else { panic!("{error}") };
    assert!(matches!(**cause, Error::Timeout { after, .. } if after == deadline), "{error}");
    assert!(error.hint().contains("deadline"), "{}", error.hint());
    // Generous above, for a machine that is busy; no server here would ever answer in this time.
    assert!(elapsed >= deadline && elapsed < deadline + Duration::from_secs(5), "{elapsed:?}");
}

// Coverage: SPEC-6.4.
#[tokio::test]
async fn a_slow_service_costs_the_deadline_and_no_more() {
    let server = always(json_answer(json!([{ "index": 0, "score": 0.5 }])).set_delay(NEVER)).await;
    assert_eq!(RerankConfig::new("http://host").deadline, Duration::from_millis(300));
    late(RerankConfig::new(server.uri()), &["a"]).await;
    late(RerankConfig { deadline: Duration::from_millis(50), ..named(&server) }, &["a"]).await;
}

/// Answers as [`Counting`] does, but takes its time.
struct Slowly(Duration);

impl Respond for Slowly {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        Counting.respond(request).set_delay(self.0)
    }
}

#[tokio::test]
async fn the_deadline_is_for_all_batches_together() {
    // Each of four calls would be in time by itself; together they take twice the deadline.
    let server = always(Slowly(Duration::from_millis(400))).await;
    let config = RerankConfig { batch_size: Some(1), deadline: Duration::from_millis(800), ..config(&server) };
    late(config, &["0", "0.25", "0.5", "1"]).await;
    assert!(requests(&server).await < 4);
}

#[tokio::test]
async fn silence_at_the_door_and_in_mid_sentence_is_late_too() {
    // The system takes the connection, but no one ever looks at it.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let deadline = Duration::from_millis(100);
    let config = |address| RerankConfig { deadline, ..RerankConfig::new(format!("http://{address}")) };
    late(config(silent.local_addr().unwrap()), &["a"]).await;

    let halting = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = halting.local_addr().unwrap();
    let server = tokio::task::spawn_blocking(move || {
        let (mut stream, _) = halting.accept().unwrap();
        assert!(stream.read(&mut [0; 64]).unwrap() > 0);
        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n[").unwrap();
        // Ends when the client hangs up.
        stream.read_to_end(&mut Vec::new()).ok();
    });
    late(config(address), &["a"]).await;
    server.await.unwrap();
}

#[tokio::test]
async fn a_closed_door_is_unreachable() {
    // A port that was just given back has no one behind it.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let config = RerankConfig { deadline: NEVER, ..RerankConfig::new(format!("http://{free}")) };
    let error = failure(config, &["a"]).await;
    assert!(matches!(error, Error::Unreachable { .. }), "{error}");
}

#[test]
fn senseless_settings_are_refused_by_name() {
    let good = RerankConfig::new("http://user:password@localhost");
    for (config, field) in [
        (RerankConfig { base_url: "nowhere".into(), ..good.clone() }, "base_url"),
        (RerankConfig { model: Some(" ".into()), ..good.clone() }, "model"),
        (RerankConfig { batch_size: Some(0), ..good.clone() }, "batch_size"),
        (RerankConfig { deadline: Duration::ZERO, ..good.clone() }, "deadline"),
        (RerankConfig { api_key: Some(Secret::new("a\nb")), ..good.clone() }, "api_key"),
    ] {
        let error = RemoteReranker::new(config).unwrap_err();
        assert!(error.to_string().starts_with(&format!("the reranker: {field}: ")), "{error}");
        assert_eq!(error.kind(), ErrorKind::Configuration);
    }
    let reranker = RemoteReranker::new(good).unwrap();
    assert_eq!(reranker.name(), "http://localhost/rerank");
    assert!(!format!("{reranker:?}").contains("password"), "{reranker:?}");
}
