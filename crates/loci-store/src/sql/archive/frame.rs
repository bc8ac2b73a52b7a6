//! How does a backup lie in its file?
//!
//! After a few fixed bytes come frames: what it is, how long, its bytes, and a hash over all of that and the
//! frame's number. So a frame that was changed, lost, doubled or moved is noticed where it is, and a file that
//! was cut off has no last frame.

use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use loci_types::ErrorKind;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, Result};

/// What every backup begins with.
const BEGIN: &[u8; 12] = b"LOCI-BACKUP\n";
/// The bytes of a hash.
const HASH: usize = 32;

/// What a frame is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Sort {
    /// What the backup is.
    Manifest = b'M',
    /// Lines of a list of the catalogue.
    List = b'C',
    /// A space begins.
    Space = b'S',
    /// Rows of memories that an increment takes away before it puts in what they are now.
    Changed = b'D',
    /// Rows of a table.
    Rows = b'T',
    /// The last frame.
    End = b'E',
}

impl Sort {
    fn read(byte: u8) -> Option<Self> {
        [Sort::Manifest, Sort::List, Sort::Space, Sort::Changed, Sort::Rows, Sort::End]
            .into_iter()
            .find(|sort| *sort as u8 == byte)
    }
}

/// Writes frames.
pub(super) struct Writer<W> {
    out: W,
    number: u64,
    digest: blake3::Hasher,
}

impl<W: Write> Writer<W> {
    pub(super) fn new(mut out: W) -> Result<Self> {
        out.write_all(BEGIN).map_err(|error| unwritten(&error))?;
        Ok(Self { out, number: 0, digest: blake3::Hasher::new() })
    }

    pub(super) fn put(&mut self, sort: Sort, bytes: &[u8]) -> Result<()> {
        let length = u32::try_from(bytes.len())
            .map_err(|_| Error::Refused(format!("a row of {} bytes is too large for a backup", bytes.len())))?;
        let mut head = [sort as u8, 0, 0, 0, 0];
        head[1..].copy_from_slice(&length.to_le_bytes());
        let hash = hash(self.number, &head, bytes);
        let parts: [&[u8]; 3] = [&head, bytes, hash.as_bytes()];
        parts.iter().try_for_each(|part| self.out.write_all(part)).map_err(|error| unwritten(&error))?;
        self.digest.update(hash.as_bytes());
        self.number += 1;
        Ok(())
    }

    pub(super) fn put_json(&mut self, sort: Sort, value: &impl Serialize) -> Result<()> {
        let bytes = serde_json::to_vec(value).map_err(|error| Error::Refused(error.to_string()))?;
        self.put(sort, &bytes)
    }

    /// What names the backup so far.
    pub(super) fn digest(&self) -> String {
        self.digest.finalize().to_hex().to_string()
    }

    pub(super) fn finish(mut self) -> Result<W> {
        self.out.flush().map_err(|error| unwritten(&error))?;
        Ok(self.out)
    }
}

/// Where a frame begins, and which it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    offset: u64,
    number: u64,
}

/// Reads frames, and believes none of which the hash is wrong.
pub(super) struct Reader {
    input: BufReader<std::fs::File>,
    path: PathBuf,
    offset: u64,
    number: u64,
    digest: blake3::Hasher,
}

impl Reader {
    pub(super) fn open(path: &Path) -> Result<Self> {
        let unreadable = |error: std::io::Error| {
            loci_types::Error::invalid("file", format!("{} cannot be read: {error}", path.display()))
        };
        let file = std::fs::File::open(path).map_err(unreadable)?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(loci_types::Error::invalid("file", format!("{} is a folder", path.display())).into());
        }
        let mut reader = Self {
            input: BufReader::with_capacity(1 << 18, file),
            path: path.to_owned(),
            offset: 0,
            number: 0,
            digest: blake3::Hasher::new(),
        };
        let begin = reader.take(BEGIN.len())?;
        match begin == BEGIN {
            true => Ok(reader),
            false => Err(loci_types::Error::invalid("file", format!("{} is no backup of Loci", path.display()))
                .hint("`loci backup` makes one; `loci import` reads exports and the files of others")
                .into()),
        }
    }

    /// Begins at a frame that was read before.
    pub(super) fn resume(path: &Path, place: Place) -> Result<Self> {
        let mut reader = Self::open(path)?;
        let sought = reader.input.seek(SeekFrom::Start(place.offset));
        sought.map_err(|error| reader.wrong(&format!("cannot be read: {error}")))?;
        (reader.offset, reader.number) = (place.offset, place.number);
        Ok(reader)
    }

    /// Where the next frame begins.
    pub(super) fn place(&self) -> Place {
        Place { offset: self.offset, number: self.number }
    }

    /// The next frame; the file must not end before its last one.
    pub(super) fn next(&mut self) -> Result<(Sort, Vec<u8>)> {
        let head = self.take(5)?;
        let [kind, a, b, c, d] = head[..] else { return Err(self.wrong("ends before its last frame: it was cut off")) };
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        let bytes = self.take(length)?;
        let told = self.take(HASH)?;
        if bytes.len() < length || told.len() < HASH {
            return Err(self.wrong("ends in the middle of a frame: it was cut off, or its bytes were changed"));
        }
        let hash = hash(self.number, &head, &bytes);
        let Some(sort) = Sort::read(kind).filter(|_| hash.as_bytes()[..] == told[..]) else {
            return Err(self.wrong("was changed: the hash is wrong"));
        };
        if sort != Sort::End {
            self.digest.update(hash.as_bytes());
        }
        self.number += 1;
        Ok((sort, bytes))
    }

    /// That nothing follows.
    pub(super) fn ended(&mut self) -> Result<()> {
        match self.take(1)?.is_empty() {
            true => Ok(()),
            false => Err(self.wrong("goes on after its end")),
        }
    }

    pub(super) fn json<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T> {
        serde_json::from_slice(bytes).map_err(|error| self.wrong(&format!("cannot be understood: {error}")))
    }

    /// What names the backup so far.
    pub(super) fn digest(&self) -> String {
        self.digest.finalize().to_hex().to_string()
    }

    /// Why this file cannot be used.
    pub(super) fn wrong(&self, problem: &str) -> Error {
        let message = format!("the backup {} {problem} (frame {})", self.path.display(), self.number);
        loci_types::Error::new(ErrorKind::Corrupt, message)
            .at("file")
            .hint("nothing was changed; use another backup, or a copy of this one")
            .into()
    }

    /// Up to so many bytes; fewer if the file ends. Never trusts a length further than the file goes.
    fn take(&mut self, length: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(length as u64).read_to_end(&mut bytes);
        read.map_err(|error| self.wrong(&format!("cannot be read: {error}")))?;
        self.offset += bytes.len() as u64;
        Ok(bytes)
    }
}

fn hash(number: u64, head: &[u8], bytes: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&number.to_le_bytes()).update(head).update(bytes);
    hasher.finalize()
}

fn unwritten(error: &std::io::Error) -> Error {
    loci_types::Error::new(ErrorKind::Storage, format!("the backup cannot be written: {error}"))
        .at("file")
        .hint("the store is as it was; choose a place with more room")
        .into()
}
