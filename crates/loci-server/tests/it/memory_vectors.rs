//! Vectors of memories: given by callers, and computed for many texts at once.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use loci_engine::{Caller, Config, RecallRequest};
use loci_models::{Detail, Embedder, Embedding, Error, Model};
use loci_server::Options;
use loci_testkit::vectors::hashed_vector;
use loci_types::Identifiers;
use serde_json::{Value, json};

use crate::server::TestServer;

const DIMENSIONS: usize = 64;

/// A model that counts how often it is asked, and for what, and that can be switched off.
struct CountingEmbedder {
    model: Model,
    calls: AtomicUsize,
    texts: Mutex<Vec<String>>,
    down: Mutex<bool>,
}

#[async_trait]
impl Embedder for CountingEmbedder {
    fn model(&self) -> &Model {
        &self.model
    }

    async fn embed(&self, texts: &[String], _: Detail) -> Result<Vec<Embedding>, Error> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if *self.down.lock().unwrap() {
            return Err(Error::Http { service: "a model".to_owned(), status: 503, message: "no".to_owned() });
        }
        self.texts.lock().unwrap().extend(texts.iter().cloned());
        Ok(texts.iter().map(|text| Embedding { vector: hashed_vector(text, DIMENSIONS), tokens: Vec::new() }).collect())
    }
}

async fn server() -> (TestServer, Arc<CountingEmbedder>) {
    let model =
        Model { name: "counting".to_owned(), dimensions: DIMENSIONS, similarity_threshold: 0.3, max_tokens: 256 };
    let counting = Arc::new(CountingEmbedder {
        model,
        calls: AtomicUsize::new(0),
        texts: Mutex::default(),
        down: Mutex::new(false),
    });
    (TestServer::with_models(Options::default(), Config::default(), Some(counting.clone()), None).await, counting)
}

fn ann() -> Caller {
    Caller::new(Identifiers { user_id: Some("ann".into()), ..Identifiers::default() })
}

#[tokio::test]
async fn a_given_vector_is_stored_and_found_by() {
    let (server, counting) = server().await;
    let vector = hashed_vector("garden furniture", DIMENSIONS);
    let body = |content: &str, more: Value| {
        let mut body = json!({ "content": content, "identifiers": { "userId": "ann" }, "embedding": vector });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let added = server.post("/v1/memories", body("Qwert zuiop asdfg.", json!({ "embeddingModel": "counting" }))).await;
    let added = added.expect(201);
    assert_eq!((&added["embeddingGenerated"], &added["degraded"]), (&json!(true), &json!([])));
    assert_eq!(counting.calls.load(Ordering::SeqCst), 0, "the model was not asked");
    let id = added["id"].as_str().unwrap().parse().unwrap();
    let kept = server.engine.embeddings(&ann(), &[id]).await.unwrap();
    assert_eq!(kept.len(), 1);
    let near = kept[0].1.iter().zip(&vector).map(|(a, b)| a * b).sum::<f32>();
    assert!(near > 0.99, "{near}");
    server
        .post("/v1/memories", json!({ "content": "Ann sings.", "identifiers": { "userId": "ann" } }))
        .await
        .expect(201);
    let request = RecallRequest { query: "garden furniture".to_owned(), ..RecallRequest::default() };
    let found = server.engine.recall(&ann(), request).await.unwrap();
    assert_eq!(found.hits[0].memory.id, id, "no word of it is in the text");

    let batch = json!({ "identifiers": { "userId": "ann" }, "memories": [
        { "content": "Yxcvb nmlkj.", "embedding": hashed_vector("winter coats", DIMENSIONS) }
    ] });
    let response = server.post("/v1/memories/batch", batch).await.expect(200);
    let request = RecallRequest { query: "winter coats".to_owned(), ..RecallRequest::default() };
    let found = server.engine.recall(&ann(), request).await.unwrap();
    assert_eq!(found.hits[0].memory.id.to_string(), response["data"][0]["id"].as_str().unwrap());

    for (more, field) in [
        (json!({ "embeddingModel": "another" }), "embeddingModel"),
        (json!({ "embedding": [1.0, 2.0] }), "embedding"),
        (json!({ "embedding": [] }), "embedding"),
        (json!({ "embedding": vec![0.0; DIMENSIONS] }), "embedding"),
        (json!({ "embedding": vec![1e39; DIMENSIONS] }), "embedding[0]"),
        (json!({ "embedding": "AAAA" }), "embedding"),
        (json!({ "embedding": null, "embeddingModel": "counting" }), "embeddingModel"),
    ] {
        let refused = server.post("/v1/memories", body("Ann paints the gate.", more.clone())).await;
        assert_eq!(refused.status, 400, "{more}: {}", refused.text);
        refused.refused(400, field);
    }
    // A vector made of a text that was masked would keep what was masked.
    let before = counting.calls.load(Ordering::SeqCst);
    let masked =
        server.post("/v1/memories", body("Ann pays with card 4111 1111 1111 1111.", json!({}))).await.expect(201);
    assert_ne!(masked["redacted"], json!([]));
    assert!(counting.calls.load(Ordering::SeqCst) > before);
}

#[tokio::test]
async fn without_a_model_no_vector_is_taken() {
    let server = TestServer::open().await;
    let body = json!({ "content": "Ann sings.", "identifiers": { "userId": "ann" }, "embedding": [1.0] });
    server.post("/v1/memories", body).await.refused(400, "embedding");
}

#[tokio::test]
async fn a_batch_asks_the_model_once() {
    let (server, counting) = server().await;
    let memories: Vec<Value> =
        (0..500).map(|number| json!({ "content": format!("Crate{number} holds part{number}.") })).collect();
    let body = json!({ "identifiers": { "userId": "ann" }, "memories": memories });
    let response = server.post("/v1/memories/batch", body.clone()).await.expect(200);
    assert_eq!((&response["succeeded"], &response["failed"]), (&json!(500), &json!(0)));
    assert_eq!(counting.calls.load(Ordering::SeqCst), 1);
    assert_eq!(counting.texts.lock().unwrap().len(), 500);
    let id = |place: usize| response["data"][place]["id"].as_str().unwrap().parse().unwrap();
    let kept = server.engine.embeddings(&ann(), &[id(0), id(499)]).await.unwrap();
    assert_eq!(kept.len(), 2);
    for (place, text) in [(0, "Crate0 holds part0."), (499, "Crate499 holds part499.")] {
        let (_, vector) = kept.iter().find(|(one, _)| *one == id(place)).unwrap();
        let near = vector.iter().zip(hashed_vector(text, DIMENSIONS)).map(|(a, b)| a * b).sum::<f32>();
        assert!(near > 0.99, "each has its own vector: {near}");
    }
}

#[tokio::test]
async fn what_has_no_vector_yet_is_reported_as_degraded() {
    let (server, counting) = server().await;
    *counting.down.lock().unwrap() = true;
    let new = |content: &str| json!({ "content": content, "identifiers": { "userId": "ann" } });
    let added = server.post("/v1/memories", new("Ann repairs clocks.")).await.expect(201);
    assert_eq!((&added["degraded"], &added["embeddingGenerated"]), (&json!(["vector"]), &json!(false)));
    let body = json!({ "identifiers": { "userId": "ann" }, "memories": [{ "content": "Ann repairs bells." }] });
    let response = server.post("/v1/memories/batch", body).await.expect(200);
    assert_eq!(response["data"][0]["degraded"], json!(["vector"]));
    *counting.down.lock().unwrap() = false;
    let added = server.post("/v1/memories", new("Ben repairs ships.")).await.expect(201);
    assert_eq!(added["degraded"], json!([]));
}
