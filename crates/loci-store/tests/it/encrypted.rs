//! The contract of every store, on encrypted files; and what they reveal without the key.

use std::path::Path;

use loci_store::prelude::*;
use loci_store::{EncryptionKey, Error, MigrateOptions, SqliteOptions, SqliteStore, migrate};
use loci_testkit::contract::sound;
use loci_testkit::driver::{Driver, good};
use loci_testkit::samples::{user, whole};
use loci_types::ErrorKind;
use tempfile::TempDir;

fn key(byte: &str) -> EncryptionKey {
    EncryptionKey::parse(&byte.repeat(32)).unwrap()
}

fn open(folder: &Path, secret: Option<EncryptionKey>) -> Result<SqliteStore, Error> {
    SqliteStore::open(folder, SqliteOptions { writers: 2, key: secret, ..SqliteOptions::default() })
}

async fn fresh() -> (SqliteStore, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path(), Some(key("07"))).unwrap();
    (store, folder)
}

loci_testkit::store_contract!(fresh);

/// The bytes of every file of a folder.
fn bytes(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        all.extend(if path.is_dir() { bytes(&path) } else { std::fs::read(path).unwrap() });
    }
    all
}

fn occurs(text: &str, folder: &Path) -> bool {
    bytes(folder).windows(text.len()).any(|part| part == text.as_bytes())
}

#[tokio::test]
async fn the_files_show_neither_words_nor_structure() {
    let words = ["peregrine", "lanternfish"];
    for (secret, shown) in [(None, true), (Some(key("07")), false)] {
        let folder = tempfile::tempdir().unwrap();
        let store = open(folder.path(), secret).unwrap();
        let driver = Driver::on(&store);
        for word in words {
            driver.remember(&user("ana"), &format!("my {word} is tame")).await;
        }
        // While the log is in use, and after it was moved into the file.
        for text in words.into_iter().chain(["CREATE TABLE", "SQLite format 3"]) {
            assert_eq!(occurs(text, folder.path()), shown, "{text} with the store open");
        }
        drop(driver);
        drop(store);
        for text in words.into_iter().chain(["CREATE TABLE", "SQLite format 3"]) {
            assert_eq!(occurs(text, folder.path()), shown, "{text} with the store closed");
        }
    }
}

#[tokio::test]
async fn only_the_key_opens_it_again() {
    let (store, folder) = fresh().await;
    let id = Driver::on(&store).remember(&user("ana"), "the lantern is in the shed").await;
    drop(store);
    for (secret, problem) in [(None, "no key is configured"), (Some(key("08")), "another key")] {
        let Err(error) = open(folder.path(), secret) else { panic!("it was opened") };
        assert_eq!(error.kind(), ErrorKind::Configuration);
        assert!(error.to_string().contains(problem), "{error}");
    }
    let again = open(folder.path(), Some(key("07"))).unwrap();
    assert!(Driver::on(&again).get(id).await.is_some());
    let findings = good(again.check(&whole(), true).await);
    assert!(findings.is_empty(), "{findings:?}");
    sound(&again).await;
}

#[tokio::test]
async fn a_plain_store_becomes_an_encrypted_one_by_migration() {
    let (plain, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (from, target) = (open(plain.path(), None).unwrap(), open(to.path(), Some(key("07"))).unwrap());
    Driver::on(&from).remember(&user("ana"), "the lantern is in the shed").await;
    let report = good(migrate(&from, &target, MigrateOptions::default(), &mut |_| Ok(())).await);
    assert!(!report.tables.is_empty());
    drop(target);
    assert!(!occurs("lantern", to.path()));
    sound(&open(to.path(), Some(key("07"))).unwrap()).await;
}
