//! Loads a space from a chain of backups, in one transaction.
//!
//! Existing rows are deleted, the rows of the chain are inserted, the ledger is rewound if requested, and terms are
//! extracted again. If anything fails, the space stays as it was. If the space had a ledger, an entry after the highest
//! sequence number says that it was restored, so that sequence numbers never go back for a reader.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use loci_types::{Identifier, Scope, Space};

use super::backup::{BackupSpace, DeriveKeys, RestoreOutcome, RestorePoint};
use super::frame::{FrameKind, FramePosition, FrameReader};
use super::part::SpaceRows;
use super::rewind::{self, Rewound};
use super::table::{Load, TABLES, TableSpec};
use super::{StreamFailure, numbers, page, verify};
use crate::encryption::EncryptionKey;
use crate::sql::{self, Connection, Value, feed, params, words};
use crate::text::Analyser;

/// A space to load. It may run again if its transaction was not committed.
pub(super) struct SpaceLoad {
    /// The files with rows of the space, and where it begins in each.
    pub(super) parts: Vec<(PathBuf, FramePosition)>,
    /// The key of encrypted files.
    pub(super) key: Option<EncryptionKey>,
    pub(super) tenant: String,
    /// Its name in the backup.
    pub(super) space: Space,
    /// Its new name. For `shared` it may be a shard; then only the rows of the shard are loaded.
    pub(super) target: Space,
    /// Whether a space that is not empty may be replaced.
    pub(super) replace: bool,
    pub(super) until: Option<RestorePoint>,
    pub(super) at: Timestamp,
    pub(super) derive: DeriveKeys,
    /// The counters of the space.
    pub(super) numbers: Vec<i64>,
    pub(super) analyser: Arc<Analyser>,
}

/// The error for a space that is not empty and may not be replaced.
pub(super) fn occupied(tenant: &str, space: &Space) -> loci_types::Error {
    loci_types::Error::new(
        loci_types::ErrorKind::Conflict,
        format!("{tenant}/{space} is not empty; it was not changed"),
    )
    .at("replace")
    .hint("--replace puts the backup in its place; what is there now is deleted")
}

impl SpaceLoad {
    /// Loads the space.
    pub(super) fn run(&self, connection: &dyn Connection) -> Result<RestoreOutcome, StreamFailure> {
        let before = feed::end(connection)?;
        if before > 0 && !self.replace {
            return Err(occupied(&self.tenant, &self.target).into());
        }
        let mut part = (self.space == Space::Shared).then(|| SpaceRows::new(&self.target));
        for (path, position) in &self.parts {
            self.load_part(connection, path, *position, &mut part)?;
        }
        let loaded = feed::end(connection)?;
        let rewound = match self.until {
            Some(until) => rewind::rewind(connection, until, &self.derive)?,
            None => Rewound::default(),
        };
        let sequence = feed::end(connection)?;
        let rows: Vec<i64> =
            connection.query_map("SELECT row FROM memories ORDER BY row", params![], |row| row.get(0))?;
        rows.iter().try_for_each(|row| words::write(connection, &self.analyser, *row))?;
        numbers::advance(connection, &self.numbers)?;
        if before > 0 {
            self.record_restore(connection, before.max(loaded) + 1, sequence)?;
        }
        TABLES.iter().try_for_each(|table| page::analyse(connection, table))?;
        Ok(RestoreOutcome {
            tenant: self.tenant.clone(),
            space: self.target.name(),
            memories: rows.len() as u64,
            sequence,
            rewound: rewound.entries,
            lost: rewound.lost,
        })
    }

    /// Loads the rows of one file; with a [`SpaceRows`], only those that belong to it.
    fn load_part(
        &self,
        connection: &dyn Connection,
        path: &Path,
        position: FramePosition,
        part: &mut Option<SpaceRows<'_>>,
    ) -> Result<(), StreamFailure> {
        let mut reader = FrameReader::open_at(path, self.key.as_ref(), position)?;
        let head: BackupSpace = match reader.next()? {
            (FrameKind::Space, bytes) => reader.json(&bytes)?,
            _ => return Err(reader.corrupt("was changed while it was read").into()),
        };
        // A space that was dropped and created again since the base is stored in full, even in an increment.
        let increment = head.since > 0;
        clear(connection, |table| !increment || table.is_replaced_by_increment())?;
        loop {
            let (kind, bytes) = reader.next()?;
            match kind {
                FrameKind::End | FrameKind::Space => return Ok(()),
                FrameKind::Changed => {
                    let delete = "DELETE FROM memories WHERE row = ?1";
                    for row in bytes.as_chunks::<8>().0 {
                        connection.execute(delete, params![i64::from_le_bytes(*row)])?;
                    }
                }
                FrameKind::Rows => {
                    let (table, mut rows) = verify::unpack(&reader, kind, &bytes)?;
                    rows.retain(|row| self.is_kept(table, row));
                    if let Some(part) = part {
                        let kept: Vec<bool> =
                            rows.iter().map(|row| part.keeps(table, row)).collect::<crate::Result<_>>()?;
                        let mut kept = kept.into_iter();
                        rows.retain(|_| kept.next() == Some(true));
                    }
                    rows.iter_mut().try_for_each(|row| self.rename(table, row))?;
                    if increment && matches!(table.name, "scopes" | "models") {
                        rows = missing(connection, table, rows)?;
                    }
                    page::write(connection, table, &rows, &self.analyser)?;
                }
                FrameKind::Manifest | FrameKind::Catalogue => {}
            }
        }
    }

    /// Whether a row is loaded. A renamed space keeps no jobs but those that embed: the others refer to memories by the
    /// old name.
    fn is_kept(&self, table: &TableSpec, row: &[Value]) -> bool {
        let renamed = self.space != self.target && self.space != Space::Shared;
        table.name != "jobs" || !renamed || table.text(row, "kind") == Some("embed")
    }

    /// Replaces the old name of the space in a row.
    fn rename(&self, table: &TableSpec, row: &mut [Value]) -> Result<(), loci_types::Error> {
        let (identifier, old, new) = match (&self.space, &self.target) {
            (old, new) if old == new => return Ok(()),
            (Space::Agent(old), Space::Agent(new)) => (Identifier::Agent, old, new),
            (Space::Pool(old), Space::Pool(new)) => (Identifier::Pool, old, new),
            _ => return Ok(()),
        };
        let column = match (table.name, identifier) {
            ("scopes", _) => "key",
            ("memories", Identifier::Agent) => "agent_id",
            ("memories", _) => "pool_id",
            _ => return Ok(()),
        };
        match table.value_mut(row, column) {
            Some(Value::Text(key)) if column == "key" => {
                let scope = Scope::from_key(key)?;
                let mut identifiers = scope.identifiers();
                if identifiers.get(identifier) == Some(old) {
                    identifiers.set(identifier, Some(new.clone()));
                }
                *key = Scope::new(scope.layer(), &identifiers)?.key();
            }
            Some(Value::Text(name)) if name == old => name.clone_from(new),
            _ => {}
        }
        Ok(())
    }

    /// Appends the entry that tells readers of the ledger that all earlier entries may have changed.
    fn record_restore(&self, connection: &dyn Connection, sequence: i64, through: i64) -> sql::SqlResult<()> {
        let new = serde_json::json!({ "restored": { "through": through } }).to_string();
        connection
            .execute(
                "INSERT INTO ledger (sequence, at, event, new, node, reason) VALUES (?1, ?2, 'restore', ?3, 'operator', ?4)",
                params![sequence, self.at, new, "restored from a backup"],
            )
            .map(drop)
    }
}

/// The rows whose number is not in the table yet.
fn missing(connection: &dyn Connection, table: &TableSpec, rows: Vec<Vec<Value>>) -> sql::SqlResult<Vec<Vec<Value>>> {
    let sql = format!("SELECT 1 FROM {} WHERE {} = ?1", table.name, table.lead);
    let mut missing = Vec::new();
    for row in rows {
        if !connection.exists(&sql, row[..1].to_vec())? {
            missing.push(row);
        }
    }
    Ok(missing)
}

/// Deletes all rows of the tables that are to be cleared, children first.
fn clear(connection: &dyn Connection, cleared: impl Fn(&TableSpec) -> bool) -> sql::SqlResult<()> {
    for table in TABLES.iter().rev().filter(|table| matches!(table.load, Load::Insert | Load::Vector)) {
        if cleared(table) {
            connection.execute(&format!("DELETE FROM {}", table.name), [])?;
        }
    }
    Ok(())
}
