//! How is a file left without what was removed from it?
//!
//! Pages that were freed keep their bytes, and the log keeps whole pages of before. So the file is written anew, and the
//! log is emptied.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::schema;
use crate::{Error, Result};

/// So often is it tried to empty a log that someone reads.
const TRIES: u32 = 50;

/// Makes the file of a space anew. False if its log could not be emptied because someone reads it.
pub(super) fn file(path: &Path) -> Result<bool> {
    let said = |error| Error::sqlite(path, error);
    let connection = schema::open(path, schema::SPACE)?;
    connection.execute_batch("VACUUM").map_err(said)?;
    empty_log(&connection).map_err(said)
}

/// Empties the log of any file.
pub(super) fn log(path: &Path) -> Result<bool> {
    let said = |error| Error::sqlite(path, error);
    let connection = Connection::open(path).map_err(said)?;
    connection.busy_timeout(Duration::from_secs(60)).map_err(said)?;
    empty_log(&connection).map_err(said)
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
