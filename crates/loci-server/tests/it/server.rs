//! A server for tests, with an HTTP client.

use std::sync::Arc;

use loci_engine::llm::LlmClient;
use loci_engine::{Caller, Config, Engine, NewKey, System};
use loci_models::Embedder;
use loci_server::{Options, Server, ServerOptions};
use loci_store::tier::{ProcessTier, TierOptions};
use loci_store::{SqliteOptions, SqliteStore, Store};
use loci_types::{Grant, Role, Tenant};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::contract;

/// A running server with its own data folder, without a model.
pub(crate) struct TestServer {
    pub(crate) engine: Arc<Engine>,
    pub(crate) address: String,
    client: Client,
    /// The key that every request carries, if any.
    key: Option<String>,
    closing: Option<oneshot::Sender<()>>,
    served: Option<tokio::task::JoinHandle<()>>,
    folder: tempfile::TempDir,
}

/// An answer of the server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: reqwest::header::HeaderMap,
    pub(crate) body: Value,
    pub(crate) text: String,
}

impl TestServer {
    /// A server without keys, which requires no credential.
    pub(crate) async fn open() -> Self {
        Self::with(Options::default(), Config::default()).await
    }

    /// A server with these settings, without keys.
    pub(crate) async fn with(options: Options, config: Config) -> Self {
        Self::with_models(options, config, None, None).await
    }

    /// The same, with an embedder and a language model.
    pub(crate) async fn with_models(
        options: Options,
        config: Config,
        embedder: Option<Arc<dyn Embedder>>,
        mind: Option<LlmClient>,
    ) -> Self {
        let plain: fn(SqliteStore) -> SqliteStore = |store| store;
        Self::with_store(options, config, embedder, mind, plain).await
    }

    /// The same, with a store that `wrap` changes, for example by adding an index.
    pub(crate) async fn with_store(
        options: Options,
        config: Config,
        embedder: Option<Arc<dyn Embedder>>,
        mind: Option<LlmClient>,
        wrap: impl FnOnce(SqliteStore) -> SqliteStore,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path(), SqliteOptions::default()).unwrap();
        let engine = Engine::new(Arc::new(wrap(store)), embedder, Arc::new(System), config).unwrap();
        let engine = match mind {
            Some(mind) => engine.with_llm(mind),
            None => engine,
        };
        Self::with_engine(engine, options, folder).await
    }

    /// A server on the given store.
    pub(crate) async fn on_store(store: Arc<dyn Store>) -> Self {
        let engine = Engine::new(store, None, Arc::new(System), Config::default()).unwrap();
        Self::with_engine(engine, Options::default(), tempfile::tempdir().unwrap()).await
    }

    /// Another server on the same folder, as another process would have.
    pub(crate) async fn neighbour(&self) -> Self {
        let store = SqliteStore::open(self.folder.path(), SqliteOptions::default()).unwrap();
        Self::on_store(Arc::new(store)).await
    }

    /// A server with this engine, whose data is in the folder.
    pub(crate) async fn with_engine(engine: Engine, mut options: Options, folder: tempfile::TempDir) -> Self {
        options.server.backup_folder.get_or_insert_with(|| folder.path().join("backups"));
        // All tests come from one address, and many are refused on purpose. A test of this limit sets another value.
        if options.server.refusals_per_second == ServerOptions::default().refusals_per_second {
            options.server.refusals_per_second = 0;
        }
        let tier = ProcessTier::new(TierOptions::default(), 1 << 20);
        let engine = Arc::new(engine.with_sessions(Arc::new(tier)));
        let listening = Server::bind("127.0.0.1:0", false).await.unwrap();
        let address = format!("http://{}", listening.address());
        let (closing, closed) = oneshot::channel::<()>();
        let serving = engine.clone();
        let served = tokio::spawn(async move {
            let closed = async { drop(closed.await) };
            listening.serve(serving, options, None, closed).await.unwrap();
        });
        // A connection is used once: an idle one may be closed by the server at the moment a request is sent on it.
        let client = Client::builder().no_proxy().pool_max_idle_per_host(0).build().unwrap();
        Self { engine, address, client, key: None, closing: Some(closing), served: Some(served), folder }
    }

    /// A server whose requests carry the key of an admin.
    pub(crate) async fn guarded() -> Self {
        Self::guarded_with(Options::default()).await
    }

    /// The same with these settings.
    pub(crate) async fn guarded_with(options: Options) -> Self {
        let mut server = Self::with(options, Config::default()).await;
        server.key = Some(server.key(Grant::whole(Tenant::default())).await);
        server
    }

    /// The data folder.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.folder.path()
    }

    /// Creates a key with this grant.
    pub(crate) async fn key(&self, grant: Grant) -> String {
        let new = NewKey { name: "test".to_owned(), grant, expires_at: None };
        self.engine.create_key(&Caller::operator(), new).await.unwrap().secret
    }

    /// Creates a key with a role and bounds, such as `{"users": ["ann"]}`.
    pub(crate) async fn bounded(&self, role: Role, bounds: Value) -> String {
        let bounds = serde_json::from_value(bounds).unwrap();
        self.key(Grant { role, bounds, ..Grant::whole(Tenant::default()) }).await
    }

    /// A request to this path, with the key of the server if it has one.
    pub(crate) fn request(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = self.client.request(method, format!("{}{path}", self.address));
        match &self.key {
            Some(key) => request.bearer_auth(key),
            None => request,
        }
    }

    /// A request with another key.
    pub(crate) fn request_as(&self, key: &str, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        self.client.request(method, format!("{}{path}", self.address)).bearer_auth(key)
    }

    /// A client that sends no key.
    pub(crate) fn without_key(&self) -> AnonymousClient<'_> {
        AnonymousClient(self)
    }

    /// A request with no key at all.
    pub(crate) fn anonymous(&self, method: &str, path: &str) -> RequestBuilder {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        self.client.request(method, format!("{}{path}", self.address))
    }

    pub(crate) async fn get(&self, path: &str) -> Answer {
        answer(self.request("GET", path)).await
    }

    pub(crate) async fn delete(&self, path: &str) -> Answer {
        answer(self.request("DELETE", path)).await
    }

    pub(crate) async fn post(&self, path: &str, body: Value) -> Answer {
        answer(self.request("POST", path).json(&body)).await
    }

    pub(crate) async fn patch(&self, path: &str, body: Value) -> Answer {
        answer(self.request("PATCH", path).json(&body)).await
    }

    pub(crate) async fn put(&self, path: &str, body: Value) -> Answer {
        answer(self.request("PUT", path).json(&body)).await
    }

    /// Shuts down, and returns the engine and its folder.
    pub(crate) async fn closed(mut self) -> (Arc<Engine>, tempfile::TempDir) {
        drop(self.closing.take());
        if let Some(served) = self.served.take() {
            served.await.unwrap();
        }
        (self.engine, self.folder)
    }

    /// Shuts down, and waits until that is complete.
    pub(crate) async fn close(self) {
        drop(self.closed().await);
    }
}

/// A client that sends no key.
pub(crate) struct AnonymousClient<'a>(&'a TestServer);

impl AnonymousClient<'_> {
    pub(crate) async fn get(&self, path: &str) -> Answer {
        answer(self.0.client.get(format!("{}{path}", self.0.address))).await
    }
}

/// Sends a request, reads the answer and checks it against the published description. Text that is not JSON stays text.
pub(crate) async fn answer(request: RequestBuilder) -> Answer {
    let (client, request) = request.build_split();
    let request = request.unwrap();
    let (method, path) = (request.method().clone(), request.url().path().to_owned());
    let response = client.execute(request).await.unwrap();
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let text = response.text().await.unwrap();
    let body = serde_json::from_str(&text).unwrap_or(Value::Null);
    let answer = Answer { status, headers, body, text };
    answer.follows_the_rules();
    contract::check(&method, &path, &answer);
    answer
}

impl Answer {
    /// The rules that hold for every answer, whatever was asked.
    #[track_caller]
    fn follows_the_rules(&self) {
        let Self { status, headers, body, text } = self;
        if headers.get("content-type").is_some_and(|kind| kind == "application/problem+json") {
            let sentence = body["detail"].as_str().unwrap_or_default();
            assert!(*status >= 400 && body["status"] == *status && !sentence.is_empty(), "{text}");
            assert_eq!(body["instance"].as_str(), headers["x-request-id"].to_str().ok(), "{text}");
            let fits = match body["code"].as_str() {
                Some("UNAUTHENTICATED") => *status == 401,
                Some("UNAUTHORIZED") => *status == 403,
                Some("METHOD_NOT_ALLOWED") => *status == 405,
                Some("CONFLICT" | "VERSION_CONFLICT") => *status == 409,
                Some(code) => !matches!(status, 401 | 403 | 405 | 409) && !code.is_empty(),
                None => false,
            };
            assert!(fits, "{text}");
        }
    }

    /// The body, if the status is as expected.
    #[track_caller]
    pub(crate) fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text);
        self.body
    }

    /// Checks that it is a failure with this status that names this field.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, field: &str) {
        let named = self.body["details"]["field"].as_str().unwrap_or_default();
        assert_eq!((self.status, named), (status, field), "{}", self.text);
        assert_eq!(self.headers["content-type"], "application/problem+json");
    }
}
