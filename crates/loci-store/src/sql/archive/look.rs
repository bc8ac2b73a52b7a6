//! Is a backup whole, and does it follow from the one before it?

use std::path::{Path, PathBuf};

use loci_types::ErrorKind;

use super::frame::{Place, Reader, Sort};
use super::{Backup, BackupSpace, FORMAT, Manifest, rows};
use crate::sql::copy::{catalogue, table};
use crate::{Error, Result};

/// A backup that is whole, and where it lies.
pub(super) struct Looked {
    pub(super) path: PathBuf,
    pub(super) backup: Backup,
    /// Where each of its spaces begins.
    places: Vec<Place>,
}

impl Looked {
    /// What it holds of a space, and where.
    pub(super) fn of(&self, tenant: &str, space: &str) -> Option<(&BackupSpace, Place)> {
        let found = self.backup.spaces.iter().zip(&self.places);
        found.map(|(known, place)| (known, *place)).find(|(known, _)| known.tenant == tenant && known.space == space)
    }
}

/// Looks through a chain.
pub(super) fn chain(files: &[PathBuf]) -> Result<Vec<Looked>> {
    let mut chain: Vec<Looked> = Vec::new();
    for path in files {
        let looked = file(path)?;
        let backup = &looked.backup;
        let fits = backup.manifest.base.as_deref() == chain.last().map(|base| base.backup.digest.as_str());
        if !fits {
            let message = match (&backup.manifest.base, chain.last()) {
                (Some(_), None) => format!("{} goes on from another backup, which was not given", path.display()),
                (None, Some(_)) => format!("{} is a full backup and goes on from none", path.display()),
                _ => format!("{} does not go on from the backup before it", path.display()),
            };
            let hint = "give the full backup first, then its increments in their order; or the folder they lie in";
            return Err(loci_types::Error::invalid("file", message).hint(hint).into());
        }
        chain.push(looked);
    }
    if chain.is_empty() {
        return Err(loci_types::Error::invalid("file", "no backup was given").into());
    }
    Ok(chain)
}

/// Looks through one file.
pub(super) fn file(path: &Path) -> Result<Looked> {
    let mut reader = Reader::open(path)?;
    let (sort, bytes) = reader.next()?;
    if sort != Sort::Manifest {
        return Err(reader.wrong("does not begin with a manifest"));
    }
    let manifest: Manifest = reader.json(&bytes)?;
    if manifest.format > FORMAT {
        return Err(newer(path, &manifest));
    }
    let (mut spaces, mut places, mut rows) = (Vec::<BackupSpace>::new(), Vec::new(), 0);
    loop {
        let place = reader.place();
        let (sort, bytes) = reader.next()?;
        match sort {
            Sort::Manifest => return Err(reader.wrong("has a second manifest")),
            Sort::Space => {
                spaces.push(reader.json(&bytes)?);
                places.push(place);
            }
            Sort::Changed if bytes.len() % 8 == 0 => {}
            Sort::List | Sort::Rows => match self::rows::unpack(&bytes, columns_of(sort)) {
                Some((_, found)) => {
                    rows += found.len() as u64;
                    if let (Sort::Rows, Some(space)) = (sort, spaces.last_mut()) {
                        space.rows += found.len() as u64;
                    }
                }
                None => return Err(reader.wrong("has rows that cannot be understood")),
            },
            Sort::Changed => return Err(reader.wrong("has rows that cannot be understood")),
            Sort::End => {
                let digest = reader.digest();
                let told: Backup = reader.json(&bytes)?;
                reader.ended()?;
                let backup = Backup { manifest, spaces, rows, digest };
                return match told == backup {
                    true => Ok(Looked { path: path.to_owned(), backup, places }),
                    false => Err(reader.wrong("holds something else than its end says")),
                };
            }
        }
    }
}

/// How many values a row of a table, or of a list of the catalogue, has.
pub(super) fn columns_of(sort: Sort) -> impl Fn(&str) -> Option<usize> {
    move |name| match sort {
        Sort::List => catalogue::list(name).map(catalogue::List::width),
        _ => table::table(name).map(|table| table.columns.len()),
    }
}

fn newer(path: &Path, manifest: &Manifest) -> Error {
    let message = format!(
        "{} was made by Loci {} in the format {}; this Loci knows formats up to {FORMAT}",
        path.display(),
        manifest.program,
        manifest.format
    );
    loci_types::Error::new(ErrorKind::Corrupt, message)
        .at("file")
        .hint("use the Loci that made it, or a later one")
        .into()
}
