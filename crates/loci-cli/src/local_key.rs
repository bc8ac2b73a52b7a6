//! The key of this machine: a file in the data folder that `loci serve --with-key` writes and `loci --server` reads.
//!
//! The key is made anew at every start, is valid for one server process, and is not stored among the keys of the store. Whoever may
//! read the file may read the data folder too, so the key opens nothing to its reader that was closed before.

use std::io::Write as _;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The name of the file in the data folder: the key on its first line, the address of the server on its second.
const FILE: &str = "local.key";

/// A new random key of 256 bits.
pub(crate) fn generate() -> Result<String> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| anyhow::anyhow!("no random bytes are available: {error}"))?;
    Ok(format!("loci_local_{}", data_encoding::BASE32_NOPAD.encode(&bytes).to_ascii_lowercase()))
}

/// The file while the server runs. It is removed when this value is dropped, unless another server has replaced it.
pub(crate) struct LocalKey {
    path: PathBuf,
    key: String,
}

impl LocalKey {
    /// Writes the key and the address that the server has bound: the key is sent nowhere else.
    pub(crate) fn publish(data: &Path, key: String, address: SocketAddr) -> Result<Self> {
        let path = data.join(FILE);
        write(&path, &format!("{key}\n{address}")).with_context(|| path.display().to_string())?;
        Ok(Self { path, key })
    }
}

impl Drop for LocalKey {
    fn drop(&mut self) {
        let own = read(&self.path).is_some_and(|(key, _)| key == self.key);
        if own && let Err(error) = std::fs::remove_file(&self.path) {
            tracing::warn!(%error, "the key of the server could not be removed");
        }
    }
}

/// The key and the address in the file.
fn read(path: &Path) -> Option<(String, SocketAddr)> {
    let text = std::fs::read_to_string(path).ok()?;
    let (key, address) = text.trim_end().split_once('\n')?;
    Some((key.trim().to_owned(), address.trim().parse().ok()?))
}

/// The key for the server at a URL, if it is the address that the server of this folder has bound. A host name such as
/// `localhost` gets none, because it may lead to another program.
pub(crate) fn for_server(url: &str, data: &Path) -> Option<String> {
    let url = reqwest::Url::parse(url).ok()?;
    let host = url.host_str()?.trim_matches(['[', ']']).parse::<IpAddr>().ok()?;
    let (key, address) = read(&data.join(FILE))?;
    let same = host.is_loopback() && address == SocketAddr::new(host, url.port_or_known_default()?);
    same.then_some(key)
}

/// Writes a file that only its owner may read. It takes the place of an older one at once.
fn write(path: &Path, secret: &str) -> std::io::Result<()> {
    let new = path.with_extension("new");
    drop(std::fs::remove_file(&new));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(&new)?;
    writeln!(file, "{secret}")?;
    file.sync_all()?;
    std::fs::rename(&new, path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_for_its_owner_and_for_this_machine() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(for_server("http://127.0.0.1:7077", folder.path()), None);
        let address: SocketAddr = "127.0.0.1:7077".parse().unwrap();
        let first = LocalKey::publish(folder.path(), "first".to_owned(), address).unwrap();
        let second = LocalKey::publish(folder.path(), "loci_a_b".to_owned(), address).unwrap();
        drop(first);
        for here in ["http://127.0.0.1:7077", "https://127.0.0.1:7077/"] {
            assert_eq!(for_server(here, folder.path()).as_deref(), Some("loci_a_b"), "{here}");
        }
        // Another program may have bound these.
        for elsewhere in [
            "http://127.0.0.1:1",
            "http://[::1]:7077",
            "http://localhost:7077",
            "http://127.0.0.1.example.com:7077",
            "nonsense",
        ] {
            assert_eq!(for_server(elsewhere, folder.path()), None, "{elsewhere}");
        }
        #[cfg(unix)]
        {
            let mode = std::fs::metadata(folder.path().join(FILE)).unwrap();
            assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777, 0o600);
        }
        drop(second);
        assert!(!folder.path().join(FILE).exists(), "a server that has ended leaves no key");
    }

    #[test]
    fn keys_are_long_and_never_the_same() {
        let (one, other) = (generate().unwrap(), generate().unwrap());
        assert!(one.len() > 60 && one != other);
    }
}
