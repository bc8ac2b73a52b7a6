//! What lies on the disk is for its owner alone, and what was erased does not lie there any more.
#![cfg(unix)]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use loci_store::{SqliteOptions, SqliteStore};
use loci_testkit::driver::Driver;
use loci_testkit::samples::*;
use loci_types::{Action, Bookkeeping};

use crate::erase::holding;

/// Every folder and file below this one, with its mode.
fn modes(folder: &Path) -> Vec<(PathBuf, u32)> {
    let mut found = vec![(folder.to_owned(), mode(folder))];
    for path in std::fs::read_dir(folder).unwrap().flatten().map(|entry| entry.path()) {
        if path.is_dir() { found.extend(modes(&path)) } else { found.push((path.clone(), mode(&path))) }
    }
    found
}

fn mode(path: &Path) -> u32 {
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// attack B9, doors H5: everything that the store makes has 0700 or 0600, logs included.
#[tokio::test]
async fn what_the_store_makes_is_for_its_owner_alone() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("data");
    let store = SqliteStore::open(&folder, SqliteOptions::default()).unwrap();
    let driver = Driver::on(&store);
    driver.remember(&user("anna"), "Anna sings").await;
    driver.remember(&agent("bot"), "The bot sings").await;
    let found = modes(&folder);
    assert!(found.iter().any(|(path, _)| path.to_string_lossy().ends_with("-wal")), "{found:?}");
    for (path, mode) in found {
        let expect = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, expect, "{} has {mode:o}", path.display());
    }
}

/// attack B9: files that an earlier version made are narrowed when they are opened.
#[tokio::test]
async fn wider_files_of_earlier_versions_are_narrowed() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("data");
    let store = SqliteStore::open(&folder, SqliteOptions::default()).unwrap();
    Driver::on(&store).remember(&user("anna"), "Anna sings").await;
    drop(store);
    for (path, _) in modes(&folder) {
        let wide = if path.is_dir() { 0o755 } else { 0o644 };
        std::fs::set_permissions(path, Permissions::from_mode(wide)).unwrap();
    }
    let store = SqliteStore::open(&folder, SqliteOptions::default()).unwrap();
    let touch = Action::Bookkeeping(Bookkeeping::Touch { ids: vec![] });
    Driver::on(&store).must(&user("anna").space(), touch).await;
    // What is below the folder is out of reach of others.
    assert_eq!(mode(&folder), 0o700);
    for (path, mode) in modes(&folder).into_iter().filter(|(path, _)| path.is_file()) {
        assert_eq!(mode, 0o600, "{} has {mode:o}", path.display());
    }
}

/// attack B10: after a hard delete neither the database nor its log holds the text, while the store is open.
#[tokio::test]
async fn an_erased_memory_is_neither_in_the_file_nor_in_its_log() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path(), SqliteOptions::default()).unwrap();
    let driver = Driver::on(&store);
    let anna = user("anna");
    for number in 0..20 {
        driver.remember(&anna, &format!("Anna sings song {number}")).await;
    }
    let id = driver.remember(&anna, "Anna keeps the zanzibarquuxly lantern").await;
    assert!(!holding(folder.path(), "zanzibarquuxly").is_empty(), "it is on the disk before");
    driver.must(&anna.space(), Action::Erase { id }).await;
    assert_eq!(holding(folder.path(), "zanzibarquuxly"), Vec::<String>::new());
}
