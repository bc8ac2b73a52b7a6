//! How do the weights come over the network?
//!
//! File by file into a folder beside the one they are meant for, which takes its name only when
//! all of them are there and the weights have the right hash. Whoever looks sees a whole model or
//! none, even when several processes fetch at once or one of them dies.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use sha2::{Digest, Sha256};

use super::find::ORIGINAL_SHA256;
use super::folder::{WEIGHTS, is_complete};
use crate::error::Error;

/// Told how many bytes of how many have come, if the whole is known.
pub type Progress<'a> = &'a (dyn Fn(u64, Option<u64>) + Send + Sync);

/// What is fetched; the weights come last, so that a wrong address fails early.
const FILES: [&str; 5] =
    ["config.json", "tokenizer.json", "sentence_bert_config.json", "1_Pooling/config.json", WEIGHTS];

/// A place that serves model files by name.
#[derive(Debug, Clone)]
pub struct Hub {
    /// The address below which the files lie.
    pub base_url: String,
    /// The hash that the weights must have.
    pub sha256: String,
    /// How long to wait for a connection.
    pub connect_timeout: Duration,
    /// How long the stream may stand still.
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
            .map_err(|error| self.lost(error))?;
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
        self.settle(scratch.path(), folder)
    }

    /// Streams one file to the disk and returns its hash.
    async fn fetch_file(
        &self,
        client: &reqwest::Client,
        name: &str,
        path: &Path,
        progress: Progress<'_>,
    ) -> Result<String, Error> {
        let url = format!("{}/{name}", self.base_url.trim_end_matches('/'));
        let mut response = client.get(url).send().await.map_err(|error| self.lost(error))?;
        let status = response.status();
        if !status.is_success() {
            let message = format!("{name} is not to be had");
            return Err(Error::Http { service: self.base_url.clone(), status: status.as_u16(), message });
        }
        let wrong = |error: std::io::Error| Error::file(path, error);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(wrong)?;
        }
        let mut file = std::fs::File::create(path).map_err(wrong)?;
        let (mut hasher, mut got) = (Sha256::new(), 0);
        let whole = response.content_length();
        while let Some(chunk) = response.chunk().await.map_err(|error| self.lost(error))? {
            file.write_all(&chunk).map_err(wrong)?;
            hasher.update(&chunk);
            got += chunk.len() as u64;
            if name == WEIGHTS {
                progress(got, whole);
            }
        }
        file.sync_all().map_err(wrong)?;
        Ok(data_encoding::HEXLOWER.encode(&hasher.finalize()))
    }

    /// Gives the scratch folder its final name.
    fn settle(&self, scratch: &Path, folder: &Path) -> Result<(), Error> {
        if folder.exists() && !is_complete(folder) {
            std::fs::remove_dir_all(folder).map_err(|error| Error::file(folder, error))?;
        }
        match std::fs::rename(scratch, folder) {
            // Another process was quicker; its model is as good as ours.
            Err(_) if is_complete(folder) => Ok(()),
            Err(error) => Err(Error::file(folder, error)),
            Ok(()) => Ok(()),
        }
    }

    fn lost(&self, error: reqwest::Error) -> Error {
        let service = self.base_url.clone();
        if error.is_timeout() {
            return Error::Timeout { service, after: self.stall_timeout };
        }
        Error::Unreachable { service, problem: error.without_url().to_string() }
    }
}
