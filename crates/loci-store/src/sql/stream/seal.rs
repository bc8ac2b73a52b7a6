//! How the frames of a backup are stored: compressed, and encrypted if there is a key.
//!
//! A frame is compressed first, with zlib, and then encrypted with AES-256-GCM. Each backup has a key of its own, derived
//! from the configured one and a random salt, so that the number of a frame is a nonce that is used once. The kind and the
//! number of a frame are authenticated with it.

use std::io::{Read, Write};

use aws_lc_rs::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;
use loci_types::ErrorKind;

use crate::Result;
use crate::encryption::EncryptionKey;

/// Number of random bytes from which the key of a backup is derived.
pub(super) const SALT_BYTES: usize = 32;

const COMPRESSED: u8 = 1;
const ENCRYPTED: u8 = 2;

/// Maximum size of a frame, in bytes. What claims to be larger is damaged or made to exhaust the memory.
const LARGEST_FRAME: u64 = 1 << 30;

/// How a backup is stored.
#[derive(Debug, Clone, Default)]
pub struct BackupEncoding {
    /// Whether it is compressed.
    pub compress: bool,
    /// The key that it is encrypted with. Default: it is not encrypted.
    pub key: Option<EncryptionKey>,
}

/// Why a stored frame cannot be read.
pub(super) enum SealFailure {
    /// It was changed, or it was encrypted with another key.
    WrongKey,
    /// It is not what compression produces.
    Damaged,
}

/// Compresses and encrypts frames, and reverts both.
pub(super) struct Seal {
    compress: bool,
    key: Option<LessSafeKey>,
}

impl Seal {
    /// The seal of a new backup, and its description for the file: flags and salt.
    pub(super) fn new(encoding: &BackupEncoding) -> Result<(Self, [u8; 1 + SALT_BYTES])> {
        let mut header = [0; 1 + SALT_BYTES];
        header[0] = if encoding.compress { COMPRESSED } else { 0 };
        if encoding.key.is_some() {
            header[0] |= ENCRYPTED;
            aws_lc_rs::rand::fill(&mut header[1..]).map_err(|_| failed("no random bytes are available"))?;
        }
        Ok((Self::read(&header, encoding.key.as_ref())?, header))
    }

    /// The seal that a file describes.
    ///
    /// # Errors
    /// If the file is encrypted and there is no key, or it needs a newer Loci.
    pub(super) fn read(header: &[u8; 1 + SALT_BYTES], key: Option<&EncryptionKey>) -> Result<Self> {
        let [flags, salt @ ..] = header;
        if flags & !(COMPRESSED | ENCRYPTED) != 0 {
            let message = "the backup was changed, or it is stored in a way that this version of Loci does not support";
            return Err(loci_types::Error::new(ErrorKind::Corrupt, message).at("file").into());
        }
        let key = match (flags & ENCRYPTED != 0, key) {
            (false, _) => None,
            (true, Some(key)) => {
                let unbound = UnboundKey::new(&AES_256_GCM, &key.for_backup(salt));
                Some(LessSafeKey::new(unbound.map_err(|_| failed("the key cannot be used"))?))
            }
            (true, None) => {
                let error = loci_types::Error::new(
                    ErrorKind::Configuration,
                    "the backup is encrypted, and no key is configured",
                );
                return Err(error
                    .at("encryption.key_file")
                    .hint("set encryption.key_file, or LOCI_ENCRYPTION_KEY")
                    .into());
            }
        };
        Ok(Self { compress: flags & COMPRESSED != 0, key })
    }

    /// The stored form of the frame with this number and kind.
    pub(super) fn close(&self, number: u64, kind: u8, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut stored = match self.compress {
            false => bytes.to_vec(),
            true => {
                let mut encoder = ZlibEncoder::new(Vec::with_capacity(bytes.len() / 2), Compression::fast());
                let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
                written.map_err(|error| failed(&format!("it cannot be compressed: {error}")))?
            }
        };
        if let Some(key) = &self.key {
            let sealed = key.seal_in_place_append_tag(nonce(number), associated(number, kind), &mut stored);
            sealed.map_err(|_| failed("it cannot be encrypted"))?;
        }
        Ok(stored)
    }

    /// The frame of this number and kind in its stored form.
    pub(super) fn open(&self, number: u64, kind: u8, mut stored: Vec<u8>) -> Result<Vec<u8>, SealFailure> {
        if let Some(key) = &self.key {
            let opened = key.open_in_place(nonce(number), associated(number, kind), &mut stored);
            let length = opened.map_err(|_| SealFailure::WrongKey)?.len();
            stored.truncate(length);
        }
        if !self.compress {
            return Ok(stored);
        }
        let mut bytes = Vec::new();
        let mut decoder = ZlibDecoder::new(stored.as_slice()).take(LARGEST_FRAME);
        match decoder.read_to_end(&mut bytes) {
            Ok(read) if (read as u64) < LARGEST_FRAME => Ok(bytes),
            _ => Err(SealFailure::Damaged),
        }
    }
}

/// The nonce of a frame: its number, which no other frame under the same key has.
fn nonce(number: u64) -> Nonce {
    let mut bytes = [0; 12];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Nonce::assume_unique_for_key(bytes)
}

/// What is authenticated with a frame.
fn associated(number: u64, kind: u8) -> Aad<[u8; 9]> {
    let mut bytes = [kind; 9];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Aad::from(bytes)
}

fn failed(problem: &str) -> loci_types::Error {
    loci_types::Error::new(ErrorKind::Storage, format!("the backup cannot be used: {problem}")).at("file")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(byte: &str) -> EncryptionKey {
        EncryptionKey::parse(&byte.repeat(32)).unwrap()
    }

    #[test]
    fn what_is_closed_opens_in_every_way() {
        let text = "the same words again and again, ".repeat(50).into_bytes();
        for (compress, secret) in [(false, None), (true, None), (false, Some(key("07"))), (true, Some(key("07")))] {
            let (seal, header) = Seal::new(&BackupEncoding { compress, key: secret.clone() }).unwrap();
            let stored = seal.close(3, b'T', &text).unwrap();
            assert_eq!(stored.len() < text.len() / 4, compress);
            let plain = stored.windows(10).any(|part| part == b"same words");
            assert_eq!(plain, !compress && secret.is_none());
            let again = Seal::read(&header, secret.as_ref()).unwrap();
            assert!(again.open(3, b'T', stored).is_ok_and(|bytes| bytes == text));
        }
    }

    #[test]
    fn frames_cannot_be_changed_moved_or_read_with_another_key() {
        let (seal, header) = Seal::new(&BackupEncoding { compress: true, key: Some(key("07")) }).unwrap();
        let stored = seal.close(3, b'T', b"text").unwrap();
        let mut changed = stored.clone();
        changed[0] ^= 1;
        let other = Seal::read(&header, Some(&key("08"))).unwrap();
        let wrong = [
            seal.open(3, b'T', changed),
            seal.open(4, b'T', stored.clone()),
            seal.open(3, b'E', stored.clone()),
            other.open(3, b'T', stored.clone()),
        ];
        assert!(wrong.iter().all(|outcome| matches!(outcome, Err(SealFailure::WrongKey))));
        assert!(Seal::read(&header, None).is_err_and(|error| error.to_string().contains("encrypted")));
        let twice = Seal::new(&BackupEncoding { compress: true, key: Some(key("07")) }).unwrap();
        assert_ne!(twice.0.close(3, b'T', b"text").unwrap(), stored, "two backups have different keys");
    }

    #[test]
    fn what_was_not_compressed_here_is_refused() {
        let (seal, _) = Seal::new(&BackupEncoding { compress: true, key: None }).unwrap();
        assert!(matches!(seal.open(0, b'T', b"no zlib".to_vec()), Err(SealFailure::Damaged)));
    }
}
