//! Moves the data of users from the `shared` space of an older store to the shards of the users.
//!
//! It runs when the store is opened, before the catalogue is migrated to the format with shards. For each tenant the
//! rows of a shard are copied to a new file, which is renamed when it is complete and durable. When all shards exist,
//! the rows are deleted from `shared` in one transaction, which has locked out other writers since before the first
//! copy. An interrupted split starts again: as long as `shared` has the rows, nobody has used the shards.
//!
//! Rows and ledger entries keep their numbers, and the sequences of a shard continue after those of `shared`, so that
//! an entry that was read from `shared` has the same number in the shard, and no later entry has a smaller one.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};

use loci_types::{Scope, Space};
use rusqlite::{Connection, OpenFlags};

use super::cipher::Cipher;
use super::connection::Transaction;
use super::file::path_component;
use super::schema::{self, CATALOGUE, SPACE};
use crate::{Error, Result};

/// The last format of the catalogue with the data of users in `shared`.
const BEFORE_SHARDS: usize = 5;

/// The tables of a space in the order of copying, with the condition on the rows of `old` that belong to `moving`.
const MOVED: &[(&str, &str)] = &[
    ("scopes", "scope IN moving"),
    ("models", "TRUE"),
    ("memories", "scope IN moving"),
    ("tags", "memory IN (SELECT row FROM main.memories)"),
    ("words", "memory IN (SELECT row FROM main.memories)"),
    ("vectors", "memory IN (SELECT row FROM main.memories)"),
    ("edges", "source IN (SELECT row FROM main.memories) AND target IN (SELECT row FROM main.memories)"),
    ("entities", "scope IN moving"),
    ("mentions", "memory IN (SELECT row FROM main.memories) AND entity IN (SELECT entity FROM main.entities)"),
    ("names", "entity IN (SELECT entity FROM main.entities)"),
    ("ledger", "scope IN moving"),
    ("jobs", JOBS),
    ("sessions", "scope IN moving"),
    ("notes", "scope IN moving"),
    ("facts", "scope IN moving"),
    ("fact_sources", "fact IN (SELECT fact FROM main.facts) AND memory IN (SELECT row FROM main.memories)"),
    ("checkpoints", "scope IN moving"),
    ("checkpoint_writes", "checkpoint IN (SELECT checkpoint FROM main.checkpoints)"),
];

/// Selects the jobs of the moved memories and scopes. `main` is the shard while it is filled, and `shared` while that
/// is cleared; both have these scopes and memories.
const JOBS: &str = "json_extract(payload, '$.scope') IN (SELECT key FROM main.scopes WHERE scope IN moving) \
     OR unhex(replace(json_extract(payload, '$.memory'), '-', '')) IN (SELECT id FROM main.memories WHERE scope IN moving)";

/// The moved rows to delete from `shared`, in this order. Rows that refer to a memory or an entity are deleted with it.
const CLEARED: &[(&str, &str)] = &[
    ("jobs", JOBS),
    ("names", "entity IN (SELECT entity FROM entities WHERE scope IN moving)"),
    ("entities", "scope IN moving"),
    ("facts", "scope IN moving"),
    ("checkpoints", "scope IN moving"),
    ("sessions", "scope IN moving"),
    ("notes", "scope IN moving"),
    ("ledger", "scope IN moving"),
    ("memories", "scope IN moving"),
    ("scopes", "scope IN moving"),
];

/// Tells readers of the ledger, and incremental backups, that rows have changed without an entry of their own.
const RECORD: &str = "INSERT INTO main.ledger (at, event, new, node, reason) \
     VALUES (?1, 'restore', '{\"split\":\"by user\"}', 'operator', 'split by user')";

/// Stops a process of an older version that still has the file open from writing data of users here, where it would not
/// be found.
const GUARD: &str = "CREATE TRIGGER users_have_shards BEFORE INSERT ON scopes WHEN new.layer IN ('user', 'session') \
     BEGIN SELECT RAISE(ABORT, 'this store was split by user; end this process, it is older than the store'); END";

/// Splits the `shared` space of every tenant if the catalogue has an older format, and migrates the catalogue.
pub(super) fn split_users(folder: &Path, cipher: &Cipher) -> Result<()> {
    let path = folder.join("catalogue.db");
    // The header may be older than the log; a current one is certain.
    if !schema::is_old(&path, CATALOGUE, cipher) {
        return Ok(());
    }
    // One process splits; the others wait here and then find it done.
    let lock = folder.join("split.lock");
    let failed = |error: std::io::Error| Error::io(&lock, &error);
    let locked = File::options().create(true).truncate(false).write(true).open(&lock).map_err(failed)?;
    locked.lock().map_err(failed)?;
    let sqlite_error = |error| Error::sqlite(&path, error);
    let found = schema::format(&cipher.connect(&path, OpenFlags::default()).map_err(sqlite_error)?, &path, CATALOGUE)?;
    if found <= BEFORE_SHARDS as i64 {
        let catalogue = schema::open(&path, &CATALOGUE[..BEFORE_SHARDS], cipher)?;
        let tenants: Vec<String> = catalogue
            .prepare("SELECT tenant FROM spaces WHERE name = 'shared'")
            .and_then(|mut read| read.query_map([], |row| row.get(0))?.collect())
            .map_err(sqlite_error)?;
        let register = "INSERT INTO spaces (tenant, name, created_at, written) SELECT tenant, ?2, created_at, 1 \
                        FROM spaces WHERE tenant = ?1 AND name = 'shared' ON CONFLICT DO NOTHING";
        for tenant in tenants {
            let spaces = folder.join("tenants").join(path_component(&tenant)).join("spaces");
            split(&spaces, cipher, |space| {
                catalogue.execute(register, [&tenant, &space.name()]).map(drop).map_err(sqlite_error)
            })?;
        }
        drop(catalogue);
        schema::open(&path, CATALOGUE, cipher)?;
    }
    drop(std::fs::remove_file(&lock));
    Ok(())
}

/// Splits the `shared` space in this folder of spaces.
fn split(spaces: &Path, cipher: &Cipher, register: impl Fn(&Space) -> Result<()>) -> Result<()> {
    let file = |space: &Space| spaces.join(path_component(&space.name())).join("loci.db");
    let shared = file(&Space::Shared);
    if !shared.exists() {
        return Ok(());
    }
    let sqlite_error = |error| Error::sqlite(&shared, error);
    let connection = schema::open(&shared, SPACE, cipher)?;
    let transaction = Transaction::write(&connection).map_err(sqlite_error)?;
    let found: Vec<(i64, String)> = connection
        .prepare("SELECT scope, key FROM scopes WHERE layer IN ('user', 'session')")
        .and_then(|mut read| read.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect())
        .map_err(sqlite_error)?;
    let mut shards: BTreeMap<Space, Vec<i64>> = BTreeMap::new();
    for (number, key) in &found {
        shards.entry(Scope::from_key(key)?.space()).or_default().push(*number);
    }
    if shards.is_empty() {
        return Ok(());
    }
    let latest: i64 =
        connection.query_row("SELECT coalesce(max(at), 0) FROM ledger", [], |row| row.get(0)).map_err(sqlite_error)?;
    for (space, scopes) in &shards {
        register(space)?;
        copy(&shared, &file(space), cipher, scopes, latest)?;
    }
    sync_folder(spaces)?;
    let clear = || -> rusqlite::Result<()> {
        mark_moving(&connection, shards.values().flatten())?;
        for (table, condition) in CLEARED {
            connection.execute(&format!("DELETE FROM {table} WHERE {condition}"), [])?;
        }
        connection.execute(RECORD, [latest])?;
        connection.execute_batch(GUARD)?;
        connection.execute_batch("DROP TABLE moving")
    };
    clear().map_err(sqlite_error)?;
    transaction.commit().map_err(sqlite_error)?;
    // Shrinks the file. If another connection prevents it, the free pages are reused.
    drop(connection.execute_batch("VACUUM"));
    Ok(())
}

/// Copies the rows of these scopes to a file of their own. `latest` is the time of the last ledger entry.
fn copy(shared: &Path, path: &Path, cipher: &Cipher, scopes: &[i64], latest: i64) -> Result<()> {
    let new = path.with_extension("split");
    let failed = |error: std::io::Error| Error::io(path, &error);
    if let Some(folder) = path.parent() {
        super::private::create_folder(folder).map_err(failed)?;
    }
    // An interrupted split may have left a file.
    remove(&new)?;
    let sqlite_error = |error| Error::sqlite(&new, error);
    let connection = schema::open(&new, SPACE, cipher)?;
    let fill = || -> rusqlite::Result<()> {
        // An attached file is opened with the key of the main one.
        connection.execute("ATTACH ?1 AS old", [shared.to_string_lossy()])?;
        // Entities of two scopes may be united; such a union is removed below.
        connection.pragma_update(None, "foreign_keys", false)?;
        // A write transaction would lock `shared` too, which is locked already.
        let transaction = Transaction::read(&connection)?;
        mark_moving(&connection, scopes.iter())?;
        for (table, condition) in MOVED {
            connection.execute(&format!("INSERT INTO main.{table} SELECT * FROM old.{table} WHERE {condition}"), [])?;
        }
        connection.execute_batch(
            "UPDATE main.entities SET united_with = NULL WHERE united_with NOT IN (SELECT entity FROM main.entities); \
             DELETE FROM main.sqlite_sequence; INSERT INTO main.sqlite_sequence SELECT * FROM old.sqlite_sequence; \
             DROP TABLE moving",
        )?;
        connection.execute(RECORD, [latest])?;
        transaction.commit()?;
        connection.execute_batch("DETACH old")?;
        if schema::has_outgrown_its_pages(0, schema::small_pages(&connection)?) {
            schema::enlarge_pages(&connection)?;
        }
        Ok(())
    };
    fill().map_err(sqlite_error)?;
    // The last connection to close checkpoints the log into the file.
    connection.close().map_err(|(_, error)| sqlite_error(error))?;
    File::open(&new).and_then(|file| file.sync_all()).map_err(failed)?;
    remove(path)?;
    std::fs::rename(&new, path).map_err(failed)?;
    path.parent().map_or(Ok(()), sync_folder)
}

/// Makes the entries of a folder durable. Windows does so by itself.
fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) {
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| Error::io(folder, &error))?;
    }
    Ok(())
}

/// Lists the scopes that are moved in the temporary table `moving`.
fn mark_moving<'s>(connection: &Connection, scopes: impl Iterator<Item = &'s i64>) -> rusqlite::Result<()> {
    connection.execute_batch("CREATE TEMP TABLE moving (scope INTEGER PRIMARY KEY)")?;
    let mut insert = connection.prepare("INSERT INTO moving VALUES (?1)")?;
    for scope in scopes {
        insert.execute([scope])?;
    }
    Ok(())
}

/// Removes a file with its log, if it exists.
fn remove(path: &Path) -> Result<()> {
    for ending in ["-wal", "-shm", ""] {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        match std::fs::remove_file(PathBuf::from(name)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Error::io(path, &error)),
            _ => {}
        }
    }
    Ok(())
}
