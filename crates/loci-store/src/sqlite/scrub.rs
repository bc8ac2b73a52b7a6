//! Removes the remains of deleted data from a file.
//!
//! Free pages keep their bytes, and the log holds earlier versions of pages. So the file is rewritten by `VACUUM` and
//! the log is truncated.

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};

use super::cipher::Cipher;
use super::schema;
use crate::{Error, Result};

/// Number of attempts to truncate a log that is being read, 100 ms apart.
const TRIES: u32 = 50;

/// Rewrites the file of a space. Returns false if its log could not be truncated because it is being read.
pub(super) fn file(path: &Path, cipher: &Cipher) -> Result<bool> {
    let failed = |error| Error::sqlite(path, error);
    let connection = schema::open(path, schema::SPACE, cipher)?;
    connection.execute_batch("VACUUM").map_err(failed)?;
    empty_log(&connection).map_err(failed)
}

/// Truncates the log of a file without waiting. Returns false if it is being read or written.
pub(super) fn log_at_once(path: &Path, cipher: &Cipher) -> Result<bool> {
    let failed = |error| Error::sqlite(path, error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = cipher.connect(path, flags).map_err(failed)?;
    connection.busy_timeout(Duration::ZERO).map_err(failed)?;
    let busy = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0));
    Ok(busy.map_err(failed)? == 0)
}

/// Truncates the log of any file. Returns false if it is being read.
pub(super) fn log(path: &Path, cipher: &Cipher) -> Result<bool> {
    let failed = |error| Error::sqlite(path, error);
    let connection = cipher.connect(path, OpenFlags::default()).map_err(failed)?;
    connection.busy_timeout(Duration::from_secs(60)).map_err(failed)?;
    empty_log(&connection).map_err(failed)
}

fn empty_log(connection: &Connection) -> rusqlite::Result<bool> {
    for _ in 0..TRIES {
        let busy: i64 = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
        if busy == 0 {
            return Ok(true);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(false)
}
