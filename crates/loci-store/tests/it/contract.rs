//! The contract of every store, on files.

use loci_store::{SqliteOptions, SqliteStore};
use tempfile::TempDir;

async fn fresh() -> (SqliteStore, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path(), SqliteOptions::default()).unwrap();
    (store, folder)
}

loci_testkit::store_contract!(fresh);
