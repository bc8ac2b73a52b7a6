//! Encryption at rest through the real binary: backups in every build, the store in builds with the feature.

use std::path::Path;

use crate::run::Home;

const KEY: &str = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";
const OTHER: &str = "ff0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";

fn configuration(store: bool) -> String {
    format!("[encryption]\nstore = {store}\nkey_command = [\"echo\", \"{KEY}\"]\n[embeddings]\nprovider = \"none\"\n")
}

fn holds(path: &Path, text: &str) -> bool {
    if path.is_dir() {
        return std::fs::read_dir(path).unwrap().flatten().any(|entry| holds(&entry.path(), text));
    }
    std::fs::read(path).unwrap().windows(text.len()).any(|part| part == text.as_bytes())
}

#[test]
fn an_encrypted_backup_is_restored_with_its_key_alone() {
    let home = Home::local();
    home.configure(&configuration(false));
    home.remember(&["--user", "ana", "The lantern is in the shed"]);
    let file = home.path().join("sealed.backup");
    let name = file.to_str().unwrap();
    let made = home.json(&["backup", "create", name]);
    assert_eq!((&made["encrypted"], &made["compressed"]), (&true.into(), &true.into()));
    assert!(!holds(&file, "lantern") && !holds(&file, "createdAt"));
    assert!(holds(&home.data(), "lantern"), "the store itself is not encrypted");
    home.json(&["backup", "verify", name]);

    let elsewhere = Home::local().set("LOCI_ENCRYPTION_KEY", OTHER);
    elsewhere.configure("[encryption]\nstore = false\n[embeddings]\nprovider = \"none\"\n");
    let refused = elsewhere.run(&["--json", "backup", "restore", name]);
    assert_eq!((refused.code, &refused.problem()["code"]), (19, &"CONFIGURATION_ERROR".into()), "{refused:?}");
    assert!(refused.err.contains("another key") && !refused.err.contains(OTHER), "{refused:?}");
    let elsewhere = elsewhere.set("LOCI_ENCRYPTION_KEY", KEY);
    elsewhere.json(&["backup", "restore", name]);
    assert_eq!(elsewhere.count(&["--user", "ana"]), 1);

    let refused = Home::local().run(&["backup", "verify", name]);
    assert!(refused.code != 0 && refused.err.contains("no key is configured"), "{refused:?}");
}

#[test]
fn a_key_that_is_none_is_refused_by_the_check() {
    let home = Home::local();
    for (line, problem) in [
        ("key_command = [\"echo\", \"a passphrase\"]", "32 bytes"),
        ("key_command = [\"false\"]", "failed"),
        ("key_file = \"missing.key\"", "cannot be read"),
    ] {
        home.configure(&format!("[encryption]\n{line}\n"));
        let refused = home.run(&["config", "check"]);
        assert!(refused.code == 19 && refused.err.contains(problem), "{refused:?}");
    }
}

#[cfg(not(feature = "encryption"))]
#[test]
fn a_build_without_encryption_stores_nothing_that_should_be_encrypted() {
    let home = Home::local();
    home.configure(&configuration(true));
    let refused = home.run(&["remember", "The lantern is in the shed"]);
    assert!(refused.code == 19 && refused.err.contains("encryption.store = false"), "{refused:?}");
    assert!(!home.data().exists() || !holds(&home.data(), "lantern"));
}

#[cfg(feature = "encryption")]
#[test]
fn an_encrypted_store_works_and_shows_nothing() {
    let home = Home::local();
    home.configure(&configuration(true));
    let id = home.remember(&["--user", "ana", "The lantern is in the shed"]);
    assert_eq!(
        home.json(&["recall", "where is the lantern?", "--user", "ana"])["data"][0]["memory"]["id"],
        id.as_str()
    );
    let file = home.path().join("all.backup");
    home.json(&["backup", "create", file.to_str().unwrap()]);
    assert_eq!(home.lines(&["export", "--user", "ana"]).len(), home.lines(&["export", "--user", "ana"]).len());
    assert_eq!(home.run(&["store", "doctor"]).code, 0);
    assert!(!holds(&home.data(), "lantern") && !holds(&file, "lantern"));

    home.configure("[embeddings]\nprovider = \"none\"\n");
    let refused = home.run(&["list", "--user", "ana"]);
    assert!(refused.code == 19 && refused.err.contains("no key is configured"), "{refused:?}");
    home.configure(&configuration(true));
    home.json(&["backup", "restore", file.to_str().unwrap(), "--replace", "--yes"]);
    assert_eq!(home.count(&["--user", "ana"]), 1);
}
