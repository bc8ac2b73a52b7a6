//! The parameters and reports of backup and restore.

use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use loci_types::{ContentHash, Memory, Space, Tenant};
use serde::{Deserialize, Serialize};

use super::seal::BackupEncoding;
use crate::encryption::EncryptionKey;

/// The newest version of the file format.
pub(super) const FORMAT: u32 = 2;

/// What to back up.
#[derive(Debug, Clone)]
pub struct BackupPlan {
    /// The tenant to back up. Default: all tenants.
    pub tenant: Option<Tenant>,
    /// The space of that tenant to back up. Default: all spaces, and the catalogue.
    pub space: Option<Space>,
    /// The backup that an increment is based on. Default: a full backup is made.
    pub since: Option<Backup>,
    /// The time of the backup.
    pub at: Timestamp,
    /// How it is stored.
    pub encoding: BackupEncoding,
}

/// The summary of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Backup {
    /// The manifest.
    #[serde(flatten)]
    pub manifest: Manifest,
    /// The spaces, with the last ledger entry of each.
    pub spaces: Vec<BackupSpace>,
    /// Number of rows.
    pub rows: u64,
    /// The identity of this backup: BLAKE3 over the hashes of its frames.
    pub digest: String,
}

/// The first frame of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The version of the format.
    pub format: u32,
    /// The version of Loci that made it.
    pub program: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// The store that it was made from: `sqlite` or `postgres`.
    pub store: String,
    /// The only tenant in it; all tenants if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
    /// The only space in it; all spaces and the catalogue if none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<String>,
    /// The digest of the backup that an increment is based on; none for a full backup.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// Whether it is compressed.
    #[serde(default)]
    pub compressed: bool,
    /// Whether it is encrypted.
    #[serde(default)]
    pub encrypted: bool,
}

/// A space in a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BackupSpace {
    /// Its tenant.
    pub tenant: String,
    /// Its name.
    pub space: String,
    /// When the space was created, in microseconds since 1970.
    pub created_at: i64,
    /// The sequence number of the last ledger entry in the backup.
    pub sequence: i64,
    /// The hash of that entry, by which an increment checks that the ledger is the same.
    pub line: String,
    /// The sequence number after which an increment begins; 0 in a full backup.
    #[serde(default)]
    pub since: i64,
    /// The last values of the sequences of the space.
    pub numbers: Vec<i64>,
    /// Number of rows.
    #[serde(default)]
    pub rows: u64,
}

/// Progress of a backup: rows of a table that were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupStep {
    /// The tenant.
    pub tenant: String,
    /// The space.
    pub space: String,
    /// The table.
    pub table: &'static str,
    /// Number of rows.
    pub rows: u64,
}

/// Called after each page.
pub type BackupProgress = Box<dyn FnMut(&BackupStep) + Send>;

/// An earlier moment that a space is rewound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestorePoint {
    /// The ledger entry with this sequence number.
    Sequence(i64),
    /// The last ledger entry that was written by this time.
    Time(Timestamp),
}

/// What the engine computes from the content of a memory; the store only keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DerivedKeys {
    /// The hash of its content.
    pub hash: ContentHash,
    /// The key by which a duplicate of it is found.
    pub unless: Option<ContentHash>,
    /// The key of the attribute that it is about.
    pub claim: Option<ContentHash>,
}

/// Computes the keys of a memory.
pub type DeriveKeys = Arc<dyn Fn(&Memory) -> DerivedKeys + Send + Sync>;

/// What to restore.
#[derive(Clone)]
pub struct RestorePlan {
    /// A full backup, and the increments on top of it in their order.
    pub files: Vec<PathBuf>,
    /// The key of encrypted files.
    pub key: Option<EncryptionKey>,
    /// The tenant to restore. Default: all tenants.
    pub tenant: Option<Tenant>,
    /// The space of that tenant to restore. Default: all spaces, and the catalogue.
    pub space: Option<Space>,
    /// Another agent or pool that the one space is restored as.
    pub rename: Option<Space>,
    /// The moment that the one space is rewound to. Default: the latest that the backup holds.
    pub until: Option<RestorePoint>,
    /// Whether spaces that are not empty are replaced; otherwise the restore is refused.
    pub replace: bool,
    /// The time of the restore.
    pub at: Timestamp,
    /// Computes the keys of memories whose content is rewound.
    pub derive: DeriveKeys,
}

/// A space that was restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoreOutcome {
    /// The tenant.
    pub tenant: String,
    /// The name of the space now.
    pub space: String,
    /// Number of memories in it.
    pub memories: u64,
    /// The sequence number of the last ledger entry that is in effect.
    pub sequence: i64,
    /// Number of ledger entries that were rewound.
    #[serde(rename = "unwound")]
    pub rewound: u64,
    /// Number of memories of that moment that were purged or erased since and cannot be restored.
    pub lost: u64,
}
