//! The file format of a backup: a few fixed bytes, how frames are stored, then frames.
//!
//! A frame is stored as [`Seal`] makes it. It consists of its kind, its length, its bytes, and a hash over all of these and the number of the frame. So a
//! frame that was changed, lost, duplicated or moved is detected, and a truncated file has no end frame.

use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use loci_types::ErrorKind;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::seal::{BackupEncoding, SALT_BYTES, Seal, SealFailure};
use crate::encryption::EncryptionKey;
use crate::{Error, Result};

/// The first bytes of every backup, which the description of its [`Seal`] follows.
const MAGIC: &[u8; 12] = b"LOCI-BACKUP2";
/// The first bytes of a backup of earlier versions, whose frames are stored as they are.
const PLAIN_MAGIC: &[u8; 12] = b"LOCI-BACKUP\n";
const HASH_BYTES: usize = 32;

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum FrameKind {
    /// The manifest.
    Manifest = b'M',
    /// Rows of a table of the catalogue.
    Catalogue = b'C',
    /// The beginning of a space.
    Space = b'S',
    /// Row numbers of memories that an increment deletes before it inserts their present rows.
    Changed = b'D',
    /// Rows of a table of the space.
    Rows = b'T',
    /// The last frame: the summary.
    End = b'E',
}

impl FrameKind {
    fn read(byte: u8) -> Option<Self> {
        [
            FrameKind::Manifest,
            FrameKind::Catalogue,
            FrameKind::Space,
            FrameKind::Changed,
            FrameKind::Rows,
            FrameKind::End,
        ]
        .into_iter()
        .find(|kind| *kind as u8 == byte)
    }
}

/// Writes frames.
pub(super) struct FrameWriter<W> {
    out: W,
    seal: Seal,
    number: u64,
    digest: blake3::Hasher,
}

impl<W: Write> FrameWriter<W> {
    pub(super) fn new(mut out: W, encoding: &BackupEncoding) -> Result<Self> {
        let (seal, header) = Seal::new(encoding)?;
        let written = out.write_all(MAGIC).and_then(|()| out.write_all(&header));
        written.map_err(|error| write_error(&error))?;
        Ok(Self { out, seal, number: 0, digest: digest_of(&header) })
    }

    pub(super) fn put(&mut self, kind: FrameKind, bytes: &[u8]) -> Result<()> {
        let stored = self.seal.close(self.number, kind as u8, bytes)?;
        let bytes = stored.as_slice();
        let length = u32::try_from(bytes.len())
            .map_err(|_| Error::Refused(format!("a row of {} bytes is too large for a backup", bytes.len())))?;
        let mut head = [kind as u8, 0, 0, 0, 0];
        head[1..].copy_from_slice(&length.to_le_bytes());
        let hash = hash(self.number, &head, bytes);
        let parts: [&[u8]; 3] = [&head, bytes, hash.as_bytes()];
        parts.iter().try_for_each(|part| self.out.write_all(part)).map_err(|error| write_error(&error))?;
        self.digest.update(hash.as_bytes());
        self.number += 1;
        Ok(())
    }

    pub(super) fn put_json(&mut self, kind: FrameKind, value: &impl Serialize) -> Result<()> {
        let bytes = serde_json::to_vec(value).map_err(|error| Error::Refused(error.to_string()))?;
        self.put(kind, &bytes)
    }

    /// The digest of the frames so far.
    pub(super) fn digest(&self) -> String {
        self.digest.finalize().to_hex().to_string()
    }

    pub(super) fn finish(mut self) -> Result<W> {
        self.out.flush().map_err(|error| write_error(&error))?;
        Ok(self.out)
    }
}

/// Where a frame begins, and its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FramePosition {
    offset: u64,
    number: u64,
}

/// Reads frames and verifies their hashes.
pub(super) struct FrameReader {
    input: BufReader<std::fs::File>,
    seal: Option<Seal>,
    path: PathBuf,
    offset: u64,
    number: u64,
    digest: blake3::Hasher,
}

impl FrameReader {
    /// Opens a backup. An encrypted one needs the key.
    pub(super) fn open(path: &Path, key: Option<&EncryptionKey>) -> Result<Self> {
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
            seal: None,
            offset: 0,
            number: 0,
            digest: blake3::Hasher::new(),
        };
        let begin = reader.take(MAGIC.len())?;
        match begin.as_slice() {
            begin if begin == PLAIN_MAGIC => Ok(reader),
            begin if begin == MAGIC => {
                let header = <[u8; 1 + SALT_BYTES]>::try_from(reader.take(1 + SALT_BYTES)?)
                    .map_err(|_| reader.corrupt("ends before its first frame: it was cut off"))?;
                reader.seal = Some(Seal::read(&header, key)?);
                reader.digest = digest_of(&header);
                Ok(reader)
            }
            _ => Err(loci_types::Error::invalid("file", format!("{} is not a backup of Loci", path.display()))
                .hint("`loci backup create` makes one; `loci import` reads exports and other formats")
                .into()),
        }
    }

    /// Opens a backup at a frame that was read before.
    pub(super) fn open_at(path: &Path, key: Option<&EncryptionKey>, position: FramePosition) -> Result<Self> {
        let mut reader = Self::open(path, key)?;
        let sought = reader.input.seek(SeekFrom::Start(position.offset));
        sought.map_err(|error| reader.corrupt(&format!("cannot be read: {error}")))?;
        (reader.offset, reader.number) = (position.offset, position.number);
        Ok(reader)
    }

    /// Where the next frame begins.
    pub(super) fn position(&self) -> FramePosition {
        FramePosition { offset: self.offset, number: self.number }
    }

    /// The next frame; the file must not end before its last one.
    pub(super) fn next(&mut self) -> Result<(FrameKind, Vec<u8>)> {
        let head = self.take(5)?;
        let [byte, a, b, c, d] = head[..] else {
            return Err(self.corrupt("ends before its last frame: it was cut off"));
        };
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        let bytes = self.take(length)?;
        let stored = self.take(HASH_BYTES)?;
        if bytes.len() < length || stored.len() < HASH_BYTES {
            return Err(self.corrupt("ends in the middle of a frame: it was cut off, or its bytes were changed"));
        }
        let hash = hash(self.number, &head, &bytes);
        let Some(kind) = FrameKind::read(byte).filter(|_| hash.as_bytes()[..] == stored[..]) else {
            return Err(self.corrupt("was changed: the hash is wrong"));
        };
        let bytes = match &self.seal {
            None => bytes,
            Some(seal) => seal.open(self.number, byte, bytes).map_err(|failure| self.cannot_open(&failure))?,
        };
        if kind != FrameKind::End {
            self.digest.update(hash.as_bytes());
        }
        self.number += 1;
        Ok((kind, bytes))
    }

    /// Fails unless this is the end of the file.
    pub(super) fn expect_end(&mut self) -> Result<()> {
        match self.take(1)?.is_empty() {
            true => Ok(()),
            false => Err(self.corrupt("has data after its end")),
        }
    }

    pub(super) fn json<T: DeserializeOwned>(&self, bytes: &[u8]) -> Result<T> {
        serde_json::from_slice(bytes).map_err(|error| self.corrupt(&format!("has invalid content: {error}")))
    }

    /// The digest of the frames so far.
    pub(super) fn digest(&self) -> String {
        self.digest.finalize().to_hex().to_string()
    }

    /// The error of a file that cannot be used.
    pub(super) fn corrupt(&self, problem: &str) -> Error {
        let message = format!("the backup {} {problem} (frame {})", self.path.display(), self.number);
        loci_types::Error::new(ErrorKind::Corrupt, message)
            .at("file")
            .hint("nothing was changed; use another backup, or a copy of this one")
            .into()
    }

    /// The error of a frame whose hash is right and that cannot be opened.
    fn cannot_open(&self, failure: &SealFailure) -> Error {
        match failure {
            SealFailure::Damaged => self.corrupt("has a frame that was not compressed by Loci"),
            SealFailure::WrongKey => {
                let message = format!("the backup {} was encrypted with another key", self.path.display());
                loci_types::Error::new(ErrorKind::Configuration, message)
                    .at("encryption.key_file")
                    .hint("configure the key that was used when the backup was made; nothing was changed")
                    .into()
            }
        }
    }

    /// Reads up to `length` bytes; fewer if the file ends. The length is not trusted: only bytes that exist are
    /// allocated.
    fn take(&mut self, length: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = self.input.by_ref().take(length as u64).read_to_end(&mut bytes);
        read.map_err(|error| self.corrupt(&format!("cannot be read: {error}")))?;
        self.offset += bytes.len() as u64;
        Ok(bytes)
    }
}

/// The digest of a file with this description of its seal.
fn digest_of(header: &[u8]) -> blake3::Hasher {
    let mut digest = blake3::Hasher::new();
    digest.update(header);
    digest
}

fn hash(number: u64, head: &[u8], bytes: &[u8]) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&number.to_le_bytes()).update(head).update(bytes);
    hasher.finalize()
}

fn write_error(error: &std::io::Error) -> Error {
    loci_types::Error::new(ErrorKind::Storage, format!("the backup cannot be written: {error}"))
        .at("file")
        .hint("the store is unchanged; choose a writable place with enough free space")
        .into()
}
