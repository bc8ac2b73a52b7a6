//! The contract of every store, on files with an external index.
//!
//! All of it runs with the index in this process, with pgvector, and with Qdrant: the stand-in of the testkit, or the
//! server at `LOCI_TEST_QDRANT_URL`. Each test has collections of its own.

use std::sync::Arc;
use std::time::Duration;

use loci_store::{
    IndexedOptions, LocalIndex, Pauses, PgvectorConfig, PgvectorIndex, Qdrant, QdrantConfig, Retry, SqliteOptions,
    SqliteStore, SystemContext, VectorIndex,
};
use loci_testkit::qdrant::StandIn;
use loci_testkit::samples::{MODEL, at, grant};
use loci_testkit::servers::Schema;
use loci_types::Reach;
use tempfile::TempDir;

/// Quick to try again, and patient where a slow machine needs it.
pub(crate) fn options() -> IndexedOptions {
    let back_off = Pauses { first: Duration::from_millis(10), longest: Duration::from_millis(50), factor: 2.0 };
    IndexedOptions { patience: Duration::from_secs(20), back_off, ..IndexedOptions::default() }
}

pub(crate) fn oversight() -> SystemContext {
    SystemContext { whole: Arc::new(|tenant| grant(tenant.clone(), Reach::Whole, None, None)), now: Arc::new(|| at(0)) }
}

pub(crate) fn config(url: &str) -> QdrantConfig {
    QdrantConfig {
        usual_model: Some(MODEL.to_owned()),
        timeout: Duration::from_secs(10),
        retry: Retry {
            max_attempts: 2,
            initial_delay: Duration::from_millis(10),
            max_delay: Duration::from_millis(50),
            multiplier: 2.0,
        },
        ..QdrantConfig::new(url)
    }
}

pub(crate) fn indexed(folder: &TempDir, index: Arc<dyn VectorIndex>, options: IndexedOptions) -> SqliteStore {
    let store = SqliteStore::open(folder.path(), SqliteOptions::default()).unwrap();
    store.with_index(index, oversight(), options)
}

/// What must live as long as the store.
enum Server {
    StandIn(#[expect(dead_code, reason = "kept alive")] StandIn),
    Real { url: String, prefix: String },
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Server::Real { url, prefix } = self {
            let (url, prefix) = (url.clone(), prefix.clone());
            let swept =
                std::thread::spawn(move || tokio::runtime::Runtime::new().unwrap().block_on(sweep(&url, &prefix)));
            drop(swept.join());
        }
    }
}

/// Leaves a real server as it was. A creation may still be in flight, so it looks until there was nothing to remove for half
/// a second.
async fn sweep(url: &str, prefix: &str) {
    let client = reqwest::Client::new();
    let mut quiet_since = std::time::Instant::now();
    while quiet_since.elapsed() < Duration::from_millis(500) {
        let listed: serde_json::Value =
            client.get(format!("{url}/collections")).send().await.unwrap().json().await.unwrap();
        for collection in listed["result"]["collections"].as_array().into_iter().flatten() {
            let name = collection["name"].as_str().unwrap_or_default();
            if name.starts_with(prefix) {
                drop(client.delete(format!("{url}/collections/{name}")).send().await);
                quiet_since = std::time::Instant::now();
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

// qdrant T2.
#[tokio::test(flavor = "multi_thread")]
async fn a_collection_whose_creation_is_in_flight_is_removed_after_the_test() {
    let server = StandIn::start_new().await;
    server.delay(Duration::from_millis(100));
    let url = server.url();
    let make = async |name: &str| {
        let body = serde_json::json!({ "vectors": { "size": 3, "distance": "Cosine" } });
        drop(reqwest::Client::new().put(format!("{url}/collections/{name}")).json(&body).send().await);
    };
    make("loci-test-a-one").await;
    make("another").await;
    tokio::join!(make("loci-test-a-two"), sweep(&url, "loci-test-a-"));
    assert_eq!(server.collections(), ["another"]);
}

#[expect(clippy::disallowed_methods, reason = "a test asks where its server is")]
fn real_server() -> Option<String> {
    std::env::var("LOCI_TEST_QDRANT_URL").ok().filter(|url| !url.is_empty())
}

#[expect(clippy::print_stderr, reason = "the output must say which index was used")]
async fn with_qdrant() -> (SqliteStore, (TempDir, Server)) {
    let folder = tempfile::tempdir().unwrap();
    let prefix = format!("loci-test-{}-", uuid::Uuid::new_v4().simple());
    let (url, server) = match real_server() {
        Some(url) => {
            eprintln!("the Qdrant contract runs on the server at {url}");
            (url.clone(), Server::Real { url, prefix: prefix.clone() })
        }
        None => {
            eprintln!("the Qdrant contract runs on the stand-in, not on Qdrant");
            let server = StandIn::start_new().await;
            (server.url(), Server::StandIn(server))
        }
    };
    let index = Qdrant::new(QdrantConfig { prefix, ..config(&url) }).unwrap();
    // qdrant T1: with the usual tail, the ledger answers and the index is hardly ever asked.
    (indexed(&folder, Arc::new(index), IndexedOptions { tail: 1, ..options() }), (folder, server))
}

async fn with_local() -> (SqliteStore, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    (indexed(&folder, Arc::new(LocalIndex::new()), options()), folder)
}

pub(crate) fn pgvector(schema: &Schema) -> PgvectorConfig {
    let name = schema.name.clone();
    PgvectorConfig { schema: name, timeout: Duration::from_secs(10), ..PgvectorConfig::new(&schema.url) }
}

async fn with_pgvector() -> Option<(SqliteStore, (TempDir, Schema))> {
    let (schema, folder) = (Schema::new()?, tempfile::tempdir().unwrap());
    let index = PgvectorIndex::new(pgvector(&schema)).unwrap();
    Some((indexed(&folder, Arc::new(index), options()), (folder, schema)))
}

/// All through the graph, in half precision.
async fn with_halves() -> Option<(SqliteStore, (TempDir, Schema))> {
    let (schema, folder) = (Schema::new()?, tempfile::tempdir().unwrap());
    let config = PgvectorConfig { halfvec: true, exact_up_to: 0, ..pgvector(&schema) };
    let index = PgvectorIndex::new(config).unwrap();
    Some((indexed(&folder, Arc::new(index), options()), (folder, schema)))
}

mod pgvector_beside {
    use super::with_pgvector;
    loci_testkit::store_contract!(with_pgvector);
}

mod halfvec_beside {
    use super::with_halves;
    loci_testkit::store_contract!(with_halves);
}

mod qdrant {
    use super::with_qdrant;
    loci_testkit::store_contract!(with_qdrant);
}

mod local {
    use super::with_local;
    loci_testkit::store_contract!(with_local);
}
