//! How does a transaction on a file begin and end?
//!
//! With statements that were prepared once: the driver's own are planned anew each time, which costs as much as a short
//! read does.

use rusqlite::Connection;

/// A transaction that is taken back unless it is committed.
pub(super) struct Transaction<'c> {
    connection: &'c Connection,
    open: bool,
}

impl<'c> Transaction<'c> {
    /// One snapshot for all reads.
    pub(super) fn read(connection: &'c Connection) -> rusqlite::Result<Self> {
        Self::begin(connection, "BEGIN")
    }

    /// The only one that writes.
    pub(super) fn write(connection: &'c Connection) -> rusqlite::Result<Self> {
        Self::begin(connection, "BEGIN IMMEDIATE")
    }

    fn begin(connection: &'c Connection, sql: &str) -> rusqlite::Result<Self> {
        run(connection, sql)?;
        Ok(Self { connection, open: true })
    }

    /// Makes what was written durable.
    pub(super) fn commit(mut self) -> rusqlite::Result<()> {
        // What could not be committed is taken back when this value goes.
        run(self.connection, "COMMIT")?;
        self.open = false;
        Ok(())
    }

    /// Takes back what was written.
    pub(super) fn rollback(mut self) -> rusqlite::Result<()> {
        self.open = false;
        self.end()
    }

    /// Does some work that leaves nothing of itself if it fails.
    pub(super) fn within<T, E>(&self, work: impl FnOnce() -> Result<T, E>) -> rusqlite::Result<Result<T, E>> {
        run(self.connection, "SAVEPOINT part")?;
        let done = work();
        // A full or failing disk takes the whole transaction back, and with it the savepoint.
        if !self.is_gone() {
            if done.is_err() {
                run(self.connection, "ROLLBACK TO part")?;
            }
            run(self.connection, "RELEASE part")?;
        }
        Ok(done)
    }

    /// Whether the database has taken it back by itself.
    pub(super) fn is_gone(&self) -> bool {
        self.connection.is_autocommit()
    }

    fn end(&self) -> rusqlite::Result<()> {
        if self.is_gone() { Ok(()) } else { run(self.connection, "ROLLBACK") }
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.open {
            // Nobody is left to be told; a connection that cannot even do this fails at its next use.
            drop(self.end());
        }
    }
}

fn run(connection: &Connection, sql: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(sql)?.raw_execute().map(drop)
}
