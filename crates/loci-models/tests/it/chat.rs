//! The HTTP chat client over real HTTP.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use loci_models::{Chat, ChatAnswer, ChatConfig, ChatQuestion, Error, RemoteChat, Retries, Secret};
use loci_types::ErrorKind;
use serde_json::{Value, json};
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, Request, Respond, ResponseTemplate};

const KEY: &str = "sk-very-secret";
const SYSTEM: &str = "Name the colour of the kite.";
const INPUT: &str = "Vera flies a red kite.";
const GOOD: &str = r#"{"colour":"red"}"#;
const BAD: &str = r#"{"colour":"kite-shaped"}"#;

fn config(server: &MockServer) -> ChatConfig {
    ChatConfig {
        api_key: Some(Secret::new(KEY)),
        timeout: Duration::from_secs(20),
        retries: Retries {
            attempts: 3,
            first_delay: Duration::from_millis(5),
            longest_delay: Duration::from_secs(3),
            ..Retries::default()
        },
        price_in_per_million: 2.0,
        price_out_per_million: 10.0,
        ..ChatConfig::new(format!("{}/v1", server.uri()), "scripted")
    }
}

fn question() -> ChatQuestion {
    ChatQuestion {
        purpose: "colour",
        prompt_version: 4,
        system: SYSTEM.into(),
        input: INPUT.into(),
        schema: json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["colour"],
            "properties": { "colour": { "type": "string", "enum": ["red", "green"], "maxLength": 9 } },
        }),
        max_tokens: 50,
    }
}

/// What a model says, as services wrap it.
fn says(text: &str) -> ResponseTemplate {
    let choice = json!({ "index": 0, "message": { "role": "assistant", "content": text }, "finish_reason": "stop" });
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 });
    ResponseTemplate::new(200).set_body_json(json!({ "id": "x", "choices": [choice], "usage": usage }))
}

fn choice(choice: Value) -> ResponseTemplate {
    ResponseTemplate::new(200).set_body_json(json!({ "choices": [choice] }))
}

/// A server that gives these answers one after the other, the last one for ever.
async fn script(answers: &[ResponseTemplate]) -> MockServer {
    let server = MockServer::start().await;
    let (last, first) = answers.split_last().unwrap();
    for answer in first {
        Mock::given(method("POST")).respond_with(answer.clone()).up_to_n_times(1).mount(&server).await;
    }
    Mock::given(method("POST")).and(path("/v1/chat/completions")).respond_with(last.clone()).mount(&server).await;
    server
}

async fn sent(server: &MockServer) -> Vec<Value> {
    server.received_requests().await.unwrap().iter().map(|request| request.body_json().unwrap()).collect()
}

async fn ask(config: ChatConfig) -> Result<ChatAnswer, Error> {
    RemoteChat::new(config)?.ask(&question()).await
}

/// What happened to the language model.
async fn failure(config: ChatConfig) -> Error {
    match ask(config).await.unwrap_err() {
        Error::Chat { cause, .. } => *cause,
        other => panic!("not an error of a language model: {other}"),
    }
}

#[tokio::test]
async fn a_question_is_sent_with_its_shape_and_the_answer_counted() {
    let server = MockServer::start().await;
    Mock::given(path("/v1/chat/completions"))
        .and(header("authorization", format!("Bearer {KEY}")))
        .respond_with(says(GOOD))
        .expect(1)
        .mount(&server)
        .await;
    let chat = RemoteChat::new(config(&server)).unwrap();
    assert_eq!(chat.model(), "scripted");
    let answer = chat.ask(&question()).await.unwrap();
    assert_eq!(answer, ChatAnswer { value: json!({ "colour": "red" }), prompt_tokens: 100, completion_tokens: 10 });
    let mut schema = question().schema;
    schema["properties"]["colour"].as_object_mut().unwrap().remove("maxLength");
    let named = json!({ "name": "colour", "strict": true, "schema": schema });
    let expected = json!({
        "model": "scripted",
        "messages": [{ "role": "system", "content": SYSTEM }, { "role": "user", "content": INPUT }],
        "temperature": 0,
        "max_tokens": 50,
        "response_format": { "type": "json_schema", "json_schema": named },
    });
    assert_eq!(sent(&server).await, [expected]);
}

#[tokio::test]
async fn an_answer_is_found_in_what_models_write() {
    for text in [
        GOOD.to_owned(),
        format!("```json\n{GOOD}\n```"),
        format!("Of course! The kite {{as asked}}:\n{GOOD}\nAnything else?"),
        format!("<think>It may be {BAD}.</think>\n{GOOD}"),
        r#"{"colour":"red","certain":true}"#.to_owned(),
    ] {
        let server = script(&[says(&text)]).await;
        assert_eq!(ask(config(&server)).await.unwrap().value["colour"], "red", "{text}");
        assert_eq!(sent(&server).await.len(), 1, "{text}");
    }
    for odd in [
        json!({ "message": { "content": [{ "type": "text", "text": GOOD }] }, "finish_reason": "whatever" }),
        json!({ "message": { "content": GOOD, "role": "oracle", "tool_calls": null, "refusal": null } }),
        json!({ "message": { "content": { "colour": "red" } }, "finish_reason": null }),
    ] {
        let server = script(&[choice(odd.clone())]).await;
        let answer = ask(config(&server)).await.unwrap();
        assert_eq!(answer.value["colour"], "red", "{odd}");
        // Without a count of its own, ours is taken.
        assert!((20..300).contains(&answer.prompt_tokens), "{answer:?}");
        assert!((4..12).contains(&answer.completion_tokens), "{answer:?}");
    }
}

#[tokio::test]
async fn what_does_not_fit_is_sent_back_once_with_the_complaint() {
    for (bad, complaint) in [
        ("It is red.", "it has no JSON object"),
        (r#"{"colour":"red"#, "it is not JSON"),
        ("", "it has no JSON object"),
        (r#"{"color":"red"}"#, "must have the field `colour`"),
        (r#"["red"]"#, "it has no JSON object"),
        (BAD, r#"must be one of "red", "green""#),
    ] {
        let server = script(&[says(bad), says(GOOD)]).await;
        let answer = ask(config(&server)).await.unwrap();
        assert_eq!(answer, ChatAnswer { value: json!({ "colour": "red" }), prompt_tokens: 200, completion_tokens: 20 });
        let sent = sent(&server).await;
        let messages = sent[1]["messages"].as_array().unwrap();
        assert_eq!((sent.len(), messages.len()), (2, 4), "{bad}");
        assert_eq!(messages[..2], sent[0]["messages"].as_array().unwrap()[..], "{bad}");
        let echoed = if bad.is_empty() { " " } else { bad };
        assert_eq!(messages[2], json!({ "role": "assistant", "content": echoed }));
        assert_eq!(messages[3]["role"], "user");
        assert!(messages[3]["content"].as_str().unwrap().contains(complaint), "{}", messages[3]);
    }
}

#[tokio::test]
async fn what_does_not_fit_twice_is_a_loud_failure() {
    for bad in ["It is kite-shaped.", r#"{"colour":"kite-shaped"#, r#"{"color":"kite-shaped"}"#, BAD] {
        let server = script(&[says(bad)]).await;
        let error = ask(config(&server)).await.unwrap_err();
        assert_eq!((error.kind(), error.spent()), (ErrorKind::Provider, 220), "{error}");
        assert!(error.hint().contains("JSON"), "{}", error.hint());
        assert!(!format!("{error} {error:?}").contains("kite-shaped"), "{error:?}");
        assert!(matches!(error, Error::Chat { cause, .. } if matches!(*cause, Error::BadAnswer { .. })));
        assert_eq!(sent(&server).await.len(), 2, "{bad}");
    }
}

#[tokio::test]
async fn kinds_of_missing_answers_are_distinguished() {
    let content = |text: &str, end: &str| choice(json!({ "message": { "content": text }, "finish_reason": end }));
    let body = |json: Value| ResponseTemplate::new(200).set_body_json(json);
    let refusal = choice(json!({ "message": { "content": null, "refusal": "No." }, "finish_reason": "stop" }));
    for (answer, expected) in [
        (content(r#"{"colour":"#, "length"), "`scripted` was cut off after 50 tokens"),
        (content("", "content_filter"), "`scripted` declined to answer"),
        (refusal, "`scripted` declined to answer"),
        (body(json!({ "choices": [] })), "it has no choices"),
        (body(json!({})), "it has no choices"),
        (body(json!({ "error": { "message": "out of credit" } })), "it reports an error"),
        (ResponseTemplate::new(200), "EOF while parsing"),
        (ResponseTemplate::new(200).set_body_string("<html>"), "expected value"),
    ] {
        let server = script(&[answer]).await;
        let error = ask(config(&server)).await.unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(error.kind(), ErrorKind::Provider, "{error}");
        assert_eq!(sent(&server).await.len(), 1, "{expected}");
    }
    // What is whole is taken, however it ended.
    let server = script(&[content(GOOD, "length")]).await;
    assert_eq!(ask(config(&server)).await.unwrap().value["colour"], "red");
}

/// Refuses fields by name, as services do that do not know them.
struct Refusing(Vec<&'static str>);

impl Respond for Refusing {
    fn respond(&self, request: &Request) -> ResponseTemplate {
        let body: Value = request.body_json().unwrap();
        match self.0.iter().find(|field| body.get(field).is_some()) {
            Some(field) => {
                let message = format!("Unsupported parameter: '{field}' ({INPUT})");
                ResponseTemplate::new(400).set_body_json(json!({ "error": { "message": message } }))
            }
            None => says(GOOD),
        }
    }
}

#[tokio::test]
async fn a_field_that_is_refused_is_never_sent_again() {
    for (fields, calls) in
        [(vec!["response_format"], 2), (vec!["response_format", "temperature", "max_tokens"], 4), (vec![], 1)]
    {
        let server = MockServer::start().await;
        Mock::given(method("POST")).respond_with(Refusing(fields.clone())).mount(&server).await;
        let chat = RemoteChat::new(config(&server)).unwrap();
        assert_eq!(chat.ask(&question()).await.unwrap().value["colour"], "red");
        assert_eq!(chat.ask(&question()).await.unwrap().value["colour"], "red");
        let sent = sent(&server).await;
        assert_eq!(sent.len(), calls + 1, "{fields:?}");
        let last = sent.last().unwrap();
        for field in &fields {
            assert_eq!(last.get(field), None);
        }
        // The schema is in the text instead, and the limit has its newer name.
        let in_text = last["messages"][0]["content"].as_str().unwrap().contains(r#""enum":["red","green"]"#);
        assert_eq!(in_text, fields.contains(&"response_format"));
        assert_eq!(last.get("max_completion_tokens").is_some(), fields.contains(&"max_tokens"));
    }
}

#[tokio::test]
async fn a_refusal_for_another_reason_is_passed_on_and_not_remembered() {
    // It complains about a field that was not sent any more, so the field was not the cause.
    let refusal = ResponseTemplate::new(422).set_body_json(json!({ "detail": format!("response_format? {INPUT}") }));
    let server = script(&[refusal.clone(), refusal, says(GOOD)]).await;
    let chat = RemoteChat::new(config(&server)).unwrap();
    let error = chat.ask(&question()).await.unwrap_err();
    assert!(error.to_string().ends_with("answered 422: it does not support `response_format`"), "{error}");
    assert!(!format!("{error:?}").contains("kite"));
    chat.ask(&question()).await.unwrap();
    let sent = sent(&server).await;
    assert_eq!(sent.len(), 3);
    assert!(sent[1].get("response_format").is_none() && sent[2].get("response_format").is_some());
}

#[tokio::test]
async fn a_wish_to_wait_is_honoured_or_passed_on() {
    let wish = |seconds: &str| ResponseTemplate::new(429).insert_header("retry-after", seconds);
    let server = script(&[wish("1"), says(GOOD)]).await;
    let start = Instant::now();
    ask(config(&server)).await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());

    let server = script(&[wish("60")]).await;
    let error = ask(config(&server)).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RateLimited);
    assert!(error.to_string().contains("a wait of 60 s"), "{error}");
    assert_eq!(sent(&server).await.len(), 1);
}

#[tokio::test]
async fn what_may_pass_is_tried_again_and_silence_is_late() {
    let slow = says(GOOD).set_delay(Duration::from_secs(60));
    for illness in [ResponseTemplate::new(500), ResponseTemplate::new(503), ResponseTemplate::new(429), slow.clone()] {
        let server = script(&[illness, says(GOOD)]).await;
        let impatient = ChatConfig { timeout: Duration::from_secs(1), ..config(&server) };
        assert_eq!(ask(impatient).await.unwrap().value["colour"], "red");
        assert_eq!(sent(&server).await.len(), 2);
    }
    let server = script(&[slow]).await;
    let timeout = Duration::from_millis(200);
    let start = Instant::now();
    let retries = Retries { attempts: 2, ..config(&server).retries };
    let error = failure(ChatConfig { timeout, retries, ..config(&server) }).await;
    assert!(matches!(error, Error::Timeout { after, .. } if after == timeout), "{error}");
    let elapsed = start.elapsed();
    assert!(elapsed >= 2 * timeout && elapsed < Duration::from_secs(10), "{elapsed:?}");
}

/// A longer answer takes longer to write, and the hint names the setting.
#[tokio::test]
async fn the_time_follows_the_length_of_the_answer() {
    let server = script(&[says(GOOD).set_delay(Duration::from_secs(60))]).await;
    let retries = Retries { attempts: 1, ..config(&server).retries };
    let impatient = ChatConfig { timeout: Duration::from_millis(50), retries, ..config(&server) };
    let long = ChatQuestion { max_tokens: 1200, ..question() };
    let error = RemoteChat::new(impatient).unwrap().ask(&long).await.unwrap_err();
    assert!(error.to_string().contains("within 150ms"), "{error}");
    assert!(error.hint().contains("llm.timeout_seconds"), "{}", error.hint());
}

#[tokio::test]
async fn a_long_answer_is_refused_unread() {
    let long = "x".repeat(10 << 20);
    let server = script(&[says(&long)]).await;
    let error = failure(config(&server)).await;
    assert!(matches!(&error, Error::BadResponse { problem, .. } if problem == "it is longer than 1048576 bytes"));
    assert_eq!(sent(&server).await.len(), 1);
    // What is within the bound is read, and an answer that gives no length is not read to its end.
    let server = script(&[says(&format!("{}{GOOD}", " ".repeat(500_000)))]).await;
    assert_eq!(ask(config(&server)).await.unwrap().value["colour"], "red");

    let endless = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = endless.local_addr().unwrap();
    let server = tokio::task::spawn_blocking(move || {
        let (mut stream, _) = endless.accept().unwrap();
        assert!(stream.read(&mut [0; 64]).unwrap() > 0);
        stream.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n").unwrap();
        let block = vec![b' '; 1 << 16];
        let mut written = 0_usize;
        // Ends when the client hangs up.
        while written < 1 << 30 && stream.write_all(&block).is_ok() {
            written += block.len();
        }
        written
    });
    let error = failure(ChatConfig::new(format!("http://{address}"), "scripted")).await;
    assert!(matches!(&error, Error::BadResponse { problem, .. } if problem.contains("longer than")), "{error}");
    let written = server.await.unwrap();
    // The limit and the content of the buffers of both sides.
    assert!(written < 64 << 20, "{written}");
}

#[tokio::test]
async fn a_refused_key_is_named_and_never_shown() {
    let body = json!({ "error": { "message": format!("Incorrect API key: {KEY}. {INPUT}") } });
    for status in [401, 403, 400, 404, 500] {
        let server = script(&[ResponseTemplate::new(status).set_body_json(&body)]).await;
        let chat = RemoteChat::new(config(&server)).unwrap();
        let error = chat.ask(&question()).await.unwrap_err();
        let shown = format!("{error} {error:?} {chat:?} {:?}", config(&server));
        assert!(!shown.contains(KEY) && !shown.contains("kite"), "{shown}");
        let cause = format!("{}/v1/chat/completions answered {status}", server.uri());
        assert!(error.to_string().starts_with(&format!("the language model: {cause}")), "{error}");
        if status < 404 && status > 400 {
            assert_eq!(error.kind(), ErrorKind::Configuration);
            assert!(error.to_string().ends_with("it refuses the API key"), "{error}");
        }
    }
}

/// Keeps what is logged.
#[derive(Clone, Default)]
struct Journal(Arc<Mutex<Vec<u8>>>);

impl Write for Journal {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn every_question_is_logged_without_a_word_of_it() {
    let journal = Journal::default();
    let writer = journal.clone();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(move || writer.clone())
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    let quoted = json!({ "error": { "message": format!("{KEY} {INPUT}") } });
    let server = script(&[
        says(GOOD),
        says(BAD),
        says(GOOD),
        ResponseTemplate::new(500).set_body_json(&quoted),
        ResponseTemplate::new(401).set_body_json(&quoted),
    ])
    .await;
    let chat = RemoteChat::new(config(&server)).unwrap();
    chat.ask(&question()).await.unwrap();
    chat.ask(&question()).await.unwrap();
    chat.ask(&question()).await.unwrap_err();
    drop(guard);
    let text = String::from_utf8(journal.0.lock().unwrap().clone()).unwrap();
    for secret in [KEY, "kite", "colour of", r#"{\"colour\""#] {
        assert!(!text.contains(secret), "{secret}: {text}");
    }
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let lines: Vec<&Value> = lines.iter().filter(|line| line["fields"]["message"] == "language model call").collect();
    assert_eq!(lines.len(), 3, "{text}");
    for (line, tokens, cost, repaired) in
        [(lines[0], [100, 10], 0.0003, false), (lines[1], [200, 20], 0.0006, true), (lines[2], [0, 0], 0.0, false)]
    {
        let fields = &line["fields"];
        assert_eq!(line["level"], "INFO");
        assert_eq!((&fields["purpose"], &fields["model"]), (&json!("colour"), &json!("scripted")));
        assert_eq!(fields["prompt_version"], 4);
        assert_eq!(
            [&fields["prompt_tokens"], &fields["completion_tokens"]],
            tokens.map(|count| json!(count)).each_ref()
        );
        assert!((fields["cost"].as_f64().unwrap() - cost).abs() < 1e-12, "{fields}");
        assert!(fields["milliseconds"].is_u64());
        assert_eq!(fields["repaired"], repaired);
    }
    assert!(lines[2]["fields"]["failure"].as_str().unwrap().ends_with("it refuses the API key"));
    assert_eq!(lines[0]["fields"].get("failure"), None);
}

#[test]
fn an_estimate_covers_a_repair() {
    let chat = RemoteChat::new(ChatConfig::new("http://localhost", "scripted")).unwrap();
    let short = chat.estimate(&question());
    let long = chat.estimate(&ChatQuestion { input: INPUT.repeat(100), ..question() });
    // Seven tokens and more, a hundred times, read twice.
    assert!(long - short > 1_000, "{short} {long}");
    let wordy = chat.estimate(&ChatQuestion { max_tokens: 150, ..question() });
    assert_eq!(wordy - short, 300);
}

#[test]
fn senseless_settings_are_refused_by_name() {
    let good = ChatConfig::new("http://user:password@localhost", "scripted");
    for (config, field) in [
        (ChatConfig { base_url: "nowhere".into(), ..good.clone() }, "base_url"),
        (ChatConfig { model: " ".into(), ..good.clone() }, "model"),
        (ChatConfig { timeout: Duration::ZERO, ..good.clone() }, "timeout"),
        (ChatConfig { most_bytes: 0, ..good.clone() }, "most_bytes"),
        (ChatConfig { price_in_per_million: -1.0, ..good.clone() }, "price_in_per_million"),
        (ChatConfig { price_out_per_million: f64::NAN, ..good.clone() }, "price_out_per_million"),
        (ChatConfig { api_key: Some(Secret::new("a\nb")), ..good.clone() }, "api_key"),
    ] {
        let error = RemoteChat::new(config).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration, "{error}");
        assert!(error.to_string().starts_with(&format!("the language model: {field}: ")), "{error}");
    }
    let chat = RemoteChat::new(good).unwrap();
    assert!(!format!("{chat:?}").contains("password"));
}
