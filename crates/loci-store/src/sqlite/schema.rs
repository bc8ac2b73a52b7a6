//! Opens, creates and migrates the SQLite files of a store.
//!
//! Migrations are scripts that are applied once, in order, in one transaction together with the new `user_version`. A
//! file of a newer version of Loci is refused. Times are stored in microseconds and ids as sixteen bytes; `row` numbers
//! are valid only within a file.

use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::functions::FunctionFlags;
use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

use super::cipher::Cipher;
use super::file::FileId;
pub(super) use super::migrations::{CATALOGUE, SPACE};
use super::private;
use crate::terms;
use crate::text::{Analyser, asks, with_question};
use crate::{Error, Result};

/// How long a statement waits for the lock of another connection.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(60);

/// Bytes of a page of a new file. A space has some fifty tables and indexes of at least a page each, so small pages
/// keep small spaces small: 64 kB where pages of 8 KiB take 440 kB. Counted in instructions, an add takes 1.3 % less
/// and a recall
/// 1.7 % more than with 8 KiB.
const PAGE_SIZE: i64 = 1024;

/// Bytes of a page of a file that has grown. Reading all vectors of a large scope takes a third less time than with
/// small pages, and the file a fifth less space.
const LARGE_PAGE_SIZE: i64 = 8192;

/// Number of small pages from which a file is rewritten with large ones.
const MANY_PAGES: i64 = 4_096;

/// Number of small pages from which a file keeps them, because rewriting it would block its writers for too long.
const TOO_MANY_PAGES: i64 = 262_144;

/// Number of attempts to change the journal mode of a new file, 5 ms apart.
const TRIES: usize = 400;

/// Opens a file for writing; creates and migrates it if necessary.
pub(super) fn open(path: &Path, migrations: &[&str], cipher: &Cipher) -> Result<Connection> {
    if migrations == SPACE && !path.exists() {
        // If this fails, the code below creates the file more slowly or reports the error.
        drop(create(path, cipher));
    }
    open_existing(path, migrations, cipher)
}

/// Like [`open`], but creates a new file by running all migrations.
pub(super) fn open_existing(path: &Path, migrations: &[&str], cipher: &Cipher) -> Result<Connection> {
    let failed = |error| Error::sqlite(path, error);
    private::create_database(path).map_err(|error| Error::io(path, &error))?;
    let mut connection = cipher.connect(path, OpenFlags::default()).map_err(failed)?;
    prepare(&connection).map_err(failed)?;
    if !cipher.encrypts() {
        // The page size takes effect only in an empty file. Encrypted files have pages of 4 KiB, which cannot be changed.
        connection.pragma_update(None, "page_size", PAGE_SIZE).map_err(failed)?;
    }
    patiently(|| connection.pragma_update(None, "journal_mode", "WAL")).map_err(failed)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(failed)?;
    if cfg!(target_os = "macos") {
        // On macOS a plain fsync leaves data in the cache of the drive.
        connection.pragma_update(None, "fullfsync", true).map_err(failed)?;
        connection.pragma_update(None, "checkpoint_fullfsync", true).map_err(failed)?;
    }
    // FAST overwrites deleted content where that needs no additional page writes; an erasure sets it to full.
    connection.pragma_update(None, "secure_delete", "FAST").map_err(failed)?;
    let known = migrations.len() as i64;
    if version(&connection).map_err(failed)? != known {
        migrate(&mut connection, path, migrations)?;
    }
    Ok(connection)
}

/// Creates the file of a new space from an image of an empty one; running all migrations takes ten times as long. The
/// file gets its name when it is complete and durable; a file that another process has created meanwhile is kept.
fn create(path: &Path, cipher: &Cipher) -> Result<()> {
    let failed = |error: std::io::Error| Error::io(path, &error);
    let beside = |ending: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        PathBuf::from(name)
    };
    // SQLite would apply the log of a file that was removed by hand to the new one.
    if beside("-wal").exists() {
        return Ok(());
    }
    let new = beside(&format!(".new-{}", std::process::id()));
    let mut file = private::file_options().create_new(true).open(&new).map_err(failed)?;
    let image = cipher.image(path).and_then(|encrypted| match encrypted {
        Some(encrypted) => Ok(encrypted),
        None => image(),
    });
    let written = image.and_then(|image| file.write_all(image).and_then(|()| file.sync_all()).map_err(failed));
    // Unlike a rename, a link does not replace an existing file.
    let named = written.and_then(|()| std::fs::hard_link(&new, path).map_err(failed));
    std::fs::remove_file(&new).map_err(failed)?;
    named
}

/// The bytes of the file of an empty space, created once per process.
fn image() -> Result<&'static [u8]> {
    static IMAGE: OnceLock<Vec<u8>> = OnceLock::new();
    if let Some(image) = IMAGE.get() {
        return Ok(image);
    }
    let path = Path::new(":memory:");
    let failed = |error| Error::sqlite(path, error);
    let mut connection = Connection::open_in_memory().map_err(failed)?;
    connection.pragma_update(None, "page_size", PAGE_SIZE).map_err(failed)?;
    migrate(&mut connection, path, SPACE)?;
    // Tables that later migrations drop leave free pages.
    connection.execute_batch("VACUUM").map_err(failed)?;
    let mut image = connection.serialize(rusqlite::MAIN_DB).map_err(failed)?.to_vec();
    // Bytes 18 and 19 of the header are the write and read versions; 2 means a write-ahead log.
    if let Some(versions) = image.get_mut(18..20) {
        versions.fill(2);
    }
    Ok(IMAGE.get_or_init(|| image))
}

/// Number of pages of a file with small pages; 0 if it has large ones.
pub(super) fn small_pages(connection: &Connection) -> rusqlite::Result<i64> {
    // SQLCipher answers with the size as a text.
    let size: Value = connection.prepare_cached("PRAGMA page_size")?.query_row([], |row| row.get(0))?;
    match size {
        Value::Integer(PAGE_SIZE) => connection.prepare_cached("PRAGMA page_count")?.query_row([], |row| row.get(0)),
        _ => Ok(0),
    }
}

/// Whether a file with `now` small pages should get large ones. `before` is the number of pages before the commit, 0
/// for a new file. An attempt is made only when the number crosses a power of two, because it fails while another
/// connection has the file open.
pub(super) fn has_outgrown_its_pages(before: i64, now: i64) -> bool {
    (MANY_PAGES..TOO_MANY_PAGES).contains(&now) && (before == 0 || before.ilog2() < now.ilog2())
}

/// Rewrites a file with large pages, if no other connection has it open: SQLite changes the page size only without a
/// write-ahead log, and leaves that mode only for an exclusive connection. Rows keep their numbers.
pub(super) fn enlarge_pages(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(Duration::ZERO)?;
    let rebuild = || {
        let mode: String = connection.pragma_update_and_check(None, "journal_mode", "DELETE", |row| row.get(0))?;
        if mode == "delete" {
            connection.pragma_update(None, "page_size", LARGE_PAGE_SIZE)?;
            connection.execute_batch("VACUUM")?;
        }
        Ok(())
    };
    let rebuilt = rebuild();
    patiently(|| connection.pragma_update(None, "journal_mode", "WAL"))?;
    connection.busy_timeout(BUSY_TIMEOUT)?;
    match rebuilt {
        Err(rusqlite::Error::SqliteFailure(error, _))
            if matches!(error.code, rusqlite::ErrorCode::DatabaseBusy | rusqlite::ErrorCode::DatabaseLocked) =>
        {
            Ok(())
        }
        rebuilt => rebuilt,
    }
}

/// Retries while the file is locked: the busy timeout of SQLite does not apply to a change of the journal mode.
fn patiently<T>(mut work: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    for _ in 0..TRIES {
        match work() {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => {
                std::thread::sleep(Duration::from_millis(5));
            }
            outcome => return outcome,
        }
    }
    work()
}

/// Opens a file for reading.
pub(super) fn open_reader(path: &Path, cipher: &Cipher) -> Result<Connection> {
    let failed = |error| Error::sqlite(path, error);
    // Only a writable connection checkpoints and removes the log when it is the last to close; a read-only one would
    // leave a log and 32 KiB of shared memory beside each file.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // If the file is the same before and after, it is the one that was opened.
    let (connection, file) = loop {
        let before = FileId::of(path);
        let connection = cipher.connect(path, flags).map_err(failed)?;
        match FileId::of(path) {
            Some(file) if before == Some(file) => break (connection, file),
            _ => {}
        }
    };
    prepare(&connection).map_err(failed)?;
    connection.pragma_update(None, "query_only", true).map_err(failed)?;
    file.attach(&connection).map_err(failed)?;
    // Memory-mapped pages are not copied into a cache of each reader.
    connection.pragma_update(None, "mmap_size", i64::from(i32::MAX)).map_err(failed)?;
    Ok(connection)
}

/// Whether a file exists and has an older format. Only the header of a plain file is read.
pub(super) fn is_old(path: &Path, migrations: &[&str], cipher: &Cipher) -> bool {
    if cipher.encrypts() {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let found = cipher.connect(path, flags).and_then(|connection| version(&connection));
        return found.is_ok_and(|found| (1..migrations.len() as i64).contains(&found));
    }
    let mut header = [0; 64];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut header));
    let found = u32::from_be_bytes([header[60], header[61], header[62], header[63]]);
    read.is_ok() && found > 0 && (found as usize) < migrations.len()
}

/// The format of a file. Fails with [`Error::Newer`] if it is newer than the migrations.
pub(super) fn format(connection: &Connection, path: &Path, migrations: &[&str]) -> Result<i64> {
    let found = version(connection).map_err(|error| Error::sqlite(path, error))?;
    let known = migrations.len() as i64;
    if found > known {
        return Err(Error::Newer { path: path.to_owned(), found, known });
    }
    Ok(found)
}

fn prepare(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    connection.set_prepared_statement_cache_capacity(128);
    // Query planner stability guarantee: a statement is planned once. Otherwise SQLite plans it again when bound values
    // change, which cost a fifth of a recall and a tenth of an add.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update(None, "cache_size", -4096)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

fn migrate(connection: &mut Connection, path: &Path, migrations: &[&str]) -> Result<()> {
    let failed = |error| Error::sqlite(path, error);
    functions(connection).map_err(failed)?;
    // A migration that rebuilds and renames a referenced table needs foreign keys off, which SQLite does not allow to
    // change inside a transaction.
    connection.pragma_update(None, "foreign_keys", false).map_err(failed)?;
    let migrated = migrate_in_transaction(connection, path, migrations);
    connection.pragma_update(None, "foreign_keys", true).map_err(failed)?;
    migrated
}

fn migrate_in_transaction(connection: &mut Connection, path: &Path, migrations: &[&str]) -> Result<()> {
    let failed = |error| Error::sqlite(path, error);
    // If two processes open a new file at once, the second one gets the lock when the migration is done.
    let transaction = connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(failed)?;
    let found = format(&transaction, path, migrations)?;
    let known = migrations.len() as i64;
    for script in &migrations[found as usize..] {
        transaction.execute_batch(script).map_err(failed)?;
    }
    transaction.pragma_update(None, "user_version", known).map_err(failed)?;
    transaction.commit().map_err(failed)
}

/// Registers the SQL functions of the migrations: `lower_case` for all scripts (SQLite's `lower` covers only ASCII),
/// `asks` (whether a text is a question) and `words_of` (its terms).
fn functions(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection
        .create_scalar_function("lower_case", 1, flags, |context| Ok(context.get::<String>(0)?.to_lowercase()))?;
    connection.create_scalar_function("asks", 1, flags, |context| Ok(asks(&context.get::<String>(0)?)))?;
    let analyser = Analyser::default();
    connection.create_scalar_function("words_of", 2, flags, move |context| {
        let (content, question) = (context.get::<String>(0)?, context.get::<Option<String>>(1)?);
        Ok(terms::encode(&with_question(analyser.terms(&content), question.map(|text| analyser.terms(&text)))))
    })
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    // Coverage: SPEC-9.3.
    /// Planning costs more than running most statements.
    #[test]
    fn a_statement_that_runs_again_is_not_planned_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("loci.db");
        let plain = Cipher::default();
        let writer = open(&path, SPACE, &plain).unwrap();
        for connection in [writer, open_reader(&path, &plain).unwrap()] {
            let mut statement =
                connection.prepare("SELECT row FROM memories WHERE pinned = ?1 ORDER BY row LIMIT ?2").unwrap();
            for limit in 0..4 {
                assert_eq!(statement.query_map([1, limit], |_| Ok(())).unwrap().count(), 0);
            }
            assert_eq!(statement.get_status(StatementStatus::RePrepare), 0);
        }
    }
}
