//! A model is fetched completely or not at all.

use std::sync::Mutex;
use std::time::Duration;

use loci_models::Error;
use loci_models::local::{Hub, ModelLocations, find};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

/// The sha256 of `weights`.
const WEIGHTS_SHA256: &str = "9a129038d9a00aed0cf6a7ea059ca50a813449061ab87848cf1a13eafdf33b2c";

async fn server(files: &[&str]) -> (MockServer, Hub) {
    let server = MockServer::start().await;
    for file in files {
        let name = format!("/m/{file}");
        let body = if *file == "model.safetensors" { "weights" } else { "{}" };
        let answer = ResponseTemplate::new(200).set_body_string(body);
        Mock::given(method("GET")).and(path(name)).respond_with(answer).mount(&server).await;
    }
    let hub = Hub {
        base_url: format!("{}/m", server.uri()),
        sha256: WEIGHTS_SHA256.into(),
        stall_timeout: Duration::from_secs(2),
        ..Hub::default()
    };
    (server, hub)
}

const FILES: [&str; 5] =
    ["config.json", "tokenizer.json", "sentence_bert_config.json", "1_Pooling/config.json", "model.safetensors"];

/// The entries of the cache, including scratch folders.
fn left_over(places: &ModelLocations) -> usize {
    std::fs::read_dir(places.cache.join("models")).map_or(0, Iterator::count)
}

#[tokio::test]
async fn a_model_is_fetched_once_with_progress() {
    let scratch = tempfile::tempdir().unwrap();
    let places = ModelLocations { explicit: None, cache: scratch.path().to_owned(), hub: true };
    // The remains of a broken copy do not stand in the way.
    std::fs::create_dir_all(places.cached()).unwrap();
    std::fs::write(places.cached().join("config.json"), "{}").unwrap();

    let (server, hub) = server(&FILES).await;
    let seen = Mutex::new(Vec::new());
    let progress = |got: u64, whole: Option<u64>| seen.lock().unwrap().push((got, whole));
    assert_eq!(find(&places, &hub, &progress).await.unwrap(), places.cached());
    assert_eq!(std::fs::read(places.cached().join("model.safetensors")).unwrap(), b"weights");
    assert_eq!(seen.lock().unwrap().last(), Some(&(7, Some(7))));
    assert_eq!(left_over(&places), 1);

    find(&places, &hub, &progress).await.unwrap();
    assert_eq!(server.received_requests().await.unwrap().len(), FILES.len());
}

#[tokio::test]
async fn wrong_weights_leave_nothing_behind() {
    let scratch = tempfile::tempdir().unwrap();
    let places = ModelLocations { explicit: None, cache: scratch.path().to_owned(), hub: true };
    let (_server, mut hub) = server(&FILES).await;
    hub.sha256 = "0".repeat(64);
    let error = find(&places, &hub, &|_, _| ()).await.unwrap_err();
    assert!(matches!(&error, Error::HashMismatch { found, .. } if found == WEIGHTS_SHA256), "{error}");
    assert_eq!(left_over(&places), 0);
}

#[tokio::test]
async fn a_missing_file_leaves_nothing_behind() {
    let scratch = tempfile::tempdir().unwrap();
    let places = ModelLocations { explicit: None, cache: scratch.path().to_owned(), hub: true };
    let (_server, hub) = server(&FILES[..3]).await;
    let error = find(&places, &hub, &|_, _| ()).await.unwrap_err();
    assert!(matches!(error, Error::Http { status: 404, .. }), "{error}");
    assert_eq!(left_over(&places), 0);
}

#[tokio::test]
async fn no_one_is_asked_without_leave() {
    let scratch = tempfile::tempdir().unwrap();
    let (server, hub) = server(&FILES).await;
    let named = Some(scratch.path().join("named"));
    for places in [
        ModelLocations { explicit: None, cache: scratch.path().to_owned(), hub: false },
        ModelLocations { explicit: named, cache: scratch.path().to_owned(), hub: true },
    ] {
        let error = find(&places, &hub, &|_, _| ()).await.unwrap_err();
        assert!(matches!(error, Error::ModelMissing { .. }), "{error}");
    }
    assert!(server.received_requests().await.unwrap().is_empty());
}
