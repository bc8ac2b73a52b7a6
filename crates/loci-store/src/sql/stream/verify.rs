//! Verifies that a backup is complete and undamaged, and that each increment follows from the backup before it.

use std::path::{Path, PathBuf};

use loci_types::ErrorKind;

use super::backup::{Backup, BackupSpace, FORMAT, Manifest};
use super::frame::{FrameKind, FramePosition, FrameReader};
use super::table::TableSpec;
use super::{catalogue, row, table};
use crate::encryption::EncryptionKey;
use crate::sql::Value;
use crate::{Error, Result};

/// A backup that was verified.
pub(super) struct VerifiedBackup {
    pub(super) path: PathBuf,
    pub(super) backup: Backup,
    /// Where each of its spaces begins.
    positions: Vec<FramePosition>,
}

impl VerifiedBackup {
    /// The summary of a space in this backup, and where the space begins.
    pub(super) fn space(&self, tenant: &str, space: &str) -> Option<(&BackupSpace, FramePosition)> {
        let place = self.backup.spaces.iter().position(|held| held.tenant == tenant && held.space == space)?;
        Some((&self.backup.spaces[place], self.positions[place]))
    }
}

/// Verifies a full backup and the increments on top of it, in their order.
pub(super) fn chain(files: &[PathBuf], key: Option<&EncryptionKey>) -> Result<Vec<VerifiedBackup>> {
    let mut chain: Vec<VerifiedBackup> = Vec::new();
    for path in files {
        let verified = file(path, key)?;
        let backup = &verified.backup;
        let fits = backup.manifest.base.as_deref() == chain.last().map(|base| base.backup.digest.as_str());
        if !fits {
            let message = match (&backup.manifest.base, chain.last()) {
                (Some(_), None) => format!("{} is an increment of another backup, which was not given", path.display()),
                (None, Some(_)) => format!("{} is a full backup, not an increment", path.display()),
                _ => format!("{} is not an increment of the backup before it", path.display()),
            };
            let hint = "give the full backup first, then its increments in order; or the folder that holds them";
            return Err(loci_types::Error::invalid("file", message).hint(hint).into());
        }
        chain.push(verified);
    }
    if chain.is_empty() {
        return Err(loci_types::Error::invalid("file", "no backup was given").into());
    }
    Ok(chain)
}

/// Verifies one file from its first byte to its last.
pub(super) fn file(path: &Path, key: Option<&EncryptionKey>) -> Result<VerifiedBackup> {
    let mut reader = FrameReader::open(path, key)?;
    let (kind, bytes) = reader.next()?;
    if kind != FrameKind::Manifest {
        return Err(reader.corrupt("does not begin with a manifest"));
    }
    let manifest: Manifest = reader.json(&bytes)?;
    if manifest.format > FORMAT {
        return Err(newer(path, &manifest));
    }
    let (mut spaces, mut positions, mut rows) = (Vec::<BackupSpace>::new(), Vec::new(), 0);
    loop {
        let position = reader.position();
        let (kind, bytes) = reader.next()?;
        match kind {
            FrameKind::Manifest => return Err(reader.corrupt("has a second manifest")),
            FrameKind::Space => {
                spaces.push(reader.json(&bytes)?);
                positions.push(position);
            }
            FrameKind::Changed if bytes.len() % 8 == 0 => {}
            FrameKind::Changed => return Err(reader.corrupt("has invalid row numbers")),
            FrameKind::Catalogue | FrameKind::Rows => {
                let found = unpack(&reader, kind, &bytes)?.1.len() as u64;
                rows += found;
                if let (FrameKind::Rows, Some(space)) = (kind, spaces.last_mut()) {
                    space.rows += found;
                }
            }
            FrameKind::End => {
                let digest = reader.digest();
                let summary: Backup = reader.json(&bytes)?;
                reader.expect_end()?;
                let backup = Backup { manifest, spaces, rows, digest };
                return match summary == backup {
                    true => Ok(VerifiedBackup { path: path.to_owned(), backup, positions }),
                    false => Err(reader.corrupt("does not match its summary")),
                };
            }
        }
    }
}

/// The table and the rows of a frame.
pub(super) fn unpack(
    reader: &FrameReader,
    kind: FrameKind,
    bytes: &[u8],
) -> Result<(&'static TableSpec, Vec<Vec<Value>>)> {
    let find = if kind == FrameKind::Catalogue { catalogue::by_name } else { table::by_name };
    row::unpack(bytes, find).ok_or_else(|| reader.corrupt("has invalid rows"))
}

fn newer(path: &Path, manifest: &Manifest) -> Error {
    let message = format!(
        "{} was made by Loci {} in format {}; this version supports formats up to {FORMAT}",
        path.display(),
        manifest.program,
        manifest.format
    );
    loci_types::Error::new(ErrorKind::Corrupt, message)
        .at("file")
        .hint("use the version of Loci that made it, or a later one")
        .into()
}
