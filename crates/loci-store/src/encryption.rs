//! The key that encrypts the files of the embedded store, and backups.
//!
//! **Invariant:** the key itself encrypts nothing: every use has a key that is derived from it, so that what one of them reveals is
//! of no use for another. Neither the key nor its text appears in an error or a log.

use std::fmt;

use loci_types::{Error, ErrorKind};

/// Number of bytes of a key.
const KEY_BYTES: usize = 32;

/// Purposes of derived keys. They never change: files could not be read any more.
#[cfg(any(test, feature = "encryption"))]
const STORE: &str = "loci 2026-11 files of the embedded store";
const BACKUP: &str = "loci 2026-11 frames of a backup";
const FINGERPRINT: &str = "loci 2026-11 fingerprint of a key";

/// A secret key of 256 bits.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptionKey([u8; KEY_BYTES]);

impl fmt::Debug for EncryptionKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("EncryptionKey(…)")
    }
}

impl EncryptionKey {
    /// Reads a key of 32 bytes, written as 64 hexadecimal digits or as Base64.
    ///
    /// # Errors
    /// If the text is anything else. A passphrase is refused, because it can be guessed faster than a random key.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let decoded = match text.len() {
            64 => data_encoding::HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok(),
            _ => data_encoding::BASE64.decode(text.as_bytes()).ok(),
        };
        let bytes = decoded.and_then(|bytes| <[u8; KEY_BYTES]>::try_from(bytes).ok());
        bytes.map(Self).ok_or_else(|| {
            let message =
                format!("an encryption key has {KEY_BYTES} bytes, written as 64 hexadecimal digits or as Base64");
            Error::new(ErrorKind::Configuration, message).hint("`openssl rand -hex 32` makes one")
        })
    }

    /// The key for the files of the embedded store.
    #[cfg(any(test, feature = "encryption"))]
    pub(crate) fn for_store(&self) -> [u8; KEY_BYTES] {
        blake3::derive_key(STORE, &self.0)
    }

    /// A short text by which a key is recognised, and from which it cannot be guessed.
    pub(crate) fn fingerprint(&self) -> String {
        data_encoding::HEXLOWER.encode(&blake3::derive_key(FINGERPRINT, &self.0)[..8])
    }

    /// The key for the backup with this salt.
    pub(crate) fn for_backup(&self, salt: &[u8; 32]) -> [u8; KEY_BYTES] {
        blake3::derive_key(BACKUP, &[self.0, *salt].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_random_bytes_in_two_notations() {
        let hex = "00112233445566778899aabbccddeeff00112233445566778899AABBCCDDEEFF";
        let base64 = "ABEiM0RVZneImaq7zN3u/wARIjNEVWZ3iJmqu8zd7v8=";
        assert_eq!(EncryptionKey::parse(hex).unwrap(), EncryptionKey::parse(&format!("{base64}\n")).unwrap());
        for wrong in ["", "correct horse battery staple", &hex[1..], &base64[4..], &"z".repeat(64)] {
            let error = EncryptionKey::parse(wrong).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Configuration);
            assert!(wrong.is_empty() || !error.to_string().contains(wrong), "{error}");
        }
    }

    #[test]
    fn every_use_has_a_key_of_its_own() {
        let key = EncryptionKey([7; KEY_BYTES]);
        let derived = [key.for_store(), key.for_backup(&[1; 32]), key.for_backup(&[2; 32]), key.0];
        for (place, one) in derived.iter().enumerate() {
            assert!(derived[..place].iter().all(|other| other != one));
        }
        assert_eq!(format!("{key:?}"), "EncryptionKey(…)");
    }
}
