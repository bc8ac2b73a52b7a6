//! There is no read without a `Visible`: a forgotten one does not compile.

use loci_store::{Page, SqliteStore, Store};
use loci_types::{Filter, MemoryId};

async fn forgotten(store: &SqliteStore, filter: &Filter, page: Page, id: MemoryId) {
    drop(store.fetch(&[id]).await);
    drop(store.scan(filter, page).await);
}

fn main() {}
