//! Download of a model from a hub.
//!
//! The files are fetched into a temporary folder beside the target. It is renamed to the target only when all files are
//! complete and the weights have the right hash, so a reader sees a complete model or none, even if several processes
//! fetch at once or one of them crashes.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::find::ORIGINAL_SHA256;
use super::folder::{WEIGHTS, is_complete};
use crate::error::Error;

/// A callback that gets the number of received bytes of the weights, and the total if it is known.
pub type Progress<'a> = &'a (dyn Fn(u64, Option<u64>) + Send + Sync);

/// The files to fetch. The weights are last, so that a wrong address fails early.
const FILES: [&str; 5] =
    ["config.json", "tokenizer.json", "sentence_bert_config.json", "1_Pooling/config.json", WEIGHTS];

/// A server of model files.
#[derive(Debug, Clone)]
pub struct Hub {
    /// The base URL, to which the file names are appended.
    pub base_url: String,
    /// The sha256 that the weights must have.
    pub sha256: String,
    /// Maximum time to open a connection. Default: 5 s.
    pub connect_timeout: Duration,
    /// Maximum time without any received data. Default: 30 s.
    pub stall_timeout: Duration,
}

impl Default for Hub {
    fn default() -> Self {
        Self {
            base_url: "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main".to_owned(),
            sha256: ORIGINAL_SHA256.to_owned(),
            connect_timeout: Duration::from_secs(5),
            stall_timeout: Duration::from_secs(30),
        }
    }
}

impl Hub {
    /// Fetches the model into `folder`.
    pub(super) async fn fetch(&self, folder: &Path, progress: Progress<'_>) -> Result<(), Error> {
        let parent = folder.parent().unwrap_or(Path::new("."));
        std::fs::create_dir_all(parent).map_err(|error| Error::file(parent, error))?;
        let scratch = tempfile::Builder::new()
            .prefix(".fetch-")
            .tempdir_in(parent)
            .map_err(|error| Error::file(parent, error))?;
        let client = reqwest::Client::builder()
            .connect_timeout(self.connect_timeout)
            .read_timeout(self.stall_timeout)
            .build()
            .map_err(|error| self.network_error(error))?;
        for file in FILES {
            let path = scratch.path().join(file);
            let sha256 = self.fetch_file(&client, file, &path, progress).await?;
            if file == WEIGHTS && sha256 != self.sha256 {
                return Err(Error::HashMismatch {
                    path: folder.join(file),
                    expected: self.sha256.clone(),
                    found: sha256,
                });
            }
        }
        self.move_into_place(scratch.path(), folder)
    }

    /// Streams one file to disk and returns its sha256.
    async fn fetch_file(
        &self,
        client: &reqwest::Client,
        name: &str,
        path: &Path,
        progress: Progress<'_>,
    ) -> Result<String, Error> {
        let url = format!("{}/{name}", self.base_url.trim_end_matches('/'));
        let mut response = client.get(url).send().await.map_err(|error| self.network_error(error))?;
        let status = response.status();
        if !status.is_success() {
            let message = format!("{name} cannot be fetched");
            return Err(Error::Http { service: self.base_url.clone(), status: status.as_u16(), message });
        }
        let wrong = |error: std::io::Error| Error::file(path, error);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(wrong)?;
        }
        let mut file = std::fs::File::create(path).map_err(wrong)?;
        let (mut hasher, mut received) = (Sha256::new(), 0);
        let total = response.content_length();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.network_error(error))? {
            file.write_all(&chunk).map_err(wrong)?;
            hasher.update(&chunk);
            received += chunk.len() as u64;
            if name == WEIGHTS {
                progress(received, total);
            }
        }
        file.sync_all().map_err(wrong)?;
        Ok(data_encoding::HEXLOWER.encode(&hasher.finalize()))
    }

    /// Renames the temporary folder to the target.
    fn move_into_place(&self, scratch: &Path, folder: &Path) -> Result<(), Error> {
        if folder.exists() && !is_complete(folder) {
            std::fs::remove_dir_all(folder).map_err(|error| Error::file(folder, error))?;
        }
        match std::fs::rename(scratch, folder) {
            // Another process has fetched the same model since.
            Err(_) if is_complete(folder) => Ok(()),
            Err(error) => Err(Error::file(folder, error)),
            Ok(()) => Ok(()),
        }
    }

    fn network_error(&self, error: reqwest::Error) -> Error {
        let service = self.base_url.clone();
        if error.is_timeout() {
            return Error::Timeout { service, after: self.stall_timeout };
        }
        Error::Unreachable { service, problem: error.without_url().to_string() }
    }
}
