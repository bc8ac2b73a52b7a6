//! Where are the weights?
//!
//! Three places, in this order: the folder that the caller names, Loci's cache, the Hugging Face
//! hub, from which they go into the cache. A folder that is named but has no model is an error,
//! not a reason to look elsewhere: whoever names one wants that one.

use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::folder::{MINILM, WEIGHTS, is_complete};
use super::hub::{Hub, Progress};
use crate::error::Error;

/// The sha256 of the original weights of all-MiniLM-L6-v2.
pub const ORIGINAL_SHA256: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";

/// The sha256 of the same weights rounded to 16 bits.
pub const HALF_SHA256: &str = "6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d";

/// The places where a model may lie.
#[derive(Debug, Clone)]
pub struct Places {
    /// The folder that the caller names.
    pub explicit: Option<PathBuf>,
    /// Loci's cache folder.
    pub cache: PathBuf,
    /// Whether the hub may be asked.
    pub hub: bool,
}

impl Places {
    /// The folder in the cache where the model lies once it is fetched.
    pub fn cached(&self) -> PathBuf {
        self.cache.join("models").join(MINILM)
    }
}

/// The first place on this machine that has a model. Asks no one.
pub fn look(places: &Places) -> Result<PathBuf, Error> {
    let folder = places.explicit.clone().unwrap_or_else(|| places.cached());
    if is_complete(&folder) { Ok(folder) } else { Err(Error::ModelMissing { looked: vec![folder] }) }
}

/// The folder of the model, fetched from the hub into the cache if that is allowed and needed.
pub async fn find(places: &Places, hub: &Hub, progress: Progress<'_>) -> Result<PathBuf, Error> {
    match look(places) {
        Err(Error::ModelMissing { .. }) if places.hub && places.explicit.is_none() => {
            let folder = places.cached();
            hub.fetch(&folder, progress).await?;
            Ok(folder)
        }
        found => found,
    }
}

/// What the weights of a folder turn out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Weights {
    /// all-MiniLM-L6-v2, bit for bit.
    Original,
    /// all-MiniLM-L6-v2, rounded to 16 bits.
    Half,
    /// Something else: another model, or a damaged file.
    Other {
        /// The hash of what is there.
        sha256: String,
    },
}

/// Reads the weights of `folder` from end to end and says what they are.
///
/// Too slow for every start; it is what a doctor asks.
pub fn verify(folder: &Path) -> Result<Weights, Error> {
    let sha256 = sha256(&folder.join(WEIGHTS))?;
    Ok(match sha256.as_str() {
        ORIGINAL_SHA256 => Weights::Original,
        HALF_SHA256 => Weights::Half,
        _ => Weights::Other { sha256 },
    })
}

fn sha256(path: &Path) -> Result<String, Error> {
    let wrong = |error: std::io::Error| Error::file(path, error);
    let mut file = std::fs::File::open(path).map_err(wrong)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        match file.read(&mut buffer).map_err(wrong)? {
            0 => return Ok(data_encoding::HEXLOWER.encode(&hasher.finalize())),
            read => hasher.update(&buffer[..read]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model_at(folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        for file in ["config.json", "tokenizer.json", WEIGHTS] {
            std::fs::write(folder.join(file), "{}").unwrap();
        }
    }

    #[test]
    fn the_named_folder_comes_before_the_cache_and_hides_it() {
        let scratch = tempfile::tempdir().unwrap();
        let named = scratch.path().join("named");
        let mut places = Places { explicit: None, cache: scratch.path().join("cache"), hub: false };

        assert!(matches!(look(&places), Err(Error::ModelMissing { looked }) if looked == [places.cached()]));
        model_at(&places.cached());
        assert_eq!(look(&places).unwrap(), places.cached());
        places.explicit = Some(named.clone());
        assert!(matches!(look(&places), Err(Error::ModelMissing { looked }) if looked == [named.clone()]));
        model_at(&named);
        assert_eq!(look(&places).unwrap(), named);
    }

    #[test]
    fn unknown_weights_are_told_by_their_hash() {
        let scratch = tempfile::tempdir().unwrap();
        model_at(scratch.path());
        let sha256 = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a".to_owned();
        assert_eq!(verify(scratch.path()).unwrap(), Weights::Other { sha256 });
        assert!(matches!(verify(&scratch.path().join("nowhere")), Err(Error::File { .. })));
    }
}
